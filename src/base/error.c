/* error.c - error messages.
 *
 * A message ends up on terminals, in logs and in JSON, and part of it is untrusted:
 * paths, words, names in files. So everything that could move a cursor or break the
 * line is replaced by '?': control characters (U+0000 to U+001F, U+007F to U+009F) and
 * bytes that are not UTF-8. A message that is too long loses its middle, because it
 * usually names the object at its start and the reason at its end.
 */
#include "base/base.h"

#include <errno.h>

/* The length in bytes of the code point that starts here; 0 if it is not valid UTF-8
 * (overlong, a surrogate, or above U+10FFFF). */
static size_t code_point(const unsigned char *s, uint32_t *value)
{
    static const uint32_t min[5] = {0, 0, 0x80, 0x800, 0x10000};
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
    bool valid = c >= min[length] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    return valid ? length : 0;
}

static void replace_unsafe(char *text)
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

/* Copies `text` into `capacity` bytes; "..." replaces its middle if it does not
 * copy_shortened. */
static void copy_shortened(char *to, size_t capacity, const char *text)
{
    static const char gap[] = "...";
    size_t length = strlen(text);
    if (length < capacity) {
        memcpy(to, text, length + 1);
        return;
    }
    size_t keep = capacity - sizeof gap;
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
    int saved_errno = errno; /* callers may inspect it afterwards */
    char text[4608];         /* the longest path and a sentence about it */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        text[0] = '\0';
    replace_unsafe(text);
    err->status = status;
    copy_shortened(err->text, sizeof err->text, text);
    errno = saved_errno;
    return status;
}
