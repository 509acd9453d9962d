/* rows.c - reads the vectors of a file of any format, one by one.
 *
 * The format is detected from the content: the table lists formats with a magic number
 * first, then those with a header line "N D", and last plain text.
 */
#include "format/format.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>

bool tide_is_word(const char *bytes, size_t length)
{
    if (length == 0 || length > TIDE_WORD_MAX)
        return false;
    while (length > 0) {
        size_t step = tide_utf8_length(bytes, length);
        if (step == 0)
            return false;
        bytes += step;
        length -= step;
    }
    return true;
}

int tide_rows_set_word(tide_rows *rows, const char *bytes, size_t length)
{
    if (!tide_is_word(bytes, length))
        return TIDE_ROW_BAD;
    memcpy(rows->word, bytes, length);
    rows->word[length] = '\0';
    rows->length = (uint32_t)length;
    return TIDE_ROW_GOOD;
}

int tide_rows_set_dim(tide_rows *rows, uint64_t dim, tide_error *err)
{
    if (dim == 0 || dim > TIDE_DIM_MAX)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: vectors of %llu numbers; must be 1 to %d", rows->path,
                         (unsigned long long)dim, TIDE_DIM_MAX);
    rows->dim = (uint32_t)dim;
    rows->vector = tide_alloc(rows->dim, sizeof *rows->vector);
    if (!rows->vector)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", rows->path);
    return TIDE_OK;
}

int tide_rows_check_count(const tide_rows *rows, uint64_t min_bytes, tide_error *err)
{
    if (rows->count <= tide_cursor_length(&rows->cursor) / min_bytes)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_FORMAT,
                     "%s: the file is too short for the %llu rows in its header",
                     rows->path, (unsigned long long)rows->count);
}

int tide_rows_need_file(const tide_rows *rows, tide_error *err)
{
    if (!rows->cursor.stream)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_FORMAT,
                     "%s: format %s cannot be read from a pipe or a compressed file",
                     rows->path, tide_rows_format(rows));
}

/* Windows programs put a byte order mark before UTF-8 text. */
static int skip_byte_order_mark(tide_cursor *c, tide_error *err)
{
    ptrdiff_t size = tide_cursor_fill(c, 3, err);
    if (size >= 3 && !memcmp(c->bytes, "\xef\xbb\xbf", 3))
        c->at = 3;
    return size < 0 ? (int)size : TIDE_OK;
}

static int detect(tide_rows *rows, tide_error *err)
{
    tide_cursor *c = &rows->cursor;
    ptrdiff_t size = tide_cursor_fill(c, TIDE_CURSOR_CAPACITY, err);
    if (size < 0)
        return (int)size;
    if (size == 0)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: the file is empty", rows->path);
    const tide_format_info *info;
    for (size_t i = 0; (rows->format = tide_format_at(i, &info)); i++)
        if (rows->format->open && rows->format->detect(c->bytes + c->at, (size_t)size))
            return TIDE_OK;
    tide_error content;
    bool known = tide_content_of(c->bytes + c->at, (size_t)size, true, &content);
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: not a model or a file of vectors%s%s",
                     rows->path, known ? " but " : "", known ? content.text : "");
}

static int find_format(tide_rows *rows, const char *name, tide_error *err)
{
    const tide_format_info *info;
    if (!name)
        return detect(rows, err);
    rows->format = tide_format_find(name, &info);
    if (!rows->format)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "unknown format '%s'", name);
    if (!rows->format->open)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "format %s cannot be read", name);
    return TIDE_OK;
}

static int open_rows(tide_rows *rows, const char *format, tide_error *err)
{
    int status = tide_cursor_open(&rows->cursor, rows->path, TIDE_CURSOR_CAPACITY, err);
    if (!status)
        status = skip_byte_order_mark(&rows->cursor, err);
    if (!status)
        status = find_format(rows, format, err);
    if (!status)
        status = rows->format->open(rows, err);
    if (!status && rows->count > TIDE_CAPACITY_MAX)
        status =
            tide_fail(err, TIDE_ERROR_FORMAT, "%s: %llu rows exceed the maximum of %u",
                      rows->path, (unsigned long long)rows->count, TIDE_CAPACITY_MAX);
    return status;
}

tide_rows *tide_rows_open(const char *path, const char *format, tide_error *err)
{
    size_t length = strlen(path) + 1;
    tide_rows *rows = tide_alloc(1, sizeof *rows);
    char *copy = tide_alloc(length, 1);
    if (!rows || !copy) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", path);
        free(rows);
        free(copy);
        return NULL;
    }
    rows->path = memcpy(copy, path, length);
    if (open_rows(rows, format, err)) {
        tide_rows_close(rows);
        return NULL;
    }
    return rows;
}

void tide_rows_close(tide_rows *rows)
{
    if (!rows)
        return;
    if (rows->state && rows->format->close)
        rows->format->close(rows);
    tide_cursor_close(&rows->cursor);
    free(rows->vector);
    free(rows->path);
    free(rows);
}

const char *tide_rows_format(const tide_rows *rows)
{
    const tide_format_info *info;
    size_t i = 0;
    while (tide_format_at(i, &info) != rows->format)
        i++;
    return info->name;
}

uint32_t tide_rows_dim(const tide_rows *rows)
{
    return rows->dim;
}

uint64_t tide_rows_count(const tide_rows *rows)
{
    return rows->count;
}

uint64_t tide_rows_left_out(const tide_rows *rows)
{
    return rows->skipped;
}

const char *tide_rows_params(const tide_rows *rows)
{
    return rows->params ? rows->params : "";
}

static bool all_finite(const float *vector, uint32_t dim)
{
    for (uint32_t d = 0; d < dim; d++)
        if (!tide_finite(vector[d]))
            return false;
    return true;
}

int tide_rows_next(tide_rows *rows, tide_row *row, tide_error *err)
{
    for (;;) {
        rows->word_count = rows->word_error = 0;
        int result = rows->format->next(rows, err);
        if (result <= 0)
            return result;
        rows->rows_read++;
        if (result == TIDE_ROW_GOOD && all_finite(rows->vector, rows->dim)) {
            *row = (tide_row){rows->word, rows->length, rows->vector, rows->word_count,
                              rows->word_error};
            return 1;
        }
        rows->skipped++;
    }
}
