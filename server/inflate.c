/* inflate.c - bodies that came compressed with gzip. A small one may hold a very large one, so what comes out has the
 * bound of a plain body, or ten times what went in where that is more. Logs pack twentyfold. */
#include "ingest.h"

#include <stdlib.h>
#include <zlib.h>

enum { LARGER = 10, LEAST = INGEST_MAX, MOST = 64 << 20 };

char *inflate_body(const char *bytes, size_t size, size_t *inflated)
{
    size_t room = size > MOST / LARGER ? MOST : size * LARGER;
    room = room < LEAST ? LEAST : room;
    char *out = malloc(room);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes,
                  .avail_in = (uInt)size,
                  .next_out = (Bytef *)out,
                  .avail_out = (uInt)room};
    int status = Z_DATA_ERROR;
    if (out && inflateInit2(&z, 15 + 16) == Z_OK) {
        status = inflate(&z, Z_FINISH);
        inflateEnd(&z);
    }
    *inflated = room - z.avail_out;
    if (status == Z_STREAM_END && !z.avail_in)
        return out;
    free(out);
    return NULL;
}
