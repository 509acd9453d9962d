/* segment.h - the bytes of a segment of a spool, and how they are read. Private to spool.c. */
#ifndef TIDE_SPOOL_SEGMENT_H
#define TIDE_SPOOL_SEGMENT_H

#include "spool/spool.h"

enum {
    TIDE_PIECE_HEAD = 16,
    TIDE_PIECE_MAX = TIDE_PIECE_HEAD + TIDE_PIECE_TEXT,
};

#define TIDE_SEGMENT_NUMBER_MAX 999999999999

/* Of a segment that is opened. No stream will ever be as long as what is left from there to the largest
 * offset, so whatever opens can be added to. */
#define TIDE_SEGMENT_OFFSET_MAX (INT64_MAX / 2)

typedef struct tide_segment {
    uint64_t stream; /* its name, a number by chance */
    uint64_t number;
    uint64_t first;  /* segments with smaller numbers do not count any more */
    uint64_t offset; /* in the stream, of its first byte of text */
} tide_segment;

void tide_segment_put(const tide_segment *segment,
                      unsigned char header[TIDE_SEGMENT_HEADER]);
bool tide_segment_get(const unsigned char header[TIDE_SEGMENT_HEADER],
                      tide_segment *segment);

typedef struct tide_piece {
    const unsigned char *text; /* borrowed */
    size_t length;             /* 0: says that the piece before has been taken */
} tide_piece;

typedef enum tide_piece_state {
    TIDE_PIECE_GOOD,
    TIDE_PIECE_END,  /* there is none */
    TIDE_PIECE_PART, /* it goes on behind what there is */
    TIDE_PIECE_BAD_HEAD,
    TIDE_PIECE_BAD_TEXT,   /* its length is right */
    TIDE_PIECE_UNREADABLE, /* errno says why */
} tide_piece_state;

/* Makes the head of a piece whose text is in its place behind. Returns the size of both. `offset` is
 * where in the stream it begins. */
size_t tide_piece_put(unsigned char *bytes, size_t length, uint64_t stream,
                      uint64_t offset);

/* The piece at the beginning of the bytes. */
tide_piece_state tide_piece_get(const unsigned char *bytes, size_t size,
                                uint64_t stream, uint64_t offset, tide_piece *piece);

/* Reads the pieces of a segment, one after the other. */
typedef struct tide_segment_reader {
    tide_segment segment;
    int file;        /* borrowed */
    uint64_t offset; /* in the stream, of the next piece */
    uint64_t place;  /* in the file, of the buffer */
    size_t at, have; /* in the buffer: the next piece, the end */
    unsigned char buffer[2 * TIDE_PIECE_MAX];
} tide_segment_reader;

void tide_segment_begin(tide_segment_reader *reader, int file,
                        const tide_segment *segment);

/* The next piece, valid until the next call. After anything but a good one, the next call tries the
 * same place again. */
tide_piece_state tide_segment_next(tide_segment_reader *reader, tide_piece *piece);

/* Where the next piece is in the file. */
uint64_t tide_segment_place(const tide_segment_reader *reader);

#endif
