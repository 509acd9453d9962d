/* records_state.c - the records' part of a model file, so that a half-read record goes on
 * where it was left. */
#include "file/file.h"
#include "record/record.h"
#include "record/record_internal.h"

#include <math.h>

/* Section records: little-endian numbers, the text of the problem filled up with zeros, and what was fed
 * and not taken. Where its records end is found again. */
enum {
    FINGERPRINT,
    RECORDS,
    MALFORMED,
    MISSING,
    TOO_LONG,
    BYTES,
    TIME,
    FLAGS,
    SKIPPED,
    REST,
    COLUMNS,
    NUMBERS = COLUMNS + TIDE_FIELDS_MAX,
};
enum {
    AT_START = 1,
    NAMES_NEXT = 2,
    ENDED = 4,
    PROBLEM = 8,
    UNDECIDED = 16,
    DOCUMENT = 32,
    IN_LIST = 64,
    IN_STRING = 128,
    ESCAPED = 256,
    FLAGS_END = 512,
    LAST_AT = 16, /* the byte of a document that was last, of eight bits */
    SEPARATOR_AT = 24,
    DEPTH_AT = 32,
    PROBLEM_AT = 8 * NUMBERS,
    HEAD_SIZE = PROBLEM_AT + sizeof((tide_error *)0)->text,
};

/* The scan matters only where a value is being skipped; another is scanned again. */
static uint64_t flags_of(const tide_records *r)
{
    const tide_document_scan *s = &r->scan;
    uint64_t flags = (r->at_start ? AT_START : 0) | (r->names_next ? NAMES_NEXT : 0) |
                     (r->ended ? ENDED : 0) | (r->problem.status ? PROBLEM : 0) |
                     (r->undecided ? UNDECIDED : 0) | (r->document ? DOCUMENT : 0) |
                     (s->in_list ? IN_LIST : 0);
    if (r->document && r->skipped)
        flags |= (s->in_string ? IN_STRING : 0) | (s->escaped ? ESCAPED : 0) |
                 (uint64_t)s->last << LAST_AT | (uint64_t)s->depth << DEPTH_AT;
    if (r->separator != r->format->separator)
        flags |= (uint64_t)r->separator << SEPARATOR_AT;
    return flags;
}

void tide_records_save(const tide_records *r, tide_store_writer *writer)
{
    uint64_t numbers[NUMBERS] = {
        [FINGERPRINT] = r->fingerprint,
        [RECORDS] = r->counts.records,
        [MALFORMED] = r->counts.malformed,
        [MISSING] = r->counts.missing,
        [TOO_LONG] = r->counts.too_long,
        [BYTES] = r->counts.bytes,
        [FLAGS] = flags_of(r),
        [SKIPPED] = r->skipped,
        [REST] = r->end - r->position,
    };
    if (!isnan(r->time))
        memcpy(&numbers[TIME], &r->time, sizeof r->time);
    else
        numbers[TIME] = UINT64_MAX; /* one of the many that are not a number */
    for (size_t i = 0; i < r->field_count; i++)
        numbers[COLUMNS + i] = r->fields[i].column;
    unsigned char head[HEAD_SIZE] = {0};
    for (int i = 0; i < NUMBERS; i++)
        tide_put64(head + 8 * i, numbers[i]);
    if (r->problem.status)
        memcpy(head + PROBLEM_AT, r->problem.text, strlen(r->problem.text));
    tide_store_begin(writer, "records");
    tide_store_append(writer, head, sizeof head);
    tide_store_append(writer, r->input + r->position, r->end - r->position);
}

/* Whether these can be the columns of the fields. */
static bool plausible_columns(const tide_records *r, const uint64_t *columns)
{
    for (size_t i = 0; i < TIDE_FIELDS_MAX; i++) {
        uint64_t number = i < r->field_count ? r->fields[i].number : 0;
        bool named = i < r->field_count && r->has_names && number == 0;
        uint64_t most = named ? TIDE_RECORD_MAX + 1 : number;
        if (columns[i] > most || (columns[i] && !named && columns[i] != number))
            return false;
    }
    return true;
}

