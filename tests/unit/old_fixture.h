/* old_fixture.h - for the tests of streams that have become very old.
 *
 * Nobody can wait for 2^63 tokens. So what is young is made old in its file: everything
 * that counts is moved to just below a power of two at which some type runs out of
 * bits, and the stream goes on beyond it. */
#ifndef TIDE_OLD_FIXTURE_H
#define TIDE_OLD_FIXTURE_H

#include "file/file.h"
#include "train_fixture.h"

/* Where floats, 32 bits, doubles and signed numbers run out. Each is come to from
 * below. */
static const uint64_t ages[] = {UINT64_C(1) << 24, UINT64_C(1) << 32, UINT64_C(1) << 53,
                                UINT64_C(1) << 63};

/* Places in sections. */
enum { VOCAB_TOKENS = 3, VOCAB_TOTAL = 4, VOCAB_MINIMUM = 11, VOCAB_LOWEST = 13 };
enum { ALIAS_NEXT = 3, RESERVOIR_SEEN = 3 };

/* Adds to numbers of 64 bits of a section: to every `step`-th from `first` to before
 * `end`. */
static inline void shift(const char *path, const char *section, size_t first,
                         size_t step, size_t end, uint64_t by)
{
    size_t size;
    unsigned char *bytes = read_section(path, section, &size);
    for (size_t i = first; i < end && 8 * i + 8 <= size; i += step)
        tide_put64(bytes + 8 * i, tide_get64(bytes + 8 * i) + by);
    replace_section(path, path, section, bytes, size);
    free(bytes);
}

static inline void shift_one(const char *path, const char *section, size_t place,
                             uint64_t by)
{
    shift(path, section, place, 1, place + 1, by);
}

#endif
