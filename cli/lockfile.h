/* lockfile.h - locks on the files that this process writes. */
#ifndef LOCKFILE_H
#define LOCKFILE_H

#include <stdint.h>

/* Checks that a model with `keep` earlier versions beside it can be written at this
 * path, and locks it against other processes until the program ends. The model that the
 * command resumes, NULL if there is none, is checked when it is loaded. Returns the exit
 * code, after an error message unless it is EXIT_SUCCESS. A file may be locked once, and
 * at most LOCKFILES_MAX of them. `path` must live until the end of the program. */
enum { LOCKFILES_MAX = 2 };
int lockfile_acquire(const char *path, uint32_t keep, const char *resumed);

/* The path, PATH.1, to which the file was moved that existed when the lock was taken.
 * NULL if there was none, or if it has not been kept. */
const char *lockfile_backup(const char *path);

#endif
