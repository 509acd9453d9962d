/* wordtide.h - word embeddings from text that never ends.
 *
 * The whole public interface of libwordtide. To begin with: tide_params_new and tide_trainer_new make a
 * trainer, tide_trainer_run or tide_trainer_feed lets it learn, tide_view_new looks at its model, and
 * tide_view_nearest asks. In this order there are
 *
 *     errors, parameters, memory           what a trainer is to be
 *     sources, records, feeds, the demo    text on its way in
 *     the trainer, runs                    learning, saving, going on
 *     models, spaces                       asking what was learned
 *     live models, histories               asking while it learns; what words were, and what became of them
 *     formats, texts, labels               vectors of other programs; vectors and labels of whole texts
 *     counting, evaluation, change         judging it
 *     around it, measuring                 locks, files and numbers as the command has them; speed
 *
 * Conventions, stated once:
 *
 *  - Objects are opaque. Who calls x_new, x_load or x_open calls x_free or x_close; NULL is fine.
 *  - A function that can fail takes a tide_error as its last argument (NULL if the caller does not
 *    care) and returns a negative tide_status or NULL; the text in the error fits one line and
 *    names the thing at fault. The library never prints, exits or aborts.
 *  - A returned const pointer is borrowed and lives as long as the object it came from. What is passed in
 *    is borrowed for the call, unless it says that it must live longer.
 *  - A function that fills an array takes its `room` and returns how many items it has written.
 *  - In a struct of options 0 is the default and NULL is "none", unless a member says otherwise. Name the
 *    members that you set, for others may come between them.
 *  - A callback is called by the thread that made the call, with the `data` beside it as its first argument.
 *  - Text is UTF-8 and words are at most TIDE_WORD_MAX bytes.
 *  - An object belongs to one thread at a time, except that a loaded tide_model and the spaces made
 *    over it may be read by any number of threads, that any thread may push into a tide_feed, and that a
 *    tide_live and a tide_history are made to be asked by many while one learns.
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
#define TIDE_WORD_MAX 63  /* bytes of a word */
#define TIDE_DIM_MAX 4096 /* numbers of a vector */

/* "0.1.0" */
TIDE_API const char *tide_version(void);

/* -- errors ---------------------------------------------------------------------------------- */

typedef enum tide_status {
    TIDE_OK = 0,
    TIDE_ERROR_MEMORY = -1, /* an allocation failed */
    TIDE_ERROR_IO = -2, /* the system refused to open, read, write or replace a file */
    TIDE_ERROR_FORMAT = -3,    /* a file is not what it should be */
    TIDE_ERROR_PARAMETER = -4, /* an unknown name or a value out of range */
    TIDE_ERROR_NOT_FOUND = -5, /* a word that is not in the vocabulary */
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
    const char *name;    /* as in --name */
    const char *aliases; /* other names, separated by spaces; "" if none */
    const char *
        former; /* the name in model files, and in versions up to 0.1; "" if the same */
    const char *values;  /* "a|b|c" for a choice, otherwise the range in words */
    const char *initial; /* the value in profile default */
    const char *help;
    const char *group; /* heading under which the help lists it */
    bool on_resume;    /* may be given another value when training is resumed */
} tide_param_info;

/* All there are, *count of them. */
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

/* The present value as text, cut to the room there is; returns its length, or TIDE_ERROR_PARAMETER for a name
 * that is none. */
TIDE_API int tide_params_text(const tide_params *params, const char *name, char *text,
                              size_t room);

/* -- memory budget ---------------------------------------------------------------------------- */

typedef struct tide_part {
    const char *name; /* "vectors", "vocabulary" and so on; lives for ever */
    uint64_t bytes;
} tide_part;

#define TIDE_PARTS_MAX 16

/* What a process that trains with these parameters needs, by part; returns the number of parts. The last is the
 * program itself. If only the memory was given, the size of the vocabulary is set to what fits it. */
TIDE_API int tide_params_budget(tide_params *params, tide_part parts[TIDE_PARTS_MAX],
                                tide_error *err);

/* Others in the process share the memory: `others` says how many bytes they need beside a trainer with such
 * parameters, of which all but the size of the vocabulary are final. */
TIDE_API void tide_params_reserve(tide_params *params,
                                  uint64_t (*others)(const tide_params *params,
                                                     const void *data),
                                  const void *data);

/* -- sources ----------------------------------------------------------------------------------- */

/* A source is named by
 *
 *     PATH       a file or a pipe, also one packed by gzip, zstd or xz
 *     -          standard input
 *     demo:      the stream below, optionally with settings: "demo:seed=7,tokens=1e6". It knows seed, tokens (at
 *                which it ends), hashtags and events (both on or off), the pace of the events, and a rate
 *                in words a second
 *     kafka://   BROKER[,BROKER]/TOPIC[,TOPIC][?group=NAME], if the library was built with Kafka
 *     feed:      what other threads hand over, in a run that has a tide_feed
 */
typedef struct tide_source tide_source;

TIDE_API tide_source *tide_source_open(const char *spec, tide_error *err);
TIDE_API void tide_source_close(tide_source *source);

/* Up to `room` bytes; 0 at the end. A read that a signal interrupts before it has any bytes
 * returns TIDE_ERROR_IO with errno EINTR kept. */
TIDE_API ptrdiff_t tide_source_read(tide_source *source, void *bytes, size_t room,
                                    tide_error *err);

/* What an input is, as far as its first bytes tell. */
typedef enum tide_content {
    TIDE_CONTENT_TEXT,    /* UTF-8 text, or something unknown, which is read as text */
    TIDE_CONTENT_8BIT,    /* text in Latin-1, Windows-1252 or the like */
    TIDE_CONTENT_RECORDS, /* JSON objects */
    TIDE_CONTENT_MODEL,   /* a model */
    TIDE_CONTENT_VECTORS, /* what tide_rows_open reads */
    TIDE_CONTENT_PACKED,  /* what sources unpack: gzip, zstd, xz */
    TIDE_CONTENT_OTHER,   /* UTF-16, an archive, a Parquet file ... */
} tide_content;

/* Judges the first `size` bytes of an input; 64 KiB are enough. `whole` says that these are all. For
 * anything but TIDE_CONTENT_TEXT err says what it is, as "a zip archive". A text is not taken for something
 * else because of its first line. */
TIDE_API tide_content tide_content_of(const void *bytes, size_t size, bool whole,
                                      tide_error *err);

/* -- records: the texts in JSON, CSV or TSV ------------------------------------------------------- */

typedef enum tide_record_kind {
    TIDE_RECORDS_LINES, /* every line is text: needs no tide_records */
    TIDE_RECORDS_JSON, /* objects: one per line, or over several lines, or in one list */
    TIDE_RECORDS_CSV,  /* RFC 4180 */
    TIDE_RECORDS_TSV,  /* a line a record, tabs between fields, no quotes */
} tide_record_kind;

