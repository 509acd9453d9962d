/* run_partial.c - sources that take turns: a line or record that is not complete waits outside the intake.
 *
 * Text of two sources must not be mixed, and the intake reads one text at a time. So when a source gives up its turn,
 * nothing of it is half read: what comes after its last complete line is held here, and so is a record of several
 * lines that has no end yet, which the intake gives back. The place of the source is where that begins. Nothing
 * else waits for it: other sources have their turns, the model is saved, and a run can stop.
 *
 * At most HELD_MAX bytes are held. A record that is longer is too long anyway; what is kept of it is a number. A line
 * of text that is longer is divided behind its last white space within them. Where a line or record begins and
 * ends, and so what is held or divided, does not depend on how its text was cut into reads.
 */
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <stdlib.h>

static bool holds(const tide_reading *s)
{
    return s->held_size || s->skipped;
}

char *tide_run_place(const tide_reading *s, uint64_t offset, tide_error *err)
{
    bool held = holds(s) && offset == tide_source_offset(s->source);
    if (!held || !s->held_place)
        return tide_source_place(s->source, held ? s->held_start : offset, err);
    char *place = strdup(s->held_place);
    if (!place)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a place in %s", s->spec);
    return place;
}

/* The source can still tell the place now; not when a file was rotated meanwhile. */
static void note_start(tide_reading *s, uint64_t offset)
{
    if (s->held_place && s->held_start == offset)
        return;
    free(s->held_place);
    s->held_start = offset;
    s->held_place = s->replayable ? tide_source_place(s->source, offset, NULL) : NULL;
}

void tide_run_flush_partial(tide_run_state *r, tide_reading *s)
{
    if (!holds(s))
        return;
    tide_ingest_set_plain(r->intake, tide_source_plain(s->source));
    if (s->skipped)
        tide_ingest_skip(r->intake, s->skipped);
    tide_ingest_feed(r->intake, s->held, s->held_size);
    s->held_size = 0;
    s->skipped = 0;
}

/* What the intake has of a record that is not complete. All before `offset` was fed. */
static void hold_record(tide_run_state *r, tide_reading *s, uint64_t offset)
{
    if (tide_ingest_at_boundary(r->intake) || !tide_ingest_in_records(r->intake))
        return;
    s->held_size = tide_ingest_unread(r->intake, s->held, &s->skipped);
    note_start(s, offset - s->held_size - s->skipped);
}

/* Where to divide a line: behind white space, or else before a character that may not be complete. */
static size_t division(const char *text, size_t size)
{
    for (size_t at = size; at > 0; at--)
        if ((unsigned char)text[at - 1] <= ' ')
            return at;
    size_t at = size - 1;
    while (at + 4 > size && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return (unsigned char)text[at] < 0x80 ? size : at;
}

static void divide(tide_run_state *r, tide_reading *s, uint64_t offset)
{
    size_t part = division(s->held, s->held_size), rest = s->held_size - part;
    tide_ingest_feed(r->intake, s->held, part);
    tide_ingest_feed(r->intake, "\n", 1);
    memmove(s->held, s->held + part, rest);
    s->held_size = rest;
    note_start(s, offset - rest);
    if (!s->told_divided)
        tide_run_note(r, true, s->spec,
                      "a line of more than 1 MiB is divided, since other sources are "
                      "read at the same time");
    s->told_divided = true;
}

static void hold(tide_run_state *r, tide_reading *s, const char *bytes, size_t size,
                 uint64_t offset)
{
    while (size > 0) {
        size_t room = HELD_MAX - s->held_size, part = size < room ? size : room;
        if (!holds(s))
            note_start(s, offset);
        memcpy(s->held + s->held_size, bytes, part);
        s->held_size += part;
        bytes += part;
        size -= part;
        offset += part;
        if (s->held_size < HELD_MAX)
            return;
        if (tide_ingest_in_records(r->intake)) {
            tide_run_flush_partial(r, s);
            hold_record(r, s, offset);
        } else {
            divide(r, s, offset);
        }
    }
}

int tide_run_feed_whole(tide_run_state *r, tide_reading *s, const char *bytes,
                        size_t size, tide_error *err)
{
    const char *last = memrchr(bytes, '\n', size);
    size_t complete = last ? (size_t)(last - bytes) + 1 : 0, used = 0;
    uint64_t start = tide_source_offset(s->source) - size;
    if (complete && holds(s)) {
        used = (size_t)((const char *)memchr(bytes, '\n', size) - bytes) + 1;
        hold(r, s, bytes, used, start);
        tide_run_flush_partial(r, s);
    }
    int status = GOES_ON;
    if (complete)
        status = tide_run_feed(r, s, bytes + used, complete - used, start + used, err);
    if (status != GOES_ON)
        return status;
    hold_record(r, s, start + complete);
    hold(r, s, bytes + complete, size - complete, start + complete);
    return tide_run_pause_at(r, s, start + size, err);
}
