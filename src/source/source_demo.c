/* source_demo.c - the demo stream as a source: "demo:", "demo:seed=7,tokens=1e6".
 *
 * demo_settings.c tells the settings. With a rate the source has a line when its first
 * word is due by the clock, and nothing before. Who reads late gets what has become due,
 * but no more than that of a second: the stream does not make up for a long sleep.
 *
 * The stream cannot be entered in the middle. Going back means to start again and throw
 * away what comes before, some 200 MB a second. Two earlier places are kept, MARK bytes
 * or more apart: what lies behind the older one is reached from there, so that a
 * fingerprint of what was read lately costs milliseconds however long the stream has
 * become.
 */
#include "demo/demo.h"
#include "source/source.h"

#include <poll.h>
#include <stdlib.h>

enum { MARK = 1 << 20, LOOK_MS = 20 /* how often for lines that have become due */ };

typedef struct demo_source {
    tide_demo *demo;
    uint64_t tokens; /* at which the stream ends */
    uint64_t rate;   /* words a second; 0 for any number */
    bool timed;      /* it has been read at its rate since then, from that token on */
    double since;
    uint64_t since_token;
    tide_demo_place start, older, newer;
} demo_source;

static bool is_demo(const char *spec, const tide_source_options *options)
{
    (void)options;
    return tide_demo_is_spec(spec);
}

static void demo_close(void *state)
{
    demo_source *source = state;
    tide_demo_free(source->demo);
    free(source);
}

static void *demo_open(const char *spec, const tide_source_options *options,
                       tide_error *err)
{
    (void)options;
    tide_demo_settings settings;
    if (tide_demo_settings_read(spec, &settings, err) != TIDE_OK)
        return NULL;
    demo_source *source = tide_alloc(1, sizeof *source);
    if (!source) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    source->demo = tide_demo_of(&settings, err);
    if (!source->demo) {
        free(source);
        return NULL;
    }
    source->rate = settings.rate;
    source->tokens = settings.tokens > 0 ? settings.tokens : UINT64_MAX;
    source->start = source->older = source->newer = *tide_demo_stand(source->demo);
    return source;
}

/* Tokens that the stream may have begun by now. */
static uint64_t due(demo_source *source)
{
    uint64_t begun = tide_demo_stand(source->demo)->tokens;
    if (source->rate == 0)
        return source->tokens;
    double now = tide_now_seconds(), rate = (double)source->rate;
    if (!source->timed) {
        source->timed = true;
        source->since = now;
        source->since_token = begun;
    }
    double owed = (now - source->since) * rate - (double)(begun - source->since_token);
    if (owed > rate) {
        owed = rate;
        source->since = now - 1;
        source->since_token = begun;
    }
    uint64_t token = begun + (owed > 0 ? (uint64_t)owed : 0);
    return token < source->tokens ? token : source->tokens;
}

static ptrdiff_t demo_read(void *state, void *bytes, size_t room, int wait_ms,
                           tide_error *err)
{
    (void)err;
    demo_source *source = state;
    const tide_demo_place *place = tide_demo_stand(source->demo);
    if (place->offset >= source->newer.offset + MARK) {
        source->older = source->newer;
        source->newer = *place;
    }
    room = room < MARK ? room : MARK;
    int64_t until = wait_ms < 0 ? INT64_MAX : tide_now_ms() + wait_ms;
    for (;;) {
        size_t size = tide_demo_read_until(source->demo, bytes, room, due(source));
        if (size > 0 || place->tokens >= source->tokens)
            return (ptrdiff_t)size;
        int64_t left = until - tide_now_ms();
        if (left <= 0 || poll(NULL, 0, (int)(left < LOOK_MS ? left : LOOK_MS)) < 0)
            return TIDE_SOURCE_LATER; /* a signal may have come: errno is EINTR */
    }
}

static bool demo_replayable(const void *state)
{
    (void)state;
    return true;
}

/* Moves the stream to an offset, from the nearest place before it that is known. */
static int move_to(demo_source *source, uint64_t offset, tide_error *err)
{
    const tide_demo_place *from = &source->start;
    if (source->older.offset <= offset)
        from = &source->older;
    if (source->newer.offset <= offset)
        from = &source->newer;
    tide_demo_place *place = tide_demo_stand(source->demo);
    *place = *from;
    char waste[TIDE_FINGERPRINT_BYTES];
    while (place->offset < offset) {
        uint64_t left = offset - place->offset;
        size_t part = left < sizeof waste ? (size_t)left : sizeof waste;
        if (tide_demo_read_until(source->demo, waste, part, source->tokens) == 0)
            return tide_fail(err, TIDE_ERROR_FORMAT, "demo: ends before byte %llu",
                             (unsigned long long)offset);
    }
    return TIDE_OK;
}

static int demo_seek(void *state, uint64_t offset, tide_error *err)
{
    demo_source *source = state;
    tide_demo_place before = *tide_demo_stand(source->demo), mark = before;
    int status = move_to(source, offset > MARK ? offset - MARK : 0, err);
    if (status == TIDE_OK) {
        mark = *tide_demo_stand(source->demo);
        status = move_to(source, offset, err);
    }
    if (status == TIDE_OK) {
        source->older = source->newer = mark;
        source->timed = false;
        return TIDE_OK;
    }
    *tide_demo_stand(source->demo) = before;
    return tide_fail(err, (tide_status)status, TIDE_SHORTER);
}

static int demo_peek(void *state, uint64_t offset, void *bytes, size_t size,
                     tide_error *err)
{
    demo_source *source = state;
    tide_demo_place before = *tide_demo_stand(source->demo);
    int status = move_to(source, offset - size, err);
    if (status == TIDE_OK &&
        tide_demo_read_until(source->demo, bytes, size, source->tokens) < size)
        status = tide_fail(err, TIDE_ERROR_FORMAT, "demo: ends before byte %llu",
                           (unsigned long long)offset);
    *tide_demo_stand(source->demo) = before;
    return status;
}

const tide_source_kind tide_source_demo = {
    .matches = is_demo,
    .open = demo_open,
    .close = demo_close,
    .read = demo_read,
    .replayable = demo_replayable,
    .seek = demo_seek,
    .peek = demo_peek,
};