/* Fields are dotted paths (JSON) or names or numbers from 1 of columns (CSV, TSV); in `text` a name with
 * commas in it stands in double quotes. When one of them is the name of a column, the first record of every
 * input has the names and no text. */
typedef struct tide_record_options {
    tide_record_kind kind;
    const char *text;  /* needed: one or several fields, separated by commas */
    const char *time;  /* "" without */
    const char *label; /* "" without */
    bool one_line;     /* line feeds within a text become blanks */
    char
        delimiter; /* CSV: between columns. 0: the one of , ; | and tab under which the names are found */
} tide_record_options;

/* What was left out, by reason. */
typedef struct tide_record_counts {
    uint64_t records;   /* complete ones, good or bad */
    uint64_t malformed; /* not JSON, or not CSV */
    uint64_t missing;   /* no text in any of the fields */
    uint64_t too_long;  /* more than TIDE_RECORD_MAX bytes */
    uint64_t bytes;     /* of all that was left out */
} tide_record_counts;

#ifndef TIDE_RECORD_MAX /* a build for fuzzing has less */
#define TIDE_RECORD_MAX (1 << 20)
#endif

/* Finds the text in records. A record whose parts come in several feeds waits until it is whole.
 * Memory is fixed. */
typedef struct tide_records tide_records;

TIDE_API tide_records *tide_records_new(const tide_record_options *options,
                                        tide_error *err);
TIDE_API void tide_records_free(tide_records *r);

/* Takes up to `size` bytes and returns how many. Take texts until there are none, then feed again. */
TIDE_API size_t tide_records_feed(tide_records *r, const void *bytes, size_t size);

/* The input ends: so does its last record, and the next has names again. */
TIDE_API void tide_records_end(tide_records *r);

/* The text of the next good record, with a line feed at its end, valid until the next call. Several
 * fields are joined by a line feed. Labels come first, each as one word: "__label__" and the label with
 * white space made "_". An array of JSON has as many labels as it has strings, numbers and so on; of more
 * than 256 the first count. False when more input is needed. */
TIDE_API bool tide_records_take(tide_records *r, const char **text, size_t *size);

TIDE_API tide_record_counts tide_records_counted(const tide_records *r);

/* -- a feed: text that other threads hand over ---------------------------------------------------- */

typedef struct tide_feed tide_feed;

/* When text in a spool is brought to the disk itself. A process that is killed loses nothing under any of
 * them; a power failure takes up to a second, nothing, or what the system had not written yet. */
typedef enum tide_spool_sync {
    TIDE_SPOOL_SYNC_SECOND,
    TIDE_SPOOL_SYNC_ALWAYS, /* before text of a pipe is learned, or text that is pushed is taken */
    TIDE_SPOOL_SYNC_NONE,
} tide_spool_sync;

/* Room for so many bytes on their way. A run that has the feed reads it as the source "feed:". What is handed over
 * are lines of text, also if the other sources of the run have records. */
TIDE_API tide_feed *tide_feed_new(size_t room, tide_error *err);

/* A feed whose text is in this folder from when it is taken until a saved model has learned it, so that a
 * killed process loses and repeats nothing: the next feed over the same folder has the rest. `limit` bytes
 * on the disk, 1 MiB or more, 0 for 1 GiB; when they are full, the run is asked to save. Takes nothing before
 * a run reads it, since only that knows the place to go on from. */
TIDE_API tide_feed *tide_feed_new_spooled(const char *folder, uint64_t limit,
                                          tide_spool_sync sync, tide_error *err);
TIDE_API void tide_feed_free(tide_feed *feed);

/* From any thread: takes as many whole lines as there is room for and returns how many bytes that are, never
 * waiting for room. What follows the last line feed is a line too. With a spool, what is taken is in it as
 * its sync says, and an error means that nobody knows whether the lines are. */
TIDE_API ptrdiff_t tide_feed_push(tide_feed *feed, const char *lines, size_t size,
                                  tide_error *err);

/* The same for all of the lines or none, for a sender who would send all of them again. */
TIDE_API ptrdiff_t tide_feed_push_whole(tide_feed *feed, const char *lines, size_t size,
                                        tide_error *err);

/* A push in two halves, for threads that must not wait for the disk long. The first takes lines, all or none with
 * `whole`; a new segment of the spool is all that it may have to wait for. When the second has returned, all that was
 * taken before is as safe as the sync says; many appends may share it, and somebody should call it some times a
 * second. It fails for good when the disk has failed. */
TIDE_API ptrdiff_t tide_feed_append(tide_feed *feed, const char *lines, size_t size,
                                    bool whole, tide_error *err);
TIDE_API int tide_feed_sync(tide_feed *feed, tide_error *err);

/* Bytes that wait to be read, and how many lines may have together: a line of more than that is never taken. Neither
 * ever waits. */
TIDE_API size_t tide_feed_waiting(tide_feed *feed);
TIDE_API size_t tide_feed_room(const tide_feed *feed);

/* No more is taken, and the source ends when all is read. */
TIDE_API void tide_feed_close(tide_feed *feed);

/* -- the demo stream: an invented newsroom whose truth is known --------------------------------- */

/* The source "demo:" is lower-case sentences, one a line, that never end. */

/* Writes the truth as TSV: "group NAME WORD..." (words that belong together) and
 * "analogy NAME A B C D" (A is to B as C is to D). */
TIDE_API int tide_demo_truth(FILE *out, tide_error *err);

/* Something that happens in a stream with events:
 *
 *   birth   a new word, much used between `from` and `to` and less after
 *   fade    such a word, less and less used, and not at all after
 *   change  a word that is used more and more like those of another group, in the end only so
 *   burst   a word that is used 5 to 20 times as often between `from` and `to`
 *   season  a topic that is written about more than usual
 *
 * Times are tokens before a line. 120,000 are a minute of the stream at pace 1. A share is the part
 * that a word has among the words of its group, and for a season the topic among the lines; a fade and
 * a change go evenly from the one before to the one after. The groups are those of tide_demo_truth,
 * where words are in the group in which they begin. */
typedef struct tide_demo_event {
    const char *kind;
    char word[TIDE_WORD_MAX + 1]; /* of a season, the topic */
    uint64_t from, to;
    const char *before, *after; /* groups; NULL before a birth and after a fade */
    double share_before, share_during, share_after; /* during: the mean */
} tide_demo_event;

/* Tells the events that touch the tokens [from, to) of the stream with this name, such as
 * "demo:seed=7,events=on", in the order in which they begin. */
TIDE_API int tide_demo_events(const char *spec, uint64_t from, uint64_t to,
                              void (*tell)(void *data, const tide_demo_event *event),
                              void *data, tide_error *err);

/* -- the trainer -------------------------------------------------------------------------------- */

typedef struct tide_trainer tide_trainer;

