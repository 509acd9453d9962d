/* fold.c - words without the differences that do not matter.
 *
 * Folding is NFKC with full case folding and without ignorable code points, as utf8proc
 * does it, and then:
 *
 *  - apostrophes become ';
 *  - a sigma that ends the word is written as a final one, unless the first rules hold;
 *  - white space and controls that a letter decomposes to are left out;
 *  - a word that would more than triple its bytes stays as it is. Only a few ligatures
 *    that stand for whole phrases do (U+FDFA), and the bound lets the tokenizer promise
 *    its memory;
 *  - a word whose folded form does not fit is folded without its last code points.
 *
 * Most words are of letters that fold one by one; a table does these without utf8proc.
 */
#include "token/split.h"

#include <utf8proc.h>

enum {
    DECOMPOSED_MAX = 256, /* code points; no word that fits has nearly so many */
    GROWTH_MAX = 3,
};

static size_t encode(uint32_t code, unsigned char bytes[4])
{
    return (size_t)utf8proc_encode_char((utf8proc_int32_t)code, bytes);
}

static size_t fold_emoji(const unsigned char *word, size_t length,
                         unsigned char folded[TIDE_WORD_MAX], size_t *used)
{
    size_t size = 0, at = 0, step;
    for (; at < length; at += step) {
        step = tide_code_point(word + at, length - at);
        uint32_t code = tide_code_point_decode(word + at, step);
        if (code == TIDE_TEXT_STYLE || code == TIDE_EMOJI_STYLE)
            continue;
        if (size + step > TIDE_WORD_MAX)
            break;
        memcpy(folded + size, word + at, step);
        size += step;
    }
    *used = at;
    return size;
}

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
static const tide_code_range simple[] = {
    {0x0000, 0x0040, 0},  {0x0041, 0x005a, 32},
    {0x005b, 0x007e, 0},  {0x00c0, 0x00d6, 32},
    {0x00d8, 0x00de, 32}, {0x00e0, 0x00f6, 0},
    {0x00f8, 0x00ff, 0},  {0x0391, 0x03a1, 32},
    {0x03a3, 0x03a9, 32}, {0x03ac, 0x03af, 0},
    {0x03b1, 0x03c1, 0},  {0x03c2, 0x03c2, 1},
    {0x03c3, 0x03ce, 0},  {0x0410, 0x042f, 32},
    {0x0430, 0x045f, 0},  {0x05d0, 0x05ea, 0},
    {0x0621, 0x063a, 0},  {0x0641, 0x064a, 0},
    {0x0e01, 0x0e32, 0},  {0x2019, 0x2019, '\'' - 0x2019},
    {0x3041, 0x3094, 0},  {0x30a1, 0x30fa, 0},
    {0x3400, 0x4db5, 0},  {0x4e00, 0x9fef, 0},
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
        uint32_t code = tide_code_point_decode(word + at, step);
        const tide_code_range *r =
            tide_code_range_find(simple, sizeof simple / sizeof *simple, code);
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
    while (length > 0 && tide_utf8_inside(word[length]))
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
            for (middle = fits + 1;
                 middle < too_long && tide_utf8_inside(word[middle]);)
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

/* Folding makes every sigma the same, and readers expect another one at the end of a
 * word, behind a Greek letter. */
static void end_with_sigma(unsigned char *folded, size_t size)
{
    static const unsigned char sigma[] = {0xcf, 0x83}, last[] = {0xcf, 0x82};
    if (size < 4 || memcmp(folded + size - 2, sigma, 2) != 0)
        return;
    bool greek = (folded[size - 4] & 0xfe) == 0xce;
    bool extended = size > 4 && folded[size - 5] == 0xe1 && folded[size - 4] >= 0xbc;
    if (greek || extended)
        memcpy(folded + size - 2, last, 2);
}

size_t tide_fold(const unsigned char *word, size_t length, bool emoji, bool final_sigma,
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
    if (final_sigma && *used == length)
        end_with_sigma(folded, size);
    return size;
}
