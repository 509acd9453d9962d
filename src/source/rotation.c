/* rotation.c - finding the files of a rotated log, and their order.
 *
 * A log is one text, written by one writer into one file after another. The file with
 * the name of the log is the latest; the older ones are in the same directory, under
 * that name followed by digits and the separators of a date (log.1, log-20260101,
 * log.2026-01-01T12:00:00) or by ".old". They are ordered by modification time. Files
 * that were rotated within one tick of the clock (some milliseconds) are ordered by
 * name: of short numbers the larger one is the older file, of dates the smaller.
 *
 * Listing a directory is not atomic. While files are being renamed, one of them may
 * show up twice or not at all. So the directory is listed twice, and the result counts
 * only if both listings had the same names for the same files. Memory does not depend
 * on the number of files.
 */
#include "source/rotation.h"

#include "source/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHORT_NUMBER = 5 }; /* digits; dates have more */

typedef struct listing {
    DIR *folder;
    const char *base;
    uint64_t hash; /* of names and inodes; independent of their order */
} listing;

void tide_rotation_set(tide_rotated_file *file, const struct stat *status)
{
    file->device = status->st_dev;
    file->inode = status->st_ino;
    file->written = status->st_mtim;
    file->size = (uint64_t)status->st_size;
}

static bool listing_open(listing *l, const char *folder, const char *base)
{
    *l = (listing){.folder = opendir(folder), .base = base};
    return l->folder;
}

/* The next regular file whose name starts with that of the log. Closes the listing at
 * the end. */
static bool listing_next(listing *l, tide_rotated_file *file)
{
    size_t length = strlen(l->base);
    for (struct dirent *entry; (entry = readdir(l->folder));) {
        struct stat status;
        size_t size = strlen(entry->d_name);
        if (strncmp(entry->d_name, l->base, length) != 0 || size >= sizeof file->name ||
            fstatat(dirfd(l->folder), entry->d_name, &status, 0) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        tide_rotation_set(file, &status);
        memcpy(file->name, entry->d_name, size + 1);
        l->hash += tide_hash(file->name, size, (uint64_t)file->inode);
        return true;
    }
    closedir(l->folder);
    return false;
}

static bool same_file(const tide_rotated_file *a, const tide_rotated_file *b)
{
    return a->inode == b->inode && a->device == b->device;
}

/* The length of the suffix that a rotation has added to the name of the log. */
static size_t rotation_suffix_length(const char *suffix)
{
    if (strncmp(suffix, ".old", 4) == 0)
        return 4;
    bool begins = strchr(".-_", suffix[0]) && suffix[1] >= '0' && suffix[1] <= '9';
    return begins ? strspn(suffix, "0123456789.:_TZ+-") : 0;
}

/* What follows the name of the log and the suffix of a rotation: "", or a file
 * extension like ".gz". */
static const char *extension(const char *name, const char *base)
{
    const char *suffix = name + strlen(base);
    size_t length = *suffix ? rotation_suffix_length(suffix) : 0;
    if (length && suffix[length] && suffix[length - 1] == '.')
        length--;
    return suffix + length;
}

static bool is_compressed(const char *name, const char *base)
{
    static const char *const extensions[] = {".gz",  ".xz",  ".zst",
                                             ".bz2", ".lz4", ".Z"};
    const char *end = extension(name, base);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (end != name + strlen(base) && strcmp(end, extensions[i]) == 0)
            return true;
    return false;
}

/* The number of a name like "log.12"; 0 if the name is of another form. */
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

/* Takes `file` into account if it follows the current one. */
static void update_next(tide_rotation *s, const tide_rotated_file *file,
                        const tide_rotated_file *current, const char *base)
{
    if (same_file(file, current) || !is_later(file, current, base))
        return;
    s->has_text = s->has_text || file->size > 0;
    if (!s->found || is_later(&s->next, file, base))
        s->next = *file;
    s->found = true;
}

/* Finds the name that the current file has now, and hashes the listing. False if the
 * directory cannot be read. */
static bool find_name(const char *folder, const char *base, tide_rotated_file *current,
                      uint64_t *hash)
{
    listing l;
    tide_rotated_file file;
    if (!listing_open(&l, folder, base))
        return false;
    while (listing_next(&l, &file))
        if (same_file(&file, current))
            memcpy(current->name, file.name, sizeof file.name);
    *hash = l.hash;
    return true;
}

bool tide_rotation_next(const char *folder, const char *base,
                        const tide_rotated_file *current, tide_rotation *s)
{
    listing l;
    uint64_t hash;
    tide_rotated_file file, here = *current, compressed = {0};
    here.name[0] = '\0';
    *s = (tide_rotation){0};
    if (!find_name(folder, base, &here, &hash) || !listing_open(&l, folder, base))
        return false;
    while (listing_next(&l, &file)) {
        if (*extension(file.name, base) == '\0')
            update_next(s, &file, &here, base);
        else if (is_compressed(file.name, base) &&
                 compare_times(&file.written, &here.written) > 0)
            compressed = file;
    }
    if (compressed.name[0] && s->found && is_later(&s->next, &compressed, base))
        memcpy(s->compressed, compressed.name, sizeof compressed.name);
    return l.hash == hash;
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
    int directory = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -1;
    int opened = openat(directory, file->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    close(directory);
    if (opened >= 0 && (fstat(opened, &status) != 0 || status.st_ino != file->inode ||
                        status.st_dev != file->device)) {
        close(opened);
        errno = ENOENT;
        return -1;
    }
    return opened;
}

/* Opens a file if its text before `offset` has this fingerprint. */
static int open_if_matching(const char *folder, const tide_rotated_file *file,
                            uint64_t offset, uint64_t fingerprint)
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

/* Searches for a file with this fingerprint: `wanted` only, or all if it is NULL. If
 * several files match, there is no telling which is the right one, and none is
 * opened. */
static int find_matching(const char *folder, const char *base,
                         const tide_rotated_file *wanted, uint64_t offset,
                         uint64_t fingerprint)
{
    listing l;
    tide_rotated_file file, first = {0};
    int found = -1, several = 0;
    if (!listing_open(&l, folder, base))
        return -1;
    while (listing_next(&l, &file)) {
        if (wanted && !same_file(&file, wanted))
            continue;
        int opened = open_if_matching(folder, &file, offset, fingerprint);
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
    enum { TRIES = 3 }; /* the file may be renamed during the search */
    int found = -1;
    for (int i = 0; i < TRIES && found < 0; i++)
        found = find_matching(folder, base, wanted, offset, fingerprint);
    if (found < 0 && offset > 0)
        found = find_matching(folder, base, NULL, offset, fingerprint);
    return found;
}
