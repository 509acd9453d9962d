/* inotify.h - waits for changes of a file and its directory. Private. */
#ifndef TIDE_SOURCE_INOTIFY_H
#define TIDE_SOURCE_INOTIFY_H

#include "base/base.h"

typedef struct tide_inotify {
    int queue;        /* the inotify descriptor; -1 if inotify is not available */
    int file, folder; /* watch descriptors; -1 if not watched */
} tide_inotify;

/* Neither can fail: what cannot be watched is polled more often. */
void tide_inotify_open(tide_inotify *w);
void tide_inotify_watch_file(tide_inotify *w, int file); /* replaces the one before */

void tide_inotify_close(tide_inotify *w);

/* Discards pending events. To be called before each check of the files, which will see
 * everything that has changed until now. Starts watching the directory if that has not
 * been possible so far. */
void tide_inotify_drain(tide_inotify *w, const char *folder);

/* Waits for a change or the end of the polling interval. `has_file` says whether a file
 * should be watched as well. False if `until` (tide_now_ms) has passed, or after a
 * signal.
 */
bool tide_inotify_wait(const tide_inotify *w, bool has_file, int64_t until);

#endif
