/* fuzz_decoder.c - any bytes are read as text, decompressed or refused, and the sizes
 * of reads do not change the result. Only the last bytes before an error in a corrupt
 * archive may be missing.
 *
 * The first byte is the size of the pieces in which the source returns the input, the
 * second the size of the reads; 0 means unlimited. At most TEXT_MAX bytes of text are
 * read. Then the text is read again from the middle.
 */
#include "detect/detect.h"
#include "source/source.h"
#include "source/unpacker.h"
#include "../unit/decoder_fixture.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 2 * TIDE_UNPACKED_KEPT };

typedef struct outcome {
    unsigned char text[TEXT_MAX];
    size_t size;
    tide_error err;
} outcome;

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void read_on(tide_unpacker *u, size_t capacity, outcome *o)
{
    o->size = 0;
    o->err = (tide_error){.status = TIDE_OK};
    while (o->size < TEXT_MAX) {
        size_t left = TEXT_MAX - o->size;
        ptrdiff_t count = tide_unpacker_read(
            u, o->text + o->size, capacity && capacity < left ? capacity : left, 0,
            &o->err);
        if (count == TIDE_SOURCE_LATER)
            continue;
        demand(count == (ptrdiff_t)o->err.status || count > 0);
        if (count <= 0)
            return;
        o->size += (size_t)count;
    }
}

/* `o` must be equal to `whole` from `start` on. */
static void compare(const outcome *o, const outcome *whole, size_t start)
{
    size_t rest = whole->size - start, both = o->size < rest ? o->size : rest;
    demand(memcmp(o->text, whole->text + start, both) == 0);
    if (start > 0 && whole->size == TEXT_MAX)
        return; /* there is more text */
    demand(o->err.status == whole->err.status);
    demand(o->size == rest || o->err.status != TIDE_OK);
}

static tide_unpacker *begun(memory *m, tide_expected expected)
{
    tide_unpacker *u = tide_unpacker_new(&memory_kind, m, "fuzz", expected, NULL);
    demand(u != NULL);
    return u;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static outcome whole, parts;
    if (size < 2)
        return 0;
    memory all = {.bytes = data + 2, .size = size - 2}, pieces = all;
    bool stutters = data[0] % 2; /* then fewer bytes may be available for detection */
    tide_expected expected = stutters ? TIDE_EXPECTED_ALL : TIDE_EXPECTED_LINES;
    tide_unpacker *u = begun(&all, expected);
    read_on(u, 0, &whole);
    tide_unpacker_free(u);

    pieces.piece = data[0];
    pieces.stutters = stutters;
    u = begun(&pieces, expected);
    read_on(u, data[1], &parts);
    compare(&parts, &whole, 0);

    size_t middle = whole.size / 2;
    int status = tide_unpacker_seek(u, middle, NULL);
    demand(status == TIDE_OK || whole.err.status != TIDE_OK);
    if (status == TIDE_OK) {
        read_on(u, data[1], &parts);
        compare(&parts, &whole, middle);
    }
    tide_unpacker_free(u);
    return 0;
}