typedef struct tide_stats {
    uint64_t bytes;  /* read */
    uint64_t tokens; /* words found in them */
    uint64_t sentences;
    uint64_t trained;    /* center words trained, replays included */
    uint64_t vocabulary; /* words held now */
    uint64_t capacity;
    uint64_t admitted;          /* words that entered */
    uint64_t evicted;           /* words that had to leave */
    uint64_t evicted_young;     /* of these, within 1,000 tokens of their coming */
    uint64_t rejected;          /* tokens of words that the vocabulary does not hold */
    uint64_t minimum_count;     /* bound on the count of any word that is not held */
    uint64_t skipped_invalid;   /* tokens not in UTF-8, or with control characters */
    uint64_t cut_words;         /* words longer than TIDE_WORD_MAX, cut */
    uint64_t omitted_words;     /* as the parameters say: stop words and the like */
    uint64_t records;           /* of JSON, CSV or TSV; 0 for plain lines */
    uint64_t malformed_records; /* of these left out: not JSON or CSV */
    uint64_t missing_records;   /* without text */
    uint64_t long_records;      /* of more than TIDE_RECORD_MAX bytes */
    uint64_t dropped_bytes;     /* of words skipped or cut and of records left out */
    double time; /* seconds since 1970 of the last record with a time; NAN without */
    uint64_t cut_sentences; /* lines longer than a sentence may be, cut */
    uint64_t healed;        /* vectors that were not numbers, and were begun again */
    double loss; /* mean loss of a pair of new text, over a recent window; 0 before */
    uint64_t epochs; /* batch: how often the text is read; 0 for a stream */
    uint64_t epoch;  /* the present one, from 1; 0 while words are counted */
    bool ending;     /* told by a run alone: it learns no more and is being saved */
    bool saving;     /* likewise: a checkpoint is being written and is not safe yet */
    double
        done; /* likewise: the fraction of the text that was read; 0 when not known */
} tide_stats;

/* Allocates everything that training will ever need. */
TIDE_API tide_trainer *tide_trainer_new(const tide_params *params, tide_error *err);

/* Goes on from a saved model exactly where it stopped. `changes` are (name, value) pairs of
 * parameters: those with on_resume take the new value, others must agree with the file. */
TIDE_API tide_trainer *tide_trainer_load(const char *path,
                                         const char *const (*changes)[2], size_t count,
                                         tide_error *err);

/* The same from the newest good one of PATH, PATH.1, PATH.2 and so on, which is what `older` of a run leaves
 * there. `note`, which may be NULL, is told about those that are not good, and they are left alone. */
TIDE_API tide_trainer *
tide_trainer_recover(const char *path, const char *const (*changes)[2], size_t count,
                     void (*note)(void *data, bool warning, const char *text),
                     void *data, tide_error *err);
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

/* The same; the `older` files that were there before stay, as PATH.1 (the latest), PATH.2 and so on. */
TIDE_API int tide_trainer_save_keeping(tide_trainer *trainer, const char *path,
                                       uint32_t older, tide_error *err);

/* How far it has come. */
TIDE_API void tide_trainer_stats(const tide_trainer *trainer, tide_stats *stats);

/* What it was made with. */
TIDE_API const tide_params *tide_trainer_params(const tide_trainer *trainer);

/* What the process needs, by part; the last is the program itself, and the others are allocated. */
TIDE_API int tide_trainer_budget(const tide_trainer *trainer,
                                 tide_part parts[TIDE_PARTS_MAX]);

/* The model while it learns. It changes whenever the trainer is fed, and is to be asked after
 * tide_trainer_end or tide_trainer_save, when all lessons are learned. */
TIDE_API const tide_model *tide_trainer_model(const tide_trainer *trainer);

/* Whether an earlier run was stopped in this source, so that the next one goes on there. */
TIDE_API bool tide_trainer_can_resume(const tide_trainer *trainer, const char *source);

/* -- runs: sources read to their ends, and what is learned kept ---------------------------------- */

/* What became of a checkpoint. */
typedef struct tide_checkpoint {
    const char *path;
    uint64_t bytes;
    double pause_seconds; /* that training stood still */
    double seconds;       /* from then until it was safe */
    const char *error;    /* why it is not safe; NULL when it is */
    double
        begun; /* seconds of CLOCK_MONOTONIC: it has all that was learned before, and nothing since */
} tide_checkpoint;

