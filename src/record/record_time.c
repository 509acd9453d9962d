/* record_time.c - parses timestamps into seconds since 1970.
 *
 * Does not use the C library's functions, because they depend on the locale.
 */
#include "record/record_internal.h"

#include <math.h>

/* The text that remains to be parsed. */
typedef struct cursor {
    const unsigned char *at, *end;
} cursor;

static bool accept(cursor *m, char expected)
{
    if (m->at == m->end || *m->at != (unsigned char)expected)
        return false;
    m->at++;
    return true;
}

static bool at_digit(const cursor *m)
{
    return m->at < m->end && *m->at >= '0' && *m->at <= '9';
}

/* Parses a number of exactly `digits` digits; -1 if there is none or it exceeds
 * `max`. */
static int parse_number(cursor *m, int digits, int max)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        if (!at_digit(m))
            return -1;
        value = value * 10 + (*m->at++ - '0');
    }
    return value <= max ? value : -1;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar. Years start in March, so
 * that the leap day is the last day of its year; 400 years have 146097 days. */
static int64_t days_since_1970(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
           day_of_year - 719468;
}

static bool is_leap_year(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Parses YYYY-MM-DD into days since 1970. */
static bool parse_date(cursor *m, int64_t *days)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = parse_number(m, 4, 9999);
    if (year < 0 || !accept(m, '-'))
        return false;
    int month = parse_number(m, 2, 12);
    if (month < 1 || !accept(m, '-'))
        return false;
    int length = lengths[month - 1] + (month == 2 && is_leap_year(year));
    int day = parse_number(m, 2, length);
    if (day < 1)
        return false;
    *days = days_since_1970(year, month, day);
    return true;
}

/* Parses the digits after a decimal point. */
static double parse_fraction(cursor *m)
{
    double value = 0, scale = 1;
    for (int i = 0; at_digit(m); i++, m->at++) {
        if (i < 15) {
            value = value * 10 + (*m->at - '0');
            scale *= 10;
        }
    }
    return value / scale;
}

/* Parses HH:MM, HH:MM:SS or HH:MM:SS.FRACTION into seconds. */
static bool parse_time_of_day(cursor *m, double *seconds)
{
    int hour = parse_number(m, 2, 23);
    if (hour < 0 || !accept(m, ':'))
        return false;
    int minute = parse_number(m, 2, 59);
    if (minute < 0)
        return false;
    *seconds = hour * 3600 + minute * 60;
    if (!accept(m, ':'))
        return true;
    int second = parse_number(m, 2, 60); /* 60 is a leap second */
    if (second < 0)
        return false;
    *seconds += second;
    if (accept(m, '.') || accept(m, ',')) {
        if (!at_digit(m))
            return false;
        *seconds += parse_fraction(m);
    }
    return true;
}

/* Parses Z, +HH, +HHMM, +HH:MM or nothing into seconds east of UTC. */
static bool parse_offset(cursor *m, int *seconds)
{
    *seconds = 0;
    if (m->at == m->end || accept(m, 'Z') || accept(m, 'z'))
        return true;
    int sign = accept(m, '+') ? 1 : accept(m, '-') ? -1 : 0;
    int hours = sign ? parse_number(m, 2, 23) : -1, minutes = 0;
    if (hours < 0)
        return false;
    if (accept(m, ':') || m->at < m->end)
        minutes = parse_number(m, 2, 59);
    *seconds = sign * (hours * 3600 + minutes * 60);
    return minutes >= 0;
}

static bool parse_iso8601(cursor m, double *seconds)
{
    int64_t days;
    double time_of_day = 0;
    int offset = 0;
    if (!parse_date(&m, &days))
        return false;
    if (accept(&m, 'T') || accept(&m, 't') || accept(&m, ' ')) {
        if (!parse_time_of_day(&m, &time_of_day) || !parse_offset(&m, &offset))
            return false;
    }
    *seconds = (double)(days * 86400 - offset) + time_of_day;
    return m.at == m.end;
}

/* Appends digits to a mantissa of at most 18 digits; *digits counts them. Returns the
 * number of digits that did not fit (at most 1000). */
static int parse_digits(cursor *m, uint64_t *mantissa, int *digits)
{
    int dropped = 0;
    for (*digits = 0; at_digit(m); m->at++) {
        if (*mantissa < UINT64_C(100000000000000000)) {
            *mantissa = *mantissa * 10 + (uint64_t)(*m->at - '0');
            ++*digits;
        } else if (dropped < 1000) {
            dropped++;
        }
    }
    return dropped;
}

/* Parses an optional sign and digits. */
static bool parse_exponent(cursor *m, int *exponent)
{
    int sign = accept(m, '-') ? -1 : 1, value = 0;
    if (sign > 0)
        accept(m, '+');
    if (!at_digit(m))
        return false;
    for (; at_digit(m); m->at++)
        value = value < 1000 ? value * 10 + (*m->at - '0') : value;
    *exponent = sign * value;
    return true;
}

/* Parses a decimal number of seconds, or of milliseconds if above 10^11. */
static bool parse_decimal(cursor m, double *seconds)
{
    uint64_t mantissa = 0;
    int digits, places = 0, exponent = 0;
    bool negative = accept(&m, '-');
    int dropped = parse_digits(&m, &mantissa, &digits);
    if (digits == 0)
        return false;
    if (accept(&m, '.')) {
        parse_digits(&m, &mantissa, &places);
        if (m.at[-1] == '.')
            return false;
    }
    if ((accept(&m, 'e') || accept(&m, 'E')) && !parse_exponent(&m, &exponent))
        return false;
    int scale = dropped - places + exponent;
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
    cursor m = {text, text + size};
    while (m.at < m.end && *m.at <= ' ')
        m.at++;
    while (m.end > m.at && m.end[-1] <= ' ')
        m.end--;
    double seconds;
    return parse_decimal(m, &seconds) || parse_iso8601(m, &seconds) ? seconds
                                                                    : (double)NAN;
}
