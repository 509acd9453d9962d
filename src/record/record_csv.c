/* record_csv.c - comma-separated (RFC 4180) and tab-separated values.
 *
 * Parsing takes two passes. The first finds the end of a record by searching for quotes
 * and line feeds only. It can be suspended at any byte, because its only state is
 * whether it is inside quotes. The second splits a complete record into columns; if the
 * first pass found no quotes, it stops after the last column that is needed.
 *
 * A quote opens a quoted column only as the first byte of the column; elsewhere it is
 * an ordinary character. A closing quote must be followed by a separator or the end of
 * the record; otherwise the record is malformed, but it still ends at the first line
 * feed outside quotes. Empty lines are skipped.
 */
#include "record/record_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* -- the end of a record ----------------------------------------------------------- */

/* The offset of the first quote or line feed at or after `at`; `limit` if there is none
 * before that. */
static size_t quote_or_line(const unsigned char *bytes, size_t at, size_t limit)
{
#ifdef __SSE2__
    for (; at < limit; at += 16) { /* may read the padding */
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

/* Whether the quote at *at, inside a quoted column, closes it: a doubled quote does
 * not. Advances *at past the quote or quotes. */
static bool closes_column(const unsigned char *bytes, size_t *at)
{
    bool doubled = bytes[*at + 1] == '"';
    *at += doubled ? 2 : 1;
    return !doubled;
}

/* Invariant: in_quotes is the state at `scanned`, so a later call with more input
 * resumes there instead of scanning the record again. */
static size_t csv_find_end(tide_records *r, size_t limit)
{
    const unsigned char *bytes = r->input;
    if (r->scanned == r->position) /* a new record */
        r->in_quotes = r->has_quotes = false;
    for (size_t at = r->scanned;;) {
        /* Inside quotes only another quote matters, outside of them a quote or the end
         * of the line. */
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
            if (at + 1 == limit) /* need the next byte: is the quote doubled? */
                return limit;
            r->in_quotes = !closes_column(bytes, &at);
            continue;
        }
        if (bytes[at] == '\n')
            return at;
        /* A quote opens a quoted column only at its start; others are ordinary. */
        if (at == r->position || bytes[at - 1] == r->separator)
            r->in_quotes = r->has_quotes = true;
        at++;
    }
}

/* -- columns ----------------------------------------------------------------------- */

/* An iterator over the columns of a record. */
typedef struct columns {
    const unsigned char *at, *end; /* at: the next column; NULL after the last */
    unsigned char separator;
    bool quotes;            /* columns may be quoted */
    bool malformed;         /* iteration has stopped at an error */
    uint32_t column_number; /* of the latest column, from 1 */
} columns;

static columns columns_of(const tide_records *r, const unsigned char *record,
                          size_t size)
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

static const unsigned char *find_byte(const columns *c, const unsigned char *from,
                                      unsigned char byte)
{
    return from < c->end ? memchr(from, byte, (size_t)(c->end - from)) : NULL;
}

/* The closing quote of the column at c->at; NULL if there is none. */
static const unsigned char *closing_quote(const columns *c)
{
    const unsigned char *quote = find_byte(c, c->at + 1, '"');
    while (quote && quote + 1 < c->end && quote[1] == '"')
        quote = find_byte(c, quote + 2, '"');
    return quote;
}

/* Advances to the next column; false if there is none or it is malformed. */
static bool next_column(columns *c, tide_span *span)
{
    if (!c->at)
        return false;
    const unsigned char *begin = c->at, *stop;
    bool quoted = c->quotes && begin < c->end && *begin == '"';
    if (quoted) {
        begin++;
        stop = closing_quote(c);
        /* Text between a closing quote and the separator is not valid CSV; guessing
         * what was meant would put text into the wrong column. */
        c->malformed = !stop || (stop + 1 < c->end && stop[1] != c->separator);
        if (c->malformed)
            return false;
        c->at = stop + 1 < c->end ? stop + 2 : NULL;
    } else {
        stop = find_byte(c, begin, c->separator);
        c->at = stop ? stop + 1 : NULL;
        stop = stop ? stop : c->end;
    }
    *span = (tide_span){begin, (size_t)(stop - begin), quoted};
    c->column_number++;
    return true;
}

/* Copies the text of a column, undoubling its quotes. Returns its size. */
static size_t copy_unquoted(const tide_span *span, unsigned char *to)
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

static uint32_t last_needed_column(const tide_records *r)
{
    uint32_t last = 0;
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].column > last)
            last = r->fields[i].column;
    return last;
}

