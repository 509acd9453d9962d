/* record_document.c - where the values of a JSON document end: those of a list, or objects one
 * after the other, over as many lines as they like.
 *
 * An input is such a document if it begins with a bracket [, or with an object that is not
 * closed where its line ends. All others are read line by line, where one broken line cannot
 * spoil the next.
 *
 *     [                      skipped, as are commas, blanks and brackets ] between values
 *       {"id": 1,            a value, up to the bracket that closes it. Its line feeds become
 *        "text": "..."},     blanks, since the reader of records wants a line
 *       {"id": 2, ...}
 *     ]
 *
 * Only brackets and quotes are looked at; whether the value is JSON is found when it is read.
 * One that is broken ends where a string meets a line feed, or before a line that begins with
 * {, unless an object can stand there. So what follows it is read again.
 */
#include "record/record_internal.h"

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* -- the beginning ----------------------------------------------------------------- */

/* Whether the object that begins here is still open at the end of its line. */
static bool stays_open(const unsigned char *at, const unsigned char *line_end)
{
    size_t depth = 0;
    bool in_string = false;
    for (; at < line_end; at++) {
        unsigned char c = *at;
        if (in_string && c == '\\') {
            at++;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string) {
            depth += c == '{' || c == '[';
            depth -= depth > 0 && (c == '}' || c == ']');
        }
    }
    return depth > 0 && !in_string;
}

/* What has been looked at without a line feed is known from `scanned`. */
bool tide_document_begin(tide_records *r)
{
    for (;;) {
        const unsigned char *line = r->input + r->position, *at = line, *feed = NULL;
        size_t left = r->end - r->position;
        bool long_line = left > TIDE_RECORD_MAX;
        const unsigned char *end = line + (long_line ? TIDE_RECORD_MAX + 1 : left);
        while (at < end && is_blank(*at))
            at++;
        if (at < end && *at == '\n') { /* a blank line */
            r->position = r->scanned = (size_t)(at + 1 - r->input);
            continue;
        }
        if (at < end && *at == '{') {
            feed = r->input + r->scanned > at ? r->input + r->scanned : at;
            feed = feed < end ? memchr(feed, '\n', (size_t)(end - feed)) : NULL;
            r->scanned = (size_t)(end - r->input);
        }
        if ((at == end || (*at == '{' && !feed)) && !long_line && !r->ended)
            return false;
        r->document = at < end && (*at == '[' || (feed && stays_open(at, feed)));
        r->scanned = r->position;
        return true;
    }
}

/* -- values -------------------------------------------------------------------------- */

void tide_document_skip(tide_records *r)
{
    tide_document_scan *s = &r->scan;
    if (r->scanned > r->position)
        return; /* within a value */
    for (; r->position < r->end; r->position++) {
        unsigned char c = r->input[r->position];
        bool between = is_blank(c) || c == '\n' || c == ',' || c == ']';
        if (!between && (c != '[' || s->in_list))
            break;
        if (c == '[' || c == ']')
            s->in_list = c == '[';
    }
    r->scanned = r->position;
    *s = (tide_document_scan){.in_list = s->in_list};
}

/* Whether a line feed within brackets, before a byte, belongs to the value. */
static bool goes_on(const tide_document_scan *s, unsigned char next)
{
    return next != '{' || s->last == '[' || s->last == ':' || s->last == ',';
}

/* Looks at a byte outside of strings; true when the value ends behind it. */
static bool take_byte(tide_document_scan *s, unsigned char c)
{
    if (!is_blank(c))
        s->last = c ? c : ' '; /* 0 is for none yet */
    s->in_string = c == '"';
    s->depth += (c == '{' || c == '[') && s->depth < UINT32_MAX;
    if (c != '}' && c != ']')
        return false;
    s->depth -= s->depth > 0;
    return s->depth == 0;
}

bool tide_document_end(tide_records *r, size_t limit, size_t *end)
{
    tide_document_scan *s = &r->scan;
    for (; r->scanned < limit; r->scanned++) {
        unsigned char *at = &r->input[r->scanned], c = *at;
        *end = r->scanned;
        if (s->in_string) {
            if (c == '\n')
                return true;
            s->in_string = s->escaped || c != '"';
            s->escaped = !s->escaped && c == '\\';
            if (!s->in_string && s->depth == 0)
                return ++*end, true;
            continue;
        }
        bool closes = c == ']' || c == '\n' || c == ',';
        if (s->depth == 0 && s->last && closes)
            return true;
        if (c == '\n') {
            if (r->scanned + 1 == r->end && !r->ended)
                return false; /* the next byte decides */
            if (r->scanned + 1 < r->end && !goes_on(s, at[1]))
                return true;
            *at = c = ' ';
        }
        if (take_byte(s, c))
            return ++*end, true;
    }
    return false;
}
