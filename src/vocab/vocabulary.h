/* vocabulary.h - what the kinds of vocabulary share: the state, and the way of a
 * batch. */
#ifndef TIDE_VOCAB_VOCABULARY_H
#define TIDE_VOCAB_VOCABULARY_H

#include "vocab/vocab.h"
#include "vocab/word_table.h"

typedef struct tide_vocabulary_methods {
    const char *name;

    /* Counts words[first] to words[end - 1]; otherwise as tide_vocabulary_add. */
    size_t (*add)(tide_vocabulary *v, const tide_word *words, size_t first, size_t end,
                  uint32_t *slots, tide_admission *admissions);

    /* What the halving of all records means for the rest of the state. */
    void (*halve)(tide_vocabulary *v);

    bool counts_from_minimum; /* the weight of a word is its count above the minimum */
} tide_vocabulary_methods;

extern const tide_vocabulary_methods tide_space_saving;
extern const tide_vocabulary_methods tide_misra_gries;
extern const tide_vocabulary_methods tide_exact;

/* The cells of space-saving's gate; see space_saving.c. */
#define TIDE_GATE_CELLS 16

typedef struct tide_gate_line {
    uint32_t cells[TIDE_GATE_CELLS];
} tide_gate_line;

uint64_t tide_gate_lines(const tide_vocabulary_options *options); /* 0 without a gate */

struct tide_vocabulary {
    const tide_vocabulary_methods *methods;
    tide_vocabulary_options options;
    tide_word_table words;
    tide_gate_line *gate; /* NULL without */
    uint64_t gate_mask;

    uint64_t tokens; /* ever counted */
    uint64_t total;  /* the same, halved with the counts */
    uint64_t since_halving;
    uint64_t admitted;
    uint64_t evicted;
    uint64_t evicted_young;
    uint64_t rejected;
    uint64_t now;      /* number of the token being looked at, where one is missing */
    uint64_t *arrived; /* [capacity] that of the token with which a word came; NULL in a
                          vocabulary that nobody leaves */
    uint32_t used;
    uint32_t size;

    /* No word that is not held has a higher true count. Space-saving: also, none that
     * is held has a lower count. Misra-Gries: the common offset. Exact: tokens turned
     * away. */
    uint64_t minimum;

    /* Space-saving: the slot to look at next. Misra-Gries: no slot below is empty. */
    uint32_t hand;

    /* Space-saving: no slot below the hand has a lower count. Misra-Gries: none has. */
    uint64_t lowest;
};

/* tide_vocabulary_new with a secret of one's own. */
tide_vocabulary *tide_vocabulary_new_keyed(const tide_vocabulary_options *options,
                                           uint64_t secret, tide_error *err);

/* Decides about a word that is not held: returns the slot that it has been given, and
 * whether that slot was another word's before, or TIDE_NO_SLOT. */
typedef uint32_t tide_vocabulary_miss(tide_vocabulary *v, const tide_key *key,
                                      bool *reused);

/* Asks for the memory that `miss` would need for a word which is probably not held. */
typedef void tide_vocabulary_ask(const tide_vocabulary *v, const tide_key *key);

/* Words are prepared this many at a time, so that the memory they need is on its way
 * while the others are being looked at. */
#define TIDE_VOCABULARY_AHEAD 32

/* The way of a batch, for a kind to build its `add` from: it is inlined there together
 * with the kind's `miss` and `ask`.
 *
 * A large vocabulary fits no cache, and a token touches two lines of it: a hash cell
 * and a record. So a few words go through three steps together: hash and ask for the
 * cell, read the cell and ask for the record, count. What the second step found is a
 * guess, since counting the words before may move cells and slots; the key in the
 * record decides, and when it disagrees the search is done again. */
static inline __attribute__((always_inline)) size_t
tide_vocabulary_batch(tide_vocabulary *v, const tide_word *words, size_t first,
                      size_t end, uint32_t *slots, tide_admission *admissions,
                      tide_vocabulary_miss *miss, tide_vocabulary_ask *ask)
{
    tide_key keys[TIDE_VOCABULARY_AHEAD];
    uint32_t guesses[TIDE_VOCABULARY_AHEAD];
    tide_word_table *t = &v->words;
    size_t admitted = 0, begin = first;
    for (; first < end; first += TIDE_VOCABULARY_AHEAD) {
        size_t count = end - first;
        if (count > TIDE_VOCABULARY_AHEAD)
            count = TIDE_VOCABULARY_AHEAD;
        for (size_t i = 0; i < count; i++) {
            keys[i] = tide_word_table_key(t, &words[first + i]);
            __builtin_prefetch(&t->cells[keys[i].tag >> t->shift]);
        }
        for (size_t i = 0; i < count; i++) {
            guesses[i] = tide_word_table_guess(t, &keys[i]);
            if (guesses[i] != TIDE_NO_SLOT)
                __builtin_prefetch(&t->records[guesses[i]], 1);
            else if (ask)
                ask(v, &keys[i]);
        }
        for (size_t i = 0; i < count; i++) {
            uint32_t slot = guesses[i];
            if (slot == TIDE_NO_SLOT || !tide_words_holds(t, slot, &keys[i]))
                slot = tide_word_table_find(t, &keys[i]);
            if (slot != TIDE_NO_SLOT) {
                t->records[slot].count++;
            } else {
                bool reused = false;
                v->now = v->tokens + (first + i - begin);
                slot = miss(v, &keys[i], &reused);
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

/* Who leaves so soon after coming has hardly been trained. */
#define TIDE_YOUNG_TOKENS 1000

/* Puts a newcomer into an empty slot. */
static inline void tide_vocabulary_seat(tide_vocabulary *v, uint32_t slot,
                                        const tide_key *key, uint64_t count,
                                        uint64_t error)
{
    tide_word_table_put(&v->words, slot, key);
    v->words.records[slot].count = count;
    v->words.records[slot].error = error;
    v->size++;
    if (v->arrived)
        v->arrived[slot] = v->now;
}

/* Sends the word in a slot away. */
static inline void tide_vocabulary_unseat(tide_vocabulary *v, uint32_t slot)
{
    tide_word_table_remove(&v->words, slot);
    v->size--;
    v->evicted++;
    v->evicted_young += v->now - v->arrived[slot] <= TIDE_YOUNG_TOKENS;
}

#endif
