/* body.c - receiving bodies within bounds, and reading them as JSON.
 *
 * All bodies together have a bound, and a part of it is for small ones. When there is no room for more, a body that has
 * hardly grown for a second loses its room to those that come faster.
 */
#include "http.h"

#include <stdlib.h>
#include <string.h>

enum {
    BODIES_MAX = 24 << 20, /* bytes, of all that come at the same time */
    SMALL_KEPT = 4 << 20,  /* of them, for bodies of at most BODY_MAX */
    ROOM_LEAST = 16 << 10,
    ROOM_STEP = 256 << 10,
    SLOW_BYTES = 64 << 10, /* in SLOW_SECONDS */
    DEPTH_MAX = 32,        /* of JSON */
    VALUES_MAX = 4096,     /* in JSON */
};
#define SLOW_SECONDS 1.0

/* -- memory, under the lock ----------------------------------------------------------------------------------- */

static bool fits(const bodies *b, size_t more, bool small)
{
    return b->held + more <= (size_t)(small ? BODIES_MAX : BODIES_MAX - SMALL_KEPT);
}

static void forget(bodies *b, request *r)
{
    b->held -= r->room;
    free(r->body);
    r->body = NULL;
    r->size = r->room = 0;
}

static void list_out(bodies *b, request *r)
{
    for (request **at = &b->coming; *at; at = &(*at)->next_body)
        if (*at == r) {
            *at = r->next_body;
            r->coming = false;
            return;
        }
}

/* The largest of the bodies that come too slowly; NULL without. */
static request *slowest(const bodies *b, const request *other, double now)
{
    request *found = NULL;
    for (request *r = b->coming; r; r = r->next_body)
        if (r != other && r->room && now - r->grown_at > SLOW_SECONDS &&
            (!found || r->room > found->room))
            found = r;
    return found;
}

/* Room for so many bytes more, if need be at the cost of those that are slow. */
static bool find_room(bodies *b, const request *r, size_t more, bool small)
{
    double now = now_seconds();
    for (request *slow; !fits(b, more, small) && (slow = slowest(b, r, now));) {
        list_out(b, slow);
        forget(b, slow);
        slow->ousted = true;
    }
    return fits(b, more, small);
}

/* 0, or the status to refuse the body with. */
static int make_room(bodies *b, request *r, size_t wanted)
{
    size_t room = r->room ? r->room : ROOM_LEAST;
    while (room < wanted)
        room += room < ROOM_STEP ? room : ROOM_STEP;
    if (room == r->room)
        return 0;
    if (!find_room(b, r, room - r->room, room <= BODY_MAX))
        return 429;
    char *body = realloc(r->body, room);
    if (!body)
        return 503;
    b->held += room - r->room;
    r->body = body;
    r->room = room;
    return 0;
}

/* -- receiving ------------------------------------------------------------------------------------------------- */

static int add_bytes(bodies *b, request *r, const char *bytes, size_t size)
{
    if (size > r->most - r->size)
        return 413;
    int status = r->ousted ? 429 : make_room(b, r, r->size + size);
    if (status)
        return status;
    if (!r->coming) {
        r->next_body = b->coming;
        b->coming = r;
        r->coming = true;
        r->grown_at = now_seconds();
        r->grown_to = 0;
    }
    memcpy(r->body + r->size, bytes, size);
    r->size += size;
    if (r->size - r->grown_to >= SLOW_BYTES) {
        r->grown_to = r->size;
        r->grown_at = now_seconds();
    }
    return 0;
}

static void refuse(request *r, int status)
{
    static const char none[] = "too much text is on its way",
                      slow[] = "the body came too slowly while others had no room";
    json_t *more = r->route->flags & INGESTS && status == 429
                       ? json_pack("{s:i}", "taken", 0)
                       : NULL;
    r->close = true;
    if (status == 413)
        answer_problem(r, 413, PROBLEM_PLAIN, NULL, "a body here has at most %zu bytes",
                       r->most);
    else if (status == 503)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "no memory for the body");
    else
        answer_problem(r, 429, PROBLEM_BUSY, more, "%s", r->ousted ? slow : none);
}

void take_body(request *r, const char *bytes, size_t size)
{
    bodies *b = &r->server->bodies;
    if (r->response)
        return; /* refused; the rest is thrown away */
    pthread_mutex_lock(&b->lock);
    int status = add_bytes(b, r, bytes, size);
    pthread_mutex_unlock(&b->lock);
    if (!status)
        return;
    drop_body(r); /* now, so that others of those that come have room to be whole */
    refuse(r, status);
}

bool end_body(request *r)
{
    bodies *b = &r->server->bodies;
    pthread_mutex_lock(&b->lock);
    list_out(b, r);
    pthread_mutex_unlock(&b->lock);
    if (r->ousted && !r->response)
        refuse(r, 429);
    return !r->response;
}

void drop_body(request *r)
{
    bodies *b = &r->server->bodies;
    pthread_mutex_lock(&b->lock);
    list_out(b, r);
    forget(b, r);
    pthread_mutex_unlock(&b->lock);
}

void *take_memory(request *r, size_t size)
{
    bodies *b = &r->server->bodies;
    pthread_mutex_lock(&b->lock);
    bool room = find_room(b, r, size, size <= BODY_MAX);
    b->held += room ? size : 0;
    pthread_mutex_unlock(&b->lock);
    void *memory = room ? malloc(size) : NULL;
    if (!room)
        answer_problem(r, 429, PROBLEM_BUSY, NULL, "too many answers are on their way");
    else if (!memory)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "no memory for the answer");
    if (room && !memory)
        return_memory(r->server, NULL, size);
    return memory;
}

void return_memory(server *s, void *memory, size_t size)
{
    free(memory);
    pthread_mutex_lock(&s->bodies.lock);
    s->bodies.held -= size;
    pthread_mutex_unlock(&s->bodies.lock);
}

/* -- as JSON ------------------------------------------------------------------------------------------------ */

/* Whether it is nested too deeply or has so many values that they would take far more memory than the text. In what is not
 * JSON they may be counted wrongly: it is refused in any case. */
static const char *too_much(const char *json, size_t size)
{
    size_t depth = 0, values = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        char c = json[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            depth++, values++;
        else if (!quoted && (c == ']' || c == '}') && depth)
            depth--;
        else if (!quoted && c == ',')
            values++;
        if (depth > DEPTH_MAX)
            return "it is nested too deeply";
        if (values > VALUES_MAX)
            return "it has too many values";
    }
    return NULL;
}

json_t *load_json(const char *json, size_t size, size_t flags, const char **why)
{
    static _Thread_local json_error_t error;
    *why = too_much(json, size);
    if (*why)
        return NULL;
    json_t *value = json_loadb(json, size, flags, &error);
    *why = json_error_code(&error) == json_error_out_of_memory ? NULL : error.text;
    return value;
}

json_t *body_object(request *r)
{
    const char *why;
    json_t *object =
        load_json(r->body ? r->body : "", r->size, JSON_REJECT_DUPLICATES, &why);
    if (json_is_object(object))
        return object;
    if (!object && !why)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "no memory for the body");
    else
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "the body is not a JSON object%s%s",
                       object ? "" : ": ", object ? "" : why);
    json_decref(object);
    return NULL;
}
