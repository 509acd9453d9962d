/* json.c - the less frequent parts of the JSON scanner: escapes, numbers and
 * literals. */
#include "record/json.h"

/* The value of a hexadecimal digit; 16 or more for any other byte. */
static unsigned hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10u : 16u;
}

/* Parses four hexadecimal digits; UINT32_MAX if they are not there. A line feed is not
 * a digit, so this never reads past the sentinel. */
static uint32_t hex4(const unsigned char *p)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = hex_digit(p[i]);
        if (digit > 15)
            return UINT32_MAX;
        value = value << 4 | digit;
    }
    return value;
}

static unsigned char *write_utf8(unsigned char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (unsigned char)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (unsigned char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = (unsigned char)(0xe0 | c >> 12);
        } else {
            *to++ = (unsigned char)(0xf0 | c >> 18);
            *to++ = (unsigned char)(0x80 | (c >> 12 & 0x3f));
        }
        *to++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));
    }
    *to++ = (unsigned char)(0x80 | (c & 0x3f));
    return to;
}

/* The character denoted by a one-letter escape; 0 if there is no such escape. */
static unsigned char simple_escape(unsigned char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case '"':
    case '\\':
    case '/':
        return c;
    default:
        return 0;
    }
}

/* Decodes \uXXXX, or two of them that form a surrogate pair; `p` is just past the u. */
static const unsigned char *decode_unicode(const unsigned char *p, unsigned char **to)
{
    uint32_t c = hex4(p);
    if (c > 0xffff)
        return NULL;
    p += 4;
    if (c >= 0xd800 && c <= 0xdfff) {
        uint32_t low = UINT32_MAX;
        if (c <= 0xdbff && p[0] == '\\' && p[1] == 'u')
            low = hex4(p + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        } else {
            c = 0xfffd;
        }
    }
    *to = write_utf8(*to, c);
    return p;
}

const unsigned char *tide_json_decode_string(const unsigned char *p, unsigned char **to)
{
    for (;;) {
        p = tide_json_copy_run(p, to);
        if (*p == '"')
            return p + 1;
        if (*p != '\\')
            return NULL;
        unsigned char simple = simple_escape(p[1]);
        if (simple) {
            *(*to)++ = simple;
            p += 2;
        } else if (p[1] != 'u' || !(p = decode_unicode(p + 2, to))) {
            return NULL;
        }
    }
}

const unsigned char *tide_json_finish_string(const unsigned char *p)
{
    while (*p != '"') {
        if (*p != '\\')
            return NULL;
        if (simple_escape(p[1]))
            p += 2;
        else if (p[1] == 'u' && hex4(p + 2) <= 0xffff)
            p += 6;
        else
            return NULL;
        p = tide_json_skip_run(p);
    }
    return p + 1;
}

/* -- numbers and literals ---------------------------------------------------------- */

static const unsigned char *skip_one_or_more_digits(const unsigned char *p)
{
    const unsigned char *end = tide_json_skip_digits(p);
    return end > p ? end : NULL;
}

/* minus? (0 | digits without a leading 0) (. digits)? (e sign? digits)? */
static const unsigned char *skip_number(const unsigned char *p)
{
    p += *p == '-';
    p = *p == '0' ? p + 1 : skip_one_or_more_digits(p);
    if (p && *p == '.')
        p = skip_one_or_more_digits(p + 1);
    if (p && (*p == 'e' || *p == 'E')) {
        p++;
        p = skip_one_or_more_digits(p + (*p == '+' || *p == '-'));
    }
    return p;
}

static const unsigned char *skip_name(const unsigned char *p, const char *expected)
{
    for (; *expected; expected++, p++)
        if (*p != (unsigned char)*expected)
            return NULL;
    return p;
}

const unsigned char *tide_json_skip_literal(const unsigned char *p)
{
    switch (*p) {
    case 't':
        return skip_name(p, "true");
    case 'f':
        return skip_name(p, "false");
    case 'n':
        return skip_name(p, "null");
    default:
        return skip_number(p);
    }
}
