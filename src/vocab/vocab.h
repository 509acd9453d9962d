/* vocab.h - which words are frequent: counting a stream of words in bounded memory.
 *
 * A vocabulary gives each word it holds a slot in [0, capacity) that is stable while the word lives. It belongs
 * to one thread; only what is said below may be shared.
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
    TIDE_VOCABULARY_EXACT, /* admits nobody once it is full */
} tide_vocabulary_kind;

typedef struct tide_vocabulary_options {
    tide_vocabulary_kind kind;
    uint32_t capacity; /* K >= 1 */
    bool
        gate; /* space-saving: newcomers must first beat the minimum in a count-min sketch */
    uint64_t
        half_life; /* all counts are halved, rounding down, every so many tokens; 0 for never */
    uint64_t seed;    /* of the gate's hash: part of what the result depends on */
    const char *name; /* of its sections, at most 6 letters; NULL for "vocab" */
} tide_vocabulary_options;

tide_vocabulary *tide_vocabulary_new(const tide_vocabulary_options *options,
                                     tide_error *err);
void tide_vocabulary_free(tide_vocabulary *v);

/* What _new allocates with these options. */
uint64_t tide_vocabulary_bytes(const tide_vocabulary_options *options);

/* A copy to be asked while the vocabulary itself goes on counting: room for it, and the copying. Nothing can
 * be added to it, and it cannot be saved. */
tide_vocabulary *tide_vocabulary_new_copy(const tide_vocabulary *v, tide_error *err);
void tide_vocabulary_copy(tide_vocabulary *copy, const tide_vocabulary *v);
uint64_t tide_vocabulary_copy_bytes(const tide_vocabulary_options *options);

/* A word entered a slot: words[at] of the call. `reused` when another word had the slot before. */
typedef struct tide_admission {
    uint32_t slot;
    uint32_t at;
    bool reused;
} tide_admission;

/* Counts `count` words in their order. slots[i] is where word i is held at the moment it was
 * counted, or TIDE_NO_SLOT. A later word of the same call may take that slot away again; the
 * admissions, in their order, tell. `admissions` has room for `count`; their number is returned. */
size_t tide_vocabulary_add(tide_vocabulary *v, const tide_word *words, size_t count,
                           uint32_t *slots, tide_admission *admissions);

/* Gives a word that is not held a slot that nobody has had, as if it had been counted `count` (at
 * least 1) times, of which `error` may not be true. TIDE_NO_SLOT when it is held or no such slot is
 * left. */
uint32_t tide_vocabulary_insert(tide_vocabulary *v, const tide_word *word,
                                uint64_t count, uint64_t error);

/* TIDE_NO_SLOT when the word is not held. Counts nothing. */
uint32_t tide_vocabulary_find(const tide_vocabulary *v, const tide_word *word);

/* The word in a slot, with a 0 after it; NULL and length 0 for an empty slot. */
const char *tide_vocabulary_word(const tide_vocabulary *v, uint32_t slot,
                                 uint32_t *length);

/* count - error <= true count <= count, where with a half-life the true count is halved, rounding
 * down, together with the others. Both are 0 for an empty slot. */
uint64_t tide_vocabulary_count(const tide_vocabulary *v, uint32_t slot);
uint64_t tide_vocabulary_error(const tide_vocabulary *v, uint32_t slot);

/* What halving has done to counts in the last `tokens`: an occurrence before them is worth *before now, and one
 * among them *among on average. Both are 1 where nothing was halved. */
void tide_vocabulary_decay(const tide_vocabulary *v, uint64_t tokens, double *before,
                           double *among);

/* Estimate of the true count that negative sampling and sub-sampling use: count for space-saving
 * and exact, count above the common offset for Misra-Gries (at least 1); 0 for an empty slot. */
uint64_t tide_vocabulary_weight(const tide_vocabulary *v, uint32_t slot);

/* The same for many slots at once; 0 for TIDE_NO_SLOT. */
void tide_vocabulary_weights(const tide_vocabulary *v, const uint32_t *slots,
                             size_t count, float *weights);

uint32_t
tide_vocabulary_used(const tide_vocabulary *v); /* slots below this have been used */
uint32_t tide_vocabulary_size(const tide_vocabulary *v);   /* words held */
uint64_t tide_vocabulary_tokens(const tide_vocabulary *v); /* ever counted */
uint64_t
tide_vocabulary_total(const tide_vocabulary *v); /* tokens, halved with the counts */
uint64_t tide_vocabulary_minimum(
    const tide_vocabulary *v); /* bound on the count of any word not held */
uint64_t tide_vocabulary_admitted(const tide_vocabulary *v);
uint64_t tide_vocabulary_evicted(const tide_vocabulary *v);
uint64_t tide_vocabulary_evicted_early(
    const tide_vocabulary *v); /* of these, within 1,000 tokens of their coming */
uint64_t
tide_vocabulary_rejected(const tide_vocabulary *v); /* tokens of words not held */

/* Sections vocab.*. What is saved depends on the stream and the options alone, never on the
 * process: loading and going on equals never having stopped. */
void tide_vocabulary_save(const tide_vocabulary *v, tide_store_writer *writer);
/* A vocabulary without a gate that is only going to be asked may be loaded with a smaller
 * capacity, as long as its words fit. */
tide_vocabulary *tide_vocabulary_load(const tide_vocabulary_options *options,
                                      tide_store *store, tide_error *err);

#endif
