/* words.h - the table under every vocabulary: from a word to its slot and back.
 *
 * A slot is a record of 32 bytes, two to a cache line:
 *
 *     0        8        16                          32
 *     | count  | error  | key                       |
 *
 * The key of a word of up to 14 bytes is the word itself, padded with zeros, and its
 * length in the last byte. A longer word has a hash and its length there, marked by
 * 0xff in the last byte, and its bytes in a side slot. An empty slot has a key of
 * zeros.
 *
 * The way from a word to its slot is an open hash table of 8-byte cells
 *
 *     | tag: upper half of the hash | slot + 1 |        0 for a free cell
 *
 * with linear probing from tag >> shift, at most half full. Words come and go for
 * ever, so removal closes the gap at once (backward shift) instead of leaving a
 * tombstone.
 *
 * The hash is keyed with a secret of the process, so nobody can prepare words that all
 * fall into one place. Nothing that can be observed depends on it.
 */
#ifndef TIDE_VOCAB_WORD_TABLE_H
#define TIDE_VOCAB_WORD_TABLE_H

#include "vocab/vocab.h"

#define TIDE_KEY_INLINE                                                                \
    14 /* bytes of a word that fit into its key, and a 0 after them */
#define TIDE_KEY_LONG 0xff /* in place of the length of a word that does not */

typedef struct tide_record {
    uint64_t count;
    uint64_t error;
    uint64_t key[2];
} tide_record;

typedef struct tide_word_table {
    tide_record *records; /* [capacity] */
    char (*texts)[TIDE_WORD_MAX +
                  1]; /* [capacity], of the words that do not fit the key */
    uint64_t *cells;  /* [mask + 1] */
    uint64_t secret[2];
    uint32_t capacity;
    uint32_t mask;
    uint32_t shift;
} tide_word_table;

/* A word on its way into the table. */
typedef struct tide_key {
    uint64_t part[2];
    const char *bytes;
    uint32_t length;
    uint32_t tag;
} tide_key;

/* All slots are empty. On failure nothing is kept. */
int tide_word_table_init(tide_word_table *t, uint32_t capacity, uint64_t secret,
                         tide_error *err);
void tide_word_table_release(tide_word_table *t);
uint64_t tide_word_table_bytes(uint32_t capacity);

/* What is in the slots below `used`, into a table of the same capacity. */
void tide_word_table_copy(tide_word_table *to, const tide_word_table *from,
                          uint32_t used);

/* Puts a word that is not in the table into a slot that is empty. */
void tide_word_table_put(tide_word_table *t, uint32_t slot, const tide_key *key);

/* Empties a slot. Its count and error become 0. */
void tide_word_table_remove(tide_word_table *t, uint32_t slot);

/* The word in a slot, with a 0 after it; NULL and length 0 for an empty one. */
const char *tide_word_table_text(const tide_word_table *t, uint32_t slot,
                                 uint32_t *length);

/* Halves the counts of the slots below `used`, rounding down. The error follows from
 * the part of the count that is certain: error' = count' - floor((count-error) / 2). */
void tide_word_table_halve(tide_word_table *t, uint32_t used);

/* 16 bytes of ones and 16 of zeros: a window that starts at 16 - n masks n bytes. */
extern const unsigned char tide_words_window[32];

static inline uint32_t tide_words_tag(const tide_word_table *t, const uint64_t part[2])
{
    if (part[1] >> 56 == TIDE_KEY_LONG)
        return (uint32_t)(part[0] >> 32);
    uint64_t hash = tide_mix(part[0] ^ t->secret[0], part[1] ^ t->secret[1]);
    return (uint32_t)(tide_mix(hash ^ t->secret[1], t->secret[0]) >> 32);
}

static inline tide_key tide_word_table_key(const tide_word_table *t,
                                           const tide_word *word)
{
    tide_key key = {.bytes = word->bytes, .length = word->length};
    if (word->length <= TIDE_KEY_INLINE) {
        uint64_t window[2];
        memcpy(key.part, word->bytes, 16);
        memcpy(window, tide_words_window + 16 - word->length, 16);
        key.part[0] &= window[0];
        key.part[1] = (key.part[1] & window[1]) | (uint64_t)word->length << 56;
    } else {
        key.part[0] = tide_hash(word->bytes, word->length, t->secret[0]);
        key.part[1] = (uint64_t)TIDE_KEY_LONG << 56 | word->length;
    }
    key.tag = tide_words_tag(t, key.part);
    return key;
}

static inline bool tide_words_empty(const tide_word_table *t, uint32_t slot)
{
    return t->records[slot].key[1] == 0;
}

/* Whether the slot holds the word. */
static inline bool tide_words_holds(const tide_word_table *t, uint32_t slot,
                                    const tide_key *key)
{
    const uint64_t *part = t->records[slot].key;
    if (((part[0] ^ key->part[0]) | (part[1] ^ key->part[1])) != 0)
        return false;
    return key->length <= TIDE_KEY_INLINE ||
           memcmp(t->texts[slot], key->bytes, key->length) == 0;
}

static inline uint32_t tide_word_table_find(const tide_word_table *t,
                                            const tide_key *key)
{
    for (uint32_t i = key->tag >> t->shift;; i = (i + 1) & t->mask) {
        uint64_t cell = t->cells[i];
        if (cell == 0)
            return TIDE_NO_SLOT;
        if (cell >> 32 == key->tag && tide_words_holds(t, (uint32_t)cell - 1, key))
            return (uint32_t)cell - 1;
    }
}

/* The first slot with the word's tag: very probably the word's own, found without
 * touching a record. */
static inline uint32_t tide_word_table_guess(const tide_word_table *t,
                                             const tide_key *key)
{
    for (uint32_t i = key->tag >> t->shift;; i = (i + 1) & t->mask) {
        uint64_t cell = t->cells[i];
        if (cell == 0)
            return TIDE_NO_SLOT;
        if (cell >> 32 == key->tag)
            return (uint32_t)cell - 1;
    }
}

#endif
