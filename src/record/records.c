/* records.c - splits a byte stream into records, in fixed memory.
 *
 * Input is copied into one buffer, and records are parsed in place:
 *
 *     input   |  parsed  |  record  |  record  |  incomplete record  |  free  |
 *                        ^position             (scanned^)            ^end
 *
 * A format (record_json.c, record_csv.c) finds the line feed that ends the record, and
 * parses the record only once it is complete. The result therefore does not depend on
 * how the input is divided into feeds. The search for the end resumes at `scanned`, so
 * a record that arrives byte by byte is scanned only once.
 *
 * A record without an end within its first TIDE_RECORD_MAX + 1 bytes is too long. Its
 * remaining bytes are only counted (`skipped`), up to the next line feed, even if that
 * is inside quotes.
 *
 * JSON may also come as a document whose values span lines; record_document.c then
 * finds the end of each value.
 *
 * When the input has ended, the byte after its last one serves as a line feed. The next
 * input may again begin with a byte order mark and a header.
 */
#include "detect/detect.h"
#include "record/record.h"
#include "record/record_internal.h"

#include <math.h>
#include <stdlib.h>

static const tide_record_format *const formats[] = {
    [TIDE_RECORDS_LINES] = NULL,
    [TIDE_RECORDS_JSON] = &tide_record_json,
    [TIDE_RECORDS_CSV] = &tide_record_csv,
    [TIDE_RECORDS_TSV] = &tide_record_tsv,
};

/* -- construction ------------------------------------------------------------------ */

static void reset_input(tide_records *r)
{
    r->at_start = true;
    r->undecided = r->document = r->ended = false;
    r->scan = (tide_document_scan){0};
    r->without_text = 0;
    r->has_text = false;
    tide_records_clear_header(r);
}

static uint64_t fingerprint(const tide_records *r, tide_record_kind kind)
{
    uint64_t hash = tide_hash(&r->text_fields, sizeof r->text_fields, kind);
    for (size_t i = 0; i < r->field_count; i++)
        hash = tide_hash(r->fields[i].name, r->fields[i].length, hash);
    int others[2] = {r->time_field, r->label_field};
    hash = tide_hash(others, sizeof others, hash);
    return r->delimiter ? tide_hash(&r->delimiter, 1, hash) : hash;
}

tide_records *tide_records_new(const tide_record_options *options, tide_error *err)
{
    if ((size_t)options->kind >= sizeof formats / sizeof *formats ||
        !formats[options->kind]) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "plain lines have no fields to extract");
        return NULL;
    }
    void *memory;
    if (posix_memalign(&memory, _Alignof(tide_records), sizeof(tide_records)) != 0) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for records (%zu bytes)",
                  sizeof(tide_records));
        return NULL;
    }
    /* The arena, by far the largest part, is not cleared: it is written before it is
     * read. */
    tide_records *r = memset(memory, 0, offsetof(tide_records, json.arena));
    r->format = formats[options->kind];
    r->time = (double)NAN;
    r->one_line = options->one_line;
    r->delimiter = (unsigned char)options->delimiter;
    if (tide_records_set_fields(r, options, err) != TIDE_OK) {
        tide_records_free(r);
        return NULL;
    }
    r->fingerprint = fingerprint(r, options->kind);
    reset_input(r);
    return r;
}

void tide_records_free(tide_records *r)
{
    free(r);
}

uint64_t tide_records_bytes(void)
{
    return sizeof(tide_records);
}

/* -- feeding ----------------------------------------------------------------------- */

size_t tide_records_feed(tide_records *r, const void *bytes, size_t size)
{
    /* A short rest is moved to the front at every feed, so that small inputs reuse a
     * few cache lines; a longer one only when the buffer is full. */
    enum { COMPACT_MAX = TIDE_SIZE(4096, 256) };
    if (r->ended && !tide_records_at_boundary(r))
        return 0;
    if (r->ended)
        reset_input(r);
    size_t pending = r->end - r->position;
    if (r->position > 0 &&
        (pending <= COMPACT_MAX || size > TIDE_RECORDS_INPUT_SIZE - r->end)) {
        memmove(r->input, r->input + r->position, pending);
        r->scanned -= r->position;
        r->position = 0;
        r->end = pending;
    }
    if (size > TIDE_RECORDS_INPUT_SIZE - r->end)
        size = TIDE_RECORDS_INPUT_SIZE - r->end;
    if (size > 0)
        memcpy(r->input + r->end, bytes, size);
    r->end += size;
    return size;
}

void tide_records_end(tide_records *r)
{
    r->ended = true;
}

bool tide_records_at_boundary(const tide_records *r)
{
    return r->position == r->end && r->skipped == 0;
}

size_t tide_records_unread(tide_records *r, void *bytes, uint64_t *skipped)
{
    size_t size = r->end - r->position;
    memcpy(bytes, r->input + r->position, size);
    *skipped = r->skipped;
    r->position = r->scanned = r->end = 0;
    r->skipped = 0;
    return size;
}

void tide_records_skip(tide_records *r, uint64_t skipped)
{
    r->skipped = skipped;
}

