/* help.h - the help of a command, in 80 columns. */
#ifndef HELP_H
#define HELP_H

#include "options.h"

/* Prints text wrapped at 80 columns. `column` is the cursor's present column; further
 * lines start at column `indent`. */
void print_wrapped(const char *text, int column, int indent);

/* Prints the help of a command to standard output: the common options, or with `all`
 * every option and every training parameter. */
void print_help(const command_usage *usage, bool all);

#endif
