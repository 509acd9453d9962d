/* records_state.c - saves and restores the record reader in a model file, including an
 * incomplete record. */
#include "file/file.h"
#include "record/record.h"
#include "record/record_internal.h"

#include <math.h>

/* Section records: little-endian 64-bit numbers, the problem text padded with zeros,
 * and the input not yet consumed, which is scanned again after loading. */
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
    PENDING,
    COLUMNS,
    NUMBERS = COLUMNS + TIDE_FIELDS_MAX,
};
enum {
    AT_START = 1,
    HEADER_NEXT = 2,
    ENDED = 4,
    PROBLEM = 8,
    UNDECIDED = 16,
    DOCUMENT = 32,
    IN_LIST = 64,
    IN_STRING = 128,
    ESCAPED = 256,
    FLAGS_END = 512,
    LAST_AT = 16, /* bit offset of tide_document_scan.last, 8 bits */
    SEPARATOR_AT = 24,
    DEPTH_AT = 32,
    PROBLEM_AT = 8 * NUMBERS,
    HEADER_SIZE = PROBLEM_AT + sizeof((tide_error *)0)->text,
};

/* The state of a document scan is stored only inside a skipped value, because all other
 * values are scanned again. */
static uint64_t pack_flags(const tide_records *r)
{
    const tide_document_scan *s = &r->scan;
    uint64_t flags = (r->at_start ? AT_START : 0) | (r->header_next ? HEADER_NEXT : 0) |
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
        [FINGERPRINT] = r->fingerprint,    [RECORDS] = r->counts.records,
        [MALFORMED] = r->counts.malformed, [MISSING] = r->counts.missing,
        [TOO_LONG] = r->counts.too_long,   [BYTES] = r->counts.bytes,
        [FLAGS] = pack_flags(r),           [SKIPPED] = r->skipped,
        [PENDING] = r->end - r->position,
    };
    if (!isnan(r->time))
        memcpy(&numbers[TIME], &r->time, sizeof r->time);
    else
        numbers[TIME] = UINT64_MAX; /* one canonical NaN */
    for (size_t i = 0; i < r->field_count; i++)
        numbers[COLUMNS + i] = r->fields[i].column;
    unsigned char header[HEADER_SIZE] = {0};
    for (int i = 0; i < NUMBERS; i++)
        tide_put64(header + 8 * i, numbers[i]);
    if (r->problem.status)
        memcpy(header + PROBLEM_AT, r->problem.text, strlen(r->problem.text));
    tide_store_begin(writer, "records");
    tide_store_append(writer, header, sizeof header);
    tide_store_append(writer, r->input + r->position, r->end - r->position);
}

/* Whether the columns are consistent with the fields. */
static bool are_plausible_columns(const tide_records *r, const uint64_t *columns)
{
    for (size_t i = 0; i < TIDE_FIELDS_MAX; i++) {
        uint64_t number = i < r->field_count ? r->fields[i].column_number : 0;
        bool named = i < r->field_count && r->has_header && number == 0;
        uint64_t max = named ? TIDE_RECORD_MAX + 1 : number;
        if (columns[i] > max || (columns[i] && !named && columns[i] != number))
            return false;
    }
    return true;
}

static bool are_plausible_flags(const tide_records *r, uint64_t flags, uint64_t skipped)
{
    bool json = r->format->detect != NULL, document = flags & DOCUMENT;
    uint64_t scan = flags & (IN_STRING | ESCAPED | UINT64_C(0xff) << LAST_AT |
                             UINT64_C(0xffffffff) << DEPTH_AT);
    uint64_t separator = flags >> SEPARATOR_AT & 0xff;
    uint64_t known = (FLAGS_END - 1) | UINT64_C(0xffffffffffff) << LAST_AT;
    if ((flags & ~known) || (!r->has_header && (flags & HEADER_NEXT)) ||
        (!r->has_header && !json && (flags & PROBLEM)))
        return false;
    if (!json && (flags & (UNDECIDED | DOCUMENT)))
        return false;
    if ((separator && (json || separator == '"' || separator == '\n')) ||
        ((flags & UNDECIDED) && (document || skipped || (flags & AT_START))))
        return false;
    return document ? !scan || skipped : !scan && !(flags & IN_LIST);
}

static bool is_plausible(const tide_records *r, const uint64_t numbers[NUMBERS])
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
           are_plausible_flags(r, numbers[FLAGS], skipped) &&
           (skipped == 0 ||
            (skipped > TIDE_RECORD_MAX && !(numbers[FLAGS] & AT_START))) &&
           numbers[PENDING] <= TIDE_RECORDS_INPUT_SIZE &&
           are_plausible_columns(r, numbers + COLUMNS);
}

static void unpack_flags(tide_records *r, uint64_t flags)
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
    r->without_text = 0;
    r->has_text = true; /* not stored: do not report missing text */
}

static void restore_state(tide_records *r, const uint64_t numbers[NUMBERS],
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
    r->header_next = numbers[FLAGS] & HEADER_NEXT;
    r->ended = numbers[FLAGS] & ENDED;
    r->skipped = numbers[SKIPPED];
    unpack_flags(r, numbers[FLAGS]);
    r->problem.status = TIDE_OK;
    if (numbers[FLAGS] & PROBLEM) /* tide_fail makes the text safe to print */
        tide_fail(&r->problem, TIDE_ERROR_INPUT, "%.*s",
                  (int)sizeof r->problem.text - 1, (const char *)problem);
    for (size_t i = 0; i < r->field_count; i++)
        r->fields[i].column = (uint32_t)numbers[COLUMNS + i];
    tide_records_find_duplicates(r);
    r->position = r->scanned = 0;
    r->end = (size_t)numbers[PENDING];
}

int tide_records_load(tide_records *r, tide_store *store, tide_error *err)
{
    unsigned char header[HEADER_SIZE];
    uint64_t numbers[NUMBERS];
    const char *path = tide_store_path(store);
    int status = tide_store_read_at(store, "records", 0, header, sizeof header, err);
    if (status < 0)
        return status;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = tide_get64(header + 8 * i);
    if (numbers[FINGERPRINT] != r->fingerprint)
        return tide_fail(
            err, TIDE_ERROR_FORMAT,
            "%s: section \"records\" is for another record format or other "
            "fields",
            path);
    int64_t size = tide_store_size(store, "records", err);
    if (!is_plausible(r, numbers) || size != (int64_t)(HEADER_SIZE + numbers[PENDING]))
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"records\" is corrupt",
                         path);
    r->position = r->end = 0;
    status = tide_store_read_at(store, "records", HEADER_SIZE, r->input,
                                (size_t)numbers[PENDING], err);
    if (status == TIDE_OK)
        restore_state(r, numbers, header + PROBLEM_AT);
    return status;
}
