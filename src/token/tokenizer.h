/* tokenizer.h - what the files of the tokenizer share. Private. */
#ifndef TIDE_TOKEN_TOKENIZER_H
#define TIDE_TOKEN_TOKENIZER_H

#include "token/split.h"
#include "token/token.h"

enum {
    CAPACITY = 256 * 1024,
    TEXT_MAX = CAPACITY / 4, /* of it for text, in kinds that fold */
    KEEP = TIDE_WORD_MAX + 1,
    WINDOW = 1024,
    PADDING = 64, /* for the closing line feed, whole blocks, and 16 bytes a word */
    SIDE = TEXT_MAX + PADDING,
};

struct tide_tokenizer {
    size_t position, end;
    uint64_t skipped; /* bytes removed from the middle of the incomplete word */
    bool in_sentence; /* the present sentence has a word */
    bool closed;      /* the byte before `end` is the closing line feed */
    bool selective;   /* some words are left out */
    tide_tokenizer_counts counts;
    tide_tokenizer_options options;
    tide_splitter *split; /* NULL: space */
    tide_stop_words *stop_words;
    size_t text_max,
        side; /* where the text and the side have to end; end of the side */
    unsigned char buffer[CAPACITY + 2 * PADDING];
};

/* At most `length` bytes of a longer text, ending before a code point. */
size_t tide_text_cut(const unsigned char *text, size_t length);

/* How much is given out of a word of kind space; 0 when it is dropped or left out. */
size_t tide_tokenizer_check_word(tide_tokenizer *t, const unsigned char *word,
                                 size_t length);

/* Whether a run of text is a label, which is one word from its first byte to its last. */
bool tide_tokenizer_is_label(const unsigned char *text, size_t size);

/* Counts a token of another kind and makes its word; false when there is none to give. */
bool tide_tokenizer_make(tide_tokenizer *t, unsigned char *text,
                         const tide_token *token, tide_word *word);

#endif
