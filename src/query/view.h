/* view.h - the view struct, shared by the files of this directory. Private. */
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
    float *mean;      /* [stride]; zero unless centered */
    uint32_t *order;  /* [capacity] slots in descending order of count */
    tide_rank *ranks; /* [2][capacity] scratch space for sorting */
    uint32_t capacity;
    uint32_t words;
    _Atomic uint32_t *generations; /* [capacity]; NULL unless the model is trained */
    uint32_t *expected;            /* [capacity] generations at the last refresh */
};

/* Sorts the slots in use by descending count, and by number for equal counts. Returns
 * how many there are. `ranks` is scratch space with two elements per slot ever used. */
uint32_t tide_rank_slots(const tide_vocabulary *v, tide_rank *ranks, uint32_t *order);

/* Whether the slot still holds the word it held at the last refresh. To be called after
 * reading its vector. */
bool tide_view_is_current(const tide_view *view, uint32_t slot);

/* Whether a vector read from the slot belongs to the word of the slot. While the model
 * is trained, it does not if the word has been replaced, or if the vector is not finite
 * and about to be repaired. */
bool tide_view_is_valid(const tide_view *view, uint32_t slot, const float *vector);

/* The vector of a slot without centering. `out` has the stride of the matrix. */
void tide_view_raw(const tide_view *view, uint32_t slot, float *out);

/* The same minus the mean. */
void tide_view_centered(const tide_view *view, uint32_t slot, float *out);

/* The vector of `words` if that is a word, otherwise the mean of the vectors of the
 * words in it, separated by spaces. Appends their slots to `slots`, which has at least
 * TIDE_TERM_MAX free elements, and adds their number to *count. */
int tide_view_term(const tide_view *view, const char *words, float *out,
                   uint32_t *slots, size_t *count, tide_error *err);

/* The vector of a word. *slot becomes TIDE_NO_SLOT if the word is not held and its
 * vector was composed from n-grams. */
int tide_view_word(const tide_view *view, const char *word, float *out, uint32_t *slot,
                   tide_error *err);

/* |x|^2. If that would overflow or underflow, x is first scaled by a power of two,
 * which preserves its direction. */
float tide_view_square(const tide_view *view, float *x);

/* Normalizes x to length 1; a zero vector stays zero. */
void tide_view_normalize(const tide_view *view, float *x);

#endif
