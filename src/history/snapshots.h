/* snapshots.h - vectors of the past, at ages that double. Private. */
#ifndef TIDE_HISTORY_SNAPSHOTS_H
#define TIDE_HISTORY_SNAPSHOTS_H

#include "base/base.h"

/* A step of the ladder, in seconds. */
#define TIDE_HISTORY_STEP_LEAST 1e-3
#define TIDE_HISTORY_STEP_MOST 1e9

#define TIDE_NO_RUNG UINT32_MAX
#define TIDE_NO_PLACE UINT32_MAX
#define TIDE_TIME_MOST 1e15 /* seconds, on either side of 0 */

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

#endif
