/* snapshots.c - vectors of the past at ages that double.
 *
 * A snapshot is taken in every step. There are few of them, numbered from 0, and that
 * of step n replaces the one whose number is the exponent of 2 in n:
 *
 *     step       1  2  3  4  5  6  7  8  9 10 11 12 ...
 *     snapshot   0  1  0  2  0  1  0  3  0  1  0  2 ...
 *
 * Invariant: for every k there is a snapshot that is at least 2^k and less than 2^(k+1)
 * steps old. Among 2^k consecutive steps there is one, m, that is a multiple of 2^k.
 * Its snapshot went to some j >= k, and the next one to replace it is that of step m +
 * 2^(j+1), which is not reached while m is younger than 2^(k+1). The last snapshot
 * takes all higher powers, so with R snapshots this holds for the ages 1, 2, 4 ...
 * 2^(R-2): 18 snapshots at a step of a minute reach back 45 days, and the last of them
 * is up to 91 days old.
 *
 * If an update comes late, one snapshot stands for all steps that have passed, and
 * replaces the one with the highest of their numbers. It has its true time, so ages are
 * always exact; the missed moments are missing.
 *
 * Vectors are unit vectors in 16-bit fixed point, which rotates them by about a
 * hundredth of a degree. A row of zeros means that there is no vector.
 */
#include "history/snapshots.h"

#include <math.h>
#include <stdlib.h>

#define ONE 32767.0f
#define STEPS_MAX 1e18 /* in case the clock was set far forward several times */

int tide_snapshots_init(tide_snapshots *s, const tide_snapshots *shape, tide_error *err)
{
    size_t cells = (size_t)shape->count * shape->rows;
    *s = *shape;
    s->times = tide_alloc(s->count, sizeof *s->times);
    s->compared_at = tide_alloc(s->count, sizeof *s->compared_at);
    s->counts = tide_alloc(cells, sizeof *s->counts);
    s->rates = tide_alloc(cells, sizeof *s->rates);
    s->angles = tide_alloc(cells, sizeof *s->angles);
    s->vectors = tide_alloc(cells, s->dim * sizeof *s->vectors);
    if (!s->times || !s->compared_at || !s->counts || !s->rates || !s->angles ||
        !s->vectors)
        return tide_fail(err, TIDE_ERROR_MEMORY,
                         "no memory for %u vectors in %u snapshots", s->rows, s->count);
    tide_snapshots_clear(s);
    return TIDE_OK;
}

uint64_t tide_snapshots_bytes(const tide_snapshots *shape)
{
    uint64_t cell =
        sizeof(uint64_t) + 2 * sizeof(float) + shape->dim * sizeof *shape->vectors;
    return shape->count * (2 * sizeof(double) + cell * shape->rows);
}

void tide_snapshots_release(tide_snapshots *s)
{
    free(s->vectors);
    free(s->angles);
    free(s->rates);
    free(s->counts);
    free(s->compared_at);
    free(s->times);
}

void tide_snapshots_clear(tide_snapshots *s)
{
    s->started = false;
    for (uint32_t snapshot = 0; snapshot < s->count; snapshot++)
        s->times[snapshot] = s->compared_at[snapshot] = (double)NAN;
    for (size_t i = 0; i < (size_t)s->count * s->rows; i++)
        s->angles[i] = NAN;
}

/* The largest exponent k, up to that of the last snapshot, for which a multiple of 2^k
 * lies above `previous_step` and not above `now`. */
static uint32_t snapshot_to_replace(const tide_snapshots *s, uint64_t previous_step,
                                    uint64_t now)
{
    uint32_t snapshot = s->count - 1;
    /* A multiple of 2^k was passed exactly if the quotients by 2^k differ. */
    while (snapshot && previous_step >> snapshot == now >> snapshot)
        snapshot--;
    return snapshot;
}

uint32_t tide_snapshots_due(tide_snapshots *s, double clock)
{
    uint64_t step = (uint64_t)fmin(clock / s->step, STEPS_MAX);
    if (s->started && step == s->last_step)
        return TIDE_NO_SNAPSHOT;
    uint32_t snapshot =
        s->started ? snapshot_to_replace(s, s->last_step, step) : s->count - 1;
    s->started = true;
    s->last_step = step;
    s->times[snapshot] = clock;
    s->compared_at[snapshot] = clock; /* identical to now */
    /* The old vectors are erased first: rows that have none now must not keep those of
     * another time. */
    for (uint32_t row = 0; row < s->rows; row++)
        tide_snapshots_put(s, snapshot, row, NULL, 0, 0);
    return snapshot;
}

