/* sgns_block.c - neighboring center words learn together: TIDE_BLOCK that share their negatives, TIDE_QUAD
 * of them at a time from their contexts.
 *
 * A block draws SHARED_DRAWS * S negatives, and each counts for as many pairs as it stands for: a
 * center whose contexts weigh a in all weighs each draw with S a / draws. The block's input vectors
 * against its negatives are one small matrix product, in which every negative row is read and
 * written once for all centers; with several threads that is also what keeps frequent rows from
 * going back and forth between them.
 *
 * Four neighbors have most of their contexts in common, so they too are one product, with all words
 * around them; a word weighs nothing for itself, nor for a center that is too far away. With a window
 * of 2, what the words a..h weigh for the centers c d e f is
 *
 *     a (1/2 0 0 0)   b (1 1/2 0 0)   c (0 1 1/2 0)   d (1 0 1 1/2)   e (1/2 1 0 1) ...
 *
 * Drawing a word that is really a context would push apart what belongs together. `exclude` takes
 * it out again: for a center with that context, the draw loses the context's weight.
 */
#include "params/params.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

enum { STEPS = 2 * TIDE_BLOCK };

/* The contexts of the centers of a block; a center without any has first > last. */
typedef struct block {
    uint32_t at, count; /* place in the lesson */
    uint32_t first[TIDE_BLOCK], last[TIDE_BLOCK];
    float weight[TIDE_BLOCK]; /* of all contexts */
} block;

/* Where the words begin that are near a center at `at`, and where those end that are near one before `end`. */
static uint32_t first_near(const tide_sgns *l, uint32_t at)
{
    return at > l->contexts.width ? at - l->contexts.width : 0;
}

static uint32_t end_near(const tide_sgns *l, const tide_sentence *lesson, uint32_t end)
{
    end += l->contexts.width;
    return end < lesson->count ? end : lesson->count;
}

/* The negatives of the block that position `at` is in. */
static uint32_t *drawn_for(tide_scratch *d, uint32_t at)
{
    return d->shared.drawn[at / TIDE_BLOCK & 1];
}

/* The output row of a slot: this thread's own where it has one. */
static float *output_row(const tide_sgns *l, const tide_scratch *d, uint32_t slot)
{
    float *row = tide_matrix_row(&l->model->output, slot);
    return d->copies ? tide_hot_rows_row(d->copies, slot, row) : row;
}

/* -- memory ------------------------------------------------------------------------------------------ */

static bool has_word(const tide_sentence *lesson, uint32_t at)
{
    return at < lesson->count && lesson->slots[at] != TIDE_NO_SLOT;
}

static void ask_for_context(const tide_sgns *l, const tide_scratch *d,
                            const tide_sentence *lesson, uint32_t at)
{
    uint32_t row = at + l->contexts.width + TIDE_QUAD, sum = row + TIDE_BLOCK;
    if (has_word(lesson, row))
        tide_prefetch_row(d->rows[row], l->model->output.stride);
    if (has_word(lesson, sum))
        tide_optimizer_prefetch_output(l->rates, lesson->slots[sum]);
}

static void ask_for_input(const tide_sgns *l, const tide_sentence *lesson, uint32_t at)
{
    const tide_matrix *input = &l->model->input;
    if (!has_word(lesson, at + TIDE_BLOCK))
        return;
    uint32_t slot = lesson->slots[at + TIDE_BLOCK];
    tide_prefetch_row(tide_matrix_row(input, slot), input->stride);
    tide_optimizer_prefetch_input(l->rates, slot);
}

/* Of the next block's negatives, the share of one of STEPS steps of this block. */
static void ask_for_draws(const tide_sgns *l, tide_scratch *d,
                          const tide_sentence *lesson, const block *b, uint32_t step)
{
    uint32_t draws = SHARED_DRAWS * (uint32_t)l->params->negative;
    if (b->at + TIDE_BLOCK >= lesson->count)
        return;
    const uint32_t *next = drawn_for(d, b->at + TIDE_BLOCK);
    for (uint32_t i = step * draws / STEPS; i < (step + 1) * draws / STEPS; i++) {
        tide_prefetch_row_late(output_row(l, d, next[i]), l->model->output.stride);
        tide_optimizer_prefetch_output(l->rates, next[i]);
    }
}

