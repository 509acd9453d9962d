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

/* The parameters that a model was trained with. A file of vectors alone has none. They borrow the model's
 * list of stop words, so the model must live until they have been used. */
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
    uint64_t epochs; /* batch: how often the text is read; 0 for a stream */
    uint64_t epoch;  /* the present one, from 1; 0 while words are counted */
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
    uint64_t
        pause_tokens; /* not 0: `pause` is called between two sentences, where the number
                         of tokens reaches or passes another multiple of this, and at
                         the end, all lessons learned; the model may be asked there, and
                         the trainer neither fed nor saved */
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
    uint64_t count; /* never below the true count; 0 when that is not known */
    uint64_t error; /* count - error is never above it */
    uint32_t slot;
} tide_entry;

TIDE_API tide_model *tide_model_load(const char *path, tide_error *err);

/* The same for any file of vectors that can be read (tide_formats), which has words and input vectors
 * and nothing else: words by falling count, in the order of the file where it does not tell counts. */
TIDE_API tide_model *tide_model_open(const char *path, tide_error *err);
TIDE_API void tide_model_free(tide_model *model);

typedef struct tide_origin {
    const char *format; /* of the file, by its name in tide_formats */
    bool uncounted;     /* the file does not tell counts */
    uint64_t left_out;  /* rows that cannot be a word's */
    uint64_t twice;     /* rows of words that had one before: the first is kept */
} tide_origin;

TIDE_API tide_origin tide_model_origin(const tide_model *model);

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

/* `centred` subtracts the mean vector of the frequent words. A model without output vectors has a space
 * of its input vectors only; others are TIDE_ERROR_PARAMETER. The model must outlive the space. */
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

/* Reads the sources of the run to their ends; text falls into words as it does in training. Of the
 * rest of the run only stop, watch, note and properties matter. NULL with status TIDE_OK when
 * stopped. */
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
    uint32_t among; /* only the so many most frequent words are known; 0 for all */
    bool
        keep_unknown; /* similarity: a pair with an unknown word is kept, with cosine 0;
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
    uint64_t known;               /* of them, those whose words are all known */
    uint64_t asked;               /* these, or all with keep_unknown */
    uint64_t right;
} tide_analogy_result;

/* Questions in sections (": name", then lines "A B C D"), answered by 3CosAdd. Returns the number of
 * sections, of which at most `room` are written; lines before the first have a section without a
 * name. `bad_lines` may be NULL. */
TIDE_API int tide_eval_analogy(const tide_space *space, const char *path,
                               const tide_eval_options *options,
                               tide_analogy_result *sections, size_t room,
                               uint64_t *bad_lines, tide_error *err);

/* A word of the truth, and what the model has counted. */
typedef struct tide_count_point {
    uint64_t rank; /* from 1, in the order of the true counts */
    const char *word;
    uint64_t truth;
    uint64_t count; /* the model's; its `minimum` when the word is not held */
    bool held;
    double error; /* |count - truth| / truth */
} tide_count_point;

/* The words about one rank: those at most 5 % of it away. */
typedef struct tide_count_band {
    uint64_t rank;
    uint64_t from, to; /* ranks, both included */
    uint64_t words;
    double dropped; /* share that the model does not hold */
    double median_error;
    double median_error_held; /* without the dropped; NAN when all of them are */
} tide_count_band;

#define TIDE_COUNT_BANDS_MAX 64

/* Shares and means that are over nothing are NAN. */
typedef struct tide_counts_result {
    uint64_t tokens, types;  /* of the text */
    uint64_t held, capacity; /* words of the model */
    uint64_t minimum;        /* its smallest count; 0 when it has turned nobody away */
    uint64_t top;            /* as many words as it could hold, or all types */
    double dropped_top;      /* share of the true top words that it does not hold */
    double dropped_types;
    double dropped_tokens;
    double mean_error; /* over the true top words */
    double mean_error_held;
    size_t band_count;
    tide_count_band bands[TIDE_COUNT_BANDS_MAX]; /* about the ranks 1, 10, 100, 1000,
                                                    2000, 5000, 7000, 10000, ... */
} tide_counts_result;

/* Counts of a model against the true ones. A dropped word is given the smallest count of the model,
 * as in the paper. `point` is called for every type by rising rank, and may be NULL. Errors are NAN
 * for a file of vectors that does not tell counts. */
