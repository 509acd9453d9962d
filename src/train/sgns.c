/* sgns.c - skip-gram with negative sampling: how a sentence changes the vectors.
 *
 * For a centre word w, its contexts c with weights a_c, and S negatives n a context,
 *
 *     maximise  sum_c a_c ( log s(<v_w, v'_c>) + sum_n log s(-<v_w, v'_n>) ),   s the sigmoid
 *
 * by one gradient step: every output row c or n moves along v_w by its error e = a (label - s), and
 * v_w along the sum of e times the output rows. Mikolov et al., NIPS 2013.
 *
 * Two ways to find the negatives:
 *
 *   shared  SHARED_CENTRES neighbouring centres share SHARED_DRAWS * S draws, each counting for as
 *           many pairs as it stands for. A centre with all its contexts and negatives is one step,
 *           that is, one small matrix product whose negative rows stay in the cache.
 *   pair    every pair of centre and context draws its own S and is a step of its own (word2vec).
 *
 * Drawing a word that is really a context would push apart what belongs together; `exclude` takes
 * it out again: a shared draw loses the weight of the contexts it equals.
 */
#include "train/parts.h"

#include <math.h>
#include <stdlib.h>

enum { LOSS_EVERY = 64, PREFETCH = 2, PADDED = OUTPUTS_MAX + 32, MARKS = 4096 };

struct tide_desk {
    float x[TIDE_DIM_MAX];        /* a composed input vector */
    float gradient[TIDE_DIM_MAX]; /* of the input vector */
    float errors[PADDED];         /* first the dot products */
    float weights[PADDED];
    float steps[PADDED];
    uint32_t slots[PADDED];
    float *rows[PADDED];
    float *sums[PADDED];
    float *outputs[SENTENCE_MAX]; /* output rows of the lesson's words */
    uint32_t drawn[2][OUTPUTS_MAX];
    uint32_t careful[OUTPUTS_MAX]; /* places among the present draws */
    uint32_t careful_count;
    unsigned char marks[MARKS]; /* by slot % MARKS: may be near the present block */
    bool watch_loss;            /* this centre's loss is one of those measured */
} __attribute__((aligned(64)));

uint64_t tide_desk_bytes(void)
{
    return sizeof(tide_desk);
}

tide_desk *tide_desk_new(tide_error *err)
{
    tide_desk *desk = tide_alloc(1, sizeof *desk);
    if (!desk)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a training thread");
    return desk;
}

void tide_desk_free(tide_desk *desk)
{
    free(desk);
}

/* -- one step ------------------------------------------------------------------------------------- */

/* The vector that stands for the centre word: its row, or the mean of it and its n-grams. */
static float *input_of(const tide_learner *l, tide_desk *d, uint32_t centre)
{
    if (!l->model->ngrams)
        return tide_matrix_row(&l->model->input, centre);
    tide_model_input(l->model, l->kernels, centre, d->x);
    return d->x;
}

static void move_input(const tide_learner *l, tide_desk *d, uint32_t centre,
                       float scale)
{
    const tide_kernels *k = l->kernels;
    const tide_matrix *input = &l->model->input;
    float *row = tide_matrix_row(input, centre);
    float *sums = tide_rates_input_sums(l->rates, centre);
    if (sums) {
        k->add_coordinates(row, sums, d->gradient, (float)l->params->alpha,
                           input->stride);
        return;
    }
    float square = k->dot(d->gradient, d->gradient, input->stride) / (float)input->dim;
    k->add(row, tide_rates_input(l->rates, k, scale, centre, square), d->gradient,
           input->stride);
    if (!l->model->ngrams)
        return;
    const tide_ngrams *ngrams = &l->model->ngrams[centre];
    for (uint32_t i = 0; i < ngrams->count; i++) {
        float step = tide_rates_subword(l->rates, k, scale, ngrams->ids[i], square);
        k->add(tide_matrix_row(&l->model->subword, ngrams->ids[i]), step, d->gradient,
               input->stride);
    }
}

/* The loss is measured on one centre in LOSS_EVERY, and only on text that is new. */
static bool loss_is_due(const tide_lesson *lesson, uint32_t at)
{
    return lesson->fresh && (lesson->number + at) % LOSS_EVERY == 0;
}

static double softplus(double x)
{
    return x > 30 ? x : log1p(exp(x));
}

