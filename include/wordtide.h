/* wordtide.h - word embeddings from text that never ends.
 *
 * The whole public interface of libwordtide. Conventions, stated once:
 *
 *  - Objects are opaque. Who calls x_new, x_load or x_open calls x_free or x_close; NULL is fine.
 *  - A function that can fail takes a tide_error as its last argument (NULL if the caller does not
 *    care) and returns a negative tide_status or NULL; the text in the error fits one line and
 *    names the thing at fault. The library never prints, exits or aborts.
 *  - A returned const pointer is borrowed and lives as long as the object it came from.
 *  - Text is UTF-8 and words are at most TIDE_WORD_MAX bytes.
 *  - An object belongs to one thread at a time, except that a loaded tide_model and the spaces made
 *    over it may be read by any number of threads.
 */
#ifndef WORDTIDE_H
#define WORDTIDE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDE_API __attribute__((visibility("default")))
#define TIDE_WORD_MAX 63

TIDE_API const char *tide_version(void);

/* -- errors ---------------------------------------------------------------------------------- */

typedef enum tide_status {
    TIDE_OK = 0,
    TIDE_ERROR_MEMORY = -1, /* an allocation failed */
    TIDE_ERROR_IO = -2, /* the system refused to open, read, write or replace a file */
    TIDE_ERROR_FORMAT = -3,    /* a file is not what it should be */
    TIDE_ERROR_PARAMETER = -4, /* an unknown name or a value out of range */
    TIDE_ERROR_UNKNOWN = -5,   /* a word that is not in the vocabulary */
    TIDE_ERROR_INPUT = -6,     /* more bad input than was allowed */
} tide_status;

typedef struct tide_error {
    tide_status status;
    char text[256];
} tide_error;

/* -- parameters: one table for flags, files and documents ------------------------------------- */

typedef struct tide_params tide_params;
typedef struct tide_model tide_model;

typedef struct tide_param_info {
    const char *name; /* as in --name */
    const char
        *aliases;       /* other names it answers to, separated by spaces; "" if none */
    const char *values; /* "a|b|c" for a choice, otherwise the range in words */
    const char *initial; /* the value in profile default */
    const char *help;
    const char *group; /* heading under which the help lists it */
    bool on_resume;    /* may be given another value when training is resumed */
} tide_param_info;

TIDE_API const tide_param_info *tide_params_table(size_t *count);

/* All parameters at the values of profile default. */
TIDE_API tide_params *tide_params_new(tide_error *err);
TIDE_API void tide_params_free(tide_params *params);

/* The parameters that a model was trained with. A file of vectors alone has none. */
TIDE_API tide_params *tide_params_of_model(const tide_model *model, tide_error *err);

/* Set one parameter from text. "profile" sets a whole family, so it is set before the others. */
TIDE_API int tide_params_set(tide_params *params, const char *name, const char *value,
                             tide_error *err);

/* The present value as text; returns its length or TIDE_ERROR_PARAMETER. */
TIDE_API int tide_params_text(const tide_params *params, const char *name, char *text,
                              size_t room);

/* -- memory budget ---------------------------------------------------------------------------- */

typedef struct tide_part {
    const char *name;
    uint64_t bytes;
} tide_part;

#define TIDE_PARTS_MAX 16

/* What a trainer with these parameters will allocate, by part; returns the number of parts. If only
 * the memory was given, the size of the vocabulary is set to what fits it. */
TIDE_API int tide_params_budget(tide_params *params, tide_part parts[TIDE_PARTS_MAX],
                                tide_error *err);

/* -- sources ----------------------------------------------------------------------------------- */

/* A source is a path, "-" for standard input, or "demo:" (see tide_demo below), optionally with
 * settings: "demo:seed=7,tokens=1e6". */
typedef struct tide_source tide_source;

TIDE_API tide_source *tide_source_open(const char *spec, tide_error *err);
TIDE_API void tide_source_close(tide_source *source);

/* Up to `room` bytes; 0 at the end. A read that a signal interrupts before it has any bytes
 * returns TIDE_ERROR_IO with errno EINTR kept. */
TIDE_API ptrdiff_t tide_source_read(tide_source *source, void *bytes, size_t room,
                                    tide_error *err);

/* -- the demo stream: an invented newsroom whose truth is known --------------------------------- */

typedef struct tide_demo tide_demo;

TIDE_API tide_demo *tide_demo_new(uint64_t seed, tide_error *err);
TIDE_API void tide_demo_free(tide_demo *demo);

/* The next bytes of the stream, which never ends: lower-case sentences, one a line. Returns how
 * many were written: at least one and at most `room`. How the stream is cut into reads does not
 * change it. */
