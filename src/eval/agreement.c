/* agreement.c - how far two models say the same.
 *
 * Vectors of two models cannot be compared, but what they say about words can. Words are taken from
 * bands of ranks, as the paper does: for all pairs of a word of one band and another of a second, the
 * cosine in model A stands beside that in the reference B, and the cell of the two bands has their
 * correlation, how much higher A's are, and the share of pairs that A cannot tell because it dropped
 * a word. All are found in one pass over the pairs, with means and sums of products that move along
 * (Welford, Technometrics 4(3), 1962), so a cell may have any number of pairs.
 *
 * A correlation over all pairs is mostly about pairs that have nothing to do with each other. So A
 * and B are also asked for the nearest words of each word, both among the words that they share, and
 * the common part of the two answers is counted.
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
    bool *held;                /* [size] by A */
    tide_matrix units[MODELS]; /* [size] unit vectors */
} band;

typedef struct chosen_pair {
    uint32_t first, second; /* ranks */
} chosen_pair;

typedef struct comparison {
    const tide_agreement_options *how;
    const tide_view *spaces[MODELS];
    const tide_kernels *kernels;
    const uint32_t *order; /* slots of B's words by falling count */
    uint32_t words;        /* of B */
    uint32_t *slots; /* [words] in A, of the words of B; TIDE_NO_SLOT when not held */
    band bands[TIDE_AGREEMENT_BANDS_MAX];
    chosen_pair *sample; /* [how->sample] */
    tide_rng rng;
} comparison;

static int no_memory(tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare two models");
}

static const char *word_at(const comparison *c, uint32_t rank)
{
    uint32_t length;
    return tide_vocabulary_word(tide_view_model(c->spaces[B])->vocabulary,
                                c->order[rank - 1], &length);
}

/* -- bands ---------------------------------------------------------------------------------------- */

static int load_band(const comparison *c, band *b, tide_error *err)
{
    b->size = b->ranks.last - b->ranks.first + 1;
    b->held = tide_alloc(b->size, sizeof *b->held);
    if (!b->held)
        return no_memory(err);
    for (int side = A; side < MODELS; side++) {
        uint32_t dim = tide_model_dim(tide_view_model(c->spaces[side]));
        int status = tide_matrix_init(&b->units[side], b->size, dim, err);
        if (status)
            return status;
    }
    for (uint32_t i = 0; i < b->size; i++) {
        uint32_t at = b->ranks.first - 1 + i;
        b->held[i] = c->slots[at] != TIDE_NO_SLOT;
        tide_view_unit(c->spaces[B], c->order[at], tide_matrix_row(&b->units[B], i));
        if (b->held[i])
            tide_view_unit(c->spaces[A], c->slots[at],
                           tide_matrix_row(&b->units[A], i));
    }
    return TIDE_OK;
}

static int load_bands(comparison *c, tide_error *err)
{
    if (c->how->band_count > TIDE_AGREEMENT_BANDS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "more than %d bands of ranks",
                         TIDE_AGREEMENT_BANDS_MAX);
    int status = TIDE_OK;
    for (size_t i = 0; i < c->how->band_count && !status; i++) {
        tide_band ranks = c->how->bands[i];
        if (!ranks.first || ranks.first > ranks.last)
            return tide_fail(err, TIDE_ERROR_PARAMETER, "%u-%u is no band of ranks",
                             ranks.first, ranks.last);
        if (ranks.first > c->words)
            return tide_fail(err, TIDE_ERROR_PARAMETER,
                             "there is nothing in the band %u-%u: the reference has "
                             "%u words",
                             ranks.first, ranks.last, c->words);
        if (ranks.last > c->words)
            ranks.last = c->words;
        c->bands[i].ranks = ranks;
        status = load_band(c, &c->bands[i], err);
    }
    return status;
}

/* -- cells ---------------------------------------------------------------------------------------- */

typedef struct moments {
    uint64_t count;
    double mean[MODELS];
    double square[MODELS]; /* sums of squares and of products, about the means */
    double product;
} moments;

