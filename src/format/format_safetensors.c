/* format_safetensors.c - vectors, counts and words as tensors of a safetensors file.
 *
 *     u64 length | JSON header, padded with spaces | the tensors, concatenated
 *
 *     counts       I64 [N]
 *     scales       F32 [N], for I8 only: a value is its scale times the byte
 *     embeddings   F32, F16 or I8 [N, D]
 *     words        U8, the words as UTF-8, separated by newlines
 *
 * The header length is a multiple of 8, and tensors of larger types come first, so that
 * all tensors are aligned without gaps, which the format forbids.
 *
 * Files with tensors of these names can be read. `counts` is optional, and other
 * tensors are ignored.
 */
#include "format/format_safetensors.h"

#include "file/file.h"
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const type_names[] = {
    [TIDE_F32] = "F32", [TIDE_F16] = "F16", [TIDE_I8] = "I8"};

/* -- writing ----------------------------------------------------------------------- */

static bool holds(const char *word)
{
    return !strchr(word, '\n');
}

static uint64_t words_bytes(const tide_table *table)
{
    uint64_t bytes = table->count ? table->count - 1 : 0;
    for (uint32_t i = 0; i < table->count; i++)
        bytes += strlen(table->words[i].word);
    return bytes;
}

/* Writes the header entry of a tensor that starts at *at, and advances *at past it. */
static char *put_tensor(char *to, const char *name, const char *type, const char *shape,
                        uint64_t bytes, uint64_t *at)
{
    to += sprintf(to,
                  ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%" PRIu64
                  ",%" PRIu64 "]}",
                  name, type, shape, *at, *at + bytes);
    *at += bytes;
    return to;
}

static void put_header(tide_output *out, const tide_table *table)
{
    char *start = tide_output_reserve(out, 4096), *to = start + 8;
    char rows[32], matrix[32], word_bytes[32];
    uint64_t at = 0, count = table->count;
    uint64_t numbers = count * table->dim * tide_dtype_size(table->dtype);
    snprintf(rows, sizeof rows, "%" PRIu64, count);
    snprintf(matrix, sizeof matrix, "%" PRIu64 ",%u", count, table->dim);
    snprintf(word_bytes, sizeof word_bytes, "%" PRIu64, words_bytes(table));
    to += sprintf(to,
                  "{\"__metadata__\":{\"format\":\"wordtide\",\"version\":\"%s\","
                  "\"words\":\"UTF-8, a newline between two\"}",
                  tide_version());
    to = put_tensor(to, "counts", "I64", rows, 8 * count, &at);
    if (table->dtype == TIDE_I8)
        to = put_tensor(to, "scales", "F32", rows, 4 * count, &at);
    to = put_tensor(to, "embeddings", type_names[table->dtype], matrix, numbers, &at);
    to = put_tensor(to, "words", "U8", word_bytes, words_bytes(table), &at);
    *to++ = '}';
    while ((to - start) % 8)
        *to++ = ' ';
    tide_put64((unsigned char *)start, (uint64_t)(to - start - 8));
    tide_output_advance(out, (size_t)(to - start));
}

/* Writes the scales or the encoded rows. For i8 this runs twice over the vectors,
 * because the scales come first in the file. */
static int write_vectors(tide_output *out, tide_table *table, bool scales,
                         tide_error *err)
{
    size_t bytes = table->dim * tide_dtype_size(table->dtype);
    for (uint32_t i = 0; i < table->count && !tide_output_failed(out); i++) {
        int status = tide_table_row(table, i, err);
        if (status)
            return status;
        if (scales)
            tide_output_put(out, &table->scale, sizeof table->scale);
        else
            tide_output_put(out, table->code, bytes);
    }
    return TIDE_OK;
}

