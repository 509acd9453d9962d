/* fold.c - case folding and normalization of words.
 *
 * Folding is NFKC with full case folding and without ignorable code points, as
 * implemented by utf8proc, and then:
 *
 *  - apostrophes become ';
 *  - a sigma at the end of a word becomes a final sigma, unless first_rules is set;
 *  - whitespace and control characters from decompositions are removed;
 *  - a word that would grow to more than three times its bytes is left unchanged. Only
 *    a few ligatures for whole phrases do (U+FDFA), and the limit bounds the memory of
 *    the tokenizer;
 *  - a word whose folded form is too long is folded without its last code points.
 *
 * In most words each letter folds to a single code point; a table handles these without
 * utf8proc.
 */
#include "token/split.h"

#include <utf8proc.h>

enum {
    DECOMPOSED_MAX = 256, /* code points; far more than a word that fits can have */
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
        step = tide_code_point_length(word + at, length - at);
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

/* Whether a code point may be part of a folded word. */
static bool is_word_code_point(uint32_t code)
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

/* Folds the whole word with utf8proc. Returns the size, or more than TIDE_WORD_MAX if
 * the result does not fit. */
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
        if (!is_word_code_point(code))
            continue;
        size_t step = encode(code == 0x2019 || code == 0x02bc ? '\'' : code, bytes);
        if (size + step > TIDE_WORD_MAX)
            return TIDE_WORD_MAX + 1;
        memcpy(folded + size, bytes, step);
        size += step;
    }
    return size;
}

/* Ranges of letters that fold to a single code point, independent of their neighbors as
 * long as those are in this table, too. The value is the distance to the folded
 * letter. */
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

/* A fast path for words of such letters, which most are. Returns 0 for other words. */
static size_t fold_simple(const unsigned char *word, size_t length,
                          unsigned char folded[TIDE_WORD_MAX])
{
    size_t size = 0, step;
    if (length > TIDE_WORD_MAX)
        return 0;
    for (size_t at = 0; at < length; at += step) {
        step = tide_code_point_length(word + at, length - at);
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

/* Reduces `length` to a code point boundary of the word. */
static size_t truncate_to_boundary(const unsigned char *word, size_t length)
{
    while (length > 0 && tide_utf8_inside(word[length]))
        length--;
    return length;
}

/* Finds the longest prefix of the word whose folded form fits, by binary search over
 * code point boundaries: the prefix of `fits` bytes fits, that of `too_long` bytes does
 * not. */
static size_t fold_longest_prefix(const unsigned char *word, size_t length,
                                  unsigned char folded[TIDE_WORD_MAX], size_t *used)
{
    size_t fits = 0, too_long = length;
    for (;;) {
        size_t middle = truncate_to_boundary(word, (fits + too_long) / 2);
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

/* Case folding maps the final sigma to the ordinary one. Restores it at the end of a
 * word, after a Greek letter. */
static void restore_final_sigma(unsigned char *folded, size_t size)
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
        size = fold_longest_prefix(word, length, folded, used);
    if (size > GROWTH_MAX * *used || *used == 0) {
        size =
            length > TIDE_WORD_MAX ? truncate_to_boundary(word, TIDE_WORD_MAX) : length;
        memcpy(folded, word, size);
        *used = size;
    }
    if (final_sigma && *used == length)
        restore_final_sigma(folded, size);
    return size;
}
