/* spool.h - a stream of text that is kept on disk until a saved model has learned it.
 *
 * Text is appended in pieces, read in the same order, and dropped from the start. A
 * spool has one stream at a time. Offsets count the bytes of the stream from its first
 * one, even if that has been dropped.
 */
#ifndef TIDE_SPOOL_H
#define TIDE_SPOOL_H

#include "base/base.h"

enum {
    TIDE_SEGMENT_HEADER = 56, /* bytes before the pieces of a segment */
    TIDE_PIECE_TEXT = TIDE_SIZE(64 << 10, 1024), /* maximum bytes of a piece */
};

typedef struct tide_spool tide_spool;

/* Opens the spool in a directory, which is created if necessary and locked until the
 * spool is closed. An incomplete write at the end is cut off. Reading starts with the
 * oldest text. A segment has at most `segment_max` bytes, or one piece. */
tide_spool *tide_spool_open(const char *path, uint64_t segment_max,
                            tide_spool_sync sync, tide_error *err);
void tide_spool_close(tide_spool *spool);

typedef struct tide_spool_extent {
    uint64_t stream;     /* random id of the stream */
    uint64_t start, end; /* offsets of the oldest text and behind the latest */
    uint64_t bytes;      /* on disk */
    uint64_t cut;        /* bytes cut off when it was opened */
    bool consumed; /* a mark says that the latest piece is not in the pipe any more */
} tide_spool_extent;

tide_spool_extent tide_spool_extent_of(const tide_spool *spool);

/* Discards all text and continues at this offset of this stream. */
int tide_spool_reset(tide_spool *spool, uint64_t stream, uint64_t offset,
                     tide_error *err);

/* The disk is full, or there is no file descriptor left; nothing has changed. */
enum { TIDE_SPOOL_FULL = 1 };

/* Appends 1 to TIDE_PIECE_TEXT bytes as one piece, and syncs it as configured.
 * `consumed`: they exist nowhere else any more. TIDE_OK or TIDE_SPOOL_FULL. */
int tide_spool_append(tide_spool *spool, const void *bytes, size_t size, bool consumed,
                      tide_error *err);

/* Appends any amount of lines, in pieces of one segment with a mark behind the last;
 * adds a line feed at the end if there is none. Atomic, also if the process is killed
 * and tide_spool_discard_unmarked is called at the next start. Otherwise as above. */
int tide_spool_append_lines(tide_spool *spool, const char *lines, size_t size,
                            tide_error *err);

/* The maximum bytes on disk for `size` bytes of lines. */
uint64_t tide_spool_size_of_lines(uint64_t size);

/* To be called after opening: cuts off the pieces behind the last mark, which a killed
 * process was still appending. */
int tide_spool_discard_unmarked(tide_spool *spool, tide_error *err);

/* Marks the latest piece as existing nowhere else any more. */
int tide_spool_mark_consumed(tide_spool *spool, tide_error *err);

/* Copies the latest piece if there is no mark behind it. Returns its size, 0
 * otherwise. */
ptrdiff_t tide_spool_unmarked_piece(const tide_spool *spool,
                                    unsigned char bytes[TIDE_PIECE_TEXT],
                                    tide_error *err);

/* Continues reading at an offset, which must be from `start` to `end`. */
int tide_spool_seek(tide_spool *spool, uint64_t offset, tide_error *err);

/* Reads up to `capacity` bytes; 0 if all were read. TIDE_SOURCE_LATER while there is no
 * file descriptor for the next segment. TIDE_ERROR_FORMAT if a segment is corrupt. */
ptrdiff_t tide_spool_read(tide_spool *spool, void *bytes, size_t capacity,
                          tide_error *err);

/* Drops the text before this offset, which must have been read: removes the segments
 * that end before it. TIDE_SPOOL_FULL if the disk is too full to remove all of them
 * now. */
int tide_spool_drop(tide_spool *spool, uint64_t offset, tide_error *err);

/* To be called from time to time: syncs text that has waited for a second. */
int tide_spool_sync_due(tide_spool *spool, tide_error *err);

/* Returns the descriptor with which all text so far can be synced, by another thread,
 * while more is appended. It remains open until it is unpinned; only one can be pinned
 * at a time. */
int tide_spool_pin_file(tide_spool *spool);
void tide_spool_unpin_file(tide_spool *spool);

/* -- reading a spool as a source (spool_reader.c) ---------------------------------- */

typedef struct tide_spool_reader {
    tide_spool *spool;
    char *path;
    uint64_t limit;    /* bytes on disk */
    bool has_position; /* tide_spool_reader_seek has set the start */
    uint64_t returned; /* offset behind the text that was returned */
    uint64_t saved;    /* offset behind the text that is in a saved model */
    tide_error notice;
    bool has_notice;
} tide_spool_reader;

typedef struct tide_spool_reader_options {
    const char *path;
    uint64_t limit; /* bytes, 1 MiB or more; 0 for 1 GiB */
    tide_spool_sync sync;
    bool discard_unmarked; /* discard pieces behind the last mark */
} tide_spool_reader_options;

/* Has to be closed after a failure, too. */
int tide_spool_reader_open(tide_spool_reader *s,
                           const tide_spool_reader_options *options, tide_error *err);
void tide_spool_reader_close(tide_spool_reader *s);

/* To be called before the first read, after tide_spool_reader_seek if there is a
 * position. */
int tide_spool_reader_start(tide_spool_reader *s, bool from_start, tide_error *err);

/* 0 if everything was returned. */
ptrdiff_t tide_spool_reader_read(tide_spool_reader *s, void *bytes, size_t capacity,
                                 tide_error *err);

/* At the end of the input: TIDE_SOURCE_SAVE until everything is saved, then 0. */
int tide_spool_reader_finish(tide_spool_reader *s, tide_error *err);

/* As the functions of the same names in source.h. */
char *tide_spool_reader_position(const tide_spool_reader *s, uint64_t offset,
                                 tide_error *err);
int tide_spool_reader_seek(tide_spool_reader *s, const char *position, tide_error *err);
int tide_spool_reader_saved(tide_spool_reader *s, const char *position,
                            tide_error *err);
const char *tide_spool_reader_notice(tide_spool_reader *s);

/* Sets a notice for tide_source_notice; its caller names the source. */
#define TIDE_SPOOL_READER_NOTIFY(s, ...)                                               \
    ((s)->has_notice = true, (void)tide_fail(&(s)->notice, TIDE_OK, __VA_ARGS__))

#endif
