/* test_source.c - bytes come from files, pipes and the demo, and what can be read
 * again is. */
#include "text/demo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "memory_fixture.h"

enum { FILE_SIZE = 100000, DEMO_SIZE = 4 << 20 };

/* -- helpers ----------------------------------------------------------------------- */

static char folder[64];
static unsigned char content[FILE_SIZE];

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_source.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    tide_rng rng = tide_rng_seeded(1);
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (unsigned char)tide_rng_next(&rng);
    FILE *file = fopen(in_folder("file"), "wb");
    size_t written = file ? fwrite(content, 1, sizeof content, file) : 0;
    return file && fclose(file) == 0 && written == sizeof content ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("file"));
    return rmdir(folder);
}

static tide_source *opened(const char *spec)
{
    tide_error err = {0};
    tide_source *source = tide_source_open(spec, &err);
    if (!source)
        fail_msg("%s", err.text);
    return source;
}

static void assert_refused(const char *spec, tide_status status, const char *text)
{
    tide_error err = {0};
    assert_null(tide_source_open(spec, &err));
    assert_int_equal(err.status, status);
    assert_string_equal(err.text, text);
}

/* Reads up to `room` bytes in pieces of random sizes; returns how many there were. */
static size_t read_all(tide_source *source, void *bytes, size_t room, tide_rng *rng)
{
    size_t done = 0;
    while (done < room) {
        size_t piece = 1 + tide_rng_below(rng, 10000);
        piece = piece < room - done ? piece : room - done;
        ptrdiff_t count = tide_source_read(source, (char *)bytes + done, piece, NULL);
        assert_true(count >= 0 && (size_t)count <= piece);
        if (count == 0)
            break;
        done += (size_t)count;
    }
    return done;
}

enum { PLACE_ROOM = 64 };

/* The place of an offset in a text, as it has to be. */
static const char *place_in(const unsigned char *bytes, uint64_t offset)
{
    static char place[PLACE_ROOM];
    size_t size = offset < 4096 ? (size_t)offset : 4096;
    snprintf(place, sizeof place, "%llu %016llx", (unsigned long long)offset,
             (unsigned long long)tide_hash(bytes + offset - size, size, 0));
    return place;
}

static void assert_place(tide_source *source, const unsigned char *bytes,
                         uint64_t offset)
{
    tide_error err = {0};
    char *place = tide_source_place(source, offset, &err);
    if (!place)
        fail_msg("%s", err.text);
    assert_string_equal(place, place_in(bytes, offset));
    assert_int_equal(tide_source_saved(source, place, &err), TIDE_OK);
    free(place);
}

/* Reading from anywhere, and the place of anywhere, are what `bytes` says. */
static void check_replay(tide_source *source, const unsigned char *bytes, size_t size)
{
    enum { PIECE = 5000 };
    unsigned char piece[PIECE];
    tide_rng rng = tide_rng_seeded(2);
    assert_true(tide_source_divisible(source));
    assert_true(tide_source_settled(source));
    for (int run = 0; run < 50; run++) {
        uint64_t offset = run ? tide_rng_below(&rng, size - PIECE) : 0;
        uint64_t other = run > 1 ? tide_rng_below(&rng, size) : (uint64_t)run;
        const char *place = place_in(bytes, offset);
        assert_int_equal(tide_source_go_to(source, place, NULL), TIDE_OK);
        assert_int_equal(tide_source_offset(source), offset);
        assert_place(source, bytes, other);
        assert_int_equal(read_all(source, piece, PIECE, &rng), PIECE);
        assert_memory_equal(piece, bytes + offset, PIECE);
        assert_int_equal(tide_source_offset(source), offset + PIECE);
    }
}

static void assert_no_place(tide_source *source, uint64_t offset, tide_status status)
{
    tide_error err = {0};
    assert_null(tide_source_place(source, offset, &err));
    assert_int_equal(err.status, status);
}

/* An offset is refused whatever the fingerprint. */
static void assert_not_there(tide_source *source, uint64_t offset, tide_status status)
{
    tide_error err = {0};
    char place[PLACE_ROOM];
    snprintf(place, sizeof place, "%llu 0", (unsigned long long)offset);
    assert_int_equal(tide_source_go_to(source, place, &err), status);
    assert_int_equal(err.status, status);
}

static void assert_not_replayable(tide_source *source)
{
    assert_false(tide_source_replayable(source));
    assert_no_place(source, 0, TIDE_ERROR_IO);
    assert_int_equal(tide_source_go_to(source, place_in(content, 0), NULL),
                     TIDE_ERROR_IO);
}

