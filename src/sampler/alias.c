/* alias.c - draws in proportion to the weights to a power, in constant time.
 *
 * Walker 1974; Vose, "A linear algorithm for generating random numbers with a given
 * distribution", IEEE TSE 17(9), 1991.
 *
 * Scale n weights so that their mean is 1. Those below 1 are filled up to exactly 1
 * from those above, each from a single one, its alias. Then a draw picks one of the n
 * columns uniformly, and within it either the column's own slot, with the probability
 * of its own share, or the alias. A column has 8 bytes, the share as a fraction of
 * 2^32 and the alias. One random number of 64 bits does both: times n, its upper half
 * is the column, and the lower half is compared with the share. The choice is made
 * with a mask, since no processor could predict a branch there.
 *
 * A slot that is empty has weight 0, is all alias, and is never drawn. Rounding can
 * leave a few columns unfilled at the end; they take what they lack from the heaviest
 * slot.
 *
 * The table is built again when the stream has grown by 5 %, and by two tokens for each
 * slot: what it then misses is about the noise of a reservoir of 10^8 entries, and
 * building costs a few ns a token even while the stream is young. There are two tables, so that
 * drawing goes on from the one while the other is built.
 */
#include "file/file.h"
#include "sampler/sampler.h"
#include "sampler/sampler_internal.h"
#include "vocab/vocab.h"

#include <stdlib.h>

#define FIRST_BUILD 1000   /* tokens before the first table */
#define SHORTEST_STEP 2000 /* and between two tables */
#define TOKENS_A_SLOT 2    /* and for each slot of a table, to pay for its building */
#define GROWTH 20          /* by one part in so many */

typedef struct column {
    uint32_t share; /* of the column's own slot, in 2^32 */
    uint32_t alias;
} column;

typedef struct table {
    tide_draws draws;
    column *columns; /* [size] of capacity */
    uint32_t size;   /* 0 before the table is built */
} table;

typedef struct alias {
    tide_sampler base;
    table tables[2];
    uint32_t current;
    uint64_t next_build; /* in tokens */
    double *weights;     /* [capacity], scratch of a build */
    uint32_t *order;     /* [capacity], likewise */
} alias;

static uint64_t bytes(const tide_sampler_options *options)
{
    return (2 * sizeof(column) + sizeof(double) + sizeof(uint32_t)) *
           (uint64_t)options->capacity;
}

static void take(const tide_draws *draws, tide_rng *rng, uint32_t *slots, size_t count)
{
    const table *t = (const table *)draws;
    for (size_t i = 0; i < count; i++) {
        uint64_t fraction;
        uint64_t at = tide_sampler_scale(tide_rng_next(rng), t->size, &fraction);
        column c = t->columns[at];
        uint32_t own = -(uint32_t)((fraction >> 32) < c.share);
        slots[i] = ((uint32_t)at & own) | (c.alias & ~own);
    }
}

static int prepare(tide_sampler *s, tide_error *err)
{
    alias *a = (alias *)s;
    uint32_t capacity = s->options.capacity;
    a->next_build = FIRST_BUILD;
    a->weights = tide_alloc(capacity, sizeof *a->weights);
    a->order = tide_alloc(capacity, sizeof *a->order);
    bool complete = a->weights && a->order;
    for (int i = 0; i < 2; i++) {
        a->tables[i].draws.take = take;
        a->tables[i].columns = tide_alloc(capacity, sizeof(column));
        complete = complete && a->tables[i].columns;
    }
    if (complete)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a sampler of %u words",
                     capacity);
}

static void release(tide_sampler *s)
{
    alias *a = (alias *)s;
    for (int i = 0; i < 2; i++)
        free(a->tables[i].columns);
    free(a->order);
    free(a->weights);
}

static void add(tide_sampler *s, const tide_vocabulary *v, const uint32_t *slots,
                size_t count)
{
    (void)s, (void)v, (void)slots, (void)count;
}

static column column_of(double share, uint32_t other)
{
    double scaled = share * 0x1p32;
    return (column){scaled < UINT32_MAX ? (uint32_t)scaled : UINT32_MAX, other};
}

/* Vose's construction over a->weights, whose mean is 1. `order` has the columns that
 * want filling at its beginning and those that have something to give at its end. */
