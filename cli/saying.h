/* saying.h - what is said on standard error, line by line.
 *
 * Nobody has to listen. A line that cannot be written is lost, be it that the log is closed, its disk full or
 * its pipe full because nobody reads; what the command does goes on. */
#ifndef SAYING_H
#define SAYING_H

/* printf, or what is like it. */
typedef int print_function(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Adds to the line. A line feed at the end of what is added ends it, and it is written as a whole; no line is
 * longer than 4096 bytes. Returns what printf does. */
int say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes what there is of the line: one that is written over, or a question. */
void say_so_far(void);

#endif
