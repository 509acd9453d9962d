/* decode_xz.c - xz by liblzma, streams one after the other.
 *
 * liblzma knows of padding and of streams that follow each other, but finds the end
 * only when it is told that no more input comes.
 */
#include "decode/decode.h"

#include <stdlib.h>
#include <lzma.h>

/* xz -9 needs 65 MiB. */
enum { MEMORY_MAX_MIB = TIDE_ROOM(256, 1) };

typedef struct xz {
    lzma_stream stream;
    lzma_ret started;
} xz;

static void xz_restart(void *state)
{
    xz *x = state;
    x->started = lzma_stream_decoder(&x->stream, (uint64_t)MEMORY_MAX_MIB << 20,
                                     LZMA_CONCATENATED);
}

static void xz_close(void *state)
{
    xz *x = state;
    lzma_end(&x->stream);
    free(x);
}

static void *xz_open(tide_error *err)
{
    xz *x = tide_alloc(1, sizeof *x);
    if (x) {
        x->stream = (lzma_stream)LZMA_STREAM_INIT;
        xz_restart(x);
        if (x->started == LZMA_OK)
            return x;
        xz_close(x);
    }
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to unpack xz");
    return NULL;
}

static int explain(const xz *x, lzma_ret result, tide_error *err)
{
    switch (result) {
    case LZMA_MEM_ERROR:
        return tide_fail(err, TIDE_ERROR_MEMORY, "needs more memory than there is");
    case LZMA_MEMLIMIT_ERROR:
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "needs %llu MiB of memory to be unpacked, and %d are granted "
                         "(xz -dc does it)",
                         (unsigned long long)lzma_memusage(&x->stream) >> 20,
                         MEMORY_MAX_MIB);
    case LZMA_OPTIONS_ERROR:
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "is damaged or of a newer kind than this liblzma knows");
    case LZMA_BUF_ERROR:
        return tide_fail(err, TIDE_ERROR_FORMAT, "ends in the middle");
    default:
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "is damaged or followed by something else");
    }
}

/* It takes two calls without anything to do until liblzma says that there is nothing. */
static lzma_ret lzma_some(lzma_stream *stream, lzma_action action)
{
    size_t in = stream->avail_in, out = stream->avail_out;
    lzma_ret result = lzma_code(stream, action);
    if (result == LZMA_OK && stream->avail_in == in && stream->avail_out == out)
        result = lzma_code(stream, action);
    return result;
}

static int xz_decode(void *state, tide_decoding *data, bool ended, tide_error *err)
{
    xz *x = state;
    if (x->started != LZMA_OK)
        return explain(x, x->started, err);
    x->stream.next_in = data->in;
    x->stream.avail_in = data->in_size;
    x->stream.next_out = data->out;
    x->stream.avail_out = data->out_room;
    lzma_ret result = lzma_some(&x->stream, ended ? LZMA_FINISH : LZMA_RUN);
    data->in = x->stream.next_in;
    data->in_size = x->stream.avail_in;
    data->out = x->stream.next_out;
    data->out_room = x->stream.avail_out;
    if (result == LZMA_OK || result == LZMA_STREAM_END)
        return TIDE_OK;
    if (result == LZMA_BUF_ERROR && !ended)
        return TIDE_OK;
    return explain(x, result, err);
}

const tide_decoder_kind tide_decoder_xz = {
    .name = "xz",
    .magic = {0xfd, '7', 'z', 'X', 'Z', 0},
    .magic_size = 6,
    .open = xz_open,
    .close = xz_close,
    .restart = xz_restart,
    .decode = xz_decode,
};
