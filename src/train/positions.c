/* positions.c - how far a run has come in each of its sources.
 *
 * A run that reaches the end of all its sources leaves nothing behind: the model is what it is,
 * however its text was cut into files. A run that is stopped before leaves, for every source it has
 * touched and can find again, the offset of the first sentence not learned, and a fingerprint of
 * the bytes before it, by which the same source is recognised.
 */
#include "train/parts.h"

#include <stdlib.h>

void tide_positions_clear(tide_positions *positions)
{
    for (size_t i = 0; i < positions->count; i++)
        free(positions->items[i].spec);
    free(positions->items);
    *positions = (tide_positions){0};
}

const tide_position *tide_positions_take(tide_positions *positions, const char *spec)
{
    for (size_t i = 0; i < positions->count; i++) {
        tide_position *item = &positions->items[i];
        if (!item->taken && !strcmp(item->spec, spec)) {
            item->taken = true;
            return item;
        }
    }
    return NULL;
}

int tide_positions_begin(tide_positions *positions, const char *spec, tide_error *err)
{
    size_t count = positions->count;
    char *copy = strlen(spec) < SPEC_MAX ? strdup(spec) : NULL;
    tide_position *items =
        copy ? realloc(positions->items, (count + 1) * sizeof *items) : NULL;
    if (!items) {
        free(copy);
        return tide_fail(err, TIDE_ERROR_MEMORY, "cannot remember the place in %s",
                         spec);
    }
    items[count] = (tide_position){.spec = copy};
    positions->items = items;
    positions->count++;
    return TIDE_OK;
}

void tide_positions_note(tide_positions *positions, uint64_t offset,
                         uint64_t fingerprint)
{
    tide_position *last = &positions->items[positions->count - 1];
    last->offset = offset;
    last->fingerprint = fingerprint;
}

/* Each: u64 offset, u64 fingerprint, u64 length of the name, the name. */
void tide_positions_save(const tide_positions *positions, tide_store_writer *writer)
{
    tide_store_begin(writer, "positions");
    for (size_t i = 0; i < positions->count; i++) {
        const tide_position *item = &positions->items[i];
        uint64_t head[3] = {item->offset, item->fingerprint, strlen(item->spec)};
        tide_store_append(writer, head, sizeof head);
        tide_store_append(writer, item->spec, strlen(item->spec));
    }
}

static int read_one(tide_positions *positions, tide_store *store, uint64_t *at,
                    uint64_t size, tide_error *err)
{
    uint64_t head[3];
    char spec[SPEC_MAX];
    int status = TIDE_ERROR_FORMAT;
    if (size - *at >= sizeof head)
        status = tide_store_read_at(store, "positions", *at, head, sizeof head, err);
    if (!status && (head[2] >= SPEC_MAX || head[2] > size - *at - sizeof head))
        status = TIDE_ERROR_FORMAT;
    if (!status)
        status = tide_store_read_at(store, "positions", *at + sizeof head, spec,
                                    (size_t)head[2], err);
    if (status)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: section positions is not readable",
                         tide_store_path(store));
    *at += sizeof head + head[2];
    spec[head[2]] = 0;
    status = tide_positions_begin(positions, spec, err);
    if (!status)
        tide_positions_note(positions, head[0], head[1]);
    return status;
}

int tide_positions_load(tide_positions *positions, tide_store *store, tide_error *err)
{
    int64_t size = tide_store_size(store, "positions", err);
    if (size < 0)
        return (int)size;
    for (uint64_t at = 0; at < (uint64_t)size;) {
        int status = read_one(positions, store, &at, (uint64_t)size, err);
        if (status)
            return status;
    }
    return TIDE_OK;
}
