/* unicode.c - code points, what they are to a tokenizer, and how words are folded.
 *
 * Classes come from the general category and a few exceptions. Folding is NFKC with
 * full case folding and without ignorable code points, as utf8proc does it, and then:
 *
 *  - apostrophes become ';
 *  - white space and controls that a letter decomposes to are left out;
 *  - a word that would more than triple its bytes stays as it is. Only a few ligatures
 *    that stand for whole phrases do (U+FDFA), and the bound lets the tokenizer promise
 *    its memory;
 *  - a word whose folded form does not fit is folded without its last code points.
 */
#include "tokens.h"

#include <utf8proc.h>

enum {
    DECOMPOSED_MAX = 256, /* code points; no word that fits has nearly so many */
    GROWTH_MAX = 3,
};

/* -- code points ------------------------------------------------------------------- */

static bool continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The second byte's range is what rules out overlong forms, surrogates, U+0080 to
 * U+009F and all above U+10FFFF. */
size_t tide_code_point(const unsigned char *bytes, size_t left)
{
    unsigned lead = bytes[0];
    if (lead < 0x80)
        return lead != 0x7f;
    size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead < 0xc2 || lead > 0xf4 || length > left)
        return 0;
    unsigned least = lead == 0xc2 || lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < least || bytes[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (!continues(bytes[i]))
            return 0;
    return length;
}

