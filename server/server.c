/* server.c - starting and stopping the server, and its periodic tasks.
 *
 * There are seven kinds of threads:
 *
 *     training    the caller's
 *     HTTP        read requests and call the handlers (http.c)
 *     search      runs batches of searches (search_batcher.c)
 *     workers     accept text (workers.c)
 *     export      writes files for download (export.c)
 *     ticker      every second: closes expired connections, updates and publishes rates
 *     history     every second: updates the history of words, and saves it
 *
 * Requests for health and status take none of the locks that are held during disk I/O.
 */
#include "answer.h"
#include "checkpoints.h"
#include "history_api.h"
#include "http.h"
#include "process.h"
#include "server_internal.h"

#include "base/base.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MMAP_THRESHOLD = 256 << 10, /* larger allocations return to the system when freed */
    ARENAS_MAX = 4,
    HISTORY_RETRY_SECONDS = 10,

    /* File descriptors reserved for files other than connections (a spool, a
     * checkpoint, the history, an export, /proc), per source, and per Kafka topic for
     * its brokers. */
    DESCRIPTORS_RESERVED = 64,
    DESCRIPTORS_PER_SOURCE = 4,
    DESCRIPTORS_PER_TOPIC = 64,
    CONNECTIONS_MIN = 16,
};

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

/* -- the ticker and the history thread --------------------------------------------- */

/* Waits for the next second; skips those that were missed. Returns false when the
 * server is closing. */
static bool wait_for_tick(server *s, struct timespec *next)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    /* A fixed grid of seconds, so that ticks do not drift by the time they take. */
    next->tv_sec = next->tv_sec < now.tv_sec ? now.tv_sec + 1 : next->tv_sec + 1;
    pthread_mutex_lock(&s->lock);
    while (!s->closing && pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC,
                                                 next) != ETIMEDOUT)
        ;
    bool open = !s->closing;
    pthread_mutex_unlock(&s->lock);
    return open;
}

/* Enforces time limits, so nothing here may take long or wait for the disk. */
static void *run_ticker(void *argument)
{
    server *s = argument;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (wait_for_tick(s, &next)) {
        connections_close_expired(s->connections);
        checkpoints_expire(s);
        status_sample(s->status);
        events_publish(s->events, "stats", status_json(s->status));
    }
    return NULL;
}

static bool save_history(server *s)
{
    tide_error err;
    const char *path = s->options.history_path;
    bool failed = path && tide_history_save(s->history, path, &err);
    status_record_history_save(s->status, failed ? err.text : NULL);
    return !failed;
}

static void *run_history(void *argument)
{
    server *s = argument;
    struct timespec next;
    double retry_time = 0;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (wait_for_tick(s, &next)) {
        history_tick(s, tide_wall_seconds());
        if (tide_now_seconds() < retry_time ||
            !atomic_exchange(&s->history_unsaved, false))
            continue;
        if (!save_history(s)) {
            s->history_unsaved = true;
            retry_time = tide_now_seconds() + HISTORY_RETRY_SECONDS;
        }
    }
    return NULL;
}

static bool start_thread(pthread_t *thread, void *(*run)(void *), server *s,
                         const char *name)
{
    bool started = pthread_create(thread, NULL, run, s) == 0;
    if (started)
        pthread_setname_np(*thread, name);
    return started;
}

/* -- starting ---------------------------------------------------------------------- */

static int listen_on_all_addresses(server *s, tide_error *err)
{
    const char *host = s->options.host;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE},
                    *found;
    uint16_t port = s->options.port;
    int failed = getaddrinfo(host, NULL, &hints, &found), count = 0, reason = 0;
    if (failed)
        return fail(err, "cannot listen on %s: %s", host, gai_strerror(failed));
    /* "localhost" is both 127.0.0.1 and ::1. With port 0 the first socket gets a free
     * port, and `port` then asks for the same one on the second. */
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
        s->daemons[count] = http_listen(s, &address.any, &port);
        if (s->daemons[count])
            count++;
        else if (reason != EADDRINUSE)
            reason = errno;
    }
    freeaddrinfo(found);
    s->port = port;
    /* A machine may lack IPv4 or IPv6. But if the port is in use on one of them, some
     * clients would reach another server. */
    bool in_use = reason == EADDRINUSE && s->options.port;
    return count && !in_use
               ? TIDE_OK
               : fail(err, "cannot listen on %s:%u: %s", host, port, strerror(reason));
}

