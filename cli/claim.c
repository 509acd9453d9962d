/* claim.c - files that this process writes and no other. */
#include "claim.h"
#include "output.h"

#include <assert.h>
#include <stdlib.h>

static tide_lock *locks[CLAIMS]; /* released wherever the program ends */
static int claimed;

static void release(void)
{
    while (claimed)
        tide_lock_close(locks[--claimed]);
}

bool claim(const char *path)
{
    tide_error err;
    assert(claimed < CLAIMS);
    if (!claimed)
        atexit(release);
    tide_lock *lock =
        tide_path_writable(path, &err) < 0 ? NULL : tide_lock_open(path, &err);
    if (lock)
        locks[claimed++] = lock;
    else
        report(&err);
    return lock != NULL;
}