TIDE_API size_t tide_demo_read(tide_demo *demo, char *bytes, size_t room);

/* Tokens of all the lines begun so far. */
TIDE_API uint64_t tide_demo_tokens(const tide_demo *demo);

/* Writes the truth as TSV: "group NAME WORD..." (words that belong together) and
 * "analogy NAME A B C D" (A is to B as C is to D). */
TIDE_API int tide_demo_truth(FILE *out, tide_error *err);

/* -- the trainer -------------------------------------------------------------------------------- */

typedef struct tide_trainer tide_trainer;

typedef struct tide_stats {
    uint64_t bytes;  /* read */
    uint64_t tokens; /* words found in them */
    uint64_t sentences;
    uint64_t trained;    /* centre words trained, replays included */
    uint64_t vocabulary; /* words held now */
    uint64_t capacity;
    uint64_t admitted;      /* words that entered */
    uint64_t evicted;       /* words that had to leave */
    uint64_t evicted_young; /* of these, within 1,000 tokens of their coming */
    uint64_t rejected;      /* tokens of words that the vocabulary does not hold */
    uint64_t minimum_count; /* bound on the count of any word that is not held */
    uint64_t
        skipped_invalid; /* tokens dropped: not UTF-8, or control characters in them */
    uint64_t cut_words;  /* words longer than TIDE_WORD_MAX, cut */
    uint64_t
        omitted_words; /* left out as the parameters say: stop words and the like */
    uint64_t records;  /* of JSON, CSV or TSV; 0 for plain lines */
    uint64_t malformed_records, missing_records,
        long_records;       /* left out: not JSON or CSV,
                                                  without text, longer than a MiB */
    uint64_t dropped_bytes; /* of words skipped or cut and of records left out */
    double time; /* seconds since 1970 of the last record with a time; NAN without */
    uint64_t cut_sentences; /* lines longer than a sentence may be, cut */
    double loss; /* mean loss of a pair of new text, over a recent window; 0 before */
} tide_stats;

/* Allocates everything that training will ever need. */
TIDE_API tide_trainer *tide_trainer_new(const tide_params *params, tide_error *err);

/* Goes on from a saved model exactly where it stopped. `changes` are (name, value) pairs of
 * parameters: those with on_resume take the new value, others must agree with the file. */
TIDE_API tide_trainer *tide_trainer_load(const char *path,
                                         const char *const (*changes)[2], size_t count,
                                         tide_error *err);
TIDE_API void tide_trainer_free(tide_trainer *trainer);

/* Learn from bytes of text, cut anywhere; what ends in the middle of a word or of a sentence waits
 * for the rest. */
TIDE_API int tide_trainer_feed(tide_trainer *trainer, const void *bytes, size_t size,
                               tide_error *err);

/* The text ends here: so do its last word and its last sentence. Waits until all is trained. */
TIDE_API int tide_trainer_end(tide_trainer *trainer, tide_error *err);

/* Writes a model file, atomically. Waits until all sentences so far are trained. */
TIDE_API int tide_trainer_save(tide_trainer *trainer, const char *path,
                               tide_error *err);

TIDE_API void tide_trainer_stats(const tide_trainer *trainer, tide_stats *stats);
TIDE_API const tide_params *tide_trainer_params(const tide_trainer *trainer);

/* What was allocated, by part. */
TIDE_API int tide_trainer_budget(const tide_trainer *trainer,
                                 tide_part parts[TIDE_PARTS_MAX]);

/* The model while it learns. It changes whenever the trainer is fed, and is to be asked after
 * tide_trainer_end or tide_trainer_save, when all lessons are learned. */
TIDE_API const tide_model *tide_trainer_model(const tide_trainer *trainer);

typedef struct tide_run {
    const char *const *sources;
    size_t source_count;
    bool from_start; /* read sources again that an interrupted run had read already */
    const volatile sig_atomic_t
        *stop; /* ends the run after the present sentence when not 0 */
    void (*watch)(void *data,
                  const tide_stats *stats); /* called some ten times a second */
    void *watch_data;
    uint64_t pause_tokens; /* not 0: `pause` is called between two sentences, about
                              every so many tokens and at the end, all lessons learned */
    void (*pause)(void *data, const tide_stats *stats);
    void *pause_data;
    void (*note)(void *data, bool warning,
                 const char *text); /* one line for a person */
    void *note_data;
    const char
        *save_path; /* saved here at the end, and before if a source asks for it or
                              either of the next is not 0; NULL: the caller saves */
    uint64_t save_tokens;
    double save_seconds;
    bool *saved; /* becomes true when the save at the end has been done; may be NULL */
    bool follow; /* files are read on as they grow and are rotated, all at once */
    const char *const *properties; /* "key=value" for the library behind a source */
    size_t property_count;
    bool
        errors_limited; /* ends with TIDE_ERROR_INPUT after more than so many bad records */
    uint64_t max_errors;
} tide_run;

