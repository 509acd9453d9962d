/* events.c - server-sent events: one stream of messages to all subscribers.
 *
 * A ring keeps the last few messages, and a subscriber is a position in it. One that
 * has received them all is suspended until the next message. One that is too slow
 * misses messages; the server never waits for it.
 */
#include "events.h"

#include "answer.h"
#include "handlers.h"
#include "server_internal.h"

#include <stdlib.h>
#include <string.h>

enum { RING_SIZE = 64, BLOCK_BYTES = 16 * 1024, SUBSCRIBERS_MAX = 256 };

typedef struct subscriber {
    events *events;
    struct MHD_Connection *connection;
    uint64_t next_message; /* number of it */
    char *message;         /* a copy of the one that is being sent */
    size_t size, offset;
    bool suspended;
    struct subscriber *next;
} subscriber;

struct events {
    pthread_mutex_t lock;
    char *messages[RING_SIZE];
    uint64_t count;
    subscriber *subscribers;
    size_t subscriber_count;
    bool closed;
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
    for (size_t i = 0; i < RING_SIZE; i++)
        free(e->messages[i]);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* The lock is held. */
static void resume_all(events *e)
{
    for (subscriber *sub = e->subscribers; sub; sub = sub->next) {
        if (sub->suspended)
            MHD_resume_connection(sub->connection);
        sub->suspended = false;
    }
}

void events_publish(events *e, const char *kind, json_t *data)
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
    char **slot = &e->messages[e->count++ % RING_SIZE];
    free(*slot);
    *slot = message;
    resume_all(e);
    pthread_mutex_unlock(&e->lock);
}

void events_close(events *e)
{
    pthread_mutex_lock(&e->lock);
    e->closed = true;
    resume_all(e);
    pthread_mutex_unlock(&e->lock);
}

/* -- subscribers ------------------------------------------------------------------- */

/* Copies the next message, or the oldest in the ring if the subscriber was too
 * slow. Returns false if there is none. The lock is held. */
static bool load_message(subscriber *sub)
{
    events *e = sub->events;
    if (e->count > RING_SIZE && sub->next_message < e->count - RING_SIZE)
        sub->next_message = e->count - RING_SIZE;
    if (sub->next_message == e->count)
        return false;
    free(sub->message);
    sub->message = strdup(e->messages[sub->next_message++ % RING_SIZE]);
    sub->size = sub->message ? strlen(sub->message) : 0;
    sub->offset = 0;
    return sub->message != NULL;
}

static ptrdiff_t read_message(void *data, uint64_t position, char *bytes,
                              size_t capacity)
{
    (void)position;
    subscriber *sub = data;
    events *e = sub->events;
    ptrdiff_t size = 0;
    pthread_mutex_lock(&e->lock);
    if (e->closed) {
        size = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (sub->offset < sub->size || load_message(sub)) {
        size_t left = sub->size - sub->offset;
        size = (ptrdiff_t)(left < capacity ? left : capacity);
        memcpy(bytes, sub->message + sub->offset, (size_t)size);
        sub->offset += (size_t)size;
    } else {
        /* Under the lock: a message that comes now resumes it after this. */
        sub->suspended = true;
        MHD_suspend_connection(sub->connection);
    }
    pthread_mutex_unlock(&e->lock);
    return size;
}

static void remove_subscriber(void *data)
{
    subscriber *sub = data;
    events *e = sub->events;
    pthread_mutex_lock(&e->lock);
    for (subscriber **at = &e->subscribers; *at; at = &(*at)->next)
        if (*at == sub) {
            *at = sub->next;
            break;
        }
    e->subscriber_count--;
    pthread_mutex_unlock(&e->lock);
    free(sub->message);
    free(sub);
}

struct MHD_Response *events_subscribe(events *e, struct MHD_Connection *connection)
{
    subscriber *sub = calloc(1, sizeof *sub);
    if (!sub)
        return NULL;
    pthread_mutex_lock(&e->lock);
    /* A new subscriber gets the latest message at once, if there is one. */
    bool has_room = e->subscriber_count < SUBSCRIBERS_MAX;
    *sub = (subscriber){.events = e,
                        .connection = connection,
                        .next_message = e->count ? e->count - 1 : 0,
                        .next = e->subscribers};
    if (has_room) {
        e->subscribers = sub;
        e->subscriber_count++;
    }
    pthread_mutex_unlock(&e->lock);
    struct MHD_Response *response =
        has_room
            ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
                                                read_message, sub, remove_subscriber)
            : NULL;
    if (!has_room)
        free(sub);
    else if (!response)
        remove_subscriber(sub);
    return response;
}

void get_events(request *r)
{
    struct MHD_Response *response = events_subscribe(r->server->events, r->connection);
    if (!response) {
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "too many event subscribers");
        return;
    }
    answer_with(r, 200, response);
    r->response_phase = PHASE_UNBOUNDED;
    set_header(r, "Content-Type", "text/event-stream");
    set_header(r, "X-Accel-Buffering", "no");
}
