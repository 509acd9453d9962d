/* source_fixture.h - for the tests of sources: reading in pieces, positions, and
 * signals during a wait. */
#ifndef TIDE_SOURCE_FIXTURE_H
#define TIDE_SOURCE_FIXTURE_H

#include "base/base.h"
#include "source/source.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>

#include "clock_fixture.h"
#include "folder_fixture.h"

static tide_source *opened(const char *spec)
{
    tide_error err = {0};
    tide_source *source = tide_source_open(spec, &err);
    if (!source)
        fail_msg("%s", err.text);
    return source;
}

static inline void assert_refused(const char *spec, tide_status status,
                                  const char *text)
{
    tide_error err = {0};
    assert_null(tide_source_open(spec, &err));
    assert_int_equal(err.status, status);
    assert_string_equal(err.text, text);
}

/* Reads up to `capacity` bytes in pieces of random sizes; returns how many there
 * were. */
static inline size_t read_all(tide_source *source, void *bytes, size_t capacity,
                              tide_rng *rng)
{
    size_t done = 0;
    while (done < capacity) {
        size_t piece = 1 + tide_rng_below(rng, 10000);
        piece = piece < capacity - done ? piece : capacity - done;
        ptrdiff_t count = tide_source_read(source, (char *)bytes + done, piece, NULL);
        assert_true(count >= 0 && (size_t)count <= piece);
        if (count == 0)
            break;
        done += (size_t)count;
    }
    return done;
}

enum { POSITION_SIZE = 64 };

/* The expected position of an offset in a text. */
static const char *position_in(const unsigned char *bytes, uint64_t offset)
{
    static char position[POSITION_SIZE];
    size_t size = offset < 4096 ? (size_t)offset : 4096;
    snprintf(position, sizeof position, "%llu %016llx", (unsigned long long)offset,
             (unsigned long long)tide_hash(bytes + offset - size, size, 0));
    return position;
}

static inline void assert_position(tide_source *source, const unsigned char *bytes,
                                   uint64_t offset)
{
    tide_error err = {0};
    char *position = tide_source_position(source, offset, &err);
    if (!position)
        fail_msg("%s", err.text);
    assert_string_equal(position, position_in(bytes, offset));
    assert_int_equal(tide_source_saved(source, position, &err), TIDE_OK);
    free(position);
}

/* Checks reads from any offset and the positions of any offset against `bytes`. */
static inline void check_replay(tide_source *source, const unsigned char *bytes,
                                size_t size)
{
    enum { PIECE = 5000 };
    unsigned char piece[PIECE];
    tide_rng rng = tide_rng_seeded(2);
    assert_true(tide_source_divisible(source));
    assert_true(tide_source_at_boundary(source));
    for (int run = 0; run < 50; run++) {
        uint64_t offset = run ? tide_rng_below(&rng, size - PIECE) : 0;
        uint64_t other = run > 1 ? tide_rng_below(&rng, size) : (uint64_t)run;
        const char *position = position_in(bytes, offset);
        assert_int_equal(tide_source_seek(source, position, NULL), TIDE_OK);
        assert_int_equal(tide_source_offset(source), offset);
        assert_position(source, bytes, other);
        assert_int_equal(read_all(source, piece, PIECE, &rng), PIECE);
        assert_memory_equal(piece, bytes + offset, PIECE);
        assert_int_equal(tide_source_offset(source), offset + PIECE);
    }
}

static inline void assert_no_position(tide_source *source, uint64_t offset,
                                      tide_status status)
{
    tide_error err = {0};
    assert_null(tide_source_position(source, offset, &err));
    assert_int_equal(err.status, status);
}

/* An offset is refused whatever the fingerprint. */
static inline void assert_not_there(tide_source *source, uint64_t offset,
                                    tide_status status)
{
    tide_error err = {0};
    char position[POSITION_SIZE];
    snprintf(position, sizeof position, "%llu 0", (unsigned long long)offset);
    assert_int_equal(tide_source_seek(source, position, &err), status);
    assert_int_equal(err.status, status);
}

static inline void assert_not_replayable(tide_source *source)
{
    assert_false(tide_source_can_resume(source));
    assert_no_position(source, 0, TIDE_ERROR_IO);
    assert_int_equal(
        tide_source_seek(source, position_in((const unsigned char *)"", 0), NULL),
        TIDE_ERROR_IO);
}

static inline void on_alarm(int signal)
{
    (void)signal;
}

/* Signals come again and again, since the first may come before anybody waits. */
static inline void begin_signals(struct sigaction *old)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval often = {{.tv_usec = 20000}, {.tv_usec = 20000}};
    sigaction(SIGALRM, &action, old);
    setitimer(ITIMER_REAL, &often, NULL);
}

static inline void end_signals(const struct sigaction *old)
{
    const struct itimerval never = {0};
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, old, NULL);
}

#endif