/* A child that writes `text` into a descriptor and ends. */
static pid_t write_from_child(int descriptor, const char *text)
{
    pid_t child = fork();
    if (child == 0)
        _exit(write(descriptor, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : 1);
    return child;
}

/* -- files ------------------------------------------------------------------------- */

static void file_is_read_to_its_end(void **state)
{
    (void)state;
    static unsigned char bytes[FILE_SIZE + 1];
    tide_rng rng = tide_rng_seeded(3);
    tide_source *source = opened(in_folder("file"));
    assert_int_equal(read_all(source, bytes, sizeof bytes, &rng), FILE_SIZE);
    assert_memory_equal(bytes, content, FILE_SIZE);
    assert_int_equal(tide_source_offset(source), FILE_SIZE);
    assert_int_equal(tide_source_read(source, bytes, 1, NULL), 0);
    tide_source_close(source);
    tide_source_close(NULL);
}

static void file_can_be_read_again_from_anywhere(void **state)
{
    (void)state;
    tide_source *source = opened(in_folder("file"));
    assert_true(tide_source_replayable(source));
    check_replay(source, content, FILE_SIZE);
    tide_source_close(source);
}

static void file_that_is_too_short_for_a_position_is_refused(void **state)
{
    (void)state;
    tide_source *source = opened(in_folder("file"));
    static const uint64_t beyond[] = {FILE_SIZE + 1, FILE_SIZE + 9999, INT64_MAX,
                                      UINT64_MAX};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_not_there(source, beyond[i], TIDE_ERROR_FORMAT);
        assert_no_place(source, beyond[i], TIDE_ERROR_FORMAT);
    }
    tide_error err = {0};
    tide_source_go_to(source, "123456789 0", &err);
    assert_string_equal(err.text, "shorter than it was, so it is read from its start");
    assert_int_equal(tide_source_offset(source), 0);
    const char *end = place_in(content, FILE_SIZE);
    assert_int_equal(tide_source_go_to(source, end, NULL), TIDE_OK);
    assert_place(source, content, FILE_SIZE);
    tide_source_close(source);
}

static void
file_with_other_text_before_a_place_is_refused_and_reading_stays(void **state)
{
    (void)state;
    unsigned char bytes[100];
    tide_error err = {0};
    tide_source *source = opened(in_folder("file"));
    assert_int_equal(tide_source_read(source, bytes, 50, NULL), 50);
    char wrong[PLACE_ROOM];
    snprintf(wrong, sizeof wrong, "%s", place_in(content, 5000));
    char *last = wrong + strlen(wrong) - 1;
    *last = *last == '0' ? '1' : '0';
    assert_int_equal(tide_source_go_to(source, wrong, &err), TIDE_ERROR_FORMAT);
    assert_non_null(strstr(err.text, "other text before byte 5000 than it had"));
    assert_int_equal(tide_source_offset(source), 50);
    assert_int_equal(tide_source_read(source, bytes, 100, NULL), 100);
    assert_memory_equal(bytes, content + 50, 100);
    tide_source_close(source);
}

static void what_is_no_place_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        " ",
                                        "0",
                                        "0 ",
                                        " 0",
                                        "-1 0",
                                        "+1 0",
                                        "0x1 0",
                                        "1 0 ",
                                        "1  0",
                                        "1 g",
                                        "1 -1",
                                        "1 A",
                                        "1 0\n",
                                        "a 0",
                                        "1 10000000000000000",
                                        "18446744073709551616 0",
                                        "0 0 0"};
    tide_source *source = opened(in_folder("file"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tide_error err = {0};
        assert_int_equal(tide_source_go_to(source, wrong[i], &err), TIDE_ERROR_FORMAT);
        assert_non_null(strstr(err.text, "is no place in it, so it is read from"));
    }
    tide_source_close(source);
}

static void what_cannot_be_read_is_refused_with_its_name(void **state)
{
    (void)state;
    assert_refused("/no/such/file", TIDE_ERROR_IO,
                   "cannot read /no/such/file: No such file or directory");
    assert_refused("/", TIDE_ERROR_IO, "cannot read /: Is a directory");
    assert_refused("", TIDE_ERROR_PARAMETER, "a source needs a name");
}

/* -- pipes ------------------------------------------------------------------------- */

