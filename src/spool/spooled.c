/* spooled.c - a spool as a source: its text is given out from a place, and leaves when a
 * saved model has learned it.
 *
 * A place is "STREAM OFFSET", in hexadecimal and decimal digits. One that the spool does
 * not have is an error, not a reason to begin somewhere else.
 *
 * At the end of the text a source asks to be saved, and ends when there is none in the
 * spool any more. So there is no moment at which a model that knows no place, because it
 * has come to the end, stands beside a spool whose text it has learned.
 */
#include "source/source.h"
#include "spool/spool.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT_INITIAL ((uint64_t)1 << 30)
#define LIMIT_LEAST ((uint64_t)1 << 20)

enum {
    SEGMENT_MAX = 64 << 20, /* bytes */
    RETRY_MS = 10,
    SEGMENTS_LEAST = 8, /* so that a part of a small spool can be dropped, too */
};

/* -- opening and closing ------------------------------------------------------------- */

static int open_spool(tide_spooled *s, const tide_spooled_options *options,
                      tide_error *err)
{
    uint64_t part = s->limit / SEGMENTS_LEAST;
    s->spool = tide_spool_open(options->path, part < SEGMENT_MAX ? part : SEGMENT_MAX,
                               options->sync, err);
    if (!s->spool)
        return TIDE_ERROR_IO;
    return options->untaken_is_void ? tide_spool_forget_untaken(s->spool, err)
                                    : TIDE_OK;
}

int tide_spooled_open(tide_spooled *s, const tide_spooled_options *options,
                      tide_error *err)
{
    *s = (tide_spooled){.limit = options->limit ? options->limit : LIMIT_INITIAL};
    if (s->limit < LIMIT_LEAST)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "a spool needs 1 MiB or more");
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
    s->given = s->saved = e.start < e.end ? e.start : 0;
    if (e.cut)
        TIDE_SPOOLED_TELL(s,
                          "the end of spool %s was torn; %" PRIu64
                          " bytes that were not written whole are cut off",
                          s->path, e.cut);
    return TIDE_OK;
}

void tide_spooled_close(tide_spooled *s)
{
    tide_spool_close(s->spool);
    free(s->path);
}

/* -- beginning ----------------------------------------------------------------------- */

/* No model has learned any of it, or the caller does not mind. */
static int begin_unplaced(tide_spooled *s, bool from_start, tide_error *err)
{
    tide_spool_extent e = tide_spool_extent_of(s->spool);
    if (e.start < e.end && e.start > 0 && !from_start)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "spool %s: another model has learned the first %" PRIu64
                         " bytes of its stream; resume that one, or read the rest with "
                         "--from-start",
                         s->path, e.start);
    int status = TIDE_OK;
    if (e.start == e.end && e.end > 0)
        status = tide_spool_begin(s->spool, tide_secret(), 0, err);
    s->given = s->saved = tide_spool_extent_of(s->spool).start;
    return status ? status : tide_spool_seek(s->spool, s->given, err);
}

int tide_spooled_begin(tide_spooled *s, bool from_start, tide_error *err)
{
    return s->placed ? TIDE_OK : begin_unplaced(s, from_start, err);
}

/* -- reading ------------------------------------------------------------------------- */

ptrdiff_t tide_spooled_read(tide_spooled *s, void *bytes, size_t room, tide_error *err)
{
    ptrdiff_t count = tide_spool_read(s->spool, bytes, room, err);
    if (count > 0)
        s->given += (uint64_t)count;
    else if (count == TIDE_SOURCE_LATER)
        poll(NULL, 0, RETRY_MS);
    return count;
}

/* A spool that cannot be emptied would be read again by the model that has come to its
 * end. */
int tide_spooled_end(tide_spooled *s, tide_error *err)
{
    if (s->given > s->saved)
        return TIDE_SOURCE_SAVE;
    int status = tide_spool_drop(s->spool, s->saved, err);
    if (status != TIDE_SPOOL_FULL)
        return status;
    poll(NULL, 0, RETRY_MS);
    return TIDE_SOURCE_LATER;
}

/* -- places -------------------------------------------------------------------------- */

char *tide_spooled_place(const tide_spooled *s, uint64_t offset, tide_error *err)
{
    char *place = NULL;
    if (asprintf(&place, "%016" PRIx64 " %" PRIu64,
                 tide_spool_extent_of(s->spool).stream, offset) < 0) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a place in spool %s", s->path);
        return NULL;
    }
    return place;
}

static int parse(const tide_spooled *s, const char *place, uint64_t *offset,
                 tide_error *err)
{
    uint64_t stream = 0;
    int length = -1;
    *offset = 0;
    sscanf(place, "%16" SCNx64 " %20" SCNu64 "%n", &stream, offset, &length);
    if (length < 0 || place[length] != '\0' || *offset > INT64_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "'%s' is no place in a spool",
                         place);
    if (stream != tide_spool_extent_of(s->spool).stream)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "spool %s has nothing of the stream that the model has read; "
                         "name the right one, or leave the place with --from-start",
                         s->path);
    return TIDE_OK;
}

/* What a power failure took from the end of the spool the model has learned. */
int tide_spooled_go_to(tide_spooled *s, const char *place, tide_error *err)
{
    uint64_t offset;
    int status = parse(s, place, &offset, err);
    if (status)
        return status;
    tide_spool_extent e = tide_spool_extent_of(s->spool);
    if (offset < e.start)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "spool %s has the text from byte %" PRIu64
                         " on, but the model has come no further than byte %" PRIu64
                         "; resume a later one, or read the rest with --from-start",
                         s->path, e.start, offset);
    if (offset > e.end)
        status = tide_spool_begin(s->spool, e.stream, offset, err);
    if (!status)
        status = tide_spool_seek(s->spool, offset, err);
    s->given = s->saved = offset;
    s->placed = !status;
    return status;
}

int tide_spooled_saved(tide_spooled *s, const char *place, tide_error *err)
{
    uint64_t offset;
    int status = parse(s, place, &offset, err);
    if (status)
        return status;
    s->saved = offset;
    status = tide_spool_drop(s->spool, offset, err);
    return status == TIDE_SPOOL_FULL || status == TIDE_SOURCE_LATER ? TIDE_OK : status;
}

const char *tide_spooled_news(tide_spooled *s)
{
    bool is_news = s->is_news;
    s->is_news = false;
    return is_news ? s->news.text : NULL;
}
