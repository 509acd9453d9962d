/* connections.c - which connections there are, and which are closed to make room.
 *
 * The library closes a connection on which nothing moves for a while. A client that sends one byte now and then
 * would keep its connection for ever. So headers, body and response have a time limit each, which the ticker checks
 * once a second.
 *
 * The number of connections is bounded, by the file descriptors that the process may have. Close to the bound
 * every new connection closes another: the one that has gone longest without a complete request, then the one whose
 * response takes longest. Requests that wait for text or the disk, and streams of events, may have a quarter of the
 * places, with searches three eighths, and are never closed for others. So there is always a place for a
 * health check, and it has that place for as long as it takes all others to be replaced.
 *
 * A connection is closed by shutting its socket down; the library then finds it closed. That is done under the lock, and
 * the library tells us under the same lock before it closes a socket, so that no descriptor is used after
 * it has become another's.
 */
#include "http.h"

#include <math.h>
#include <stdlib.h>

enum { SPARE_LEAST = 16 };
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
    bool ending; /* the socket is shut down */
    struct place *before, *after;
} place;

struct connections {
    pthread_mutex_t lock;
    place *first;
    size_t most;
    size_t count, ending;
    size_t open_ended; /* in PHASE_OPEN_END */
};

connections *connections_new(size_t most)
{
    connections *all = calloc(1, sizeof *all);
    if (all) {
        pthread_mutex_init(&all->lock, NULL);
        all->most = most;
    }
    return all;
}

void connections_free(connections *all)
{
    if (all)
        pthread_mutex_destroy(&all->lock);
    free(all);
}

/* -- closing, under the lock ----------------------------------------------------------------------------- */

static void end_place(connections *all, place *p)
{
    if (p->ending)
        return;
    p->ending = true;
    all->ending++;
    shutdown(p->socket, SHUT_RDWR);
}

/* Closes one connection, if there is one in these phases. */
static bool end_oldest(connections *all, connection_phase first, connection_phase last)
{
    place *oldest = NULL;
    for (place *p = all->first; p; p = p->after)
        if (!p->ending && p->phase >= first && p->phase <= last &&
            (!oldest || p->since < oldest->since))
            oldest = p;
    if (oldest)
        end_place(all, oldest);
    return oldest;
}

/* A quarter of the places, or 16 if there are so many, are for new connections while those that make room for them are
 * being closed, which their threads have to come to. */
static void make_room(connections *all)
{
    size_t spare = all->most / 4 > SPARE_LEAST ? all->most / 4 : SPARE_LEAST;
    spare = spare < all->most / 2 ? spare : all->most / 2;
    if (all->count - all->ending <= all->most - spare)
        return;
    if (!end_oldest(all, PHASE_HEADERS, PHASE_BODY))
        end_oldest(all, PHASE_SENDING, PHASE_SENDING);
}

/* -- coming and going -------------------------------------------------------------------------------------- */

static place *place_of(struct MHD_Connection *library)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

enum MHD_Result connections_admit(void *data, const struct sockaddr *address,
                                  socklen_t size)
{
    (void)address;
    (void)size;
    connections *all = data;
    pthread_mutex_lock(&all->lock);
    bool room = all->count < all->most;
    pthread_mutex_unlock(&all->lock);
    return room ? MHD_YES : MHD_NO;
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
    make_room(all);
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
    all->ending -= p->ending;
    all->open_ended -= p->phase == PHASE_OPEN_END;
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

/* -- phases -------------------------------------------------------------------------------------------------- */

static bool enter(connections *all, place *p, connection_phase phase, size_t most)
{
    pthread_mutex_lock(&all->lock);
    size_t others = all->open_ended - (p->phase == PHASE_OPEN_END);
    bool enters = phase != PHASE_OPEN_END || others < most;
    if (enters) {
        all->open_ended = others + (phase == PHASE_OPEN_END);
        p->phase = phase;
        p->since = now_seconds();
    }
    pthread_mutex_unlock(&all->lock);
    return enters;
}

void connections_enter(connections *all, struct MHD_Connection *library,
                       connection_phase phase)
{
    place *p = place_of(library);
    if (p)
        enter(all, p, phase, SIZE_MAX);
}

bool connections_wait(connections *all, struct MHD_Connection *library, bool lasts)
{
    place *p = place_of(library);
    size_t most = lasts ? all->most / 4 : all->most / 8 * 3;
    return !p || enter(all, p, PHASE_OPEN_END, most);
}

void connections_end_late(connections *all)
{
    double now = now_seconds();
    pthread_mutex_lock(&all->lock);
    bool crowded = all->count > all->most / 2;
    for (place *p = all->first; p; p = p->after) {
        double patience = patience_seconds[p->phase];
        if (crowded && isfinite(patience))
            patience = CROWDED_SECONDS;
        if (now - p->since > patience)
            end_place(all, p);
    }
    pthread_mutex_unlock(&all->lock);
}
