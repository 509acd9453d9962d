/* spool_open.c - opening a spool, and recovery after a crash.
 *
 * Only the last segment can be incomplete, because each is synced before the next is
 * created. A killed process leaves a piece without its end. A power failure may also
 * leave a last piece with wrong text, or zeros, or both. These are cut off.
 *
 * A power failure may also bring back any of the segments that were removed, so
 * segments before a gap in the numbers are ignored. If the gap has text that no model
 * has learned, the position of the model is before the start of the spool, which is an
 * error.
 *
 * Anything else that is wrong is corruption, and an error: valid pieces may follow it.
 *
 * The lock is held on DIR/.spool.lock.
 */
#include "file/file.h"
#include "spool/spool.h"
#include "spool/spool_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the file has nothing but zeros from here on. 1, 0, or an error. */
static int is_zero_from(const tide_spool *spool, int file, uint64_t from,
                        tide_error *err)
{
    unsigned char bytes[4096];
    ptrdiff_t count;
    while ((count = tide_file_read(file, bytes, sizeof bytes, from)) > 0) {
        for (ptrdiff_t i = 0; i < count; i++)
            if (bytes[i])
                return 0;
        from += (uint64_t)count;
    }
    return count < 0 ? tide_spool_fail(spool, "cannot read a segment", errno, err) : 1;
}

/* Removes a segment without a header, which is what a process leaves that was killed
 * while creating it. Returns 1 if it was removed. */
static int remove_unfinished(tide_spool *spool, uint64_t number, tide_error *err)
{
    struct stat status;
    int file = tide_spool_open_file(spool, number, O_RDWR);
    if (file < 0)
        return tide_spool_fail(spool, "cannot open a segment", errno, err);
    /* After a power failure the file may have its size but none of its contents. */
    int unfinished = fstat(file, &status) == 0 && status.st_size < TIDE_SEGMENT_HEADER
                         ? 1
                         : is_zero_from(spool, file, 0, err);
    close(file);
    if (unfinished <= 0)
        return unfinished;
    int removed = tide_spool_remove_segment(spool, number, err);
    return removed ? removed : 1;
}

/* Checks that all headers are valid, of one stream, with increasing offsets that leave
 * space for more text. */
static int check_headers(tide_spool *spool, const tide_segment *last, tide_error *err)
{
    uint64_t before = 0;
    for (uint64_t number = spool->first; number <= spool->last; number++) {
        tide_segment segment;
        uint64_t size;
        int status = tide_spool_read_header(spool, number, &segment, &size, err);
        if (status)
            return status;
        /* Offsets may be equal: a segment without text starts where the one before it
         * starts. */
        if (segment.stream != last->stream || segment.offset < before ||
            segment.offset > TIDE_SEGMENT_OFFSET_MAX)
            return tide_spool_corrupt(spool, number, 0, err);
        if (number == spool->first)
            spool->extent.start = segment.offset;
        before = segment.offset;
        spool->extent.bytes += size;
    }
    return TIDE_OK;
}

static int truncate_at(tide_spool *spool, uint64_t position, tide_error *err)
{
    uint64_t size = spool->size - position;
    int reason = ftruncate(spool->file, (off_t)position) == 0
                     ? tide_file_sync(spool->file)
                     : errno;
    if (reason)
        return tide_spool_fail(spool, "cannot cut off an incomplete end", reason, err);
    spool->extent.cut += size;
    spool->extent.bytes -= size;
    spool->size = position;
    return TIDE_OK;
}

/* Cuts off what follows the last good piece of the last segment, if it can be the trace
 * of an interrupted write; otherwise fails. `state` is that of the piece there. */
static int recover_tail(tide_spool *spool, tide_piece_state state, tide_error *err)
{
    uint64_t good = tide_segment_position(&spool->reader);

    /* An I/O error says nothing about the contents. Never cut because of it. */
    if (state == TIDE_PIECE_UNREADABLE)
        return tide_spool_fail(spool, "cannot read a segment", errno, err);

    /* The three traces of an interrupted write:
     *
     * - INCOMPLETE: the file ends within the piece. Nothing can follow it.
     * - BAD_TEXT: the header was written, the text was not, or only in part. The header
     *   has its own checksum, so its length says where a next piece would start.
     * - BAD_HEADER: the file was extended, but the header is not on disk. It reads as
     *   zeros, and so does everything that follows.
     *
     * In the last two cases only zeros may follow. Any other byte is evidence of a
     * later write, which was acknowledged and may be a good piece: then the segment is
     * corrupt in the middle, and cutting it would lose text silently. */
    bool length_known = state == TIDE_PIECE_BAD_TEXT;
    uint64_t next = good + (length_known ? TIDE_PIECE_HEADER + spool->piece.length : 0);
    int interrupted = state == TIDE_PIECE_INCOMPLETE
                          ? 1
                          : is_zero_from(spool, spool->file, next, err);
    if (interrupted < 0)
        return interrupted;
    if (!interrupted)
        return tide_spool_corrupt(spool, spool->last, good, err);
    return truncate_at(spool, good, err);
}

/* Scans the last segment for the end of the text, its last mark and its latest
 * piece. */
