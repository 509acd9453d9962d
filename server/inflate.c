/* inflate.c - request bodies compressed with gzip, decompressed in chunks.
 *
 * A small body may expand to a very large one (a zip bomb), so the output has the bound
 * of an uncompressed body, or ten times its own size where that is more; logs often
 * compress twentyfold. A body may consist of several gzip members.
 */
#include "inflate.h"

#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { EXPANSION_MAX = 10, OUTPUT_MIN = INGEST_MAX, OUTPUT_MAX = 64 << 20 };

/* Returns the bound on the output of a body. */
static size_t output_limit(size_t size)
{
    size_t limit =
        size > OUTPUT_MAX / EXPANSION_MAX ? OUTPUT_MAX : size * EXPANSION_MAX;
    return limit < OUTPUT_MIN ? OUTPUT_MIN : limit;
}

/* Decompresses up to `limit` bytes. */
static inflate_result inflate_chunks(z_stream *z, char *buffer, consume_chunk *consume,
                                     void *state, size_t limit)
{
    int status = Z_OK;
    while (status == Z_OK) {
        z->next_out = (Bytef *)buffer;
        z->avail_out = CHUNK_BYTES;
        status = inflate(z, Z_NO_FLUSH);
        size_t size = CHUNK_BYTES - z->avail_out;
        /* Checked before the chunk is used: nothing beyond the bound is learned. */
        if (size > limit)
            return INFLATE_TOO_LARGE;
        limit -= size;
        /* The consumer has seen enough; what is wrong, if anything, it knows itself. */
        if (size && !consume(state, buffer, size))
            return INFLATE_OK;
        if (status == Z_STREAM_END && z->avail_in) /* another member follows */
            status = inflateReset(z);
    }
    return status == Z_STREAM_END  ? INFLATE_OK
           : status == Z_MEM_ERROR ? INFLATE_NO_MEMORY
                                   : INFLATE_CORRUPT;
}

inflate_result inflate_gzip(const char *bytes, size_t size, char *buffer,
                            consume_chunk *consume, void *state)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    if (inflateInit2(&z, 15 + 16) != Z_OK) /* the largest window; gzip, not zlib */
        return INFLATE_NO_MEMORY;
    inflate_result result =
        inflate_chunks(&z, buffer, consume, state, output_limit(size));
    inflateEnd(&z);
    return result;
}

bool decode_body(request *r, char *buffer, consume_chunk *consume, void *state)
{
    static char empty[] = "";
    const char *coding = request_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING);
    if (!coding || !*coding || !strcasecmp(coding, "identity")) {
        consume(state, r->body ? r->body : empty, r->body_size);
        return true;
    }
    if (strcasecmp(coding, "gzip") != 0 && strcasecmp(coding, "x-gzip") != 0) {
        answer_problem(r, 415, PROBLEM_PLAIN, NULL,
                       "unsupported Content-Encoding; use gzip");
        return false;
    }
    switch (
        inflate_gzip(r->body ? r->body : empty, r->body_size, buffer, consume, state)) {
    case INFLATE_OK:
        return true;
    case INFLATE_TOO_LARGE:
        answer_problem(r, 413, PROBLEM_PLAIN, NULL,
                       "a body of %zu bytes may decompress to at most %zu bytes",
                       r->body_size, output_limit(r->body_size));
        return false;
    case INFLATE_NO_MEMORY:
        answer_problem(r, 503, PROBLEM_PLAIN, NULL,
                       "out of memory to decompress the body");
        return false;
    default:
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "the body is not gzip, or it is corrupt");
        return false;
    }
}
