/* format_npy.c - NumPy array file, with the words in a second file.
 *
 *     NAME.npy         0x93 "NUMPY", version, length, then a dictionary in Python
 *                      syntax, padded with spaces so that the numbers start at a
 *                      multiple of 64 bytes and np.load(mmap_mode="r") can map them:
 *                      N rows of D numbers, '<f4', '<f2' or '|i1'
 *     NAME.words.tsv   N lines   word TAB count, for '|i1' also TAB scale
 *
 * Values of '|i1' are scale * byte. Arrays of '<f8', the default of NumPy, can also be
 * read, and so can lists of words without counts.
 */
#include "file/file.h"
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ALIGN = 64, HEADER_MAX = 64 * 1024, MAGIC = 6 };

static const char magic[] = "\x93NUMPY";

static const struct {
    const char *descr;
    tide_dtype dtype;
} types[] = {{"<f4", TIDE_F32}, {"<f2", TIDE_F16}, {"|i1", TIDE_I8}, {"<f8", TIDE_F64}};

enum { TYPES = sizeof types / sizeof *types };

static int too_long(const char *path, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_PARAMETER, "%s: path is too long", path);
}

/* -- writing ----------------------------------------------------------------------- */

static bool holds(const char *word)
{
    return !strpbrk(word, "\t\n\r");
}

static void put_header(tide_output *out, const tide_table *table)
{
    char text[4 * ALIGN];
    int length =
        snprintf(text, sizeof text,
                 "%s%c%c  {'descr': '%s', 'fortran_order': False, "
                 "'shape': (%u, %u), }",
                 magic, 1, 0, types[table->dtype].descr, table->count, table->dim);
    size_t whole = ((size_t)length + ALIGN) / ALIGN * ALIGN;
    memset(text + length, ' ', whole - (size_t)length);
    text[whole - 1] = '\n';
    text[MAGIC + 2] = (char)(whole - 10);
    text[MAGIC + 3] = (char)((whole - 10) >> 8);
    tide_output_put(out, text, whole);
}

static void put_word(tide_output *out, const tide_table *table, uint32_t i)
{
    char *line = tide_output_reserve(out, tide_text_row_bytes(table));
    char *to = stpcpy(line, table->words[i].word);
    to += sprintf(to, "\t%" PRIu64, table->words[i].count);
    if (table->dtype == TIDE_I8) {
        *to++ = '\t';
        to += tide_decimal_write(table->scale, to);
    }
    *to++ = '\n';
    tide_output_advance(out, (size_t)(to - line));
}

static int write_rows(tide_table *table, tide_output *numbers, tide_output *words,
                      tide_error *err)
{
    size_t bytes = table->dim * tide_dtype_size(table->dtype);
    put_header(numbers, table);
    for (uint32_t i = 0;
         i < table->count && !tide_output_failed(numbers) && !tide_output_failed(words);
         i++) {
        int status = tide_table_row(table, i, err);
        if (status)
            return status;
        tide_output_put(numbers, table->code, bytes);
        put_word(words, table, i);
    }
    return TIDE_OK;
}

static int write_npy(tide_table *table, const char *path, tide_error *err)
{
    char words_path[PATH_MAX];
    if (!tide_path_sibling(path, ".npy", ".words.tsv", words_path))
        return too_long(path, err);
    tide_output *numbers = tide_output_create(path, err);
    tide_output *words = numbers ? tide_output_create(words_path, err) : NULL;
    int status = TIDE_ERROR_IO;
    if (words)
        status = write_rows(table, numbers, words, err);
    if (status) {
        tide_output_discard(words);
        tide_output_discard(numbers);
        return status;
    }
    status = tide_output_commit(words, err);
    if (!status)
        return tide_output_commit(numbers, err);
    tide_output_discard(numbers);
    return status;
}

/* -- reading the header ------------------------------------------------------------ */

static bool detect(const char *start, size_t size)
{
    return size >= MAGIC && !memcmp(start, magic, MAGIC);
}

static int bad_header(const tide_rows *rows, const char *what, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: array header %s", rows->path, what);
}

/* The text after a key of the dictionary; NULL if the key is missing. */
static const char *find_value(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    if (*at++ != ':')
        return NULL;
    return at + strspn(at, " ");
}

static const char *read_length(const char *at, uint64_t *number)
{
    *number = 0;
    const char *first = at;
    for (; *at >= '0' && *at <= '9' && at - first < 18; at++)
        *number = 10 * *number + (uint64_t)(*at - '0');
    return at > first ? at + strspn(at, " ") : NULL;
}

/* "(N, D)" */
static bool read_shape(const char *at, uint64_t *count, uint64_t *dim)
{
    if (!at || *at != '(')
        return false;
    at = read_length(at + 1, count);
    if (!at || *at != ',')
        return false;
    at = read_length(at + 1 + strspn(at + 1, " "), dim);
    return at && (*at == ')' || (*at == ',' && at[1] == ')'));
}

