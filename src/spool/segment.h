/* segment.h - the format of a segment of a spool, and its reader. Private. */
#ifndef TIDE_SPOOL_SEGMENT_H
#define TIDE_SPOOL_SEGMENT_H

#include "spool/spool.h"

enum {
    TIDE_PIECE_HEADER = 16,
    TIDE_PIECE_MAX = TIDE_PIECE_HEADER + TIDE_PIECE_TEXT,
};

#define TIDE_SEGMENT_NUMBER_MAX 999999999999

/* The largest offset accepted when a spool is opened. No stream will ever be longer
 * than the distance from there to the largest offset, so appending never overflows. */
#define TIDE_SEGMENT_OFFSET_MAX (INT64_MAX / 2)

typedef struct tide_segment {
    uint64_t stream; /* random id of the stream */
    uint64_t number;
    uint64_t first;  /* segments with smaller numbers are obsolete */
    uint64_t offset; /* in the stream, of its first byte of text */
} tide_segment;

void tide_segment_encode(const tide_segment *segment,
                         unsigned char header[TIDE_SEGMENT_HEADER]);
bool tide_segment_decode(const unsigned char header[TIDE_SEGMENT_HEADER],
                         tide_segment *segment);

typedef struct tide_piece {
    const unsigned char *text; /* borrowed */
    size_t length;             /* 0: a mark, see segment.c */
} tide_piece;

typedef enum tide_piece_state {
    TIDE_PIECE_GOOD,
    TIDE_PIECE_END,        /* the end of the segment */
    TIDE_PIECE_INCOMPLETE, /* the bytes end within the piece */
    TIDE_PIECE_BAD_HEADER,
    TIDE_PIECE_BAD_TEXT,   /* the header and its length are valid */
    TIDE_PIECE_UNREADABLE, /* with errno set */
} tide_piece_state;

/* Writes the header of a piece at `bytes`; its text is already there, behind the
 * header. `offset` is its offset in the stream. Returns the size of header and text. */
size_t tide_piece_encode(unsigned char *bytes, size_t length, uint64_t stream,
                         uint64_t offset);

/* Decodes the piece at the start of the bytes. */
tide_piece_state tide_piece_decode(const unsigned char *bytes, size_t size,
                                   uint64_t stream, uint64_t offset, tide_piece *piece);

/* Reads the pieces of a segment, one after the other. */
typedef struct tide_segment_reader {
    tide_segment segment;
    int file;               /* borrowed */
    uint64_t offset;        /* in the stream, of the next piece */
    uint64_t buffer_offset; /* in the file, of the buffer */
    size_t at, end;         /* in the buffer: the next piece, the end of the data */
    unsigned char buffer[2 * TIDE_PIECE_MAX];
} tide_segment_reader;

void tide_segment_reader_init(tide_segment_reader *reader, int file,
                              const tide_segment *segment);

/* Reads the next piece, which is valid until the next call. Unless it is good, the next
 * call tries to read the same piece again. */
tide_piece_state tide_segment_next(tide_segment_reader *reader, tide_piece *piece);

/* The offset of the next piece in the file. */
uint64_t tide_segment_position(const tide_segment_reader *reader);

#endif
