/* replace.c - replacing a file atomically.
 *
 * The new file is written under a temporary name in the same directory; it is synced,
 * then renamed, then the directory is synced. Opening the path, at any moment and after
 * any crash, finds the complete old file or the complete new one.
 *
 * The temporary name is ".NAME.tmp.PID.N". Its writer holds a lock (flock) on it for as
 * long as it has that name, and the lock ends with the process. So a temporary file
 * that can be locked was left behind by a crash, and the next writer for the same NAME
 * removes it; one that cannot be locked belongs to another writer and is left alone.
 */
#include "file/file.h"
#include "file/store_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_PART = 200, /* bytes of NAME in the temporary name, which must fit NAME_MAX */
    WRITERS_MAX = 16 /* per path, at the same time, in one process */
};

static int cannot_write(const char *path, const char *reason, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "cannot write %s: %s", path, reason);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* /dev/stdout may lead to a regular file, but to one that is already open, and its
 * other users would keep writing to the file that was replaced. */
static bool names_an_open_file(const char *path)
{
    return starts_with(path, "/dev/std") || starts_with(path, "/dev/fd/") ||
           starts_with(path, "/proc/");
}

/* Resolves symbolic links to the path of the actual file, which need not exist. `mode`
 * is that of the existing file, 0 if there is none. */
static int find_target(const char *path, char target[PATH_MAX], mode_t *mode,
                       tide_error *err)
{
    struct stat status;
    *mode = 0;
    if (names_an_open_file(path))
        return cannot_write(path, "an open file cannot be replaced", err);
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return cannot_write(path, strerror(EISDIR), err);
        if (!S_ISREG(status.st_mode))
            return cannot_write(path, "not a regular file", err);
        *mode = status.st_mode & 0777;
        if (!realpath(path, target) || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
            return cannot_write(path, strerror(errno), err);
        return TIDE_OK;
    }
    if (errno != ENOENT)
        return cannot_write(path, strerror(errno), err);
    /* stat has failed but lstat has not: a link to nothing. Creating its target would
     * put the file somewhere unexpected. */
    if (lstat(path, &status) == 0)
        return cannot_write(path, "dangling symbolic link", err);
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/' || length >= PATH_MAX)
        return cannot_write(path, "not a valid file name", err);
    memcpy(target, path, length + 1);
    return TIDE_OK;
}

static int open_directory(tide_replacement *r, char target[PATH_MAX], tide_error *err)
{
    char *slash = strrchr(target, '/');
    const char *name = slash ? slash + 1 : target;
    size_t length = strlen(name);
    if (length > NAME_MAX)
        return cannot_write(r->path, strerror(ENAMETOOLONG), err);
    memcpy(r->name, name, length + 1);
    if (slash)
        slash[slash == target] = '\0'; /* the root directory keeps its slash */
    r->directory = open(slash ? target : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->directory < 0)
        return cannot_write(r->path, strerror(errno), err);
    return TIDE_OK;
}