static size_t cell_of(const tide_snapshots *s, uint32_t snapshot, uint32_t row)
{
    return (size_t)snapshot * s->rows + row;
}

int16_t *tide_snapshots_vector(const tide_snapshots *s, uint32_t snapshot, uint32_t row)
{
    return s->vectors + cell_of(s, snapshot, row) * s->dim;
}

void tide_snapshots_put(tide_snapshots *s, uint32_t snapshot, uint32_t row,
                        const float *unit, uint64_t count, float rate)
{
    size_t cell = cell_of(s, snapshot, row);
    int16_t *vector = tide_snapshots_vector(s, snapshot, row);
    s->counts[cell] = count;
    s->rates[cell] = rate;
    s->angles[cell] = unit ? 0 : NAN;
    for (uint32_t d = 0; d < s->dim; d++)
        vector[d] = unit ? (int16_t)lrintf(unit[d] * ONE) : 0;
}

bool tide_snapshots_row(const tide_snapshots *s, uint32_t snapshot, uint32_t row,
                        float *unit)
{
    const int16_t *vector = tide_snapshots_vector(s, snapshot, row);
    bool any = false;
    for (uint32_t d = 0; d < s->dim; d++) {
        any = any || vector[d];
        unit[d] = (float)vector[d] / ONE;
    }
    return any;
}

float *tide_snapshots_angle(const tide_snapshots *s, uint32_t snapshot, uint32_t row)
{
    return s->angles + cell_of(s, snapshot, row);
}

uint64_t tide_snapshots_count(const tide_snapshots *s, uint32_t snapshot, uint32_t row)
{
    return s->counts[cell_of(s, snapshot, row)];
}

float tide_snapshots_rate(const tide_snapshots *s, uint32_t snapshot, uint32_t row)
{
    return s->rates[cell_of(s, snapshot, row)];
}

/* Distance is logarithmic: twice and half the age are equally far. */
uint32_t tide_snapshots_nearest(const tide_snapshots *s, double clock, double age,
                                double from)
{
    uint32_t best = TIDE_NO_SNAPSHOT;
    double best_distance = (double)INFINITY;
    for (uint32_t snapshot = 0; snapshot < s->count; snapshot++) {
        /* Half a step as the minimum keeps the logarithm finite for a snapshot taken
         * just now. */
        double snapshot_age = fmax(clock - s->times[snapshot], s->step / 2);
        double distance = fabs(log2(snapshot_age / fmax(age, s->step / 2)));
        if (s->times[snapshot] >= from && distance < best_distance) {
            best_distance = distance;
            best = snapshot;
        }
    }
    return best;
}

uint32_t tide_snapshots_oldest(const tide_snapshots *s, double from)
{
    uint32_t oldest = TIDE_NO_SNAPSHOT;
    for (uint32_t snapshot = 0; snapshot < s->count; snapshot++)
        if (s->times[snapshot] >= from &&
            (oldest == TIDE_NO_SNAPSHOT || s->times[snapshot] < s->times[oldest]))
            oldest = snapshot;
    return oldest;
}

/* The difference between a snapshot and now changes more slowly the older the snapshot
 * is, so a comparison is repeated after a quarter of that age. */
uint32_t tide_snapshots_stale(const tide_snapshots *s, double clock)
{
    uint32_t stalest = TIDE_NO_SNAPSHOT;
    double max_overdue = 1;
    for (uint32_t snapshot = 0; snapshot < s->count; snapshot++) {
        if (isnan(s->times[snapshot]))
            continue;
        double interval = fmax(s->step, (clock - s->times[snapshot]) / 4);
        double overdue = isnan(s->compared_at[snapshot])
                             ? (double)INFINITY
                             : (clock - s->compared_at[snapshot]) / interval;
        /* At least 1 means that the interval has passed. The most overdue one is
         * chosen, the first of several; one that was never compared comes before all
         * others. */
        if (overdue < max_overdue ||
            (stalest != TIDE_NO_SNAPSHOT && overdue <= max_overdue))
            continue;
        max_overdue = overdue;
        stalest = snapshot;
    }
    return stalest;
}
