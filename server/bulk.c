/* bulk.c - Elasticsearch's way of sending many records, which shippers speak.
 *
 * Lines come in pairs: what to do, and the record; only "delete" has none. The answer has an item for each, in their
 * order, by which a shipper knows which to send again. An item is kept as one byte, and becomes text while the answer is
 * sent. Before all that a shipper asks what it is talking to.
 */
#include "ingest.h"

#include <stdlib.h>
#include <string.h>

enum {
    ACTION_BYTES = 8 << 10, /* of a line with an action */

    /* An item: the number of its action, and what became of its record. */
    ACTION = 3,
    GAVE_LINE = 4, /* taken if there is room for it */
    LATE = 8,      /* there is none */
};

static const char *const actions[] = {"index", "create", "update", "delete"};
enum { DELETE = 3, ACTIONS };

typedef struct bulk {
    lines lines;
    unsigned char *items; /* the store's */
    size_t count;
    size_t given;   /* lines before the record that is being read */
    bool in_record; /* of the latest item */
    const char *problem;
    size_t size; /* of the action, as far as it has come */
    char action[ACTION_BYTES + 1];
} bulk;

/* -- reading ---------------------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r");
}

/* {"index": {...}} and the like; the rest of it does not matter here. */
static int action_of(char *line, size_t size)
{
    while (size && strchr(" \t\r", line[size - 1]))
        size--;
    line[size] = 0;
    const char *at = skip_blanks(line);
    at = *at == '{' && size && line[size - 1] == '}' ? skip_blanks(at + 1) : "";
    for (int i = 0; *at == '"' && i < ACTIONS; i++) {
        size_t length = strlen(actions[i]);
        if (!strncmp(at + 1, actions[i], length) && at[length + 1] == '"' &&
            *skip_blanks(at + length + 2) == ':')
            return i;
    }
    return -1;
}

static void end_action(bulk *b)
{
    b->action[b->size] = 0;
    bool blank = strspn(b->action, " \t\r") == b->size;
    int action = blank ? -1 : action_of(b->action, b->size);
    b->size = 0;
    if (blank)
        return;
    if (action < 0)
        b->problem = "is none that is known";
    else if (b->count == ITEMS_MOST)
        b->problem = "is one too many";
    else
        b->items[b->count++] = (unsigned char)action;
    b->in_record = action >= 0 && action != DELETE;
    b->given = b->lines.count;
}

static void end_record(bulk *b)
{
    bool late = b->lines.full;
    b->items[b->count - 1] |= late ? LATE : b->lines.count > b->given ? GAVE_LINE : 0;
    b->in_record = false;
}

static bool add_piece(void *state, char *bytes, size_t size)
{
    bulk *b = state;
    while (size && !b->problem) {
        const char *end = memchr(bytes, '\n', size);
        size_t length = end ? (size_t)(end - bytes) + 1 : size, text = length - !!end;
        if (b->in_record) {
            lines_add_records(&b->lines, bytes, length);
        } else if (text > ACTION_BYTES - b->size) {
            b->problem = "is too long";
            break;
        } else {
            memcpy(b->action + b->size, bytes, text);
            b->size += text;
        }
        if (end && b->in_record)
            end_record(b);
        else if (end)
            end_action(b);
        bytes += length;
        size -= length;
    }
    return !b->problem;
}

static bool add_body(bulk *b, request *r)
{
    if (!read_body(r, b->lines.store->piece, add_piece, b))
        return false;
    if (!b->problem && !b->in_record)
        end_action(b);
    if (!b->problem && b->in_record) {
        lines_end_records(&b->lines);
        end_record(b);
    }
    b->lines.large = b->lines.large || b->count > PIECE_BYTES;
    if (b->problem)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "action %zu %s", b->count + 1,
                       b->problem);
    return !b->problem;
}

/* -- answering --------------------------------------------------------------------------------------------------- */

typedef struct items {
    stream stream;
    server *server;
    size_t count, next;
    size_t taken, lines; /* how many lines were, and how many the items so far gave */
    bool errors;
    unsigned char items[];
} items;

/* The next item, or what comes before and after all. */
static size_t write_item(void *state, char *to, size_t room)
{
    items *all = state;
    size_t at = all->next++;
    if (!at)
        return (size_t)snprintf(to, room, "{\"took\":0,\"errors\":%s,\"items\":[",
                                all->errors ? "true" : "false");
    if (at > all->count)
        return at == all->count + 1 ? (size_t)snprintf(to, room, "]}") : 0;
    unsigned char item = all->items[at - 1];
    bool late = item & LATE || (item & GAVE_LINE && all->lines >= all->taken);
    all->lines += !!(item & GAVE_LINE);
    return (size_t)snprintf(
        to, room, "%s{\"%s\":{\"status\":%s}}", at > 1 ? "," : "",
        actions[item & ACTION],
        late ? "429,\"error\":{\"type\":\"es_rejected_execution_exception\","
               "\"reason\":\"the queue is full\"}"
             : "201,\"result\":\"created\"");
}

static void free_items(void *state)
{
    items *all = state;
    return_memory(all->server, all, sizeof *all + all->count);
}

/* Made before anything is taken, so that whatever was taken can be answered. NULL after a problem was answered. */
static items *copy_items(const bulk *b, request *r)
{
    items *all = take_memory(r, sizeof *all + b->count);
    if (all) {
        *all = (items){.server = r->server, .count = b->count};
        memcpy(all->items, b->items, b->count);
    }
    return all;
}

static void answer_bulk(request *r, bulk *b)
{
    items *all = copy_items(b, r);
    if (!all)
        return;
    if (!lines_push(&b->lines, r, false, &all->taken)) {
        free_items(all);
        return;
    }
    all->errors = b->lines.full || all->taken < b->lines.count;
    bool none = all->errors && !all->taken;
    all->stream = (stream){.next = write_item, .free = free_items};
    answer_stream(r, none ? 429 : 200, "application/json; charset=utf-8", &all->stream);
    if (none)
        set_header(r, "Retry-After", "1");
    set_header(r, "X-Elastic-Product", "Elasticsearch");
}

void post_bulk(request *r)
{
    char *fields = parameter(r, "_msg_field");
    bulk *b = calloc(1, sizeof *b);
    if (!b)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "no memory for a bulk");
    if (b && lines_begin(&b->lines, r, TIDE_RECORDS_JSON, fields)) {
        b->items = b->lines.store->items;
        if (add_body(b, r))
            answer_bulk(r, b);
        lines_end(&b->lines);
    }
    free(b);
    free(fields);
}

/* What a shipper asks before it sends anything: what this is, and whether it has a license. */
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
