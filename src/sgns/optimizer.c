/* optimizer.c - the learning rate of each row.
 *
 *   adagrad     one accumulator of squared gradients per row; the rate is eta /
 *               sqrt(base + accumulator), with base chosen so that the first rate is
 *               alpha-first. Word frequencies differ so much that a rate per row is
 *               worth more than any schedule, and one accumulator per row does nearly
 *               as well as one per coordinate (Duchi et al., JMLR 12, 2011).
 *   coordinate  AdaGrad with an accumulator per coordinate, as in incremental SGNS
 *               (Kaji and Kobayashi, EMNLP 2017).
 *   linear      alpha * (1 - age / tau), at least min-alpha, where a slot's age is the
 *               number of steps it took part in: the paper's.
 *   power       alpha / sqrt(1 + age / tau), with separate ages for input and output.
 *   constant    alpha.
 *   decay       alpha * (1 - tokens / total tokens), at least min-alpha: word2vec's. In
 *               a stream, whose length is unknown, it is constant.
 *
 * Training of an endless stream must not freeze, so adagrad forgets: its accumulators
 * have a half-life, counted in tokens. They are not swept for that. Instead an
 * accumulator is stored multiplied by a scale of 2^(tokens / half-life): new gradients
 * are multiplied by the present scale when they are added, and a step divides by it.
 * When the scale has become large, all accumulators are divided by it once and it
 * restarts from 1.
 */
#include "params/params.h"
#include "sgns/optimizer_internal.h"
#include "sgns/sgns.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

#define SCALE_MAX 0x1p24

/* How much a word's input accumulator grows per occurrence with the default parameters,
 * and the value it does not exceed because frequent words are subsampled. */
#define CREDIT 0.3
#define CREDIT_MAX 5000.0

static bool has_ages(const tide_params *p)
{
    return p->optimizer == TIDE_OPTIMIZER_LINEAR ||
           p->optimizer == TIDE_OPTIMIZER_POWER;
}

static uint32_t shift_for(uint64_t count)
{
    uint32_t shift = 0;
    while (UINT64_C(16) << shift < count)
        shift++;
    return shift;
}

static uint64_t accumulator_bytes(uint64_t count)
{
    return (UINT64_C(16) << shift_for(count)) * sizeof(float);
}

static bool accumulators_init(tide_accumulators *a, uint64_t count)
{
    a->shift = shift_for(count);
    a->values = tide_alloc((size_t)16 << a->shift, sizeof(float));
    return a->values != NULL;
}

uint64_t tide_optimizer_bytes(const tide_params *p)
{
    switch (p->optimizer) {
    case TIDE_OPTIMIZER_ADAGRAD:
        return 2 * accumulator_bytes(p->vocab) +
               (p->subword ? accumulator_bytes(p->subword) : 0);
    case TIDE_OPTIMIZER_COORDINATE:
        return 2 * tide_matrix_bytes(p->vocab, (uint32_t)p->dim);
    case TIDE_OPTIMIZER_LINEAR:
        return p->vocab * sizeof(uint32_t);
    case TIDE_OPTIMIZER_POWER:
        return 2 * p->vocab * sizeof(uint32_t);
    default:
        return 0;
    }
}

static tide_adagrad adagrad_settings(const tide_params *p, double factor)
{
    /* With an empty accumulator the rate is eta / sqrt(base), which is alpha_first for
     * this base. */
    double eta = p->alpha * factor, ratio = eta / p->alpha_first;
    return (tide_adagrad){.eta = (float)eta,
                          .base = (float)(ratio * ratio),
                          .floor = (float)p->min_alpha};
}

static bool allocate(tide_optimizer *o, const tide_params *p)
{
    uint32_t vocab = (uint32_t)p->vocab, dim = (uint32_t)p->dim;
    if (p->optimizer == TIDE_OPTIMIZER_ADAGRAD) {
        return accumulators_init(&o->input_accumulators, vocab) &&
               accumulators_init(&o->output_accumulators, vocab) &&
               (!p->subword || accumulators_init(&o->subword_accumulators, p->subword));
    }
    if (p->optimizer == TIDE_OPTIMIZER_COORDINATE)
        return !tide_matrix_init(&o->input_coordinates, vocab, dim, NULL) &&
               !tide_matrix_init(&o->output_coordinates, vocab, dim, NULL);
    if (has_ages(p)) {
        o->age_input = tide_alloc(vocab, sizeof(uint32_t));
        o->age_output = p->optimizer == TIDE_OPTIMIZER_LINEAR
                            ? o->age_input
                            : tide_alloc(vocab, sizeof(uint32_t));
        return o->age_input && o->age_output;
    }
    return true;
}

