/* source_feed.c - a feed in memory: a bounded ring of bytes, and the source "feed:"
 * over it. */
#include "feed/feed.h"
#include "source/source.h"

#include <stdlib.h>

typedef struct ring {
    tide_feed feed;
    size_t first; /* index of the oldest byte */
    char bytes[];
} ring;

/* -- pushing ----------------------------------------------------------------------- */

static void ring_put(ring *r, const char *bytes, size_t size)
{
    size_t capacity = r->feed.capacity, at = (r->first + r->feed.waiting) % capacity;
    /* In two parts, of which the second may be empty, if it extends over the end of the
     * ring. */
    size_t until_end = size < capacity - at ? size : capacity - at;
    memcpy(r->bytes + at, bytes, until_end);
    memcpy(r->bytes, bytes + until_end, size - until_end);
    r->feed.waiting += size;
}

static ptrdiff_t ring_append(tide_feed *feed, const char *lines, size_t size,
                             tide_error *err)
{
    (void)err;
    ring *r = (ring *)feed;
    size_t accepted =
        tide_feed_fitting_size(feed, lines, size, feed->capacity - feed->waiting);
    if (!accepted)
        return 0;
    ring_put(r, lines, accepted);
    if (lines[accepted - 1] != '\n')
        ring_put(r, "\n", 1);
    pthread_cond_signal(&feed->arrived);
    return (ptrdiff_t)accepted;
}

static void ring_free(tide_feed *feed)
{
    tide_feed_destroy(feed);
    free(feed);
}

static const tide_feed_kind in_memory = {.append = ring_append, .free = ring_free};

tide_feed *tide_feed_new(size_t capacity, tide_error *err)
{
    ring *r = capacity ? tide_alloc(1, sizeof *r + capacity) : NULL;
    if (!r) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a feed of %zu bytes",
                  capacity);
        return NULL;
    }
    tide_feed_init(&r->feed, &in_memory, capacity);
    return &r->feed;
}

/* -- the source -------------------------------------------------------------------- */

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
    (void)state; /* owned by the caller of tide_feed_new */
}

static ptrdiff_t ring_read(void *state, void *bytes, size_t capacity, int wait_ms,
                           tide_error *err)
{
    (void)err;
    ring *r = state;
    pthread_mutex_lock(&r->feed.lock);
    if (wait_ms > 0)
        tide_feed_wait(&r->feed, wait_ms);
    /* One contiguous part; what is at the start of the ring comes with the next
     * read. */
    size_t until_end = r->feed.capacity - r->first, size = r->feed.waiting;
    size = size < until_end ? size : until_end;
    size = size < capacity ? size : capacity;
    memcpy(bytes, r->bytes + r->first, size);
    r->first = (r->first + size) % r->feed.capacity;
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
