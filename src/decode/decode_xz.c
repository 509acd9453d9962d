/* decode_xz.c - xz by liblzma, with concatenated streams.
 *
 * liblzma handles padding and concatenated streams itself, but recognizes the end only
 * if LZMA_FINISH says that no more input follows.
 */
#include "decode/decode.h"

#include <stdlib.h>
#include <lzma.h>

/* xz -9 needs 65 MiB. */
enum { MEMORY_MAX_MIB = TIDE_SIZE(256, 1) };

typedef struct xz {
    lzma_stream stream;
    lzma_ret init_result;
} xz;

static void xz_restart(void *state)
{
    xz *x = state;
    x->init_result = lzma_stream_decoder(&x->stream, (uint64_t)MEMORY_MAX_MIB << 20,
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
        if (x->init_result == LZMA_OK)
            return x;
        xz_close(x);
    }
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to decompress xz");
    return NULL;
}

static int fail(const xz *x, lzma_ret result, tide_error *err)
{
    switch (result) {
    case LZMA_MEM_ERROR:
        return tide_fail(err, TIDE_ERROR_MEMORY,
                         "cannot be decompressed: out of memory");
    case LZMA_MEMLIMIT_ERROR:
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "needs %llu MiB of memory to be decompressed, more than the "
                         "limit of %d MiB (use xz -dc)",
                         (unsigned long long)lzma_memusage(&x->stream) >> 20,
                         MEMORY_MAX_MIB);
    case LZMA_OPTIONS_ERROR:
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "is corrupt, or this liblzma is too old for it");
    case LZMA_BUF_ERROR:
        return tide_fail(err, TIDE_ERROR_FORMAT, "is truncated");
    default:
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "is corrupt or followed by trailing garbage");
    }
}

/* liblzma reports LZMA_BUF_ERROR only at the second call in a row without progress, so
 * a call without progress is repeated. */
static lzma_ret run_coder(lzma_stream *stream, lzma_action action)
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
    if (x->init_result != LZMA_OK)
        return fail(x, x->init_result, err);
    x->stream.next_in = data->in;
    x->stream.avail_in = data->in_size;
    x->stream.next_out = data->out;
    x->stream.avail_out = data->out_capacity;
    lzma_ret result = run_coder(&x->stream, ended ? LZMA_FINISH : LZMA_RUN);
    data->in = x->stream.next_in;
    data->in_size = x->stream.avail_in;
    data->out = x->stream.next_out;
    data->out_capacity = x->stream.avail_out;
    if (result == LZMA_OK || result == LZMA_STREAM_END)
        return TIDE_OK;
    if (result == LZMA_BUF_ERROR && !ended)
        return TIDE_OK;
    return fail(x, result, err);
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
