/* formats.h - names of formats, and a check that input and output differ. */
#ifndef FORMATS_H
#define FORMATS_H

#include <wordtide.h>

typedef enum format_use {
    FORMAT_READ,
    FORMAT_WRITE,
} format_use;

/* Appends the formats for this use as " name (help), name (help)". */
void list_formats(format_use use, char *text, size_t size);

/* A format that cannot be used so is a usage error with a suggestion. */
void check_format(const char *command, format_use use, const char *name);

/* An output that is the same file as the input is a usage error. Neither needs to
 * exist. */
void check_distinct(const char *command, const char *input, const char *output);

#endif
