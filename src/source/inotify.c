/* inotify.c - when to look at a file and its folder again.
 *
 * inotify says so. Where it cannot be had, and for what it does not see (writers on
 * other machines), there is a look every so often.
 */
#include "source/inotify.h"

#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    LOOK_MS = 1000,      /* between two looks when nothing was heard */
    LOOK_ALONE_MS = 100, /* likewise without inotify */
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

void tide_inotify_file(tide_inotify *w, int file)
{
    char name[64];
    if (w->queue < 0)
        return;
    if (w->file >= 0)
        inotify_rm_watch(w->queue, w->file); /* may be gone with its file */
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    w->file = inotify_add_watch(w->queue, name, IN_MODIFY | IN_DELETE_SELF);
}

void tide_inotify_begin(tide_inotify *w, const char *folder)
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
    bool heard = w->folder >= 0 && (!has_file || w->file >= 0);
    int64_t left = until - tide_now_ms(), most = heard ? LOOK_MS : LOOK_ALONE_MS;
    if (left <= 0)
        return false;
    struct pollfd queue = {.fd = w->queue, .events = POLLIN};
    return poll(&queue, 1, (int)(left < most ? left : most)) >= 0;
}
