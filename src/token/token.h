/* token.h - how text falls into words. */
#ifndef TIDE_TOKEN_H
#define TIDE_TOKEN_H

#include "file/file.h"

/* space   a word is a run of bytes above 0x20, as it is
 * words   Unicode words, case folded, NFKC; ideographs and kana one by one; Thai, Lao,
 *         Khmer and Burmese by syllables
 * social  the same, but knows hashtags, mentions, URLs and emoji
 * log     numbers, hex, UUIDs, addresses and paths become the names of their classes
 *
 * A run of bytes above 0x20 that begins with "__label__" is one word in every kind, as it is: a label,
 * as fastText marks them and tide_records_take adds them.
 *
 * A line feed ends a sentence. A word with bytes that are not UTF-8 is dropped as a whole and counted
 * once. Control characters (U+007F to U+009F) are dropped and counted: in kind space and in labels
 * with the word they are in, in the other kinds as separators between words. Words of more than TIDE_WORD_MAX bytes are cut before the code point that
 * does not fit, and counted. The result does not depend on how the text is cut into feeds. Memory is
 * fixed. */
typedef struct tide_tokenizer tide_tokenizer;

typedef enum tide_token_kind {
    TIDE_TOKENS_SPACE,
    TIDE_TOKENS_WORDS,
    TIDE_TOKENS_SOCIAL,
    TIDE_TOKENS_LOG,
} tide_token_kind;

/* As it is, the name of its class instead, nothing, or without its sign. */
typedef enum tide_token_action {
    TIDE_KEEP,
    TIDE_MASK,
    TIDE_DROP,
    TIDE_BARE
} tide_token_action;

typedef struct tide_tokenizer_options {
    tide_token_kind kind;
    tide_token_action numbers;  /* words, social: a word of digits alone */
    tide_token_action hashtags; /* social */
    tide_token_action mentions; /* social */
    tide_token_action urls;     /* social; not BARE, nor are numbers */
    bool first_rules;  /* those of models from before 2: Thai, Lao, Khmer and Burmese
                         come as they are written between separators, a final sigma as
                         any other, the prolonged sound mark of kana by itself */
    uint32_t shortest; /* words of fewer characters are left out; 0 or 1 for none */
    uint32_t longest;  /* likewise of more; 0 for no limit */
    const char *stop_words; /* one a line, as the tokenizer would give them; NULL */
    const char *spared; /* words that begin so are left out for none of these reasons;
                           NULL for none; must live as long */
} tide_tokenizer_options;

tide_tokenizer *tide_tokenizer_new(const tide_tokenizer_options *options,
                                   tide_error *err);
void tide_tokenizer_free(tide_tokenizer *t);
uint64_t tide_tokenizer_bytes(const tide_tokenizer_options *options);

/* Takes up to `size` bytes and returns how many. Take words until there are none, then feed again. */
size_t tide_tokenizer_feed(tide_tokenizer *t, const void *bytes, size_t size);

/* The text ends: its last word is complete, and so is its last sentence if it has begun. */
void tide_tokenizer_end(tide_tokenizer *t);

/* The next words of the present sentence, at most `room`, valid until the next feed. *sentence_ended
 * says that the sentence ends after them. Returns 0 with *sentence_ended false when more text is
 * needed. Empty lines yield no sentence. */
size_t tide_tokenizer_take(tide_tokenizer *t, tide_word *words, size_t room,
                           bool *sentence_ended);

typedef struct tide_tokenizer_counts {
    uint64_t bytes;
    uint64_t invalid; /* words that are not UTF-8, and runs of control characters */
    uint64_t cut;     /* longer than TIDE_WORD_MAX */
    uint64_t dropped; /* bytes, of both */
    uint64_t omitted; /* stop words, too short or too long ones, treated with DROP */
} tide_tokenizer_counts;

tide_tokenizer_counts tide_tokenizer_counted(const tide_tokenizer *t);

/* Bytes taken by feed but not yet given out in a complete word or line end: what a reader that wants
 * to stop at the last sentence taken has to read again. */
uint64_t tide_tokenizer_pending(const tide_tokenizer *t);

/* Section tokenizer: the counters and the half-read word, so that the rest can come later. All
 * complete words must have been taken. */
void tide_tokenizer_save(const tide_tokenizer *t, tide_store_writer *writer);
int tide_tokenizer_load(tide_tokenizer *t, tide_store *store, tide_error *err);

#endif