typedef struct tide_run {
    const char *const *sources;
    size_t source_count;
    const char *const *properties; /* "key=value" for the library behind a source */
    size_t property_count;
    bool from_start; /* read sources again that an interrupted run had read already */
    bool follow;     /* files are read on as they grow and are rotated, all at once */

    /* Reads files and pipes as text even if they look like something else (tide_content), which is refused
     * with TIDE_ERROR_FORMAT otherwise. Files that are followed are only warned about. */
    bool as_text;

    /* Ends the run after the present sentence, or block of 64 KiB, when it is not 0. A signal handler may set it. */
    const volatile sig_atomic_t *stop;

    /* Called some ten times a second while it learns, waits or saves, and when it begins to end. */
    void (*watch)(void *data, const tide_stats *stats);
    void *watch_data;

    /* One line for a person. */
    void (*note)(void *data, bool warning, const char *text);
    void *note_data;

    /* If pause_tokens is not 0, called between two sentences where the number of tokens reaches or passes another
     * multiple of it, and at the end, all lessons learned. The model may be asked there, and the trainer
     * neither fed nor saved. */
    void (*pause)(void *data, const tide_stats *stats);
    void *pause_data;
    uint64_t pause_tokens;

    /* Where the model is saved at the end; NULL: the caller saves. */
    const char *save_path;
    bool *saved; /* becomes true when that has been done */

    /* So many earlier files stay beside a new one, as PATH.1 (the latest), PATH.2 and so on: of save_path what was
     * there before the run, of checkpoint_path every checkpoint that has new words. A run that reads no words
     * makes no empty model, and replaces no file but that of the model it goes on from. */
    uint32_t older;

    /* Where it is saved on the way; NULL: there too. That is after so many new words, or so long, if these are not 0,
     * when *save_now is not 0, which then becomes 0, or when a source asks for it: at the end of the
     * sentence, but never later than at the end of the block of 64 KiB that was read, or of the message. */
    const char *checkpoint_path;
    uint64_t save_tokens;
    double save_seconds;
    volatile sig_atomic_t *save_now;
    void (*checkpointed)(void *data, const tide_checkpoint *checkpoint);
    void *checkpointed_data;

    /* For the source "feed:". A run that ends before its sources do, because it is stopped or another source fails,
     * closes it and reads what was handed over before, or leaves that in its spool. */
    tide_feed *feed;

    /* The only source is a pipe, whose text is first written into this folder and stays there until a saved
     * model has learned it: a killed run loses and repeats nothing. */
    const char *spool;
    uint64_t spool_limit; /* bytes, 1 MiB or more; then it is time to save; 0: 1 GiB */
    tide_spool_sync spool_sync;

    /* Ends with TIDE_ERROR_INPUT after more than so many bad records. */
    bool errors_limited;
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

/* -- models ------------------------------------------------------------------------------------- */

typedef struct tide_entry {
    const char *word;
    uint64_t count; /* never below the true count; 0 when that is not known */
    uint64_t error; /* count - error is never above it */
    uint32_t slot;
} tide_entry;

/* A model file, as a trainer saves it. */
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
TIDE_API uint32_t tide_model_subwords(const tide_model *model); /* rows; 0 without */
TIDE_API uint64_t tide_model_tokens(const tide_model *model);   /* learned from */

/* The text of the parameters the model was trained with, "name value" lines. */
TIDE_API const char *tide_model_params(const tide_model *model);

/* The words by falling count; returns how many were written, which is none without memory. */
TIDE_API size_t tide_model_words(const tide_model *model, tide_entry *entries,
                                 size_t room);

/* A word that is worth asking about: frequent, of six letters or more, and not so frequent as the words of grammar are.
 * NULL when there is none. */
TIDE_API const char *tide_model_example(const tide_model *model);

/* Returns TIDE_ERROR_NOT_FOUND for a word that is not held. */
TIDE_API int tide_model_find(const tide_model *model, const char *word,
                             tide_entry *entry, tide_error *err);

/* Words spelled nearly like this one, the nearest and most frequent first; at most 16. */
TIDE_API size_t tide_model_suggest(const tide_model *model, const char *word,
                                   tide_entry *entries, size_t room);

/* -- asking: a space is a way of looking at a model ---------------------------------------------- */

typedef enum tide_vectors {
    TIDE_VECTORS_INPUT,  /* of words in the middle: what is usually meant */
    TIDE_VECTORS_OUTPUT, /* of words around them */
    TIDE_VECTORS_SUM,    /* of the two */
} tide_vectors;

typedef struct tide_view tide_view;

/* `centered` subtracts the mean vector of the frequent words. A model without output vectors has a space
 * of its input vectors only; others are TIDE_ERROR_PARAMETER. The model must outlive the space. */
TIDE_API tide_view *tide_view_new(const tide_model *model, tide_vectors vectors,
                                  bool centered, tide_error *err);
TIDE_API void tide_view_free(tide_view *space);

/* Writes dim floats. With subwords an unseen word gets a vector too; otherwise TIDE_ERROR_NOT_FOUND. */
TIDE_API int tide_view_vector(const tide_view *space, const char *word, float *vector,
                              tide_error *err);

#define TIDE_TERM_MAX 16

/* The vector of a word, or of several separated by spaces, at most TIDE_TERM_MAX: their mean. All that ask by
 * words below take such terms; tide_resolver_find makes them of what people write. */
TIDE_API int tide_view_mean(const tide_view *space, const char *term, float *vector,
                            tide_error *err);

/* Cosine of two terms. */
TIDE_API int tide_view_similarity(const tide_view *space, const char *a, const char *b,
                                  float *cosine, tide_error *err);

typedef struct tide_hit {
    const char *word;
    float score; /* cosine */
    uint32_t slot;
} tide_hit;

typedef struct tide_query {
    const char *const *positive; /* terms whose unit vectors are added */
    size_t positive_count;
    const char *const *negative; /* terms whose unit vectors are subtracted */
    size_t negative_count;
    const float *vector; /* dim floats to be added as they are, or NULL */
    uint32_t among;      /* only the so many most frequent words; 0 for all */
} tide_query;

/* The nearest words by cosine, the words of the query (at most 64 terms) left out; returns how many. */
TIDE_API int tide_view_nearest(const tide_view *space, const tide_query *query,
                               tide_hit *hits, size_t room, tide_error *err);

/* The same for several questions at once, which takes hardly longer than one. */
typedef struct tide_search {
    tide_query query;
    tide_hit *hits; /* the caller's */
    size_t room;
    int found;        /* how many there are, or a negative status */
    tide_error error; /* if it is one */
} tide_search;

TIDE_API void tide_view_search(const tide_view *space, tide_search *searches,
                               size_t count);

/* a is to b as c is to ...: nearest to b - a + c (3CosAdd). */
TIDE_API int tide_view_analogy(const tide_view *space, const char *a, const char *b,
                               const char *c, tide_hit *hits, size_t room,
                               tide_error *err);

/* What it looks at. */
TIDE_API const tide_model *tide_view_model(const tide_view *space);

/* The word whose count is the `rank`-th, from 1; false past the last. And the rank of a word, 0 when it is not held. */
TIDE_API bool tide_view_entry(const tide_view *space, uint32_t rank, tide_entry *entry);
TIDE_API uint32_t tide_view_rank(const tide_view *space, const char *word);

/* A model of its own, of the `top` most frequent words, 0 for all, which lives on when the space is gone or goes on
 * learning: words, counts, and as input vectors those of the space, the mean not taken out. A word that leaves a
 * learning model meanwhile is left out. And the bytes that it takes. */
TIDE_API tide_model *tide_view_copy(const tide_view *space, uint32_t top,
                                    tide_error *err);
TIDE_API uint64_t tide_view_copy_bytes(const tide_view *space, uint32_t top);

/* -- terms: what people write, in the words of a model -------------------------------------------- */

/* Text falls into words before it is learned: "Tea" is learned as "tea", and "J’aime" as "j'aime". What somebody asks for
 * goes the same way. A word that is held exactly as written, and a phrase that was joined by "_", stay whole. */
typedef struct tide_term {
    bool exact;     /* the text is its only token as it stands */
    uint32_t count; /* tokens; of more than TIDE_TERM_MAX the rest is left out */
    uint32_t known; /* of them, those with a vector */
    bool has_vector[TIDE_TERM_MAX];
    char tokens[TIDE_TERM_MAX][TIDE_WORD_MAX + 1];
    char words[TIDE_TERM_MAX *
               (TIDE_WORD_MAX + 1)]; /* the known ones, separated by spaces: a term as
                                        tide_view_mean takes it; "" without any */
} tide_term;

typedef struct tide_resolver tide_resolver;

/* With the tokenizer that the model was trained with; for a file of vectors alone, with the default one. */
TIDE_API tide_resolver *tide_resolver_new(const tide_model *model, tide_error *err);
TIDE_API void tide_resolver_free(tide_resolver *resolver);

/* The space may be any over the same model, or over one that learns on from it. */
TIDE_API void tide_resolver_find(tide_resolver *resolver, const tide_view *space,
                                 const char *text, tide_term *term);

/* Words spelled nearly like what is not known of a text that was read as this term, as tide_model_suggest has them. */
TIDE_API size_t tide_term_suggest(const tide_term *term, const tide_model *model,
                                  const char *text, tide_entry *entries, size_t room);

/* -- asking while it learns ----------------------------------------------------------------------- */

/* Any number of threads ask a model that one is learning. Vectors are as they are at that moment. Words,
 * their counts and order are as they were when the learning thread last looked, which it does twice
 * a second in tide_trainer_run, or less often in a vocabulary so large that this would take more than a
 * fiftieth of its time. A word that has left since then is not held: nobody is ever given another
 * word's vector. Learning never waits for who asks, nor the other way round. */
typedef struct tide_live tide_live;

/* One at most for a trainer, which must outlive it; by the thread that learns, between two runs. */
TIDE_API tide_live *tide_live_new(tide_trainer *trainer, tide_vectors vectors,
                                  bool centered, tide_error *err);
TIDE_API void tide_live_free(tide_live *live); /* the same, with nobody asking */

/* What _new allocates. */
TIDE_API uint64_t tide_live_bytes(const tide_params *params);

/* From any thread: a space that may be asked until it is given back. The words that it answers with live as
 * long. Who keeps one for long keeps others from seeing new words. */
TIDE_API const tide_view *tide_live_acquire(tide_live *live);
TIDE_API void tide_live_release(tide_live *live, const tide_view *space);

/* From any thread: how far learning has come, at most a tenth of a second ago. */
TIDE_API void tide_live_stats(tide_live *live, tide_stats *stats);

/* By the thread that learns, where it feeds the trainer by itself: looks now. False when somebody still asks the
 * space before the last, and the last one stays. */
TIDE_API bool tide_live_update(tide_live *live);

/* -- history: what words were, and what has become of them ------------------------------------------ */

/* Follows a model that learns: which words come and go, which come more often than they used to, and how far the
 * most frequent ones, and those that are watched, have moved from where they were minutes, hours, days and months
 * ago. All memory is taken when it is made. One thread looks, which is not the one that learns; any thread asks.
 *
 * Times are the caller's, in seconds since whenever the caller likes; ages are seconds. A clock that is set back
 * stands still for a look: what was a minute ago stays so. Numbers that do not exist are NAN. */
typedef struct tide_history tide_history;

typedef enum tide_alarm_kind {
    TIDE_ALARM_NEW,   /* a word that came after the warm-up, seen `count_alarm` times */
    TIDE_ALARM_GONE,  /* a word seen so often has left the vocabulary */
    TIDE_ALARM_TREND, /* comes more often than it used to */
    TIDE_ALARM_DRIFT, /* has moved */
} tide_alarm_kind;

#define TIDE_ALARM_KINDS 4

TIDE_API const char *tide_alarm_name(tide_alarm_kind kind);

typedef struct tide_alarm {
    uint64_t number; /* the first is 1 */
    double time;
    tide_alarm_kind kind;
    char word[TIDE_WORD_MAX + 1];
    double score;     /* what reached the threshold: occurrences, trend or degrees */
    double threshold; /* it rings again only after the score was below half of it */
} tide_alarm;

#define TIDE_HISTORY_SNAPSHOTS_MAX 32

/* 0 is the default of all of them, and no alarm. */
typedef struct tide_history_options {
    uint32_t follow; /* so many of the most frequent words (5,000); one tenth more may
                        stay that were among them */
    uint32_t watch;  /* room for so many watched words (100) */
    double step;     /* seconds: the youngest age of the ladder (60) */
    uint32_t rungs;  /* of the ladder, from 2 (18); the oldest: step * 2^(rungs - 2) */
    double warm_up;  /* seconds in which no word is new (10 steps) */
    double
        baseline; /* seconds before there is anything to compare with: no alarm, and no
                         drift since an earlier moment (60 steps; below 0: none needed) */
    double drift_age; /* drift is since so long ago (0: since the oldest vectors) */
    double trend_alarm, drift_alarm;                    /* log2, degrees */
    uint64_t count_alarm;                               /* occurrences */
    void (*alarm)(void *data, const tide_alarm *alarm); /* by tide_history_update */
    void *alarm_data;
} tide_history_options;

/* The live model must outlive it. `options` may be NULL. */
TIDE_API tide_history *
tide_history_new(tide_live *live, const tide_history_options *options, tide_error *err);
TIDE_API void tide_history_free(tide_history *history);

/* What _new allocates, for a model of these parameters. */
TIDE_API uint64_t tide_history_bytes(const tide_params *params,
                                     const tide_history_options *options);

/* Looks at the model, by one thread at a time, once a second or so. */
TIDE_API int tide_history_update(tide_history *history, double now, tide_error *err);

/* From any thread: a look that is going on ends soon, what it has not found yet being left out, and so do all later
 * ones. For when the history is about to be saved a last time. */
TIDE_API void tide_history_stop(tide_history *history);

/* From any thread, as all that follows: follow this word too, whether it is held or not. Watching twice is
 * watching. TIDE_ERROR_PARAMETER when there is no room; TIDE_ERROR_NOT_FOUND when it was not watched. */
TIDE_API int tide_history_watch(tide_history *history, const char *word,
                                tide_error *err);
TIDE_API int tide_history_unwatch(tide_history *history, const char *word,
                                  tide_error *err);

/* Seconds until there is something to compare with: until then nothing is an event. 0 once there is. */
TIDE_API double tide_history_baseline(tide_history *history);

/* Words followed now. */
TIDE_API uint32_t tide_history_followed(tide_history *history);

/* The ages of the ladder: of each there is, once the history is so old, a vector that is between so old and twice
 * as old, give or take the time between two looks. Returns how many. */
TIDE_API uint32_t tide_history_ages(const tide_history *history,
                                    double ages[TIDE_HISTORY_SNAPSHOTS_MAX]);

/* A word as it was when somebody last looked. */
typedef struct tide_history_word {
    char word[TIDE_WORD_MAX + 1];
    uint64_t count, error; /* halved with the half-life, if there is one */
    uint64_t seen;         /* occurrences since it entered the vocabulary, at least */
    double
        rate; /* occurrences per second, mostly of the last 5 steps; 0 once the stream
                        has paused for ten times as long as it usually does */
    double baseline; /* the same over a long time: 1,440 steps, a day of minutes */
    double ratio;    /* rate / baseline; NAN without a baseline */
    double trend;    /* log2 of its share of all words of late against that in the
                          long time, with 8 occurrences added to both sides: few
                          occurrences are no trend */
    double drift;    /* degrees between its vector and that of `since`, once what all
                          have turned together is taken out */
    double since;
    double first_seen; /* NAN for a word that was there before the end of the warm-up */
    uint32_t rank;     /* by falling count, from 1 */
    bool followed, watched;
} tide_history_word;

typedef enum tide_history_sort {
    TIDE_HISTORY_COUNT,
    TIDE_HISTORY_NEW, /* first seen lately and often: twice as often is worth 60 steps */
    TIDE_HISTORY_TREND, /* the steepest rise first */
    TIDE_HISTORY_DRIFT, /* the farthest first, with evidence: words seen seldom wander;
                           words without a drift are left out */
} tide_history_sort;

#define TIDE_HISTORY_LIST_MAX 2000

typedef struct tide_history_list {
    tide_history_sort sort;
    const char *prefix; /* only words that begin so; NULL for all */
    double after;       /* new: only those first seen after this time, if it is not 0 */
    uint32_t offset; /* so many are passed over; with the room, TIDE_HISTORY_LIST_MAX at
                        most, and by count any number */
} tide_history_list;

/* Returns how many were written, or TIDE_ERROR_MEMORY; *total, which may be NULL, becomes how many there are. */
TIDE_API int tide_history_words(tide_history *history, const tide_history_list *list,
                                tide_history_word *words, size_t room, uint64_t *total,
                                tide_error *err);

/* One word that is held; otherwise TIDE_ERROR_NOT_FOUND. */
TIDE_API int tide_history_word_of(tide_history *history, const char *word,
                                  tide_history_word *found, tide_error *err);

typedef struct tide_evicted {
    char word[TIDE_WORD_MAX + 1];
    uint64_t count; /* occurrences while it was held, at least */
    double left;
} tide_evicted;

/* Words that have left and not come back, the latest first; returns how many. The 1,000 or so are remembered that left
 * lately and were seen often: twice as often is worth 60 steps. Only those that left after a time, if it is not 0. */
TIDE_API size_t tide_history_evicted(tide_history *history, double after,
                                     tide_evicted *gone, size_t room);

typedef struct tide_history_point {
    double age, time;
    uint64_t count;
    double rate;
    double turned; /* degrees between then and now, without what all have turned */
} tide_history_point;

/* What is known of the past of a followed word, the oldest first; returns how many, TIDE_ERROR_NOT_FOUND for a word that
 * is not followed. */
TIDE_API int tide_history_points(tide_history *history, const char *word,
                                 tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX],
                                 tide_error *err);

