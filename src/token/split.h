/* split.h - how a run of text without white space falls into words; private to text.
 *
 * tokenizer.c cuts the text at white space. For every kind but `space` such a run goes
 * to the kind's splitter, which finds one word at a time:
 *
 *     text   , , "  D o n ' t "  , n e x t
 *            |-- separators ---|- word -|
 *            |--------- used -----------|
 *
 * A splitter is a pure function of the text it is shown, and it is shown the text from
 * where it stopped before. So there is no state between words: whoever stops after any
 * word can go on from there later, with another tokenizer. What a sign means may depend
 * on what follows it, never on what came before; a word that forbids a sign after it a
 * meaning of its own (the # in "a#b") takes the sign with it.
 *
 * A byte that is not UTF-8 counts as a letter, so the word it stands in has the same bounds
 * as if the text were intact. tide_tokenizer_make then drops that word as a whole: half a
 * word ("caf" of a Latin-1 "café") is not a word of the text.
 */
#ifndef TIDE_TOKEN_SPLIT_H
#define TIDE_TOKEN_SPLIT_H

#include "token/token.h"

/* -- what splitters find ----------------------------------------------------------- */

typedef enum tide_token_class {
    TIDE_NAME_NONE,
    TIDE_NAME_NUMBER,
    TIDE_NAME_HASHTAG,
    TIDE_NAME_USER,
    TIDE_NAME_URL,
    TIDE_NAME_HEX,
    TIDE_NAME_UUID,
    TIDE_NAME_IP,
    TIDE_NAME_PATH,
    TIDE_NAME_TIME,
    TIDE_NAME_EMAIL,
    TIDE_NAME_HEART,
    TIDE_NAME_BROKEN_HEART,
    TIDE_NAMES
} tide_token_class;

typedef struct tide_token {
    size_t used;               /* bytes of the text, at least 1 */
    size_t start, length;      /* of the word in them; no length: there is none */
    tide_token_class name;     /* given out instead of the word */
    bool omitted;              /* treated with DROP */
    bool emoji;                /* not to be folded */
    bool label;                /* likewise, and nothing else is done to it either */
    uint64_t invalid, dropped; /* runs of control characters, and their bytes */
} tide_token;

/* The first word of a text of at least one byte, none of them white space. */
typedef tide_token tide_splitter(const tide_tokenizer_options *options,
                                 const unsigned char *text, size_t size);

tide_splitter tide_split_words, tide_split_social, tide_split_log;

/* -- code points (unicode.c) ------------------------------------------------------- */

typedef enum tide_class {
    TIDE_SEPARATOR,
    TIDE_LETTER,
    TIDE_DIGIT,
    TIDE_MARK,       /* belongs to what is before it */
    TIDE_IGNORED,    /* likewise, and vanishes */
    TIDE_ALONE,      /* an ideograph or kana */
    TIDE_JOINER,     /* inside words, between letters and digits */
    TIDE_APOSTROPHE, /* inside words, between letters */
    TIDE_POINT,      /* inside words, between digits */
} tide_class;

typedef struct tide_char {
    uint32_t code;
    uint32_t length; /* 0: a control character, or the end; 1 byte if not UTF-8 */
    tide_class class;
} tide_char;

extern const uint8_t tide_ascii_classes[128];

/* The length of the code point at `bytes`, of which `left` can be read; 0 when it is
 * not one or a control character (U+007F to U+009F). */
size_t tide_code_point(const unsigned char *bytes, size_t left);

/* The number of a code point of this length. */
static inline uint32_t tide_code_point_decode(const unsigned char *bytes, size_t length)
{
    static const uint8_t lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = bytes[0] & lead_bits[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (bytes[i] & 0x3f);
    return code;
}

typedef struct tide_code_range {
    uint32_t first, last;
    int value;
} tide_code_range;

/* The range that has the code point, of a sorted table; NULL when there is none. */
static inline const tide_code_range *tide_code_range_find(const tide_code_range *table,
                                                          size_t count, uint32_t code)
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

tide_char tide_char_decode(const unsigned char *bytes, size_t left);

static inline tide_char tide_char_at(const unsigned char *text, size_t size, size_t at)
{
    if (at < size && text[at] >= 0x7f)
        return tide_char_decode(text + at, size - at);
    if (at >= size)
        return (tide_char){0, 0, TIDE_SEPARATOR};
    return (tide_char){text[at], 1, (tide_class)tide_ascii_classes[text[at]]};
}

/* Whether the byte at `at` is neither ASCII nor the beginning of a code point. */
static inline bool tide_char_broken(const unsigned char *text, size_t size, size_t at)
{
    return at < size && text[at] >= 0x80 && !tide_utf8_length(text + at, size - at);
}

/* How the emoji before it is to be shown. */
enum { TIDE_TEXT_STYLE = 0xfe0e, TIDE_EMOJI_STYLE = 0xfe0f };

/* Where the emoji at `at` ends: a grapheme cluster; `at` when there is none. */
size_t tide_emoji_end(const unsigned char *text, size_t size, size_t at);

/* -- folding (fold.c) -------------------------------------------------------------- */

/* Makes ASCII letters small, in place; false when there is anything but ASCII. */
static inline bool tide_fold_ascii(unsigned char *word, size_t length)
{
    unsigned all = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned c = word[i];
        all |= c;
        word[i] = (unsigned char)(c | (unsigned)(c - 'A' < 26) << 5);
    }
    return all < 0x80;
}

/* Writes the word without differences that do not matter: NFKC and case folded, or as
 * an emoji without its variation selectors. With `final_sigma` a sigma at the end of a
 * word is written as one. At most TIDE_WORD_MAX bytes and three times
 * those of the word; may be none. *used says how many bytes of the word these stand
 * for. */
size_t tide_fold(const unsigned char *word, size_t length, bool emoji, bool final_sigma,
                 unsigned char folded[TIDE_WORD_MAX], size_t *used);

/* -- syllables (syllables.c) ------------------------------------------------------- */

/* Whether it is a letter of a script that is taken by syllables. */
bool tide_syllabic(tide_char c);

/* Where the syllable at `at` ends; `at` when no such letter is there. */
size_t tide_syllable_end(const unsigned char *text, size_t size, size_t at);

/* -- words (split_words.c) -------------------------------------------------------- */

/* Where the word at `at` ends; `at` when none begins there. Says whether it is a
 * number. */
size_t tide_scan_word(const tide_tokenizer_options *options, const unsigned char *text,
                      size_t size, size_t at, bool *number);

/* The length of the separator at `at`, which may be a run of control characters: these
 * are counted in the token. */
size_t tide_skip(const unsigned char *text, size_t size, size_t at, tide_token *token);

/* A token that is a word from `start` to `end`. */
void tide_token_word(tide_token *token, size_t start, size_t end);

/* Treats a token: leaves it, gives it a name or drops it. */
void tide_token_apply(tide_token *token, tide_token_action treatment,
                      tide_token_class name);

/* -- stop words (stop_words.c) ----------------------------------------------------- */

typedef struct tide_stop_words tide_stop_words;

/* From a text of one word a line; a line feed may follow a carriage return. */
tide_stop_words *tide_stop_words_new(const char *text, tide_error *err);
void tide_stop_words_free(tide_stop_words *set);
uint64_t tide_stop_words_bytes(const char *text);
bool tide_stop_words_have(const tide_stop_words *set, const char *word, size_t length);

/* Whether a word is neither too short nor too long nor a stop word; `set` may be
 * NULL. */
bool tide_word_wanted(const tide_tokenizer_options *options, const tide_stop_words *set,
                      const char *word, size_t length);

#endif
