/* lines.c - the lines of files, a pipe or standard input. */
#include "lines.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    const line_taker *taker;
    bool begun; /* the present line has begun */
    bool over;  /* the taker wants no more */
} reading;

static void end_line(reading *r)
{
    r->over = !r->taker->end(r->taker->data);
    r->begun = false;
}

static void take_block(reading *r, const char *text, size_t size)
{
    while (size > 0 && !r->over) {
        const char *feed = memchr(text, '\n', size);
        size_t part = feed ? (size_t)(feed - text) + 1 : size;
        r->taker->add(r->taker->data, text, part);
        r->begun = true;
        if (feed)
            end_line(r);
        text += part;
        size -= part;
    }
}

static int read_source(reading *r, const char *name)
{
    enum { BLOCK = 64 * 1024 };
    char block[BLOCK];
    tide_error err;
    tide_source *source = tide_source_open(name, &err);
    if (!source)
        return report(&err);
    ptrdiff_t size;
    do {
        errno = 0;
        size = tide_source_read(source, block, sizeof block, &err);
        if (size > 0)
            take_block(r, block, (size_t)size);
    } while (!r->over && (size > 0 || (size < 0 && errno == EINTR)));
    if (r->begun && size == 0)
        end_line(r);
    tide_source_close(source);
    return size < 0 ? report(&err) : EXIT_SUCCESS;
}

int read_lines(char **names, int count, const line_taker *taker)
{
    reading r = {.taker = taker};
    int code = count ? EXIT_SUCCESS : read_source(&r, "-");
    for (int i = 0; i < count && code == EXIT_SUCCESS && !r.over; i++)
        code = read_source(&r, names[i]);
    return code;
}

void note_unknown_lines(uint64_t unknown, uint64_t lines)
{
    if (unknown)
        complain("%" PRIu64 " of %" PRIu64 " lines have no word that is known", unknown,
                 lines);
}
