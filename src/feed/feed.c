/* feed.c - text that other threads hand over.
 *
 * Only whole lines are taken, as many as there is room for, so whoever hands them over knows which were taken and
 * can send the others again. Nobody waits here but the reader: that there is no room is told at once, and whoever
 * brings text decides what to do about it.
 */
#include "feed/feed.h"

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

size_t tide_feed_fits(const tide_feed *feed, const char *lines, size_t size,
                      size_t room)
{
    bool ended = size && lines[size - 1] == '\n';
    if (!ended && room)
        room--;
    if (size <= room)
        return size;
    const char *last = feed->whole ? NULL : memrchr(lines, '\n', room);
    return last ? (size_t)(last - lines) + 1 : 0;
}

/* Under the lock. */
static ptrdiff_t append(tide_feed *feed, bool whole, const char *lines, size_t size,
                        tide_error *err)
{
    feed->whole = whole;
    return feed->closed || !size ? 0 : feed->kind->append(feed, lines, size, err);
}

static int tend(tide_feed *feed, tide_error *err)
{
    return feed->kind->tend ? feed->kind->tend(feed, err) : TIDE_OK;
}

static ptrdiff_t push(tide_feed *feed, bool whole, const char *lines, size_t size,
                      tide_error *err)
{
    pthread_mutex_lock(&feed->lock);
    ptrdiff_t taken = append(feed, whole, lines, size, err);
    int status = taken > 0 ? tend(feed, err) : TIDE_OK;
    pthread_mutex_unlock(&feed->lock);
    return status ? status : taken;
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

ptrdiff_t tide_feed_append(tide_feed *feed, const char *lines, size_t size, bool whole,
                           tide_error *err)
{
    pthread_mutex_lock(&feed->lock);
    ptrdiff_t taken = append(feed, whole, lines, size, err);
    pthread_mutex_unlock(&feed->lock);
    return taken;
}

int tide_feed_sync(tide_feed *feed, tide_error *err)
{
    pthread_mutex_lock(&feed->lock);
    int status = tend(feed, err);
    pthread_mutex_unlock(&feed->lock);
    return status;
}

size_t tide_feed_waiting(tide_feed *feed)
{
    return feed->waiting;
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
    while (!feed->waiting && !feed->closed && status != ETIMEDOUT)
        status = pthread_cond_clockwait(&feed->arrived, &feed->lock, CLOCK_MONOTONIC,
                                        &until);
}
