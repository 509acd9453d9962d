/* spool_files.c - the segments of a spool as files: 000000000001.spool and so on. */
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

enum { NAME_ROOM = 32 };

/* -- names and failures -------------------------------------------------------------- */

static void name_of(uint64_t number, char name[NAME_ROOM])
{
    snprintf(name, NAME_ROOM, "%012" PRIu64 ".spool", number);
}

/* 0 when it is not the name of a segment. */
static uint64_t number_of(const char *name)
{
    char same[NAME_ROOM];
    uint64_t number = strtoull(name, NULL, 10);
    name_of(number, same);
    return number <= TIDE_SEGMENT_NUMBER_MAX && strcmp(name, same) == 0 ? number : 0;
}

int tide_spool_refuse(const tide_spool *spool, const char *what, int reason,
                      tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "spool %s: %s: %s", spool->path, what,
                     strerror(reason));
}

int tide_spool_damaged(const tide_spool *spool, uint64_t number, uint64_t place,
                       tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT,
                     "spool %s: %012" PRIu64 ".spool is damaged at byte %" PRIu64,
                     spool->path, number, place);
}

/* -- segments ------------------------------------------------------------------------ */

int tide_spool_open_file(const tide_spool *spool, uint64_t number, int flags)
{
    char name[NAME_ROOM];
    name_of(number, name);
    return openat(spool->folder, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                  0600);
}

/* Reads and checks the header. Returns a descriptor or an error. */
int tide_spool_open_segment(const tide_spool *spool, uint64_t number,
                            tide_segment *segment, tide_error *err)
{
    unsigned char header[TIDE_SEGMENT_HEADER] = {0};
    int file = tide_spool_open_file(spool, number, O_RDWR);
    if (file < 0) {
        bool later = tide_errno_is_transient(errno);
        int failed = tide_spool_refuse(spool, "cannot open a segment", errno, err);
        return later ? (int)TIDE_SOURCE_LATER : failed;
    }
    ptrdiff_t count = tide_file_read(file, header, sizeof header, 0);
    int status = TIDE_OK;
    if (count < 0)
        status = tide_spool_refuse(spool, "cannot read a segment", errno, err);
    else if (!tide_segment_get(header, segment) || segment->number != number)
        status = tide_spool_damaged(spool, number, 0, err);
    if (!status)
        return file;
    close(file);
    return status;
}

/* Negative without a good header. */
int tide_spool_segment(const tide_spool *spool, uint64_t number, tide_segment *segment,
                       uint64_t *size, tide_error *err)
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
    char name[NAME_ROOM];
    name_of(number, name);
    return faccessat(spool->folder, name, F_OK, 0) == 0;
}

int tide_spool_remove_segment(const tide_spool *spool, uint64_t number, tide_error *err)
{
    char name[NAME_ROOM];
    name_of(number, name);
    if (unlinkat(spool->folder, name, 0) != 0 && errno != ENOENT)
        return tide_spool_refuse(spool, "cannot remove a segment", errno, err);
    return TIDE_OK;
}

/* An errno, or 0 and a new last segment in its place. */
int tide_spool_make_segment(tide_spool *spool, const tide_segment *segment)
{
    unsigned char header[TIDE_SEGMENT_HEADER];
    tide_segment_put(segment, header);
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
    if (spool->file >= 0 && spool->file != spool->held)
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
        return tide_spool_refuse(spool, "cannot list it", reason, err);
    }
    int status = TIDE_OK;
    l->count = l->largest = 0;
    l->smallest = UINT64_MAX;
    errno = 0;
    for (struct dirent *entry; !status && (entry = readdir(folder)); errno = 0) {
        uint64_t number = number_of(entry->d_name);
        if (!number)
            continue;
        if (number < l->least) {
            status = tide_spool_remove_segment(spool, number, err);
            continue;
        }
        l->count++;
        l->smallest = number < l->smallest ? number : l->smallest;
        l->largest = number > l->largest ? number : l->largest;
    }
    if (!status && errno)
        status = tide_spool_refuse(spool, "cannot list it", errno, err);
    closedir(folder);
    return status;
}
