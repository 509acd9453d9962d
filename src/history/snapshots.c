/* snapshots.c - vectors of the past at ages that double.
 *
 * Every step a snapshot is taken. The one of step n goes to the rung whose number is how often 2 divides n, and takes
 * the place of what was there:
 *
 *     step   1  2  3  4  5  6  7  8  9 10 11 12 ...
 *     rung   0  1  0  2  0  1  0  3  0  1  0  2 ...
 *
 * Then for every k there is a snapshot that is at least 2^k and less than 2^(k+1) steps old. For among 2^k steps
 * in a row there is one whose number m is a multiple of 2^k: it went to some rung j >= k, and the next that
 * goes there is m + 2^(j+1), which has not come while m is younger than 2^(k+1). The highest rung takes all that
 * is left, so with R rungs this holds for the ages 1, 2, 4 ... 2^(R-2): 18 rungs of a minute reach 45
 * days, and what is on the highest is up to 91 days old.
 *
 * Nobody need look in time. Whoever comes late takes one snapshot for all the steps that have passed, on the highest of
 * their rungs. It has its true time, so ages are always true; what is missing is what nobody saw.
 *
 * Vectors are units in 16-bit fixed point, which turns them by about a hundredth of a degree. A row of zeros
 * is none.
 */
#include "history/snapshots.h"

#include <math.h>
#include <stdlib.h>

#define ONE 32767.0f
#define TICK_MOST 1e18 /* of a clock that was set forward by ages, again and again */

int tide_snapshots_init(tide_snapshots *l, const tide_snapshots *shape, tide_error *err)
{
    size_t cells = (size_t)shape->rungs * shape->places;
    *l = *shape;
    l->times = tide_alloc(l->rungs, sizeof *l->times);
    l->compared = tide_alloc(l->rungs, sizeof *l->compared);
    l->counts = tide_alloc(cells, sizeof *l->counts);
    l->rates = tide_alloc(cells, sizeof *l->rates);
    l->angles = tide_alloc(cells, sizeof *l->angles);
    l->vectors = tide_alloc(cells, l->dim * sizeof *l->vectors);
    if (!l->times || !l->compared || !l->counts || !l->rates || !l->angles ||
        !l->vectors)
        return tide_fail(err, TIDE_ERROR_MEMORY,
                         "no memory for %u vectors of %u moments", l->places, l->rungs);
    tide_snapshots_clear(l);
    return TIDE_OK;
}

uint64_t tide_snapshots_bytes(const tide_snapshots *shape)
{
    uint64_t cell =
        sizeof(uint64_t) + 2 * sizeof(float) + shape->dim * sizeof *shape->vectors;
    return shape->rungs * (2 * sizeof(double) + cell * shape->places);
}

void tide_snapshots_release(tide_snapshots *l)
{
    free(l->vectors);
    free(l->angles);
    free(l->rates);
    free(l->counts);
    free(l->compared);
    free(l->times);
}

void tide_snapshots_clear(tide_snapshots *l)
{
    l->begun = false;
    for (uint32_t rung = 0; rung < l->rungs; rung++)
        l->times[rung] = l->compared[rung] = (double)NAN;
    for (size_t i = 0; i < (size_t)l->rungs * l->places; i++)
        l->angles[i] = NAN;
}

/* The highest power of 2, below that of the highest rung, of which a multiple is above `before` and not
 * above `now`. */
static uint32_t rung_of(const tide_snapshots *l, uint64_t before, uint64_t now)
{
    uint32_t rung = l->rungs - 1;
    while (rung && before >> rung == now >> rung)
        rung--;
    return rung;
}

