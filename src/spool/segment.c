/* segment.c - a segment of a spool: a header, then pieces of text as they were
 * appended.
 *
 *     header  0  8  magic 89 'T' 'S' 'P' 0d 0a 1a 0a
 *             8  8  version: 1
 *            16  8  stream
 *            24  8  number of the segment
 *            32  8  number of the first segment that is not obsolete
 *            40  8  offset of its text in the stream
 *            48  8  checksum of the 48 bytes before
 *     pieces  0  8  checksum of the text
 *             8  4  length of the text, 0 to 65536
 *            12  4  low half of the checksum of the 12 bytes before
 *            16     the text
 *
 * Numbers are little-endian, checksums are XXH3. The header of a piece has a checksum
 * of its own, so that the length can be trusted before the text is read. Its seed is
 * the offset in the stream, so that no piece can be mistaken for another. A piece
 * without text is a mark: the pieces before it have been consumed from the pipe, or
 * belong to a push that is complete.
 */
#include "spool/segment.h"

#include "file/file.h"
#include "spool/spool.h"

#include <unistd.h>

enum { VERSION = 1, CHECKSUM_AT = TIDE_SEGMENT_HEADER - 8, PIECE_HASHED = 12 };

static const unsigned char magic[8] = {0x89, 'T', 'S', 'P', '\r', '\n', 0x1a, '\n'};

/* -- bytes ------------------------------------------------------------------------- */

void tide_segment_encode(const tide_segment *segment,
                         unsigned char header[TIDE_SEGMENT_HEADER])
{
    memcpy(header, magic, sizeof magic);
    tide_put64(header + 8, VERSION);
    tide_put64(header + 16, segment->stream);
    tide_put64(header + 24, segment->number);
    tide_put64(header + 32, segment->first);
    tide_put64(header + 40, segment->offset);
    tide_put64(header + CHECKSUM_AT, tide_hash(header, CHECKSUM_AT, 0));
}

bool tide_segment_decode(const unsigned char header[TIDE_SEGMENT_HEADER],
                         tide_segment *segment)
{
    *segment = (tide_segment){tide_get64(header + 16), tide_get64(header + 24),
                              tide_get64(header + 32), tide_get64(header + 40)};
    return memcmp(header, magic, sizeof magic) == 0 &&
           tide_get64(header + 8) == VERSION &&
           tide_get64(header + CHECKSUM_AT) == tide_hash(header, CHECKSUM_AT, 0) &&
           segment->first <= segment->number &&
           segment->number <= TIDE_SEGMENT_NUMBER_MAX && segment->offset <= INT64_MAX;
}

static uint64_t header_checksum(const unsigned char *head, uint64_t stream,
                                uint64_t offset)
{
    /* The stream is part of the seed too, so that a piece of another stream in a reused
     * block of the disk is not taken for one of this. */
    return tide_hash(head, PIECE_HASHED, stream + offset) & UINT32_MAX;
}

size_t tide_piece_encode(unsigned char *bytes, size_t length, uint64_t stream,
                         uint64_t offset)
{
    tide_put64(bytes, tide_hash(bytes + TIDE_PIECE_HEADER, length, 0));
    /* The checksum covers the length with the upper half still zero, and is then put
     * there. */
    tide_put64(bytes + 8, length);
    tide_put64(bytes + 8, length | header_checksum(bytes, stream, offset) << 32);
    return TIDE_PIECE_HEADER + length;
}

tide_piece_state tide_piece_decode(const unsigned char *bytes, size_t size,
                                   uint64_t stream, uint64_t offset, tide_piece *piece)
{
    if (size < TIDE_PIECE_HEADER)
        return TIDE_PIECE_INCOMPLETE;
    uint64_t length = tide_get64(bytes + 8) & UINT32_MAX;
    if (tide_get64(bytes + 8) >> 32 != header_checksum(bytes, stream, offset) ||
        length > TIDE_PIECE_TEXT)
        return TIDE_PIECE_BAD_HEADER;
    if (size - TIDE_PIECE_HEADER < length)
        return TIDE_PIECE_INCOMPLETE;
    *piece = (tide_piece){bytes + TIDE_PIECE_HEADER, (size_t)length};
    return tide_get64(bytes) == tide_hash(piece->text, piece->length, 0)
               ? TIDE_PIECE_GOOD
               : TIDE_PIECE_BAD_TEXT;
}

/* -- reading ----------------------------------------------------------------------- */

void tide_segment_reader_init(tide_segment_reader *reader, int file,
                              const tide_segment *segment)
{
    reader->segment = *segment;
    reader->file = file;
    reader->offset = segment->offset;
    reader->buffer_offset = TIDE_SEGMENT_HEADER;
    reader->at = reader->end = 0;
}

uint64_t tide_segment_position(const tide_segment_reader *reader)
{
    return reader->buffer_offset + reader->at;
}

/* Discards the pieces already read from the buffer and refills it from the file. */
static ptrdiff_t refill(tide_segment_reader *r)
{
    memmove(r->buffer, r->buffer + r->at, r->end - r->at);
    r->buffer_offset += r->at;
    r->end -= r->at;
    r->at = 0;
    ptrdiff_t count =
        tide_file_read(r->file, r->buffer + r->end, sizeof r->buffer - r->end,
                       r->buffer_offset + r->end);
    r->end += count > 0 ? (size_t)count : 0;
    return count;
}

tide_piece_state tide_segment_next(tide_segment_reader *r, tide_piece *piece)
{
    tide_piece_state state;
    ptrdiff_t more = 1;
    /* Decode what is in the buffer; if that is not a whole piece, read more and try
     * again, until the file has no more. */
    do
        state = tide_piece_decode(r->buffer + r->at, r->end - r->at, r->segment.stream,
                                  r->offset, piece);
    while (state == TIDE_PIECE_INCOMPLETE && (more = refill(r)) > 0);
    if (more < 0)
        return TIDE_PIECE_UNREADABLE;
    /* Part of a piece at the end of the file is the trace of an interrupted write;
     * nothing at all is the normal end. */
    if (state == TIDE_PIECE_INCOMPLETE)
        return r->end > 0 ? TIDE_PIECE_INCOMPLETE : TIDE_PIECE_END;
    if (state != TIDE_PIECE_GOOD)
        return state;
    r->at += TIDE_PIECE_HEADER + piece->length;
    r->offset += piece->length;
    return state;
}
