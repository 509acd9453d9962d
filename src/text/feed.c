/* feed.c - text that other threads hand over.
 *
 * Only whole lines are taken, as many as there is room for, so whoever hands them over knows which were taken and
 * can send the others again. Nobody waits here but the reader: that there is no room is told at once, and whoever
 * brings text decides what to do about it.
 */
#include "text/feed.h"

#include <errno.h>

void tide_feed_begin(tide_feed *feed, const tide_feed_kind *kind, size_t room)
{
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->arrived, NULL);
    feed->kind = kind;
    feed->room = room;
}

void tide_feed_end(tide_feed *feed)
{
    pthread_cond_destroy(&feed->arrived);
    pthread_mutex_destroy(&feed->lock);
}

void tide_feed_free(tide_feed *feed)
{
    if (feed)
        feed->kind->free(feed);
}

size_t tide_feed_fit(const tide_feed *feed, const char *lines, size_t size, size_t room)
{
    bool ended = size && lines[size - 1] == '\n';
    if (!ended && room)
        room--;
    if (size <= room)
        return size;
    const char *last = feed->whole ? NULL : memrchr(lines, '\n', room);
    return last ? (size_t)(last - lines) + 1 : 0;
}

static ptrdiff_t push(tide_feed *feed, bool whole, const char *lines, size_t size,
                      tide_error *err)
{
    pthread_mutex_lock(&feed->lock);
    feed->whole = whole;
    ptrdiff_t taken =
        feed->closed || !size ? 0 : feed->kind->push(feed, lines, size, err);
    pthread_mutex_unlock(&feed->lock);
    return taken;
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

size_t tide_feed_waiting(tide_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    size_t count = feed->kind->waiting(feed);
    pthread_mutex_unlock(&feed->lock);
    return count;
}

size_t tide_feed_room(const tide_feed *feed)
{
    return feed->room;
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
    struct timespec until = tide_deadline(wait_ms);
    int status = 0;
    while (!feed->kind->waiting(feed) && !feed->closed && status != ETIMEDOUT)
        status = pthread_cond_clockwait(&feed->arrived, &feed->lock, CLOCK_MONOTONIC,
                                        &until);
}
