/* live.c - querying a model while it is trained.
 *
 * Rows are trained without locks, so they can be read without locks too. What cannot be
 * read beside its writer is the vocabulary, a table in which words come, go and move.
 * So it is double buffered: there are two copies of it, each with a view on it
 * (query/view.c). All queries share the current one. From time to time the training
 * thread updates the other one, unless a query still uses it, and makes it the current
 * one. No thread waits for long: the lock is held only to count readers and to swap a
 * pointer.
 *
 *     vocabulary --copied--> buffer 0   buffer 1 <-- acquire ... release, any threads
 *     rows <----------------- both views read the same rows
 *
 * A word may be evicted while a query uses its view. Its slot is then reused. The
 * slot's generation is incremented before anything of the new word is written, and a
 * reader that sees a new generation discards what it read.
 *
 * While the vocabulary is copied and ranked, nothing is trained. That happens at most
 * twice per second and takes at most a fiftieth of the time.
 */
#include "model/model.h"
#include "params/params.h"
#include "query/query.h"
#include "train/train.h"
#include "train/trainer_internal.h"
#include "vocab/vocab.h"

#include <pthread.h>
#include <stdlib.h>

#define UPDATE_SECONDS 0.5
#define UPDATE_SHARE 0.02

typedef struct buffer {
    tide_model model; /* the trainer's, except for the vocabulary */
    tide_view *view;
    uint32_t readers;
} buffer;

struct tide_live {
    tide_trainer *trainer;
    _Atomic uint32_t *generations; /* [vocab] */
    pthread_mutex_t lock;          /* of what follows, up to `stats` */
    buffer buffers[2];
    buffer *current;
    tide_stats stats;

    double updated;        /* time of the last update */
    double update_seconds; /* how long it took */
    uint64_t updated_tokens;
};

/* -- construction ------------------------------------------------------------------ */

static int buffer_init(buffer *b, tide_live *live, tide_vectors vectors, bool centered,
                       tide_error *err)
{
    /* A shallow copy: rows, n-grams and shape are the trainer's own, only the
     * vocabulary is replaced by a copy that this buffer owns. */
    b->model = *live->trainer->model;
    b->model.vocabulary = tide_vocabulary_new_copy(b->model.vocabulary, err);
    if (!b->model.vocabulary)
        return TIDE_ERROR_MEMORY;
    b->view = tide_view_new_live(&b->model, vectors, centered, live->generations, err);
    return b->view ? TIDE_OK : TIDE_ERROR_MEMORY;
}

tide_live *tide_live_new(tide_trainer *trainer, tide_vectors vectors, bool centered,
                         tide_error *err)
{
    if (trainer->live) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "the trainer has a live model already");
        return NULL;
    }
    tide_live *live = tide_alloc(1, sizeof *live);
    if (!live) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a live model");
        return NULL;
    }
    live->trainer = trainer;
    pthread_mutex_init(&live->lock, NULL);
    live->generations =
        tide_alloc(tide_model_capacity(trainer->model), sizeof *live->generations);
    if (!live->generations)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a live model");
    if (!live->generations ||
        buffer_init(&live->buffers[0], live, vectors, centered, err) ||
        buffer_init(&live->buffers[1], live, vectors, centered, err)) {
        tide_live_free(live);
        return NULL;
    }
    /* Empty at this point; the update below fills the other buffer and makes it
     * current, so queries never see a view without words. */
    live->current = &live->buffers[0];
    tide_ingest_count_generations(trainer->ingest, live->generations);
    trainer->live = live;
    tide_live_update(live);
    return live;
}

void tide_live_free(tide_live *live)
{
    if (!live)
        return;
    tide_ingest_count_generations(live->trainer->ingest, NULL);
    live->trainer->live = NULL;
    /* The models are not freed as such, since everything else in them belongs to the
     * trainer. */
    for (int i = 0; i < 2; i++) {
        tide_view_free(live->buffers[i].view);
        tide_vocabulary_free(live->buffers[i].model.vocabulary);
    }
    free((void *)live->generations);
    pthread_mutex_destroy(&live->lock);
    free(live);
}

uint64_t tide_live_bytes(const tide_params *params)
{
    tide_shape shape = tide_params_shape(params);
    uint64_t view_bytes =
        tide_vocabulary_copy_bytes(&shape.vocabulary) + tide_view_live_bytes(&shape);
    return sizeof(tide_live) + 2 * view_bytes + params->vocab * sizeof(uint32_t);
}

/* -- training thread --------------------------------------------------------------- */

static buffer *unused_buffer(tide_live *live)
{
    pthread_mutex_lock(&live->lock);
    /* Readers are only ever added to the current buffer, so a count of 0 seen here
     * stays 0: the buffer can be written without the lock. */
    buffer *other = &live->buffers[live->current == live->buffers];
    buffer *found = other->readers ? NULL : other;
    pthread_mutex_unlock(&live->lock);
    return found;
}

static void update_stats(tide_live *live)
{
    tide_stats stats;
    tide_trainer_stats(live->trainer, &stats, sizeof stats);
    pthread_mutex_lock(&live->lock);
    live->stats = stats;
    pthread_mutex_unlock(&live->lock);
}

bool tide_live_update(tide_live *live)
{
    double start = tide_now_seconds();
    tide_ingest *ingest = live->trainer->ingest;
    buffer *next = unused_buffer(live);
    update_stats(live);
    /* A query still uses the view before the last. The current one then stays a little
     * longer; training does not wait. */
    if (!next)
        return false;
    /* Afterwards no slot is quarantined: every word in the vocabulary has its own
     * vector, and the generations match the copy. */
    tide_ingest_drain(ingest);
    tide_vocabulary_copy(next->model.vocabulary, live->trainer->model->vocabulary);
    tide_view_refresh(next->view);
    pthread_mutex_lock(&live->lock);
    live->current = next;
    pthread_mutex_unlock(&live->lock);
    live->updated = tide_now_seconds();
    live->update_seconds = live->updated - start;
    live->updated_tokens = tide_ingest_tokens(ingest);
    return true;
}

void tide_live_tick(tide_live *live, double now)
{
    /* An update that took t seconds is followed by at least 50 t seconds of
     * training. */
    double wait = live->update_seconds / UPDATE_SHARE;
    if (now - live->updated < (wait > UPDATE_SECONDS ? wait : UPDATE_SECONDS) ||
        live->updated_tokens == tide_ingest_tokens(live->trainer->ingest))
        update_stats(live);
    else
        tide_live_update(live);
}

/* -- queries ----------------------------------------------------------------------- */

const tide_view *tide_live_acquire(tide_live *live)
{
    pthread_mutex_lock(&live->lock);
    buffer *b = live->current;
    /* Counted under the lock that also protects `current`, so the training thread
     * cannot pick this buffer between the two. */
    b->readers++;
    pthread_mutex_unlock(&live->lock);
    return b->view;
}

void tide_live_release(tide_live *live, const tide_view *view)
{
    pthread_mutex_lock(&live->lock);
    live->buffers[view != live->buffers[0].view].readers--;
    pthread_mutex_unlock(&live->lock);
}

void tide_live_stats(tide_live *live, tide_stats *stats, size_t size)
{
    pthread_mutex_lock(&live->lock);
    /* The caller may have been compiled with a shorter or a longer struct. */
    tide_copy_sized(stats, size, &live->stats, sizeof live->stats);
    pthread_mutex_unlock(&live->lock);
}
