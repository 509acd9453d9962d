/* workers.c - the threads that learn.
 *
 * The caller's thread is the writer: it feeds the intake, which gives lessons. With one thread a
 * lesson is learned on the spot. With more, lessons are packed into batches that go through a
 * bounded queue to the other threads; when no batch is free to be filled, the writer learns one
 * itself, so that `threads` threads are busy and memory stays bounded.
 *
 * Batches are filled in the order of a ring. The writer therefore knows, when it looks at the ring,
 * up to which sentence everything has been learned, and that is all the intake needs in order to
 * give a slot to another word safely (ingest.c), and to rebuild a table that nobody draws from.
 *
 * Rows are learned without locks. Of those that all threads want all the time each has copies (hot_rows.c).
 */
#include "params/params.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vocab/vocab.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { BATCH_TOKENS = 2048, BATCH_LESSONS = 256, BATCHES_PER_THREAD = 3 };

/* Frequent words are looked for when there is a sixteenth more of batches, or CHOICE_BATCHES, but not so often that
 * going through the slots would be noticed beside learning: after a batch for every CHOICE_SLOTS of them. */
enum { CHOICE_GROWTH = 16, CHOICE_BATCHES = 4096, CHOICE_SLOTS = 1024 };

#define LOSS_WINDOW 1e6 /* pairs */

typedef struct batch {
    tide_sentence lessons[BATCH_LESSONS];
    uint32_t tokens[BATCH_TOKENS];
    uint32_t lesson_count, token_count;
    uint64_t last_sentence;
    bool busy; /* queued or being learned; under the lock */
} batch;

typedef struct worker {
    tide_workers *crew;
    tide_scratch *desk;
    pthread_t thread;
} worker;

struct tide_workers {
    const tide_sgns *learner;
    tide_scratch *desk; /* the writer's */
    tide_sgns_progress progress;

    /* more than one thread */
    worker *workers;       /* [threads - 1] */
    uint64_t thread_count; /* of them that were started */
    batch *batches;        /* [batch_count] */
    uint64_t batch_count;
    uint64_t
        filling; /* number of the batch being filled; its place is filling % batch_count */
    uint64_t settled;  /* batches before this number are learned */
    uint64_t finished; /* and so are all lessons up to this sentence */
    tide_queue *queue;
    _Atomic uint32_t *chosen; /* [TIDE_HOT_ROWS] slots that all threads want; or NULL */
    uint64_t next_choice;     /* in batches */
    pthread_mutex_t lock;     /* of busy and progress */
    pthread_cond_t freed;
    bool locks_made;
};

/* -- one thread -------------------------------------------------------------------------------------- */

static void note_learned(tide_workers *c, const tide_sgns_progress *learned)
{
    c->progress.centers += learned->centers;
    if (!isfinite(learned->loss))
        return;
    double keep = exp(-learned->pairs / LOSS_WINDOW);
    c->progress.loss = c->progress.loss * keep + learned->loss;
    c->progress.pairs = c->progress.pairs * keep + learned->pairs;
}

static void learn_now(void *self, const tide_sentence *lesson)
{
    tide_workers *c = self;
    tide_sgns_progress learned = {0};
    tide_sgns_train(c->learner, c->desk, lesson, &learned);
    note_learned(c, &learned);
}

static uint64_t all_finished(void *self)
{
    (void)self;
    return TIDE_ALL_SENTENCES;
}

static void no_wait(void *self)
{
    (void)self;
}

static void no_recall(void *self, uint32_t slot)
{
    (void)self, (void)slot;
}

tide_executor tide_executor_inline(void *self,
                                   void (*teach)(void *, const tide_sentence *))
{
    return (tide_executor){self, teach, all_finished, no_wait, no_recall};
}

/* -- several ------------------------------------------------------------------------------------------ */

static void learn_batch(tide_workers *c, tide_scratch *desk, batch *b)
{
    tide_sgns_progress learned = {0};
    for (uint32_t i = 0; i < b->lesson_count; i++)
        tide_sgns_train(c->learner, desk, &b->lessons[i], &learned);
    pthread_mutex_lock(&c->lock);
    note_learned(c, &learned);
    b->busy = false;
    pthread_cond_signal(&c->freed);
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *argument)
{
    const worker *w = argument;
    batch *b;
    while ((b = tide_queue_pop(w->crew->queue)))
        learn_batch(w->crew, w->desk, b);
    return NULL;
}

