/* watch.h - hears of changes to a file and its folder. Private. */
#ifndef TIDE_SOURCE_INOTIFY_H
#define TIDE_SOURCE_INOTIFY_H

#include "base/base.h"

typedef struct tide_watch {
    int queue, file, folder; /* of inotify; -1 without */
} tide_watch;

/* Neither can fail: what cannot be heard of is looked at more often. */
void tide_watch_open(tide_watch *w);
void tide_watch_file(tide_watch *w, int file); /* instead of the one before */

void tide_watch_close(tide_watch *w);

/* To be called before each look at the files: what has changed until now, the look will see. A folder
 * that could not be watched so far is tried again. */
void tide_watch_begin(tide_watch *w, const char *folder);

/* Waits until it is time for another look; `has_file`: the file is to be watched as well. False when
 * `until` (tide_now_ms) has come, or a signal. */
bool tide_watch_wait(const tide_watch *w, bool has_file, int64_t until);

#endif