typedef struct tide_history_hit {
    char word[TIDE_WORD_MAX + 1];
    float score; /* cosine */
} tide_history_hit;

/* The nearest followed words as of the vectors whose age is nearest to `age`, which *taken becomes; returns how many.
 * TIDE_ERROR_NOT_FOUND when the word was not followed then, or nothing is half as old. */
TIDE_API int tide_history_nearest(tide_history *history, const char *word, double age,
                                  tide_history_hit *hits, size_t room, double *taken,
                                  tide_error *err);

/* Alarms with a number above `after`, the first first; returns how many. The last 256 are kept. */
TIDE_API size_t tide_history_alarms(tide_history *history, uint64_t after,
                                    tide_alarm *alarms, size_t room);

typedef struct tide_map_point {
    char word[TIDE_WORD_MAX + 1];
    float x, y; /* about -1 to 1 */
    uint64_t count, seen;
    double age; /* since it was first seen */
    double drift, trend, ratio;
} tide_map_point;

/* The most frequent followed words on the plane in which they differ most. It turns as little as possible from one
 * look to the next; *frame changes when it does. Returns how many. */
TIDE_API size_t tide_history_map(tide_history *history, tide_map_point *points,
                                 size_t room, uint64_t *frame);

/* A file that outlives the process: replaced atomically, checksummed. It is loaded into a history that nobody has looked
 * with yet, whose step, rungs and dimension must be the same; one that fails to load is as new. Words that are not held
 * any more are left out. It is saved by the thread that looks, and those who ask do not wait for the disk. */
