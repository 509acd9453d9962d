/* table.h - a table on standard output: aligned text, TSV, or one JSON object per row.
 *
 * Aligned text shows the requested digits; TSV and JSON have at least MACHINE_DIGITS.
 * Control characters become '?' in text and TSV, and are escaped in JSON. */
#ifndef TABLE_H
#define TABLE_H

#include "options.h"

typedef enum table_style { TABLE_TEXT, TABLE_TSV, TABLE_JSON } table_style;

enum { MACHINE_DIGITS = 6 };

typedef struct table table;

/* `columns` ends with NULL and must live as long as the table. NULL after an error
 * message. */
table *table_new(table_style style, const char *const *columns);

/* Add the cells of a row from left to right. A number that is not finite is "-", or
 * null in JSON. */
void table_text(table *t, const char *text);
void table_count(table *t, uint64_t count);
void table_real(table *t, double value, int digits);

/* Ends a row. TSV and JSON are written at once, aligned text when the table ends. */
void table_end_row(table *t);

/* Writes aligned text, unless it has no rows, and frees the table. NULL is fine. */
void table_end(table *t);

/* The style that --json and --tsv select; both together are a usage error of
 * `command`. */
table_style table_style_of(bool json, bool tsv, const char *command);

/* Two options for the flags of table_style_of. */
#define TABLE_OPTIONS(json, tsv)                                                       \
    {"json", 0, OPTION_FLAG, &(json), NULL, "print JSON, one object per line"},        \
    {                                                                                  \
        "tsv", 0, OPTION_FLAG, &(tsv), NULL, "print tab-separated columns"             \
    }

#endif
