/* unicode.c - code points and their classes for the tokenizer.
 *
 * A class is derived from the general category, with a few exceptions. An emoji is a
 * grapheme cluster that begins with a pictograph, a regional indicator or a keycap.
 */
#include "token/split.h"

#include <utf8proc.h>

/* -- code points ------------------------------------------------------------------- */

/* U+007F to U+009F are control characters, which are never part of a word. */
size_t tide_code_point_length(const unsigned char *bytes, size_t left)
{
    bool control =
        bytes[0] == 0x7f || (bytes[0] == 0xc2 && left > 1 && bytes[1] < 0xa0);
    return control ? 0 : tide_utf8_length(bytes, left);
}

/* -- classes ----------------------------------------------------------------------- */

#define D TIDE_DIGIT
#define L TIDE_LETTER
#define S TIDE_SEPARATOR
#define A TIDE_APOSTROPHE
#define J TIDE_JOINER
#define P TIDE_POINT

/* clang-format off */
const uint8_t tide_ascii_classes[128] = {
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, /* 0x00 */
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, /* 0x10 */
    S, S, S, S, S, S, S, A, S, S, S, S, P, S, P, S, /* 0x20 */
    D, D, D, D, D, D, D, D, D, D, S, S, S, S, S, S, /* 0x30 */
    S, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* 0x40 */
    L, L, L, L, L, L, L, L, L, L, L, S, S, S, S, J, /* 0x50 */
    S, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* 0x60 */
    L, L, L, L, L, L, L, L, L, L, L, S, S, S, S, S, /* 0x70 */
};
/* clang-format on */

static const uint8_t category_classes[] = {
    [UTF8PROC_CATEGORY_LU] = L,         [UTF8PROC_CATEGORY_LL] = L,
    [UTF8PROC_CATEGORY_LT] = L,         [UTF8PROC_CATEGORY_LM] = L,
    [UTF8PROC_CATEGORY_LO] = L,         [UTF8PROC_CATEGORY_MN] = TIDE_MARK,
    [UTF8PROC_CATEGORY_MC] = TIDE_MARK, [UTF8PROC_CATEGORY_ME] = TIDE_MARK,
    [UTF8PROC_CATEGORY_ND] = D,         [UTF8PROC_CATEGORY_NL] = D,
    [UTF8PROC_CATEGORY_NO] = D,         [UTF8PROC_CATEGORY_PC] = TIDE_JOINER,
    [UTF8PROC_CATEGORY_CO] = S,
};

/* Code points whose class differs from that of their general category. */
static const tide_code_range exceptions[] = {
    {0x00b7, 0x00b7, TIDE_APOSTROPHE}, /* Catalan l·l */
    {0x02bc, 0x02bc, TIDE_APOSTROPHE},
    {0x066b, 0x066c, TIDE_POINT}, /* Arabic */
    {0x200b, 0x200b, S},          /* zero-width space */
    {0x2019, 0x2019, TIDE_APOSTROPHE},
    {0x2f00, 0x2fd5, TIDE_IDEOGRAPH}, /* radicals */
    {0x3005, 0x3007, TIDE_IDEOGRAPH},
    {0x3021, 0x3029, TIDE_IDEOGRAPH},
    {0x3038, 0x303b, TIDE_IDEOGRAPH},
    {0x3041, 0x3096, TIDE_IDEOGRAPH}, /* hiragana */
    {0x309d, 0x309f, TIDE_IDEOGRAPH},
    {0x30a1, 0x30fa, TIDE_IDEOGRAPH}, /* katakana */
    {0x30fc, 0x30ff, TIDE_IDEOGRAPH},
    {0x31f0, 0x31ff, TIDE_IDEOGRAPH},
    {0x3400, 0x4dbf, TIDE_IDEOGRAPH},
    {0x4e00, 0x9fff, TIDE_IDEOGRAPH},
    {0xf900, 0xfad9, TIDE_IDEOGRAPH},
    {0xff07, 0xff07, TIDE_APOSTROPHE}, /* full width */
    {0xff0c, 0xff0c, TIDE_POINT},
    {0xff0e, 0xff0e, TIDE_POINT},
    {0xff66, 0xff9d, TIDE_IDEOGRAPH},
    {0xff9e, 0xff9f, TIDE_MARK}, /* half-width voicing marks */
    {0x1aff0, 0x1b167, TIDE_IDEOGRAPH},
    {0x20000, 0x3fffd, TIDE_IDEOGRAPH},
};

#undef D
#undef L
#undef S
#undef A
#undef J
#undef P

static tide_char_class classify(uint32_t code)
{
    if (code >= 0xac00 && code <= 0xd7a3) /* Hangul: a shortcut past the lookups */
        return TIDE_LETTER;
    const tide_code_range *r =
        tide_code_range_find(exceptions, sizeof exceptions / sizeof *exceptions, code);
    if (r)
        return (tide_char_class)r->value;
    const utf8proc_property_t *p = utf8proc_get_property((utf8proc_int32_t)code);
    if (p->ignorable)
        return TIDE_IGNORED;
    size_t category = (size_t)p->category;
    return category < sizeof category_classes
               ? (tide_char_class)category_classes[category]
               : TIDE_SEPARATOR;
}

tide_char tide_char_decode(const unsigned char *bytes, size_t left)
{
    enum { REPLACEMENT = 0xfffd };
    size_t length = tide_code_point_length(bytes, left);
    if (length == 0)
        return tide_char_is_invalid(bytes, left, 0)
                   ? (tide_char){REPLACEMENT, 1, TIDE_LETTER}
                   : (tide_char){0, 0, TIDE_SEPARATOR};
    uint32_t code = tide_code_point_decode(bytes, length);
    return (tide_char){code, (uint32_t)length, classify(code)};
}

/* -- emoji ------------------------------------------------------------------------- */

enum {
    KEYCAP = 0x20e3,
    FIRST_EMOJI = 0x231a, /* earlier pictographs are text by default: (c), arrows */
};

static bool is_emoji_start(const unsigned char *text, size_t size, size_t at,
                           tide_char c)
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
           (c.code >= FIRST_EMOJI || next.code == TIDE_EMOJI_STYLE);
}

size_t tide_emoji_end(const unsigned char *text, size_t size, size_t at)
{
    tide_char c = tide_char_at(text, size, at);
    if (c.length == 0 || !is_emoji_start(text, size, at, c))
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
