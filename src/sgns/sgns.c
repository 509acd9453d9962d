/* sgns.c - skip-gram with negative sampling: how a sentence changes the vectors.
 *
 * For a center word w, its contexts c with weights a_c, and S negatives n a context,
 *
 *     maximize  sum_c a_c ( log s(<v_w, v'_c>) + sum_n log s(-<v_w, v'_n>) ),   s the sigmoid
 *
 * by gradient steps: every output row c or n moves along v_w by its error e = a (label - s), and
 * v_w along the sum of e times the output rows. Mikolov et al., NIPS 2013.
 *
 * Where the negatives come from makes the difference between word2vec's way, a step for each pair
 * (pairs.c), and the fast one, a block of centers that share them (sgns_block.c). This file has what
 * both need.
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

#define SQUARE_MOST 1e4f /* of the numbers of an input vector, in the mean */

uint64_t tide_scratch_bytes(uint32_t dim, bool copies)
{
    return sizeof(tide_scratch) + (copies ? tide_hot_rows_bytes(dim) : 0) +
           (2 * TIDE_BLOCK + 1) * tide_stride(dim) * sizeof(float);
}

tide_scratch *tide_scratch_new(uint32_t dim, const _Atomic uint32_t *chosen,
                               tide_error *err)
{
    tide_scratch *desk = tide_alloc(1, sizeof *desk);
    if (desk) {
        desk->x = tide_alloc(TIDE_BLOCK, tide_stride(dim) * sizeof(float));
        desk->gradients = tide_alloc(TIDE_BLOCK, tide_stride(dim) * sizeof(float));
        desk->hole = tide_alloc(1, tide_stride(dim) * sizeof(float));
    }
    if (!desk || !desk->x || !desk->gradients || !desk->hole) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a training thread");
        tide_scratch_free(desk);
        return NULL;
    }
    desk->copies = chosen ? tide_hot_rows_new(dim, chosen, err) : NULL;
    if (chosen && !desk->copies) {
        tide_scratch_free(desk);
        return NULL;
    }
    return desk;
}

void tide_scratch_free(tide_scratch *desk)
{
    if (!desk)
        return;
    tide_hot_rows_free(desk->copies);
    free(desk->hole);
    free(desk->gradients);
    free(desk->x);
    free(desk);
}

void tide_scratch_flush(tide_scratch *desk, const tide_sgns *learner)
{
    if (desk->copies)
        tide_hot_rows_flush(desk->copies, learner);
}

void tide_scratch_invalidate(tide_scratch *desk, uint32_t slot)
{
    if (desk->copies)
        tide_hot_rows_invalidate(desk->copies, slot);
}

static float read_input(const tide_sgns *l, uint32_t center, float *x)
{
    uint32_t stride = l->model->input.stride;
    if (l->model->ngrams)
        tide_model_input(l->model, l->kernels, center, x);
    else
        l->kernels->copy(x, tide_matrix_row(&l->model->input, center), stride);
    return l->kernels->dot(x, x, stride) / (float)l->model->input.dim;
}

static void shrink(const tide_sgns *l, float *row, float factor)
{
    uint32_t stride = l->model->input.stride;
    float zero[TIDE_DIM_MAX] __attribute__((aligned(64)));
    memset(zero, 0, stride * sizeof *zero);
    if (factor > 0)
        l->kernels->add(zero, factor, row, stride);
    l->kernels->copy(row, zero, stride);
}

/* Learning can run away: a rate that is too high for the length of a vector makes it longer with
 * every step, and the paper's order of steps does so at its own settings. An input vector that has
 * become this long is cut back, and one that is not a number any more starts from nothing; outputs
 * are then bounded too, because they only move along inputs. */
static void cut_back(const tide_sgns *l, uint32_t center, float square)
{
    float factor = tide_finite(square) ? sqrtf(SQUARE_MOST / square) : 0;
    shrink(l, tide_matrix_row(&l->model->input, center), factor);
    for (uint32_t i = 0; l->model->ngrams && i < l->model->ngrams[center].count; i++)
        shrink(l, tide_matrix_row(&l->model->subword, l->model->ngrams[center].ids[i]),
               factor);
}

float tide_sgns_input(const tide_sgns *l, uint32_t center, float *x)
{
    float square = read_input(l, center, x);
    if (square <= SQUARE_MOST)
        return square;
    cut_back(l, center, square);
    return read_input(l, center, x);
}

void tide_sgns_move_input(const tide_sgns *l, uint32_t center, const float *gradient,
                          float scale)
{
    const tide_kernels *k = l->kernels;
    const tide_matrix *input = &l->model->input;
    float *row = tide_matrix_row(input, center);
    float *sums = tide_optimizer_input_sums(l->rates, center);
    float square = k->dot(gradient, gradient, input->stride) / (float)input->dim;
    if (!tide_finite(square))
        return; /* met a row that is not a number: must not become one too */
    if (sums) {
        k->add_coordinates(row, sums, gradient, (float)l->params->alpha, input->stride);
        return;
    }
    float rate = tide_optimizer_input(l->rates, k, scale, center, square);
    k->add(row, rate, gradient, input->stride);
    if (!l->model->ngrams)
        return;
    const tide_ngrams *ngrams = &l->model->ngrams[center];
    for (uint32_t i = 0; i < ngrams->count; i++) {
        rate = tide_optimizer_subword(l->rates, k, scale, ngrams->ids[i], square);
        k->add(tide_matrix_row(&l->model->subword, ngrams->ids[i]), rate, gradient,
               input->stride);
    }
}

bool tide_sgns_measures_loss(const tide_sentence *lesson, uint32_t at)
{
    return lesson->fresh && (lesson->number + at) % LOSS_EVERY == 0;
}

double tide_sgns_loss(float dot, float weight, bool positive)
{
    double x = positive ? -(double)dot : (double)dot;
    return (double)weight * (x > 30 ? x : log1p(exp(x)));
}

static void age_centers(const tide_sgns *l, const tide_sentence *lesson)
{
    for (uint32_t at = 0; at < lesson->count; at++)
        if (lesson->slots[at] != TIDE_NO_SLOT)
            tide_optimizer_age(l->rates, lesson->slots[at]);
}

void tide_sgns_train(const tide_sgns *learner, tide_scratch *desk,
                     const tide_sentence *lesson, tide_sgns_progress *learned)
{
    const tide_params *params = learner->params;
    tide_rng rng = tide_rng_seeded(params->seed + lesson->number * 0xc2b2ae3d27d4eb4fu);
    if (params->negatives == NEGATIVES_SHARED)
        tide_sgns_train_blocks(learner, desk, lesson, &rng, learned);
    else
        tide_sgns_train_pairs(learner, desk, lesson, &rng, learned);
    if (tide_optimizer_ages_by(learner->rates, AGE_CENTER))
        age_centers(learner, lesson);
}
