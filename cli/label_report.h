/* label_report.h - the quality of predicted labels, as rows of a table or as JSON. */
#ifndef LABEL_REPORT_H
#define LABEL_REPORT_H

#include "table.h"

#include <wordtide/labels.h>

typedef struct label_report {
    table_style style;
    table *table; /* NULL for periods in JSON */
} label_report;

/* Starts a report with a row per period, or with `per_label` a row per label. Returns
 * false after an error message. */
bool label_report_open(label_report *report, table_style style, bool per_label);

/* Prints what is left of the table. A zero-initialized report is fine. */
void label_report_close(label_report *report);

/* Prints a row or an object for a period. */
void label_report_print(const label_report *report, const char *period,
                        const tide_scorer *scorer);

/* Prints a row for every label. Returns the exit code. */
int label_report_print_labels(const label_report *report, const tide_scorer *scorer);

#endif