/* Computes how many connections leave enough file descriptors for everything else. */
static int limit_connections(const server *s, size_t *max, tide_error *err)
{
    size_t allowed, open = open_descriptors(&allowed),
                    reserved = DESCRIPTORS_RESERVED + open;
    for (size_t i = 0; i < s->options.source_count; i++)
        reserved += strncmp(s->options.sources[i], "kafka:", 6) ? DESCRIPTORS_PER_SOURCE
                                                                : DESCRIPTORS_PER_TOPIC;
    if (allowed < reserved + CONNECTIONS_MIN)
        return fail(err,
                    "the limit of %zu open files is too low, the server needs %zu; "
                    "raise it (ulimit -n 1024, or LimitNOFILE= of the unit)",
                    allowed, reserved + CONNECTIONS_MIN);
    *max = allowed - reserved < CONNECTIONS_MAX ? allowed - reserved : CONNECTIONS_MAX;
    return TIDE_OK;
}

static int start_all(server *s, tide_error *err)
{
    size_t max = 0;
    int status = limit_connections(s, &max, err);
    if (status)
        return status;
    s->status = status_new(&s->options);
    s->events = events_new();
    const tide_view *view = tide_live_acquire(s->options.live);
    s->resolver = tide_resolver_new(tide_view_model(view), err);
    tide_live_release(s->options.live, view);
    s->connections = connections_new(max);
    s->batcher = search_batcher_open(s->options.live);
    s->workers = workers_open(s);
    s->exporter = exporter_open(s);
    s->line_store = line_store_open();
    if (!s->line_store || !s->status || !s->events || !s->resolver || !s->connections ||
        !s->batcher || !s->workers || !s->exporter)
        return fail(err, "out of memory for the server");
    status = listen_on_all_addresses(s, err);
    if (status)
        return status;
    s->ticker_started = start_thread(&s->ticker, run_ticker, s, "ticker");
    s->history_started = start_thread(&s->history_thread, run_history, s, "history");
    return s->ticker_started && s->history_started
               ? TIDE_OK
               : fail(err, "cannot create a thread for the server");
}

server *server_start(const server_options *options, tide_error *err)
{
    if (!options->token && !is_loopback(options->host)) {
        fail(err,
             "--host %s is reachable from other machines; protect it with "
             "--token-file FILE",
             options->host);
        return NULL;
    }
    server *s = calloc(1, sizeof *s);
    if (!s) {
        fail(err, "out of memory for the server");
        return NULL;
    }
    mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
    mallopt(M_ARENA_MAX, ARENAS_MAX);
    s->options = *options;
    s->history = options->history;
    s->words_published = tide_wall_seconds();
    s->auth = (auth_policy){options->token, options->names, options->name_count,
                            options->host};
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->bodies.lock, NULL);
    pthread_mutex_init(&s->resolver_lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    sigset_t all, before;
    sigfillset(&all); /* signals are for the training thread */
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
    return status_budget(s->status, parts);
}

/* -- reports from the training thread ---------------------------------------------- */

void server_tick(server *s, const tide_stats *stats)
{
    status_heartbeat(s->status, stats->saving);
}

void server_drain(server *s)
{
    s->draining = true;
}

/* -- stopping ---------------------------------------------------------------------- */

void server_stop(server *s)
{
    if (!s)
        return;
    s->draining = true;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    tide_history_stop(s->history);
    if (s->ticker_started)
        pthread_join(s->ticker, NULL);
    if (s->history_started) {
        pthread_join(s->history_thread, NULL);
        save_history(s);
    }
    /* From here on no connection is accepted; those that are open finish. */
    for (int i = 0; i < 2; i++)
        if (s->daemons[i])
            MHD_quiesce_daemon(s->daemons[i]);
    /* Suspended requests must be answered before the daemons can stop. */
    if (s->events)
        events_close(s->events);
    checkpoints_close(s);
    search_batcher_close(s->batcher);
    workers_close(s->workers);
    exporter_close(s->exporter);
    for (int i = 0; i < 2; i++)
        if (s->daemons[i])
            MHD_stop_daemon(s->daemons[i]);
    search_batcher_free(s->batcher);
    workers_free(s->workers);
    exporter_free(s->exporter);
    events_free(s->events);
    connections_free(s->connections);
    status_free(s->status);
    line_store_close(s->line_store);
    pthread_mutex_destroy(&s->bodies.lock);
    tide_resolver_free(s->resolver);
    pthread_mutex_destroy(&s->resolver_lock);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
