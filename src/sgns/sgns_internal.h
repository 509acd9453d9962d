/* sgns_internal.h - what sgns.c, sgns_pair.c and sgns_block.c share. Private. */
#ifndef TIDE_SGNS_SGNS_INTERNAL_H
#define TIDE_SGNS_SGNS_INTERNAL_H

#include "params/params.h"
#include "sgns/hot_rows.h"
#include "sgns/sgns.h"
#include "vector/vector.h"

enum {
    CONTEXTS_MAX = 2 * WINDOW_MAX,
    DRAWS_MAX = SHARED_DRAWS * NEGATIVE_MAX,
    PADDED = CONTEXTS_MAX + 32, /* kernels work on multiples of 16 */
    MARKS = 4096,
    NEAR_MAX = 2 * WINDOW_MAX + TIDE_QUAD + 16,
};

/* The output rows of one step: the context first, then its negatives. */
typedef struct tide_outputs {
    uint32_t slots[PADDED];
    float *rows[PADDED];
    float weights[PADDED];
    float errors[PADDED]; /* the dot products, then the errors */
    float squares[PADDED];
    float rates[PADDED];
} tide_outputs;

/* The negatives shared by a block of centers. */
typedef struct tide_shared {
    float *rows[DRAWS_MAX];
    float weights[DRAWS_MAX][TIDE_BLOCK];
    float errors[DRAWS_MAX][TIDE_BLOCK]; /* the dot products, then the errors */
    float squares[DRAWS_MAX + 16];
    float rates[DRAWS_MAX + 16];
    uint32_t drawn[2][DRAWS_MAX]; /* for this block and the next, alternating */
    uint32_t nearby[DRAWS_MAX];   /* indices of draws that may be near the block */
    uint32_t nearby_count;
    unsigned char marks[MARKS]; /* by slot % MARKS: may be near the block */
} tide_shared;

/* The words around a quad of centers. */
typedef struct tide_near {
    float weights[NEAR_MAX][TIDE_QUAD];
    float errors[NEAR_MAX][TIDE_QUAD]; /* the dot products, then the errors */
    float squares[NEAR_MAX];
    float rates[NEAR_MAX];
} tide_near;

struct tide_scratch {
    tide_outputs outputs;
    tide_shared shared;
    tide_near near;
    float *rows[SENTENCE_MAX];    /* output rows of the sentence's words */
    tide_hot_rows *hot_rows;      /* NULL with one thread */
    float *hole;                  /* [stride] zeros: the row of a hole */
    tide_accumulator_cache cache; /* for the words near the present block */
    float *x;                     /* [TIDE_BLOCK][stride] the input vectors */
    float *gradients;             /* [TIDE_BLOCK][stride] of those */
};

/* Reads the vector of a center word, after its n-grams have moved it if that is due.
 * Returns its mean square. `scale` is the sentence's. */
float tide_sgns_input(const tide_sgns *sgns, uint32_t center, float scale, float *x);

/* Moves that vector along its gradient. */
void tide_sgns_move_input(const tide_sgns *sgns, uint32_t center, const float *gradient,
                          float scale);

/* row *= factor; a factor of 0 also removes NaNs. */
void tide_sgns_scale_row(const tide_sgns *sgns, float *row, float factor);

/* To be called for a word that is about to be trained: exchanges with the rows of its
 * n-grams what has come together, if that is due (ngrams.c). */
void tide_ngrams_update(const tide_sgns *sgns, uint32_t slot, float scale);

/* Keeps a gradient of the word's vector for its n-grams. Returns the learning rate of
 * the vector; `own_rate` is that of the word's own row. `square` is |gradient|^2 /
 * dim. */
float tide_ngrams_step(const tide_sgns *sgns, uint32_t slot, const float *gradient,
                       float square, float own_rate);

/* Prefetches what decides whether a word is to be visited; later, when that is in the
 * cache, what the visit needs if it is due. */
void tide_ngrams_prefetch_state(const tide_sgns *sgns, uint32_t slot);
void tide_ngrams_prefetch_rows(const tide_sgns *sgns, uint32_t slot);

/* Multiplies the rows of the word's n-grams by a factor. */
void tide_ngrams_scale(const tide_sgns *sgns, uint32_t slot, float factor);

/* Whether no number kept for the word is NaN or above `max`. */
bool tide_ngrams_are_sound(const tide_ngrams *ngrams, uint32_t slot, float max);

/* Whether to measure the loss of the center `at`: for one center in 64 of fresh
 * sentences. */
bool tide_sgns_measures_loss(const tide_sentence *sentence, uint32_t at);
double tide_sgns_loss(float dot, float weight, bool positive);

/* Whether a slot must not be drawn or cached, because pending sentences may still mean
 * its previous word. Sequentially consistent with changes of the hot-row cache
 * (hot_rows.c). */
static inline bool tide_sgns_is_quarantined(const tide_sgns *sgns, uint32_t slot)
{
    return sgns->quarantined &&
           __atomic_load_n(&sgns->quarantined[slot / 64], __ATOMIC_SEQ_CST) >>
                   (slot % 64) &
               1;
}

/* Selects what to train of stored sentences, and trains it. (select.c) */
void tide_sgns_select_and_train(const tide_sgns *sgns, tide_scratch *scratch,
                                const tide_sentence *stored,
                                tide_sgns_progress *progress);

/* Two ways to train a sentence: with negatives drawn for each pair, or shared by a
 * block. */
void tide_sgns_train_pairs(const tide_sgns *sgns, tide_scratch *scratch,
                           const tide_sentence *sentence, tide_rng *rng,
                           tide_sgns_progress *progress);
void tide_sgns_train_blocks(const tide_sgns *sgns, tide_scratch *scratch,
                            const tide_sentence *sentence, tide_rng *rng,
                            tide_sgns_progress *progress);

#endif
