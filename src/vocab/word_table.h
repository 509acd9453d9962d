/* word_table.h - the hash table of every vocabulary: from a word to its slot and back.
 *
 * A slot is a record of 32 bytes, two to a cache line:
 *
 *     0        8        16                          32
 *     | count  | error  | key                       |
 *
 * The key of a word of up to 14 bytes is the word itself, padded with zeros, with its
 * length in the last byte. The key of a longer word is a hash and its length, marked by
 * 0xff in the last byte; its bytes are in `texts`. The key of an empty slot is zero.
 *
 * Words are found through an open-addressing hash table of 8-byte cells
 *
 *     | tag: upper half of the hash | slot + 1 |        0 for a free cell
 *
 * with linear probing from tag >> shift, at most half full. Words are inserted and
 * evicted indefinitely, so removal shifts later cells back instead of leaving
 * tombstones, which would accumulate.
 *
 * The hash is keyed with a secret of the process, so input cannot be crafted to
 * collide. No output depends on the secret.
 */
#ifndef TIDE_VOCAB_WORD_TABLE_H
#define TIDE_VOCAB_WORD_TABLE_H

#include "vocab/vocab.h"

#define TIDE_KEY_LONG 0xff /* in place of the length: the word does not fit */

typedef struct tide_record {
    uint64_t count;
    uint64_t error;
    uint64_t key[2];
} tide_record;

typedef struct tide_word_table {
    tide_record *records;             /* [capacity] */
    char (*texts)[TIDE_WORD_MAX + 1]; /* [capacity] words that do not fit their key */
    uint64_t *cells;                  /* [mask + 1] */
    uint64_t secret[2];
    uint32_t capacity;
    uint32_t mask;
    uint32_t shift;
} tide_word_table;

/* All slots start empty. On failure nothing stays allocated. */
int tide_word_table_init(tide_word_table *t, uint32_t capacity, uint64_t secret,
                         tide_error *err);
void tide_word_table_release(tide_word_table *t);
uint64_t tide_word_table_bytes(uint32_t capacity);

/* Copies the slots below `used` into a table of the same capacity. */
void tide_word_table_copy(tide_word_table *to, const tide_word_table *from,
                          uint32_t used);

/* Stores a word that is not in the table in an empty slot. */
void tide_word_table_put(tide_word_table *t, uint32_t slot, const tide_key *key);

/* Empties a slot and sets its count and error to 0. */
void tide_word_table_remove(tide_word_table *t, uint32_t slot);

/* The word in a slot, terminated by a 0; NULL and length 0 for an empty slot. */
const char *tide_word_table_text(const tide_word_table *t, uint32_t slot,
                                 uint32_t *length);

/* Halves the counts of the slots below `used`, rounding down. The new error follows
 * from the guaranteed part: error' = count' - floor((count - error) / 2). */
void tide_word_table_halve(tide_word_table *t, uint32_t used);

/* 16 bytes of ones and 16 of zeros: the 16 bytes from 16 - n mask the first n bytes. */
extern const unsigned char tide_word_table_masks[32];

static inline uint32_t tide_word_table_tag(const tide_word_table *t,
                                           const uint64_t part[2])
{
    /* The key of a long word is itself a keyed hash. */
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
        /* Load 16 bytes whatever the length (a tide_word guarantees that they can be
         * read) and mask off what follows the word: no loop and no branch on the
         * length. */
        uint64_t window[2];
        memcpy(key.part, word->bytes, 16);
        memcpy(window, tide_word_table_masks + 16 - word->length, 16);
        key.part[0] &= window[0];
        key.part[1] = (key.part[1] & window[1]) | (uint64_t)word->length << 56;
    } else {
        key.part[0] = tide_hash(word->bytes, word->length, t->secret[0]);
        key.part[1] = (uint64_t)TIDE_KEY_LONG << 56 | word->length;
    }
    key.tag = tide_word_table_tag(t, key.part);
    return key;
}

static inline bool tide_word_table_is_empty(const tide_word_table *t, uint32_t slot)
{
    return t->records[slot].key[1] == 0;
}

/* Whether the slot holds the word. Two keys of 16 bytes are compared as two integers.
 * For a word that fits its key that is an exact comparison, the length included. For a
 * longer one it compares hash and length, so a match must be confirmed byte by byte. */
static inline bool tide_word_table_matches(const tide_word_table *t, uint32_t slot,
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
        if (cell >> 32 == key->tag &&
            tide_word_table_matches(t, (uint32_t)cell - 1, key))
            return (uint32_t)cell - 1;
    }
}

/* The first slot whose cell has the word's tag: almost certainly that of the word, and
 * found without touching a record. */
static inline uint32_t tide_word_table_candidate(const tide_word_table *t,
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
