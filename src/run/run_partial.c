/* run_partial.c - buffers the incomplete line or record of a source that is read in
 * turns.
 *
 * Text of two sources must not be mixed, and the ingest reads one text at a time. So
 * when a source ends its turn, everything after its last complete line is buffered
 * here, and so is an unfinished record of several lines, which the ingest returns. The
 * position of the source is where that buffer starts. Nothing else waits for the
 * missing end: other sources have their turns, the model is saved, and the run can
 * stop.
 *
 * At most PARTIAL_MAX bytes are buffered. A longer record is too long for the reader in
 * any case, and only the number of its bytes is kept. A longer line of text is split
 * after the last white space within the limit. Where lines and records start and end,
 * and so what is buffered and where a line is split, does not depend on how the text
 * was cut into reads.
 */
#include "reader/reader.h"
#include "run/run_internal.h"
#include "source/source.h"
#include "train/train.h"

#include <stdlib.h>

static bool has_partial(const tide_run_input *s)
{
    return s->partial_size || s->skipped;
}

char *tide_run_position(const tide_run_input *s, uint64_t offset, tide_error *err)
{
    /* Everything up to the offset of the source has been read, but the buffered end of
     * it has not been learned. So the position is where the buffer starts. */
    bool is_partial = has_partial(s) && offset == tide_source_offset(s->source);
    if (!is_partial || !s->partial_position)
        return tide_source_position(s->source, is_partial ? s->partial_start : offset,
                                    err);
    char *position = strdup(s->partial_position);
    if (!position)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a position in %s", s->spec);
    return position;
}

/* Records the position of the buffer while the source still has it. After a rotation of
 * the file it would be too late. */
static void note_start(tide_run_input *s, uint64_t offset)
{
    if (s->partial_position && s->partial_start == offset)
        return;
    free(s->partial_position);
    s->partial_start = offset;
    s->partial_position =
        s->replayable ? tide_source_position(s->source, offset, NULL) : NULL;
}

void tide_run_flush_partial(tide_run_state *r, tide_run_input *s)
{
    if (!has_partial(s))
        return;
    tide_reader_set_plain(tide_ingest_reader(r->ingest), tide_source_plain(s->source));
    /* The start of an overlong record was not kept. The reader gets the number of
     * missing bytes instead, so that it still counts the record as one that is too
     * long. */
    if (s->skipped)
        tide_reader_skip(tide_ingest_reader(r->ingest), s->skipped);
    tide_ingest_feed(r->ingest, s->partial, s->partial_size);
    s->partial_size = 0;
    s->skipped = 0;
}

/* Moves the unfinished record from the ingest to the buffer. Everything before `offset`
 * has been fed. */
static void buffer_record(tide_run_state *r, tide_run_input *s, uint64_t offset)
{
    if (tide_ingest_at_boundary(r->ingest) ||
        !tide_reader_in_records(tide_ingest_reader(r->ingest)))
        return;
    s->partial_size =
        tide_reader_unread(tide_ingest_reader(r->ingest), s->partial, &s->skipped);
    note_start(s, offset - s->partial_size - s->skipped);
}

/* Where to split a line: after the last white space, or else before a UTF-8 character
 * that may be incomplete. */
static size_t split_point(const char *text, size_t size)
{
    for (size_t at = size; at > 0; at--)
        if ((unsigned char)text[at - 1] <= ' ')
            return at;
    /* No white space in a mebibyte. Move back over continuation bytes to the lead byte
     * of the last character, which may continue in the next part; an ASCII byte is
     * complete. */
    size_t at = size - 1;
    while (at + 4 > size && tide_utf8_inside((unsigned char)text[at]))
        at--;
    return (unsigned char)text[at] < 0x80 ? size : at;
}

static void split_line(tide_run_state *r, tide_run_input *s, uint64_t offset)
{
    size_t part = split_point(s->partial, s->partial_size),
           rest = s->partial_size - part;
    tide_ingest_feed(r->ingest, s->partial, part);
    tide_ingest_feed(r->ingest, "\n", 1);
    memmove(s->partial, s->partial + part, rest);
    s->partial_size = rest;
    note_start(s, offset - rest);
    if (!s->reported_split)
        tide_run_note(r, true, s->spec,
                      "a line longer than 1 MiB was split, because several sources are "
                      "read in turns");
    s->reported_split = true;
}

static void buffer_partial(tide_run_state *r, tide_run_input *s, const char *bytes,
                           size_t size, uint64_t offset)
{
    while (size > 0) {
        size_t space = PARTIAL_MAX - s->partial_size,
               part = size < space ? size : space;
        if (!has_partial(s))
            note_start(s, offset);
        memcpy(s->partial + s->partial_size, bytes, part);
        s->partial_size += part;
        bytes += part;
        size -= part;
        offset += part;
        /* All of it fits, and the record or line is still incomplete. */
        if (s->partial_size < PARTIAL_MAX)
            return;
        /* The buffer is full. The reader gets the record, which it now knows to be too
         * long, and returns what it still needs: mostly a number of bytes to skip. */
        if (tide_reader_in_records(tide_ingest_reader(r->ingest))) {
            tide_run_flush_partial(r, s);
            buffer_record(r, s, offset);
        } else {
            split_line(r, s, offset);
        }
    }
}

int tide_run_feed_complete(tide_run_state *r, tide_run_input *s, const char *bytes,
                           size_t size, tide_error *err)
{
    /* Everything up to the last line feed can be fed now; what follows must wait for
     * the rest of its line. */
    const char *last_newline = memrchr(bytes, '\n', size);
    size_t complete_size = last_newline ? (size_t)(last_newline - bytes) + 1 : 0,
           used = 0;
    uint64_t start = tide_source_offset(s->source) - size;
    /* First complete the buffered line. */
    if (complete_size && has_partial(s)) {
        used = (size_t)((const char *)memchr(bytes, '\n', size) - bytes) + 1;
        buffer_partial(r, s, bytes, used, start);
        tide_run_flush_partial(r, s);
    }
    int status = CONTINUES;
    if (complete_size)
        status =
            tide_run_feed(r, s, bytes + used, complete_size - used, start + used, err);
    if (status != CONTINUES)
        return status;
    /* A record may extend over several lines. If the fed lines end inside one, its
     * bytes come back from the ingest, followed by the incomplete line. */
    buffer_record(r, s, start + complete_size);
    buffer_partial(r, s, bytes + complete_size, size - complete_size,
                   start + complete_size);
    return tide_run_pause_at(r, s, start + size, err);
}
