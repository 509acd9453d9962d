/* help.h - the help of a command, in 80 columns. */
#ifndef HELP_H
#define HELP_H

#include "options.h"

/* Prints text, wrapped at 80 columns; `column` is where the cursor stands. */
void print_wrapped(const char *text, int column, int indent);

/* Everything `wordtide COMMAND --help` says, on standard output. */
void print_help(const command_usage *usage);

#endif
