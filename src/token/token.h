/* token.h - the tokenizer: splits text into sentences of words. */
#ifndef TIDE_TOKEN_H
#define TIDE_TOKEN_H

#include "file/file.h"

/* The kinds of tokenizer:
 *
 * space   a word is a run of bytes above 0x20, unchanged
 * words   Unicode words, case folded, NFKC; ideographs and kana are single words; Thai,
 *         Lao, Khmer and Burmese are split into syllables
 * social  like words, and recognizes hashtags, mentions, URLs and emoji
 * log     words of log lines, case folded; numbers, hexadecimal numbers, UUIDs,
 *         addresses and paths are replaced by the names of their classes
 *
 * In every kind a run of bytes above 0x20 that begins with "__label__" is one unchanged
 * word: a label, as in fastText and as written by tide_records_next.
 *
 * A line feed ends a sentence. A word with bytes that are not UTF-8 is dropped as a
 * whole and counted once. Control characters (U+007F to U+009F) are dropped and
 * counted: together with the word around them in kind space and in labels, as
 * separators otherwise. Words of more than TIDE_WORD_MAX bytes are truncated at a code
 * point boundary and counted. The result does not depend on how the text is divided
 * into feeds. Memory is fixed. */
typedef struct tide_tokenizer tide_tokenizer;

/* In the order of the choices of parameter `tokenizer`. */
typedef enum tide_tokenizer_kind {
    TIDE_TOKENIZER_WORDS,
    TIDE_TOKENIZER_SPACE,
    TIDE_TOKENIZER_SOCIAL,
    TIDE_TOKENIZER_LOG,
} tide_tokenizer_kind;

/* What to do with a class of tokens. */
typedef enum tide_token_action {
    TIDE_KEEP,
    TIDE_MASK, /* replace by the name of the class */
    TIDE_DROP,
    TIDE_BARE /* remove the # or @ and tokenize the rest */
} tide_token_action;

typedef struct tide_tokenizer_options {
    tide_tokenizer_kind kind;
    tide_token_action numbers;  /* words, social: words of digits only; not BARE */
    tide_token_action hashtags; /* social */
    tide_token_action mentions; /* social */
    tide_token_action urls;     /* social; not BARE */

    /* Use the rules of version 1: Thai, Lao, Khmer and Burmese are not split into
     * syllables, a final sigma is folded like any other, and the prolonged sound mark
     * of kana is a word. */
    bool first_rules;

    /* Words to omit: fewer than `shortest` or more than `longest` characters (0: no
     * limit), or listed in stop_words, one per line as the tokenizer emits them (NULL:
     * none). Words that begin with the prefix `kept_prefix` are never omitted (NULL:
     * none; must outlive the tokenizer). */
    uint32_t shortest, longest;
    const char *stop_words, *kept_prefix;
} tide_tokenizer_options;

tide_tokenizer *tide_tokenizer_new(const tide_tokenizer_options *options,
                                   tide_error *err);
void tide_tokenizer_free(tide_tokenizer *t);
uint64_t tide_tokenizer_bytes(const tide_tokenizer_options *options);

/* Copies up to `size` bytes of text into the tokenizer and returns how many. Take all
 * words before feeding again. */
size_t tide_tokenizer_feed(tide_tokenizer *t, const void *bytes, size_t size);

/* Ends the text: completes its last word and, if it has begun, its last sentence. */
void tide_tokenizer_end(tide_tokenizer *t);

/* Returns the next words of the current sentence, at most `capacity`, which are valid
 * until the next feed. Sets *sentence_ended if the sentence ends after them. Returns 0
 * with *sentence_ended false if more text is needed. Empty lines are not sentences. */
size_t tide_tokenizer_next(tide_tokenizer *t, tide_word *words, size_t capacity,
                           bool *sentence_ended);

typedef struct tide_tokenizer_counts {
    uint64_t bytes;
    uint64_t invalid; /* words that are not UTF-8, and runs of control characters */
    uint64_t cut;     /* words truncated to TIDE_WORD_MAX */
    uint64_t dropped; /* bytes lost to both */
    uint64_t omitted; /* stop words, too short or too long words, and dropped tokens */
} tide_tokenizer_counts;

tide_tokenizer_counts tide_tokenizer_counted(const tide_tokenizer *t);

/* The number of bytes fed but not yet returned as complete words or line ends. A reader
 * that stops after the last sentence has to read these again. */
uint64_t tide_tokenizer_pending(const tide_tokenizer *t);

/* Section tokenizer: the counters and the incomplete word. All complete words must have
 * been taken. */
void tide_tokenizer_save(const tide_tokenizer *t, tide_store_writer *writer);
int tide_tokenizer_load(tide_tokenizer *t, tide_store *store, tide_error *err);

#endif
