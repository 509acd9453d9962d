/* source_follow.c - a file that grows and is rotated away under its reader.
 *
 * Given out are whole lines; what comes after the last line feed waits for the rest of
 * its line. A line that is longer than the caller's room goes out in parts, and a reader
 * may stop anywhere within what it got.
 *
 * A rotation renames the file, and sooner or later its writer opens a new one. Until
 * then it may still write into the old one, so the old one is left only when a later
 * file has at least one byte: its only writer has moved on. Its end is looked at once
 * more after that byte was seen, and is final then. A last line without a line feed is
 * given one when the next file is begun. rotation.c finds out which file comes next, also when several rotations
 * went by between two looks.
 *
 * A place is "DEVICE:INODE OFFSET FINGERPRINT": a file keeps its inode when it is
 * renamed. If the file has become another one (copied to another disk, copied away and
 * cut short), it is known by the text before the offset. Behind the line feed that we
 * make, the place is the beginning of the next file; before it, the end of the old one.
 *
 * A file that is packed or no text otherwise has no lines. It is refused when it is opened
 * if its name says so too, since its user then means it. In all other cases whoever writes
 * the file could make it look so, and must not be able to end a run: it is read as text,
 * with a warning.
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
    const char *base;      /* the name in the folder */
    struct timespec begun; /* until there is a file, one written since then counts */
    int file;              /* -1 while there is none */
    uint64_t offset;       /* of the next byte to give out */
    bool inside;           /* a line: the last byte given out was no line feed */
    uint64_t given; /* bytes given out since the source was opened or found a place */
    uint64_t first; /* how many of them are from before the present file */
    char *earlier;  /* the place before `first`, if a line was broken off there */
    bool judged;    /* its first bytes */
    tide_expected expected;
    tide_inotify watch;
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

static void begin_text(follow *f)
{
    free(f->earlier);
    f->earlier = NULL;
    f->first = f->given;
}

