/* source.h - where text comes from: what a source offers, and what a kind of source
 * implements. */
#ifndef TIDE_SOURCE_H
#define TIDE_SOURCE_H

#include "detect/detect.h"

/* The public functions are in wordtide.h. */

typedef struct tide_source_options {
    tide_expected expected;
    bool follow;                   /* keep reading a file as it grows and is rotated */
    const char *const *properties; /* "key=value" for librdkafka */
    size_t property_count;
    tide_feed *feed;      /* what "feed:" reads; NULL for none */
    const char *spool;    /* directory of the spool for a pipe; NULL for none */
    uint64_t spool_limit; /* bytes; 0 for 1 GiB */
    tide_spool_sync spool_sync;
    bool from_start;  /* read a spool even if another model has trained on its start */
    bool one_message; /* a read returns no more than one message */
} tide_source_options;

/* tide_source_open with options. */
tide_source *tide_source_open_with(const char *spec, const tide_source_options *options,
                                   tide_error *err);

enum {
    TIDE_SOURCE_LATER = -100, /* nothing has arrived within the wait */
    TIDE_SOURCE_SAVE = -101,  /* the source needs a save before it can continue */
};

/* Reads up to `capacity` bytes; 0 at the end. TIDE_SOURCE_LATER if nothing has arrived
 * within `wait_ms` (or until a signal) and the source has not ended. TIDE_SOURCE_SAVE:
 * see tide_source_saved. */
ptrdiff_t tide_source_poll(tide_source *source, void *bytes, size_t capacity,
                           int wait_ms, tide_error *err);

/* Bytes read so far, counted from the start of the source. */
uint64_t tide_source_offset(const tide_source *source);

/* Whether a later run can continue where this one stops (a regular file, the demo, a
 * topic, a spool). */
bool tide_source_can_resume(const tide_source *source);

/* Whether it always has plain lines of text, even if the other sources of the trainer
 * have records. */
bool tide_source_plain(const tide_source *source);

/* Whether its pending text has to be read before a run stops, since it would be lost
 * otherwise. */
bool tide_source_drains(const tide_source *source);

/* Whether it discards text once that is saved, so that its start cannot be read
 * again. */
bool tide_source_discards(const tide_source *source);

/* How many bytes of a regular file have been read (of the compressed file if it is
 * compressed), and how many there are. False if that is not known. */
bool tide_source_progress(const tide_source *source, uint64_t *read, uint64_t *size);

/* Whether it can resume from any offset within the last read. Otherwise it can resume
 * only behind everything read so far, and only at a boundary: the end of a message. */
bool tide_source_divisible(const tide_source *source);
bool tide_source_at_boundary(const tide_source *source);

/* Whether it is a single text, with a header line at most at its start, rather than a
 * sequence of files or messages. */
bool tide_source_is_one_text(const tide_source *source);

/* Returns a position, a line of text from which tide_source_seek finds the byte at
 * `offset` again; free() it. The offset is within the bytes of the last read, or right
 * behind them; for a source that is not divisible, right behind them. */
char *tide_source_position(tide_source *source, uint64_t offset, tide_error *err);

/* Moves to a position. TIDE_ERROR_FORMAT if it does not exist (any more): then reading
 * starts where it would have started otherwise, and the error says so. The caller names
 * the source. After any other error the source must not be read. */
int tide_source_seek(tide_source *source, const char *position, tide_error *err);

/* Reports that everything up to the position is safe on disk, so that the source may
 * discard or commit it. Also the response to TIDE_SOURCE_SAVE, after which the source
 * continues. A failure deserves a warning and no more.
 *
 * Until this response every poll returns TIDE_SOURCE_SAVE immediately. A caller that
 * could not save has to wait for a while before it polls again. */
int tide_source_saved(tide_source *source, const char *position, tide_error *err);

/* Waits, a few seconds at most, until what was saved is committed. Nothing more will be
 * read. A failure deserves a warning. */
int tide_source_finish(tide_source *source, tide_error *err);

/* A notice for the user that is not a failure (a file was rotated, truncated, deleted;
 * messages expired before they were read), as one line, once; NULL if there is none.
 * The caller names the source. Valid until the next call with this source. */
const char *tide_source_notice(tide_source *source);

/* -- what a kind of source implements (source.c has the table) --------------------- */

/* There are two sorts of sources that can resume:
 *
 * - a source that is one sequence of bytes (a file, the demo) can seek and peek;
 *   source.c decompresses it if necessary, and composes positions of an offset and a
 *   fingerprint of the bytes before it;
 * - any other (a file that is rotated, partitions of a topic, a spool) composes its
 *   positions itself.
 */

enum { TIDE_FINGERPRINT_BYTES = 4096 };

#define TIDE_SHORTER "shorter than before, so it is read from the start"

typedef struct tide_source_kind {
    bool (*matches)(const char *spec, const tide_source_options *options);
    void *(*open)(const char *spec, const tide_source_options *options,
                  tide_error *err);
    void (*close)(void *state);

    /* As tide_source_poll. */
    ptrdiff_t (*read)(void *state, void *bytes, size_t capacity, int wait_ms,
                      tide_error *err);

    bool plain;         /* always lines of text, even if other sources have records */
    bool several_texts; /* a sequence of files or messages */
    bool drains;        /* pending text is read before a run stops, or it is lost */
    bool discards;      /* what was saved is discarded, so the start may be gone */

    bool may_be_compressed; /* detect and decompress compressed data */

    /* Whether a later run can continue; NULL: never. */
    bool (*can_resume)(const void *state);

    /* For one sequence of bytes. seek: TIDE_ERROR_FORMAT with the text TIDE_SHORTER if
     * it ends before `offset`. peek: copies the `size` bytes before `offset`, without
     * moving the position of reads. */
    int (*seek)(void *state, uint64_t offset, tide_error *err);
    int (*peek)(void *state, uint64_t offset, void *bytes, size_t size,
                tide_error *err);

    /* As tide_source_progress; NULL: never known. */
    bool (*progress)(const void *state, uint64_t *read, uint64_t *size);

    /* For anything else, as the functions of the same names above. at_boundary is NULL
     * for a divisible source; then `offset` is the offset of its first byte, also after
     * seek_position; NULL: 0. */
    bool (*at_boundary)(const void *state);
    uint64_t (*offset)(const void *state);
    char *(*position)(void *state, uint64_t offset, tide_error *err);
    int (*seek_position)(void *state, const char *position, tide_error *err);
    int (*saved)(void *state, const char *position, tide_error *err); /* may be NULL */
    int (*finish)(void *state, tide_error *err);                      /* may be NULL */
    const char *(*notice)(void *state);                               /* may be NULL */
} tide_source_kind;

extern const tide_source_kind tide_source_stdin, tide_source_file; /* source_file.c */
extern const tide_source_kind tide_source_spool;                   /* source_spool.c */
extern const tide_source_kind tide_source_demo;                    /* source_demo.c */
extern const tide_source_kind tide_source_feed;                    /* source_feed.c */
extern const tide_source_kind tide_source_feed_spool; /* source_feed_spool.c */
extern const tide_source_kind tide_source_follow;     /* source_follow.c */
extern const tide_source_kind tide_source_kafka; /* source_kafka.c, if built with it */

/* The descriptor and the name of a source of the kinds stdin and file. */
int tide_file_descriptor(const void *state);
const char *tide_file_name(const void *state);

#endif
