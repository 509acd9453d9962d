/* test_source.c - bytes come from files and pipes, and what can be read again is. */
#include "base/base.h"
#include "source/source.h"
#include "source_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "memory_fixture.h"

enum { FILE_SIZE = 100000 };

static unsigned char content[FILE_SIZE];

/* A folder with a file of all kinds of bytes. */
static int enter_folder_with_file(void **state)
{
    if (enter_folder(state))
        return -1;
    tide_rng rng = tide_rng_seeded(1);
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (unsigned char)tide_rng_next(&rng);
    FILE *file = fopen("file", "wb");
    size_t written = file ? fwrite(content, 1, sizeof content, file) : 0;
    return file && fclose(file) == 0 && written == sizeof content ? 0 : -1;
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
    tide_source *source = opened("file");
    assert_int_equal(read_all(source, bytes, sizeof bytes, &rng), FILE_SIZE);
    assert_memory_equal(bytes, content, FILE_SIZE);
    assert_int_equal(tide_source_offset(source), FILE_SIZE);
    assert_int_equal(tide_source_read(source, bytes, 1, NULL), 0);
    tide_source_close(source);
    tide_source_close(NULL);
}

static void file_can_be_resumed_from_any_offset(void **state)
{
    (void)state;
    tide_source *source = opened("file");
    assert_true(tide_source_can_resume(source));
    check_replay(source, content, FILE_SIZE);
    tide_source_close(source);
}

static void file_that_is_too_short_for_a_position_is_refused(void **state)
{
    (void)state;
    tide_source *source = opened("file");
    static const uint64_t beyond[] = {FILE_SIZE + 1, FILE_SIZE + 9999, INT64_MAX,
                                      UINT64_MAX};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_not_there(source, beyond[i], TIDE_ERROR_FORMAT);
        assert_no_position(source, beyond[i], TIDE_ERROR_FORMAT);
    }
    tide_error err = {0};
    tide_source_seek(source, "123456789 0", &err);
    assert_string_equal(err.text, "shorter than before, so it is read from the start");
    assert_int_equal(tide_source_offset(source), 0);
    const char *end = position_in(content, FILE_SIZE);
    assert_int_equal(tide_source_seek(source, end, NULL), TIDE_OK);
    assert_position(source, content, FILE_SIZE);
    tide_source_close(source);
}

static void
file_with_other_text_before_a_place_is_refused_and_reading_stays(void **state)
{
    (void)state;
    unsigned char bytes[100];
    tide_error err = {0};
    tide_source *source = opened("file");
    assert_int_equal(tide_source_read(source, bytes, 50, NULL), 50);
    char wrong[POSITION_SIZE];
    snprintf(wrong, sizeof wrong, "%s", position_in(content, 5000));
    char *last = wrong + strlen(wrong) - 1;
    *last = *last == '0' ? '1' : '0';
    assert_int_equal(tide_source_seek(source, wrong, &err), TIDE_ERROR_FORMAT);
    assert_non_null(strstr(err.text, "the text before byte 5000 has changed"));
    assert_int_equal(tide_source_offset(source), 50);
    assert_int_equal(tide_source_read(source, bytes, 100, NULL), 100);
    assert_memory_equal(bytes, content + 50, 100);
    tide_source_close(source);
}

static void invalid_positions_are_refused(void **state)
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
    tide_source *source = opened("file");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tide_error err = {0};
        assert_int_equal(tide_source_seek(source, wrong[i], &err), TIDE_ERROR_FORMAT);
        assert_non_null(
            strstr(err.text, "is not a valid position, so it is read from"));
    }
    tide_source_close(source);
}

static void unreadable_files_are_refused_by_name(void **state)
{
    (void)state;
    assert_refused("/no/such/file", TIDE_ERROR_IO,
                   "cannot read /no/such/file: No such file or directory");
    assert_refused("/", TIDE_ERROR_IO, "cannot read /: Is a directory");
    assert_refused("", TIDE_ERROR_PARAMETER, "the name of a source is empty");
}