static void begin_file(follow *f, int file, uint64_t offset)
{
    if (f->file >= 0)
        close(f->file);
    char last = '\n';
    f->file = file;
    f->offset = offset;
    f->inside =
        offset > 0 && pread(file, &last, 1, (off_t)offset - 1) == 1 && last != '\n';
    begin_text(f);
    f->judged = offset > 0;
    f->trouble = 0;
    posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    tide_inotify_file(&f->watch, file);
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
static int describe_present(const follow *f, tide_rotated_file *present, nlink_t *names)
{
    struct stat status;
    *names = 0;
    if (f->file < 0) {
        *present = (tide_rotated_file){.written = f->begun};
        return 0;
    }
    if (fstat(f->file, &status) != 0)
        return errno;
    tide_rotation_set(present, &status);
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
static bool is_succeeded(follow *f, tide_rotation *s)
{
    struct stat status;
    tide_rotated_file present = {0};
    nlink_t names;
    int reason = describe_present(f, &present, &names);
    if (reason == 0 && stat(f->path, &status) != 0)
        reason = errno;
    else if (reason == 0 && f->file >= 0 && status.st_ino == present.inode &&
             status.st_dev == present.device)
        return false;
    tell_trouble(f, reason, f->file >= 0 && names == 0);
    return tide_rotation_next(f->folder, f->base, &present, s) && s->found &&
           (s->has_text || f->file < 0);
}

/* Goes over to the next file. False when it has been renamed meanwhile, or cannot be
 * opened yet. */
static bool step(follow *f, const tide_rotation *s)
{
    int file = tide_rotation_open(f->folder, &s->next);
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
    f->inside = false;
    f->first = ++f->given;
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
    f->judged = false;
    begin_text(f);
    return f->inside ? end_line(f, bytes) : TIDE_SOURCE_LATER;
}

/* -- what it is --------------------------------------------------------------------- */

/* Reads the first bytes of the present file. */
static tide_head read_head(const follow *f, unsigned char bytes[HEAD])
{
    ssize_t count = pread(f->file, bytes, HEAD, 0);
    return (tide_head){bytes, count > 0 ? (size_t)count : 0, false};
}

/* Tells once for each file what it looks like, if that is no text. */
static void warn_of_content(follow *f)
{
    unsigned char bytes[HEAD];
    tide_head head = read_head(f, bytes);
    tide_compression form = tide_compression_of(head.bytes, head.size);
    tide_detected found = tide_detect(head, f->expected);
    f->judged = form.decoder || found.kind || !found.undecided || head.size == HEAD;
    if (form.decoder)
        TELL(f, "looks like %s data, but is read as text since it is followed",
             form.decoder->name);
    else if (found.kind)
        TELL(f, "looks like %s, but is read as text since it is followed",
             found.kind->what);
}

/* Refuses what is no text, in the name as well as in its contents. */
static int refuse_others(const follow *f, tide_error *err)
{
    unsigned char bytes[HEAD];
    tide_head head = read_head(f, bytes);
    tide_compression form = tide_compression_of(head.bytes, head.size);
    tide_detected found = tide_detect(head, f->expected);
    if (form.decoder && tide_has_suffix(".gz .zst .xz .tgz", f->path))
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s is compressed, and cannot be followed: its %s data is "
                         "read without --follow",
                         f->path, form.decoder->name);
    return found.kind && tide_has_suffix(found.kind->suffixes, f->path)
               ? tide_detect_refuse(found.kind, head, f->path, err)
               : TIDE_OK;
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
    room = room < READ_MAX ? room : READ_MAX;
    ssize_t count = pread(f->file, bytes, room, (off_t)f->offset);
    if (count < 0)
        return fail(f, err);
    const char *last = memrchr(bytes, '\n', (size_t)count);
    size_t whole = last ? (size_t)(last - bytes) + 1 : 0;
    if (!last && (final || (size_t)count == room))
        whole = (size_t)count;
    if (whole == 0)
        return TIDE_SOURCE_LATER;
    if (!f->judged)
        warn_of_content(f);
    f->offset += whole;
    f->given += whole;
    f->inside = bytes[whole - 1] != '\n';
    return (ptrdiff_t)whole;
}

/* -- a place ----------------------------------------------------------------------- */

/* Where in the present file a byte that was given out is. One that was cut short is read
 * from its beginning. */
static uint64_t offset_in_file(const follow *f, uint64_t number)
{
    struct stat status;
    uint64_t offset = f->offset - (f->given - (number < f->first ? f->first : number));
    bool cut = f->file >= 0 && fstat(f->file, &status) == 0 &&
               (uint64_t)status.st_size < offset;
    return cut ? 0 : offset;
}

static char *follow_place(void *state, uint64_t number, tide_error *err)
{
    follow *f = state;
    uint64_t offset = offset_in_file(f, number), fingerprint = 0;
    tide_rotated_file present = {0};
    nlink_t names;
    char *place = NULL;
    if (describe_present(f, &present, &names) != 0 ||
        (f->file >= 0 && !tide_fingerprint_file(f->file, offset, &fingerprint))) {
        tide_fail(err, TIDE_ERROR_IO, "%s cannot be read any more", f->path);
        return NULL;
    }
    if (number < f->first && f->earlier)
        place = strdup(f->earlier);
    else if (asprintf(&place, "%ju:%ju %" PRIu64 " %016" PRIx64,
                      (uintmax_t)present.device, (uintmax_t)present.inode, offset,
                      fingerprint) < 0)
        place = NULL;
    if (!place)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a place in %s", f->path);
    return place;
}

/* What there is at this moment. */
static ptrdiff_t look(follow *f, char *bytes, size_t room, tide_error *err)
{
    for (;;) {
        ptrdiff_t count = TIDE_SOURCE_LATER;
        tide_rotation s;
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
        bool broken_off = f->inside;
        char *earlier = broken_off ? follow_place(f, f->given, NULL) : NULL;
        if (!step(f, &s)) {
            free(earlier);
            return TIDE_SOURCE_LATER;
        }
        f->earlier = earlier;
        if (broken_off)
            return end_line(f, bytes);
    }
}

static ptrdiff_t follow_read(void *state, void *bytes, size_t room, int wait_ms,
                             tide_error *err)
{
    follow *f = state;
    int64_t until = wait_ms < 0 ? INT64_MAX : tide_now_ms() + wait_ms;
    do {
        tide_inotify_begin(&f->watch, f->folder);
        ptrdiff_t count = look(f, bytes, room, err);
        if (count != TIDE_SOURCE_LATER)
            return count;
    } while (tide_inotify_wait(&f->watch, f->file >= 0, until));
    return TIDE_SOURCE_LATER;
}

/* -- the rest ---------------------------------------------------------------------- */

static bool follow_replayable(const void *state)
{
    (void)state;
    return true;
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
    tide_rotated_file wanted = {.device = (dev_t)device, .inode = (ino_t)inode};
    int file = tide_rotation_find(f->folder, f->base, &wanted, offset, fingerprint);
    if (file < 0)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "neither it nor a file it was rotated to has the text that "
                         "was read before, so it is read from its start; what was "
                         "written in between may be lost");
    f->given = 0;
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
    tide_inotify_close(&f->watch);
    free(f->earlier);
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
    f->expected = options->expected;
    clock_gettime(CLOCK_REALTIME_COARSE, &f->begun);
    tide_inotify_open(&f->watch);
    int reason = open_present(f);
    if (reason != 0 && reason != ENOENT) {
        tide_fail(err, TIDE_ERROR_IO, "cannot follow %s: %s", spec,
                  reason == ESPIPE ? "Not a regular file" : strerror(reason));
        follow_close(f);
        return NULL;
    }
    if (reason == ENOENT)
        TELL(f, "is not there yet; waiting for it to appear");
    else if (refuse_others(f, err) != TIDE_OK) {
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
    .replayable = follow_replayable,
    .place = follow_place,
    .go_to = follow_go_to,
    .news = follow_news,
};
