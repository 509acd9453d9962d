/* lock.c - an exclusive lock on a path, held by at most one process.
 *
 * The lock is an flock on a file ".NAME.lock" and ends with the process. The lock file
 * is in the directory of the target, after following symbolic links, so that all links
 * to a file share one lock. Closing the lock removes the lock file before the flock is
 * released. Another process may have opened the old file by then, so a lock is valid
 * only if the name still refers to the file that was locked.
 */
#include "base/base.h"

#include <wordtide/tools.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct tide_lock {
    int file;
    char path[];
};

static tide_lock *lock_new(const char *path, tide_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t size = strlen(path) + sizeof "..lock";
    tide_lock *lock = tide_alloc(1, sizeof *lock + size);
    if (!lock) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to lock %s", path);
        return NULL;
    }
    snprintf(lock->path, size, "%.*s.%s.lock", (int)(name - path), path, name);
    return lock;
}

/* Whether the name still refers to the locked file. */
static bool is_current(const tide_lock *lock)
{
    struct stat opened, named;
    /* If the name is gone or refers to another file, the locked one was removed by
     * its last owner, and this lock excludes no other process. */
    return fstat(lock->file, &opened) == 0 && stat(lock->path, &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

tide_lock *tide_lock_open(const char *path, tide_error *err)
{
    char target[PATH_MAX];
    tide_lock *lock = lock_new(realpath(path, target) ? target : path, err);
    if (!lock)
        return NULL;
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    for (;;) {
        lock->file = open(lock->path, flags, 0666);
        if (lock->file < 0) {
            tide_fail(err, TIDE_ERROR_IO, "cannot lock %s: %s", path, strerror(errno));
            break;
        }
        bool locked = flock(lock->file, LOCK_EX | LOCK_NB) == 0;
        if (locked && is_current(lock))
            return lock;
        /* close may change errno. */
        int cause = errno;
        close(lock->file);
        if (locked) /* a lock file that was removed meanwhile: try the new one */
            continue;
        tide_fail(err, TIDE_ERROR_IO, "%s: %s", path,
                  cause == EWOULDBLOCK ? "another process is writing it"
                                       : strerror(cause));
        break;
    }
    free(lock);
    return NULL;
}

void tide_lock_close(tide_lock *lock)
{
    if (!lock)
        return;
    /* In this order: after the close another process could hold the lock on this file,
     * and removing its name would let a third one in. */
    (void)unlink(lock->path);
    close(lock->file);
    free(lock);
}
