/* records.c - records in pieces of any size, in fixed memory.
 *
 * What is fed is copied into one buffer, and records are read where they lie:
 *
 *     input   |  read  |  record  |  record  |  half a record  |  free  |
 *                      ^position             (scanned^)        ^end
 *
 * A format (record_json.c, record_csv.c) finds the line feed that ends the record, and
 * when it is there, reads the whole record at once. So the cuts between feeds cannot
 * change anything. Looking for the end goes on at `scanned`: a record that comes byte
 * by byte is not looked at from its beginning again and again.
 *
 * A record that has no end among its first TIDE_RECORD_MAX + 1 bytes is too long. From
 * there on only the next line feed matters, also where it would be inside quotes, and
 * bytes up to it are counted (`skipped`) and not kept.
 *
 * JSON may also come as one document, values over several lines; then record_document.c
 * finds where each of them ends.
 *
 * When the input has ended, the byte behind its last one serves as a line feed that
 * nobody fed. The next input may begin with a byte order mark and names of columns
 * again.
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

/* -- making ------------------------------------------------------------------------- */

static void begin_input(tide_records *r)
{
    r->at_start = true;
    r->undecided = r->document = r->ended = false;
    r->scan = (tide_document_scan){0};
    r->textless = 0;
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
        tide_fail(err, TIDE_ERROR_PARAMETER, "lines of text have no fields");
        return NULL;
    }
    void *room;
    if (posix_memalign(&room, _Alignof(tide_records), sizeof(tide_records)) != 0) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for records (%zu bytes)",
                  sizeof(tide_records));
        return NULL;
    }
    tide_records *r = memset(room, 0, offsetof(tide_records, json.arena));
    r->format = formats[options->kind];
    r->time = (double)NAN;
    r->one_line = options->one_line;
    r->delimiter = (unsigned char)options->delimiter;
    if (tide_records_set_fields(r, options, err) != TIDE_OK) {
        tide_records_free(r);
        return NULL;
    }
    r->fingerprint = fingerprint(r, options->kind);
    begin_input(r);
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

/* -- feeding ------------------------------------------------------------------------ */

