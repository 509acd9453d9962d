/* lockfile.h - locks on the files that this process writes. */
#ifndef LOCKFILE_H
#define LOCKFILE_H

#include <stdbool.h>

/* Checks that the file can be written and locks it against other processes until the
 * program ends. Returns false after an error message. A file may be locked once, and at
 * most LOCKFILES_MAX of them. `path` must live until the end of the program. */
enum { LOCKFILES_MAX = 2 };
bool lockfile_acquire(const char *path);

/* The path, PATH.1, to which the file was moved that existed when the lock was taken.
 * NULL if there was none, or if it has not been kept. */
const char *lockfile_backup(const char *path);

#endif
