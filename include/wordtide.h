/* wordtide.h - word embeddings from text that never ends.
 *
 * The stable core of libwordtide: parameters, training, models and queries. Histories,
 * labels, file formats, evaluation and the tools of the command have headers of their
 * own in wordtide/.
 *
 * In five lines:
 *
 *     tide_error err;
 *     tide_hit hits[10];
 *     tide_train_file("posts.txt", "posts.tide", NULL, &err);
 *     tide_model *model = tide_model_load("posts.tide", &err);
 *     int found = tide_nearest(model, "coffee", hits, 10, &err);
 *
 * Conventions:
 *
 *  - Objects are opaque. What x_new, x_load or x_open returned is released with x_free
 *    or x_close; NULL is accepted there.
 *  - A function that can fail takes a tide_error as its last argument, which may be
 *    NULL, and returns a negative tide_status, or NULL. The error's text fits one line
 *    and names the object at fault. The library never prints, exits or aborts.
 *  - A returned const pointer is borrowed and lives as long as the object it came from,
 *    with one exception: a word from a model in training is valid until more text is
 *    fed, and one from a live view until the view is released. Arguments are borrowed
 *    for the duration of the call unless documented otherwise.
 *  - A function that fills an array takes the length of the array as `capacity` and
 *    returns the number of items written.
 *  - In an options struct, 0 and NULL select the default unless a member says
 *    otherwise.
 *  - A callback runs in the thread that made the call, with the `data` given beside it
 *    as its first argument.
 *  - Text is UTF-8. A word has at most TIDE_WORD_MAX bytes.
 *  - An object must be used by one thread at a time, with these exceptions: a loaded
 *    tide_model and its views may be read by any number of threads; any thread may push
 *    into a tide_feed; a tide_live and a tide_history answer any thread while another
 *    one trains; and any thread, or a signal handler, may call tide_trainer_stop.
 *
 * Compatibility: doc/ABI.md says what may change between versions, and how structs may
 * grow.
 */
#ifndef WORDTIDE_H
#define WORDTIDE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDE_API __attribute__((visibility("default")))

/* -- version ----------------------------------------------------------------------- */

#define TIDE_VERSION_MAJOR 0
#define TIDE_VERSION_MINOR 2
#define TIDE_VERSION_PATCH 0

/* Comparable: 0.2.0 is 200, 1.2.3 is 10203. */
#define TIDE_VERSION_NUMBER                                                            \
    (TIDE_VERSION_MAJOR * 10000 + TIDE_VERSION_MINOR * 100 + TIDE_VERSION_PATCH)

/* The version of the library in use, which may be newer than the header: "0.2.0", and
 * its number. */
TIDE_API const char *tide_version(void);
TIDE_API int tide_version_number(void);

/* -- limits ------------------------------------------------------------------------ */

#define TIDE_WORD_MAX 63  /* bytes of a word */
#define TIDE_DIM_MAX 4096 /* dimensions of a vector */

/* -- errors ------------------------------------------------------------------------ */

typedef enum tide_status {
    TIDE_OK = 0,
    TIDE_ERROR_MEMORY = -1, /* out of memory */
    TIDE_ERROR_IO = -2, /* the system refused to open, read, write or replace a file */
    TIDE_ERROR_FORMAT = -3,    /* a file is damaged or not of the expected kind */
    TIDE_ERROR_PARAMETER = -4, /* unknown name, value out of range, wrong combination */
    TIDE_ERROR_NOT_FOUND = -5, /* no such word */
    TIDE_ERROR_INPUT = -6,     /* too many bad records, no words, no labels */
} tide_status;

typedef struct tide_error {
    tide_status status;
    char text[256];
} tide_error;

/* -- simple interface -------------------------------------------------------------- */

typedef struct tide_model tide_model;

typedef struct tide_hit {
    const char *word;
    float score; /* cosine similarity */
    uint32_t slot;
} tide_hit;

/* Trains on a text file and saves the model. TIDE_ERROR_INPUT if the file has no words.
 * `profile` is "default", "fast" or another profile; NULL for "default". A model that
 * exists at `model_path` is kept as MODEL_PATH.1; another file is an error. */
TIDE_API int tide_train_file(const char *text_path, const char *model_path,
                             const char *profile, tide_error *err);

