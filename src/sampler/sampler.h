/* sampler.h - draws slots of a vocabulary for negative sampling.
 *
 * A sampler belongs to one thread; only a tide_draws may be shared.
 */
#ifndef TIDE_SAMPLER_H
#define TIDE_SAMPLER_H

#include "file/file.h"
#include "vocab/vocab.h"

typedef struct tide_sampler tide_sampler;

typedef enum tide_sampler_kind {
    TIDE_SAMPLER_ALIAS,     /* count^power, from a table rebuilt as the stream grows */
    TIDE_SAMPLER_RESERVOIR, /* a uniform sample of all slots added, as in the paper */
    TIDE_SAMPLER_SMOOTHED,  /* count^power, from a reservoir, as in incremental SGNS */
} tide_sampler_kind;

typedef struct tide_sampler_options {
    tide_sampler_kind kind;
    uint32_t capacity;       /* slots are below this */
    float power;             /* alias, smoothed */
    uint64_t reservoir_size; /* reservoir, smoothed */
    uint64_t seed;
} tide_sampler_options;

tide_sampler *tide_sampler_new(const tide_sampler_options *options, tide_error *err);
void tide_sampler_free(tide_sampler *s);
uint64_t tide_sampler_bytes(const tide_sampler_options *options);

/* Adds slots that have just been counted, in this order; TIDE_NO_SLOT is ignored. A
 * no-op for alias. */
void tide_sampler_add(tide_sampler *s, const tide_vocabulary *v, const uint32_t *slots,
                      size_t count);

/* Alias: if a new table is due, builds it in the spare buffer and makes it current. One
 * is due when the stream has grown by 5 % since the last, and by at least 2,000 tokens
 * and 2 per slot; the first at 1,000 tokens. Does nothing unless `spare_is_free`, that
 * is, unless all threads have stopped drawing from the table before the current one.
 * Returns whether a table was built. Takes a few passes over the slots and never
 * blocks. A no-op for the other kinds. */
bool tide_sampler_refresh(tide_sampler *s, const tide_vocabulary *v,
                          bool spare_is_free);

/* The same in steps, for alias only, so that another thread can build the table.
 * tide_sampler_is_due: whether one is due, and none is being built. _start: copies the
 * weights; returns false if there is nothing to draw. _build_spare: to be called next,
 * by any thread, once. _switch: makes the new table current if it has been built;
 * returns whether. */
bool tide_sampler_is_due(const tide_sampler *s, const tide_vocabulary *v);
bool tide_sampler_start(tide_sampler *s, const tide_vocabulary *v);
void tide_sampler_build_spare(tide_sampler *s);
bool tide_sampler_switch(tide_sampler *s);

/* Alias: rebuilds the current table from the words held now, even if none is due. No
 * thread may be drawing. A no-op for the other kinds. */
void tide_sampler_build(tide_sampler *s, const tide_vocabulary *v);

/* The distribution to draw from; NULL while it is empty. Other threads may draw from it
 * during tide_sampler_add and tide_sampler_refresh. */
typedef struct tide_draws tide_draws;
const tide_draws *tide_sampler_draws(const tide_sampler *s);

/* Draws `count` slots. */
void tide_draws_next(const tide_draws *draws, tide_rng *rng, uint32_t *slots,
                     size_t count);

/* Sections sampler.*. The alias sampler saves its current table, whose content depends
 * on when it was built. The saved sampler may have a larger capacity than the loaded
 * one, as long as its content fits. */
void tide_sampler_save(const tide_sampler *s, tide_store_writer *writer);
tide_sampler *tide_sampler_load(const tide_sampler_options *options, tide_store *store,
                                tide_error *err);

/* The smallest reservoir_size that the saved entries fit. */
uint64_t tide_sampler_saved_size(const tide_store *store);

#endif
