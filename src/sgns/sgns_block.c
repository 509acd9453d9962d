/* sgns_block.c - neighboring center words are trained together: TIDE_BLOCK of them
 * share their negatives, and TIDE_QUAD of them at a time share a pass over their
 * contexts.
 *
 * A block draws SHARED_DRAWS * S negatives for all its centers. Each draw stands for
 * several pairs: a center whose contexts weigh a in total weighs each draw with S a /
 * draws. The block's input vectors times its negatives are one small matrix product, in
 * which every negative row is read and written once for all centers. With several
 * threads this also keeps frequent rows from bouncing between the cores.
 *
 * Four neighboring centers have most of their contexts in common, so they too are one
 * product, with all words around them. A word has weight 0 for itself and for centers
 * that are too far away. With a window of 2, the weights of the words a..h for the
 * centers c d e f are
 *
 *     a (1/2 0 0 0)   b (1 1/2 0 0)   c (0 1 1/2 0)   d (1 0 1 1/2)   e (1/2 1 0 1) ...
 *
 * A negative that is really a context would push apart words that belong together.
 * `exclude` corrects for it: for a center with that context, the draw loses the
 * context's weight.
 */
#include "params/params.h"
#include "sampler/sampler.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

enum { STEPS = 2 * TIDE_BLOCK }; /* calls of prefetch_ahead per block */

/* A block of centers and their contexts. A center without contexts has first > last. */
typedef struct block {
    uint32_t at, count; /* position in the sentence */
    uint32_t first[TIDE_BLOCK], last[TIDE_BLOCK];
    float weight[TIDE_BLOCK]; /* total of the contexts */
} block;

/* [first_near(at), end_near(end)) are the positions within the window of a center in
 * [at, end). */
static uint32_t first_near(const tide_sgns *sgns, uint32_t at)
{
    return at > sgns->contexts.width ? at - sgns->contexts.width : 0;
}

static uint32_t end_near(const tide_sgns *sgns, const tide_sentence *sentence,
                         uint32_t end)
{
    end += sgns->contexts.width;
    return end < sentence->count ? end : sentence->count;
}

/* The draws of the block that position `at` is in. */
static uint32_t *draws_at(tide_scratch *scratch, uint32_t at)
{
    return scratch->shared.drawn[at / TIDE_BLOCK & 1];
}

/* The output row of a slot: this thread's copy if it has one. */
static float *output_row(const tide_sgns *sgns, const tide_scratch *scratch,
                         uint32_t slot)
{
    float *row = tide_matrix_row(&sgns->model->output, slot);
    return scratch->hot_rows ? tide_hot_rows_row(scratch->hot_rows, slot, row) : row;
}

/* -- prefetching ------------------------------------------------------------------- */

static bool has_word(const tide_sentence *sentence, uint32_t at)
{
    return at < sentence->count && sentence->slots[at] != TIDE_NO_SLOT;
}

static void prefetch_context(const tide_sgns *sgns, const tide_scratch *scratch,
                             const tide_sentence *sentence, uint32_t at)
{
    uint32_t row = at + sgns->contexts.width + TIDE_QUAD, sum = row + TIDE_BLOCK;
    if (has_word(sentence, row))
        tide_prefetch_row(scratch->rows[row], sgns->model->output.stride);
    if (has_word(sentence, sum))
        tide_optimizer_prefetch_output(sgns->optimizer, sentence->slots[sum]);
}

static void prefetch_input(const tide_sgns *sgns, const tide_sentence *sentence,
                           uint32_t at)
{
    const tide_matrix *input = &sgns->model->input;
    if (!has_word(sentence, at + TIDE_BLOCK))
        return;
    uint32_t slot = sentence->slots[at + TIDE_BLOCK];
    tide_prefetch_row(tide_matrix_row(input, slot), input->stride);
    tide_optimizer_prefetch_input(sgns->optimizer, slot);
    if (sgns->ngrams)
        tide_ngrams_prefetch_rows(sgns, slot);
    if (sgns->ngrams && has_word(sentence, at + 2 * TIDE_BLOCK))
        tide_ngrams_prefetch_state(sgns, sentence->slots[at + 2 * TIDE_BLOCK]);
}

