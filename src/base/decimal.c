/* decimal.c - floats as the shortest decimal text, and decimal text as floats.
 *
 * Writing. A float x is the only float within half an ulp of itself. Any decimal number
 * strictly inside that interval reads back as x, and nine digits always suffice. The
 * result is the nearest decimal number of n digits, for the smallest n that reads back.
 *
 * Scale x by a power of ten to s, so that 10^8 <= s <= 10^9, and half an ulp by the
 * same power to h. The nearest number of n digits is then s with its last 9 - n digits
 * rounded away, and it reads back if it is closer to s than h. If n digits are enough,
 * so are n + 1, since the nearest number with more digits is at least as close. So
 * digits are removed one by one until the distance is too large, which for most floats
 * happens after one or two.
 *
 * All this is done in double precision, whose error in s is below 10^-6 here, while h
 * is at least 2.9. If a comparison is closer than MARGIN, the fast path gives up and
 * the C library, which is exact, tries 1, 2, ... digits. The C library also handles
 * the powers of two, whose lower neighbor is only half as far away as the upper one.
 * Together these are a vanishing fraction of the floats that occur.
 *
 * Reading. Up to 19 digits are an integer below 2^64; times a power of ten, that is a
 * double with an error of at most two ulps. It rounds to the correct float unless the
 * midpoint of two floats is that close, and then the C library decides. Nothing here
 * depends on the locale of the program.
 */
#include "base/base.h"

#include <wordtide/tools.h>
#include <ctype.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

enum {
    DIGITS = 9,
    POWER_MIN = -30,
    POWER_MAX = 53,
    PLAIN_MIN = -5, /* exponents of ten that are written without an exponent */
    PLAIN_MAX = DIGITS - 1
};

static const double MARGIN = 1e-5;

static const double powers[POWER_MAX - POWER_MIN + 1] = {
    1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19,
    1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9,  1e-8,  1e-7,
    1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,   1e4,   1e5,
    1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,  1e14,  1e15,  1e16,  1e17,
    1e18,  1e19,  1e20,  1e21,  1e22,  1e23,  1e24,  1e25,  1e26,  1e27,  1e28,  1e29,
    1e30,  1e31,  1e32,  1e33,  1e34,  1e35,  1e36,  1e37,  1e38,  1e39,  1e40,  1e41,
    1e42,  1e43,  1e44,  1e45,  1e46,  1e47,  1e48,  1e49,  1e50,  1e51,  1e52,  1e53};

static double power_of_ten(int exponent)
{
    return powers[exponent - POWER_MIN];
}

/* -- writing ----------------------------------------------------------------------- */

/* A number d[0].d[1]d[2]... times ten to the exponent. */
typedef struct decimal {
    char digits[2 * DIGITS]; /* put_digits copies DIGITS bytes from any of them on */
    int count;
    int exponent;
} decimal;

/* The exact path: the smallest precision at which the text reads back. Both directions
 * use the current locale, and its decimal point is skipped. */
static decimal format_exactly(float x)
{
    char text[32];
    for (int count = 1;; count++) {
        snprintf(text, sizeof text, "%.*e", count - 1, (double)x);
        if (count == DIGITS || strtof(text, NULL) == x)
            break;
    }
    decimal d = {.count = 0};
    const char *mark = strchr(text, 'e');
    for (const char *at = text; at < mark; at++)
        if (isdigit((unsigned char)*at))
            d.digits[d.count++] = *at;
    d.exponent = (int)strtol(mark + 1, NULL, 10);
    return d;
}

/* A number and the count of its digits; the count is 0 if the fast path gave up. */
typedef struct short_number {
    uint32_t number;
    int count;
} short_number;

/* Rounds `s` to as few leading digits as stay closer to it than `h`. Gives up if a
 * comparison is too close to decide. */
static short_number shorten(double s, double h)
{
    uint32_t left = (uint32_t)s; /* the digits kept */
    uint32_t cut = 0;            /* the digits removed */
    double part = s - left;      /* the fraction behind them */
    short_number best = {left + (part > 0.5), DIGITS};
    bool tie = fabs(part - 0.5) < MARGIN;
    for (uint32_t unit = 10; best.count > 1; unit *= 10) {
        /* Move the last kept digit to the removed ones; s = left * unit + below. */
        cut += left % 10 * (unit / 10);
        left /= 10;
        double below = cut + part;
        bool up = 2 * below > unit;
        double distance = up ? unit - below : below;
        if (distance > h + MARGIN)
            break;
        if (distance > h - MARGIN)
            return (short_number){0, 0};
        tie = fabs(2 * below - unit) < MARGIN;
        best = (short_number){left + up, best.count - 1};
    }
    return tie ? (short_number){0, 0} : best;
}

/* Fills `d` with the digits of x; false if the fast path gave up. x is positive and not
 * a power of two. */
static bool find_digits(float x, decimal *d)
{
    double wide = (double)x;
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    int binary = (int)(bits >> 52) - 1023;
    int exponent = (binary * 78913) >> 18; /* log10(2) = 78913 / 2^18, nearly */
    if (wide * power_of_ten(PLAIN_MAX - exponent) >= 1e9)
        exponent++;
    double power = power_of_ten(PLAIN_MAX - exponent);
    uint64_t half_bits = (uint64_t)((binary < -126 ? -126 : binary) - 24 + 1023) << 52;
    double half;
    memcpy(&half, &half_bits, sizeof half);
    short_number found = shorten(wide * power, half * power);
    if (found.count == 1 && found.number == 10) { /* 9.7 was rounded up to 10 */
        found.number = 1;
        exponent++;
    }
    d->exponent = exponent;
    d->count = found.count;
    for (int i = found.count - 1; i >= 0; i--, found.number /= 10)
        d->digits[i] = (char)('0' + found.number % 10);
    return found.count > 0;
}