/* From the dot products in d->errors. */
static void measure_loss(const tide_desk *d, size_t positives, size_t count,
                         tide_learned *learned)
{
    for (size_t j = 0; j < count; j++) {
        double dot = (double)d->errors[j];
        learned->loss += (double)d->weights[j] * softplus(j < positives ? -dot : dot);
    }
    for (size_t j = 0; j < positives; j++)
        learned->pairs += (double)d->weights[j];
}

/* One gradient step of a centre word against d->rows, d->slots and d->weights, the positives
 * first. */
static void step(const tide_learner *l, tide_desk *d, const tide_lesson *lesson,
                 uint32_t centre, size_t positives, size_t count, tide_learned *learned)
{
    const tide_kernels *k = l->kernels;
    uint32_t stride = l->model->input.stride;
    float *x = input_of(l, d, centre);
    d->rows[count] = x; /* one more dot product, |x|^2, comes for free */
    k->dots(x, d->rows, count + 1, stride, d->errors);
    float square = d->errors[count] / (float)l->model->input.dim;
    if (d->watch_loss)
        measure_loss(d, positives, count, learned);
    k->errors(d->errors, d->weights, positives, count);
    memset(d->gradient, 0, stride * sizeof *d->gradient);
    if (l->params->rate == RATE_COORDINATE) {
        for (size_t j = 0; j < count; j++)
            d->sums[j] = tide_rates_output_sums(l->rates, d->slots[j]);
        k->spread_coordinates(x, d->rows, d->sums, d->errors, (float)l->params->alpha,
                              count, stride, d->gradient);
    } else {
        tide_rates_output(l->rates, k, lesson->scale, d->slots, d->errors, square,
                          count, d->steps);
        k->spread(x, d->rows, d->errors, d->steps, count, stride, d->gradient);
    }
    move_input(l, d, centre, lesson->scale);
}

/* The paper's order, Algorithm 2 line by line: each output row in turn is moved, and the input's
 * gradient is taken from the row as it then is, at the input's own rate. */
static void step_after(const tide_learner *l, tide_desk *d, const tide_lesson *lesson,
                       uint32_t centre, size_t count, tide_learned *learned)
{
    const tide_kernels *k = l->kernels;
    uint32_t stride = l->model->input.stride;
    float *x = tide_matrix_row(&l->model->input, centre);
    float rate = tide_rates_input(l->rates, k, lesson->scale, centre, 0);
    memset(d->gradient, 0, stride * sizeof *d->gradient);
    if (d->watch_loss) {
        k->dots(x, d->rows, count, stride, d->errors);
        measure_loss(d, 1, count, learned);
    }
    for (size_t j = 0; j < count; j++) {
        float error[16] = {k->dot(x, d->rows[j], stride)}, weight[16] = {1.0f}, pull,
              push[16];
        k->errors(error, weight, j == 0, 1);
        tide_rates_output(l->rates, k, lesson->scale, &d->slots[j], error, 0, 1, push);
        pull = rate * error[0];
        k->spread_after(x, &d->rows[j], &pull, push, 1, stride, d->gradient);
    }
    k->add(x, 1.0f, d->gradient, stride);
}

/* -- negatives of a pair -------------------------------------------------------------------------- */

static bool closed(const tide_learner *l, uint32_t slot)
{
    return l->closed &&
           __atomic_load_n(&l->closed[slot / 64], __ATOMIC_ACQUIRE) >> (slot % 64) & 1;
}

static void set_output(const tide_learner *l, tide_desk *d, size_t j, uint32_t slot,
                       float weight)
{
    d->slots[j] = slot;
    d->rows[j] = tide_matrix_row(&l->model->output, slot);
    d->weights[j] = weight;
}

/* "t_k <- t_k + 1 for indices k of the union of input, output, negative sample words". */
static void age_union(const tide_learner *l, const tide_desk *d, uint32_t centre,
                      size_t count)
{
    tide_rates_age(l->rates, centre);
    for (size_t j = 0; j < count; j++) {
        bool again = d->slots[j] == centre;
        for (size_t i = 0; i < j && !again; i++)
            again = d->slots[i] == d->slots[j];
        if (!again)
            tide_rates_age(l->rates, d->slots[j]);
    }
}

static void age_centres(const tide_learner *l, const tide_lesson *lesson)
{
    if (tide_rates_age_by(l->rates, AGE_CENTRE))
        for (uint32_t at = 0; at < lesson->count; at++)
            if (lesson->slots[at] != TIDE_NO_SLOT)
                tide_rates_age(l->rates, lesson->slots[at]);
}

