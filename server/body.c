/* body.c - receiving request bodies within a memory bound, and parsing them as JSON.
 *
 * All bodies together have a bound, of which a part is reserved for small ones. When
 * there is no room for more, a body that has hardly grown for a second is evicted in
 * favor of faster ones, and its request is refused with 429.
 */
#include "body.h"

#include "answer.h"
#include "server_internal.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

enum {
    POOL_BYTES_MAX = 24 << 20,
    RESERVED_BYTES = 4 << 20, /* of them, for bodies of at most BODY_MAX */
    CAPACITY_MIN = 16 << 10,
    CAPACITY_STEP = 256 << 10,
    SLOW_BYTES = 64 << 10, /* a slow body grows by less than that in SLOW_SECONDS */
    JSON_DEPTH_MAX = 32,
    JSON_VALUES_MAX = 4096,
};
#define SLOW_SECONDS 1.0

/* -- memory; the lock is held ------------------------------------------------------ */

static bool has_room(const body_pool *b, size_t size, bool small)
{
    return b->bytes_used + size <=
           (size_t)(small ? POOL_BYTES_MAX : POOL_BYTES_MAX - RESERVED_BYTES);
}

static void free_body(body_pool *b, request *r)
{
    b->bytes_used -= r->body_capacity;
    free(r->body);
    r->body = NULL;
    r->body_size = r->body_capacity = 0;
}

static void unlist_receiving(body_pool *b, request *r)
{
    for (request **at = &b->receiving; *at; at = &(*at)->next_receiving)
        if (*at == r) {
            *at = r->next_receiving;
            r->receiving = false;
            return;
        }
}

/* Returns the largest of the bodies that arrive too slowly; NULL if there is none. */
static request *find_slow_body(const body_pool *b, const request *except, double now)
{
    request *found = NULL;
    for (request *r = b->receiving; r; r = r->next_receiving)
        if (r != except && r->body_capacity && now - r->progress_time > SLOW_SECONDS &&
            (!found || r->body_capacity > found->body_capacity))
            found = r;
    return found;
}

/* Makes room for `size` more bytes, evicting slow bodies if necessary. */
static bool make_room(body_pool *b, const request *r, size_t size, bool small)
{
    double now = tide_now_seconds();
    for (request *slow;
         !has_room(b, size, small) && (slow = find_slow_body(b, r, now));) {
        unlist_receiving(b, slow);
        free_body(b, slow);
        slow->body_evicted = true;
    }
    return has_room(b, size, small);
}

/* Grows the buffer. Returns 0, or the status to refuse the body with. */
static int reserve_body(body_pool *b, request *r, size_t size)
{
    size_t capacity = r->body_capacity ? r->body_capacity : CAPACITY_MIN;
    /* Doubling would leave up to half of the pool unused; constant steps at first would
     * copy small bodies often. */
    while (capacity < size)
        capacity += capacity < CAPACITY_STEP ? capacity : CAPACITY_STEP;
    if (capacity == r->body_capacity)
        return 0;
    if (!make_room(b, r, capacity - r->body_capacity, capacity <= BODY_MAX))
        return 429;
    char *body = realloc(r->body, capacity);
    if (!body)
        return 503;
    b->bytes_used += capacity - r->body_capacity;
    r->body = body;
    r->body_capacity = capacity;
    return 0;
}

/* -- receiving --------------------------------------------------------------------- */

/* Returns 0, or the status to refuse the body with. The lock is held. */
static int append_bytes(body_pool *b, request *r, const char *bytes, size_t size)
{
    if (size > r->body_limit - r->body_size)
        return 413;
    int status = r->body_evicted ? 429 : reserve_body(b, r, r->body_size + size);
    if (status)
        return status;
    if (!r->receiving) {
        r->next_receiving = b->receiving;
        b->receiving = r;
        r->receiving = true;
        r->progress_time = tide_now_seconds();
        r->progress_size = 0;
    }
    memcpy(r->body + r->body_size, bytes, size);
    r->body_size += size;
    /* Progress is measured in steps of SLOW_BYTES, so that a byte now and then does not
     * keep a large body from being evicted. */
    if (r->body_size - r->progress_size >= SLOW_BYTES) {
        r->progress_size = r->body_size;
        r->progress_time = tide_now_seconds();
    }
    return 0;
}