/* Removes a temporary file unless its writer still holds the lock. */
static void remove_if_stale(int directory, const char *name)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int file = openat(directory, name, flags);
    if (file < 0)
        return;
    struct stat opened, named;
    /* The lock can be had only if the writer is gone. Between opening and locking the
     * name may have passed to a new file, whose writer is alive, so it is compared
     * again. */
    if (fstat(file, &opened) == 0 && S_ISREG(opened.st_mode) &&
        flock(file, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
        (void)unlinkat(directory, name, 0);
    close(file);
}

/* Removes the temporary files that crashed writers of the same target left behind. Best
 * effort. */
static void remove_stale_files(const tide_replacement *r)
{
    char start[NAME_MAX + 1];
    int length = snprintf(start, sizeof start, ".%.*s.tmp.", NAME_PART, r->name);
    int copy = openat(r->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (!listing) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (struct dirent *entry; (entry = readdir(listing));) {
        const char *name = entry->d_name;
        /* NAME.tmp. may also begin the name of an unrelated file, but hardly with
         * nothing but digits and points behind it. */
        if (starts_with(name, start) &&
            name[strspn(name + length, "0123456789.") + length] == '\0')
            remove_if_stale(r->directory, name);
    }
    closedir(listing);
}

/* Locks a new temporary file. Another writer may come between its creation and its lock
 * with remove_stale_files, and may then hold the lock or have removed the file. */
static bool lock_temporary(int file)
{
    struct stat status;
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(file, &status) == 0 && status.st_nlink > 0;
}

/* The temporary file has its final mode from the start: a user who may not open the
 * finished file cannot open this one either. */
static int create_temporary(tide_replacement *r, mode_t mode, tide_error *err)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    for (int writer = 0; writer < WRITERS_MAX; writer++) {
        snprintf(r->temporary, sizeof r->temporary, ".%.*s.tmp.%ld.%d", NAME_PART,
                 r->name, (long)getpid(), writer);
        /* O_EXCL makes the name ours, or fails: two writers never share a file. */
        r->file = openat(r->directory, r->temporary, flags, mode);
        if (r->file >= 0 && lock_temporary(r->file))
            return TIDE_OK;
        if (r->file >= 0)
            close(r->file);
        else if (errno != EEXIST)
            return cannot_write(r->path, strerror(errno), err);
    }
    return cannot_write(r->path, "too many concurrent writers", err);
}

int tide_replacement_open(tide_replacement *r, const char *path, tide_error *err)
{
    char target[PATH_MAX];
    mode_t mode;
    r->path = path;
    r->file = r->directory = -1;
    int status = find_target(path, target, &mode, err);
    if (status == TIDE_OK)
        status = open_directory(r, target, err);
    if (status != TIDE_OK)
        return status;
    /* Before the new file is created, so that a crash loop does not fill the disk. */
    remove_stale_files(r);
    status = create_temporary(r, mode ? mode : 0666, err);
    if (status != TIDE_OK) {
        close(r->directory);
        return status;
    }
    /* open applies the umask; the mode of an existing file is kept exactly. */
    if (mode != 0 && fchmod(r->file, mode) != 0) {
        cannot_write(path, strerror(errno), err);
        tide_replacement_discard(r);
        return TIDE_ERROR_IO;
    }
    return TIDE_OK;
}

int tide_replacement_sync(tide_replacement *r, tide_error *err)
{
    if (fsync(r->file) != 0)
        return cannot_write(r->path, strerror(errno), err);
    return TIDE_OK;
}

/* The name of version `age`: NAME is version 0, NAME.1 the one before it. */
static bool version_name(const tide_replacement *r, uint32_t age,
                         char name[NAME_MAX + 1])
{
    int length = age ? snprintf(name, NAME_MAX + 1, "%s.%u", r->name, age)
                     : snprintf(name, NAME_MAX + 1, "%s", r->name);
    return length <= NAME_MAX;
}

/* Whether versions `age` and `age + 1` are the same file. */
static bool is_linked_to_next(const tide_replacement *r, uint32_t age)
{
    char from[NAME_MAX + 1], to[NAME_MAX + 1];
    struct stat younger, older;
    return version_name(r, age, from) && version_name(r, age + 1, to) &&
           fstatat(r->directory, from, &younger, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(r->directory, to, &older, AT_SYMLINK_NOFOLLOW) == 0 &&
           younger.st_ino == older.st_ino && younger.st_dev == older.st_dev;
}

/* Whether the name of a version belongs to another file, which must stay. */
static bool is_taken(const tide_replacement *r, uint32_t age)
{
    char name[NAME_MAX + 1];
    tide_target target;
    if (!version_name(r, age, name))
        return false;
    tide_target_read(r->directory, name, &target);
    return target == TIDE_TARGET_OTHER;
}

/* Shifts the older versions by one: each file is linked, through a temporary name, to
 * the name of the next older version. No name is missing at any moment, so a search for
 * an intact version never stops at a gap. A rename between two names of one file does
 * nothing, so the temporary name is then removed separately. On a file system without
 * hard links no older versions are kept.
 *
 * An earlier call may have stopped halfway, because the process was killed or the new
 * file could not be renamed. The file that it linked last then has two names, and the
 * versions older than it are already shifted; so start there. */
static void shift_versions(const tide_replacement *r, uint32_t keep)
{
    char from[NAME_MAX + 1], to[NAME_MAX + 1], spare[NAME_MAX + 3];
    uint32_t age = 0;
    snprintf(spare, sizeof spare, "%s.0", r->temporary);
    /* Normally no two versions are the same file, and this stops at `keep`. */
    while (age < keep && !is_linked_to_next(r, age) && !is_taken(r, age + 1))
        age++;
    for (; age > 0; age--) {
        if (!version_name(r, age - 1, from) || !version_name(r, age, to) ||
            linkat(r->directory, from, r->directory, spare, 0) != 0)
            continue;
        /* linkat does not replace an existing name, a rename does. */
        (void)renameat(r->directory, spare, r->directory, to);
        (void)unlinkat(r->directory, spare, 0);
    }
}

int tide_replacement_commit(tide_replacement *r, uint32_t keep, tide_error *err)
{
    int status = TIDE_OK;
    /* Some file systems report a failed write only when the file is closed. The lock
     * must survive that, so a second descriptor holds it; if there is none left, the
     * sync before has to suffice. */
    int lock = fcntl(r->file, F_DUPFD_CLOEXEC, 0);
    int closed = lock >= 0 ? close(r->file) : 0;
    if (lock < 0)
        lock = r->file;
    if (closed == 0)
        shift_versions(r, keep);
    if (closed != 0 ||
        renameat(r->directory, r->temporary, r->directory, r->name) != 0) {
        status = cannot_write(r->path, strerror(errno), err);
        (void)unlinkat(r->directory, r->temporary, 0);
    } else if (!tide_directory_sync(r->directory)) {
        status = cannot_write(r->path, strerror(errno), err);
    }
    close(lock);
    close(r->directory);
    return status;
}

void tide_replacement_discard(tide_replacement *r)
{
    (void)unlinkat(r->directory, r->temporary, 0);
    close(r->file);
    close(r->directory);
}

int tide_path_writable(const char *path, tide_error *err)
{
    tide_replacement replacement;
    int status = tide_replacement_open(&replacement, path, err);
    if (status == TIDE_OK)
        tide_replacement_discard(&replacement);
    return status;
}