/* Prefetches the share of the next block's negatives for one of STEPS steps of this
 * block. */
static void prefetch_draws(const tide_sgns *sgns, tide_scratch *scratch,
                           const tide_sentence *sentence, const block *b, uint32_t step)
{
    uint32_t draws = SHARED_DRAWS * (uint32_t)sgns->params->negative;
    if (b->at + TIDE_BLOCK >= sentence->count)
        return;
    const uint32_t *next = draws_at(scratch, b->at + TIDE_BLOCK);
    for (uint32_t i = step * draws / STEPS; i < (step + 1) * draws / STEPS; i++) {
        tide_prefetch_row_late(output_row(sgns, scratch, next[i]),
                               sgns->model->output.stride);
        tide_optimizer_prefetch_output(sgns->optimizer, next[i]);
    }
}

/* Prefetches rows that will be needed soon, a few at each step of a block. A burst of
 * prefetches would fill the core's miss buffers and stall it. A quad has eight steps,
 * four while its gradients are computed and four while its centers move. */
static void prefetch_ahead(const tide_sgns *sgns, tide_scratch *scratch,
                           const tide_sentence *sentence, const block *b, uint32_t quad,
                           uint32_t step)
{
    uint32_t at = b->at + quad + step % TIDE_QUAD;
    prefetch_draws(sgns, scratch, sentence, b, 2 * quad + step);
    if (step < TIDE_QUAD)
        prefetch_context(sgns, scratch, sentence, at);
    else
        prefetch_input(sgns, sentence, at);
}

/* -- negatives --------------------------------------------------------------------- */

/* Marks the words around a block, so that one lookup shows for most draws that they are
 * not among them. */
static void mark_block(const tide_sgns *sgns, tide_scratch *scratch,
                       const tide_sentence *sentence, const block *b,
                       unsigned char mark)
{
    uint32_t end = end_near(sgns, sentence, b->at + b->count);
    for (uint32_t j = first_near(sgns, b->at); j < end; j++)
        scratch->shared.marks[sentence->slots[j] % MARKS] = mark;
}

/* Removes draws of quarantined slots: their rows must not even be read and written
 * back. */
static uint32_t drop_quarantined(const tide_sgns *sgns, uint32_t *drawn, uint32_t draws)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < draws; i++) {
        drawn[kept] = drawn[i];
        kept += !tide_sgns_is_quarantined(sgns, drawn[i]);
    }
    return kept;
}

/* Lists the draws that may be a context of a center in the block. Marks collide, so
 * some are not. */
static void find_nearby(const tide_sgns *sgns, tide_scratch *scratch,
                        const tide_sentence *sentence, const block *b, uint32_t draws)
{
    tide_shared *s = &scratch->shared;
    const uint32_t *drawn = draws_at(scratch, b->at);
    s->nearby_count = 0;
    mark_block(sgns, scratch, sentence, b, 1);
    for (uint32_t i = 0; i < draws; i++)
        if (s->marks[drawn[i] % MARKS])
            s->nearby[s->nearby_count++] = i;
    mark_block(sgns, scratch, sentence, b, 0);
}

/* The weight of a draw for center i, less the weight of the contexts that are the same
 * word. */
static float nearby_weight(const tide_sgns *sgns, const tide_sentence *sentence,
                           const block *b, uint32_t i, uint32_t slot, float share)
{
    float weight = b->weight[i];
    uint32_t at = b->at + i;
    /* A word may be several contexts of the same center. */
    for (uint32_t j = b->first[i]; sgns->params->exclude && j <= b->last[i]; j++)
        if (sentence->slots[j] == slot && j != at)
            weight -= sgns->contexts.weights[CONTEXTS_MIDDLE + j - at];
    return weight > 0 ? share * weight : 0;
}

