/* saying.c - what is said on standard error, line by line.
 *
 * Training must not stand still because nobody reads its log. A write to a full pipe or a stopped terminal
 * would wait for ever, so it is asked first whether there is room; a pipe that has room takes a whole
 * line at once (PIPE_BUF). That the write itself never waits is not asked of the kernel (O_NONBLOCK), since
 * that would be so for all who share the log.
 *
 * A reader may be busy for a moment and is given a second. One who does not come back within it costs that
 * second once: from then on lines are lost at once, until there is room again, when it is said how many.
 */
#include "saying.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000 };

static char line[4096]; /* PIPE_BUF */
static size_t length;
static bool nobody_listens;
static unsigned long lost;

/* Errors count as listening: the write meets them, and does not wait. */
static bool somebody_listens(void)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    nobody_listens = poll(&out, 1, nobody_listens ? 0 : PATIENCE_MS) <= 0;
    return !nobody_listens;
}

/* An interrupted write is not tried again: a terminal that is stuck would keep the command from ending. */
static void write_out(const char *text, size_t size)
{
    ssize_t written = 1;
    for (size_t done = 0; done < size && written > 0; done += (size_t)written)
        written = write(STDERR_FILENO, text + done, size - done);
}

static void tell_lost(void)
{
    char text[80];
    int size =
        snprintf(text, sizeof text,
                 "wordtide: nobody read the log, and %lu lines are lost\n", lost);
    lost = 0;
    write_out(text, (size_t)size);
}

void say_so_far(void)
{
    bool whole = length && line[length - 1] == '\n';
    bool listens = somebody_listens();
    if (listens && lost) {
        tell_lost();
        listens = somebody_listens();
    }
    if (listens)
        write_out(line, length);
    else
        lost += whole;
    length = 0;
}

/* A line that is too long loses its end, but not the line feed. */
int say(const char *format, ...)
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
        say_so_far();
    return size;
}
