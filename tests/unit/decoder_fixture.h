/* decoder_fixture.h - a source in memory whose bytes come in pieces. */
#ifndef DECODER_FIXTURE_H
#define DECODER_FIXTURE_H
#include "base/base.h"
#include "source/source.h"

typedef struct memory {
    const unsigned char *bytes;
    size_t size, at;
    size_t piece;  /* the most that a read returns; 0: no limit */
    bool stutters; /* before every piece a read returns TIDE_SOURCE_LATER */
    bool stuttered;
} memory;

static ptrdiff_t memory_read(void *state, void *bytes, size_t capacity, int wait_ms,
                             tide_error *err)
{
    (void)err;
    memory *m = state;
    if (m->stutters && wait_ms >= 0 && (m->stuttered = !m->stuttered))
        return TIDE_SOURCE_LATER;
    size_t count = m->size - m->at;
    count = count < capacity ? count : capacity;
    count = m->piece && m->piece < count ? m->piece : count;
    if (count > 0)
        memcpy(bytes, m->bytes + m->at, count);
    m->at += count;
    return (ptrdiff_t)count;
}

static int memory_seek(void *state, uint64_t offset, tide_error *err)
{
    memory *m = state;
    if (offset > m->size)
        return tide_fail(err, TIDE_ERROR_FORMAT, "too short");
    m->at = (size_t)offset;
    return TIDE_OK;
}

static int memory_peek(void *state, uint64_t offset, void *bytes, size_t size,
                       tide_error *err)
{
    memory *m = state;
    if (offset > m->size)
        return tide_fail(err, TIDE_ERROR_FORMAT, "too short");
    if (size > 0)
        memcpy(bytes, m->bytes + offset - size, size);
    return TIDE_OK;
}

static const tide_source_kind memory_kind = {
    .read = memory_read,
    .may_be_compressed = true,
    .seek = memory_seek,
    .peek = memory_peek,
};

#endif
