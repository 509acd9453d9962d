/* source_follow.c - a file that grows and is rotated away under its reader.
 *
 * Reads return whole lines; what follows the last line feed waits for the rest of its
 * line. A line that is longer than the caller's buffer is returned in parts, and a
 * reader may stop anywhere within what it got.
 *
 * A rotation renames the file, and sooner or later its writer opens a new one. Until
 * then it may still write to the old one, so the reader leaves the old file only when a
 * later file has at least one byte: there is one writer, and it has moved on. The old
 * file is read once more after that byte was seen; then its end is final. If the last
 * line has no line feed, one is inserted before the next file. rotation.c finds the
 * next file, also if several rotations have happened since the last check.
 *
 * A position is "DEVICE:INODE OFFSET FINGERPRINT": a file keeps its inode when it is
 * renamed. If the text has moved to another file (copied to another disk, or copied and
 * truncated), it is found by the text before the offset. Behind an inserted line feed
 * the position is the start of the next file; before it, the end of the old one.
 *
 * A file that is compressed or otherwise not text is refused when it is opened, if its
 * name says so too, since then that is what the user asked for. In all other cases
 * the writer of the file could make it look that way, and must not be able to stop a
 * run: it is read as text, with a warning.
 */
#include "decode/decode.h"
#include "detect/detect.h"
#include "source/inotify.h"
#include "source/rotation.h"
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { READ_MAX = 1 << 30, HEAD = 4096 };

typedef struct follow {
    char *path, *folder;
    const char *base;       /* the name in the folder */
    struct timespec opened; /* the first file must have been modified since then */
    int file;               /* -1 while there is none */
    uint64_t offset;        /* in the file, of the next byte to return */
    bool inside_line;       /* the last byte returned was not a line feed */
    uint64_t returned;   /* bytes since the source was opened or moved to a position */
    uint64_t file_start; /* the value of `returned` at the start of the text that can
                               be resumed in the current file */
    /* the position before `file_start`, if a line feed was inserted */
    char *earlier_position;
    bool content_checked; /* the first bytes of the file */
    tide_expected expected;
    tide_inotify watch;
    int reported_errno; /* why the file cannot be opened or is missing; 0 */
    tide_error notice;
    bool has_notice;
} follow;

/* The caller names the source. */
#define NOTIFY(f, ...)                                                                 \
    ((f)->has_notice = true, (void)tide_fail(&(f)->notice, TIDE_OK, __VA_ARGS__))

static bool is_followed(const char *spec, const tide_source_options *options)
{
    return options && options->follow && strcmp(spec, "-") != 0 &&
           !strstr(spec, "://") && strncmp(spec, "demo:", 5) != 0;
}

/* -- files ------------------------------------------------------------------------- */

/* Starts counting for positions at the current position of the file. */
static void mark_file_start(follow *f)
{
    free(f->earlier_position);
    f->earlier_position = NULL;
    f->file_start = f->returned;
}

/* Makes `file` the current one, to be read from `offset`. */
static void switch_file(follow *f, int file, uint64_t offset)
{
    if (f->file >= 0)
        close(f->file);
    char last = '\n';
    f->file = file;
    f->offset = offset;
    /* Resuming in the middle of a line is possible; the byte before the offset says
     * so. */
    f->inside_line =
        offset > 0 && pread(file, &last, 1, (off_t)offset - 1) == 1 && last != '\n';
    mark_file_start(f);
    f->content_checked = offset > 0;
    f->reported_errno = 0;
    posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    tide_inotify_watch_file(&f->watch, file);
}

/* Opens the file that the path currently refers to. Returns 0 or an errno. */
static int open_current(follow *f)
{
    struct stat status;
    /* O_NONBLOCK: the path may be a named pipe without a writer, which would block here
     * and is refused below. */
    int file = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return errno;
    int reason = fstat(file, &status) != 0 ? errno
                 : S_ISDIR(status.st_mode) ? EISDIR
                 : S_ISREG(status.st_mode) ? 0
                                           : ESPIPE;
    if (reason)
        close(file);
    else
        switch_file(f, file, 0);
    return reason;
}

/* Describes the current file and counts its names. Before the first file it is an
 * imaginary one, modified when the source was opened. */
static int describe_current(const follow *f, tide_rotated_file *current, nlink_t *links)
{
    struct stat status;
    *links = 0;
    if (f->file < 0) {
        *current = (tide_rotated_file){.written = f->opened};
        return 0;
    }
    if (fstat(f->file, &status) != 0)
        return errno;
    tide_rotation_set(current, &status);
    *links = status.st_nlink;
    return 0;
}

