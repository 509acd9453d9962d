/* source_file.c - files, named pipes and standard input.
 *
 * A regular file can be read from any offset. Standard input is never resumed, even if
 * it is a file: the next run may have another file redirected to it, which is then to
 * be read from its start.
 *
 * A read of a regular file never blocks for long. Anything else is polled before a
 * read, so that the read respects the timeout.
 */
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_MAX = 1 << 30 };

typedef struct file {
    int descriptor;
    bool regular;
    bool ours; /* opened here: has to be closed, and can be resumed */
    char name[];
} file;

/* Preserves errno, which tells the caller whether a signal was the cause. */
static int fail(const char *name, tide_error *err)
{
    int cause = errno;
    tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", name, strerror(cause));
    errno = cause;
    return TIDE_ERROR_IO;
}

static int too_short(const file *f, uint64_t offset, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s is shorter than %llu bytes", f->name,
                     (unsigned long long)offset);
}

static bool is_stdin(const char *spec, const tide_source_options *options)
{
    (void)options;
    return strcmp(spec, "-") == 0;
}

static bool is_path(const char *spec, const tide_source_options *options)
{
    (void)spec;
    (void)options;
    return true;
}

static void file_close(void *state)
{
    file *f = state;
    if (f->ours)
        close(f->descriptor);
    free(f);
}

static file *new_file(const char *name, int descriptor, bool ours, tide_error *err)
{
    file *f = tide_alloc(1, sizeof *f + strlen(name) + 1);
    if (!f) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", name);
        if (ours)
            close(descriptor);
        return NULL;
    }
    f->descriptor = descriptor;
    f->ours = ours;
    memcpy(f->name, name, strlen(name) + 1);
    return f;
}

/* Refuses a directory when it is opened, not in the middle of a run. Frees the file on
 * failure. */
static void *check_type(file *f, tide_error *err)
{
    struct stat status;
    if (fstat(f->descriptor, &status) != 0)
        goto failed;
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        goto failed;
    }
    f->regular = S_ISREG(status.st_mode);
    if (f->regular)
        posix_fadvise(f->descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    return f;

failed:
    fail(f->name, err);
    file_close(f);
    return NULL;
}

static void *open_stdin(const char *spec, const tide_source_options *options,
                        tide_error *err)
{
    (void)spec;
    (void)options;
    file *f = new_file("standard input", STDIN_FILENO, false, err);
    return f ? check_type(f, err) : NULL;
}

/* Opening a named pipe waits for its writer. */
static void *open_path(const char *spec, const tide_source_options *options,
                       tide_error *err)
{
    (void)options;
    if (spec[0] == '\0') {
        tide_fail(err, TIDE_ERROR_PARAMETER, "the name of a source is empty");
        return NULL;
    }
    int descriptor = open(spec, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) {
        fail(spec, err);
        return NULL;
    }
    file *f = new_file(spec, descriptor, true, err);
    return f ? check_type(f, err) : NULL;
}

int tide_file_descriptor(const void *state)
{
    return ((const file *)state)->descriptor;
}

const char *tide_file_name(const void *state)
{
    return ((const file *)state)->name;
}

/* Positive if there are bytes, the end or an error to be read; otherwise like
 * poll(2). */
static int wait_for(const file *f, int wait_ms)
{
    struct pollfd waiting = {.fd = f->descriptor, .events = POLLIN};
    return f->regular ? 1 : poll(&waiting, 1, wait_ms);
}

/* Nothing is available after a signal, or if another process has made the pipe
 * non-blocking or consumed its bytes; errno says which. */
static ptrdiff_t file_read(void *state, void *bytes, size_t capacity, int wait_ms,
                           tide_error *err)
{
    file *f = state;
    ssize_t count = wait_for(f, wait_ms);
    if (count == 0)
        return TIDE_SOURCE_LATER;
    if (count > 0)
        count = read(f->descriptor, bytes, capacity < READ_MAX ? capacity : READ_MAX);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return TIDE_SOURCE_LATER;
    return count < 0 ? fail(f->name, err) : count;
}

static bool file_can_resume(const void *state)
{
    const file *f = state;
    return f->regular && f->ours;
}

static int file_seek(void *state, uint64_t offset, tide_error *err)
{
    file *f = state;
    struct stat status;
    int failed = fstat(f->descriptor, &status);
    if (failed == 0 && offset > (uint64_t)status.st_size)
        return tide_fail(err, TIDE_ERROR_FORMAT, TIDE_SHORTER);
    if (failed == 0 && lseek(f->descriptor, (off_t)offset, SEEK_SET) >= 0)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_IO, "cannot be read: %s", strerror(errno));
}

static int file_peek(void *state, uint64_t offset, void *bytes, size_t size,
                     tide_error *err)
{
    file *f = state;
    if (offset > INT64_MAX)
        return too_short(f, offset, err);
    for (size_t done = 0; done < size;) {
        off_t position = (off_t)(offset - size + done);
        ssize_t count =
            pread(f->descriptor, (char *)bytes + done, size - done, position);
        if (count < 0 && errno != EINTR)
            return fail(f->name, err);
        if (count == 0)
            return too_short(f, offset, err);
        done += count > 0 ? (size_t)count : 0;
    }
    return TIDE_OK;
}

static bool file_progress(const void *state, uint64_t *done, uint64_t *size)
{
    const file *f = state;
    struct stat status;
    off_t at = f->regular ? lseek(f->descriptor, 0, SEEK_CUR) : -1;
    if (at < 0 || fstat(f->descriptor, &status) != 0)
        return false;
    *done = (uint64_t)at;
    *size = (uint64_t)status.st_size;
    return true;
}

const tide_source_kind tide_source_stdin = {
    .matches = is_stdin,
    .open = open_stdin,
    .close = file_close,
    .read = file_read,
    .may_be_compressed = true,
    .can_resume = file_can_resume,
    .seek = file_seek,
    .peek = file_peek,
    .progress = file_progress,
};

const tide_source_kind tide_source_file = {
    .matches = is_path,
    .open = open_path,
    .close = file_close,
    .read = file_read,
    .may_be_compressed = true,
    .can_resume = file_can_resume,
    .seek = file_seek,
    .peek = file_peek,
    .progress = file_progress,
};
