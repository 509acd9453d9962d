/* spool_reader.c - reading a spool as a source: text is returned from a position on,
 * and dropped when a saved model has learned it.
 *
 * A position is "STREAM OFFSET", in hexadecimal and decimal digits. If the spool does
 * not have it, that is an error, not a reason to start somewhere else.
 *
 * At the end of the text the source asks for a save, and ends when the spool is empty.
 * A model that has read a source to its end records no position for it. So the spool
 * must not have text any more by then, or the next run would read that text again.
 */
#include "source/source.h"
#include "spool/spool.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT_DEFAULT ((uint64_t)1 << 30)
#define LIMIT_MIN ((uint64_t)1 << 20)

enum {
    SEGMENT_MAX = 64 << 20, /* bytes */
    RETRY_MS = 10,
    SEGMENTS_MIN = 8, /* so that a small spool can be dropped in parts, too */
};

/* -- opening and closing ----------------------------------------------------------- */

static int open_spool(tide_spool_reader *s, const tide_spool_reader_options *options,
                      tide_error *err)
{
    /* Space is freed by whole segments, so they must be a good deal smaller than the
     * limit. */
    uint64_t part = s->limit / SEGMENTS_MIN;
    s->spool = tide_spool_open(options->path, part < SEGMENT_MAX ? part : SEGMENT_MAX,
                               options->sync, err);
    if (!s->spool)
        return TIDE_ERROR_IO;
    return options->discard_unmarked ? tide_spool_discard_unmarked(s->spool, err)
                                     : TIDE_OK;
}

int tide_spool_reader_open(tide_spool_reader *s,
                           const tide_spool_reader_options *options, tide_error *err)
{
    *s = (tide_spool_reader){.limit = options->limit ? options->limit : LIMIT_DEFAULT};
    if (s->limit < LIMIT_MIN)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "the limit of a spool must be 1 MiB or more");
    size_t size = strlen(options->path) + 1;
    s->path = tide_alloc(1, size);
    if (!s->path)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for spool %s",
                         options->path);
    memcpy(s->path, options->path, size);
    int status = open_spool(s, options, err);
    if (status)
        return status;
    tide_spool_extent e = tide_spool_extent_of(s->spool);
    /* An empty spool belongs to no stream yet; the first text will be at offset 0 of a
     * new one. */
    s->returned = s->saved = e.start < e.end ? e.start : 0;
    if (e.cut)
        TIDE_SPOOL_READER_NOTIFY(s,
                                 "the end of spool %s was incomplete; cut off %" PRIu64
                                 " bytes of an interrupted write",
                                 s->path, e.cut);
    return TIDE_OK;
}

void tide_spool_reader_close(tide_spool_reader *s)
{
    tide_spool_close(s->spool);
    free(s->path);
}

/* -- starting ---------------------------------------------------------------------- */

/* Starts at the oldest text, if no model has learned any of the stream or from_start
 * says to ignore that. */
static int start_without_position(tide_spool_reader *s, bool from_start,
                                  tide_error *err)
{
    tide_spool_extent e = tide_spool_extent_of(s->spool);
    /* Text was dropped because a model had learned it, but that is not the model being
     * trained now. Continuing would silently skip that text. */
    if (e.start < e.end && e.start > 0 && !from_start)
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "spool %s: another model has learned the first %" PRIu64
            " bytes of its stream; resume that model, or set from-start to "
            "read the rest",
            s->path, e.start);
    int status = TIDE_OK;
    /* Nothing is left of the old stream. A new one gets a number of its own, so that
     * positions of models that read the old one do not fit by accident. */
    if (e.start == e.end && e.end > 0)
        status = tide_spool_reset(s->spool, tide_secret(), 0, err);
    s->returned = s->saved = tide_spool_extent_of(s->spool).start;
    return status ? status : tide_spool_seek(s->spool, s->returned, err);
}

int tide_spool_reader_start(tide_spool_reader *s, bool from_start, tide_error *err)
{
    return s->has_position ? TIDE_OK : start_without_position(s, from_start, err);
}

/* -- reading ----------------------------------------------------------------------- */

ptrdiff_t tide_spool_reader_read(tide_spool_reader *s, void *bytes, size_t capacity,
                                 tide_error *err)
{
    ptrdiff_t count = tide_spool_read(s->spool, bytes, capacity, err);
    if (count > 0)
        s->returned += (uint64_t)count;
    else if (count == TIDE_SOURCE_LATER)
        poll(NULL, 0, RETRY_MS);
    return count;
}

/* Do not report the end before the spool is empty, or the next run would read what is
 * left again. */
int tide_spool_reader_finish(tide_spool_reader *s, tide_error *err)
{
    if (s->returned > s->saved)
        return TIDE_SOURCE_SAVE;
    int status = tide_spool_drop(s->spool, s->saved, err);
    if (status != TIDE_SPOOL_FULL)
        return status;
    poll(NULL, 0, RETRY_MS);
    return TIDE_SOURCE_LATER;
}

/* -- positions --------------------------------------------------------------------- */

char *tide_spool_reader_position(const tide_spool_reader *s, uint64_t offset,
                                 tide_error *err)
{
    char *position = NULL;
    if (asprintf(&position, "%016" PRIx64 " %" PRIu64,
                 tide_spool_extent_of(s->spool).stream, offset) < 0) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a position in spool %s",
                  s->path);
        return NULL;
    }
    return position;
}

static int parse_position(const tide_spool_reader *s, const char *position,
                          uint64_t *offset, tide_error *err)
{
    uint64_t stream = 0;
    int length = -1;
    *offset = 0;
    sscanf(position, "%16" SCNx64 " %20" SCNu64 "%n", &stream, offset, &length);
    if (length < 0 || position[length] != '\0' || *offset > INT64_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "'%s' is not a valid position in a spool", position);
    if (stream != tide_spool_extent_of(s->spool).stream)
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "spool %s does not have the stream that the model has read; "
            "name the right spool, or set from-start to ignore the position",
            s->path);
    return TIDE_OK;
}

/* If the offset is behind the end, a power failure has removed text that the model has
 * learned already; then the spool continues at the offset. */
int tide_spool_reader_seek(tide_spool_reader *s, const char *position, tide_error *err)
{
    uint64_t offset;
    int status = parse_position(s, position, &offset, err);
    if (status)
        return status;
    tide_spool_extent e = tide_spool_extent_of(s->spool);
    if (offset < e.start)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "spool %s starts at byte %" PRIu64
                         ", but the model has read only up to byte %" PRIu64
                         "; resume a later model, or set from-start to read the rest",
                         s->path, e.start, offset);
    if (offset > e.end)
        status = tide_spool_reset(s->spool, e.stream, offset, err);
    if (!status)
        status = tide_spool_seek(s->spool, offset, err);
    s->returned = s->saved = offset;
    s->has_position = !status;
    return status;
}

int tide_spool_reader_saved(tide_spool_reader *s, const char *position, tide_error *err)
{
    uint64_t offset;
    int status = parse_position(s, position, &offset, err);
    if (status)
        return status;
    s->saved = offset;
    /* A full disk only means that obsolete text stays for now. */
    status = tide_spool_drop(s->spool, offset, err);
    return status == TIDE_SPOOL_FULL || status == TIDE_SOURCE_LATER ? TIDE_OK : status;
}

const char *tide_spool_reader_notice(tide_spool_reader *s)
{
    bool had_notice = s->has_notice;
    s->has_notice = false;
    return had_notice ? s->notice.text : NULL;
}
