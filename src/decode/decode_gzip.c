/* decode_gzip.c - gzip (RFC 1952) by zlib, with concatenated members.
 *
 * zlib stops at the end of a member. What follows is another member, or the zeros that
 * pad tapes and block devices, or an error.
 */
#include "decode/decode.h"

#include <limits.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

enum { WINDOW_BITS = 15, GZIP_ONLY = 16, FIRST_BYTE = 0x1f };

typedef struct gzip {
    z_stream stream;
    bool between_members;
} gzip;

static void *gzip_open(tide_error *err)
{
    gzip *g = tide_alloc(1, sizeof *g);
    if (g && inflateInit2(&g->stream, WINDOW_BITS + GZIP_ONLY) == Z_OK) {
        g->between_members = true;
        return g;
    }
    free(g);
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to decompress gzip");
    return NULL;
}

static void gzip_close(void *state)
{
    gzip *g = state;
    inflateEnd(&g->stream);
    free(g);
}

static void gzip_restart(void *state)
{
    ((gzip *)state)->between_members = true;
}

static void skip_zeros(tide_decoding *data)
{
    while (data->in_size > 0 && *data->in == 0) {
        data->in++;
        data->in_size--;
    }
}

static uInt clamp_to_uint(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

static int inflate_some(z_stream *stream, tide_decoding *data)
{
    stream->next_in = data->in;
    stream->avail_in = clamp_to_uint(data->in_size);
    stream->next_out = data->out;
    stream->avail_out = clamp_to_uint(data->out_capacity);
    int result = inflate(stream, Z_NO_FLUSH);
    data->in_size -= (size_t)(stream->next_in - data->in);
    data->in = stream->next_in;
    data->out_capacity -= (size_t)(stream->next_out - data->out);
    data->out = stream->next_out;
    return result;
}

static int gzip_decode(void *state, tide_decoding *data, bool ended, tide_error *err)
{
    gzip *g = state;
    if (g->between_members) {
        skip_zeros(data);
        if (data->in_size == 0)
            return TIDE_OK;
        if (*data->in != FIRST_BYTE)
            return tide_fail(err, TIDE_ERROR_FORMAT, "is followed by trailing garbage");
        inflateReset(&g->stream);
        g->between_members = false;
    }
    size_t capacity = data->out_capacity;
    int result = inflate_some(&g->stream, data);
    if (result == Z_STREAM_END)
        g->between_members = true;
    else if (result == Z_MEM_ERROR)
        return tide_fail(err, TIDE_ERROR_MEMORY,
                         "cannot be decompressed: out of memory");
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return tide_fail(err, TIDE_ERROR_FORMAT, "is corrupt (%s)",
                         g->stream.msg ? g->stream.msg : zError(result));
    else if (ended && data->in_size == 0 && data->out_capacity == capacity)
        return tide_fail(err, TIDE_ERROR_FORMAT, "is truncated");
    return TIDE_OK;
}

const tide_decoder_kind tide_decoder_gzip = {
    .name = "gzip",
    .magic = {FIRST_BYTE, 0x8b},
    .magic_size = 2,
    .open = gzip_open,
    .close = gzip_close,
    .restart = gzip_restart,
    .decode = gzip_decode,
};
