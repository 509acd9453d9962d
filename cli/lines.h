/* lines.h - the lines of files, a pipe or standard input, for the commands that answer each of them. */
#ifndef LINES_H
#define LINES_H

#include <wordtide.h>

typedef struct line_taker {
    /* A part of a line; the last has its line feed, if there is one. */
    void (*add)(void *data, const char *text, size_t size);
    /* The line is complete. False: no more of them. */
    bool (*end)(void *data);
    void *data;
} line_taker;

/* Reads the sources, or standard input when there are none. Returns the exit code, after a complaint if
 * one cannot be read. */
int read_lines(char **names, int count, const line_taker *taker);

/* Complains that so many lines have no word that is known, if there are any. */
void note_unknown_lines(uint64_t unknown, uint64_t lines);

#endif
