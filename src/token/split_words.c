/* split_words.c - Unicode words, in the spirit of UAX #29.
 *
 *     letters, digits and their marks      make words                 naïve  x86
 *     ' and U+2019 between letters         stay inside, as '          don't
 *     . and , between digits               stay inside                3.14  1,000
 *     _ between letters or digits          stays inside               snake_case
 *     ideographs and kana                  are words one by one       東 京
 *     soft hyphens, joiners, selectors     vanish inside words
 *     U+200B and everything else           separates
 *
 *     Thai, Lao, Khmer and Burmese         are words syllable by syllable
 *
 * Hangul comes as it is written between separators. Bounds are found in the text as
 * it is, and each word is folded by itself afterwards: NFKC applied to the whole text
 * would make letters of signs that separate ("Brand™").
 */
#include "token/split.h"
#include "token/token.h"

/* Whether a sign at `at`, after a character of class `last`, belongs inside a word. */
static bool joins(const unsigned char *text, size_t size, size_t at, tide_char sign,
                  tide_class last)
{
    tide_char next = tide_char_at(text, size, at + sign.length);
    if (sign.class == TIDE_APOSTROPHE)
        return last == TIDE_LETTER && next.class == TIDE_LETTER;
    if (sign.class == TIDE_POINT)
        return last == TIDE_DIGIT && next.class == TIDE_DIGIT;
    if (sign.class != TIDE_JOINER)
        return false;
    if (last == TIDE_JOINER)
        return true; /* the first of a row has looked to its end */
    for (at += sign.length; next.class == TIDE_JOINER; at += next.length)
        next = tide_char_at(text, size, at);
    return next.class == TIDE_LETTER || next.class == TIDE_DIGIT;
}

static bool attaches(tide_class class)
{
    return class == TIDE_MARK || class == TIDE_IGNORED;
}

static size_t past_marks(const unsigned char *text, size_t size, size_t at)
{
    for (;;) {
        tide_char c = tide_char_at(text, size, at);
        if (!attaches(c.class))
            return at;
        at += c.length;
    }
}

/* Where the marks of an ideograph or kana end; the long vowel is one of kana. */
static size_t past_kana(const tide_tokenizer_options *options,
                        const unsigned char *text, size_t size, size_t at)
{
    enum { PROLONGED = 0x30fc, HALF_WIDTH = 0xff70 };
    for (;;) {
        at = past_marks(text, size, at);
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
    bool syllables = !options->first_rules;
    *number = false;
    if (c.class == TIDE_ALONE)
        return past_kana(options, text, size, at + c.length);
    if (syllables && tide_syllabic(c))
        return tide_syllable_end(text, size, at);
    if (c.class != TIDE_LETTER && c.class != TIDE_DIGIT)
        return at;
    bool digits_only = true;
    tide_class last = c.class;
    for (;;) {
        digits_only &= c.class == TIDE_DIGIT || c.class == TIDE_POINT;
        at += c.length;
        while (at < size && text[at] < 0x80 && tide_ascii_classes[text[at]] == last)
            at++;
        c = tide_char_at(text, size, at);
        if (attaches(c.class))
            continue;
        if (c.class != TIDE_LETTER && c.class != TIDE_DIGIT &&
            !joins(text, size, at, c, last))
            break;
        if (syllables && tide_syllabic(c))
            break;
        last = c.class;
    }
    *number = digits_only;
    return at;
}

/* Bytes of the control character at `at`, U+007F to U+009F; 0 for any other byte. */
static size_t control_length(const unsigned char *text, size_t size, size_t at)
{
    if (at < size && text[at] == 0x7f)
        return 1;
    bool c1 = at + 1 < size && text[at] == 0xc2 && (text[at + 1] & 0xe0) == 0x80;
    return c1 ? 2 : 0;
}

size_t tide_skip(const unsigned char *text, size_t size, size_t at, tide_token *token)
{
    if (text[at] < 0x7f)
        return 1;
    size_t length = tide_code_point(text + at, size - at);
    if (length > 0)
        return length;
    size_t end = at;
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

void tide_token_apply(tide_token *token, tide_token_action treatment,
                      tide_token_class name)
{
    if (treatment == TIDE_MASK)
        token->name = name;
    token->omitted = treatment == TIDE_DROP;
}

tide_token tide_split_words(const tide_tokenizer_options *options,
                            const unsigned char *text, size_t size)
{
    tide_token token = {.used = size};
    for (size_t at = 0; at < size; at += tide_skip(text, size, at, &token)) {
        bool number;
        size_t end = tide_scan_word(options, text, size, at, &number);
        if (end == at)
            continue;
        tide_token_word(&token, at, end);
        if (number)
            tide_token_apply(&token, options->numbers, TIDE_NAME_NUMBER);
        break;
    }
    return token;
}
