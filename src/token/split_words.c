/* split_words.c - Unicode words, a simplification of UAX #29.
 *
 *     letters, digits and their marks      form words                 naïve  x86
 *     ' and U+2019 between letters         are part of a word, as '   don't
 *     . and , between digits               are part of a word         3.14  1,000
 *     _ between letters or digits          is part of a word          snake_case
 *     ideographs and kana                  are single words           東 京
 *     soft hyphens, joiners, selectors     are removed inside words
 *     U+200B and everything else           separates words
 *
 *     Thai, Lao, Khmer and Burmese         are split into syllables
 *
 * Hangul words are whatever is written between separators. Word boundaries are found in
 * the original text, and each word is folded afterwards, because NFKC would turn some
 * separators into letters ("Brand™").
 */
#include "token/split.h"
#include "token/token.h"

/* Whether punctuation at `at`, after a character of class `last`, is part of a word. */
static bool is_inside_word(const unsigned char *text, size_t size, size_t at,
                           tide_char punctuation, tide_char_class last)
{
    tide_char next = tide_char_at(text, size, at + punctuation.length);
    if (punctuation.class == TIDE_APOSTROPHE)
        return last == TIDE_LETTER && next.class == TIDE_LETTER;
    if (punctuation.class == TIDE_POINT)
        return last == TIDE_DIGIT && next.class == TIDE_DIGIT;
    if (punctuation.class != TIDE_JOINER)
        return false;
    /* Without this shortcut a long run of underscores would be scanned again from each
     * of them, in quadratic time. */
    if (last == TIDE_JOINER)
        return true; /* the first joiner of a run has already been checked for all */
    for (at += punctuation.length; next.class == TIDE_JOINER; at += next.length)
        next = tide_char_at(text, size, at);
    return next.class == TIDE_LETTER || next.class == TIDE_DIGIT;
}

static bool is_mark(tide_char_class class)
{
    return class == TIDE_MARK || class == TIDE_IGNORED;
}

static size_t skip_marks(const unsigned char *text, size_t size, size_t at)
{
    for (;;) {
        tide_char c = tide_char_at(text, size, at);
        if (!is_mark(c.class))
            return at;
        at += c.length;
    }
}

/* The end of the marks after an ideograph or kana. The prolonged sound mark of kana
 * counts as one. */
static size_t skip_kana_marks(const tide_tokenizer_options *options,
                              const unsigned char *text, size_t size, size_t at)
{
    enum { PROLONGED = 0x30fc, HALF_WIDTH = 0xff70 };
    for (;;) {
        at = skip_marks(text, size, at);
        tide_char c = tide_char_at(text, size, at);
        if (options->first_rules || (c.code != PROLONGED && c.code != HALF_WIDTH))
            return at;
        at += c.length;
    }
}

size_t tide_scan_word(const tide_tokenizer_options *options, const unsigned char *text,
                      size_t size, size_t at, bool *number)
{
    tide_char c = tide_char_at(text, size, at);
    bool split_syllables = !options->first_rules;
    *number = false;
    if (c.class == TIDE_IDEOGRAPH)
        return skip_kana_marks(options, text, size, at + c.length);
    /* Scripts without spaces begin a token of their own, even directly after a Latin
     * word. */
    if (split_syllables && tide_char_is_syllabic(c))
        return tide_syllable_end(text, size, at);
    if (c.class != TIDE_LETTER && c.class != TIDE_DIGIT)
        return at;
    bool digits_only = true;
    tide_char_class last = c.class;
    for (;;) { /* c is a character of the word, at `at` */
        digits_only &= c.class == TIDE_DIGIT || c.class == TIDE_POINT;
        at += c.length;
        /* Fast path: ASCII characters of the same class need no decoding and no
         * decision. */
        while (at < size && text[at] < 0x80 && tide_ascii_classes[text[at]] == last)
            at++;
        c = tide_char_at(text, size, at);
        /* A mark belongs to the character before it and does not change its class. */
        if (is_mark(c.class))
            continue;
        if (c.class != TIDE_LETTER && c.class != TIDE_DIGIT &&
            !is_inside_word(text, size, at, c, last))
            break;
        if (split_syllables && tide_char_is_syllabic(c))
            break;
        last = c.class;
    }
    *number = digits_only;
    return at;
}

/* The length of the control character at `at`, U+007F to U+009F; 0 if there is none. */
static size_t control_length(const unsigned char *text, size_t size, size_t at)
{
    if (at < size && text[at] == 0x7f)
        return 1;
    bool c1 = at + 1 < size && text[at] == 0xc2 && (text[at + 1] & 0xe0) == 0x80;
    return c1 ? 2 : 0;
}

size_t tide_skip_separator(const unsigned char *text, size_t size, size_t at,
                           tide_token *token)
{
    if (text[at] < 0x7f)
        return 1;
    size_t length = tide_code_point_length(text + at, size - at);
    if (length > 0)
        return length;
    size_t end = at;
    /* A run of control characters counts as one invalid token, and one byte that is not
     * UTF-8 as another. Bytes are counted exactly, since the totals must add up to the
     * text. */
    while ((length = control_length(text, size, end)) > 0)
        end += length;
    if (end == at)
        end++;
    token->invalid++;
    token->dropped += end - at;
    return end - at;
}

void tide_token_word(tide_token *token, size_t start, size_t end)
{
    token->start = start;
    token->length = end - start;
    token->used = end;
}

void tide_token_apply(tide_token *token, tide_token_action action,
                      tide_token_class class)
{
    if (action == TIDE_MASK)
        token->class = class;
    token->omitted = action == TIDE_DROP;
}

tide_token tide_split_words(const tide_tokenizer_options *options,
                            const unsigned char *text, size_t size)
{
    tide_token token = {.used = size};
    for (size_t at = 0; at < size; at += tide_skip_separator(text, size, at, &token)) {
        bool number;
        size_t end = tide_scan_word(options, text, size, at, &number);
        if (end == at)
            continue;
        tide_token_word(&token, at, end);
        if (number)
            tide_token_apply(&token, options->numbers, TIDE_TOKEN_NUMBER);
        break;
    }
    return token;
}
