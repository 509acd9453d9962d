/* table.h - a table on standard output: aligned for people, TSV, or a JSON object a row.
 *
 * People get the digits asked for, machines at least MACHINE_DIGITS. Control characters in a text
 * are '?' in a table, and escaped in JSON. What does not fit rows is written with json.h. */
#ifndef TABLE_H
#define TABLE_H

#include "options.h"

typedef enum table_style { TABLE_TEXT, TABLE_TSV, TABLE_JSON } table_style;

enum { MACHINE_DIGITS = 6 };

typedef struct table table;

/* `columns` ends with NULL and must live as long. NULL after a complaint. */
table *table_new(table_style style, const char *const *columns);

/* The cells of a row, from left to right. A number that is not one is "-", and null in JSON. */
void table_text(table *t, const char *text);
void table_count(table *t, uint64_t count);
void table_real(table *t, double value, int digits);

/* The row is complete. TSV and JSON are written at once, text when the table ends. */
void table_end_row(table *t);

/* Writes what is left, of text nothing without a row, and frees the table. NULL is fine. */
void table_end(table *t);

/* What --json and --tsv ask for; both is a usage error of `command`. */
table_style table_style_of(bool json, bool tsv, const char *command);

/* Two lines of a command's options, for the flags that table_style_of takes. */
#define TABLE_OPTIONS(json, tsv)                                                       \
    {"json", 0, OPTION_FLAG, &(json), NULL, "print JSON, an object a line"},           \
    {                                                                                  \
        "tsv", 0, OPTION_FLAG, &(tsv), NULL, "print columns separated by tabs"         \
    }

#endif
