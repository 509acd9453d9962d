/* vocabulary.h - state shared by all kinds of vocabulary, and the batch loop.
 * Private. */
#ifndef TIDE_VOCAB_VOCABULARY_H
#define TIDE_VOCAB_VOCABULARY_H

#include "vocab/vocab.h"
#include "vocab/word_table.h"

typedef struct tide_vocabulary_methods {
    const char *name;

    /* Counts keys[first] to keys[end - 1]; otherwise as tide_vocabulary_add_keys. */
    size_t (*add)(tide_vocabulary *v, const tide_key *keys, size_t first, size_t end,
                  uint32_t *slots, tide_admission *admissions);

    /* Adjusts the rest of the state after the counts of all records were halved. */
    void (*halve)(tide_vocabulary *v);

    bool counts_from_minimum; /* the weight of a word is count - minimum */
} tide_vocabulary_methods;

extern const tide_vocabulary_methods tide_space_saving;
extern const tide_vocabulary_methods tide_misra_gries;
extern const tide_vocabulary_methods tide_exact;

/* The space-saving gate, a count-min sketch of cache lines; see space_saving.c. */
#define TIDE_GATE_CELLS 16

typedef struct tide_gate_line {
    uint32_t cells[TIDE_GATE_CELLS];
} tide_gate_line;

uint64_t tide_gate_lines(const tide_vocabulary_options *options); /* 0 without a gate */

struct tide_vocabulary {
    const tide_vocabulary_methods *methods;
    tide_vocabulary_options options;
    tide_word_table words;
    tide_gate_line *gate; /* [gate_mask + 1]; NULL without a gate */
    uint64_t gate_mask;

    uint64_t tokens; /* counted since the beginning */
    uint64_t total;  /* the same, halved with the counts */
    uint64_t since_halving;
    uint64_t admitted;
    uint64_t evicted;
    uint64_t evicted_early;
    uint64_t rejected;
    uint64_t current_token; /* number of the last token of a word that was not held */
    /* [capacity] number of the token that admitted the word; NULL for kinds that never
     * evict. */
    uint64_t *admitted_at;
    uint32_t used;
    uint32_t size;

    /* Upper bound on the true count of any word that is not held. Space-saving: also a
     * lower bound on the count of every held word. Misra-Gries: the common offset.
     * Exact: the number of rejected tokens. */
    uint64_t minimum;

    /* Space-saving: the next slot to examine. Misra-Gries: no slot below is empty. */
    uint32_t hand;

    /* Lower bound on counts. Space-saving: of the slots below the hand. Misra-Gries: of
     * all slots. */
    uint64_t lowest;
};

/* tide_vocabulary_new with a given secret instead of that of the process. */
tide_vocabulary *tide_vocabulary_new_keyed(const tide_vocabulary_options *options,
                                           uint64_t secret, tide_error *err);

/* Decides whether to admit a word that is not held. Returns its slot, and in *reused
 * whether the slot held another word before, or TIDE_NO_SLOT if the word is
 * rejected. */
typedef uint32_t tide_vocabulary_admit(tide_vocabulary *v, const tide_key *key,
                                       bool *reused);

/* Prefetches the memory that `admit` needs for a word that is probably not held. */
typedef void tide_vocabulary_prefetch(const tide_vocabulary *v, const tide_key *key);

/* Words looked up together, so that their cache misses overlap. */
#define TIDE_VOCABULARY_LOOKAHEAD 128

/* The loop over a batch, from which each kind builds its `add`: it is inlined there
 * together with the kind's `admit` and `prefetch`.
 *
 * A large vocabulary exceeds all caches, and each token touches two lines of it: a hash
 * cell and a record. So groups of words go through three steps together: prefetch the
 * cell; read the cell and prefetch the record; count. The slot found in
 * the second step is only a candidate, because counting the words before it may move
 * cells and evict words. The key in the record decides; if it differs, the word is
 * looked up again. */
static inline __attribute__((always_inline)) size_t
tide_vocabulary_batch(tide_vocabulary *v, const tide_key *keys, size_t first,
                      size_t end, uint32_t *slots, tide_admission *admissions,
                      tide_vocabulary_admit *admit, tide_vocabulary_prefetch *prefetch)
{
    uint32_t candidates[TIDE_VOCABULARY_LOOKAHEAD];
    tide_word_table *t = &v->words;
    size_t admitted = 0, begin = first;
    keys += first;
    for (; first < end;
         first += TIDE_VOCABULARY_LOOKAHEAD, keys += TIDE_VOCABULARY_LOOKAHEAD) {
        size_t count = end - first;
        if (count > TIDE_VOCABULARY_LOOKAHEAD)
            count = TIDE_VOCABULARY_LOOKAHEAD;
        /* Pass 1 touches no memory of the table: it requests the cells. */
        for (size_t i = 0; i < count; i++)
            __builtin_prefetch(&t->cells[keys[i].tag >> t->shift]);
        /* Pass 2: the cells have arrived by now, and they say which records will be
         * needed. A word without a candidate will probably be new, so its gate line is
         * requested instead. */
        for (size_t i = 0; i < count; i++) {
            candidates[i] = tide_word_table_candidate(t, &keys[i]);
            if (candidates[i] != TIDE_NO_SLOT)
                __builtin_prefetch(&t->records[candidates[i]], 1);
            else if (prefetch)
                prefetch(v, &keys[i]);
        }
        /* Pass 3 counts in the order of the text, so the result is the same as without
         * batches. */
        for (size_t i = 0; i < count; i++) {
            uint32_t slot = candidates[i];
            /* The candidate may be stale: an earlier word of this group may have been
             * admitted, with the same text or into this slot. The full lookup sees the
             * table as it is now. */
            if (slot == TIDE_NO_SLOT || !tide_word_table_matches(t, slot, &keys[i]))
                slot = tide_word_table_find(t, &keys[i]);
            if (slot != TIDE_NO_SLOT) {
                t->records[slot].count++;
            } else {
                bool reused = false;
                /* v->tokens is updated once per call, so the number of this token is
                 * computed from its index. */
                v->current_token = v->tokens + (first + i - begin);
                slot = admit(v, &keys[i], &reused);
                if (slot != TIDE_NO_SLOT)
                    admissions[admitted++] =
                        (tide_admission){slot, (uint32_t)(first + i), reused};
                else
                    v->rejected++;
            }
            slots[first + i] = slot;
        }
    }
    v->admitted += admitted;
    return admitted;
}

/* A word evicted this soon after its admission has hardly been trained. */
#define TIDE_EARLY_TOKENS 1000

/* Stores a new word in an empty slot. */
static inline void tide_vocabulary_fill_slot(tide_vocabulary *v, uint32_t slot,
                                             const tide_key *key, uint64_t count,
                                             uint64_t error)
{
    tide_word_table_put(&v->words, slot, key);
    v->words.records[slot].count = count;
    v->words.records[slot].error = error;
    v->size++;
    if (v->admitted_at)
        v->admitted_at[slot] = v->current_token;
}

/* Evicts the word in a slot, which becomes empty. */
static inline void tide_vocabulary_evict(tide_vocabulary *v, uint32_t slot)
{
    tide_word_table_remove(&v->words, slot);
    v->size--;
    v->evicted++;
    v->evicted_early += v->current_token - v->admitted_at[slot] <= TIDE_EARLY_TOKENS;
}

#endif
