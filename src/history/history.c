/* history.c - the history object: its memory, its clock, and an update.
 *
 *     live view ──► words admitted and evicted, rates (word_stats.c, ema.c)
 *               ──► which words are tracked (tracked_words.c)
 *               ──► their vectors ──► snapshots (snapshots.c) ──► drift (drift.c)
 *                                 └─► the map (projection.c)
 *
 * One thread updates the history. Other threads query its results (history_query.c) and
 * choose watched words. A lock protects what they share; it is held while slots are
 * scanned, but not during any computation on vectors.
 *
 * The clock adds up the forward steps of the caller's time. If that is set back, the
 * clock pauses for one update, so the past never becomes the future. All times in
 * this directory are on this clock; results are converted to the caller's time.
 */
#include "history/alarms.h"
#include "history/history_internal.h"
#include "model/model.h"
#include "params/params.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

enum {
    TRACKED = 5000,
    TRACKED_MAX = 1000000,
    WATCHED = 100,
    WATCHED_MAX = 100000,
    SNAPSHOTS = 18,
    STEP = 60,
    WARM_UP_STEPS = 10,
    BASELINE_STEPS = 60,
    FAST_STEPS = 5,
    SLOW_STEPS = 1440,
};

/* -- options ---------------------------------------------------------------------- */

static tide_history_options with_defaults(const tide_history_options *options)
{
    tide_history_options o = options ? *options : (tide_history_options){0};
    o.tracked = o.tracked ? o.tracked : TRACKED;
    o.watched = o.watched ? o.watched : WATCHED;
    o.snapshots = o.snapshots ? o.snapshots : SNAPSHOTS;
    o.step = o.step != 0 ? o.step : STEP;
    o.warm_up = o.warm_up != 0 ? o.warm_up : WARM_UP_STEPS * o.step;
    o.baseline = o.baseline != 0 ? o.baseline : BASELINE_STEPS * o.step;
    return o;
}

static int check_options(const tide_history_options *o, tide_error *err)
{
    if (o->tracked > TRACKED_MAX || o->watched > WATCHED_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "tracked must be at most %d and watched at most %d",
                         TRACKED_MAX, WATCHED_MAX);
    if (o->snapshots < 2 || o->snapshots > TIDE_HISTORY_SNAPSHOTS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "snapshots must be between 2 and %d",
                         TIDE_HISTORY_SNAPSHOTS_MAX);
    if (!(o->step >= TIDE_HISTORY_STEP_MIN && o->step <= TIDE_HISTORY_STEP_MAX))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "step must be between %g and %g seconds",
                         TIDE_HISTORY_STEP_MIN, TIDE_HISTORY_STEP_MAX);
    if (!isfinite(o->warm_up) || !isfinite(o->baseline) || !(o->drift_age >= 0) ||
        !(o->trend_alarm >= 0) || !(o->drift_alarm >= 0))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "times and alarm thresholds must not be negative");
    return TIDE_OK;
}

static tide_snapshots snapshots_shape(const tide_history_options *o,
                                      const tide_shape *shape)
{
    return (tide_snapshots){.count = o->snapshots,
                            .rows = o->tracked + o->tracked / 10 + o->watched,
                            .dim = shape->dim,
                            .step = o->step};
}

static uint32_t fit_row_count(uint32_t row_count)
{
    return row_count < TIDE_FIT_MAX ? row_count : TIDE_FIT_MAX;
}

uint64_t tide_history_bytes(const tide_params *params,
                            const tide_history_options *options)
{
    tide_history_options o = with_defaults(options);
    tide_shape shape = tide_params_shape(params);
    tide_snapshots s = snapshots_shape(&o, &shape);
    uint64_t per_slot = sizeof(tide_word_stats) + sizeof(uint32_t);
    uint64_t per_row = 2 * sizeof(tide_tracked_word) + 2 * sizeof(uint32_t) +
                       2 * sizeof(bool) + 3 * sizeof(float);
    return sizeof(tide_history) + per_slot * shape.vocabulary.capacity +
           tide_vocabulary_copy_bytes(&shape.vocabulary) + per_row * s.rows +
           tide_snapshots_bytes(&s) +
           TIDE_EVICTED_WORDS_MAX * sizeof(tide_evicted_word) +
           TIDE_ALARMS_MAX * sizeof(tide_alarm) + tide_matrix_bytes(s.rows, s.dim) +
           2 * tide_matrix_bytes(fit_row_count(s.rows), s.dim) +
           tide_aligner_bytes(s.dim, fit_row_count(s.rows)) +
           tide_projection_bytes(s.rows, s.dim);
}

