/* spool.c - text that is appended, read and forgotten.
 *
 * A spool is a folder of segments with consecutive numbers; segment.c draws their bytes.
 * The last is appended to. It also says which is the first that counts: so all text can
 * be forgotten in one step, by making a new segment that counts from itself, and whoever
 * is killed before the others are removed removes them the next time. There is always at
 * least one; it remembers the stream and how far it has come even when there is no text.
 */
#include "spool/spool.h"

#include "file/file.h"
#include "spool/spool_internal.h"

#include <errno.h>
#include <unistd.h>

enum { SYNC_MS = 1000 };

/* -- writing ------------------------------------------------------------------------- */

static bool no_room(int reason)
{
    return reason == ENOSPC || reason == EDQUOT || tide_errno_is_transient(reason);
}

int tide_spool_sync_now(tide_spool *spool, tide_error *err)
{
    int reason = spool->unsynced ? tide_file_sync(spool->file) : 0;
    if (reason)
        return tide_spool_refuse(spool, "cannot sync", reason, err);
    spool->unsynced = false;
    return TIDE_OK;
}

int tide_spool_sync_due(tide_spool *spool, tide_error *err)
{
    bool due = spool->sync == TIDE_SPOOL_SYNC_ALWAYS ||
               (spool->sync == TIDE_SPOOL_SYNC_SECOND &&
                tide_now_ms() - spool->since_ms >= SYNC_MS);
    return due ? tide_spool_sync_now(spool, err) : TIDE_OK;
}

/* Appends what is in `writing`, or changes nothing. */
static int write_out(tide_spool *spool, size_t size, tide_error *err)
{
    int reason = tide_file_write(spool->file, spool->writing, size, spool->size);
    if (reason && ftruncate(spool->file, (off_t)spool->size) != 0)
        return tide_spool_refuse(spool, "cannot take back a write", errno, err);
    if (reason && no_room(reason))
        return TIDE_SPOOL_FULL;
    if (reason)
        return tide_spool_refuse(spool, "cannot write", reason, err);
    spool->size += size;
    spool->extent.bytes += size;
    return TIDE_OK;
}

static int begin_next(tide_spool *spool, tide_error *err)
{
    const tide_segment next = {spool->extent.stream, spool->last + 1, spool->first,
                               spool->extent.end};
    int status = tide_spool_sync_now(spool, err);
    if (status)
        return status;
    int reason = tide_spool_make_segment(spool, &next);
    if (reason && no_room(reason))
        return TIDE_SPOOL_FULL;
    return reason ? tide_spool_refuse(spool, "cannot make a segment", reason, err)
                  : TIDE_OK;
}

/* Sees to it that the last segment may have so many bytes more. */
static int make_way(tide_spool *spool, uint64_t size, tide_error *err)
{
    bool fits =
        spool->size == TIDE_SEGMENT_HEADER || spool->size + size <= spool->segment_max;
    return fits ? TIDE_OK : begin_next(spool, err);
}

/* What was written at this place of the last segment is text from now on. */
static int count_in(tide_spool *spool, uint64_t place, size_t size, bool taken,
                    tide_error *err)
{
    if (!spool->unsynced)
        spool->since_ms = tide_now_ms();
    spool->unsynced = true;
    spool->latest = place;
    spool->extent.end += size;
    spool->extent.taken = taken;
    return tide_spool_sync_due(spool, err);
}

/* Writes the piece whose text is in its place in `writing`, and a mark if it is taken. */
static int write_piece(tide_spool *spool, size_t length, uint64_t offset, bool taken,
                       tide_error *err)
{
    uint64_t stream = spool->extent.stream;
    size_t size = tide_piece_put(spool->writing, length, stream, offset);
    if (taken)
        size += tide_piece_put(spool->writing + size, 0, stream, offset + length);
    return write_out(spool, size, err);
}

int tide_spool_append(tide_spool *spool, const void *bytes, size_t size, bool taken,
                      tide_error *err)
{
    int status = make_way(spool, size + 2 * TIDE_PIECE_HEAD, err);
    if (status)
        return status;
    uint64_t place = spool->size;
    memcpy(spool->writing + TIDE_PIECE_HEAD, bytes, size);
    status = write_piece(spool, size, spool->extent.end, taken, err);
    return status ? status : count_in(spool, place, size, taken, err);
}

uint64_t tide_spool_cost(uint64_t size)
{
    return TIDE_SEGMENT_HEADER + size + (size / TIDE_PIECE_TEXT + 2) * TIDE_PIECE_HEAD;
}

