/* wordtide/eval.h - evaluation: exact counts, word similarity, analogies, agreement and
 * differences between models, and how models follow changes of meaning. The conventions
 * are those of wordtide.h. */
#ifndef WORDTIDE_EVAL_H
#define WORDTIDE_EVAL_H

#include <wordtide.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- counting ---------------------------------------------------------------------- */

/* The exact counts of all words of a text; memory grows with their number. */
typedef struct tide_counts tide_counts;

/* Reads the sources of the run to their ends, tokenized as in training. Of the rest of
 * the run only stop, progress, note and properties are used. Returns 1, without counts,
 * if stopped. */
TIDE_API int tide_counts_new(const tide_params *params, const tide_run *run,
                             tide_counts **counts, tide_error *err);
TIDE_API void tide_counts_free(tide_counts *counts);
TIDE_API uint64_t tide_counts_tokens(const tide_counts *counts);
TIDE_API size_t tide_counts_size(const tide_counts *counts); /* distinct words */

/* By descending count, then in order of first occurrence; `error` is 0 and `slot` the
 * rank, from 0. */
TIDE_API tide_entry tide_counts_at(const tide_counts *counts, size_t rank);

/* -- evaluation -------------------------------------------------------------------- */

typedef struct tide_eval_options {
    uint32_t top; /* treat only the most frequent words as known; 0 for all */
    /* a pair with an unknown word counts with cosine 0, and a question with one as
     * wrong, instead of being left out */
    bool keep_unknown;
} tide_eval_options;

typedef struct tide_similarity_result {
    uint64_t pairs;     /* in the file */
    uint64_t known;     /* of these, both words have a vector */
    uint64_t bad_lines; /* not a pair with a score, empty, or a comment */
    double spearman;    /* of cosines and scores; NaN if undefined */
    double pearson;
} tide_similarity_result;

/* Compares cosines with human scores: lines of two words and a number. */
TIDE_API int tide_eval_similarity(const tide_view *view, const char *path,
                                  const tide_eval_options *options,
                                  tide_similarity_result *result, tide_error *err);

typedef struct tide_analogy_result {
    char name[TIDE_WORD_MAX + 1]; /* of the section */
    uint64_t questions;           /* in the file */
    uint64_t known;               /* of these, all words are known */
    uint64_t scored;              /* these, or all with keep_unknown */
    uint64_t correct;
} tide_analogy_result;

/* Analogy questions in sections (": name", then lines "A B C D"), answered by 3CosAdd.
 * Returns the number of sections, of which at most `capacity` are written; lines before
 * the first section form one without a name. `bad_lines` may be NULL. */
TIDE_API int tide_eval_analogy(const tide_view *view, const char *path,
                               const tide_eval_options *options,
                               tide_analogy_result *sections, size_t capacity,
                               uint64_t *bad_lines, tide_error *err);

/* A word with its true count and the count in the model. */
typedef struct tide_count_point {
    uint64_t rank; /* from 1, in the order of the true counts */
    const char *word;
    uint64_t truth;
    uint64_t count; /* in the model; its `minimum` if the word is not held */
    bool held;
    double error; /* |count - truth| / truth */
} tide_count_point;

/* The words around one rank, at most 5 % of it away. */
typedef struct tide_count_band {
    uint64_t rank;
    uint64_t from, to; /* ranks, inclusive */
    uint64_t words;
    double dropped; /* fraction that the model does not hold */
    double median_error;
    double median_error_held; /* without the dropped words; NaN if all are */
} tide_count_band;

#define TIDE_COUNT_BANDS_MAX 64

/* Fractions and means over nothing are NaN. */
typedef struct tide_counts_result {
    uint64_t tokens, types;  /* of the text */
    uint64_t held, capacity; /* words of the model */
    uint64_t minimum;        /* its smallest count; 0 if it never rejected a word */
    uint64_t top;       /* the number of words it can hold, or all types if fewer */
    double dropped_top; /* fraction of the true top words that it does not hold */
    double dropped_types;
    double dropped_tokens;
    double mean_error; /* over the true top words */
    double mean_error_held;
    size_t band_count;
    tide_count_band bands[TIDE_COUNT_BANDS_MAX]; /* around the ranks 1, 10, 100, 1000,
                                                    2000, 5000, 7000, 10000, ... */
} tide_counts_result;

/* Compares the counts of a model with the true ones. A dropped word is given the
 * smallest count of the model, as in the paper. `point`, which may be NULL, is called
 * for every type by ascending rank. Errors are NaN for a file of vectors without
 * counts. */
TIDE_API int tide_eval_counts(const tide_model *model, const tide_counts *truth,
                              tide_counts_result *result,
                              void (*point)(void *data, const tide_count_point *point),
                              void *data, tide_error *err);

/* Ranks by descending count, from 1, inclusive. */
typedef struct tide_band {
    uint32_t first, last;
} tide_band;

/* Two words of a cell and their cosine in either model. */
typedef struct tide_agreement_pair {
    tide_band first, second;
    const char *words[2];
    float cosine_a, cosine_b;
} tide_agreement_pair;

