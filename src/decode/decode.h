/* decode.h - what a kind of compression has to be able to do, and how it is told by its first bytes. */
#ifndef TIDE_DECODE_H
#define TIDE_DECODE_H

#include "base/base.h"

enum { TIDE_MAGIC_MAX = 6 };

/* Packed bytes on their way into unpacked ones; decode moves both pointers. */
typedef struct tide_decoding {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_room;
} tide_decoding;

typedef struct tide_decoder_kind {
    const char *name; /* "gzip" */
    unsigned char magic[TIDE_MAGIC_MAX];
    size_t magic_size;

    void *(*open)(tide_error *err);
    void (*close)(void *state);
    void (*restart)(void *state); /* from the first byte again */

    /* Uses input, makes output, or both; members that follow each other are one text. At the end
     * of the input `ended` is true, in_size 0 in the end: returns TIDE_ERROR_FORMAT if a member is
     * incomplete then, or whenever the data is damaged; all that could be unpacked has been given
     * before. The text says what is wrong ("ends in the middle", "is damaged"); the caller names
     * the source. */
    int (*decode)(void *state, tide_decoding *data, bool ended, tide_error *err);
} tide_decoder_kind;

/* pzstd: zstd that begins with a frame to skip. */
extern const tide_decoder_kind tide_decoder_gzip;
extern const tide_decoder_kind tide_decoder_zstd, tide_decoder_pzstd;
extern const tide_decoder_kind tide_decoder_xz;

/* -- whether something is packed, by its first bytes (decode.c) -------------------- */

typedef struct tide_compression {
    const tide_decoder_kind *decoder; /* that unpacks it; NULL: none */
    bool open;                        /* more bytes may show that one does */
} tide_compression;

/* TIDE_MAGIC_MAX bytes are always enough. */
tide_compression tide_compression_of(const unsigned char *bytes, size_t size);

#endif
