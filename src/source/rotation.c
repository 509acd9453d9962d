/* rotation.c - finding one's way among the files of a log that is rotated.
 *
 * A log is one text, written by one writer into one file after the other. The one that
 * has the name of the log is the last; the others lie beside it under names that begin
 * with that name and go on with digits and what stands between the digits of a date:
 * log.1, log-20260101, log.2026-01-01T12:00:00; or end in ".old". They are in order of
 * the time of their last writing. Files that were rotated within one tick of the clock
 * (some milliseconds) are told apart by their names: of short numbers the larger one is
 * the older file, of dates the smaller.
 *
 * A folder is not read in one instant. While files are being renamed one of them may
 * show up twice or not at all, so it is read twice, and what was seen counts when both
 * times had the same names with the same files. Memory does not depend on the number of
 * files.
 */
#include "source/rotation.h"

#include "source/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHORT_NUMBER = 5 }; /* digits; dates have more */

typedef struct walk {
    DIR *folder;
    const char *base;
    uint64_t seen; /* hash of names and files */
} walk;

void tide_rotation_set(tide_rotated_file *file, const struct stat *status)
{
    file->device = status->st_dev;
    file->inode = status->st_ino;
    file->written = status->st_mtim;
    file->size = (uint64_t)status->st_size;
}

static bool walk_begin(walk *w, const char *folder, const char *base)
{
    *w = (walk){.folder = opendir(folder), .base = base};
    return w->folder;
}

