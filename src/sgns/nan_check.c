/* nan_check.c - finds and resets vectors with NaNs, infinities and impossible values.
 *
 * A memory fault or an unforeseen overflow can put a NaN or an infinity into a row.
 * Rows that are multiplied with it do not move (sgns.c, sgns_pair.c), so it does not
 * spread, but its word is lost, and words that meet it learn nothing from that. So all
 * memory is checked once per minute and before every save. A word with an impossible
 * value in its rows or accumulators gets its initial vectors and empty accumulators. A
 * row of n-grams, which other words share, is zeroed.
 *
 * Two bounds define what is impossible. At the wildest parameters that are allowed,
 * rows have been observed to reach 2^30, in the step before they are clipped (sgns.c),
 * and accumulators 2^57; sane parameters stay below 2^10. With 2^40 in every column of
 * the longest row the square of a gradient is still finite. An accumulator of 2^96
 * would freeze its row.
 *
 * Floats without their sign are ordered like their bit patterns, with infinities and
 * NaNs above all others. So one integer comparison per value suffices, sixteen bytes at
 * a time, and the check runs at the speed of memory. No compiler flag can optimize it
 * away.
 */
#include "model/model.h"
#include "sgns/optimizer_internal.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#define ROW_MAX 0x1p40f
#define ACCUMULATOR_MAX 0x1p96f

typedef uint32_t uint32x4 __attribute__((vector_size(16)));

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Whether no value of the row, padding included, has masked bits above those of
 * `max`. */
static bool within(const float *row, uint32_t stride, uint32_t mask, float max)
{
    uint32_t limit = bits_of(max);
    uint32x4 masks = {mask, mask, mask, mask}, limits = {limit, limit, limit, limit};
    uint32x4 above = {0};
    for (uint32_t i = 0; i < stride; i += 4) {
        uint32x4 bits;
        memcpy(&bits, row + i, sizeof bits);
        above |= (uint32x4)((bits & masks) > limits);
    }
    return !(above[0] | above[1] | above[2] | above[3]);
}

static bool row_is_sound(const tide_matrix *m, uint32_t row)
{
    return within(tide_matrix_row(m, row), m->stride, 0x7fffffff, ROW_MAX);
}

/* -- accumulators ------------------------------------------------------------------ */

/* Without a mask: a negative value has its sign bit set and so is above the bound
 * too. */
static bool accumulator_is_sound(const tide_accumulators *s, uint32_t row)
{
    return !s->values ||
           bits_of(s->values[tide_sum_at(row, s->shift)]) <= bits_of(ACCUMULATOR_MAX);
}

static bool coordinates_are_sound(const tide_matrix *m, uint32_t row)
{
    return !m->rows ||
           within(tide_matrix_row(m, row), m->stride, UINT32_MAX, ACCUMULATOR_MAX);
}

static bool ngrams_are_sound(const tide_sgns *sgns, uint32_t slot)
{
    return !sgns->ngrams || tide_ngrams_are_sound(sgns->ngrams, slot, ROW_MAX);
}

static bool optimizer_is_sound(const tide_optimizer *o, uint32_t slot)
{
    return accumulator_is_sound(&o->input_accumulators, slot) &&
           accumulator_is_sound(&o->output_accumulators, slot) &&
           coordinates_are_sound(&o->input_coordinates, slot) &&
           coordinates_are_sound(&o->output_coordinates, slot);
}

/* -- repair ------------------------------------------------------------------------ */

/* Uses a kernel, because other threads may be reading the row. */
static void clear_row(const tide_sgns *sgns, const tide_matrix *m, uint32_t row)
{
    static const float zeros[TIDE_DIM_MAX] __attribute__((aligned(64)));
    sgns->kernels->copy(tide_matrix_row(m, row), zeros, m->stride);
}

/* The word may be missing: it was removed and the slot has not been reused yet. */
static void reset_slot(const tide_sgns *sgns, uint32_t slot)
{
    uint32_t length;
    if (tide_vocabulary_word(sgns->model->vocabulary, slot, &length)) {
        tide_init_slot(sgns, slot);
        return;
    }
    clear_row(sgns, &sgns->model->input, slot);
    clear_row(sgns, &sgns->model->output, slot);
    tide_optimizer_reset(sgns->optimizer, slot);
}

static void reset_subword(const tide_sgns *sgns, uint32_t row)
{
    tide_accumulators *s = &sgns->optimizer->subword_accumulators;
    static const float zeros[TIDE_DIM_MAX] __attribute__((aligned(64)));
    sgns->kernels->write_bfloats(tide_bfloats_row(&sgns->model->subword, row), zeros,
                                 sgns->model->subword.stride);
    if (s->values)
        s->values[tide_sum_at(row, s->shift)] = 0;
}

void tide_repair_nans(const tide_sgns *sgns, tide_repaired *repaired)
{
    const tide_model *model = sgns->model;
    *repaired = (tide_repaired){0};
    /* The rows of n-grams first: a word that is reset takes its vector from them. */
    for (uint32_t row = 0; row < model->subword.count; row++) {
        if (tide_bfloats_are_within(&model->subword, row, ROW_MAX) &&
            accumulator_is_sound(&sgns->optimizer->subword_accumulators, row))
            continue;
        reset_subword(sgns, row);
        repaired->subwords++;
    }
    for (uint32_t slot = 0; slot < tide_vocabulary_used(model->vocabulary); slot++) {
        if (row_is_sound(&model->input, slot) && row_is_sound(&model->output, slot) &&
            optimizer_is_sound(sgns->optimizer, slot) && ngrams_are_sound(sgns, slot))
            continue;
        reset_slot(sgns, slot);
        repaired->words++;
    }
}