/* The words nearest to `word`, best first; returns how many. The word is normalized the
 * way the model's text was. For many queries use a tide_view, which this creates on
 * every call. */
TIDE_API int tide_nearest(const tide_model *model, const char *word, tide_hit *hits,
                          size_t capacity, tide_error *err);

/* -- parameters -------------------------------------------------------------------- */

/* One table defines all parameters of training: the options of the command, the
 * parameters stored in a model file and tide_params_set use the same names and ranges.
 */
typedef struct tide_params tide_params;

typedef struct tide_param_info {
    const char *name;    /* "dim", as in --dim */
    const char *aliases; /* other names, separated by spaces; "" if none */
    const char *former; /* its name in model files and in version 0.1; "" if the same */
    const char *values; /* "a|b|c" for a choice, otherwise a description of the range */
    const char *initial; /* the value in profile default */
    const char *help;
    const char *group; /* heading in the help text */
    bool on_resume;    /* may be changed when training is resumed */
} tide_param_info;

/* The table; *count becomes its length. */
TIDE_API const tide_param_info *tide_params_table(size_t *count);

/* New parameters with the values of profile default. */
TIDE_API tide_params *tide_params_new(tide_error *err);
TIDE_API void tide_params_free(tide_params *params);

/* The parameters a model was trained with. TIDE_ERROR_PARAMETER for a model without
 * any, such as a file of vectors. They borrow the model's stop words, so free them
 * before the model. */
TIDE_API tide_params *tide_params_of_model(const tide_model *model, tide_error *err);

/* Sets a parameter from text. Setting "profile" sets many others, so set it first. */
TIDE_API int tide_params_set(tide_params *params, const char *name, const char *value,
                             tide_error *err);

/* Writes the value of a parameter as text, truncated to `capacity`. Returns the length
 * of the whole value, or TIDE_ERROR_PARAMETER if there is no such parameter. */
TIDE_API int tide_params_text(const tide_params *params, const char *name, char *text,
                              size_t capacity);

/* -- memory budget ----------------------------------------------------------------- */

typedef struct tide_part {
    const char *name; /* "vectors", "vocabulary", ...; static */
    uint64_t bytes;
} tide_part;

#define TIDE_PARTS_MAX 16

/* The memory that a process training with these parameters needs, by part; returns the
 * number of parts. The last part is the program itself. If `memory` was set and
 * `vocab` was not, this chooses the largest vocabulary that fits. */
TIDE_API int tide_params_budget(tide_params *params, tide_part parts[TIDE_PARTS_MAX],
                                tide_error *err);

/* Reserves memory for other parts of the process. `others` returns how many bytes they
 * need beside a trainer with these parameters; it is called with several vocabulary
 * sizes. */
TIDE_API void tide_params_reserve(tide_params *params,
                                  uint64_t (*others)(const tide_params *params,
                                                     const void *data),
                                  const void *data);

/* -- feeds: text handed over by other threads -------------------------------------- */

typedef struct tide_feed tide_feed;

/* When spooled text is synced to disk. A killed process loses nothing with any of them;
 * a power failure may lose: */
typedef enum tide_spool_sync {
    TIDE_SPOOL_SYNC_SECOND, /* up to a second of text */
    TIDE_SPOOL_SYNC_ALWAYS, /* nothing: synced before it is trained on or accepted */
    TIDE_SPOOL_SYNC_NONE,   /* what the system has not written yet */
} tide_spool_sync;

/* A queue of at most `capacity` bytes. A run that is given the feed reads it as the
 * source "feed:". Pushed text is always read as plain lines, even if the other sources
 * of the run are JSON or CSV. */
TIDE_API tide_feed *tide_feed_new(size_t capacity, tide_error *err);

/* A feed backed by a spool directory: text stays there from the moment it is accepted
 * until a saved model has been trained on it, so a killed process neither loses nor
 * repeats any; the next feed over the same directory continues. `limit` bounds the disk
 * space (at least 1 MiB; 0 for 1 GiB). When it is reached, the run is asked to save.
 * Accepts nothing before a run reads it, because only the run knows where to continue.
 */
TIDE_API tide_feed *tide_feed_new_spooled(const char *folder, uint64_t limit,
                                          tide_spool_sync sync, tide_error *err);
