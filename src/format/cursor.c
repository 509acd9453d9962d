/* cursor.c - buffered sequential reading of a file.
 *
 * The buffer holds the longest possible row, a line of TIDE_DIM_MAX numbers, and the
 * byte after its content is a 0, so a row can be parsed in place.
 *
 * Standard input, pipes and compressed files are read through a source, like training
 * text.
 */
#include "format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_read(const char *path, int reason, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path, strerror(reason));
}

static int make_buffer(tide_cursor *c, size_t capacity, tide_error *err)
{
    c->capacity = capacity;
    c->bytes = tide_alloc(capacity + 1, 1);
    if (c->bytes)
        return TIDE_OK;
    tide_cursor_close(c);
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to read %s", c->path);
}

/* Whether the file starts with the magic number of gzip, zstd or xz. */
static bool is_compressed(int file)
{
    static const char *const magics[] = {"\x1f\x8b", "(\xb5/\xfd", "\3757zXZ"};
    char start[8];
    ssize_t size = pread(file, start, sizeof start, 0);
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        size_t length = strlen(magics[i]);
        if (size >= (ssize_t)length && !memcmp(start, magics[i], length))
            return true;
    }
    return false;
}

static int open_file(tide_cursor *c, tide_error *err)
{
    c->file = open(c->path, O_RDONLY | O_CLOEXEC);
    if (c->file < 0)
        return cannot_read(c->path, errno, err);
    c->owns_file = true;
    struct stat status;
    if (fstat(c->file, &status) == 0 && S_ISDIR(status.st_mode))
        return cannot_read(c->path, EISDIR, err);
    return TIDE_OK;
}

int tide_cursor_open(tide_cursor *c, const char *path, size_t capacity, tide_error *err)
{
    *c = (tide_cursor){.path = path, .end = UINT64_MAX};
    bool is_stdin = !strcmp(path, "-");
    int status = is_stdin ? TIDE_OK : open_file(c, err);
    if (!status &&
        (is_stdin || lseek(c->file, 0, SEEK_CUR) < 0 || is_compressed(c->file))) {
        c->stream = tide_source_open(path, err); /* leaves a pipe's writer connected */
        status = c->stream ? TIDE_OK : TIDE_ERROR_IO;
    }
    if (!status)
        return make_buffer(c, capacity, err);
    tide_cursor_close(c);
    return status;
}

uint64_t tide_cursor_length(const tide_cursor *c)
{
    struct stat status;
    bool known = !c->stream && !fstat(c->file, &status) && S_ISREG(status.st_mode);
    return known ? (uint64_t)status.st_size : UINT64_MAX;
}

int tide_cursor_part(tide_cursor *c, const tide_cursor *whole, uint64_t begin,
                     uint64_t end, tide_error *err)
{
    *c = (tide_cursor){
        .path = whole->path, .file = whole->file, .next = begin, .end = end};
    return make_buffer(c, TIDE_PART_CAPACITY, err);
}

void tide_cursor_close(tide_cursor *c)
{
    if (c->owns_file)
        close(c->file);
    tide_source_close(c->stream);
    free(c->bytes);
    c->owns_file = false;
    c->stream = NULL;
    c->bytes = NULL;
}

/* Reads once, as much as fits the buffer. */
static int read_more(tide_cursor *c, tide_error *err)
{
    uint64_t remaining = c->end - c->next;
    size_t capacity = c->capacity - c->size;
    if (capacity > remaining)
        capacity = (size_t)remaining;
    char *target = c->bytes + c->size;
    ptrdiff_t got = 0;
    if (capacity > 0)
        do {
            errno = 0;
            got = c->stream ? tide_source_read(c->stream, target, capacity, err)
                            : pread(c->file, target, capacity, (off_t)c->next);
        } while (got < 0 && errno == EINTR);
    if (got < 0)
        return c->stream ? (int)got : cannot_read(c->path, errno, err);
    c->size += (size_t)got;
    c->next += (uint64_t)got;
    c->bytes[c->size] = '\0';
    c->at_end = got == 0;
    return TIDE_OK;
}

ptrdiff_t tide_cursor_fill(tide_cursor *c, size_t want, tide_error *err)
{
    if (c->at > 0 && c->size - c->at < want) {
        memmove(c->bytes, c->bytes + c->at, c->size - c->at);
        c->size -= c->at;
        c->at = 0;
        c->bytes[c->size] = '\0';
    }
    while (c->size - c->at < want && !c->at_end) {
        int status = read_more(c, err);
        if (status)
            return status;
    }
    return (ptrdiff_t)(c->size - c->at);
}

int tide_cursor_line(tide_cursor *c, char **line, size_t *length, tide_error *err)
{
    char *end = NULL;
    size_t searched = 0;
    for (;;) {
        size_t present = c->size - c->at;
        end = memchr(c->bytes + c->at + searched, '\n', present - searched);
        if (end || c->at_end)
            break;
        if (present == c->capacity)
            return tide_fail(err, TIDE_ERROR_FORMAT,
                             "%s:%llu: line longer than %zu bytes", c->path,
                             (unsigned long long)c->line + 1, c->capacity);
        searched = present;
        ptrdiff_t filled = tide_cursor_fill(c, present + 1, err);
        if (filled < 0)
            return (int)filled;
    }
    if (!end && c->at == c->size)
        return 0;
    *line = c->bytes + c->at;
    *length = end ? (size_t)(end - *line) : c->size - c->at;
    (*line)[*length] = '\0';
    c->at += *length + (end != NULL);
    c->line++;
    return 1;
}
