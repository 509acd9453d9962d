/* source_follow.c - a file that grows and is rotated away under its reader.
 *
 * Given out are whole lines; what comes after the last line feed waits for the rest of
 * its line. A line that is longer than the caller's room goes out in parts.
 *
 * A rotation renames the file, and sooner or later its writer opens a new one. Until
 * then it may still write into the old one, so the old one is left only when a later
 * file has at least one byte: its only writer has moved on. Its end is looked at once
 * more after that byte was seen, and is final then. A last line without a line feed is
 * given one. siblings.c finds out which file comes next, also when several rotations
 * went by between two looks.
 *
 * A place is "DEVICE:INODE OFFSET FINGERPRINT": a file keeps its inode when it is
 * renamed. If the file has become another one (copied to another disk, copied away and
 * cut short), it is known by the text before the offset. The line feed that we make at
 * the end of a file does not count in the offset; whoever goes on from there is at the
 * end of a line and makes no second one.
 *
 * A file that is packed has no lines, and is refused.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "decoder.h"
#include "text/siblings.h"
#include "text/watch.h"

enum { READ_MAX = 1 << 30 };

typedef struct follow {
    char *path, *folder;
    const char *base;      /* the name in the folder */
    struct timespec begun; /* until there is a file, one written since then counts */
    int file;              /* -1 while there is none */
    uint64_t offset;       /* of the next byte to give out */
    bool settled;          /* the last byte given out was a line feed */
    tide_watch watch;
    int trouble; /* the last reason why the file could not be opened or stays away */
    tide_error news;
    bool is_news;
} follow;

/* The caller names the source. */
#define TELL(f, ...)                                                                   \
    ((f)->is_news = true, (void)tide_fail(&(f)->news, TIDE_OK, __VA_ARGS__))

static bool is_followed(const char *spec, const tide_source_options *options)
{
    return options && options->follow && strcmp(spec, "-") != 0 &&
           !strstr(spec, "://") && strncmp(spec, "demo:", 5) != 0;
}

/* -- files ------------------------------------------------------------------------- */

static void begin_file(follow *f, int file, uint64_t offset)
{
    if (f->file >= 0)
        close(f->file);
    f->file = file;
    f->offset = offset;
    f->settled = true;
    f->trouble = 0;
    posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    tide_watch_file(&f->watch, file);
}

/* Opens the file that has the path now. Returns 0 or an errno. */
static int open_present(follow *f)
{
    struct stat status;
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
        begin_file(f, file, 0);
    return reason;
}

/* What is read now; before the first file, one that was written when we began. */
static int describe_present(const follow *f, tide_sibling *present, nlink_t *names)
{
    struct stat status;
    *names = 0;
    if (f->file < 0) {
        *present = (tide_sibling){.written = f->begun};
        return 0;
    }
    if (fstat(f->file, &status) != 0)
        return errno;
    tide_sibling_set(present, &status);
    *names = status.st_nlink;
    return 0;
}

static void tell_trouble(follow *f, int reason, bool deleted)
{
    if (reason == f->trouble)
        return;
    f->trouble = reason;
    if (reason != ENOENT)
        TELL(f, "cannot be opened: %s; waiting", strerror(reason));
    else if (deleted)
        TELL(f, "was deleted; waiting for a new one");
    else
        f->trouble = 0; /* it is renamed, or has never been there */
}

/* Whether the writer has gone over to a later file. */
static bool is_succeeded(follow *f, tide_succession *s)
{
    struct stat status;
    tide_sibling present = {0};
    nlink_t names;
    int reason = describe_present(f, &present, &names);
    if (reason == 0 && stat(f->path, &status) != 0)
        reason = errno;
    else if (reason == 0 && f->file >= 0 && status.st_ino == present.inode &&
             status.st_dev == present.device)
        return false;
    tell_trouble(f, reason, f->file >= 0 && names == 0);
    return tide_siblings_after(f->folder, f->base, &present, s) && s->found &&
           (s->has_text || f->file < 0);
}

/* Goes over to the next file. False when it has been renamed meanwhile, or cannot be
 * opened yet. */