/* -- the next record --------------------------------------------------------------- */

typedef struct input_record {
    const unsigned char *bytes;
    size_t size;             /* without its terminator */
    uint64_t total_size;     /* with it */
    unsigned char next_byte; /* saved: a line feed replaces it while parsing */
} input_record;

static void advance_to(tide_records *r, size_t position)
{
    r->position = r->scanned = position;
}

size_t tide_records_find_line(tide_records *r, size_t limit)
{
    const unsigned char *from = r->input + r->scanned;
    const unsigned char *line = memchr(from, '\n', limit - r->scanned);
    r->scanned = line ? (size_t)(line - r->input) : limit;
    return r->scanned;
}

/* Skips a byte order mark at the start of an input. Returns false if more bytes are
 * needed. */
static bool skip_byte_order_mark(tide_records *r)
{
    static const unsigned char bom[3] = {0xef, 0xbb, 0xbf};
    size_t size = r->end - r->position;
    bool is_prefix = memcmp(r->input + r->position, bom, size < 3 ? size : 3) == 0;
    if (is_prefix && size < 3 && !r->ended)
        return false;
    if (is_prefix && size >= 3)
        advance_to(r, r->position + 3);
    r->at_start = false;
    r->undecided = r->format->detect != NULL;
    return true;
}

/* Returns false if more bytes are needed. */
static bool detect_format(tide_records *r)
{
    if (r->undecided)
        r->undecided = !r->format->detect(r);
    return !r->undecided;
}

static void count_too_long(tide_records *r, uint64_t size)
{
    r->counts.records++;
    r->counts.too_long++;
    r->counts.bytes += size;
    if (r->header_next)
        tide_fail(&r->problem, TIDE_ERROR_INPUT, "the header is longer than %d bytes",
                  TIDE_RECORD_MAX);
    r->header_next = false;
}

/* Skips the rest of an over-long record. Returns false if its end has not arrived
 * yet. */
static bool skip_long_record(tide_records *r)
{
    size_t next = r->end;
    bool found = true;
    if (r->document) {
        found = tide_document_find_end(r, r->end, &next);
        next = found ? next : r->scanned;
    } else {
        const unsigned char *from = r->input + r->position;
        const unsigned char *line = memchr(from, '\n', r->end - r->position);
        found = line != NULL;
        next = line ? (size_t)(line - r->input) + 1 : r->end;
    }
    /* Only counted, so a record of any length needs no memory. */
    r->skipped += next - r->position;
    advance_to(r, next);
    if (!found && !r->ended)
        return false;
    count_too_long(r, r->skipped);
    r->skipped = 0;
    return true;
}

/* Whether the record at `position` ends before `limit`. Sets *end to its end and *after
 * to where the next record may begin. */
static bool find_record_end(tide_records *r, size_t limit, size_t *end, size_t *after)
{
    if (r->document) {
        bool found = tide_document_find_end(r, limit, end);
        *end = *after = found ? *end : limit;
        return found;
    }
    *end = r->format->find_end(r, limit);
    *after = *end < limit ? *end + 1 : limit;
    return *end < limit;
}

/* Finds the next record that is not too long, and terminates it with a line feed.
 * Returns false if it is not complete yet. */
static bool next_record(tide_records *r, input_record *next)
{
    if ((r->at_start && !skip_byte_order_mark(r)) || !detect_format(r))
        return false;
    while (!r->skipped || skip_long_record(r)) {
        if (r->document)
            tide_document_skip_separators(r);
        size_t at, after,
            /* One byte more than a record may have: if the end is not within these, it
             * is too long. */
            limit = r->end - r->position > TIDE_RECORD_MAX
                        ? r->position + TIDE_RECORD_MAX + 1
                        : r->end;
        bool found = find_record_end(r, limit, &at, &after);
        if (!found && r->document && r->scanned < limit && !r->ended)
            return false; /* need the next byte */
        if (!found && limit - r->position > TIDE_RECORD_MAX) {
            r->skipped = TIDE_RECORD_MAX + 1;
            r->position = r->scanned = limit;
            continue;
        }
        if (!found && (!r->ended || r->position == r->end))
            return false;
        if (at - r->position > TIDE_RECORD_MAX) { /* by its closing bracket */
            count_too_long(r, at - r->position);
            advance_to(r, at);
            continue;
        }
        /* The byte behind the record is replaced by a line feed, so that parsers need
         * no bound; tide_records_next puts it back. */
        *next = (input_record){r->input + r->position, at - r->position,
                               after - r->position, r->input[at]};
        r->input[at] = '\n';
        advance_to(r, after);
        return true;
    }
    return false;
}

/* -- extracting the text ----------------------------------------------------------- */

static void parse_header(tide_records *r, const input_record *names)
{
    r->problem.status = TIDE_OK;
    tide_parse_result result = r->format->parse_header(r, names->bytes, names->size);
    r->header_next = result == TIDE_PARSE_BLANK;
    if (result != TIDE_PARSE_MALFORMED)
        return;
    tide_records_clear_header(r);
    r->header_next = false;
    r->counts.records++;
    r->counts.malformed++;
    r->counts.bytes += names->total_size;
    tide_fail(&r->problem, TIDE_ERROR_INPUT,
              "the header (the first record) is malformed");
}