static void set_negative_weights(const tide_sgns *sgns, tide_scratch *scratch,
                                 const tide_sentence *sentence, const block *b,
                                 uint32_t draws)
{
    tide_shared *s = &scratch->shared;
    float share = (float)sgns->params->negative / (float)draws, weights[TIDE_BLOCK];
    for (int i = 0; i < TIDE_BLOCK; i++)
        weights[i] = share * b->weight[i];
    /* First every draw gets the same weights, in one go; then the few that may be
     * contexts are corrected one by one. */
    for (uint32_t j = 0; j < draws; j++)
        memcpy(s->weights[j], weights, sizeof weights);
    find_nearby(sgns, scratch, sentence, b, draws);
    for (uint32_t c = 0; c < s->nearby_count; c++)
        for (uint32_t i = 0; i < b->count; i++) {
            uint32_t j = s->nearby[c];
            s->weights[j][i] =
                nearby_weight(sgns, sentence, b, i, draws_at(scratch, b->at)[j], share);
        }
}

static void add_draw_loss(const tide_scratch *scratch, const tide_sentence *sentence,
                          const block *b, uint32_t draws, tide_sgns_progress *progress)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (tide_sgns_measures_loss(sentence, b->at + i))
            for (uint32_t j = 0; j < draws; j++)
                progress->loss += tide_sgns_loss(scratch->shared.errors[j][i],
                                                 scratch->shared.weights[j][i], false);
}

/* Trains all centers of the block against its negatives: moves the output rows and adds
 * to the centers' gradients. squares[i] is |x_i|^2 / dim.
 *
 * scratch->x holds copies of the input rows, so the products below use the vectors from
 * before the block no matter what other threads do. Rows of output vectors are read and
 * written without locks. */
static void push_away(const tide_sgns *sgns, tide_scratch *scratch,
                      const tide_sentence *sentence, const block *b,
                      const float squares[TIDE_BLOCK], tide_sgns_progress *progress)
{
    const tide_kernels *k = sgns->kernels;
    tide_shared *s = &scratch->shared;
    uint32_t stride = sgns->model->input.stride, *drawn = draws_at(scratch, b->at);
    uint32_t draws =
        drop_quarantined(sgns, drawn, SHARED_DRAWS * (uint32_t)sgns->params->negative);
    if (!draws)
        return;
    for (uint32_t j = 0; j < draws; j++)
        s->rows[j] = output_row(sgns, scratch, drawn[j]);
    set_negative_weights(sgns, scratch, sentence, b, draws);
    /* errors[j][i], for draw j and center i: first the dot product, then weight times
     * (0 - sigmoid), so 0 for centers that do not exist or have no contexts. */
    k->block_dots(scratch->x, s->rows, draws, stride, s->errors);
    add_draw_loss(scratch, sentence, b, draws, progress);
    k->errors(s->errors[0], s->weights[0], 0, draws * TIDE_BLOCK);
    /* Draw j moves along the gradient sum_i errors[j][i] * x_i. Its accumulator adds
     * the squares of the terms and not the square of the sum, as if the centers were
     * steps of their own. */
    for (uint32_t j = 0; j < draws; j++) {
        s->squares[j] = 0;
        for (int i = 0; i < TIDE_BLOCK; i++)
            s->squares[j] += s->errors[j][i] * s->errors[j][i] * squares[i];
    }
    tide_optimizer_output_rates(sgns->optimizer, k, sentence->scale, drawn, s->squares,
                                draws, s->rates);
    k->block_spread(scratch->x, s->rows, (const float(*)[TIDE_BLOCK])s->errors,
                    s->rates, draws, stride, scratch->gradients);
}

/* -- contexts ---------------------------------------------------------------------- */

/* Sets the weights of the `count` words from position `from` for each center of the
 * quad. */
