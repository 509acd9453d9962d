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

/* Copies `text` into `capacity` bytes. If it does not fit, "..." replaces its
 * middle. */
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
    tide_utf8_clean(text);
    err->status = status;
    copy_shortened(err->text, sizeof err->text, text);
    errno = saved_errno;
    return status;
}
