/* history.c - the object: its memory, its clock, and one look.
 *
 *     live space ──► who came, who left, how often (word_stats.c, ema.c)
 *                ──► who is followed (tracked_words.c)
 *                ──► their vectors ──► the ladder (snapshots.c) ──► how far they turned (drift.c)
 *                                  └─► the map (projection.c)
 *
 * One thread looks. Others ask (ask.c) what it has found, and say what is to be watched; a lock keeps them apart. It
 * is held while slots are looked through, and not while anything is computed from vectors.
 *
 * The clock is made of the steps forward of the caller's: when that is set back, time stands still for one look,
 * and no past becomes the future. All times inside are of this clock; who asks is given the caller's.
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
    FOLLOW = 5000,
    FOLLOW_MOST = 1000000,
    WATCH = 100,
    WATCH_MOST = 100000,
    RUNGS = 18,
    STEP = 60,
    WARM_UP_STEPS = 10,
    BASELINE_STEPS = 60,
    FAST_STEPS = 5,
    SLOW_STEPS = 1440,
};

/* -- options ------------------------------------------------------------------------------------------- */

static tide_history_options settled(const tide_history_options *options)
{
    tide_history_options o = options ? *options : (tide_history_options){0};
    o.follow = o.follow ? o.follow : FOLLOW;
    o.watch = o.watch ? o.watch : WATCH;
    o.rungs = o.rungs ? o.rungs : RUNGS;
    o.step = o.step != 0 ? o.step : STEP;
    o.warm_up = o.warm_up != 0 ? o.warm_up : WARM_UP_STEPS * o.step;
    o.baseline = o.baseline != 0 ? o.baseline : BASELINE_STEPS * o.step;
    return o;
}

static int check(const tide_history_options *o, tide_error *err)
{
    if (o->follow > FOLLOW_MOST || o->watch > WATCH_MOST)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "at most %d words can be followed, and %d watched",
                         FOLLOW_MOST, WATCH_MOST);
    if (o->rungs < 2 || o->rungs > TIDE_HISTORY_SNAPSHOTS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "a ladder has 2 to %d rungs",
                         TIDE_HISTORY_SNAPSHOTS_MAX);
    if (!(o->step >= TIDE_HISTORY_STEP_LEAST && o->step <= TIDE_HISTORY_STEP_MOST))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "a step of the ladder takes between %g and %g seconds",
                         TIDE_HISTORY_STEP_LEAST, TIDE_HISTORY_STEP_MOST);
    if (!isfinite(o->warm_up) || !isfinite(o->baseline) || !(o->drift_age >= 0) ||
        !(o->trend_alarm >= 0) || !(o->drift_alarm >= 0))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "times and alarms of a history are not below 0");
    return TIDE_OK;
}

static tide_snapshots ladder_of(const tide_history_options *o, const tide_shape *shape)
{
    return (tide_snapshots){.rungs = o->rungs,
                            .places = o->follow + o->follow / 10 + o->watch,
                            .dim = shape->dim,
                            .step = o->step};
}

static uint32_t fit_rows(uint32_t places)
{
    return places < TIDE_FIT_MOST ? places : TIDE_FIT_MOST;
}

uint64_t tide_history_bytes(const tide_params *params,
                            const tide_history_options *options)
{
    tide_history_options o = settled(options);
    tide_shape shape = tide_params_shape(params);
    tide_snapshots l = ladder_of(&o, &shape);
    uint64_t slot = sizeof(tide_word_stats) + sizeof(uint32_t);
    uint64_t place = 2 * sizeof(tide_tracked_word) + 2 * sizeof(uint32_t) +
                     2 * sizeof(bool) + 3 * sizeof(float);
    return sizeof(tide_history) + slot * shape.vocabulary.capacity +
           tide_vocabulary_copy_bytes(&shape.vocabulary) + place * l.places +
           tide_snapshots_bytes(&l) +
           TIDE_EVICTED_WORDS_MAX * sizeof(tide_evicted_word) +
           TIDE_ALARMS_KEPT * sizeof(tide_alarm) + tide_matrix_bytes(l.places, l.dim) +
           2 * tide_matrix_bytes(fit_rows(l.places), l.dim) +
           tide_aligner_bytes(l.dim, fit_rows(l.places)) +
           tide_projection_bytes(l.places, l.dim);
}

/* -- making -------------------------------------------------------------------------------------------- */

/* What is about slots. */
static int make_slots(tide_history *h, const tide_model *model, tide_error *err)
{
    uint32_t capacity = model->shape.vocabulary.capacity;
    h->model = *model;
    h->model.vocabulary = tide_vocabulary_new_copy(model->vocabulary, err);
    h->tenants = tide_alloc(capacity, sizeof *h->tenants);
    h->order = tide_alloc(capacity, sizeof *h->order);
    h->departed = tide_alloc(TIDE_EVICTED_WORDS_MAX, sizeof *h->departed);
    h->alarms = tide_alloc(TIDE_ALARMS_KEPT, sizeof *h->alarms);
    return h->model.vocabulary && h->tenants && h->order && h->departed && h->alarms
               ? TIDE_OK
               : TIDE_ERROR_MEMORY;
}