static void named_pipe_is_read_until_its_writers_are_gone(void **state)
{
    (void)state;
    char path[128], bytes[100];
    snprintf(path, sizeof path, "%s", in_folder("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(write(open(path, O_WRONLY), "one two\n", 8) == 8 ? 0 : 1);
    tide_source *source = opened(path);
    tide_rng rng = tide_rng_seeded(4);
    assert_int_equal(read_all(source, bytes, sizeof bytes, &rng), 8);
    assert_memory_equal(bytes, "one two\n", 8);
    assert_not_replayable(source);
    tide_source_close(source);
    waitpid(child, NULL, 0);
    unlink(path);
}

/* Runs with a pipe as standard input, whose other end is returned. */
static int replace_stdin(int *saved)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    return ends[1];
}

static void restore_stdin(int saved)
{
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static void dash_and_dev_stdin_are_standard_input(void **state)
{
    (void)state;
    static const char *const names[] = {"-", "/dev/stdin"};
    for (int i = 0; i < 2; i++) {
        int saved, writer = replace_stdin(&saved);
        char bytes[10];
        pid_t child = write_from_child(writer, "text");
        close(writer);
        tide_source *source = opened(names[i]);
        tide_rng rng = tide_rng_seeded(5);
        assert_int_equal(read_all(source, bytes, sizeof bytes, &rng), 4);
        assert_memory_equal(bytes, "text", 4);
        assert_not_replayable(source);
        tide_source_close(source);
        assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* not ours to close */
        restore_stdin(saved);
        waitpid(child, NULL, 0);
    }
}

static void standard_input_is_taken_as_it_comes_even_from_a_file(void **state)
{
    (void)state;
    int saved = dup(STDIN_FILENO), file = open(in_folder("file"), O_RDONLY);
    dup2(file, STDIN_FILENO);
    close(file);
    tide_source *source = opened("-");
    unsigned char bytes[64];
    assert_int_equal(tide_source_read(source, bytes, sizeof bytes, NULL), sizeof bytes);
    assert_memory_equal(bytes, content, sizeof bytes);
    assert_not_replayable(source);
    tide_source_close(source);
    restore_stdin(saved);
}

static void standard_input_that_is_closed_is_refused(void **state)
{
    (void)state;
    int saved = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    assert_refused("-", TIDE_ERROR_IO,
                   "cannot read standard input: Bad file descriptor");
    restore_stdin(saved);
}

static void on_alarm(int signal)
{
    (void)signal;
}

/* The caller looks whether it was told to stop, and if not reads on. */
static void signal_interrupts_a_read_that_waits(void **state)
{
    (void)state;
    int saved, writer = replace_stdin(&saved);
    struct sigaction old, action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, &old);
    tide_source *source = opened("-");
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    char bytes[10];
    tide_error err = {0};
    errno = 0;
    assert_int_equal(tide_source_read(source, bytes, sizeof bytes, &err),
                     TIDE_ERROR_IO);
    assert_int_equal(errno, EINTR);
    assert_int_equal(tide_source_offset(source), 0);
    assert_int_equal(write(writer, "more", 4), 4);
    assert_int_equal(tide_source_read(source, bytes, sizeof bytes, &err), 4);
    tide_source_close(source);
    sigaction(SIGALRM, &old, NULL);
    close(writer);
    restore_stdin(saved);
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void pipe_without_bytes_is_waited_for_as_long_as_wanted(void **state)
{
    (void)state;
    static const int waits_ms[] = {0, 1, 50};
    int saved, writer = replace_stdin(&saved);
    tide_source *source = opened("-");
    char bytes[10];
    for (int i = 0; i < 3; i++) {
        double start = seconds();
        assert_int_equal(
            tide_source_poll(source, bytes, sizeof bytes, waits_ms[i], NULL),
            TIDE_SOURCE_LATER);
        double waited = seconds() - start; /* the upper bound is for a busy machine */
        assert_true(waited >= 1e-3 * waits_ms[i] - 1e-3 && waited < 1);
    }
    assert_int_equal(write(writer, "text", 4), 4);
    assert_int_equal(tide_source_poll(source, bytes, sizeof bytes, 0, NULL), 4);
    assert_int_equal(tide_source_poll(source, bytes, sizeof bytes, 0, NULL),
                     TIDE_SOURCE_LATER);
    assert_int_equal(tide_source_offset(source), 4);
    close(writer);
    assert_int_equal(tide_source_poll(source, bytes, sizeof bytes, 0, NULL), 0);
    tide_source_close(source);
    restore_stdin(saved);
}

static void pipe_that_does_not_block_is_waited_for_too(void **state)
{
    (void)state;
    int saved, writer = replace_stdin(&saved);
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    tide_source *source = opened("-");
    char bytes[10];
    assert_int_equal(tide_source_poll(source, bytes, sizeof bytes, 1, NULL),
                     TIDE_SOURCE_LATER);
    pid_t child = fork();
    if (child == 0) {
        usleep(20000);
        _exit(write(writer, "text", 4) == 4 ? 0 : 1);
    }
    close(writer);
    assert_int_equal(tide_source_read(source, bytes, sizeof bytes, NULL), 4);
    assert_int_equal(tide_source_read(source, bytes, sizeof bytes, NULL), 0);
    waitpid(child, NULL, 0);
    tide_source_close(source);
    restore_stdin(saved);
}

static void signal_makes_a_poll_come_back_early(void **state)
{
    (void)state;
    int saved, writer = replace_stdin(&saved);
    struct sigaction old, action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, &old);
    tide_source *source = opened("-");
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    double start = seconds();
    setitimer(ITIMER_REAL, &soon, NULL);
    char bytes[10];
    assert_int_equal(tide_source_poll(source, bytes, sizeof bytes, 60000, NULL),
                     TIDE_SOURCE_LATER);
    assert_true(seconds() - start < 30);
    tide_source_close(source);
    sigaction(SIGALRM, &old, NULL);
    close(writer);
    restore_stdin(saved);
}

/* -- the demo ---------------------------------------------------------------------- */

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

static void demo_source_can_be_read_again_from_anywhere(void **state)
{
    (void)state;
    unsigned char *bytes = malloc(DEMO_SIZE);
    tide_rng rng = tide_rng_seeded(8);
    tide_source *source = opened("demo:seed=5");
    assert_true(tide_source_replayable(source));
    assert_int_equal(read_all(source, bytes, DEMO_SIZE, &rng), DEMO_SIZE);
    check_replay(source, bytes, DEMO_SIZE);
    tide_source_close(source);
    free(bytes);
}

/* The source remembers a place at 1 MiB; what lies just before it is not reached from
 * there. */
static void demo_source_finds_what_lies_around_a_place_it_remembers(void **state)
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
        assert_place(source, bytes, from + 4096);
    tide_source_close(source);
}