/* -- pipes ------------------------------------------------------------------------- */

static void named_pipe_is_read_until_its_writers_are_gone(void **state)
{
    (void)state;
    const char *path = "pipe";
    char bytes[100];
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

static void standard_input_cannot_be_resumed_even_if_it_is_a_file(void **state)
{
    (void)state;
    int saved = dup(STDIN_FILENO), file = open("file", O_RDONLY);
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

static void closed_standard_input_is_refused(void **state)
{
    (void)state;
    int saved = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    assert_refused("-", TIDE_ERROR_IO,
                   "cannot read standard input: Bad file descriptor");
    restore_stdin(saved);
}

/* The caller checks its stop flag and continues to read if it is not set. */
static void signal_interrupts_a_waiting_read(void **state)
{
    (void)state;
    int saved, writer = replace_stdin(&saved);
    struct sigaction old;
    tide_source *source = opened("-");
    char bytes[10];
    tide_error err = {0};
    errno = 0;
    begin_signals(&old);
    assert_int_equal(tide_source_read(source, bytes, sizeof bytes, &err),
                     TIDE_ERROR_IO);
    assert_int_equal(errno, EINTR);
    end_signals(&old);
    assert_int_equal(tide_source_offset(source), 0);
    assert_int_equal(write(writer, "more", 4), 4);
    assert_int_equal(tide_source_read(source, bytes, sizeof bytes, &err), 4);
    tide_source_close(source);
    close(writer);
    restore_stdin(saved);
}

static void empty_pipe_is_waited_for_up_to_the_timeout(void **state)
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
        double waited =
            seconds() -
            start; /* the upper bound detects a confusion of seconds and ms */
        assert_true(waited >= 1e-3 * waits_ms[i] - 1e-3 && waited < 30);
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

static void non_blocking_pipe_is_waited_for_too(void **state)
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

static void signal_ends_a_poll_early(void **state)
{
    (void)state;
    int saved, writer = replace_stdin(&saved);
    struct sigaction old;
    tide_source *source = opened("-");
    char bytes[10];
    double start = seconds();
    begin_signals(&old);
    assert_int_equal(tide_source_poll(source, bytes, sizeof bytes, 60000, NULL),
                     TIDE_SOURCE_LATER);
    assert_true(seconds() - start < 30);
    end_signals(&old);
    tide_source_close(source);
    close(writer);
    restore_stdin(saved);
}

static void opening_survives_the_loss_of_any_allocation(void **state)
{
    (void)state;
    const char *const specs[] = {"file", "-", "demo:"};
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
        cmocka_unit_test(file_can_be_resumed_from_any_offset),
        cmocka_unit_test(file_that_is_too_short_for_a_position_is_refused),
        cmocka_unit_test(
            file_with_other_text_before_a_place_is_refused_and_reading_stays),
        cmocka_unit_test(invalid_positions_are_refused),
        cmocka_unit_test(unreadable_files_are_refused_by_name),
        cmocka_unit_test(named_pipe_is_read_until_its_writers_are_gone),
        cmocka_unit_test(dash_and_dev_stdin_are_standard_input),
        cmocka_unit_test(standard_input_cannot_be_resumed_even_if_it_is_a_file),
        cmocka_unit_test(closed_standard_input_is_refused),
        cmocka_unit_test(signal_interrupts_a_waiting_read),
        cmocka_unit_test(empty_pipe_is_waited_for_up_to_the_timeout),
        cmocka_unit_test(non_blocking_pipe_is_waited_for_too),
        cmocka_unit_test(signal_ends_a_poll_early),
        cmocka_unit_test(opening_survives_the_loss_of_any_allocation),
    };
    return cmocka_run_group_tests(tests, enter_folder_with_file, leave_folder);
}
