/* unpacker.h - reads a source, and decompresses it if necessary. Private. */
#ifndef TIDE_SOURCE_UNPACKER_H
#define TIDE_SOURCE_UNPACKER_H

#include "detect/detect.h"
#include "source/source.h"

typedef struct tide_unpacker tide_unpacker;

/* Reads `state` through `kind`. `spec` is the name given by the user. The caller keeps
 * ownership of all three. A text that is not of an expected kind is refused at its
 * start with TIDE_ERROR_FORMAT. */
tide_unpacker *tide_unpacker_new(const tide_source_kind *kind, void *state,
                                 const char *spec, tide_expected expected,
                                 tide_error *err);
void tide_unpacker_free(tide_unpacker *u);

/* As the functions of tide_source_kind. Offsets are those of the decompressed text. In
 * compressed text, peek reaches back TIDE_UNPACKED_KEPT bytes at most, and a seek
 * decompresses everything up to the offset. */
enum { TIDE_UNPACKED_KEPT = TIDE_SIZE(128 << 10, 8 << 10) };

ptrdiff_t tide_unpacker_read(tide_unpacker *u, void *bytes, size_t capacity,
                             int wait_ms, tide_error *err);
int tide_unpacker_seek(tide_unpacker *u, uint64_t offset, tide_error *err);
int tide_unpacker_peek(tide_unpacker *u, uint64_t offset, void *bytes, size_t size,
                       tide_error *err);

#endif
