/* spool.h - a stream of text kept on the disk until it is learned and saved.
 *
 * Text is appended in pieces, read in the order in which it came, and dropped from the beginning. A spool
 * has one stream at a time. Offsets count its bytes from its first one, whether that is still there or
 * not.
 */
#ifndef TIDE_SPOOL_H
#define TIDE_SPOOL_H

#include "base/base.h"

enum {
    TIDE_SEGMENT_HEADER = 56, /* bytes before the text of a segment */
    TIDE_PIECE_TEXT = TIDE_ROOM(64 << 10, 1024), /* bytes of a piece, at most */
};

typedef struct tide_spool tide_spool;

/* Opens the spool in a folder, which is made if need be and is ours until the spool is closed. What an
 * end in the middle of a write has left is cut off. Reading begins with the oldest text. Segments grow
 * to `segment_max` bytes, or to one piece. */
tide_spool *tide_spool_open(const char *path, uint64_t segment_max,
                            tide_spool_sync sync, tide_error *err);
void tide_spool_close(tide_spool *spool);

typedef struct tide_spool_extent {
    uint64_t stream;     /* the name of the stream, a number by chance */
    uint64_t start, end; /* offsets of the oldest text and behind the latest */
    uint64_t bytes;      /* on the disk */
    uint64_t cut;        /* bytes cut off when it was opened */
    bool taken; /* nobody doubts that the latest piece was taken from where it was */
} tide_spool_extent;

tide_spool_extent tide_spool_extent_of(const tide_spool *spool);

/* Forgets all text and goes on at this offset of this stream. */
int tide_spool_begin(tide_spool *spool, uint64_t stream, uint64_t offset,
                     tide_error *err);

enum {
    TIDE_SPOOL_FULL = 1
}; /* no room on the disk, or no file descriptor; nothing has changed */

/* Appends 1 to TIDE_PIECE_TEXT bytes as one piece, safe as the sync says. `taken`: they are nowhere else
 * any more. TIDE_OK or TIDE_SPOOL_FULL. */
int tide_spool_append(tide_spool *spool, const void *bytes, size_t size, bool taken,
                      tide_error *err);

/* Appends lines, as many bytes as they are, in pieces of one segment with a mark behind the last; a line
 * feed is added if there is none at the end. All or none, also for whoever opens the spool after a kill
 * and calls tide_spool_forget_untaken. Otherwise as above. */
int tide_spool_append_lines(tide_spool *spool, const char *lines, size_t size,
                            tide_error *err);

/* Bytes on the disk that so many bytes of lines take, at most. */
uint64_t tide_spool_cost(uint64_t size);

/* To be called after opening: the pieces behind the last mark, which somebody was killed while appending,
 * are cut off. */
int tide_spool_forget_untaken(tide_spool *spool, tide_error *err);

/* The latest piece is nowhere else any more. */
int tide_spool_take(tide_spool *spool, tide_error *err);

/* Copies the latest piece, if it is not known to be taken. Returns its size. */
ptrdiff_t tide_spool_latest(const tide_spool *spool,
                            unsigned char bytes[TIDE_PIECE_TEXT], tide_error *err);

/* Reading goes on at an offset from `start` to `end`. */
int tide_spool_seek(tide_spool *spool, uint64_t offset, tide_error *err);

/* Up to `room` bytes; 0 when all were read; TIDE_SOURCE_LATER while there is no file descriptor for the next
 * segment. TIDE_ERROR_FORMAT names the place that is damaged. */
ptrdiff_t tide_spool_read(tide_spool *spool, void *bytes, size_t room, tide_error *err);

/* The text before this offset, which reading must have passed, is not needed any more: segments that end
 * before it are removed. TIDE_SPOOL_FULL when some had to stay for lack of room, until the next time. */
int tide_spool_drop(tide_spool *spool, uint64_t offset, tide_error *err);

/* To be called every now and then: brings to the disk what has waited for a second. */
int tide_spool_sync_due(tide_spool *spool, tide_error *err);

/* The descriptor by which all text so far can be synced while more is appended. It stays open until it is released,
 * before which nobody else may hold it. */
int tide_spool_hold(tide_spool *spool);
void tide_spool_release(tide_spool *spool);

/* -- what sources over a spool share (spooled.c) ----------------------------------- */

typedef struct tide_spooled {
    tide_spool *spool;
    char *path;
    uint64_t limit; /* bytes on the disk */
    bool placed;    /* it is known where to begin */
    uint64_t given,
        saved; /* offsets behind the text that was given out, that is safe */
    tide_error news;
    bool is_news;
} tide_spooled;

typedef struct tide_spooled_options {
    const char *path;
    uint64_t limit; /* bytes, 1 MiB or more; 0 for 1 GiB */
    tide_spool_sync sync;
    bool untaken_is_void; /* pieces behind the last mark are forgotten */
} tide_spooled_options;

/* To be closed also after a failure. */
int tide_spooled_open(tide_spooled *s, const tide_spooled_options *options,
                      tide_error *err);
void tide_spooled_close(tide_spooled *s);

/* Before the first read, and after tide_spooled_go_to if there is a place to go to. */
int tide_spooled_begin(tide_spooled *s, bool from_start, tide_error *err);

/* 0 when all was given out. */
ptrdiff_t tide_spooled_read(tide_spooled *s, void *bytes, size_t room, tide_error *err);

/* No more will come: TIDE_SOURCE_SAVE until all is safe, then 0. */
int tide_spooled_end(tide_spooled *s, tide_error *err);

/* As the functions of the same names in source.h. */
char *tide_spooled_place(const tide_spooled *s, uint64_t offset, tide_error *err);
int tide_spooled_go_to(tide_spooled *s, const char *place, tide_error *err);
int tide_spooled_saved(tide_spooled *s, const char *place, tide_error *err);
const char *tide_spooled_news(tide_spooled *s);

/* News that the source will tell; the caller of the source names it. */
#define TIDE_SPOOLED_TELL(s, ...)                                                      \
    ((s)->is_news = true, (void)tide_fail(&(s)->news, TIDE_OK, __VA_ARGS__))

#endif
