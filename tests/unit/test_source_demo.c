/* test_source_demo.c - the demo stream as a source: its seed determines it, it can be
 * resumed from any offset, and with a rate it returns what is due. */

#include "base/base.h"
#include "demo/demo.h"
#include "source/source.h"
#include "source_fixture.h"

#include <poll.h>

enum { DEMO_SIZE = 4 << 20 };

static size_t count_tokens(const char *bytes, size_t size)
{
    size_t tokens = 0;
    for (size_t i = 0; i < size; i++)
        tokens += bytes[i] == ' ' || bytes[i] == '\n';
    return tokens;
}

static void demo_source_is_the_demo_stream_of_its_seed(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint64_t seed;
    } table[] = {{"demo:", 1},
                 {"demo:seed=7", 7},
                 {"demo:tokens=0,seed=3", 3},
                 {"demo:seed=18446744073709551615,", UINT64_MAX}};
    tide_rng rng = tide_rng_seeded(6);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char wanted[20000], found[20000];
        tide_demo *demo = tide_demo_new(table[i].seed, NULL);
        tide_source *source = opened(table[i].spec);
        assert_int_equal(tide_demo_read(demo, wanted, sizeof wanted), sizeof wanted);
        assert_int_equal(read_all(source, found, sizeof found, &rng), sizeof found);
        assert_memory_equal(found, wanted, sizeof wanted);
        tide_source_close(source);
        tide_demo_free(demo);
    }
}

static void demo_source_ends_with_the_line_that_completes_its_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        size_t tokens;
    } table[] = {{"demo:tokens=1", 1},
                 {"demo:tokens=1000", 1000},
                 {"demo:tokens=1e3", 1000},
                 {"demo:seed=2,tokens=2.5e3", 2500},
                 {"demo:tokens=1e+04", 10000}};
    static char bytes[1 << 18];
    tide_rng rng = tide_rng_seeded(7);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        tide_source *source = opened(table[i].spec);
        size_t size = read_all(source, bytes, sizeof bytes, &rng);
        assert_true(size > 0 && size < sizeof bytes && bytes[size - 1] == '\n');
        assert_true(count_tokens(bytes, size) >= table[i].tokens);
        size_t last = size - 1; /* without its last line it would be too short */
        while (last > 0 && bytes[last - 1] != '\n')
            last--;
        assert_true(count_tokens(bytes, last) < table[i].tokens);
        assert_int_equal(tide_source_read(source, bytes, 10, NULL), 0);
        tide_source_close(source);
    }
}

static void demo_source_can_be_resumed_from_any_offset(void **state)
{
    (void)state;
    unsigned char *bytes = malloc(DEMO_SIZE);
    tide_rng rng = tide_rng_seeded(8);
    tide_source *source = opened("demo:seed=5");
    assert_true(tide_source_can_resume(source));
    assert_int_equal(read_all(source, bytes, DEMO_SIZE, &rng), DEMO_SIZE);
    check_replay(source, bytes, DEMO_SIZE);
    tide_source_close(source);
    free(bytes);
}

/* The source remembers a state at 1 MiB; text just before it cannot be generated from
 * there. */
static void demo_source_finds_text_around_a_remembered_state(void **state)
{
    (void)state;
    enum { MARK = 1 << 20 };
    static unsigned char bytes[MARK + 5000];
    tide_demo *demo = tide_demo_new(1, NULL);
    tide_demo_read(demo, (char *)bytes, sizeof bytes);
    tide_demo_free(demo);
    tide_source *source = opened("demo:");
    static char read[MARK];
    assert_int_equal(tide_source_read(source, read, MARK, NULL), MARK);
    assert_int_equal(tide_source_read(source, read, 1, NULL), 1);
    for (size_t from = MARK - 20; from <= MARK + 20; from++)
        assert_position(source, bytes, from + 4096);
    tide_source_close(source);
}

