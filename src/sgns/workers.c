/* workers.c - the threads that train.
 *
 * The calling thread is the writer: it feeds the ingest, which emits sentences. With
 * one thread a sentence is trained at once. With more, sentences are packed into
 * batches, which go through a bounded queue to the worker threads. There they are
 * stored as they were read or replayed, and the worker selects what to train
 * (select.c), so that the writer, which limits the speed of many threads, has little
 * more to do than to count words. When no batch is free to be filled, the writer trains
 * queued batches itself: so `threads` threads are busy in all and memory stays bounded.
 *
 * Batches form a ring and are filled in its order. So the writer can tell from the ring
 * up to which sentence everything has been trained. That is all the ingest needs to
 * know to reuse a slot safely (ingest_words.c), and to rebuild a negative table that is
 * no longer drawn from.
 *
 *              trained               filling
 *                 v                     v
 *     ... [done][busy][done][busy][busy][ ]      all batches before `trained` are done
 *
 * Rows are trained without locks. Each thread caches the rows that all threads use
 * (hot_rows.c).
 */
#include "params/params.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vocab/vocab.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { BATCH_TOKENS = 4096, BATCH_SENTENCES = 256, BATCHES_PER_THREAD = 3 };

/* The hot rows are selected again when the number of batches has grown by a sixteenth,
 * but after SELECTION_BATCHES at the latest. One more batch per SELECTION_SLOTS slots
 * keeps the cost of the pass over the slots negligible. */
enum { SELECTION_GROWTH = 16, SELECTION_BATCHES = 4096, SELECTION_SLOTS = 1024 };

#define LOSS_WINDOW 1e6 /* pairs */

typedef struct batch {
    tide_sentence sentences[BATCH_SENTENCES];
    uint32_t tokens[BATCH_TOKENS];
    uint32_t sentence_count, token_count;
    uint64_t last_sentence;
    void (*job)(void *data); /* to be called instead of training, if not NULL */
    void *job_data;
    atomic_bool busy; /* queued or in training; becomes false under the lock */
} batch;

typedef struct worker {
    tide_workers *workers;
    tide_scratch *scratch;
    pthread_t thread;
} worker;

struct tide_workers {
    const tide_sgns *sgns;
    tide_scratch *scratch; /* the writer's */
    tide_sgns_progress progress;

    /* The rest is for more than one thread. */
    worker *workers;       /* [threads - 1] */
    uint64_t thread_count; /* workers that were started */
    batch *batches;        /* [batch_count], and one for a job */
    uint64_t batch_count;
    uint64_t filling; /* the batch being filled, at batches[filling % batch_count] */
    uint64_t trained; /* batches before this one are trained ... */
    uint64_t completed_sentence; /* ... and all that was emitted up to this sentence */
    tide_queue *queue;
    _Atomic uint32_t *selected; /* [TIDE_HOT_ROWS] slots to cache; or NULL */
    uint64_t next_selection;    /* the batch before which it is due */
    pthread_mutex_t lock;       /* for progress, and for waiting until not busy */
    pthread_cond_t freed;
    bool locks_initialized;
};

/* -- one thread -------------------------------------------------------------------- */

static void add_progress(tide_workers *c, const tide_sgns_progress *progress)
{
    c->progress.centers += progress->centers;
    if (!isfinite(progress->loss))
        return;
    double decay = exp(-progress->pairs / LOSS_WINDOW);
    c->progress.loss = c->progress.loss * decay + progress->loss;
    c->progress.pairs = c->progress.pairs * decay + progress->pairs;
}

static void train_now(void *self, const tide_sentence *sentence)
{
    tide_workers *c = self;
    tide_sgns_progress progress = {0};
    tide_sgns_train(c->sgns, c->scratch, sentence, &progress);
    add_progress(c, &progress);
}

static uint64_t all_completed(void *self)
{
    (void)self;
    return TIDE_ALL_SENTENCES;
}

static void drain_nothing(void *self)
{
    (void)self;
}

static void invalidate_nothing(void *self, uint32_t slot)
{
    (void)self, (void)slot;
}

tide_executor tide_executor_inline(void *self,
                                   void (*train)(void *, const tide_sentence *))
{
    return (tide_executor){
        self, train, all_completed, drain_nothing, invalidate_nothing, NULL};
}

/* -- several threads --------------------------------------------------------------- */

static void run_batch(tide_workers *c, tide_scratch *scratch, batch *b)
{
    tide_sgns_progress progress = {0};
    if (b->job)
        b->job(b->job_data);
    for (uint32_t i = 0; i < b->sentence_count; i++)
        tide_sgns_select_and_train(c->sgns, scratch, &b->sentences[i], &progress);
    pthread_mutex_lock(&c->lock);
    add_progress(c, &progress);
    atomic_store_explicit(&b->busy, false, memory_order_release);
    pthread_cond_signal(&c->freed);
    pthread_mutex_unlock(&c->lock);
}

