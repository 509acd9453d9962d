/* json.h - the words of JSON (RFC 8259): strings, numbers, names and what may stand
 * between them.
 *
 * All functions look at a line that ends with a line feed, which JSON allows nowhere in
 * a string and which nothing here takes for a blank: so whatever is searched for, the
 * search ends there, and no end has to be compared with. At least 16 bytes behind the
 * line feed can be read. A function that moves over something returns where it ends, or
 * NULL when it is not JSON.
 *
 * Most of a record is strings that nobody wants. They are passed over 16 bytes at a
 * time by asking for the first byte that is a quote, a backslash or a control
 * character; the portable version asks about eight.
 */
#ifndef TIDE_RECORD_JSON_H
#define TIDE_RECORD_JSON_H

#include "base/base.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Where the first quote, backslash or byte below 0x20 is. The subtractions borrow from
 * the byte above only where they have found something, so the lowest find is right. */
static inline const unsigned char *tide_json_run_portable(const unsigned char *p)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x80 * ones;
    for (;; p += 8) {
        uint64_t x;
        memcpy(&x, p, sizeof x);
        uint64_t quote = x ^ ('"' * ones), slash = x ^ ('\\' * ones);
        uint64_t found = ((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
                         ((x - 0x20 * ones) & ~x);
        if (found & tops)
            return p + __builtin_ctzll(found & tops) / 8;
    }
}

/* Where the first byte that is no digit is. */
static inline const unsigned char *tide_json_digits_portable(const unsigned char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

#ifdef __SSE2__
static inline __m128i tide_json_specials(__m128i x)
{
    __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x);
    return _mm_or_si128(_mm_or_si128(quote, slash), control);
}

static inline const unsigned char *tide_json_run(const unsigned char *p)
{
    for (;; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        int found = _mm_movemask_epi8(tide_json_specials(x));
        if (found)
            return p + __builtin_ctz((unsigned)found);
    }
}

static inline const unsigned char *tide_json_digits(const unsigned char *p)
{
    for (;; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        x = _mm_sub_epi8(x, _mm_set1_epi8('0'));
        x = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(9)), x);
        unsigned other = ~(unsigned)_mm_movemask_epi8(x) & 0xffff;
        if (other)
            return p + __builtin_ctz(other);
    }
}
#else
static inline const unsigned char *tide_json_run(const unsigned char *p)
{
    return tide_json_run_portable(p);
}

static inline const unsigned char *tide_json_digits(const unsigned char *p)
{
    return tide_json_digits_portable(p);
}
#endif

/* Copies the run at `p` to *to, moves *to behind it, and returns where it ends. May
 * write up to 16 bytes more than it copies. */
static inline const unsigned char *tide_json_copy_run(const unsigned char *p,
                                                      unsigned char **to)
{
#ifdef __SSE2__
    for (unsigned char *t = *to;; p += 16, t += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        _mm_storeu_si128((__m128i *)(void *)t, x);
        int found = _mm_movemask_epi8(tide_json_specials(x));
        if (found) {
            int length = __builtin_ctz((unsigned)found);
            *to = t + length;
            return p + length;
        }
    }
#else
    const unsigned char *end = tide_json_run(p);
    memcpy(*to, p, (size_t)(end - p));
    *to += end - p;
    return end;
#endif
}

static inline const unsigned char *tide_json_blanks(const unsigned char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

/* Over the rest of a string from a byte that ends a run. */
const unsigned char *tide_json_string_rest(const unsigned char *p);

/* Over a string; `p` is behind its first quote. */
static inline const unsigned char *tide_json_string(const unsigned char *p)
{
    p = tide_json_run(p);
    return *p == '"' ? p + 1 : tide_json_string_rest(p);
}

/* Over a number, true, false or null. */
const unsigned char *tide_json_literal(const unsigned char *p);

/* Over a string as tide_json_string does. Its text goes to *to, which moves behind it;
 * it is never longer than the string was. A surrogate without its other half becomes
 * U+FFFD, and bytes that are not UTF-8 stay as they are. May write 16 bytes more. */
const unsigned char *tide_json_decode(const unsigned char *p, unsigned char **to);

#endif