TIDE_API void tide_feed_free(tide_feed *feed);

/* Accepts as many whole lines as fit and returns their size in bytes; never waits for
 * space. Text after the last line feed counts as a line. With a spool, accepted text is
 * as durable as `sync` says; after an error it is unknown whether the lines were
 * accepted. May be called by any thread, like the functions below. */
TIDE_API ptrdiff_t tide_feed_push(tide_feed *feed, const char *lines, size_t size,
                                  tide_error *err);

/* Accepts all of the lines or none, for senders that resend everything after a failure.
 */
TIDE_API ptrdiff_t tide_feed_push_whole(tide_feed *feed, const char *lines, size_t size,
                                        tide_error *err);

/* tide_feed_push in two steps, for threads that must not wait for the disk.
 * tide_feed_append accepts lines (all or none if `whole`) and waits at most for a new
 * spool segment. Once tide_feed_sync has returned, everything appended before is as
 * durable as `sync` says; one sync may serve many appends, and it should be called
 * several times per second. It fails permanently once the disk has failed. */
TIDE_API ptrdiff_t tide_feed_append(tide_feed *feed, const char *lines, size_t size,
                                    bool whole, tide_error *err);
TIDE_API int tide_feed_sync(tide_feed *feed, tide_error *err);

/* Bytes waiting to be read, and the capacity: a line longer than that is never
 * accepted. Neither blocks. */
TIDE_API size_t tide_feed_waiting(tide_feed *feed);
TIDE_API size_t tide_feed_capacity(const tide_feed *feed);

/* Accepts nothing more; the source ends when everything has been read. */
TIDE_API void tide_feed_close(tide_feed *feed);

/* -- trainers ---------------------------------------------------------------------- */

typedef struct tide_trainer tide_trainer;

typedef struct tide_stats {
    uint64_t bytes;  /* read */
    uint64_t tokens; /* words found in them */
    uint64_t sentences;
    uint64_t trained;       /* center words trained, replays included */
    uint64_t vocabulary;    /* words held now */
    uint64_t capacity;      /* words that can be held */
    uint64_t admitted;      /* words that entered the vocabulary */
    uint64_t evicted;       /* words that left it */
    uint64_t evicted_young; /* of these, within 1,000 tokens after entering */
    uint64_t rejected;      /* tokens of words not in the vocabulary */
    uint64_t minimum_count; /* upper bound on the count of any word not held */
    /* tokens that are not UTF-8 or contain control characters */
    uint64_t skipped_invalid;
    uint64_t cut_words;         /* words truncated to TIDE_WORD_MAX */
    uint64_t omitted_words;     /* stop words and others left out by the parameters */
    uint64_t records;           /* of JSON, CSV or TSV; 0 for plain lines */
    uint64_t malformed_records; /* of these, not valid JSON or CSV */
    uint64_t missing_records;   /* of these, without text */
    uint64_t long_records;      /* of these, longer than TIDE_RECORD_MAX */
    uint64_t dropped_bytes; /* in skipped words, truncated words and skipped records */
    double time; /* of the latest record with a time, in seconds since 1970; or NaN */
    uint64_t cut_sentences; /* lines split because they were too long */
    uint64_t repaired;      /* vectors with a NaN or infinity that were reset */
    double loss;            /* mean loss per pair of new text, over a recent window */
    uint64_t epochs;        /* batch training: number of passes; 0 for a stream */
    uint64_t epoch;         /* the current one, from 1; 0 while words are counted */
    bool ending; /* within a run: training is over, the model is being saved */
    bool saving; /* within a run: a checkpoint is being written */
    double done; /* within a run: fraction of the input read; 0 if unknown */
} tide_stats;

/* Allocates all memory that training will ever need. */
TIDE_API tide_trainer *tide_trainer_new(const tide_params *params, tide_error *err);

/* Loads a saved model to continue training exactly where it stopped. `changes` are
 * (name, value) pairs of parameters: those marked on_resume take the new value, others
 * must match the file. */
TIDE_API tide_trainer *tide_trainer_load(const char *path,
                                         const char *const (*changes)[2], size_t count,
                                         tide_error *err);

/* Loads the newest intact file of PATH, PATH.1, PATH.2, ... Damaged ones are reported
 * through `note`, which may be NULL, and left alone. */