/* Reports, once per reason, why there is no file to read. */
static void report_missing(follow *f, int reason, bool deleted)
{
    if (reason == f->reported_errno)
        return;
    f->reported_errno = reason;
    if (reason != ENOENT)
        NOTIFY(f, "cannot be opened: %s; waiting", strerror(reason));
    else if (deleted)
        NOTIFY(f, "was deleted; waiting for a new one");
    else
        f->reported_errno = 0; /* it was renamed, or has never existed */
}

/* Whether the writer has moved on to a later file; `s` then describes it. */
static bool has_successor(follow *f, tide_rotation *s)
{
    struct stat status;
    tide_rotated_file current = {0};
    nlink_t links;
    /* The cheap test comes first: if the path still refers to the file being read,
     * there was no rotation, and the directory need not be searched. */
    int reason = describe_current(f, &current, &links);
    if (reason == 0 && stat(f->path, &status) != 0)
        reason = errno;
    else if (reason == 0 && f->file >= 0 && status.st_ino == current.inode &&
             status.st_dev == current.device)
        return false;
    report_missing(f, reason, f->file >= 0 && links == 0);
    /* A successor without text is not yet proof that the writer has left the old
     * file. */
    return tide_rotation_next(f->folder, f->base, &current, s) && s->found &&
           (s->has_text || f->file < 0);
}

/* Switches to the next file. False if it has been renamed meanwhile, or cannot be
 * opened yet. */
static bool open_successor(follow *f, const tide_rotation *s)
{
    int file = tide_rotation_open(f->folder, &s->next);
    if (file < 0) {
        report_missing(f, errno, false);
        return false;
    }
    if (s->compressed[0])
        NOTIFY(f, "%s was compressed before it could be read; its text is skipped",
               s->compressed);
    else if (f->file >= 0)
        NOTIFY(f, "was rotated; continuing with the next file");
    switch_file(f, file, 0);
    return true;
}

/* -- lines ------------------------------------------------------------------------- */

static ptrdiff_t fail(const follow *f, tide_error *err)
{
    return errno == EINTR ? TIDE_SOURCE_LATER
                          : tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", f->path,
                                      strerror(errno));
}

/* Returns a line feed that is not in the file, to end an incomplete line. */
static ptrdiff_t insert_line_feed(follow *f, char *bytes)
{
    f->inside_line = false;
    f->file_start = ++f->returned;
    bytes[0] = '\n';
    return 1;
}

/* The file is shorter than what was read from it. */
static ptrdiff_t restart_truncated(follow *f, char *bytes)
{
    NOTIFY(f,
           "was truncated; it is read from the start, and text beyond byte %" PRIu64
           " may be lost",
           f->offset);
    /* copytruncate: the log was copied elsewhere and emptied. What the reader had not
     * read by then is lost, and how much that was cannot be known. */
    f->offset = 0;
    f->content_checked = false;
    mark_file_start(f);
    return f->inside_line ? insert_line_feed(f, bytes) : TIDE_SOURCE_LATER;
}

/* -- content ----------------------------------------------------------------------- */

/* Reads the first bytes of the current file. */
static tide_head read_head(const follow *f, unsigned char bytes[HEAD])
{
    ssize_t count = pread(f->file, bytes, HEAD, 0);
    return (tide_head){bytes, count > 0 ? (size_t)count : 0, false};
}

/* Warns once per file if its content does not look like text. */
static void warn_of_content(follow *f)
{
    unsigned char bytes[HEAD];
    tide_head head = read_head(f, bytes);
    tide_compression compression = tide_compression_of(head.bytes, head.size);
    tide_detected found = tide_detect(head, f->expected);
    /* A short start may still become either, so the check is repeated until it is
     * decided or a full head has been seen. */
    f->content_checked =
        compression.decoder || found.kind || !found.undecided || head.size == HEAD;
    if (compression.decoder)
        NOTIFY(f, "looks like %s data, but is read as text since it is followed",
               compression.decoder->name);
    else if (found.kind)
        NOTIFY(f, "looks like %s, but is read as text since it is followed",
               found.kind->what);
}

/* Refuses a file that is not text according to both its name and its content. */
static int refuse_non_text(const follow *f, tide_error *err)
{
    unsigned char bytes[HEAD];
    tide_head head = read_head(f, bytes);
    tide_compression compression = tide_compression_of(head.bytes, head.size);
    tide_detected found = tide_detect(head, f->expected);
    if (compression.decoder && tide_has_suffix(".gz .zst .xz .tgz", f->path))
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s has %s data, which cannot be followed: read it without "
                         "\"follow\"",
                         f->path, compression.decoder->name);
    return found.kind && tide_has_suffix(found.kind->suffixes, f->path)
               ? tide_detect_refuse(found.kind, head, f->path, err)
               : TIDE_OK;
}

