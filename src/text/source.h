/* source.h - what a kind of source has to be able to do. Private. */
#ifndef TIDE_SOURCE_H
#define TIDE_SOURCE_H

#include "text/text.h"

enum { TIDE_FINGERPRINT_BYTES = 4096 };

/* A kind looks after its own state and knows nothing of offsets except those it is
 * given. */
typedef struct tide_source_kind {
    bool (*matches)(const char *spec);
    void *(*open)(const char *spec, tide_error *err);
    void (*close)(void *state);
    ptrdiff_t (*read)(void *state, void *bytes, size_t room, tide_error *err);

    /* The rest is for sources that are replayable. */
    bool (*replayable)(const void *state);
    int (*seek)(void *state, uint64_t offset, tide_error *err);

    /* The `size` bytes that end at `offset`; reading goes on where it was. */
    int (*peek)(void *state, uint64_t offset, void *bytes, size_t size,
                tide_error *err);
} tide_source_kind;

extern const tide_source_kind tide_source_stdin, tide_source_file; /* source_file.c */
extern const tide_source_kind tide_source_demo;                    /* source_demo.c */

#endif
