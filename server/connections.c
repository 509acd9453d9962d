/* connections.c - who keeps a place for too long.
 *
 * The library ends a connection on which nothing moves for a while. Who sends one byte every now and then would
 * keep its place for ever, and a thousand of those all places. So headers, body and answer have a time each in
 * which they must be through. When most places are taken there is less patience.
 *
 * The ticker looks once a second and shuts the sockets of those who are late; the library then finds them closed.
 * A socket is shut under the lock, and the library tells us under the same lock before it closes one, so that no
 * number of a socket is used after it has become another's.
 */
#include "http.h"

#include <math.h>
#include <stdlib.h>

#define CROWDED_SECONDS 5.0
static const double patience_seconds[] = {[PHASE_HEADERS] = 10,
                                          [PHASE_BODY] = 30,
                                          [PHASE_SENDING] = 30,
                                          [PHASE_DOWNLOAD] = 3600,
                                          [PHASE_OPEN_END] = (double)INFINITY};

typedef struct place {
    int socket;
    connection_phase phase;
    double since;
    struct place *before, *after;
} place;

struct connections {
    pthread_mutex_t lock;
    place *first;
    size_t count;
};

connections *connections_new(void)
{
    connections *all = calloc(1, sizeof *all);
    if (all)
        pthread_mutex_init(&all->lock, NULL);
    return all;
}

void connections_free(connections *all)
{
    if (all)
        pthread_mutex_destroy(&all->lock);
    free(all);
}

static place *place_of(struct MHD_Connection *library)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static place *add(connections *all, struct MHD_Connection *library)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD);
    place *p = info ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    *p = (place){.socket = info->connect_fd, .since = now_seconds()};
    pthread_mutex_lock(&all->lock);
    p->after = all->first;
    if (p->after)
        p->after->before = p;
    all->first = p;
    all->count++;
    pthread_mutex_unlock(&all->lock);
    return p;
}

static void drop(connections *all, place *p)
{
    pthread_mutex_lock(&all->lock);
    if (p->after)
        p->after->before = p->before;
    *(p->before ? &p->before->after : &all->first) = p->after;
    all->count--;
    pthread_mutex_unlock(&all->lock);
    free(p);
}

void connections_notice(void *data, struct MHD_Connection *library, void **context,
                        enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        *context = add(data, library);
    else if (*context)
        drop(data, *context);
}

void connections_enter(connections *all, struct MHD_Connection *library,
                       connection_phase phase)
{
    place *p = place_of(library);
    if (!p)
        return;
    pthread_mutex_lock(&all->lock);
    p->phase = phase;
    p->since = now_seconds();
    pthread_mutex_unlock(&all->lock);
}

void connections_end_late(connections *all)
{
    double now = now_seconds();
    pthread_mutex_lock(&all->lock);
    bool crowded = all->count > CONNECTIONS_MAX / 2;
    for (place *p = all->first; p; p = p->after) {
        double patience = patience_seconds[p->phase];
        if (crowded && isfinite(patience))
            patience = CROWDED_SECONDS;
        if (now - p->since > patience)
            shutdown(p->socket, SHUT_RDWR);
    }
    pthread_mutex_unlock(&all->lock);
}
