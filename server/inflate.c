/* inflate.c - bodies that came compressed with gzip, unpacked a piece at a time.
 *
 * A small body may hold a very large one, so what comes out has the bound of a plain body, or ten times what went in where
 * that is more. Logs pack twentyfold. A body may have several members, one after the other.
 */
#include "ingest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { LARGER = 10, LEAST = INGEST_MAX, MOST = 64 << 20 };

static size_t most_unpacked(size_t size)
{
    size_t most = size > MOST / LARGER ? MOST : size * LARGER;
    return most < LEAST ? LEAST : most;
}

/* One piece after the other. Z_STREAM_END at the end of the last member. */
static int unpack(z_stream *z, char *room, take_piece *take, void *state, size_t left)
{
    int status = Z_OK;
    while (status == Z_OK) {
        z->next_out = (Bytef *)room;
        z->avail_out = PIECE_BYTES;
        status = inflate(z, Z_NO_FLUSH);
        size_t size = PIECE_BYTES - z->avail_out;
        if (size > left)
            return UNPACKED_TOO_LARGE;
        left -= size;
        if (size && !take(state, room, size))
            return UNPACKED;
        if (status == Z_STREAM_END && z->avail_in)
            status = inflateReset(z);
    }
    return status == Z_STREAM_END  ? UNPACKED
           : status == Z_MEM_ERROR ? UNPACKED_NO_MEMORY
                                   : UNPACKED_DAMAGED;
}

unpacked unpack_gzip(const char *bytes, size_t size, char *room, take_piece *take,
                     void *state)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return UNPACKED_NO_MEMORY;
    unpacked result = (unpacked)unpack(&z, room, take, state, most_unpacked(size));
    inflateEnd(&z);
    return result;
}

bool read_body(request *r, char *room, take_piece *take, void *state)
{
    static char nothing[] = "";
    const char *coding = header(r, MHD_HTTP_HEADER_CONTENT_ENCODING);
    if (!coding || !*coding || !strcasecmp(coding, "identity")) {
        take(state, r->body ? r->body : nothing, r->size);
        return true;
    }
    if (strcasecmp(coding, "gzip") != 0 && strcasecmp(coding, "x-gzip") != 0) {
        answer_problem(r, 415, PROBLEM_PLAIN, NULL, "Content-Encoding may be gzip");
        return false;
    }
    switch (unpack_gzip(r->body ? r->body : nothing, r->size, room, take, state)) {
    case UNPACKED:
        return true;
    case UNPACKED_TOO_LARGE:
        answer_problem(r, 413, PROBLEM_PLAIN, NULL,
                       "a body of %zu bytes may unpack to at most %zu", r->size,
                       most_unpacked(r->size));
        return false;
    case UNPACKED_NO_MEMORY:
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "no memory to unpack the body");
        return false;
    default:
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "the body is not gzip, or damaged");
        return false;
    }
}
