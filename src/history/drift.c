/* drift.c - how far words have turned, beyond what all have turned together.
 *
 * All vectors of a model that learns turn slowly, and nothing that matters depends on it. So before a word is compared
 * with its past, the rotation is taken out that most of the frequent words share (query/align.c). Finding it takes
 * time as dim^3: a tenth of a second at 100 dimensions, one at 300, and half a minute at 1,000. It is done for one rung
 * of the ladder a look, only for one whose comparison has grown old (snapshots.c), and seldom enough to take some tenth of one
 * processor; by the thread that looks and without the lock. Who asks is given what was found.
 *
 * With fewer words than dimensions some rotation would meet them all; then nothing is said.
 */
#include "history/alarms.h"
#include "history/history_internal.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>

bool tide_drift_read(tide_history *h, const tide_view *space)
{
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    size_t size = h->latest.dim * sizeof *row;
    bool changed = false;
    for (uint32_t at = 0; at < h->latest.count; at++) {
        bool usable = h->reading[at] != TIDE_NO_SLOT &&
                      tide_view_unit_current(space, h->reading[at], row);
        float square = 0;
        for (uint32_t d = 0; d < h->latest.dim && usable; d++)
            square += row[d] * row[d];
        usable = usable && square > 0.5f; /* a vector of no length has no direction */
        changed = changed || usable != h->usable[at] ||
                  (usable && memcmp(tide_matrix_row(&h->latest, at), row, size) != 0);
        h->usable[at] = usable;
        if (usable)
            memcpy(tide_matrix_row(&h->latest, at), row, size);
    }
    return changed;
}

void tide_drift_take_snapshot(tide_history *h)
{
    pthread_mutex_lock(&h->lock);
    uint32_t rung = tide_snapshots_due(&h->ladder, h->clock);
    for (uint32_t at = 0; at < h->ladder.places && rung != TIDE_NO_SNAPSHOT; at++) {
        if (!h->usable[at])
            continue;
        const tide_word_stats *t = &h->tenants[h->places[at].slot];
        tide_snapshots_put(&h->ladder, rung, at, tide_matrix_row(&h->latest, at),
                           t->count, (float)tide_word_stats_rate(h, t));
    }
    pthread_mutex_unlock(&h->lock);
}

/* -- comparing ----------------------------------------------------------------------------------------- */

/* Ten times what a rotation takes, on a usual processor. Of few dimensions it takes no time worth sparing. */
static double rest_seconds(uint32_t dim)
{
    double hundreds = dim / 100.0;
    return dim <= 100 ? 0 : 0.4 * hundreds * hundreds * hundreds;
}

static uint32_t choose(tide_history *h)
{
    if (h->clock - h->turned_at < rest_seconds(h->ladder.dim))
        return TIDE_NO_SNAPSHOT;
    pthread_mutex_lock(&h->lock);
    uint32_t rung = tide_snapshots_stale(&h->ladder, h->clock);
    for (uint32_t at = 0; at < h->ladder.places && rung != TIDE_NO_SNAPSHOT; at++)
        h->compared[at] = h->usable[at] && tide_tracked_word_has_snapshot(h, at, rung);
    pthread_mutex_unlock(&h->lock);
    return rung;
}

/* The most frequent words come first. */
static bool fit(tide_history *h, uint32_t rung)
{
    tide_matrix from = h->fit_from, to = h->fit_to;
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < h->words && count < h->fit_from.count; rank++) {
        uint32_t at = h->tenants[h->order[rank]].place;
        if (at == TIDE_NOT_TRACKED || !h->compared[at])
            continue;
        tide_snapshots_row(&h->ladder, rung, at, tide_matrix_row(&from, count));
        memcpy(tide_matrix_row(&to, count++), tide_matrix_row(&h->latest, at),
               to.dim * sizeof(float));
    }
    from.count = to.count = count;
    return count >= h->ladder.dim &&
           tide_aligner_fit_most(h->aligner, &from, &to, NULL) == TIDE_OK;
}

static void publish(tide_history *h, uint32_t rung)
{
    pthread_mutex_lock(&h->lock);
    bool drift = rung == tide_history_drift_snapshot(h) &&
                 h->clock - h->ladder.times[rung] >= h->options.drift_age / 2;
    h->ladder.compared[rung] = h->clock;
    for (uint32_t at = 0; at < h->ladder.places; at++) {
        if (!h->compared[at])
            continue;
        tide_tracked_word *place = &h->places[at];
        *tide_snapshots_angle(&h->ladder, rung, at) = h->turned[at];
        if (!drift || isnan(h->turned[at]) || place->slot == TIDE_NO_SLOT)
            continue;
        /* Both vectors wander, the older one more. */
        uint64_t count = tide_snapshots_count(&h->ladder, rung, at);
        tide_alarm_check(h, TIDE_ALARM_DRIFT, place->word,
                         tide_drift_worth((double)h->turned[at], count),
                         h->options.drift_alarm, &place->drift_told);
    }
    pthread_mutex_unlock(&h->lock);
}

void tide_drift_compare(tide_history *h)
{
    float row[TIDE_DIM_MAX];
    uint32_t rung = choose(h);
    if (rung == TIDE_NO_SNAPSHOT)
        return;
    bool fitted = fit(h, rung);
    h->turned_at = h->clock;
    for (uint32_t at = 0; at < h->ladder.places; at++) {
        if (!h->compared[at])
            continue;
        if (h->stopped)
            return;
        tide_snapshots_row(&h->ladder, rung, at, row);
        h->turned[at] = fitted ? (float)tide_aligner_angle(
                                     h->aligner, row, tide_matrix_row(&h->latest, at))
                               : NAN;
    }
    publish(h, rung);
}

/* -- the map ------------------------------------------------------------------------------------------- */

void tide_drift_project(tide_history *h)
{
    tide_projection_update(&h->plane, &h->latest, h->usable);
    pthread_mutex_lock(&h->lock);
    h->frame++;
    for (uint32_t at = 0; at < h->ladder.places; at++)
        for (int side = 0; side < 2; side++)
            h->spots[at][side] =
                h->plane.placed[at] ? (float)h->plane.spots[at][side] : NAN;
    pthread_mutex_unlock(&h->lock);
}
