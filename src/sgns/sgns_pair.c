/* pairs.c - a step for every pair of a center word and a context, with its own negatives.
 *
 * word2vec's order is the usual one: errors from the vectors as they were, then all rows move. The
 * paper's Algorithm 2 moves each output row in turn and takes the input's gradient from the row as
 * it then is, at the input's own rate; `gradient after` does it line by line.
 *
 * Output rows are all over memory. So the negatives of a pair are drawn while the pair before it is
 * still to be learned, and their rows are on their way when they are wanted.
 */
#include "params/params.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vector/vector.h"

static void set_output(const tide_sgns *l, tide_outputs *o, size_t j, uint32_t slot,
                       float weight)
{
    o->slots[j] = slot;
    o->rows[j] = tide_matrix_row(&l->model->output, slot);
    o->weights[j] = weight;
}

static void measure(const tide_outputs *o, size_t count, tide_sgns_progress *learned)
{
    for (size_t j = 0; j < count; j++)
        learned->loss += tide_sgns_loss(o->errors[j], o->weights[j], j == 0);
    learned->pairs += (double)o->weights[0];
}

static void spread_coordinates(const tide_sgns *l, tide_scratch *d, size_t count)
{
    tide_outputs *o = &d->outputs;
    float *sums[PADDED];
    for (size_t j = 0; j < count; j++)
        sums[j] = tide_optimizer_output_sums(l->rates, o->slots[j]);
    l->kernels->spread_coordinates(d->x, o->rows, sums, o->errors,
                                   (float)l->params->alpha, count,
                                   l->model->input.stride, d->gradients);
}

/* One step of the center word against d->outputs, the context first. */
static void step(const tide_sgns *l, tide_scratch *d, const tide_sentence *lesson,
                 uint32_t center, size_t count, bool watched,
                 tide_sgns_progress *learned)
{
    const tide_kernels *k = l->kernels;
    tide_outputs *o = &d->outputs;
    uint32_t stride = l->model->input.stride;
    float square = tide_sgns_input(l, center, d->x);
    k->dots(d->x, o->rows, count, stride, o->errors);
    if (watched)
        measure(o, count, learned);
    k->errors(o->errors, o->weights, 1, count);
    memset(d->gradients, 0, stride * sizeof *d->gradients);
    if (l->params->rate == RATE_COORDINATE) {
        spread_coordinates(l, d, count);
    } else {
        for (size_t j = 0; j < count; j++)
            o->squares[j] = o->errors[j] * o->errors[j] * square;
        tide_optimizer_output(l->rates, k, lesson->scale, o->slots, o->squares, count,
                              o->rates);
        k->spread(d->x, o->rows, o->errors, o->rates, count, stride, d->gradients);
    }
    tide_sgns_move_input(l, center, d->gradients, lesson->scale);
}

static void step_after(const tide_sgns *l, tide_scratch *d, const tide_sentence *lesson,
                       uint32_t center, size_t count, bool watched,
                       tide_sgns_progress *learned)
{
    const tide_kernels *k = l->kernels;
    tide_outputs *o = &d->outputs;
    uint32_t stride = l->model->input.stride;
    float *x = tide_matrix_row(&l->model->input, center), none = 0;
    float input_rate = tide_optimizer_input(l->rates, k, lesson->scale, center, 0);
    tide_sgns_input(l, center, d->x); /* for its bound: x itself is the row */
    memset(d->gradients, 0, stride * sizeof *d->gradients);
    if (watched) {
        k->dots(x, o->rows, count, stride, o->errors);
        measure(o, count, learned);
    }
    for (size_t j = 0; j < count; j++) {
        float error[16] = {k->dot(x, o->rows[j], stride)}, weight[16] = {1.0f},
              rate[16];
        k->errors(error, weight, j == 0, 1);
        tide_optimizer_output(l->rates, k, lesson->scale, &o->slots[j], &none, 1, rate);
        k->spread_after(x, &o->rows[j], error, rate, 1, stride, d->gradients);
    }
    if (tide_finite(k->dot(d->gradients, d->gradients, stride)))
        k->add(x, input_rate, d->gradients, stride);
}

