/* search_batcher.c - nearest-neighbor searches, several per scan of the vectors.
 *
 * A search reads every vector, and a scan answers one query in about the same time as
 * sixteen (query/nearest.c). So requests queue here, and one thread serves everything
 * that has queued. A request that finds the thread idle is answered at once. After each
 * scan the thread cools down for five times as long as the scan took, at most 20 ms,
 * unless a full batch is waiting. Meanwhile queries accumulate, so that searching takes
 * about a sixth of one processor when that suffices and never more than one.
 */
#include "search_batcher.h"

#include "answer.h"
#include "suggest.h"

#include "base/base.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MAX = 16 }; /* queries that one scan has room for */

#define COOL_DOWN_FACTOR 5.0 /* times the duration of the scan */
#define COOL_DOWN_MAX_SECONDS 0.02

struct search_batcher {
    tide_live *live;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    request_queue queue;
    struct timespec cooled_down; /* monotonic; used by the thread only */
    bool closing;
};

/* -- search requests --------------------------------------------------------------- */

search_request *search_request_new(uint32_t topn, const char *result_name)
{
    search_request *search = calloc(1, sizeof *search);
    if (search) {
        search->topn = topn;
        search->result_name = result_name;
        search->members = json_object();
    }
    return search;
}

void search_request_free(search_request *search)
{
    if (!search)
        return;
    for (size_t i = 0; i < search->positive_count; i++)
        free(search->positive[i]);
    for (size_t i = 0; i < search->negative_count; i++)
        free(search->negative[i]);
    json_decref(search->members);
    free(search);
}

/* -- one request ------------------------------------------------------------------- */

static tide_search make_search(const search_request *search, tide_hit *hits)
{
    return (tide_search){.query = {.positive = (const char *const *)search->positive,
                                   .positive_count = search->positive_count,
                                   .negative = (const char *const *)search->negative,
                                   .negative_count = search->negative_count},
                         .hits = hits,
                         .capacity = search->topn};
}

/* Returns the first word of a query that has no vector. */
static const char *find_unknown_word(const tide_view *view, const tide_query *query)
{
    float vector[TIDE_DIM_MAX]; /* not used: only whether there is one matters */
    for (size_t i = 0; i < query->positive_count; i++)
        if (tide_view_mean(view, query->positive[i], vector, NULL))
            return query->positive[i];
    for (size_t i = 0; i < query->negative_count; i++)
        if (tide_view_mean(view, query->negative[i], vector, NULL))
            return query->negative[i];
    return query->positive_count ? query->positive[0] : "";
}

static void answer_search(request *r, const tide_view *view, const tide_search *search)
{
    if (search->found == TIDE_ERROR_NOT_FOUND) {
        answer_unknown_word(r, view, find_unknown_word(view, &search->query));
        return;
    }
    if (search->found < 0) {
        answer_problem(r, search->found == TIDE_ERROR_PARAMETER ? 400 : 503,
                       PROBLEM_PLAIN, NULL, "%s", search->error.text);
        return;
    }
    json_t *hits = json_array();
    for (int i = 0; i < search->found; i++)
        json_array_append_new(hits, json_pack("{s:o, s:f}", "word",
                                              json_word(search->hits[i].word), "score",
                                              (double)search->hits[i].score));
    json_t *answer = json_object();
    json_object_update(answer, r->search->members);
    json_object_set_new(answer, r->search->result_name, hits);
    answer_json(r, 200, answer);
}

/* -- batches ----------------------------------------------------------------------- */

static void answer_batch(search_batcher *b, tide_hit (*hits)[LIST_MAX],
                         request **requests, size_t count)
{
    tide_search searches[BATCH_MAX];
    /* All queries of a batch see the same words. The answers are complete before the
     * view is released, because hits point to its words. */
    const tide_view *view = tide_live_acquire(b->live);
    for (size_t i = 0; i < count; i++)
        searches[i] = make_search(requests[i]->search, hits[i]);
    tide_view_search(view, searches, count);
    for (size_t i = 0; i < count; i++)
        answer_search(requests[i], view, &searches[i]);
    tide_live_release(b->live, view);
}

/* Waits for a request and then until the thread has cooled down or a batch is full. */
static void wait_for_batch(search_batcher *b)
{
    while (!b->queue.count && !b->closing)
        pthread_cond_wait(&b->changed, &b->lock);
    /* After an idle time `cooled_down` is in the past, so a lone request does not wait
     * here. */
    while (b->queue.count < BATCH_MAX && !b->closing &&
           pthread_cond_clockwait(&b->changed, &b->lock, CLOCK_MONOTONIC,
                                  &b->cooled_down) != ETIMEDOUT)
        ;
}

/* Returns the size of the batch; 0 when the batcher is closed and the queue is
 * empty. */
static size_t dequeue_batch(search_batcher *b, request **requests)
{
    pthread_mutex_lock(&b->lock);
    wait_for_batch(b);
    size_t count = request_queue_pop(&b->queue, requests, BATCH_MAX);
    pthread_mutex_unlock(&b->lock);
    return count;
}

static void cool_down(search_batcher *b, double scan_seconds)
{
    double seconds = COOL_DOWN_FACTOR * scan_seconds < COOL_DOWN_MAX_SECONDS
                         ? COOL_DOWN_FACTOR * scan_seconds
                         : COOL_DOWN_MAX_SECONDS;
    b->cooled_down = tide_deadline((int64_t)(1e9 * seconds));
}

static void *run_batches(void *argument)
{
    search_batcher *b = argument;
    request *requests[BATCH_MAX];
    tide_hit(*hits)[LIST_MAX] = calloc(BATCH_MAX, sizeof *hits);
    size_t count;
    while ((count = dequeue_batch(b, requests)) > 0) {
        /* Processor time, since that is what searches must not take from training: on a
         * busy machine a scan lasts longer without costing more. */
        double start = tide_cpu_seconds();
        if (hits) /* otherwise http.c answers 503 */
            answer_batch(b, hits, requests, count);
        for (size_t i = 0; i < count; i++)
            resume_request(requests[i]);
        cool_down(b, tide_cpu_seconds() - start);
    }
    free(hits);
    return NULL;
}

void search_batcher_submit(search_batcher *b, request *r)
{
    /* Before it is queued: from then on the thread may resume it at any moment. */
    suspend_request(r);
    pthread_mutex_lock(&b->lock);
    bool closed = b->closing;
    if (!closed) {
        request_queue_push(&b->queue, r);
        /* The first request ends the wait for any, and one that fills the batch ends
         * the cool-down. Those between need not wake the thread. */
        if (b->queue.count == 1 || b->queue.count == BATCH_MAX)
            pthread_cond_signal(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    if (closed)
        resume_request(r); /* without an answer, so http.c sends 503 */
}

/* -- lifetime ---------------------------------------------------------------------- */

search_batcher *search_batcher_open(tide_live *live)
{
    search_batcher *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->live = live;
    request_queue_init(&b->queue);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    if (pthread_create(&b->thread, NULL, run_batches, b) == 0) {
        pthread_setname_np(b->thread, "search");
        return b;
    }
    search_batcher_free(b);
    return NULL;
}

void search_batcher_close(search_batcher *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->closing = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
}

void search_batcher_free(search_batcher *b)
{
    if (!b)
        return;
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
