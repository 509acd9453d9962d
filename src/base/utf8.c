/* utf8.c - validating, cleaning, cutting and folding UTF-8.
 *
 * The range of the second byte rules out overlong forms, surrogates and code points
 * above U+10FFFF.
 */
#include "base/base.h"

#include <utf8proc.h>

size_t tide_utf8_length(const void *text, size_t left)
{
    const unsigned char *bytes = text;
    unsigned lead = bytes[0];
    if (lead < 0x80)
        return lead != 0;
    size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead < 0xc2 || lead > 0xf4 || length > left)
        return 0;
    unsigned min = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned max = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < min || bytes[1] > max)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (!tide_utf8_inside(bytes[i]))
            return 0;
    return length;
}

void tide_utf8_clean(char *text)
{
    char *to = text;
    while (*text) {
        size_t length = tide_utf8_length(text, 4);
        if (length && !tide_utf8_is_control(text)) {
            memmove(to, text, length);
            to += length;
        } else {
            *to++ = '?';
        }
        text += length ? length : 1;
    }
    *to = 0;
}

size_t tide_utf8_cut(const char *text, size_t length, size_t max)
{
    if (length <= max)
        return length;
    while (max > 0 && tide_utf8_inside((unsigned char)text[max]))
        max--;
    return max;
}

bool tide_utf8_fold(const char *word, char folded[TIDE_WORD_MAX + 1])
{
    /* On the stack, unlike utf8proc_map: for lack of memory a word would pass for one
     * that cannot be folded. What does not fit here is too long for a word. */
    enum { DECOMPOSED_MAX = 1024 };
    const utf8proc_option_t options = UTF8PROC_NULLTERM | UTF8PROC_COMPOSE |
                                      UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                                      UTF8PROC_IGNORE;
    utf8proc_int32_t text[DECOMPOSED_MAX + 1];
    utf8proc_ssize_t length = utf8proc_decompose((const utf8proc_uint8_t *)word, 0,
                                                 text, DECOMPOSED_MAX, options);
    if (length <= 0 || length > DECOMPOSED_MAX)
        return false;
    length = utf8proc_reencode(text, length, options); /* in place, and ends with a 0 */
    bool fits = length > 0 && length <= TIDE_WORD_MAX;
    if (fits)
        memcpy(folded, text, (size_t)length + 1);
    return fits;
}
