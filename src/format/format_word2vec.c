/* format_word2vec.c - the formats of word2vec: text (also .vec of fastText) and binary.
 *
 *     text      N D \n   then N lines   word 0.1 -0.2 ... \n
 *     binary    N D \n   then N times   word, a space, D little-endian floats, \n
 *
 * word2vec.c writes a newline after a binary row and gensim does not; both are
 * accepted. A blank after the last number of a line, which word2vec.c and fastText
 * write, is ignored.
 *
 * Words that contain one of the six ASCII white-space characters are not exported,
 * because not all readers would accept them: word2vec.c and fastText end a word of text
 * at any of the six; gensim (4.2) splits text at newlines and then at spaces, and in
 * binary files reads a word up to a space. Unicode spaces (U+0085, U+00A0, U+2028 ...),
 * at which Python's str.split and str.splitlines would split, are safe: none of the
 * three treats them specially.
 */
#include "format/format.h"

static bool holds(const char *word)
{
    return !strpbrk(word, " \t\n\v\f\r");
}

/* -- writing ----------------------------------------------------------------------- */

static char *put_text(char *to, const tide_table *table, uint32_t i)
{
    to = tide_put_numbers(stpcpy(to, table->words[i].word), table, ' ');
    *to++ = '\n';
    return to;
}

static char *put_binary(char *to, const tide_table *table, uint32_t i)
{
    size_t bytes = table->dim * sizeof(float);
    to = stpcpy(to, table->words[i].word);
    *to++ = ' ';
    memcpy(to, table->code, bytes);
    to += bytes;
    *to++ = '\n';
    return to;
}

static int write_file(tide_table *table, const char *path, tide_put_row *put,
                      tide_error *err)
{
    char header[32];
    snprintf(header, sizeof header, "%u %u\n", table->count, table->dim);
    return tide_write_rows(table, path, header, put, err);
}

static int write_text(tide_table *table, const char *path, tide_error *err)
{
    return write_file(table, path, put_text, err);
}

static int write_binary(tide_table *table, const char *path, tide_error *err)
{
    return write_file(table, path, put_binary, err);
}

/* -- reading ----------------------------------------------------------------------- */

/* Whether the data after the header line is binary. A row that ends in enough decimal
 * numbers is text, whatever bytes its word has; otherwise control characters or invalid
 * UTF-8 indicate binary floats. */
static bool has_floats(const char *rows, size_t size, uint64_t dim)
{
    return !tide_text_is_row(rows, dim) && tide_text_is_binary(rows, size);
}

static bool detect_text(const char *start, size_t size)
{
    uint64_t count, dim;
    size_t length;
    if (!tide_text_header(start, size, &count, &dim, &length))
        return false;
    start += length;
    size -= length;
    if (has_floats(start, size, dim))
        return false;
    /* GloVe text of one dimension whose words are numbers looks like a header too. */
    const char *end = memchr(start, '\n', size);
    const char *first = memchr(start, ' ', size);
    bool two_columns = end && first && first < end &&
                       !memchr(first + 1, ' ', (size_t)(end - first - 1));
    return !two_columns || dim == 1;
}

static bool detect_binary(const char *start, size_t size)
{
    uint64_t count, dim;
    size_t length;
    return tide_text_header(start, size, &count, &dim, &length) &&
           has_floats(start + length, size - length, dim);
}

/* Reads the header. The minimum size of a row is a byte of a word and a blank and a
 * digit per number for text; a byte of a word, a space and the floats for binary. */
static int open_with_header(tide_rows *rows, bool binary, tide_error *err)
{
    tide_cursor *c = &rows->cursor;
    ptrdiff_t size = tide_cursor_fill(c, 64, err);
    if (size < 0)
        return (int)size;
    uint64_t dim;
    size_t length;
    if (!tide_text_header(c->bytes + c->at, (size_t)size, &rows->count, &dim, &length))
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s:1: expected the number of words and of dimensions",
                         rows->path);
    c->at += length;
    c->line = 1;
    int status = tide_rows_set_dim(rows, dim, err);
    return status
               ? status
               : tide_rows_check_count(rows, binary ? 4 * dim + 2 : 2 * dim + 1, err);
}

static int open_text(tide_rows *rows, tide_error *err)
{
    return open_with_header(rows, false, err);
}

static int open_binary(tide_rows *rows, tide_error *err)
{
    return open_with_header(rows, true, err);
}

static int truncated(const tide_rows *rows, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: the file ends in row %llu of %llu",
                     rows->path, (unsigned long long)rows->rows_read + 1,
                     (unsigned long long)rows->count);
}

/* Only newlines may follow the last row. */
static int end_of_binary(tide_rows *rows, tide_error *err)
{
    tide_cursor *c = &rows->cursor;
    ptrdiff_t size;
    while ((size = tide_cursor_fill(c, 1, err)) > 0 && c->bytes[c->at] == '\n')
        c->at++;
    if (size > 0)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: extra bytes after %llu rows of %u numbers", rows->path,
                         (unsigned long long)rows->count, rows->dim);
    return (int)size;
}

static int next_binary(tide_rows *rows, tide_error *err)
{
    enum { WORD_SEARCH_MAX = 4096 }; /* bytes searched for the end of a word */
    tide_cursor *c = &rows->cursor;
    if (rows->rows_read == rows->count)
        return end_of_binary(rows, err);
    size_t bytes = rows->dim * sizeof(float);
    ptrdiff_t size = tide_cursor_fill(c, WORD_SEARCH_MAX + 1 + bytes, err);
    if (size < 0)
        return (int)size;
    const char *word = c->bytes + c->at, *end = word + size;
    while (word < end && *word == '\n')
        word++;
    size_t remaining = (size_t)(end - word);
    const char *space =
        memchr(word, ' ', remaining < WORD_SEARCH_MAX ? remaining : WORD_SEARCH_MAX);
    if (!space && remaining >= WORD_SEARCH_MAX)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: row %llu: unterminated word",
                         rows->path, (unsigned long long)rows->rows_read + 1);
    if (!space || (size_t)(end - space - 1) < bytes)
        return truncated(rows, err);
    memcpy(rows->vector, space + 1, bytes);
    c->at = (size_t)(space + 1 - c->bytes) + bytes;
    return tide_rows_set_word(rows, word, (size_t)(space - word));
}

const tide_format tide_format_word2vec = {
    .holds = holds,
    .write = write_text,
    .detect = detect_text,
    .open = open_text,
    .next = tide_text_next,
};

const tide_format tide_format_word2vec_binary = {
    .holds = holds,
    .write = write_binary,
    .detect = detect_binary,
    .open = open_binary,
    .next = next_binary,
};