/* Writes all pieces of the lines, `whole` bytes with the line feed at their end. */
static int write_lines(tide_spool *spool, const char *lines, size_t size, size_t whole,
                       tide_error *err)
{
    unsigned char *text = spool->writing + TIDE_PIECE_HEAD;
    int status = TIDE_OK;
    for (size_t at = 0, length; at < whole && !status; at += length) {
        length = whole - at < TIDE_PIECE_TEXT ? whole - at : TIDE_PIECE_TEXT;
        text[length - 1] = '\n';
        memcpy(text, lines + at, length < size - at ? length : size - at);
        status = write_piece(spool, length, spool->extent.end + at,
                             at + length == whole, err);
    }
    return status;
}

int tide_spool_append_lines(tide_spool *spool, const char *lines, size_t size,
                            tide_error *err)
{
    size_t whole = size + (lines[size - 1] != '\n');
    int status = make_way(spool, tide_spool_cost(whole), err);
    if (status)
        return status;
    uint64_t place = spool->size, bytes = spool->extent.bytes;
    status = write_lines(spool, lines, size, whole, err);
    if (!status)
        return count_in(spool, place, whole, true, err);
    if (ftruncate(spool->file, (off_t)place) != 0)
        return tide_spool_refuse(spool, "cannot take back a write", errno, err);
    spool->size = place;
    spool->extent.bytes = bytes;
    return status;
}

int tide_spool_hold(tide_spool *spool)
{
    spool->held = spool->file;
    return spool->held;
}

void tide_spool_release(tide_spool *spool)
{
    if (spool->held != spool->file)
        close(spool->held);
    spool->held = -1;
}

/* A piece that is followed by another was taken, too; so on a full disk the mark may be
 * left out. Nor is it synced: no pipe lives on after a power failure. */
int tide_spool_take(tide_spool *spool, tide_error *err)
{
    size_t size =
        tide_piece_put(spool->writing, 0, spool->extent.stream, spool->extent.end);
    int status = write_out(spool, size, err);
    spool->extent.taken = status >= 0;
    return status < 0 ? status : TIDE_OK;
}

/* -- reading ------------------------------------------------------------------------- */

ptrdiff_t tide_spool_latest(const tide_spool *spool,
                            unsigned char bytes[TIDE_PIECE_TEXT], tide_error *err)
{
    if (spool->extent.taken)
        return 0;
    size_t size = (size_t)(spool->size - spool->latest) - TIDE_PIECE_HEAD;
    ptrdiff_t count =
        tide_file_read(spool->file, bytes, size, spool->latest + TIDE_PIECE_HEAD);
    if (count < 0)
        return tide_spool_refuse(spool, "cannot read a segment", errno, err);
    return (size_t)count == size
               ? count
               : tide_spool_damaged(spool, spool->last, spool->latest, err);
}

int tide_spool_read_segment(tide_spool *spool, uint64_t number, tide_error *err)
{
    tide_segment segment;
    int file = tide_spool_open_segment(spool, number, &segment, err);
    if (file < 0)
        return file;
    if (spool->reading >= 0)
        close(spool->reading);
    spool->reading = file;
    spool->piece.length = spool->given = 0;
    tide_segment_begin(&spool->reader, file, &segment);
    return TIDE_OK;
}

static int read_on(tide_spool *spool, tide_error *err)
{
    uint64_t offset = spool->reader.offset, number = spool->reader.segment.number;
    uint64_t end = tide_segment_place(&spool->reader);
    int status = tide_spool_read_segment(spool, number + 1, err);
    if (!status && spool->reader.offset != offset)
        status = tide_spool_damaged(spool, number, end, err);
    return status;
}

/* The next piece, in whatever segment. 1, or 0 when there is none, or an error. */
static int next_piece(tide_spool *spool, tide_error *err)
{
    tide_segment_reader *reader = &spool->reader;
    tide_piece_state state = tide_segment_next(reader, &spool->piece);
    int status = TIDE_OK;
    while (!status && state == TIDE_PIECE_END && reader->segment.number < spool->last) {
        status = read_on(spool, err);
        if (!status)
            state = tide_segment_next(reader, &spool->piece);
    }
    spool->given = 0;
    if (!status && state == TIDE_PIECE_GOOD)
        return 1;
    spool->piece.length = 0;
    if (!status && state == TIDE_PIECE_UNREADABLE)
        status = tide_spool_refuse(spool, "cannot read a segment", errno, err);
    else if (!status && state != TIDE_PIECE_END)
        status = tide_spool_damaged(spool, reader->segment.number,
                                    tide_segment_place(reader), err);
    return status;
}

