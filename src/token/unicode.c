/* unicode.c - code points, and what they are to a tokenizer.
 *
 * Classes come from the general category and a few exceptions. An emoji is a grapheme
 * cluster that begins with a pictograph, a flag's letter or a keycap.
 */
#include "token/split.h"

#include <utf8proc.h>

/* -- code points ------------------------------------------------------------------- */

/* U+007F to U+009F are controls, which no word has. */
size_t tide_code_point(const unsigned char *bytes, size_t left)
{
    bool control =
        bytes[0] == 0x7f || (bytes[0] == 0xc2 && left > 1 && bytes[1] < 0xa0);
    return control ? 0 : tide_utf8_length(bytes, left);
}

/* -- classes ----------------------------------------------------------------------- */

#define D TIDE_DIGIT
#define L TIDE_LETTER
#define S TIDE_SEPARATOR

const uint8_t tide_ascii_classes[128] = {
    ['\''] = TIDE_APOSTROPHE,
    [','] = TIDE_POINT,
    ['.'] = TIDE_POINT,
    ['0'] = D,
    D,
    D,
    D,
    D,
    D,
    D,
    D,
    D,
    D,
    ['A'] = L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    ['_'] = TIDE_JOINER,
    ['a'] = L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
    L,
};

static const uint8_t category_classes[] = {
    [UTF8PROC_CATEGORY_LU] = L,         [UTF8PROC_CATEGORY_LL] = L,
    [UTF8PROC_CATEGORY_LT] = L,         [UTF8PROC_CATEGORY_LM] = L,
    [UTF8PROC_CATEGORY_LO] = L,         [UTF8PROC_CATEGORY_MN] = TIDE_MARK,
    [UTF8PROC_CATEGORY_MC] = TIDE_MARK, [UTF8PROC_CATEGORY_ME] = TIDE_MARK,
    [UTF8PROC_CATEGORY_ND] = D,         [UTF8PROC_CATEGORY_NL] = D,
    [UTF8PROC_CATEGORY_NO] = D,         [UTF8PROC_CATEGORY_PC] = TIDE_JOINER,
    [UTF8PROC_CATEGORY_CO] = S,
};

/* Where the category does not say enough: the class. */
static const tide_code_range exceptions[] = {
    {0x00b7, 0x00b7, TIDE_APOSTROPHE}, /* Catalan l·l */
    {0x02bc, 0x02bc, TIDE_APOSTROPHE},
    {0x066b, 0x066c, TIDE_POINT}, /* Arabic */
    {0x200b, 0x200b, S},          /* zero width, but a space */
    {0x2019, 0x2019, TIDE_APOSTROPHE},
    {0x2f00, 0x2fd5, TIDE_ALONE}, /* radicals */
    {0x3005, 0x3007, TIDE_ALONE},
    {0x3021, 0x3029, TIDE_ALONE},
    {0x3038, 0x303b, TIDE_ALONE},
    {0x3041, 0x3096, TIDE_ALONE}, /* hiragana */
    {0x309d, 0x309f, TIDE_ALONE},
    {0x30a1, 0x30fa, TIDE_ALONE}, /* katakana */
    {0x30fc, 0x30ff, TIDE_ALONE},
    {0x31f0, 0x31ff, TIDE_ALONE},
    {0x3400, 0x4dbf, TIDE_ALONE},
    {0x4e00, 0x9fff, TIDE_ALONE},
    {0xf900, 0xfad9, TIDE_ALONE},
    {0xff07, 0xff07, TIDE_APOSTROPHE}, /* full width */
    {0xff0c, 0xff0c, TIDE_POINT},
    {0xff0e, 0xff0e, TIDE_POINT},
    {0xff66, 0xff9d, TIDE_ALONE},
    {0xff9e, 0xff9f, TIDE_MARK}, /* half-width voicing marks */
    {0x1aff0, 0x1b167, TIDE_ALONE},
    {0x20000, 0x3fffd, TIDE_ALONE},
};

#undef D
#undef L
#undef S

static tide_class classify(uint32_t code)
{
    if (code >= 0xac00 && code <= 0xd7a3) /* Hangul: sooner than by looking */
        return TIDE_LETTER;
    const tide_code_range *r =
        tide_code_range_find(exceptions, sizeof exceptions / sizeof *exceptions, code);
    if (r)
        return (tide_class)r->value;
    const utf8proc_property_t *p = utf8proc_get_property((utf8proc_int32_t)code);
    if (p->ignorable)
        return TIDE_IGNORED;
    size_t category = (size_t)p->category;
    return category < sizeof category_classes ? (tide_class)category_classes[category]
                                              : TIDE_SEPARATOR;
}

tide_char tide_char_decode(const unsigned char *bytes, size_t left)
{
    enum { REPLACEMENT = 0xfffd };
    size_t length = tide_code_point(bytes, left);
    if (length == 0)
        return tide_char_broken(bytes, left, 0)
                   ? (tide_char){REPLACEMENT, 1, TIDE_LETTER}
                   : (tide_char){0, 0, TIDE_SEPARATOR};
    uint32_t code = tide_code_point_decode(bytes, length);
    return (tide_char){code, (uint32_t)length, classify(code)};
}

/* -- emoji ------------------------------------------------------------------------- */

enum {
    KEYCAP = 0x20e3,
    FIRST_SURE = 0x231a, /* pictographs before it are signs of text: (c), arrows */
};

static bool begins_emoji(const unsigned char *text, size_t size, size_t at, tide_char c)
{
    tide_char next = tide_char_at(text, size, at + c.length);
    if (c.code < 0x80) {
        if (c.class != TIDE_DIGIT && c.code != '#' && c.code != '*')
            return false;
        if (next.code == TIDE_EMOJI_STYLE)
            next = tide_char_at(text, size, at + c.length + next.length);
        return next.code == KEYCAP;
    }
    unsigned bound = utf8proc_get_property((utf8proc_int32_t)c.code)->boundclass;
    if (bound == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR)
        return true;
    return bound == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC &&
           (c.code >= FIRST_SURE || next.code == TIDE_EMOJI_STYLE);
}

size_t tide_emoji_end(const unsigned char *text, size_t size, size_t at)
{
    tide_char c = tide_char_at(text, size, at);
    if (c.length == 0 || !begins_emoji(text, size, at, c))
        return at;
    utf8proc_int32_t state = 0;
    for (;;) {
        at += c.length;
        tide_char next = tide_char_at(text, size, at);
        if (next.length == 0 ||
            utf8proc_grapheme_break_stateful((utf8proc_int32_t)c.code,
                                             (utf8proc_int32_t)next.code, &state))
            return at;
        c = next;
    }
}