TIDE_API int tide_eval_counts(const tide_model *model, const tide_counts *truth,
                              tide_counts_result *result,
                              void (*point)(void *data, const tide_count_point *point),
                              void *data, tide_error *err);

/* Ranks by falling count, from 1; both are included. */
typedef struct tide_band {
    uint32_t first, last;
} tide_band;

/* Two words of a cell, and how near they are to each other in either model. */
typedef struct tide_agreement_pair {
    tide_band first, second;
    const char *words[2];
    float cosine_a, cosine_b;
} tide_agreement_pair;

/* All pairs of a word of the first band and another of the second, each once. */
typedef struct tide_agreement_cell {
    tide_band first, second;
    uint64_t pairs;
    uint64_t defined; /* of them, those whose words A holds: the rest is about these */
    double pearson;   /* NAN for fewer than 3 pairs, or when cosines do not vary */
    double bias;      /* mean of cosine A - cosine B */
    double mean_a, mean_b;
} tide_agreement_cell;

typedef struct tide_agreement_near {
    tide_band band;
    uint64_t words;   /* asked: those that both models hold */
    uint64_t missing; /* in A */
    double overlap;   /* mean share of the nearest in which A and B agree; or NAN */
} tide_agreement_near;

#define TIDE_AGREEMENT_BANDS_MAX 16
#define TIDE_AGREEMENT_CELLS_MAX                                                       \
    (TIDE_AGREEMENT_BANDS_MAX * (TIDE_AGREEMENT_BANDS_MAX + 1) / 2)

typedef struct tide_agreement_options {
    const tide_band *bands; /* of the words of B */
    size_t band_count;
    uint32_t neighbours; /* how many are the nearest; 0 for no search */
    uint32_t sample; /* `pair` is called for so many pairs of each cell, by chance */
    uint64_t seed;
    void (*pair)(void *data, const tide_agreement_pair *pair); /* may be NULL */
    void *data;
} tide_agreement_options;

typedef struct tide_agreement_result {
    uint64_t common; /* words that both hold; neighbours are searched among these */
    size_t band_count, cell_count;
    tide_agreement_cell all; /* all cells together; its bands are 0 */
    tide_agreement_cell cells[TIDE_AGREEMENT_CELLS_MAX];
    tide_agreement_near near[TIDE_AGREEMENT_BANDS_MAX];
} tide_agreement_result;

/* How far A says the same as B, the reference. Only words that a model holds have a vector here. A band
 * that goes beyond the words of B is cut there; one that begins there is TIDE_ERROR_PARAMETER. */
TIDE_API int tide_eval_agreement(const tide_space *a, const tide_space *b,
                                 const tide_agreement_options *options,
                                 tide_agreement_result *result, tide_error *err);

/* -- change: streams whose words do not keep their meaning ------------------------------------------- */

/* How far words have come from where they were. Training may turn all vectors together, which says
 * nothing about any word, so they are compared with themselves before and after the one rotation that
 * brings the 10,000 most frequent nearest to where they were. Means over nothing are NAN. */
typedef struct tide_stability {
    uint64_t words; /* frequent ones that are held at both moments */
    double cosine;  /* mean, of a word with itself */
    double aligned; /* the same after the rotation */
    double overlap; /* mean share of the 10 nearest words that are the same */
} tide_stability;

/* What happens to words at a known moment. Their counts before it say nothing about it. */
typedef enum tide_drift_event {
    TIDE_DRIFT_SWAP,    /* two words exchange their places */
    TIDE_DRIFT_GRADUAL, /* likewise, with a chance that rises from 0 to 1 */
    TIDE_DRIFT_BORN,    /* a new word takes over half of the occurrences of another */
    TIDE_DRIFT_DEAD,    /* a word does not occur any more */
} tide_drift_event;

#define TIDE_DRIFT_EVENTS 4

TIDE_API const char *tide_drift_event_name(tide_drift_event event);

/* How many words have followed, by event. A swapped word has when it is nearer to the neighbours that
 * the other had at the moment than to its own; a new one when the word whose place it takes is among
 * its 10 nearest; a dead one when it has left the vocabulary. */
