/* read_ahead.h - reads and hashes words on another thread than the one that counts
 * them. Private. */
#ifndef TIDE_TRAIN_READ_AHEAD_H
#define TIDE_TRAIN_READ_AHEAD_H

#include "reader/reader.h"
#include "vocab/vocab.h"

enum { READ_AHEAD_WORDS = 128 };

typedef struct tide_read_ahead tide_read_ahead;

/* Borrows the reader and starts a thread. */
tide_read_ahead *tide_read_ahead_new(tide_reader *reader, tide_error *err);
void tide_read_ahead_free(tide_read_ahead *ahead);
uint64_t tide_read_ahead_bytes(void);

/* Begins to read a text, whose words are prepared for this vocabulary. The text must
 * stay valid until tide_read_ahead_next has returned NULL. Until then the reader must
 * not be used, except while paused. */
void tide_read_ahead_begin(tide_read_ahead *ahead, const tide_vocabulary *vocabulary,
                           const char *bytes, size_t size);

/* Words of one sentence. */
typedef struct tide_word_block {
    tide_key keys[READ_AHEAD_WORDS];
    char texts[READ_AHEAD_WORDS]
              [TIDE_WORD_MAX + 17]; /* of words that exceed their key */
    uint32_t count;
    bool ended; /* the sentence ends after them */
} tide_word_block;

/* Returns the next block, which is valid until the next call; NULL if the text has been
 * read to its end. */
const tide_word_block *tide_read_ahead_next(tide_read_ahead *ahead);

/* Between these the other thread does not read. */
void tide_read_ahead_pause(tide_read_ahead *ahead);
void tide_read_ahead_continue(tide_read_ahead *ahead);

#endif
