/* error.c - how a failure is described.
 *
 * The text ends up on terminals, in logs and in JSON, and part of it comes from
 * outside: paths, words, names in files. So whatever could move a cursor or break the
 * line is shown as '?': control characters (U+0000 to U+001F, U+007F to U+009F) and
 * bytes that are not UTF-8. A text that is too long loses its middle, because the thing
 * at fault is usually named at its beginning and the reason at its end.
 */
#include "base/base.h"

#include <errno.h>

/* The length in bytes of the code point that begins here; 0 when none does. Overlong
 * forms, surrogates and numbers above U+10FFFF do not occur in UTF-8. */
static size_t code_point(const unsigned char *s, uint32_t *value)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80                   ? 1
                    : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                    : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                    : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                  : 0;
    if (length == 0)
        return 0;
    uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) /* also the end of the text */
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    *value = c;
    bool valid = c >= least[length] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    return valid ? length : 0;
}

static void make_safe(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        uint32_t c = 0;
        size_t length = code_point((const unsigned char *)from, &c);
        if (length == 0 || c < 0x20 || (c >= 0x7f && c <= 0x9f)) {
            *to++ = '?';
            from += length ? length : 1;
        } else {
            memmove(to, from, length);
            to += length;
            from += length;
        }
    }
    *to = '\0';
}

/* Copies `text` into `room` bytes; what does not fit is left out of its middle. */
static void fit(char *to, size_t room, const char *text)
{
    static const char gap[] = "...";
    size_t length = strlen(text);
    if (length < room) {
        memcpy(to, text, length + 1);
        return;
    }
    size_t keep = room - sizeof gap;
    size_t head = tide_utf8_cut(text, length, keep / 2);
    const char *tail = text + length - (keep - keep / 2);
    while (tide_utf8_inside((unsigned char)*tail))
        tail++;
    memcpy(to, text, head);
    memcpy(to + head, gap, sizeof gap - 1);
    memcpy(to + head + sizeof gap - 1, tail, strlen(tail) + 1);
}

int tide_fail(tide_error *err, tide_status status, const char *format, ...)
{
    if (!err)
        return status;
    int kept = errno; /* a caller may still want to look at it */
    char text[4608];  /* the longest path there is, and a sentence about it */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        text[0] = '\0';
    make_safe(text);
    err->status = status;
    fit(err->text, sizeof err->text, text);
    errno = kept;
    return status;
}