TIDE_API tide_trainer *
tide_trainer_recover(const char *path, const char *const (*changes)[2], size_t count,
                     void (*note)(void *data, bool warning, const char *text),
                     void *data, tide_error *err);
TIDE_API void tide_trainer_free(tide_trainer *trainer);

/* Trains on text. It may be cut anywhere: an incomplete word or sentence waits for the
 * rest. */
TIDE_API int tide_trainer_feed(tide_trainer *trainer, const void *bytes, size_t size,
                               tide_error *err);

/* Ends the text, and with it the last word and sentence, and waits until everything is
 * trained. */
TIDE_API int tide_trainer_end(tide_trainer *trainer, tide_error *err);

/* Saves the model atomically, after training on all complete sentences. */
TIDE_API int tide_trainer_save(tide_trainer *trainer, const char *path,
                               tide_error *err);

/* Likewise, keeping the last `keep_checkpoints` files as PATH.1 (the newest), PATH.2,
 * ... */
TIDE_API int tide_trainer_save_keeping(tide_trainer *trainer, const char *path,
                                       uint32_t keep_checkpoints, tide_error *err);

/* `size` is sizeof *stats. */
TIDE_API void tide_trainer_stats(const tide_trainer *trainer, tide_stats *stats,
                                 size_t size);
TIDE_API const tide_params *tide_trainer_params(const tide_trainer *trainer);

/* As tide_params_budget, for this trainer. */
TIDE_API int tide_trainer_budget(const tide_trainer *trainer,
                                 tide_part parts[TIDE_PARTS_MAX]);

/* The model being trained. Query it after tide_trainer_end or tide_trainer_save and
 * before feeding more text; to query it during training, use tide_live. */
TIDE_API const tide_model *tide_trainer_model(const tide_trainer *trainer);

/* Whether an earlier run stopped within this source, so that the next one continues
 * there. */
TIDE_API bool tide_trainer_can_resume(const tide_trainer *trainer, const char *source);

/* Ends the current run as its `stop` does, or the next one if none is active. A stop
 * that arrives while a run is already ending has no effect on the next one.
 * Async-signal-safe; may be called by any thread while the trainer exists. */
TIDE_API void tide_trainer_stop(tide_trainer *trainer);

/* -- runs: training on sources ----------------------------------------------------- */

/* The outcome of a checkpoint. */
typedef struct tide_checkpoint {
    const char *path;
    uint64_t bytes;
    double pause_seconds; /* during which training stood still */
    double seconds;       /* from then until the file was durable */
    const char *error;    /* why it failed; NULL on success */
    /* CLOCK_MONOTONIC seconds: the file has everything trained before, nothing after */
    double begun;
} tide_checkpoint;

/* Sources are named by
 *
 *     PATH       a file or a pipe, plain or compressed by gzip, zstd or xz
 *     -          standard input
 *     demo:      the built-in demo stream, also with settings ("demo:seed=7,tokens=1e6")
 *     kafka://   BROKER[,BROKER]/TOPIC[,TOPIC][?group=NAME], if built with Kafka
 *     feed:      the tide_feed of the run
 */