size_t tide_records_feed(tide_records *r, const void *bytes, size_t size)
{
    /* Is moved at once, to stay within a few cache lines. */
    enum { LITTLE = TIDE_ROOM(4096, 256) };
    if (r->ended && !tide_records_at_boundary(r))
        return 0;
    if (r->ended)
        begin_input(r);
    size_t rest = r->end - r->position;
    if (r->position > 0 && (rest <= LITTLE || size > TIDE_RECORDS_INPUT - r->end)) {
        memmove(r->input, r->input + r->position, rest);
        r->scanned -= r->position;
        r->position = 0;
        r->end = rest;
    }
    if (size > TIDE_RECORDS_INPUT - r->end)
        size = TIDE_RECORDS_INPUT - r->end;
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

/* -- the next record ---------------------------------------------------------------- */

typedef struct record {
    const unsigned char *bytes;
    size_t size;          /* without what ended it */
    uint64_t whole;       /* with it */
    unsigned char behind; /* the byte that a line feed stands for while it is read */
} record;

static void move_to(tide_records *r, size_t position)
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

/* Passes over a byte order mark. False when it takes more bytes to know. */
static bool pass_mark(tide_records *r)
{
    static const unsigned char mark[3] = {0xef, 0xbb, 0xbf};
    size_t size = r->end - r->position;
    bool like_mark = memcmp(r->input + r->position, mark, size < 3 ? size : 3) == 0;
    if (like_mark && size < 3 && !r->ended)
        return false;
    if (like_mark && size >= 3)
        move_to(r, r->position + 3);
    r->at_start = false;
    r->undecided = r->format->begin != NULL;
    return true;
}

static bool begin_format(tide_records *r)
{
    if (r->undecided)
        r->undecided = !r->format->begin(r);
    return !r->undecided;
}

static void count_too_long(tide_records *r, uint64_t size)
{
    r->counts.records++;
    r->counts.too_long++;
    r->counts.bytes += size;
    if (r->names_next)
        tide_fail(&r->problem, TIDE_ERROR_INPUT,
                  "the names of the columns take more than %d bytes", TIDE_RECORD_MAX);
    r->names_next = false;
}

/* Passes over the rest of a record that is too long. False when its end is to come. */
static bool pass_rest(tide_records *r)
{
    size_t next = r->end;
    bool found = true;
    if (r->document) {
        found = tide_document_end(r, r->end, &next);
        next = found ? next : r->scanned;
    } else {
        const unsigned char *from = r->input + r->position;
        const unsigned char *line = memchr(from, '\n', r->end - r->position);
        found = line != NULL;
        next = line ? (size_t)(line - r->input) + 1 : r->end;
    }
    r->skipped += next - r->position;
    move_to(r, next);
    if (!found && !r->ended)
        return false;
    count_too_long(r, r->skipped);
    r->skipped = 0;
    return true;
}

/* Whether the record at the position ends before the limit; *end is where, and *after
 * where the next may begin. */
static bool find_end(tide_records *r, size_t limit, size_t *end, size_t *after)
{
    if (r->document) {
        bool found = tide_document_end(r, limit, end);
        *end = *after = found ? *end : limit;
        return found;
    }
    *end = r->format->find_end(r, limit);
    *after = *end < limit ? *end + 1 : limit;
    return *end < limit;
}

/* The next record that is not too long; false when it is not complete yet. */
static bool next_record(tide_records *r, record *next)
{
    if ((r->at_start && !pass_mark(r)) || !begin_format(r))
        return false;
    while (!r->skipped || pass_rest(r)) {
        if (r->document)
            tide_document_skip(r);
        size_t at, after,
            limit = r->end - r->position > TIDE_RECORD_MAX
                        ? r->position + TIDE_RECORD_MAX + 1
                        : r->end;
        bool found = find_end(r, limit, &at, &after);
        if (!found && r->document && r->scanned < limit && !r->ended)
            return false; /* the next byte decides */
        if (!found && limit - r->position > TIDE_RECORD_MAX) {
            r->skipped = TIDE_RECORD_MAX + 1;
            r->position = r->scanned = limit;
            continue;
        }
        if (!found && (!r->ended || r->position == r->end))
            return false;
        if (at - r->position > TIDE_RECORD_MAX) { /* by the bracket that closes it */
            count_too_long(r, at - r->position);
            move_to(r, at);
            continue;
        }
        *next = (record){r->input + r->position, at - r->position, after - r->position,
                         r->input[at]};
        r->input[at] = '\n';
        move_to(r, after);
        return true;
    }
    return false;
}

/* -- taking ------------------------------------------------------------------------- */

static void read_names(tide_records *r, const record *names)
{
    r->problem.status = TIDE_OK;
    tide_reading reading = r->format->read_names(r, names->bytes, names->size);
    r->names_next = reading == TIDE_READ_NOTHING;
    if (reading != TIDE_READ_MALFORMED)
        return;
    tide_records_clear_header(r);
    r->names_next = false;
    r->counts.records++;
    r->counts.malformed++;
    r->counts.bytes += names->whole;
    tide_fail(&r->problem, TIDE_ERROR_INPUT,
              "the first record, with the names of the columns, is malformed");
}

/* "__label__" and a label, in one word, and a blank, for each. Returns how many bytes. */
static size_t put_labels(tide_records *r)
{
    size_t size = 0;
    uint32_t at = 0;
    int most = r->label_field < 0 ? 0 : TIDE_RECORD_LABELS_MAX;
    for (int count = 0; count < most; count++) {
        unsigned char *mark = r->text + size, *label = mark + TIDE_LABEL_MARK;
        size_t length = r->format->label(r, &at, label);
        if (length == 0)
            break;
        memcpy(mark, "__label__", TIDE_LABEL_MARK);
        for (size_t i = 0; i < length; i++)
            if (label[i] <= ' ')
                label[i] = '_';
        label[length] = ' ';
        size += TIDE_LABEL_MARK + length + 1;
    }
    return size;
}

static void make_one_line(unsigned char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n')
            text[i] = ' ';
}

/* The text of the record just read, in r->text; 0 when it has none. */
static size_t make_text(tide_records *r)
{
    double time = (double)NAN;
    if (r->time_field >= 0)
        time = tide_records_parse_time(
            r->text, r->format->value(r, (size_t)r->time_field, r->text));
    size_t start = put_labels(r), size = start;
    for (size_t i = 0; i < r->text_fields; i++) {
        if (r->fields[i].repeats)
            continue;
        size_t gap = size > start;
        size_t added = r->format->value(r, i, r->text + size + gap);
        if (added == 0)
            continue;
        if (gap)
            r->text[size] = '\n';
        size += gap + added;
    }
    if (size == start)
        return 0;
    if (!isnan(time))
        r->time = time;
    if (r->one_line)
        make_one_line(r->text, size);
    r->text[size++] = '\n';
    return size;
}

static void tell_fields(tide_records *r)
{
    tide_fail(&r->problem, TIDE_ERROR_INPUT,
              "no text in field '%s' of the first %u records; there are: %s",
              r->fields[0].name, r->textless, *r->seen ? r->seen : "no fields");
}

/* Says which fields there are when the first records have no text in those that were asked for. */
static void note_textless(tide_records *r, const record *next)
{
    enum { ENOUGH = 10 };
    if (r->textless++ == 0)
        tide_json_fields(next->bytes, next->size, r->seen);
    if (r->textless == ENOUGH)
        tell_fields(r);
}

/* The text of a record that was read; 0 when it has none, and then it is counted. */
static size_t take_text(tide_records *r, const record *next, tide_reading reading)
{
    size_t size = reading == TIDE_READ ? make_text(r) : 0;
    r->counts.records++;
    r->has_text |= size > 0;
    if (size > 0)
        return size;
    r->counts.malformed += reading == TIDE_READ_MALFORMED;
    r->counts.missing += reading == TIDE_READ;
    r->counts.bytes += next->whole;
    if (reading == TIDE_READ && !r->format->columns && !r->has_text)
        note_textless(r, next);
    return 0;
}

bool tide_records_take(tide_records *r, const char **text, size_t *size)
{
    for (record next; next_record(r, &next);) {
        if (r->names_next) {
            read_names(r, &next);
            continue;
        }
        tide_reading reading = r->format->read(r, next.bytes, next.size);
        *text = (const char *)r->text;
        *size = reading == TIDE_READ_NOTHING ? 0 : take_text(r, &next, reading);
        r->input[(size_t)(next.bytes - r->input) + next.size] = next.behind;
        if (*size > 0)
            return true;
    }
    if (r->ended) {
        if (r->textless > 0 && !r->has_text)
            tell_fields(r);
        begin_input(r);
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
    return r->has_names;
}

bool tide_records_expects_header(const tide_records *r)
{
    return r->has_names && (r->names_next || (r->ended && tide_records_at_boundary(r)));
}
