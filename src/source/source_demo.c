/* source_demo.c - the demo stream as a source: "demo:", "demo:seed=7,tokens=1e6".
 *
 * demo_settings.c lists the settings. With a rate, a line becomes available when its
 * first word is due by the clock. A late reader gets everything that has become due,
 * but no more than one second of it: the stream does not catch up after a long pause.
 *
 * The stream has no random access. Going back means to generate it again from the
 * start, at about 200 MB per second. Two earlier states are remembered, at least
 * CHECKPOINT_BYTES apart: what is behind the older one is generated from there, so that
 * a fingerprint of recently read text costs milliseconds, however long the stream has
 * become.
 */
#include "demo/demo.h"
#include "source/source.h"

#include <poll.h>
#include <stdlib.h>

enum {
    CHECKPOINT_BYTES = 1 << 20,
    POLL_MS = 20, /* how often to check for lines that have become due */
};

typedef struct demo_source {
    tide_demo *demo;
    uint64_t tokens; /* at which the stream ends */
    uint64_t rate;   /* words per second; 0: unlimited */
    bool timed;      /* the clock was started, at start_seconds and start_token */
    double start_seconds;
    uint64_t start_token;
    tide_demo_state start, older, newer;
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
    source->start = source->older = source->newer = *tide_demo_current(source->demo);
    return source;
}

/* The number of tokens that are due by now. */
static uint64_t due_tokens(demo_source *source)
{
    uint64_t generated = tide_demo_current(source->demo)->tokens;
    if (source->rate == 0)
        return source->tokens;
    double now = tide_now_seconds(), rate = (double)source->rate;
    if (!source->timed) {
        source->timed = true;
        source->start_seconds = now;
        source->start_token = generated;
    }
    double due = (now - source->start_seconds) * rate -
                 (double)(generated - source->start_token);
    if (due > rate) {
        due = rate;
        source->start_seconds = now - 1;
        source->start_token = generated;
    }
    uint64_t token = generated + (due > 0 ? (uint64_t)due : 0);
    return token < source->tokens ? token : source->tokens;
}

static ptrdiff_t demo_read(void *state, void *bytes, size_t capacity, int wait_ms,
                           tide_error *err)
{
    (void)err;
    demo_source *source = state;
    const tide_demo_state *place = tide_demo_current(source->demo);
    if (place->offset >= source->newer.offset + CHECKPOINT_BYTES) {
        source->older = source->newer;
        source->newer = *place;
    }
    capacity = capacity < CHECKPOINT_BYTES ? capacity : CHECKPOINT_BYTES;
    int64_t until = wait_ms < 0 ? INT64_MAX : tide_now_ms() + wait_ms;
    for (;;) {
        size_t size =
            tide_demo_read_until(source->demo, bytes, capacity, due_tokens(source));
        if (size > 0 || place->tokens >= source->tokens)
            return (ptrdiff_t)size;
        int64_t left = until - tide_now_ms();
        if (left <= 0 || poll(NULL, 0, (int)(left < POLL_MS ? left : POLL_MS)) < 0)
            return TIDE_SOURCE_LATER; /* a signal may have come: errno is EINTR */
    }
}

static bool demo_can_resume(const void *state)
{
    (void)state;
    return true;
}

/* Moves the stream to an offset, from the nearest remembered state before it. */
static int move_to(demo_source *source, uint64_t offset, tide_error *err)
{
    const tide_demo_state *from = &source->start;
    if (source->older.offset <= offset)
        from = &source->older;
    if (source->newer.offset <= offset)
        from = &source->newer;
    tide_demo_state *place = tide_demo_current(source->demo);
    *place = *from;
    char discarded[TIDE_FINGERPRINT_BYTES];
    while (place->offset < offset) {
        uint64_t left = offset - place->offset;
        size_t part = left < sizeof discarded ? (size_t)left : sizeof discarded;
        if (tide_demo_read_until(source->demo, discarded, part, source->tokens) == 0)
            return tide_fail(err, TIDE_ERROR_FORMAT, "demo: ends before byte %llu",
                             (unsigned long long)offset);
    }
    return TIDE_OK;
}

static int demo_seek(void *state, uint64_t offset, tide_error *err)
{
    demo_source *source = state;
    tide_demo_state before = *tide_demo_current(source->demo), mark = before;
    int status =
        move_to(source, offset > CHECKPOINT_BYTES ? offset - CHECKPOINT_BYTES : 0, err);
    if (status == TIDE_OK) {
        mark = *tide_demo_current(source->demo);
        status = move_to(source, offset, err);
    }
    if (status == TIDE_OK) {
        source->older = source->newer = mark;
        source->timed = false;
        return TIDE_OK;
    }
    *tide_demo_current(source->demo) = before;
    return tide_fail(err, (tide_status)status, TIDE_SHORTER);
}

static int demo_peek(void *state, uint64_t offset, void *bytes, size_t size,
                     tide_error *err)
{
    demo_source *source = state;
    tide_demo_state before = *tide_demo_current(source->demo);
    int status = move_to(source, offset - size, err);
    if (status == TIDE_OK &&
        tide_demo_read_until(source->demo, bytes, size, source->tokens) < size)
        status = tide_fail(err, TIDE_ERROR_FORMAT, "demo: ends before byte %llu",
                           (unsigned long long)offset);
    *tide_demo_current(source->demo) = before;
    return status;
}

const tide_source_kind tide_source_demo = {
    .matches = is_demo,
    .open = demo_open,
    .close = demo_close,
    .read = demo_read,
    .can_resume = demo_can_resume,
    .seek = demo_seek,
    .peek = demo_peek,
};
