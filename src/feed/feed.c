/* feed.c - text that other threads push.
 *
 * A push accepts whole lines only, as many as fit, and returns their size, so that the
 * caller can push the others again later. A push never waits for space; only the reader
 * waits, for text.
 */
#include "feed/feed.h"

#include <errno.h>

void tide_feed_init(tide_feed *feed, const tide_feed_kind *kind, size_t capacity)
{
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->arrived, NULL);
    feed->kind = kind;
    feed->capacity = capacity;
}

void tide_feed_destroy(tide_feed *feed)
{
    pthread_cond_destroy(&feed->arrived);
    pthread_mutex_destroy(&feed->lock);
}

void tide_feed_free(tide_feed *feed)
{
    if (feed)
        feed->kind->free(feed);
}

size_t tide_feed_fitting_size(const tide_feed *feed, const char *lines, size_t size,
                              size_t capacity)
{
    bool ended = size && lines[size - 1] == '\n';
    /* A line feed will be added behind an unfinished last line and needs space, too. */
    if (!ended && capacity)
        capacity--;
    if (size <= capacity)
        return size;
    const char *last = feed->all_or_nothing ? NULL : memrchr(lines, '\n', capacity);
    return last ? (size_t)(last - lines) + 1 : 0;
}

/* The lock must be held. */
static ptrdiff_t append(tide_feed *feed, bool all_or_nothing, const char *lines,
                        size_t size, tide_error *err)
{
    feed->all_or_nothing = all_or_nothing;
    return feed->closed || !size ? 0 : feed->kind->append(feed, lines, size, err);
}

static int sync_feed(tide_feed *feed, tide_error *err)
{
    return feed->kind->sync ? feed->kind->sync(feed, err) : TIDE_OK;
}

static ptrdiff_t push(tide_feed *feed, bool all_or_nothing, const char *lines,
                      size_t size, tide_error *err)
{
    pthread_mutex_lock(&feed->lock);
    ptrdiff_t accepted = append(feed, all_or_nothing, lines, size, err);
    int status = accepted > 0 ? sync_feed(feed, err) : TIDE_OK;
    pthread_mutex_unlock(&feed->lock);
    return status ? status : accepted;
}

ptrdiff_t tide_feed_push(tide_feed *feed, const char *lines, size_t size,
                         tide_error *err)
{
    return push(feed, false, lines, size, err);
}

ptrdiff_t tide_feed_push_whole(tide_feed *feed, const char *lines, size_t size,
                               tide_error *err)
{
    return push(feed, true, lines, size, err);
}

ptrdiff_t tide_feed_append(tide_feed *feed, const char *lines, size_t size,
                           bool all_or_nothing, tide_error *err)
{
    pthread_mutex_lock(&feed->lock);
    ptrdiff_t accepted = append(feed, all_or_nothing, lines, size, err);
    pthread_mutex_unlock(&feed->lock);
    return accepted;
}

int tide_feed_sync(tide_feed *feed, tide_error *err)
{
    pthread_mutex_lock(&feed->lock);
    int status = sync_feed(feed, err);
    pthread_mutex_unlock(&feed->lock);
    return status;
}

size_t tide_feed_waiting(tide_feed *feed)
{
    /* Read without the lock: an atomic number of bytes, which may be outdated anyway by
     * the time the caller looks at it. */
    return feed->waiting;
}

size_t tide_feed_capacity(const tide_feed *feed)
{
    return feed->capacity;
}

void tide_feed_close(tide_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    feed->closed = true;
    pthread_cond_signal(&feed->arrived);
    pthread_mutex_unlock(&feed->lock);
}

void tide_feed_wait(tide_feed *feed, int wait_ms)
{
    struct timespec until = tide_deadline(wait_ms * TIDE_MS);
    int status = 0;
    while (!feed->waiting && !feed->closed && status != ETIMEDOUT)
        status = pthread_cond_clockwait(&feed->arrived, &feed->lock, CLOCK_MONOTONIC,
                                        &until);
}