/* "t_k <- t_k + 1 for indices k of the union of input, output, negative sample words". */
static void age_union(const tide_sgns *l, const tide_outputs *o, uint32_t center,
                      size_t count)
{
    tide_optimizer_age(l->rates, center);
    for (size_t j = 0; j < count; j++) {
        bool again = o->slots[j] == center;
        for (size_t i = 0; i < j && !again; i++)
            again = o->slots[i] == o->slots[j];
        if (!again)
            tide_optimizer_age(l->rates, o->slots[j]);
    }
}

/* Draws the negatives of a pair, and asks the memory for them. */
static void draw(const tide_sgns *l, const tide_sentence *lesson, tide_rng *rng,
                 uint32_t *drawn)
{
    uint32_t draws = (uint32_t)l->params->negative;
    const tide_matrix *output = &l->model->output;
    tide_draws_take(lesson->draws, rng, drawn, draws);
    for (uint32_t i = 0; i < draws; i++)
        tide_prefetch_row(tide_matrix_row(output, drawn[i]), output->stride);
}

/* Returns how many outputs there are in all. */
static size_t lay_outputs(const tide_sgns *l, tide_scratch *d, uint32_t context,
                          float weight, const uint32_t *drawn)
{
    size_t count = 0;
    set_output(l, &d->outputs, count++, context, weight);
    for (uint32_t i = 0; i < l->params->negative; i++)
        if (!(l->params->exclude && drawn[i] == context) &&
            !tide_sgns_is_quarantined(l, drawn[i]))
            set_output(l, &d->outputs, count++, drawn[i], weight);
    return count;
}

static void learn_pair(const tide_sgns *l, tide_scratch *d, const tide_sentence *lesson,
                       uint32_t at, uint32_t context, const uint32_t *drawn,
                       tide_sgns_progress *learned)
{
    uint32_t center = lesson->slots[at];
    float weight = l->contexts.weights[CONTEXTS_MIDDLE + context - at];
    size_t count = lay_outputs(l, d, lesson->slots[context], weight, drawn);
    bool watched = tide_sgns_measures_loss(lesson, at);
    if (l->params->gradient == GRADIENT_AFTER)
        step_after(l, d, lesson, center, count, watched, learned);
    else
        step(l, d, lesson, center, count, watched, learned);
    if (tide_optimizer_ages_by(l->rates, AGE_PAIR))
        age_union(l, &d->outputs, center, count);
}

static uint32_t next_context(uint32_t context, uint32_t at)
{
    return context + 1 + (context + 1 == at);
}

static void learn_center(const tide_sgns *l, tide_scratch *d,
                         const tide_sentence *lesson, uint32_t at, uint32_t first,
                         uint32_t last, tide_rng *rng, tide_sgns_progress *learned)
{
    uint32_t drawn[2][NEGATIVE_MAX], turn = 0;
    uint32_t context = first + (first == at);
    draw(l, lesson, rng, drawn[turn]);
    while (context <= last) {
        uint32_t next = next_context(context, at);
        if (next <= last)
            draw(l, lesson, rng, drawn[1 - turn]);
        learn_pair(l, d, lesson, at, context, drawn[turn], learned);
        context = next;
        turn = 1 - turn;
    }
}

void tide_sgns_train_pairs(const tide_sgns *l, tide_scratch *d,
                           const tide_sentence *lesson, tide_rng *rng,
                           tide_sgns_progress *learned)
{
    uint32_t first, last;
    for (uint32_t at = 0; at < lesson->count; at++) {
        if (!tide_contexts_around(&l->contexts, lesson, rng, at, &first, &last))
            continue;
        learned->centers++;
        learn_center(l, d, lesson, at, first, last, rng, learned);
    }
}