static void demo_source_that_ends_earlier_refuses_a_seek_and_stays(void **state)
{
    (void)state;
    unsigned char bytes[200], again[100];
    tide_source *source = opened("demo:tokens=500");
    assert_int_equal(tide_source_read(source, bytes, 100, NULL), 100);
    assert_int_equal(tide_source_read(source, bytes + 100, 100, NULL), 100);
    const char *middle = position_in(bytes, 100);
    assert_int_equal(tide_source_seek(source, middle, NULL), TIDE_OK);
    assert_not_there(source, 1 << 22, TIDE_ERROR_FORMAT);
    assert_no_position(source, 1 << 22, TIDE_ERROR_FORMAT);
    tide_error err = {0};
    tide_source_seek(source, "123456789 0", &err);
    assert_string_equal(err.text, "shorter than before, so it is read from the start");
    assert_int_equal(tide_source_offset(source), 100);
    assert_int_equal(tide_source_read(source, again, 100, NULL), 100);
    assert_memory_equal(again, bytes + 100, 100);
    tide_source_close(source);
}

/* Of a paced source: what there is now, until there is nothing, into `bytes`. */
static size_t take_due(tide_source *source, char *bytes, size_t capacity,
                       ptrdiff_t *last)
{
    size_t size = 0;
    while ((*last = tide_source_poll(source, bytes + size, capacity - size, 0, NULL)) >
           0)
        size += (size_t)*last;
    return size;
}

static size_t count_without_last_line(const char *bytes, size_t size)
{
    const char *line = size > 0 ? memrchr(bytes, '\n', size - 1) : NULL;
    return line ? count_tokens(bytes, (size_t)(line - bytes) + 1) : 0;
}

static void demo_source_with_a_rate_returns_what_is_due_and_no_more(void **state)
{
    (void)state;
    enum { RATE = 3000, ROOM = 20000 };
    char bytes[ROOM], wanted[ROOM];
    size_t size = 0, later = 0;
    tide_rng rng = tide_rng_seeded(1);
    double start = seconds();
    tide_source *source = opened("demo:rate=3000,tokens=700");
    for (ptrdiff_t last = TIDE_SOURCE_LATER; last != 0;) {
        size += take_due(source, bytes + size, ROOM - size, &last);
        double due = (seconds() - start) * RATE;
        assert_true((double)count_without_last_line(bytes, size) <= due);
        assert_true(last == 0 || last == TIDE_SOURCE_LATER);
        later += last != 0;
    }
    tide_source_close(source);
    assert_true(later > 0);
    source = opened("demo:tokens=700");
    assert_int_equal(read_all(source, (unsigned char *)wanted, ROOM, &rng), size);
    assert_memory_equal(bytes, wanted, size);
    tide_source_close(source);
}

/* It gets the words of one second, and those that become due meanwhile. */
static void late_reader_of_a_demo_with_a_rate_gets_at_most_a_second(void **state)
{
    (void)state;
    enum { RATE = 2000, ROOM = 1 << 20 };
    char *bytes = malloc(ROOM);
    ptrdiff_t last;
    tide_source *source = opened("demo:rate=2000");
    take_due(source, bytes, ROOM, &last);
    poll(NULL, 0, 1500);
    double start = seconds();
    size_t size = take_due(source, bytes, ROOM, &last);
    double due = (1 + seconds() - start) * RATE;
    assert_int_equal(last, TIDE_SOURCE_LATER);
    assert_in_range(count_tokens(bytes, size), RATE, UINT64_MAX);
    assert_true((double)count_without_last_line(bytes, size) <= due);
    tide_source_close(source);
    free(bytes);
}

static void demo_source_with_a_rate_can_be_resumed_from_any_offset(void **state)
{
    (void)state;
    enum { SIZE = DEMO_SIZE / 16 };
    unsigned char *bytes = malloc(SIZE);
    tide_rng rng = tide_rng_seeded(8);
    tide_source *source = opened("demo:seed=5,events=on,pace=20,rate=1e9");
    assert_int_equal(read_all(source, bytes, SIZE, &rng), SIZE);
    check_replay(source, bytes, SIZE);
    tide_source_close(source);
    free(bytes);
}

/* A seek does not wait for the time that reading up to there would take. */
static void demo_source_with_a_rate_continues_right_after_a_seek(void **state)
{
    (void)state;
    enum { FAR = 1 << 20 }; /* half an hour of reading */
    static unsigned char bytes[FAR + 1000], piece[1000];
    tide_rng rng = tide_rng_seeded(8);
    tide_source *source = opened("demo:");
    assert_int_equal(read_all(source, bytes, sizeof bytes, &rng), sizeof bytes);
    tide_source_close(source);
    source = opened("demo:rate=100");
    assert_true(tide_source_read(source, piece, sizeof piece, NULL) > 0);
    assert_int_equal(tide_source_seek(source, position_in(bytes, FAR), NULL), TIDE_OK);
    ptrdiff_t got = tide_source_poll(source, piece, sizeof piece, 30000, NULL);
    assert_true(got > 0);
    assert_memory_equal(piece, bytes + FAR, got);
    tide_source_close(source);
}

