/* plot_data.h - a TSV file of data points for plots, written beside a command's normal
 * output. The file is replaced as a whole or not at all. */
#ifndef PLOT_DATA_H
#define PLOT_DATA_H

#include <wordtide.h>
#include <wordtide/tools.h>

typedef struct plot_data {
    const char *path;
    tide_output *output;
    FILE *file; /* NULL if no data are wanted */
} plot_data;

/* Creates the file with a header line of column names; does nothing if the path is
 * NULL. Returns an exit code, after an error message if it is not EXIT_SUCCESS. Call
 * plot_data_close in either case. */
int plot_data_open(plot_data *p, const char *path, const char *names);

/* Writes a word and a tab. */
void plot_data_word(plot_data *p, const char *word);

/* Commits the file if `code` is EXIT_SUCCESS, and discards it otherwise. Returns
 * `code`, or the exit code of a failed write. */
int plot_data_close(plot_data *p, int code);

#endif
