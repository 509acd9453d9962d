/* connections.c - which connections are open, and which are closed to make room.
 *
 * The library closes a connection on which nothing moves for a while, but a client that
 * sends one byte now and then would keep its connection forever (a slowloris attack).
 * So headers, body and response have a time limit each, which the ticker checks every
 * second.
 *
 * The number of connections is bounded by the file descriptors that the process may
 * have. Near the bound every new connection closes another one: the one that has gone
 * longest without a complete request, otherwise the one whose response takes longest.
 * Requests that wait for text or the disk, and event streams, may take a quarter of the
 * connections, and three eighths together with searches; these are never closed for
 * others. So a health check always gets a connection, and keeps it for as long as it
 * takes to replace all the others.
 *
 * A connection is closed by shutting its socket down; the library then finds it closed.
 * That happens under the lock, and the library notifies us, under the same lock, before
 * it closes a socket. So no descriptor is used after it has been reused.
 */
#include "connections.h"

#include "base/base.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { SPARE_MIN = 16 };
#define CROWDED_SECONDS 5.0 /* the time limit while more than half is in use */
static const double phase_seconds[] = {[PHASE_HEADERS] = 10,
                                       [PHASE_BODY] = 30,
                                       [PHASE_SENDING] = 30,
                                       [PHASE_DOWNLOAD] = 3600,
                                       [PHASE_UNBOUNDED] = (double)INFINITY};

typedef struct connection {
    int socket;
    connection_phase phase;
    double phase_start;
    bool closing; /* the socket is shut down */
    struct connection *prev, *next;
} connection;

struct connections {
    pthread_mutex_t lock;
    connection *first;
    size_t max;
    size_t count, closing;
    size_t unbounded; /* in PHASE_UNBOUNDED */
};

connections *connections_new(size_t max)
{
    connections *all = calloc(1, sizeof *all);
    if (all) {
        pthread_mutex_init(&all->lock, NULL);
        all->max = max;
    }
    return all;
}

void connections_free(connections *all)
{
    if (all)
        pthread_mutex_destroy(&all->lock);
    free(all);
}

/* -- closing; the lock is held ----------------------------------------------------- */

static void close_connection(connections *all, connection *c)
{
    if (c->closing)
        return;
    c->closing = true;
    all->closing++;
    shutdown(c->socket, SHUT_RDWR);
}

/* Closes the connection that is longest in its phase, among those from `first` to
 * `last`. Returns false if there is none. */
static bool close_oldest(connections *all, connection_phase first,
                         connection_phase last)
{
    connection *oldest = NULL;
    for (connection *c = all->first; c; c = c->next)
        if (!c->closing && c->phase >= first && c->phase <= last &&
            (!oldest || c->phase_start < oldest->phase_start))
            oldest = c;
    if (oldest)
        close_connection(all, oldest);
    return oldest;
}

/* Closes one connection if fewer than a quarter, or 16, would be left for new ones. It
 * takes the library a moment to remove a connection that was shut down, and new ones
 * use the spare quarter meanwhile. */
static void make_room(connections *all)
{
    size_t spare = all->max / 4 > SPARE_MIN ? all->max / 4 : SPARE_MIN;
    spare = spare < all->max / 2 ? spare : all->max / 2;
    if (all->count - all->closing <= all->max - spare)
        return;
    /* An idle connection costs its client nothing but a reconnect. A response in
     * progress is lost, so it comes second; downloads and waiting requests stay. */
    if (!close_oldest(all, PHASE_HEADERS, PHASE_BODY))
        close_oldest(all, PHASE_SENDING, PHASE_SENDING);
}

/* -- opening and removing ---------------------------------------------------------- */

static connection *find_connection(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

enum MHD_Result connections_accept(void *data, const struct sockaddr *address,
                                   socklen_t size)
{
    (void)address;
    (void)size;
    connections *all = data;
    pthread_mutex_lock(&all->lock);
    bool has_room = all->count < all->max;
    pthread_mutex_unlock(&all->lock);
    return has_room ? MHD_YES : MHD_NO;
}

static connection *add_connection(connections *all, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    connection *c = info ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    *c = (connection){.socket = info->connect_fd, .phase_start = tide_now_seconds()};
    pthread_mutex_lock(&all->lock);
    c->next = all->first;
    if (c->next)
        c->next->prev = c;
    all->first = c;
    all->count++;
    make_room(all);
    pthread_mutex_unlock(&all->lock);
    return c;
}

static void remove_connection(connections *all, connection *c)
{
    pthread_mutex_lock(&all->lock);
    if (c->next)
        c->next->prev = c->prev;
    *(c->prev ? &c->prev->next : &all->first) = c->next;
    all->count--;
    all->closing -= c->closing;
    all->unbounded -= c->phase == PHASE_UNBOUNDED;
    pthread_mutex_unlock(&all->lock);
    free(c);
}

void connections_notify(void *data, struct MHD_Connection *mhd, void **context,
                        enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        *context = add_connection(data, mhd);
    else if (*context)
        remove_connection(data, *context);
}

/* -- phases ------------------------------------------------------------------------ */

/* Returns false if that would put more than max_unbounded into PHASE_UNBOUNDED. */
static bool set_phase(connections *all, connection *c, connection_phase phase,
                      size_t max_unbounded)
{
    pthread_mutex_lock(&all->lock);
    /* Without this connection, which may be in that phase already: then it may stay. */
    size_t others = all->unbounded - (c->phase == PHASE_UNBOUNDED);
    bool allowed = phase != PHASE_UNBOUNDED || others < max_unbounded;
    if (allowed) {
        all->unbounded = others + (phase == PHASE_UNBOUNDED);
        c->phase = phase;
        c->phase_start = tide_now_seconds();
    }
    pthread_mutex_unlock(&all->lock);
    return allowed;
}

void connections_set_phase(connections *all, struct MHD_Connection *mhd,
                           connection_phase phase)
{
    connection *c = find_connection(mhd);
    if (c)
        set_phase(all, c, phase, SIZE_MAX);
}

bool connections_try_wait(connections *all, struct MHD_Connection *mhd, bool is_long)
{
    connection *c = find_connection(mhd);
    size_t max_unbounded = is_long ? all->max / 4 : all->max / 8 * 3;
    return !c || set_phase(all, c, PHASE_UNBOUNDED, max_unbounded);
}

void connections_close_expired(connections *all)
{
    double now = tide_now_seconds();
    pthread_mutex_lock(&all->lock);
    bool crowded = all->count > all->max / 2;
    for (connection *c = all->first; c; c = c->next) {
        double limit = phase_seconds[c->phase];
        /* Many connections that make no progress are what an attack looks like. */
        if (crowded && isfinite(limit))
            limit = CROWDED_SECONDS;
        if (now - c->phase_start > limit)
            close_connection(all, c);
    }
    pthread_mutex_unlock(&all->lock);
}
