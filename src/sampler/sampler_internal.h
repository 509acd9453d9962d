/* sampler_internal.h - what the kinds of sampler share. Private. */
#ifndef TIDE_SAMPLER_SAMPLER_INTERNAL_H
#define TIDE_SAMPLER_SAMPLER_INTERNAL_H

#include "file/file.h"
#include "sampler/sampler.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdatomic.h>

/* A kind's own struct begins with this one. */
struct tide_sampler {
    const struct tide_sampler_methods *methods;
    tide_sampler_options options;
};

typedef struct tide_sampler_methods {
    const char *name;
    size_t size;      /* of the kind's own struct */
    bool has_power;   /* uses options.power */
    bool has_entries; /* uses options.reservoir_size */

    /* Bytes that `prepare` allocates. */
    uint64_t (*bytes)(const tide_sampler_options *options);

    /* Initializes a zeroed struct. On failure, `release` frees what was allocated. */
    int (*prepare)(tide_sampler *s, tide_error *err);
    void (*release)(tide_sampler *s);

    void (*add)(tide_sampler *s, const tide_vocabulary *v, const uint32_t *slots,
                size_t count);
    /* These are NULL for kinds that are always up to date. */
    bool (*is_due)(const tide_sampler *s, const tide_vocabulary *v);
    bool (*start)(tide_sampler *s, const tide_vocabulary *v);
    void (*build_spare)(tide_sampler *s);
    bool (*change)(tide_sampler *s);
    void (*build)(tide_sampler *s, const tide_vocabulary *v);
    const tide_draws *(*draws)(const tide_sampler *s);
    void (*save)(const tide_sampler *s, tide_store_writer *writer);
    int (*load)(tide_sampler *s, tide_store *store, tide_error *err);
} tide_sampler_methods;

extern const tide_sampler_methods tide_alias;
extern const tide_sampler_methods tide_reservoir;
extern const tide_sampler_methods tide_smoothed;

/* The first member of each kind's distribution. */
struct tide_draws {
    void (*draw)(const tide_draws *draws, tide_rng *rng, uint32_t *slots, size_t count);
};

/* -- the entries of both kinds of reservoir (reservoir_entries.c) ------------------ */

#define TIDE_RESERVOIR_MAX (UINT64_C(1) << 40) /* entries */

/* One thread writes while any number of threads draw. Entries are read and written
 * atomically; whether a draw sees an entry before or after its replacement does not
 * matter. */
typedef struct tide_reservoir_entries {
    tide_draws draws;
    _Atomic uint32_t *slots; /* [capacity] */
    uint64_t capacity;
    _Atomic uint64_t filled;
} tide_reservoir_entries;

int tide_reservoir_entries_init(tide_reservoir_entries *e, uint64_t capacity,
                                tide_error *err);
void tide_reservoir_entries_release(tide_reservoir_entries *e);

/* Section sampler.entries. Loading fails for a slot that is not below `limit`. */
void tide_reservoir_entries_save(const tide_reservoir_entries *e,
                                 tide_store_writer *writer);
int tide_reservoir_entries_load(tide_reservoir_entries *e, uint64_t filled,
                                uint32_t limit, tide_store *store, tide_error *err);

/* NULL while there are no entries. */
const tide_draws *tide_reservoir_entries_draws(const tide_reservoir_entries *e);

static inline uint64_t tide_reservoir_entries_filled(const tide_reservoir_entries *e)
{
    return atomic_load_explicit(&e->filled, memory_order_relaxed);
}

/* Appends an entry to a reservoir that is not full. */
static inline void tide_reservoir_entries_append(tide_reservoir_entries *e,
                                                 uint32_t slot)
{
    uint64_t filled = tide_reservoir_entries_filled(e);
    atomic_store_explicit(&e->slots[filled], slot, memory_order_relaxed);
    atomic_store_explicit(&e->filled, filled + 1, memory_order_release);
}

static inline void tide_reservoir_entries_replace(tide_reservoir_entries *e,
                                                  uint64_t index, uint32_t slot)
{
    atomic_store_explicit(&e->slots[index], slot, memory_order_relaxed);
}

/* -- small helpers ----------------------------------------------------------------- */

/* Section sampler.state: 64-bit numbers, the first of which is the kind. */
#define TIDE_SAMPLER_NUMBERS_MAX 8
void tide_sampler_save_state(tide_store_writer *writer, const uint64_t *numbers,
                             size_t count);
int tide_sampler_load_state(tide_store *store, uint64_t *numbers, size_t count,
                            tide_error *err);

/* Reports a corrupt section. */
int tide_sampler_corrupt(tide_store *store, const char *section, const char *what,
                         tide_error *err);

/* weight^power, and 0 for a weight of 0. The default power is computed by square roots,
 * which are faster than pow and give the same result on every machine. */
static inline double tide_sampler_power(double weight, float power)
{
    if (weight <= 0)
        return 0;
    if (power == 0.75f) {
        double root = sqrt(sqrt(weight));
        return root * root * root;
    }
    return power == 1.0f ? weight : pow(weight, (double)power);
}

/* Maps a 64-bit random number to an index in [0, bound). *fraction is the rest of the
 * product, which is again random. The bias is at most bound / 2^64. */
static inline uint64_t tide_sampler_index(uint64_t random, uint64_t bound,
                                          uint64_t *fraction)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)random * bound;
    *fraction = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

#endif