tide_optimizer *tide_optimizer_new(const tide_params *params, tide_error *err)
{
    tide_optimizer *o = tide_alloc(1, sizeof *o);
    if (o) {
        o->params = params;
        o->input = adagrad_settings(params, 1.0);
        o->output = adagrad_settings(params, params->alpha_output);
    }
    if (!o || !allocate(o, params)) {
        tide_fail(err, TIDE_ERROR_MEMORY,
                  "no memory for the optimizer state of %llu words",
                  (unsigned long long)params->vocab);
        tide_optimizer_free(o);
        return NULL;
    }
    return o;
}

void tide_optimizer_free(tide_optimizer *o)
{
    if (!o)
        return;
    free(o->input_accumulators.values);
    free(o->output_accumulators.values);
    free(o->subword_accumulators.values);
    if (o->age_output != o->age_input)
        free(o->age_output);
    free(o->age_input);
    tide_matrix_release(&o->input_coordinates);
    tide_matrix_release(&o->output_coordinates);
    free(o);
}

void tide_optimizer_credit(tide_optimizer *o, uint32_t slot, uint64_t count)
{
    /* An imported word must not be moved far by the first texts that it occurs in:
     * its rate is that of a word trained on as many occurrences. */
    double sum = CREDIT * (double)count;
    sum = sum < CREDIT_MAX ? sum : CREDIT_MAX;
    if (o->input_accumulators.values)
        o->input_accumulators.values[tide_sum_at(slot, o->input_accumulators.shift)] =
            (float)sum;
    if (o->input_coordinates.rows)
        for (uint32_t d = 0; d < o->input_coordinates.dim; d++)
            tide_matrix_row(&o->input_coordinates, slot)[d] = (float)sum;
    if (o->age_input)
        o->age_input[slot] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

void tide_optimizer_reset(tide_optimizer *o, uint32_t slot)
{
    if (o->input_accumulators.values) {
        size_t at = tide_sum_at(slot, o->input_accumulators.shift);
        o->input_accumulators.values[at] = o->output_accumulators.values[at] = 0;
    }
    if (o->age_input)
        o->age_input[slot] = o->age_output[slot] = 0;
    if (o->input_coordinates.rows) {
        size_t bytes = o->input_coordinates.stride * sizeof(float);
        memset(tide_matrix_row(&o->input_coordinates, slot), 0, bytes);
        memset(tide_matrix_row(&o->output_coordinates, slot), 0, bytes);
    }
}

/* -- forgetting -------------------------------------------------------------------- */

float tide_optimizer_scale_at(uint64_t age, uint64_t half_life)
{
    return half_life ? (float)exp2((double)age / (double)half_life) : 1.0f;
}

void tide_optimizer_set_total(tide_optimizer *o, double tokens)
{
    o->total_tokens = tokens;
}

static float remaining_share(double tokens, double total_tokens)
{
    /* The length of a stream is unknown, so the rate stays constant. */
    if (total_tokens <= 0)
        return 1.0f;
    return tokens < total_tokens ? (float)(1.0 - tokens / (total_tokens + 1)) : 0.0f;
}

float tide_optimizer_scale(const tide_optimizer *o, uint64_t tokens)
{
    if (o->params->optimizer == TIDE_OPTIMIZER_DECAY)
        return remaining_share((double)tokens, o->total_tokens);
    return tide_optimizer_scale_at(tokens - o->origin, o->params->rate_half_life);
}

bool tide_optimizer_needs_rescale(const tide_optimizer *o, uint64_t tokens)
{
    return (double)tide_optimizer_scale(o, tokens) > SCALE_MAX;
}

static void divide(tide_accumulators *a, float scale)
{
    for (size_t i = 0; a->values && i < (size_t)16 << a->shift; i++)
        a->values[i] /= scale;
}

void tide_optimizer_divide_by(tide_optimizer *o, uint64_t tokens, float scale)
{
    divide(&o->input_accumulators, scale);
    divide(&o->output_accumulators, scale);
    divide(&o->subword_accumulators, scale);
    o->origin = tokens;
}

void tide_optimizer_rescale(tide_optimizer *o, uint64_t tokens)
{
    tide_optimizer_divide_by(o, tokens, tide_optimizer_scale(o, tokens));
}

/* -- steps ------------------------------------------------------------------------- */

static float rate_at_age(const tide_params *p, double factor, uint32_t age, float scale)
{
    double alpha = p->alpha * factor, t = (double)age / p->tau;
    double rate = p->optimizer == TIDE_OPTIMIZER_LINEAR  ? alpha * (1.0 - t)
                  : p->optimizer == TIDE_OPTIMIZER_POWER ? alpha / sqrt(1.0 + t)
                  : p->optimizer == TIDE_OPTIMIZER_DECAY ? alpha * (double)scale
                                                         : alpha;
    return (float)(rate > p->min_alpha ? rate : p->min_alpha);
}

static uint32_t age_of(const uint32_t *ages, uint32_t slot)
{
    return ages ? __atomic_load_n(&ages[slot], __ATOMIC_RELAXED) : 0;
}

static void increment_age(uint32_t *ages, uint32_t slot)
{
    uint32_t age = age_of(ages, slot);
    if (age != UINT32_MAX)
        __atomic_store_n(&ages[slot], age + 1, __ATOMIC_RELAXED);
}

static tide_adagrad adagrad_at(const tide_adagrad *settings,
                               const tide_accumulators *accumulators, float scale)
{
    tide_adagrad adagrad = *settings;
    adagrad.scale = scale;
    adagrad.shift = accumulators->shift;
    return adagrad;
}

void tide_optimizer_output_rates(tide_optimizer *o, const tide_kernels *k, float scale,
                                 const uint32_t *slots, const float *squares,
                                 size_t count, float *rates)
{
    const tide_params *p = o->params;
    if (p->optimizer == TIDE_OPTIMIZER_ADAGRAD) {
        tide_adagrad adagrad = adagrad_at(&o->output, &o->output_accumulators, scale);
        k->adagrad(&adagrad, o->output_accumulators.values, slots, squares, count,
                   rates);
        return;
    }
    if (!o->age_output) {
        float rate = rate_at_age(p, p->alpha_output, 0, scale);
        for (size_t j = 0; j < count; j++)
            rates[j] = rate;
        return;
    }
    for (size_t j = 0; j < count; j++) {
        rates[j] =
            rate_at_age(p, p->alpha_output, age_of(o->age_output, slots[j]), scale);
        /* A linear age is counted by the caller, once per pair or per center
         * (tide_optimizer_ages_by). */
        if (p->optimizer == TIDE_OPTIMIZER_POWER)
            increment_age(o->age_output, slots[j]);
    }
}

static float adagrad_rate(const tide_adagrad *settings, tide_accumulators *a,
                          const tide_kernels *k, float scale, uint32_t row,
                          float square)
{
    tide_adagrad adagrad = adagrad_at(settings, a, scale);
    return k->adagrad_one(&adagrad, &a->values[tide_sum_at(row, a->shift)], square);
}

/* Accumulators are shared between threads without locks, like rows. */
static float load_relaxed(const float *sum)
{
    float value;
    __atomic_load(sum, &value, __ATOMIC_RELAXED);
    return value;
}

static void store_relaxed(float *sum, float value)
{
    __atomic_store(sum, &value, __ATOMIC_RELAXED);
}

void tide_optimizer_move_cache(tide_optimizer *o, tide_accumulator_cache *cache,
                               const uint32_t *slots, uint32_t begin, uint32_t end)
{
    tide_accumulators *a = &o->output_accumulators;
    /* Words that have left the window: what this thread has added goes to the shared
     * accumulators. Adding to the present value, rather than storing the cached one,
     * keeps what others have added. */
    for (uint32_t i = cache->begin; a->values && i < begin; i++)
        if (cache->added[i] > 0) {
            float *sum = &a->values[tide_sum_at(slots[i], a->shift)];
            store_relaxed(sum, load_relaxed(sum) + cache->added[i]);
        }
    /* Words that enter it. */
    for (uint32_t i = cache->end; a->values && i < end; i++) {
        cache->added[i] = 0;
        if (slots[i] != TIDE_NO_SLOT)
            cache->values[i] =
                load_relaxed(&a->values[tide_sum_at(slots[i], a->shift)]);
    }
    cache->begin = begin;
    cache->end = end;
}

void tide_optimizer_cached_rates(tide_optimizer *o, const tide_kernels *k, float scale,
                                 tide_accumulator_cache *cache, const uint32_t *slots,
                                 uint32_t first, uint32_t count, const float *squares,
                                 float *rates)
{
    if (o->params->optimizer == TIDE_OPTIMIZER_ADAGRAD) {
        tide_adagrad adagrad = adagrad_at(&o->output, &o->output_accumulators, scale);
        k->adagrad_partial(&adagrad, cache->values + first, cache->added + first,
                           squares, count, rates);
        return;
    }
    for (uint32_t j = 0; j < count; j++) {
        rates[j] = 0;
        if (slots[first + j] != TIDE_NO_SLOT)
            tide_optimizer_output_rates(o, k, scale, slots + first + j, squares + j, 1,
                                        rates + j);
    }
}

float tide_optimizer_input_rate(tide_optimizer *o, const tide_kernels *k, float scale,
                                uint32_t slot, float square)
{
    const tide_params *p = o->params;
    if (p->optimizer == TIDE_OPTIMIZER_ADAGRAD)
        return adagrad_rate(&o->input, &o->input_accumulators, k, scale, slot, square);
    float rate = rate_at_age(p, 1.0, age_of(o->age_input, slot), scale);
    if (p->optimizer == TIDE_OPTIMIZER_POWER)
        increment_age(o->age_input, slot);
    return rate;
}

void tide_optimizer_subword_rates(tide_optimizer *o, const tide_kernels *k, float scale,
                                  const uint32_t *rows, uint32_t count, float square,
                                  float *rates)
{
    float squares[TIDE_SUBWORDS_MAX];
    bool adagrad = o->params->optimizer == TIDE_OPTIMIZER_ADAGRAD;
    float rate = adagrad ? 0 : rate_at_age(o->params, 1.0, 0, scale);
    for (uint32_t i = 0; i < count; i++) {
        squares[i] = square;
        rates[i] = rate;
    }
    if (!adagrad)
        return;
    tide_adagrad settings = adagrad_at(&o->input, &o->subword_accumulators, scale);
    k->adagrad(&settings, o->subword_accumulators.values, rows, squares, count, rates);
}

static void prefetch(const tide_accumulators *a, uint32_t slot)
{
    if (a->values)
        __builtin_prefetch(&a->values[tide_sum_at(slot, a->shift)], 1, 3);
}

void tide_optimizer_prefetch_output(const tide_optimizer *o, uint32_t slot)
{
    prefetch(&o->output_accumulators, slot);
}

void tide_optimizer_prefetch_input(const tide_optimizer *o, uint32_t slot)
{
    prefetch(&o->input_accumulators, slot);
}

bool tide_optimizer_ages_by(const tide_optimizer *o, uint64_t what)
{
    return o->params->optimizer == TIDE_OPTIMIZER_LINEAR && o->params->age == what;
}

void tide_optimizer_age(tide_optimizer *o, uint32_t slot)
{
    increment_age(o->age_input, slot);
}

float *tide_optimizer_input_coordinates(tide_optimizer *o, uint32_t slot)
{
    return o->input_coordinates.rows ? tide_matrix_row(&o->input_coordinates, slot)
                                     : NULL;
}

float *tide_optimizer_output_coordinates(tide_optimizer *o, uint32_t slot)
{
    return o->output_coordinates.rows ? tide_matrix_row(&o->output_coordinates, slot)
                                      : NULL;
}
