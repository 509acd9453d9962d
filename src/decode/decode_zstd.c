/* decode_zstd.c - Zstandard by libzstd: RFC 8878, frames one after the other.
 *
 * A frame asks for the memory it needs, up to gigabytes; 128 MiB is what every
 * decompressor has to grant by default, and no more is given here.
 *
 * libzstd forgets how much it has written when it comes upon an error. So it is never
 * given more than one block at a time, without the header of the next one: what an
 * error takes with it is then the block it is in. How much that is libzstd says in
 * advance, and its advice is to add the next header.
 */
#include "decode/decode.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { WINDOW_BITS_MAX = TIDE_ROOM(27, 20), MAGIC_SIZE = 4, BLOCK_HEADER_SIZE = 3 };

typedef struct zstd {
    ZSTD_DCtx *context;
    size_t advice; /* bytes to the end of the next block's header; 0 between frames */
} zstd;

static void *zstd_open(tide_error *err)
{
    zstd *z = tide_alloc(1, sizeof *z);
    if (z && (z->context = ZSTD_createDCtx())) {
        ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, WINDOW_BITS_MAX);
        return z;
    }
    free(z);
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to unpack zstd");
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
    z->advice = 0;
}

static int explain(size_t result, tide_error *err)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return tide_fail(err, TIDE_ERROR_MEMORY, "needs more memory than there is");
    case ZSTD_error_frameParameter_windowTooLarge:
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "needs a window of more than %d MiB to be unpacked, which is "
                         "not granted (zstd -dc --long=31 does)",
                         1 << (WINDOW_BITS_MAX - 20));
    case ZSTD_error_prefix_unknown:
        return tide_fail(err, TIDE_ERROR_FORMAT, "is followed by something else");
    default:
        return tide_fail(err, TIDE_ERROR_FORMAT, "is damaged (%s)",
                         ZSTD_getErrorName(result));
    }
}

static size_t portion(const zstd *z, size_t in_size)
{
    size_t most = z->advice == 0 ? MAGIC_SIZE : z->advice;
    if (z->advice > BLOCK_HEADER_SIZE)
        most -= BLOCK_HEADER_SIZE;
    return in_size < most ? in_size : most;
}

static int zstd_decode(void *state, tide_decoding *data, bool ended, tide_error *err)
{
    zstd *z = state;
    if (data->in_size == 0 && z->advice == 0)
        return TIDE_OK;
    ZSTD_inBuffer in = {data->in, portion(z, data->in_size), 0};
    ZSTD_outBuffer out = {data->out, data->out_room, 0};
    size_t result = ZSTD_decompressStream(z->context, &out, &in);
    if (ZSTD_isError(result))
        return explain(result, err);
    z->advice = result;
    data->in += in.pos;
    data->in_size -= in.pos;
    data->out += out.pos;
    data->out_room -= out.pos;
    if (ended && data->in_size == 0 && out.pos == 0 && z->advice > 0)
        return tide_fail(err, TIDE_ERROR_FORMAT, "ends in the middle");
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

/* pzstd begins with a frame that holds no text but the size of the next one. */
const tide_decoder_kind tide_decoder_pzstd = {
    .name = "zstd",
    .magic = {0x50, 0x2a, 0x4d, 0x18},
    .magic_size = MAGIC_SIZE,
    .open = zstd_open,
    .close = zstd_close,
    .restart = zstd_restart,
    .decode = zstd_decode,
};
