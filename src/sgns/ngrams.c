/* ngrams.c - trains words together with the rows of their n-grams, which are read and
 * written only now and then.
 *
 * As in fastText, the vector of a word is the mean of its own row and those of its n
 * n-grams (Bojanowski et al., TACL 5, 2017), and a step moves all of these n + 1 rows.
 * Done literally, that is most of the cost of training: some twenty rows at random
 * places of a large table, for every step. So a word keeps
 *
 *     x        its vector, in the input matrix, where queries find it ready
 *     seen     the sum of its n-gram rows as it last saw them
 *     pending  the sum of the gradients that its n-grams have yet to receive
 *
 * and its own row, (n + 1) x - seen, exists only by implication. A step moves x as if
 * all rows had been moved, at the mean rate that the n-grams had last time, and adds the
 * gradient to `pending`. When a visit is due, which is decided as the word is about to
 * be trained, one pass over its n-grams moves each of them by `pending`, at a rate of
 * its own, and takes their sum; what other words have done to them since the last visit,
 * sum - seen, then moves x.
 *
 * The first steps of a word visit at every occurrence, when most is to be learned from
 * the n-grams; then the visits become rarer, down to one in VISIT_MAX steps. With one
 * thread this costs half as much as moving all rows at each step, and the vectors are as
 * good (DECISIONS.md).
 *
 * `seen` and `pending` are bfloat16, so both take the memory of one row. What rounding
 * adds to `seen` is added to x too, and so leaves it at the next visit; and `pending` has
 * at most VISIT_MAX terms.
 */
#include "model/model.h"
#include "params/params.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <float.h>
#include <stdlib.h>

/* A word is visited after 1 + steps / VISIT_GROWTH steps, but after VISIT_MAX at the
 * latest. */
enum { VISIT_GROWTH = 16, VISIT_MAX = 16 };

/* Of one slot. Threads share it as they share rows: without locks, but for the decision
 * which of them visits. */
typedef struct word_state {
    uint32_t steps;   /* in all; stops counting at VISIT_GROWTH * VISIT_MAX */
    uint32_t waiting; /* steps since the last visit; VISIT_MAX if it has had none */
    float rate;       /* the mean learning rate of its n-grams at the last visit */
    float squares;    /* sum of |gradient|^2 / dim of the pending steps */
} word_state;

typedef struct word_ngrams {
    uint32_t count;
    uint32_t ids[TIDE_SUBWORDS_MAX];
} word_ngrams;

struct tide_ngrams {
    word_ngrams *words; /* [capacity] */
    word_state *states; /* [capacity] */
    tide_bfloats sums;  /* [capacity][2]: pending and seen */
};

uint64_t tide_ngrams_bytes(const tide_params *params)
{
    if (!params->subword)
        return 0;
    return params->vocab * (sizeof(word_ngrams) + sizeof(word_state)) +
           tide_bfloats_bytes(2 * params->vocab, (uint32_t)params->dim);
}

tide_ngrams *tide_ngrams_new(const tide_params *params, tide_error *err)
{
    uint32_t vocab = (uint32_t)params->vocab;
    tide_ngrams *ngrams = tide_alloc(1, sizeof *ngrams);
    if (ngrams) {
        ngrams->words = tide_alloc(vocab, sizeof *ngrams->words);
        ngrams->states = tide_alloc(vocab, sizeof *ngrams->states);
    }
    if (ngrams && ngrams->words && ngrams->states &&
        !tide_bfloats_init(&ngrams->sums, 2 * vocab, (uint32_t)params->dim, NULL))
        return ngrams;
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the n-grams of %u words", vocab);
    tide_ngrams_free(ngrams);
    return NULL;
}

void tide_ngrams_free(tide_ngrams *ngrams)
{
    if (!ngrams)
        return;
    tide_bfloats_release(&ngrams->sums);
    free(ngrams->states);
    free(ngrams->words);
    free(ngrams);
}

static uint16_t *pending_of(const tide_ngrams *ngrams, uint32_t slot)
{
    return tide_bfloats_row(&ngrams->sums, 2 * slot);
}

static uint16_t *seen_of(const tide_ngrams *ngrams, uint32_t slot)
{
    return tide_bfloats_row(&ngrams->sums, 2 * slot + 1);
}

/* The rows of a word's n-grams. Returns their number. */
static uint32_t find_rows(const tide_sgns *sgns, uint32_t slot,
                          uint16_t *rows[TIDE_SUBWORDS_MAX])
{
    const word_ngrams *word = &sgns->ngrams->words[slot];
    for (uint32_t i = 0; i < word->count; i++)
        rows[i] = tide_bfloats_row(&sgns->model->subword, word->ids[i]);
    return word->count;
}

/* -- words that come --------------------------------------------------------------- */

static void find_ngrams(const tide_sgns *sgns, uint32_t slot)
{
    const tide_model *model = sgns->model;
    word_ngrams *word = &sgns->ngrams->words[slot];
    uint32_t length;
    const char *text = tide_vocabulary_word(model->vocabulary, slot, &length);
    word->count =
        text ? tide_subwords_of(&model->shape.subwords, text, length, word->ids) : 0;
}