/* Asks for what will be needed, a little at every step of a block: requests in one burst would stop
 * the processor until the first of them are answered. A quad has eight steps, four while its centers
 * learn and four while they move. */
static void ask_ahead(const tide_sgns *l, tide_scratch *d, const tide_sentence *lesson,
                      const block *b, uint32_t quad, uint32_t step)
{
    uint32_t at = b->at + quad + step % TIDE_QUAD;
    ask_for_draws(l, d, lesson, b, 2 * quad + step);
    if (step < TIDE_QUAD)
        ask_for_context(l, d, lesson, at);
    else
        ask_for_input(l, lesson, at);
}

/* -- negatives ----------------------------------------------------------------------------------------- */

/* Marks the words around a block, so that a draw which is none of them is told by one look. */
static void mark_block(const tide_sgns *l, tide_scratch *d, const tide_sentence *lesson,
                       const block *b, unsigned char mark)
{
    uint32_t end = end_near(l, lesson, b->at + b->count);
    for (uint32_t j = first_near(l, b->at); j < end; j++)
        d->shared.marks[lesson->slots[j] % MARKS] = mark;
}

/* Leaves out what must not be drawn: not even to be read and written back. */
static uint32_t drop_closed(const tide_sgns *l, uint32_t *drawn, uint32_t draws)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < draws; i++) {
        drawn[kept] = drawn[i];
        kept += !tide_sgns_is_quarantined(l, drawn[i]);
    }
    return kept;
}

/* Lists the draws that may be a context somewhere in the block. */
static void find_careful(const tide_sgns *l, tide_scratch *d,
                         const tide_sentence *lesson, const block *b, uint32_t draws)
{
    tide_shared *s = &d->shared;
    const uint32_t *drawn = drawn_for(d, b->at);
    s->careful_count = 0;
    mark_block(l, d, lesson, b, 1);
    for (uint32_t i = 0; i < draws; i++)
        if (s->marks[drawn[i] % MARKS])
            s->careful[s->careful_count++] = i;
    mark_block(l, d, lesson, b, 0);
}

/* The weight of a draw for center i, less that of the contexts which are the same word. */
static float careful_weight(const tide_sgns *l, const tide_sentence *lesson,
                            const block *b, uint32_t i, uint32_t slot, float share)
{
    float weight = b->weight[i];
    uint32_t at = b->at + i;
    for (uint32_t j = b->first[i]; l->params->exclude && j <= b->last[i]; j++)
        if (lesson->slots[j] == slot && j != at)
            weight -= l->contexts.weights[CONTEXTS_MIDDLE + j - at];
    return weight > 0 ? share * weight : 0;
}

static void weigh_draws(const tide_sgns *l, tide_scratch *d,
                        const tide_sentence *lesson, const block *b, uint32_t draws)
{
    tide_shared *s = &d->shared;
    float share = (float)l->params->negative / (float)draws, weights[TIDE_BLOCK];
    for (int i = 0; i < TIDE_BLOCK; i++)
        weights[i] = share * b->weight[i];
    for (uint32_t j = 0; j < draws; j++)
        memcpy(s->weights[j], weights, sizeof weights);
    find_careful(l, d, lesson, b, draws);
    for (uint32_t c = 0; c < s->careful_count; c++)
        for (uint32_t i = 0; i < b->count; i++) {
            uint32_t j = s->careful[c];
            s->weights[j][i] =
                careful_weight(l, lesson, b, i, drawn_for(d, b->at)[j], share);
        }
}

static void measure_draws(const tide_scratch *d, const tide_sentence *lesson,
                          const block *b, uint32_t draws, tide_sgns_progress *learned)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (tide_sgns_measures_loss(lesson, b->at + i))
            for (uint32_t j = 0; j < draws; j++)
                learned->loss += tide_sgns_loss(d->shared.errors[j][i],
                                                d->shared.weights[j][i], false);
}