/* The next regular file whose name begins with that of the log. */
static bool walk_next(walk *w, tide_rotated_file *file)
{
    size_t length = strlen(w->base);
    for (struct dirent *entry; (entry = readdir(w->folder));) {
        struct stat status;
        size_t size = strlen(entry->d_name);
        if (strncmp(entry->d_name, w->base, length) != 0 || size >= sizeof file->name ||
            fstatat(dirfd(w->folder), entry->d_name, &status, 0) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        tide_rotation_set(file, &status);
        memcpy(file->name, entry->d_name, size + 1);
        w->seen += tide_hash(file->name, size, (uint64_t)file->inode);
        return true;
    }
    closedir(w->folder);
    return false;
}

static bool same_file(const tide_rotated_file *a, const tide_rotated_file *b)
{
    return a->inode == b->inode && a->device == b->device;
}

/* What a rotation may add to the name of a log. */
static size_t rotated_length(const char *suffix)
{
    if (strncmp(suffix, ".old", 4) == 0)
        return 4;
    bool begins = strchr(".-_", suffix[0]) && suffix[1] >= '0' && suffix[1] <= '9';
    return begins ? strspn(suffix, "0123456789.:_TZ+-") : 0;
}

/* Of a name that is made of the log's and an ending like ".gz", the ending. */
static const char *ending(const char *name, const char *base)
{
    const char *suffix = name + strlen(base);
    size_t length = *suffix ? rotated_length(suffix) : 0;
    if (length && suffix[length] && suffix[length - 1] == '.')
        length--;
    return suffix + length;
}

static bool is_packed(const char *name, const char *base)
{
    static const char *const endings[] = {".gz", ".xz", ".zst", ".bz2", ".lz4", ".Z"};
    const char *end = ending(name, base);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (end != name + strlen(base) && strcmp(end, endings[i]) == 0)
            return true;
    return false;
}

/* ".12" and such, or 0. */
static unsigned long short_number(const char *name, const char *base)
{
    const char *digits = name + strnlen(name, strlen(base)) + 1;
    if (strlen(name) <= strlen(base) + 1)
        return 0;
    size_t length = strspn(digits, "0123456789");
    bool number = length > 0 && length <= SHORT_NUMBER && digits[length] == '\0';
    return number ? strtoul(digits, NULL, 10) : 0;
}

static int compare_times(const struct timespec *a, const struct timespec *b)
{
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Whether a was written after b. */
static bool is_later(const tide_rotated_file *a, const tide_rotated_file *b,
                     const char *base)
{
    bool last = strcmp(a->name, base) == 0;
    if (last || strcmp(b->name, base) == 0)
        return last;
    int order = compare_times(&a->written, &b->written);
    if (order != 0)
        return order > 0;
    unsigned long number = short_number(a->name, base);
    unsigned long other = short_number(b->name, base);
    return number && other ? number < other : strcmp(a->name, b->name) > 0;
}

static void consider(tide_rotation *s, const tide_rotated_file *file,
                     const tide_rotated_file *present, const char *base)
{
    if (same_file(file, present) || !is_later(file, present, base))
        return;
    s->has_text = s->has_text || file->size > 0;
    if (!s->found || is_later(&s->next, file, base))
        s->next = *file;
    s->found = true;
}

/* The name that a file has now; false when the folder cannot be read. */
static bool find_name(const char *folder, const char *base, tide_rotated_file *present,
                      uint64_t *seen)
{
    walk w;
    tide_rotated_file file;
    if (!walk_begin(&w, folder, base))
        return false;
    while (walk_next(&w, &file))
        if (same_file(&file, present))
            memcpy(present->name, file.name, sizeof file.name);
    *seen = w.seen;
    return true;
}

bool tide_rotation_next(const char *folder, const char *base,
                        const tide_rotated_file *present, tide_rotation *s)
{
    walk w;
    uint64_t seen;
    tide_rotated_file file, here = *present, packed = {0};
    here.name[0] = '\0';
    *s = (tide_rotation){0};
    if (!find_name(folder, base, &here, &seen) || !walk_begin(&w, folder, base))
        return false;
    while (walk_next(&w, &file)) {
        if (*ending(file.name, base) == '\0')
            consider(s, &file, &here, base);
        else if (is_packed(file.name, base) &&
                 compare_times(&file.written, &here.written) > 0)
            packed = file;
    }
    if (packed.name[0] && s->found && is_later(&s->next, &packed, base))
        memcpy(s->packed, packed.name, sizeof packed.name);
    return w.seen == seen;
}

bool tide_fingerprint_file(int file, uint64_t offset, uint64_t *fingerprint)
{
    unsigned char bytes[TIDE_FINGERPRINT_BYTES];
    size_t size = offset < sizeof bytes ? (size_t)offset : sizeof bytes;
    if (offset > INT64_MAX)
        return false;
    for (size_t left = size; left > 0;) {
        ssize_t count =
            pread(file, bytes + (size - left), left, (off_t)(offset - left));
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        left -= count > 0 ? (size_t)count : 0;
    }
    *fingerprint = tide_hash(bytes, size, 0);
    return true;
}

int tide_rotation_open(const char *folder, const tide_rotated_file *file)
{
    int place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place < 0)
        return -1;
    int opened = openat(place, file->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    close(place);
    if (opened >= 0 && (fstat(opened, &status) != 0 || status.st_ino != file->inode ||
                        status.st_dev != file->device)) {
        close(opened);
        errno = ENOENT;
        return -1;
    }
    return opened;
}

/* Opens a file if its text before `offset` is what it should be. */
static int open_if(const char *folder, const tide_rotated_file *file, uint64_t offset,
                   uint64_t fingerprint)
{
    uint64_t found;
    int opened = file->size < offset ? -1 : tide_rotation_open(folder, file);
    if (opened >= 0 &&
        (!tide_fingerprint_file(opened, offset, &found) || found != fingerprint)) {
        close(opened);
        return -1;
    }
    return opened;
}

/* With `wanted` only that file is looked at, otherwise all are. More than one of those
 * is as good as none. */
static int look_through(const char *folder, const char *base,
                        const tide_rotated_file *wanted, uint64_t offset,
                        uint64_t fingerprint)
{
    walk w;
    tide_rotated_file file, first = {0};
    int found = -1, several = 0;
    if (!walk_begin(&w, folder, base))
        return -1;
    while (walk_next(&w, &file)) {
        if (wanted && !same_file(&file, wanted))
            continue;
        int opened = open_if(folder, &file, offset, fingerprint);
        if (opened >= 0 && found < 0) {
            found = opened;
            first = file;
        } else if (opened >= 0) {
            several += !same_file(&file, &first);
            close(opened);
        }
    }
    if (several == 0)
        return found;
    close(found);
    return -1;
}

int tide_rotation_find(const char *folder, const char *base,
                       const tide_rotated_file *wanted, uint64_t offset,
                       uint64_t fingerprint)
{
    enum { TRIES = 3 }; /* it may be renamed while we look */
    int found = -1;
    for (int i = 0; i < TRIES && found < 0; i++)
        found = look_through(folder, base, wanted, offset, fingerprint);
    if (found < 0 && offset > 0)
        found = look_through(folder, base, NULL, offset, fingerprint);
    return found;
}
