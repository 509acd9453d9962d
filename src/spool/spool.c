/* spool.c - appending, reading and dropping text.
 *
 * A spool is a directory of segments with consecutive numbers; segment.c draws their
 * format. Text is appended to the last one. Its header also says which segment is the
 * first that is not obsolete. So all text can be dropped atomically, by creating a new
 * segment that names itself as the first; if the process is killed before the others
 * are removed, the next start removes them. There is always at least one segment: it
 * records the stream and its offset even if there is no text.
 */
#include "spool/spool.h"

#include "file/file.h"
#include "spool/spool_internal.h"

#include <errno.h>
#include <unistd.h>

enum { SYNC_MS = 1000 };

/* -- writing ----------------------------------------------------------------------- */

static bool is_full(int reason)
{
    return reason == ENOSPC || reason == EDQUOT || tide_errno_is_transient(reason);
}

int tide_spool_sync_now(tide_spool *spool, tide_error *err)
{
    int reason = spool->unsynced ? tide_file_sync(spool->file) : 0;
    if (reason)
        return tide_spool_fail(spool, "cannot sync", reason, err);
    spool->unsynced = false;
    return TIDE_OK;
}

int tide_spool_sync_due(tide_spool *spool, tide_error *err)
{
    bool due = spool->sync == TIDE_SPOOL_SYNC_ALWAYS ||
               (spool->sync == TIDE_SPOOL_SYNC_SECOND &&
                tide_now_ms() - spool->unsynced_ms >= SYNC_MS);
    return due ? tide_spool_sync_now(spool, err) : TIDE_OK;
}

/* Appends `size` bytes of `writing` to the last segment, or changes nothing. */
static int append_bytes(tide_spool *spool, size_t size, tide_error *err)
{
    int reason = tide_file_write(spool->file, spool->writing, size, spool->size);
    /* Part of the bytes may have been written. If that cannot be undone, the file's end
     * is unknown and the spool must not be used any more. */
    if (reason && ftruncate(spool->file, (off_t)spool->size) != 0)
        return tide_spool_fail(spool, "cannot undo a failed write", errno, err);
    if (reason && is_full(reason))
        return TIDE_SPOOL_FULL;
    if (reason)
        return tide_spool_fail(spool, "cannot write", reason, err);
    spool->size += size;
    spool->extent.bytes += size;
    return TIDE_OK;
}

/* Starts the next segment. The current one is synced first, so that only the last
 * segment can be incomplete after a crash. */
static int start_segment(tide_spool *spool, tide_error *err)
{
    const tide_segment next = {spool->extent.stream, spool->last + 1, spool->first,
                               spool->extent.end};
    int status = tide_spool_sync_now(spool, err);
    if (status)
        return status;
    int reason = tide_spool_create_segment(spool, &next);
    if (reason && is_full(reason))
        return TIDE_SPOOL_FULL;
    return reason ? tide_spool_fail(spool, "cannot create a segment", reason, err)
                  : TIDE_OK;
}

/* Starts a new segment if the last one cannot hold `size` bytes more. */
static int ensure_capacity(tide_spool *spool, uint64_t size, tide_error *err)
{
    bool fits =
        spool->size == TIDE_SEGMENT_HEADER || spool->size + size <= spool->segment_max;
    return fits ? TIDE_OK : start_segment(spool, err);
}

/* Adds the text that was written at this position of the last segment to the stream. */
static int extend_stream(tide_spool *spool, uint64_t position, size_t size,
                         bool consumed, tide_error *err)
{
    if (!spool->unsynced)
        spool->unsynced_ms = tide_now_ms();
    spool->unsynced = true;
    spool->latest = position;
    spool->extent.end += size;
    spool->extent.consumed = consumed;
    return tide_spool_sync_due(spool, err);
}

/* Writes a piece, whose text is in `writing` behind its header, and a mark if it is
 * consumed. */
static int write_piece(tide_spool *spool, size_t length, uint64_t offset, bool consumed,
                       tide_error *err)
{
    uint64_t stream = spool->extent.stream;
    size_t size = tide_piece_encode(spool->writing, length, stream, offset);
    if (consumed)
        size += tide_piece_encode(spool->writing + size, 0, stream, offset + length);
    return append_bytes(spool, size, err);
}

int tide_spool_append(tide_spool *spool, const void *bytes, size_t size, bool consumed,
                      tide_error *err)
{
    int status = ensure_capacity(spool, size + 2 * TIDE_PIECE_HEADER, err);
    if (status)
        return status;
    uint64_t position = spool->size;
    memcpy(spool->writing + TIDE_PIECE_HEADER, bytes, size);
    status = write_piece(spool, size, spool->extent.end, consumed, err);
    return status ? status : extend_stream(spool, position, size, consumed, err);
}