/* Forgets what is pending, and sees the rows as they are now: *sum is what is seen. */
static void reset_state(const tide_sgns *sgns, uint32_t slot, float *sum)
{
    const tide_kernels *k = sgns->kernels;
    tide_ngrams *ngrams = sgns->ngrams;
    uint32_t stride = ngrams->sums.stride;
    uint16_t *rows[TIDE_SUBWORDS_MAX];
    static const float zeros[TIDE_DIM_MAX] __attribute__((aligned(64)));
    k->sum_bfloats(rows, find_rows(sgns, slot, rows), 1.0f, stride, sum);
    k->write_bfloats(seen_of(ngrams, slot), sum, stride);
    k->read_bfloats(sum, seen_of(ngrams, slot), stride);
    k->write_bfloats(pending_of(ngrams, slot), zeros, stride);
    ngrams->states[slot] = (word_state){.waiting = VISIT_MAX};
}

void tide_ngrams_admit(const tide_sgns *sgns, uint32_t slot)
{
    float sum[TIDE_DIM_MAX] __attribute__((aligned(64)));
    find_ngrams(sgns, slot);
    reset_state(sgns, slot, sum);
    /* The row holds the word's own initial vector. So a new word starts near the words
     * that are spelled like it. */
    float *row = tide_matrix_row(&sgns->model->input, slot), *parts[] = {row, sum};
    sgns->kernels->sum(parts, 2, 1.0f / (float)(sgns->ngrams->words[slot].count + 1),
                       sgns->ngrams->sums.stride, row);
}

/* For a word whose input row holds the mean already. */
static void adopt(const tide_sgns *sgns, uint32_t slot)
{
    float sum[TIDE_DIM_MAX] __attribute__((aligned(64)));
    find_ngrams(sgns, slot);
    reset_state(sgns, slot, sum);
}

/* -- steps ------------------------------------------------------------------------- */

static uint32_t steps_between_visits(uint32_t steps)
{
    uint32_t due = 1 + steps / VISIT_GROWTH;
    return due < VISIT_MAX ? due : VISIT_MAX;
}

static bool is_due(word_state *state)
{
    return __atomic_load_n(&state->waiting, __ATOMIC_RELAXED) >=
           steps_between_visits(__atomic_load_n(&state->steps, __ATOMIC_RELAXED));
}

static float load_relaxed(float *value)
{
    float loaded;
    __atomic_load(value, &loaded, __ATOMIC_RELAXED);
    return loaded;
}

static void store_relaxed(float *value, float stored)
{
    __atomic_store(value, &stored, __ATOMIC_RELAXED);
}

/* A seed for the rounding of a visit. The bits of the pending squares are as good as
 * random, and depend on nothing but the text. */
static uint32_t noise_of(uint32_t slot, float squares)
{
    uint32_t bits;
    memcpy(&bits, &squares, sizeof bits);
    return bits ^ slot * 0x9e3779b9u;
}

static void visit(const tide_sgns *sgns, uint32_t slot, float scale)
{
    const tide_kernels *k = sgns->kernels;
    tide_ngrams *ngrams = sgns->ngrams;
    word_state *state = &ngrams->states[slot];
    uint32_t stride = ngrams->sums.stride;
    float pending[TIDE_DIM_MAX] __attribute__((aligned(64)));
    float seen[TIDE_DIM_MAX] __attribute__((aligned(64)));
    float sum[TIDE_DIM_MAX] __attribute__((aligned(64)));
    uint16_t *rows[TIDE_SUBWORDS_MAX];
    float rates[TIDE_SUBWORDS_MAX + 16];
    uint32_t count = find_rows(sgns, slot, rows);
    float squares = load_relaxed(&state->squares), total = 0;
    tide_optimizer_subword_rates(sgns->optimizer, k, scale, ngrams->words[slot].ids,
                                 count, squares, rates);
    for (uint32_t i = 0; i < count; i++)
        total += rates[i];
    k->read_bfloats(pending, pending_of(ngrams, slot), stride);
    k->read_bfloats(seen, seen_of(ngrams, slot), stride);
    /* The sum of the rows before they move, and their moves, in one pass. */
    memset(sum, 0, stride * sizeof *sum);
    k->spread_bfloats(pending, rows, rates, count, stride, noise_of(slot, squares),
                      sum);
    k->add(sum, total, pending, stride);
    k->write_bfloats(seen_of(ngrams, slot), sum, stride);
    k->read_bfloats(sum, seen_of(ngrams, slot), stride);
    /* x has moved along `pending` step by step already. It lacks what other words have
     * done: the difference between the two sums, less this word's own moves. */
    k->add(sum, -total, pending, stride);
    k->add(sum, -1.0f, seen, stride);
    k->add(tide_matrix_row(&sgns->model->input, slot), 1.0f / (float)(count + 1), sum,
           stride);
    memset(pending, 0, stride * sizeof *pending);
    k->write_bfloats(pending_of(ngrams, slot), pending, stride);
    store_relaxed(&state->rate, total / (float)count);
    store_relaxed(&state->squares, 0);
}

