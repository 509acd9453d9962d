/* source_spool.c - a pipe whose text is written to disk before it is learned.
 *
 * A pipe cannot be read again, but a spool can. So text goes from the pipe to the
 * spool, and from there to the reader; a position is one in the spool, and text that a
 * saved model has learned is dropped from it. The next piece is fetched only when
 * everything before was returned, so the spool holds what has arrived since the last
 * save, and the pipe blocks its writer as usual.
 *
 * For each piece:  1. peek it in the pipe    2. append it to the spool
 *                  3. consume it             4. append a mark
 *
 * A kill after step 1 leaves it in the pipe alone, after step 3 in the spool alone.
 * After step 2 it is in both, if another process holds the pipe open: so if the last
 * piece has no mark and the pipe starts with the same bytes, they are assumed to be
 * that piece and consumed. That is wrong only if the kill came between steps 3 and 4
 * and the stream repeats itself right there; then one piece is lost.
 *
 * Compressed text could be decompressed only from its start, and is refused.
 */
#include "decode/decode.h"
#include "detect/detect.h"
#include "source/source.h"
#include "spool/pipe.h"
#include "spool/segment.h"
#include "spool/spool.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    WAIT_MS = 1000, /* if the caller sets no limit */
    UNDECIDED_MS = 10,
    UNDECIDED_MAX = 100,
};

_Static_assert((int)TIDE_PIPE_PEEK_MAX <= (int)TIDE_PIECE_TEXT, "a peek is one piece");

typedef struct spool_source {
    tide_spool_reader text;
    const tide_source_kind *kind; /* of the pipe: stdin or file */
    void *input;
    tide_pipe *pipe;
    tide_expected expected;
    bool from_start;
    bool started;
    bool ended;        /* the pipe */
    int undecided;     /* peeks with too few bytes to know what they are */
    bool waiting;      /* for space on the disk, which was reported */
    size_t block_size; /* bytes that exist only in the block */
    unsigned char block[TIDE_PIPE_PEEK_MAX];
} spool_source;

static bool is_spooled(const char *spec, const tide_source_options *options)
{
    (void)spec;
    return options && options->spool;
}

/* -- starting ---------------------------------------------------------------------- */

/* If the last piece has no mark, consumes it from the pipe if it is still there, and
 * marks it. */
static int recover_last_piece(spool_source *s, tide_error *err)
{
    unsigned char latest[TIDE_PIECE_TEXT];
    ptrdiff_t size = tide_spool_unmarked_piece(s->text.spool, latest, err);
    if (size <= 0)
        return (int)size;
    ptrdiff_t available = tide_pipe_can_peek(s->pipe)
                              ? tide_pipe_peek(s->pipe, s->block, 0, err)
                              : TIDE_SOURCE_LATER;
    if (available < 0 && available != TIDE_SOURCE_LATER)
        return (int)available;
    int status = TIDE_OK;
    /* The kill came before the piece was consumed, so it is in the pipe as well as in
     * the spool. Otherwise it was consumed and only the mark is missing. */
    if (available >= size && memcmp(latest, s->block, (size_t)size) == 0)
        status = tide_pipe_consume(s->pipe, latest, (size_t)size, err);
    return status ? status : tide_spool_mark_consumed(s->text.spool, err);
}

static int start(spool_source *s, tide_error *err)
{
    int status = tide_spool_reader_start(&s->text, s->from_start, err);
    if (!status)
        status = recover_last_piece(s, err);
    s->started = !status;
    return status;
}

/* -- from the pipe into the spool -------------------------------------------------- */

/* Refuses data that is not text. The first bytes may be too few to decide; then it
 * waits for more, but not for long. */
static int refuse_binary(spool_source *s, size_t size, tide_error *err)
{
    tide_compression compression = tide_compression_of(s->block, size);
    tide_detected found = tide_detect((tide_head){s->block, size, false}, s->expected);
    if ((compression.undecided || (found.undecided && !found.kind)) &&
        tide_pipe_can_peek(s->pipe) && s->undecided++ < UNDECIDED_MAX) {
        poll(NULL, 0, UNDECIDED_MS);
        return TIDE_SOURCE_LATER;
    }
    if (compression.decoder)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "compressed data cannot be spooled: decompress the %s data "
                         "before the pipe",
                         compression.decoder->name);
    if (found.kind)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "the pipe has %s, which cannot be read", found.kind->what);
    return TIDE_OK;
}

static int wait_for_space(spool_source *s, bool disk, int wait_ms)
{
    /* Text has been learned since the last save, so a save will free space. */
    if (s->text.returned > s->text.saved)
        return TIDE_SOURCE_SAVE;
    if (!s->waiting)
        TIDE_SPOOL_READER_NOTIFY(&s->text,
                                 "the %s of spool %s is full; waiting for space",
                                 disk ? "disk" : "limit", s->text.path);
    s->waiting = true;
    poll(NULL, 0, wait_ms < 0 ? WAIT_MS : wait_ms);
    return TIDE_SOURCE_LATER;
}

static bool is_full(const spool_source *s)
{
    return tide_spool_extent_of(s->text.spool).bytes + TIDE_PIECE_MAX > s->text.limit;
}

