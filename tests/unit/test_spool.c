/* test_spool.c - text comes out of a spool once and in order, or an error says where
 * the spool is corrupt. */

#include "base/base.h"
#include "spool/segment.h"
#include "spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "folder_fixture.h"
#include "memory_fixture.h"

enum { SEGMENT = 4096, TEXT_MAX = 1 << 20 };

/* -- a disk that misbehaves -------------------------------------------------------- */

static void note_call(char call);

static int write_reason;      /* of the next failure; 0 for none */
static size_t write_at_once;  /* bytes that one call writes; 0 for all */
static int writes_until_then; /* calls before the failure */
static bool for_ever;

/* file.c calls this one instead of the system's. */
ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    if (write_reason && writes_until_then-- <= 0) {
        errno = write_reason;
        write_reason = for_ever ? write_reason : 0;
        return -1;
    }
    size_t part = write_at_once && write_at_once < size ? write_at_once : size;
    note_call('w');
    return syscall(SYS_pwrite64, file, bytes, part, offset);
}

/* The order of writes, syncs of files and syncs of folders. */
static char order[100];

static void note_call(char call)
{
    size_t count = strlen(order);
    if (count + 1 < sizeof order)
        order[count] = call;
}

int fdatasync(int file)
{
    note_call('s');
    return (int)syscall(SYS_fdatasync, file);
}

int fsync(int directory)
{
    note_call('f');
    return (int)syscall(SYS_fsync, directory);
}

/* -- a spool ----------------------------------------------------------------------- */

static tide_spool *opened(void)
{
    tide_error err = {0};
    tide_spool *spool = tide_spool_open("s", SEGMENT, TIDE_SPOOL_SYNC_NONE, &err);
    if (!spool)
        fail_msg("%s", err.text);
    return spool;
}

static tide_spool *reopened(tide_spool *spool)
{
    tide_spool_close(spool);
    return opened();
}

static void put(tide_spool *spool, const char *text, size_t size)
{
    tide_error err = {0};
    if (tide_spool_append(spool, text, size, false, &err) ||
        tide_spool_mark_consumed(spool, &err))
        fail_msg("%s", err.text);
}

/* Reads to the end or an error, at most `capacity` bytes at a time; returns their
 * count, or the error. */
static ptrdiff_t read_all(tide_spool *spool, char *text, size_t capacity,
                          tide_error *err)
{
    ptrdiff_t count, size = 0;
    while ((count = tide_spool_read(spool, text + size, capacity, err)) > 0)
        size += count;
    return count < 0 ? count : size;
}

static void assert_holds(tide_spool *spool, const char *text, size_t size)
{
    static char found[TEXT_MAX];
    tide_error err = {0};
    ptrdiff_t count = read_all(spool, found, 1000, &err);
    if (count < 0)
        fail_msg("%s", err.text);
    assert_int_equal(count, size);
    assert_memory_equal(found, text, size);
}