ptrdiff_t tide_spool_read(tide_spool *spool, void *bytes, size_t room, tide_error *err)
{
    while (spool->given == spool->piece.length) {
        int found = next_piece(spool, err);
        if (found <= 0)
            return found;
    }
    size_t left = spool->piece.length - spool->given, count = left < room ? left : room;
    memcpy(bytes, spool->piece.text + spool->given, count);
    spool->given += count;
    return (ptrdiff_t)count;
}

int tide_spool_seek(tide_spool *spool, uint64_t offset, tide_error *err)
{
    uint64_t number = spool->last + 1;
    int status;
    do
        status = tide_spool_read_segment(spool, --number, err);
    while (!status && spool->reader.offset > offset && number > spool->first);
    while (!status && spool->reader.offset < offset) {
        int found = next_piece(spool, err);
        status = found < 0 ? found
                 : found > 0
                     ? TIDE_OK
                     : tide_spool_damaged(spool, spool->reader.segment.number,
                                          tide_segment_place(&spool->reader), err);
    }
    if (!status)
        spool->given = spool->piece.length - (size_t)(spool->reader.offset - offset);
    return status;
}

/* -- forgetting ---------------------------------------------------------------------- */

/* Forgets all text. 0 or an errno, nothing having changed. */
static int begin_anew(tide_spool *spool, uint64_t stream, uint64_t offset)
{
    uint64_t old_first = spool->first, old_last = spool->last, number = old_last + 1;
    const tide_segment segment = {stream, number, number, offset};
    int reason = tide_spool_make_segment(spool, &segment);
    if (reason)
        return reason;
    spool->first = number;
    spool->unsynced = false;
    spool->extent = (tide_spool_extent){
        stream, offset, offset, TIDE_SEGMENT_HEADER, spool->extent.cut, true};
    for (uint64_t old = old_first; old <= old_last; old++)
        if (tide_spool_remove_segment(spool, old, NULL))
            spool->leftovers = true;
    (void)tide_directory_sync(spool->folder);
    return 0;
}

int tide_spool_begin(tide_spool *spool, uint64_t stream, uint64_t offset,
                     tide_error *err)
{
    int reason = begin_anew(spool, stream, offset);
    return reason ? tide_spool_refuse(spool, "cannot make a segment", reason, err)
                  : TIDE_OK;
}

/* Removes the oldest segment if the next begins at or before the offset. 1 if it did. */
static int drop_first(tide_spool *spool, uint64_t offset, tide_error *err)
{
    tide_segment next, gone;
    uint64_t next_size, size;
    int status = tide_spool_segment(spool, spool->first + 1, &next, &next_size, err);
    if (status || next.offset > offset)
        return status;
    status = tide_spool_segment(spool, spool->first, &gone, &size, err);
    if (!status)
        status = tide_spool_remove_segment(spool, spool->first, err);
    if (status)
        return status;
    spool->first++;
    spool->extent.bytes -= size;
    spool->extent.start = next.offset;
    return 1;
}

static void remove_leftovers(tide_spool *spool)
{
    tide_spool_listing l = {.least = spool->first};
    if (spool->leftovers && !tide_spool_list(spool, &l, NULL))
        spool->leftovers = false;
}

/* A power failure may undo the removal of any of the segments. Those that it leaves behind a gap do not count when
 * the spool is opened (spool_open.c), so they may be removed in any order, and all be synced at once. */
int tide_spool_drop(tide_spool *spool, uint64_t offset, tide_error *err)
{
    const tide_spool_extent *e = &spool->extent;
    bool full = false;
    remove_leftovers(spool);
    if (offset >= e->end && e->start < e->end) {
        int reason = begin_anew(spool, e->stream, e->end);
        if (!reason)
            return tide_spool_read_segment(spool, spool->last, err);
        full = no_room(reason);
        if (!full)
            return tide_spool_refuse(spool, "cannot make a segment", reason, err);
    }
    int dropped = 0, more = 1;
    for (; spool->first < spool->last && more > 0; dropped += more > 0)
        more = drop_first(spool, offset, err);
    if (dropped)
        (void)tide_directory_sync(spool->folder);
    return more < 0 ? more : full ? TIDE_SPOOL_FULL : TIDE_OK;
}

tide_spool_extent tide_spool_extent_of(const tide_spool *spool)
{
    return spool->extent;
}