/* All centers of the block against all its negatives. `squares` are |x_i|^2 / dim. */
static void push_away(const tide_sgns *l, tide_scratch *d, const tide_sentence *lesson,
                      const block *b, const float squares[TIDE_BLOCK],
                      tide_sgns_progress *learned)
{
    const tide_kernels *k = l->kernels;
    tide_shared *s = &d->shared;
    uint32_t stride = l->model->input.stride, *drawn = drawn_for(d, b->at);
    uint32_t draws =
        drop_closed(l, drawn, SHARED_DRAWS * (uint32_t)l->params->negative);
    if (!draws)
        return;
    for (uint32_t j = 0; j < draws; j++)
        s->rows[j] = output_row(l, d, drawn[j]);
    weigh_draws(l, d, lesson, b, draws);
    k->block_dots(d->x, s->rows, draws, stride, s->errors);
    measure_draws(d, lesson, b, draws, learned);
    k->errors(s->errors[0], s->weights[0], 0, draws * TIDE_BLOCK);
    for (uint32_t j = 0; j < draws; j++) {
        s->squares[j] = 0;
        for (int i = 0; i < TIDE_BLOCK; i++)
            s->squares[j] += s->errors[j][i] * s->errors[j][i] * squares[i];
    }
    tide_optimizer_output(l->rates, k, lesson->scale, drawn, s->squares, draws,
                          s->rates);
    k->block_spread(d->x, s->rows, (const float(*)[TIDE_BLOCK])s->errors, s->rates,
                    draws, stride, d->gradients);
}

/* -- contexts -------------------------------------------------------------------------------------------- */

/* What `count` words from `from` on weigh for each center of the quad. */
static void weigh_near(const tide_sgns *l, tide_scratch *d, const block *b,
                       uint32_t quad, uint32_t from, uint32_t count)
{
    float(*weights)[TIDE_QUAD] = d->near.weights;
    uint32_t at = b->at + quad;
    for (uint32_t j = 0; j < count; j++)
        memcpy(weights[j], l->contexts.weights + (CONTEXTS_MIDDLE + at - from - j),
               sizeof weights[j]);
    for (uint32_t i = 0; l->contexts.kind == CONTEXTS_DYNAMIC && i < TIDE_QUAD; i++)
        for (uint32_t j = 0; j < count; j++)
            if (from + j < b->first[quad + i] || from + j > b->last[quad + i])
                weights[j][i] = 0;
}

static void measure_near(const tide_scratch *d, const tide_sentence *lesson,
                         const block *b, uint32_t quad, uint32_t count,
                         tide_sgns_progress *learned)
{
    const tide_near *n = &d->near;
    for (uint32_t i = 0; i < TIDE_QUAD; i++) {
        if (!tide_sgns_measures_loss(lesson, b->at + quad + i) ||
            b->weight[quad + i] <= 0)
            continue;
        for (uint32_t j = 0; j < count; j++)
            if (n->weights[j][i] > 0)
                learned->loss +=
                    tide_sgns_loss(n->errors[j][i], n->weights[j][i], true);
        learned->pairs += (double)b->weight[quad + i];
    }
}

/* Four centers of the block against all words around them; then they move. `squares` are |x_i|^2 / dim. */
static void pull_nearer(const tide_sgns *l, tide_scratch *d,
                        const tide_sentence *lesson, const block *b, uint32_t quad,
                        const float squares[TIDE_QUAD], tide_sgns_progress *learned)
{
    const tide_kernels *k = l->kernels;
    tide_near *n = &d->near;
    uint32_t stride = l->model->input.stride, at = b->at + quad;
    uint32_t from = first_near(l, at),
             count = end_near(l, lesson, at + TIDE_QUAD) - from;
    float *const *rows = d->rows + from, *x = d->x + (size_t)quad * stride;
    float *gradients = d->gradients + (size_t)quad * stride;
    weigh_near(l, d, b, quad, from, count);
    ask_ahead(l, d, lesson, b, quad, 0);
    k->quad_dots(x, rows, count, stride, n->errors);
    measure_near(d, lesson, b, quad, count, learned);
    ask_ahead(l, d, lesson, b, quad, 1);
    k->errors(n->errors[0], n->weights[0], count * TIDE_QUAD, count * TIDE_QUAD);
    ask_ahead(l, d, lesson, b, quad, 2);
    k->quad_squares((const float(*)[TIDE_QUAD])n->errors, squares, count, n->squares);
    tide_optimizer_cached(l->rates, k, lesson->scale, &d->reach, lesson->slots, from,
                          count, n->squares, n->rates);
    ask_ahead(l, d, lesson, b, quad, 3);
    k->quad_spread(x, rows, (const float(*)[TIDE_QUAD])n->errors, n->rates, count,
                   stride, gradients);
    for (uint32_t i = 0; i < TIDE_QUAD; i++) {
        ask_ahead(l, d, lesson, b, quad, TIDE_QUAD + i);
        if (b->weight[quad + i] > 0)
            tide_sgns_move_input(l, lesson->slots[at + i],
                                 gradients + (size_t)i * stride, lesson->scale);
    }
}

