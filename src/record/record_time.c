/* record_time.c - a moment written as text, in seconds since 1970.
 *
 * The C library's functions for this depend on the locale, so they are not used.
 */
#include "record/record_internal.h"

#include <math.h>

/* Text that is being read, from `at` on. */
typedef struct moment {
    const unsigned char *at, *end;
} moment;

static bool accept(moment *m, char wanted)
{
    if (m->at == m->end || *m->at != (unsigned char)wanted)
        return false;
    m->at++;
    return true;
}

static bool digit(const moment *m)
{
    return m->at < m->end && *m->at >= '0' && *m->at <= '9';
}

/* A number of exactly `digits` digits; -1 when it is not one or above `most`. */
static int read_number(moment *m, int digits, int most)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        if (!digit(m))
            return -1;
        value = value * 10 + (*m->at++ - '0');
    }
    return value <= most ? value : -1;
}

/* Days since 1970 of a day in the Gregorian calendar. Years are counted from March, so
 * that the day that comes and goes is their last; 146097 days are 400 years. */
static int64_t days_since_1970(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* YYYY-MM-DD in days since 1970. */
static bool read_date(moment *m, int64_t *days)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = read_number(m, 4, 9999);
    if (year < 0 || !accept(m, '-'))
        return false;
    int month = read_number(m, 2, 12);
    if (month < 1 || !accept(m, '-'))
        return false;
    int length = lengths[month - 1] + (month == 2 && leap(year));
    int day = read_number(m, 2, length);
    if (day < 1)
        return false;
    *days = days_since_1970(year, month, day);
    return true;
}

/* The digits behind a decimal sign, as a fraction. */
static double read_fraction(moment *m)
{
    double value = 0, scale = 1;
    for (int i = 0; digit(m); i++, m->at++) {
        if (i < 15) {
            value = value * 10 + (*m->at - '0');
            scale *= 10;
        }
    }
    return value / scale;
}

/* HH:MM, HH:MM:SS or HH:MM:SS.FRACTION in seconds. */
static bool read_clock(moment *m, double *seconds)
{
    int hour = read_number(m, 2, 23);
    if (hour < 0 || !accept(m, ':'))
        return false;
    int minute = read_number(m, 2, 59);
    if (minute < 0)
        return false;
    *seconds = hour * 3600 + minute * 60;
    if (!accept(m, ':'))
        return true;
    int second = read_number(m, 2, 60); /* 60 in a leap second */
    if (second < 0)
        return false;
    *seconds += second;
    if (accept(m, '.') || accept(m, ',')) {
        if (!digit(m))
            return false;
        *seconds += read_fraction(m);
    }
    return true;
}

/* Z, +HH, +HHMM or +HH:MM or nothing, in seconds east of Greenwich. */
static bool read_offset(moment *m, int *seconds)
{
    *seconds = 0;
    if (m->at == m->end || accept(m, 'Z') || accept(m, 'z'))
        return true;
    int sign = accept(m, '+') ? 1 : accept(m, '-') ? -1 : 0;
    int hours = sign ? read_number(m, 2, 23) : -1, minutes = 0;
    if (hours < 0)
        return false;
    if (accept(m, ':') || m->at < m->end)
        minutes = read_number(m, 2, 59);
    *seconds = sign * (hours * 3600 + minutes * 60);
    return minutes >= 0;
}

static bool read_calendar(moment m, double *seconds)
{
    int64_t days;
    double clock = 0;
    int offset = 0;
    if (!read_date(&m, &days))
        return false;
    if (accept(&m, 'T') || accept(&m, 't') || accept(&m, ' ')) {
        if (!read_clock(&m, &clock) || !read_offset(&m, &offset))
            return false;
    }
    *seconds = (double)(days * 86400 - offset) + clock;
    return m.at == m.end;
}

/* Adds digits to a mantissa until it is full. Returns how many were not added. */
static int read_mantissa(moment *m, uint64_t *mantissa, int *digits)
{
    int lost = 0;
    for (*digits = 0; digit(m); m->at++) {
        if (*mantissa < UINT64_C(100000000000000000)) {
            *mantissa = *mantissa * 10 + (uint64_t)(*m->at - '0');
            ++*digits;
        } else if (lost < 1000) {
            lost++;
        }
    }
    return lost;
}

/* What is behind the e: a sign or none, and digits. */
static bool read_exponent(moment *m, int *exponent)
{
    int sign = accept(m, '-') ? -1 : 1, value = 0;
    if (sign > 0)
        accept(m, '+');
    if (!digit(m))
        return false;
    for (; digit(m); m->at++)
        value = value < 1000 ? value * 10 + (*m->at - '0') : value;
    *exponent = sign * value;
    return true;
}

/* A decimal number in seconds or milliseconds. */
static bool read_decimal(moment m, double *seconds)
{
    uint64_t mantissa = 0;
    int digits, places = 0, exponent = 0;
    bool negative = accept(&m, '-');
    int lost = read_mantissa(&m, &mantissa, &digits);
    if (digits == 0)
        return false;
    if (accept(&m, '.')) {
        read_mantissa(&m, &mantissa, &places);
        if (m.at[-1] == '.')
            return false;
    }
    if ((accept(&m, 'e') || accept(&m, 'E')) && !read_exponent(&m, &exponent))
        return false;
    int scale = lost - places + exponent;
    double value = (double)mantissa;
    value = scale < 0 ? value / pow(10, -scale) : value * pow(10, scale);
    if (m.at != m.end || !isfinite(value))
        return false;
    value = value > 1e11 ? value / 1000 : value;
    *seconds = negative ? -value : value;
    return true;
}

double tide_records_parse_time(const unsigned char *text, size_t size)
{
    moment m = {text, text + size};
    while (m.at < m.end && *m.at <= ' ')
        m.at++;
    while (m.end > m.at && m.end[-1] <= ' ')
        m.end--;
    double seconds;
    return read_decimal(m, &seconds) || read_calendar(m, &seconds) ? seconds
                                                                   : (double)NAN;
}
