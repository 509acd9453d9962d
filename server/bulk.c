/* bulk.c - Elasticsearch's bulk API, which log shippers speak.
 *
 * Lines come in pairs: an action and its record; only "delete" has no record. The
 * response has an item per action, in their order, which shows a shipper which records
 * to resend. An item is stored as one byte and formatted while the response is sent.
 * Before it sends anything, a shipper asks which version of Elasticsearch it is talking
 * to.
 */
#include "answer.h"
#include "body.h"
#include "handlers.h"
#include "inflate.h"
#include "line_store.h"
#include "server_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    ACTION_BYTES_MAX = 8 << 10, /* in the line of an action */

    /* The bits of an item. */
    ITEM_ACTION = 3,   /* index into `actions` */
    ITEM_HAS_LINE = 4, /* its record gave a line, which the feed may accept or not */
    ITEM_REJECTED = 8, /* the batch was full before */
};

static const char *const actions[] = {"index", "create", "update", "delete"};
enum { ACTION_DELETE = 3, ACTIONS };

typedef struct bulk {
    line_batch lines;
    unsigned char *items; /* in the line store */
    size_t count;
    size_t lines_before; /* in the batch before the current record */
    bool in_record;      /* reading the record of the last item */
    const char *problem;
    size_t action_size; /* bytes of the action line received so far */
    char action[ACTION_BYTES_MAX + 1];
} bulk;

/* -- reading ----------------------------------------------------------------------- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r");
}

/* Returns the index of the action in {"index": {...}} and the like, ignoring its
 * members; -1 if it is unknown. */
static int parse_action(char *line, size_t size)
{
    while (size && strchr(" \t\r", line[size - 1]))
        size--;
    line[size] = 0;
    const char *at = skip_blanks(line);
    /* Only the shape {"NAME": ...} is checked. Members such as _index have no meaning
     * here, and a shipper that sends broken ones still sends a record behind them. */
    at = *at == '{' && size && line[size - 1] == '}' ? skip_blanks(at + 1) : "";
    for (int i = 0; *at == '"' && i < ACTIONS; i++) {
        size_t length = strlen(actions[i]);
        if (!strncmp(at + 1, actions[i], length) && at[length + 1] == '"' &&
            *skip_blanks(at + length + 2) == ':')
            return i;
    }
    return -1;
}

/* Handles a complete action line; blank lines are ignored. */
static void end_action(bulk *b)
{
    b->action[b->action_size] = 0;
    bool blank = strspn(b->action, " \t\r") == b->action_size;
    int action = blank ? -1 : parse_action(b->action, b->action_size);
    b->action_size = 0;
    if (blank)
        return;
    if (action < 0)
        b->problem = "unknown bulk action";
    else if (b->count == BULK_ITEMS_MAX)
        b->problem = "too many actions";
    else
        b->items[b->count++] = (unsigned char)action;
    b->in_record = action >= 0 && action != ACTION_DELETE;
    b->lines_before = b->lines.count;
}

/* Notes whether the record of the last item gave a line. */
static void end_record(bulk *b)
{
    bool rejected = b->lines.full;
    b->items[b->count - 1] |= rejected                           ? ITEM_REJECTED
                              : b->lines.count > b->lines_before ? ITEM_HAS_LINE
                                                                 : 0;
    b->in_record = false;
}

/* Splits a chunk into lines, which are actions and records in turn. Both may continue
 * in the next chunk. */
