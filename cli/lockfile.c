/* lockfile.c - locks on the files that this process writes. */
#include "lockfile.h"
#include "output.h"

#include <wordtide/tools.h>
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct locked_file {
    tide_lock *lock; /* released at exit */
    const char *path;
    struct stat before; /* the file at that moment; st_ino is 0 if there was none */
    char backup[PATH_MAX + 3]; /* where replacing it moves it */
} locked_file;

static locked_file files[LOCKFILES_MAX];
static int locked_count;

static void release_all(void)
{
    while (locked_count)
        tide_lock_close(files[--locked_count].lock);
}

int lockfile_acquire(const char *path, uint32_t keep, const char *resumed)
{
    tide_error err;
    bool is_resumed = resumed && !strcmp(path, resumed);
    assert(locked_count < LOCKFILES_MAX);
    if (!locked_count)
        atexit(release_all);
    tide_lock *lock = NULL;
    if (tide_path_writable(path, &err) == TIDE_OK &&
        (is_resumed || tide_path_replaceable(path, keep, &err) == TIDE_OK))
        lock = tide_lock_open(path, &err);
    if (!lock)
        return log_error(&err);
    locked_file *file = &files[locked_count++];
    *file = (locked_file){.lock = lock, .path = path};
    /* Replacing a symbolic link replaces the file it leads to, so the backup lies
     * beside that file. */
    char target[PATH_MAX];
    struct stat link_status;
    bool link = lstat(path, &link_status) == 0 && S_ISLNK(link_status.st_mode);
    if (realpath(path, target) && stat(target, &file->before) == 0)
        snprintf(file->backup, sizeof file->backup, "%s.1", link ? target : path);
    return EXIT_SUCCESS;
}

const char *lockfile_backup(const char *path)
{
    /* The backup is the file from before if it has the same inode; a file that another
     * program put there has not. */
    struct stat now;
    for (const locked_file *file = files; file < files + locked_count; file++)
        if (!strcmp(file->path, path) && file->before.st_ino &&
            stat(file->backup, &now) == 0 && now.st_ino == file->before.st_ino &&
            now.st_dev == file->before.st_dev)
            return file->backup;
    return NULL;
}
