/* verdicts.h - how good what was told is, on standard output: as rows of a table or as JSON. */
#ifndef VERDICTS_H
#define VERDICTS_H

#include "table.h"

typedef struct verdicts {
    table_style style;
    table *table; /* NULL for verdicts in JSON */
} verdicts;

/* For the verdicts about periods, or about labels. False after a complaint. */
bool verdicts_open(verdicts *all, table_style style, bool per_label);
void verdicts_close(verdicts *all); /* also one that is all 0 */

/* A row or an object about a period. */
void verdicts_print(const verdicts *all, const char *period, const tide_scorer *judge);

/* A row for every label. Returns the exit code. */
int verdicts_print_labels(const verdicts *all, const tide_scorer *judge);

#endif
