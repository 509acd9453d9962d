/* vocab.h - the frequent words of a stream, counted in bounded memory.
 *
 * A vocabulary assigns each word it holds a slot in [0, capacity), which stays the same
 * until the word is evicted. A vocabulary belongs to one thread.
 */
#ifndef TIDE_VOCAB_H
#define TIDE_VOCAB_H

#include "file/file.h"

#define TIDE_NO_SLOT UINT32_MAX
#define TIDE_CAPACITY_MAX (UINT32_C(1) << 30)

typedef struct tide_vocabulary tide_vocabulary;

typedef enum tide_vocabulary_kind {
    TIDE_VOCABULARY_SPACE_SAVING,
    TIDE_VOCABULARY_MISRA_GRIES,
    TIDE_VOCABULARY_EXACT, /* rejects new words once it is full */
} tide_vocabulary_kind;

typedef struct tide_vocabulary_options {
    tide_vocabulary_kind kind;
    uint32_t capacity; /* K >= 1 */
    /* Space-saving: a word is admitted only when its estimate in a count-min sketch
     * exceeds the minimum. */
    bool gate;
    /* All counts are halved, rounding down, every `half_life` tokens; 0 for never. */
    uint64_t half_life;
    uint64_t seed;    /* of the gate's hash; results depend on it */
    const char *name; /* prefix of its sections, at most 6 letters; NULL for "vocab" */
} tide_vocabulary_options;

tide_vocabulary *tide_vocabulary_new(const tide_vocabulary_options *options,
                                     tide_error *err);
void tide_vocabulary_free(tide_vocabulary *v);

/* Bytes that tide_vocabulary_new allocates with these options. */
uint64_t tide_vocabulary_bytes(const tide_vocabulary_options *options);

/* A read-only copy for lookups while the vocabulary itself keeps counting. _new_copy
 * allocates it empty, _copy fills it. Words must not be added to it, and it cannot be
 * saved. */
tide_vocabulary *tide_vocabulary_new_copy(const tide_vocabulary *v, tide_error *err);
void tide_vocabulary_copy(tide_vocabulary *copy, const tide_vocabulary *v);
uint64_t tide_vocabulary_copy_bytes(const tide_vocabulary_options *options);

/* The word words[at] of the call was admitted to a slot. `reused` is set if the slot
 * held another word before. */
typedef struct tide_admission {
    uint32_t slot;
    uint32_t at;
    bool reused;
} tide_admission;

/* Counts `count` words in order. slots[i] becomes the slot of word i right after it was
 * counted, or TIDE_NO_SLOT if it is not held. A later word of the same call may evict
 * it again, which the admissions show. `admissions` has `count` elements and is filled
 * in order; returns the number of admissions. */
size_t tide_vocabulary_add(tide_vocabulary *v, const tide_word *words, size_t count,
                           uint32_t *slots, tide_admission *admissions);

/* A word prepared for counting: a bit pattern and a hash. A word of up to
 * TIDE_KEY_INLINE bytes is its pattern, of a longer one it is a hash. */
#define TIDE_KEY_INLINE 14 /* longest word that fits its key, a 0 after it included */

typedef struct tide_key {
    uint64_t part[2];
    const char *bytes;
    uint32_t length;
    uint32_t tag;
} tide_key;

/* The same in two steps, the first of which any thread may do. Keys point to the bytes
 * of their words. */
void tide_vocabulary_keys(const tide_vocabulary *v, const tide_word *words,
                          size_t count, tide_key *keys);
size_t tide_vocabulary_add_keys(tide_vocabulary *v, const tide_key *keys, size_t count,
                                uint32_t *slots, tide_admission *admissions);

/* Inserts a word with a count of at least 1 and an error into a slot that has never
 * been used. Returns TIDE_NO_SLOT if the word is already held or no such slot is
 * left. */
uint32_t tide_vocabulary_insert(tide_vocabulary *v, const tide_word *word,
                                uint64_t count, uint64_t error);

/* Looks a word up without counting it. Returns TIDE_NO_SLOT if it is not held. */
uint32_t tide_vocabulary_find(const tide_vocabulary *v, const tide_word *word);

/* The word in a slot, terminated by a 0; NULL and length 0 for an empty slot. */
const char *tide_vocabulary_word(const tide_vocabulary *v, uint32_t slot,
                                 uint32_t *length);

/* count - error <= true count <= count. With a half-life, the true count is halved with
 * all others, rounding down. Both are 0 for an empty slot. */
uint64_t tide_vocabulary_count(const tide_vocabulary *v, uint32_t slot);
uint64_t tide_vocabulary_error(const tide_vocabulary *v, uint32_t slot);

/* The effect of halving on the last `tokens` tokens: one of them now counts *recent on
 * average, and the count of an older one has been multiplied by *older since then. Both
 * are 1 without halving. */
void tide_vocabulary_decay(const tide_vocabulary *v, uint64_t tokens, double *older,
                           double *recent);

/* The estimate of the true count that negative sampling and subsampling use: the count
 * for space-saving and exact, the count minus the common offset for Misra-Gries (at
 * least 1). 0 for an empty slot. */
uint64_t tide_vocabulary_weight(const tide_vocabulary *v, uint32_t slot);

/* The weights of many slots; 0 for TIDE_NO_SLOT. */
void tide_vocabulary_weights(const tide_vocabulary *v, const uint32_t *slots,
                             size_t count, float *weights);

/* All slots that have ever been used are below this. */
uint32_t tide_vocabulary_used(const tide_vocabulary *v);
/* Words held. */
uint32_t tide_vocabulary_size(const tide_vocabulary *v);
/* Tokens counted since the beginning, and the same number halved with the counts. */
uint64_t tide_vocabulary_tokens(const tide_vocabulary *v);
uint64_t tide_vocabulary_total(const tide_vocabulary *v);
/* Upper bound on the count of any word that is not held. */
uint64_t tide_vocabulary_minimum(const tide_vocabulary *v);
uint64_t tide_vocabulary_admitted(const tide_vocabulary *v);
uint64_t tide_vocabulary_evicted(const tide_vocabulary *v);
/* Words evicted within 1,000 tokens of their admission. */
uint64_t tide_vocabulary_evicted_early(const tide_vocabulary *v);
/* Tokens of words that were not held and not admitted. */
uint64_t tide_vocabulary_rejected(const tide_vocabulary *v);

/* Sections vocab.*. The saved state depends on the stream and the options alone, never
 * on the process, so a loaded vocabulary continues exactly like the original. A
 * vocabulary without a gate that is only used for lookups may be loaded with a smaller
 * capacity, as long as its words fit. */
void tide_vocabulary_save(const tide_vocabulary *v, tide_store_writer *writer);
tide_vocabulary *tide_vocabulary_load(const tide_vocabulary_options *options,
                                      tide_store *store, tide_error *err);

#endif
