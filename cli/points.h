/* points.h - the points of a picture: a TSV file beside what a command prints, complete or as it
 * was before. */
#ifndef POINTS_H
#define POINTS_H

#include <wordtide.h>

typedef struct points {
    const char *path;
    tide_output *output;
    FILE *file; /* NULL when there is to be none */
} points;

/* Begins the file with a line of column names; does nothing when the path is NULL. Returns an exit
 * code after a complaint; close in either case. */
int points_open(points *p, const char *path, const char *names);

/* A word and a tab. */
void points_word(points *p, const char *word);

/* Puts the file in its place if `code` is EXIT_SUCCESS, and throws it away otherwise. Returns the
 * code, or that of a failure to write. */
int points_close(points *p, int code);

#endif
