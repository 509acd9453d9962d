/* test_feed_spool.c - a feed over a spool: accepted lines come out once and in order,
 * even if the feed is closed, killed or full in between. */

#include "base/base.h"
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "feed_fixture.h"
#include "folder_fixture.h"
#include "memory_fixture.h"

enum { LIMIT = 1 << 20, TEXT_MAX = 8 << 20, PUSHERS = 4, LINES = 300 };

/* -- a disk that misbehaves -------------------------------------------------------- */

static atomic_int syncs;
static bool syncs_fail;
static tide_feed
    *held; /* a sync of this feed blocks until this much text waits in it */
static size_t held_until;
static int writes_left = -1; /* before the disk is full; negative for ever */

/* file.c calls these instead of the system's. No disk has to be waited for here. */
int fdatasync(int file)
{
    syncs++;
    while (held && tide_feed_waiting(held) < held_until)
        sched_yield();
    errno = EIO;
    return file < 0 || syncs_fail ? -1 : 0;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    if (writes_left == 0) {
        errno = ENOSPC;
        return -1;
    }
    writes_left -= writes_left > 0;
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

/* -- a feed and what reads it ------------------------------------------------------ */

typedef struct stream {
    tide_feed *feed;
    tide_source *source;
    char *position; /* that a model was saved with; NULL before */
} stream;

static void begin(stream *s, tide_spool_sync sync)
{
    tide_error err = {0};
    s->feed = tide_feed_new_spooled("s", LIMIT, sync, &err);
    if (!s->feed)
        fail_msg("%s", err.text);
    const tide_source_options options = {.feed = s->feed};
    s->source = tide_source_open_with("feed:", &options, &err);
    assert_non_null(s->source);
    assert_true(tide_source_can_resume(s->source));
    if (s->position && tide_source_seek(s->source, s->position, &err))
        fail_msg("%s", err.text);
    assert_int_equal(tide_feed_push(s->feed, "too early\n", 10, &err), 0);
}

static void end(stream *s)
{
    tide_source_close(s->source);
    tide_feed_free(s->feed);
}

static void save(stream *s)
{
    free(s->position);
    s->position = tide_source_position(s->source, tide_source_offset(s->source), NULL);
    assert_non_null(s->position);
    assert_int_equal(tide_source_saved(s->source, s->position, NULL), TIDE_OK);
}

/* Reads some; saves when asked to. */
static size_t read_some(stream *s, char *bytes, size_t capacity)
{
    tide_error err = {0};
    ptrdiff_t count = tide_source_poll(s->source, bytes, capacity, 0, &err);
    if (count == TIDE_SOURCE_SAVE) {
        save(s);
        return 0;
    }
    if (count < 0 && count != TIDE_SOURCE_LATER)
        fail_msg("%s", err.text);
    return count > 0 ? (size_t)count : 0;
}

/* The last segment, and its size. */
static off_t latest_segment(char name[64])
{
    struct stat status;
    off_t size = -1;
    for (int number = 1; number < 100; number++) {
        char other[64];
        snprintf(other, sizeof other, "s/%012d.spool", number);
        if (stat(other, &status))
            continue;
        size = status.st_size;
        memcpy(name, other, sizeof other);
    }
    assert_true(size >= 0);
    return size;
}

/* Cuts off the mark behind the latest push, like a kill in the middle of it. */
static void tear_latest(void)
{
    char name[64];
    off_t size = latest_segment(name);
    assert_int_equal(truncate(name, size - 16), 0);
}

static void zero_the_end(off_t lost)
{
    char name[64];
    off_t size = latest_segment(name);
    assert_int_equal(truncate(name, size - lost), 0);
    assert_int_equal(truncate(name, size), 0);
}

/* -- what goes in comes out -------------------------------------------------------- */

static size_t random_lines(tide_rng *rng, char *text, size_t most)
{
    size_t size = 1 + tide_rng_below(rng, most);
    for (size_t i = 0; i < size; i++)
        text[i] =
            tide_rng_below(rng, 50) ? (char)('a' + tide_rng_below(rng, 26)) : '\n';
    return size;
}

/* An array is the oracle. Closing without a save takes the reader back to the last
 * one. */
static void lines_come_out_as_they_went_in(void **state)
{
    (void)state;
    static char taken[TEXT_MAX], lines[200000], bytes[200000];
    tide_rng rng = tide_rng_seeded(1);
    size_t end_at = 0, at = 0, saved = 0;
    int refusals = 0, openings = 0;
    stream s = {0};
    begin(&s, TIDE_SPOOL_SYNC_SECOND);
    read_some(&s, bytes, 1);
    while (end_at < TEXT_MAX - sizeof lines) {
        uint64_t choice = tide_rng_below(&rng, 100);
        if (choice < 50) {
            size_t size = random_lines(&rng, lines, choice ? 3000 : sizeof lines - 1);
            ptrdiff_t used = tide_feed_push(s.feed, lines, size, NULL);
            assert_in_range(used, 0, size);
            refusals += (size_t)used < size;
            memcpy(taken + end_at, lines, (size_t)used);
            end_at += (size_t)used;
            if (used && taken[end_at - 1] != '\n') {
                assert_int_equal(used, size);
                taken[end_at++] = '\n';
            }
        } else if (choice < 98) {
            size_t count = read_some(&s, bytes, 1 + tide_rng_below(&rng, 3000));
            assert_memory_equal(bytes, taken + at, count);
            at += count;
            if (!count)
                saved = at;
        } else if (choice < 99) {
            save(&s);
            saved = at;
        } else {
            save(&s);
            size_t position = at;
            at += read_some(&s, bytes, sizeof bytes);
            end(&s);
            at = saved = position;
            begin(&s, TIDE_SPOOL_SYNC_SECOND);
            openings++;
            at += read_some(&s, bytes, 1);
        }
        assert_int_equal(tide_feed_waiting(s.feed), end_at - at);
    }
    assert_true(refusals > 0 && openings > 10 && saved <= at);
    tide_feed_close(s.feed);
    assert_int_equal(tide_feed_push(s.feed, "late\n", 5, NULL), 0);
    while (at < end_at) {
        size_t count = read_some(&s, bytes, sizeof bytes);
        assert_memory_equal(bytes, taken + at, count);
        at += count;
    }
    assert_int_equal(tide_source_poll(s.source, bytes, 1, 0, NULL), TIDE_SOURCE_SAVE);
    save(&s);
    assert_int_equal(tide_source_poll(s.source, bytes, 1, 0, NULL), 0);
    end(&s);
    free(s.position);
}

static void a_push_without_its_mark_is_discarded(void **state)
{
    (void)state;
    static char lines[200000], bytes[1000];
    stream s = {0};
    memset(lines, 'x', sizeof lines);
    begin(&s, TIDE_SPOOL_SYNC_NONE);
    read_some(&s, bytes, 1);
    assert_int_equal(tide_feed_push(s.feed, "first\n", 6, NULL), 6);
    assert_int_equal(tide_feed_push(s.feed, "second", 6, NULL), 6);
    assert_int_equal(tide_feed_push(s.feed, lines, 100000, NULL), 100000);
    end(&s);
    tear_latest();
    begin(&s, TIDE_SPOOL_SYNC_NONE);
    assert_int_equal(read_some(&s, bytes, 8), 6);
    assert_non_null(strstr(tide_source_notice(s.source), "100033 bytes"));
    assert_int_equal(tide_feed_push(s.feed, "third\n", 6, NULL), 6);
    size_t size = 6;
    while (tide_feed_waiting(s.feed))
        size += read_some(&s, bytes + size, 100);
    assert_int_equal(size, 19);
    assert_memory_equal(bytes + 6, "second\nthird\n", 13);
    end(&s);
}

/* The power fails: the file has its size, and zeros where its last blocks should be. */
static void a_push_that_ends_in_zeros_is_discarded(void **state)
{
    (void)state;
    static char lines[200000], bytes[1000];
    stream s = {0};
    memset(lines, 'x', sizeof lines);
    for (off_t lost = 16; lost <= 100000; lost += 9973) {
        begin(&s, TIDE_SPOOL_SYNC_NONE);
        read_some(&s, bytes, 1);
        save(&s);
        assert_int_equal(tide_feed_push(s.feed, "first\n", 6, NULL), 6);
        assert_int_equal(tide_feed_push(s.feed, lines, 100000, NULL), 100000);
        end(&s);
        zero_the_end(lost);
        begin(&s, TIDE_SPOOL_SYNC_NONE);
        assert_int_equal(read_some(&s, bytes, sizeof bytes), 6);
        assert_int_equal(tide_feed_waiting(s.feed), 0);
        save(&s);
        end(&s);
    }
    free(s.position);
}

/* A line may have as many bytes as tide_feed_capacity says when nothing else is there,
 * and not one more. */
static void the_longest_line_fits_an_empty_spool(void **state)
{
    (void)state;
    char byte;
    stream s = {0};
    begin(&s, TIDE_SPOOL_SYNC_NONE);
    read_some(&s, &byte, 1);
    size_t capacity = tide_feed_capacity(s.feed);
    char *line = malloc(capacity + 1);
    memset(line, 'x', capacity + 1);
    line[capacity] = '\n';
    assert_int_equal(tide_feed_push(s.feed, line, capacity + 1, NULL), 0);
    line[capacity - 1] = '\n';
    assert_int_equal(tide_feed_push(s.feed, line, capacity, NULL), capacity);
    free(line);
    end(&s);
}

/* -- the disk ---------------------------------------------------------------------- */

static void with_always_every_push_is_synced_before_it_returns(void **state)
{
    (void)state;
    char byte;
    stream s = {0};
    begin(&s, TIDE_SPOOL_SYNC_ALWAYS);
    read_some(&s, &byte, 1);
    for (int i = 0; i < 10; i++) {
        int before = syncs;
        assert_int_equal(tide_feed_push(s.feed, "line\n", 5, NULL), 5);
        assert_int_equal(syncs, before + 1);
    }
    end(&s);
}

/* After a failed sync the contents of the disk are unknown. */
static void a_sync_that_fails_is_an_error_for_all(void **state)
{
    (void)state;
    char byte;
    tide_error err = {0};
    stream s = {0};
    begin(&s, TIDE_SPOOL_SYNC_ALWAYS);
    read_some(&s, &byte, 1);
    syncs_fail = true;
    assert_int_equal(tide_feed_push(s.feed, "line\n", 5, &err), TIDE_ERROR_IO);
    syncs_fail = false;
    assert_string_equal(err.text, "spool s: cannot sync: Input/output error");
    assert_int_equal(tide_feed_push(s.feed, "line\n", 5, NULL), TIDE_ERROR_IO);
    assert_int_equal(tide_source_poll(s.source, &byte, 1, 0, NULL), TIDE_ERROR_IO);
    end(&s);
}

/* At any write of a push of several pieces. */
static void a_full_disk_accepts_nothing_and_asks_for_a_save(void **state)
{
    (void)state;
    static char lines[200001], bytes[300000];
    stream s = {0};
    memset(lines, 'x', sizeof lines - 1);
    lines[sizeof lines - 1] = '\n';
    begin(&s, TIDE_SPOOL_SYNC_NONE);
    read_some(&s, bytes, 1);
    for (int writes = 0; writes < 4; writes++) {
        assert_int_equal(tide_feed_push(s.feed, "before\n", 7, NULL), 7);
        while (tide_feed_waiting(s.feed))
            read_some(&s, bytes, 100);
        writes_left = writes;
        assert_int_equal(tide_feed_push(s.feed, lines, sizeof lines, NULL), 0);
        writes_left = -1;
        assert_int_equal(tide_feed_waiting(s.feed), 0);
        assert_int_equal(tide_source_poll(s.source, bytes, 1, 0, NULL),
                         TIDE_SOURCE_SAVE);
        save(&s);
        assert_int_equal(tide_feed_push(s.feed, lines, sizeof lines, NULL),
                         sizeof lines);
        for (size_t at = 0; at < sizeof lines;)
            at += read_some(&s, bytes + at, sizeof bytes - at);
        assert_memory_equal(bytes, lines, sizeof lines);
        save(&s);
    }
    end(&s);
    free(s.position);
}

/* No file can be opened any more, because all descriptors are in use. Lines that fit
 * the current segment are accepted and synced, others are not; the text is read as far
 * as possible; and later everything continues. */
static void a_lack_of_file_descriptors_loses_nothing(void **state)
{
    (void)state;
    static char line[100000], bytes[LIMIT];
    struct rlimit before, none;
    stream s = {0};
    size_t sent = 0, read = 0;
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    begin(&s, TIDE_SPOOL_SYNC_ALWAYS);
    read_some(&s, bytes, 1);
    for (int i = 0; i < 3; i++) /* a segment each */
        sent += tide_feed_push(s.feed, line, sizeof line, NULL);
    int next = dup(0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){(rlim_t)next, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int synced = syncs;
    assert_int_equal(tide_feed_push(s.feed, line, sizeof line, NULL), 0);
    assert_int_equal(tide_feed_push(s.feed, "short\n", 6, NULL), 6);
    assert_true(syncs > synced);
    for (int i = 0; i < 5; i++)
        read += read_some(&s, bytes, sizeof bytes);
    assert_int_equal(read, sizeof line);
    save(&s);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    sent += 6 + tide_feed_push(s.feed, line, sizeof line, NULL);
    while (read < sent)
        read += read_some(&s, bytes, sizeof bytes);
    assert_int_equal(read, 4 * sizeof line + 6);
    save(&s);
    end(&s);
    free(s.position);
}

static void a_feed_survives_the_loss_of_any_allocation(void **state)
{
    (void)state;
    tide_feed *feed = NULL;
    int left = 0;
    for (; !feed; left++) {
        tide_error err = {0};
        allocations_left = left;
        feed = tide_feed_new_spooled("s", 0, TIDE_SPOOL_SYNC_NONE, &err);
        allocations_left = -1;
        assert_true(feed || err.status == TIDE_ERROR_MEMORY);
    }
    assert_true(left > 3);
    tide_feed_free(feed);
}

/* -- several threads --------------------------------------------------------------- */

static void *push_one(void *feed)
{
    assert_int_equal(tide_feed_push(feed, "line\n", 5, NULL), 5);
    return NULL;
}

/* Counts the lines of a pusher that come in their order; any other fails the test. */
static void take_lines(char *text, int next[PUSHERS])
{
    char *line = text, *stop;
    for (; (stop = strchr(line, '\n')); line = stop + 1) {
        int number, count;
        assert_int_equal(sscanf(line, "p%dl%d", &number, &count), 2);
        assert_in_range(number, 0, PUSHERS - 1);
        assert_int_equal(count, next[number]++);
    }
    memmove(text, line, strlen(line) + 1);
}

static void lines_of_many_threads_come_out_once(void **state)
{
    (void)state;
    const tide_spool_sync kinds[] = {TIDE_SPOOL_SYNC_ALWAYS, TIDE_SPOOL_SYNC_SECOND};
    for (size_t kind = 0; kind < 2; kind++) {
        char text[4096] = "";
        int next[PUSHERS] = {0};
        stream s = {0};
        pthread_t threads[PUSHERS];
        pusher pushers[PUSHERS];
        begin(&s, kinds[kind]);
        read_some(&s, text, 1);
        for (int i = 0; i < PUSHERS; i++) {
            pushers[i] = (pusher){s.feed, i, LINES};
            assert_int_equal(pthread_create(&threads[i], NULL, push, &pushers[i]), 0);
        }
        for (int taken = 0, turn = 0; taken < PUSHERS * LINES; turn++) {
            size_t half = strlen(text);
            ptrdiff_t count = tide_source_poll(s.source, text + half, 1000, 100, NULL);
            text[half + (count > 0 ? (size_t)count : 0)] = '\0';
            take_lines(text, next);
            if (turn % 50 == 0)
                save(&s);
            taken = next[0] + next[1] + next[2] + next[3];
        }
        for (int i = 0; i < PUSHERS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(tide_feed_waiting(s.feed), 0);
        save(&s);
        end(&s);
        free(s.position);
    }
}

/* During the first sync the other threads append, since it does not hold the lock; one
 * more sync covers all of them. */
static void threads_that_wait_for_the_disk_share_a_sync(void **state)
{
    (void)state;
    char byte;
    stream s = {0};
    pthread_t threads[PUSHERS];
    begin(&s, TIDE_SPOOL_SYNC_ALWAYS);
    read_some(&s, &byte, 1);
    held_until = PUSHERS * 5;
    held = s.feed;
    int before = syncs;
    for (int i = 0; i < PUSHERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, push_one, s.feed), 0);
    for (int i = 0; i < PUSHERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    held = NULL;
    assert_int_equal(syncs, before + 2);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(lines_come_out_as_they_went_in),
        IN_FOLDER(a_push_without_its_mark_is_discarded),
        IN_FOLDER(a_push_that_ends_in_zeros_is_discarded),
        IN_FOLDER(the_longest_line_fits_an_empty_spool),
        IN_FOLDER(with_always_every_push_is_synced_before_it_returns),
        IN_FOLDER(a_sync_that_fails_is_an_error_for_all),
        IN_FOLDER(a_full_disk_accepts_nothing_and_asks_for_a_save),
        IN_FOLDER(a_lack_of_file_descriptors_loses_nothing),
        IN_FOLDER(a_feed_survives_the_loss_of_any_allocation),
        IN_FOLDER(threads_that_wait_for_the_disk_share_a_sync),
        IN_FOLDER(lines_of_many_threads_come_out_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
