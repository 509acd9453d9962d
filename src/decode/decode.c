/* decode.c - which kind of compression, by the first bytes. */
#include "decode/decode.h"

static const tide_decoder_kind *const decoders[] = {
    &tide_decoder_gzip,
    &tide_decoder_zstd,
    &tide_decoder_pzstd,
    &tide_decoder_xz,
};

enum { DECODERS = sizeof decoders / sizeof *decoders };

/* Whether the bytes begin with a magic number; when there are too few to know, the form
 * stays open. */
static bool begins(const unsigned char *bytes, size_t size, const unsigned char *magic,
                   size_t magic_size, tide_compression *form)
{
    bool same = memcmp(bytes, magic, size < magic_size ? size : magic_size) == 0;
    form->open = form->open || (same && size < magic_size);
    return same && size >= magic_size;
}

tide_compression tide_compression_of(const unsigned char *bytes, size_t size)
{
    tide_compression form = {0};
    for (size_t i = 0; i < DECODERS && !form.decoder; i++)
        if (begins(bytes, size, decoders[i]->magic, decoders[i]->magic_size, &form))
            form.decoder = decoders[i];
    return form;
}
