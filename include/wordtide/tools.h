/* wordtide/tools.h - what the wordtide command needs besides: reading sources and
 * records, content detection, the demo stream, lock files, atomically replaced files,
 * benchmarks. The conventions are those of wordtide.h. This interface is not stable: it
 * may change in any version. */
#ifndef WORDTIDE_TOOLS_H
#define WORDTIDE_TOOLS_H

#include <wordtide.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- sources ----------------------------------------------------------------------- */

/* A source named as in tide_run, without "feed:". */
typedef struct tide_source tide_source;

TIDE_API tide_source *tide_source_open(const char *spec, tide_error *err);
TIDE_API void tide_source_close(tide_source *source);

/* Reads up to `capacity` bytes; 0 at the end. A read that a signal interrupts before it
 * has any bytes returns TIDE_ERROR_IO and leaves errno at EINTR. */
TIDE_API ptrdiff_t tide_source_read(tide_source *source, void *bytes, size_t capacity,
                                    tide_error *err);

/* What an input is, judging by its first bytes. */
typedef enum tide_content {
    TIDE_CONTENT_TEXT,    /* UTF-8 text, or something unknown, which is read as text */
    TIDE_CONTENT_8BIT,    /* text in Latin-1, Windows-1252 or a similar encoding */
    TIDE_CONTENT_RECORDS, /* JSON objects */
    TIDE_CONTENT_MODEL,   /* a wordtide model */
    TIDE_CONTENT_VECTORS, /* something that tide_rows_open reads */
    TIDE_CONTENT_PACKED,  /* compressed by gzip, zstd or xz, which sources decompress */
    TIDE_CONTENT_OTHER,   /* UTF-16, an archive, a Parquet file, ... */
} tide_content;

/* Classifies the first `size` bytes of an input; 64 KiB are enough. `whole` means that
 * there are no more. For anything but TIDE_CONTENT_TEXT the error's text names it, such
 * as "a zip archive". A single line is never enough evidence to classify text as
 * something else. */
TIDE_API tide_content tide_content_of(const void *bytes, size_t size, bool whole,
                                      tide_error *err);

/* -- records: texts in JSON, CSV or TSV -------------------------------------------- */

typedef enum tide_record_kind {
    TIDE_RECORDS_LINES, /* every line is text; needs no tide_records */
    TIDE_RECORDS_JSON,  /* objects: one per line, over several lines, or in one array */
    TIDE_RECORDS_CSV,   /* RFC 4180 */
    TIDE_RECORDS_TSV,   /* one record per line, fields separated by tabs, no quoting */
} tide_record_kind;

/* Fields are dotted paths (JSON), or names or 1-based numbers of columns (CSV, TSV). In
 * `text` a name that contains a comma is written in double quotes. If one of the fields
 * is the name of a column, the first record of every input is a header. */
typedef struct tide_record_options {
    tide_record_kind kind;
    const char *text;  /* required: one or more fields, separated by commas */
    const char *time;  /* "" for none */
    const char *label; /* "" for none */
    bool one_line;     /* replace line feeds within a text by spaces */
    /* CSV column separator; 0: whichever of , ; | and tab the header uses */
    char delimiter;
} tide_record_options;

/* What was read and skipped. */
typedef struct tide_record_counts {
    uint64_t records;   /* complete ones, valid or not */
    uint64_t malformed; /* not valid JSON or CSV */
    uint64_t missing;   /* without text in any of the fields */
    uint64_t too_long;  /* longer than TIDE_RECORD_MAX bytes */
    uint64_t bytes;     /* in all that was skipped */
} tide_record_counts;

#ifndef TIDE_RECORD_MAX /* smaller in builds for fuzzing */
#define TIDE_RECORD_MAX (1 << 20)
#endif

/* Extracts the text of records. A record may be fed in pieces. Memory is fixed. */
typedef struct tide_records tide_records;

TIDE_API tide_records *tide_records_new(const tide_record_options *options,
                                        tide_error *err);
TIDE_API void tide_records_free(tide_records *r);

/* Consumes up to `size` bytes and returns how many. Take texts until there are none,
 * then feed the rest. */
TIDE_API size_t tide_records_feed(tide_records *r, const void *bytes, size_t size);

/* Ends the input and its last record; the next input starts with its own header. */
TIDE_API void tide_records_end(tide_records *r);

/* The text of the next valid record, ending with a line feed, valid until the next
 * call. Several fields are joined by line feeds. Labels come first, each as one word:
 * "__label__" and the label with white space replaced by "_". A JSON array gives a
 * label for every string, number and so on in it, at most 256. False if more input is
 * needed. */
TIDE_API bool tide_records_next(tide_records *r, const char **text, size_t *size);

TIDE_API tide_record_counts tide_records_counted(const tide_records *r);

/* -- the demo stream: an invented newsroom with known truth ------------------------ */

/* The source "demo:" is an endless stream of lower-case sentences, one per line. Its
 * settings are seed, tokens (its length), hashtags and events (on or off), pace (of the
 * events) and rate (words per second). */

/* Writes the truth as TSV: "group NAME WORD..." (words that belong together) and
 * "analogy NAME A B C D" (A is to B as C is to D). */
TIDE_API int tide_demo_truth(FILE *out, tide_error *err);

/* An event in a stream with events=on:
 *
 * birth   a new word, frequent between `from` and `to` and less so afterwards
 * fade    such a word becomes rarer and disappears
 * change  a word is used more and more like those of another group, finally only so
 * burst   a word is used 5 to 20 times as often between `from` and `to`
 * season  a topic is written about more than usual
 *
 * Times are numbers of tokens; 120,000 tokens are a minute of the stream at pace 1. A
 * share is the fraction that a word has of the occurrences of its group, or a season's
 * topic of the lines; a fade or change moves linearly from the share before to the
 * share after. Groups are those of tide_demo_truth, where a word belongs to the group
 * in which it starts. */