/* Batch training: counts the words of the run's sources, which must be such as can be read again, and
 * makes a trainer whose vocabulary is fixed: the `vocab` most frequent words that occur `min-count`
 * times or more. tide_trainer_run then reads the sources `epochs` times. NULL with status TIDE_OK when
 * the run was stopped while counting. */
TIDE_API tide_trainer *tide_trainer_new_batch(const tide_params *params,
                                              const tide_run *run, tide_error *err);

/* Read the sources to their ends, or until `stop`. Returns 0 at the end and 1 when stopped; a later
 * run of the saved model over the same sources goes on where this one stopped. */
TIDE_API int tide_trainer_run(tide_trainer *trainer, const tide_run *run,
                              tide_error *err);

/* Whether a model file could be written at this path, found out by trying. */
TIDE_API int tide_path_writable(const char *path, tide_error *err);

/* -- models ------------------------------------------------------------------------------------- */

typedef struct tide_entry {
    const char *word;
    uint64_t count; /* never below the true count */
    uint64_t error; /* count - error is never above it */
    uint32_t slot;
} tide_entry;

TIDE_API tide_model *tide_model_load(const char *path, tide_error *err);

/* The same for any file of vectors that can be read (tide_formats), which has words and input vectors
 * and nothing else: words by falling count, in the order of the file where it does not tell counts. */
TIDE_API tide_model *tide_model_open(const char *path, tide_error *err);
TIDE_API void tide_model_free(tide_model *model);

TIDE_API uint32_t tide_model_size(const tide_model *model);     /* words held */
TIDE_API uint32_t tide_model_capacity(const tide_model *model); /* words it can hold */
TIDE_API uint32_t tide_model_dim(const tide_model *model);
TIDE_API uint32_t
tide_model_subwords(const tide_model *model); /* n-gram rows; 0 without */
TIDE_API uint64_t tide_model_tokens(const tide_model *model);

/* The text of the parameters the model was trained with, "name value" lines. */
TIDE_API const char *tide_model_params(const tide_model *model);

/* The words by falling count; returns how many were written. */
TIDE_API size_t tide_model_words(const tide_model *model, tide_entry *entries,
                                 size_t room);

/* Returns TIDE_ERROR_UNKNOWN for a word that is not held. */
TIDE_API int tide_model_find(const tide_model *model, const char *word,
                             tide_entry *entry, tide_error *err);

/* Words spelt nearly like this one, the nearest and most frequent first; at most 16. */
TIDE_API size_t tide_model_suggest(const tide_model *model, const char *word,
                                   tide_entry *entries, size_t room);

/* -- asking: a space is a way of looking at a model ---------------------------------------------- */

typedef enum tide_vectors {
    TIDE_VECTORS_INPUT,
    TIDE_VECTORS_OUTPUT,
    TIDE_VECTORS_SUM
} tide_vectors;

typedef struct tide_space tide_space;

/* `centred` subtracts the mean vector of the frequent words. The model must outlive the space. */
TIDE_API tide_space *tide_space_new(const tide_model *model, tide_vectors vectors,
                                    bool centred, tide_error *err);
TIDE_API void tide_space_free(tide_space *space);

/* Writes dim floats. With subwords an unseen word gets a vector too; otherwise TIDE_ERROR_UNKNOWN. */
TIDE_API int tide_space_vector(const tide_space *space, const char *word, float *vector,
                               tide_error *err);

/* Cosine of two words. */
TIDE_API int tide_space_similarity(const tide_space *space, const char *a,
                                   const char *b, float *cosine, tide_error *err);

typedef struct tide_hit {
    const char *word;
    float score; /* cosine */
    uint32_t slot;
} tide_hit;

typedef struct tide_query {
    const char *const *positive; /* words whose unit vectors are added */
    size_t positive_count;
    const char *const *negative; /* words whose unit vectors are subtracted */
    size_t negative_count;
    const float *vector; /* dim floats to be added as they are, or NULL */
    uint32_t among;      /* only the so many most frequent words; 0 for all */
} tide_query;

/* The nearest words by cosine, the words of the query (at most 64) left out; returns how many. */
TIDE_API int tide_space_nearest(const tide_space *space, const tide_query *query,
                                tide_hit *hits, size_t room, tide_error *err);

