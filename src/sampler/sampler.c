/* sampler.c - the kinds of sampler behind one interface. */
#include "sampler/sampler.h"

#include "file/file.h"
#include "sampler/sampler_internal.h"
#include "vocab/vocab.h"

#include <assert.h>
#include <stdlib.h>

static const tide_sampler_methods *const kinds[] = {
    [TIDE_SAMPLER_ALIAS] = &tide_alias,
    [TIDE_SAMPLER_RESERVOIR] = &tide_reservoir,
    [TIDE_SAMPLER_SMOOTHED] = &tide_smoothed,
};

#define KINDS (sizeof kinds / sizeof *kinds)

static int check_options(const tide_sampler_options *options, tide_error *err)
{
    if ((size_t)options->kind >= KINDS)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "unknown kind of sampler: %d",
                         (int)options->kind);
    const tide_sampler_methods *methods = kinds[options->kind];
    if (options->capacity < 1 || options->capacity > TIDE_CAPACITY_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "sampler capacity must be 1 to %u words, not %u",
                         TIDE_CAPACITY_MAX, options->capacity);
    if (methods->has_power && !(options->power >= 0 && options->power <= 1))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "power of the %s sampler must be 0 to 1, not %g",
                         methods->name, (double)options->power);
    if (methods->has_entries &&
        (options->reservoir_size < 1 || options->reservoir_size > TIDE_RESERVOIR_MAX))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "the %s sampler must have 1 to 2^40 entries, not %llu",
                         methods->name, (unsigned long long)options->reservoir_size);
    return TIDE_OK;
}

tide_sampler *tide_sampler_new(const tide_sampler_options *options, tide_error *err)
{
    if (check_options(options, err) < 0)
        return NULL;
    const tide_sampler_methods *methods = kinds[options->kind];
    tide_sampler *s = tide_alloc(1, methods->size);
    if (!s) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a sampler");
        return NULL;
    }
    s->methods = methods;
    s->options = *options;
    if (methods->prepare(s, err) == TIDE_OK)
        return s;
    tide_sampler_free(s);
    return NULL;
}

void tide_sampler_free(tide_sampler *s)
{
    if (!s)
        return;
    s->methods->release(s);
    free(s);
}

uint64_t tide_sampler_bytes(const tide_sampler_options *options)
{
    const tide_sampler_methods *methods = kinds[options->kind];
    return methods->size + methods->bytes(options);
}

void tide_sampler_add(tide_sampler *s, const tide_vocabulary *v, const uint32_t *slots,
                      size_t count)
{
    s->methods->add(s, v, slots, count);
}

bool tide_sampler_is_due(const tide_sampler *s, const tide_vocabulary *v)
{
    return s->methods->is_due && s->methods->is_due(s, v);
}

bool tide_sampler_start(tide_sampler *s, const tide_vocabulary *v)
{
    return s->methods->start(s, v);
}

void tide_sampler_build_spare(tide_sampler *s)
{
    s->methods->build_spare(s);
}

bool tide_sampler_switch(tide_sampler *s)
{
    return s->methods->change && s->methods->change(s);
}

bool tide_sampler_refresh(tide_sampler *s, const tide_vocabulary *v, bool spare_is_free)
{
    if (!tide_sampler_is_due(s, v) || !spare_is_free || !tide_sampler_start(s, v))
        return false;
    tide_sampler_build_spare(s);
    return tide_sampler_switch(s);
}

void tide_sampler_build(tide_sampler *s, const tide_vocabulary *v)
{
    if (s->methods->build)
        s->methods->build(s, v);
}

const tide_draws *tide_sampler_draws(const tide_sampler *s)
{
    return s->methods->draws(s);
}

void tide_draws_next(const tide_draws *draws, tide_rng *rng, uint32_t *slots,
                     size_t count)
{
    draws->draw(draws, rng, slots, count);
}

/* -- files ------------------------------------------------------------------------- */

void tide_sampler_save(const tide_sampler *s, tide_store_writer *writer)
{
    s->methods->save(s, writer);
}

tide_sampler *tide_sampler_load(const tide_sampler_options *options, tide_store *store,
                                tide_error *err)
{
    tide_sampler *s = tide_sampler_new(options, err);
    if (!s)
        return NULL;
    if (s->methods->load(s, store, err) == TIDE_OK)
        return s;
    tide_sampler_free(s);
    return NULL;
}

void tide_sampler_save_state(tide_store_writer *writer, const uint64_t *numbers,
                             size_t count)
{
    unsigned char bytes[8 * TIDE_SAMPLER_NUMBERS_MAX];
    assert(count <= TIDE_SAMPLER_NUMBERS_MAX);
    for (size_t i = 0; i < count; i++)
        tide_put64(bytes + 8 * i, numbers[i]);
    tide_store_put(writer, "sampler.state", bytes, 8 * count);
}

int tide_sampler_load_state(tide_store *store, uint64_t *numbers, size_t count,
                            tide_error *err)
{
    unsigned char bytes[8 * TIDE_SAMPLER_NUMBERS_MAX];
    assert(count <= TIDE_SAMPLER_NUMBERS_MAX);
    int status = tide_store_read(store, "sampler.state", bytes, 8 * count, err);
    for (size_t i = 0; i < count && status == TIDE_OK; i++)
        numbers[i] = tide_get64(bytes + 8 * i);
    return status;
}

int tide_sampler_corrupt(tide_store *store, const char *section, const char *what,
                         tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt (%s)",
                     tide_store_path(store), section, what);
}
