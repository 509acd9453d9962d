/* source_demo.c - the demo stream as a source: "demo:", "demo:seed=7,tokens=1e6".
 *
 * With tokens the stream ends at the end of the line that completes so many; 0, the
 * default, is a stream without end. The default seed is 1.
 *
 * The stream cannot be entered in the middle. Going back means to start again and throw
 * away what comes before, some 200 MB a second. Two earlier places are kept, MARK bytes
 * or more apart: what lies behind the older one is reached from there, so that a
 * fingerprint of what was read lately costs milliseconds however long the stream has
 * become.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>

#include "demo.h"

enum { MARK = 1 << 20 };

static const char prefix[] = "demo:";

typedef struct demo_source {
    tide_demo *demo;
    uint64_t tokens; /* at which the stream ends */
    tide_demo_place start, older, newer;
} demo_source;

static bool is_demo(const char *spec, const tide_source_options *options)
{
    (void)options;
    return strncmp(spec, prefix, sizeof prefix - 1) == 0;
}

/* A whole number, also as 1e6 or 2.5e6. */
static bool read_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9' || text[strspn(text, "0123456789.e+")] != '\0')
        return false;
    *number = strtoull(text, &end, 10);
    if (*end == '\0')
        return errno == 0;
    double value = strtod(text, &end);
    if (*end != '\0' || value > 1e18)
        return false;
    *number = (uint64_t)value;
    return (double)*number == value;
}

static int set(char *setting, uint64_t *seed, uint64_t *tokens, tide_error *err)
{
    char *value = strchr(setting, '=');
    if (!value)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "demo: %s needs a value", setting);
    *value++ = '\0';
    uint64_t *number = strcmp(setting, "seed") == 0     ? seed
                       : strcmp(setting, "tokens") == 0 ? tokens
                                                        : NULL;
    if (!number)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "demo: unknown setting %s (there are seed and tokens)",
                         setting);
    if (!read_number(value, number))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "demo: %s must be a whole number, not '%s'", setting, value);
    return TIDE_OK;
}

static int parse(const char *spec, uint64_t *seed, uint64_t *tokens, tide_error *err)
{
    char text[256], *rest = text;
    const char *settings = spec + sizeof prefix - 1;
    if (strlen(settings) >= sizeof text)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "demo: too many settings");
    memcpy(text, settings, strlen(settings) + 1);
    int status = TIDE_OK;
    for (char *setting; status == TIDE_OK && (setting = strsep(&rest, ","));)
        if (*setting)
            status = set(setting, seed, tokens, err);
    return status;
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
    uint64_t seed = 1, tokens = 0;
    if (parse(spec, &seed, &tokens, err) != TIDE_OK)
        return NULL;
    demo_source *source = tide_alloc(1, sizeof *source);
    if (!source) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    source->demo = tide_demo_new(seed, err);
    if (!source->demo) {
        free(source);
        return NULL;
    }
    source->tokens = tokens > 0 ? tokens : UINT64_MAX;
    source->start = source->older = source->newer = *tide_demo_stand(source->demo);
    return source;
}

static ptrdiff_t demo_read(void *state, void *bytes, size_t room, int wait_ms,
                           tide_error *err)
{
    (void)wait_ms;
    (void)err;
    demo_source *source = state;
    const tide_demo_place *place = tide_demo_stand(source->demo);
    if (place->offset >= source->newer.offset + MARK) {
        source->older = source->newer;
        source->newer = *place;
    }
    room = room < MARK ? room : MARK;
    return (ptrdiff_t)tide_demo_read_until(source->demo, bytes, room, source->tokens);
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
