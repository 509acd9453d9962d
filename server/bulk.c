/* bulk.c - Elasticsearch's way of sending many records, which shippers speak.
 *
 * Lines come in pairs: what to do, and the record; only "delete" has none. The answer has an item for each, in their
 * order, by which a shipper knows which to send again. Before that it asks what it is talking to.
 */
#include "ingest.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct item {
    char action[8];
    size_t first; /* the number of lines before it */
    bool has_text;
} item;

typedef struct bulk {
    lines lines;
    item *items;
    size_t count, room;
    bool bad;
} bulk;

static const char *line_end(const char *at, const char *end)
{
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found : end;
}

static bool add_item(bulk *b, const char *action)
{
    if (b->count == b->room) {
        size_t room = b->room ? 2 * b->room : 256;
        item *items = realloc(b->items, room * sizeof *items);
        if (!items)
            return false;
        b->items = items;
        b->room = room;
    }
    item *i = &b->items[b->count++];
    *i = (item){.first = b->lines.count};
    snprintf(i->action, sizeof i->action, "%s", action);
    return true;
}

/* {"index": {...}} and the like. */
static bool take_action(bulk *b, const char *line, size_t size)
{
    static const char *const known[] = {"index", "create", "update", "delete"};
    const char *why;
    json_t *object = load_json(line, size, 0, &why);
    const char *action = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (json_object_get(object, known[i]))
            action = known[i];
    bool good = action && add_item(b, action);
    json_decref(object);
    return good;
}

static void take_all(bulk *b, const char *at, const char *end)
{
    while (at < end && !b->bad) {
        const char *stop = line_end(at, end);
        if (skip_blanks(at, stop, " \t\r") < stop) {
            b->bad = !take_action(b, at, (size_t)(stop - at));
            if (!b->bad && strcmp(b->items[b->count - 1].action, "delete") != 0) {
                at = stop < end ? stop + 1 : end;
                stop = line_end(at, end);
                lines_add_records(&b->lines, at, (size_t)(stop - at));
                b->items[b->count - 1].has_text =
                    b->lines.count > b->items[b->count - 1].first;
            }
        }
        at = stop < end ? stop + 1 : end;
    }
}

static json_t *item_json(const item *i, size_t taken, bool *errors)
{
    bool late = i->has_text && i->first >= taken;
    *errors = *errors || late;
    if (late)
        return json_pack("{s:{s:i, s:{s:s, s:s}}}", i->action, "status", 429, "error",
                         "type", "es_rejected_execution_exception", "reason",
                         "the queue is full");
    return json_pack("{s:{s:i, s:s}}", i->action, "status", 201, "result", "created");
}

static void answer_bulk(request *r, bulk *b)
{
    size_t taken;
    if (!lines_push(&b->lines, r, &taken))
        return;
    json_t *items = json_array();
    bool errors = false;
    for (size_t i = 0; i < b->count; i++)
        json_array_append_new(items, item_json(&b->items[i], taken, &errors));
    bool none = errors && !taken;
    answer_json(
        r, none ? 429 : 200,
        json_pack("{s:i, s:b, s:o}", "took", 0, "errors", errors, "items", items));
    if (none)
        set_header(r, "Retry-After", "1");
    set_header(r, "X-Elastic-Product", "Elasticsearch");
}

void post_bulk(request *r)
{
    bulk b = {0};
    char *inflated;
    size_t size;
    char *fields = parameter(r, "_msg_field");
    const char *body = plain_body(r, &size, &inflated);
    if (body && lines_begin(&b.lines, r, fields)) {
        take_all(&b, body, body + size);
        if (b.bad)
            answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                           "line %zu of actions is none that is known", b.count + 1);
        else
            answer_bulk(r, &b);
        lines_end(&b.lines);
    }
    free(b.items);
    free(inflated);
    free(fields);
}

/* What a shipper asks before it sends anything: what this is, and whether it has a licence. */
void get_elastic(request *r)
{
    answer_json(r, 200,
                json_pack("{s:s, s:s, s:{s:s, s:s}, s:s, s:{s:s, s:s}}", "name",
                          "wordtide", "cluster_name", "wordtide", "version", "number",
                          "8.11.0", "build_flavor", "default", "tagline",
                          "You Know, for Search", "license", "status", "active", "type",
                          "basic"));
    set_header(r, "X-Elastic-Product", "Elasticsearch");
}