static batch *batch_at(tide_workers *c, uint64_t number)
{
    return &c->batches[number % c->batch_count];
}

static bool is_busy(tide_workers *c, batch *b)
{
    pthread_mutex_lock(&c->lock);
    bool busy = b->busy;
    pthread_mutex_unlock(&c->lock);
    return busy;
}

/* Learns what is queued, and waits for what others are learning, until the batch is free. */
static void free_batch(tide_workers *c, batch *b)
{
    while (is_busy(c, b)) {
        batch *queued = tide_queue_try_pop(c->queue);
        if (queued) {
            learn_batch(c, c->desk, queued);
            continue;
        }
        pthread_mutex_lock(&c->lock);
        while (b->busy)
            pthread_cond_wait(&c->freed, &c->lock);
        pthread_mutex_unlock(&c->lock);
    }
}

/* Looks how far the ring has been learned. A sentence's lessons may lie in two batches, so the last
 * one of a batch may go on in the next. */
static void settle(tide_workers *c)
{
    while (c->settled < c->filling && !is_busy(c, batch_at(c, c->settled)))
        c->finished = batch_at(c, c->settled++)->last_sentence - 1;
}

/* Looks for the words that all threads want. */
static void choose(tide_workers *c)
{
    const tide_vocabulary *v = c->learner->model->vocabulary;
    if (!c->chosen || c->filling < c->next_choice)
        return;
    uint64_t growth = c->filling / CHOICE_GROWTH;
    tide_hot_rows_select(v, c->chosen);
    c->next_choice = c->filling + tide_vocabulary_used(v) / CHOICE_SLOTS + 1 +
                     (growth < CHOICE_BATCHES ? growth : CHOICE_BATCHES);
}

static void hand_over(tide_workers *c)
{
    choose(c);
    batch *b = batch_at(c, c->filling);
    pthread_mutex_lock(&c->lock);
    b->busy = true;
    pthread_mutex_unlock(&c->lock);
    tide_queue_try_push(c->queue, b); /* has room for all batches */
    b = batch_at(c, ++c->filling);
    free_batch(c, b);
    settle(c); /* before the batch is filled anew */
    b->lesson_count = b->token_count = 0;
}

static void pack(void *self, const tide_sentence *lesson)
{
    tide_workers *c = self;
    batch *b = batch_at(c, c->filling);
    if (b->lesson_count == BATCH_LESSONS ||
        b->token_count + lesson->count > BATCH_TOKENS) {
        hand_over(c);
        b = batch_at(c, c->filling);
    }
    uint32_t *slots = b->tokens + b->token_count;
    memcpy(slots, lesson->slots, lesson->count * sizeof *slots);
    b->token_count += lesson->count;
    b->lessons[b->lesson_count] = *lesson;
    b->lessons[b->lesson_count++].slots = slots;
    b->last_sentence = lesson->sentence;
}

static uint64_t last_finished(void *self)
{
    tide_workers *c = self;
    settle(c);
    bool idle = c->settled == c->filling && !batch_at(c, c->filling)->lesson_count;
    return idle ? TIDE_ALL_SENTENCES : c->finished;
}

static void wait_for_all(void *self)
{
    tide_workers *c = self;
    if (batch_at(c, c->filling)->lesson_count)
        hand_over(c);
    for (uint64_t i = 0; i < c->batch_count; i++)
        free_batch(c, &c->batches[i]);
    tide_scratch_flush(c->desk, c->learner);
    for (uint64_t i = 0; i < c->thread_count; i++)
        tide_scratch_flush(c->workers[i].desk, c->learner);
}

static void recall(void *self, uint32_t slot)
{
    tide_workers *c = self;
    tide_scratch_invalidate(c->desk, slot);
    for (uint64_t i = 0; i < c->thread_count; i++)
        tide_scratch_invalidate(c->workers[i].desk, slot);
}

/* -- making ------------------------------------------------------------------------------------- */

