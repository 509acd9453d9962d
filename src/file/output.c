/* output.c - a file that is written sequentially and then replaces the old one.
 *
 * The bytes go through a buffer into a temporary file beside the path (replace.c), so
 * that the path holds either the old file or the complete new one. A file that is
 * already open, such as standard output, cannot be replaced and is written directly.
 */
#include "file/file.h"
#include "file/store_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct tide_output {
    tide_replacement replacement;
    int open_file;   /* the caller's file instead of a replacement; otherwise -1 */
    int write_errno; /* of the first write that failed; 0 if none did */
    size_t used;
    char temporary[2 * PATH_MAX];
    char buffer[TIDE_OUTPUT_BUFFER];
};

/* The temporary file is in the directory of the target, after following links. */
static void name_temporary(tide_output *out, const char *path)
{
    char target[PATH_MAX];
    const char *at = realpath(path, target) ? target : path;
    const char *slash = strrchr(at, '/');
    snprintf(out->temporary, sizeof out->temporary, "%.*s%s",
             slash ? (int)(slash - at) + 1 : 0, at, out->replacement.temporary);
}

static tide_output *output_alloc(int open_file, const char *path, tide_error *err)
{
    tide_output *out = tide_alloc(1, sizeof *out);
    if (out)
        out->open_file = open_file;
    else
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to write %s", path);
    return out;
}

tide_output *tide_output_open(int file, tide_error *err)
{
    return output_alloc(file, "an open file", err);
}

tide_output *tide_output_create(const char *path, tide_error *err)
{
    if (!strcmp(path, "-"))
        return tide_output_open(STDOUT_FILENO, err);
    if (tide_path_not_model(path, err))
        return NULL;
    tide_output *out = output_alloc(-1, path, err);
    if (!out)
        return NULL;
    if (tide_replacement_open(&out->replacement, path, err)) {
        free(out);
        return NULL;
    }
    name_temporary(out, path);
    return out;
}

static void write_all(tide_output *out, const char *bytes, size_t size)
{
    int file = out->open_file < 0 ? out->replacement.file : out->open_file;
    while (size > 0 && !out->write_errno) {
        ssize_t written = write(file, bytes, size);
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            out->write_errno = written < 0 ? errno : ENOSPC; /* like tide_file_write */
        }
    }
}

static void flush(tide_output *out)
{
    write_all(out, out->buffer, out->used);
    out->used = 0;
}

char *tide_output_reserve(tide_output *out, size_t size)
{
    if (size > sizeof out->buffer - out->used)
        flush(out);
    return out->buffer + out->used;
}

void tide_output_advance(tide_output *out, size_t size)
{
    out->used += size;
}

void tide_output_put(tide_output *out, const void *bytes, size_t size)
{
    if (size > sizeof out->buffer) {
        flush(out);
        write_all(out, bytes, size);
        return;
    }
    memcpy(tide_output_reserve(out, size), bytes, size);
    tide_output_advance(out, size);
}

bool tide_output_failed(const tide_output *out)
{
    return out->write_errno != 0;
}

const char *tide_output_temporary(const tide_output *out)
{
    return out->temporary;
}

static const char *destination(const tide_output *out)
{
    return out->open_file == STDOUT_FILENO ? "to standard output"
           : out->open_file < 0            ? out->replacement.path
                                           : "to an open file";
}

int tide_output_commit(tide_output *out, tide_error *err)
{
    bool replaces = out->open_file < 0;
    flush(out);
    int status = TIDE_OK;
    if (out->write_errno) {
        errno = out->write_errno;
        status = tide_fail(err, TIDE_ERROR_IO, "cannot write %s: %s", destination(out),
                           strerror(out->write_errno));
    }
    if (replaces && !status)
        status = tide_replacement_sync(&out->replacement, err);
    if (!replaces || status) {
        tide_output_discard(out);
        return status;
    }
    status = tide_replacement_commit(&out->replacement, 0, err);
    free(out);
    return status;
}

void tide_output_discard(tide_output *out)
{
    if (!out)
        return;
    int saved_errno = errno; /* of the failure that led here */
    if (out->open_file < 0)
        tide_replacement_discard(&out->replacement);
    free(out);
    errno = saved_errno;
}
