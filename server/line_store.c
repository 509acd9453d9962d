/* line_store.c - the lines of one request, collected before they enter the feed.
 *
 * All lines of a request are collected before any of them is appended to the feed, so
 * nothing is learned from a body that turns out to be corrupt gzip or malformed JSON.
 * There is one store, which requests use one after another, so memory depends neither
 * on how many requests come at once nor on what they contain; after a large request its
 * pages return to the system. When the store is full, the rest of the body is ignored,
 * and the answer says how much was accepted.
 *
 * A bitmap has a bit for every input, a line or record of the body, that says whether
 * it gave a line. When the feed accepts only some of the lines, it yields the number of
 * inputs that need not be sent again.
 */
#include "line_store.h"

#include "answer.h"
#include "inflate.h"
#include "server_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    BITMAP_BYTES = BATCH_INPUTS_MAX / 8,
    STORE_BYTES = BATCH_BYTES_MAX + BITMAP_BYTES + BULK_ITEMS_MAX + CHUNK_BYTES,
    RETAINED_BYTES = 256 << 10, /* stay allocated between requests */
};

/* Fields in which log shippers and people send text. */
static const char default_fields[] = "message,_msg,msg,log,text,body";

/* -- the store --------------------------------------------------------------------- */

line_store *line_store_open(void)
{
    line_store *s = calloc(1, sizeof *s);
    char *memory = mmap(NULL, STORE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!s || memory == MAP_FAILED) {
        free(s);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->bytes = memory;
    s->has_line = (unsigned char *)memory + BATCH_BYTES_MAX;
    s->bulk_items = s->has_line + BITMAP_BYTES;
    s->chunk = (char *)s->bulk_items + BULK_ITEMS_MAX;
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

/* -- opening and closing ----------------------------------------------------------- */

/* Labels are read too if the trainer learns any. A body of CSV or TSV has the columns
 * that the trainer's own sources have; if those are not columns, ?text= has to name
 * them. */
static tide_records *new_records(request *r, tide_record_kind kind, const char *fields,
                                 tide_error *err)
{
    const tide_params *params = tide_trainer_params(r->server->options.trainer);
    char label[256] = "", text[256] = "", records[16] = "", delimiter[8] = "";
    tide_params_text(params, "records", records, sizeof records);
    bool columns = kind != TIDE_RECORDS_JSON;
    bool configured = !strcmp(records, "csv") || !strcmp(records, "tsv");
    if (!columns || configured)
        tide_params_text(params, "label", label, sizeof label);
    if (columns && configured)
        tide_params_text(params, "text", text, sizeof text);
    if (!fields)
        fields = columns ? text : default_fields;
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
                 "name the column of the text: ?text=NAME or ?text=NUMBER");
        return NULL;
    }
    return tide_records_new(&options, err);
}

bool line_batch_open(line_batch *l, request *r, tide_record_kind kind,
                     const char *fields)
{
    tide_error err;
    size_t capacity = tide_feed_capacity(r->server->options.feed);
    *l = (line_batch){.store = r->server->line_store,
                      .line_max =
                          capacity < BATCH_BYTES_MAX ? capacity : BATCH_BYTES_MAX};
    if (kind != TIDE_RECORDS_LINES) {
        l->records = new_records(r, kind, fields, &err);
        if (!l->records) {
            answer_problem(r, err.status == TIDE_ERROR_PARAMETER ? 400 : 503,
                           PROBLEM_PLAIN, NULL, "%s", err.text);
            return false;
        }
    }
    /* Held until line_batch_close: there is one store. Taken last, so that a request
     * that is refused does not wait for others. */
    pthread_mutex_lock(&l->store->lock);
    return true;
}

void line_batch_close(line_batch *l)
{
    line_store *s = l->store;
    tide_records_free(l->records);
    /* Freed pages are zeroed by the kernel when they are used again, which takes longer
     * than most requests; so small requests leave them. */
    if (l->large || l->size > RETAINED_BYTES || l->inputs > RETAINED_BYTES)
        madvise(s->bytes, STORE_BYTES, MADV_DONTNEED);
    pthread_mutex_unlock(&s->lock);
}

/* -- adding ------------------------------------------------------------------------ */