/* Reads lines of the current file; TIDE_SOURCE_LATER if there is no complete one. If
 * its end is final, the remaining bytes count as a line. */
static ptrdiff_t read_lines(follow *f, char *bytes, size_t capacity, bool final,
                            tide_error *err)
{
    struct stat status;
    if (fstat(f->file, &status) != 0)
        return fail(f, err);
    if ((uint64_t)status.st_size < f->offset) {
        ptrdiff_t inserted = restart_truncated(f, bytes);
        if (inserted != TIDE_SOURCE_LATER)
            return inserted;
    }
    capacity = capacity < READ_MAX ? capacity : READ_MAX;
    ssize_t count = pread(f->file, bytes, capacity, (off_t)f->offset);
    if (count < 0)
        return fail(f, err);
    const char *last = memrchr(bytes, '\n', (size_t)count);
    size_t complete = last ? (size_t)(last - bytes) + 1 : 0;
    /* No line feed: a line longer than the buffer is returned in parts, and the end of
     * a finished file without waiting for a line feed that will not come. */
    if (!last && (final || (size_t)count == capacity))
        complete = (size_t)count;
    if (complete == 0)
        return TIDE_SOURCE_LATER;
    if (!f->content_checked)
        warn_of_content(f);
    f->offset += complete;
    f->returned += complete;
    f->inside_line = bytes[complete - 1] != '\n';
    return (ptrdiff_t)complete;
}

/* -- positions --------------------------------------------------------------------- */

/* The offset in the current file of the byte with this number among those returned. 0
 * if the file was truncated before it, since it will be read from its start. */
static uint64_t offset_in_file(const follow *f, uint64_t number)
{
    struct stat status;
    /* Numbers count bytes over all files, an inserted line feed included. Counting back
     * from the current offset gives the offset in this file; a byte before its start is
     * mapped to the start. */
    uint64_t offset =
        f->offset - (f->returned - (number < f->file_start ? f->file_start : number));
    bool cut = f->file >= 0 && fstat(f->file, &status) == 0 &&
               (uint64_t)status.st_size < offset;
    return cut ? 0 : offset;
}

static char *follow_position(void *state, uint64_t number, tide_error *err)
{
    follow *f = state;
    uint64_t offset = offset_in_file(f, number), fingerprint = 0;
    tide_rotated_file current = {0};
    nlink_t links;
    char *position = NULL;
    /* The fingerprint is computed from the open file, whatever name it has by now. */
    if (describe_current(f, &current, &links) != 0 ||
        (f->file >= 0 && !tide_fingerprint_file(f->file, offset, &fingerprint))) {
        tide_fail(err, TIDE_ERROR_IO, "%s can no longer be read", f->path);
        return NULL;
    }
    if (number < f->file_start && f->earlier_position)
        position = strdup(f->earlier_position);
    else if (asprintf(&position, "%ju:%ju %" PRIu64 " %016" PRIx64,
                      (uintmax_t)current.device, (uintmax_t)current.inode, offset,
                      fingerprint) < 0)
        position = NULL;
    if (!position)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a position in %s", f->path);
    return position;
}

/* Reads what is available now, and moves on to the next file after a rotation. */
static ptrdiff_t read_available(follow *f, char *bytes, size_t capacity,
                                tide_error *err)
{
    for (;;) {
        ptrdiff_t count = TIDE_SOURCE_LATER;
        tide_rotation s;
        if (f->file >= 0)
            count = read_lines(f, bytes, capacity, false, err);
        if (count != TIDE_SOURCE_LATER)
            return count;
        if (!has_successor(f, &s))
            return TIDE_SOURCE_LATER;

        /* The writer may have appended to this file between the read above and its
         * first byte in a later one. Now that such a byte was seen, the file cannot
         * grow any more. So read it to its end once more, including an incomplete last
         * line; this loop comes back here until nothing is left. */
        if (f->file >= 0)
            count = read_lines(f, bytes, capacity, true, err);
        if (count != TIDE_SOURCE_LATER)
            return count;

        /* An incomplete last line gets its line feed only after the switch, since the
         * switch may fail and the reader may be stopped before it. A position before
         * that line feed is in the old file, which cannot be described any more once it
         * is closed; so compose that position first. If memory is short there is none,
         * and the position is then the start of the next file. */
        bool inside_line = f->inside_line;
        char *earlier = inside_line ? follow_position(f, f->returned, NULL) : NULL;
        if (!open_successor(f, &s)) {
            free(earlier);
            return TIDE_SOURCE_LATER;
        }
        f->earlier_position = earlier;

        /* Opening the next file has reset inside_line, but the caller has not got the
         * line feed yet. */
        if (inside_line)
            return insert_line_feed(f, bytes);
    }
}

