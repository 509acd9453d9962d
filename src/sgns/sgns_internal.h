/* learn.h - what sgns.c, pairs.c and sgns_block.c share: the desk at which a thread learns. */
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

/* The outputs of one step: rows to be pulled nearer, then rows to be pushed away. */
typedef struct tide_outputs {
    uint32_t slots[PADDED];
    float *rows[PADDED];
    float weights[PADDED];
    float errors[PADDED]; /* first the dot products */
    float squares[PADDED];
    float rates[PADDED];
} tide_outputs;

/* The negatives that a block of centers shares. */
typedef struct tide_shared {
    float *rows[DRAWS_MAX];
    float weights[DRAWS_MAX][TIDE_BLOCK];
    float errors[DRAWS_MAX][TIDE_BLOCK];
    float squares[DRAWS_MAX + 16];
    float rates[DRAWS_MAX + 16];
    uint32_t drawn[2][DRAWS_MAX]; /* of this block and of the next, in turns */
    uint32_t careful[DRAWS_MAX];  /* places among the draws that need a closer look */
    uint32_t careful_count;
    unsigned char marks[MARKS]; /* by slot % MARKS: may be near the block */
} tide_shared;

/* The words around a quad of centers. */
typedef struct tide_near {
    float weights[NEAR_MAX][TIDE_QUAD];
    float errors[NEAR_MAX][TIDE_QUAD]; /* first the dot products */
    float squares[NEAR_MAX];
    float rates[NEAR_MAX];
} tide_near;

struct tide_scratch {
    tide_outputs outputs;
    tide_shared shared;
    tide_near near;
    float *rows[SENTENCE_MAX]; /* output rows of the lesson's words */
    tide_hot_rows
        *copies; /* of rows that other threads want too; NULL with one thread */
    float *hole; /* [stride] the row of a word that has lost its slot: zeros */
    tide_sum_cache reach; /* of the centers of a block */
    float *x;             /* [TIDE_BLOCK][stride] input vectors of centers */
    float *gradients;     /* [TIDE_BLOCK][stride] of these */
};

/* The vector that stands for a center word: its row, or the mean of it and its n-grams. Returns the
 * mean square of its numbers. */
float tide_sgns_input(const tide_sgns *l, uint32_t center, float *x);

/* Moves that vector by its gradient. */
void tide_sgns_move_input(const tide_sgns *l, uint32_t center, const float *gradient,
                          float scale);

/* The loss is measured on one center in 64, and only on text that is new. */
bool tide_sgns_measures_loss(const tide_sentence *lesson, uint32_t at);
double tide_sgns_loss(float dot, float weight, bool positive);

/* Whether a slot must not be drawn or copied: its old vectors may still be in use. In one order with what is said
 * of copies (hot_rows.c). */
static inline bool tide_sgns_is_quarantined(const tide_sgns *l, uint32_t slot)
{
    return l->closed &&
           __atomic_load_n(&l->closed[slot / 64], __ATOMIC_SEQ_CST) >> (slot % 64) & 1;
}

/* The two ways to learn a lesson. */
void tide_sgns_train_pairs(const tide_sgns *l, tide_scratch *d,
                           const tide_sentence *lesson, tide_rng *rng,
                           tide_sgns_progress *learned);
void tide_sgns_train_blocks(const tide_sgns *l, tide_scratch *d,
                            const tide_sentence *lesson, tide_rng *rng,
                            tide_sgns_progress *learned);

#endif
