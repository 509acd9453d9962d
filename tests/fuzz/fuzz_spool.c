/* fuzz_spool.c - arbitrary bytes as the only segment of a spool.
 *
 * Checksums would reject nearly every change, so with an odd first byte they are
 * corrected, as far as there are pieces. The rest of the input is the segment. It is
 * refused with a reason, or its text can be read. In that case the spool can be opened
 * again with the same text and nothing more to cut off (unless pieces behind the last
 * mark are discarded), and text can be appended.
 */
#include "base/base.h"
#include "file/file.h"
#include "spool/segment.h"
#include "spool/spool.h"
#include "fuzz_fixture.h"

enum { TRIED_MAX = 1 << 16 };

static char path[IN_FOLDER_MAX];

static void name_segment(int number, char name[IN_FOLDER_MAX + 32])
{
    snprintf(name, IN_FOLDER_MAX + 32, "%s/%012d.spool", path, number);
}

static void remove_segments(void)
{
    char name[IN_FOLDER_MAX + 32];
    for (int number = 1; number < 5; number++) {
        name_segment(number, name);
        unlink(name);
    }
}

static void clean_up(void)
{
    remove_segments();
    rmdir(path);
}

static void reseal(unsigned char *bytes, size_t size)
{
    if (size < TIDE_SEGMENT_HEADER)
        return;
    const tide_segment segment = {tide_get64(bytes + 16), 1, 1,
                                  tide_get64(bytes + 40) >> 1};
    uint64_t offset = segment.offset;
    tide_segment_encode(&segment, bytes);
    for (size_t at = TIDE_SEGMENT_HEADER; size - at >= TIDE_PIECE_HEADER;) {
        size_t length = tide_get64(bytes + at + 8) % (TIDE_PIECE_TEXT + 2);
        if (size - at - TIDE_PIECE_HEADER < length)
            return;
        at += tide_piece_encode(bytes + at, length, segment.stream, offset);
        offset += length;
    }
}

static tide_spool *try_open(tide_error *err)
{
    return tide_spool_open(path, TRIED_MAX, TIDE_SPOOL_SYNC_NONE, err);
}

/* The size of the text and its hash. */
static uint64_t read_all(tide_spool *spool, uint64_t *hash)
{
    static unsigned char text[2 * TRIED_MAX];
    tide_spool_extent e = tide_spool_extent_of(spool);
    size_t size = 0;
    must(tide_spool_seek(spool, e.start, NULL) == TIDE_OK);
    for (ptrdiff_t count = 1; count > 0; size += (size_t)count) {
        count = tide_spool_read(spool, text + size, 1000, NULL);
        must(count >= 0);
    }
    must(e.end - e.start == size);
    must(tide_spool_seek(spool, e.start + size / 2, NULL) == TIDE_OK);
    *hash = tide_hash(text, size, 0);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[TRIED_MAX];
    if (size == 0 || size - 1 > sizeof bytes)
        return 0;
    if (!path[0]) {
        char folder[FOLDER_MAX];
        make_folder(folder);
        snprintf(path, sizeof path, "%s", folder);
        must(atexit(clean_up) == 0);
    }
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        reseal(bytes, size - 1);
    char name[IN_FOLDER_MAX + 32];
    name_segment(1, name);
    spit(name, bytes, size - 1);
    tide_error err = {.status = TIDE_OK};
    tide_spool *spool = try_open(&err);
    if (!spool) {
        must_have_error_text(&err);
        return 0;
    }
    uint64_t hash, again, text = read_all(spool, &hash);
    tide_spool_close(spool);
    spool = try_open(&err);
    must(spool && tide_spool_extent_of(spool).cut == 0);
    must(read_all(spool, &again) == text && hash == again);
    must(tide_spool_discard_unmarked(spool, NULL) == TIDE_OK);
    uint64_t marked = read_all(spool, &again);
    must(marked <= text);
    must(tide_spool_append(spool, "more", 4, true, NULL) == TIDE_OK);
    must(tide_spool_append_lines(spool, "lines", 5, NULL) == TIDE_OK);
    must(read_all(spool, &again) == marked + 10);
    must(tide_spool_drop(spool, tide_spool_extent_of(spool).end, NULL) == TIDE_OK);
    tide_spool_close(spool);
    remove_segments();
    return 0;
}
