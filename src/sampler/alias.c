/* alias.c - draws slots with probability proportional to weight^power, in constant
 * time.
 *
 * Walker 1974; Vose, "A linear algorithm for generating random numbers with a given
 * distribution", IEEE TSE 17(9), 1991.
 *
 * Scale n weights so that their mean is 1. Every weight below 1 is topped up to exactly
 * 1 from a single weight above 1, its alias. A draw picks one of the n columns
 * uniformly, and within it either the column's own slot, with the probability of its
 * own share, or the alias. A column takes 8 bytes: the share in units of 2^-32 and the
 * alias. One 64-bit random number serves for both choices: the upper half of its
 * product with n is the column, and the lower half is compared with the share. The
 * comparison selects by a mask, because a branch there would be unpredictable.
 *
 * An empty slot has weight 0: its column consists of the alias alone, so it is never
 * drawn. Rounding can leave a few columns unfilled at the end; the heaviest slot
 * becomes their alias.
 *
 * The table is rebuilt when the stream has grown by 5 %, and by at least two tokens per
 * slot. The error of an outdated table is then comparable to the noise of a reservoir
 * of 10^8 entries, and rebuilding costs a few ns per token even early in the stream.
 * There are two tables, so that threads can draw from one while the other is built. The
 * thread that counts only copies the weights; any other can then build the table.
 */
#include "file/file.h"
#include "sampler/sampler.h"
#include "sampler/sampler_internal.h"
#include "vocab/vocab.h"

#include <stdlib.h>

#define FIRST_BUILD_TOKENS 1000  /* tokens before the first table is built */
#define MIN_INTERVAL_TOKENS 2000 /* minimum tokens between builds, */
#define TOKENS_PER_SLOT 2        /* and per slot, to amortize the cost of a build */
#define GROWTH_FRACTION 20       /* rebuild after growth by 1 / GROWTH_FRACTION */

typedef struct column {
    uint32_t share; /* of the column's own slot, in units of 2^-32 */
    uint32_t alias;
} column;

typedef struct table {
    tide_draws draws;
    column *columns; /* [size] of capacity */
    uint32_t size;   /* 0 until the table is built */
} table;

typedef struct alias {
    tide_sampler base;
    table tables[2];
    uint32_t current;
    uint64_t next_build;   /* token number */
    atomic_int spare;      /* state of the other table */
    uint32_t started_size; /* of weights[] at the start of a build */
    double *weights;       /* [capacity] scratch space for building */
    uint32_t *order;       /* [capacity] scratch space for building */
} alias;

enum { SPARE_UNUSED, SPARE_STARTED, SPARE_BUILT };

static uint64_t bytes(const tide_sampler_options *options)
{
    return (2 * sizeof(column) + sizeof(double) + sizeof(uint32_t)) *
           (uint64_t)options->capacity;
}

static void draw(const tide_draws *draws, tide_rng *rng, uint32_t *slots, size_t count)
{
    const table *t = (const table *)draws;
    for (size_t i = 0; i < count; i++) {
        uint64_t fraction;
        /* Column and comparison use different bits of the same number, so they are
         * independent except for an error of size / 2^64. */
        uint64_t at = tide_sampler_index(tide_rng_next(rng), t->size, &fraction);
        column c = t->columns[at];
        uint32_t own = -(uint32_t)((fraction >> 32) < c.share);
        slots[i] = ((uint32_t)at & own) | (c.alias & ~own);
    }
}

