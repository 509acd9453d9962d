/* ingest.c - text that is sent to us, as lines or as records.
 *
 * What comes is brought into the form that the trainer reads and handed over line by line. When there is no
 * room for all of it, the answer says how many lines were taken, so that the sender can send the others again: nothing
 * is ever lost without its sender knowing. Over a spool, lines that an answer says were taken are taken for good.
 */
#include "ingest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Names under which shippers and people send their texts. */
static const char usual_fields[] = "message,_msg,msg,log,text,body";

/* -- lines ------------------------------------------------------------------------------------------------- */

bool lines_begin(lines *l, request *r, const char *fields)
{
    tide_error err;
    const tide_params *params = tide_trainer_params(r->server->options.trainer);
    char kind[16];
    *l = (lines){.longest = tide_feed_room(r->server->options.feed)};
    tide_params_text(params, "records", kind, sizeof kind);
    if (!strcmp(kind, "json"))
        l->field = "message";
    const tide_record_options options = {.kind = TIDE_RECORDS_JSON,
                                         .text = fields ? fields : usual_fields,
                                         .time = "",
                                         .label = "",
                                         .one_line = true};
    l->records = tide_records_new(&options, &err);
    if (!l->records)
        answer_problem(r, err.status == TIDE_ERROR_PARAMETER ? 400 : 503, PROBLEM_PLAIN,
                       NULL, "%s", err.text);
    return l->records != NULL;
}

void lines_end(lines *l)
{
    tide_records_free(l->records);
    free(l->bytes);
    free(l->numbers);
    *l = (lines){0};
}

/* An array of at least so many, in steps that double; NULL without memory. */
static void *grown(void *array, size_t *room, size_t wanted, size_t size)
{
    size_t more = *room ? *room : 1024;
    while (more < wanted)
        more *= 2;
    void *bigger = more > *room ? realloc(array, more * size) : array;
    *room = bigger ? more : *room;
    return bigger;
}

static bool make_room(lines *l, size_t more)
{
    char *bytes = grown(l->bytes, &l->room, l->size + more, 1);
    l->bytes = bytes ? bytes : l->bytes;
    uint32_t *numbers =
        grown(l->numbers, &l->number_room, l->count + 1, sizeof *numbers);
    l->numbers = numbers ? numbers : l->numbers;
    l->failed = l->failed || !bytes || !numbers;
    return !l->failed;
}

/* The last that was seen. */
static void add_plain(lines *l, const char *text, size_t size)
{
    if (size >= l->longest) {
        l->skipped++;
        return;
    }
    if (!make_room(l, size + 1))
        return;
    memcpy(l->bytes + l->size, text, size);
    l->size += size;
    l->bytes[l->size++] = '\n';
    l->numbers[l->count++] = (uint32_t)(l->seen - 1);
}

static void add_line(lines *l, const char *text, size_t size)
{
    if (!l->field) {
        add_plain(l, text, size);
        return;
    }
    json_t *value = json_stringn(text, size);
    json_t *object = value ? json_pack("{s:o}", l->field, value) : NULL;
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    if (line)
        add_plain(l, line, strlen(line));
    else
        l->skipped++;
    free(line);
    json_decref(object);
}

void lines_add_text(lines *l, const char *text, size_t size)
{
    while (size) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        l->seen++;
        add_line(l, text, length);
        length += end != NULL;
        text += length;
        size -= length;
    }
}

static void take_texts(lines *l)
{
    const char *text;
    size_t size;
    while (tide_records_take(l->records, &text, &size)) {
        l->seen = tide_records_counted(l->records).records;
        add_line(l, text, size && text[size - 1] == '\n' ? size - 1 : size);
    }
}

void lines_add_records(lines *l, const char *json, size_t size)
{
    tide_record_counts before = tide_records_counted(l->records);
    while (size) {
        size_t used = tide_records_feed(l->records, json, size);
        json += used;
        size -= used;
        take_texts(l);
    }
    tide_records_end(l->records);
    take_texts(l);
    tide_record_counts after = tide_records_counted(l->records);
    l->seen = after.records;
    l->skipped += after.malformed + after.missing + after.too_long - before.malformed -
                  before.missing - before.too_long;
}

