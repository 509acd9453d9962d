/* sgns.c - skip-gram with negative sampling: how a sentence changes the vectors.
 *
 * For a center word w, its contexts c with weights a_c, and S negatives n per context,
 *
 *     maximize  sum_c a_c ( log s(<v_w, v'_c>) + sum_n log s(-<v_w, v'_n>) )
 *
 * by gradient steps, where s is the sigmoid: every output row c or n moves along v_w by
 * its error e = a (label - s), and v_w along the sum of e times the output rows.
 * Mikolov et al., NIPS 2013.
 *
 * The source of the negatives separates word2vec's method, one step per pair
 * (sgns_pair.c), from the fast one, in which a block of centers shares its negatives
 * (sgns_block.c). This file has what both need.
 */
#include "sgns/sgns.h"

#include "model/model.h"
#include "params/params.h"
#include "sgns/sgns_internal.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

enum { LOSS_EVERY = 64 };

#define SQUARE_MAX 1e4f /* mean square of an input vector */

uint64_t tide_scratch_bytes(uint32_t dim, bool with_hot_rows)
{
    return sizeof(tide_scratch) + (with_hot_rows ? tide_hot_rows_bytes(dim) : 0) +
           (2 * TIDE_BLOCK + 1) * tide_stride(dim) * sizeof(float);
}

tide_scratch *tide_scratch_new(uint32_t dim, const _Atomic uint32_t *selected,
                               tide_error *err)
{
    tide_scratch *scratch = tide_alloc(1, sizeof *scratch);
    if (scratch) {
        scratch->x = tide_alloc(TIDE_BLOCK, tide_stride(dim) * sizeof(float));
        scratch->gradients = tide_alloc(TIDE_BLOCK, tide_stride(dim) * sizeof(float));
        scratch->hole = tide_alloc(1, tide_stride(dim) * sizeof(float));
    }
    if (!scratch || !scratch->x || !scratch->gradients || !scratch->hole) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a training thread");
        tide_scratch_free(scratch);
        return NULL;
    }
    scratch->hot_rows = selected ? tide_hot_rows_new(dim, selected, err) : NULL;
    if (selected && !scratch->hot_rows) {
        tide_scratch_free(scratch);
        return NULL;
    }
    return scratch;
}

void tide_scratch_free(tide_scratch *scratch)
{
    if (!scratch)
        return;
    tide_hot_rows_free(scratch->hot_rows);
    free(scratch->hole);
    free(scratch->gradients);
    free(scratch->x);
    free(scratch);
}

void tide_scratch_flush(tide_scratch *scratch, const tide_sgns *sgns)
{
    if (scratch->hot_rows)
        tide_hot_rows_flush(scratch->hot_rows, sgns);
}

void tide_scratch_invalidate(tide_scratch *scratch, uint32_t slot)
{
    if (scratch->hot_rows)
        tide_hot_rows_invalidate(scratch->hot_rows, slot);
}

static float read_input(const tide_sgns *sgns, uint32_t center, float *x)
{
    uint32_t stride = sgns->model->input.stride;
    sgns->kernels->copy(x, tide_matrix_row(&sgns->model->input, center), stride);
    /* The mean square of the components rather than their sum, so that accumulators and
     * their parameters mean the same for all dimensions. */
    return sgns->kernels->dot(x, x, stride) / (float)sgns->model->input.dim;
}

void tide_sgns_scale_row(const tide_sgns *sgns, float *row, float factor)
{
    uint32_t stride = sgns->model->input.stride;
    float zero[TIDE_DIM_MAX] __attribute__((aligned(64)));
    memset(zero, 0, stride * sizeof *zero);
    if (factor > 0)
        sgns->kernels->add(zero, factor, row, stride);
    sgns->kernels->copy(row, zero, stride);
}

/* Training can diverge: if the learning rate is too high for the length of a vector,
 * every step makes the vector longer. The paper's order of steps does so at the paper's
 * own settings. An input vector above SQUARE_MAX is scaled back to it; one with NaNs is
 * set to zero. Outputs are then bounded too, because they only move along inputs. */
static void clip(const tide_sgns *sgns, uint32_t center, float square)
{
    float factor = tide_finite(square) ? sqrtf(SQUARE_MAX / square) : 0;
    tide_sgns_scale_row(sgns, tide_matrix_row(&sgns->model->input, center), factor);
    if (sgns->ngrams)
        tide_ngrams_scale(sgns, center, factor);
}

float tide_sgns_input(const tide_sgns *sgns, uint32_t center, float scale, float *x)
{
    if (sgns->ngrams)
        tide_ngrams_update(sgns, center, scale);
    float square = read_input(sgns, center, x);
    if (square <= SQUARE_MAX)
        return square;
    clip(sgns, center, square);
    return read_input(sgns, center, x);
}

void tide_sgns_move_input(const tide_sgns *sgns, uint32_t center, const float *gradient,
                          float scale)
{
    const tide_kernels *k = sgns->kernels;
    const tide_matrix *input = &sgns->model->input;
    float *row = tide_matrix_row(input, center);
    float *coordinates = tide_optimizer_input_coordinates(sgns->optimizer, center);
    float square = k->dot(gradient, gradient, input->stride) / (float)input->dim;
    if (!tide_finite(square))
        return; /* an output row had a NaN, which must not spread */
    if (coordinates) {
        k->add_coordinates(row, coordinates, gradient, (float)sgns->params->alpha,
                           input->stride);
        return;
    }
    float rate = tide_optimizer_input_rate(sgns->optimizer, k, scale, center, square);
    if (sgns->ngrams)
        rate = tide_ngrams_step(sgns, center, gradient, square, rate);
    k->add(row, rate, gradient, input->stride);
}

bool tide_sgns_measures_loss(const tide_sentence *sentence, uint32_t at)
{
    return sentence->fresh && (sentence->sequence + at) % LOSS_EVERY == 0;
}

double tide_sgns_loss(float dot, float weight, bool positive)
{
    double x = positive ? -(double)dot : (double)dot;
    return (double)weight * (x > 30 ? x : log1p(exp(x)));
}

static void age_centers(const tide_sgns *sgns, const tide_sentence *sentence)
{
    for (uint32_t at = 0; at < sentence->count; at++)
        if (sentence->slots[at] != TIDE_NO_SLOT)
            tide_optimizer_age(sgns->optimizer, sentence->slots[at]);
}

void tide_sgns_train(const tide_sgns *sgns, tide_scratch *scratch,
                     const tide_sentence *sentence, tide_sgns_progress *progress)
{
    const tide_params *params = sgns->params;
    tide_rng rng =
        tide_rng_seeded(params->seed + sentence->sequence * 0xc2b2ae3d27d4eb4fu);
    if (params->negative_sharing == TIDE_NEGATIVE_SHARING_SHARED)
        tide_sgns_train_blocks(sgns, scratch, sentence, &rng, progress);
    else
        tide_sgns_train_pairs(sgns, scratch, sentence, &rng, progress);
    if (tide_optimizer_ages_by(sgns->optimizer, TIDE_AGE_CENTER))
        age_centers(sgns, sentence);
}
