/* reservoir.c - a uniform sample of all slots ever counted: the sampler of the paper.
 *
 * Vitter, "Random sampling with a reservoir", ACM TOMS 11(1), 1985, algorithm R.
 *
 * The first `reservoir_size` slots fill the reservoir. From then on the n-th enters
 * with probability size / n and replaces a uniformly chosen entry. By induction, every
 * token seen so far is in the reservoir with that same probability: an earlier one was
 * there with probability size / (n-1), and survives step n with probability
 *
 *     1 - (size / n) * (1 / size)  =  (n-1) / n.
 *
 * One draw of an index below n makes both decisions: it is below the size with the
 * right probability, and then it is the index to overwrite.
 *
 * The reservoir holds slots, not words. The entries of an evicted word pass to the next
 * word in its slot, just as its count does with space-saving.
 */
#include "file/file.h"
#include "sampler/sampler.h"
#include "sampler/sampler_internal.h"
#include "vocab/vocab.h"

typedef struct reservoir {
    tide_sampler base;
    tide_reservoir_entries entries;
    uint64_t seen;
    tide_rng rng;
} reservoir;

static uint64_t bytes(const tide_sampler_options *options)
{
    return sizeof(uint32_t) * options->reservoir_size;
}

static int prepare(tide_sampler *s, tide_error *err)
{
    reservoir *r = (reservoir *)s;
    r->rng = tide_rng_seeded(s->options.seed);
    return tide_reservoir_entries_init(&r->entries, s->options.reservoir_size, err);
}

static void release(tide_sampler *s)
{
    tide_reservoir_entries_release(&((reservoir *)s)->entries);
}

static void add(tide_sampler *s, const tide_vocabulary *v, const uint32_t *slots,
                size_t count)
{
    (void)v;
    reservoir *r = (reservoir *)s;
    for (size_t i = 0; i < count; i++) {
        if (slots[i] == TIDE_NO_SLOT)
            continue;
        if (r->seen++ < r->entries.capacity) {
            tide_reservoir_entries_append(&r->entries, slots[i]);
            continue;
        }
        uint64_t index = tide_rng_below(&r->rng, r->seen);
        if (index < r->entries.capacity)
            tide_reservoir_entries_replace(&r->entries, index, slots[i]);
    }
}

static const tide_draws *draws(const tide_sampler *s)
{
    return tide_reservoir_entries_draws(&((const reservoir *)s)->entries);
}

/* sampler.state: kind, capacity, size, seen, generator. */
static void save(const tide_sampler *s, tide_store_writer *writer)
{
    const reservoir *r = (const reservoir *)s;
    const uint64_t state[] = {TIDE_SAMPLER_RESERVOIR, s->options.capacity,
                              r->entries.capacity, r->seen, r->rng.state};
    tide_sampler_save_state(writer, state, sizeof state / sizeof *state);
    tide_reservoir_entries_save(&r->entries, writer);
}

static int load(tide_sampler *s, tide_store *store, tide_error *err)
{
    reservoir *r = (reservoir *)s;
    uint64_t state[5];
    int status = tide_sampler_load_state(store, state, 5, err);
    if (status < 0)
        return status;
    if (state[0] != TIDE_SAMPLER_RESERVOIR || state[1] < s->options.capacity ||
        state[2] < r->entries.capacity || state[3] > TIDE_COUNTED_MAX)
        return tide_sampler_corrupt(store, "sampler.state", "not the sampler expected",
                                    err);
    r->seen = state[3];
    r->rng.state = state[4];
    uint64_t filled = r->seen < state[2] ? r->seen : state[2];
    return tide_reservoir_entries_load(&r->entries, filled, s->options.capacity, store,
                                       err);
}

const tide_sampler_methods tide_reservoir = {
    .name = "reservoir",
    .size = sizeof(reservoir),
    .has_entries = true,
    .bytes = bytes,
    .prepare = prepare,
    .release = release,
    .add = add,
    .draws = draws,
    .save = save,
    .load = load,
};