/* Appends the block to the spool, then consumes it and appends the mark. */
static int spool_block(spool_source *s, size_t size, int wait_ms, tide_error *err)
{
    bool can_peek = tide_pipe_can_peek(s->pipe);
    /* Bytes from a device that cannot peek exist only here from now on: if the spool is
     * full, they must be kept for the next attempt. */
    s->block_size = can_peek ? 0 : size;
    int status = tide_spool_append(s->text.spool, s->block, size, !can_peek, err);
    if (status == TIDE_SPOOL_FULL)
        return wait_for_space(s, true, wait_ms);
    if (status)
        return status;
    s->block_size = 0;
    if (s->waiting)
        TIDE_SPOOL_READER_NOTIFY(&s->text, "spool %s has space again", s->text.path);
    s->waiting = false;
    if (can_peek)
        status = tide_pipe_consume(s->pipe, s->block, size, err);
    return status || !can_peek ? status : tide_spool_mark_consumed(s->text.spool, err);
}

/* Moves one piece from the pipe to the spool, or detects the end. Otherwise as read. */
static int fetch(spool_source *s, int wait_ms, tide_error *err)
{
    if (s->block_size)
        return spool_block(s, s->block_size, wait_ms, err);
    if (is_full(s))
        return wait_for_space(s, false, wait_ms);
    ptrdiff_t size = tide_pipe_peek(s->pipe, s->block, wait_ms, err);
    s->ended = size == 0;
    if (size <= 0)
        return (int)size;
    /* Only the start of a stream says what it is. */
    int status = tide_spool_extent_of(s->text.spool).end == 0
                     ? refuse_binary(s, (size_t)size, err)
                     : TIDE_OK;
    return status ? status : spool_block(s, (size_t)size, wait_ms, err);
}

/* -- reading ----------------------------------------------------------------------- */

static ptrdiff_t spooled_read(void *state, void *bytes, size_t capacity, int wait_ms,
                              tide_error *err)
{
    spool_source *s = state;
    int status = s->started ? TIDE_OK : start(s, err);
    if (!status)
        status = tide_spool_sync_due(s->text.spool, err);
    while (!status) {
        /* What is in the spool comes first, in particular what an earlier process left
         * there. */
        ptrdiff_t count = tide_spool_reader_read(&s->text, bytes, capacity, err);
        if (count != 0)
            return count;
        if (s->ended)
            return tide_spool_reader_finish(&s->text, err);
        status = fetch(s, wait_ms, err);
    }
    return status;
}

/* -- positions --------------------------------------------------------------------- */

static bool spooled_can_resume(const void *state)
{
    (void)state;
    return true;
}

static uint64_t spooled_offset(const void *state)
{
    return ((const spool_source *)state)->text.returned;
}

static char *spooled_position(void *state, uint64_t offset, tide_error *err)
{
    return tide_spool_reader_position(&((const spool_source *)state)->text, offset,
                                      err);
}

static int spooled_seek_position(void *state, const char *position, tide_error *err)
{
    return tide_spool_reader_seek(&((spool_source *)state)->text, position, err);
}

static int spooled_saved(void *state, const char *position, tide_error *err)
{
    return tide_spool_reader_saved(&((spool_source *)state)->text, position, err);
}

static const char *spooled_notice(void *state)
{
    return tide_spool_reader_notice(&((spool_source *)state)->text);
}

/* -- opening and closing ----------------------------------------------------------- */

static void spooled_close(void *state)
{
    spool_source *s = state;
    tide_pipe_free(s->pipe);
    if (s->input)
        s->kind->close(s->input);
    tide_spool_reader_close(&s->text);
    free(s);
}

/* Refuses sources that can resume without a spool. */
static int refuse_resumable(const char *spec, tide_error *err)
{
    struct stat status;
    bool standard = strcmp(spec, "-") == 0;
    int unknown = standard ? fstat(0, &status) : stat(spec, &status);
    if (strstr(spec, "://") || strncmp(spec, "demo:", 5) == 0 ||
        (!unknown && S_ISREG(status.st_mode) && !standard))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "a spool is for standard input and named pipes; %s can resume "
                         "without one",
                         spec);
    if (!unknown && S_ISREG(status.st_mode))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "a spool is for pipes, but standard input is a file; name the "
                         "file instead, which can resume without a spool");
    return TIDE_OK;
}

static int open_parts(spool_source *s, const char *spec,
                      const tide_source_options *options, tide_error *err)
{
    const tide_spool_reader_options spool = {.path = options->spool,
                                             .limit = options->spool_limit,
                                             .sync = options->spool_sync};
    int status = tide_spool_reader_open(&s->text, &spool, err);
    if (status)
        return status;
    bool standard = strcmp(spec, "-") == 0;
    s->kind = standard ? &tide_source_stdin : &tide_source_file;
    s->input = s->kind->open(spec, options, err);
    if (!s->input)
        return TIDE_ERROR_IO;
    s->pipe =
        tide_pipe_new(tide_file_descriptor(s->input), tide_file_name(s->input), err);
    return s->pipe ? TIDE_OK : TIDE_ERROR_IO;
}

static void *spooled_open(const char *spec, const tide_source_options *options,
                          tide_error *err)
{
    if (refuse_resumable(spec, err))
        return NULL;
    spool_source *s = tide_alloc(1, sizeof *s);
    if (!s) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    s->from_start = options->from_start;
    s->expected = options->expected;
    if (open_parts(s, spec, options, err)) {
        spooled_close(s);
        return NULL;
    }
    return s;
}

const tide_source_kind tide_source_spool = {
    .matches = is_spooled,
    .open = spooled_open,
    .close = spooled_close,
    .read = spooled_read,
    .discards = true,
    .can_resume = spooled_can_resume,
    .offset = spooled_offset,
    .position = spooled_position,
    .seek_position = spooled_seek_position,
    .saved = spooled_saved,
    .notice = spooled_notice,
};
