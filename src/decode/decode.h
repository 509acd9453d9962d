/* decode.h - decompression: the interface of a decoder, and detection of the format. */
#ifndef TIDE_DECODE_H
#define TIDE_DECODE_H

#include "base/base.h"

enum { TIDE_MAGIC_MAX = 6 };

/* Compressed input and the buffer for decompressed output; decode advances both. */
typedef struct tide_decoding {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_capacity;
} tide_decoding;

typedef struct tide_decoder_kind {
    const char *name; /* "gzip" */
    unsigned char magic[TIDE_MAGIC_MAX];
    size_t magic_size;

    void *(*open)(tide_error *err);
    void (*close)(void *state);
    void (*restart)(void *state); /* the next input is the start of the data again */

    /* Consumes input, produces output, or both. Concatenated members are one text.
     * `ended` is true if no input follows `in`. Returns TIDE_ERROR_FORMAT if the data
     * is corrupt, or if a member is incomplete at the end of the input; everything that
     * could be decompressed has been returned before. The error says what is wrong ("is
     * truncated", "is corrupt"); the caller prepends the name of the source. */
    int (*decode)(void *state, tide_decoding *data, bool ended, tide_error *err);
} tide_decoder_kind;

/* pzstd: zstd that starts with a skippable frame. */
extern const tide_decoder_kind tide_decoder_gzip;
extern const tide_decoder_kind tide_decoder_zstd, tide_decoder_pzstd;
extern const tide_decoder_kind tide_decoder_xz;

/* -- detection (decode.c) ---------------------------------------------------------- */

typedef struct tide_compression {
    const tide_decoder_kind *decoder; /* NULL if no magic number was found */
    bool undecided;                   /* more bytes may complete a magic number */
} tide_compression;

/* TIDE_MAGIC_MAX bytes always suffice for a decision. */
tide_compression tide_compression_of(const unsigned char *bytes, size_t size);

#endif