static void learn_pair(const tide_learner *l, tide_desk *d, const tide_lesson *lesson,
                       uint32_t centre, uint32_t context, float weight, tide_rng *rng,
                       tide_learned *learned)
{
    uint32_t draws = (uint32_t)l->params->negative;
    size_t count = 0;
    tide_draws_take(lesson->draws, rng, d->drawn[0], draws);
    set_output(l, d, count++, context, weight);
    for (uint32_t i = 0; i < draws; i++) {
        uint32_t slot = d->drawn[0][i];
        if (!(l->params->exclude && slot == context) && !closed(l, slot))
            set_output(l, d, count++, slot, weight);
    }
    if (l->params->gradient == GRADIENT_AFTER)
        step_after(l, d, lesson, centre, count, learned);
    else
        step(l, d, lesson, centre, 1, count, learned);
    if (tide_rates_age_by(l->rates, AGE_PAIR))
        age_union(l, d, centre, count);
}

static void learn_pairs(const tide_learner *l, tide_desk *d, const tide_lesson *lesson,
                        tide_rng *rng, tide_learned *learned)
{
    const tide_contexts *contexts = &l->contexts;
    uint32_t first, last;
    for (uint32_t at = 0; at < lesson->count; at++) {
        if (!tide_contexts_around(contexts, lesson, rng, at, &first, &last))
            continue;
        learned->centres++;
        d->watch_loss = loss_is_due(lesson, at);
        for (uint32_t j = first; j <= last; j++)
            if (j != at)
                learn_pair(l, d, lesson, lesson->slots[at], lesson->slots[j],
                           contexts->weights[contexts->width + j - at], rng, learned);
    }
    age_centres(l, lesson);
}

/* -- shared negatives ------------------------------------------------------------------------------ */

/* Asks the memory for what a step on the row will need. */
static void ask_for_output(const tide_learner *l, uint32_t slot)
{
    tide_prefetch_row(tide_matrix_row(&l->model->output, slot),
                      l->model->output.stride);
    tide_rates_prefetch(l->rates, slot);
}

/* The negatives of the block of centres that `at` is in. */
static uint32_t *drawn_for(tide_desk *d, uint32_t at)
{
    return d->drawn[at / SHARED_CENTRES & 1];
}

/* Marks the words around a block, so that a draw which is none of them is told by one look. */
static void mark_block(const tide_learner *l, tide_desk *d, const tide_lesson *lesson,
                       uint32_t block, unsigned char mark)
{
    uint32_t width = l->contexts.width;
    uint32_t from = block > width ? block - width : 0;
    uint32_t to = block + SHARED_CENTRES + width;
    to = to < lesson->count ? to : lesson->count;
    for (uint32_t j = from; j < to; j++)
        d->marks[lesson->slots[j] % MARKS] = mark;
}

/* Lists the draws of a block that need a look at every centre: they may be a context somewhere in
 * it, or must not be drawn at all. */
static void find_careful(const tide_learner *l, tide_desk *d, const tide_lesson *lesson,
                         uint32_t block, uint32_t draws)
{
    const uint32_t *drawn = drawn_for(d, block);
    d->careful_count = 0;
    mark_block(l, d, lesson, block, 1);
    for (uint32_t i = 0; i < draws; i++)
        if (d->marks[drawn[i] % MARKS] || closed(l, drawn[i]))
            d->careful[d->careful_count++] = i;
    mark_block(l, d, lesson, block, 0);
}

/* The weight of a draw less that of the contexts which are the same word. */
static float careful_weight(const tide_learner *l, const tide_desk *d, size_t contexts,
                            uint32_t slot, float weight, float share)
{
    if (closed(l, slot))
        return 0;
    for (size_t j = 0; j < contexts && l->params->exclude; j++)
        if (d->slots[j] == slot)
            weight -= share * d->weights[j];
    return weight > 0 ? weight : 0;
}