static bool step(follow *f, const tide_succession *s)
{
    int file = tide_sibling_open(f->folder, &s->next);
    if (file < 0) {
        tell_trouble(f, errno, false);
        return false;
    }
    if (s->packed[0])
        TELL(f, "%s was compressed before it could be read; its text is left out",
             s->packed);
    else if (f->file >= 0)
        TELL(f, "was rotated; going on with the next file");
    begin_file(f, file, 0);
    return true;
}

/* -- lines ------------------------------------------------------------------------- */

static ptrdiff_t fail(const follow *f, tide_error *err)
{
    return errno == EINTR ? TIDE_SOURCE_LATER
                          : tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", f->path,
                                      strerror(errno));
}

/* A line that was broken off is ended by us. */
static ptrdiff_t end_line(follow *f, char *bytes)
{
    if (f->settled)
        return TIDE_SOURCE_LATER;
    f->settled = true;
    bytes[0] = '\n';
    return 1;
}

static ptrdiff_t begin_again(follow *f, char *bytes)
{
    TELL(f,
         "was cut short; it is read from its beginning, and what it had beyond byte "
         "%" PRIu64 " is lost",
         f->offset);
    f->offset = 0;
    return end_line(f, bytes);
}

/* Looks at the first bytes, whatever part of them is to be given out next. */
static int refuse_packed(const follow *f, tide_error *err)
{
    unsigned char first[TIDE_MAGIC_MAX];
    ssize_t count = pread(f->file, first, sizeof first, 0);
    tide_form form = tide_form_of(first, count > 0 ? (size_t)count : 0);
    if (form.decoder)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s is compressed, and cannot be followed: its %s data is "
                         "read without --follow",
                         f->path, form.decoder->name);
    if (form.not_read)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s is %s, and cannot be followed: what grows has to be text",
                         f->path, form.not_read->what);
    return TIDE_OK;
}

/* Lines of the present file, TIDE_SOURCE_LATER when there is no complete one. When its
 * end is final, what is left counts as one. */
static ptrdiff_t read_lines(follow *f, char *bytes, size_t room, bool final,
                            tide_error *err)
{
    struct stat status;
    if (fstat(f->file, &status) != 0)
        return fail(f, err);
    if ((uint64_t)status.st_size < f->offset) {
        ptrdiff_t broken_off = begin_again(f, bytes);
        if (broken_off != TIDE_SOURCE_LATER)
            return broken_off;
    }
    int refused = f->offset == 0 ? refuse_packed(f, err) : TIDE_OK;
    if (refused)
        return refused;
    room = room < READ_MAX ? room : READ_MAX;
    ssize_t count = pread(f->file, bytes, room, (off_t)f->offset);
    if (count < 0)
        return fail(f, err);
    const char *last = memrchr(bytes, '\n', (size_t)count);
    size_t whole = last ? (size_t)(last - bytes) + 1 : 0;
    if (!last && (final || (size_t)count == room))
        whole = (size_t)count;
    if (whole == 0)
        return final ? end_line(f, bytes) : TIDE_SOURCE_LATER;
    f->offset += whole;
    f->settled = bytes[whole - 1] == '\n';
    if (!f->settled && whole < room)
        whole += (size_t)end_line(f, bytes + whole);
    return (ptrdiff_t)whole;
}

/* What there is at this moment. */
static ptrdiff_t look(follow *f, char *bytes, size_t room, tide_error *err)
{
    for (;;) {
        ptrdiff_t count = TIDE_SOURCE_LATER;
        tide_succession s;
        if (f->file >= 0)
            count = read_lines(f, bytes, room, false, err);
        if (count != TIDE_SOURCE_LATER)
            return count;
        if (!is_succeeded(f, &s))
            return TIDE_SOURCE_LATER;
        if (f->file >= 0)
            count = read_lines(f, bytes, room, true, err);
        if (count != TIDE_SOURCE_LATER)
            return count;
        if (!step(f, &s))
            return TIDE_SOURCE_LATER;
    }
}

