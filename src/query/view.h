/* view.h - what the files about spaces share. Private. */
#ifndef TIDE_QUERY_VIEW_H
#define TIDE_QUERY_VIEW_H

#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

typedef struct tide_rank {
    uint64_t count;
    uint32_t slot;
} tide_rank;

struct tide_view {
    const tide_model *model;
    const tide_kernels *kernels;
    tide_vectors vectors;
    bool centered;
    float *mean;      /* [stride]; all zero when not centered */
    uint32_t *order;  /* [room] slots by falling count */
    tide_rank *ranks; /* [2][room] for making the order */
    uint32_t room;
    uint32_t words;
    _Atomic uint32_t *hands; /* [room] of a model that learns; NULL otherwise */
    uint32_t *seen;          /* [room] the same when the space was last made */
};

/* Slots in use by falling count, of equals by their numbers; returns how many. `ranks` has room for two of
 * every slot that has been used. */
uint32_t tide_rank_slots(const tide_vocabulary *v, tide_rank *ranks, uint32_t *order);

/* Whether the slot has the word that the space knows, asked after its vector was read. */
bool tide_view_is_current(const tide_view *space, uint32_t slot);

/* Whether a vector that was read of the slot is that of its word. In a model that learns it is not when the slot has
 * another word by now, or when it is not made of numbers and waits to be begun again. */
bool tide_view_is_valid(const tide_view *space, uint32_t slot, const float *vector);

/* The vector of a slot as the space sees it, mean not yet taken out. `out` has the stride. */
void tide_view_raw(const tide_view *space, uint32_t slot, float *out);

/* The same without the mean. */
void tide_view_centered(const tide_view *space, uint32_t slot, float *out);

/* The mean of the words in a text of words separated by spaces, or the vector of the word that the text is.
 * Their slots are added to `slots`, which has room for TIDE_TERM_MAX more, and counted in *count. */
int tide_view_term(const tide_view *space, const char *words, float *out,
                   uint32_t *slots, size_t *count, tide_error *err);

/* That of a word; *slot is TIDE_NO_SLOT where it is not held and its vector made of n-grams. */
int tide_view_word(const tide_view *space, const char *word, float *out, uint32_t *slot,
                   tide_error *err);

/* |x|^2. A vector whose square no float can hold is scaled first, which does not turn it. */
float tide_view_square(const tide_view *space, float *x);

/* x / |x|; a vector of no length stays zero. */
void tide_view_normalize(const tide_view *space, float *x);

#endif
