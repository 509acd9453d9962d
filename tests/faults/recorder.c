/* recorder.c - preloaded into a program: a log of all that it does to the files of one folder.
 *
 * $WORDTIDE_RECORD names the folder. The log goes to standard error, among what the program itself
 * says there, so that the order of both is known; a record is one line that begins with the byte
 * 0x1e, and the bytes of a write follow it:
 *
 *     create INODE NAME      write INODE OFFSET SIZE      truncate INODE SIZE
 *     sync INODE             rename OLD/NEW               link OLD/NEW               unlink NAME
 *
 * A call and its record are one step under a lock: no other thread's call comes between them, and the
 * log is an order in which all of it really happened. Calls that fail change nothing and are left out.
 */
#undef _FILE_OFFSET_BITS /* the names without 64 are what they say */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#pragma GCC visibility push(default)

enum { FILES_MAX = 1024, RECORD_MAX = 2 * NAME_MAX + 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stat folder;
static bool recording;
static bool watched[FILES_MAX]; /* by descriptor */

/* ISO C has no way from dlsym's pointer to a function. */
#define NEXT(name) ((__typeof__(&name))(intptr_t)dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("WORDTIDE_RECORD");
    recording = path && stat(path, &folder) == 0;
}

/* -- the log ----------------------------------------------------------------------------------- */

static void put(const char *record, const void *bytes, size_t size)
{
    struct iovec parts[] = {{(void *)(intptr_t)record, strlen(record)},
                            {(void *)(intptr_t)bytes, size}};
    if (writev(STDERR_FILENO, parts, 2) != (ssize_t)(strlen(record) + size))
        abort(); /* a log with a hole is worse than none */
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    char record[RECORD_MAX];
    va_list values;
    va_start(values, format);
    vsnprintf(record, sizeof record, format, values);
    va_end(values);
    put(record, NULL, 0);
}

static void note_write(int file, const void *bytes, ssize_t size, off_t offset)
{
    struct stat found;
    char record[RECORD_MAX];
    fstat(file, &found);
    snprintf(record, sizeof record, "\036write %ju %jd %zd\n", (uintmax_t)found.st_ino,
             (intmax_t)offset, size);
    put(record, bytes, (size_t)size);
}

/* -- what belongs to the folder ---------------------------------------------------------------- */

static bool is_folder(const struct stat *found)
{
    return found->st_ino == folder.st_ino && found->st_dev == folder.st_dev;
}

/* The name of a path in the folder; NULL for one that is elsewhere. */
static const char *name_inside(int directory, const char *path)
{
    char parent[PATH_MAX];
    struct stat found;
    const char *slash = strrchr(path, '/');
    if (!recording || strlen(path) >= sizeof parent)
        return NULL;
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (fstatat(directory, parent, &found, 0) != 0 || !is_folder(&found))
        return NULL;
    return slash ? slash + 1 : path;
}

static bool is_watched(int file)
{
    return recording && file >= 0 && file < FILES_MAX && watched[file];
}

static int open_watched(int directory, const char *path, int flags, mode_t mode)
{
    struct stat found;
    pthread_mutex_lock(&lock);
    const char *name = name_inside(directory, path);
    bool there = name && fstatat(directory, path, &found, AT_SYMLINK_NOFOLLOW) == 0;
    int file = NEXT(openat)(directory, path, flags, mode);
    if (recording && file >= 0 && file < FILES_MAX && fstat(file, &found) == 0) {
        watched[file] = name || is_folder(&found);
        if (name && !there)
            note("\036create %ju %s\n", (uintmax_t)found.st_ino, name);
        else if (name && flags & O_TRUNC)
            note("\036truncate %ju 0\n", (uintmax_t)found.st_ino);
    }
    pthread_mutex_unlock(&lock);
    return file;
}

/* -- the calls --------------------------------------------------------------------------------- */

static mode_t mode_of(int flags, va_list values)
{
    return flags & O_CREAT ? va_arg(values, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list values;
    va_start(values, flags);
    mode_t mode = mode_of(flags, values);
    va_end(values);
    return open_watched(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    va_list values;
    va_start(values, flags);
    mode_t mode = mode_of(flags, values);
    va_end(values);
    return open_watched(directory, path, flags, mode);
}

int close(int file)
{
    pthread_mutex_lock(&lock);
    if (is_watched(file))
        watched[file] = false;
    int failed = NEXT(close)(file);
    pthread_mutex_unlock(&lock);
    return failed;
}

ssize_t write(int file, const void *bytes, size_t size)
{
    pthread_mutex_lock(&lock);
    ssize_t written = NEXT(write)(file, bytes, size);
    if (written > 0 && is_watched(file))
        note_write(file, bytes, written, lseek(file, 0, SEEK_CUR) - written);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    pthread_mutex_lock(&lock);
    ssize_t written = NEXT(pwrite)(file, bytes, size, offset);
    if (written > 0 && is_watched(file))
        note_write(file, bytes, written, offset);
    pthread_mutex_unlock(&lock);
    return written;
}

int ftruncate(int file, off_t size)
{
    struct stat found;
    pthread_mutex_lock(&lock);
    int failed = NEXT(ftruncate)(file, size);
    if (!failed && is_watched(file) && fstat(file, &found) == 0)
        note("\036truncate %ju %jd\n", (uintmax_t)found.st_ino, (intmax_t)size);
    pthread_mutex_unlock(&lock);
    return failed;
}

static int sync_with(int (*sync_file)(int file), int file)
{
    struct stat found;
    pthread_mutex_lock(&lock);
    int failed = sync_file(file);
    if (!failed && is_watched(file) && fstat(file, &found) == 0)
        note("\036sync %ju\n", (uintmax_t)found.st_ino);
    pthread_mutex_unlock(&lock);
    return failed;
}

int fsync(int file)
{
    return sync_with(NEXT(fsync), file);
}

int fdatasync(int file)
{
    return sync_with(NEXT(fdatasync), file);
}

static void note_names(const char *what, const char *from, const char *to)
{
    if (!from && !to)
        return;
    if (!from || !to)
        abort(); /* the log knows of one folder only */
    note("\036%s %s/%s\n", what, from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    pthread_mutex_lock(&lock);
    const char *old_name = name_inside(from_folder, from);
    const char *new_name = name_inside(to_folder, to);
    int failed = NEXT(renameat)(from_folder, from, to_folder, to);
    if (!failed)
        note_names("rename", old_name, new_name);
    pthread_mutex_unlock(&lock);
    return failed;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    pthread_mutex_lock(&lock);
    const char *old_name = name_inside(from_folder, from);
    const char *new_name = name_inside(to_folder, to);
    int failed = NEXT(linkat)(from_folder, from, to_folder, to, flags);
    if (!failed)
        note_names("link", old_name, new_name);
    pthread_mutex_unlock(&lock);
    return failed;
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int directory, const char *path, int flags)
{
    pthread_mutex_lock(&lock);
    const char *name = name_inside(directory, path);
    int failed = NEXT(unlinkat)(directory, path, flags);
    if (!failed && name)
        note("\036unlink %s\n", name);
    pthread_mutex_unlock(&lock);
    return failed;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

/* Here an offset has 64 bits under either name. */
#define SAME(name) __attribute__((alias(#name)))
int open64(const char *path, int flags, ...) SAME(open);
int openat64(int directory, const char *path, int flags, ...) SAME(openat);
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) SAME(pwrite);
int ftruncate64(int file, off64_t size) SAME(ftruncate);
