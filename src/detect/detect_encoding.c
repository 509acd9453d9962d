/* detect_encoding.c - text in other encodings than UTF-8.
 *
 * UTF-16 and UTF-32. A byte order mark alone proves little: it is also "\xff\xfe", two bytes
 * that a line of text in another encoding, or of nonsense, may begin with. What follows has to
 * be of that encoding as well. Without a mark there must be zeros where the encoding has
 * them, and letters of an alphabet: a few zeros would make ideographs of ASCII.
 *
 * Eight bits. Latin-1, Windows-1252 and the like are told by what they are not: there are
 * bytes above 127, and none of them is UTF-8. They must be in an eighth of the lines, so that
 * a few broken words in a log are no reason to refuse it, and in two lines at least (three if
 * more may come), so that the author of one line does not decide about the others.
 */
#include "detect/detect.h"

enum {
    UNITS_LEAST = 8, /* of UTF-16, or 4 of UTF-32, that are judged without a mark */
    UNITS_MOST = 512,
    ALPHABETS = 0x2100, /* code points of letters and punctuation are below */
    STRANGE = 20,       /* one in so many may be above */
    PLACES = 4,         /* of broken bytes */
    RARITY = 8,         /* one line in so many has some */
};

/* -- two and four bytes a character ------------------------------------------------- */

static uint32_t unit_at(const unsigned char *bytes, size_t width, bool big)
{
    uint32_t unit = 0;
    for (size_t i = 0; i < width; i++)
        unit |= (uint32_t)bytes[i] << 8 * (big ? width - 1 - i : i);
    return unit;
}

typedef struct units {
    size_t count, ascii, strange; /* in all; below 128; above ALPHABETS */
    bool valid;                   /* they are characters of text */
} units;

static units look_at(tide_head head, size_t width, bool big)
{
    units found = {.valid = true};
    size_t size = head.size / width;
    for (; found.count < size && found.count < UNITS_MOST; found.count++) {
        uint32_t unit = unit_at(head.bytes + found.count * width, width, big);
        bool control =
            unit < 0x20 ? tide_is_control((unsigned char)unit) : unit == 0x7f;
        bool none = unit > 0x10ffff || (unit & 0xfffe) == 0xfffe ||
                    (width == 4 && unit >= 0xd800 && unit <= 0xdfff);
        found.valid &= !control && !none;
        found.ascii += unit < 0x80;
        found.strange += unit >= ALPHABETS;
    }
    return found;
}

/* Without a mark. */
static tide_match is_wide(tide_head head, size_t width, bool big)
{
    units found = look_at(head, width, big);
    size_t least = width == 2 ? UNITS_LEAST : UNITS_LEAST / 2;
    bool zeros = width == 4 || (memchr(head.bytes, 0, head.size) && found.ascii > 0);
    if (!found.valid || (found.count > 0 && !zeros))
        return TIDE_NO;
    if (found.count < least)
        return head.whole || found.count == 0 ? TIDE_NO : TIDE_MAYBE;
    return found.ascii * 10 >= found.count && found.strange * STRANGE <= found.count
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

/* How many bytes are neither ASCII text nor UTF-8. */
static size_t odd_bytes(const unsigned char *bytes, size_t size)
{
    size_t odd = 0;
    for (size_t at = 0, step; at < size; at += step) {
        step = tide_utf8_length(bytes + at, size - at);
        odd += step == 0 || (bytes[at] < 0x80 && tide_is_control(bytes[at]));
        step += step == 0;
    }
    return odd;
}

/* A mark, and behind it zeros, or as many bytes that are no text as ideographs have. */
tide_match tide_is_utf16(tide_head head)
{
    enum { MARK = 2, ENOUGH = 64, RARE = 8 };
    if (head.size < MARK)
        return head.bytes[0] >= 0xfe && !head.whole ? TIDE_MAYBE : TIDE_NO;
    bool big = head.bytes[0] == 0xfe;
    if (unit_at(head.bytes, MARK, big) != 0xfeff)
        return TIDE_NO;
    head = (tide_head){head.bytes + MARK, head.size - MARK, head.whole};
    if (!look_at(head, 2, big).valid)
        return TIDE_NO;
    if (head.size >= ENOUGH || head.whole || memchr(head.bytes, 0, head.size))
        return odd_bytes(head.bytes, head.size) * RARE > head.size ? TIDE_YES : TIDE_NO;
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

/* -- one byte a character ------------------------------------------------------------- */

tide_match tide_is_8bit(tide_head head)
{
    size_t places = 0, lines = 0, broken_lines = 0;
    bool was_broken = false, line_broken = false;
    for (size_t at = 0; at < head.size; at++) {
        unsigned char c = head.bytes[at];
        bool broken = c >= 0x80;
        if (tide_is_control(c) ||
            (broken && tide_utf8_length(head.bytes + at, head.size - at)))
            return TIDE_NO; /* binary, or UTF-8 */
        places += broken && !was_broken;
        line_broken |= broken;
        if (c == '\n' || at + 1 == head.size) {
            lines++;
            broken_lines += line_broken;
            line_broken = false;
        }
        was_broken = broken;
    }
    bool several = broken_lines > 2 || (head.whole && (broken_lines > 1 || lines == 1));
    return places >= PLACES && several && broken_lines * RARITY >= lines ? TIDE_YES
                                                                         : TIDE_NO;
}
