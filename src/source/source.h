/* source.h - where text comes from: what a source offers, and what a kind of source implements. */
#ifndef TIDE_SOURCE_H
#define TIDE_SOURCE_H

#include "detect/detect.h"

/* The public part is in wordtide.h. */

typedef struct tide_source_options {
    tide_expected expected;
    bool follow; /* a file is read on as it grows, and through rotation */
    const char *const *properties; /* "key=value" for the library behind a source */
    size_t property_count;
    tide_feed *feed;      /* what "feed:" reads; NULL for none */
    const char *spool;    /* a pipe goes through the spool in this folder; NULL */
    uint64_t spool_limit; /* bytes; 0 for 1 GiB */
    tide_spool_sync spool_sync;
    bool from_start;  /* it is all the same how much of a spool others have learned */
    bool one_message; /* no read goes beyond the end of a message */
} tide_source_options;

/* tide_source_open with options. */
tide_source *tide_source_open_with(const char *spec, const tide_source_options *options,
                                   tide_error *err);

enum {
    TIDE_SOURCE_LATER = -100, /* nothing has come while we waited */
    TIDE_SOURCE_SAVE = -101,  /* wants to be saved before it can go on */
};

/* Up to `room` bytes; 0 at the end; TIDE_SOURCE_LATER when none has come within `wait_ms` (a
 * signal may make it less) from a source that may still have some; TIDE_SOURCE_SAVE: see
 * tide_source_saved. */
ptrdiff_t tide_source_poll(tide_source *source, void *bytes, size_t room, int wait_ms,
                           tide_error *err);

/* Bytes read so far, counted from the beginning of the source. */
uint64_t tide_source_offset(const tide_source *source);

/* Whether reading can go on in a later run (a regular file, the demo, a topic, a spool). */
bool tide_source_can_resume(const tide_source *source);

/* Whether it gives lines of text, also to a trainer whose other sources have records. */
bool tide_source_plain(const tide_source *source);

/* Whether what waits in it is to be read before a run stops, since nobody else has it. */
bool tide_source_drains(const tide_source *source);

/* Whether what was saved leaves it, so that its beginning cannot be read again. */
bool tide_source_discards(const tide_source *source);

/* How many bytes of a stored file have been read, packed ones if it is packed, and how many there are. False where
 * that is not known. */
bool tide_source_progress(const tide_source *source, uint64_t *read, uint64_t *size);

/* Whether it can go on from any offset within what was read last, or only from where everything read so
 * far is taken, and that only when it is settled: at the end of a message. */
bool tide_source_divisible(const tide_source *source);
bool tide_source_at_boundary(const tide_source *source);

/* Whether it is one text, with the names of its columns at most at its beginning, rather than a sequence of files or
 * messages. */
bool tide_source_is_one_text(const tide_source *source);

/* Where the byte at `offset` is found again, as a line of text; free() it. It is one of those that the latest
 * read gave out, or the next; for a source that is not divisible, the next. The place has a fingerprint of the text before it. */
char *tide_source_place(tide_source *source, uint64_t offset, tide_error *err);

/* Goes to a place. TIDE_ERROR_FORMAT when it is not there (any more): reading then begins where it
 * would have begun, and the text says so, or what else is known about that. The caller names the
 * source. After any other error it must not be read. */
int tide_source_seek(tide_source *source, const char *place, tide_error *err);

/* Everything up to the place is safe on disk, so others may be told. Also the answer to
 * TIDE_SOURCE_SAVE, after which the source goes on. A failure is worth a warning and no more.
 *
 * Until this answer comes, every poll is TIDE_SOURCE_SAVE at once, without waiting: who could not
 * save has to wait for a while before polling again. */
int tide_source_saved(tide_source *source, const char *place, tide_error *err);

/* Waits a few seconds at most until others know what is saved: nothing more will be read. A failure is worth a
 * warning. */
int tide_source_finish(tide_source *source, tide_error *err);

/* Something about the source that a person should know and that is no failure (a file was rotated,
 * cut short, deleted; messages were gone before they were read), as one line, once; NULL when there
 * is nothing. The caller names the source. Valid until the next call with this source. */
const char *tide_source_news(tide_source *source);

/* -- what a kind of source implements (source.c has the table) --------------------- */

/* A kind looks after its own state. Two sorts can be read again:
 *
 *  - those that are one run of bytes (a file, the demo) can seek and peek; source.c unpacks them if
 *    they are compressed, and makes places of an offset and a fingerprint of the bytes before it;
 *  - those that are not (a file that is rotated away, partitions of a topic, a spool) make their
 *    places themselves; a topic cannot be left anywhere but where it is settled.
 */

enum { TIDE_FINGERPRINT_BYTES = 4096 };

#define TIDE_SHORTER "shorter than it was, so it is read from its start"

typedef struct tide_source_kind {
    bool (*matches)(const char *spec, const tide_source_options *options);
    void *(*open)(const char *spec, const tide_source_options *options,
                  tide_error *err);
    void (*close)(void *state);

    /* As tide_source_poll. */
    ptrdiff_t (*read)(void *state, void *bytes, size_t room, int wait_ms,
                      tide_error *err);

    bool plain;         /* gives lines of text, whatever records the others have */
    bool several_texts; /* gives out one file or message after another */
    bool drained; /* what waits in it when all is stopped is read, and lost otherwise */
    bool forgets; /* what was saved leaves it, so its beginning may be gone */

    bool may_be_packed; /* compressed data is told by its first bytes and unpacked */

    /* Whether it can be read again at all; NULL: never. */
    bool (*replayable)(const void *state);

    /* One run of bytes. seek: TIDE_ERROR_FORMAT when it ends before `offset`, as tide_source_seek
     * answers it; TIDE_SHORTER says so. peek: the `size` bytes that end at `offset`; reading goes on
     * where it was. */
    int (*seek)(void *state, uint64_t offset, tide_error *err);
    int (*peek)(void *state, uint64_t offset, void *bytes, size_t size,
                tide_error *err);

    /* As tide_source_progress; NULL: it is never known. */
    bool (*progress)(const void *state, uint64_t *read, uint64_t *size);

    /* Anything else. As the functions of the same names in text.h. Without `settled` it can be left
     * anywhere, and `offset` says where it begins, also after go_to; NULL: at 0. */
    bool (*settled)(const void *state);
    uint64_t (*offset)(const void *state);
    char *(*place)(void *state, uint64_t offset, tide_error *err);
    int (*go_to)(void *state, const char *place, tide_error *err);
    int (*saved)(void *state, const char *place, tide_error *err); /* may be NULL */
    int (*finish)(void *state, tide_error *err);                   /* may be NULL */
    const char *(*news)(void *state);                              /* may be NULL */
} tide_source_kind;

extern const tide_source_kind tide_source_stdin, tide_source_file; /* source_file.c */
extern const tide_source_kind tide_source_spool;                   /* source_spool.c */
extern const tide_source_kind tide_source_demo;                    /* source_demo.c */
extern const tide_source_kind tide_source_feed;                    /* source_feed.c */
extern const tide_source_kind tide_source_feed_spool; /* source_feed_spool.c */
extern const tide_source_kind tide_source_follow;     /* source_follow.c */
extern const tide_source_kind tide_source_kafka; /* source_kafka.c, if built with it */

/* What is behind a source of the kinds stdin and file. */
int tide_file_descriptor(const void *state);
const char *tide_file_name(const void *state);

#endif