static void moments_add(moments *m, double a, double b)
{
    m->count++;
    double from_a = a - m->mean[A], from_b = b - m->mean[B];
    m->mean[A] += from_a / (double)m->count;
    m->mean[B] += from_b / (double)m->count;
    m->square[A] += from_a * (a - m->mean[A]);
    m->square[B] += from_b * (b - m->mean[B]);
    m->product += from_a * (b - m->mean[B]);
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

/* Where bands overlap, a pair may come both ways; then it is taken with the lower rank first. */
static bool is_taken(const band *first, const band *second, uint32_t i, uint32_t j)
{
    return i < j || (i > j && !(is_in(first, j) && is_in(second, i)));
}

static float cosine(const comparison *c, int side, const band *first,
                    const band *second, chosen_pair pair)
{
    const tide_matrix *x = &first->units[side], *y = &second->units[side];
    return c->kernels->dot(tide_matrix_row(x, pair.first - first->ranks.first),
                           tide_matrix_row(y, pair.second - second->ranks.first),
                           x->stride);
}

/* Algorithm R: the n-th pair takes a place with probability sample / n. */
static void offer(comparison *c, uint64_t seen, chosen_pair pair)
{
    uint64_t place = seen < c->how->sample ? seen : tide_rng_below(&c->rng, seen + 1);
    if (place < c->how->sample)
        c->sample[place] = pair;
}

static int by_ranks(const void *a, const void *b)
{
    const chosen_pair *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

static void tell_sample(const comparison *c, const band *first, const band *second,
                        uint64_t defined)
{
    size_t count = defined < c->how->sample ? (size_t)defined : c->how->sample;
    qsort(c->sample, count, sizeof *c->sample, by_ranks);
    for (size_t i = 0; i < count; i++) {
        chosen_pair pair = c->sample[i];
        tide_agreement_pair told = {
            .first = first->ranks,
            .second = second->ranks,
            .words = {word_at(c, pair.first), word_at(c, pair.second)},
            .cosine_a = cosine(c, A, first, second, pair),
            .cosine_b = cosine(c, B, first, second, pair)};
        c->how->pair(c->how->data, &told);
    }
}

static void compare_cell(comparison *c, const band *first, const band *second,
                         tide_agreement_cell *cell, moments *all)
{
    moments m = {0};
    *cell = (tide_agreement_cell){.first = first->ranks, .second = second->ranks};
    for (uint32_t i = first->ranks.first; i <= first->ranks.last; i++)
        for (uint32_t j = second->ranks.first; j <= second->ranks.last; j++) {
            if (!is_taken(first, second, i, j))
                continue;
            cell->pairs++;
            if (!first->held[i - first->ranks.first] ||
                !second->held[j - second->ranks.first])
                continue;
            chosen_pair pair = {i, j};
            double a = (double)cosine(c, A, first, second, pair);
            double b = (double)cosine(c, B, first, second, pair);
            if (c->sample)
                offer(c, m.count, pair);
            moments_add(&m, a, b);
            moments_add(all, a, b);
        }
    cell_finish(cell, &m);
    if (c->sample)
        tell_sample(c, first, second, m.count);
}

static void compare_cells(comparison *c, tide_agreement_result *result)
{
    moments all = {0};
    for (size_t i = 0; i < c->how->band_count; i++)
        for (size_t j = i; j < c->how->band_count; j++) {
            tide_agreement_cell *cell = &result->cells[result->cell_count++];
            compare_cell(c, &c->bands[i], &c->bands[j], cell, &all);
            result->all.pairs += cell->pairs;
        }
    cell_finish(&result->all, &all);
}

/* -- neighbors ------------------------------------------------------------------------------------- */

/* The words that both models hold, by falling count in B, and which of them are asked. */
typedef struct shared_words {
    uint32_t *slots[MODELS]; /* [count] */
    uint32_t count;
    uint32_t
        *asked; /* places among them: the words of the first band, of the second, ... */
    uint32_t asked_count;
    uint32_t *found[MODELS]; /* [asked_count][near] */
} shared_words;

static void shared_free(shared_words *s)
{
    free(s->asked);
    for (int side = A; side < MODELS; side++) {
        free(s->slots[side]);
        free(s->found[side]);
    }
}

/* place[at] is where the word of rank at + 1 stands among those that are shared. */
static void gather_shared(const comparison *c, shared_words *s, uint32_t *place)
{
    for (uint32_t at = 0; at < c->words; at++) {
        place[at] = s->count;
        if (c->slots[at] == TIDE_NO_SLOT)
            continue;
        s->slots[A][s->count] = c->slots[at];
        s->slots[B][s->count++] = c->order[at];
    }
    for (size_t i = 0; i < c->how->band_count; i++) {
        const band *b = &c->bands[i];
        for (uint32_t k = 0; k < b->size; k++)
            if (b->held[k])
                s->asked[s->asked_count++] = place[b->ranks.first - 1 + k];
    }
}

static int find_shared(const comparison *c, shared_words *s, tide_error *err)
{
    uint64_t room = 0;
    for (size_t i = 0; i < c->how->band_count; i++)
        room += c->bands[i].size;
    if (room > UINT32_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "the bands have too many words");
    uint32_t *place = tide_alloc(c->words, sizeof *place);
    s->asked = tide_alloc((size_t)room, sizeof *s->asked);
    for (int side = A; side < MODELS; side++)
        s->slots[side] = tide_alloc(c->words, sizeof *s->slots[side]);
    bool complete = place && s->asked && s->slots[A] && s->slots[B];
    if (complete)
        gather_shared(c, s, place);
    free(place);
    return complete ? TIDE_OK : no_memory(err);
}

static int search_both(const comparison *c, shared_words *s, uint32_t near,
                       tide_error *err)
{
    int status = TIDE_OK;
    for (int side = A; side < MODELS && !status; side++) {
        tide_near_question question = {.space = c->spaces[side],
                                       .slots = s->slots[side],
                                       .count = s->count,
                                       .asked = s->asked,
                                       .asked_count = s->asked_count,
                                       .near = near};
        s->found[side] = tide_alloc(s->asked_count, near * sizeof *s->found[side]);
        if (!s->found[side])
            return no_memory(err);
        status = tide_near_find(&question, s->found[side], err);
    }
    return status;
}

static void count_overlap(const comparison *c, const shared_words *s, uint32_t near,
                          tide_agreement_result *result)
{
    size_t next = 0; /* of what was found */
    for (size_t i = 0; i < c->how->band_count; i++) {
        const band *b = &c->bands[i];
        tide_agreement_near line = {.band = b->ranks, .overlap = (double)NAN};
        uint64_t common = 0;
        for (uint32_t k = 0; k < b->size; k++) {
            line.missing += !b->held[k];
            line.words += b->held[k];
            if (!b->held[k] || !near)
                continue;
            common += tide_common_count(s->found[A] + next, s->found[B] + next, near);
            next += near;
        }
        if (line.words && near)
            line.overlap = (double)common / (double)line.words / near;
        result->near[i] = line;
    }
}

static int compare_neighbors(const comparison *c, tide_agreement_result *result,
                             tide_error *err)
{
    shared_words s = {0};
    int status = find_shared(c, &s, err);
    result->common = s.count;
    uint32_t near = c->how->neighbors;
    if (near >= s.count)
        near = s.count ? s.count - 1 : 0;
    if (!status && near)
        status = search_both(c, &s, near, err);
    if (!status)
        count_overlap(c, &s, near, result);
    shared_free(&s);
    return status;
}

/* -- all -------------------------------------------------------------------------------------------- */

static int comparison_begin(comparison *c, tide_error *err)
{
    const tide_model *a = tide_view_model(c->spaces[A]);
    c->order = tide_view_order(c->spaces[B], &c->words);
    c->slots = tide_alloc(c->words, sizeof *c->slots);
    bool sampling = c->how->pair && c->how->sample;
    if (sampling)
        c->sample = tide_alloc(c->how->sample, sizeof *c->sample);
    if (!c->slots || (sampling && !c->sample))
        return no_memory(err);
    for (uint32_t at = 0; at < c->words; at++) {
        tide_entry entry;
        bool held = !tide_model_find(a, word_at(c, at + 1), &entry, NULL);
        c->slots[at] = held ? entry.slot : TIDE_NO_SLOT;
    }
    return load_bands(c, err);
}

static void comparison_end(comparison *c)
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
    comparison c = {.how = options,
                    .spaces = {a, b},
                    .kernels = tide_kernels_best(),
                    .rng = tide_rng_seeded(options->seed)};
    *result = (tide_agreement_result){.band_count = options->band_count};
    int status = comparison_begin(&c, err);
    if (!status)
        compare_cells(&c, result);
    if (!status)
        status = compare_neighbors(&c, result, err);
    comparison_end(&c);
    return status;
}
