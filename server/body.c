/* body.c - receiving a body within bounds, and reading it as JSON. */
#include "http.h"

#include <stdlib.h>
#include <string.h>

enum {
    BODIES_MAX = 64 << 20, /* bytes, of all that come at the same time */
    DEPTH_MAX = 32,        /* of JSON */
};

static bool make_room(request *r, size_t wanted)
{
    if (wanted <= r->room)
        return true;
    size_t room = r->room ? r->room : 16 * 1024;
    while (room < wanted)
        room *= 2;
    size_t more = room - r->room;
    bool fits = atomic_fetch_add(&r->server->bodies, more) + more <= BODIES_MAX;
    char *body = fits ? realloc(r->body, room) : NULL;
    if (!body) {
        atomic_fetch_sub(&r->server->bodies, more);
        return false;
    }
    r->body = body;
    r->room = room;
    return true;
}

void take_body(request *r, const char *bytes, size_t size)
{
    if (r->response)
        return; /* refused; the rest is thrown away */
    if (size > r->most - r->size) {
        r->close = true;
        answer_problem(r, 413, PROBLEM_PLAIN, NULL, "a body here has at most %zu bytes",
                       r->most);
    } else if (!make_room(r, r->size + size)) {
        r->close = true;
        answer_problem(r, 429, PROBLEM_BUSY, json_pack("{s:i}", "taken", 0),
                       "too much text is on its way");
    } else {
        memcpy(r->body + r->size, bytes, size);
        r->size += size;
    }
}

void drop_body(request *r)
{
    atomic_fetch_sub(&r->server->bodies, r->room);
    free(r->body);
    r->body = NULL;
    r->size = r->room = 0;
}

/* -- as JSON ------------------------------------------------------------------------------------------------ */

/* Whether brackets are nested too deeply. In what is not JSON they may be counted wrongly: it is
 * refused in any case. */
static bool is_deep(const char *json, size_t size)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < size && depth <= DEPTH_MAX; i++) {
        char c = json[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            depth++;
        else if (!quoted && (c == ']' || c == '}') && depth)
            depth--;
    }
    return depth > DEPTH_MAX;
}

json_t *load_json(const char *json, size_t size, size_t flags, const char **why)
{
    static _Thread_local json_error_t error;
    *why = "it is nested too deeply";
    if (is_deep(json, size))
        return NULL;
    *why = error.text;
    return json_loadb(json, size, flags, &error);
}

json_t *body_object(request *r)
{
    const char *why;
    json_t *object =
        load_json(r->body ? r->body : "", r->size, JSON_REJECT_DUPLICATES, &why);
    if (json_is_object(object))
        return object;
    answer_problem(r, 400, PROBLEM_PLAIN, NULL, "the body is not a JSON object%s%s",
                   object ? "" : ": ", object ? "" : why);
    json_decref(object);
    return NULL;
}