static int write_tensors(tide_table *table, const char *path, tide_error *err)
{
    tide_output *out = tide_table_output(table, path, err);
    if (!out)
        return TIDE_ERROR_IO;
    put_header(out, table);
    for (uint32_t i = 0; i < table->count; i++)
        tide_output_put(out, &table->words[i].count, sizeof table->words[i].count);
    int status = TIDE_OK;
    if (table->dtype == TIDE_I8)
        status = write_vectors(out, table, true, err);
    if (!status)
        status = write_vectors(out, table, false, err);
    if (status) {
        tide_output_discard(out);
        return status;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        tide_output_put(out, "\n", i > 0);
        tide_output_put(out, table->words[i].word, strlen(table->words[i].word));
    }
    return tide_output_commit(out, err);
}

/* -- reading ----------------------------------------------------------------------- */

typedef struct tensors {
    tide_cursor embeddings, words, counts, scales;
    tide_dtype dtype;
    bool has_counts;
} tensors;

static bool detect(const char *start, size_t size)
{
    return size > 9 && start[8] == '{' &&
           tide_get64((const unsigned char *)start) <= TIDE_TENSORS_HEADER_MAX;
}

static int corrupt(const tide_rows *rows, const char *what, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: %s", rows->path, what);
}

static void close_tensors(tide_rows *rows)
{
    tensors *t = rows->state;
    tide_cursor_close(&t->embeddings);
    tide_cursor_close(&t->words);
    tide_cursor_close(&t->counts);
    tide_cursor_close(&t->scales);
    free(t);
}

/* Whether the tensor has the given type and shape, and the size that results from
 * them. */
static bool matches(const tide_tensor *tensor, const char *type, size_t size,
                    uint64_t rows, uint64_t columns)
{
    uint64_t numbers, bytes;
    bool shape_matches =
        columns ? tensor->dims == 2 && tensor->shape[1] == columns : tensor->dims == 1;
    return shape_matches && tensor->shape[0] == rows && !strcmp(tensor->dtype, type) &&
           !__builtin_mul_overflow(rows, columns ? columns : 1, &numbers) &&
           !__builtin_mul_overflow(numbers, size, &bytes) &&
           tensor->end - tensor->begin == bytes;
}

static int find_matrix(tide_rows *rows, const tide_tensor *tensor, tide_error *err)
{
    tensors *t = rows->state;
    for (int i = 0; i < 3; i++)
        if (tensor->dims == 2 && tensor->shape[1] &&
            matches(tensor, type_names[i], tide_dtype_size((tide_dtype)i),
                    tensor->shape[0], tensor->shape[1])) {
            t->dtype = (tide_dtype)i;
            rows->count = tensor->shape[0];
            return tide_rows_set_dim(rows, tensor->shape[1], err);
        }
    return corrupt(rows, "no matrix \"embeddings\" of type F32, F16 or I8", err);
}

/* Whether the tensor lies within the file. */
static bool is_in_file(const tide_rows *rows, const tide_tensor *tensor, uint64_t base)
{
    return tensor->end <= tide_cursor_length(&rows->cursor) - base;
}

/* Opens a cursor for each tensor; `base` is the file offset of the first. */
static int open_parts(tide_rows *rows, const tide_tensors *found, uint64_t base,
                      tide_error *err)
{
    tensors *t = rows->state;
    const struct {
        tide_cursor *cursor;
        const tide_tensor *tensor;
    } parts[] = {{&t->embeddings, &found->embeddings},
                 {&t->words, &found->words},
                 {&t->counts, &found->counts},
                 {&t->scales, &found->scales}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const tide_tensor *tensor = parts[i].tensor;
        if (!tensor->present)
            continue;
        if (!is_in_file(rows, tensor, base))
            return corrupt(rows, "the file is shorter than its tensors", err);
        int status = tide_cursor_part(parts[i].cursor, &rows->cursor,
                                      base + tensor->begin, base + tensor->end, err);
        if (status)
            return status;
    }
    return TIDE_OK;
}

