/* record_csv.c - the text in comma-separated (RFC 4180) and tab-separated values.
 *
 * Finding where a record ends and splitting it into columns are two passes. The first
 * looks for quotes and line feeds alone and can stop and go on at any byte: all it has
 * to know is whether it is inside quotes. The second sees whole records; where the
 * first has met no quotes, it stops at the last column that is wanted.
 *
 * A quote opens a quoted column only at the column's very beginning; elsewhere it is a
 * character like others. A closing quote must be followed by a comma or the end of the
 * record, otherwise the record is malformed; it still ends where it would have ended,
 * at the first line feed outside quotes. An empty line is no record.
 */
#include "record/record_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* -- the end of a record ------------------------------------------------------------ */

/* The first quote or line feed from `at`; `limit` when it is not before that. */
static size_t quote_or_line(const unsigned char *bytes, size_t at, size_t limit)
{
#ifdef __SSE2__
    for (; at < limit; at += 16) { /* may look at the padding */
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(bytes + at));
        __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
        __m128i line = _mm_cmpeq_epi8(x, _mm_set1_epi8('\n'));
        int found = _mm_movemask_epi8(_mm_or_si128(quote, line));
        if (found) {
            at += (size_t)__builtin_ctz((unsigned)found);
            break;
        }
    }
    return at < limit ? at : limit;
#else
    while (at < limit && bytes[at] != '"' && bytes[at] != '\n')
        at++;
    return at;
#endif
}

/* Whether the quotes end at `at`, a quote inside them, which does not if another
 * follows; then *at is behind both. */
static bool closes(const unsigned char *bytes, size_t *at)
{
    bool doubled = bytes[*at + 1] == '"';
    *at += doubled ? 2 : 1;
    return !doubled;
}

static size_t csv_find_end(tide_records *r, size_t limit)
{
    const unsigned char *bytes = r->input;
    if (r->scanned == r->position)
        r->in_quotes = r->has_quotes = false;
    for (size_t at = r->scanned;;) {
        if (r->in_quotes) {
            const unsigned char *quote = memchr(bytes + at, '"', limit - at);
            at = quote ? (size_t)(quote - bytes) : limit;
        } else {
            at = quote_or_line(bytes, at, limit);
        }
        r->scanned = at;
        if (at == limit)
            return limit;
        if (r->in_quotes) {
            if (at + 1 == limit) /* the byte behind it decides */
                return limit;
            r->in_quotes = !closes(bytes, &at);
            continue;
        }
        if (bytes[at] == '\n')
            return at;
        if (at == r->position || bytes[at - 1] == r->separator)
            r->in_quotes = r->has_quotes = true;
        at++;
    }
}

/* -- columns ------------------------------------------------------------------------ */

/* A record on its way to being split. */
typedef struct columns {
    const unsigned char *at, *end; /* the next column; NULL behind the last */
    unsigned char separator;
    bool quotes;     /* may be used */
    bool malformed;  /* so splitting has stopped */
    uint32_t number; /* of the latest column, from 1 */
} columns;

static columns split(const tide_records *r, const unsigned char *record, size_t size)
{
    if (size > 0 && record[size - 1] == '\r')
        size--;
    return (columns){
        .at = record,
        .end = record + size,
        .separator = r->separator,
        .quotes = r->format == &tide_record_csv && r->has_quotes,
    };
}

static const unsigned char *find(const columns *c, const unsigned char *from,
                                 unsigned char byte)
{
    return from < c->end ? memchr(from, byte, (size_t)(c->end - from)) : NULL;
}

/* The closing quote of the column at c->at; NULL when there is none. */
static const unsigned char *closing_quote(const columns *c)
{
    const unsigned char *quote = find(c, c->at + 1, '"');
    while (quote && quote + 1 < c->end && quote[1] == '"')
        quote = find(c, quote + 2, '"');
    return quote;
}

/* The next column; false when there is none, or it is malformed. */
static bool next_column(columns *c, tide_span *span)
{
    if (!c->at)
        return false;
    const unsigned char *begin = c->at, *stop;
    bool quoted = c->quotes && begin < c->end && *begin == '"';
    if (quoted) {
        begin++;
        stop = closing_quote(c);
        c->malformed = !stop || (stop + 1 < c->end && stop[1] != c->separator);
        if (c->malformed)
            return false;
        c->at = stop + 1 < c->end ? stop + 2 : NULL;
    } else {
        stop = find(c, begin, c->separator);
        c->at = stop ? stop + 1 : NULL;
        stop = stop ? stop : c->end;
    }
    *span = (tide_span){begin, (size_t)(stop - begin), quoted};
    c->number++;
    return true;
}

