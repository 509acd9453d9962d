/* agreement.c - how far two models agree.
 *
 * The vectors of two models cannot be compared directly, but their cosines can. Words
 * are taken from bands of ranks, as in the paper. For all pairs of a word of one band
 * and a word of another, the cosine in model A is compared with that in the reference
 * B. The cell of the two bands gets their correlation, the mean difference, and the
 * number of pairs missing in A because it dropped a word. All are computed in one pass
 * with running means and sums of products (Welford, Technometrics 4(3), 1962), so a
 * cell may have any number of pairs.
 *
 * Most pairs are unrelated and dominate that correlation. So the nearest words of each
 * word, among the words that both models hold, are also compared, by their overlap.
 */
#include "eval/eval.h"
#include "model/model.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

enum { A, B, MODELS };

/* The words of a band. */
typedef struct band {
    tide_band ranks;
    uint32_t size;
    bool *held;                /* [size] whether A holds the word */
    tide_matrix units[MODELS]; /* [size] unit vectors */
} band;

typedef struct rank_pair {
    uint32_t first, second; /* ranks */
} rank_pair;

typedef struct comparison {
    const tide_agreement_options *options;
    const tide_view *views[MODELS];
    const tide_kernels *kernels;
    const uint32_t *order; /* [words] slots in B, in descending order of count */
    uint32_t words;        /* in B */
    uint32_t *slots;       /* [words] slots in A of the words of B, or TIDE_NO_SLOT */
    band bands[TIDE_AGREEMENT_BANDS_MAX];
    rank_pair *sample; /* [options->sample] */
    tide_rng rng;
} comparison;

static int no_memory(tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare two models");
}

static const char *word_at(const comparison *c, uint32_t rank)
{
    uint32_t length;
    return tide_vocabulary_word(tide_view_model(c->views[B])->vocabulary,
                                c->order[rank - 1], &length);
}

/* -- bands ------------------------------------------------------------------------- */

static int load_band(const comparison *c, band *b, tide_error *err)
{
    b->size = b->ranks.last - b->ranks.first + 1;
    b->held = tide_alloc(b->size, sizeof *b->held);
    if (!b->held)
        return no_memory(err);
    for (int side = A; side < MODELS; side++) {
        uint32_t dim = tide_model_dim(tide_view_model(c->views[side]));
        int status = tide_matrix_init(&b->units[side], b->size, dim, err);
        if (status)
            return status;
    }
    for (uint32_t i = 0; i < b->size; i++) {
        uint32_t index = b->ranks.first - 1 + i;
        b->held[i] = c->slots[index] != TIDE_NO_SLOT;
        tide_view_unit(c->views[B], c->order[index], tide_matrix_row(&b->units[B], i));
        if (b->held[i])
            tide_view_unit(c->views[A], c->slots[index],
                           tide_matrix_row(&b->units[A], i));
    }
    return TIDE_OK;
}

static int load_bands(comparison *c, tide_error *err)
{
    if (c->options->band_count > TIDE_AGREEMENT_BANDS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "more than %d bands of ranks",
                         TIDE_AGREEMENT_BANDS_MAX);
    int status = TIDE_OK;
    for (size_t i = 0; i < c->options->band_count && !status; i++) {
        tide_band ranks = c->options->bands[i];
        if (!ranks.first || ranks.first > ranks.last)
            return tide_fail(err, TIDE_ERROR_PARAMETER, "%u-%u is not a band of ranks",
                             ranks.first, ranks.last);
        if (ranks.first > c->words)
            return tide_fail(err, TIDE_ERROR_PARAMETER,
                             "band %u-%u is empty: the reference has %u words",
                             ranks.first, ranks.last, c->words);
        if (ranks.last > c->words)
            ranks.last = c->words;
        c->bands[i].ranks = ranks;
        status = load_band(c, &c->bands[i], err);
    }
    return status;
}

/* -- cells ------------------------------------------------------------------------- */

typedef struct moments {
    uint64_t count;
    double mean[MODELS];
    /* sums of squares and products of deviations from the means */
    double square[MODELS];
    double product;
} moments;

/* Welford's update: one factor is the deviation from the old mean, the other that from
 * the new one. */
static void moments_add(moments *m, double a, double b)
{
    m->count++;
    double delta_a = a - m->mean[A], delta_b = b - m->mean[B];
    m->mean[A] += delta_a / (double)m->count;
    m->mean[B] += delta_b / (double)m->count;
    m->square[A] += delta_a * (a - m->mean[A]);
    m->square[B] += delta_b * (b - m->mean[B]);
    m->product += delta_a * (b - m->mean[B]);
}

