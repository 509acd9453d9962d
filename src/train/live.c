/* live.c - asking a model while it learns.
 *
 * Rows are learned without locks, so they may as well be read without. What cannot be read beside its
 * writer is the vocabulary: a table in which words come, go and move. So there are two copies of it, each
 * with a space over it (query/view.c). Those who ask share the present one. Now and then the thread that
 * learns fills the other, if nobody is left who still asks it, and makes it the present one. Nobody waits:
 * the lock is held to count readers and to change a pointer.
 *
 *     vocabulary ──copied──► view 0   view 1 ◄── begin ... end, any number of threads
 *     rows ◄───────────────── both read the same rows
 *
 * A word may leave while its view is being asked. The slot then has changed hands, which is counted before
 * anything of the newcomer is written, and the answer is not given.
 *
 * While the vocabulary is copied and ranked, nothing is learned. It is done at most twice a second and takes at most
 * a fiftieth of the time.
 */
#include "model/model.h"
#include "params/params.h"
#include "query/query.h"
#include "train/train.h"
#include "vocab/vocab.h"

#include <pthread.h>
#include <stdlib.h>

#define LOOK_SECONDS 0.5
#define LOOK_SHARE 0.02

typedef struct view {
    tide_model model; /* the trainer's, but for the vocabulary */
    tide_view *space;
    uint32_t readers;
} view;

struct tide_live {
    tide_trainer *trainer;
    _Atomic uint32_t *hands; /* [vocab] */
    pthread_mutex_t lock;    /* of all below but `looked` and so on */
    view views[2];
    view *present;
    tide_stats stats;

    double looked; /* when, and how long that took */
    double took;
    uint64_t looked_tokens;
};

/* -- making ------------------------------------------------------------------------------------- */

static int make_view(view *v, tide_live *live, tide_vectors vectors, bool centered,
                     tide_error *err)
{
    v->model = *tide_trainer_model(live->trainer);
    v->model.vocabulary = tide_vocabulary_new_copy(v->model.vocabulary, err);
    if (!v->model.vocabulary)
        return TIDE_ERROR_MEMORY;
    v->space = tide_view_new_live(&v->model, vectors, centered, live->hands, err);
    return v->space ? TIDE_OK : TIDE_ERROR_MEMORY;
}

tide_live *tide_live_new(tide_trainer *trainer, tide_vectors vectors, bool centered,
                         tide_error *err)
{
    if (tide_trainer_live(trainer)) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "the trainer is being asked already");
        return NULL;
    }
    tide_live *live = tide_alloc(1, sizeof *live);
    if (!live) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to ask the model while it learns");
        return NULL;
    }
    live->trainer = trainer;
    pthread_mutex_init(&live->lock, NULL);
    live->hands = tide_alloc(tide_model_capacity(tide_trainer_model(trainer)),
                             sizeof *live->hands);
    if (!live->hands)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to ask the model while it learns");
    if (!live->hands || make_view(&live->views[0], live, vectors, centered, err) ||
        make_view(&live->views[1], live, vectors, centered, err)) {
        tide_live_free(live);
        return NULL;
    }
    live->present = &live->views[0];
    tide_ingest_count_generations(tide_trainer_intake(trainer), live->hands);
    tide_trainer_set_live(trainer, live);
    tide_live_update(live);
    return live;
}

void tide_live_free(tide_live *live)
{
    if (!live)
        return;
    tide_ingest_count_generations(tide_trainer_intake(live->trainer), NULL);
    tide_trainer_set_live(live->trainer, NULL);
    for (int i = 0; i < 2; i++) {
        tide_view_free(live->views[i].space);
        tide_vocabulary_free(live->views[i].model.vocabulary);
    }
    free((void *)live->hands);
    pthread_mutex_destroy(&live->lock);
    free(live);
}

uint64_t tide_live_bytes(const tide_params *params)
{
    tide_shape shape = tide_params_shape(params);
    uint64_t one =
        tide_vocabulary_copy_bytes(&shape.vocabulary) + tide_view_live_bytes(&shape);
    return sizeof(tide_live) + 2 * one + params->vocab * sizeof(uint32_t);
}

/* -- the thread that learns ----------------------------------------------------------------------- */

static view *free_view(tide_live *live)
{
    pthread_mutex_lock(&live->lock);
    view *other = &live->views[live->present == live->views];
    view *found = other->readers ? NULL : other;
    pthread_mutex_unlock(&live->lock);
    return found;
}

static void tell_stats(tide_live *live)
{
    tide_stats stats;
    tide_trainer_stats(live->trainer, &stats);
    pthread_mutex_lock(&live->lock);
    live->stats = stats;
    pthread_mutex_unlock(&live->lock);
}

bool tide_live_update(tide_live *live)
{
    double start = tide_now_seconds();
    tide_ingest *intake = tide_trainer_intake(live->trainer);
    view *next = free_view(live);
    tell_stats(live);
    if (!next)
        return false;
    tide_ingest_drain(intake);
    tide_vocabulary_copy(next->model.vocabulary,
                         tide_trainer_model(live->trainer)->vocabulary);
    tide_view_refresh(next->space);
    pthread_mutex_lock(&live->lock);
    live->present = next;
    pthread_mutex_unlock(&live->lock);
    live->looked = tide_now_seconds();
    live->took = live->looked - start;
    live->looked_tokens = tide_ingest_tokens(intake);
    return true;
}

void tide_live_tick(tide_live *live, double now)
{
    double wait = live->took / LOOK_SHARE;
    if (now - live->looked < (wait > LOOK_SECONDS ? wait : LOOK_SECONDS) ||
        live->looked_tokens == tide_ingest_tokens(tide_trainer_intake(live->trainer)))
        tell_stats(live);
    else
        tide_live_update(live);
}

/* -- those who ask -------------------------------------------------------------------------------- */

const tide_view *tide_live_acquire(tide_live *live)
{
    pthread_mutex_lock(&live->lock);
    view *v = live->present;
    v->readers++;
    pthread_mutex_unlock(&live->lock);
    return v->space;
}

void tide_live_release(tide_live *live, const tide_view *space)
{
    pthread_mutex_lock(&live->lock);
    live->views[space != live->views[0].space].readers--;
    pthread_mutex_unlock(&live->lock);
}

void tide_live_stats(tide_live *live, tide_stats *stats)
{
    pthread_mutex_lock(&live->lock);
    *stats = live->stats;
    pthread_mutex_unlock(&live->lock);
}
