/* ingest.c - text to learn, as lines or as records.
 *
 * A body is read according to its Content-Type and appended to the feed as lines of
 * text. If there is no room for all of it, the response says how many inputs were
 * accepted, so that the client can resend the rest: nothing is lost without the client
 * knowing. With a spool, accepted lines are in it before the response is sent, and
 * synced as --spool-sync says.
 */
#include "answer.h"
#include "body.h"
#include "handlers.h"
#include "inflate.h"
#include "line_store.h"
#include "server_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A body while it is converted to lines. JSON is a record per line or an array of
 * records; its first character decides which. */
typedef struct post {
    line_batch lines;
    tide_record_kind kind;
    bool detected; /* `content` is set, from the first chunk */
    tide_content content;
    tide_error description; /* of the content, if it is not text */
    bool started;           /* JSON: past leading blanks */
    bool array;             /* it is a JSON array */
    bool malformed;         /* the array is */

    /* The state of the array: */
    size_t depth;
    bool quoted, escaped; /* inside a string; after a backslash in it */
    bool has_element;     /* something followed the last comma */
} post;

/* -- JSON arrays ------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Rewrites the next byte of an array so that each element becomes a line, without
 * parsing the elements: separators become line feeds. A line feed between tokens
 * becomes a space, since it would end the record. Returns false if this cannot be an
 * array. */
static bool split_byte(post *p, char *at)
{
    char c = *at;
    if (p->quoted) { /* strings may have commas and brackets, but no raw line feeds */
        p->quoted = p->escaped || c != '"';
        p->escaped = !p->escaped && c == '\\';
        return c != '\n';
    }
    if (is_blank(c)) {
        *at = ' ';
        return true;
    }
    if (p->depth == 1 && (c == ',' || c == ']')) { /* the end of an element */
        bool valid = p->has_element || c == ']';
        p->depth -= c == ']';
        p->has_element = false;
        *at = '\n';
        return valid;
    }
    /* Kinds of brackets are not matched: the record reader checks each element, and
     * here only the commas at depth 1 matter. */
    p->depth += c == '[' || c == '{';
    p->depth -= c == ']' || c == '}';
    p->quoted = c == '"';
    p->has_element = true;
    return p->depth > 0; /* nothing may follow the array */
}

static void add_array(post *p, char *bytes, size_t size)
{
    for (size_t i = 0; i < size && !p->malformed; i++)
        p->malformed = (!p->depth && !is_blank(bytes[i])) || !split_byte(p, &bytes[i]);
    if (!p->malformed)
        line_batch_add_records(&p->lines, bytes, size);
}

/* -- bodies ------------------------------------------------------------------------ */

/* Whether the first chunk is UTF-8. Text that looks like JSON is text too. */
static bool is_text(const post *p)
{
    return p->content == TIDE_CONTENT_TEXT || p->content == TIDE_CONTENT_RECORDS;
}

static void answer_unsupported(const post *p, request *r)
{
    const char *name = p->description.text, *advice;
    switch (p->content) {
    case TIDE_CONTENT_PACKED:
        advice = "send gzip with Content-Encoding: gzip, other formats uncompressed";
        break;
    case TIDE_CONTENT_8BIT:
        advice = "convert it to UTF-8 with iconv -f WINDOWS-1252 -t UTF-8";
        break;
    default:
        advice = "send UTF-8 text, JSON, CSV or TSV";
    }
    answer_problem(r, 415, PROBLEM_PLAIN, NULL, "the body is %s: %s", name, advice);
}

