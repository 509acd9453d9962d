/* sampler.h - drawing slots the way negative sampling wants them.
 *
 * A sampler belongs to one thread; only what is said below may be shared.
 */
#ifndef TIDE_SAMPLER_H
#define TIDE_SAMPLER_H

#include "file/file.h"
#include "vocab/vocab.h"

typedef struct tide_sampler tide_sampler;

typedef enum tide_sampler_kind {
    TIDE_SAMPLER_ALIAS, /* counts to a power, from a table rebuilt as the stream grows */
    TIDE_SAMPLER_RESERVOIR, /* a uniform sample of all slots ever added: the paper */
    TIDE_SAMPLER_SMOOTHED,  /* incremental SGNS's reservoir of counts to a power */
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

/* These slots have just been counted, in this order; TIDE_NO_SLOT among them is passed over. A
 * no-op for alias. */
void tide_sampler_add(tide_sampler *s, const tide_vocabulary *v, const uint32_t *slots,
                      size_t count);

/* Alias: builds the next table into the spare buffer and makes it current, when the stream has grown
 * by 5 % (at least 2,000 tokens, and 2 a slot; the first at 1,000) since the last and `spare_is_free`, that is, when nobody draws
 * from the table before the current one any more. Returns whether it did. A no-op for the others.
 * A few passes over the slots, and never a wait. */
bool tide_sampler_refresh(tide_sampler *s, const tide_vocabulary *v,
                          bool spare_is_free);

/* Alias: makes a table of the words held now, whatever the length of the stream, with nobody drawing.
 * A no-op for the others. */
void tide_sampler_build(tide_sampler *s, const tide_vocabulary *v);

/* What is drawn from. It may be handed to other threads; drawing goes on beside tide_sampler_add
 * and tide_sampler_refresh. NULL until there is something to draw. */
typedef struct tide_draws tide_draws;
const tide_draws *tide_sampler_draws(const tide_sampler *s);

/* Draws `count` slots. */
void tide_draws_take(const tide_draws *draws, tide_rng *rng, uint32_t *slots,
                     size_t count);

/* Sections sampler.*; the alias saves its current table, since that depends on when it was built. The
 * sampler that was saved may be larger than the one that is read, as long as what is in it fits. */
void tide_sampler_save(const tide_sampler *s, tide_store_writer *writer);
tide_sampler *tide_sampler_load(const tide_sampler_options *options, tide_store *store,
                                tide_error *err);

/* The smallest reservoir_size that what was saved fits. */
uint64_t tide_sampler_saved_size(const tide_store *store);

#endif
