/* smoothed.c - a reservoir in proportion to count^power: the sampler of incremental
 * SGNS.
 *
 * Kaji and Kobayashi, "Incremental skip-gram model with negative sampling", EMNLP
 * 2017, section 4.1. The table should hold each word in proportion to f(c) = c^a,
 * where c is its count. When the count goes from c-1 to c, the word gains the weight
 *
 *     F = f(c) - f(c-1),     and the sum of all weights, Z, grows by F.
 *
 * While the table fills, the word gets F entries. In a full table of T entries it
 * should get a share of F / Z, so T F / Z uniformly chosen entries are overwritten:
 * every other entry survives with probability 1 - F / Z = Z' / Z, where Z' is the
 * previous sum, which is exactly how much its share has to shrink. Neither number is an
 * integer; both are rounded stochastically, so that the expectation is exact. The same
 * is done for Z itself once it is so large that a good part of F would be lost in
 * rounding.
 *
 * A batch is counted before it is added, so a word that occurs twice in it arrives here
 * twice with its final count. The last count of every slot is therefore stored: the
 * first of the two gains f(c) - f(c-2), the second nothing.
 *
 * The paper rebuilds its table when words are dropped. Here the entries of an evicted
 * word stay: they pass to the next word in its slot and are overwritten over time. With
 * space-saving the count stays with the slot as well. With Misra-Gries c is the weight,
 * which falls when words cancel each other; later tokens then gain what they gain at
 * the lower c. Likewise, after a halving the gain follows from the halved count.
 */
#include "file/file.h"
#include "sampler/sampler.h"
#include "sampler/sampler_internal.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

#define MAX_RELATIVE_LOSS 0x1p-10 /* rounding error of Z in proportion to F */

typedef struct smoothed {
    tide_sampler base;
    tide_reservoir_entries entries;
    uint64_t *counts; /* [capacity] count of each slot when it was last added */
    double sum;       /* Z */
    tide_rng rng;
} smoothed;

static uint64_t bytes(const tide_sampler_options *options)
{
    return sizeof(uint32_t) * options->reservoir_size +
           sizeof(uint64_t) * (uint64_t)options->capacity;
}

static int prepare(tide_sampler *s, tide_error *err)
{
    smoothed *m = (smoothed *)s;
    m->rng = tide_rng_seeded(s->options.seed);
    m->counts = tide_alloc(s->options.capacity, sizeof *m->counts);
    if (!m->counts)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a sampler of %u words",
                         s->options.capacity);
    return tide_reservoir_entries_init(&m->entries, s->options.reservoir_size, err);
}

static void release(tide_sampler *s)
{
    smoothed *m = (smoothed *)s;
    tide_reservoir_entries_release(&m->entries);
    free(m->counts);
}

/* F: the weight that a slot has gained since it was last added. */
static double weight_gain(smoothed *m, const tide_vocabulary *v, uint32_t slot)
{
    uint64_t count = tide_vocabulary_count(v, slot);
    uint64_t before = m->counts[slot];
    m->counts[slot] = count;
    /* The count is lower than before if it was halved, or if the slot has a new word
     * since. How many tokens were added then is unknown, but it is at least this
     * one. */
    uint64_t tokens = count >= before ? count - before : 1;
    uint64_t weight = tide_vocabulary_weight(v, slot);
    uint64_t from = weight > tokens ? weight - tokens : 0;
    float power = m->base.options.power;
    return tokens == 0 ? 0
                       : tide_sampler_power((double)weight, power) -
                             tide_sampler_power((double)from, power);
}

/* Rounds x up or down at random, with expectation x. */
static uint64_t round_stochastically(tide_rng *rng, double x)
{
    uint64_t whole = (uint64_t)x;
    return whole + (tide_rng_double(rng) < x - (double)whole);
}

/* Z + weight. `lost` is the exact rounding error of the sum; if it is too large, the
 * sum is rounded stochastically instead. */
static double add_to_sum(smoothed *m, double weight)
{
    double sum = m->sum + weight;
    /* Exact if Z is at least F (fast two-sum, Dekker 1971). Without the correction the
     * sum would stop growing once F is less than half a unit in its last place, and new
     * words would get too large a share from then on. */
    double lost = weight - (sum - m->sum);
    if (fabs(lost) <= weight * MAX_RELATIVE_LOSS)
        return sum;
    double neighbor = nextafter(sum, lost > 0 ? HUGE_VAL : 0);
    return tide_rng_double(&m->rng) * fabs(neighbor - sum) < fabs(lost) ? neighbor
                                                                        : sum;
}

