/* json.h - a JSON scanner (RFC 8259): strings, numbers, literals and whitespace.
 *
 * The input is one line terminated by a line feed. The line feed acts as a sentinel:
 * JSON does not allow it inside a string and no function here treats it as whitespace,
 * so every scan stops there and no bounds checks are needed. At least 16 bytes after
 * the line feed must be readable. Each function that scans a value returns a pointer
 * just past it, or NULL if the input is not valid JSON.
 *
 * Most bytes of a typical record belong to strings in fields that are not needed. Such
 * strings are skipped 16 bytes at a time by searching for the first quote, backslash or
 * control character; the portable version handles eight bytes at a time.
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

/* Returns the first quote, backslash or byte below 0x20 at or after `p`. A subtraction
 * can borrow from the next higher byte only after a match, so the lowest match is
 * exact. */
static inline const unsigned char *tide_json_skip_run_portable(const unsigned char *p)
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

/* Returns the first byte at or after `p` that is not a digit. */
static inline const unsigned char *
tide_json_skip_digits_portable(const unsigned char *p)
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

static inline const unsigned char *tide_json_skip_run(const unsigned char *p)
{
    for (;; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        int found = _mm_movemask_epi8(tide_json_specials(x));
        if (found)
            return p + __builtin_ctz((unsigned)found);
    }
}

static inline const unsigned char *tide_json_skip_digits(const unsigned char *p)
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
static inline const unsigned char *tide_json_skip_run(const unsigned char *p)
{
    return tide_json_skip_run_portable(p);
}

static inline const unsigned char *tide_json_skip_digits(const unsigned char *p)
{
    return tide_json_skip_digits_portable(p);
}
#endif

/* Copies the run at `p` to *to, advances *to past it, and returns the end of the run.
 * May write up to 16 bytes past the copy. */
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
    const unsigned char *end = tide_json_skip_run(p);
    memcpy(*to, p, (size_t)(end - p));
    *to += end - p;
    return end;
#endif
}

static inline const unsigned char *tide_json_skip_blanks(const unsigned char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

/* Skips the rest of a string; `p` is at the byte that ended a run. */
const unsigned char *tide_json_finish_string(const unsigned char *p);

/* Skips a string; `p` is just past its opening quote. */
static inline const unsigned char *tide_json_skip_string(const unsigned char *p)
{
    p = tide_json_skip_run(p);
    return *p == '"' ? p + 1 : tide_json_finish_string(p);
}

/* Skips a number, true, false or null. */
const unsigned char *tide_json_skip_literal(const unsigned char *p);

/* Decodes a string to *to and advances *to past the text, which is never longer than
 * its encoded form; `p` is just past the opening quote. An unpaired surrogate becomes
 * U+FFFD, and bytes that are not UTF-8 are copied unchanged. May write 16 bytes past
 * the text. */
const unsigned char *tide_json_decode_string(const unsigned char *p,
                                             unsigned char **to);

#endif
