/* optimizer.c - how large a step a row takes.
 *
 *   adagrad     one sum of squared gradients a row and matrix; the step is eta / sqrt(base + sum),
 *               with base chosen so that the first step is alpha-first. Words are seen so unequally
 *               often that a rate of their own is worth more than any schedule; one number a row
 *               does it nearly as well as one a coordinate (Duchi et al., JMLR 12, 2011).
 *   coordinate  the full AdaGrad, as incremental SGNS has it (Kaji and Kobayashi, EMNLP 2017).
 *   linear      alpha * (1 - age / tau), at least min-alpha, where a slot's age is counted in the
 *               steps it took part in: the paper's.
 *   power       alpha / sqrt(1 + age / tau), with ages of their own for input and output.
 *   constant    alpha.
 *   decay       alpha * (1 - tokens / tokens in all), at least min-alpha: word2vec's. In a stream,
 *               of which nobody knows the length, it is constant.
 *
 * An endless stream must not freeze, so adagrad forgets: its sums have a half-life, counted in
 * tokens. Nothing is swept for that. A sum is kept multiplied by a scale 2^(tokens / half-life),
 * newer gradients enter multiplied by today's scale, and a step divides by it again; when the scale
 * has grown large, all sums are divided by it once. A new word starts from nothing.
 */
#include "params/params.h"
#include "sgns/optimizer_internal.h"
#include "sgns/sgns.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

#define SCALE_MOST 0x1p24

/* What a word's input sum is for each time it was seen, in training as it is by default, and what
 * it does not exceed: frequent words are thinned out. */
#define CREDIT 0.3
#define CREDIT_MOST 5000.0

static bool has_ages(const tide_params *p)
{
    return p->rate == RATE_LINEAR || p->rate == RATE_POWER;
}

static uint32_t shift_for(uint64_t count)
{
    uint32_t shift = 0;
    while (UINT64_C(16) << shift < count)
        shift++;
    return shift;
}

static uint64_t sums_bytes(uint64_t count)
{
    return (UINT64_C(16) << shift_for(count)) * sizeof(float);
}

static bool sums_init(tide_sums *s, uint64_t count)
{
    s->shift = shift_for(count);
    s->values = tide_alloc((size_t)16 << s->shift, sizeof(float));
    return s->values != NULL;
}

uint64_t tide_optimizer_bytes(const tide_params *p)
{
    switch (p->rate) {
    case RATE_ADAGRAD:
        return 2 * sums_bytes(p->vocab) + (p->subword ? sums_bytes(p->subword) : 0);
    case RATE_COORDINATE:
        return 2 * tide_matrix_bytes(p->vocab, (uint32_t)p->dim);
    case RATE_LINEAR:
        return p->vocab * sizeof(uint32_t);
    case RATE_POWER:
        return 2 * p->vocab * sizeof(uint32_t);
    default:
        return 0;
    }
}

static tide_adagrad adagrad_settings(const tide_params *p, double factor)
{
    double eta = p->alpha * factor, ratio = eta / p->alpha_first;
    return (tide_adagrad){.eta = (float)eta,
                          .base = (float)(ratio * ratio),
                          .floor = (float)p->min_alpha};
}

static bool allocate(tide_optimizer *r, const tide_params *p)
{
    uint32_t vocab = (uint32_t)p->vocab, dim = (uint32_t)p->dim;
    if (p->rate == RATE_ADAGRAD) {
        return sums_init(&r->sum_input, vocab) && sums_init(&r->sum_output, vocab) &&
               (!p->subword || sums_init(&r->sum_subword, p->subword));
    }
    if (p->rate == RATE_COORDINATE)
        return !tide_matrix_init(&r->each_input, vocab, dim, NULL) &&
               !tide_matrix_init(&r->each_output, vocab, dim, NULL);
    if (has_ages(p)) {
        r->age_input = tide_alloc(vocab, sizeof(uint32_t));
        r->age_output =
            p->rate == RATE_LINEAR ? r->age_input : tide_alloc(vocab, sizeof(uint32_t));
        return r->age_input && r->age_output;
    }
    return true;
}

tide_optimizer *tide_optimizer_new(const tide_params *params, tide_error *err)
{
    tide_optimizer *r = tide_alloc(1, sizeof *r);
    if (r) {
        r->params = params;
        r->input = adagrad_settings(params, 1.0);
        r->output = adagrad_settings(params, params->alpha_output);
    }
    if (!r || !allocate(r, params)) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the rates of %llu words",
                  (unsigned long long)params->vocab);
        tide_optimizer_free(r);
        return NULL;
    }
    return r;
}

