/* base.h - what every module stands on: errors, memory, random numbers, hashing, a queue, a file. */
#ifndef TIDE_BASE_H
#define TIDE_BASE_H

#include <wordtide.h>

#include <stdarg.h>
#include <string.h>
#include <time.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "model files are little-endian");

/* -- error (error.c) ----------------------------------------------------------------------------- */

/* Describes a failure and returns its status. `err` may be NULL. Control characters that come in
 * through the arguments are shown as '?', so that the text is one safe line. */
int tide_fail(tide_error *err, tide_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* -- memory (memory.c) ---------------------------------------------------------------------------- */

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

/* -- counting -------------------------------------------------------------------------------------- */

/* What a file may say has been counted. A quarter of what 64 bits hold is left from there, which is more than
 * any stream will use, so that no count ever wraps around. */
#define TIDE_COUNTED_MOST (UINT64_C(3) << 62)

/* -- random numbers (rng.c) ------------------------------------------------------------------------ */

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

/* -- hash (hash.c) ---------------------------------------------------------------------------------- */

/* XXH3 with a seed: the same on every machine. */
uint64_t tide_hash(const void *bytes, size_t size, uint64_t seed);

/* A number that nobody outside this process can know, for hash tables that strangers fill. */
uint64_t tide_secret(void);

/* -- words ------------------------------------------------------------------------------------------- */

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

/* -- clock (clock.c): one that nobody sets ----------------------------------------------------------- */

double tide_now_seconds(void);
int64_t tide_now_ms(void);

/* The moment in so many milliseconds, for pthread_cond_clockwait with CLOCK_MONOTONIC (deadline.c). */
struct timespec tide_deadline(int wait_ms);

/* -- files (file.c): calls that signals may interrupt ------------------------------------------------- */

/* Writes all of it. Returns 0 or an errno, part of it written. */
int tide_file_write(int file, const void *bytes, size_t size, uint64_t offset);

/* Reads `size` bytes, or those up to the end of the file; returns how many. -1 with errno. */
ptrdiff_t tide_file_read(int file, void *bytes, size_t size, uint64_t offset);

/* read(2), begun again when a signal interrupts it. */
ptrdiff_t tide_file_take(int file, void *bytes, size_t size);

/* Whether an errno is for a lack that may soon be over, of file descriptors or of the kernel's memory, so that
 * the call should be made again later. */
bool tide_reason_passes(int reason);

/* Brings the bytes of a file to the disk. Returns 0 or an errno. */
int tide_file_sync(int file);

/* The same for the names in a directory. Some file systems cannot and need not. */
bool tide_directory_sync(int directory);

/* -- queue (queue.c) --------------------------------------------------------------------------------- */

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

/* -- store (store.c): a sectioned, checksummed, atomically replaced file ------------------------------ */

/* Drawn byte by byte in doc/FORMAT.md. Section names are at most TIDE_SECTION_NAME_MAX bytes of
 * a-z 0-9 . - and appear once. */
#define TIDE_SECTION_NAME_MAX 15
#define TIDE_SECTIONS_MAX 64

typedef struct tide_store_writer tide_store_writer;

/* Begins a temporary file beside `path`, which stays as it is until the commit. */
tide_store_writer *tide_store_create(const char *path, tide_error *err);

/* Calls `watch` every now and then while the file is filled, until it is sealed. */
void tide_store_watch(tide_store_writer *writer, void (*watch)(void *data), void *data);

/* Begin a section, append any number of pieces to it; the next begin or the commit ends it. Both
 * are no-ops after a failure, which the commit reports. */
void tide_store_begin(tide_store_writer *writer, const char *name);
void tide_store_append(tide_store_writer *writer, const void *bytes, size_t size);

/* One section in one piece. */
void tide_store_put(tide_store_writer *writer, const char *name, const void *bytes,
                    size_t size);

/* Writes the table and the end record, syncs, reads the headers back, renames over `path` and syncs
 * the directory. Frees the writer; on failure the old file is untouched and the temporary one gone. */
int tide_store_commit(tide_store_writer *writer, tide_error *err);

/* The two halves of a commit. The first writes all that is left to be written and returns the size of the
 * file; the second brings it to the disk and into its place, and needs nothing of what was saved. The
 * `older` files that were there before stay, as PATH.1 (the latest), PATH.2 and so on. */
uint64_t tide_store_seal(tide_store_writer *writer);
int tide_store_publish(tide_store_writer *writer, uint32_t older, tide_error *err);

/* For who may not stand still for long. Room for a file of about this size is made in advance, and may take as
 * long as the disk likes: blocks, pages, and a disk that has nothing else to write. No room is a failure of the writer. */
void tide_store_make_room(tide_store_writer *writer, uint64_t bytes);

/* And another thread writes what is put into the file, in tide_store_drain, which returns when the file is sealed
 * and all of it written. To be shared before the first section. The seal must have returned before the file is
 * published. */
int tide_store_share(tide_store_writer *writer, tide_error *err);
void tide_store_drain(tide_store_writer *writer);

/* Throws the temporary file away and frees the writer. NULL is fine. */
void tide_store_abandon(tide_store_writer *writer);

typedef struct tide_store tide_store;

/* Opens and validates header, table, lengths, padding and end record, then the checksum of every
 * section, reading the file once in small pieces: nothing is allocated by what the file claims. */
tide_store *tide_store_open(const char *path, tide_error *err);
void tide_store_close(tide_store *store);

const char *tide_store_path(const tide_store *store);
uint64_t tide_store_length(const tide_store *store); /* of the file, in bytes */
bool tide_store_has(const tide_store *store, const char *name);

/* The size in bytes of a section that must be there; TIDE_ERROR_FORMAT otherwise. */
int64_t tide_store_size(const tide_store *store, const char *name, tide_error *err);

/* Reads a whole section, whose size must be `size`, and verifies its checksum again. */
int tide_store_read(tide_store *store, const char *name, void *bytes, size_t size,
                    tide_error *err);

/* Reads part of a section; for sections that are taken in pieces. */
int tide_store_read_at(tide_store *store, const char *name, uint64_t offset,
                       void *bytes, size_t size, tide_error *err);

/* Little-endian numbers in a growing or a given buffer, for small mixed sections. */
static inline void tide_put64(unsigned char *bytes, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t tide_get64(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* -- decimal numbers (decimal.c) ------------------------------------------------------------------- */

/* tide_decimal_write is in wordtide.h. */

/* Reads the number at the beginning of a text that has a 0 at its end; returns what follows it. NULL
 * when there is no decimal number, or one beyond the floats. The locale does not matter. */
const char *tide_decimal_read(const char *text, float *value);

/* -- output (output.c): a file written from its beginning to its end, complete or not there --------- */

/* The rest is in wordtide.h. The path "-" is standard output, which has no temporary file. */

#define TIDE_OUTPUT_ROOM (256 * 1024)

/* Writes to a file of the caller's, which stays open. It has no temporary file either. */
tide_output *tide_output_open(int file, tide_error *err);

/* Room for `size` <= TIDE_OUTPUT_ROOM bytes, of which _take says how many were filled. After a
 * failure nothing is written any more; the commit reports it. */
char *tide_output_room(tide_output *out, size_t size);
void tide_output_take(tide_output *out, size_t size);
void tide_output_put(tide_output *out, const void *bytes, size_t size);
bool tide_output_failed(const tide_output *out);

#endif