static int segments(void)
{
    int count = 0;
    DIR *listing = opendir("s");
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += strstr(entry->d_name, ".spool") && entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

/* -- what goes in comes out -------------------------------------------------------- */

static void random_text(tide_rng *rng, char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        text[i] = (char)tide_rng_next(rng);
}

/* An array is the oracle: pieces of any size are appended, read, dropped and sought,
 * and the spool is closed and reopened in between. */
static void text_comes_out_as_it_went_in(void **state)
{
    (void)state;
    static char text[TEXT_MAX], found[TEXT_MAX];
    tide_rng rng = tide_rng_seeded(1);
    random_text(&rng, text, sizeof text);
    tide_spool *spool = opened();
    uint64_t end = 0, at = 0, kept = 0;
    int most = 0;
    for (int step = 0; step < 3000 && end < TEXT_MAX - TIDE_PIECE_TEXT; step++) {
        tide_error err = {0};
        uint64_t choice = tide_rng_below(&rng, 100), size;
        if (choice < 50) {
            size = 1 + tide_rng_below(&rng, choice == 0 ? TIDE_PIECE_TEXT : 700);
            put(spool, text + end, size);
            end += size;
        } else if (choice < 85) {
            size = 1 + tide_rng_below(&rng, 2000);
            ptrdiff_t count = tide_spool_read(spool, found, size, &err);
            assert_in_range(count, at < end, end - at < size ? end - at : size);
            assert_memory_equal(found, text + at, count);
            at += (uint64_t)count;
        } else if (choice < 90) {
            kept += tide_rng_below(&rng, at - kept + 1);
            assert_int_equal(tide_spool_drop(spool, kept, &err), TIDE_OK);
        } else if (choice < 95) {
            at = kept + tide_rng_below(&rng, end - kept + 1);
            assert_int_equal(tide_spool_seek(spool, at, &err), TIDE_OK);
        } else {
            spool = reopened(spool);
            at = tide_spool_extent_of(spool).start;
        }
        tide_spool_extent e = tide_spool_extent_of(spool);
        assert_true(e.start <= kept && e.end == end && e.cut == 0 && e.consumed);
        kept = at < kept ? at : kept;
        most = segments() > most ? segments() : most;
    }
    assert_true(end > 100000 && most > 3);
    assert_int_equal(tide_spool_seek(spool, kept, NULL), TIDE_OK);
    assert_holds(spool, text + kept, end - kept);
    tide_spool_close(spool);
}

static void dropped_text_takes_no_space_and_the_stream_is_remembered(void **state)
{
    (void)state;
    static char text[20000];
    tide_spool *spool = opened();
    uint64_t stream = tide_spool_extent_of(spool).stream;
    for (size_t at = 0; at < sizeof text; at += 500)
        put(spool, text + at, 500);
    assert_true(segments() > 3 && tide_spool_extent_of(spool).bytes > sizeof text);
    assert_int_equal(tide_spool_drop(spool, 10000, NULL), TIDE_OK);
    assert_in_range(tide_spool_extent_of(spool).start, 10000 - SEGMENT, 10000);
    assert_in_range(tide_spool_extent_of(spool).bytes, 10000, 10000 + 2 * SEGMENT);
    assert_int_equal(tide_spool_drop(spool, sizeof text, NULL), TIDE_OK);
    assert_int_equal(segments(), 1);
    spool = reopened(spool);
    tide_spool_extent e = tide_spool_extent_of(spool);
    assert_true(e.stream == stream && e.start == sizeof text && e.end == sizeof text);
    assert_int_equal(e.bytes, TIDE_SEGMENT_HEADER);
    put(spool, "more", 4);
    assert_holds(spool, "more", 4);
    tide_spool_close(spool);
}

/* After a power failure there is a segment with its header, or none. */
static void a_new_segment_is_synced_before_it_is_used(void **state)
{
    (void)state;
    static char text[SEGMENT];
    tide_spool *spool = opened();
    put(spool, "a", 1);
    memset(order, 0, sizeof order);
    assert_int_equal(tide_spool_reset(spool, 7, 0, NULL), TIDE_OK);
    assert_true(!strncmp(order, "wsf", 3));
    put(spool, text, SEGMENT / 2);
    memset(order, 0, sizeof order);
    assert_int_equal(tide_spool_append(spool, text, SEGMENT, false, NULL), TIDE_OK);
    assert_non_null(strstr(order, "wsfw")); /* the text comes last */
    assert_int_equal(segments(), 2);
    tide_spool_close(spool);
}

static void a_new_stream_replaces_the_old_one(void **state)
{
    (void)state;
    tide_spool *spool = opened();
    put(spool, "old", 3);
    assert_int_equal(tide_spool_reset(spool, 7, 100, NULL), TIDE_OK);
    assert_int_equal(tide_spool_seek(spool, 100, NULL), TIDE_OK);
    put(spool, "new", 3);
    spool = reopened(spool);
    tide_spool_extent e = tide_spool_extent_of(spool);
    assert_true(e.stream == 7 && e.start == 100 && e.end == 103);
    assert_holds(spool, "new", 3);
    tide_spool_close(spool);
}

static void the_latest_piece_is_unmarked_until_it_is_consumed(void **state)
{
    (void)state;
    static unsigned char latest[TIDE_PIECE_TEXT];
    tide_spool *spool = opened();
    assert_int_equal(tide_spool_append(spool, "one", 3, true, NULL), TIDE_OK);
    assert_true(tide_spool_extent_of(spool).consumed);
    assert_int_equal(tide_spool_append(spool, "three", 5, false, NULL), TIDE_OK);
    for (int again = 0; again < 2; again++, spool = reopened(spool)) {
        assert_false(tide_spool_extent_of(spool).consumed);
        assert_int_equal(tide_spool_unmarked_piece(spool, latest, NULL), 5);
        assert_memory_equal(latest, "three", 5);
    }
    assert_int_equal(tide_spool_mark_consumed(spool, NULL), TIDE_OK);
    spool = reopened(spool);
    assert_true(tide_spool_extent_of(spool).consumed);
    assert_int_equal(tide_spool_unmarked_piece(spool, latest, NULL), 0);
    assert_holds(spool, "onethree", 8);
    tide_spool_close(spool);
}

static void a_spool_is_locked(void **state)
{
    (void)state;
    tide_error err = {0};
    tide_spool *spool = opened();
    assert_null(tide_spool_open("s", SEGMENT, TIDE_SPOOL_SYNC_NONE, &err));
    assert_string_equal(err.text, "s/spool: another process is writing it");
    struct stat status;
    assert_int_equal(stat("s", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    tide_spool_close(spool);
    tide_spool_close(opened());
}

/* -- damage ------------------------------------------------------------------------ */

static size_t slurp(const char *path, unsigned char *bytes, size_t capacity)
{
    int file = open(path, O_RDONLY);
    ssize_t size = read(file, bytes, capacity);
    assert_in_range(size, 1, capacity - 1);
    close(file);
    return (size_t)size;
}

static void spit(const char *path, const unsigned char *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

#define ONLY "s/000000000001.spool"
#define TEXT "first second third "

/* Three pieces with their marks, as the bytes of the segment. */
static size_t small_segment(unsigned char bytes[1000])
{
    tide_spool *spool = opened();
    put(spool, "first ", 6);
    put(spool, "second ", 7);
    put(spool, "third ", 6);
    tide_spool_close(spool);
    return slurp(ONLY, bytes, 1000);
}

/* What the spool has now; negative when it cannot be read. */
static ptrdiff_t read_damaged(char *text, uint64_t *cut, tide_error *err)
{
    tide_spool *spool = tide_spool_open("s", SEGMENT, TIDE_SPOOL_SYNC_NONE, err);
    if (!spool)
        return err->status;
    *cut = tide_spool_extent_of(spool).cut;
    ptrdiff_t size = read_all(spool, text, 5, err);
    tide_spool_close(spool);
    return size;
}

static void every_incomplete_tail_is_cut_off(void **state)
{
    (void)state;
    unsigned char bytes[1000];
    size_t size = small_segment(bytes);
    for (size_t left = 0; left < size; left++) {
        char text[100];
        uint64_t cut = 0;
        tide_error err = {0};
        remove("s/000000000002.spool");
        spit(ONLY, bytes, left);
        ptrdiff_t count = read_damaged(text, &cut, &err);
        size_t pieces = left < TIDE_SEGMENT_HEADER + 22   ? 0
                        : left < TIDE_SEGMENT_HEADER + 61 ? 6
                        : left < size - 16                ? 13
                                                          : 19;
        assert_int_equal(count, pieces);
        assert_memory_equal(text, TEXT, pieces);
        spit(ONLY, bytes, left);
        if (left >= TIDE_SEGMENT_HEADER) {
            memset(bytes + size, 0, 40);
            spit(ONLY, bytes, size + 40); /* a power failure left zeros */
            assert_int_equal(read_damaged(text, &cut, &err), 19);
            assert_int_equal(cut, 40);
        }
    }
}

static void every_flipped_bit_is_detected(void **state)
{
    (void)state;
    unsigned char bytes[1000];
    size_t size = small_segment(bytes);
    int cuts = 0;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        char text[100];
        uint64_t cut = 0;
        tide_error err = {0};
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        spit(ONLY, bytes, size);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        ptrdiff_t count = read_damaged(text, &cut, &err);
        cuts += cut > 0;
        if (count == TIDE_ERROR_FORMAT)
            assert_non_null(strstr(err.text, "000000000001.spool is corrupt at byte "));
        else
            fail_msg("bit %zu: %td", bit, count);
    }
    assert_int_equal(cuts, 0);
}

/* Pieces of the same size and stream, each good where it was. */
static void swapped_pieces_are_detected(void **state)
{
    (void)state;
    enum {
        PIECE = TIDE_PIECE_HEADER + 6,
        THIRD = TIDE_SEGMENT_HEADER + 22 + 16 + 23 + 16
    };
    unsigned char bytes[1000], kept[PIECE], *first = bytes + TIDE_SEGMENT_HEADER;
    char text[100];
    uint64_t cut = 0;
    tide_error err = {0};
    size_t size = small_segment(bytes);
    memcpy(kept, first, PIECE);
    memcpy(first, bytes + THIRD, PIECE);
    memcpy(bytes + THIRD, kept, PIECE);
    spit(ONLY, bytes, size);
    assert_int_equal(read_damaged(text, &cut, &err), TIDE_ERROR_FORMAT);
}

/* Without its mark the last piece may be one that a power failure has left half
 * written. */
static void a_bad_last_piece_is_cut_off(void **state)
{
    (void)state;
    unsigned char bytes[1000];
    char text[100];
    uint64_t cut = 0;
    tide_error err = {0};
    size_t size = small_segment(bytes) - TIDE_PIECE_HEADER;
    bytes[size - 1] ^= 1;
    spit(ONLY, bytes, size);
    assert_int_equal(read_damaged(text, &cut, &err), 13);
    assert_int_equal(cut, TIDE_PIECE_HEADER + 6);
}

static void a_stream_without_space_for_more_is_refused(void **state)
{
    (void)state;
    static const char text[3 * SEGMENT]; /* goes on in other segments */
    const uint64_t most = TIDE_SEGMENT_OFFSET_MAX;
    const uint64_t offsets[] = {UINT64_MAX, INT64_MAX, most + 1, most};
    tide_spool_close(opened());
    for (int i = 0; i < 4; i++) {
        unsigned char header[TIDE_SEGMENT_HEADER];
        const tide_segment segment = {7, 1, 1, offsets[i]};
        tide_error err = {0};
        tide_segment_encode(&segment, header);
        spit(ONLY, header, sizeof header);
        tide_spool *spool = tide_spool_open("s", SEGMENT, TIDE_SPOOL_SYNC_NONE, &err);
        assert_int_equal(spool != NULL, offsets[i] <= most);
        assert_int_equal(err.status, spool ? TIDE_OK : TIDE_ERROR_FORMAT);
        for (size_t at = 0; spool && at < sizeof text; at += SEGMENT / 2)
            put(spool, text + at, SEGMENT / 2);
        if (spool)
            assert_holds(spool, text, sizeof text);
        tide_spool_close(spool);
    }
    assert_true(segments() > 1);
}

/* In a segment that is not the last, nothing may be missing. */
static void corruption_of_an_older_segment_is_an_error(void **state)
{
    (void)state;
    static unsigned char bytes[2 * SEGMENT];
    static char text[20000], found[20000];
    tide_spool *spool = opened();
    for (size_t at = 0; at < sizeof text; at += 500)
        put(spool, text + at, 500);
    tide_spool_close(spool);
    const char *second = "s/000000000002.spool";
    size_t size = slurp(second, bytes, sizeof bytes);
    for (size_t at = 0; at < size; at += 7) {
        uint64_t cut = 0;
        tide_error err = {0};
        bytes[at] ^= 0x10;
        spit(second, bytes, size);
        bytes[at] ^= 0x10;
        assert_int_equal(read_damaged(found, &cut, &err), TIDE_ERROR_FORMAT);
        assert_non_null(strstr(err.text, "000000000002.spool is corrupt at byte "));
        spit(second, bytes, at);
        bool whole = (at - TIDE_SEGMENT_HEADER) % (500 + 32) == 500 + 16 && at > 500;
        if (!whole || at < size - 16)
            assert_int_equal(read_damaged(found, &cut, &err), TIDE_ERROR_FORMAT);
    }
}

/* Writes the segments of a text, but of those up to `learned` only the ones that the
 * bits select; returns the start of the one behind them. */
static uint64_t spool_without(const char *text, size_t size, unsigned gone,
                              unsigned learned)
{
    tide_spool *spool = opened();
    uint64_t behind = 0;
    for (size_t at = 0; at < size; at += 500) {
        put(spool, text + at, 500);
        if ((unsigned)segments() == learned)
            behind = at + 500;
    }
    tide_spool_close(spool);
    for (unsigned number = 1; number <= learned; number++) {
        char name[40];
        snprintf(name, sizeof name, "s/%012u.spool", number);
        if (gone >> (number - 1) & 1)
            remove(name);
    }
    return behind;
}

/* A power failure may undo any of the removals of learned segments. Everything that was
 * not learned is found, and the remaining files are removed the next time. */
static void any_of_the_learned_segments_may_be_missing(void **state)
{
    (void)state;
    enum { LEARNED = 4 };
    static char text[20000];
    tide_rng rng = tide_rng_seeded(3);
    random_text(&rng, text, sizeof text);
    for (unsigned gone = 0; gone < 1u << LEARNED; gone++) {
        uint64_t from = spool_without(text, sizeof text, gone, LEARNED);
        int all = segments();
        tide_spool *spool = opened();
        assert_true(tide_spool_extent_of(spool).start <= from);
        assert_int_equal(tide_spool_seek(spool, from, NULL), TIDE_OK);
        assert_holds(spool, text + from, sizeof text - from);
        assert_int_equal(tide_spool_drop(spool, from, NULL), TIDE_OK);
        assert_int_equal(segments(), all + __builtin_popcount(gone) - LEARNED);
        tide_spool_close(spool);
        nftw("s", remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

/* And what is missing of the rest is never skipped. */
static void text_before_a_gap_is_ignored(void **state)
{
    (void)state;
    static char text[20000];
    uint64_t from = spool_without(text, sizeof text, 2, 2);
    tide_spool *spool = opened();
    assert_int_equal(tide_spool_extent_of(spool).start, from);
    tide_spool_close(spool);
}

/* -- a disk that misbehaves -------------------------------------------------------- */

static void short_and_interrupted_writes_are_completed(void **state)
{
    (void)state;
    char text[300];
    memset(text, 'x', sizeof text);
    tide_spool *spool = opened();
    for (write_at_once = 1; write_at_once < 40; write_at_once += 3) {
        write_reason = EINTR;
        writes_until_then = 1;
        put(spool, text, 20);
        assert_int_equal(write_reason, 0);
    }
    write_at_once = 0;
    assert_holds(spool, text, 260);
    tide_spool_close(spool);
}

/* After any number of bytes: nothing of the piece is left, and it fits later. */
static void a_full_disk_changes_nothing(void **state)
{
    (void)state;
    static char text[10000];
    size_t end = 0;
    tide_rng rng = tide_rng_seeded(2);
    random_text(&rng, text, sizeof text);
    tide_spool *spool = opened();
    for (int calls = 0; calls < 12; calls++) {
        for (int quota = 0; quota < 2; quota++) {
            write_at_once = 100;
            writes_until_then = calls;
            write_reason = quota ? EDQUOT : ENOSPC;
            int status = tide_spool_append(spool, text + end, 400, false, NULL);
            assert_true(status == TIDE_SPOOL_FULL || write_reason); /* not come to */
            write_reason = 0;
            write_at_once = 0;
            if (status == TIDE_SPOOL_FULL)
                put(spool, text + end, 400);
            else
                assert_int_equal(tide_spool_mark_consumed(spool, NULL), TIDE_OK);
            end += 400;
        }
    }
    spool = reopened(spool);
    assert_int_equal(tide_spool_extent_of(spool).cut, 0);
    assert_holds(spool, text, end);
    tide_spool_close(spool);
}

/* Lines in several pieces are appended atomically: after a failure, the next text is
 * where they would have been. */
static void a_full_disk_accepts_none_of_the_lines(void **state)
{
    (void)state;
    static char lines[3 * TIDE_PIECE_TEXT];
    memset(lines, 'x', sizeof lines);
    for (int calls = 0; calls < 3; calls++) {
        tide_spool *spool = tide_spool_open("s", 1 << 20, TIDE_SPOOL_SYNC_NONE, NULL);
        assert_non_null(spool);
        assert_int_equal(tide_spool_reset(spool, 7, 0, NULL), TIDE_OK);
        writes_until_then = calls;
        write_reason = ENOSPC;
        assert_int_equal(tide_spool_append_lines(spool, lines, sizeof lines, NULL),
                         TIDE_SPOOL_FULL);
        assert_int_equal(write_reason, 0);
        assert_int_equal(tide_spool_append_lines(spool, "good\n", 5, NULL), TIDE_OK);
        assert_int_equal(tide_spool_extent_of(spool).end, 5);
        spool = reopened(spool);
        assert_int_equal(tide_spool_extent_of(spool).cut, 0);
        assert_holds(spool, "good\n", 5);
        tide_spool_close(spool);
    }
}

static void a_failing_disk_is_an_error(void **state)
{
    (void)state;
    tide_error err = {0};
    tide_spool *spool = opened();
    put(spool, "good", 4);
    write_reason = EIO;
    writes_until_then = 0;
    assert_int_equal(tide_spool_append(spool, "bad", 3, false, &err), TIDE_ERROR_IO);
    assert_string_equal(err.text, "spool s: cannot write: Input/output error");
    spool = reopened(spool);
    assert_holds(spool, "good", 4);
    tide_spool_close(spool);
    write_reason = EINTR;
    for_ever = true;
    spool = opened();
    assert_int_equal(tide_spool_append(spool, "bad", 3, false, &err), TIDE_ERROR_IO);
    write_reason = 0;
    for_ever = false;
    tide_spool_close(spool);
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    for (int left = 0; left < 3; left++) {
        tide_error err = {0};
        allocations_left = left;
        assert_null(tide_spool_open("s", SEGMENT, TIDE_SPOOL_SYNC_NONE, &err));
        allocations_left = -1;
        assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    }
    tide_spool_close(opened());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(text_comes_out_as_it_went_in),
        IN_FOLDER(dropped_text_takes_no_space_and_the_stream_is_remembered),
        IN_FOLDER(a_new_stream_replaces_the_old_one),
        IN_FOLDER(the_latest_piece_is_unmarked_until_it_is_consumed),
        IN_FOLDER(a_spool_is_locked),
        IN_FOLDER(every_incomplete_tail_is_cut_off),
        IN_FOLDER(every_flipped_bit_is_detected),
        IN_FOLDER(a_bad_last_piece_is_cut_off),
        IN_FOLDER(a_stream_without_space_for_more_is_refused),
        IN_FOLDER(corruption_of_an_older_segment_is_an_error),
        IN_FOLDER(any_of_the_learned_segments_may_be_missing),
        IN_FOLDER(text_before_a_gap_is_ignored),
        IN_FOLDER(short_and_interrupted_writes_are_completed),
        IN_FOLDER(a_full_disk_changes_nothing),
        IN_FOLDER(a_full_disk_accepts_none_of_the_lines),
        IN_FOLDER(swapped_pieces_are_detected),
        IN_FOLDER(a_new_segment_is_synced_before_it_is_used),
        IN_FOLDER(a_failing_disk_is_an_error),
        IN_FOLDER(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
