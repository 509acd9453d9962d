/* inotify.c - waiting for changes of a file and its directory.
 *
 * Uses inotify. For changes that it does not report (writers on other machines), and
 * where it is not available, the wait ends after an interval and the caller polls.
 */
#include "source/inotify.h"

#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    POLL_MS = 1000,           /* polling interval */
    POLL_NO_INOTIFY_MS = 100, /* likewise without inotify */
};

void tide_inotify_open(tide_inotify *w)
{
    *w = (tide_inotify){inotify_init1(IN_NONBLOCK | IN_CLOEXEC), -1, -1};
}

void tide_inotify_close(tide_inotify *w)
{
    if (w->queue >= 0)
        close(w->queue);
}

void tide_inotify_watch_file(tide_inotify *w, int file)
{
    char name[64];
    if (w->queue < 0)
        return;
    if (w->file >= 0)
        inotify_rm_watch(w->queue, w->file); /* fails if the file was deleted */
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    w->file = inotify_add_watch(w->queue, name, IN_MODIFY | IN_DELETE_SELF);
}

void tide_inotify_drain(tide_inotify *w, const char *folder)
{
    char events[4096];
    if (w->queue < 0)
        return;
    if (w->folder < 0)
        w->folder = inotify_add_watch(w->queue, folder,
                                      IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                          IN_MOVED_TO | IN_ATTRIB);
    while (read(w->queue, events, sizeof events) > 0)
        continue;
}

bool tide_inotify_wait(const tide_inotify *w, bool has_file, int64_t until)
{
    bool watching = w->folder >= 0 && (!has_file || w->file >= 0);
    int64_t left = until - tide_now_ms(), max = watching ? POLL_MS : POLL_NO_INOTIFY_MS;
    if (left <= 0)
        return false;
    struct pollfd queue = {.fd = w->queue, .events = POLLIN};
    return poll(&queue, 1, (int)(left < max ? left : max)) >= 0;
}
