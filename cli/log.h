/* log.h - messages on standard error, line by line.
 *
 * Logging never stops the command. A line is dropped if it cannot be written, because
 * standard error is closed, its disk is full, or it is a pipe that is full because its
 * reader does not read. */
#ifndef LOG_H
#define LOG_H

/* printf, or a function that is called like it. */
typedef int printf_function(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Appends to the current line. A newline at the end of the text completes the line,
 * which is written as a whole; a line is cut at 4096 bytes. Returns what printf
 * returns. */
int log_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes the current line although it is not complete: a progress line that will be
 * overwritten, or a prompt. */
void log_flush(void);

#endif
