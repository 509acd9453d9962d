/* detect_encoding.c - text in other encodings than UTF-8.
 *
 * UTF-16 and UTF-32. A byte order mark alone proves little: a line in another encoding,
 * or of garbage, may also start with the two bytes "\xff\xfe". So what follows has to
 * be valid in that encoding as well. Without a mark there must be zeros where the
 * encoding has them, and letters of an alphabet: a few zeros would turn ASCII into
 * ideographs.
 *
 * Eight bits. Latin-1, Windows-1252 and the like are recognized by what they are not:
 * there are bytes above 127, and invalid of them form UTF-8. They must occur in an
 * eighth of the lines, so that a few high words in a log do not cause a refusal, and in
 * at min two lines (three if more may follow), so that no single line decides about the
 * others.
 */
#include "detect/detect.h"

enum {
    UNITS_MIN = 8, /* of UTF-16, or 4 of UTF-32, needed to decide without a mark */
    UNITS_MAX = 512,
    ALPHABETS_END = 0x2100, /* letters and punctuation have code points below */
    UNUSUAL_RATIO = 20,     /* at most one unit in this many may be above */
    INVALID_RUNS_MIN = 4,   /* runs of bytes above 127 */
    LINE_RATIO = 8,         /* at min one line in this many has some */
};

/* -- UTF-16 and UTF-32 ------------------------------------------------------------- */

static uint32_t unit_at(const unsigned char *bytes, size_t width, bool big)
{
    uint32_t unit = 0;
    for (size_t i = 0; i < width; i++)
        unit |= (uint32_t)bytes[i] << 8 * (big ? width - 1 - i : i);
    return unit;
}

typedef struct units {
    size_t count;   /* all units */
    size_t ascii;   /* those below 128 */
    size_t unusual; /* those from ALPHABETS_END on */
    bool valid;     /* all are characters of text */
} units;

static units count_units(tide_head head, size_t width, bool big)
{
    units found = {.valid = true};
    size_t size = head.size / width;
    for (; found.count < size && found.count < UNITS_MAX; found.count++) {
        uint32_t unit = unit_at(head.bytes + found.count * width, width, big);
        bool control =
            unit < 0x20 ? tide_is_control((unsigned char)unit) : unit == 0x7f;
        bool invalid = unit > 0x10ffff || (unit & 0xfffe) == 0xfffe ||
                       (width == 4 && unit >= 0xd800 && unit <= 0xdfff);
        found.valid &= !control && !invalid;
        found.ascii += unit < 0x80;
        found.unusual += unit >= ALPHABETS_END;
    }
    return found;
}

/* Whether this is UTF-16 or UTF-32 without a byte order mark. */
static tide_match is_wide(tide_head head, size_t width, bool big)
{
    units found = count_units(head, width, big);
    size_t min = width == 2 ? UNITS_MIN : UNITS_MIN / 2;
    bool zeros = width == 4 || (memchr(head.bytes, 0, head.size) && found.ascii > 0);
    if (!found.valid || (found.count > 0 && !zeros))
        return TIDE_NO;
    if (found.count < min)
        return head.whole || found.count == 0 ? TIDE_NO : TIDE_MAYBE;
    return found.ascii * 10 >= found.count &&
                   found.unusual * UNUSUAL_RATIO <= found.count
               ? TIDE_YES
               : TIDE_NO;
}

tide_match tide_is_utf16_little(tide_head head)
{
    return is_wide(head, 2, false);
}

tide_match tide_is_utf16_big(tide_head head)
{
    return is_wide(head, 2, true);
}

tide_match tide_is_utf32_little(tide_head head)
{
    return is_wide(head, 4, false);
}

tide_match tide_is_utf32_big(tide_head head)
{
    return is_wide(head, 4, true);
}

/* Counts the bytes that are neither ASCII text nor part of valid UTF-8. */
static size_t count_non_text(const unsigned char *bytes, size_t size)
{
    size_t count = 0;
    for (size_t at = 0, step; at < size; at += step) {
        step = tide_utf8_length(bytes + at, size - at);
        count += step == 0 || (bytes[at] < 0x80 && tide_is_control(bytes[at]));
        step += step == 0;
    }
    return count;
}

/* A mark, followed by zeros, or by as many non-text bytes as ideographs have. */
tide_match tide_is_utf16(tide_head head)
{
    enum { MARK = 2, SIZE_MIN = 64, NON_TEXT_RATIO = 8 };
    if (head.size < MARK)
        return head.bytes[0] >= 0xfe && !head.whole ? TIDE_MAYBE : TIDE_NO;
    bool big = head.bytes[0] == 0xfe;
    if (unit_at(head.bytes, MARK, big) != 0xfeff)
        return TIDE_NO;
    head = (tide_head){head.bytes + MARK, head.size - MARK, head.whole};
    if (!count_units(head, 2, big).valid)
        return TIDE_NO;
    if (head.size >= SIZE_MIN || head.whole || memchr(head.bytes, 0, head.size))
        return count_non_text(head.bytes, head.size) * NON_TEXT_RATIO > head.size
                   ? TIDE_YES
                   : TIDE_NO;
    return TIDE_MAYBE;
}

tide_match tide_is_utf32(tide_head head)
{
    static const unsigned char little[] = {0xff, 0xfe, 0, 0},
                               big[] = {0, 0, 0xfe, 0xff};
    size_t size = head.size < 4 ? head.size : 4;
    if (memcmp(head.bytes, little, size) != 0 && memcmp(head.bytes, big, size) != 0)
        return TIDE_NO;
    return size == 4 ? TIDE_YES : head.whole ? TIDE_NO : TIDE_MAYBE;
}

/* -- 8-bit encodings --------------------------------------------------------------- */

tide_match tide_is_8bit(tide_head head)
{
    size_t runs = 0, lines = 0, high_lines = 0; /* high: with bytes above 127 */
    bool was_high = false, line_high = false;
    for (size_t at = 0; at < head.size; at++) {
        unsigned char c = head.bytes[at];
        bool high = c >= 0x80;
        if (tide_is_control(c) ||
            (high && tide_utf8_length(head.bytes + at, head.size - at)))
            return TIDE_NO; /* binary, or UTF-8 */
        runs += high && !was_high;
        line_high |= high;
        if (c == '\n' || at + 1 == head.size) {
            lines++;
            high_lines += line_high;
            line_high = false;
        }
        was_high = high;
    }
    bool several = high_lines > 2 || (head.whole && (high_lines > 1 || lines == 1));
    return runs >= INVALID_RUNS_MIN && several && high_lines * LINE_RATIO >= lines
               ? TIDE_YES
               : TIDE_NO;
}
