/* feed.h - shared by the two kinds of feeds: one in memory, and one over a spool.
 * Private.
 */
#ifndef TIDE_FEED_H
#define TIDE_FEED_H

#include "base/base.h"

#include <pthread.h>
#include <stdatomic.h>

/* All but `free` are called with the lock held. */
typedef struct tide_feed_kind {
    ptrdiff_t (*append)(tide_feed *feed, const char *lines, size_t size,
                        tide_error *err);
    int (*sync)(tide_feed *feed, tide_error *err); /* may be NULL */
    void (*free)(tide_feed *feed);
} tide_feed_kind;

/* The first member of every feed. */
struct tide_feed {
    const tide_feed_kind *kind;
    pthread_mutex_t lock;
    pthread_cond_t arrived; /* text was pushed, or the feed was closed */
    _Atomic size_t
        waiting; /* bytes; written with the lock held, read without it, too */
    size_t capacity;
    bool closed;
    bool all_or_nothing; /* the current push must not be split */
};

void tide_feed_init(tide_feed *feed, const tide_feed_kind *kind, size_t capacity);
void tide_feed_destroy(tide_feed *feed);

/* The size of as many whole lines as fit into `capacity`, including a line feed behind
 * the last; 0 if not all of them fit and the push must not be split. */
size_t tide_feed_fitting_size(const tide_feed *feed, const char *lines, size_t size,
                              size_t capacity);

/* Waits until there is text, the feed is closed, or the time is over. The lock must be
 * held. */
void tide_feed_wait(tide_feed *feed, int wait_ms);

#endif