static void cell_finish(tide_agreement_cell *cell, const moments *m)
{
    bool varies = m->count >= 3 && m->square[A] > 0 && m->square[B] > 0;
    cell->defined = m->count;
    cell->pearson =
        varies ? m->product / sqrt(m->square[A]) / sqrt(m->square[B]) : (double)NAN;
    cell->mean_a = m->count ? m->mean[A] : (double)NAN;
    cell->mean_b = m->count ? m->mean[B] : (double)NAN;
    cell->bias = cell->mean_a - cell->mean_b;
}

static bool is_in(const band *b, uint32_t rank)
{
    return rank >= b->ranks.first && rank <= b->ranks.last;
}

/* Whether a pair of ranks belongs to the cell. If bands overlap, a pair may occur in
 * both orders; it is then counted with the lower rank first. */
static bool is_counted_here(const band *first, const band *second, uint32_t i,
                            uint32_t j)
{
    return i < j || (i > j && !(is_in(first, j) && is_in(second, i)));
}

static float cosine(const comparison *c, int side, const band *first,
                    const band *second, rank_pair pair)
{
    const tide_matrix *x = &first->units[side], *y = &second->units[side];
    return c->kernels->dot(tide_matrix_row(x, pair.first - first->ranks.first),
                           tide_matrix_row(y, pair.second - second->ranks.first),
                           x->stride);
}

/* Reservoir sampling (algorithm R): pair n enters the sample with probability sample /
 * n. */
static void sample_pair(comparison *c, uint64_t seen, rank_pair pair)
{
    uint64_t position =
        seen < c->options->sample ? seen : tide_rng_below(&c->rng, seen + 1);
    if (position < c->options->sample)
        c->sample[position] = pair;
}

