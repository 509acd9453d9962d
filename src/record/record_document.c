/* record_document.c - splits a JSON document that spans lines into values.
 *
 * A document is an array, or a sequence of objects. An input is treated as a document
 * if it begins with [ or with an object that is still open at the end of its line. Any
 * other input is read line by line, so that a malformed line cannot affect the next.
 *
 *     [                      skipped, as are commas, whitespace and ] between values
 *       {"id": 1,            a value, up to its closing bracket; its line feeds
 *        "text": "..."},     become spaces, because the parser expects one line
 *       {"id": 2, ...}
 *     ]
 *
 * The scan considers only brackets and quotes; the record parser decides later whether
 * the value is valid. To resynchronize after a malformed value, a value also ends at a
 * line feed inside a string, and before a line that begins with { where no object may
 * follow.
 */
#include "record/record_internal.h"

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* -- detection --------------------------------------------------------------------- */

/* Whether the object at `at` is still open at the end of its line. */
static bool is_open_at_line_end(const unsigned char *at, const unsigned char *line_end)
{
    size_t depth = 0;
    bool in_string = false;
    for (; at < line_end; at++) {
        unsigned char c = *at;
        /* An escaped character cannot end the string. */
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

/* Bytes before `scanned` are known to contain no line feed. */
bool tide_document_detect(tide_records *r)
{
    for (;;) {
        const unsigned char *line = r->input + r->position, *at = line,
                            *line_feed = NULL;
        size_t left = r->end - r->position;
        bool long_line = left > TIDE_RECORD_MAX;
        const unsigned char *end = line + (long_line ? TIDE_RECORD_MAX + 1 : left);
        while (at < end && is_blank(*at))
            at++;
        if (at < end && *at == '\n') { /* a blank line */
            r->position = r->scanned = (size_t)(at + 1 - r->input);
            continue;
        }
        /* Only a complete line decides whether the object ends on it. The search
         * resumes where the last call stopped, so a line that arrives slowly is
         * searched once. */
        if (at < end && *at == '{') {
            line_feed = r->input + r->scanned > at ? r->input + r->scanned : at;
            line_feed = line_feed < end
                            ? memchr(line_feed, '\n', (size_t)(end - line_feed))
                            : NULL;
            r->scanned = (size_t)(end - r->input);
        }
        if ((at == end || (*at == '{' && !line_feed)) && !long_line && !r->ended)
            return false;
        r->document = at < end &&
                      (*at == '[' || (line_feed && is_open_at_line_end(at, line_feed)));
        r->scanned = r->position;
        return true;
    }
}

/* -- values ------------------------------------------------------------------------ */

void tide_document_skip_separators(tide_records *r)
{
    tide_document_scan *s = &r->scan;
    if (r->scanned > r->position)
        return; /* inside a value */
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

/* Whether a value continues after a line feed within brackets, given the byte that
 * follows. A line that begins with { where no object may follow starts a new value. */
static bool continues_after_line_feed(const tide_document_scan *s, unsigned char next)
{
    return next != '{' || s->last == '[' || s->last == ':' || s->last == ',';
}

/* Scans a byte outside strings; returns true if it is the last of the value. */
static bool scan_byte(tide_document_scan *s, unsigned char c)
{
    if (!is_blank(c))
        s->last = c ? c : ' '; /* 0 means none yet */
    s->in_string = c == '"';
    s->depth += (c == '{' || c == '[') && s->depth < UINT32_MAX;
    if (c != '}' && c != ']')
        return false;
    s->depth -= s->depth > 0;
    return s->depth == 0;
}

bool tide_document_find_end(tide_records *r, size_t limit, size_t *end)
{
    tide_document_scan *s = &r->scan;
    for (; r->scanned < limit; r->scanned++) {
        unsigned char *at = &r->input[r->scanned], c = *at;
        *end = r->scanned;
        if (s->in_string) {
            if (c == '\n') /* malformed: JSON strings do not contain line feeds */
                return true;
            s->in_string = s->escaped || c != '"';
            s->escaped = !s->escaped && c == '\\';
            if (!s->in_string && s->depth == 0)
                return ++*end, true;
            continue;
        }
        /* A number or literal outside brackets ends before what separates values. */
        bool ends_literal = c == ']' || c == '\n' || c == ',';
        if (s->depth == 0 && s->last && ends_literal)
            return true;
        if (c == '\n') {
            /* Whether the value continues depends on the first byte of the next
             * line. */
            if (r->scanned + 1 == r->end && !r->ended)
                return false; /* need the next byte */
            if (r->scanned + 1 < r->end && !continues_after_line_feed(s, at[1]))
                return true;
            *at = c = ' ';
        }
        if (scan_byte(s, c))
            return ++*end, true;
    }
    return false;
}