static int scan_last(tide_spool *spool, tide_error *err)
{
    struct stat status;
    int failed = tide_spool_start_reading(spool, spool->last, err);
    if (failed)
        return failed;
    /* Appending continues in this file; the reader has its own descriptor, which it
     * closes when it moves on. */
    spool->file = fcntl(spool->reading, F_DUPFD_CLOEXEC, 0);
    if (spool->file < 0 || fstat(spool->file, &status) != 0)
        return tide_spool_fail(spool, "cannot open a segment", errno, err);
    spool->size = (uint64_t)status.st_size;
    tide_piece_state state;
    spool->extent.consumed = true;
    for (;;) {
        uint64_t position = tide_segment_position(&spool->reader);
        /* The state before this piece is the one to return to if its push turns out to
         * be incomplete. */
        if (spool->extent.consumed) {
            spool->mark_position = position;
            spool->mark_offset = spool->reader.offset;
        }
        state = tide_segment_next(&spool->reader, &spool->piece);
        if (state != TIDE_PIECE_GOOD)
            break;
        spool->extent.consumed = spool->piece.length == 0;
        spool->latest = position;
    }
    spool->extent.end = spool->reader.offset;
    return state == TIDE_PIECE_END ? TIDE_OK : recover_tail(spool, state, err);
}

int tide_spool_discard_unmarked(tide_spool *spool, tide_error *err)
{
    if (spool->extent.consumed)
        return TIDE_OK;
    int status = truncate_at(spool, spool->mark_position, err);
    if (status)
        return status;
    spool->extent.end = spool->mark_offset;
    spool->extent.consumed = true;
    return tide_spool_seek(spool, spool->extent.start, err);
}

/* Opens the existing segments. The last one, l->largest, says which is the first; those
 * before a gap in the numbers are ignored, too. */
static int open_segments(tide_spool *spool, tide_spool_listing *l, tide_error *err)
{
    tide_segment last;
    uint64_t size;
    int status = tide_spool_read_header(spool, l->largest, &last, &size, err);
    if (status)
        return status;
    l->min = last.first;
    status = tide_spool_list(spool, l, err);
    spool->first = spool->last = last.number;
    /* Going back from the last segment stops at the first gap, which is where the
     * segments that a power failure brought back are separated from the valid ones. */
    while (spool->first > l->smallest &&
           tide_spool_has_segment(spool, spool->first - 1))
        spool->first--;
    spool->obsolete_files = spool->first > l->smallest;
    spool->extent.stream = last.stream;
    if (!status)
        status = check_headers(spool, &last, err);
    if (!status)
        status = scan_last(spool, err);
    return status ? status : tide_spool_seek(spool, spool->extent.start, err);
}

static int open_or_create(tide_spool *spool, tide_error *err)
{
    tide_spool_listing l = {.min = 1};
    int status = tide_spool_list(spool, &l, err);
    if (!status && l.count)
        status = remove_unfinished(spool, l.largest, err);
    if (status > 0)
        status = tide_spool_list(spool, &l, err);
    if (status)
        return status;
    if (l.count)
        return open_segments(spool, &l, err);
    spool->first = 1;
    status = tide_spool_reset(spool, tide_secret(), 0, err);
    return status ? status : tide_spool_seek(spool, 0, err);
}

/* Opens or creates the directory. A new one is synced, so that it survives a power
 * failure.
 */
static int open_folder(tide_spool *spool, tide_error *err)
{
    bool made = mkdir(spool->path, 0700) == 0;
    if (!made && errno != EEXIST)
        return tide_spool_fail(spool, "cannot create the directory", errno, err);
    spool->folder = open(spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (spool->folder < 0)
        return tide_spool_fail(spool, "cannot open the directory", errno, err);
    /* The entry of a new directory is in its parent, which has to be synced for the
     * directory to survive a power failure. */
    int above =
        made ? openat(spool->folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (above >= 0) {
        (void)tide_directory_sync(above);
        close(above);
    }
    return TIDE_OK;
}

static int acquire_lock(tide_spool *spool, tide_error *err)
{
    size_t size = strlen(spool->path) + sizeof "/spool";
    char *name = tide_alloc(size, 1);
    if (!name)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for spool %s", spool->path);
    snprintf(name, size, "%s/spool", spool->path);
    spool->lock = tide_lock_open(name, err);
    free(name);
    return spool->lock ? TIDE_OK : TIDE_ERROR_IO;
}

tide_spool *tide_spool_open(const char *path, uint64_t segment_max,
                            tide_spool_sync sync, tide_error *err)
{
    tide_spool *spool = tide_alloc(1, sizeof *spool + strlen(path) + 1);
    if (!spool) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for spool %s", path);
        return NULL;
    }
    memcpy(spool->path, path, strlen(path) + 1);
    spool->folder = spool->file = spool->pinned = spool->reading = -1;
    spool->segment_max = segment_max;
    spool->sync = sync;
    if (open_folder(spool, err) || acquire_lock(spool, err) ||
        open_or_create(spool, err)) {
        tide_spool_close(spool);
        return NULL;
    }
    return spool;
}

void tide_spool_close(tide_spool *spool)
{
    if (!spool)
        return;
    /* A failure can no longer be reported. What was promised to be durable has been
     * synced before. */
    if (spool->sync != TIDE_SPOOL_SYNC_NONE)
        (void)tide_spool_sync_now(spool, NULL);
    const int files[] = {spool->reading, spool->file, spool->folder};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    tide_lock_close(spool->lock);
    free(spool);
}