/* Writes each label as a word "__label__NAME" and a space; whitespace in a label
 * becomes _. Returns the size in bytes. */
static size_t write_labels(tide_records *r)
{
    size_t size = 0;
    uint32_t at = 0;
    int max_labels = r->label_field < 0 ? 0 : TIDE_RECORD_LABELS_MAX;
    for (int count = 0; count < max_labels; count++) {
        /* The label is copied to where it will be, behind the space for its prefix; the
         * prefix is written only if there is a label. */
        unsigned char *prefix = r->text + size,
                      *label = prefix + TIDE_LABEL_PREFIX_SIZE;
        size_t length = r->format->copy_label(r, &at, label);
        if (length == 0)
            break;
        memcpy(prefix, TIDE_LABEL_PREFIX, TIDE_LABEL_PREFIX_SIZE);
        for (size_t i = 0; i < length; i++)
            if (label[i] <= ' ')
                label[i] = '_';
        label[length] = ' ';
        size += TIDE_LABEL_PREFIX_SIZE + length + 1;
    }
    return size;
}

static void replace_line_feeds(unsigned char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n')
            text[i] = ' ';
}

/* Builds the labels and the text of the parsed record in r->text, and updates the time.
 * Returns the size; 0 if the record has no text. */
static size_t build_text(tide_records *r)
{
    double time = (double)NAN;
    /* The time is decoded into the text buffer, which the labels and the text then
     * overwrite. */
    if (r->time_field >= 0)
        time = tide_records_parse_time(
            r->text, r->format->copy_field(r, (size_t)r->time_field, r->text));
    size_t start = write_labels(r), size = start;
    for (size_t i = 0; i < r->text_fields; i++) {
        if (r->fields[i].duplicate)
            continue;
        size_t separator = size > start;
        size_t added = r->format->copy_field(r, i, r->text + size + separator);
        if (added == 0)
            continue;
        if (separator)
            r->text[size] = '\n';
        size += separator + added;
    }
    if (size == start)
        return 0;
    /* A record without text does not advance the time. */
    if (!isnan(time))
        r->time = time;
    if (r->one_line)
        replace_line_feeds(r->text, size);
    r->text[size++] = '\n';
    return size;
}

static void report_missing_text(tide_records *r)
{
    tide_fail(&r->problem, TIDE_ERROR_INPUT,
              "field '%s' has no text in the first %u records; fields found: %s",
              r->fields[0].name, r->without_text,
              *r->found_fields ? r->found_fields : "none");
}

/* Counts records without text, and reports a problem when the first ones of an input
 * have none: the field name is probably wrong. */
static void count_without_text(tide_records *r, const input_record *next)
{
    enum { ENOUGH = 10 };
    if (r->without_text++ == 0)
        tide_json_fields(next->bytes, next->size, r->found_fields);
    if (r->without_text == ENOUGH)
        report_missing_text(r);
}

/* Builds the text of a parsed record and updates the counts. Returns the size; 0 if
 * there is no text. */
static size_t extract_text(tide_records *r, const input_record *next,
                           tide_parse_result result)
{
    size_t size = result == TIDE_PARSE_OK ? build_text(r) : 0;
    r->counts.records++;
    r->has_text |= size > 0;
    if (size > 0)
        return size;
    r->counts.malformed += result == TIDE_PARSE_MALFORMED;
    r->counts.missing += result == TIDE_PARSE_OK;
    r->counts.bytes += next->total_size;
    /* For columns a missing field was already reported with the header. */
    if (result == TIDE_PARSE_OK && !r->format->columns && !r->has_text)
        count_without_text(r, next);
    return 0;
}

bool tide_records_next(tide_records *r, const char **text, size_t *size)
{
    for (input_record next; next_record(r, &next);) {
        if (r->header_next) {
            parse_header(r, &next);
            continue;
        }
        tide_parse_result result = r->format->parse(r, next.bytes, next.size);
        *text = (const char *)r->text;
        *size = result == TIDE_PARSE_BLANK ? 0 : extract_text(r, &next, result);
        r->input[(size_t)(next.bytes - r->input) + next.size] = next.next_byte;
        if (*size > 0)
            return true;
    }
    if (r->ended) {
        if (r->without_text > 0 && !r->has_text)
            report_missing_text(r);
        reset_input(r);
    }
    return false;
}

tide_record_counts tide_records_counted(const tide_records *r)
{
    return r->counts;
}

double tide_records_time(const tide_records *r)
{
    return r->time;
}

const char *tide_records_problem(const tide_records *r)
{
    return r->problem.status == TIDE_OK ? NULL : r->problem.text;
}

bool tide_records_has_header(const tide_records *r)
{
    return r->has_header;
}

bool tide_records_expects_header(const tide_records *r)
{
    return r->has_header &&
           (r->header_next || (r->ended && tide_records_at_boundary(r)));
}
