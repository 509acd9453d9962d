/* workers.c - threads that answer requests which take long or wait for the disk: those that bring text.
 *
 * The few threads that read requests answer everybody, so none of them may unpack megabytes or wait for a disk. They
 * leave a request here and go on. A worker takes all that have come, up to a number, and answers them one after the
 * other. Where text has to be on the disk before it is acknowledged, the answers of all of them wait for one
 * sync.
 *
 * While there is nothing to do, a worker brings to the disk what has waited there for its time.
 */
#include "http.h"

#include <errno.h>
#include <stdlib.h>

enum { WORKERS = 2, TOGETHER = 32, TEND_MS = 250 };

struct workers {
    server *server;
    pthread_t threads[WORKERS];
    int count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    request *first, **last;
    bool closing;
};

static void await_some(workers *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TEND_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int status = 0;
    while (!w->first && !w->closing && status != ETIMEDOUT)
        status = pthread_cond_clockwait(&w->changed, &w->lock, CLOCK_MONOTONIC, &until);
}

/* False at the end; otherwise there may be none. */
static bool take_some(workers *w, request **requests, size_t *count)
{
    pthread_mutex_lock(&w->lock);
    await_some(w);
    for (*count = 0; w->first && *count < TOGETHER; w->first = w->first->next)
        requests[(*count)++] = w->first;
    if (!w->first)
        w->last = &w->first;
    bool goes_on = *count || !w->closing;
    pthread_mutex_unlock(&w->lock);
    return goes_on;
}

/* Those that have brought text are answered when it is as safe as was promised. */
static void answer_all(server *s, request **requests, size_t count)
{
    tide_error err;
    size_t unsafe = 0;
    for (size_t i = 0; i < count; i++) {
        request *r = requests[i];
        r->route->answer(r);
        if (r->unsafe)
            requests[unsafe++] = r;
        else
            go_on(r);
    }
    int failed = tide_feed_sync(s->options.feed, &err);
    for (size_t i = 0; i < unsafe; i++) {
        if (failed)
            answer_problem(requests[i], 500, PROBLEM_PLAIN, NULL,
                           "it is not known whether the lines were taken: %s",
                           err.text);
        go_on(requests[i]);
    }
}

static void *work(void *argument)
{
    workers *w = argument;
    request *requests[TOGETHER];
    size_t count;
    while (take_some(w, requests, &count))
        answer_all(w->server, requests, count);
    return NULL;
}

void workers_give(workers *w, request *r)
{
    pthread_mutex_lock(&w->lock);
    bool closing = w->closing;
    if (!closing) {
        wait_for_answer(r);
        r->next = NULL;
        *w->last = r;
        w->last = &r->next;
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    if (closing)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server stops");
}

workers *workers_open(server *s)
{
    workers *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->server = s;
    w->last = &w->first;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    for (; w->count < WORKERS; w->count++) {
        if (pthread_create(&w->threads[w->count], NULL, work, w) != 0)
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
