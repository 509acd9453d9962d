/* claim.c - files that this process writes and no other. */
#include "claim.h"
#include "output.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct claimed_file {
    tide_lock *lock; /* released wherever the program ends */
    const char *path;
    struct stat before;       /* st_ino is 0 when there was no file */
    char older[PATH_MAX + 3]; /* where that is kept */
} claimed_file;

static claimed_file files[CLAIMS];
static int claimed;

static void release(void)
{
    while (claimed)
        tide_lock_close(files[--claimed].lock);
}

bool claim(const char *path)
{
    tide_error err;
    assert(claimed < CLAIMS);
    if (!claimed)
        atexit(release);
    tide_lock *lock =
        tide_path_writable(path, &err) < 0 ? NULL : tide_lock_open(path, &err);
    if (!lock) {
        report(&err);
        return false;
    }
    claimed_file *file = &files[claimed++];
    *file = (claimed_file){.lock = lock, .path = path};
    char target[PATH_MAX];
    struct stat named;
    bool link = lstat(path, &named) == 0 && S_ISLNK(named.st_mode);
    if (realpath(path, target) && stat(target, &file->before) == 0)
        snprintf(file->older, sizeof file->older, "%s.1", link ? target : path);
    return true;
}

const char *claim_kept(const char *path)
{
    struct stat now;
    for (const claimed_file *file = files; file < files + claimed; file++)
        if (!strcmp(file->path, path) && file->before.st_ino &&
            stat(file->older, &now) == 0 && now.st_ino == file->before.st_ino &&
            now.st_dev == file->before.st_dev)
            return file->older;
    return NULL;
}