/* Pairs that have negatives of their own take so long that nobody gets in another's way. */
static bool wants_copies(const tide_params *params)
{
    return params->threads > 1 && params->negatives == NEGATIVES_SHARED;
}

static int prepare_choice(tide_workers *c, tide_error *err)
{
    c->chosen = tide_alloc(TIDE_HOT_ROWS, sizeof *c->chosen);
    if (!c->chosen)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
    tide_hot_rows_select_none(c->chosen);
    return TIDE_OK;
}

static tide_scratch *new_desk(const tide_workers *c, tide_error *err)
{
    return tide_scratch_new(c->learner->model->shape.dim, c->chosen, err);
}

static int start_thread(tide_workers *c, tide_error *err)
{
    worker *w = &c->workers[c->thread_count];
    w->crew = c;
    w->desk = new_desk(c, err);
    if (!w->desk)
        return TIDE_ERROR_MEMORY;
    sigset_t all, before;
    sigfillset(&all); /* signals are for the thread that reads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        tide_scratch_free(w->desk);
        return tide_fail(err, TIDE_ERROR_MEMORY, "cannot start thread %llu",
                         (unsigned long long)c->thread_count + 2);
    }
    c->thread_count++;
    return TIDE_OK;
}

static int prepare_threads(tide_workers *c, uint64_t threads, tide_error *err)
{
    c->batch_count = threads * BATCHES_PER_THREAD;
    c->batches = tide_alloc(c->batch_count, sizeof *c->batches);
    c->workers = tide_alloc(threads - 1, sizeof *c->workers);
    if (!c->batches || !c->workers)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %llu threads",
                         (unsigned long long)threads);
    c->queue = tide_queue_new(c->batch_count, err);
    if (!c->queue)
        return TIDE_ERROR_MEMORY;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->freed, NULL);
    c->locks_made = true;
    int status = TIDE_OK;
    while (c->thread_count + 1 < threads && !status)
        status = start_thread(c, err);
    return status;
}

uint64_t tide_workers_bytes(const tide_params *params)
{
    uint64_t threads = params->threads;
    bool copies = wants_copies(params);
    uint64_t desks = threads * tide_scratch_bytes((uint32_t)params->dim, copies);
    if (copies)
        desks += TIDE_HOT_ROWS * sizeof(uint32_t);
    return threads < 2 ? desks : desks + threads * BATCHES_PER_THREAD * sizeof(batch);
}

tide_workers *tide_workers_new(const tide_sgns *learner, tide_error *err)
{
    tide_workers *c = tide_alloc(1, sizeof *c);
    if (!c) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
        return NULL;
    }
    c->learner = learner;
    bool failed = wants_copies(learner->params) && prepare_choice(c, err);
    c->desk = failed ? NULL : new_desk(c, err);
    uint64_t threads = learner->params->threads;
    if (!c->desk || (threads > 1 && prepare_threads(c, threads, err))) {
        tide_workers_free(c);
        return NULL;
    }
    return c;
}

void tide_workers_free(tide_workers *c)
{
    if (!c)
        return;
    if (c->queue)
        tide_queue_close(c->queue);
    for (uint64_t i = 0; i < c->thread_count; i++) {
        pthread_join(c->workers[i].thread, NULL);
        tide_scratch_free(c->workers[i].desk);
    }
    tide_queue_free(c->queue);
    if (c->locks_made) {
        pthread_cond_destroy(&c->freed);
        pthread_mutex_destroy(&c->lock);
    }
    free((void *)c->chosen);
    free(c->workers);
    free(c->batches);
    tide_scratch_free(c->desk);
    free(c);
}

tide_executor tide_workers_executor(tide_workers *c)
{
    if (c->batches)
        return (tide_executor){c, pack, last_finished, wait_for_all, recall};
    return tide_executor_inline(c, learn_now);
}

tide_sgns_progress tide_workers_progress(tide_workers *c)
{
    if (c->locks_made)
        pthread_mutex_lock(&c->lock);
    tide_sgns_progress progress = c->progress;
    if (c->locks_made)
        pthread_mutex_unlock(&c->lock);
    return progress;
}

void tide_workers_restore(tide_workers *c, tide_sgns_progress progress)
{
    c->progress = progress;
}
