/* sgns_pair.c - one step per pair of a center word and a context, with its own
 * negatives.
 *
 * By default the order is word2vec's: errors are computed from the vectors as they
 * were, then all rows move. The paper's Algorithm 2 moves the output rows one after the
 * other and takes the input's gradient from each row after its move, at the input's own
 * rate; `gradient after` follows it line by line.
 *
 * Output rows are scattered over memory. So the negatives of a pair are drawn and
 * prefetched while the pair before it is being trained.
 */
#include "params/params.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vector/vector.h"

static void set_output(const tide_sgns *sgns, tide_outputs *o, size_t j, uint32_t slot,
                       float weight)
{
    o->slots[j] = slot;
    o->rows[j] = tide_matrix_row(&sgns->model->output, slot);
    o->weights[j] = weight;
}

static void add_loss(const tide_outputs *o, size_t count, tide_sgns_progress *progress)
{
    for (size_t j = 0; j < count; j++)
        progress->loss += tide_sgns_loss(o->errors[j], o->weights[j], j == 0);
    progress->pairs += (double)o->weights[0];
}

static void spread_coordinates(const tide_sgns *sgns, tide_scratch *scratch,
                               size_t count)
{
    tide_outputs *o = &scratch->outputs;
    float *coordinates[PADDED];
    for (size_t j = 0; j < count; j++)
        coordinates[j] =
            tide_optimizer_output_coordinates(sgns->optimizer, o->slots[j]);
    sgns->kernels->spread_coordinates(scratch->x, o->rows, coordinates, o->errors,
                                      (float)sgns->params->alpha, count,
                                      sgns->model->input.stride, scratch->gradients);
}

/* One step of the center word against scratch->outputs. */
static void step(const tide_sgns *sgns, tide_scratch *scratch,
                 const tide_sentence *sentence, uint32_t center, size_t count,
                 bool measured, tide_sgns_progress *progress)
{
    const tide_kernels *k = sgns->kernels;
    tide_outputs *o = &scratch->outputs;
    uint32_t stride = sgns->model->input.stride;
    /* x is a copy, so all errors are computed from the input vector as it was, even if
     * another thread moves the row meanwhile. */
    float square = tide_sgns_input(sgns, center, sentence->scale, scratch->x);
    k->dots(scratch->x, o->rows, count, stride, o->errors);
    if (measured)
        add_loss(o, count, progress);
    k->errors(o->errors, o->weights, 1, count);
    memset(scratch->gradients, 0, stride * sizeof *scratch->gradients);
    if (sgns->params->optimizer == TIDE_OPTIMIZER_COORDINATE) {
        spread_coordinates(sgns, scratch, count);
    } else {
        /* The gradient of output row j is errors[j] * x. */
        for (size_t j = 0; j < count; j++)
            o->squares[j] = o->errors[j] * o->errors[j] * square;
        tide_optimizer_output_rates(sgns->optimizer, k, sentence->scale, o->slots,
                                    o->squares, count, o->rates);
        k->spread(scratch->x, o->rows, o->errors, o->rates, count, stride,
                  scratch->gradients);
    }
    tide_sgns_move_input(sgns, center, scratch->gradients, sentence->scale);
}

/* The same in the order of the paper's Algorithm 2. */
static void step_after(const tide_sgns *sgns, tide_scratch *scratch,
                       const tide_sentence *sentence, uint32_t center, size_t count,
                       bool measured, tide_sgns_progress *progress)
{
    const tide_kernels *k = sgns->kernels;
    tide_outputs *o = &scratch->outputs;
    uint32_t stride = sgns->model->input.stride;
    float *x = tide_matrix_row(&sgns->model->input, center), zero = 0;
    float input_rate =
        tide_optimizer_input_rate(sgns->optimizer, k, sentence->scale, center, 0);
    /* Only to clip it: x is the row itself. */
    tide_sgns_input(sgns, center, sentence->scale, scratch->x);
    memset(scratch->gradients, 0, stride * sizeof *scratch->gradients);
    if (measured) {
        k->dots(x, o->rows, count, stride, o->errors);
        add_loss(o, count, progress);
    }
    /* One output row at a time. Each error is computed after the rows before it have
     * moved, since a slot may be among them twice. */
    for (size_t j = 0; j < count; j++) {
        float error[16] = {k->dot(x, o->rows[j], stride)}, weight[16] = {1.0f},
              rate[16];
        k->errors(error, weight, j == 0, 1);
        tide_optimizer_output_rates(sgns->optimizer, k, sentence->scale, &o->slots[j],
                                    &zero, 1, rate);
        k->spread_after(x, &o->rows[j], error, rate, 1, stride, scratch->gradients);
    }
    if (tide_finite(k->dot(scratch->gradients, scratch->gradients, stride)))
        k->add(x, input_rate, scratch->gradients, stride);
}

