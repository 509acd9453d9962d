/* lines.h - reads the lines of files, a pipe or standard input, for commands that
 * answer each of them. */
#ifndef LINES_H
#define LINES_H

#include <wordtide.h>

typedef struct line_reader {
    /* Called for every part of a line. The last part includes the newline, if any. */
    void (*add)(void *data, const char *text, size_t size);
    /* Called at the end of a line. Returns false to stop reading. */
    bool (*end)(void *data);
    void *data;
} line_reader;

/* Reads the sources, or standard input if there are none. Returns the exit code, after
 * an error message if a source cannot be read. */
int read_lines(char **names, int count, const line_reader *reader);

/* Logs how many lines have no known word, if there are any. */
void log_unknown_lines(uint64_t unknown, uint64_t lines);

#endif