static void fill_columns(alias *a, column *columns, uint32_t size, uint32_t heaviest)
{
    double *weights = a->weights;
    uint32_t *order = a->order;
    uint32_t poor = 0;
    uint32_t rich = size;
    for (uint32_t i = 0; i < size; i++) { /* no processor could predict a branch here */
        uint32_t wants = weights[i] < 1;
        order[poor] = i;
        order[rich - 1] = i;
        poor += wants;
        rich -= 1 - wants;
    }
    while (poor > 0 && rich < size) {
        uint32_t to = order[--poor];
        uint32_t from = order[rich];
        columns[to] = column_of(weights[to], from);
        weights[from] = weights[from] + weights[to] - 1;
        if (weights[from] < 1) {
            rich++;
            order[poor++] = from;
        }
    }
    for (; rich < size; rich++)
        columns[order[rich]] = (column){UINT32_MAX, order[rich]};
    while (poor-- > 0)
        columns[order[poor]] = column_of(weights[order[poor]], heaviest);
}

/* False when there is nothing to draw. */
static bool fill(alias *a, table *t, const tide_vocabulary *v)
{
    uint32_t size = tide_vocabulary_used(v);
    uint32_t heaviest = 0;
    double sum = 0;
    for (uint32_t slot = 0; slot < size; slot++) {
        uint64_t weight = tide_vocabulary_weight(v, slot);
        a->weights[slot] = tide_sampler_raise(weight, a->base.options.power);
        sum += a->weights[slot];
        if (a->weights[slot] > a->weights[heaviest])
            heaviest = slot;
    }
    if (sum <= 0)
        return false;
    double scale = (double)size / sum;
    for (uint32_t slot = 0; slot < size; slot++)
        a->weights[slot] *= scale;
    fill_columns(a, t->columns, size, heaviest);
    t->size = size;
    return true;
}

static void plan_next(alias *a, const tide_vocabulary *v, uint32_t slots)
{
    uint64_t step = tide_vocabulary_total(v) / GROWTH;
    uint64_t least = TOKENS_A_SLOT * (uint64_t)slots;
    least = least > SHORTEST_STEP ? least : SHORTEST_STEP;
    a->next_build = tide_vocabulary_tokens(v) + (step > least ? step : least);
}

/* Time is measured in tokens that are never halved, growth against those that are:
 * with a half-life the table follows the stream at an even pace. */
static bool refresh(tide_sampler *s, const tide_vocabulary *v, bool spare_is_free)
{
    alias *a = (alias *)s;
    uint32_t spare = 1 - a->current;
    if (tide_vocabulary_tokens(v) < a->next_build || !spare_is_free ||
        !fill(a, &a->tables[spare], v))
        return false;
    plan_next(a, v, a->tables[spare].size);
    a->current = spare;
    return true;
}

static void build(tide_sampler *s, const tide_vocabulary *v)
{
    alias *a = (alias *)s;
    if (fill(a, &a->tables[a->current], v))
        plan_next(a, v, a->tables[a->current].size);
}

static const tide_draws *draws(const tide_sampler *s)
{
    const alias *a = (const alias *)s;
    const table *t = &a->tables[a->current];
    return t->size > 0 ? &t->draws : NULL;
}

/* sampler.state: kind, capacity, size of the current table, tokens at the next build.
 * sampler.table: share and alias of every column, 32 bits each. */
static void save(const tide_sampler *s, tide_store_writer *writer)
{
    const alias *a = (const alias *)s;
    const table *t = &a->tables[a->current];
    const uint64_t state[] = {TIDE_SAMPLER_ALIAS, s->options.capacity, t->size,
                              a->next_build};
    tide_sampler_save_state(writer, state, sizeof state / sizeof *state);
    tide_store_put(writer, "sampler.table", t->columns, sizeof(column) * t->size);
}

static int load(tide_sampler *s, tide_store *store, tide_error *err)
{
    alias *a = (alias *)s;
    table *t = &a->tables[a->current];
    uint64_t state[4];
    int status = tide_sampler_load_state(store, state, 4, err);
    if (status < 0)
        return status;
    if (state[0] != TIDE_SAMPLER_ALIAS || state[1] < s->options.capacity ||
        state[2] > s->options.capacity)
        return tide_sampler_damaged(store, "sampler.state", "another sampler", err);
    a->next_build = state[3];
    t->size = (uint32_t)state[2];
    status = tide_store_read(store, "sampler.table", t->columns,
                             sizeof(column) * t->size, err);
    for (uint32_t i = 0; i < t->size && status == TIDE_OK; i++)
        if (t->columns[i].alias >= t->size)
            status = tide_sampler_damaged(store, "sampler.table", "a slot out of range",
                                          err);
    return status;
}

const tide_sampler_methods tide_alias = {
    .name = "alias",
    .size = sizeof(alias),
    .has_power = true,
    .bytes = bytes,
    .prepare = prepare,
    .release = release,
    .add = add,
    .refresh = refresh,
    .build = build,
    .draws = draws,
    .save = save,
    .load = load,
};
