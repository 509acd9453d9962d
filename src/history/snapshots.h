/* snapshots.h - vectors of the past at ages that double. Private. */
#ifndef TIDE_HISTORY_SNAPSHOTS_H
#define TIDE_HISTORY_SNAPSHOTS_H

#include "base/base.h"

/* Range of the step between snapshots, in seconds. */
#define TIDE_HISTORY_STEP_MIN 1e-3
#define TIDE_HISTORY_STEP_MAX 1e9

#define TIDE_NO_SNAPSHOT UINT32_MAX
#define TIDE_NOT_TRACKED UINT32_MAX
#define TIDE_TIME_MAX 1e15 /* seconds, on either side of 0 */

/* A row belongs to one tracked word and has the same index in every snapshot. */
typedef struct tide_snapshots {
    uint32_t count, rows, dim;
    double step;
    bool started;
    uint64_t last_step;
    double *times;       /* [count] NAN for an empty one */
    double *compared_at; /* [count] last comparison with now; NAN if never */
    uint64_t *counts;    /* [count][rows] */
    float *rates;        /* [count][rows] */
    float *angles;       /* [count][rows] degrees by that comparison; NAN if unknown */
    int16_t *vectors;    /* [count][rows][dim] */
} tide_snapshots;

/* `shape` has count, rows, dim and step. */
int tide_snapshots_init(tide_snapshots *s, const tide_snapshots *shape,
                        tide_error *err);
void tide_snapshots_release(tide_snapshots *s);
void tide_snapshots_clear(tide_snapshots *s);
uint64_t tide_snapshots_bytes(const tide_snapshots *shape);

/* If a snapshot is due, empties the one to replace and returns its index. Otherwise
 * returns TIDE_NO_SNAPSHOT. */
uint32_t tide_snapshots_due(tide_snapshots *s, double clock);

/* Stores a unit vector, or none if it is NULL. */
void tide_snapshots_put(tide_snapshots *s, uint32_t snapshot, uint32_t row,
                        const float *unit, uint64_t count, float rate);

/* Reads a unit vector. Returns false if there is none. */
bool tide_snapshots_row(const tide_snapshots *s, uint32_t snapshot, uint32_t row,
                        float *unit);
int16_t *tide_snapshots_vector(const tide_snapshots *s, uint32_t snapshot,
                               uint32_t row);
float *tide_snapshots_angle(const tide_snapshots *s, uint32_t snapshot, uint32_t row);
uint64_t tide_snapshots_count(const tide_snapshots *s, uint32_t snapshot, uint32_t row);
float tide_snapshots_rate(const tide_snapshots *s, uint32_t snapshot, uint32_t row);

/* The snapshot closest to an age, and the oldest, among those taken at `from` or later;
 * TIDE_NO_SNAPSHOT if there are none. */
uint32_t tide_snapshots_nearest(const tide_snapshots *s, double clock, double age,
                                double from);
uint32_t tide_snapshots_oldest(const tide_snapshots *s, double from);

/* The snapshot whose comparison with now is most overdue; TIDE_NO_SNAPSHOT if none
 * is. */
uint32_t tide_snapshots_stale(const tide_snapshots *s, double clock);

#endif
