/* file_io.c - reading, writing and syncing in spite of signals.
 *
 * A call that is interrupted by a signal is repeated, but not forever: a flood of
 * signals must not block a save.
 */
#include "file/file.h"

#include <errno.h>
#include <unistd.h>

enum { INTERRUPTIONS_MAX = 1000 };

int tide_file_write(int file, const void *bytes, size_t size, uint64_t offset)
{
    const unsigned char *from = bytes;
    for (int interruptions = 0; size > 0;) {
        ssize_t n = pwrite(file, from, size, (off_t)offset);
        if (n < 0 && errno == EINTR && interruptions++ < INTERRUPTIONS_MAX)
            continue;
        if (n <= 0)
            return n < 0 ? errno : ENOSPC;
        from += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

ptrdiff_t tide_file_read(int file, void *bytes, size_t size, uint64_t offset)
{
    unsigned char *to = bytes;
    size_t done = 0;
    for (int interruptions = 0; done < size;) {
        ssize_t n = pread(file, to + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR && interruptions++ < INTERRUPTIONS_MAX)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ptrdiff_t)done;
}

ptrdiff_t tide_file_read_some(int file, void *bytes, size_t size)
{
    int interruptions = 0;
    ssize_t count;
    do
        count = read(file, bytes, size);
    while (count < 0 && errno == EINTR && interruptions++ < INTERRUPTIONS_MAX);
    return count;
}

bool tide_errno_is_transient(int reason)
{
    return reason == EMFILE || reason == ENFILE || reason == ENOMEM ||
           reason == ENOBUFS;
}

int tide_file_sync(int file)
{
    int failed, interruptions = 0;
    do
        failed = fdatasync(file);
    while (failed && errno == EINTR && interruptions++ < INTERRUPTIONS_MAX);
    return failed ? errno : 0;
}

bool tide_directory_sync(int directory)
{
    return fsync(directory) == 0 || errno == EINVAL || errno == EBADF ||
           errno == ENOTSUP;
}
