/* feed.h - what the kinds of feeds share: one that keeps its text in memory, and one over a spool. Private. */
#ifndef TIDE_FEED_H
#define TIDE_FEED_H

#include "base/base.h"

#include <pthread.h>
#include <stdatomic.h>

/* All but `free` are called under the lock. */
typedef struct tide_feed_kind {
    ptrdiff_t (*append)(tide_feed *feed, const char *lines, size_t size,
                        tide_error *err);
    int (*tend)(tide_feed *feed, tide_error *err); /* may be NULL */
    void (*free)(tide_feed *feed);
} tide_feed_kind;

/* The beginning of every feed. */
struct tide_feed {
    const tide_feed_kind *kind;
    pthread_mutex_t lock;
    pthread_cond_t arrived; /* text came, or the end */
    _Atomic size_t waiting; /* bytes; changed under the lock, and read by anybody */
    size_t room;
    bool closed;
    bool whole; /* the present append is of all lines or none */
};

void tide_feed_begin(tide_feed *feed, const tide_feed_kind *kind, size_t room);
void tide_feed_end(tide_feed *feed);

/* Bytes of as many whole lines as fit, also with a line feed behind the last; or of none, when the push is whole. */
size_t tide_feed_fits(const tide_feed *feed, const char *lines, size_t size,
                      size_t room);

/* Until text waits, or the end has come, or the time is over. Under the lock. */
void tide_feed_wait(tide_feed *feed, int wait_ms);

#endif