static ptrdiff_t follow_read(void *state, void *bytes, size_t capacity, int wait_ms,
                             tide_error *err)
{
    follow *f = state;
    int64_t until = wait_ms < 0 ? INT64_MAX : tide_now_ms() + wait_ms;
    do {
        tide_inotify_drain(&f->watch, f->folder);
        ptrdiff_t count = read_available(f, bytes, capacity, err);
        if (count != TIDE_SOURCE_LATER)
            return count;
    } while (tide_inotify_wait(&f->watch, f->file >= 0, until));
    return TIDE_SOURCE_LATER;
}

static bool follow_can_resume(const void *state)
{
    (void)state;
    return true;
}

static int follow_seek_position(void *state, const char *position, tide_error *err)
{
    follow *f = state;
    uintmax_t device, inode;
    uint64_t offset, fingerprint;
    int end = -1;
    sscanf(position, "%ju:%ju %" SCNu64 " %" SCNx64 "%n", &device, &inode, &offset,
           &fingerprint, &end);
    if (end < 0 || position[end] != '\0')
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "'%s' is not a valid position, so it is read from the start",
                         position);
    if (inode == 0) /* there was no file yet */
        return TIDE_OK;
    /* Tried in this order: the file with this inode, then any rotated file with this
     * text before the offset. Both must have the fingerprint. */
    tide_rotated_file wanted = {.device = (dev_t)device, .inode = (ino_t)inode};
    int file = tide_rotation_find(f->folder, f->base, &wanted, offset, fingerprint);
    if (file < 0)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "neither it nor a rotated file has the text that was read "
                         "before, so it is read from the start; what was written in "
                         "between may be lost");
    f->returned = 0;
    switch_file(f, file, offset);
    return TIDE_OK;
}

static const char *follow_notice(void *state)
{
    follow *f = state;
    bool had_notice = f->has_notice;
    f->has_notice = false;
    return had_notice ? f->notice.text : NULL;
}

/* -- opening and closing ----------------------------------------------------------- */

static void follow_close(void *state)
{
    follow *f = state;
    if (f->file >= 0)
        close(f->file);
    tide_inotify_close(&f->watch);
    free(f->earlier_position);
    free(f);
}

/* Allocates the state with the path and splits it into directory and name. */
static follow *new_follow(const char *path)
{
    size_t size = strlen(path) + 1;
    follow *f = tide_alloc(1, sizeof *f + 2 * size + sizeof ".");
    if (!f)
        return NULL;
    f->path = memcpy(f + 1, path, size);
    f->folder = f->path + size;
    /* One allocation holds the struct, the path and the folder, which keeps its final
     * slash; a path without one is in the current directory. */
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    memcpy(f->folder, slash ? path : ".", length);
    f->base = slash ? f->path + length : f->path;
    return f;
}

static void *follow_open(const char *spec, const tide_source_options *options,
                         tide_error *err)
{
    if (spec[0] == '\0' || spec[strlen(spec) - 1] == '/') {
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "the name of a file to follow is empty or ends with '/'");
        return NULL;
    }
    follow *f = new_follow(spec);
    if (!f) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    f->file = -1;
    f->expected = options->expected;
    /* Compared with modification times, which the kernel takes from the same coarse
     * clock: with the precise one, a file written right now could look older than
     * this. */
    clock_gettime(CLOCK_REALTIME_COARSE, &f->opened);
    tide_inotify_open(&f->watch);
    int reason = open_current(f);
    if (reason != 0 && reason != ENOENT) {
        tide_fail(err, TIDE_ERROR_IO, "cannot follow %s: %s", spec,
                  reason == ESPIPE ? "Not a regular file" : strerror(reason));
        follow_close(f);
        return NULL;
    }
    /* A log that does not exist yet is normal at boot. Any other error would not go
     * away by waiting. */
    if (reason == ENOENT)
        NOTIFY(f, "does not exist yet; waiting for it");
    else if (refuse_non_text(f, err) != TIDE_OK) {
        follow_close(f);
        return NULL;
    }
    return f;
}

const tide_source_kind tide_source_follow = {
    .matches = is_followed,
    .open = follow_open,
    .close = follow_close,
    .read = follow_read,
    .several_texts = true,
    .can_resume = follow_can_resume,
    .position = follow_position,
    .seek_position = follow_seek_position,
    .notice = follow_notice,
};
