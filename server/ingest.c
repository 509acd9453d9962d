/* ingest.c - text that is sent to us, as lines or as records.
 *
 * What comes is read as its Content-Type says and handed over as lines of text. When there is no room for all of it, the
 * answer says how much was taken, so that the sender can send the rest again: nothing is ever lost without its sender
 * knowing. Over a spool, lines that an answer says were taken are taken for good.
 */
#include "ingest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A body on its way to lines. JSON is a record a line or a list of records, which its first character tells. */
typedef struct post {
    lines lines;
    tide_record_kind kind;
    bool judged;     /* its first piece */
    tide_error what; /* what it is, if that is no text */
    tide_content content;
    bool begun; /* there was something that is not blank */
    bool list;
    bool bad; /* what should be a list is none */

    /* Of a list: */
    size_t depth;
    bool quoted, escaped; /* within a string; behind a backslash there */
    bool element;         /* something has come since the last comma */
} post;

/* -- lists ---------------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Changes the next byte of a list so that its elements become lines, without looking into them. A line feed is a blank
 * in JSON, but would end the record. False when this cannot be a list. */
static bool change(post *p, char *at)
{
    char c = *at;
    if (p->quoted) {
        p->quoted = p->escaped || c != '"';
        p->escaped = !p->escaped && c == '\\';
        return c != '\n';
    }
    if (is_blank(c)) {
        *at = ' ';
        return true;
    }
    if (p->depth == 1 && (c == ',' || c == ']')) {
        bool good = p->element || c == ']';
        p->depth -= c == ']';
        p->element = false;
        *at = '\n';
        return good;
    }
    p->depth += c == '[' || c == '{';
    p->depth -= c == ']' || c == '}';
    p->quoted = c == '"';
    p->element = true;
    return p->depth > 0;
}

static void add_list(post *p, char *bytes, size_t size)
{
    for (size_t i = 0; i < size && !p->bad; i++)
        p->bad = (!p->depth && !is_blank(bytes[i])) || !change(p, &bytes[i]);
    if (!p->bad)
        lines_add_records(&p->lines, bytes, size);
}

/* -- bodies --------------------------------------------------------------------------------------------------- */

/* Whether the body is UTF-8, as far as its first piece has told. Text that looks like JSON is text. */
static bool is_text(const post *p)
{
    return p->content == TIDE_CONTENT_TEXT || p->content == TIDE_CONTENT_RECORDS;
}

static void refuse_content(const post *p, request *r)
{
    const char *name = p->what.text, *advice;
    switch (p->content) {
    case TIDE_CONTENT_PACKED:
        advice = "send gzip with Content-Encoding: gzip, and anything else unpacked";
        break;
    case TIDE_CONTENT_8BIT:
        advice = "turn it into UTF-8 with iconv -f WINDOWS-1252 -t UTF-8";
        break;
    default:
        advice = "send text in UTF-8, JSON, CSV or TSV";
    }
    answer_problem(r, 415, PROBLEM_PLAIN, NULL, "the body is %s: %s", name, advice);
}

static bool add_piece(void *state, char *bytes, size_t size)
{
    post *p = state;
    if (!p->judged)
        p->content = tide_content_of(bytes, size, true, &p->what);
    p->judged = true;
    if (!is_text(p))
        return false;
    while (!p->begun && p->kind == TIDE_RECORDS_JSON && size) {
        p->begun = !is_blank(*bytes);
        p->list = *bytes == '[';
        if (p->begun && !p->list)
            break;
        p->depth = p->list;
        bytes++;
        size--;
    }
    if (p->list)
        add_list(p, bytes, size);
    else if (p->kind == TIDE_RECORDS_LINES)
        lines_add_text(&p->lines, bytes, size);
    else
        lines_add_records(&p->lines, bytes, size);
    return !p->bad && !p->lines.full;
}

static bool add_body(post *p, request *r)
{
    if (!read_body(r, p->lines.store->piece, add_piece, p))
        return false;
    if (!is_text(p)) {
        refuse_content(p, r);
        return false;
    }
    if (p->kind == TIDE_RECORDS_LINES)
        lines_end_text(&p->lines);
    else
        lines_end_records(&p->lines);
    bool bad = p->bad || (p->list && p->depth && !p->lines.full);
    if (bad)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "the list is not JSON");
    return !bad;
}

/* What was sent up to the first line that was not taken needs not be sent again. */
static void answer_lines(request *r, lines *l, bool whole)
{
    size_t taken;
    if (!lines_push(l, r, whole, &taken))
        return;
    bool all = taken == l->count && !l->full;
    uint64_t skipped = lines_skipped(l), done = all     ? l->seen - skipped
                                                : whole ? 0
                                                : taken < l->count
                                                    ? lines_before(l, taken)
                                                    : l->seen;
    json_t *answer = json_pack("{s:I, s:I, s:I}", "taken", (json_int_t)done, "skipped",
                               (json_int_t)skipped, "bytes", (json_int_t)l->size);
    if (all)
        answer_json(r, 200, answer);
    else
        answer_problem(r, 429, PROBLEM_BUSY, answer,
                       "there was room for the first %llu; send the others again",
                       (unsigned long long)done);
}

static void ingest(request *r, tide_record_kind kind, bool whole, char *fields)
{
    post p = {.kind = kind};
    if (lines_begin(&p.lines, r, kind, fields)) {
        if (add_body(&p, r))
            answer_lines(r, &p.lines, whole);
        lines_end(&p.lines);
    }
    free(fields);
}

/* -- routes --------------------------------------------------------------------------------------------------- */

/* What has no type is text: curl --data-binary says that it is a form. */
static tide_record_kind kind_of(const request *r)
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
    const char *type = header(r, MHD_HTTP_HEADER_CONTENT_TYPE);
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (!strncasecmp(type, types[i].type, strlen(types[i].type)))
            return types[i].kind;
    return TIDE_RECORDS_LINES;
}

void post_ingest(request *r)
{
    ingest(r, kind_of(r), false, parameter(r, "text"));
}

/* Shippers do not know that a part of what they sent may be taken, and send all of it again. */
void post_jsonline(request *r)
{
    ingest(r, TIDE_RECORDS_JSON, true, parameter(r, "_msg_field"));
}