uint32_t tide_snapshots_due(tide_snapshots *l, double clock)
{
    uint64_t tick = (uint64_t)fmin(clock / l->step, TICK_MOST);
    if (l->begun && tick == l->tick)
        return TIDE_NO_SNAPSHOT;
    uint32_t rung = l->begun ? rung_of(l, l->tick, tick) : l->rungs - 1;
    l->begun = true;
    l->tick = tick;
    l->times[rung] = clock;
    l->compared[rung] = clock; /* then is now */
    for (uint32_t place = 0; place < l->places; place++)
        tide_snapshots_put(l, rung, place, NULL, 0, 0);
    return rung;
}

static size_t cell_of(const tide_snapshots *l, uint32_t rung, uint32_t place)
{
    return (size_t)rung * l->places + place;
}

int16_t *tide_snapshots_vector(const tide_snapshots *l, uint32_t rung, uint32_t place)
{
    return l->vectors + cell_of(l, rung, place) * l->dim;
}

void tide_snapshots_put(tide_snapshots *l, uint32_t rung, uint32_t place,
                        const float *unit, uint64_t count, float rate)
{
    size_t cell = cell_of(l, rung, place);
    int16_t *vector = tide_snapshots_vector(l, rung, place);
    l->counts[cell] = count;
    l->rates[cell] = rate;
    l->angles[cell] = unit ? 0 : NAN;
    for (uint32_t d = 0; d < l->dim; d++)
        vector[d] = unit ? (int16_t)lrintf(unit[d] * ONE) : 0;
}

bool tide_snapshots_row(const tide_snapshots *l, uint32_t rung, uint32_t place,
                        float *unit)
{
    const int16_t *vector = tide_snapshots_vector(l, rung, place);
    bool any = false;
    for (uint32_t d = 0; d < l->dim; d++) {
        any = any || vector[d];
        unit[d] = (float)vector[d] / ONE;
    }
    return any;
}

float *tide_snapshots_angle(const tide_snapshots *l, uint32_t rung, uint32_t place)
{
    return l->angles + cell_of(l, rung, place);
}

uint64_t tide_snapshots_count(const tide_snapshots *l, uint32_t rung, uint32_t place)
{
    return l->counts[cell_of(l, rung, place)];
}

float tide_snapshots_rate(const tide_snapshots *l, uint32_t rung, uint32_t place)
{
    return l->rates[cell_of(l, rung, place)];
}

/* Twice as old is as far away as half as old. */
uint32_t tide_snapshots_nearest(const tide_snapshots *l, double clock, double age,
                                double from)
{
    uint32_t best = TIDE_NO_SNAPSHOT;
    double nearest = (double)INFINITY;
    for (uint32_t rung = 0; rung < l->rungs; rung++) {
        double there = fmax(clock - l->times[rung], l->step / 2);
        double apart = fabs(log2(there / fmax(age, l->step / 2)));
        if (l->times[rung] >= from && apart < nearest) {
            nearest = apart;
            best = rung;
        }
    }
    return best;
}

uint32_t tide_snapshots_oldest(const tide_snapshots *l, double from)
{
    uint32_t oldest = TIDE_NO_SNAPSHOT;
    for (uint32_t rung = 0; rung < l->rungs; rung++)
        if (l->times[rung] >= from &&
            (oldest == TIDE_NO_SNAPSHOT || l->times[rung] < l->times[oldest]))
            oldest = rung;
    return oldest;
}

/* How the words of a snapshot differ from now changes as fast as it is old, so it is found out anew after a quarter of
 * its age. */
uint32_t tide_snapshots_stale(const tide_snapshots *l, double clock)
{
    uint32_t stalest = TIDE_NO_SNAPSHOT;
    double most = 1;
    for (uint32_t rung = 0; rung < l->rungs; rung++) {
        if (isnan(l->times[rung]))
            continue;
        double patience = fmax(l->step, (clock - l->times[rung]) / 4);
        double waited = isnan(l->compared[rung])
                            ? (double)INFINITY
                            : (clock - l->compared[rung]) / patience;
        if (waited < most || (stalest != TIDE_NO_SNAPSHOT && waited <= most))
            continue;
        most = waited;
        stalest = rung;
    }
    return stalest;
}
