/* decode_zstd.c - Zstandard (RFC 8878) by libzstd, with concatenated frames.
 *
 * A frame declares the window it needs, up to gigabytes. libzstd accepts 128 MiB by
 * default, and that is the limit here.
 *
 * When libzstd returns an error, it does not say how much output it has written before.
 * So it gets at most one block per call, without the header of the next block: then an
 * error loses no more than the block it is in. The size comes from the hint that
 * libzstd returns for the next call, which includes the next block header.
 */
#include "decode/decode.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { WINDOW_BITS_MAX = TIDE_SIZE(27, 20), MAGIC_SIZE = 4, BLOCK_HEADER_SIZE = 3 };

typedef struct zstd {
    ZSTD_DCtx *context;
    size_t hint; /* bytes to the end of the next block's header; 0 between frames */
} zstd;

static void *zstd_open(tide_error *err)
{
    zstd *z = tide_alloc(1, sizeof *z);
    if (z && (z->context = ZSTD_createDCtx())) {
        ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, WINDOW_BITS_MAX);
        return z;
    }
    free(z);
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to decompress zstd");
    return NULL;
}

static void zstd_close(void *state)
{
    zstd *z = state;
    ZSTD_freeDCtx(z->context);
    free(z);
}

static void zstd_restart(void *state)
{
    zstd *z = state;
    ZSTD_DCtx_reset(z->context, ZSTD_reset_session_only);
    z->hint = 0;
}

static int fail(size_t result, tide_error *err)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return tide_fail(err, TIDE_ERROR_MEMORY,
                         "cannot be decompressed: out of memory");
    case ZSTD_error_frameParameter_windowTooLarge:
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "needs a window above the limit of %d MiB (use zstd -dc "
                         "--long=31)",
                         1 << (WINDOW_BITS_MAX - 20));
    case ZSTD_error_prefix_unknown:
        return tide_fail(err, TIDE_ERROR_FORMAT, "is followed by trailing garbage");
    default:
        return tide_fail(err, TIDE_ERROR_FORMAT, "is corrupt (%s)",
                         ZSTD_getErrorName(result));
    }
}

/* How many input bytes to pass: up to the end of the current block, or of the magic
 * number of the next frame. */
static size_t input_size(const zstd *z, size_t in_size)
{
    size_t max = z->hint == 0 ? MAGIC_SIZE : z->hint;
    if (z->hint > BLOCK_HEADER_SIZE)
        max -= BLOCK_HEADER_SIZE;
    return in_size < max ? in_size : max;
}

static int zstd_decode(void *state, tide_decoding *data, bool ended, tide_error *err)
{
    zstd *z = state;
    if (data->in_size == 0 && z->hint == 0)
        return TIDE_OK;
    ZSTD_inBuffer in = {data->in, input_size(z, data->in_size), 0};
    ZSTD_outBuffer out = {data->out, data->out_capacity, 0};
    size_t result = ZSTD_decompressStream(z->context, &out, &in);
    if (ZSTD_isError(result))
        return fail(result, err);
    z->hint = result;
    data->in += in.pos;
    data->in_size -= in.pos;
    data->out += out.pos;
    data->out_capacity -= out.pos;
    if (ended && data->in_size == 0 && out.pos == 0 && z->hint > 0)
        return tide_fail(err, TIDE_ERROR_FORMAT, "is truncated");
    return TIDE_OK;
}

const tide_decoder_kind tide_decoder_zstd = {
    .name = "zstd",
    .magic = {0x28, 0xb5, 0x2f, 0xfd},
    .magic_size = MAGIC_SIZE,
    .open = zstd_open,
    .close = zstd_close,
    .restart = zstd_restart,
    .decode = zstd_decode,
};

/* pzstd starts with a skippable frame that holds the size of the next one. */
const tide_decoder_kind tide_decoder_pzstd = {
    .name = "zstd",
    .magic = {0x50, 0x2a, 0x4d, 0x18},
    .magic_size = MAGIC_SIZE,
    .open = zstd_open,
    .close = zstd_close,
    .restart = zstd_restart,
    .decode = zstd_decode,
};