static void *run_worker(void *argument)
{
    const worker *w = argument;
    batch *b;
    while ((b = tide_queue_pop(w->workers->queue)))
        run_batch(w->workers, w->scratch, b);
    return NULL;
}

static batch *batch_at(tide_workers *c, uint64_t number)
{
    return &c->batches[number % c->batch_count];
}

static bool is_busy(batch *b)
{
    return atomic_load_explicit(&b->busy, memory_order_acquire);
}

/* Returns when the batch is trained. Trains queued batches meanwhile; waits when there
 * are none because all that is left is in training in other threads. */
static void await_batch(tide_workers *c, batch *b)
{
    while (is_busy(b)) {
        batch *queued = tide_queue_try_pop(c->queue);
        if (queued) {
            run_batch(c, c->scratch, queued);
            continue;
        }
        pthread_mutex_lock(&c->lock);
        while (is_busy(b))
            pthread_cond_wait(&c->freed, &c->lock);
        pthread_mutex_unlock(&c->lock);
    }
}

/* Moves `trained` past all batches that are trained in ring order. What was emitted
 * during one sentence, which includes replays, may be split between two batches: so the
 * last sentence of a batch counts as completed only with the next batch. */
static void advance_completed(tide_workers *c)
{
    while (c->trained < c->filling && !is_busy(batch_at(c, c->trained)))
        c->completed_sentence = batch_at(c, c->trained++)->last_sentence - 1;
}

/* Selects the rows to cache if that is due. */
static void select_hot_rows(tide_workers *c)
{
    const tide_vocabulary *v = c->sgns->model->vocabulary;
    if (!c->selected || c->filling < c->next_selection)
        return;
    uint64_t growth = c->filling / SELECTION_GROWTH;
    tide_hot_rows_select(v, c->selected);
    c->next_selection = c->filling + tide_vocabulary_used(v) / SELECTION_SLOTS + 1 +
                        (growth < SELECTION_BATCHES ? growth : SELECTION_BATCHES);
}

/* `busy` is set before the push, because a worker may finish the batch before the push
 * returns. The queue orders it, and the content of the batch, before the worker. */
static void push_batch(tide_workers *c, batch *b)
{
    atomic_store_explicit(&b->busy, true, memory_order_relaxed);
    tide_queue_try_push(c->queue, b); /* never full: it has room for all batches */
}

/* Queues the batch being filled and makes the next one of the ring ready to be
 * filled. */
static void submit_batch(tide_workers *c)
{
    select_hot_rows(c);
    push_batch(c, batch_at(c, c->filling));
    batch *b = batch_at(c, ++c->filling);
    await_batch(c, b);
    advance_completed(c); /* while b->last_sentence is still valid */
    b->sentence_count = b->token_count = 0;
}

/* Copies a sentence into the batch being filled, which is submitted first if it has no
 * room. A sentence always fits an empty batch: SENTENCE_MAX < BATCH_TOKENS. */
static void enqueue(void *self, const tide_sentence *sentence)
{
    tide_workers *c = self;
    batch *b = batch_at(c, c->filling);
    if (b->sentence_count == BATCH_SENTENCES ||
        b->token_count + sentence->count > BATCH_TOKENS) {
        submit_batch(c);
        b = batch_at(c, c->filling);
    }
    uint32_t *slots = b->tokens + b->token_count;
    memcpy(slots, sentence->slots, sentence->count * sizeof *slots);
    b->token_count += sentence->count;
    b->sentences[b->sentence_count] = *sentence;
    b->sentences[b->sentence_count++].slots = slots;
    b->last_sentence = sentence->emitted_at;
}

static uint64_t completed(void *self)
{
    tide_workers *c = self;
    advance_completed(c);
    bool idle = c->trained == c->filling && !batch_at(c, c->filling)->sentence_count;
    return idle ? TIDE_ALL_SENTENCES : c->completed_sentence;
}

static void drain(void *self)
{
    tide_workers *c = self;
    if (batch_at(c, c->filling)->sentence_count)
        submit_batch(c);
    for (uint64_t i = 0; i <= c->batch_count; i++)
        await_batch(c, &c->batches[i]);
    tide_scratch_flush(c->scratch, c->sgns);
    for (uint64_t i = 0; i < c->thread_count; i++)
        tide_scratch_flush(c->workers[i].scratch, c->sgns);
}