static void answer_refusal(request *r, int status)
{
    json_t *members = r->route->flags & ROUTE_INGEST && status == 429
                          ? json_pack("{s:i}", "taken", 0)
                          : NULL;
    r->close_connection = true;
    if (status == 413)
        answer_problem(r, 413, PROBLEM_PLAIN, NULL, "the body exceeds %zu bytes",
                       r->body_limit);
    else if (status == 503)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "out of memory for the body");
    else
        answer_problem(r, 429, PROBLEM_BUSY, members, "%s",
                       r->body_evicted
                           ? "the body was sent too slowly while others were waiting"
                           : "too much text is being received; retry later");
}

void body_append(request *r, const char *bytes, size_t size)
{
    body_pool *b = &r->server->bodies;
    if (r->response)
        return; /* refused already; the rest is ignored */
    pthread_mutex_lock(&b->lock);
    int status = append_bytes(b, r, bytes, size);
    pthread_mutex_unlock(&b->lock);
    if (!status)
        return;
    body_discard(r); /* at once, so that other bodies have room to be completed */
    answer_refusal(r, status);
}

bool body_finish(request *r)
{
    body_pool *b = &r->server->bodies;
    pthread_mutex_lock(&b->lock);
    unlist_receiving(b, r);
    pthread_mutex_unlock(&b->lock);
    if (r->body_evicted && !r->response)
        answer_refusal(r, 429);
    return !r->response;
}

void body_discard(request *r)
{
    body_pool *b = &r->server->bodies;
    pthread_mutex_lock(&b->lock);
    unlist_receiving(b, r);
    free_body(b, r);
    pthread_mutex_unlock(&b->lock);
}

void *response_memory_alloc(request *r, size_t size)
{
    body_pool *b = &r->server->bodies;
    pthread_mutex_lock(&b->lock);
    /* Reserved before it is allocated, so that two threads cannot both take the last of
     * the pool while the lock is not held. */
    bool reserved = make_room(b, r, size, size <= BODY_MAX);
    b->bytes_used += reserved ? size : 0;
    pthread_mutex_unlock(&b->lock);
    void *memory = reserved ? malloc(size) : NULL;
    if (!reserved)
        answer_problem(r, 429, PROBLEM_BUSY, NULL,
                       "too many responses are being sent; retry later");
    else if (!memory)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "out of memory for the response");
    if (reserved && !memory)
        response_memory_free(r->server, NULL, size);
    return memory;
}

void response_memory_free(server *s, void *memory, size_t size)
{
    free(memory);
    pthread_mutex_lock(&s->bodies.lock);
    s->bodies.bytes_used -= size;
    pthread_mutex_unlock(&s->bodies.lock);
}

/* -- JSON -------------------------------------------------------------------------- */

/* Returns why the JSON is too complex to parse, or NULL: nested too deeply, or with
 * values that would take far more memory than the text. Malformed JSON may be
 * counted wrongly, but is refused in any case. */
static const char *find_excess(const char *json, size_t size)
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
        if (depth > JSON_DEPTH_MAX)
            return "it is nested too deeply";
        if (values > JSON_VALUES_MAX)
            return "it has too many values";
    }
    return NULL;
}

json_t *parse_json(const char *json, size_t size, size_t flags, const char **why)
{
    static _Thread_local json_error_t error;
    *why = find_excess(json, size);
    if (*why)
        return NULL;
    json_t *value = json_loadb(json, size, flags, &error);
    *why = json_error_code(&error) == json_error_out_of_memory ? NULL : error.text;
    return value;
}

json_t *parse_body_object(request *r)
{
    const char *why;
    json_t *object =
        parse_json(r->body ? r->body : "", r->body_size, JSON_REJECT_DUPLICATES, &why);
    if (json_is_object(object))
        return object;
    if (!object && !why)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "out of memory for the body");
    else
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "the body is not a JSON object%s%s",
                       object ? "" : ": ", object ? "" : why);
    json_decref(object);
    return NULL;
}