/* -- constructor ------------------------------------------------------------------ */

/* Arrays indexed by slot, and the lists of events. */
static int allocate_slots(tide_history *h, const tide_model *model, tide_error *err)
{
    uint32_t capacity = model->shape.vocabulary.capacity;
    h->model = *model;
    h->model.vocabulary = tide_vocabulary_new_copy(model->vocabulary, err);
    h->stats = tide_alloc(capacity, sizeof *h->stats);
    h->order = tide_alloc(capacity, sizeof *h->order);
    h->evicted = tide_alloc(TIDE_EVICTED_WORDS_MAX, sizeof *h->evicted);
    h->alarms = tide_alloc(TIDE_ALARMS_MAX, sizeof *h->alarms);
    return h->model.vocabulary && h->stats && h->order && h->evicted && h->alarms
               ? TIDE_OK
               : TIDE_ERROR_MEMORY;
}

/* Arrays indexed by row. */
static int allocate_rows(tide_history *h, tide_error *err)
{
    uint32_t row_count = h->snapshots.rows, dim = h->snapshots.dim,
             rows = fit_row_count(row_count);
    h->tracked = tide_alloc(row_count, sizeof *h->tracked);
    h->tracked_copy = tide_alloc(row_count, sizeof *h->tracked_copy);
    h->free_rows = tide_alloc(row_count, sizeof *h->free_rows);
    h->row_slots = tide_alloc(row_count, sizeof *h->row_slots);
    h->has_vector = tide_alloc(row_count, sizeof *h->has_vector);
    h->compared = tide_alloc(row_count, sizeof *h->compared);
    h->angles = tide_alloc(row_count, sizeof *h->angles);
    h->map = tide_alloc(row_count, sizeof *h->map);
    if (!h->tracked || !h->tracked_copy || !h->free_rows || !h->row_slots ||
        !h->has_vector || !h->compared || !h->angles || !h->map ||
        tide_matrix_init(&h->latest, row_count, dim, err) ||
        tide_matrix_init(&h->fit_from, rows, dim, err) ||
        tide_matrix_init(&h->fit_to, rows, dim, err) ||
        tide_projection_init(&h->projection, row_count, dim, err))
        return TIDE_ERROR_MEMORY;
    h->aligner = tide_aligner_new(dim, rows, err);
    if (!h->aligner)
        return TIDE_ERROR_MEMORY;
    tide_aligner_set_stop(h->aligner, &h->stopped);
    return TIDE_OK;
}

static int allocate(tide_history *h, tide_error *err)
{
    const tide_view *view = tide_live_acquire(h->live);
    const tide_model *model = tide_view_model(view);
    tide_snapshots shape = snapshots_shape(&h->options, &model->shape);
    int status = allocate_slots(h, model, err);
    if (!status)
        status = tide_snapshots_init(&h->snapshots, &shape, err);
    if (!status)
        status = allocate_rows(h, err);
    tide_live_release(h->live, view);
    return status;
}

tide_history *tide_history_new(tide_live *live, const tide_history_options *options,
                               tide_error *err)
{
    tide_history_options o = with_defaults(options);
    if (check_options(&o, err))
        return NULL;
    tide_history *h = tide_alloc(1, sizeof *h);
    if (!h) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the history of words");
        return NULL;
    }
    h->options = o;
    h->live = live;
    pthread_mutex_init(&h->lock, NULL);
    if (allocate(h, err)) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the history of words");
        tide_history_free(h);
        return NULL;
    }
    tide_history_reset(h);
    return h;
}

