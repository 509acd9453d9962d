/* workers.c - threads for requests that take long or wait for the disk: text to learn.
 *
 * The few threads that read requests serve all clients, so none of them may decompress
 * megabytes or wait for a disk. They queue such a request here and continue. A worker
 * takes all queued requests, up to a bound, and handles them one after another. Where
 * text has to be on the disk before it is acknowledged, the whole batch shares one
 * sync. While there are no requests, a worker calls it regularly, for what is due.
 */
#include "workers.h"

#include "answer.h"
#include "server_internal.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>

enum { WORKERS = 2, BATCH_MAX = 32, IDLE_SYNC_MS = 250 };

struct workers {
    server *server;
    pthread_t threads[WORKERS];
    int count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    request_queue queue;
    bool closing;
};

static void wait_for_requests(workers *w)
{
    struct timespec until = tide_deadline(IDLE_SYNC_MS * TIDE_MS);
    int status = 0;
    while (!w->queue.count && !w->closing && status != ETIMEDOUT)
        status = pthread_cond_clockwait(&w->changed, &w->lock, CLOCK_MONOTONIC, &until);
}

/* Waits for requests, at most IDLE_SYNC_MS. Returns false when the workers are closed
 * and the queue is empty; otherwise *count may be 0. */
static bool dequeue_batch(workers *w, request **requests, size_t *count)
{
    pthread_mutex_lock(&w->lock);
    wait_for_requests(w);
    *count = request_queue_pop(&w->queue, requests, BATCH_MAX);
    /* What was queued before closing is still handled. */
    bool open = *count || !w->closing;
    pthread_mutex_unlock(&w->lock);
    return open;
}

/* Runs the handlers, syncs once, and only then resumes the requests whose text has to
 * be on the disk. Also called without requests, to sync what is due. */
static void handle_batch(server *s, request **requests, size_t count)
{
    tide_error err;
    size_t pending = 0;
    for (size_t i = 0; i < count; i++) {
        request *r = requests[i];
        r->route->handler(r);
        /* The answer is ready, but is not sent before the request is resumed. The front
         * of the array, which has been handled, collects those that wait. */
        if (r->needs_sync)
            requests[pending++] = r;
        else
            resume_request(r);
    }
    int failed = tide_feed_sync(s->options.feed, &err);
    for (size_t i = 0; i < pending; i++) {
        /* Replaces the answer. Part of the text may have reached the disk, so neither
         * "accepted" nor "refused" would be true. */
        if (failed)
            answer_problem(requests[i], 500, PROBLEM_PLAIN, NULL,
                           "unknown whether the lines were accepted: %s", err.text);
        resume_request(requests[i]);
    }
}

static void *run_worker(void *argument)
{
    workers *w = argument;
    request *requests[BATCH_MAX];
    size_t count;
    while (dequeue_batch(w, requests, &count))
        handle_batch(w->server, requests, count);
    return NULL;
}

void workers_submit(workers *w, request *r)
{
    pthread_mutex_lock(&w->lock);
    bool closing = w->closing;
    if (!closing) {
        /* Under the lock: no worker can resume it before it is suspended. */
        suspend_request(r);
        request_queue_push(&w->queue, r);
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    if (closing)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server is shutting down");
}

workers *workers_open(server *s)
{
    workers *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->server = s;
    request_queue_init(&w->queue);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    for (; w->count < WORKERS; w->count++) {
        if (pthread_create(&w->threads[w->count], NULL, run_worker, w) != 0)
            break;
        pthread_setname_np(w->threads[w->count], "worker");
    }
    if (w->count == WORKERS)
        return w;
    workers_close(w);
    workers_free(w);
    return NULL;
}

void workers_close(workers *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    for (; w->count; w->count--)
        pthread_join(w->threads[w->count - 1], NULL);
}

void workers_free(workers *w)
{
    if (!w)
        return;
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
