/* tokenizer.h - private to the tokenizer: its state and internal functions. */
#ifndef TIDE_TOKEN_TOKENIZER_H
#define TIDE_TOKEN_TOKENIZER_H

#include "token/split.h"
#include "token/token.h"

enum {
    CAPACITY = 256 * 1024,
    TEXT_MAX = CAPACITY / 4,         /* the part for text, in kinds that fold */
    PENDING_MAX = TIDE_WORD_MAX + 1, /* kept of an incomplete word of kind space */
    WINDOW = 1024,                   /* bytes that a splitter sees at once */
    PADDING = 64, /* for the closing line feed, full blocks, 16 bytes after a word */
    OVERFLOW_START = TEXT_MAX + PADDING,
};

struct tide_tokenizer {
    size_t position, end;
    uint64_t skipped; /* bytes removed from the middle of the incomplete word */
    bool in_sentence; /* the current sentence has a word */
    bool closed;      /* the byte before `end` is the closing line feed */
    bool selective;   /* some words may be omitted */
    tide_tokenizer_counts counts;
    tide_tokenizer_options options;
    tide_splitter *split; /* NULL: space */
    tide_stop_words *stop_words;
    size_t text_max; /* limit of `end` */
    size_t overflow; /* end of the used part of the overflow area */
    unsigned char buffer[CAPACITY + 2 * PADDING];
};

/* Reduces `length` by at most 3 bytes to a code point boundary of a longer text. */
size_t tide_text_truncate(const unsigned char *text, size_t length);

/* Checks and counts a word of kind space. Returns the length to emit; 0 if it is
 * dropped or omitted. */
size_t tide_tokenizer_check_word(tide_tokenizer *t, const unsigned char *word,
                                 size_t length);

/* Whether a run of text is a label, which is a single word. */
bool tide_tokenizer_is_label(const unsigned char *text, size_t size);

/* Counts a token of another kind and makes its word. Returns false if there is no word
 * to emit. */
bool tide_tokenizer_emit(tide_tokenizer *t, unsigned char *text,
                         const tide_token *token, tide_word *word);

#endif