static tide_parse_result csv_parse(tide_records *r, const unsigned char *record,
                                   size_t size)
{
    columns c = columns_of(r, record, size);
    if (c.at == c.end)
        return TIDE_PARSE_BLANK;
    for (size_t i = 0; i < r->field_count; i++)
        r->spans[i] = (tide_span){record, 0, false};
    tide_span span;
    /* With quotes all columns are parsed, because a later one may be malformed. */
    uint32_t last = c.quotes ? UINT32_MAX : last_needed_column(r);
    while (c.column_number < last && next_column(&c, &span))
        for (size_t i = 0; i < r->field_count; i++)
            if (r->fields[i].column == c.column_number)
                r->spans[i] = span;
    return c.malformed ? TIDE_PARSE_MALFORMED : TIDE_PARSE_OK;
}

static size_t csv_copy_field(const tide_records *r, size_t field, unsigned char *to)
{
    return copy_unquoted(&r->spans[field], to);
}

/* A column holds a single label. */
static size_t csv_copy_label(const tide_records *r, uint32_t *at, unsigned char *to)
{
    return (*at)++ ? 0 : csv_copy_field(r, (size_t)r->label_field, to);
}

/* -- the header -------------------------------------------------------------------- */

/* Appends a name to a list, which is truncated if it does not fit. */
static void append_name(char *list, size_t capacity, const unsigned char *name,
                        size_t size)
{
    size_t used = strlen(list);
    int shown = size < 100 ? (int)size : 100;
    const char *quote = memchr(name, ',', size) ? "\"" : "";
    snprintf(list + used, capacity - used, "%s%s%.*s%s", used ? ", " : "", quote, shown,
             (const char *)name, quote);
}

/* The result of splitting the header with one separator. */
typedef struct header_match {
    unsigned char separator;
    bool malformed;
    size_t found; /* fields whose column was found */
    uint32_t columns;
} header_match;

/* Sets the columns of the fields that are selected by name, and lists all names. */
static header_match match_header(tide_records *r, columns c, unsigned char separator,
                                 char *list, size_t capacity)
{
    header_match n = {.separator = separator};
    c.separator = separator;
    c.quotes = r->format == &tide_record_csv;
    *list = '\0';
    /* Fields that are selected by number need no name; the others are found now. */
    for (size_t i = 0; i < r->field_count; i++)
        r->fields[i].column = r->fields[i].column_number;
    for (tide_span span; next_column(&c, &span);) {
        size_t length = copy_unquoted(&span, r->text);
        append_name(list, capacity, r->text, length);
        for (size_t i = 0; i < r->field_count; i++) {
            tide_field *f = &r->fields[i];
            if (!f->column_number && !f->column && f->length == length &&
                memcmp(f->name, r->text, length) == 0) {
                f->column = c.column_number;
                n.found++;
            }
        }
    }
    n.malformed = c.malformed;
    n.columns = c.column_number;
    return n;
}

/* The separator with which the most fields are found; if there is none, the one that
 * yields the most columns, so that an error message can list them. */
static unsigned char detect_separator(tide_records *r, columns c, char *list,
                                      size_t capacity)
{
    static const char others[] = ";\t|";
    header_match best = match_header(r, c, r->separator, list, capacity);
    if (r->delimiter || r->format != &tide_record_csv)
        return best.separator;
    for (const char *other = others; *other; other++) {
        header_match n = match_header(r, c, (unsigned char)*other, list, capacity);
        bool more = n.found > best.found ||
                    (!best.found && !best.malformed && n.columns > best.columns);
        if (more && !n.malformed)
            best = n;
    }
    return best.separator;
}

static tide_parse_result csv_parse_header(tide_records *r, const unsigned char *record,
                                          size_t size)
{
    char list[512];
    columns c = columns_of(r, record, size);
    if (c.at == c.end)
        return TIDE_PARSE_BLANK;
    r->separator = detect_separator(r, c, list, sizeof list);
    if (match_header(r, c, r->separator, list, sizeof list).malformed)
        return TIDE_PARSE_MALFORMED;
    for (size_t i = r->field_count; i-- > 0;) /* the first missing field is reported */
        if (!r->fields[i].column)
            tide_fail(&r->problem, TIDE_ERROR_INPUT,
                      "no column '%s' (give a name or a number); the header has: %s",
                      r->fields[i].name, list);
    tide_records_find_duplicates(r);
    return TIDE_PARSE_OK;
}

const tide_record_format tide_record_csv = {
    .columns = true,
    .separator = ',',
    .find_end = csv_find_end,
    .parse = csv_parse,
    .parse_header = csv_parse_header,
    .copy_field = csv_copy_field,
    .copy_label = csv_copy_label,
};

const tide_record_format tide_record_tsv = {
    .columns = true,
    .separator = '\t',
    .find_end = tide_records_find_line,
    .parse = csv_parse,
    .parse_header = csv_parse_header,
    .copy_field = csv_copy_field,
    .copy_label = csv_copy_label,
};
