/* source_feed.c - a feed in memory: a bounded ring of bytes, and the source "feed:" over it. */
#include "feed/feed.h"
#include "source/source.h"

#include <stdlib.h>

typedef struct ring {
    tide_feed feed;
    size_t first; /* the oldest byte */
    char bytes[];
} ring;

/* -- handing over ---------------------------------------------------------------------------------- */

static void put(ring *r, const char *bytes, size_t size)
{
    size_t room = r->feed.room, at = (r->first + r->feed.waiting) % room;
    size_t straight = size < room - at ? size : room - at;
    memcpy(r->bytes + at, bytes, straight);
    memcpy(r->bytes, bytes + straight, size - straight);
    r->feed.waiting += size;
}

static ptrdiff_t ring_append(tide_feed *feed, const char *lines, size_t size,
                             tide_error *err)
{
    (void)err;
    ring *r = (ring *)feed;
    size_t taken = tide_feed_fits(feed, lines, size, feed->room - feed->waiting);
    if (!taken)
        return 0;
    put(r, lines, taken);
    if (lines[taken - 1] != '\n')
        put(r, "\n", 1);
    pthread_cond_signal(&feed->arrived);
    return (ptrdiff_t)taken;
}

static void ring_free(tide_feed *feed)
{
    tide_feed_end(feed);
    free(feed);
}

static const tide_feed_kind in_memory = {.append = ring_append, .free = ring_free};

tide_feed *tide_feed_new(size_t room, tide_error *err)
{
    ring *r = room ? tide_alloc(1, sizeof *r + room) : NULL;
    if (!r) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %zu bytes of text on its way",
                  room);
        return NULL;
    }
    tide_feed_begin(&r->feed, &in_memory, room);
    return &r->feed;
}

/* -- the source ------------------------------------------------------------------------------------- */

static bool is_ring(const char *spec, const tide_source_options *options)
{
    return options->feed && options->feed->kind == &in_memory &&
           strcmp(spec, "feed:") == 0;
}

static void *ring_open(const char *spec, const tide_source_options *options,
                       tide_error *err)
{
    (void)spec;
    (void)err;
    return options->feed;
}

static void ring_close(void *state)
{
    (void)state; /* its maker's */
}

static ptrdiff_t ring_read(void *state, void *bytes, size_t room, int wait_ms,
                           tide_error *err)
{
    (void)err;
    ring *r = state;
    pthread_mutex_lock(&r->feed.lock);
    if (wait_ms > 0)
        tide_feed_wait(&r->feed, wait_ms);
    size_t straight = r->feed.room - r->first, size = r->feed.waiting;
    size = size < straight ? size : straight;
    size = size < room ? size : room;
    memcpy(bytes, r->bytes + r->first, size);
    r->first = (r->first + size) % r->feed.room;
    r->feed.waiting -= size;
    ptrdiff_t result = size || r->feed.closed ? (ptrdiff_t)size : TIDE_SOURCE_LATER;
    pthread_mutex_unlock(&r->feed.lock);
    return result;
}

const tide_source_kind tide_source_feed = {
    .matches = is_ring,
    .open = ring_open,
    .close = ring_close,
    .read = ring_read,
    .drains = true,
    .plain = true,
};
