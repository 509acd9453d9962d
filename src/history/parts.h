/* parts.h - what the files of a history share. Private. */
#ifndef TIDE_HISTORY_PARTS_H
#define TIDE_HISTORY_PARTS_H

#include "history/history.h"

#include <pthread.h>
#include <stdatomic.h>

/* A step of the ladder, in seconds. */
#define TIDE_HISTORY_STEP_LEAST 1e-3
#define TIDE_HISTORY_STEP_MOST 1e9

#define TIDE_NO_RUNG UINT32_MAX
#define TIDE_NO_PLACE UINT32_MAX
#define TIDE_TIME_MOST 1e15 /* seconds, on either side of 0 */

/* -- rates (rates.c) ------------------------------------------------------------------------------- */

/* What fades alike for all words. */
typedef struct tide_tempo {
    double span;    /* seconds */
    double seconds; /* faded sums */
    double tokens;
    double keep, fresh; /* what a sum keeps in this look, and an occurrence adds */
} tide_tempo;

void tide_tempo_advance(tide_tempo *tempo, double seconds, double tokens);
float tide_tempo_add(const tide_tempo *tempo, float sum, double occurrences);
double tide_tempo_rate(const tide_tempo *tempo, float sum);

/* -- ladder (ladder.c) ----------------------------------------------------------------------------- */

typedef struct tide_ladder {
    uint32_t rungs, places, dim;
    double step;
    bool begun;
    uint64_t tick;    /* the last step */
    double *times;    /* [rungs] NAN for an empty one */
    double *compared; /* [rungs] when with the vectors of now; NAN: not yet */
    uint64_t *counts; /* [rungs][places] */
    float *rates;
    float *angles;    /* degrees when compared; NAN without */
    int16_t *vectors; /* [rungs][places][dim] */
} tide_ladder;

/* `shape` has rungs, places, dim and step. */
int tide_ladder_init(tide_ladder *l, const tide_ladder *shape, tide_error *err);
void tide_ladder_release(tide_ladder *l);
void tide_ladder_clear(tide_ladder *l);
uint64_t tide_ladder_bytes(const tide_ladder *shape);

/* The rung for a snapshot that is to be taken now, emptied; TIDE_NO_RUNG when it is not yet time. */
uint32_t tide_ladder_due(tide_ladder *l, double clock);

/* A vector of length 1, or NULL. */
void tide_ladder_put(tide_ladder *l, uint32_t rung, uint32_t place, const float *unit,
                     uint64_t count, float rate);

/* False when there is none. */
bool tide_ladder_row(const tide_ladder *l, uint32_t rung, uint32_t place, float *unit);
int16_t *tide_ladder_vector(const tide_ladder *l, uint32_t rung, uint32_t place);
float *tide_ladder_angle(const tide_ladder *l, uint32_t rung, uint32_t place);
uint64_t tide_ladder_count(const tide_ladder *l, uint32_t rung, uint32_t place);
float tide_ladder_rate(const tide_ladder *l, uint32_t rung, uint32_t place);

/* Of the snapshots taken at `from` or later; TIDE_NO_RUNG when there is none. */
uint32_t tide_ladder_nearest(const tide_ladder *l, double clock, double age,
                             double from);
uint32_t tide_ladder_oldest(const tide_ladder *l, double from);

/* The rung that has waited longest to be compared with now; TIDE_NO_RUNG when none has for long. */
uint32_t tide_ladder_stale(const tide_ladder *l, double clock);

/* -- plane (plane.c) ------------------------------------------------------------------------------- */

typedef struct tide_plane {
    uint32_t places, dim;
    double *basis;      /* [2][dim] */
    double *next;       /* [2][dim] */
    double *mean;       /* [dim] */
    double (*spots)[2]; /* [places] about -1 to 1 */
    double (*drawn)[2]; /* [places] the next ones */
    double *radii;      /* [places] to be sorted */
    bool *placed;       /* [places] has a spot */
    bool begun;
} tide_plane;

int tide_plane_init(tide_plane *p, uint32_t places, uint32_t dim, tide_error *err);
void tide_plane_release(tide_plane *p);
uint64_t tide_plane_bytes(uint32_t places, uint32_t dim);

/* Gives every usable row a spot. A place whose word is another than before must have been taken from `placed`. */
void tide_plane_draw(tide_plane *p, const tide_matrix *rows, const bool *usable);

/* -- words (tenants.c) ----------------------------------------------------------------------------- */

/* The word in a slot. */
typedef struct tide_tenant {
    uint64_t count;
    double seen;      /* occurrences since it came, which halving leaves alone */
    double since;     /* it came; NAN before the end of the warm-up */
    float fast, slow; /* faded occurrences */
    uint32_t hands;
    uint32_t rank;  /* from 0 */
    uint32_t place; /* TIDE_NO_PLACE when it is not followed */
    bool held;
    bool new_told, trend_told; /* there was an alarm */
} tide_tenant;

typedef struct tide_departed {
    char word[TIDE_WORD_MAX + 1];
    uint64_t count;
    double left;
    double worth; /* of being remembered */
} tide_departed;