/* a is to b as c is to ...: nearest to b - a + c (3CosAdd). */
TIDE_API int tide_space_analogy(const tide_space *space, const char *a, const char *b,
                                const char *c, tide_hit *hits, size_t room,
                                tide_error *err);

/* -- files that are complete or as they were ------------------------------------------------------- */

/* A file in the making: what is written into the temporary one beside it takes its place with the
 * commit. */
typedef struct tide_output tide_output;

/* `path` must live as long. */
TIDE_API tide_output *tide_output_create(const char *path, tide_error *err);

/* The path of the temporary file, which is there and empty. */
TIDE_API const char *tide_output_temporary(const tide_output *out);

/* Syncs the file and puts it in its place. Frees the output; on failure the old file is untouched and
 * the temporary one gone. errno tells why a write failed. */
TIDE_API int tide_output_commit(tide_output *out, tide_error *err);

/* Throws the temporary file away and frees the output. NULL is fine. */
TIDE_API void tide_output_abandon(tide_output *out);

/* -- numbers as text ------------------------------------------------------------------------------ */

#define TIDE_DECIMAL_MAX 20

/* The fewest digits that read back as the same float, without a 0 after them; returns how many
 * bytes. What is not finite becomes "inf" or "nan". */
TIDE_API size_t tide_decimal_write(float value, char text[TIDE_DECIMAL_MAX]);

/* -- vectors in other formats -------------------------------------------------------------------- */

typedef struct tide_format_info {
    const char *name; /* as in --format */
    const char *help;
    const char *dtypes; /* "f32|f16|i8": those it can hold, the first by default */
    bool reads, writes;
} tide_format_info;

TIDE_API const tide_format_info *tide_formats(size_t *count);

typedef struct tide_export {
    const char *format;
    const char *dtype; /* NULL: the format's first */
    tide_vectors vectors;
    bool centred;
    uint32_t top; /* only the so many most frequent words; 0 for all */
} tide_export;

typedef struct tide_exported {
    uint64_t words;
    uint64_t left_out; /* words that the format cannot hold */
} tide_exported;

/* Writes the words by falling count, atomically: the file is complete or as it was before. A format
 * of several files adds to the path, and replaces them one by one when all are written: a crash
 * between two leaves new ones beside old ones. "-" is standard output, for formats of one file. */
TIDE_API int tide_model_export(const tide_model *model, const tide_export *how,
                               const char *path, tide_exported *done, tide_error *err);

/* The rows of a file of vectors, one after the other. */
typedef struct tide_rows tide_rows;

typedef struct tide_row {
    const char *word; /* with a 0 after it */
    uint32_t length;
    const float *vector; /* [dim] */
    uint64_t count;      /* 0 when the file does not say */
    uint64_t error;      /* count - error is never above the true count */
} tide_row;

/* `format` NULL: told by the contents. The path may be "-", standard input, or that of a pipe or of a
 * compressed file, for formats whose one file is read from its beginning to its end. */
TIDE_API tide_rows *tide_rows_open(const char *path, const char *format,
                                   tide_error *err);
TIDE_API void tide_rows_close(tide_rows *rows);
TIDE_API const char *tide_rows_format(const tide_rows *rows);
TIDE_API uint32_t tide_rows_dim(const tide_rows *rows);
TIDE_API uint64_t
tide_rows_count(const tide_rows *rows); /* 0 when the file does not say */

/* The text of the parameters, as tide_model_params, when the file is a model; otherwise "". */
TIDE_API const char *tide_rows_params(const tide_rows *rows);

/* The next row, valid until the call after; returns 1, and 0 at the end. Rows that cannot be a word's
 * (no UTF-8, too long, no word, a number that is none) are left out and counted. */
TIDE_API int tide_rows_next(tide_rows *rows, tide_row *row, tide_error *err);
TIDE_API uint64_t tide_rows_left_out(const tide_rows *rows);

typedef struct tide_imported {
    uint64_t words;
    uint64_t left_out;  /* rows that cannot be a word's */
    uint64_t twice;     /* rows of words that had one before */
    uint64_t no_room;   /* more words than the vocabulary can hold */
    uint64_t uncounted; /* of the words, those that the file `counts` does not have */
} tide_imported;

/* Begins a stream from vectors learned elsewhere: into a trainer that has learned nothing, of the
 * same dimension. A word has the count that the file gives it, or the one in the file `counts`
 * ("word count" lines; NULL without; 1 for a word that is not there), or one that falls with its rank;
 * words come in the order of the file. They keep their vectors, and move as little as words seen so
 * often. A trainer whose import failed may have some of the words and can only be freed. */
