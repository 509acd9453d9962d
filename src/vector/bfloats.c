/* bfloats.c - rows of bfloat16, for tables of which only the sum of many rows counts.
 *
 * In memory a row is padded to the stride of a row of floats, so that the same vectors
 * of the processor pass over both. In a file it takes exactly `dim` numbers of two
 * bytes.
 */
#include "file/file.h"
#include "vector/vector.h"

#include <float.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 64 * 1024 };

uint64_t tide_bfloats_bytes(uint64_t count, uint32_t dim)
{
    return count * tide_stride(dim) * sizeof(uint16_t);
}

int tide_bfloats_init(tide_bfloats *m, uint32_t count, uint32_t dim, tide_error *err)
{
    *m = (tide_bfloats){.count = count, .dim = dim, .stride = tide_stride(dim)};
    m->rows = tide_alloc(count, m->stride * sizeof *m->rows);
    return m->rows ? TIDE_OK
                   : tide_fail(err, TIDE_ERROR_MEMORY,
                               "no memory for %u rows of n-grams", count);
}

void tide_bfloats_release(tide_bfloats *m)
{
    free(m->rows);
    m->rows = NULL;
}

bool tide_bfloats_are_within(const tide_bfloats *m, uint32_t row, float max)
{
    const uint16_t *values = tide_bfloats_row(m, row);
    uint32_t limit, highest = 0;
    memcpy(&limit, &max, sizeof limit);
    /* Without their sign, bfloats are ordered like their bits, NaNs above all others. */
    for (uint32_t i = 0; i < m->stride; i++) {
        uint32_t magnitude = values[i] & 0x7fff;
        highest = magnitude > highest ? magnitude : highest;
    }
    return highest <= limit >> 16;
}

void tide_bfloats_save(const tide_bfloats *m, uint32_t count, const char *section,
                       tide_store_writer *writer)
{
    tide_store_begin(writer, section);
    for (uint32_t i = 0; i < count; i++)
        tide_store_append(writer, tide_bfloats_row(m, i), m->dim * sizeof *m->rows);
}

static int corrupt(tide_store *store, const char *section, const char *why,
                   tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt (%s)",
                     tide_store_path(store), section, why);
}

int tide_bfloats_load(tide_bfloats *m, uint32_t count, const char *section,
                      tide_store *store, tide_error *err)
{
    int64_t size = tide_store_size(store, section, err);
    if (size < 0)
        return (int)size;
    uint64_t row_bytes = m->dim * sizeof *m->rows;
    if (count > m->count || (uint64_t)size != count * row_bytes)
        return corrupt(store, section, "wrong size", err);
    uint32_t rows_per_chunk = (uint32_t)(CHUNK_BYTES / row_bytes) + 1;
    char *chunk = tide_alloc(rows_per_chunk, row_bytes);
    if (!chunk)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", section);
    int status = TIDE_OK;
    for (uint32_t i = 0; i < count && !status; i += rows_per_chunk) {
        uint32_t rows = count - i < rows_per_chunk ? count - i : rows_per_chunk;
        status = tide_store_read_at(store, section, i * row_bytes, chunk,
                                    rows * row_bytes, err);
        for (uint32_t k = 0; k < rows && !status; k++) {
            memcpy(tide_bfloats_row(m, i + k), chunk + k * row_bytes, row_bytes);
            if (!tide_bfloats_are_within(m, i + k, FLT_MAX))
                status = corrupt(store, section, "NaN or infinity", err);
        }
    }
    free(chunk);
    return status;
}