/* Checks that the tensors are consistent with each other. */
static int check_tensors(tide_rows *rows, const tide_tensors *found, tide_error *err)
{
    tensors *t = rows->state;
    int status = find_matrix(rows, &found->embeddings, err);
    if (status)
        return status;
    const tide_tensor *words = &found->words;
    if (!words->present || !matches(words, "U8", 1, words->shape[0], 0))
        return corrupt(rows, "no tensor \"words\" of type U8", err);
    t->has_counts = found->counts.present;
    if (t->has_counts && !matches(&found->counts, "I64", 8, rows->count, 0))
        return corrupt(rows, "tensor \"counts\" does not match the embeddings", err);
    if (t->dtype == TIDE_I8 &&
        (!found->scales.present || !matches(&found->scales, "F32", 4, rows->count, 0)))
        return corrupt(rows, "no tensor \"scales\" that matches the embeddings", err);
    return TIDE_OK;
}

static int open_tensors(tide_rows *rows, tide_error *err)
{
    tide_cursor *c = &rows->cursor;
    int status = tide_rows_need_file(rows, err);
    if (status)
        return status;
    rows->state = tide_alloc(1, sizeof(tensors));
    if (!rows->state)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", rows->path);
    ptrdiff_t size = tide_cursor_fill(c, TIDE_TENSORS_HEADER_MAX + 8, err);
    if (size < 0)
        return (int)size;
    if (!detect(c->bytes, (size_t)size))
        return corrupt(rows, "not a safetensors header", err);
    uint64_t length = tide_get64((const unsigned char *)c->bytes);
    if (length > (uint64_t)size - 8)
        return corrupt(rows, "the header is cut off", err);
    tide_tensors found;
    if (!tide_tensors_parse(c->bytes + 8, (size_t)length, &found))
        return corrupt(rows, "the header is corrupt", err);
    status = check_tensors(rows, &found, err);
    if (status)
        return status;
    return open_parts(rows, &found, 8 + length, err);
}

static int truncated(const tide_rows *rows, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: the file ends in row %llu of %llu",
                     rows->path, (unsigned long long)rows->rows_read + 1,
                     (unsigned long long)rows->count);
}

/* Reads the next `size` bytes of a tensor. */
static int read_bytes(const tide_rows *rows, tide_cursor *c, void *bytes, size_t size,
                      tide_error *err)
{
    ptrdiff_t present = tide_cursor_fill(c, size, err);
    if (present < 0)
        return (int)present;
    if ((size_t)present < size)
        return truncated(rows, err);
    memcpy(bytes, c->bytes + c->at, size);
    c->at += size;
    return TIDE_OK;
}

static int next_tensors(tide_rows *rows, tide_error *err)
{
    tensors *t = rows->state;
    char *line;
    size_t length;
    unsigned char code[TIDE_DIM_MAX * sizeof(float)];
    float scale = 1;
    int result = tide_cursor_line(&t->words, &line, &length, err);
    if (result < 0)
        return result;
    bool has_row = rows->rows_read < rows->count;
    if (!has_row && !result)
        return TIDE_ROW_END;
    if (!has_row || !result)
        return corrupt(rows, "numbers of words and embeddings differ", err);
    int status = read_bytes(rows, &t->embeddings, code,
                            rows->dim * tide_dtype_size(t->dtype), err);
    if (!status && t->has_counts)
        status = read_bytes(rows, &t->counts, &rows->word_count,
                            sizeof rows->word_count, err);
    if (!status && t->dtype == TIDE_I8)
        status = read_bytes(rows, &t->scales, &scale, sizeof scale, err);
    if (status)
        return status;
    tide_decode(t->dtype, code, rows->dim, scale, rows->vector);
    return tide_rows_set_word(rows, line, length);
}

const tide_format tide_format_safetensors = {
    .holds = holds,
    .write = write_tensors,
    .detect = detect,
    .open = open_tensors,
    .next = next_tensors,
    .close = close_tensors,
};