/* All pairs of a word of the first band and a different one of the second, each once.
 */
typedef struct tide_agreement_cell {
    tide_band first, second;
    uint64_t pairs;
    uint64_t defined; /* of these, A holds both words; the rest is about these */
    double pearson;   /* NaN for fewer than 3 pairs or constant cosines */
    double bias;      /* mean of cosine A - cosine B */
    double mean_a, mean_b;
} tide_agreement_cell;

typedef struct tide_agreement_near {
    tide_band band;
    uint64_t words;   /* compared: held by both models */
    uint64_t missing; /* not held by A */
    double overlap;   /* mean fraction of the nearest words that agree; or NaN */
} tide_agreement_near;

#define TIDE_AGREEMENT_BANDS_MAX 16
#define TIDE_AGREEMENT_CELLS_MAX                                                       \
    (TIDE_AGREEMENT_BANDS_MAX * (TIDE_AGREEMENT_BANDS_MAX + 1) / 2)

typedef struct tide_agreement_options {
    const tide_band *bands; /* required: ranks in B */
    size_t band_count;
    uint32_t neighbors; /* number of nearest words compared; 0 for none */
    uint32_t sample;    /* number of random pairs per cell that `pair` is called for */
    uint64_t seed;
    void (*pair)(void *data, const tide_agreement_pair *pair); /* may be NULL */
    void *data;
} tide_agreement_options;

typedef struct tide_agreement_result {
    uint64_t common; /* words held by both, among which neighbors are searched */
    size_t band_count, cell_count;
    tide_agreement_cell all; /* all cells together; its bands are 0 */
    tide_agreement_cell cells[TIDE_AGREEMENT_CELLS_MAX];
    tide_agreement_near near[TIDE_AGREEMENT_BANDS_MAX];
} tide_agreement_result;

/* How far A agrees with the reference B. Only words in the vocabularies have vectors
 * here. A band is cut at the last word of B; one that starts beyond it is
 * TIDE_ERROR_PARAMETER. */
TIDE_API int tide_eval_agreement(const tide_view *a, const tide_view *b,
                                 const tide_agreement_options *options,
                                 tide_agreement_result *result, tide_error *err);

/* The differences between two models, or files of vectors, of similar text. */
typedef struct tide_diff tide_diff;

typedef enum tide_diff_sort {
    TIDE_DIFF_DRIFT,   /* shared words, the largest drift first */
    TIDE_DIFF_OVERLAP, /* shared words, the fewest common neighbors first */
    TIDE_DIFF_NEW,     /* words only in B, the most frequent first */
    TIDE_DIFF_GONE,    /* words only in A, likewise */
    TIDE_DIFF_COUNT,   /* shared words, the largest change of frequency first */
} tide_diff_sort;

typedef struct tide_diff_options {
    tide_diff_sort sort;
    uint64_t min_count; /* ignore words with a lower count */
    /* compare this many shared words, the most frequent in B; 0: 10,000 */
    uint32_t top;
    uint32_t neighbors; /* number of nearest words compared; 0: 10 */
} tide_diff_options;

/* Values that do not exist are NaN. */
typedef struct tide_difference {
    const char *word; /* borrowed from a model */
    bool in_a, in_b;
    uint64_t count_a, count_b; /* 0 if not held or unknown */
    double change; /* log2 of its share of all words in B over that in A, with 8
                      occurrences added to both */
    double drift;  /* degrees between its vectors, after removing the rotation common to
                      most shared words */
    double overlap; /* of its nearest words in A and in B, among the words compared:
                       the common ones as a fraction of all of them */
} tide_difference;

typedef struct tide_diff_summary {
    uint64_t words_a, words_b, shared; /* with at least min_count */
    uint64_t compared;
    /* median of the words compared; NaN for models of different dimensions and for
     * fewer words than dimensions, which a rotation could map exactly */
    double drift;
    double overlap; /* mean */
} tide_diff_summary;

/* Words without a difference are left out: comparing a model with itself, or with a
 * rotated copy, gives none. */
TIDE_API tide_diff *tide_diff_new(const tide_view *a, const tide_view *b,
                                  const tide_diff_options *options, tide_error *err);
TIDE_API void tide_diff_free(tide_diff *diff);
TIDE_API size_t tide_diff_size(const tide_diff *diff);
TIDE_API tide_difference tide_diff_at(const tide_diff *diff, size_t number);
TIDE_API tide_diff_summary tide_diff_summary_of(const tide_diff *diff);

/* -- change over time -------------------------------------------------------------- */

/* How far words have moved. Training may rotate all vectors together, which says
 * nothing about any single word, so words are compared with themselves before and after
 * the rotation that best maps the 10,000 most frequent ones onto their earlier vectors.
 * Means over nothing are NaN. */
typedef struct tide_stability {
    uint64_t words; /* frequent ones held at both times */
    double cosine;  /* mean, of a word with itself */
    double aligned; /* the same after the rotation */
    double overlap; /* mean fraction of the 10 nearest words that are the same */
} tide_stability;

