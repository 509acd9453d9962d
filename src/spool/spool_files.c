/* spool_files.c - the files of a spool: one per segment, 000000000001.spool and so
 * on. */
#include "file/file.h"
#include "source/source.h"
#include "spool/spool.h"
#include "spool/spool_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SIZE = 32 };

/* -- names and failures ------------------------------------------------------------ */

static void segment_name(uint64_t number, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%012" PRIu64 ".spool", number);
}

/* 0 if it is not the name of a segment. */
static uint64_t segment_number(const char *name)
{
    char same[NAME_SIZE];
    uint64_t number = strtoull(name, NULL, 10);
    segment_name(number, same);
    return number <= TIDE_SEGMENT_NUMBER_MAX && strcmp(name, same) == 0 ? number : 0;
}

int tide_spool_fail(const tide_spool *spool, const char *what, int reason,
                    tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "spool %s: %s: %s", spool->path, what,
                     strerror(reason));
}

int tide_spool_corrupt(const tide_spool *spool, uint64_t number, uint64_t position,
                       tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT,
                     "spool %s: %012" PRIu64 ".spool is corrupt at byte %" PRIu64,
                     spool->path, number, position);
}

/* -- segments ---------------------------------------------------------------------- */

int tide_spool_open_file(const tide_spool *spool, uint64_t number, int flags)
{
    char name[NAME_SIZE];
    segment_name(number, name);
    return openat(spool->folder, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                  0600);
}

int tide_spool_open_segment(const tide_spool *spool, uint64_t number,
                            tide_segment *segment, tide_error *err)
{
    unsigned char header[TIDE_SEGMENT_HEADER] = {0};
    int file = tide_spool_open_file(spool, number, O_RDWR);
    if (file < 0) {
        bool later = tide_errno_is_transient(errno);
        int failed = tide_spool_fail(spool, "cannot open a segment", errno, err);
        return later ? (int)TIDE_SOURCE_LATER : failed;
    }
    ptrdiff_t count = tide_file_read(file, header, sizeof header, 0);
    int status = TIDE_OK;
    if (count < 0)
        status = tide_spool_fail(spool, "cannot read a segment", errno, err);
    else if (!tide_segment_decode(header, segment) || segment->number != number)
        status = tide_spool_corrupt(spool, number, 0, err);
    if (!status)
        return file;
    close(file);
    return status;
}

int tide_spool_read_header(const tide_spool *spool, uint64_t number,
                           tide_segment *segment, uint64_t *size, tide_error *err)
{
    struct stat status;
    int file = tide_spool_open_segment(spool, number, segment, err);
    if (file < 0)
        return file;
    *size = fstat(file, &status) == 0 ? (uint64_t)status.st_size : 0;
    close(file);
    return TIDE_OK;
}

bool tide_spool_has_segment(const tide_spool *spool, uint64_t number)
{
    char name[NAME_SIZE];
    segment_name(number, name);
    return faccessat(spool->folder, name, F_OK, 0) == 0;
}

int tide_spool_remove_segment(const tide_spool *spool, uint64_t number, tide_error *err)
{
    char name[NAME_SIZE];
    segment_name(number, name);
    if (unlinkat(spool->folder, name, 0) != 0 && errno != ENOENT)
        return tide_spool_fail(spool, "cannot remove a segment", errno, err);
    return TIDE_OK;
}

int tide_spool_create_segment(tide_spool *spool, const tide_segment *segment)
{
    unsigned char header[TIDE_SEGMENT_HEADER];
    tide_segment_encode(segment, header);
    int file = tide_spool_open_file(spool, segment->number, O_RDWR | O_CREAT | O_EXCL);
    if (file < 0)
        return errno;
    int reason = tide_file_write(file, header, sizeof header, 0);
    if (!reason)
        reason = tide_file_sync(file);
    if (!reason && !tide_directory_sync(spool->folder))
        reason = errno;
    if (reason) {
        (void)tide_spool_remove_segment(spool, segment->number, NULL);
        close(file);
        return reason;
    }
    if (spool->file >= 0 && spool->file != spool->pinned)
        close(spool->file);
    spool->file = file;
    spool->size = sizeof header;
    spool->extent.bytes += sizeof header;
    spool->last = segment->number;
    return 0;
}

int tide_spool_list(const tide_spool *spool, tide_spool_listing *l, tide_error *err)
{
    int copy = openat(spool->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    if (!folder) {
        int reason = errno;
        if (copy >= 0)
            close(copy);
        return tide_spool_fail(spool, "cannot list the directory", reason, err);
    }
    int status = TIDE_OK;
    l->count = l->largest = 0;
    l->smallest = UINT64_MAX;
    errno = 0;
    for (struct dirent *entry; !status && (entry = readdir(folder)); errno = 0) {
        uint64_t number = segment_number(entry->d_name);
        if (!number)
            continue;
        if (number < l->min) {
            status = tide_spool_remove_segment(spool, number, err);
            continue;
        }
        l->count++;
        l->smallest = number < l->smallest ? number : l->smallest;
        l->largest = number > l->largest ? number : l->largest;
    }
    if (!status && errno)
        status = tide_spool_fail(spool, "cannot list the directory", errno, err);
    closedir(folder);
    return status;
}