static int prepare(tide_sampler *s, tide_error *err)
{
    alias *a = (alias *)s;
    uint32_t capacity = s->options.capacity;
    a->next_build = FIRST_BUILD_TOKENS;
    a->weights = tide_alloc(capacity, sizeof *a->weights);
    a->order = tide_alloc(capacity, sizeof *a->order);
    bool complete = a->weights && a->order;
    for (int i = 0; i < 2; i++) {
        a->tables[i].draws.draw = draw;
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

static column make_column(double share, uint32_t other)
{
    double scaled = share * 0x1p32;
    return (column){scaled < UINT32_MAX ? (uint32_t)scaled : UINT32_MAX, other};
}

/* Vose's construction over a->weights, whose mean is 1.
 *
 * `order` holds two stacks: order[0, small_count) are the columns whose weight is below
 * 1 and still need an alias, order[large_first, size) those with at least 1, which have
 * a surplus. Each step completes one small column from the large column on top, so the
 * weights of the columns not yet completed keep a mean of 1 and no column needs a
 * second alias. The table is done after at most `size` steps. */
static void fill_columns(alias *a, column *columns, uint32_t size, uint32_t heaviest)
{
    double *weights = a->weights;
    uint32_t *order = a->order;
    uint32_t small_count = 0;
    uint32_t large_first = size;
    /* Partition without branches, which would be unpredictable: write the column to
     * both stacks and advance only one of them. */
    for (uint32_t i = 0; i < size; i++) {
        uint32_t is_small = weights[i] < 1;
        order[small_count] = i;
        order[large_first - 1] = i;
        small_count += is_small;
        large_first -= 1 - is_small;
    }
    while (small_count > 0 && large_first < size) {
        uint32_t to = order[--small_count];
        uint32_t from = order[large_first];
        columns[to] = make_column(weights[to], from);
        /* `from` fills the missing 1 - weights[to]. If that leaves it below 1, it moves
         * to the stack of small columns. */
        weights[from] = weights[from] + weights[to] - 1;
        if (weights[from] < 1) {
            large_first++;
            order[small_count++] = from;
        }
    }
    /* One stack is empty. What remains has weight 1 but for rounding errors. Large
     * columns become all their own. Small ones fall back on the heaviest slot instead,
     * since their own slot may be empty and must then not be drawn. */
    for (; large_first < size; large_first++)
        columns[order[large_first]] = (column){UINT32_MAX, order[large_first]};
    while (small_count-- > 0)
        columns[order[small_count]] =
            make_column(weights[order[small_count]], heaviest);
}

/* Returns false if all weights are 0. */
static bool copy_weights(alias *a, const tide_vocabulary *v)
{
    double heaviest = 0;
    a->started_size = tide_vocabulary_used(v);
    /* Empty slots keep weight 0. They get a column all the same, so that a column's
     * index is its slot and a draw needs no second lookup. */
    for (uint32_t slot = 0; slot < a->started_size; slot++) {
        double weight = (double)tide_vocabulary_weight(v, slot);
        a->weights[slot] = weight;
        heaviest = weight > heaviest ? weight : heaviest;
    }
    return heaviest > 0;
}

static void build_table(alias *a, table *t)
{
    uint32_t size = a->started_size, heaviest = 0;
    double sum = 0;
    for (uint32_t slot = 0; slot < size; slot++) {
        a->weights[slot] = tide_sampler_power(a->weights[slot], a->base.options.power);
        sum += a->weights[slot];
        if (a->weights[slot] > a->weights[heaviest])
            heaviest = slot;
    }
    double scale = (double)size / sum;
    for (uint32_t slot = 0; slot < size; slot++)
        a->weights[slot] *= scale;
    fill_columns(a, t->columns, size, heaviest);
    t->size = size;
}

static void schedule_next_build(alias *a, const tide_vocabulary *v, uint32_t slots)
{
    uint64_t interval = tide_vocabulary_total(v) / GROWTH_FRACTION;
    uint64_t min_interval = TOKENS_PER_SLOT * (uint64_t)slots;
    min_interval =
        min_interval > MIN_INTERVAL_TOKENS ? min_interval : MIN_INTERVAL_TOKENS;
    a->next_build =
        tide_vocabulary_tokens(v) + (interval > min_interval ? interval : min_interval);
}

/* The next build is scheduled by the number of tokens ever counted, but the interval is
 * a fraction of the halved total: with a half-life, the table is rebuilt at a steady
 * rate. */
static bool start(tide_sampler *s, const tide_vocabulary *v)
{
    alias *a = (alias *)s;
    if (!copy_weights(a, v))
        return false;
    schedule_next_build(a, v, a->started_size);
    atomic_store_explicit(&a->spare, SPARE_STARTED, memory_order_relaxed);
    return true;
}

static bool is_due(const tide_sampler *s, const tide_vocabulary *v)
{
    const alias *a = (const alias *)s;
    return tide_vocabulary_tokens(v) >= a->next_build &&
           atomic_load_explicit(&a->spare, memory_order_relaxed) == SPARE_UNUSED;
}

static void build_spare(tide_sampler *s)
{
    alias *a = (alias *)s;
    build_table(a, &a->tables[1 - a->current]);
    atomic_store_explicit(&a->spare, SPARE_BUILT, memory_order_release);
}

static bool change(tide_sampler *s)
{
    alias *a = (alias *)s;
    if (atomic_load_explicit(&a->spare, memory_order_acquire) != SPARE_BUILT)
        return false;
    a->current = 1 - a->current;
    atomic_store_explicit(&a->spare, SPARE_UNUSED, memory_order_relaxed);
    return true;
}

static void build(tide_sampler *s, const tide_vocabulary *v)
{
    alias *a = (alias *)s;
    if (!copy_weights(a, v))
        return;
    build_table(a, &a->tables[a->current]);
    schedule_next_build(a, v, a->started_size);
}

static const tide_draws *draws(const tide_sampler *s)
{
    const alias *a = (const alias *)s;
    const table *t = &a->tables[a->current];
    return t->size > 0 ? &t->draws : NULL;
}

/* sampler.state: kind, capacity, size of the current table, token of the next build.
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
        return tide_sampler_corrupt(store, "sampler.state", "not the sampler expected",
                                    err);
    a->next_build = state[3];
    t->size = (uint32_t)state[2];
    status = tide_store_read(store, "sampler.table", t->columns,
                             sizeof(column) * t->size, err);
    /* An alias is used as a slot without further checks. */
    for (uint32_t i = 0; i < t->size && status == TIDE_OK; i++)
        if (t->columns[i].alias >= t->size)
            status =
                tide_sampler_corrupt(store, "sampler.table", "slot out of range", err);
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
    .is_due = is_due,
    .start = start,
    .build_spare = build_spare,
    .change = change,
    .build = build,
    .draws = draws,
    .save = save,
    .load = load,
};
