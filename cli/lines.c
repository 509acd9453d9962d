/* lines.c - reads the lines of files, a pipe or standard input. */
#include "lines.h"
#include "output.h"

#include <wordtide/tools.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct line_state {
    const line_reader *reader;
    bool begun;   /* a part of the current line has been added */
    bool stopped; /* the reader wants no more lines */
} line_state;

static void end_line(line_state *r)
{
    r->stopped = !r->reader->end(r->reader->data);
    r->begun = false;
}

static void split_block(line_state *r, const char *text, size_t size)
{
    while (size > 0 && !r->stopped) {
        const char *newline = memchr(text, '\n', size);
        size_t part = newline ? (size_t)(newline - text) + 1 : size;
        r->reader->add(r->reader->data, text, part);
        r->begun = true;
        if (newline)
            end_line(r);
        text += part;
        size -= part;
    }
}

static int read_source(line_state *r, const char *name)
{
    enum { BLOCK = 64 * 1024 };
    char block[BLOCK];
    tide_error err;
    tide_source *source = tide_source_open(name, &err);
    if (!source)
        return log_error(&err);
    ptrdiff_t size;
    do {
        errno = 0;
        size = tide_source_read(source, block, sizeof block, &err);
        if (size > 0)
            split_block(r, block, (size_t)size);
    } while (!r->stopped && (size > 0 || (size < 0 && errno == EINTR)));
    /* The last line may have no line feed. After an error it is incomplete. */
    if (r->begun && size == 0)
        end_line(r);
    tide_source_close(source);
    return size < 0 ? log_error(&err) : EXIT_SUCCESS;
}

int read_lines(char **names, int count, const line_reader *reader)
{
    line_state r = {.reader = reader};
    int code = count ? EXIT_SUCCESS : read_source(&r, "-");
    for (int i = 0; i < count && code == EXIT_SUCCESS && !r.stopped; i++)
        code = read_source(&r, names[i]);
    return code;
}

void log_unknown_lines(uint64_t unknown, uint64_t lines)
{
    if (unknown)
        log_message("%" PRIu64 " of %" PRIu64 " lines have no known word", unknown,
                    lines);
}
