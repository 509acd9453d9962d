/* source_spool.c - a pipe whose text is on the disk before it is learned.
 *
 * A pipe cannot be read again, a spool can. So text goes from the pipe into the spool and
 * from there to whoever reads this source; a place is one in the spool, and what a saved
 * model has learned leaves the spool. Only when all of it was given out is the next
 * piece fetched, so the spool holds what came since the last save and the pipe keeps back
 * its writer as ever.
 *
 * A piece is looked at in the pipe, written, taken from the pipe, and marked as taken. A
 * kill after the first step leaves it in the pipe alone, after the third in the spool
 * alone. After the second it is in both, as long as somebody else holds the pipe: if the
 * last piece has no mark and the pipe begins with the very same bytes, they are one, and
 * it is taken then. Should they not be one, because the stream repeats itself there and
 * the kill came between taking and marking, a piece is lost.
 *
 * Text that is packed could only be unpacked from its beginning, and is refused.
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
    WAIT_MS = 1000, /* when the caller would wait for ever */
    UNDECIDED_MS = 10,
    UNDECIDED_MAX = 100,
};

_Static_assert((int)TIDE_PIPE_LOOK <= (int)TIDE_PIECE_TEXT,
               "what is looked at is one piece");

typedef struct spooled {
    tide_spooled text;
    const tide_source_kind *kind; /* of what is behind the pipe */
    void *input;
    tide_pipe *pipe;
    tide_expected expected;
    bool from_start;
    bool begun;
    bool ended;    /* the pipe */
    int undecided; /* looks at too few bytes to know what they are */
    bool waiting;  /* for room on the disk, and this was told */
    size_t held;   /* bytes in the block that are nowhere else */
    unsigned char block[TIDE_PIPE_LOOK];
} spooled;

static bool is_spooled(const char *spec, const tide_source_options *options)
{
    (void)spec;
    return options && options->spool;
}

/* -- beginning ----------------------------------------------------------------------- */

/* Whether the latest piece is still in the pipe as well decides whether to take it. */
static int settle_latest(spooled *s, tide_error *err)
{
    unsigned char latest[TIDE_PIECE_TEXT];
    ptrdiff_t size = tide_spool_latest(s->text.spool, latest, err);
    if (size <= 0)
        return (int)size;
    ptrdiff_t there = tide_pipe_is_kept(s->pipe)
                          ? tide_pipe_peek(s->pipe, s->block, 0, err)
                          : TIDE_SOURCE_LATER;
    if (there < 0 && there != TIDE_SOURCE_LATER)
        return (int)there;
    int status = TIDE_OK;
    if (there >= size && memcmp(latest, s->block, (size_t)size) == 0)
        status = tide_pipe_consume(s->pipe, latest, (size_t)size, err);
    return status ? status : tide_spool_take(s->text.spool, err);
}

static int begin(spooled *s, tide_error *err)
{
    int status = tide_spooled_begin(&s->text, s->from_start, err);
    if (!status)
        status = settle_latest(s, err);
    s->begun = !status;
    return status;
}

/* -- from the pipe into the spool ---------------------------------------------------- */

/* The first bytes may be too few to know; then more are waited for, but not for long. */
static int refuse_binary(spooled *s, size_t size, tide_error *err)
{
    tide_compression form = tide_compression_of(s->block, size);
    tide_detected found = tide_detect((tide_head){s->block, size, false}, s->expected);
    if ((form.undecided || (found.undecided && !found.kind)) &&
        tide_pipe_is_kept(s->pipe) && s->undecided++ < UNDECIDED_MAX) {
        poll(NULL, 0, UNDECIDED_MS);
        return TIDE_SOURCE_LATER;
    }
    if (form.decoder)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "text that is compressed cannot be spooled: unpack its %s "
                         "data before the pipe",
                         form.decoder->name);
    if (found.kind)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "what comes from the pipe is %s, which is not read",
                         found.kind->what);
    return TIDE_OK;
}

static int wait_for_room(spooled *s, bool disk, int wait_ms)
{
    if (s->text.given > s->text.saved)
        return TIDE_SOURCE_SAVE;
    if (!s->waiting)
        TIDE_SPOOLED_TELL(&s->text, "the %s of spool %s is full; waiting for room",
                          disk ? "disk" : "limit", s->text.path);
    s->waiting = true;
    poll(NULL, 0, wait_ms < 0 ? WAIT_MS : wait_ms);
    return TIDE_SOURCE_LATER;
}

static bool is_full(const spooled *s)
{
    return tide_spool_extent_of(s->text.spool).bytes + TIDE_PIECE_MAX > s->text.limit;
}

