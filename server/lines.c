/* lines.c - lines of text on their way from a request to the feed.
 *
 * All lines of a request are collected before any is handed over, so nothing is learned of a body that turns out to
 * be no gzip or no JSON. There is one place to collect them, which requests have one after the other: so the memory does not
 * depend on how many come at once, nor on what they hold. It goes back to the system after each. When it is full, the
 * rest of the body is not looked at, and the sender is told how much was taken.
 *
 * Of every line or record that was sent a bit says whether it gave a line. From that follows how many of them need not be
 * sent again when only some of the lines were taken.
 */
#include "ingest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    MARKS_BYTES = RECORDS_MOST / 8,
    STORE_BYTES = LINES_BYTES + MARKS_BYTES + ITEMS_MOST + PIECE_BYTES,
    KEPT_BYTES = 256 << 10, /* of which the memory stays */
};

/* Names under which shippers and people send their texts. */
static const char usual_fields[] = "message,_msg,msg,log,text,body";

/* -- the store ---------------------------------------------------------------------------------------------- */

line_store *line_store_open(void)
{
    line_store *s = calloc(1, sizeof *s);
    char *room = mmap(NULL, STORE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!s || room == MAP_FAILED) {
        free(s);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->bytes = room;
    s->marks = (unsigned char *)room + LINES_BYTES;
    s->items = s->marks + MARKS_BYTES;
    s->piece = (char *)s->items + ITEMS_MOST;
    return s;
}

void line_store_close(line_store *s)
{
    if (!s)
        return;
    munmap(s->bytes, STORE_BYTES);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* -- beginning and end ---------------------------------------------------------------------------------------- */

/* Labels come with the text, if the trainer wants any. Where it reads columns itself, they are the same in a body of columns;
 * otherwise nothing is known of those. */
static tide_records *new_records(request *r, tide_record_kind kind, const char *fields,
                                 tide_error *err)
{
    const tide_params *params = tide_trainer_params(r->server->options.trainer);
    char label[256] = "", text[256] = "", records[16] = "", delimiter[8] = "";
    tide_params_text(params, "records", records, sizeof records);
    bool columns = kind != TIDE_RECORDS_JSON;
    bool known = !strcmp(records, "csv") || !strcmp(records, "tsv");
    if (!columns || known)
        tide_params_text(params, "label", label, sizeof label);
    if (columns && known)
        tide_params_text(params, "text", text, sizeof text);
    if (!fields)
        fields = columns ? text : usual_fields;
    if (kind == TIDE_RECORDS_CSV && !strcmp(records, "csv"))
        tide_params_text(params, "delimiter", delimiter, sizeof delimiter);
    const tide_record_options options = {.kind = kind,
                                         .text = fields,
                                         .time = "",
                                         .label = label,
                                         .one_line = true,
                                         .delimiter = *delimiter};
    if (columns && !*fields) {
        err->status = TIDE_ERROR_PARAMETER;
        snprintf(err->text, sizeof err->text,
                 "say which column has the text: ?text=NAME, or its number");
        return NULL;
    }
    return tide_records_new(&options, err);
}

bool lines_begin(lines *l, request *r, tide_record_kind kind, const char *fields)
{
    tide_error err;
    size_t room = tide_feed_room(r->server->options.feed);
    *l = (lines){.store = r->server->lines,
                 .longest = room < LINES_BYTES ? room : LINES_BYTES};
    if (kind != TIDE_RECORDS_LINES) {
        l->records = new_records(r, kind, fields, &err);
        if (!l->records) {
            answer_problem(r, err.status == TIDE_ERROR_PARAMETER ? 400 : 503,
                           PROBLEM_PLAIN, NULL, "%s", err.text);
            return false;
        }
    }
    pthread_mutex_lock(&l->store->lock);
    return true;
}

void lines_end(lines *l)
{
    line_store *s = l->store;
    tide_records_free(l->records);
    if (l->large || l->size > KEPT_BYTES || l->seen > KEPT_BYTES)
        madvise(s->bytes, STORE_BYTES, MADV_DONTNEED);
    pthread_mutex_unlock(&s->lock);
}

/* -- adding --------------------------------------------------------------------------------------------------- */

/* More of the line that has begun. */
static void extend(lines *l, const char *text, size_t size)
{
    size_t length = l->begun + size;
    l->too_long = l->too_long || length >= l->longest;
    if (l->too_long) {
        l->large = true;
        l->begun = 0;
    } else if (l->size + length >= LINES_BYTES) {
        l->full = true;
    } else {
        memcpy(l->store->bytes + l->size + l->begun, text, size);
        l->begun = length;
    }
}

/* The store has the marks of an earlier request. */
static void mark(lines *l, uint64_t number)
{
    unsigned char *marks = l->store->marks;
    for (uint64_t at = (l->marked + 7) / 8; at <= (number - 1) / 8; at++)
        marks[at] = 0;
    marks[(number - 1) / 8] |= (unsigned char)(1 << (number - 1) % 8);
    l->marked = number;
}

/* The line ends that was made of what has this number among all that was sent, from 1 on. */
static void end_line(lines *l, uint64_t number)
{
    l->full = l->full || number > RECORDS_MOST;
    l->seen = l->full ? number - 1 : number;
    if (l->full)
        return;
    l->skipped += l->too_long;
    if (l->begun) {
        mark(l, number);
        l->size += l->begun;
        l->store->bytes[l->size++] = '\n';
        l->count++;
    }
    l->begun = 0;
    l->too_long = false;
}

void lines_add_text(lines *l, const char *text, size_t size)
{
    while (size && !l->full) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        extend(l, text, length);
        if (end)
            end_line(l, l->seen + 1);
        length += end != NULL;
        text += length;
        size -= length;
    }
}

void lines_end_text(lines *l)
{
    if (l->begun || l->too_long)
        end_line(l, l->seen + 1);
}

static void take_texts(lines *l)
{
    const char *text;
    size_t size;
    while (!l->full && tide_records_take(l->records, &text, &size)) {
        extend(l, text, size && text[size - 1] == '\n' ? size - 1 : size);
        end_line(l, tide_records_counted(l->records).records);
    }
}

void lines_add_records(lines *l, const char *bytes, size_t size)
{
    while (size && !l->full) {
        size_t used = tide_records_feed(l->records, bytes, size);
        bytes += used;
        size -= used;
        take_texts(l);
    }
}

void lines_end_records(lines *l)
{
    if (l->full)
        return;
    tide_records_end(l->records);
    take_texts(l);
    if (!l->full)
        l->seen = tide_records_counted(l->records).records;
}

/* -- handing over ----------------------------------------------------------------------------------------------- */

uint64_t lines_skipped(const lines *l)
{
    tide_record_counts counts = {0};
    if (l->records)
        counts = tide_records_counted(l->records);
    return l->skipped + counts.malformed + counts.missing + counts.too_long;
}

bool lines_push(lines *l, request *r, bool whole, size_t *count)
{
    tide_error err;
    tide_feed *feed = r->server->options.feed;
    const char *bytes = l->store->bytes;
    size_t most =
        tide_feed_room(feed) < LINES_BYTES ? tide_feed_room(feed) : LINES_BYTES;
    ptrdiff_t taken = 0;
    *count = 0;
    if (whole && (l->full || l->size > most)) {
        answer_problem(r, 413, PROBLEM_PLAIN, NULL,
                       "at most %zu bytes of text are taken at once", most);
        return false;
    }
    if (l->size)
        taken = tide_feed_append(feed, bytes, l->size, whole, &err);
    r->unsafe = taken > 0 && r->server->options.feed_syncs;
    if (taken < 0) {
        answer_problem(r, 500, PROBLEM_PLAIN, NULL,
                       "it is not known whether the lines were taken: %s", err.text);
        return false;
    }
    for (const char *at = bytes, *end = bytes + taken; at < end; ++*count)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    figures_refused(r->server->figures, l->size - (size_t)taken);
    return true;
}

uint64_t lines_before(const lines *l, size_t number)
{
    for (uint64_t at = 0; at < l->marked; at++)
        if (l->store->marks[at / 8] >> at % 8 & 1 && !number--)
            return at;
    return l->seen;
}