static bool add_chunk(void *state, char *bytes, size_t size)
{
    post *p = state;
    if (!p->detected)
        p->content = tide_content_of(bytes, size, true, &p->description);
    p->detected = true;
    if (!is_text(p))
        return false;
    /* Skip leading blanks and look at the first character, which may be in any
     * chunk. */
    while (!p->started && p->kind == TIDE_RECORDS_JSON && size) {
        p->started = !is_blank(*bytes);
        p->array = *bytes == '[';
        if (p->started && !p->array)
            break;
        p->depth = p->array;
        bytes++;
        size--;
    }
    if (p->array)
        add_array(p, bytes, size);
    else if (p->kind == TIDE_RECORDS_LINES)
        line_batch_add_text(&p->lines, bytes, size);
    else
        line_batch_add_records(&p->lines, bytes, size);
    return !p->malformed && !p->lines.full;
}

static bool add_body(post *p, request *r)
{
    if (!decode_body(r, p->lines.store->chunk, add_chunk, p))
        return false;
    if (!is_text(p)) {
        answer_unsupported(p, r);
        return false;
    }
    if (p->kind == TIDE_RECORDS_LINES)
        line_batch_finish_text(&p->lines);
    else
        line_batch_finish_records(&p->lines);
    /* An array that never closes is malformed, unless its end was not read because the
     * store was full. */
    bool malformed = p->malformed || (p->array && p->depth && !p->lines.full);
    if (malformed)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "the array is not valid JSON");
    return !malformed;
}

/* "taken" is the number of inputs that need not be sent again: if some line did not
 * fit, those before the first such line. */
static void submit_lines(request *r, line_batch *l, bool atomic)
{
    size_t accepted;
    if (!line_batch_submit(l, r, atomic, &accepted))
        return;
    /* The feed counts lines, the client inputs, some of which gave no line. After a
     * partial success `taken` is where to continue, so it includes inputs that were
     * skipped; after a complete one it is the number of inputs learned. */
    bool all = accepted == l->count && !l->full;
    uint64_t skipped = line_batch_skipped(l),
             done = all                   ? l->inputs - skipped
                    : atomic              ? 0
                    : accepted < l->count ? line_batch_inputs_before(l, accepted)
                                          : l->inputs;
    json_t *answer = json_pack("{s:I, s:I, s:I}", "taken", (json_int_t)done, "skipped",
                               (json_int_t)skipped, "bytes", (json_int_t)l->size);
    if (all)
        answer_json(r, 200, answer);
    else
        answer_problem(r, 429, PROBLEM_BUSY, answer,
                       "only the first %llu were accepted; resend the others",
                       (unsigned long long)done);
}

static void ingest(request *r, tide_record_kind kind, bool atomic, char *fields)
{
    post p = {.kind = kind};
    if (line_batch_open(&p.lines, r, kind, fields)) {
        if (add_body(&p, r))
            submit_lines(r, &p.lines, atomic);
        line_batch_close(&p.lines);
    }
    free(fields);
}

/* -- routes ------------------------------------------------------------------------ */

/* Any other type is plain text; curl --data-binary sends the type of a form. */
static tide_record_kind record_kind(const request *r)
{
    static const struct {
        const char *type;
        tide_record_kind kind;
    } types[] = {{"application/json", TIDE_RECORDS_JSON}, /* and jsonl */
                 {"application/x-ndjson", TIDE_RECORDS_JSON},
                 {"application/ndjson", TIDE_RECORDS_JSON},
                 {"application/x-jsonlines", TIDE_RECORDS_JSON},
                 {"application/stream+json", TIDE_RECORDS_JSON},
                 {"text/csv", TIDE_RECORDS_CSV},
                 {"text/tab-separated-values", TIDE_RECORDS_TSV}};
    const char *type = request_header(r, MHD_HTTP_HEADER_CONTENT_TYPE);
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (!strncasecmp(type, types[i].type, strlen(types[i].type)))
            return types[i].kind;
    return TIDE_RECORDS_LINES;
}

void post_ingest(request *r)
{
    ingest(r, record_kind(r), false, request_parameter(r, "text"));
}

/* Shippers do not know partial success and resend everything, so it is all or
 * nothing. */
void post_jsonline(request *r)
{
    ingest(r, TIDE_RECORDS_JSON, true, request_parameter(r, "_msg_field"));
}