typedef struct tide_run {
    size_t size; /* sizeof(tide_run); required */

    const char *const *sources;
    size_t source_count;
    const char *const *properties; /* "key=value" for the Kafka library */
    size_t property_count;
    /* read sources from their start, even if an interrupted run got further */
    bool from_start;
    bool follow; /* keep reading files as they grow and through rotation, all at once */

    /* Read files and pipes as text even if they look like something else. Otherwise
     * such input is refused with TIDE_ERROR_FORMAT; followed files only cause a
     * warning. */
    bool as_text;

    /* Ends the run after the current sentence, or 64 KiB block, once *stop is not 0.
     * May be set by a signal handler. */
    const volatile sig_atomic_t *stop;

    /* Called about ten times per second while the run trains, waits or saves, and when
     * it ends. */
    void (*progress)(void *data, const tide_stats *stats);
    void *progress_data;

    /* A message for the user, one line. */
    void (*note)(void *data, bool warning, const char *text);
    void *note_data;

    /* If pause_tokens is not 0: called after the first sentence at which the number
     * of tokens has reached or passed a multiple of it, and at the end, with
     * everything trained. The callback may query the model; it must not feed or save
     * the trainer. */
    void (*pause)(void *data, const tide_stats *stats);
    void *pause_data;
    uint64_t pause_tokens;

    /* Where the model is saved at the end; NULL: the caller saves it. */
    const char *save_path;
    bool *saved; /* set to true once it has been saved */

    /* How many older files to keep as PATH.1 (the newest), PATH.2, ...: what was at
     * save_path before the run, and previous checkpoints with new words at
     * checkpoint_path. A run that reads no words writes no empty model and replaces no
     * file except the one it was loaded from. */
    uint32_t keep_checkpoints;

    /* Where checkpoints are saved during the run; NULL: at save_path. One is due after
     * save_tokens new tokens or save_seconds (if not 0), when *save_now is not 0 (it is
     * reset to 0), and when a source requests it. It is written at the end of the
     * sentence, but no later than the end of the 64 KiB block or message being read. */
    const char *checkpoint_path;
    uint64_t save_tokens;
    double save_seconds;
    volatile sig_atomic_t *save_now;
    void (*checkpointed)(void *data, const tide_checkpoint *checkpoint);
    void *checkpointed_data;

    /* What the source "feed:" reads. A run that ends before its sources, because it was
     * stopped or another source failed, closes the feed and trains on what was
     * accepted, or leaves it in the spool. */
    tide_feed *feed;

    /* If the only source is a pipe: a directory in which its text is stored until a
     * saved model has been trained on it, so that a killed run neither loses nor
     * repeats any. */
    const char *spool;
    /* bytes, at least 1 MiB, at which a checkpoint is due; 0 for 1 GiB */
    uint64_t spool_limit;
    tide_spool_sync spool_sync;

    /* Fail with TIDE_ERROR_INPUT after more than max_errors bad records. */
    bool errors_limited;
    uint64_t max_errors;
} tide_run;

/* Returns 0 at the end of all sources and 1 if it was stopped; a later run of the saved
 * model over the same sources then continues where this one stopped. If a source fails,
 * what was trained before is saved as well. */
TIDE_API int tide_trainer_run(tide_trainer *trainer, const tide_run *run,
                              tide_error *err);

/* Batch training: counts the words of the run's sources, which must be readable twice,
 * and makes a trainer whose vocabulary is fixed to the `vocab` most frequent words that
 * occur at least `min-count` times; tide_trainer_run then makes `epochs` passes.
 * Returns 1, without a trainer, if stopped while counting. */
TIDE_API int tide_trainer_new_batch(const tide_params *params, const tide_run *run,
                                    tide_trainer **trainer, tide_error *err);

/* -- models ------------------------------------------------------------------------ */

typedef struct tide_entry {
    const char *word;
    uint64_t count; /* upper bound on the true count; 0 if unknown */
    uint64_t error; /* count - error is a lower bound */
    uint32_t slot;
} tide_entry;

/* Loads a model saved by a trainer. */
TIDE_API tide_model *tide_model_load(const char *path, tide_error *err);

/* Loads a model or any file of vectors that can be read (tide_formats). A file of
 * vectors gives words and input vectors only, in order of decreasing count, or in file
 * order if it has no counts. */
TIDE_API tide_model *tide_model_open(const char *path, tide_error *err);
TIDE_API void tide_model_free(tide_model *model);

typedef struct tide_origin {
    const char *format;  /* of the file, a name of tide_formats */
    bool uncounted;      /* the file has no counts */
    uint64_t left_out;   /* rows whose word or vector is invalid */
    uint64_t duplicates; /* rows for words that already had one; the first is kept */
} tide_origin;

TIDE_API const tide_origin *tide_model_origin(const tide_model *model);

TIDE_API uint32_t tide_model_size(const tide_model *model);     /* words held */
TIDE_API uint32_t tide_model_capacity(const tide_model *model); /* words it can hold */
TIDE_API uint32_t tide_model_dim(const tide_model *model);
TIDE_API uint32_t
tide_model_subwords(const tide_model *model); /* n-gram rows; 0 if none */
TIDE_API uint64_t tide_model_tokens(const tide_model *model); /* trained on */

/* The parameters it was trained with, as "name value" lines. */
TIDE_API const char *tide_model_params(const tide_model *model);

