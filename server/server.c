/* server.c - starting, ticking and stopping.
 *
 * Seven kinds of threads: the one that learns, which is the caller's; the few that read requests (http.c); the desk
 * where searches are done together (desk.c); the workers, which take text (workers.c); the one that writes exports
 * (export.c); and here, once a second, the ticker, which closes connections that are late, works out rates and sends
 * them to all who listen, and the historian, which looks at what has become of words and saves that. Requests for
 * health and figures need none of the locks that are held while somebody waits for the disk.
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

enum {
    LARGE_BYTES = 256 << 10,
    ARENAS_MAX = 4,
    HISTORY_RETRY_SECONDS = 10,

    /* File descriptors: for what a server has open besides connections (its own, a spool, a checkpoint, the
     * history, an export, what reads /proc), for each source, and for the brokers of a topic. */
    DESCRIPTORS_KEPT = 64,
    DESCRIPTORS_PER_SOURCE = 4,
    DESCRIPTORS_PER_TOPIC = 64,
    CONNECTIONS_LEAST = 16,
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

/* -- the ticker and the historian ---------------------------------------------------------------------------- */

/* Waits for the next second. False when the server closes. Who is late does not catch up. */
static bool wait_for_tick(server *s, struct timespec *next)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    next->tv_sec = next->tv_sec < now.tv_sec ? now.tv_sec + 1 : next->tv_sec + 1;
    pthread_mutex_lock(&s->lock);
    while (!s->closing && pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC,
                                                 next) != ETIMEDOUT)
        ;
    bool goes_on = !s->closing;
    pthread_mutex_unlock(&s->lock);
    return goes_on;
}

/* Guards connections, so nothing here may take long or wait for the disk. */
static void *tick(void *argument)
{
    server *s = argument;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (wait_for_tick(s, &next)) {
        connections_end_late(s->connections);
        checkpoints_end_late(s);
        figures_tick(s->figures);
        events_send(s->events, "stats", figures_json(s->figures));
    }
    return NULL;
}

static bool save_history(server *s)
{
    tide_error err;
    const char *path = s->options.history_path;
    bool failed = path && tide_history_save(s->history, path, &err);
    figures_history_saved(s->figures, failed ? err.text : NULL);
    return !failed;
}

static void *look_at_history(void *argument)
{
    server *s = argument;
    struct timespec next;
    double not_before = 0;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (wait_for_tick(s, &next)) {
        past_tick(s, wall_seconds());
        if (now_seconds() < not_before || !atomic_exchange(&s->history_due, false))
            continue;
        if (!save_history(s)) {
            s->history_due = true;
            not_before = now_seconds() + HISTORY_RETRY_SECONDS;
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

/* How many connections there may be, so that nobody else ever lacks a file descriptor. */
static int bound_connections(const server *s, size_t *most, tide_error *err)
{
    size_t allowed, open = open_descriptors(&allowed), kept = DESCRIPTORS_KEPT + open;
    for (size_t i = 0; i < s->options.source_count; i++)
        kept += strncmp(s->options.sources[i], "kafka:", 6) ? DESCRIPTORS_PER_SOURCE
                                                            : DESCRIPTORS_PER_TOPIC;
    if (allowed < kept + CONNECTIONS_LEAST)
        return fail(err,
                    "this process may have %zu files open, and the server needs %zu: "
                    "raise the limit (ulimit -n 1024, or LimitNOFILE= of the unit)",
                    allowed, kept + CONNECTIONS_LEAST);
    *most = allowed - kept < CONNECTIONS_MAX ? allowed - kept : CONNECTIONS_MAX;
    return TIDE_OK;
}

static int start_all(server *s, tide_error *err)
{
    size_t most = 0;
    int status = bound_connections(s, &most, err);
    if (status)
        return status;
    s->figures = figures_new(&s->options);
    s->events = events_new();
    const tide_view *space = tide_live_acquire(s->options.live);
    s->resolver = tide_resolver_new(tide_view_model(space), err);
    tide_live_release(s->options.live, space);
    s->connections = connections_new(most);
    s->desk = desk_open(s->options.live);
    s->workers = workers_open(s);
    s->exporter = exporter_open(s);
    s->lines = line_store_open();
    if (!s->lines || !s->figures || !s->events || !s->resolver || !s->connections ||
        !s->desk || !s->workers || !s->exporter)
        return fail(err, "no memory for a server");
    status = listen_everywhere(s, err);
    if (status)
        return status;
    s->ticking = start_thread(&s->ticker, tick, s, "ticker");
    s->looking = start_thread(&s->historian, look_at_history, s, "historian");
    return s->ticking && s->looking ? TIDE_OK : fail(err, "no thread for the server");
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
    mallopt(M_ARENA_MAX, ARENAS_MAX);
    s->options = *options;
    s->history = options->history;
    s->told_words = wall_seconds();
    s->guard =
        (guard){options->token, options->names, options->name_count, options->host};
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->bodies.lock, NULL);
    pthread_mutex_init(&s->resolver_lock, NULL);
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
    figures_alive(s->figures, stats->saving);
}

void server_drain(server *s)
{
    s->draining = true;
}

/* -- stopping --------------------------------------------------------------------------------------------------- */

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
    if (s->ticking)
        pthread_join(s->ticker, NULL);
    if (s->looking) {
        pthread_join(s->historian, NULL);
        save_history(s);
    }
    for (int i = 0; i < 2; i++)
        if (s->daemons[i])
            MHD_quiesce_daemon(s->daemons[i]);
    /* All who wait are answered before the daemons may end. */
    if (s->events)
        events_end(s->events);
    checkpoints_close(s);
    desk_close(s->desk);
    workers_close(s->workers);
    exporter_close(s->exporter);
    for (int i = 0; i < 2; i++)
        if (s->daemons[i])
            MHD_stop_daemon(s->daemons[i]);
    desk_free(s->desk);
    workers_free(s->workers);
    exporter_free(s->exporter);
    events_free(s->events);
    connections_free(s->connections);
    figures_free(s->figures);
    line_store_close(s->lines);
    pthread_mutex_destroy(&s->bodies.lock);
    tide_resolver_free(s->resolver);
    pthread_mutex_destroy(&s->resolver_lock);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
