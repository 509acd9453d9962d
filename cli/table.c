/* table.c - a table on standard output: aligned text, TSV, or one JSON object per row.
 *
 * The widest cell determines the width of an aligned column, so cells are collected in
 * a memory stream, each terminated by 0. A first pass measures them, and a second
 * prints them. Columns of numbers are aligned to the right. */
#include "table.h"
#include "output.h"

#include "base/base.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 32, NUMBER_SIZE = 400 };

struct table {
    table_style style;
    const char *const *columns;
    size_t count;
    size_t at;                 /* column of the next cell */
    bool numbers[COLUMNS_MAX]; /* columns to align to the right */
    tide_json_writer row;      /* TABLE_JSON only */
    FILE *cells;               /* TABLE_TEXT only */
    size_t rows;               /* in `cells`, including the header */
    char *bytes;               /* of `cells`, when it is closed */
    size_t size;
};

table_style table_style_of(bool json, bool tsv, const char *command)
{
    if (json && tsv)
        usage_error(command, "--json and --tsv cannot be combined");
    return json ? TABLE_JSON : tsv ? TABLE_TSV : TABLE_TEXT;
}

static void write_cell(table *t, const char *text)
{
    if (t->style == TABLE_TSV && t->at)
        putchar('\t');
    write_clean(t->style == TABLE_TSV ? stdout : t->cells, text);
    if (t->style == TABLE_TEXT)
        fputc(0, t->cells);
    t->at++;
}

table *table_new(table_style style, const char *const *columns)
{
    table *t = calloc(1, sizeof *t);
    if (t && style == TABLE_TEXT && !(t->cells = open_memstream(&t->bytes, &t->size))) {
        free(t);
        t = NULL;
    }
    if (!t) {
        log_message("out of memory");
        return NULL;
    }
    t->style = style;
    t->columns = columns;
    while (columns[t->count])
        t->count++;
    assert(t->count > 0 && t->count <= COLUMNS_MAX);
    for (size_t i = 0; i < t->count && style != TABLE_JSON; i++)
        write_cell(t, columns[i]);
    if (style != TABLE_JSON)
        table_end_row(t);
    return t;
}

/* The JSON name of the next cell. The first cell of a row opens its object. */
static const char *next_name(table *t)
{
    if (t->at == 0)
        tide_json_object(&t->row, NULL);
    return t->columns[t->at++];
}

void table_text(table *t, const char *text)
{
    assert(t->at < t->count);
    if (t->style == TABLE_JSON) {
        tide_json_text(&t->row, next_name(t), text);
        return;
    }
    write_cell(t, text);
}

static void write_number(table *t, const char *text)
{
    t->numbers[t->at] = true;
    write_cell(t, text);
}

void table_count(table *t, uint64_t count)
{
    assert(t->at < t->count);
    char text[NUMBER_SIZE];
    snprintf(text, sizeof text, "%" PRIu64, count);
    if (t->style == TABLE_JSON)
        tide_json_count(&t->row, next_name(t), count);
    else
        write_number(t, text);
}

void table_real(table *t, double value, int digits)
{
    assert(t->at < t->count);
    /* People get few digits, programs as many as matter. */
    if (t->style != TABLE_TEXT && digits < MACHINE_DIGITS)
        digits = MACHINE_DIGITS;
    char text[NUMBER_SIZE] = "-";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.*f", digits, value);
    if (t->style == TABLE_JSON)
        tide_json_real(&t->row, next_name(t), value, digits);
    else
        write_number(t, text);
}

void table_end_row(table *t)
{
    assert(t->at == t->count);
    if (t->style == TABLE_TSV)
        putchar('\n');
    else if (t->style == TABLE_JSON)
        tide_json_end(&t->row);
    else
        t->rows++;
    t->at = 0;
}

/* The number of characters, counting UTF-8 sequences as one. */
static int text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += !tide_utf8_inside((unsigned char)*text);
    return width;
}

static void print_cell(const table *t, size_t column, const char *text, int width)
{
    /* Padded by hand, since printf counts bytes. */
    int padding = width - text_width(text);
    bool last = column + 1 == t->count;
    printf("%s%*s%s", column ? "  " : "", t->numbers[column] ? padding : 0, "", text);
    if (last)
        putchar('\n');
    else
        printf("%*s", t->numbers[column] ? 0 : padding, "");
}

static void print_aligned(const table *t)
{
    int widths[COLUMNS_MAX] = {0};
    for (int pass = 0; pass < 2; pass++) {
        const char *cell = t->bytes, *end = t->bytes + t->size;
        for (size_t i = 0; cell < end; i = (i + 1) % t->count) {
            if (pass)
                print_cell(t, i, cell, widths[i]);
            else if (text_width(cell) > widths[i])
                widths[i] = text_width(cell);
            cell += strlen(cell) + 1;
        }
    }
}

/* Whether no cell is missing. fclose on a memory stream may fail to allocate and then
 * leaves `bytes` NULL. */
static bool close_cells(const table *t)
{
    bool complete = !ferror(t->cells);
    return fclose(t->cells) == 0 && complete && t->bytes;
}

void table_end(table *t)
{
    if (!t)
        return;
    assert(t->at == 0);
    /* A cell that could not be stored would shift all that follow, so nothing is
     * printed then. */
    if (t->cells && !close_cells(t))
        output_set_error(ENOMEM);
    else if (t->rows > 1)
        print_aligned(t);
    free(t->bytes);
    free(t);
}