/* The paper: "t_k <- t_k + 1 for indices k of the union of input, output, negative
 * sample words". */
static void age_union(const tide_sgns *sgns, const tide_outputs *o, uint32_t center,
                      size_t count)
{
    tide_optimizer_age(sgns->optimizer, center);
    for (size_t j = 0; j < count; j++) {
        bool seen = o->slots[j] == center;
        for (size_t i = 0; i < j && !seen; i++)
            seen = o->slots[i] == o->slots[j];
        if (!seen)
            tide_optimizer_age(sgns->optimizer, o->slots[j]);
    }
}

/* Draws the negatives of a pair and prefetches their rows. */
static void draw_negatives(const tide_sgns *sgns, const tide_sentence *sentence,
                           tide_rng *rng, uint32_t *drawn)
{
    uint32_t draws = (uint32_t)sgns->params->negative;
    const tide_matrix *output = &sgns->model->output;
    tide_draws_next(sentence->negatives, rng, drawn, draws);
    for (uint32_t i = 0; i < draws; i++)
        tide_prefetch_row(tide_matrix_row(output, drawn[i]), output->stride);
}

/* Lists the output rows of a pair; returns their number. */
static size_t set_outputs(const tide_sgns *sgns, tide_scratch *scratch,
                          uint32_t context, float weight, const uint32_t *drawn)
{
    size_t count = 0;
    /* The context comes first; the kernels take the first row as the positive
     * example. */
    set_output(sgns, &scratch->outputs, count++, context, weight);
    for (uint32_t i = 0; i < sgns->params->negative; i++)
        if (!(sgns->params->exclude && drawn[i] == context) &&
            !tide_sgns_is_quarantined(sgns, drawn[i]))
            set_output(sgns, &scratch->outputs, count++, drawn[i], weight);
    return count;
}

static void train_pair(const tide_sgns *sgns, tide_scratch *scratch,
                       const tide_sentence *sentence, uint32_t at, uint32_t context,
                       const uint32_t *drawn, tide_sgns_progress *progress)
{
    uint32_t center = sentence->slots[at];
    float weight = sgns->contexts.weights[CONTEXTS_MIDDLE + context - at];
    size_t count = set_outputs(sgns, scratch, sentence->slots[context], weight, drawn);
    bool measured = tide_sgns_measures_loss(sentence, at);
    if (sgns->params->gradient == TIDE_GRADIENT_AFTER)
        step_after(sgns, scratch, sentence, center, count, measured, progress);
    else
        step(sgns, scratch, sentence, center, count, measured, progress);
    if (tide_optimizer_ages_by(sgns->optimizer, TIDE_AGE_PAIR))
        age_union(sgns, &scratch->outputs, center, count);
}

static uint32_t next_context(uint32_t context, uint32_t at)
{
    return context + 1 + (context + 1 == at);
}

static void train_center(const tide_sgns *sgns, tide_scratch *scratch,
                         const tide_sentence *sentence, uint32_t at, uint32_t first,
                         uint32_t last, tide_rng *rng, tide_sgns_progress *progress)
{
    uint32_t drawn[2][NEGATIVE_MAX], current = 0;
    uint32_t context = first + (first == at);
    draw_negatives(sgns, sentence, rng, drawn[current]);
    while (context <= last) {
        uint32_t next = next_context(context, at);
        /* The next pair's negatives travel from memory while this pair is trained.
         * There are two arrays of them, used in turn. */
        if (next <= last)
            draw_negatives(sgns, sentence, rng, drawn[1 - current]);
        train_pair(sgns, scratch, sentence, at, context, drawn[current], progress);
        context = next;
        current = 1 - current;
    }
}

void tide_sgns_train_pairs(const tide_sgns *sgns, tide_scratch *scratch,
                           const tide_sentence *sentence, tide_rng *rng,
                           tide_sgns_progress *progress)
{
    uint32_t first, last;
    for (uint32_t at = 0; at < sentence->count; at++) {
        if (!tide_contexts_around(&sgns->contexts, sentence, rng, at, &first, &last))
            continue;
        progress->centers++;
        train_center(sgns, scratch, sentence, at, first, last, rng, progress);
    }
}