/* What is about places. */
static int make_places(tide_history *h, tide_error *err)
{
    uint32_t places = h->ladder.places, dim = h->ladder.dim, rows = fit_rows(places);
    h->places = tide_alloc(places, sizeof *h->places);
    h->saved = tide_alloc(places, sizeof *h->saved);
    h->free = tide_alloc(places, sizeof *h->free);
    h->reading = tide_alloc(places, sizeof *h->reading);
    h->usable = tide_alloc(places, sizeof *h->usable);
    h->compared = tide_alloc(places, sizeof *h->compared);
    h->turned = tide_alloc(places, sizeof *h->turned);
    h->spots = tide_alloc(places, sizeof *h->spots);
    if (!h->places || !h->saved || !h->free || !h->reading || !h->usable ||
        !h->compared || !h->turned || !h->spots ||
        tide_matrix_init(&h->latest, places, dim, err) ||
        tide_matrix_init(&h->fit_from, rows, dim, err) ||
        tide_matrix_init(&h->fit_to, rows, dim, err) ||
        tide_projection_init(&h->plane, places, dim, err))
        return TIDE_ERROR_MEMORY;
    h->aligner = tide_aligner_new(dim, rows, err);
    if (!h->aligner)
        return TIDE_ERROR_MEMORY;
    tide_aligner_set_stop(h->aligner, &h->stopped);
    return TIDE_OK;
}

static int make(tide_history *h, tide_error *err)
{
    const tide_view *space = tide_live_acquire(h->live);
    const tide_model *model = tide_view_model(space);
    tide_snapshots shape = ladder_of(&h->options, &model->shape);
    int status = make_slots(h, model, err);
    if (!status)
        status = tide_snapshots_init(&h->ladder, &shape, err);
    if (!status)
        status = make_places(h, err);
    tide_live_release(h->live, space);
    return status;
}

tide_history *tide_history_new(tide_live *live, const tide_history_options *options,
                               tide_error *err)
{
    tide_history_options o = settled(options);
    if (check(&o, err))
        return NULL;
    tide_history *h = tide_alloc(1, sizeof *h);
    if (!h) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the history of words");
        return NULL;
    }
    h->options = o;
    h->live = live;
    pthread_mutex_init(&h->lock, NULL);
    if (make(h, err)) {
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
    tide_projection_release(&h->plane);
    tide_matrix_release(&h->fit_to);
    tide_matrix_release(&h->fit_from);
    tide_matrix_release(&h->latest);
    free(h->spots);
    free(h->turned);
    free(h->compared);
    free(h->usable);
    free(h->reading);
    free(h->free);
    free(h->saved);
    free(h->places);
    tide_snapshots_release(&h->ladder);
    free(h->alarms);
    free(h->departed);
    free(h->order);
    free(h->tenants);
    tide_vocabulary_free(h->model.vocabulary);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

void tide_history_reset(tide_history *h)
{
    uint32_t places = h->ladder.places;
    h->now = (double)NAN;
    h->clock = 0;
    h->arrived = h->pause = 0;
    h->turned_at = (double)NAN;
    h->fast = (tide_ema){.span = FAST_STEPS * h->options.step};
    h->slow = (tide_ema){.span = SLOW_STEPS * h->options.step};
    h->departed_count = 0;
    h->alarm_count = h->alarms_told = 0;
    h->watched = 0;
    h->free_count = places;
    for (uint32_t at = 0; at < places; at++) {
        h->places[at] = (tide_tracked_word){.slot = TIDE_NO_SLOT};
        h->free[at] = places - 1 - at;
        h->spots[at][0] = h->spots[at][1] = NAN;
    }
    tide_snapshots_clear(&h->ladder);
    const tide_view *space = tide_live_acquire(h->live);
    tide_word_stats_begin(h, space);
    tide_live_release(h->live, space);
}

/* -- looking ------------------------------------------------------------------------------------------- */

double tide_history_time(const tide_history *h, double clock)
{
    return h->now - (h->clock - clock);
}

uint32_t tide_history_drift_snapshot(const tide_history *h)
{
    return h->options.drift_age > 0
               ? tide_snapshots_nearest(&h->ladder, h->clock, h->options.drift_age,
                                        h->options.baseline)
               : tide_snapshots_oldest(&h->ladder, h->options.baseline);
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
    uint32_t count = h->options.rungs - 1;
    for (uint32_t i = 0; i < count; i++)
        ages[i] = ldexp(h->options.step, (int)i);
    return count;
}

static void look_at_words(tide_history *h, const tide_view *space, double now)
{
    pthread_mutex_lock(&h->lock);
    double seconds = now > h->now ? now - h->now : 0;
    h->clock += seconds;
    h->now = now;
    tide_word_stats_update(h, space, seconds);
    tide_tracked_words_update(h);
    for (uint32_t at = 0; at < h->ladder.places; at++)
        h->reading[at] = h->places[at].slot;
    h->looked = true;
    pthread_mutex_unlock(&h->lock);
}

int tide_history_update(tide_history *h, double now, tide_error *err)
{
    if (!(fabs(now) <= TIDE_TIME_MOST))
        return tide_fail(err, TIDE_ERROR_PARAMETER, "%g is no time", now);
    if (h->stopped)
        return TIDE_OK;
    const tide_view *space = tide_live_acquire(h->live);
    look_at_words(h, space, now);
    bool changed = tide_drift_read(h, space);
    tide_live_release(h->live, space);
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