typedef struct tide_demo_event {
    const char *kind;
    char word[TIDE_WORD_MAX + 1]; /* of a season, the topic */
    uint64_t from, to;
    const char *before, *after; /* groups; NULL before a birth and after a fade */
    double share_before, share_during, share_after; /* during: the mean */
} tide_demo_event;

/* Reports the events that overlap the tokens [from, to) of a stream such as
 * "demo:seed=7,events=on", in the order in which they start. */
TIDE_API int tide_demo_events(const char *spec, uint64_t from, uint64_t to,
                              void (*report)(void *data, const tide_demo_event *event),
                              void *data, tide_error *err);

/* -- files ------------------------------------------------------------------------- */

typedef struct tide_lock tide_lock;

/* Locks a path against other processes that lock it too; TIDE_ERROR_IO if one holds the
 * lock. The lock is released with the process at the latest. */
TIDE_API tide_lock *tide_lock_open(const char *path, tide_error *err);
TIDE_API void tide_lock_close(tide_lock *lock);

/* A file that replaces another one once it is complete: it is written under a temporary
 * name beside it and renamed by the commit. */
typedef struct tide_output tide_output;

/* `path` must outlive the output. */
TIDE_API tide_output *tide_output_create(const char *path, tide_error *err);

/* The path of the temporary file, which exists and is empty. */
TIDE_API const char *tide_output_temporary(const tide_output *out);

/* Syncs the file, renames it and frees the output. On failure the old file is untouched
 * and the temporary one is removed; errno has the reason if a write failed. */
TIDE_API int tide_output_commit(tide_output *out, tide_error *err);

/* Removes the temporary file and frees the output. */
TIDE_API void tide_output_discard(tide_output *out);

/* Whether a model could be saved at this path; finds out by trying. */
TIDE_API int tide_path_writable(const char *path, tide_error *err);

/* TIDE_ERROR_PARAMETER if a model that is saved at this path, with `keep` earlier versions
 * beside it, would replace a file that is not a model. Saving fails then; this finds out
 * before training. Files that are empty, or have only zeros, may be replaced. */
TIDE_API int tide_path_replaceable(const char *path, uint32_t keep, tide_error *err);

/* TIDE_ERROR_PARAMETER if there is a model at this path, which only a model may
 * replace. */
TIDE_API int tide_path_not_model(const char *path, tide_error *err);

#define TIDE_DECIMAL_MAX 20

/* Writes the shortest decimal that reads back as the same float, not zero-terminated;
 * returns its length. Infinities and NaN become "inf" and "nan". */
TIDE_API size_t tide_decimal_write(float value, char text[TIDE_DECIMAL_MAX]);

/* -- benchmarks -------------------------------------------------------------------- */

typedef struct tide_timing {
    const char *set;  /* kernel set */
    const char *name; /* operation */
    double nanoseconds;
    bool usable; /* supported by this processor */
    bool chosen; /* used by the library */
} tide_timing;

/* Times every kernel set at this dimension; returns the number of timings, at most
 * `capacity`. */
TIDE_API int tide_bench_kernels(uint32_t dim, tide_timing *timings, size_t capacity,
                                tide_error *err);

/* Runs a source through tokenizer, vocabulary and subsampling without training. CPU
 * nanoseconds per token: the minimum of five passes if the source can be read again. If
 * it cannot, those of several threads are 0. */
enum {
    TIDE_INGEST_ALL,      /* everything on one thread */
    TIDE_INGEST_READING,  /* with several: tokenizing and hashing, */
    TIDE_INGEST_COUNTING, /* and what is left for the thread that counts */
    TIDE_INGEST_STAGES
};
TIDE_API int tide_bench_ingest(const tide_params *params, const char *source,
                               double nanoseconds[TIDE_INGEST_STAGES], uint64_t *tokens,
                               tide_error *err);

/* Extracts the texts of a file of records and discards them. Bytes per CPU second: the
 * maximum of five passes. */
TIDE_API int tide_bench_records(const tide_params *params, const char *source,
                                double *bytes_per_second, uint64_t *records,
                                tide_error *err);

#define TIDE_CHECKPOINT_PARTS 6
#define TIDE_CHECKPOINT_ROUNDS 1000 /* at most */

/* A part of saving, or a way of doing it; in seconds per GiB of file. */
typedef struct tide_checkpoint_timing {
    const char *name; /* check, write, preallocated, preallocate, pause or commit */
    bool paused;      /* training pauses meanwhile */
    double min, median, max; /* wall-clock time over all rounds */
    double cpu;              /* median CPU time of the training thread */
} tide_checkpoint_timing;

/* Benchmarks checkpointing. Writes a full model to `path`, which must not exist, and
 * deletes it, timing the NaN check (check), a plain write (write), a write into
 * preallocated space (preallocated), and the three phases of a background checkpoint:
 * preallocating (preallocate), writing while training pauses (pause), and making the
 * file durable (commit). Every write includes the NaN check. */
TIDE_API int tide_bench_checkpoint(const tide_params *params, const char *path,
                                   uint32_t rounds,
                                   tide_checkpoint_timing parts[TIDE_CHECKPOINT_PARTS],
                                   uint64_t *bytes, tide_error *err);

#ifdef __cplusplus
}
#endif

#endif