/* Writes the text of a column, its doubled quotes made single. */
static size_t span_text(const tide_span *span, unsigned char *to)
{
    const unsigned char *from = span->bytes, *end = from + span->size;
    unsigned char *start = to;
    while (from < end) {
        size_t left = (size_t)(end - from);
        const unsigned char *quote = span->quoted ? memchr(from, '"', left) : NULL;
        size_t length = quote ? (size_t)(quote + 1 - from) : left;
        memcpy(to, from, length);
        to += length;
        from += length + (quote != NULL);
    }
    return (size_t)(to - start);
}

static uint32_t last_column(const tide_records *r)
{
    uint32_t last = 0;
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].column > last)
            last = r->fields[i].column;
    return last;
}

static tide_reading csv_read(tide_records *r, const unsigned char *record, size_t size)
{
    columns c = split(r, record, size);
    if (c.at == c.end)
        return TIDE_READ_NOTHING;
    for (size_t i = 0; i < r->field_count; i++)
        r->spans[i] = (tide_span){record, 0, false};
    tide_span span;
    uint32_t last = c.quotes ? UINT32_MAX : last_column(r);
    while (c.number < last && next_column(&c, &span))
        for (size_t i = 0; i < r->field_count; i++)
            if (r->fields[i].column == c.number)
                r->spans[i] = span;
    return c.malformed ? TIDE_READ_MALFORMED : TIDE_READ;
}

static size_t csv_value(const tide_records *r, size_t field, unsigned char *to)
{
    return span_text(&r->spans[field], to);
}

/* A column is one label. */
static size_t csv_label(const tide_records *r, uint32_t *at, unsigned char *to)
{
    return (*at)++ ? 0 : csv_value(r, (size_t)r->label_field, to);
}

/* -- names -------------------------------------------------------------------------- */

/* Adds a name to a list that may have to end early. */
static void list_name(char *list, size_t room, const unsigned char *name, size_t size)
{
    size_t used = strlen(list);
    int shown = size < 100 ? (int)size : 100;
    const char *quote = memchr(name, ',', size) ? "\"" : "";
    snprintf(list + used, room - used, "%s%s%.*s%s", used ? ", " : "", quote, shown,
             (const char *)name, quote);
}

/* What a separator makes of a line of names. */
typedef struct naming {
    unsigned char separator;
    bool malformed;
    size_t found; /* fields */
    uint32_t columns;
} naming;

/* Finds the columns of the fields that go by their names, and lists all names. */
static naming find_names(tide_records *r, columns c, unsigned char separator,
                         char *list, size_t room)
{
    naming n = {.separator = separator};
    c.separator = separator;
    c.quotes = r->format == &tide_record_csv;
    *list = '\0';
    for (size_t i = 0; i < r->field_count; i++)
        r->fields[i].column = r->fields[i].number;
    for (tide_span span; next_column(&c, &span);) {
        size_t length = span_text(&span, r->text);
        list_name(list, room, r->text, length);
        for (size_t i = 0; i < r->field_count; i++) {
            tide_field *f = &r->fields[i];
            if (!f->number && !f->column && f->length == length &&
                memcmp(f->name, r->text, length) == 0) {
                f->column = c.number;
                n.found++;
            }
        }
    }
    n.malformed = c.malformed;
    n.columns = c.number;
    return n;
}

/* The separator under which most names are found. If there is none with any, one with which the line
 * has several columns, so that they can be listed. */
static unsigned char find_separator(tide_records *r, columns c, char *list, size_t room)
{
    static const char others[] = ";\t|";
    naming best = find_names(r, c, r->separator, list, room);
    if (r->delimiter || r->format != &tide_record_csv)
        return best.separator;
    for (const char *other = others; *other; other++) {
        naming n = find_names(r, c, (unsigned char)*other, list, room);
        bool more = n.found > best.found ||
                    (!best.found && !best.malformed && n.columns > best.columns);
        if (more && !n.malformed)
            best = n;
    }
    return best.separator;
}

static tide_reading csv_read_names(tide_records *r, const unsigned char *record,
                                   size_t size)
{
    char list[512];
    columns c = split(r, record, size);
    if (c.at == c.end)
        return TIDE_READ_NOTHING;
    r->separator = find_separator(r, c, list, sizeof list);
    if (find_names(r, c, r->separator, list, sizeof list).malformed)
        return TIDE_READ_MALFORMED;
    for (size_t i = r->field_count; i-- > 0;) /* the first of them is told */
        if (!r->fields[i].column)
            tide_fail(&r->problem, TIDE_ERROR_INPUT,
                      "no column '%s' (a number names one, too); there are: %s",
                      r->fields[i].name, list);
    tide_records_find_duplicates(r);
    return TIDE_READ;
}

const tide_record_format tide_record_csv = {
    .columns = true,
    .separator = ',',
    .find_end = csv_find_end,
    .read = csv_read,
    .read_names = csv_read_names,
    .value = csv_value,
    .label = csv_label,
};

const tide_record_format tide_record_tsv = {
    .columns = true,
    .separator = '\t',
    .find_end = tide_records_find_line,
    .read = csv_read,
    .read_names = csv_read_names,
    .value = csv_value,
    .label = csv_label,
};