/* -- blocks ---------------------------------------------------------------------------------------------- */

/* Finds the contexts of the block's centers. Those without any, and those beyond the end of the
 * lesson, have no weight. */
static block plan(const tide_sgns *l, const tide_sentence *lesson, uint32_t at,
                  tide_rng *rng)
{
    block b = {.at = at, .count = TIDE_BLOCK};
    if (b.count > lesson->count - at)
        b.count = lesson->count - at;
    for (uint32_t i = 0; i < TIDE_BLOCK; i++) {
        b.first[i] = 1;
        uint32_t first, last;
        if (i < b.count &&
            tide_contexts_around(&l->contexts, lesson, rng, at + i, &first, &last)) {
            b.first[i] = first;
            b.last[i] = last;
            b.weight[i] =
                l->contexts.reach[at + i - first] + l->contexts.reach[last - at - i];
        }
    }
    return b;
}

static void learn_block(const tide_sgns *l, tide_scratch *d,
                        const tide_sentence *lesson, const block *b,
                        tide_sgns_progress *learned)
{
    uint32_t stride = l->model->input.stride;
    uint32_t draws = SHARED_DRAWS * (uint32_t)l->params->negative;
    float squares[TIDE_BLOCK] = {0};
    memset(d->gradients, 0, TIDE_BLOCK * stride * sizeof *d->gradients);
    for (uint32_t i = 0; i < TIDE_BLOCK; i++) {
        float *x = d->x + (size_t)i * stride;
        if (b->weight[i] > 0) {
            squares[i] = tide_sgns_input(l, lesson->slots[b->at + i], x);
            learned->centers++;
        } else {
            memset(x, 0, stride * sizeof *x);
        }
    }
    if (draws)
        push_away(l, d, lesson, b, squares, learned);
    tide_optimizer_move_cache(l->rates, &d->reach, lesson->slots, first_near(l, b->at),
                              end_near(l, lesson, b->at + TIDE_BLOCK));
    for (uint32_t i = 0; i < b->count; i += TIDE_QUAD)
        pull_nearer(l, d, lesson, b, i, squares + i, learned);
}

void tide_sgns_train_blocks(const tide_sgns *l, tide_scratch *d,
                            const tide_sentence *lesson, tide_rng *rng,
                            tide_sgns_progress *learned)
{
    uint32_t draws = SHARED_DRAWS * (uint32_t)l->params->negative;
    if (d->copies)
        tide_hot_rows_begin(d->copies, l, lesson);
    for (uint32_t j = 0; j < lesson->count; j++)
        d->rows[j] = lesson->slots[j] == TIDE_NO_SLOT
                         ? d->hole
                         : output_row(l, d, lesson->slots[j]);
    tide_draws_take(lesson->draws, rng, drawn_for(d, 0), draws);
    for (uint32_t at = 0; at < lesson->count; at += TIDE_BLOCK) {
        block b = plan(l, lesson, at, rng);
        if (at + TIDE_BLOCK < lesson->count)
            tide_draws_take(lesson->draws, rng, drawn_for(d, at + TIDE_BLOCK), draws);
        learn_block(l, d, lesson, &b, learned);
    }
    tide_optimizer_move_cache(l->rates, &d->reach, lesson->slots, lesson->count,
                              lesson->count);
    d->reach.begin = d->reach.end = 0;
}