TIDE_API int tide_history_save(tide_history *history, const char *path,
                               tide_error *err);
TIDE_API int tide_history_load(tide_history *history, const char *path,
                               tide_error *err);

/* Whether such a file can be loaded, without its model. What is known of it by then is told also of a bad one;
 * `facts` may be NULL. */
typedef struct tide_history_facts {
    bool is_history; /* and not another file of ours */
    uint32_t dim, rungs;
    double step;
    uint64_t followed, words; /* with vectors, and with rates */
    uint64_t alarms;          /* that have ever rung */
} tide_history_facts;

TIDE_API int tide_history_check(const char *path, tide_history_facts *facts,
                                tide_error *err);

/* -- vectors in other formats -------------------------------------------------------------------- */

typedef struct tide_format_info {
    const char *name; /* as in --format */
    const char *help;
    const char *dtypes; /* "f32|f16|i8": those it can hold, the first by default */
    const char *ending; /* of the name of its file, as ".vec"; NULL for a format that
                           cannot be written to a pipe or an open file */
    bool reads, writes;
} tide_format_info;

/* All there are, *count of them. */
TIDE_API const tide_format_info *tide_formats(size_t *count);

typedef struct tide_export {
    const char *format; /* needed: by its name in tide_formats */
    const char *dtype;  /* NULL: the format's first */
    tide_vectors vectors;
    bool centered;
    uint32_t top; /* only the so many most frequent words; 0 for all */
    const volatile sig_atomic_t
        *stop; /* not 0: the export fails after the present word; NULL without */
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

/* The same to a file that is open, from where it stands, for formats with an ending. */
TIDE_API int tide_model_export_open(const tide_model *model, const tide_export *how,
                                    int file, tide_exported *done, tide_error *err);

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
TIDE_API uint64_t tide_rows_count(const tide_rows *rows); /* 0: it does not say */

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

/* `a` is above 0; 0.001 is usual. The space must outlive it. */
TIDE_API tide_embedder *tide_embedder_new(const tide_view *space, double a,
                                          tide_error *err);
TIDE_API void tide_embedder_free(tide_embedder *embedder);

/* More of the text, cut anywhere. */
TIDE_API void tide_embedder_add(tide_embedder *embedder, const char *text, size_t size);

/* The text ends: writes dim floats, all zero when no word is known, and returns how many words are.
 * The next text begins. */
TIDE_API uint64_t tide_embedder_end(tide_embedder *embedder, float *vector);

/* -- labels ---------------------------------------------------------------------------------------- */

/* Posts that carry labels: hashtags, or such as are marked "__label__NAME" (parameter `labels`). They are
 * taken out of the text, so nothing is ever learned or told from them. A trainer counts them, keeps a
 * sample of the posts of each (`label-memory`), and has a classifier that tells the most frequent of them
 * from the words of a post. A post is a line, or a record, of which the first 1,000 words count. */

typedef struct tide_label_stats {
    uint64_t posts;        /* seen */
    uint64_t unlabeled;    /* of these, without a label */
    uint64_t empty;        /* with a label, but without words */
    uint64_t cut;          /* too long to be kept whole */
    uint64_t extra_labels; /* left out: beyond the 32 that a post may carry */
    uint64_t kept;         /* posts kept now */
    uint64_t used, room;   /* bytes of the memory for posts */
    uint32_t labels;       /* held now */
    uint32_t capacity;     /* that can be held */
    uint32_t told;         /* that the classifier tells; 0 while it has not learned */
    uint64_t fits;         /* how often it has learned */
    uint64_t posts_at_fit; /* seen when it last did */
} tide_label_stats;

/* All 0 for a trainer without labels. */
TIDE_API void tide_trainer_label_stats(const tide_trainer *trainer,
                                       tide_label_stats *stats);

/* The same of a model file, without the memory that a trainer takes; `used` and `room` stay 0. */
TIDE_API int tide_label_stats_read(const char *path, tide_label_stats *stats,
                                   tide_error *err);

typedef struct tide_label {
    const char *name;
    uint64_t count; /* count - error <= posts that carried it <= count */
    uint64_t error;
    uint64_t since; /* number of the post with which it came, from 0 */
    uint32_t kept;  /* posts of it */
    bool told;      /* the classifier knows it */
} tide_label;

/* The labels with the highest counts, the highest first; returns how many were written, which is none
 * without memory. Names are borrowed until the trainer is fed. */
TIDE_API size_t tide_trainer_labels(const tide_trainer *trainer, tide_label *labels,
                                    size_t room);

/* How the classifier stands after an epoch. Losses are the mean binary cross-entropy of a label of a
 * post. */
typedef struct tide_epoch {
    uint32_t epoch;       /* the first is 1 */
    uint32_t epochs_most; /* the last, if it does not stop before */
    uint32_t best_epoch;  /* the one that training would go back to now */
    double loss;          /* while learning, with dropout */
    double held_out_loss; /* 0 when no post is held out */
    double best_loss;     /* held-out, of the best epoch */
    size_t learned;       /* posts that are learned from */
    size_t held_out;      /* and those that are held out */
    double seconds;       /* that the epoch took */
} tide_epoch;

/* False asks to stop here, with the best epoch so far. */
typedef bool tide_epoch_watch(void *data, const tide_epoch *epoch);

/* The classifier learns anew: the `label-top` most frequent labels, from `label-each` posts of each.
 * TIDE_ERROR_INPUT when no post with a label has been seen; the classifier is then as it was. `watch`
 * may be NULL. */
TIDE_API int tide_trainer_fit(tide_trainer *trainer, tide_epoch_watch *watch,
                              void *data, tide_error *err);

/* A post of the stream, and what the classifier says of it, before anything of it is learned. All is
 * borrowed for the call. */
typedef struct tide_predicted_post {
    uint64_t post; /* its number, from 0 */
    double time;   /* of its record, or of the latest before it that had one, in seconds
                      since 1970; NAN without */
    const char *const *labels; /* that it carries, each once */
    uint32_t label_count;
    uint32_t words;             /* of its text */
    uint32_t unknown;           /* of these, without a vector */
    uint64_t fit;               /* names and their number change only when this does */
    const char *const *names;   /* of the labels that the classifier tells */
    uint32_t name_count;        /* 0 while it has not learned */
    const float *probabilities; /* [name_count] */
} tide_predicted_post;

/* Called for every post of the next runs, by the thread that runs; NULL for nobody. `epoch` is told
 * how the classifier gets on when it learns anew on the way (`label-refit`); it may be NULL. Neither may feed,
 * save or run the trainer. */
TIDE_API void tide_trainer_watch_labels(tide_trainer *trainer,
                                        void (*post)(void *data,
                                                     const tide_predicted_post *told),
                                        tide_epoch_watch *epoch, void *data);

/* How good what was told is. */
typedef struct tide_scorer tide_scorer;

/* A label is predicted when its probability is at least the threshold. */
TIDE_API tide_scorer *tide_scorer_new(float threshold, tide_error *err);
TIDE_API void tide_scorer_free(tide_scorer *judge);

/* One more post. It is scored if it carries a label that the classifier tells now. */
TIDE_API int tide_scorer_add(tide_scorer *judge, const tide_predicted_post *told,
                             tide_error *err);

/* Begins a new account. */
TIDE_API void tide_scorer_reset(tide_scorer *judge);

typedef struct tide_score {
    double precision;
    double recall;
    double f1;
} tide_score;

/* 0 divided by 0 is 0 in scores. */
typedef struct tide_scores {
    uint64_t posts;
    uint64_t labeled; /* posts that carry a label */
    uint64_t scored;  /* posts that carry one that was told: scores are about these */
    uint64_t truths;  /* such labels, all in all */
    uint64_t words, unknown; /* of the scored posts; those without a vector */
    tide_score weighted;   /* mean over labels, weighted by the posts that have them */
    tide_score macro;      /* mean over all labels, also those that no post has */
    tide_score micro;      /* of all decisions together */
    double precision_at_1; /* mean share of right ones among the most probable label, */
    double precision_at_5; /* and among the five most probable */
    double recall_at_5;    /* mean share of a post's labels that are among these five */
} tide_scores;

TIDE_API tide_scores tide_scorer_scores(const tide_scorer *judge);

typedef struct tide_label_score {
    const char *name; /* borrowed from the judge */
    uint64_t support; /* posts that have it */
    tide_score score;
} tide_label_score;

/* By falling support, and names in the order of their bytes; returns how many were written. */
TIDE_API size_t tide_scorer_labels(const tide_scorer *judge, tide_label_score *scores,
                                   size_t room);

/* A model that tells the labels of texts and does not learn. */
typedef struct tide_labeler tide_labeler;

/* TIDE_ERROR_PARAMETER for a model without a classifier that has learned. */
TIDE_API tide_labeler *tide_labeler_load(const char *path, tide_error *err);
TIDE_API void tide_labeler_free(tide_labeler *labeler);

/* Labels that it tells. */
TIDE_API uint32_t tide_labeler_size(const tide_labeler *labeler);

typedef struct tide_prediction {
    const char *label; /* lives as long as the labeler */
    float probability;
} tide_prediction;

/* More of the text of a post, cut anywhere; line feeds are blanks. Labels in it are passed over. */
TIDE_API void tide_labeler_add(tide_labeler *labeler, const char *text, size_t size);

/* The post ends: the most probable labels, the most probable first; returns how many were written.
 * *known becomes the number of its words that have a vector; without any, labels are as probable as
 * they are frequent. The next post begins. */
TIDE_API size_t tide_labeler_end(tide_labeler *labeler, tide_prediction *guesses,
                                 size_t room, uint64_t *known);

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
    uint32_t among;    /* only the so many most frequent words are known; 0 for all */
    bool keep_unknown; /* a pair with an unknown word is kept, with cosine 0; a question
                          with one is counted as wrong */
} tide_eval_options;

