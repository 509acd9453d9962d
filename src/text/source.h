/* source.h - what a kind of source has to be able to do. Private.
 *
 * A kind looks after its own state. Two sorts can be read again:
 *
 *  - those that are one run of bytes (a file, the demo) can seek and peek; source.c unpacks them if
 *    they are compressed, and makes places of an offset and a fingerprint of the bytes before it;
 *  - those that are not (a file that is rotated away, partitions of a topic, a spool) make their
 *    places themselves; a topic cannot be left anywhere but where it is settled.
 */
#ifndef TIDE_SOURCE_H
#define TIDE_SOURCE_H

#include "text/text.h"

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

    /* One run of bytes. seek: TIDE_ERROR_FORMAT when it ends before `offset`, as tide_source_go_to
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