static int by_ranks(const void *a, const void *b)
{
    const rank_pair *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

static void report_sample(const comparison *c, const band *first, const band *second,
                          uint64_t defined)
{
    size_t count = defined < c->options->sample ? (size_t)defined : c->options->sample;
    qsort(c->sample, count, sizeof *c->sample, by_ranks);
    for (size_t i = 0; i < count; i++) {
        rank_pair pair = c->sample[i];
        tide_agreement_pair reported = {
            .first = first->ranks,
            .second = second->ranks,
            .words = {word_at(c, pair.first), word_at(c, pair.second)},
            .cosine_a = cosine(c, A, first, second, pair),
            .cosine_b = cosine(c, B, first, second, pair)};
        c->options->pair(c->options->data, &reported);
    }
}

static void compare_cell(comparison *c, const band *first, const band *second,
                         tide_agreement_cell *cell, moments *all)
{
    moments m = {0};
    *cell = (tide_agreement_cell){.first = first->ranks, .second = second->ranks};
    for (uint32_t i = first->ranks.first; i <= first->ranks.last; i++)
        for (uint32_t j = second->ranks.first; j <= second->ranks.last; j++) {
            if (!is_counted_here(first, second, i, j))
                continue;
            cell->pairs++;
            if (!first->held[i - first->ranks.first] ||
                !second->held[j - second->ranks.first])
                continue;
            rank_pair pair = {i, j};
            double a = (double)cosine(c, A, first, second, pair);
            double b = (double)cosine(c, B, first, second, pair);
            if (c->sample)
                sample_pair(c, m.count, pair);
            moments_add(&m, a, b);
            moments_add(all, a, b);
        }
    cell_finish(cell, &m);
    if (c->sample)
        report_sample(c, first, second, m.count);
}

static void compare_cells(comparison *c, tide_agreement_result *result)
{
    moments all = {0};
    for (size_t i = 0; i < c->options->band_count; i++)
        for (size_t j = i; j < c->options->band_count; j++) {
            tide_agreement_cell *cell = &result->cells[result->cell_count++];
            compare_cell(c, &c->bands[i], &c->bands[j], cell, &all);
            result->all.pairs += cell->pairs;
        }
    cell_finish(&result->all, &all);
}

/* -- neighbors --------------------------------------------------------------------- */

/* The words that both models hold, in descending order of count in B, and those whose
 * neighbors are searched. */
typedef struct shared_words {
    uint32_t *slots[MODELS]; /* [count] */
    uint32_t count;
    uint32_t *targets; /* positions of the words of the first band, the second, ... */
    uint32_t target_count;
    uint32_t *found[MODELS]; /* [target_count][near] */
} shared_words;

static void shared_free(shared_words *s)
{
    free(s->targets);
    for (int side = A; side < MODELS; side++) {
        free(s->slots[side]);
        free(s->found[side]);
    }
}

/* position[i] becomes the position of the word of rank i + 1 among the shared words. */
static void list_shared(const comparison *c, shared_words *s, uint32_t *position)
{
    for (uint32_t index = 0; index < c->words; index++) {
        position[index] = s->count;
        if (c->slots[index] == TIDE_NO_SLOT)
            continue;
        s->slots[A][s->count] = c->slots[index];
        s->slots[B][s->count++] = c->order[index];
    }
    for (size_t i = 0; i < c->options->band_count; i++) {
        const band *b = &c->bands[i];
        for (uint32_t k = 0; k < b->size; k++)
            if (b->held[k])
                s->targets[s->target_count++] = position[b->ranks.first - 1 + k];
    }
}

static int find_shared(const comparison *c, shared_words *s, tide_error *err)
{
    uint64_t capacity = 0;
    for (size_t i = 0; i < c->options->band_count; i++)
        capacity += c->bands[i].size;
    if (capacity > UINT32_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "bands have too many words");
    uint32_t *position = tide_alloc(c->words, sizeof *position);
    s->targets = tide_alloc((size_t)capacity, sizeof *s->targets);
    for (int side = A; side < MODELS; side++)
        s->slots[side] = tide_alloc(c->words, sizeof *s->slots[side]);
    bool complete = position && s->targets && s->slots[A] && s->slots[B];
    if (complete)
        list_shared(c, s, position);
    free(position);
    return complete ? TIDE_OK : no_memory(err);
}

static int search_both(const comparison *c, shared_words *s, uint32_t near,
                       tide_error *err)
{
    int status = TIDE_OK;
    for (int side = A; side < MODELS && !status; side++) {
        tide_neighbor_query query = {.view = c->views[side],
                                     .slots = s->slots[side],
                                     .count = s->count,
                                     .targets = s->targets,
                                     .target_count = s->target_count,
                                     .near = near};
        s->found[side] = tide_alloc(s->target_count, near * sizeof *s->found[side]);
        if (!s->found[side])
            return no_memory(err);
        status = tide_neighbors_find(&query, s->found[side], err);
    }
    return status;
}

static void count_overlap(const comparison *c, const shared_words *s, uint32_t near,
                          tide_agreement_result *result)
{
    size_t next = 0; /* of what was found */
    for (size_t i = 0; i < c->options->band_count; i++) {
        const band *b = &c->bands[i];
        tide_agreement_near row = {.band = b->ranks, .overlap = (double)NAN};
        uint64_t common = 0;
        for (uint32_t k = 0; k < b->size; k++) {
            row.missing += !b->held[k];
            row.words += b->held[k];
            if (!b->held[k] || !near)
                continue;
            common += tide_common_count(s->found[A] + next, s->found[B] + next, near);
            next += near;
        }
        if (row.words && near)
            row.overlap = (double)common / (double)row.words / near;
        result->near[i] = row;
    }
}

static int compare_neighbors(const comparison *c, tide_agreement_result *result,
                             tide_error *err)
{
    shared_words s = {0};
    int status = find_shared(c, &s, err);
    result->common = s.count;
    uint32_t near = c->options->neighbors;
    if (near >= s.count)
        near = s.count ? s.count - 1 : 0;
    if (!status && near)
        status = search_both(c, &s, near, err);
    if (!status)
        count_overlap(c, &s, near, result);
    shared_free(&s);
    return status;
}

/* -- all --------------------------------------------------------------------------- */

static int comparison_init(comparison *c, tide_error *err)
{
    const tide_model *a = tide_view_model(c->views[A]);
    c->order = tide_view_order(c->views[B], &c->words);
    c->slots = tide_alloc(c->words, sizeof *c->slots);
    bool sampling = c->options->pair && c->options->sample;
    if (sampling)
        c->sample = tide_alloc(c->options->sample, sizeof *c->sample);
    if (!c->slots || (sampling && !c->sample))
        return no_memory(err);
    for (uint32_t index = 0; index < c->words; index++) {
        tide_entry entry;
        bool held = !tide_model_find(a, word_at(c, index + 1), &entry, NULL);
        c->slots[index] = held ? entry.slot : TIDE_NO_SLOT;
    }
    return load_bands(c, err);
}

static void comparison_release(comparison *c)
{
    for (size_t i = 0; i < TIDE_AGREEMENT_BANDS_MAX; i++) {
        free(c->bands[i].held);
        for (int side = A; side < MODELS; side++)
            tide_matrix_release(&c->bands[i].units[side]);
    }
    free(c->sample);
    free(c->slots);
}

int tide_eval_agreement(const tide_view *a, const tide_view *b,
                        const tide_agreement_options *options,
                        tide_agreement_result *result, tide_error *err)
{
    comparison c = {.options = options,
                    .views = {a, b},
                    .kernels = tide_kernels_best(),
                    .rng = tide_rng_seeded(options->seed)};
    *result = (tide_agreement_result){.band_count = options->band_count};
    int status = comparison_init(&c, err);
    if (!status)
        compare_cells(&c, result);
    if (!status)
        status = compare_neighbors(&c, result, err);
    comparison_release(&c);
    return status;
}
