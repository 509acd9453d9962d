/* query.h - queries on a model: views, nearest words, the rotation between two
 * models. */
#ifndef TIDE_QUERY_H
#define TIDE_QUERY_H

#include "model/model.h"
#include "vector/vector.h"

#include <stdatomic.h>

/* -- aligner (align.c) ------------------------------------------------------------- */

/* Finds the rotation that maps vectors as closely as possible to others. Allocates
 * memory only when it is created. */
typedef struct tide_aligner tide_aligner;

/* `rows` limits the number of vectors of _fit_most, but not that of _fit. */
tide_aligner *tide_aligner_new(uint32_t dim, uint32_t rows, tide_error *err);
void tide_aligner_free(tide_aligner *aligner);
uint64_t tide_aligner_bytes(uint32_t dim, uint32_t rows);

/* Fits fail soon after *stop becomes true. `stop` must outlive the aligner. */
void tide_aligner_set_stop(tide_aligner *aligner, const _Atomic bool *stop);

/* Computes the orthogonal matrix R that minimizes the sum of |from[i] R - to[i]|^2. The
 * matrices have the same shape. Takes time proportional to dim^3. */
int tide_aligner_fit(tide_aligner *aligner, const tide_matrix *from,
                     const tide_matrix *to, tide_error *err);

/* The same, but fits a second time without the quarter of the rows that fits worst. */
int tide_aligner_fit_majority(tide_aligner *aligner, const tide_matrix *from,
                              const tide_matrix *to, tide_error *err);

/* R, [dim][dim] in row-major order. */
const double *tide_aligner_rotation(const tide_aligner *aligner);

/* Cosine and angle in degrees between from R and `to`; both vectors have length 1. */
double tide_aligner_cosine(const tide_aligner *aligner, const float *from,
                           const float *to);
double tide_aligner_angle(const tide_aligner *aligner, const float *from,
                          const float *to);

/* -- entries and views (query.c, view.c) ------------------------------------------- */

/* The word of a slot and its counts. The word is NULL if the slot is empty. */
tide_entry tide_model_entry(const tide_model *model, uint32_t slot);

/* A view of a model that is trained while it is queried. generations[slot] is
 * incremented each time the word of the slot is replaced, before the vector of the new
 * word is written. Memory for all words is allocated once. The view must be refreshed
 * before the first query; tide_view_refresh reads the current state of the model, while
 * no thread trains or queries. The model's vocabulary must not change between
 * refreshes, so it is a copy of the one being trained. */
tide_view *tide_view_new_live(const tide_model *model, tide_vectors vectors,
                              bool centered, _Atomic uint32_t *generations,
                              tide_error *err);
void tide_view_refresh(tide_view *view);
uint64_t tide_view_live_bytes(const tide_shape *shape);

/* The slots in descending order of count; *words is their number. */
const uint32_t *tide_view_order(const tide_view *view, uint32_t *words);

/* The vector of a slot in use, normalized to length 1; a zero vector stays zero. `out`
 * has the stride of the matrix. */
void tide_view_unit(const tide_view *view, uint32_t slot, float *out);

/* The same for a model that is being trained. Returns false if the word of the slot has
 * been replaced since the refresh, or its vector is not finite. */
bool tide_view_unit_current(const tide_view *view, uint32_t slot, float *out);

/* The generation of the slot at the last refresh. */
uint32_t tide_view_generation(const tide_view *view, uint32_t slot);

/* Inserts a hit into a list of the best, in descending order of score; equal scores
 * keep the order of insertion. Returns the new number of hits. */
size_t tide_hits_insert(tide_hit *hits, size_t count, size_t capacity, tide_hit hit);

#endif
