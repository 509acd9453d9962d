/* nan_check.c - vectors that cannot be right begin again.
 *
 * A number that is not finite gets into a row by memory that fails, or by arithmetic that nobody has
 * thought of. Rows that meet it do not move (sgns.c, pairs.c), so it does not spread, but its word is lost,
 * and whoever meets it learns nothing from that. So once a minute, and before anything is saved, all of it is looked at. A word with anything
 * wrong in its two rows or its rates has the vectors and rates with which it once came. A row of n-grams,
 * whose words have others too, has zeros.
 *
 * Two bounds say what is wrong. At the wildest settings that are allowed, rows have been seen to reach
 * 2^30, in the step before they are cut back (sgns.c), and sums 2^57; sane settings stay below 2^10. With
 * 2^40 in every place of the longest row the square of a gradient is still a float. A sum of 2^96 would
 * stop its row for good.
 *
 * Floats without their sign are in the order of their bits, with the infinities and what is not a number
 * behind all others. So one comparison of whole numbers does it, sixteen bytes at a time, and the pass is as
 * fast as memory. No compiler flag can fold it away.
 */
#include "model/model.h"
#include "sgns/optimizer_internal.h"
#include "sgns/sgns.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#define ROW_MOST 0x1p40f
#define SUM_MOST 0x1p96f

typedef uint32_t four __attribute__((vector_size(16)));

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Whether no number of the row, its padding included, has bits above those of `most`. */
static bool within(const float *row, uint32_t stride, uint32_t mask, float most)
{
    uint32_t limit = bits_of(most);
    four masks = {mask, mask, mask, mask}, limits = {limit, limit, limit, limit};
    four above = {0};
    for (uint32_t i = 0; i < stride; i += 4) {
        four bits;
        memcpy(&bits, row + i, sizeof bits);
        above |= (four)((bits & masks) > limits);
    }
    return !(above[0] | above[1] | above[2] | above[3]);
}

static bool sound_row(const tide_matrix *m, uint32_t row)
{
    return within(tide_matrix_row(m, row), m->stride, 0x7fffffff, ROW_MOST);
}

/* -- rates ---------------------------------------------------------------------------------------- */

/* Whose sign bit is set is beyond the bound too. */
static bool sound_sum(const tide_sums *s, uint32_t row)
{
    return !s->values ||
           bits_of(s->values[tide_sum_at(row, s->shift)]) <= bits_of(SUM_MOST);
}

static bool sound_sums(const tide_matrix *m, uint32_t row)
{
    return !m->rows || within(tide_matrix_row(m, row), m->stride, UINT32_MAX, SUM_MOST);
}

static bool sound_rates(const tide_optimizer *r, uint32_t slot)
{
    return sound_sum(&r->sum_input, slot) && sound_sum(&r->sum_output, slot) &&
           sound_sums(&r->each_input, slot) && sound_sums(&r->each_output, slot);
}

/* -- healing -------------------------------------------------------------------------------------- */

/* By a kernel, since others may be reading it. */
static void clear_row(const tide_sgns *l, const tide_matrix *m, uint32_t row)
{
    static const float zeros[TIDE_DIM_MAX] __attribute__((aligned(64)));
    l->kernels->copy(tide_matrix_row(m, row), zeros, m->stride);
}

/* A slot whose word has left, and which nobody has had since, has no word to begin with. */
static void heal_slot(const tide_sgns *l, uint32_t slot)
{
    uint32_t length;
    if (tide_vocabulary_word(l->model->vocabulary, slot, &length)) {
        tide_init_slot(l, slot);
        return;
    }
    clear_row(l, &l->model->input, slot);
    clear_row(l, &l->model->output, slot);
    tide_optimizer_reset(l->rates, slot);
}

static void heal_subword(const tide_sgns *l, uint32_t row)
{
    tide_sums *s = &l->rates->sum_subword;
    clear_row(l, &l->model->subword, row);
    if (s->values)
        s->values[tide_sum_at(row, s->shift)] = 0;
}

void tide_repair_nans(const tide_sgns *l, tide_repaired *healed)
{
    const tide_model *model = l->model;
    *healed = (tide_repaired){0};
    for (uint32_t slot = 0; slot < tide_vocabulary_used(model->vocabulary); slot++) {
        if (sound_row(&model->input, slot) && sound_row(&model->output, slot) &&
            sound_rates(l->rates, slot))
            continue;
        heal_slot(l, slot);
        healed->words++;
    }
    for (uint32_t row = 0; row < model->subword.count; row++) {
        if (sound_row(&model->subword, row) && sound_sum(&l->rates->sum_subword, row))
            continue;
        heal_subword(l, row);
        healed->subwords++;
    }
}
