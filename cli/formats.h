/* formats.h - what import, export and embed share: names of formats, and files that
 * must not be the same. */
#ifndef FORMATS_H
#define FORMATS_H

#include <wordtide.h>

typedef enum format_use {
    FORMAT_READ,
    FORMAT_WRITE,
} format_use;

/* Appends the formats that can be used so, as " name (help), name (help)". */
void list_formats(format_use use, char *text, size_t room);

/* Ends with a usage error of the command, and a suggestion, for a format that cannot be
 * used so. */
void check_format(const char *command, format_use use, const char *name);

/* Ends with a usage error when what is to be written is what is read; neither needs to
 * be there. */
void check_distinct(const char *command, const char *input, const char *output);

#endif
