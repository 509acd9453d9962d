/* drift.c - how far the vectors of words have rotated, beyond the rotation common to
 * all words.
 *
 * All vectors of a model drift together while it learns, and no similarity depends on
 * that. So before a word is compared with its past, the rotation that most frequent
 * words share is found and removed (query/align.c). Finding it takes O(dim^3): a tenth
 * of a second at 100 dimensions, one second at 300, half a minute at 1,000. Each update
 * therefore compares with at most one snapshot, the one whose comparison is most out of
 * date (snapshots.c), and rarely enough to use about a tenth of one core. The updating
 * thread does this without the lock; queries read the last results.
 *
 * With fewer words than dimensions there is a rotation that fits all of them exactly,
 * so no drift is reported.
 */
#include "history/alarms.h"
#include "history/history_internal.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>

bool tide_drift_read_vectors(tide_history *h, const tide_view *view)
{
    float vector[TIDE_DIM_MAX] __attribute__((aligned(64)));
    size_t size = h->latest.dim * sizeof *vector;
    bool changed = false;
    for (uint32_t row = 0; row < h->latest.count; row++) {
        /* tide_view_unit_current fails if the word was evicted while it was read. */
        bool has_vector = h->row_slots[row] != TIDE_NO_SLOT &&
                          tide_view_unit_current(view, h->row_slots[row], vector);
        float square = 0;
        for (uint32_t d = 0; d < h->latest.dim && has_vector; d++)
            square += vector[d] * vector[d];
        has_vector = has_vector && square > 0.5f; /* a zero vector has no direction */
        changed =
            changed || has_vector != h->has_vector[row] ||
            (has_vector && memcmp(tide_matrix_row(&h->latest, row), vector, size) != 0);
        h->has_vector[row] = has_vector;
        if (has_vector)
            memcpy(tide_matrix_row(&h->latest, row), vector, size);
    }
    return changed;
}

void tide_drift_take_snapshot(tide_history *h)
{
    pthread_mutex_lock(&h->lock);
    uint32_t snapshot = tide_snapshots_due(&h->snapshots, h->clock);
    for (uint32_t row = 0; row < h->snapshots.rows && snapshot != TIDE_NO_SNAPSHOT;
         row++) {
        if (!h->has_vector[row])
            continue;
        const tide_word_stats *t = &h->stats[h->tracked[row].slot];
        tide_snapshots_put(&h->snapshots, snapshot, row,
                           tide_matrix_row(&h->latest, row), t->count,
                           (float)tide_word_stats_rate(h, t));
    }
    pthread_mutex_unlock(&h->lock);
}

/* -- comparing -------------------------------------------------------------------- */

/* Seconds between two fits: ten times what one takes on a typical processor. Up to 100
 * dimensions a fit is too cheap to limit. */
static double min_fit_interval(uint32_t dim)
{
    double hundreds = dim / 100.0;
    return dim <= 100 ? 0 : 0.4 * hundreds * hundreds * hundreds;
}

/* Chooses the snapshot to compare with in this update, and marks the rows that have a
 * vector both now and there. Returns TIDE_NO_SNAPSHOT if none is due. */
static uint32_t choose_snapshot(tide_history *h)
{
    if (h->clock - h->last_fit < min_fit_interval(h->snapshots.dim))
        return TIDE_NO_SNAPSHOT;
    pthread_mutex_lock(&h->lock);
    uint32_t snapshot = tide_snapshots_stale(&h->snapshots, h->clock);
    for (uint32_t row = 0; row < h->snapshots.rows && snapshot != TIDE_NO_SNAPSHOT;
         row++)
        h->compared[row] =
            h->has_vector[row] && tide_tracked_word_has_snapshot(h, row, snapshot);
    pthread_mutex_unlock(&h->lock);
    return snapshot;
}

/* Fits the rotation from the snapshot to now on the most frequent words, since their
 * vectors are the least noisy. Returns false if there are too few of them. */