void tide_optimizer_free(tide_optimizer *r)
{
    if (!r)
        return;
    free(r->sum_input.values);
    free(r->sum_output.values);
    free(r->sum_subword.values);
    if (r->age_output != r->age_input)
        free(r->age_output);
    free(r->age_input);
    tide_matrix_release(&r->each_input);
    tide_matrix_release(&r->each_output);
    free(r);
}

void tide_optimizer_credit(tide_optimizer *r, uint32_t slot, uint64_t count)
{
    double sum = CREDIT * (double)count;
    sum = sum < CREDIT_MOST ? sum : CREDIT_MOST;
    if (r->sum_input.values)
        r->sum_input.values[tide_sum_at(slot, r->sum_input.shift)] = (float)sum;
    if (r->each_input.rows)
        for (uint32_t d = 0; d < r->each_input.dim; d++)
            tide_matrix_row(&r->each_input, slot)[d] = (float)sum;
    if (r->age_input)
        r->age_input[slot] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

void tide_optimizer_reset(tide_optimizer *r, uint32_t slot)
{
    if (r->sum_input.values) {
        size_t at = tide_sum_at(slot, r->sum_input.shift);
        r->sum_input.values[at] = r->sum_output.values[at] = 0;
    }
    if (r->age_input)
        r->age_input[slot] = r->age_output[slot] = 0;
    if (r->each_input.rows) {
        size_t bytes = r->each_input.stride * sizeof(float);
        memset(tide_matrix_row(&r->each_input, slot), 0, bytes);
        memset(tide_matrix_row(&r->each_output, slot), 0, bytes);
    }
}

/* -- forgetting ------------------------------------------------------------------------------------ */

float tide_optimizer_scale_at(uint64_t age, uint64_t half_life)
{
    return half_life ? (float)exp2((double)age / (double)half_life) : 1.0f;
}

void tide_optimizer_plan(tide_optimizer *r, double tokens)
{
    r->plan = tokens;
}

static float still_to_do(double tokens, double plan)
{
    if (plan <= 0)
        return 1.0f;
    return tokens < plan ? (float)(1.0 - tokens / (plan + 1)) : 0.0f;
}

float tide_optimizer_scale(const tide_optimizer *r, uint64_t tokens)
{
    if (r->params->rate == RATE_DECAY)
        return still_to_do((double)tokens, r->plan);
    return tide_optimizer_scale_at(tokens - r->origin, r->params->rate_half_life);
}

bool tide_optimizer_needs_rescale(const tide_optimizer *r, uint64_t tokens)
{
    return (double)tide_optimizer_scale(r, tokens) > SCALE_MOST;
}

static void divide(tide_sums *s, float scale)
{
    for (size_t i = 0; s->values && i < (size_t)16 << s->shift; i++)
        s->values[i] /= scale;
}

void tide_optimizer_divide(tide_optimizer *r, uint64_t tokens, float scale)
{
    divide(&r->sum_input, scale);
    divide(&r->sum_output, scale);
    divide(&r->sum_subword, scale);
    r->origin = tokens;
}

void tide_optimizer_rescale(tide_optimizer *r, uint64_t tokens)
{
    tide_optimizer_divide(r, tokens, tide_optimizer_scale(r, tokens));
}

/* -- steps --------------------------------------------------------------------------------------------- */

static float by_age(const tide_params *p, double factor, uint32_t age, float scale)
{
    double alpha = p->alpha * factor, t = (double)age / p->tau;
    double rate = p->rate == RATE_LINEAR  ? alpha * (1.0 - t)
                  : p->rate == RATE_POWER ? alpha / sqrt(1.0 + t)
                  : p->rate == RATE_DECAY ? alpha * (double)scale
                                          : alpha;
    return (float)(rate > p->min_alpha ? rate : p->min_alpha);
}

static uint32_t age_of(const uint32_t *ages, uint32_t slot)
{
    return ages ? __atomic_load_n(&ages[slot], __ATOMIC_RELAXED) : 0;
}

static void grow_older(uint32_t *ages, uint32_t slot)
{
    uint32_t age = age_of(ages, slot);
    if (age != UINT32_MAX)
        __atomic_store_n(&ages[slot], age + 1, __ATOMIC_RELAXED);
}

static tide_adagrad step_at(const tide_adagrad *settings, const tide_sums *sums,
                            float scale)
{
    tide_adagrad how = *settings;
    how.scale = scale;
    how.shift = sums->shift;
    return how;
}

void tide_optimizer_output(tide_optimizer *r, const tide_kernels *k, float scale,
                           const uint32_t *slots, const float *squares, size_t count,
                           float *out)
{
    const tide_params *p = r->params;
    if (p->rate == RATE_ADAGRAD) {
        tide_adagrad how = step_at(&r->output, &r->sum_output, scale);
        k->adagrad(&how, r->sum_output.values, slots, squares, count, out);
        return;
    }
    if (!r->age_output) {
        float rate = by_age(p, p->alpha_output, 0, scale);
        for (size_t j = 0; j < count; j++)
            out[j] = rate;
        return;
    }
    for (size_t j = 0; j < count; j++) {
        out[j] = by_age(p, p->alpha_output, age_of(r->age_output, slots[j]), scale);
        if (p->rate == RATE_POWER)
            grow_older(r->age_output, slots[j]);
    }
}

static float one_step(const tide_adagrad *settings, tide_sums *s, const tide_kernels *k,
                      float scale, uint32_t row, float square)
{
    tide_adagrad how = step_at(settings, s, scale);
    return k->adagrad_one(&how, &s->values[tide_sum_at(row, s->shift)], square);
}

/* Read and written without locks, as the kernels do it. */
static float load_sum(const float *sum)
{
    float value;
    __atomic_load(sum, &value, __ATOMIC_RELAXED);
    return value;
}

static void store_sum(float *sum, float value)
{
    __atomic_store(sum, &value, __ATOMIC_RELAXED);
}

void tide_optimizer_move_cache(tide_optimizer *r, tide_sum_cache *reach,
                               const uint32_t *slots, uint32_t begin, uint32_t end)
{
    tide_sums *s = &r->sum_output;
    for (uint32_t i = reach->begin; s->values && i < begin; i++)
        if (reach->added[i] > 0) {
            float *sum = &s->values[tide_sum_at(slots[i], s->shift)];
            store_sum(sum, load_sum(sum) + reach->added[i]);
        }
    for (uint32_t i = reach->end; s->values && i < end; i++) {
        reach->added[i] = 0;
        if (slots[i] != TIDE_NO_SLOT)
            reach->sums[i] = load_sum(&s->values[tide_sum_at(slots[i], s->shift)]);
    }
    reach->begin = begin;
    reach->end = end;
}

void tide_optimizer_cached(tide_optimizer *r, const tide_kernels *k, float scale,
                           tide_sum_cache *reach, const uint32_t *slots, uint32_t first,
                           uint32_t count, const float *squares, float *out)
{
    if (r->params->rate == RATE_ADAGRAD) {
        tide_adagrad how = step_at(&r->output, &r->sum_output, scale);
        k->adagrad_own(&how, reach->sums + first, reach->added + first, squares, count,
                       out);
        return;
    }
    for (uint32_t j = 0; j < count; j++) {
        out[j] = 0;
        if (slots[first + j] != TIDE_NO_SLOT)
            tide_optimizer_output(r, k, scale, slots + first + j, squares + j, 1,
                                  out + j);
    }
}

float tide_optimizer_input(tide_optimizer *r, const tide_kernels *k, float scale,
                           uint32_t slot, float square)
{
    const tide_params *p = r->params;
    if (p->rate == RATE_ADAGRAD)
        return one_step(&r->input, &r->sum_input, k, scale, slot, square);
    float rate = by_age(p, 1.0, age_of(r->age_input, slot), scale);
    if (p->rate == RATE_POWER)
        grow_older(r->age_input, slot);
    return rate;
}

float tide_optimizer_subword(tide_optimizer *r, const tide_kernels *k, float scale,
                             uint32_t row, float square)
{
    if (r->params->rate == RATE_ADAGRAD)
        return one_step(&r->input, &r->sum_subword, k, scale, row, square);
    return by_age(r->params, 1.0, 0, scale);
}

static void prefetch_sum(const tide_sums *s, uint32_t slot)
{
    if (s->values)
        __builtin_prefetch(&s->values[tide_sum_at(slot, s->shift)], 1, 3);
}

void tide_optimizer_prefetch_output(const tide_optimizer *r, uint32_t slot)
{
    prefetch_sum(&r->sum_output, slot);
}

void tide_optimizer_prefetch_input(const tide_optimizer *r, uint32_t slot)
{
    prefetch_sum(&r->sum_input, slot);
}

bool tide_optimizer_ages_by(const tide_optimizer *r, uint64_t what)
{
    return r->params->rate == RATE_LINEAR && r->params->age == what;
}

void tide_optimizer_age(tide_optimizer *r, uint32_t slot)
{
    grow_older(r->age_input, slot);
}

float *tide_optimizer_input_sums(tide_optimizer *r, uint32_t slot)
{
    return r->each_input.rows ? tide_matrix_row(&r->each_input, slot) : NULL;
}

float *tide_optimizer_output_sums(tide_optimizer *r, uint32_t slot)
{
    return r->each_output.rows ? tide_matrix_row(&r->each_output, slot) : NULL;
}
