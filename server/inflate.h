/* inflate.h - request bodies in chunks, decompressed if necessary. Private. */
#ifndef SERVER_INFLATE_H
#define SERVER_INFLATE_H

#include "request.h"

enum { CHUNK_BYTES = 64 << 10 };

/* Consumes the next bytes of a body, which it may modify. Returns false when it needs
 * no more of them. */
typedef bool consume_chunk(void *state, char *bytes, size_t size);

typedef enum inflate_result {
    INFLATE_OK, /* all was consumed, or the consumer has stopped */
    INFLATE_CORRUPT,
    INFLATE_TOO_LARGE,
    INFLATE_NO_MEMORY,
} inflate_result;

/* Decompresses gzip; `buffer` has CHUNK_BYTES. */
inflate_result inflate_gzip(const char *bytes, size_t size, char *buffer,
                            consume_chunk *consume, void *state);

/* Decodes the body according to its Content-Encoding. Returns false after answering
 * with a problem. */
bool decode_body(request *r, char *buffer, consume_chunk *consume, void *state);

#endif