static int read_dictionary(tide_rows *rows, const char *header, tide_dtype *dtype,
                           tide_error *err)
{
    const char *descr = find_value(header, "'descr'");
    const char *order = find_value(header, "'fortran_order'");
    uint64_t dim;
    if (!descr || !order)
        return bad_header(rows, "is corrupt", err);
    if (strncmp(order, "False", 5) != 0)
        return bad_header(rows, "has Fortran order; C order is needed", err);
    if (!read_shape(find_value(header, "'shape'"), &rows->count, &dim))
        return bad_header(rows, "has no shape of rows and columns", err);
    for (size_t i = 0; i < TYPES; i++)
        if (descr[0] == '\'' && !strncmp(descr + 1, types[i].descr, 3) &&
            descr[4] == '\'') {
            *dtype = types[i].dtype;
            return tide_rows_set_dim(rows, dim, err);
        }
    return bad_header(rows, "has an unsupported type; must be <f4, <f2, |i1 or <f8",
                      err);
}

/* Parses the header and leaves the cursor at the first number. */
static int read_header(tide_rows *rows, tide_dtype *dtype, tide_error *err)
{
    tide_cursor *c = &rows->cursor;
    ptrdiff_t size = tide_cursor_fill(c, HEADER_MAX, err);
    if (size < 0)
        return (int)size;
    const unsigned char *b = (const unsigned char *)c->bytes;
    if (size < MAGIC + 6 || !detect(c->bytes, (size_t)size))
        return bad_header(rows, "is cut off", err);
    size_t start = b[MAGIC] == 1 ? MAGIC + 4 : MAGIC + 6;
    size_t length = b[MAGIC + 2] | (size_t)b[MAGIC + 3] << 8;
    if (b[MAGIC] != 1)
        length |= (size_t)b[MAGIC + 4] << 16 | (size_t)b[MAGIC + 5] << 24;
    if (length == 0 || length > HEADER_MAX - start || start + length > (size_t)size)
        return bad_header(rows, "is cut off", err);
    c->bytes[start + length - 1] = '\0'; /* replaces a newline */
    c->at = start + length;
    return read_dictionary(rows, c->bytes + start, dtype, err);
}

/* -- reading rows ------------------------------------------------------------------ */

typedef struct npy {
    tide_cursor words;
    tide_dtype dtype;
    char words_path[PATH_MAX];
} npy;

static void close_npy(tide_rows *rows)
{
    npy *n = rows->state;
    tide_cursor_close(&n->words);
    free(n);
}

static int open_npy(tide_rows *rows, tide_error *err)
{
    int status = tide_rows_need_file(rows, err);
    if (status)
        return status;
    npy *n = rows->state = tide_alloc(1, sizeof *n);
    if (!n)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", rows->path);
    status = read_header(rows, &n->dtype, err);
    if (!status)
        status =
            tide_rows_check_count(rows, rows->dim * tide_dtype_size(n->dtype), err);
    if (status)
        return status;
    if (!tide_path_sibling(rows->path, ".npy", ".words.tsv", n->words_path))
        return too_long(rows->path, err);
    return tide_cursor_open(&n->words, n->words_path, TIDE_PART_CAPACITY, err);
}

static int count_mismatch(const tide_rows *rows, const char *fewer_or_more,
                          tide_error *err)
{
    const npy *n = rows->state;
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: %s words than the %llu rows of %s",
                     n->words_path, fewer_or_more, (unsigned long long)rows->count,
                     rows->path);
}

/* Parses a line "word TAB count TAB scale". */
static int parse_words_line(tide_rows *rows, char *line, size_t length, float *scale,
                            tide_error *err)
{
    const npy *n = rows->state;
    char *tab = memchr(line, '\t', length);
    size_t word = tab ? (size_t)(tab - line) : length;
    char *end = tab;
    if (tab)
        rows->word_count = strtoull(tab + 1, &end, 10);
    *scale = 1;
    if (n->dtype == TIDE_I8 &&
        (!end || *end != '\t' || !tide_decimal_read(end + 1, scale)))
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s:%llu: no scale after the count",
                         n->words_path, (unsigned long long)n->words.line);
    return tide_rows_set_word(rows, line, word);
}

static int next_npy(tide_rows *rows, tide_error *err)
{
    npy *n = rows->state;
    tide_cursor *c = &rows->cursor;
    char *line;
    size_t length, bytes = rows->dim * tide_dtype_size(n->dtype);
    int result = tide_cursor_line(&n->words, &line, &length, err);
    if (result < 0)
        return result;
    if (rows->rows_read == rows->count)
        return result ? count_mismatch(rows, "more", err) : TIDE_ROW_END;
    if (result == 0)
        return count_mismatch(rows, "fewer", err);
    ptrdiff_t size = tide_cursor_fill(c, bytes, err);
    if (size < 0)
        return (int)size;
    if ((size_t)size < bytes)
        return tide_fail(
            err, TIDE_ERROR_FORMAT, "%s: the file ends in row %llu of %llu", rows->path,
            (unsigned long long)rows->rows_read + 1, (unsigned long long)rows->count);
    float scale;
    result = parse_words_line(rows, line, length, &scale, err);
    tide_decode(n->dtype, (const unsigned char *)c->bytes + c->at, rows->dim, scale,
                rows->vector);
    c->at += bytes;
    return result;
}

const tide_format tide_format_npy = {
    .holds = holds,
    .write = write_npy,
    .detect = detect,
    .open = open_npy,
    .next = next_npy,
    .close = close_npy,
};