static bool plausible_flags(const tide_records *r, uint64_t flags, uint64_t skipped)
{
    bool json = r->format->begin != NULL, document = flags & DOCUMENT;
    uint64_t scan = flags & (IN_STRING | ESCAPED | UINT64_C(0xff) << LAST_AT |
                             UINT64_C(0xffffffff) << DEPTH_AT);
    uint64_t separator = flags >> SEPARATOR_AT & 0xff;
    uint64_t known = (FLAGS_END - 1) | UINT64_C(0xffffffffffff) << LAST_AT;
    if ((flags & ~known) || (!r->has_names && (flags & NAMES_NEXT)) ||
        (!r->has_names && !json && (flags & PROBLEM)))
        return false;
    if (!json && (flags & (UNDECIDED | DOCUMENT)))
        return false;
    if ((separator && (json || separator == '"' || separator == '\n')) ||
        ((flags & UNDECIDED) && (document || skipped || (flags & AT_START))))
        return false;
    return document ? !scan || skipped : !scan && !(flags & IN_LIST);
}

static bool plausible(const tide_records *r, const uint64_t numbers[NUMBERS])
{
    uint64_t good = numbers[RECORDS], skipped = numbers[SKIPPED];
    for (int i = MALFORMED; i <= TOO_LONG; i++) {
        if (numbers[i] > good)
            return false;
        good -= numbers[i];
    }
    double time;
    memcpy(&time, &numbers[TIME], sizeof time);
    return (numbers[TIME] == UINT64_MAX || isfinite(time)) &&
           plausible_flags(r, numbers[FLAGS], skipped) &&
           (skipped == 0 ||
            (skipped > TIDE_RECORD_MAX && !(numbers[FLAGS] & AT_START))) &&
           numbers[REST] <= TIDE_RECORDS_INPUT &&
           plausible_columns(r, numbers + COLUMNS);
}

static void set_flags(tide_records *r, uint64_t flags)
{
    unsigned char separator = flags >> SEPARATOR_AT & 0xff;
    r->separator = separator ? separator : r->format->separator;
    r->undecided = flags & UNDECIDED;
    r->document = flags & DOCUMENT;
    r->scan = (tide_document_scan){.in_list = flags & IN_LIST,
                                   .in_string = flags & IN_STRING,
                                   .escaped = flags & ESCAPED,
                                   .last = flags >> LAST_AT & 0xff,
                                   .depth = (uint32_t)(flags >> DEPTH_AT)};
    r->textless = 0;
    r->has_text = true; /* as far as is known */
}

static void set_state(tide_records *r, const uint64_t numbers[NUMBERS],
                      const unsigned char *problem)
{
    r->counts = (tide_record_counts){
        .records = numbers[RECORDS],
        .malformed = numbers[MALFORMED],
        .missing = numbers[MISSING],
        .too_long = numbers[TOO_LONG],
        .bytes = numbers[BYTES],
    };
    memcpy(&r->time, &numbers[TIME], sizeof r->time);
    r->at_start = numbers[FLAGS] & AT_START;
    r->names_next = numbers[FLAGS] & NAMES_NEXT;
    r->ended = numbers[FLAGS] & ENDED;
    r->skipped = numbers[SKIPPED];
    set_flags(r, numbers[FLAGS]);
    r->problem.status = TIDE_OK;
    if (numbers[FLAGS] & PROBLEM) /* written again, so that it is safe to print */
        tide_fail(&r->problem, TIDE_ERROR_INPUT, "%.*s",
                  (int)sizeof r->problem.text - 1, (const char *)problem);
    for (size_t i = 0; i < r->field_count; i++)
        r->fields[i].column = (uint32_t)numbers[COLUMNS + i];
    tide_records_find_duplicates(r);
    r->position = r->scanned = 0;
    r->end = (size_t)numbers[REST];
}

int tide_records_load(tide_records *r, tide_store *store, tide_error *err)
{
    unsigned char head[HEAD_SIZE];
    uint64_t numbers[NUMBERS];
    const char *path = tide_store_path(store);
    int status = tide_store_read_at(store, "records", 0, head, sizeof head, err);
    if (status < 0)
        return status;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = tide_get64(head + 8 * i);
    if (numbers[FINGERPRINT] != r->fingerprint)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: section records is of another format or other fields",
                         path);
    int64_t size = tide_store_size(store, "records", err);
    if (!plausible(r, numbers) || size != (int64_t)(HEAD_SIZE + numbers[REST]))
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section records makes no sense",
                         path);
    r->position = r->end = 0;
    status = tide_store_read_at(store, "records", HEAD_SIZE, r->input,
                                (size_t)numbers[REST], err);
    if (status == TIDE_OK)
        set_state(r, numbers, head + PROBLEM_AT);
    return status;
}
