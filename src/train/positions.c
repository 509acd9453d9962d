/* positions.c - how far a run has read each of its sources.
 *
 * A run that reaches the end of all its sources leaves no positions: the model does not
 * depend on how its text was cut into files. A run that is stopped before leaves, for
 * every source that it has read from and can find again, the position of the first
 * sentence that was not trained. The text of a position is up to the source; it
 * contains enough to recognize the same text.
 */
#include "file/file.h"
#include "train/train.h"

#include <stdlib.h>

void tide_positions_clear(tide_positions *positions)
{
    for (size_t i = 0; i < positions->count; i++) {
        free(positions->items[i].text);
        free(positions->items[i].spec);
    }
    free(positions->items);
    *positions = (tide_positions){0};
}

tide_position *tide_positions_claim(tide_positions *positions, const char *spec)
{
    for (size_t i = 0; i < positions->count; i++) {
        tide_position *item = &positions->items[i];
        if (!item->claimed && item->text && !strcmp(item->spec, spec)) {
            item->claimed = true;
            return item;
        }
    }
    return NULL;
}

int tide_positions_add(tide_positions *positions, const char *spec, size_t *number,
                       tide_error *err)
{
    size_t count = positions->count;
    char *copy = strlen(spec) < SPEC_MAX ? strdup(spec) : NULL;
    tide_position *items =
        copy ? realloc(positions->items, (count + 1) * sizeof *items) : NULL;
    if (!items) {
        free(copy);
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the position in %s",
                         spec);
    }
    items[count] = (tide_position){.spec = copy};
    positions->items = items;
    positions->count++;
    *number = count;
    return TIDE_OK;
}

void tide_positions_set(tide_positions *positions, size_t number, char *text, bool live)
{
    free(positions->items[number].text);
    positions->items[number].text = text;
    positions->items[number].live = live;
}

int tide_positions_copy(const tide_positions *positions, tide_positions *copy,
                        tide_error *err)
{
    int status = TIDE_OK;
    *copy = (tide_positions){0};
    for (size_t i = 0; i < positions->count && !status; i++) {
        const tide_position *item = &positions->items[i];
        size_t number = 0;
        status = tide_positions_add(copy, item->spec, &number, err);
        char *text = status || !item->text ? NULL : strdup(item->text);
        if (!status && item->text && !text)
            status = tide_fail(err, TIDE_ERROR_MEMORY,
                               "no memory for the position in %s", item->spec);
        if (!status)
            tide_positions_set(copy, number, text, item->live);
    }
    if (status)
        tide_positions_clear(copy);
    return status;
}

/* -- section positions ------------------------------------------------------------- */

enum { HEADER_SIZE = 24 };

/* For each: u64 length of the spec, u64 length of the text, u64 1 if live, the spec,
 * the text. */
void tide_positions_save(const tide_positions *positions, tide_store_writer *writer)
{
    tide_store_begin(writer, "positions");
    for (size_t i = 0; i < positions->count; i++) {
        const tide_position *item = &positions->items[i];
        if (!item->text)
            continue;
        unsigned char header[HEADER_SIZE];
        tide_put64(header, strlen(item->spec));
        tide_put64(header + 8, strlen(item->text));
        tide_put64(header + 16, item->live);
        tide_store_append(writer, header, sizeof header);
        tide_store_append(writer, item->spec, strlen(item->spec));
        tide_store_append(writer, item->text, strlen(item->text));
    }
}

static int corrupt(const tide_store *store, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"positions\" is corrupt",
                     tide_store_path(store));
}

/* Reads a string of this length at *at, and advances *at past it. */
static char *read_text(tide_store *store, uint64_t *at, uint64_t length,
                       tide_error *err)
{
    char *text = tide_alloc(length + 1, 1);
    if (!text) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for the positions in %s",
                  tide_store_path(store));
        return NULL;
    }
    if (tide_store_read_at(store, "positions", *at, text, length, NULL) ||
        strlen(text) != length) {
        corrupt(store, err);
        free(text);
        return NULL;
    }
    *at += length;
    return text;
}

static int read_position(tide_positions *positions, tide_store *store, uint64_t *at,
                         uint64_t size, tide_error *err)
{
    unsigned char header[HEADER_SIZE];
    if (size - *at < sizeof header ||
        tide_store_read_at(store, "positions", *at, header, sizeof header, NULL))
        return corrupt(store, err);
    *at += sizeof header;
    uint64_t spec_length = tide_get64(header), text_length = tide_get64(header + 8);
    if (spec_length >= SPEC_MAX || text_length >= POSITION_MAX ||
        tide_get64(header + 16) > 1 || spec_length + text_length > size - *at)
        return corrupt(store, err);
    char *spec = read_text(store, at, spec_length, err);
    char *text = spec ? read_text(store, at, text_length, err) : NULL;
    size_t number = 0;
    int status =
        text ? tide_positions_add(positions, spec, &number, err) : TIDE_ERROR_FORMAT;
    if (!status)
        tide_positions_set(positions, number, text, tide_get64(header + 16));
    else
        free(text);
    free(spec);
    return status;
}

int tide_positions_load(tide_positions *positions, tide_store *store, tide_error *err)
{
    int64_t size = tide_store_size(store, "positions", err);
    if (size < 0)
        return (int)size;
    for (uint64_t at = 0; at < (uint64_t)size;) {
        int status = read_position(positions, store, &at, (uint64_t)size, err);
        if (status)
            return status;
    }
    return TIDE_OK;
}
