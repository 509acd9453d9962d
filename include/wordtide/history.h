/* wordtide/history.h - what words were, and what became of them: arrivals and
 * evictions, rates, trends and drift of the words of a live model. The conventions are
 * those of wordtide.h. */
#ifndef WORDTIDE_HISTORY_H
#define WORDTIDE_HISTORY_H

#include <wordtide.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Observes a model during training: which words enter and leave, which become more
 * frequent, and how far the most frequent words, and those being watched, have moved
 * since minutes, hours, days and months ago. All memory is allocated at the start. One
 * thread updates it, which is not the training thread; any thread queries it.
 *
 * Times are the caller's, in seconds since any fixed moment; ages are seconds. If the
 * clock is set back, time stands still until the next update, so ages stay correct.
 * Values that do not exist are NaN. */
typedef struct tide_history tide_history;

typedef enum tide_alarm_kind {
    TIDE_ALARM_NEW,   /* a word that entered after the warm-up reached `count_alarm` */
    TIDE_ALARM_GONE,  /* a word that frequent was evicted */
    TIDE_ALARM_TREND, /* a word became more frequent than usual */
    TIDE_ALARM_DRIFT, /* a word moved */
} tide_alarm_kind;

#define TIDE_ALARM_KINDS 4

TIDE_API const char *tide_alarm_name(tide_alarm_kind kind);

typedef struct tide_alarm {
    uint64_t number; /* from 1 */
    double time;
    tide_alarm_kind kind;
    char word[TIDE_WORD_MAX + 1];
    double score;     /* what reached the threshold: occurrences, trend or degrees */
    double threshold; /* raised again only after the score fell below half of it */
} tide_alarm;

#define TIDE_HISTORY_SNAPSHOTS_MAX 32

/* 0 selects the default in parentheses, or no alarm. */
typedef struct tide_history_options {
    uint32_t tracked;   /* number of most frequent words tracked (5,000); up to a tenth
                           more stay tracked after falling out of them */
    uint32_t watched;   /* limit on watched words (100) */
    double step;        /* seconds: the youngest snapshot age (60) */
    uint32_t snapshots; /* number of snapshots, at least 2 (18); the oldest age is
                           step * 2^(snapshots - 2) */
    double warm_up; /* seconds at the start during which no word is new (10 steps) */
    /* seconds before there is anything to compare with: until then no alarms, and no
     * drift since an earlier time (60 steps; below 0: none) */
    double baseline;
    /* drift is measured since this age (0: since the oldest snapshot) */
    double drift_age;
    double trend_alarm, drift_alarm; /* log2; degrees */
    uint64_t count_alarm;            /* occurrences */
    void (*alarm)(void *data,
                  const tide_alarm *alarm); /* called by tide_history_update */
    void *alarm_data;
} tide_history_options;

/* The live model must outlive the history. `options` may be NULL. */
TIDE_API tide_history *
tide_history_new(tide_live *live, const tide_history_options *options, tide_error *err);
TIDE_API void tide_history_free(tide_history *history);

/* The memory that tide_history_new allocates, for a model with these parameters. */
TIDE_API uint64_t tide_history_bytes(const tide_params *params,
                                     const tide_history_options *options);

/* Looks at the model. To be called about once per second, by one thread at a time. */
TIDE_API int tide_history_update(tide_history *history, double now, tide_error *err);

/* Makes a running update, and all later ones, return soon, leaving out what it has not
 * computed yet; for use before the history is saved for the last time. Any thread. */
TIDE_API void tide_history_stop(tide_history *history);

/* The functions below may be called by any thread. */

/* Tracks a word whether or not it is in the vocabulary. Watching it twice changes
 * nothing. TIDE_ERROR_PARAMETER if `watched` words are watched, TIDE_ERROR_NOT_FOUND if
 * it was not watched. */
TIDE_API int tide_history_watch(tide_history *history, const char *word,
                                tide_error *err);
TIDE_API int tide_history_unwatch(tide_history *history, const char *word,
                                  tide_error *err);

/* Seconds until there is a baseline to compare with; before, nothing counts as an
 * event. 0 once there is. */
TIDE_API double tide_history_baseline(tide_history *history);

/* Number of words tracked now. */
TIDE_API uint32_t tide_history_tracked(tide_history *history);

/* The ages of the snapshots; returns how many. Once the history is old enough there is,
 * for each age, a snapshot between that age and twice as old, give or take the time
 * between two updates. */
TIDE_API uint32_t tide_history_ages(const tide_history *history,
                                    double ages[TIDE_HISTORY_SNAPSHOTS_MAX]);

/* -- words ------------------------------------------------------------------------- */

/* A word as of the latest update. */
typedef struct tide_history_word {
    char word[TIDE_WORD_MAX + 1];
    uint64_t count, error; /* halved with the half-life, if there is one */
    uint64_t seen; /* lower bound on its occurrences since it entered the vocabulary */
    double rate;   /* occurrences per second, mostly over the last 5 steps; 0 once the
                          stream has paused for ten times as long as it usually does */
    double baseline; /* likewise over a long time: 1,440 steps, a day of minutes */
    double ratio;    /* rate / baseline; NaN without a baseline */
    /* log2 of its recent share of all words over its long-term share, with 8
     * occurrences added to both, so that a few make no trend */
    double trend;
    double drift; /* degrees between its vector now and at `since`, after removing the
                          rotation common to all words */
    double since;
    double first_seen; /* NaN for a word that was there before the end of the warm-up */
    uint32_t rank;     /* by descending count, from 1 */
    bool tracked, watched;
} tide_history_word;