/* The words in order of decreasing count; returns how many were written, 0 if out of
 * memory. */
TIDE_API size_t tide_model_words(const tide_model *model, tide_entry *entries,
                                 size_t capacity);

/* A word suited for an example query: frequent, at least six letters, not a function
 * word. NULL if there is none. */
TIDE_API const char *tide_model_example(const tide_model *model);

/* TIDE_ERROR_NOT_FOUND if the word is not in the vocabulary. */
TIDE_API int tide_model_find(const tide_model *model, const char *word,
                             tide_entry *entry, tide_error *err);

/* Words spelled similarly, the closest and most frequent first; at most 16. */
TIDE_API size_t tide_model_suggest(const tide_model *model, const char *word,
                                   tide_entry *entries, size_t capacity);

/* -- views: querying a model ------------------------------------------------------- */

typedef enum tide_vectors {
    TIDE_VECTORS_INPUT,  /* of center words: what is usually meant */
    TIDE_VECTORS_OUTPUT, /* of context words */
    TIDE_VECTORS_SUM,    /* of both */
} tide_vectors;

/* A way of looking at a model: which vectors, and whether they are centered. */
typedef struct tide_view tide_view;

/* `centered` subtracts the mean vector of the frequent words. A model without output
 * vectors has views of its input vectors only (TIDE_ERROR_PARAMETER otherwise). The
 * model must outlive the view. */
TIDE_API tide_view *tide_view_new(const tide_model *model, tide_vectors vectors,
                                  bool centered, tide_error *err);
TIDE_API void tide_view_free(tide_view *view);
TIDE_API const tide_model *tide_view_model(const tide_view *view);

/* Writes dim floats. With subwords, words that are not in the vocabulary have vectors
 * too; otherwise they are TIDE_ERROR_NOT_FOUND. */
TIDE_API int tide_view_vector(const tide_view *view, const char *word, float *vector,
                              tide_error *err);

#define TIDE_TERM_MAX 16

/* The vector of a term: a word, or the mean of up to TIDE_TERM_MAX words separated by
 * spaces. Similarity, queries and analogies accept terms; tide_resolver_find makes them
 * from user input. */
TIDE_API int tide_view_mean(const tide_view *view, const char *term, float *vector,
                            tide_error *err);

/* Cosine similarity of two terms. */
TIDE_API int tide_view_similarity(const tide_view *view, const char *a, const char *b,
                                  float *cosine, tide_error *err);

typedef struct tide_query {
    const char *const *positive; /* terms whose unit vectors are added */
    size_t positive_count;
    const char *const *negative; /* terms whose unit vectors are subtracted */
    size_t negative_count;
    const float *vector; /* dim floats added as they are, or NULL */
    uint32_t top;        /* search only the most frequent words; 0 for all */
} tide_query;

/* The nearest words by cosine similarity, without the words of the query (at most 64
 * terms); returns how many. */
TIDE_API int tide_view_nearest(const tide_view *view, const tide_query *query,
                               tide_hit *hits, size_t capacity, tide_error *err);

/* Several queries in one scan, which takes little longer than one query. */
typedef struct tide_search {
    tide_query query;
    tide_hit *hits; /* provided by the caller */
    size_t capacity;
    int found;        /* number of hits, or a negative status */
    tide_error error; /* if negative */
} tide_search;

TIDE_API void tide_view_search(const tide_view *view, tide_search *searches,
                               size_t count);

/* a is to b as c is to ...: nearest to b - a + c (3CosAdd). */
TIDE_API int tide_view_analogy(const tide_view *view, const char *a, const char *b,
                               const char *c, tide_hit *hits, size_t capacity,
                               tide_error *err);

/* Finds the word of a rank, 1 being the most frequent; false if there are fewer
 * words. */
TIDE_API bool tide_view_entry(const tide_view *view, uint32_t rank, tide_entry *entry);

/* The rank of a word; 0 if it is not in the vocabulary. */
TIDE_API uint32_t tide_view_rank(const tide_view *view, const char *word);

/* An independent model of the `top` most frequent words (0 for all): words, counts, and
 * the vectors of the view, uncentered, as input vectors. Words evicted during the copy
 * are left out. The other function returns the memory this takes. */