static void demo_source_that_ends_earlier_refuses_a_position_and_stays(void **state)
{
    (void)state;
    unsigned char bytes[200], again[100];
    tide_source *source = opened("demo:tokens=500");
    assert_int_equal(tide_source_read(source, bytes, 100, NULL), 100);
    assert_int_equal(tide_source_read(source, bytes + 100, 100, NULL), 100);
    const char *middle = place_in(bytes, 100);
    assert_int_equal(tide_source_go_to(source, middle, NULL), TIDE_OK);
    assert_not_there(source, 1 << 22, TIDE_ERROR_FORMAT);
    assert_no_place(source, 1 << 22, TIDE_ERROR_FORMAT);
    tide_error err = {0};
    tide_source_go_to(source, "123456789 0", &err);
    assert_string_equal(err.text, "shorter than it was, so it is read from its start");
    assert_int_equal(tide_source_offset(source), 100);
    assert_int_equal(tide_source_read(source, again, 100, NULL), 100);
    assert_memory_equal(again, bytes + 100, 100);
    tide_source_close(source);
}

/* Of a paced source: what there is now, until there is nothing, into `bytes`. */
static size_t take_due(tide_source *source, char *bytes, size_t room, ptrdiff_t *last)
{
    size_t size = 0;
    while ((*last = tide_source_poll(source, bytes + size, room - size, 0, NULL)) > 0)
        size += (size_t)*last;
    return size;
}

static size_t count_without_last_line(const char *bytes, size_t size)
{
    const char *line = size > 0 ? memrchr(bytes, '\n', size - 1) : NULL;
    return line ? count_tokens(bytes, (size_t)(line - bytes) + 1) : 0;
}

static void demo_source_with_a_rate_gives_what_is_due_and_no_more(void **state)
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
static void who_comes_late_to_a_demo_with_a_rate_has_missed_something(void **state)
{
    (void)state;
    enum { RATE = 2000, ROOM = 1 << 20 };
    char *bytes = malloc(ROOM);
    ptrdiff_t last;
    tide_source *source = opened("demo:rate=2000");
    take_due(source, bytes, ROOM, &last);
    poll(NULL, 0, 2500);
    double start = seconds();
    size_t size = take_due(source, bytes, ROOM, &last);
    double due = (1 + seconds() - start) * RATE;
    assert_int_equal(last, TIDE_SOURCE_LATER);
    assert_in_range(count_tokens(bytes, size), RATE, UINT64_MAX);
    assert_true((double)count_without_last_line(bytes, size) <= due);
    tide_source_close(source);
    free(bytes);
}