TIDE_API int tide_trainer_import(tide_trainer *trainer, tide_rows *rows,
                                 const char *counts, tide_imported *done,
                                 tide_error *err);

/* -- texts ---------------------------------------------------------------------------------------- */

/* Vectors of texts: the mean of the words' vectors, a word of frequency p weighing
 * a / (a + p), so that frequent words count for little (smooth inverse frequency: Arora, Liang and
 * Ma, ICLR 2017). Text falls into words as it did in training. */
typedef struct tide_embedder tide_embedder;

/* The model and the space must outlive it. */
TIDE_API tide_embedder *tide_embedder_new(const tide_model *model,
                                          const tide_space *space, double a,
                                          tide_error *err);
TIDE_API void tide_embedder_free(tide_embedder *embedder);

/* More of the text, cut anywhere. */
TIDE_API void tide_embedder_add(tide_embedder *embedder, const char *text, size_t size);

/* The text ends: writes dim floats, all zero when no word is known, and returns how many words are.
 * The next text begins. */
TIDE_API uint64_t tide_embedder_end(tide_embedder *embedder, float *vector);

/* -- counting -------------------------------------------------------------------------------------- */

/* All words of a text and how often they occur: exact, so memory grows with their number. */
typedef struct tide_counts tide_counts;

/* Reads the sources of the run to their ends; text falls into words as it does in training. */
TIDE_API tide_counts *tide_counts_new(const tide_params *params, const tide_run *run,
                                      tide_error *err);
TIDE_API void tide_counts_free(tide_counts *counts);
TIDE_API uint64_t tide_counts_tokens(const tide_counts *counts);
TIDE_API size_t tide_counts_size(const tide_counts *counts); /* different words */

/* By falling count, words of the same count in the order in which they first came; `error` is 0 and
 * `slot` the rank, from 0. */
TIDE_API tide_entry tide_counts_at(const tide_counts *counts, size_t rank);

/* -- evaluation ------------------------------------------------------------------------------------ */

typedef struct tide_eval_options {
    uint32_t among;    /* only the so many most frequent words are known; 0 for all */
    bool keep_unknown; /* similarity: a pair with an unknown word is kept, with cosine 0;
                          analogy: such a question is counted as wrong */
} tide_eval_options;

typedef struct tide_similarity_result {
    uint64_t pairs;     /* in the file */
    uint64_t known;     /* of them, those whose words both have a vector */
    uint64_t bad_lines; /* neither a pair and its score nor empty nor a comment */
    double spearman;    /* of cosines and scores; NAN when it is not defined */
    double pearson;
} tide_similarity_result;

/* Cosines against people's scores: lines of two words and a number. */
TIDE_API int tide_eval_similarity(const tide_space *space, const char *path,
                                  const tide_eval_options *options,
                                  tide_similarity_result *result, tide_error *err);

typedef struct tide_analogy_result {
    char name[TIDE_WORD_MAX + 1]; /* of the section */
    uint64_t questions;           /* in the file */
    uint64_t asked;               /* of them, those whose words are all known */
    uint64_t right;
} tide_analogy_result;

/* Questions in sections (": name", then lines "A B C D"), answered by 3CosAdd. Returns the number of
 * sections, of which at most `room` are written; lines before the first have a section without a
 * name. `bad_lines` may be NULL. */
TIDE_API int tide_eval_analogy(const tide_space *space, const char *path,
                               const tide_eval_options *options,
                               tide_analogy_result *sections, size_t room,
                               uint64_t *bad_lines, tide_error *err);

/* -- measuring ----------------------------------------------------------------------------------- */

typedef struct tide_timing {
    const char *set;  /* kernel set */
    const char *name; /* operation */
    double nanoseconds;
    bool usable; /* this processor can run it */
    bool chosen; /* and the library does */
} tide_timing;

/* Times every kernel set at this dimension. Returns the number of timings, at most `room`. */
TIDE_API int tide_bench_kernels(uint32_t dim, tide_timing *timings, size_t room,
                                tide_error *err);

/* Reads a source through tokenizer, vocabulary and sub-sampling without training; CPU
 * nanoseconds a token, the least of five passes where the source can be read again. */
TIDE_API int tide_bench_ingest(const tide_params *params, const char *source,
                               double *nanoseconds, uint64_t *tokens, tide_error *err);

/* Finds the texts in the records of a file that can be read again and does nothing with them; bytes
 * a CPU-second, the most of five passes. */
TIDE_API int tide_bench_records(const tide_params *params, const char *source,
                                double *bytes_per_second, uint64_t *records,
                                tide_error *err);

#ifdef __cplusplus
}
#endif
#endif