/* Appends to the partial line. */
static void extend_line(line_batch *l, const char *text, size_t size)
{
    size_t length = l->partial + size;
    l->too_long = l->too_long || length >= l->line_max;
    if (l->too_long) { /* drop it, including what is still to come */
        l->large = true;
        l->partial = 0;
    } else if (l->size + length >= BATCH_BYTES_MAX) {
        l->full = true;
    } else {
        memcpy(l->store->bytes + l->size + l->partial, text, size);
        l->partial = length;
    }
}

/* Sets the bit of an input, counted from 1. The bitmap may have bits of an earlier
 * request, so it is cleared up to there first. */
static void mark_input(line_batch *l, uint64_t number)
{
    unsigned char *bitmap = l->store->has_line;
    for (uint64_t at = (l->marked_inputs + 7) / 8; at <= (number - 1) / 8; at++)
        bitmap[at] = 0;
    bitmap[(number - 1) / 8] |= (unsigned char)(1 << (number - 1) % 8);
    l->marked_inputs = number;
}

/* Completes the partial line, given by the input with this number (counted from 1). */
static void end_line(line_batch *l, uint64_t number)
{
    /* This input is the first that does not fit: all before it count. */
    l->full = l->full || number > BATCH_INPUTS_MAX;
    l->inputs = l->full ? number - 1 : number;
    if (l->full)
        return;
    l->skipped += l->too_long;
    if (l->partial) {
        mark_input(l, number);
        l->size += l->partial;
        l->store->bytes[l->size++] = '\n';
        l->count++;
    }
    l->partial = 0;
    l->too_long = false;
}

void line_batch_add_text(line_batch *l, const char *text, size_t size)
{
    while (size && !l->full) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        extend_line(l, text, length);
        if (end)
            end_line(l, l->inputs + 1);
        length += end != NULL;
        text += length;
        size -= length;
    }
}

void line_batch_finish_text(line_batch *l)
{
    if (l->partial || l->too_long)
        end_line(l, l->inputs + 1);
}

static void add_record_texts(line_batch *l)
{
    const char *text;
    size_t size;
    while (!l->full && tide_records_next(l->records, &text, &size)) {
        extend_line(l, text, size && text[size - 1] == '\n' ? size - 1 : size);
        end_line(l, tide_records_counted(l->records).records);
    }
}

void line_batch_add_records(line_batch *l, const char *bytes, size_t size)
{
    while (size && !l->full) {
        size_t used = tide_records_feed(l->records, bytes, size);
        bytes += used;
        size -= used;
        add_record_texts(l);
    }
}

void line_batch_finish_records(line_batch *l)
{
    if (l->full)
        return;
    tide_records_end(l->records);
    add_record_texts(l);
    if (!l->full)
        l->inputs = tide_records_counted(l->records).records;
}

/* -- submitting -------------------------------------------------------------------- */

uint64_t line_batch_skipped(const line_batch *l)
{
    tide_record_counts counts = {0};
    if (l->records)
        counts = tide_records_counted(l->records);
    return l->skipped + counts.malformed + counts.missing + counts.too_long;
}

bool line_batch_submit(line_batch *l, request *r, bool atomic, size_t *accepted)
{
    tide_error err;
    tide_feed *feed = r->server->options.feed;
    const char *bytes = l->store->bytes;
    size_t limit = tide_feed_capacity(feed) < BATCH_BYTES_MAX ? tide_feed_capacity(feed)
                                                              : BATCH_BYTES_MAX;
    ptrdiff_t appended = 0;
    *accepted = 0;
    if (atomic && (l->full || l->size > limit)) {
        answer_problem(r, 413, PROBLEM_PLAIN, NULL,
                       "the text exceeds the %zu bytes that are accepted at once",
                       limit);
        return false;
    }
    if (l->size)
        appended = tide_feed_append(feed, bytes, l->size, atomic, &err);
    r->needs_sync = appended > 0 && r->server->options.feed_syncs;
    if (appended < 0) {
        answer_problem(r, 500, PROBLEM_PLAIN, NULL,
                       "unknown whether the lines were accepted: %s", err.text);
        return false;
    }
    /* The feed accepts whole lines only. */
    for (const char *at = bytes, *end = bytes + appended; at < end; ++*accepted)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    status_count_rejected(r->server->status, l->size - (size_t)appended);
    return true;
}

uint64_t line_batch_inputs_before(const line_batch *l, size_t line)
{
    for (uint64_t at = 0; at < l->marked_inputs; at++)
        if (l->store->has_line[at / 8] >> at % 8 & 1 && !line--)
            return at;
    return l->inputs;
}
