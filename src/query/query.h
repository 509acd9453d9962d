/* query.h - looking at a model: views, nearest words, the rotation between two models. */
#ifndef TIDE_QUERY_H
#define TIDE_QUERY_H

#include "model/model.h"
#include "vector/vector.h"

#include <stdatomic.h>

/* -- aligner (align.c) ------------------------------------------------------------- */

/* Finds the rotation that brings vectors nearest to others. All memory is taken when it is made. */
typedef struct tide_aligner tide_aligner;

/* For up to `rows` vectors of _fit_most, and any number of _fit. */
tide_aligner *tide_aligner_new(uint32_t dim, uint32_t rows, tide_error *err);
void tide_aligner_free(tide_aligner *aligner);
uint64_t tide_aligner_bytes(uint32_t dim, uint32_t rows);

/* Fits fail soon after *stop has become true. It must live as long as the aligner. */
void tide_aligner_set_stop(tide_aligner *aligner, const _Atomic bool *stop);

/* The orthogonal matrix R that brings the rows of `from` nearest to those of `to`, which has the same
 * shape: the sum of |from[i] R - to[i]|^2 is the least. Takes time as dim^3. */
int tide_aligner_fit(tide_aligner *aligner, const tide_matrix *from,
                     const tide_matrix *to, tide_error *err);

/* The same for most of them: the quarter that fits worst is left out. */
int tide_aligner_fit_most(tide_aligner *aligner, const tide_matrix *from,
                          const tide_matrix *to, tide_error *err);

/* R, [dim][dim] row by row. */
const double *tide_aligner_rotation(const tide_aligner *aligner);

/* Cosine, or degrees, between from R and `to`; both of length 1. */
double tide_aligner_cosine(const tide_aligner *aligner, const float *from,
                           const float *to);
double tide_aligner_angle(const tide_aligner *aligner, const float *from,
                          const float *to);

/* -- entries and views (query.c, view.c) ------------------------------------------- */

/* The word of a slot; NULL when it is empty (query.c). */
tide_entry tide_model_entry(const tide_model *model, uint32_t slot);

/* One for a model whose slots change hands while it is asked: hands[slot] is how often that has happened, counted
 * before the newcomer's vector is written. Room for all words is made once; nothing can be asked before it is
 * filled by _make, which looks at the model as it is then, with nobody learning and nobody asking. The
 * vocabulary must not change until it is made again, so it is a copy. */
tide_view *tide_view_new_live(const tide_model *model, tide_vectors vectors,
                              bool centered, _Atomic uint32_t *hands, tide_error *err);
void tide_view_refresh(tide_view *space);
uint64_t tide_view_live_bytes(const tide_shape *shape);

/* Slots by falling count; *words is their number. */
const uint32_t *tide_view_order(const tide_view *space, uint32_t *words);

/* The vector of a slot in use, of length 1; zero when it has no length. `out` has the matrix's
 * stride. */
void tide_view_unit(const tide_view *space, uint32_t slot, float *out);

/* The same of a model that learns. False when the slot has another word by now, or its vector is not made of
 * numbers. */
bool tide_view_unit_current(const tide_view *space, uint32_t slot, float *out);

/* How often the slot had changed hands when the space was made. */
uint32_t tide_view_generation(const tide_view *space, uint32_t slot);

/* One more for a list of the best, by falling score; of equals the first to come stays first. Returns
 * how many there are now. */
size_t tide_hits_insert(tide_hit *hits, size_t count, size_t room, tide_hit hit);

#endif