static bool add_chunk(void *state, char *bytes, size_t size)
{
    bulk *b = state;
    while (size && !b->problem) {
        const char *end = memchr(bytes, '\n', size);
        size_t length = end ? (size_t)(end - bytes) + 1 : size, text = length - !!end;
        if (b->in_record) {
            line_batch_add_records(&b->lines, bytes, length);
        } else if (text > ACTION_BYTES_MAX - b->action_size) {
            b->problem = "the line is too long";
            break;
        } else {
            memcpy(b->action + b->action_size, bytes, text);
            b->action_size += text;
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
    if (!decode_body(r, b->lines.store->chunk, add_chunk, b))
        return false;
    /* The last line may have no line feed: it is an action, such as a delete, or the
     * record of the last one. */
    if (!b->problem && !b->in_record)
        end_action(b);
    if (!b->problem && b->in_record) {
        line_batch_finish_records(&b->lines);
        end_record(b);
    }
    b->lines.large = b->lines.large || b->count > CHUNK_BYTES;
    if (b->problem)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "action %zu: %s", b->count + 1,
                       b->problem);
    return !b->problem;
}

/* -- answering --------------------------------------------------------------------- */

typedef struct bulk_response {
    stream stream;
    server *server;
    size_t count, next;
    size_t accepted; /* lines that the feed has accepted */
    size_t lines;    /* of the items formatted so far */
    bool errors;
    unsigned char items[];
} bulk_response;

/* Formats the beginning, an item, or the end. */
static size_t write_item(void *state, char *out, size_t capacity)
{
    bulk_response *response = state;
    size_t at = response->next++;
    if (!at)
        return (size_t)snprintf(out, capacity, "{\"took\":0,\"errors\":%s,\"items\":[",
                                response->errors ? "true" : "false");
    if (at > response->count)
        return at == response->count + 1 ? (size_t)snprintf(out, capacity, "]}") : 0;
    unsigned char item = response->items[at - 1];
    /* The feed accepts a prefix of the lines, so those of later items were rejected. An
     * item whose record gave no line is done: sending it again would not help. */
    bool rejected = item & ITEM_REJECTED ||
                    (item & ITEM_HAS_LINE && response->lines >= response->accepted);
    response->lines += !!(item & ITEM_HAS_LINE);
    return (size_t)snprintf(
        out, capacity, "%s{\"%s\":{\"status\":%s}}", at > 1 ? "," : "",
        actions[item & ITEM_ACTION],
        rejected ? "429,\"error\":{\"type\":\"es_rejected_execution_exception\","
                   "\"reason\":\"the queue is full\"}"
                 : "201,\"result\":\"created\"");
}

static void free_response(void *state)
{
    bulk_response *response = state;
    response_memory_free(response->server, response,
                         sizeof *response + response->count);
}

/* Allocated before the feed accepts anything, so that memory for the answer is certain.
 * Returns NULL after answering with a problem. */
static bulk_response *new_response(const bulk *b, request *r)
{
    bulk_response *response = response_memory_alloc(r, sizeof *response + b->count);
    if (response) {
        *response = (bulk_response){.server = r->server, .count = b->count};
        memcpy(response->items, b->items, b->count);
    }
    return response;
}

static void answer_bulk(request *r, bulk *b)
{
    bulk_response *response = new_response(b, r);
    if (!response)
        return;
    if (!line_batch_submit(&b->lines, r, false, &response->accepted)) {
        free_response(response);
        return;
    }
    response->errors = b->lines.full || response->accepted < b->lines.count;
    bool none = response->errors && !response->accepted;
    response->stream = (stream){.next = write_item, .free = free_response};
    answer_stream(r, none ? 429 : 200, "application/json; charset=utf-8",
                  &response->stream);
    if (none)
        set_header(r, "Retry-After", "1");
    set_header(r, "X-Elastic-Product", "Elasticsearch");
}

void post_bulk(request *r)
{
    char *fields = request_parameter(r, "_msg_field");
    bulk *b = calloc(1, sizeof *b);
    if (!b)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "out of memory");
    if (b && line_batch_open(&b->lines, r, TIDE_RECORDS_JSON, fields)) {
        b->items = b->lines.store->bulk_items;
        if (add_body(b, r))
            answer_bulk(r, b);
        line_batch_close(&b->lines);
    }
    free(b);
    free(fields);
}

/* The version and license that shippers check before they send anything. */
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
