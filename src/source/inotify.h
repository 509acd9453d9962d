/* watch.h - hears of changes to a file and its folder. Private. */
#ifndef TIDE_SOURCE_INOTIFY_H
#define TIDE_SOURCE_INOTIFY_H

#include "base/base.h"

typedef struct tide_inotify {
    int queue, file, folder; /* of inotify; -1 without */
} tide_inotify;

/* Neither can fail: what cannot be heard of is looked at more often. */
void tide_inotify_open(tide_inotify *w);
void tide_inotify_file(tide_inotify *w, int file); /* instead of the one before */

void tide_inotify_close(tide_inotify *w);

/* To be called before each look at the files: what has changed until now, the look will see. A folder
 * that could not be watched so far is tried again. */
void tide_inotify_begin(tide_inotify *w, const char *folder);

/* Waits until it is time for another look; `has_file`: the file is to be watched as well. False when
 * `until` (tide_now_ms) has come, or a signal. */
bool tide_inotify_wait(const tide_inotify *w, bool has_file, int64_t until);

#endif
