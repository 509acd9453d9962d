/* format_glove.c - text format of GloVe: lines of a word and its vector, without a
 * header.
 *
 * Words that Python's str.split() would split are not written, because that is how such
 * files are usually read.
 */
#include "format/format.h"

/* What str.split() treats as space beyond ASCII, as ranges of UTF-8 strings. Strings of
 * equal length compare like their code points. */
static const char *const unicode_spaces[][2] = {
    {"\xc2\x85", "\xc2\x85"},         /* U+0085 */
    {"\xc2\xa0", "\xc2\xa0"},         /* U+00A0 */
    {"\xe1\x9a\x80", "\xe1\x9a\x80"}, /* U+1680 */
    {"\xe2\x80\x80", "\xe2\x80\x8a"}, /* U+2000 to U+200A */
    {"\xe2\x80\xa8", "\xe2\x80\xa9"}, /* U+2028, U+2029 */
    {"\xe2\x80\xaf", "\xe2\x80\xaf"}, /* U+202F */
    {"\xe2\x81\x9f", "\xe2\x81\x9f"}, /* U+205F */
    {"\xe3\x80\x80", "\xe3\x80\x80"}, /* U+3000 */
};

static bool is_unicode_space(const char *position)
{
    for (size_t i = 0; i < sizeof unicode_spaces / sizeof *unicode_spaces; i++) {
        size_t length = strlen(unicode_spaces[i][0]);
        if (strncmp(position, unicode_spaces[i][0], length) >= 0 &&
            strncmp(position, unicode_spaces[i][1], length) <= 0)
            return true;
    }
    return false;
}

static bool holds(const char *word)
{
    for (const char *position = word; *position; position++)
        if (strchr(" \t\n\v\f\r\x1c\x1d\x1e\x1f", *position) ||
            is_unicode_space(position))
            return false;
    return true;
}

static char *put_row(char *to, const tide_table *table, uint32_t i)
{
    to = tide_put_numbers(stpcpy(to, table->words[i].word), table, ' ');
    *to++ = '\n';
    return to;
}

static int write_text(tide_table *table, const char *path, tide_error *err)
{
    return tide_write_rows(table, path, "", put_row, err);
}

static bool detect(const char *start, size_t size)
{
    const char *end = memchr(start, '\n', size);
    const char *blank = strpbrk(start, " \t");
    size_t line = end ? (size_t)(end - start) : size;
    return blank && blank < start + line && !memchr(start, '\0', size) &&
           !tide_text_is_binary(blank, (size_t)(start + line - blank));
}

/* The first row determines the dimension: all columns except those of the word, which
 * may contain spaces. */
static int open_text(tide_rows *rows, tide_error *err)
{
    tide_cursor *c = &rows->cursor;
    size_t first = c->at;
    char *line;
    size_t length;
    int result = tide_cursor_line(c, &line, &length, err);
    if (result < 0)
        return result;
    if (result == 0)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s: the file is empty", rows->path);
    char ending = length && line[length - 1] == '\r' ? '\r' : '\0';
    if (ending)
        line[length - 1] = '\0';
    tide_columns columns = tide_text_columns(line);
    if (columns.numbers == 0)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s:1: not a model or a file of vectors: expected a word and "
                         "its numbers",
                         rows->path);
    if (ending)
        line[length - 1] = ending;
    line[length] = '\n'; /* rewind */
    c->at = first;
    c->line = 0;
    return tide_rows_set_dim(rows, columns.numbers, err);
}

const tide_format tide_format_glove = {
    .holds = holds,
    .write = write_text,
    .detect = detect,
    .open = open_text,
    .next = tide_text_next,
};
