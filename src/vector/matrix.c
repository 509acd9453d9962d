/* matrix.c - rows of floats aligned to cache lines, and how they are stored in a file.
 *
 * In memory, the stride of a row is a multiple of 16 floats, padded with zeros, so that
 * kernels have no remainder to handle. In a file, a row takes exactly `dim` floats.
 */
#include "file/file.h"
#include "vector/vector.h"

#include <stdlib.h>

enum { FLOATS_PER_LINE = 16, CHUNK_BYTES = 64 * 1024 };

uint32_t tide_stride(uint32_t dim)
{
    return (dim + FLOATS_PER_LINE - 1) / FLOATS_PER_LINE * FLOATS_PER_LINE;
}

uint64_t tide_matrix_bytes(uint64_t count, uint32_t dim)
{
    return count * tide_stride(dim) * sizeof(float);
}

int tide_matrix_init(tide_matrix *m, uint32_t count, uint32_t dim, tide_error *err)
{
    *m = (tide_matrix){.count = count, .dim = dim, .stride = tide_stride(dim)};
    m->rows = tide_alloc(count, m->stride * sizeof(float));
    if (!m->rows)
        return tide_fail(err, TIDE_ERROR_MEMORY,
                         "no memory for %u vectors of %u numbers", count, dim);
    return TIDE_OK;
}

void tide_matrix_release(tide_matrix *m)
{
    free(m->rows);
    m->rows = NULL;
}

void tide_matrix_save(const tide_matrix *m, uint32_t count, const char *section,
                      tide_store_writer *writer)
{
    tide_store_begin(writer, section);
    for (uint32_t i = 0; i < count; i++)
        tide_store_append(writer, tide_matrix_row(m, i), m->dim * sizeof(float));
}

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!tide_finite(values[i]))
            return false;
    return true;
}

int tide_matrix_load(tide_matrix *m, uint32_t count, const char *section,
                     tide_store *store, tide_error *err)
{
    int64_t size = tide_store_size(store, section, err);
    if (size < 0)
        return (int)size;
    uint64_t row_bytes = m->dim * sizeof(float);
    if (count > m->count || (uint64_t)size != count * row_bytes)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: section \"%s\" is corrupt (wrong size)",
                         tide_store_path(store), section);
    uint32_t rows_per_chunk = (uint32_t)(CHUNK_BYTES / row_bytes) + 1;
    float *chunk = tide_alloc(rows_per_chunk, row_bytes);
    if (!chunk)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", section);
    int status = TIDE_OK;
    for (uint32_t i = 0; i < count && !status; i += rows_per_chunk) {
        uint32_t rows = count - i < rows_per_chunk ? count - i : rows_per_chunk;
        status = tide_store_read_at(store, section, i * row_bytes, chunk,
                                    rows * row_bytes, err);
        if (!status && !all_finite(chunk, (size_t)rows * m->dim))
            status = tide_fail(err, TIDE_ERROR_FORMAT,
                               "%s: section \"%s\" is corrupt (NaN or infinity)",
                               tide_store_path(store), section);
        for (uint32_t k = 0; k < rows && !status; k++)
            memcpy(tide_matrix_row(m, i + k), chunk + (size_t)k * m->dim, row_bytes);
    }
    free(chunk);
    return status;
}