static void set_context_weights(const tide_sgns *sgns, tide_scratch *scratch,
                                const block *b, uint32_t quad, uint32_t from,
                                uint32_t count)
{
    float(*weights)[TIDE_QUAD] = scratch->near.weights;
    uint32_t at = b->at + quad;
    /* The weights of one word for four consecutive centers are four consecutive entries
     * of the window's weights: the distance grows by 1 from each center to the next. */
    for (uint32_t j = 0; j < count; j++)
        memcpy(weights[j], sgns->contexts.weights + (CONTEXTS_MIDDLE + at - from - j),
               sizeof weights[j]);
    for (uint32_t i = 0; sgns->contexts.kind == TIDE_CONTEXTS_DYNAMIC && i < TIDE_QUAD;
         i++)
        for (uint32_t j = 0; j < count; j++)
            if (from + j < b->first[quad + i] || from + j > b->last[quad + i])
                weights[j][i] = 0;
}

static void add_context_loss(const tide_scratch *scratch, const tide_sentence *sentence,
                             const block *b, uint32_t quad, uint32_t count,
                             tide_sgns_progress *progress)
{
    const tide_near *n = &scratch->near;
    for (uint32_t i = 0; i < TIDE_QUAD; i++) {
        if (!tide_sgns_measures_loss(sentence, b->at + quad + i) ||
            b->weight[quad + i] <= 0)
            continue;
        for (uint32_t j = 0; j < count; j++)
            if (n->weights[j][i] > 0)
                progress->loss +=
                    tide_sgns_loss(n->errors[j][i], n->weights[j][i], true);
        progress->pairs += (double)b->weight[quad + i];
    }
}

/* Trains the four centers from block position `quad` on against all words around them,
 * then moves the centers. Their gradients already contain the terms of push_away.
 * squares[i] is |x_i|^2 / dim.
 *
 * All four centers use the same rows, [from, from + count). Where a word is not a
 * context of a center, the weight is 0 or the center's x is zero, so the pair moves
 * nothing, and the kernels need no branches. */
static void pull_nearer(const tide_sgns *sgns, tide_scratch *scratch,
                        const tide_sentence *sentence, const block *b, uint32_t quad,
                        const float squares[TIDE_QUAD], tide_sgns_progress *progress)
{
    const tide_kernels *k = sgns->kernels;
    tide_near *n = &scratch->near;
    uint32_t stride = sgns->model->input.stride, at = b->at + quad;
    uint32_t from = first_near(sgns, at),
             count = end_near(sgns, sentence, at + TIDE_QUAD) - from;
    float *const *rows = scratch->rows + from, *x = scratch->x + (size_t)quad * stride;
    float *gradients = scratch->gradients + (size_t)quad * stride;
    set_context_weights(sgns, scratch, b, quad, from, count);
    prefetch_ahead(sgns, scratch, sentence, b, quad, 0); /* between the kernels */
    k->quad_dots(x, rows, count, stride, n->errors);
    add_context_loss(scratch, sentence, b, quad, count, progress);
    prefetch_ahead(sgns, scratch, sentence, b, quad, 1);
    k->errors(n->errors[0], n->weights[0], count * TIDE_QUAD, count * TIDE_QUAD);
    prefetch_ahead(sgns, scratch, sentence, b, quad, 2);
    k->quad_squares((const float(*)[TIDE_QUAD])n->errors, squares, count, n->squares);
    /* The words' accumulators are in the cache: train_block has moved it here. */
    tide_optimizer_cached_rates(sgns->optimizer, k, sentence->scale, &scratch->cache,
                                sentence->slots, from, count, n->squares, n->rates);
    prefetch_ahead(sgns, scratch, sentence, b, quad, 3);
    k->quad_spread(x, rows, (const float(*)[TIDE_QUAD])n->errors, n->rates, count,
                   stride, gradients);
    /* Output rows have moved along the old x. Now the input rows may move. */
    for (uint32_t i = 0; i < TIDE_QUAD; i++) {
        prefetch_ahead(sgns, scratch, sentence, b, quad, TIDE_QUAD + i);
        if (b->weight[quad + i] > 0)
            tide_sgns_move_input(sgns, sentence->slots[at + i],
                                 gradients + (size_t)i * stride, sentence->scale);
    }
}