uint64_t tide_spool_size_of_lines(uint64_t size)
{
    return TIDE_SEGMENT_HEADER + size +
           (size / TIDE_PIECE_TEXT + 2) * TIDE_PIECE_HEADER;
}

/* Writes all pieces of the lines: `size` bytes, or `whole` bytes with a line feed. */
static int write_lines(tide_spool *spool, const char *lines, size_t size, size_t whole,
                       tide_error *err)
{
    unsigned char *text = spool->writing + TIDE_PIECE_HEADER;
    int status = TIDE_OK;
    for (size_t at = 0, length; at < whole && !status; at += length) {
        length = whole - at < TIDE_PIECE_TEXT ? whole - at : TIDE_PIECE_TEXT;
        /* The line feed that may be missing is written first. Unless this is the last
         * piece of lines without one, the copy overwrites it. */
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
    /* All pieces go into one segment, so that a failure can be undone by truncating one
     * file. */
    int status = ensure_capacity(spool, tide_spool_size_of_lines(whole), err);
    if (status)
        return status;
    uint64_t position = spool->size, bytes = spool->extent.bytes;
    status = write_lines(spool, lines, size, whole, err);
    if (!status)
        return extend_stream(spool, position, whole, true, err);
    if (ftruncate(spool->file, (off_t)position) != 0)
        return tide_spool_fail(spool, "cannot undo a failed write", errno, err);
    spool->size = position;
    spool->extent.bytes = bytes;
    return status;
}

int tide_spool_pin_file(tide_spool *spool)
{
    spool->pinned = spool->file;
    return spool->pinned;
}

void tide_spool_unpin_file(tide_spool *spool)
{
    if (spool->pinned != spool->file)
        close(spool->pinned);
    spool->pinned = -1;
}

/* A piece that is followed by another was consumed, too; so the mark may be omitted if
 * the disk is full. It need not be synced either: no pipe survives a power failure. */
int tide_spool_mark_consumed(tide_spool *spool, tide_error *err)
{
    size_t size =
        tide_piece_encode(spool->writing, 0, spool->extent.stream, spool->extent.end);
    int status = append_bytes(spool, size, err);
    spool->extent.consumed = status >= 0;
    return status < 0 ? status : TIDE_OK;
}

/* -- reading ----------------------------------------------------------------------- */

ptrdiff_t tide_spool_unmarked_piece(const tide_spool *spool,
                                    unsigned char bytes[TIDE_PIECE_TEXT],
                                    tide_error *err)
{
    if (spool->extent.consumed)
        return 0;
    size_t size = (size_t)(spool->size - spool->latest) - TIDE_PIECE_HEADER;
    ptrdiff_t count =
        tide_file_read(spool->file, bytes, size, spool->latest + TIDE_PIECE_HEADER);
    if (count < 0)
        return tide_spool_fail(spool, "cannot read a segment", errno, err);
    return (size_t)count == size
               ? count
               : tide_spool_corrupt(spool, spool->last, spool->latest, err);
}

int tide_spool_start_reading(tide_spool *spool, uint64_t number, tide_error *err)
{
    tide_segment segment;
    int file = tide_spool_open_segment(spool, number, &segment, err);
    if (file < 0)
        return file;
    if (spool->reading >= 0)
        close(spool->reading);
    spool->reading = file;
    spool->piece.length = spool->returned = 0;
    tide_segment_reader_init(&spool->reader, file, &segment);
    return TIDE_OK;
}

static int open_next_segment(tide_spool *spool, tide_error *err)
{
    uint64_t offset = spool->reader.offset, number = spool->reader.segment.number;
    uint64_t end = tide_segment_position(&spool->reader);
    int status = tide_spool_start_reading(spool, number + 1, err);
    if (!status && spool->reader.offset != offset)
        status = tide_spool_corrupt(spool, number, end, err);
    return status;
}

/* Reads the next piece, across segments. Returns 1, 0 if there is none, or an error. */
static int next_piece(tide_spool *spool, tide_error *err)
{
    tide_segment_reader *reader = &spool->reader;
    tide_piece_state state = tide_segment_next(reader, &spool->piece);
    int status = TIDE_OK;
    while (!status && state == TIDE_PIECE_END && reader->segment.number < spool->last) {
        status = open_next_segment(spool, err);
        if (!status)
            state = tide_segment_next(reader, &spool->piece);
    }
    spool->returned = 0;
    if (!status && state == TIDE_PIECE_GOOD)
        return 1;
    spool->piece.length = 0;
    if (!status && state == TIDE_PIECE_UNREADABLE)
        status = tide_spool_fail(spool, "cannot read a segment", errno, err);
    else if (!status && state != TIDE_PIECE_END)
        status = tide_spool_corrupt(spool, reader->segment.number,
                                    tide_segment_position(reader), err);
    return status;
}

ptrdiff_t tide_spool_read(tide_spool *spool, void *bytes, size_t capacity,
                          tide_error *err)
{
    while (spool->returned == spool->piece.length) {
        int found = next_piece(spool, err);
        if (found <= 0)
            return found;
    }
    size_t left = spool->piece.length - spool->returned,
           count = left < capacity ? left : capacity;
    memcpy(bytes, spool->piece.text + spool->returned, count);
    spool->returned += count;
    return (ptrdiff_t)count;
}

int tide_spool_seek(tide_spool *spool, uint64_t offset, tide_error *err)
{
    uint64_t number = spool->last + 1;
    int status;
    /* Usually the offset is in the last segment, so the search goes backwards. */
    do
        status = tide_spool_start_reading(spool, --number, err);
    while (!status && spool->reader.offset > offset && number > spool->first);
    /* Pieces have no index: they are read, and verified, up to the offset. The last one
     * may extend beyond it; then its tail is what is read next. */
    while (!status && spool->reader.offset < offset) {
        int found = next_piece(spool, err);
        status = found < 0 ? found
                 : found > 0
                     ? TIDE_OK
                     : tide_spool_corrupt(spool, spool->reader.segment.number,
                                          tide_segment_position(&spool->reader), err);
    }
    if (!status)
        spool->returned = spool->piece.length - (size_t)(spool->reader.offset - offset);
    return status;
}

/* -- dropping ---------------------------------------------------------------------- */

/* Drops all text. Returns 0, or an errno if nothing has changed. */
static int reset(tide_spool *spool, uint64_t stream, uint64_t offset)
{
    uint64_t old_first = spool->first, old_last = spool->last, number = old_last + 1;
    /* The new segment names itself as the first, which makes all others obsolete in the
     * same moment in which it becomes visible. */
    const tide_segment segment = {stream, number, number, offset};
    int reason = tide_spool_create_segment(spool, &segment);
    if (reason)
        return reason;
    spool->first = number;
    spool->unsynced = false;
    spool->extent = (tide_spool_extent){
        stream, offset, offset, TIDE_SEGMENT_HEADER, spool->extent.cut, true};
    /* Removing them only frees space. What cannot be removed now is removed later. */
    for (uint64_t old = old_first; old <= old_last; old++)
        if (tide_spool_remove_segment(spool, old, NULL))
            spool->obsolete_files = true;
    (void)tide_directory_sync(spool->folder);
    return 0;
}

int tide_spool_reset(tide_spool *spool, uint64_t stream, uint64_t offset,
                     tide_error *err)
{
    int reason = reset(spool, stream, offset);
    return reason ? tide_spool_fail(spool, "cannot create a segment", reason, err)
                  : TIDE_OK;
}

/* Removes the oldest segment if the next one starts at or before the offset. Returns 1
 * if it did. */
static int drop_oldest_segment(tide_spool *spool, uint64_t offset, tide_error *err)
{
    tide_segment next, oldest;
    uint64_t next_size, size;
    int status =
        tide_spool_read_header(spool, spool->first + 1, &next, &next_size, err);
    if (status || next.offset > offset)
        return status;
    status = tide_spool_read_header(spool, spool->first, &oldest, &size, err);
    if (!status)
        status = tide_spool_remove_segment(spool, spool->first, err);
    if (status)
        return status;
    spool->first++;
    spool->extent.bytes -= size;
    spool->extent.start = next.offset;
    return 1;
}

/* A power failure may undo the removal of any of the segments. Segments before a gap
 * are ignored when the spool is opened (spool_open.c), so one sync after all removals
 * is enough. */
int tide_spool_drop(tide_spool *spool, uint64_t offset, tide_error *err)
{
    const tide_spool_extent *e = &spool->extent;
    bool full = false;
    /* Segments that could not be removed at the time; listing removes what is below
     * `min`. */
    tide_spool_listing l = {.min = spool->first};
    if (spool->obsolete_files && !tide_spool_list(spool, &l, NULL))
        spool->obsolete_files = false;
    /* Everything has been learned, so all of it can go at once. If there is no space
     * for the new segment, whole segments before the last can still be removed. */
    if (offset >= e->end && e->start < e->end) {
        int reason = reset(spool, e->stream, e->end);
        if (!reason)
            return tide_spool_start_reading(spool, spool->last, err);
        full = is_full(reason);
        if (!full)
            return tide_spool_fail(spool, "cannot create a segment", reason, err);
    }
    int dropped = 0, more = 1;
    for (; spool->first < spool->last && more > 0; dropped += more > 0)
        more = drop_oldest_segment(spool, offset, err);
    if (dropped)
        (void)tide_directory_sync(spool->folder);
    return more < 0 ? more : full ? TIDE_SPOOL_FULL : TIDE_OK;
}

tide_spool_extent tide_spool_extent_of(const tide_spool *spool)
{
    return spool->extent;
}