typedef struct tide_similarity_result {
    uint64_t pairs;     /* in the file */
    uint64_t known;     /* of them, those whose words both have a vector */
    uint64_t bad_lines; /* neither a pair and its score nor empty nor a comment */
    double spearman;    /* of cosines and scores; NAN when it is not defined */
    double pearson;
} tide_similarity_result;

/* Cosines against people's scores: lines of two words and a number. */
TIDE_API int tide_eval_similarity(const tide_view *space, const char *path,
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
TIDE_API int tide_eval_analogy(const tide_view *space, const char *path,
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
    const tide_band *bands; /* needed: of the words of B */
    size_t band_count;
    uint32_t neighbors; /* how many are the nearest; 0 for no search */
    uint32_t sample;    /* `pair` is called for so many pairs of each cell, by chance */
    uint64_t seed;
    void (*pair)(void *data, const tide_agreement_pair *pair); /* may be NULL */
    void *data;
} tide_agreement_options;

typedef struct tide_agreement_result {
    uint64_t common; /* words that both hold; neighbors are searched among these */
    size_t band_count, cell_count;
    tide_agreement_cell all; /* all cells together; its bands are 0 */
    tide_agreement_cell cells[TIDE_AGREEMENT_CELLS_MAX];
    tide_agreement_near near[TIDE_AGREEMENT_BANDS_MAX];
} tide_agreement_result;

/* How far A says the same as B, the reference. Only words that a model holds have a vector here. A band
 * that goes beyond the words of B is cut there; one that begins there is TIDE_ERROR_PARAMETER. */
TIDE_API int tide_eval_agreement(const tide_view *a, const tide_view *b,
                                 const tide_agreement_options *options,
                                 tide_agreement_result *result, tide_error *err);

/* What differs between two models, or files of vectors, of the same kind of text. */
typedef struct tide_diff tide_diff;

typedef enum tide_diff_sort {
    TIDE_DIFF_DRIFT,   /* shared words, the farthest moved first */
    TIDE_DIFF_OVERLAP, /* shared words, the fewest common neighbors first */
    TIDE_DIFF_NEW,     /* words of B alone, the most frequent first */
    TIDE_DIFF_GONE,    /* words of A alone, likewise */
    TIDE_DIFF_COUNT,   /* shared words, the largest change of frequency first */
} tide_diff_sort;

typedef struct tide_diff_options {
    tide_diff_sort sort;
    uint64_t min_count; /* of a word where it is held, to be looked at */
    uint32_t among;     /* of the shared words, so many most frequent in B; 0: 10,000 */
    uint32_t neighbors; /* how many are the nearest; 0: 10 */
} tide_diff_options;

/* Numbers that do not exist are NAN. */
typedef struct tide_difference {
    const char *word; /* of a model, which must live as long */
    bool in_a, in_b;
    uint64_t count_a, count_b; /* 0 where it is not held, or the file does not tell */
    double change;  /* log2 of its share of all words in B against A, with 8 occurrences
                      added to both sides */
    double drift;   /* degrees between its vectors, once the rotation that most shared
                      words have in common is taken out */
    double overlap; /* of its nearest words in A and in B, both among the words
                       compared: common ones as a share of all of them */
} tide_difference;

typedef struct tide_diff_summary {
    uint64_t words_a, words_b, shared; /* with at least min_count */
    uint64_t compared;
    double drift; /* median of the words compared; NAN for models of different dimension
                       and for fewer words than dimensions, which could be met exactly */
    double overlap; /* mean */
} tide_diff_summary;

/* Words in which nothing differs are left out: the same model, or a rotated copy, has no differences. */
TIDE_API tide_diff *tide_diff_new(const tide_view *a, const tide_view *b,
                                  const tide_diff_options *options, tide_error *err);
TIDE_API void tide_diff_free(tide_diff *diff);
TIDE_API size_t tide_diff_size(const tide_diff *diff);
TIDE_API tide_difference tide_diff_at(const tide_diff *diff, size_t number);
TIDE_API tide_diff_summary tide_diff_summary_of(const tide_diff *diff);

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

/* How many words have followed, by event. A swapped word has when it is nearer to the neighbors that
 * the other had at the moment than to its own; a new one when the word whose place it takes is among
 * its 10 nearest; a dead one when it has left the vocabulary. */
typedef struct tide_drift_look {
    uint64_t tokens;                    /* read since the moment */
    uint64_t words[TIDE_DRIFT_EVENTS];  /* that could be judged: held at the moment */
    double followed[TIDE_DRIFT_EVENTS]; /* share of them; NAN without any */
    double score[TIDE_DRIFT_EVENTS]; /* swapped: 0 as before, 1 when the neighbors are
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
    bool centered;
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
typedef struct tide_moved_word {
    const char *word;
    uint64_t count;
    double aligned;                      /* cosine with itself */
    const char *then[TIDE_PERIOD_WORDS]; /* the nearest at the end of the one before, */
    const char *now[TIDE_PERIOD_WORDS];  /* and of this one; NULL for fewer */
} tide_moved_word;

/* What a period has brought, compared with the end of the one before. */
typedef struct tide_period {
    const char *name; /* 2020-03-31, 2020-W14, 2020-03, 2020; or the token it ends at */
    uint64_t tokens;  /* of this period */
    uint64_t vocabulary;
    uint64_t admitted, evicted;
    tide_stability frequent; /* of the 1,000 most frequent words at the end before */
    size_t mover_count;
    tide_moved_word movers[TIDE_PERIOD_WORDS]; /* those that moved most */
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
    bool centered;
    void (*period)(void *data, const tide_period *period); /* its texts are borrowed */
    void *period_data;
    void (*watch)(void *data, const tide_stats *stats); /* may be NULL */
    void *watch_data;
} tide_periods_options;

/* Trains on a stream and compares the end of every period with that of the period before. A record
 * without a time, or from before the present period, belongs to the present one. */
TIDE_API int tide_eval_periods(const tide_params *params,
                               const tide_periods_options *options, tide_error *err);

/* -- around it: what programs that keep models need too ------------------------------------------- */

typedef struct tide_lock tide_lock;

/* Keeps other processes that ask for the same path from writing it. TIDE_ERROR_IO when one has it. The lock goes
 * with the process, if it is not released before. */
TIDE_API tide_lock *tide_lock_open(const char *path, tide_error *err);
TIDE_API void tide_lock_close(tide_lock *lock);

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

/* Throws the temporary file away and frees the output. */
TIDE_API void tide_output_discard(tide_output *out);

#define TIDE_DECIMAL_MAX 20

/* The fewest digits that read back as the same float, without a 0 after them; returns how many
 * bytes. What is not finite becomes "inf" or "nan". */
TIDE_API size_t tide_decimal_write(float value, char text[TIDE_DECIMAL_MAX]);

/* Whether a model file could be written at this path, found out by trying. */
TIDE_API int tide_path_writable(const char *path, tide_error *err);

/* TIDE_ERROR_PARAMETER if there is a model file at this path, which nothing but a model may replace. */
TIDE_API int tide_path_not_model(const char *path, tide_error *err);

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

/* A part of saving, or a way to do it; seconds are for a GiB of the file. */
#define TIDE_CHECKPOINT_PARTS 6
#define TIDE_CHECKPOINT_ROUNDS 1000 /* at most */

typedef struct tide_checkpoint_timing {
    const char *name;           /* look, plain, roomy, room, pause or safe */
    bool paused;                /* training stands still meanwhile */
    double least, median, most; /* of all rounds, by the clock */
    double processor;           /* median, of the thread that has the model */
} tide_checkpoint_timing;

/* Saves a model with a word in every slot to `path`, where no file may be, and removes it: how long it takes to
 * look at all vectors, to fill a new file with one thread, and one that has room; and as a run does it, to make room,
 * to fill the file, for which training has to stand still, and to make it safe. Looking is part of all filling. */
TIDE_API int tide_bench_checkpoint(const tide_params *params, const char *path,
                                   uint32_t rounds,
                                   tide_checkpoint_timing parts[TIDE_CHECKPOINT_PARTS],
                                   uint64_t *bytes, tide_error *err);

#ifdef __cplusplus
}
#endif
#endif
