/* base.h - used by every module, the command and the server: errors, memory, random
 * numbers, hashing, UTF-8, clocks, a queue, decimal numbers, JSON output. */
#ifndef TIDE_BASE_H
#define TIDE_BASE_H

#include <wordtide.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "model files are little-endian");

/* -- errors (error.c) -------------------------------------------------------------- */

/* Describes a failure in `err` and returns `status`. `err` may be NULL. Control
 * characters in the arguments are replaced by '?', so that the text is one safe line.
 */
int tide_fail(tide_error *err, tide_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* -- memory (memory.c) ------------------------------------------------------------- */

/* Allocates zeroed memory: every page is touched, the block is aligned to a cache line,
 * and large blocks use huge pages. Returns NULL if out of memory or if count * size
 * overflows. Release with free(). */
void *tide_alloc(size_t count, size_t size);

/* The size of a buffer, or a limit. A fuzzing build uses a smaller one, so that short
 * inputs exceed it as well. */
#ifdef TIDE_FUZZED
#define TIDE_SIZE(usual, fuzzed) (fuzzed)
#else
#define TIDE_SIZE(usual, fuzzed) (usual)
#endif

/* -- structs of which callers may know a part -------------------------------------- */

/* Copies what fits; the rest of a larger `to` becomes 0. */
static inline void tide_copy_sized(void *to, size_t to_size, const void *from,
                                   size_t from_size)
{
    memset(to, 0, to_size);
    memcpy(to, from, to_size < from_size ? to_size : from_size);
}

/* -- counts ------------------------------------------------------------------------ */

/* The largest count accepted from a file. It leaves a quarter of the 64-bit range, more
 * than any stream can use up, so that no count ever wraps around. */
#define TIDE_COUNTED_MAX (UINT64_C(3) << 62)

/* -- random numbers (rng.c) -------------------------------------------------------- */

/* A counter, mixed by one wide multiplication. Cheap to seed and to copy: the whole
 * state is one number. */
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

/* A generator that starts far from those of other seeds. */
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

/* An unpredictable number: the seed of hash tables filled by untrusted input. */
uint64_t tide_secret(void);

/* -- words and UTF-8 (utf8.c) ------------------------------------------------------ */

/* A word of the text: 1 to TIDE_WORD_MAX bytes. At least 16 bytes from `bytes` on must
 * be readable. */
typedef struct tide_word {
    const char *bytes;
    uint32_t length;
} tide_word;

/* A word that begins with this is a label: __label__NAME. */
#define TIDE_LABEL_PREFIX "__label__"
enum { TIDE_LABEL_PREFIX_SIZE = sizeof TIDE_LABEL_PREFIX - 1 };

/* Length in bytes of the UTF-8 character (RFC 3629) at the start of the `left` bytes at
 * `text`; 0 if they do not start with a complete valid one, or with a NUL. In a text
 * that ends with a NUL, `left` may be 4 everywhere: no character contains the NUL. */
size_t tide_utf8_length(const void *text, size_t left);

/* Whether a byte is a continuation byte. */
static inline bool tide_utf8_inside(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Whether the valid character at `at` is a control character, U+0000 to U+001F or
 * U+007F to U+009F. Terminals act on some of them. */
static inline bool tide_utf8_is_control(const void *at)
{
    const unsigned char *c = at;
    return c[0] < 0x20 || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0);
}

/* Replaces every control character, and every byte that is not UTF-8, by one '?'. */
void tide_utf8_clean(char *text);

/* The largest length up to `max` at which the text can be cut between two characters.
 */
size_t tide_utf8_cut(const char *text, size_t length, size_t max);

/* Applies compatibility composition (NFKC) and case folding, as a folding tokenizer
 * does. False if the word is not UTF-8 or its folded form is too long for a word. */
bool tide_utf8_fold(const char *word, char folded[TIDE_WORD_MAX + 1]);

/* Insertions, deletions, substitutions and swaps of neighbors that turn one text into
 * the other; max + 1 if more than max, or if a text is longer than TIDE_WORD_MAX
 * (edit_distance.c). */
int tide_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                       int max);

/* -- clocks (clock.c, deadline.c) -------------------------------------------------- */

/* CLOCK_MONOTONIC. */
double tide_now_seconds(void);
int64_t tide_now_ms(void);

double tide_wall_seconds(void); /* since 1970 */
double tide_cpu_seconds(void);  /* used by this thread */

/* Nanoseconds in a millisecond, as 64 bits. */
#define TIDE_MS INT64_C(1000000)

/* `wait_ns` nanoseconds from now, for pthread_cond_clockwait with CLOCK_MONOTONIC. */
struct timespec tide_deadline(int64_t wait_ns);

/* -- queue (queue.c) --------------------------------------------------------------- */

/* A bounded first-in first-out queue of pointers between threads. */
typedef struct tide_queue tide_queue;

tide_queue *tide_queue_new(size_t capacity, tide_error *err);
void tide_queue_free(tide_queue *queue);

/* False when the queue is full. The item must not be NULL. */
bool tide_queue_try_push(tide_queue *queue, void *item);

/* Removes the oldest item; NULL if the queue is empty. */
void *tide_queue_try_pop(tide_queue *queue);

/* Waits for an item and removes it; NULL once the queue is closed and empty. */
void *tide_queue_pop(tide_queue *queue);

/* Marks the end of the queue: no more items can be pushed, and waiting threads wake. */
void tide_queue_close(tide_queue *queue);

/* -- decimal numbers (decimal.c) --------------------------------------------------- */

/* tide_decimal_write is in wordtide.h. */

/* Parses the number at the start of a NUL-terminated text, independently of the locale.
 * Returns a pointer to what follows it; NULL if there is no decimal number or it is out
 * of the range of a float. */
const char *tide_decimal_read(const char *text, float *value);

/* -- JSON output (json_writer.c) --------------------------------------------------- */

enum { TIDE_JSON_DEPTH = 8, TIDE_JSON_ESCAPE_MAX = 6 };

/* Initialize with {0}, or with a stream. The writer inserts the commas. */
typedef struct tide_json_writer {
    FILE *file;                      /* NULL: standard output */
    int depth;                       /* number of open brackets */
    char close[TIDE_JSON_DEPTH];     /* their closing brackets */
    bool has_value[TIDE_JSON_DEPTH]; /* they contain a value already */
} tide_json_writer;

/* `name` is NULL for the outermost value and in arrays. Names and texts may hold any
 * bytes: those that are not UTF-8 become U+FFFD. */
void tide_json_object(tide_json_writer *w, const char *name);
void tide_json_array(tide_json_writer *w, const char *name);

/* Closes the innermost bracket. The outermost one also ends the line. */
void tide_json_end(tide_json_writer *w);

/* A text of NULL is written as null. */
void tide_json_text(tide_json_writer *w, const char *name, const char *text);
void tide_json_count(tide_json_writer *w, const char *name, uint64_t count);
void tide_json_bool(tide_json_writer *w, const char *name, bool value);

/* Writes `digits` decimals; null if the value is not finite. */
void tide_json_real(tide_json_writer *w, const char *name, double value, int digits);

/* Writes the fewest digits that read back as the same value, which must be finite. */
void tide_json_float(tide_json_writer *w, const char *name, float value);

/* Without a stream: writes the character at `*text` as it stands within a JSON string,
 * and moves `*text` to the next one. Returns the number of bytes. `*text` must not be
 * at its end. */
size_t tide_json_escape(const char **text, char escaped[TIDE_JSON_ESCAPE_MAX]);

#endif
