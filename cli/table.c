/* table.c - a table on standard output: aligned for people, TSV, or a JSON object a row.
 *
 * An aligned table is as wide as its widest cells, so these are collected, a 0 after each,
 * in a stream in memory: measured in a first turn and printed in a second. Columns of
 * numbers stand to the right. */
#include "table.h"
#include "json.h"
#include "output.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 32, NUMBER_ROOM = 400 };

struct table {
    table_style style;
    const char *const *columns;
    size_t count;
    size_t at;                 /* the column of the next cell */
    bool numbers[COLUMNS_MAX]; /* columns that stand to the right */
    json_writer row;           /* TABLE_JSON */
    FILE *cells;               /* TABLE_TEXT */
    size_t rows;               /* in them, the names of the columns included */
    char *bytes;               /* of the cells */
    size_t size;
};

table_style table_style_of(bool json, bool tsv, const char *command)
{
    if (json && tsv)
        usage_error(command, "--json and --tsv exclude each other");
    return json ? TABLE_JSON : tsv ? TABLE_TSV : TABLE_TEXT;
}

static void put_cell(table *t, const char *text)
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
        complain("out of memory");
        return NULL;
    }
    t->style = style;
    t->columns = columns;
    while (columns[t->count])
        t->count++;
    assert(t->count > 0 && t->count <= COLUMNS_MAX);
    for (size_t i = 0; i < t->count && style != TABLE_JSON; i++)
        put_cell(t, columns[i]);
    if (style != TABLE_JSON)
        table_end_row(t);
    return t;
}

/* In JSON, the name of the cell that follows; its object begins with the first. */
static const char *next_name(table *t)
{
    if (t->at == 0)
        out_object(&t->row, NULL);
    return t->columns[t->at++];
}

void table_text(table *t, const char *text)
{
    assert(t->at < t->count);
    if (t->style == TABLE_JSON) {
        out_text(&t->row, next_name(t), text);
        return;
    }
    put_cell(t, text);
}

static void put_number(table *t, const char *text)
{
    t->numbers[t->at] = true;
    put_cell(t, text);
}

void table_count(table *t, uint64_t count)
{
    assert(t->at < t->count);
    char text[NUMBER_ROOM];
    snprintf(text, sizeof text, "%" PRIu64, count);
    if (t->style == TABLE_JSON)
        out_count(&t->row, next_name(t), count);
    else
        put_number(t, text);
}

void table_real(table *t, double value, int digits)
{
    assert(t->at < t->count);
    if (t->style != TABLE_TEXT && digits < MACHINE_DIGITS)
        digits = MACHINE_DIGITS;
    char text[NUMBER_ROOM] = "-";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.*f", digits, value);
    if (t->style == TABLE_JSON)
        out_real(&t->row, next_name(t), value, digits);
    else
        put_number(t, text);
}

void table_end_row(table *t)
{
    assert(t->at == t->count);
    if (t->style == TABLE_TSV)
        putchar('\n');
    else if (t->style == TABLE_JSON)
        out_end(&t->row);
    else
        t->rows++;
    t->at = 0;
}

/* Characters, not bytes. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

static void print_cell(const table *t, size_t column, const char *text, int width)
{
    int blanks = width - width_of(text);
    bool last = column + 1 == t->count;
    printf("%s%*s%s", column ? "  " : "", t->numbers[column] ? blanks : 0, "", text);
    if (last)
        putchar('\n');
    else
        printf("%*s", t->numbers[column] ? 0 : blanks, "");
}

static void print_aligned(const table *t)
{
    int widths[COLUMNS_MAX] = {0};
    for (int turn = 0; turn < 2; turn++) {
        const char *cell = t->bytes, *end = t->bytes + t->size;
        for (size_t i = 0; cell < end; i = (i + 1) % t->count) {
            if (turn)
                print_cell(t, i, cell, widths[i]);
            else if (width_of(cell) > widths[i])
                widths[i] = width_of(cell);
            cell += strlen(cell) + 1;
        }
    }
}

/* Whether all cells are there. Closing such a stream may take memory, and loses all without saying so. */
static bool close_cells(const table *t)
{
    bool kept = !ferror(t->cells);
    return fclose(t->cells) == 0 && kept && t->bytes;
}

void table_end(table *t)
{
    if (!t)
        return;
    assert(t->at == 0);
    if (t->cells && !close_cells(t))
        output_fails(ENOMEM);
    else if (t->rows > 1)
        print_aligned(t);
    free(t->bytes);
    free(t);
}