void tide_ngrams_update(const tide_sgns *sgns, uint32_t slot, float scale)
{
    word_state *state = &sgns->ngrams->states[slot];
    if (!sgns->ngrams->words[slot].count || !is_due(state))
        return;
    /* Of several threads that train the word, one visits. */
    if (__atomic_exchange_n(&state->waiting, 0, __ATOMIC_RELAXED))
        visit(sgns, slot, scale);
}

float tide_ngrams_step(const tide_sgns *sgns, uint32_t slot, const float *gradient,
                       float square, float own_rate)
{
    tide_ngrams *ngrams = sgns->ngrams;
    word_state *state = &ngrams->states[slot];
    float count = (float)ngrams->words[slot].count;
    if (count == 0)
        return own_rate;
    uint32_t steps = __atomic_load_n(&state->steps, __ATOMIC_RELAXED);
    uint32_t waiting = __atomic_load_n(&state->waiting, __ATOMIC_RELAXED);
    if (steps < VISIT_GROWTH * VISIT_MAX)
        __atomic_store_n(&state->steps, steps + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&state->waiting, waiting + 1, __ATOMIC_RELAXED);
    store_relaxed(&state->squares, load_relaxed(&state->squares) + square);
    sgns->kernels->add_bfloats(pending_of(ngrams, slot), gradient, ngrams->sums.stride);
    return (own_rate + count * load_relaxed(&state->rate)) / (count + 1);
}

static void prefetch_bfloats(const uint16_t *row, uint32_t stride)
{
    for (uint32_t i = 0; i < stride; i += 32)
        __builtin_prefetch(row + i, 1, 2);
}

void tide_ngrams_prefetch_state(const tide_sgns *sgns, uint32_t slot)
{
    __builtin_prefetch(&sgns->ngrams->states[slot], 1, 3);
    __builtin_prefetch(&sgns->ngrams->words[slot].count, 0, 3);
    __builtin_prefetch(&sgns->ngrams->words[slot].ids[15], 0, 3);
}

void tide_ngrams_prefetch_rows(const tide_sgns *sgns, uint32_t slot)
{
    tide_ngrams *ngrams = sgns->ngrams;
    const word_ngrams *word = &ngrams->words[slot];
    uint32_t stride = ngrams->sums.stride;
    prefetch_bfloats(pending_of(ngrams, slot), 2 * stride);
    if (!is_due(&ngrams->states[slot]))
        return;
    for (uint32_t i = 0; i < word->count; i++)
        prefetch_bfloats(tide_bfloats_row(&sgns->model->subword, word->ids[i]), stride);
}

/* -- repair ------------------------------------------------------------------------ */

bool tide_ngrams_are_sound(const tide_ngrams *ngrams, uint32_t slot, float max)
{
    const word_state *state = &ngrams->states[slot];
    return tide_bfloats_are_within(&ngrams->sums, 2 * slot, max) &&
           tide_bfloats_are_within(&ngrams->sums, 2 * slot + 1, max) &&
           state->rate >= 0 && state->rate <= max && state->squares >= 0 &&
           tide_finite(state->squares);
}

void tide_ngrams_scale(const tide_sgns *sgns, uint32_t slot, float factor)
{
    uint16_t *rows[TIDE_SUBWORDS_MAX];
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    uint32_t count = find_rows(sgns, slot, rows), stride = sgns->ngrams->sums.stride;
    for (uint32_t i = 0; i < count; i++) {
        sgns->kernels->read_bfloats(row, rows[i], stride);
        tide_sgns_scale_row(sgns, row, factor);
        sgns->kernels->write_bfloats(rows[i], row, stride);
    }
    reset_state(sgns, slot, row);
}

/* -- sections subword.states and subword.sums --------------------------------------- */

void tide_ngrams_save(const tide_ngrams *ngrams, uint32_t used,
                      tide_store_writer *writer)
{
    tide_store_put(writer, "subword.states", ngrams->states,
                   used * sizeof *ngrams->states);
    tide_bfloats_save(&ngrams->sums, 2 * used, "subword.sums", writer);
}

int tide_ngrams_load(const tide_sgns *sgns, uint32_t used, tide_store *store,
                     tide_error *err)
{
    tide_ngrams *ngrams = sgns->ngrams;
    if (!tide_store_has(store, "composed")) {
        /* Of version 0.1, which moved all rows at every step: nothing is pending. */
        for (uint32_t slot = 0; slot < used; slot++)
            adopt(sgns, slot);
        return TIDE_OK;
    }
    int status = tide_store_read(store, "subword.states", ngrams->states,
                                 used * sizeof *ngrams->states, err);
    if (!status)
        status = tide_bfloats_load(&ngrams->sums, 2 * used, "subword.sums", store, err);
    for (uint32_t slot = 0; slot < used && !status; slot++) {
        find_ngrams(sgns, slot);
        if (!tide_ngrams_are_sound(ngrams, slot, FLT_MAX))
            status = tide_fail(err, TIDE_ERROR_FORMAT,
                               "%s: section \"subword.states\" is corrupt",
                               tide_store_path(store));
    }
    return status;
}
