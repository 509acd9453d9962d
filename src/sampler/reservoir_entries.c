/* reservoir_entries.c - the array of slots that both kinds of reservoir draw from. */
#include "file/file.h"
#include "sampler/sampler.h"
#include "sampler/sampler_internal.h"

#include <stdlib.h>

#define SECTION "sampler.entries"
#define CHUNK_ENTRIES 1024

static void draw(const tide_draws *draws, tide_rng *rng, uint32_t *slots, size_t count)
{
    const tide_reservoir_entries *e = (const tide_reservoir_entries *)draws;
    uint64_t filled = atomic_load_explicit(&e->filled, memory_order_acquire);
    for (size_t i = 0; i < count; i++) {
        uint64_t unused;
        uint64_t index = tide_sampler_index(tide_rng_next(rng), filled, &unused);
        slots[i] = atomic_load_explicit(&e->slots[index], memory_order_relaxed);
    }
}

int tide_reservoir_entries_init(tide_reservoir_entries *e, uint64_t capacity,
                                tide_error *err)
{
    e->draws.draw = draw;
    e->capacity = capacity;
    e->slots = tide_alloc(capacity, sizeof *e->slots);
    if (e->slots)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a reservoir of %llu slots",
                     (unsigned long long)capacity);
}

void tide_reservoir_entries_release(tide_reservoir_entries *e)
{
    free((void *)e->slots);
}

const tide_draws *tide_reservoir_entries_draws(const tide_reservoir_entries *e)
{
    return tide_reservoir_entries_filled(e) > 0 ? &e->draws : NULL;
}

void tide_reservoir_entries_save(const tide_reservoir_entries *e,
                                 tide_store_writer *writer)
{
    uint64_t filled = tide_reservoir_entries_filled(e);
    uint32_t chunk[CHUNK_ENTRIES];
    tide_store_begin(writer, SECTION);
    for (uint64_t i = 0; i < filled;) {
        size_t count = 0;
        while (count < CHUNK_ENTRIES && i < filled)
            chunk[count++] = atomic_load_explicit(&e->slots[i++], memory_order_relaxed);
        tide_store_append(writer, chunk, count * sizeof *chunk);
    }
}

uint64_t tide_sampler_saved_size(const tide_store *store)
{
    int64_t size = tide_store_size(store, SECTION, NULL);
    return size > (int64_t)sizeof(uint32_t) ? (uint64_t)size / sizeof(uint32_t) : 1;
}

int tide_reservoir_entries_load(tide_reservoir_entries *e, uint64_t filled,
                                uint32_t limit, tide_store *store, tide_error *err)
{
    int64_t size = tide_store_size(store, SECTION, err);
    if (size < 0)
        return (int)size;
    if (filled > e->capacity || (uint64_t)size != filled * sizeof *e->slots)
        return tide_sampler_corrupt(store, SECTION, "wrong number of entries", err);
    uint32_t chunk[CHUNK_ENTRIES];
    for (uint64_t done = 0; done < filled;) {
        size_t count =
            filled - done < CHUNK_ENTRIES ? (size_t)(filled - done) : CHUNK_ENTRIES;
        int status = tide_store_read_at(store, SECTION, done * sizeof *chunk, chunk,
                                        count * sizeof *chunk, err);
        if (status < 0)
            return status;
        done += count;
        for (size_t i = 0; i < count; i++) {
            if (chunk[i] >= limit)
                return tide_sampler_corrupt(store, SECTION, "slot out of range", err);
            tide_reservoir_entries_append(e, chunk[i]);
        }
    }
    return TIDE_OK;
}
