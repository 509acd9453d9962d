/* spool_internal.h - shared by spool.c, spool_files.c and spool_open.c. Private. */
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
    bool obsolete_files;  /* segments before the first remain to be removed */

    int file;        /* the last segment */
    int pinned;      /* a descriptor that is being synced by another thread; -1 */
    uint64_t size;   /* of the last segment */
    uint64_t latest; /* position of its latest piece in the file */
    uint64_t mark_position; /* behind its last mark when it was opened, in the file */
    uint64_t mark_offset;   /* and in the stream */
    bool unsynced;          /* some text is not synced yet */
    int64_t unsynced_ms;    /* since when */

    int reading; /* the segment that is being read; -1 */
    tide_segment_reader reader;
    tide_piece piece; /* that is being read */
    size_t returned;  /* bytes of it */

    unsigned char writing[TIDE_PIECE_MAX + TIDE_PIECE_HEADER];
    char path[];
};

/* Fails with "spool PATH: WHAT: REASON"; the reason is an errno. */
int tide_spool_fail(const tide_spool *spool, const char *what, int reason,
                    tide_error *err);

/* Fails because a segment is corrupt at a position. */
int tide_spool_corrupt(const tide_spool *spool, uint64_t number, uint64_t position,
                       tide_error *err);

/* -- segments (spool_files.c) ------------------------------------------------------ */

/* Opens the file of a segment. Returns a descriptor, or -1 with errno. */
int tide_spool_open_file(const tide_spool *spool, uint64_t number, int flags);

/* Opens a segment and decodes its header. Returns a descriptor, or an error:
 * TIDE_SOURCE_LATER if there is no file descriptor left. */
int tide_spool_open_segment(const tide_spool *spool, uint64_t number,
                            tide_segment *segment, tide_error *err);

/* Reads the header of a segment and the size of its file. */
int tide_spool_read_header(const tide_spool *spool, uint64_t number,
                           tide_segment *segment, uint64_t *size, tide_error *err);

/* Creates and syncs a segment, which is the last from now on. Returns 0 or an errno. */
int tide_spool_create_segment(tide_spool *spool, const tide_segment *segment);

bool tide_spool_has_segment(const tide_spool *spool, uint64_t number);

int tide_spool_remove_segment(const tide_spool *spool, uint64_t number,
                              tide_error *err);

typedef struct tide_spool_listing {
    uint64_t min;               /* input: segments with smaller numbers are removed */
    uint64_t count;             /* of the remaining segments */
    uint64_t smallest, largest; /* their numbers, if there are any */
} tide_spool_listing;

int tide_spool_list(const tide_spool *spool, tide_spool_listing *l, tide_error *err);

/* -- writing and reading (spool.c) ------------------------------------------------- */

/* Syncs all text to disk. */
int tide_spool_sync_now(tide_spool *spool, tide_error *err);

/* Continues reading at the start of a segment. */
int tide_spool_start_reading(tide_spool *spool, uint64_t number, tide_error *err);

#endif