void tide_history_free(tide_history *h)
{
    if (!h)
        return;
    tide_aligner_free(h->aligner);
    tide_projection_release(&h->projection);
    tide_matrix_release(&h->fit_to);
    tide_matrix_release(&h->fit_from);
    tide_matrix_release(&h->latest);
    free(h->map);
    free(h->angles);
    free(h->compared);
    free(h->has_vector);
    free(h->row_slots);
    free(h->free_rows);
    free(h->tracked_copy);
    free(h->tracked);
    tide_snapshots_release(&h->snapshots);
    free(h->alarms);
    free(h->evicted);
    free(h->order);
    free(h->stats);
    tide_vocabulary_free(h->model.vocabulary);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

void tide_history_reset(tide_history *h)
{
    uint32_t row_count = h->snapshots.rows;
    h->now = (double)NAN;
    h->clock = 0;
    h->last_text = h->mean_gap = 0;
    h->last_fit = (double)NAN;
    h->fast = (tide_ema){.span = FAST_STEPS * h->options.step};
    h->slow = (tide_ema){.span = SLOW_STEPS * h->options.step};
    h->evicted_count = 0;
    h->alarm_count = h->alarms_reported = 0;
    h->watched_count = 0;
    h->free_row_count = row_count;
    for (uint32_t row = 0; row < row_count; row++) {
        h->tracked[row] = (tide_tracked_word){.slot = TIDE_NO_SLOT};
        h->free_rows[row] = row_count - 1 - row;
        h->map[row][0] = h->map[row][1] = NAN;
    }
    tide_snapshots_clear(&h->snapshots);
    const tide_view *view = tide_live_acquire(h->live);
    tide_word_stats_reset(h, view);
    tide_live_release(h->live, view);
}

/* -- update ----------------------------------------------------------------------- */

double tide_history_time(const tide_history *h, double clock)
{
    return h->now - (h->clock - clock);
}

uint32_t tide_history_drift_snapshot(const tide_history *h)
{
    return h->options.drift_age > 0
               ? tide_snapshots_nearest(&h->snapshots, h->clock, h->options.drift_age,
                                        h->options.baseline)
               : tide_snapshots_oldest(&h->snapshots, h->options.baseline);
}

double tide_history_baseline(tide_history *h)
{
    pthread_mutex_lock(&h->lock);
    double left = h->options.baseline - h->clock;
    pthread_mutex_unlock(&h->lock);
    return left > 0 ? left : 0;
}

uint32_t tide_history_ages(const tide_history *h,
                           double ages[TIDE_HISTORY_SNAPSHOTS_MAX])
{
    uint32_t count = h->options.snapshots - 1;
    for (uint32_t i = 0; i < count; i++)
        ages[i] = ldexp(h->options.step, (int)i);
    return count;
}

static void update_words(tide_history *h, const tide_view *view, double now)
{
    pthread_mutex_lock(&h->lock);
    double seconds = now > h->now ? now - h->now : 0;
    h->clock += seconds;
    h->now = now;
    tide_word_stats_update(h, view, seconds);
    tide_tracked_words_update(h);
    for (uint32_t row = 0; row < h->snapshots.rows; row++)
        h->row_slots[row] = h->tracked[row].slot;
    h->updated = true;
    pthread_mutex_unlock(&h->lock);
}

int tide_history_update(tide_history *h, double now, tide_error *err)
{
    if (!(fabs(now) <= TIDE_TIME_MAX))
        return tide_fail(err, TIDE_ERROR_PARAMETER, "%g is not a valid time", now);
    if (h->stopped)
        return TIDE_OK;
    const tide_view *view = tide_live_acquire(h->live);
    update_words(h, view, now);
    bool changed = tide_drift_read_vectors(h, view);
    tide_live_release(h->live, view);
    tide_drift_take_snapshot(h);
    tide_drift_compare(h);
    if (changed)
        tide_drift_project(h);
    tide_alarms_report(h);
    return TIDE_OK;
}

void tide_history_stop(tide_history *h)
{
    h->stopped = true;
}