static void demo_source_with_a_rate_can_be_read_again_from_anywhere(void **state)
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

/* The time that it takes to read up to there is not waited for. */
static void demo_source_with_a_rate_goes_on_at_once_where_it_is_sent(void **state)
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
    assert_int_equal(tide_source_go_to(source, place_in(bytes, FAR), NULL), TIDE_OK);
    ptrdiff_t got = tide_source_poll(source, piece, sizeof piece, 30000, NULL);
    assert_true(got > 0);
    assert_memory_equal(piece, bytes + FAR, got);
    tide_source_close(source);
}

static void signal_interrupts_a_demo_that_waits(void **state)
{
    (void)state;
    struct sigaction old, action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, &old);
    tide_source *source = opened("demo:rate=1");
    struct itimerval often = {{.tv_usec = 30000}, {.tv_usec = 30000}}, never = {0};
    setitimer(ITIMER_REAL, &often, NULL);
    char bytes[1000];
    ptrdiff_t got = 1;
    while (got > 0) { /* a line may have become due, if the machine is busy */
        errno = 0;
        got = tide_source_read(source, bytes, sizeof bytes, NULL);
    }
    assert_int_equal(got, TIDE_ERROR_IO);
    assert_int_equal(errno, EINTR);
    setitimer(ITIMER_REAL, &never, NULL);
    tide_source_close(source);
    sigaction(SIGALRM, &old, NULL);
}

static void unknown_or_wrong_settings_of_the_demo_are_refused(void **state)
{
    (void)state;
    assert_refused(
        "demo:speed=3", TIDE_ERROR_PARAMETER,
        "demo: unknown setting speed (there are seed, tokens, hashtags, events, "
        "pace and rate)");
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
    assert_refused(spec, TIDE_ERROR_PARAMETER, "demo: too many settings");
}

static void opening_survives_the_loss_of_any_allocation(void **state)
{
    (void)state;
    const char *const specs[] = {in_folder("file"), "-", "demo:"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        tide_source *source = NULL;
        for (int allowed = 0; !source; allowed++) {
            tide_error err = {0};
            allocations_left = allowed;
            source = tide_source_open(specs[i], &err);
            assert_int_equal(err.status, source ? TIDE_OK : TIDE_ERROR_MEMORY);
            assert_true(allowed < 5);
        }
        allocations_left = -1;
        tide_source_close(source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_is_read_to_its_end),
        cmocka_unit_test(file_can_be_read_again_from_anywhere),
        cmocka_unit_test(file_that_is_too_short_for_a_position_is_refused),
        cmocka_unit_test(
            file_with_other_text_before_a_place_is_refused_and_reading_stays),
        cmocka_unit_test(what_is_no_place_is_refused),
        cmocka_unit_test(what_cannot_be_read_is_refused_with_its_name),
        cmocka_unit_test(named_pipe_is_read_until_its_writers_are_gone),
        cmocka_unit_test(dash_and_dev_stdin_are_standard_input),
        cmocka_unit_test(standard_input_is_taken_as_it_comes_even_from_a_file),
        cmocka_unit_test(standard_input_that_is_closed_is_refused),
        cmocka_unit_test(signal_interrupts_a_read_that_waits),
        cmocka_unit_test(pipe_without_bytes_is_waited_for_as_long_as_wanted),
        cmocka_unit_test(pipe_that_does_not_block_is_waited_for_too),
        cmocka_unit_test(signal_makes_a_poll_come_back_early),
        cmocka_unit_test(demo_source_is_the_demo_stream_of_its_seed),
        cmocka_unit_test(demo_source_ends_with_the_line_that_completes_its_tokens),
        cmocka_unit_test(demo_source_can_be_read_again_from_anywhere),
        cmocka_unit_test(demo_source_finds_what_lies_around_a_place_it_remembers),
        cmocka_unit_test(demo_source_that_ends_earlier_refuses_a_position_and_stays),
        cmocka_unit_test(demo_source_with_a_rate_gives_what_is_due_and_no_more),
        cmocka_unit_test(who_comes_late_to_a_demo_with_a_rate_has_missed_something),
        cmocka_unit_test(demo_source_with_a_rate_can_be_read_again_from_anywhere),
        cmocka_unit_test(demo_source_with_a_rate_goes_on_at_once_where_it_is_sent),
        cmocka_unit_test(signal_interrupts_a_demo_that_waits),
        cmocka_unit_test(unknown_or_wrong_settings_of_the_demo_are_refused),
        cmocka_unit_test(opening_survives_the_loss_of_any_allocation),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
