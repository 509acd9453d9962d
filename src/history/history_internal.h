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
    tide_history_options options; /* with defaults filled in */
    tide_live *live;
    _Atomic bool stopped;

    /* Protects everything down to the next rule. The updating thread alone changes it,
     * except `tracked`, `free_rows` and `watched_count`, which others change as
     * well. */
    pthread_mutex_t lock;
    bool updated; /* since it was made or loaded */
    double now;   /* the caller's time at the last update; NAN before the first */
    double clock; /* seconds since the first update; never goes back */
    tide_ema fast, slow;
    double last_text; /* clock of the last update that found new text */
    double mean_gap;  /* mean seconds between such updates; 0 if not known yet */
    uint64_t tokens;
    tide_model model;       /* the words of the last update: a copied vocabulary */
    tide_word_stats *stats; /* [capacity] by slot */
    uint32_t *order;        /* [capacity] slots by descending count */
    uint32_t word_count;
    tide_tracked_word *tracked; /* [snapshots.rows] */
    uint32_t *free_rows;        /* [snapshots.rows] a stack */
    uint32_t free_row_count;
    uint32_t watched_count;
    tide_snapshots snapshots;
    tide_evicted_word *evicted; /* [TIDE_EVICTED_WORDS_MAX] a min-heap by score */
    uint32_t evicted_count;
    tide_alarm *alarms; /* [TIDE_ALARMS_MAX] a ring buffer by number */
    uint64_t alarm_count;
    float (*map)[2]; /* [rows] points of the map; NAN if a row has none */
    uint64_t frame;

    /* ---- only for the updating thread, without the lock ---- */
    uint64_t alarms_reported;
    double last_fit;                 /* clock of the last fitted rotation; NAN before */
    tide_tracked_word *tracked_copy; /* [rows] as of when saving started */
    uint32_t *row_slots;             /* [rows] slots of the vectors to read */
    tide_matrix latest;              /* [rows] unit vectors */
    bool *has_vector;                /* [rows] whether `latest` has a vector */
    tide_matrix fit_from; /* [TIDE_FIT_MAX or rows] what the rotation is fitted to */
    tide_matrix fit_to;
    bool *compared; /* [rows] both vectors exist */
    float *angles;  /* [rows] degrees */
    tide_aligner *aligner;
    tide_projection projection;
};

/* At most this many of the most frequent words determine the common rotation. */
enum { TIDE_FIT_MAX = 2500 };

/* Reads the vectors of the slots in `row_slots`. Returns false if none has changed. The
 * others process them: take a snapshot if one is due, compare with one, and update the
 * map (drift.c). */
bool tide_drift_read_vectors(tide_history *h, const tide_view *view);
void tide_drift_take_snapshot(tide_history *h);
void tide_drift_compare(tide_history *h);
void tide_drift_project(tide_history *h);

/* The caller's time for a time of the clock. */
double tide_history_time(const tide_history *h, double clock);

/* Drift discounted for rare words, whose vectors move with every occurrence: the share
 * of the count in the count plus 64. Lists are sorted and alarms raised by this. */
static inline double tide_drift_score(double drift, uint64_t count)
{
    return drift * (double)count / ((double)count + 64);
}

/* Whether there is enough text to compare with. */
static inline bool tide_history_has_baseline(const tide_history *h)
{
    return h->clock >= h->options.baseline;
}

/* The snapshot that drift is measured from, taken when there was a baseline;
 * TIDE_NO_SNAPSHOT if there is none. */
uint32_t tide_history_drift_snapshot(const tide_history *h);

/* Resets everything except the words of the live model. */
void tide_history_reset(tide_history *h);

#endif