static void signal_interrupts_a_waiting_demo(void **state)
{
    (void)state;
    struct sigaction old;
    tide_source *source = opened("demo:rate=1");
    begin_signals(&old);
    char bytes[1000];
    ptrdiff_t got = 1;
    while (got > 0) { /* a line may have become due, if the machine is busy */
        errno = 0;
        got = tide_source_read(source, bytes, sizeof bytes, NULL);
    }
    assert_int_equal(got, TIDE_ERROR_IO);
    assert_int_equal(errno, EINTR);
    end_signals(&old);
    tide_source_close(source);
}

static void unknown_or_wrong_settings_of_the_demo_are_refused(void **state)
{
    (void)state;
    assert_refused(
        "demo:speed=3", TIDE_ERROR_PARAMETER,
        "demo: unknown setting 'speed' (expected seed, tokens, hashtags, events, "
        "pace or rate)");
    assert_refused("demo:seed", TIDE_ERROR_PARAMETER, "demo: seed needs a value");
    assert_refused("demo:hashtags=2", TIDE_ERROR_PARAMETER,
                   "demo: hashtags must be on or off, not '2'");
    assert_refused("demo:events=yes", TIDE_ERROR_PARAMETER,
                   "demo: events must be on or off, not 'yes'");
    assert_refused("demo:pace=2", TIDE_ERROR_PARAMETER, "demo: pace needs events=on");
    assert_refused("demo:pace=0,events=on", TIDE_ERROR_PARAMETER,
                   "demo: pace must be a number from 0.01 to 100, not '0'");
    assert_refused("demo:rate=2e9", TIDE_ERROR_PARAMETER,
                   "demo: rate must be at most 1e9, not '2e9'");
    assert_refused("demo:tokens=many", TIDE_ERROR_PARAMETER,
                   "demo: tokens must be a whole number, not 'many'");
    static const char *const wrong[] = {"demo:tokens=-1",
                                        "demo:tokens=",
                                        "demo:tokens=1.5",
                                        "demo:tokens=1e99",
                                        "demo:tokens=0x1",
                                        "demo:tokens=nan",
                                        "demo:tokens=inf",
                                        "demo:tokens= 1",
                                        "demo:tokens=1e",
                                        "demo:events=on,pace=101",
                                        "demo:events=on,pace=-1",
                                        "demo:events=on,pace=",
                                        "demo:events=on,pace= 1",
                                        "demo:events=on,pace=1x",
                                        "demo:events=on,pace=nan",
                                        "demo:events=on,pace=1e39",
                                        "demo:rate=-1",
                                        "demo:rate=fast",
                                        "demo:seed=1e3000",
                                        "demo:seed=18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tide_error err = {0};
        assert_null(tide_source_open(wrong[i], &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    }
    char spec[1000] = "demo:";
    memset(spec + 5, ',', 900);
    assert_refused(spec, TIDE_ERROR_PARAMETER,
                   "demo: settings are longer than 255 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demo_source_is_the_demo_stream_of_its_seed),
        cmocka_unit_test(demo_source_ends_with_the_line_that_completes_its_tokens),
        cmocka_unit_test(demo_source_can_be_resumed_from_any_offset),
        cmocka_unit_test(demo_source_finds_text_around_a_remembered_state),
        cmocka_unit_test(demo_source_that_ends_earlier_refuses_a_seek_and_stays),
        cmocka_unit_test(demo_source_with_a_rate_returns_what_is_due_and_no_more),
        cmocka_unit_test(late_reader_of_a_demo_with_a_rate_gets_at_most_a_second),
        cmocka_unit_test(demo_source_with_a_rate_can_be_resumed_from_any_offset),
        cmocka_unit_test(demo_source_with_a_rate_continues_right_after_a_seek),
        cmocka_unit_test(signal_interrupts_a_waiting_demo),
        cmocka_unit_test(unknown_or_wrong_settings_of_the_demo_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