/* Both always write DIGITS bytes, because a copy of fixed size is faster; the text is
 * large enough for that. */
static char *put_digits(char *to, const char *digits, int count)
{
    memcpy(to, digits, DIGITS);
    return to + count;
}

static char *put_zeros(char *to, int count)
{
    memset(to, '0', DIGITS);
    return to + count;
}

static char *put_plain(char *to, const decimal *d)
{
    int whole = d->exponent + 1; /* digits before the decimal point */
    if (whole <= 0) {
        *to++ = '0';
        *to++ = '.';
        to = put_zeros(to, -whole);
        return put_digits(to, d->digits, d->count);
    }
    if (d->count <= whole) {
        to = put_digits(to, d->digits, d->count);
        return put_zeros(to, whole - d->count);
    }
    to = put_digits(to, d->digits, whole);
    *to++ = '.';
    return put_digits(to, d->digits + whole, d->count - whole);
}

static char *put_scientific(char *to, const decimal *d)
{
    *to++ = d->digits[0];
    if (d->count > 1) {
        *to++ = '.';
        to = put_digits(to, d->digits + 1, d->count - 1);
    }
    *to++ = 'e';
    int exponent = d->exponent;
    if (exponent < 0) {
        *to++ = '-';
        exponent = -exponent;
    }
    if (exponent >= 10)
        *to++ = (char)('0' + exponent / 10);
    *to++ = (char)('0' + exponent % 10);
    return to;
}

size_t tide_decimal_write(float value, char text[TIDE_DECIMAL_MAX])
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    char *to = text;
    if (bits >> 31)
        *to++ = '-';
    bits &= 0x7fffffff;
    if (bits >= 0x7f800000) {
        memcpy(to, bits == 0x7f800000 ? "inf" : "nan", 3);
        return (size_t)(to + 3 - text);
    }
    if (bits == 0) {
        *to++ = '0';
        return (size_t)(to - text);
    }
    float x;
    memcpy(&x, &bits, sizeof x);
    decimal d = {.count = 0};
    bool power_of_two = (bits & 0x7fffff) == 0;
    if (power_of_two || !find_digits(x, &d))
        d = format_exactly(x);
    bool plain = d.exponent >= PLAIN_MIN && d.exponent <= PLAIN_MAX;
    to = plain ? put_plain(to, &d) : put_scientific(to, &d);
    return (size_t)(to - text);
}

/* -- reading ----------------------------------------------------------------------- */

/* A parsed number: significand * 10^exponent, with up to 19 digits. */
typedef struct scanned {
    uint64_t significand;
    int exponent;
    bool negative;
    bool complete; /* no digit was dropped */
} scanned;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *scan_digits(const char *at, scanned *s, int weight)
{
    for (; is_digit(*at); at++) {
        if (s->significand < UINT64_C(1000000000000000000)) {
            s->significand = 10 * s->significand + (uint64_t)(*at - '0');
            s->exponent -= weight;
        } else {
            s->complete = false;
        }
    }
    return at;
}

static const char *scan_exponent(const char *at, scanned *s)
{
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    if (!is_digit(*at))
        return NULL;
    int exponent = 0;
    for (; is_digit(*at); at++)
        if (exponent < 100000)
            exponent = 10 * exponent + (*at - '0');
    s->exponent += negative ? -exponent : exponent;
    return at;
}

/* Returns a pointer to what follows the number; NULL if there is none. */
static const char *scan(const char *at, scanned *s)
{
    *s = (scanned){.negative = *at == '-', .complete = true};
    if (*at == '-' || *at == '+')
        at++;
    const char *first = at;
    at = scan_digits(at, s, 0);
    bool digits = at > first;
    if (*at == '.') {
        first = ++at;
        at = scan_digits(at, s, 1);
        digits = digits || at > first;
    }
    if (!digits)
        return NULL;
    return *at == 'e' || *at == 'E' ? scan_exponent(at + 1, s) : at;
}

/* Rounds a double to a float. False if it is too close to the midpoint of two floats,
 * or outside the range of normal floats. */
static bool round_double(double wide, float *value)
{
    enum { NEAR = 8 };
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    /* The 29 bits that a float drops; 0x10000000 is the midpoint. */
    int64_t distance = (int64_t)(bits & 0x1fffffff) - 0x10000000;
    if ((distance >= -NEAR && distance <= NEAR) || wide < 2 * (double)FLT_MIN ||
        wide > (double)FLT_MAX / 2)
        return false;
    *value = (float)wide;
    return true;
}

static float parse_exactly(const char *text)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return NAN;
    float value = strtof_l(text, NULL, c_locale);
    freelocale(c_locale);
    return value;
}

const char *tide_decimal_read(const char *text, float *value)
{
    scanned s;
    const char *end = scan(text, &s);
    if (!end)
        return NULL;
    if (s.complete && s.significand == 0) {
        *value = s.negative ? -0.0f : 0.0f;
        return end;
    }
    bool simple = s.complete && s.exponent >= POWER_MIN && s.exponent <= POWER_MAX;
    if (simple &&
        round_double((double)s.significand * power_of_ten(s.exponent), value)) {
        if (s.negative)
            *value = -*value;
        return end;
    }
    *value = parse_exactly(text);
    return isfinite(*value) ? end : NULL;
}