static uint32_t decode(const unsigned char *bytes, size_t length)
{
    static const uint8_t lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = bytes[0] & lead_bits[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (bytes[i] & 0x3f);
    return code;
}

static size_t encode(uint32_t code, unsigned char bytes[4])
{
    return (size_t)utf8proc_encode_char((utf8proc_int32_t)code, bytes);
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

typedef struct range {
    uint32_t first, last;
    int value;
} range;

/* The range that has the code point, of a sorted table; NULL when there is none. */
static const range *find_range(const range *table, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code > table[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code >= table[low].first ? &table[low] : NULL;
}

/* Where the category does not say enough: the class. */
static const range exceptions[] = {
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
    const range *r =
        find_range(exceptions, sizeof exceptions / sizeof *exceptions, code);
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
    size_t length = tide_code_point(bytes, left);
    if (length == 0)
        return (tide_char){0, 0, TIDE_SEPARATOR};
    uint32_t code = decode(bytes, length);
    return (tide_char){code, (uint32_t)length, classify(code)};
}

/* -- emoji ------------------------------------------------------------------------- */

enum {
    TEXT_STYLE = 0xfe0e,
    EMOJI_STYLE = 0xfe0f,
    KEYCAP = 0x20e3,
    FIRST_SURE = 0x231a, /* pictographs before it are signs of text: (c), arrows */
};

static bool begins_emoji(const unsigned char *text, size_t size, size_t at, tide_char c)
{
    tide_char next = tide_char_at(text, size, at + c.length);
    if (c.code < 0x80) {
        if (c.class != TIDE_DIGIT && c.code != '#' && c.code != '*')
            return false;
        if (next.code == EMOJI_STYLE)
            next = tide_char_at(text, size, at + c.length + next.length);
        return next.code == KEYCAP;
    }
    unsigned bound = utf8proc_get_property((utf8proc_int32_t)c.code)->boundclass;
    if (bound == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR)
        return true;
    return bound == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC &&
           (c.code >= FIRST_SURE || next.code == EMOJI_STYLE);
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

static size_t fold_emoji(const unsigned char *word, size_t length,
                         unsigned char folded[TIDE_WORD_MAX], size_t *used)
{
    size_t size = 0, at = 0, step;
    for (; at < length; at += step) {
        step = tide_code_point(word + at, length - at);
        uint32_t code = decode(word + at, step);
        if (code == TEXT_STYLE || code == EMOJI_STYLE)
            continue;
        if (size + step > TIDE_WORD_MAX)
            break;
        memcpy(folded + size, word + at, step);
        size += step;
    }
    *used = at;
    return size;
}

/* -- folding ----------------------------------------------------------------------- */

static bool stays(uint32_t code)
{
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
        return false;
    default:
        return true;
    }
}

/* The whole word, folded; more than TIDE_WORD_MAX when it does not fit. */
static size_t fold_whole(const unsigned char *word, size_t length,
                         unsigned char folded[TIDE_WORD_MAX])
{
    const utf8proc_option_t options =
        UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;
    utf8proc_int32_t codes[DECOMPOSED_MAX];
    utf8proc_ssize_t count = utf8proc_decompose(word, (utf8proc_ssize_t)length, codes,
                                                DECOMPOSED_MAX, options);
    if (count < 0 || count > DECOMPOSED_MAX)
        return TIDE_WORD_MAX + 1;
    count = utf8proc_normalize_utf32(codes, count, options);
    size_t size = 0;
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        unsigned char bytes[4];
        uint32_t code = (uint32_t)codes[i];
        if (!stays(code))
            continue;
        size_t step = encode(code == 0x2019 || code == 0x02bc ? '\'' : code, bytes);
        if (size + step > TIDE_WORD_MAX)
            return TIDE_WORD_MAX + 1;
        memcpy(folded + size, bytes, step);
        size += step;
    }
    return size;
}

/* Letters that fold by themselves and to one code point, whatever is beside them as
 * long as that is of this table, too: the distance. */
static const range simple[] = {
    {0x0000, 0x0040, 0},
    {0x0041, 0x005a, 32},
    {0x005b, 0x007e, 0},
    {0x00c0, 0x00d6, 32},
    {0x00d8, 0x00de, 32},
    {0x00e0, 0x00f6, 0},
    {0x00f8, 0x00ff, 0},
    {0x0391, 0x03a1, 32},
    {0x03a3, 0x03a9, 32},
    {0x03ac, 0x03af, 0},
    {0x03b1, 0x03c1, 0},
    {0x03c3, 0x03ce, 0},
    {0x0410, 0x042f, 32},
    {0x0430, 0x045f, 0},
    {0x05d0, 0x05ea, 0},
    {0x0621, 0x063a, 0},
    {0x0641, 0x064a, 0},
    {0x0e01, 0x0e32, 0},
    {0x2019, 0x2019, '\'' - 0x2019},
    {0x3041, 0x3094, 0},
    {0x30a1, 0x30fa, 0},
    {0x3400, 0x4db5, 0},
    {0x4e00, 0x9fef, 0},
    {0xac00, 0xd7a3, 0},
};

/* The same for words of such letters, which most are, many times faster; 0 for
 * others. */
static size_t fold_simple(const unsigned char *word, size_t length,
                          unsigned char folded[TIDE_WORD_MAX])
{
    size_t size = 0, step;
    if (length > TIDE_WORD_MAX)
        return 0;
    for (size_t at = 0; at < length; at += step) {
        step = tide_code_point(word + at, length - at);
        uint32_t code = decode(word + at, step);
        const range *r = find_range(simple, sizeof simple / sizeof *simple, code);
        if (!r)
            return 0;
        unsigned char bytes[4];
        size_t bytes_size = encode((uint32_t)((int)code + r->value), bytes);
        memcpy(folded + size, bytes, bytes_size);
        size += bytes_size;
    }
    return size;
}

/* At most `length`, moved back to where a code point of the word begins. */
static size_t whole_points(const unsigned char *word, size_t length)
{
    while (length > 0 && continues(word[length]))
        length--;
    return length;
}

/* Finds the longest beginning of the word whose folded form fits, by halving. */
static size_t fold_beginning(const unsigned char *word, size_t length,
                             unsigned char folded[TIDE_WORD_MAX], size_t *used)
{
    size_t fits = 0, too_long = length;
    for (;;) {
        size_t middle = whole_points(word, (fits + too_long) / 2);
        if (middle <= fits)
            for (middle = fits + 1; middle < too_long && continues(word[middle]);)
                middle++;
        if (middle >= too_long)
            break;
        if (fold_whole(word, middle, folded) <= TIDE_WORD_MAX)
            fits = middle;
        else
            too_long = middle;
    }
    *used = fits;
    return fits ? fold_whole(word, fits, folded) : 0;
}

size_t tide_fold(const unsigned char *word, size_t length, bool emoji,
                 unsigned char folded[TIDE_WORD_MAX], size_t *used)
{
    if (emoji)
        return fold_emoji(word, length, folded, used);
    size_t size = fold_simple(word, length, folded);
    *used = length;
    if (size == 0)
        size = fold_whole(word, length, folded);
    if (size > TIDE_WORD_MAX)
        size = fold_beginning(word, length, folded, used);
    if (size > GROWTH_MAX * *used || *used == 0) {
        size = length > TIDE_WORD_MAX ? whole_points(word, TIDE_WORD_MAX) : length;
        memcpy(folded, word, size);
        *used = size;
    }
    return size;
}