typedef struct tide_drift_look {
    uint64_t tokens;                    /* read since the moment */
    uint64_t words[TIDE_DRIFT_EVENTS];  /* that could be judged: held at the moment */
    double followed[TIDE_DRIFT_EVENTS]; /* share of them; NAN without any */
    double score[TIDE_DRIFT_EVENTS]; /* swapped: 0 as before, 1 when the neighbours are
                                        exchanged too; new: mean cosine with the other
                                        word; NAN for dead ones */
} tide_drift_look;

typedef struct tide_drift_options {
    const char *const *sources; /* they are read twice */
    size_t source_count;
    uint64_t at;    /* tokens before the moment; 0: half of the text */
    uint64_t over;  /* tokens that a gradual change takes; 0: half of what is left */
    uint64_t every; /* tokens between two looks; 0: a fortieth of what is left */
    uint32_t words; /* of each event at most, made even; 0: 200 */
    bool control;   /* nothing happens, and all is measured just the same */
    tide_vectors vectors;
    bool centred;
    void (*look)(void *data, const tide_drift_look *look); /* may be NULL, as watch */
    void *look_data;
    void (*watch)(void *data, const tide_stats *stats); /* called every now and then */
    void *watch_data;
} tide_drift_options;

#define TIDE_DRIFT_NEVER UINT64_MAX

typedef struct tide_drift_result {
    uint64_t tokens; /* of the text */
    uint64_t at, over, every;
    tide_drift_look last;                    /* at the end of the text */
    uint64_t half[TIDE_DRIFT_EVENTS];        /* tokens from the moment until half of */
    uint64_t nine_tenths[TIDE_DRIFT_EVENTS]; /* and 90 % of the words have followed */
    tide_stability unchanged; /* of the 1,000 most frequent words without an event, from
                                 the moment to the end */
} tide_drift_result;

/* Trains on a text in which words of middling frequency, chosen by the seed of the parameters, change
 * at a known moment, and sees how soon the vectors follow. */
TIDE_API int tide_eval_drift(const tide_params *params,
                             const tide_drift_options *options,
                             tide_drift_result *result, tide_error *err);

typedef enum tide_period_unit {
    TIDE_PERIOD_DAY,
    TIDE_PERIOD_WEEK,
    TIDE_PERIOD_MONTH,
    TIDE_PERIOD_YEAR,
    TIDE_PERIOD_TOKENS, /* so many of them, whatever the time */
} tide_period_unit;

#define TIDE_PERIOD_WORDS 5

/* A word that has moved, beyond what all have turned together. */
typedef struct tide_mover {
    const char *word;
    uint64_t count;
    double aligned; /* cosine with itself */
    const char
        *then[TIDE_PERIOD_WORDS]; /* the nearest at the end of the period before; */
    const char *now[TIDE_PERIOD_WORDS]; /* at the end of this one; NULL for fewer */
} tide_mover;

/* What a period has brought, compared with the end of the one before. */
typedef struct tide_period {
    const char
        *name; /* 2020-03-31, 2020-W14, 2020-03, 2020; with tokens, where it ends */
    uint64_t tokens; /* of this period */
    uint64_t vocabulary;
    uint64_t admitted, evicted;
    tide_stability frequent; /* of the 1,000 most frequent words at the end before */
    size_t mover_count;
    tide_mover movers[TIDE_PERIOD_WORDS]; /* those that moved most */
    size_t newcomer_count;
    tide_entry newcomers[TIDE_PERIOD_WORDS]; /* not held at the end before: the most
                                                frequent of them */
} tide_period;

typedef struct tide_periods_options {
    const char *const *sources; /* in the order of time; records need a time */
    size_t source_count;
    tide_period_unit unit;
    uint64_t tokens; /* of a period, with TIDE_PERIOD_TOKENS */
    tide_vectors vectors;
    bool centred;
    void (*period)(void *data, const tide_period *period); /* its texts are borrowed */
    void *period_data;
    void (*watch)(void *data, const tide_stats *stats); /* may be NULL */
    void *watch_data;
} tide_periods_options;

/* Trains on a stream and compares the end of every period with that of the period before. A record
 * without a time, or from before the present period, belongs to the present one. */
TIDE_API int tide_eval_periods(const tide_params *params,
                               const tide_periods_options *options, tide_error *err);

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