/* What happens to words at a known time. Their counts before it do not reveal it. */
typedef enum tide_drift_event {
    TIDE_DRIFT_SWAP,    /* two words are exchanged */
    TIDE_DRIFT_GRADUAL, /* likewise, with a probability that rises from 0 to 1 */
    TIDE_DRIFT_BORN,    /* a new word takes over half of the occurrences of another */
    TIDE_DRIFT_DEAD,    /* a word no longer occurs */
} tide_drift_event;

#define TIDE_DRIFT_EVENTS 4

TIDE_API const char *tide_drift_event_name(tide_drift_event event);

/* How many words have followed their event. A swapped word has once it is nearer to the
 * other word's former neighbors than to its own; a new word once the word it replaces
 * is among its 10 nearest; a dead word once it has been evicted. */
typedef struct tide_drift_evaluation {
    uint64_t tokens;                    /* read since the event */
    uint64_t words[TIDE_DRIFT_EVENTS];  /* evaluated: held at the time of the event */
    double followed[TIDE_DRIFT_EVENTS]; /* fraction of them; NaN without any */
    double score[TIDE_DRIFT_EVENTS];    /* swapped: from 0 (as before) to 1 (neighbors
                                        exchanged too); new: mean cosine with the other
                                        word; dead: NaN */
} tide_drift_evaluation;

typedef struct tide_drift_options {
    const char *const *sources; /* they are read twice */
    size_t source_count;
    uint64_t at;    /* tokens before the event; 0: half of the text */
    uint64_t over;  /* duration of a gradual change in tokens; 0: half of the rest */
    uint64_t every; /* tokens between two evaluations; 0: a fortieth of the rest */
    uint32_t words; /* at most this many per event, rounded to even; 0: 200 */
    bool control;   /* control run: measure the same without any event */
    tide_vectors vectors;
    bool centered;
    /* may be NULL, as progress */
    void (*evaluation)(void *data, const tide_drift_evaluation *evaluation);
    void *evaluation_data;
    void (*progress)(void *data, const tide_stats *stats); /* called regularly */
    void *progress_data;
} tide_drift_options;

#define TIDE_DRIFT_NEVER UINT64_MAX

typedef struct tide_drift_result {
    uint64_t tokens; /* of the text */
    uint64_t at, over, every;
    tide_drift_evaluation last;              /* at the end of the text */
    uint64_t half[TIDE_DRIFT_EVENTS];        /* tokens from the event until half of */
    uint64_t nine_tenths[TIDE_DRIFT_EVENTS]; /* and 90 % of the words had followed */
    tide_stability unchanged; /* of the 1,000 most frequent words without an event, from
                                 the event to the end */
} tide_drift_result;

/* Trains on a text in which words of medium frequency, chosen by the seed of the
 * parameters, change at a known time, and measures how soon the vectors follow. */
TIDE_API int tide_eval_drift(const tide_params *params,
                             const tide_drift_options *options,
                             tide_drift_result *result, tide_error *err);

typedef enum tide_period_unit {
    TIDE_PERIOD_DAY,
    TIDE_PERIOD_WEEK,
    TIDE_PERIOD_MONTH,
    TIDE_PERIOD_YEAR,
    TIDE_PERIOD_TOKENS, /* a number of tokens, regardless of time */
} tide_period_unit;

#define TIDE_PERIOD_WORDS 5

/* A word that has moved, apart from the common rotation. */
typedef struct tide_moved_word {
    const char *word;
    uint64_t count;
    double aligned;                      /* cosine with itself */
    const char *then[TIDE_PERIOD_WORDS]; /* nearest at the end of the period before, */
    const char *now[TIDE_PERIOD_WORDS];  /* and of this one; NULL if fewer */
} tide_moved_word;

/* A period compared with the end of the one before. */
typedef struct tide_period {
    /* 2020-03-31, 2020-W14, 2020-03, 2020; or the token at which it ends */
    const char *name;
    uint64_t tokens; /* of this period */
    uint64_t vocabulary;
    uint64_t admitted, evicted;
    tide_stability frequent; /* of the 1,000 most frequent words at the previous end */
    size_t mover_count;
    tide_moved_word movers[TIDE_PERIOD_WORDS]; /* that moved most */
    size_t newcomer_count;
    tide_entry newcomers[TIDE_PERIOD_WORDS]; /* the most frequent words not held at the
                                                previous end */
} tide_period;

typedef struct tide_periods_options {
    const char *const *sources; /* in chronological order; records need a time */
    size_t source_count;
    tide_period_unit unit;
    uint64_t tokens; /* per period, with TIDE_PERIOD_TOKENS */
    tide_vectors vectors;
    bool centered;
    void (*period)(void *data,
                   const tide_period *period); /* its strings are borrowed */
    void *period_data;
    void (*progress)(void *data, const tide_stats *stats); /* may be NULL */
    void *progress_data;
} tide_periods_options;

/* Trains on a stream and compares the end of every period with that of the previous
 * one. A record without a time, or from before the current period, belongs to the
 * current one. */
TIDE_API int tide_eval_periods(const tide_params *params,
                               const tide_periods_options *options, tide_error *err);

#ifdef __cplusplus
}
#endif

#endif
