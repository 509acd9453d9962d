/* events.c - server-sent events: one stream of messages for everybody who listens.
 *
 * The last few messages are kept in a ring; a listener is a number in it. Who has read them all sleeps until the
 * next comes. Who is too slow misses some, and is not waited for.
 */
#include "http.h"

#include <stdlib.h>
#include <string.h>

enum { RING = 64, BLOCK = 16 * 1024, LISTENERS_MAX = 256 };

typedef struct listener {
    events *events;
    struct MHD_Connection *connection;
    uint64_t next; /* message */
    size_t offset; /* within it */
    char *message; /* the one being sent, a copy */
    size_t size;
    bool sleeping;
    struct listener *after;
} listener;

struct events {
    pthread_mutex_t lock;
    char *messages[RING];
    uint64_t count;
    listener *listeners;
    size_t listener_count;
    bool ended;
};

events *events_new(void)
{
    events *e = calloc(1, sizeof *e);
    if (e)
        pthread_mutex_init(&e->lock, NULL);
    return e;
}

void events_free(events *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < RING; i++)
        free(e->messages[i]);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* Under the lock. */
static void wake_all(events *e)
{
    for (listener *l = e->listeners; l; l = l->after) {
        if (l->sleeping)
            MHD_resume_connection(l->connection);
        l->sleeping = false;
    }
}

void events_send(events *e, const char *kind, json_t *data)
{
    char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(12)),
         *message = NULL;
    json_decref(data);
    if (text && asprintf(&message, "event: %s\ndata: %s\n\n", kind, text) < 0)
        message = NULL;
    free(text);
    if (!message)
        return;
    pthread_mutex_lock(&e->lock);
    char **place = &e->messages[e->count++ % RING];
    free(*place);
    *place = message;
    wake_all(e);
    pthread_mutex_unlock(&e->lock);
}

void events_end(events *e)
{
    pthread_mutex_lock(&e->lock);
    e->ended = true;
    wake_all(e);
    pthread_mutex_unlock(&e->lock);
}

/* -- a listener -------------------------------------------------------------------------------------------- */

/* The next message, if there is one. Under the lock. */
static bool take_message(listener *l)
{
    events *e = l->events;
    if (e->count > RING && l->next < e->count - RING)
        l->next = e->count - RING;
    if (l->next == e->count)
        return false;
    free(l->message);
    l->message = strdup(e->messages[l->next++ % RING]);
    l->size = l->message ? strlen(l->message) : 0;
    l->offset = 0;
    return l->message != NULL;
}

static ptrdiff_t read_message(void *data, uint64_t position, char *bytes, size_t room)
{
    (void)position;
    listener *l = data;
    events *e = l->events;
    ptrdiff_t size = 0;
    pthread_mutex_lock(&e->lock);
    if (e->ended) {
        size = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (l->offset < l->size || take_message(l)) {
        size_t left = l->size - l->offset;
        size = (ptrdiff_t)(left < room ? left : room);
        memcpy(bytes, l->message + l->offset, (size_t)size);
        l->offset += (size_t)size;
    } else {
        l->sleeping = true;
        MHD_suspend_connection(l->connection);
    }
    pthread_mutex_unlock(&e->lock);
    return size;
}

static void forget(void *data)
{
    listener *l = data;
    events *e = l->events;
    pthread_mutex_lock(&e->lock);
    for (listener **at = &e->listeners; *at; at = &(*at)->after)
        if (*at == l) {
            *at = l->after;
            break;
        }
    e->listener_count--;
    pthread_mutex_unlock(&e->lock);
    free(l->message);
    free(l);
}

struct MHD_Response *events_listen(events *e, struct MHD_Connection *connection)
{
    listener *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    pthread_mutex_lock(&e->lock);
    bool room = e->listener_count < LISTENERS_MAX;
    *l = (listener){.events = e,
                    .connection = connection,
                    .next = e->count ? e->count - 1 : 0,
                    .after = e->listeners};
    if (room) {
        e->listeners = l;
        e->listener_count++;
    }
    pthread_mutex_unlock(&e->lock);
    struct MHD_Response *response =
        room ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_message,
                                                 l, forget)
             : NULL;
    if (!room)
        free(l);
    else if (!response)
        forget(l);
    return response;
}

void get_events(request *r)
{
    struct MHD_Response *response = events_listen(r->server->events, r->connection);
    if (!response) {
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "too many listen already");
        return;
    }
    answer_with(r, 200, response);
    r->phase = PHASE_OPEN_END;
    set_header(r, "Content-Type", "text/event-stream");
    set_header(r, "X-Accel-Buffering", "no");
}