/* Lays out the contexts of the centre at `at`; returns how many, and their total weight. */
static size_t lay_contexts(const tide_learner *l, tide_desk *d,
                           const tide_lesson *lesson, uint32_t at, uint32_t first,
                           uint32_t last, float *total)
{
    const float *weights = l->contexts.weights + l->contexts.width - at;
    size_t left = at - first, right = last - at;
    memcpy(d->slots, lesson->slots + first, left * sizeof *d->slots);
    memcpy(d->slots + left, lesson->slots + at + 1, right * sizeof *d->slots);
    memcpy(d->rows, d->outputs + first, left * sizeof *d->rows);
    memcpy(d->rows + left, d->outputs + at + 1, right * sizeof *d->rows);
    memcpy(d->weights, weights + first, left * sizeof *d->weights);
    memcpy(d->weights + left, weights + at + 1, right * sizeof *d->weights);
    *total = 0;
    for (size_t j = 0; j < left + right; j++)
        *total += d->weights[j];
    return left + right;
}

static void learn_centre(const tide_learner *l, tide_desk *d, const tide_lesson *lesson,
                         uint32_t at, uint32_t draws, tide_rng *rng,
                         tide_learned *learned)
{
    uint32_t first, last;
    if (!tide_contexts_around(&l->contexts, lesson, rng, at, &first, &last))
        return;
    float total;
    size_t contexts = lay_contexts(l, d, lesson, at, first, last, &total);
    float share = draws ? (float)l->params->negative / (float)draws : 0;
    const uint32_t *drawn = drawn_for(d, at);
    for (uint32_t i = 0; i < draws; i++)
        set_output(l, d, contexts + i, drawn[i], share * total);
    for (uint32_t i = 0; i < d->careful_count; i++)
        d->weights[contexts + d->careful[i]] =
            careful_weight(l, d, contexts, drawn[d->careful[i]], share * total, share);
    learned->centres++;
    d->watch_loss = loss_is_due(lesson, at);
    step(l, d, lesson, lesson->slots[at], contexts, contexts + draws, learned);
}

/* Row 0 stands in for a hole: it is asked for, but never trained. */
static float *row_of(const tide_matrix *m, uint32_t slot)
{
    return tide_matrix_row(m, slot == TIDE_NO_SLOT ? 0 : slot);
}

/* Asks for what is needed PREFETCH words later, and for this word's part of the next block's
 * negatives: all of them at once would have to wait for each other. */
static void ask_ahead(const tide_learner *l, tide_desk *d, const tide_lesson *lesson,
                      uint32_t at, uint32_t draws)
{
    uint32_t context = at + l->contexts.width + PREFETCH, turn = at % SHARED_CENTRES;
    if (context < lesson->count && lesson->slots[context] != TIDE_NO_SLOT)
        ask_for_output(l, lesson->slots[context]);
    if (at + PREFETCH < lesson->count)
        tide_prefetch_row(row_of(&l->model->input, lesson->slots[at + PREFETCH]),
                          l->model->input.stride);
    if (at - turn + SHARED_CENTRES < lesson->count) {
        const uint32_t *next = drawn_for(d, at + SHARED_CENTRES);
        for (uint32_t i = turn * draws / SHARED_CENTRES;
             i < (turn + 1) * draws / SHARED_CENTRES; i++)
            ask_for_output(l, next[i]);
    }
}

static void learn_shared(const tide_learner *l, tide_desk *d, const tide_lesson *lesson,
                         tide_rng *rng, tide_learned *learned)
{
    uint32_t draws = SHARED_DRAWS * (uint32_t)l->params->negative;
    for (uint32_t j = 0; j < lesson->count; j++)
        d->outputs[j] = row_of(&l->model->output, lesson->slots[j]);
    tide_draws_take(lesson->draws, rng, drawn_for(d, 0), draws);
    for (uint32_t block = 0; block < lesson->count; block += SHARED_CENTRES) {
        uint32_t end = block + SHARED_CENTRES;
        if (end < lesson->count)
            tide_draws_take(lesson->draws, rng, drawn_for(d, end), draws);
        else
            end = lesson->count;
        find_careful(l, d, lesson, block, draws);
        for (uint32_t at = block; at < end; at++) {
            ask_ahead(l, d, lesson, at, draws);
            learn_centre(l, d, lesson, at, draws, rng, learned);
        }
    }
    age_centres(l, lesson);
}

void tide_learn(const tide_learner *learner, tide_desk *desk, const tide_lesson *lesson,
                tide_learned *learned)
{
    tide_rng rng =
        tide_rng_seeded(learner->params->seed + lesson->number * 0xc2b2ae3d27d4eb4fu);
    if (learner->params->negatives == NEGATIVES_SHARED)
        learn_shared(learner, desk, lesson, &rng, learned);
    else
        learn_pairs(learner, desk, lesson, &rng, learned);
}
