/* base.h - what every module stands on: errors, memory, random numbers, hashing, time, a queue. */
#ifndef TIDE_BASE_H
#define TIDE_BASE_H

#include <wordtide.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "model files are little-endian");

/* -- errors (error.c) -------------------------------------------------------------- */

/* Describes a failure and returns its status. `err` may be NULL. Control characters that come in
 * through the arguments are shown as '?', so that the text is one safe line. */
int tide_fail(tide_error *err, tide_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* -- memory (memory.c) ------------------------------------------------------------- */

/* Zeroed, touched, aligned to a cache line, in huge pages where that pays; NULL when there is none
 * or count * size overflows. Released with free(). */
void *tide_alloc(size_t count, size_t size);

/* The size of a buffer or a bound, and what it is in a build for fuzzing: there inputs are short, and are
 * to reach beyond it. */
#ifdef TIDE_FUZZED
#define TIDE_ROOM(usual, fuzzed) (fuzzed)
#else
#define TIDE_ROOM(usual, fuzzed) (usual)
#endif

/* -- counts ------------------------------------------------------------------------ */

/* What a file may say has been counted. A quarter of what 64 bits hold is left from there, which is more than
 * any stream will use, so that no count ever wraps around. */
#define TIDE_COUNTED_MOST (UINT64_C(3) << 62)

/* -- random numbers (rng.c) -------------------------------------------------------- */

/* A counter, mixed by one wide multiplication: cheap to seed and to copy, and its whole state is
 * one number. */
typedef struct tide_rng {
    uint64_t state;
} tide_rng;

static inline uint64_t tide_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t tide_rng_next(tide_rng *rng)
{
    rng->state += 0x9e3779b97f4a7c15u;
    return tide_mix(rng->state, rng->state ^ 0xd1342543de82ef95u);
}

/* A generator that starts at a place far from those of other seeds. */
tide_rng tide_rng_seeded(uint64_t seed);

/* Uniform in [0, bound), without bias, over the full 64 bits. bound > 0. */
uint64_t tide_rng_below(tide_rng *rng, uint64_t bound);

/* Uniform in [0, 1), 24 bits. */
static inline float tide_rng_float(tide_rng *rng)
{
    return (float)(tide_rng_next(rng) >> 40) * 0x1p-24f;
}

/* Uniform in [0, 1), 53 bits. */
static inline double tide_rng_double(tide_rng *rng)
{
    return (double)(tide_rng_next(rng) >> 11) * 0x1p-53;
}

/* Standard normal. */
double tide_rng_normal(tide_rng *rng);

/* -- hashing (hash.c) -------------------------------------------------------------- */

/* XXH3 with a seed: the same on every machine. */
uint64_t tide_hash(const void *bytes, size_t size, uint64_t seed);

/* A number that nobody outside this process can know, for hash tables that strangers fill. */
uint64_t tide_secret(void);

/* -- words and UTF-8 (utf8.c) ------------------------------------------------------ */

/* A word on its way from the text to the vocabulary: 1 to TIDE_WORD_MAX bytes, in a buffer of which
 * at least 16 from `bytes` on can be read. */
typedef struct tide_word {
    const char *bytes;
    uint32_t length;
} tide_word;

/* Length of the UTF-8 character at `text`, as RFC 3629 has it, of which `left` bytes can be read; 0
 * when there is none (utf8.c). */
size_t tide_utf8_length(const void *text, size_t left);

/* Whether a byte goes on with a character that began before it. */
static inline bool tide_utf8_inside(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* How much of a text to take so that it has at most so many bytes and ends between two characters. */
size_t tide_utf8_cut(const char *text, size_t length, size_t most);

/* The word without canonical, compatible and case differences, as tokenizers that fold have it. False when
 * it is not UTF-8 or its folded form is too long for a word. */
bool tide_utf8_fold(const char *word, char folded[TIDE_WORD_MAX + 1]);

/* -- monotonic time (clock.c, deadline.c) ------------------------------------------ */

double tide_now_seconds(void);
int64_t tide_now_ms(void);

/* The moment in so many milliseconds, for pthread_cond_clockwait with CLOCK_MONOTONIC (deadline.c). */
struct timespec tide_deadline(int wait_ms);

/* -- queue (queue.c) --------------------------------------------------------------- */

/* A bounded first-in first-out queue of pointers between threads. */
typedef struct tide_queue tide_queue;

tide_queue *tide_queue_new(size_t capacity, tide_error *err);
void tide_queue_free(tide_queue *queue);

/* False when the queue is full. The item must not be NULL. */
bool tide_queue_try_push(tide_queue *queue, void *item);

/* The oldest item; NULL when there is none. */
void *tide_queue_try_pop(tide_queue *queue);

/* Waits for an item; NULL once the queue is closed and empty. */
void *tide_queue_pop(tide_queue *queue);

/* No more items will come. */
void tide_queue_close(tide_queue *queue);

/* -- decimal numbers (decimal.c) --------------------------------------------------- */

/* tide_decimal_write is in wordtide.h. */

/* Reads the number at the beginning of a text that has a 0 at its end; returns what follows it. NULL
 * when there is no decimal number, or one beyond the floats. The locale does not matter. */
const char *tide_decimal_read(const char *text, float *value);

#endif
