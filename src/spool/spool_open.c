/* spool_open.c - opening a spool: what is there, and what a kill has left of it.
 *
 * Only the last segment can be torn, because one is synced before the next is made. What
 * a kill leaves is a piece without its end; a power failure may also leave a last piece
 * whose text is wrong, or zeros, or both. These are cut off. Of segments that were removed it may
 * leave any behind; so what comes before a gap in the numbers does not count. If text is missing
 * there that no model has learned, its place is not found, which is an error. Anything else that is not
 * right is damage, and an error: it might hide pieces that are good.
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

/* Whether the file has nothing but zeros from here on. */
static int is_blank(const tide_spool *spool, int file, uint64_t from, tide_error *err)
{
    unsigned char bytes[4096];
    ptrdiff_t count;
    while ((count = tide_file_read(file, bytes, sizeof bytes, from)) > 0) {
        for (ptrdiff_t i = 0; i < count; i++)
            if (bytes[i])
                return 0;
        from += (uint64_t)count;
    }
    return count < 0 ? tide_spool_refuse(spool, "cannot read a segment", errno, err)
                     : 1;
}

/* A segment that somebody was killed while making has no text. 1 if it was removed. */
static int remove_unmade(tide_spool *spool, uint64_t number, tide_error *err)
{
    struct stat status;
    int file = tide_spool_open_file(spool, number, O_RDWR);
    if (file < 0)
        return tide_spool_refuse(spool, "cannot open a segment", errno, err);
    int unmade = fstat(file, &status) == 0 && status.st_size < TIDE_SEGMENT_HEADER
                     ? 1
                     : is_blank(spool, file, 0, err);
    close(file);
    if (unmade <= 0)
        return unmade;
    int removed = tide_spool_remove_segment(spool, number, err);
    return removed ? removed : 1;
}

/* All headers are there, good, follow each other, and leave room for more. */
static int check_headers(tide_spool *spool, const tide_segment *last, tide_error *err)
{
    uint64_t before = 0;
    for (uint64_t number = spool->first; number <= spool->last; number++) {
        tide_segment segment;
        uint64_t size;
        int status = tide_spool_segment(spool, number, &segment, &size, err);
        if (status)
            return status;
        if (segment.stream != last->stream || segment.offset < before ||
            segment.offset > TIDE_SEGMENT_OFFSET_MAX)
            return tide_spool_damaged(spool, number, 0, err);
        if (number == spool->first)
            spool->extent.start = segment.offset;
        before = segment.offset;
        spool->extent.bytes += size;
    }
    return TIDE_OK;
}

static int cut_at(tide_spool *spool, uint64_t place, tide_error *err)
{
    uint64_t size = spool->size - place;
    int reason =
        ftruncate(spool->file, (off_t)place) == 0 ? tide_file_sync(spool->file) : errno;
    if (reason)
        return tide_spool_refuse(spool, "cannot cut off a torn end", reason, err);
    spool->extent.cut += size;
    spool->extent.bytes -= size;
    spool->size = place;
    return TIDE_OK;
}

/* Cuts off what is behind the good pieces of the last segment, if it may be cut. */
static int cut_tail(tide_spool *spool, tide_piece_state state, tide_error *err)
{
    uint64_t good = tide_segment_place(&spool->reader);
    if (state == TIDE_PIECE_UNREADABLE)
        return tide_spool_refuse(spool, "cannot read a segment", errno, err);
    bool known = state == TIDE_PIECE_BAD_TEXT; /* where it ends */
    uint64_t rest = good + (known ? TIDE_PIECE_HEAD + spool->piece.length : 0);
    int torn = state == TIDE_PIECE_PART ? 1 : is_blank(spool, spool->file, rest, err);
    if (torn < 0)
        return torn;
    if (!torn)
        return tide_spool_damaged(spool, spool->last, good, err);
    return cut_at(spool, good, err);
}

