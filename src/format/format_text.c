/* format_text.c - rows of text: a word and its vector per line, separated by blanks.
 *
 * A row is parsed from the left: the word up to the first blank, then the numbers. If
 * that fails, the columns decide:
 *
 *     fewer columns than 1 + dim         error: not a row of this dimension
 *     more, and the second is a number   error
 *     more, and the second is none       skipped: the word contains blanks, as in some
 *                                        published files
 *     as many, but an invalid number     skipped
 */
#include "file/file.h"
#include "format/format.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

static const char *skip_column(const char *at)
{
    while (*at && !is_blank(*at))
        at++;
    return at;
}

static bool is_number(const char *at)
{
    float value;
    const char *end = tide_decimal_read(at, &value);
    return end && (!*end || is_blank(*end) || *end == '\n' || *end == '\r');
}

/* -- the first line ---------------------------------------------------------------- */

static const char *read_integer(const char *at, uint64_t *number)
{
    const char *first = at;
    *number = 0;
    for (; *at >= '0' && *at <= '9' && at - first < 18; at++)
        *number = 10 * *number + (uint64_t)(*at - '0');
    return at > first ? at : NULL;
}

bool tide_text_header(const char *start, size_t size, uint64_t *count, uint64_t *dim,
                      size_t *length)
{
    const char *at = read_integer(start, count);
    if (!at || !is_blank(*at))
        return false;
    at = read_integer(skip_blanks(at), dim);
    if (!at)
        return false;
    at = skip_blanks(at);
    if (*at == '\r')
        at++;
    *length = (size_t)(at - start);
    if (*length == size)
        return true;
    *length += 1;
    return *at == '\n';
}

/* Whether there are control characters that do not occur in text. */
static bool has_control_characters(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)bytes[i] < 0x20 && (bytes[i] < '\t' || bytes[i] > '\r'))
            return true;
    return false;
}

bool tide_text_is_row(const char *start, uint64_t dim)
{
    uint64_t numbers = 0;
    const char *at = skip_blanks(start);
    while (*at && *at != '\n' && *at != '\r') {
        numbers = is_number(at) ? numbers + 1 : 0;
        at = skip_blanks(at + strcspn(at, " \t\r\n"));
    }
    return numbers >= dim;
}

bool tide_text_is_binary(const char *bytes, size_t size)
{
    if (has_control_characters(bytes, size))
        return true;
    enum { CHARACTER_MAX = 4, MULTIBYTE_MIN = 0xc2 };
    for (size_t at = 0, length; at < size; at += length) {
        length = tide_utf8_length(bytes + at, size - at);
        bool truncated =
            size - at < CHARACTER_MAX && (unsigned char)bytes[at] >= MULTIBYTE_MIN;
        if (length == 0)
            return !truncated;
    }
    return false;
}

/* -- rows -------------------------------------------------------------------------- */

tide_columns tide_text_columns(const char *line)
{
    tide_columns columns = {.count = 1};
    const char *at = skip_blanks(skip_column(line));
    while (*at) {
        columns.count++;
        columns.numbers = is_number(at) ? columns.numbers + 1 : 0;
        at = skip_blanks(skip_column(at));
    }
    return columns;
}

static int check_columns(const tide_rows *rows, const char *line, tide_error *err)
{
    tide_columns columns = tide_text_columns(line);
    size_t expected = (size_t)rows->dim + 1;
    bool word_with_blanks =
        columns.count > expected && !is_number(skip_blanks(skip_column(line)));
    if (columns.count == expected || word_with_blanks)
        return TIDE_ROW_BAD;
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s:%llu: %zu columns instead of %zu",
                     rows->path, (unsigned long long)rows->cursor.line, columns.count,
                     expected);
}

/* Reads dim numbers, which must be all up to the end of the line. */
static bool read_numbers(const char *at, uint32_t dim, float *vector)
{
    for (uint32_t d = 0; d < dim; d++) {
        if (!is_blank(*at))
            return false;
        at = tide_decimal_read(skip_blanks(at), &vector[d]);
        if (!at)
            return false;
    }
    return !*skip_blanks(at);
}

static int end_of_text(const tide_rows *rows, tide_error *err)
{
    if (rows->rows_read >= rows->count)
        return TIDE_ROW_END;
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: the file ends after row %llu of %llu",
                     rows->path, (unsigned long long)rows->rows_read,
                     (unsigned long long)rows->count);
}

int tide_text_next(tide_rows *rows, tide_error *err)
{
    char *line;
    size_t length = 0;
    while (length == 0) { /* skip empty lines */
        int got = tide_cursor_line(&rows->cursor, &line, &length, err);
        if (got < 0)
            return got;
        if (got == 0)
            return end_of_text(rows, err);
        if (length && line[length - 1] == '\r')
            line[--length] = '\0';
    }
    if (rows->count && rows->rows_read == rows->count)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s:%llu: more rows than the %llu in the header", rows->path,
                         (unsigned long long)rows->cursor.line,
                         (unsigned long long)rows->count);
    if (strlen(line) != length)
        return TIDE_ROW_BAD; /* a zero byte */
    const char *blank = skip_column(line);
    if (!read_numbers(blank, rows->dim, rows->vector))
        return check_columns(rows, line, err);
    return tide_rows_set_word(rows, line, (size_t)(blank - line));
}

int tide_write_rows(tide_table *table, const char *path, const char *head,
                    tide_put_row *put, tide_error *err)
{
    tide_output *out = tide_table_output(table, path, err);
    if (!out)
        return TIDE_ERROR_IO;
    tide_output_put(out, head, strlen(head));
    for (uint32_t i = 0; i < table->count && !tide_output_failed(out); i++) {
        int status = tide_table_row(table, i, err);
        if (status) {
            tide_output_discard(out);
            return status;
        }
        char *row = tide_output_reserve(out, tide_text_row_bytes(table));
        tide_output_advance(out, (size_t)(put(row, table, i) - row));
    }
    return tide_output_commit(out, err);
}