static bool fit_rotation(tide_history *h, uint32_t snapshot)
{
    tide_matrix from = h->fit_from, to = h->fit_to;
    uint32_t count = 0;
    /* Words are packed into the matrices without gaps, in the order of their ranks. */
    for (uint32_t rank = 0; rank < h->word_count && count < h->fit_from.count; rank++) {
        uint32_t row = h->stats[h->order[rank]].row;
        if (row == TIDE_NOT_TRACKED || !h->compared[row])
            continue;
        tide_snapshots_row(&h->snapshots, snapshot, row, tide_matrix_row(&from, count));
        memcpy(tide_matrix_row(&to, count++), tide_matrix_row(&h->latest, row),
               to.dim * sizeof(float));
    }
    from.count = to.count = count;
    return count >= h->snapshots.dim &&
           tide_aligner_fit_majority(h->aligner, &from, &to, NULL) == TIDE_OK;
}

/* Stores the angles for queries, under the lock, and checks drift alarms if this is the
 * snapshot that drift is measured from. Meanwhile a word may have been unwatched, which
 * frees its row; `slot` says whether it is still there. */
static void publish_angles(tide_history *h, uint32_t snapshot)
{
    pthread_mutex_lock(&h->lock);
    bool drift = snapshot == tide_history_drift_snapshot(h) &&
                 h->clock - h->snapshots.times[snapshot] >= h->options.drift_age / 2;
    h->snapshots.compared_at[snapshot] = h->clock;
    for (uint32_t row = 0; row < h->snapshots.rows; row++) {
        if (!h->compared[row])
            continue;
        tide_tracked_word *tracked = &h->tracked[row];
        *tide_snapshots_angle(&h->snapshots, snapshot, row) = h->angles[row];
        if (!drift || isnan(h->angles[row]) || tracked->slot == TIDE_NO_SLOT)
            continue;
        /* Both vectors are noisy, the older one more, so its count decides. */
        uint64_t count = tide_snapshots_count(&h->snapshots, snapshot, row);
        tide_alarm_check(h, TIDE_ALARM_DRIFT, tracked->word,
                         tide_drift_score((double)h->angles[row], count),
                         h->options.drift_alarm, &tracked->drift_alarmed);
    }
    pthread_mutex_unlock(&h->lock);
}

void tide_drift_compare(tide_history *h)
{
    float vector[TIDE_DIM_MAX];
    /* From here to publish_angles the lock is not held. That is safe: only this thread
     * changes snapshots, `latest` and `compared`. */
    uint32_t snapshot = choose_snapshot(h);
    if (snapshot == TIDE_NO_SNAPSHOT)
        return;
    bool fitted = fit_rotation(h, snapshot);
    /* Also if the fit has failed: the next attempt waits for its interval. */
    h->last_fit = h->clock;
    for (uint32_t row = 0; row < h->snapshots.rows; row++) {
        if (!h->compared[row])
            continue;
        if (h->stopped)
            return; /* nothing is published: the comparison is repeated */
        tide_snapshots_row(&h->snapshots, snapshot, row, vector);
        h->angles[row] =
            fitted ? (float)tide_aligner_angle(h->aligner, vector,
                                               tide_matrix_row(&h->latest, row))
                   : NAN;
    }
    publish_angles(h, snapshot);
}

/* -- the map ---------------------------------------------------------------------- */

void tide_drift_project(tide_history *h)
{
    tide_projection_update(&h->projection, &h->latest, h->has_vector);
    pthread_mutex_lock(&h->lock);
    h->frame++;
    for (uint32_t row = 0; row < h->snapshots.rows; row++)
        for (int side = 0; side < 2; side++)
            h->map[row][side] = h->projection.has_point[row]
                                    ? (float)h->projection.points[row][side]
                                    : NAN;
    pthread_mutex_unlock(&h->lock);
}