/* Finds the end of the text. */
static int scan_last(tide_spool *spool, tide_error *err)
{
    struct stat status;
    int failed = tide_spool_read_segment(spool, spool->last, err);
    if (failed)
        return failed;
    spool->file = fcntl(spool->reading, F_DUPFD_CLOEXEC, 0);
    if (spool->file < 0 || fstat(spool->file, &status) != 0)
        return tide_spool_refuse(spool, "cannot open a segment", errno, err);
    spool->size = (uint64_t)status.st_size;
    tide_piece_state state;
    spool->extent.taken = true;
    for (;;) {
        uint64_t place = tide_segment_place(&spool->reader);
        if (spool->extent.taken) {
            spool->marked = place;
            spool->marked_end = spool->reader.offset;
        }
        state = tide_segment_next(&spool->reader, &spool->piece);
        if (state != TIDE_PIECE_GOOD)
            break;
        spool->extent.taken = spool->piece.length == 0;
        spool->latest = place;
    }
    spool->extent.end = spool->reader.offset;
    return state == TIDE_PIECE_END ? TIDE_OK : cut_tail(spool, state, err);
}

int tide_spool_forget_untaken(tide_spool *spool, tide_error *err)
{
    if (spool->extent.taken)
        return TIDE_OK;
    int status = cut_at(spool, spool->marked, err);
    if (status)
        return status;
    spool->extent.end = spool->marked_end;
    spool->extent.taken = true;
    return tide_spool_seek(spool, spool->extent.start, err);
}

/* Takes over the segments that there are, `l->largest` of them the last. */
static int take_over(tide_spool *spool, tide_spool_listing *l, tide_error *err)
{
    tide_segment last;
    uint64_t size;
    int status = tide_spool_segment(spool, l->largest, &last, &size, err);
    if (status)
        return status;
    l->least = last.first;
    status = tide_spool_list(spool, l, err);
    spool->first = spool->last = last.number;
    while (spool->first > l->smallest &&
           tide_spool_has_segment(spool, spool->first - 1))
        spool->first--;
    spool->leftovers = spool->first > l->smallest;
    spool->extent.stream = last.stream;
    if (!status)
        status = check_headers(spool, &last, err);
    if (!status)
        status = scan_last(spool, err);
    return status ? status : tide_spool_seek(spool, spool->extent.start, err);
}

static int find_text(tide_spool *spool, tide_error *err)
{
    tide_spool_listing l = {.least = 1};
    int status = tide_spool_list(spool, &l, err);
    if (!status && l.count)
        status = remove_unmade(spool, l.largest, err);
    if (status > 0)
        status = tide_spool_list(spool, &l, err);
    if (status)
        return status;
    if (l.count)
        return take_over(spool, &l, err);
    spool->first = 1;
    status = tide_spool_begin(spool, tide_secret(), 0, err);
    return status ? status : tide_spool_seek(spool, 0, err);
}

/* A folder that we make is there after a power failure, too. */
static int open_folder(tide_spool *spool, tide_error *err)
{
    bool made = mkdir(spool->path, 0700) == 0;
    if (!made && errno != EEXIST)
        return tide_spool_refuse(spool, "cannot make it", errno, err);
    spool->folder = open(spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (spool->folder < 0)
        return tide_spool_refuse(spool, "cannot open it", errno, err);
    int above =
        made ? openat(spool->folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (above >= 0) {
        (void)tide_directory_sync(above);
        close(above);
    }
    return TIDE_OK;
}

static int take_lock(tide_spool *spool, tide_error *err)
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
    spool->folder = spool->file = spool->held = spool->reading = -1;
    spool->segment_max = segment_max;
    spool->sync = sync;
    if (open_folder(spool, err) || take_lock(spool, err) || find_text(spool, err)) {
        tide_spool_close(spool);
        return NULL;
    }
    return spool;
}

void tide_spool_close(tide_spool *spool)
{
    if (!spool)
        return;
    if (spool->sync != TIDE_SPOOL_SYNC_NONE)
        (void)tide_spool_sync_now(spool, NULL);
    const int files[] = {spool->reading, spool->file, spool->folder};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    tide_lock_close(spool->lock);
    free(spool);
}