enum { TIDE_DEPARTED_MOST = 1024 };

/* Counts what has been seen since the last look, and who came and left. */
void tide_tenants_look(tide_history *h, const tide_space *space, double seconds);

/* Begins with the words as they are. */
void tide_tenants_begin(tide_history *h, const tide_space *space);

/* How much a word is worth being told that came or left at a time and was seen so often: as much as one that was seen
 * half as often and came 60 steps later. */
double tide_tenant_worth(const tide_history *h, double seen, double time);
double tide_tenant_trend(const tide_history *h, const tide_tenant *t);

/* Occurrences per second, short-term and long-term. */
double tide_tenant_rate(const tide_history *h, const tide_tenant *t);
double tide_tenant_baseline(const tide_history *h, const tide_tenant *t);
double tide_tenant_ratio(const tide_history *h, const tide_tenant *t);

/* Remembers it, if it is worth it. */
void tide_departed_keep(tide_history *h, const tide_departed *departed);

/* -- followed words (places.c) --------------------------------------------------------------------- */

typedef struct tide_place {
    char word[TIDE_WORD_MAX + 1]; /* "" for a free one */
    bool watched;
    bool drift_told;
    uint32_t slot; /* TIDE_NO_SLOT when it is not held */
    double since;  /* it is followed; snapshots before are another word's */
} tide_place;

/* Chooses the words to be followed, by the order of the last look. */
void tide_places_look(tide_history *h);

/* The word of a place is not held any more. */
void tide_place_left(tide_history *h, uint32_t place);

/* TIDE_NO_PLACE when it is not followed. */
uint32_t tide_place_find(const tide_history *h, const char *word);

/* A place for the word; TIDE_NO_PLACE when all are taken. */
uint32_t tide_place_take(tide_history *h, const char *word, bool watched);
void tide_place_seat(tide_history *h, uint32_t place, uint32_t slot);

/* Whether the rung has a snapshot of the word that is in the place now. */
bool tide_place_known(const tide_history *h, uint32_t place, uint32_t rung);

/* -- alarms (alarms.c) ------------------------------------------------------------------------------ */

enum { TIDE_ALARMS_KEPT = 256 };

/* Rings once, when the score reaches the threshold; *told becomes false when it is below half of it. Until there is
 * a baseline nothing rings, and what is above its threshold by then does not ring later either. */
void tide_alarm_check(tide_history *h, tide_alarm_kind kind, const char *word,
                      double score, double threshold, bool *told);
void tide_alarm_ring(tide_history *h, tide_alarm_kind kind, const char *word,
                     double score, double threshold);

/* Calls the user for those that have not been told; without the lock. */
void tide_alarms_tell(tide_history *h);

/* -- history (history.c) ---------------------------------------------------------------------------- */

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
    tide_tempo fast, slow;
    double arrived; /* clock of the last look that found new text */
    double pause;   /* seconds between such looks, averaged; 0: not known yet */
    uint64_t tokens;
    tide_model model;     /* the words of the last look: a copy of the vocabulary */
    tide_tenant *tenants; /* [capacity] */
    uint32_t *order;      /* [capacity] slots by falling count */
    uint32_t words;
    tide_place *places; /* [ladder.places] */
    uint32_t *free; /* [ladder.places] places that are free; the last is taken first */
    uint32_t free_count;
    uint32_t watched;
    tide_ladder ladder;
    tide_departed
        *departed; /* [TIDE_DEPARTED_MOST] a heap, the least worth at its top */
    uint32_t departed_count;
    tide_alarm *alarms; /* [TIDE_ALARMS_KEPT] by number, in turn */
    uint64_t alarm_count;
    float (*spots)[2]; /* [places] of the map; NAN without */
    uint64_t frame;
    /* ---- of the thread that looks alone; others may not touch it ---- */
    uint64_t alarms_told;
    double turned_at;     /* clock: when a rotation was last found; NAN before */
    tide_place *saved;    /* [places] as they were when saving began */
    uint32_t *reading;    /* [places] slots whose vectors are read */
    tide_matrix latest;   /* [places] units */
    bool *usable;         /* [places] the row is the word's */
    tide_matrix fit_from; /* [TIDE_FIT_MOST or places] what the rotation is found by */
    tide_matrix fit_to;
    bool *compared; /* [places] both rows are there */
    float *turned;  /* [places] degrees */
    tide_aligner *aligner;
    tide_plane plane;
};

/* The most frequent words, whose common rotation is taken out. */
enum { TIDE_FIT_MOST = 2500 };

/* Vectors as they are in the space, whose places were listed in `reading`; false when all are as they were. And
 * what comes of them (turning.c). */
bool tide_turning_read(tide_history *h, const tide_space *space);
void tide_turning_snapshot(tide_history *h);
void tide_turning_compare(tide_history *h);
void tide_turning_draw(tide_history *h);

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

/* The rung that drift is measured from, taken when there was a baseline; TIDE_NO_RUNG when there is none. */
uint32_t tide_history_drift_rung(const tide_history *h);

/* As new, with the words that are held now. */
void tide_history_restart(tide_history *h);

#endif