TIDE_API tide_model *tide_view_copy(const tide_view *view, uint32_t top,
                                    tide_error *err);
TIDE_API uint64_t tide_view_copy_bytes(const tide_view *view, uint32_t top);

/* -- terms: user input in the words of a model ------------------------------------- */

/* Text is normalized before training: "Tea" is trained as "tea", "J’aime" as "j'aime".
 * A resolver does the same to queries. Words in the vocabulary exactly as typed, and
 * phrases joined by "_", are kept whole. */
typedef struct tide_term {
    bool exact;     /* the text is one token, unchanged */
    uint32_t count; /* tokens; those beyond TIDE_TERM_MAX are left out */
    uint32_t known; /* tokens that have a vector */
    bool has_vector[TIDE_TERM_MAX];
    char tokens[TIDE_TERM_MAX][TIDE_WORD_MAX + 1];
    /* the known tokens, separated by spaces: a term for tide_view_mean; "" if none is
     * known */
    char words[TIDE_TERM_MAX * (TIDE_WORD_MAX + 1)];
} tide_term;

typedef struct tide_resolver tide_resolver;

/* Uses the model's tokenizer, or the default one for a file of vectors. */
TIDE_API tide_resolver *tide_resolver_new(const tide_model *model, tide_error *err);
TIDE_API void tide_resolver_free(tide_resolver *resolver);

/* The view may be over the same model or over one trained on from it. */
TIDE_API void tide_resolver_find(tide_resolver *resolver, const tide_view *view,
                                 const char *text, tide_term *term);

/* Words spelled like the unknown ones of a text that was resolved to this term. */
TIDE_API size_t tide_term_suggest(const tide_term *term, const tide_model *model,
                                  const char *text, tide_entry *entries,
                                  size_t capacity);

/* -- vectors of texts -------------------------------------------------------------- */

/* The weighted mean of the vectors of a text's words; a word of frequency p weighs a /
 * (a + p), so that frequent words count for little (smooth inverse frequency: Arora,
 * Liang and Ma, ICLR 2017). Text is tokenized as in training. */
typedef struct tide_embedder tide_embedder;

/* `a` is positive, usually 0.001. The view must outlive the embedder. */
TIDE_API tide_embedder *tide_embedder_new(const tide_view *view, double a,
                                          tide_error *err);
TIDE_API void tide_embedder_free(tide_embedder *embedder);

/* Adds text, which may be cut anywhere. */
TIDE_API void tide_embedder_add(tide_embedder *embedder, const char *text, size_t size);

/* Ends the text: writes dim floats, all 0 if no word is known, and returns the number
 * of known words. */
TIDE_API uint64_t tide_embedder_end(tide_embedder *embedder, float *vector);

/* -- live models: querying during training ----------------------------------------- */

/* Any number of threads may query a model while it is trained. Vectors are read as they
 * are at that moment. Words, counts and ranks are those of the latest refresh, which
 * the training thread makes twice per second, or less often for vocabularies so large
 * that refreshing would take more than a fiftieth of the time. Words evicted since then
 * are treated as not found, so no query ever returns another word's vector. Training
 * never waits for queries, nor queries for training. */
typedef struct tide_live tide_live;

/* At most one per trainer, which must outlive it. Called by the training thread between
 * two runs. */
TIDE_API tide_live *tide_live_new(tide_trainer *trainer, tide_vectors vectors,
                                  bool centered, tide_error *err);
TIDE_API void tide_live_free(tide_live *live); /* with no view acquired */

/* The memory that tide_live_new allocates. */
TIDE_API uint64_t tide_live_bytes(const tide_params *params);

/* Acquires a view for queries until it is released; any thread. Do not hold a view for
 * long: new words become visible only after it is released. */
TIDE_API const tide_view *tide_live_acquire(tide_live *live);
TIDE_API void tide_live_release(tide_live *live, const tide_view *view);

/* Statistics at most a tenth of a second old; any thread. `size` is sizeof *stats. */
TIDE_API void tide_live_stats(tide_live *live, tide_stats *stats, size_t size);

/* Refreshes now; for a training thread that calls tide_trainer_feed itself. False if
 * the view before the last is still acquired, in which case the last one stays. */
TIDE_API bool tide_live_update(tide_live *live);

#ifdef __cplusplus
}
#endif

#endif
