/* split.h - splits a run of text without whitespace into words; private to src/token.
 *
 * tokenizer.c divides the text at whitespace. For every kind except `space`, each run
 * is passed to the splitter of the kind, which finds one word at a time:
 *
 *     text   , , "  D o n ' t "  , n e x t
 *            |-- separators ---|- word -|
 *            |--------- used -----------|
 *
 * A splitter is a pure function of the text from where the previous call stopped, so
 * there is no state between words and tokenization can be suspended after any word. The
 * meaning of a character may therefore depend on what follows it, but never on what
 * precedes it. A word after which a character must not have its special meaning (the #
 * in "a#b") consumes that character.
 *
 * A byte that is not UTF-8 counts as a letter, so that the word around it has the same
 * bounds as in valid text. tide_tokenizer_emit then drops the whole word: a fragment
 * ("caf" of a Latin-1 "café") is not a word of the text.
 */
#ifndef TIDE_TOKEN_SPLIT_H
#define TIDE_TOKEN_SPLIT_H

#include "token/token.h"

/* -- tokens ------------------------------------------------------------------------ */

typedef enum tide_token_class {
    TIDE_TOKEN_PLAIN,
    TIDE_TOKEN_NUMBER,
    TIDE_TOKEN_HASHTAG,
    TIDE_TOKEN_USER,
    TIDE_TOKEN_URL,
    TIDE_TOKEN_HEX,
    TIDE_TOKEN_UUID,
    TIDE_TOKEN_IP,
    TIDE_TOKEN_PATH,
    TIDE_TOKEN_TIME,
    TIDE_TOKEN_EMAIL,
    TIDE_TOKEN_HEART,
    TIDE_TOKEN_BROKEN_HEART,
    TIDE_TOKEN_CLASSES
} tide_token_class;

typedef struct tide_token {
    size_t used;               /* bytes of text consumed, at least 1 */
    size_t start, length;      /* the word within them; length 0: no word */
    tide_token_class class;    /* if set, its name is emitted instead of the word */
    bool omitted;              /* dropped by a tide_token_action */
    bool emoji;                /* not case folded */
    bool label;                /* emitted unchanged */
    uint64_t invalid, dropped; /* runs of control characters, and their bytes */
} tide_token;

/* Returns the first word of a text of at least one byte without whitespace. */
typedef tide_token tide_splitter(const tide_tokenizer_options *options,
                                 const unsigned char *text, size_t size);

tide_splitter tide_split_words, tide_split_social, tide_split_log;

/* -- code points (unicode.c) ------------------------------------------------------- */

typedef enum tide_char_class {
    TIDE_SEPARATOR,
    TIDE_LETTER,
    TIDE_DIGIT,
    TIDE_MARK,       /* combines with the character before it */
    TIDE_IGNORED,    /* likewise, and removed by folding */
    TIDE_IDEOGRAPH,  /* an ideograph or kana: a word by itself */
    TIDE_JOINER,     /* part of a word between letters or digits */
    TIDE_APOSTROPHE, /* part of a word between letters */
    TIDE_POINT,      /* part of a word between digits */
} tide_char_class;

typedef struct tide_char {
    uint32_t code;
    uint32_t length; /* in bytes; 0: control character or end of text; 1: invalid */
    tide_char_class class;
} tide_char;

extern const uint8_t tide_ascii_classes[128];

/* The length in bytes of the code point at `bytes`, of which `left` are readable; 0 if
 * it is not valid UTF-8 or a control character (U+007F to U+009F). */
size_t tide_code_point_length(const unsigned char *bytes, size_t left);

/* Decodes a valid code point of `length` bytes. */
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

/* The range of a sorted table that contains the code point; NULL if there is none. */
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
    return (tide_char){text[at], 1, (tide_char_class)tide_ascii_classes[text[at]]};
}

/* Whether the byte at `at` is neither ASCII nor the start of a valid code point. */
static inline bool tide_char_is_invalid(const unsigned char *text, size_t size,
                                        size_t at)
{
    return at < size && text[at] >= 0x80 && !tide_utf8_length(text + at, size - at);
}

/* Variation selectors: display the preceding emoji as text or as a picture. */
enum { TIDE_TEXT_STYLE = 0xfe0e, TIDE_EMOJI_STYLE = 0xfe0f };

/* The end of the emoji at `at`, a grapheme cluster; `at` if there is none. */
size_t tide_emoji_end(const unsigned char *text, size_t size, size_t at);

/* -- folding (fold.c) -------------------------------------------------------------- */

/* Converts ASCII letters to lower case in place. Returns false if the word has other
 * than ASCII characters. */
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

/* Normalizes a word: NFKC with case folding, or for an emoji the removal of its
 * variation selectors. With `final_sigma` a sigma at the end of the word is written as
 * a final one. Returns the size of the result, at most TIDE_WORD_MAX and three times
 * that of the word; may be 0. Sets *used to the number of bytes of the word that the
 * result stands for. */
size_t tide_fold(const unsigned char *word, size_t length, bool emoji, bool final_sigma,
                 unsigned char folded[TIDE_WORD_MAX], size_t *used);

/* -- syllables (syllables.c) ------------------------------------------------------- */

/* Whether a character is a letter of a script that is split into syllables. */
bool tide_char_is_syllabic(tide_char c);

/* The end of the syllable at `at`; `at` if there is no such letter. */
size_t tide_syllable_end(const unsigned char *text, size_t size, size_t at);

/* -- words (split_words.c) --------------------------------------------------------- */

/* The end of the word at `at`; `at` if no word begins there. Sets *number to whether it
 * consists of digits only. */
size_t tide_scan_word(const tide_tokenizer_options *options, const unsigned char *text,
                      size_t size, size_t at, bool *number);

/* The length of the separator at `at`. A run of control characters is one separator and
 * is counted in the token. */
size_t tide_skip_separator(const unsigned char *text, size_t size, size_t at,
                           tide_token *token);

/* Makes the token the word from `start` to `end`. */
void tide_token_word(tide_token *token, size_t start, size_t end);

/* Applies an action to a token: keeps it, replaces it by the name of its class or drops
 * it. */
void tide_token_apply(tide_token *token, tide_token_action action,
                      tide_token_class class);

/* -- stop words (stop_words.c) ----------------------------------------------------- */

typedef struct tide_stop_words tide_stop_words;

/* `text` has one word per line; line ends may be LF or CRLF. */
tide_stop_words *tide_stop_words_new(const char *text, tide_error *err);
void tide_stop_words_free(tide_stop_words *set);
uint64_t tide_stop_words_bytes(const char *text);
bool tide_stop_words_contain(const tide_stop_words *set, const char *word,
                             size_t length);

/* Whether a word is neither too short, too long nor a stop word; `set` may be NULL. */
bool tide_word_is_allowed(const tide_tokenizer_options *options,
                          const tide_stop_words *set, const char *word, size_t length);

#endif
