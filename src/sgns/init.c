/* init.c - the initial vectors of a word.
 *
 * They depend on the word and the seed alone, not on the slot or the time. So a word
 * that is evicted and admitted again, or that two machines meet independently, starts
 * from the same vectors.
 *
 *   small    input uniform within 0.5 / dim, output zero (word2vec)
 *   both     input and output uniform within 0.5 / dim (incremental SGNS)
 *   uniform  input uniform within 0.5, output zero (the paper's program)
 *   normal   both N(0, 1) (the paper)
 */
#include "model/model.h"
#include "params/params.h"
#include "sgns/sgns.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

static void fill_uniform(float *row, uint32_t dim, float width, tide_rng *rng)
{
    /* 24 bits per value, as many as a float holds. */
    float step = width * 0x1p-24f;
    for (uint32_t d = 0; d < dim; d += 2) { /* two values per draw */
        uint64_t bits = tide_rng_next(rng);
        row[d] = (float)((int32_t)(bits >> 40) - (1 << 23)) * step;
        if (d + 1 < dim)
            row[d + 1] = (float)((int32_t)(bits >> 8 & 0xffffff) - (1 << 23)) * step;
    }
}

static void fill_normal(float *row, uint32_t dim, tide_rng *rng)
{
    for (uint32_t d = 0; d < dim; d++)
        row[d] = (float)tide_rng_normal(rng);
}

void tide_init_slot(const tide_sgns *sgns, uint32_t slot)
{
    tide_model *model = sgns->model;
    uint32_t dim = model->shape.dim, length;
    const char *word = tide_vocabulary_word(model->vocabulary, slot, &length);
    /* Filled in local arrays and then copied: other threads may read the rows
     * meanwhile, through the kernels. */
    tide_rng rng = tide_rng_seeded(tide_hash(word, length, sgns->params->seed));
    float input[TIDE_DIM_MAX] __attribute__((aligned(64))),
        output[TIDE_DIM_MAX] __attribute__((aligned(64)));
    uint32_t stride = model->input.stride;
    memset(input, 0, stride * sizeof *input);
    memset(output, 0, stride * sizeof *output);
    float small = 1.0f / (float)dim;
    switch (sgns->params->init) {
    case TIDE_INIT_NORMAL:
        fill_normal(input, dim, &rng);
        fill_normal(output, dim, &rng);
        break;
    case TIDE_INIT_BOTH:
        fill_uniform(input, dim, small, &rng);
        fill_uniform(output, dim, small, &rng);
        break;
    default:
        fill_uniform(input, dim, sgns->params->init == TIDE_INIT_UNIFORM ? 1.0f : small,
                     &rng);
    }
    sgns->kernels->copy(tide_matrix_row(&model->input, slot), input, stride);
    sgns->kernels->copy(tide_matrix_row(&model->output, slot), output, stride);
    tide_optimizer_reset(sgns->optimizer, slot);
    if (sgns->ngrams)
        tide_ngrams_admit(sgns, slot);
}

void tide_init_subwords(const tide_sgns *sgns)
{
    tide_bfloats *m = &sgns->model->subword;
    float values[TIDE_DIM_MAX] __attribute__((aligned(64))) = {0};
    tide_rng rng = tide_rng_seeded(sgns->params->seed ^ 0x5b07d5);
    for (uint32_t row = 0; row < m->count; row++) {
        fill_uniform(values, m->dim, 1.0f / (float)m->dim, &rng);
        sgns->kernels->write_bfloats(tide_bfloats_row(m, row), values, m->stride);
    }
}
