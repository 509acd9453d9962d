/* snapshots.h - vectors of the past, at ages that double. Private. */
#ifndef TIDE_HISTORY_SNAPSHOTS_H
#define TIDE_HISTORY_SNAPSHOTS_H

#include "base/base.h"

/* A step of the ladder, in seconds. */
#define TIDE_HISTORY_STEP_LEAST 1e-3
#define TIDE_HISTORY_STEP_MOST 1e9

#define TIDE_NO_SNAPSHOT UINT32_MAX
#define TIDE_NOT_TRACKED UINT32_MAX
#define TIDE_TIME_MOST 1e15 /* seconds, on either side of 0 */

typedef struct tide_snapshots {
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
} tide_snapshots;

/* `shape` has rungs, places, dim and step. */
int tide_snapshots_init(tide_snapshots *l, const tide_snapshots *shape,
                        tide_error *err);
void tide_snapshots_release(tide_snapshots *l);
void tide_snapshots_clear(tide_snapshots *l);
uint64_t tide_snapshots_bytes(const tide_snapshots *shape);

/* The rung for a snapshot that is to be taken now, emptied; TIDE_NO_SNAPSHOT when it is not yet time. */
uint32_t tide_snapshots_due(tide_snapshots *l, double clock);

/* A vector of length 1, or NULL. */
void tide_snapshots_put(tide_snapshots *l, uint32_t rung, uint32_t place,
                        const float *unit, uint64_t count, float rate);

/* False when there is none. */
bool tide_snapshots_row(const tide_snapshots *l, uint32_t rung, uint32_t place,
                        float *unit);
int16_t *tide_snapshots_vector(const tide_snapshots *l, uint32_t rung, uint32_t place);
float *tide_snapshots_angle(const tide_snapshots *l, uint32_t rung, uint32_t place);
uint64_t tide_snapshots_count(const tide_snapshots *l, uint32_t rung, uint32_t place);
float tide_snapshots_rate(const tide_snapshots *l, uint32_t rung, uint32_t place);

/* Of the snapshots taken at `from` or later; TIDE_NO_SNAPSHOT when there is none. */
uint32_t tide_snapshots_nearest(const tide_snapshots *l, double clock, double age,
                                double from);
uint32_t tide_snapshots_oldest(const tide_snapshots *l, double from);

/* The rung that has waited longest to be compared with now; TIDE_NO_SNAPSHOT when none has for long. */
uint32_t tide_snapshots_stale(const tide_snapshots *l, double clock);

#endif