/* Writes the block, and only then takes it. */
static int keep(spooled *s, size_t size, int wait_ms, tide_error *err)
{
    bool stays = tide_pipe_is_kept(s->pipe);
    s->held = stays ? 0 : size;
    int status = tide_spool_append(s->text.spool, s->block, size, !stays, err);
    if (status == TIDE_SPOOL_FULL)
        return wait_for_room(s, true, wait_ms);
    if (status)
        return status;
    s->held = 0;
    if (s->waiting)
        TIDE_SPOOLED_TELL(&s->text, "spool %s has room again", s->text.path);
    s->waiting = false;
    if (stays)
        status = tide_pipe_consume(s->pipe, s->block, size, err);
    return status || !stays ? status : tide_spool_take(s->text.spool, err);
}

/* Brings one piece, or finds the end. Otherwise as read. */
static int fetch(spooled *s, int wait_ms, tide_error *err)
{
    if (s->held)
        return keep(s, s->held, wait_ms, err);
    if (is_full(s))
        return wait_for_room(s, false, wait_ms);
    ptrdiff_t size = tide_pipe_peek(s->pipe, s->block, wait_ms, err);
    s->ended = size == 0;
    if (size <= 0)
        return (int)size;
    int status = tide_spool_extent_of(s->text.spool).end == 0
                     ? refuse_binary(s, (size_t)size, err)
                     : TIDE_OK;
    return status ? status : keep(s, (size_t)size, wait_ms, err);
}

/* -- reading ------------------------------------------------------------------------- */

static ptrdiff_t spooled_read(void *state, void *bytes, size_t room, int wait_ms,
                              tide_error *err)
{
    spooled *s = state;
    int status = s->begun ? TIDE_OK : begin(s, err);
    if (!status)
        status = tide_spool_sync_due(s->text.spool, err);
    while (!status) {
        ptrdiff_t count = tide_spooled_read(&s->text, bytes, room, err);
        if (count != 0)
            return count;
        if (s->ended)
            return tide_spooled_end(&s->text, err);
        status = fetch(s, wait_ms, err);
    }
    return status;
}

/* -- places -------------------------------------------------------------------------- */

static bool spooled_replayable(const void *state)
{
    (void)state;
    return true;
}

static uint64_t spooled_offset(const void *state)
{
    return ((const spooled *)state)->text.given;
}

static char *spooled_place(void *state, uint64_t offset, tide_error *err)
{
    return tide_spooled_place(&((const spooled *)state)->text, offset, err);
}

static int spooled_go_to(void *state, const char *place, tide_error *err)
{
    return tide_spooled_go_to(&((spooled *)state)->text, place, err);
}

static int spooled_saved(void *state, const char *place, tide_error *err)
{
    return tide_spooled_saved(&((spooled *)state)->text, place, err);
}

static const char *spooled_news(void *state)
{
    return tide_spooled_news(&((spooled *)state)->text);
}

/* -- opening and closing ------------------------------------------------------------- */

static void spooled_close(void *state)
{
    spooled *s = state;
    tide_pipe_free(s->pipe);
    if (s->input)
        s->kind->close(s->input);
    tide_spooled_close(&s->text);
    free(s);
}

/* What can be read again has its places without a spool. */
static int refuse_others(const char *spec, tide_error *err)
{
    struct stat status;
    bool standard = strcmp(spec, "-") == 0;
    int unknown = standard ? fstat(0, &status) : stat(spec, &status);
    if (strstr(spec, "://") || strncmp(spec, "demo:", 5) == 0 ||
        (!unknown && S_ISREG(status.st_mode) && !standard))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "a spool is for standard input and named pipes; %s can be "
                         "read again without",
                         spec);
    if (!unknown && S_ISREG(status.st_mode))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "a spool is for pipes; name the file that is standard input, "
                         "and its place is kept without");
    return TIDE_OK;
}

static int open_parts(spooled *s, const char *spec, const tide_source_options *options,
                      tide_error *err)
{
    const tide_spooled_options spool = {.path = options->spool,
                                        .limit = options->spool_limit,
                                        .sync = options->spool_sync};
    int status = tide_spooled_open(&s->text, &spool, err);
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
    if (refuse_others(spec, err))
        return NULL;
    spooled *s = tide_alloc(1, sizeof *s);
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
    .can_resume = spooled_replayable,
    .offset = spooled_offset,
    .place = spooled_place,
    .seek_place = spooled_go_to,
    .saved = spooled_saved,
    .news = spooled_news,
};