bool lines_push(lines *l, request *r, size_t *count)
{
    tide_error err;
    tide_feed *feed = r->server->options.feed;
    ptrdiff_t taken = 0;
    if (l->whole && l->size > tide_feed_room(feed)) {
        answer_problem(r, 413, PROBLEM_PLAIN, NULL, "the queue has %zu bytes",
                       tide_feed_room(feed));
        return false;
    }
    if (l->size && !l->failed)
        taken = l->whole ? tide_feed_push_whole(feed, l->bytes, l->size, &err)
                         : tide_feed_push(feed, l->bytes, l->size, &err);
    *count = 0;
    if (taken < 0) {
        answer_problem(r, 500, PROBLEM_PLAIN, NULL,
                       "nobody knows whether the lines were taken: %s", err.text);
        return false;
    }
    for (const char *at = l->bytes, *end = taken ? at + taken : at; at < end; ++*count)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    figures_refused(r->server->figures, l->size - (size_t)taken);
    return true;
}

/* -- bodies ---------------------------------------------------------------------------------------------------- */

const char *plain_body(request *r, size_t *size, char **to_free)
{
    const char *coding = header(r, MHD_HTTP_HEADER_CONTENT_ENCODING);
    *to_free = NULL;
    *size = r->size;
    if (!coding || !*coding || !strcasecmp(coding, "identity"))
        return r->body ? r->body : "";
    if (strcasecmp(coding, "gzip") != 0 && strcasecmp(coding, "x-gzip") != 0) {
        answer_problem(r, 415, PROBLEM_PLAIN, NULL, "Content-Encoding may be gzip");
        return NULL;
    }
    *to_free = inflate_body(r->body ? r->body : "", r->size, size);
    if (!*to_free)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "the body is not gzip, or too large when inflated");
    return *to_free;
}

/* A list of objects, as Fluent Bit sends them, becomes lines of them. False after a problem was answered. */
static bool add_list(request *r, lines *l, const char *body, size_t size)
{
    const char *why;
    json_t *list = load_json(body, size, 0, &why);
    if (!list) {
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "the list is not JSON: %s", why);
        return false;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        char *line =
            json_dumps(json_array_get(list, i), JSON_COMPACT | JSON_ENCODE_ANY);
        if (line)
            lines_add_records(l, line, strlen(line));
        free(line);
    }
    json_decref(list);
    return true;
}

static bool is_json(const request *r)
{
    static const char *const types[] = {
        "application/json",  "application/x-ndjson",    "application/ndjson",
        "application/jsonl", "application/x-jsonlines", "application/stream+json"};
    const char *type = header(r, MHD_HTTP_HEADER_CONTENT_TYPE);
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (!strncasecmp(type, types[i], strlen(types[i])))
            return true;
    return false;
}

/* What was sent up to the first line that was not taken needs not be sent again. */
static void answer_lines(request *r, lines *l)
{
    size_t taken;
    if (!lines_push(l, r, &taken))
        return;
    bool all = !l->failed && taken == l->count;
    uint64_t done = all ? l->seen : l->failed || l->whole ? 0 : l->numbers[taken];
    json_t *answer =
        json_pack("{s:I, s:I, s:I}", "taken", (json_int_t)(all ? taken : done),
                  "skipped", (json_int_t)l->skipped, "bytes", (json_int_t)l->size);
    if (all)
        answer_json(r, 200, answer);
    else
        answer_problem(r, 429, PROBLEM_BUSY, answer,
                       "there was room for the first %llu; send the others again",
                       (unsigned long long)done);
}

const char *skip_blanks(const char *at, const char *end, const char *blanks)
{
    while (at < end && *at && strchr(blanks, *at))
        at++;
    return at;
}

static bool add_all(request *r, lines *l, bool json, const char *body, size_t size)
{
    const char *end = body + size, *first = skip_blanks(body, end, " \t\r\n");
    if (json && first < end && *first == '[')
        return add_list(r, l, body, size);
    if (json)
        lines_add_records(l, body, size);
    else
        lines_add_text(l, body, size);
    return true;
}

static void ingest(request *r, bool json, bool whole, char *fields)
{
    lines l;
    char *inflated;
    size_t size;
    const char *body = plain_body(r, &size, &inflated);
    if (body && lines_begin(&l, r, fields)) {
        l.whole = whole;
        if (add_all(r, &l, json, body, size))
            answer_lines(r, &l);
        lines_end(&l);
    }
    free(inflated);
    free(fields);
}

void post_ingest(request *r)
{
    ingest(r, is_json(r), false, parameter(r, "text"));
}

/* Shippers do not know that a part of what they sent may be taken, and send all of it again. */
void post_jsonline(request *r)
{
    ingest(r, true, true, parameter(r, "_msg_field"));
}
