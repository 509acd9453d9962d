/* log.c - messages on standard error, line by line.
 *
 * Training must not block because the reader of a log pipe is stuck, so poll(2) asks
 * whether there is space before every write. A pipe with space takes a whole line at
 * once, since no line is longer than PIPE_BUF. O_NONBLOCK would not do: it is a
 * property of the open file, which other processes may share.
 *
 * A reader may be busy for a moment, so the first write waits for up to a second. If
 * that passes without space, further lines are dropped at once until there is space
 * again; then the number of dropped lines is logged.
 */
#include "log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_WAIT_MS = 1000 };

static char line[4096]; /* PIPE_BUF */
static size_t length;
static bool blocked;          /* the last write found no space in time */
static unsigned long dropped; /* lines since then */

/* Whether a write will not block. An error condition counts as space: the write then
 * fails without waiting. */
static bool has_space(void)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    blocked = poll(&out, 1, blocked ? 0 : MAX_WAIT_MS) <= 0;
    return !blocked;
}

/* An interrupted write is not retried: on a terminal that is stuck, retrying would keep
 * a signal from ending the command. */
static void write_out(const char *text, size_t size)
{
    ssize_t written = 1;
    for (size_t done = 0; done < size && written > 0; done += (size_t)written)
        written = write(STDERR_FILENO, text + done, size - done);
}

static void write_dropped_count(void)
{
    char text[80];
    int size = snprintf(
        text, sizeof text,
        "wordtide: %lu log lines dropped because the log was not read\n", dropped);
    dropped = 0;
    write_out(text, (size_t)size);
}

void log_flush(void)
{
    bool complete = length && line[length - 1] == '\n';
    bool writable = has_space();
    if (writable && dropped) {
        write_dropped_count();
        writable = has_space();
    }
    if (writable)
        write_out(line, length);
    else
        dropped += complete;
    length = 0;
}

/* A line that is too long is cut, but keeps its newline. */
int log_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    if (size <= 0)
        return size;
    length += (size_t)size;
    if (length >= sizeof line) {
        length = sizeof line - 1;
        line[length - 1] = '\n';
    }
    if (line[length - 1] == '\n')
        log_flush();
    return size;
}