typedef enum tide_history_sort {
    TIDE_HISTORY_COUNT,
    /* recent and frequent arrivals: doubling the count is worth 60 steps */
    TIDE_HISTORY_NEW,
    TIDE_HISTORY_TREND, /* steepest rise first */
    /* largest first, discounted for rare words; words without a drift are left out */
    TIDE_HISTORY_DRIFT,
} tide_history_sort;

#define TIDE_HISTORY_LIST_MAX 2000

typedef struct tide_history_list {
    tide_history_sort sort;
    const char *prefix; /* only words starting with this; NULL for all */
    /* TIDE_HISTORY_NEW: only words first seen after this time, unless 0 */
    double after;
    /* skip this many; offset + capacity is at most TIDE_HISTORY_LIST_MAX, unlimited
     * when sorted by count */
    uint32_t offset;
} tide_history_list;

/* Returns the number of words written, or TIDE_ERROR_MEMORY. *total, which may be NULL,
 * becomes the number there are. */
TIDE_API int tide_history_words(tide_history *history, const tide_history_list *list,
                                tide_history_word *words, size_t capacity,
                                uint64_t *total, tide_error *err);

/* A single word; TIDE_ERROR_NOT_FOUND if it is not in the vocabulary. */
TIDE_API int tide_history_word_of(tide_history *history, const char *word,
                                  tide_history_word *found, tide_error *err);

typedef struct tide_evicted {
    char word[TIDE_WORD_MAX + 1];
    uint64_t count; /* lower bound on its occurrences while it was held */
    double left;
} tide_evicted;

/* Words that were evicted and have not returned, the latest first; returns how many.
 * About 1,000 are remembered, preferring recent and frequent ones: doubling the count
 * is worth 60 steps. Only those evicted after the time `after`, unless it is 0. */
TIDE_API size_t tide_history_evicted(tide_history *history, double after,
                                     tide_evicted *evicted, size_t capacity);

/* -- the past of a word ------------------------------------------------------------ */

typedef struct tide_history_point {
    double age, time;
    uint64_t count;
    double rate;
    double drift; /* degrees between then and now, without the common rotation */
} tide_history_point;

/* The snapshots of a tracked word, the oldest first; returns how many, or
 * TIDE_ERROR_NOT_FOUND if the word is not tracked. */
TIDE_API int tide_history_points(tide_history *history, const char *word,
                                 tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX],
                                 tide_error *err);

typedef struct tide_history_hit {
    char word[TIDE_WORD_MAX + 1];
    float score; /* cosine similarity */
} tide_history_hit;

/* The nearest tracked words in the snapshot whose age is closest to `age`; *taken
 * becomes its age. TIDE_ERROR_NOT_FOUND if the word was not tracked then, or no
 * snapshot is at least half as old. */
TIDE_API int tide_history_nearest(tide_history *history, const char *word, double age,
                                  tide_history_hit *hits, size_t capacity,
                                  double *taken, tide_error *err);

/* Alarms with a number above `after`, oldest first; returns how many. The last 256 are
 * kept. */
TIDE_API size_t tide_history_alarms(tide_history *history, uint64_t after,
                                    tide_alarm *alarms, size_t capacity);

/* -- map --------------------------------------------------------------------------- */

typedef struct tide_map_point {
    char word[TIDE_WORD_MAX + 1];
    float x, y; /* about -1 to 1 */
    uint64_t count, seen;
    double age; /* since it was first seen */
    double drift, trend, ratio;
} tide_map_point;

/* The most frequent tracked words, projected onto the plane in which they differ most.
 * The plane turns as little as possible between updates; *frame changes when it does.
 * Returns how many. */
TIDE_API size_t tide_history_map(tide_history *history, tide_map_point *points,
                                 size_t capacity, uint64_t *frame);

/* -- files ------------------------------------------------------------------------- */

/* A checksummed file, replaced atomically. It is loaded into a history that has not
 * been updated yet and has the same step, number of snapshots and dimension; if loading
 * fails, the history is as new. Words no longer in the vocabulary are left out. Saving
 * is done by the updating thread; queries do not wait for the disk. */
TIDE_API int tide_history_save(tide_history *history, const char *path,
                               tide_error *err);
TIDE_API int tide_history_load(tide_history *history, const char *path,
                               tide_error *err);

typedef struct tide_history_facts {
    bool is_history; /* and not another wordtide file */
    uint32_t dim, snapshots;
    double step;
    uint64_t tracked, words; /* tracked words, and words with rates */
    uint64_t alarms;         /* ever raised */
} tide_history_facts;

/* Whether a file can be loaded, without its model. `facts`, which may be NULL, is
 * filled as far as they are known, even if the file is damaged. */
TIDE_API int tide_history_check(const char *path, tide_history_facts *facts,
                                tide_error *err);

#ifdef __cplusplus
}
#endif

#endif
