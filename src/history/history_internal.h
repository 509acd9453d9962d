/* history_internal.h - what the files of a history share. Private. */
#ifndef TIDE_HISTORY_HISTORY_INTERNAL_H
#define TIDE_HISTORY_HISTORY_INTERNAL_H

#include "history/ema.h"
#include "history/projection.h"
#include "history/snapshots.h"
#include "history/tracked_words.h"
#include "history/word_stats.h"
#include "model/model.h"
#include "query/query.h"
#include "vector/vector.h"

#include <pthread.h>
#include <stdatomic.h>

struct tide_history {
    tide_history_options options; /* none of the sizes and spans is 0 */
    tide_live *live;
    _Atomic bool stopped;
    pthread_mutex_t
        lock; /* of all that follows up to the next rule; others than the thread that looks change but
                             `places`, `free` and `watched` */
    bool looked;  /* since it was made or loaded */
    double now;   /* of the caller, at the last look; NAN before the first */
    double clock; /* seconds since the first look, which never goes back */
    tide_ema fast, slow;
    double arrived; /* clock of the last look that found new text */
    double pause;   /* seconds between such looks, averaged; 0: not known yet */
    uint64_t tokens;
    tide_model model;         /* the words of the last look: a copy of the vocabulary */
    tide_word_stats *tenants; /* [capacity] */
    uint32_t *order;          /* [capacity] slots by falling count */
    uint32_t words;
    tide_tracked_word *places; /* [ladder.places] */
    uint32_t *free; /* [ladder.places] places that are free; the last is taken first */
    uint32_t free_count;
    uint32_t watched;
    tide_snapshots ladder;
    tide_evicted_word
        *departed; /* [TIDE_EVICTED_WORDS_MAX] a heap, the least worth at its top */
    uint32_t departed_count;
    tide_alarm *alarms; /* [TIDE_ALARMS_KEPT] by number, in turn */
    uint64_t alarm_count;
    float (*spots)[2]; /* [places] of the map; NAN without */
    uint64_t frame;
    /* ---- of the thread that looks alone; others may not touch it ---- */
    uint64_t alarms_told;
    double turned_at;         /* clock: when a rotation was last found; NAN before */
    tide_tracked_word *saved; /* [places] as they were when saving began */
    uint32_t *reading;        /* [places] slots whose vectors are read */
    tide_matrix latest;       /* [places] units */
    bool *usable;             /* [places] the row is the word's */
    tide_matrix fit_from; /* [TIDE_FIT_MOST or places] what the rotation is found by */
    tide_matrix fit_to;
    bool *compared; /* [places] both rows are there */
    float *turned;  /* [places] degrees */
    tide_aligner *aligner;
    tide_projection plane;
};

/* The most frequent words, whose common rotation is taken out. */
enum { TIDE_FIT_MOST = 2500 };

/* Vectors as they are in the space, whose places were listed in `reading`; false when all are as they were. And
 * what comes of them (drift.c). */
bool tide_drift_read(tide_history *h, const tide_view *space);
void tide_drift_take_snapshot(tide_history *h);
void tide_drift_compare(tide_history *h);
void tide_drift_project(tide_history *h);

/* What the caller would have called a moment of the clock. */
double tide_history_time(const tide_history *h, double clock);

/* The vector of a word that is seen seldom wanders with each occurrence: of its drift so much counts as 64 occurrences
 * more would have left. Lists are sorted by this, and alarms ring by it. */
static inline double tide_drift_worth(double drift, uint64_t count)
{
    return drift * (double)count / ((double)count + 64);
}

/* Whether enough has been seen to compare with. */
static inline bool tide_history_has_baseline(const tide_history *h)
{
    return h->clock >= h->options.baseline;
}

/* The rung that drift is measured from, taken when there was a baseline; TIDE_NO_SNAPSHOT when there is none. */
uint32_t tide_history_drift_snapshot(const tide_history *h);

/* As new, with the words that are held now. */
void tide_history_reset(tide_history *h);

#endif