static void invalidate(void *self, uint32_t slot)
{
    tide_workers *c = self;
    tide_scratch_invalidate(c->scratch, slot);
    for (uint64_t i = 0; i < c->thread_count; i++)
        tide_scratch_invalidate(c->workers[i].scratch, slot);
}

static void run_job(void *self, void (*job)(void *data), void *data)
{
    tide_workers *c = self;
    batch *b = &c->batches[c->batch_count];
    await_batch(c, b); /* the previous job */
    b->job = job;
    b->job_data = data;
    push_batch(c, b);
}

/* -- construction ------------------------------------------------------------------ */

/* With negatives per pair, training a pair takes so long that threads rarely touch the
 * same row at the same time. */
static bool uses_hot_rows(const tide_params *params)
{
    return params->threads > 1 &&
           params->negative_sharing == TIDE_NEGATIVE_SHARING_SHARED;
}

static int alloc_selection(tide_workers *c, tide_error *err)
{
    c->selected = tide_alloc(TIDE_HOT_ROWS, sizeof *c->selected);
    if (!c->selected)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
    tide_hot_rows_select_none(c->selected);
    return TIDE_OK;
}

static tide_scratch *new_scratch(const tide_workers *c, tide_error *err)
{
    return tide_scratch_new(c->sgns->model->shape.dim, c->selected, err);
}

static int start_thread(tide_workers *c, tide_error *err)
{
    worker *w = &c->workers[c->thread_count];
    w->workers = c;
    w->scratch = new_scratch(c, err);
    if (!w->scratch)
        return TIDE_ERROR_MEMORY;
    sigset_t all, before;
    sigfillset(&all); /* signals are handled by the writer */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, run_worker, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        tide_scratch_free(w->scratch);
        return tide_fail(err, TIDE_ERROR_MEMORY, "cannot start thread %llu",
                         (unsigned long long)c->thread_count + 2);
    }
    c->thread_count++;
    return TIDE_OK;
}

static int start_threads(tide_workers *c, uint64_t threads, tide_error *err)
{
    c->batch_count = threads * BATCHES_PER_THREAD;
    c->batches = tide_alloc(c->batch_count + 1, sizeof *c->batches);
    c->workers = tide_alloc(threads - 1, sizeof *c->workers);
    if (!c->batches || !c->workers)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %llu threads",
                         (unsigned long long)threads);
    c->queue = tide_queue_new(c->batch_count + 1, err);
    if (!c->queue)
        return TIDE_ERROR_MEMORY;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->freed, NULL);
    c->locks_initialized = true;
    int status = TIDE_OK;
    while (c->thread_count + 1 < threads && !status)
        status = start_thread(c, err);
    return status;
}

uint64_t tide_workers_bytes(const tide_params *params)
{
    uint64_t threads = params->threads;
    bool hot_rows = uses_hot_rows(params);
    uint64_t bytes = threads * tide_scratch_bytes((uint32_t)params->dim, hot_rows);
    if (hot_rows)
        bytes += TIDE_HOT_ROWS * sizeof(uint32_t);
    return threads < 2 ? bytes
                       : bytes + (threads * BATCHES_PER_THREAD + 1) * sizeof(batch);
}

tide_workers *tide_workers_new(const tide_sgns *sgns, tide_error *err)
{
    tide_workers *c = tide_alloc(1, sizeof *c);
    if (!c) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a trainer");
        return NULL;
    }
    c->sgns = sgns;
    bool failed = uses_hot_rows(sgns->params) && alloc_selection(c, err);
    c->scratch = failed ? NULL : new_scratch(c, err);
    uint64_t threads = sgns->params->threads;
    if (!c->scratch || (threads > 1 && start_threads(c, threads, err))) {
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
        tide_scratch_free(c->workers[i].scratch);
    }
    tide_queue_free(c->queue);
    if (c->locks_initialized) {
        pthread_cond_destroy(&c->freed);
        pthread_mutex_destroy(&c->lock);
    }
    free((void *)c->selected);
    free(c->workers);
    free(c->batches);
    tide_scratch_free(c->scratch);
    free(c);
}

tide_executor tide_workers_executor(tide_workers *c)
{
    if (c->batches)
        return (tide_executor){c, enqueue, completed, drain, invalidate, run_job};
    return tide_executor_inline(c, train_now);
}

tide_sgns_progress tide_workers_progress(tide_workers *c)
{
    if (c->locks_initialized)
        pthread_mutex_lock(&c->lock);
    tide_sgns_progress progress = c->progress;
    if (c->locks_initialized)
        pthread_mutex_unlock(&c->lock);
    return progress;
}

void tide_workers_restore(tide_workers *c, tide_sgns_progress progress)
{
    c->progress = progress;
}