/* -- blocks ------------------------------------------------------------------------ */

/* Finds the contexts of the block's centers. Centers without contexts, and those beyond
 * the end of the sentence, have weight 0. */
static block find_contexts(const tide_sgns *sgns, const tide_sentence *sentence,
                           uint32_t at, tide_rng *rng)
{
    block b = {.at = at, .count = TIDE_BLOCK};
    if (b.count > sentence->count - at)
        b.count = sentence->count - at;
    for (uint32_t i = 0; i < TIDE_BLOCK; i++) {
        /* With last = 0 an empty range, for all loops over contexts. */
        b.first[i] = 1;
        uint32_t first, last;
        if (i < b.count && tide_contexts_around(&sgns->contexts, sentence, rng, at + i,
                                                &first, &last)) {
            b.first[i] = first;
            b.last[i] = last;
            b.weight[i] = sgns->contexts.cumulative[at + i - first] +
                          sgns->contexts.cumulative[last - at - i];
        }
    }
    return b;
}

static void train_block(const tide_sgns *sgns, tide_scratch *scratch,
                        const tide_sentence *sentence, const block *b,
                        tide_sgns_progress *progress)
{
    uint32_t stride = sgns->model->input.stride;
    uint32_t draws = SHARED_DRAWS * (uint32_t)sgns->params->negative;
    float squares[TIDE_BLOCK] = {0};
    memset(scratch->gradients, 0, TIDE_BLOCK * stride * sizeof *scratch->gradients);
    for (uint32_t i = 0; i < TIDE_BLOCK; i++) {
        float *x = scratch->x + (size_t)i * stride;
        if (b->weight[i] > 0) {
            squares[i] =
                tide_sgns_input(sgns, sentence->slots[b->at + i], sentence->scale, x);
            progress->centers++;
        } else {
            /* A zero vector: the kernels may work on all eight centers, and this one
             * moves nothing. */
            memset(x, 0, stride * sizeof *x);
        }
    }
    if (draws)
        push_away(sgns, scratch, sentence, b, squares, progress);
    /* After the negatives, which use the shared accumulators, so that words entering
     * the cache now include what was just added. */
    tide_optimizer_move_cache(sgns->optimizer, &scratch->cache, sentence->slots,
                              first_near(sgns, b->at),
                              end_near(sgns, sentence, b->at + TIDE_BLOCK));
    for (uint32_t i = 0; i < b->count; i += TIDE_QUAD)
        pull_nearer(sgns, scratch, sentence, b, i, squares + i, progress);
}

void tide_sgns_train_blocks(const tide_sgns *sgns, tide_scratch *scratch,
                            const tide_sentence *sentence, tide_rng *rng,
                            tide_sgns_progress *progress)
{
    uint32_t draws = SHARED_DRAWS * (uint32_t)sgns->params->negative;
    if (scratch->hot_rows)
        tide_hot_rows_prepare(scratch->hot_rows, sgns, sentence);
    for (uint32_t j = 0; j < sentence->count; j++)
        scratch->rows[j] = sentence->slots[j] == TIDE_NO_SLOT
                               ? scratch->hole
                               : output_row(sgns, scratch, sentence->slots[j]);
    tide_draws_next(sentence->negatives, rng, draws_at(scratch, 0), draws);
    for (uint32_t at = 0; at < sentence->count; at += TIDE_BLOCK) {
        block b = find_contexts(sgns, sentence, at, rng);
        /* One block ahead, so that the rows can be prefetched while this block is
         * trained. */
        if (at + TIDE_BLOCK < sentence->count)
            tide_draws_next(sentence->negatives, rng,
                            draws_at(scratch, at + TIDE_BLOCK), draws);
        train_block(sgns, scratch, sentence, &b, progress);
    }
    /* An empty window at the end: everything is written back. */
    tide_optimizer_move_cache(sgns->optimizer, &scratch->cache, sentence->slots,
                              sentence->count, sentence->count);
    scratch->cache.begin = scratch->cache.end = 0;
}
