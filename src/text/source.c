/* source.c - the table of sources: the first kind that knows a name opens it.
 *
 * Every name that no other kind claims is a path; a file that happens to be called "-"
 * or "demo:" is reached as "./-" or "./demo:".
 */
#include "source.h"

#include <assert.h>
#include <stdlib.h>

static const tide_source_kind *const kinds[] = {
    &tide_source_stdin,
    &tide_source_demo,
    &tide_source_file,
};

struct tide_source {
    const tide_source_kind *kind;
    void *state;
    uint64_t offset;
};

static const tide_source_kind *find_kind(const char *spec)
{
    enum { LAST = sizeof kinds / sizeof kinds[0] - 1 };
    for (size_t i = 0; i < LAST; i++)
        if (kinds[i]->matches(spec))
            return kinds[i];
    return kinds[LAST]; /* takes every name */
}

tide_source *tide_source_open(const char *spec, tide_error *err)
{
    tide_source *source = tide_alloc(1, sizeof *source);
    if (!source) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    source->kind = find_kind(spec);
    source->state = source->kind->open(spec, err);
    if (!source->state) {
        free(source);
        return NULL;
    }
    return source;
}

void tide_source_close(tide_source *source)
{
    if (!source)
        return;
    source->kind->close(source->state);
    free(source);
}

ptrdiff_t tide_source_read(tide_source *source, void *bytes, size_t room,
                           tide_error *err)
{
    ptrdiff_t count = source->kind->read(source->state, bytes, room, err);
    if (count > 0)
        source->offset += (uint64_t)count;
    return count;
}

bool tide_source_replayable(const tide_source *source)
{
    return source->kind->replayable(source->state);
}

int tide_source_seek(tide_source *source, uint64_t offset, tide_error *err)
{
    if (!tide_source_replayable(source))
        return tide_fail(err, TIDE_ERROR_IO, "this source cannot be read again");
    int status = source->kind->seek(source->state, offset, err);
    if (status == TIDE_OK)
        source->offset = offset;
    return status;
}

uint64_t tide_source_offset(const tide_source *source)
{
    return source->offset;
}

int tide_source_fingerprint(tide_source *source, uint64_t offset, uint64_t *fingerprint,
                            tide_error *err)
{
    if (!tide_source_replayable(source))
        return tide_fail(err, TIDE_ERROR_IO, "this source cannot be read again");
    unsigned char bytes[TIDE_FINGERPRINT_BYTES];
    size_t size = offset < sizeof bytes ? (size_t)offset : sizeof bytes;
    int status = source->kind->peek(source->state, offset, bytes, size, err);
    if (status == TIDE_OK)
        *fingerprint = tide_hash(bytes, size, 0);
    return status;
}