static void add_slot(smoothed *m, uint32_t slot, double weight)
{
    tide_reservoir_entries *e = &m->entries;
    uint64_t filled = tide_reservoir_entries_filled(e);
    m->sum = add_to_sum(m, weight);
    /* Filling up: the number of entries is the weight itself. */
    if (filled < e->capacity) {
        uint64_t copies = round_stochastically(&m->rng, weight);
        if (copies > e->capacity - filled)
            copies = e->capacity - filled;
        while (copies-- > 0)
            tide_reservoir_entries_append(e, slot);
        return;
    }
    /* Full: the expected number of entries is the share of the new weight. Overwriting
     * hits all words in proportion to what they have. */
    double share = weight / m->sum * (double)e->capacity;
    for (uint64_t copies = round_stochastically(&m->rng, share); copies > 0; copies--)
        tide_reservoir_entries_replace(e, tide_rng_below(&m->rng, e->capacity), slot);
}

static void add(tide_sampler *s, const tide_vocabulary *v, const uint32_t *slots,
                size_t count)
{
    smoothed *m = (smoothed *)s;
    for (size_t i = 0; i < count; i++) {
        if (slots[i] == TIDE_NO_SLOT)
            continue;
        double weight = weight_gain(m, v, slots[i]);
        if (weight > 0)
            add_slot(m, slots[i], weight);
    }
}

static const tide_draws *draws(const tide_sampler *s)
{
    return tide_reservoir_entries_draws(&((const smoothed *)s)->entries);
}

/* sampler.state: kind, capacity, size, filled, Z as a double, generator.
 * sampler.counts: last count of every slot, 64 bits each. */
static void save(const tide_sampler *s, tide_store_writer *writer)
{
    const smoothed *m = (const smoothed *)s;
    uint64_t state[] = {TIDE_SAMPLER_SMOOTHED,
                        s->options.capacity,
                        m->entries.capacity,
                        tide_reservoir_entries_filled(&m->entries),
                        0,
                        m->rng.state};
    memcpy(&state[4], &m->sum, sizeof m->sum);
    tide_sampler_save_state(writer, state, sizeof state / sizeof *state);
    tide_store_put(writer, "sampler.counts", m->counts,
                   sizeof *m->counts * s->options.capacity);
    tide_reservoir_entries_save(&m->entries, writer);
}

static int load(tide_sampler *s, tide_store *store, tide_error *err)
{
    smoothed *m = (smoothed *)s;
    uint64_t state[6];
    int status = tide_sampler_load_state(store, state, 6, err);
    if (status < 0)
        return status;
    if (state[0] != TIDE_SAMPLER_SMOOTHED || state[1] < s->options.capacity ||
        state[1] > TIDE_CAPACITY_MAX || state[2] < m->entries.capacity ||
        state[2] > TIDE_RESERVOIR_MAX)
        return tide_sampler_corrupt(store, "sampler.state", "not the sampler expected",
                                    err);
    memcpy(&m->sum, &state[4], sizeof m->sum);
    /* Written this way around so that NaN fails as well. */
    if (!(m->sum >= 0 && m->sum <= 0x1p64))
        return tide_sampler_corrupt(store, "sampler.state", "sum out of range", err);
    m->rng.state = state[5];
    int64_t size = tide_store_size(store, "sampler.counts", err);
    if (size < 0)
        return (int)size;
    if ((uint64_t)size != sizeof *m->counts * state[1])
        return tide_sampler_corrupt(store, "sampler.counts", "wrong number of counts",
                                    err);
    status = tide_store_read_at(store, "sampler.counts", 0, m->counts,
                                sizeof *m->counts * s->options.capacity, err);
    if (status < 0)
        return status;
    return tide_reservoir_entries_load(&m->entries, state[3], s->options.capacity,
                                       store, err);
}

const tide_sampler_methods tide_smoothed = {
    .name = "smoothed",
    .size = sizeof(smoothed),
    .has_power = true,
    .has_entries = true,
    .bytes = bytes,
    .prepare = prepare,
    .release = release,
    .add = add,
    .draws = draws,
    .save = save,
    .load = load,
};
