/* held_disk.c - a disk that stands still while a test says so, for LD_PRELOAD.
 *
 * Syncs, writes and removals of files whose paths contain $HELD_PATH wait for as long as the file $HELD_FLAG is there.
 * The first that waits makes $HELD_FLAG.waiting, so that a test knows when it is so. Nothing depends on time.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#pragma GCC visibility push(default)

static void wait_while_held(const char *path)
{
    const char *part = getenv("HELD_PATH"), *flag = getenv("HELD_FLAG");
    char waiting[4096];
    if (!part || !flag || !strstr(path, part) || access(flag, F_OK) != 0)
        return;
    snprintf(waiting, sizeof waiting, "%s.waiting", flag);
    close(open(waiting, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (access(flag, F_OK) == 0)
        poll(NULL, 0, 5);
}

static void wait_for_file(int file, const char *name)
{
    char link[64], path[4096 + 256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, 4096);
    size = size < 0 ? 0 : size;
    snprintf(path + size, sizeof path - (size_t)size, "/%s", name);
    wait_while_held(path);
}

int fsync(int file)
{
    wait_for_file(file, "");
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    wait_for_file(file, "");
    return (int)syscall(SYS_fdatasync, file);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    wait_for_file(file, "");
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

int unlinkat(int folder, const char *name, int flags)
{
    wait_for_file(folder, name);
    return (int)syscall(SYS_unlinkat, folder, name, flags);
}
