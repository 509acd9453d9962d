/* server.c - starting, ticking and stopping.
 *
 * Five kinds of threads: the one that learns, which is the caller's; the few that read requests (http.c); the desk
 * where searches are done together (desk.c); the one that writes exports (export.c); and the ticker here, once a
 * second, which works out rates and tells them to whoever listens.
 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGE_BYTES = 256 << 10 };

static int fail(tide_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int fail(tide_error *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    err->status = TIDE_ERROR_IO;
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return TIDE_ERROR_IO;
}

/* -- the ticker ------------------------------------------------------------------------------------------ */

static void save_history(server *s)
{
    tide_error err;
    if (s->options.history_path &&
        tide_history_save(s->history, s->options.history_path, &err))
        figures_history_failed(s->figures, err.text);
}

static void *tick(void *argument)
{
    server *s = argument;
    struct timespec next;
    uint64_t learned = 0;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&s->lock);
    while (!s->closing) {
        next.tv_sec++;
        while (!s->closing &&
               pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC, &next) !=
                   ETIMEDOUT)
            ;
        if (s->closing)
            break;
        pthread_mutex_unlock(&s->lock);
        uint64_t now = s->learned;
        figures_tick(s->figures, now != learned);
        learned = now;
        past_tick(s, wall_seconds());
        if (atomic_exchange(&s->history_due, false))
            save_history(s);
        connections_end_late(s->connections);
        events_send(s->events, "stats", figures_json(s->figures));
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* -- starting ---------------------------------------------------------------------------------------------- */

static int listen_everywhere(server *s, tide_error *err)
{
    const char *host = s->options.host;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE},
                    *found;
    uint16_t port = s->options.port;
    int failed = getaddrinfo(host, NULL, &hints, &found), count = 0, reason = 0;
    if (failed)
        return fail(err, "cannot listen on %s: %s", host, gai_strerror(failed));
    for (struct addrinfo *a = found; a && count < 2; a = a->ai_next) {
        union {
            struct sockaddr any;
            struct sockaddr_in v4;
            struct sockaddr_in6 v6;
        } address = {0};
        if (a->ai_addrlen > sizeof address)
            continue;
        memcpy(&address, a->ai_addr, a->ai_addrlen);
        if (a->ai_family == AF_INET)
            address.v4.sin_port = htons(port);
        else
            address.v6.sin6_port = htons(port);
        s->daemons[count] = listen_on(s, &address.any, &port);
        if (s->daemons[count])
            count++;
        else if (reason != EADDRINUSE)
            reason = errno;
    }
    freeaddrinfo(found);
    s->port = port;
    /* A machine may lack one of the two kinds of addresses. A port that is another's on one of them would send
     * some of those who ask for us to it. */
    bool taken = reason == EADDRINUSE && s->options.port;
    return count && !taken
               ? TIDE_OK
               : fail(err, "cannot listen on %s:%u: %s", host, port, strerror(reason));
}

static int start_all(server *s, tide_error *err)
{
    s->figures = figures_new(&s->options);
    s->events = events_new();
    s->connections = connections_new();
    s->desk = desk_open(s->options.live);
    s->exporter = exporter_open(s);
    if (!s->figures || !s->events || !s->connections || !s->desk || !s->exporter)
        return fail(err, "no memory for a server");
    int status = listen_everywhere(s, err);
    if (status)
        return status;
    s->ticking = pthread_create(&s->ticker, NULL, tick, s) == 0;
    if (!s->ticking)
        return fail(err, "no thread for the server");
    pthread_setname_np(s->ticker, "ticker");
    return TIDE_OK;
}

server *server_start(const server_options *options, tide_error *err)
{
    if (!options->token && !is_loopback(options->host)) {
        fail(err,
             "--host %s can be reached by others: --token-file FILE says "
             "which token they need",
             options->host);
        return NULL;
    }
    server *s = calloc(1, sizeof *s);
    if (!s) {
        fail(err, "no memory for a server");
        return NULL;
    }
    mallopt(M_MMAP_THRESHOLD,
            LARGE_BYTES); /* large bodies are given back when they go */
    s->options = *options;
    s->history = options->history;
    s->told_words = wall_seconds();
    s->guard =
        (guard){options->token, options->names, options->name_count, options->host};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    sigset_t all, before;
    sigfillset(&all); /* signals are for the thread that learns */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = start_all(s, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!status)
        return s;
    server_stop(s);
    return NULL;
}

uint16_t server_port(const server *s)
{
    return s->port;
}

int server_budget(const server *s, tide_part parts[TIDE_PARTS_MAX])
{
    return figures_budget(s->figures, parts);
}

/* -- the thread that learns ---------------------------------------------------------------------------------- */

void server_tick(server *s, const tide_stats *stats)
{
    s->learned++;
    figures_saving(s->figures, stats->saving);
}

void server_drain(server *s)
{
    s->draining = true;
    tide_feed_close(s->options.feed);
}

bool server_wants_checkpoint(server *s)
{
    return atomic_exchange(&s->wants_checkpoint, false);
}

static json_t *told(const tide_checkpoint *c)
{
    return json_pack("{s:o, s:I, s:f, s:f}", "path", json_word(c->path), "bytes",
                     (json_int_t)c->bytes, "pause_seconds", c->pause_seconds, "seconds",
                     c->seconds);
}

static request *take_waiters(server *s)
{
    pthread_mutex_lock(&s->lock);
    request *waiters = s->checkpoint_waiters;
    s->checkpoint_waiters = NULL;
    pthread_mutex_unlock(&s->lock);
    return waiters;
}

void server_checkpointed(server *s, const tide_checkpoint *checkpoint)
{
    figures_checkpointed(s->figures, checkpoint);
    s->history_due = !checkpoint->error;
    for (request *r = take_waiters(s), *next; r; r = next) {
        next = r->next;
        if (checkpoint->error)
            answer_problem(r, 500, PROBLEM_PLAIN, NULL, "%s", checkpoint->error);
        else
            answer_json(r, 200, told(checkpoint));
        go_on(r);
    }
}

void post_checkpoint(request *r)
{
    server *s = r->server;
    if (!s->options.checkpoint) {
        answer_problem(r, 409, PROBLEM_PLAIN, NULL,
                       "there is no place for checkpoints: --checkpoint FILE");
        return;
    }
    wait_for_answer(r);
    pthread_mutex_lock(&s->lock);
    bool closing = s->closing; /* those who wait have been sent away, or will be now */
    if (!closing) {
        r->next = s->checkpoint_waiters;
        s->checkpoint_waiters = r;
        s->wants_checkpoint = true;
    }
    pthread_mutex_unlock(&s->lock);
    if (closing)
        go_on(r);
}

/* -- stopping --------------------------------------------------------------------------------------------------- */

/* Those who wait for something are sent away before the daemons may end. */
static void send_away(server *s)
{
    if (s->events)
        events_end(s->events);
    for (request *r = take_waiters(s), *next; r; r = next) {
        next = r->next;
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server stops");
        go_on(r);
    }
}

void server_stop(server *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->ticking) {
        pthread_join(s->ticker, NULL);
        save_history(s);
    }
    for (int i = 0; i < 2; i++)
        if (s->daemons[i])
            MHD_quiesce_daemon(s->daemons[i]);
    s->draining = true;
    send_away(s);
    desk_close(s->desk);
    exporter_close(s->exporter);
    for (int i = 0; i < 2; i++)
        if (s->daemons[i])
            MHD_stop_daemon(s->daemons[i]);
    desk_free(s->desk);
    exporter_free(s->exporter);
    events_free(s->events);
    connections_free(s->connections);
    figures_free(s->figures);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
