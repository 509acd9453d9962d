/* decode.c - detecting compression by the magic number. */
#include "decode/decode.h"

static const tide_decoder_kind *const decoders[] = {
    &tide_decoder_gzip,
    &tide_decoder_zstd,
    &tide_decoder_pzstd,
    &tide_decoder_xz,
};

enum { DECODERS = sizeof decoders / sizeof *decoders };

/* Whether the bytes start with a magic number. Sets `undecided` if they are only the
 * beginning of it. */
static bool starts_with(const unsigned char *bytes, size_t size,
                        const unsigned char *magic, size_t magic_size, bool *undecided)
{
    bool same = memcmp(bytes, magic, size < magic_size ? size : magic_size) == 0;
    *undecided = *undecided || (same && size < magic_size);
    return same && size >= magic_size;
}

tide_compression tide_compression_of(const unsigned char *bytes, size_t size)
{
    tide_compression found = {0};
    for (size_t i = 0; i < DECODERS && !found.decoder; i++)
        if (starts_with(bytes, size, decoders[i]->magic, decoders[i]->magic_size,
                        &found.undecided))
            found.decoder = decoders[i];
    return found;
}