static ptrdiff_t follow_read(void *state, void *bytes, size_t room, int wait_ms,
                             tide_error *err)
{
    follow *f = state;
    int64_t until = wait_ms < 0 ? INT64_MAX : tide_now_ms() + wait_ms;
    do {
        tide_watch_begin(&f->watch, f->folder);
        ptrdiff_t count = look(f, bytes, room, err);
        if (count != TIDE_SOURCE_LATER)
            return count;
    } while (tide_watch_wait(&f->watch, f->file >= 0, until));
    return TIDE_SOURCE_LATER;
}

/* -- places ------------------------------------------------------------------------ */

static bool follow_replayable(const void *state)
{
    (void)state;
    return true;
}

static bool follow_settled(const void *state)
{
    return ((const follow *)state)->settled;
}

static char *follow_place(void *state, uint64_t offset, tide_error *err)
{
    (void)offset;
    follow *f = state;
    uint64_t fingerprint = 0;
    tide_sibling present = {0};
    nlink_t names;
    if (describe_present(f, &present, &names) != 0 ||
        (f->file >= 0 && !tide_fingerprint_file(f->file, f->offset, &fingerprint))) {
        tide_fail(err, TIDE_ERROR_IO, "%s was cut short, or cannot be read any more",
                  f->path);
        return NULL;
    }
    char *place = NULL;
    if (asprintf(&place, "%ju:%ju %" PRIu64 " %016" PRIx64, (uintmax_t)present.device,
                 (uintmax_t)present.inode, f->offset, fingerprint) < 0) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a place in %s", f->path);
        return NULL;
    }
    return place;
}

static int follow_go_to(void *state, const char *place, tide_error *err)
{
    follow *f = state;
    uintmax_t device, inode;
    uint64_t offset, fingerprint;
    int end = -1;
    sscanf(place, "%ju:%ju %" SCNu64 " %" SCNx64 "%n", &device, &inode, &offset,
           &fingerprint, &end);
    if (end < 0 || place[end] != '\0')
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "'%s' is no place in a file, so it is read from its start",
                         place);
    if (inode == 0) /* there was no file yet */
        return TIDE_OK;
    tide_sibling wanted = {.device = (dev_t)device, .inode = (ino_t)inode};
    int file = tide_siblings_find(f->folder, f->base, &wanted, offset, fingerprint);
    if (file < 0)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "neither it nor a file it was rotated to has the text that "
                         "was read before, so it is read from its start; what was "
                         "written in between may be lost");
    begin_file(f, file, offset);
    return TIDE_OK;
}

static const char *follow_news(void *state)
{
    follow *f = state;
    bool is_news = f->is_news;
    f->is_news = false;
    return is_news ? f->news.text : NULL;
}

/* -- opening and closing ----------------------------------------------------------- */

static void follow_close(void *state)
{
    follow *f = state;
    if (f->file >= 0)
        close(f->file);
    tide_watch_close(&f->watch);
    free(f);
}

/* The path, and the folder and the name that it is made of. */
static follow *new_follow(const char *path)
{
    size_t size = strlen(path) + 1;
    follow *f = tide_alloc(1, sizeof *f + 2 * size + sizeof ".");
    if (!f)
        return NULL;
    f->path = memcpy(f + 1, path, size);
    f->folder = f->path + size;
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    memcpy(f->folder, slash ? path : ".", length);
    f->base = slash ? f->path + length : f->path;
    return f;
}

static void *follow_open(const char *spec, const tide_source_options *options,
                         tide_error *err)
{
    (void)options;
    if (spec[0] == '\0' || spec[strlen(spec) - 1] == '/') {
        tide_fail(err, TIDE_ERROR_PARAMETER, "a file to follow needs a name");
        return NULL;
    }
    follow *f = new_follow(spec);
    if (!f) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    f->file = -1;
    f->settled = true;
    clock_gettime(CLOCK_REALTIME_COARSE, &f->begun);
    tide_watch_open(&f->watch);
    int reason = open_present(f);
    if (reason != 0 && reason != ENOENT) {
        tide_fail(err, TIDE_ERROR_IO, "cannot follow %s: %s", spec,
                  reason == ESPIPE ? "Not a regular file" : strerror(reason));
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
    .replayable = follow_replayable,
    .settled = follow_settled,
    .place = follow_place,
    .go_to = follow_go_to,
    .news = follow_news,
};
