/* unpacker.h - the text of a source, packed or not. Private. */
#ifndef TIDE_SOURCE_UNPACKER_H
#define TIDE_SOURCE_UNPACKER_H

#include "detect/detect.h"
#include "source/source.h"

typedef struct tide_unpacker tide_unpacker;

/* Reads `state` through `kind`. `spec` is what the user called it; all three stay the caller's. What is
 * neither packed nor expected is refused at its beginning with TIDE_ERROR_FORMAT. */
tide_unpacker *tide_unpacker_new(const tide_source_kind *kind, void *state,
                                 const char *spec, tide_expected expected,
                                 tide_error *err);
void tide_unpacker_free(tide_unpacker *u);

/* As the functions of tide_source_kind. Offsets are those of the text. Packed text can be peeked at
 * no further back than TIDE_UNPACKED_KEPT bytes before what was read last; to seek in it is to
 * unpack it up to there. */
enum { TIDE_UNPACKED_KEPT = TIDE_ROOM(128 << 10, 8 << 10) };

ptrdiff_t tide_unpacker_read(tide_unpacker *u, void *bytes, size_t room, int wait_ms,
                             tide_error *err);
int tide_unpacker_seek(tide_unpacker *u, uint64_t offset, tide_error *err);
int tide_unpacker_peek(tide_unpacker *u, uint64_t offset, void *bytes, size_t size,
                       tide_error *err);

#endif
