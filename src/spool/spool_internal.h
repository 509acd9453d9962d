/* spool_internal.h - what the files of the spool share: spool.c, spool_files.c, spool_open.c. */
#ifndef TIDE_SPOOL_SPOOL_INTERNAL_H
#define TIDE_SPOOL_SPOOL_INTERNAL_H

#include "spool/segment.h"
#include "spool/spool.h"

#include <wordtide/tools.h>

struct tide_spool {
    int folder;
    tide_lock *lock;
    uint64_t segment_max;
    tide_spool_sync sync;
    tide_spool_extent extent;
    uint64_t first, last; /* numbers of segments */
    bool leftovers;       /* there are segments before the first, to be removed */

    int file;            /* the last segment */
    int held;            /* -1, or a descriptor that somebody is syncing by */
    uint64_t size;       /* of it */
    uint64_t latest;     /* where its latest piece is */
    uint64_t marked;     /* where the last mark of it ended when it was opened, */
    uint64_t marked_end; /* and the text before */
    bool unsynced;       /* some text, */
    int64_t since_ms;    /* and since when */

    int reading; /* the segment that is read; -1 */
    tide_segment_reader reader;
    tide_piece piece; /* that is read */
    size_t given;     /* bytes of it */

    unsigned char writing[TIDE_PIECE_MAX + TIDE_PIECE_HEAD];
    char path[];
};

/* "spool PATH: WHAT: REASON", the reason an errno. */
int tide_spool_refuse(const tide_spool *spool, const char *what, int reason,
                      tide_error *err);

/* Says that a segment is damaged at a byte. */
int tide_spool_damaged(const tide_spool *spool, uint64_t number, uint64_t place,
                       tide_error *err);

/* -- segments (spool_files.c) -------------------------------------------------------------------- */

/* Opens a file as it is. A descriptor, or -1 with errno. */
int tide_spool_open_file(const tide_spool *spool, uint64_t number, int flags);

/* Opens a segment whose header is good. A descriptor, or an error: TIDE_SOURCE_LATER for lack of descriptors. */
int tide_spool_open_segment(const tide_spool *spool, uint64_t number,
                            tide_segment *segment, tide_error *err);

/* Its header and its size. */
int tide_spool_segment(const tide_spool *spool, uint64_t number, tide_segment *segment,
                       uint64_t *size, tide_error *err);

/* Makes a segment and brings it to the disk; it is the last from now on. 0 or an errno. */
int tide_spool_make_segment(tide_spool *spool, const tide_segment *segment);

bool tide_spool_has_segment(const tide_spool *spool, uint64_t number);

int tide_spool_remove_segment(const tide_spool *spool, uint64_t number,
                              tide_error *err);

typedef struct tide_spool_listing {
    uint64_t least;             /* given: segments with smaller numbers are removed */
    uint64_t count;             /* of those that are left */
    uint64_t smallest, largest; /* numbers of them, if there are any */
} tide_spool_listing;

int tide_spool_list(const tide_spool *spool, tide_spool_listing *l, tide_error *err);

/* -- writing and reading (spool.c) --------------------------------------------------------------------------- */

/* Brings all text to the disk. */
int tide_spool_sync_now(tide_spool *spool, tide_error *err);

/* Reading goes on at the beginning of a segment. */
int tide_spool_read_segment(tide_spool *spool, uint64_t number, tide_error *err);

#endif
