/* test_follow.c - a file that grows and is rotated is read line by line, and can be
 * resumed from its positions. */
#include "detect/detect.h"
#include "source/source.h"
#include "follow_fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "clock_fixture.h"
#include "memory_fixture.h"

/* What happens to the directory when it was just listed to its end; once. */
static void (*after_scan)(void);

/* rotation.c calls this one instead of the system's. */
struct dirent *readdir(DIR *dir)
{
    static struct dirent *(*system_readdir)(DIR *);
    if (!system_readdir) {
        void *found = dlsym(RTLD_NEXT, "readdir");
        memcpy(&system_readdir, &found, sizeof found);
    }
    struct dirent *entry = system_readdir(dir);
    void (*happens)(void) = after_scan;
    if (!entry && happens) {
        after_scan = NULL;
        happens();
    }
    return entry;
}

/* -- growing ----------------------------------------------------------------------- */

static void matches_paths_only_when_asked_to_follow(void **state)
{
    (void)state;
    const tide_source_options plain = {0};
    assert_true(kind->matches("log", &following));
    assert_false(kind->matches("log", &plain));
    assert_false(kind->matches("-", &following));
    assert_false(kind->matches("demo:seed=1", &following));
    assert_false(kind->matches("kafka://b/t", &following));
}

static void a_line_is_returned_when_it_is_complete(void **state)
{
    (void)state;
    append("log", "one\ntw");
    reader r = new_reader();
    assert_read(&r, "one\n");
    append("log", "o");
    assert_read(&r, "one\n");
    append("log", "\n");
    assert_read(&r, "one\ntwo\n");
    free_reader(&r);
}

static void a_line_longer_than_the_buffer_is_returned_in_parts(void **state)
{
    (void)state;
    append("log", "abcdefgh");
    reader r = new_reader();
    read_all(&r, 3);
    assert_int_equal(r.size, 6);
    append("log", "\n");
    read_all(&r, 3);
    assert_read(&r, "abcdefgh\n");
    free_reader(&r);
}

static void a_missing_file_is_waited_for(void **state)
{
    (void)state;
    reader r = new_reader();
    read_all(&r, 10);
    save_position(&r);
    assert_int_equal(r.size, 0);
    append("log", "one\n");
    assert_read(&r, "one\n");
    go_back(&r);
    assert_read(&r, "one\n");
    free_reader(&r);
}

/* The first file was rotated before it could be seen under its own name. */
static void a_first_file_that_is_rotated_at_once_is_read(void **state)
{
    (void)state;
    append("log-20200101", "older\n");
    struct timespec past[2] = {{.tv_sec = 1577836800}, {.tv_sec = 1577836800}};
    utimensat(AT_FDCWD, in_folder("log-20200101"), past, 0);
    reader r = new_reader();
    append("log", "one\n");
    rename_to("log", "log.1");
    append("log", "two\n");
    assert_read(&r, "one\ntwo\n");
    free_reader(&r);
}

/* The wait is longer than any machine is slow, and shorter than the test may take. */
static void a_wait_ends_when_something_is_written(void **state)
{
    (void)state;
    append("log", "one\n");
    reader r = new_reader();
    read_all(&r, 100);
    pid_t child = fork();
    if (child == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
        append("log", "two\n");
        _exit(0);
    }
    double start = seconds();
    assert_true(read_some(&r, 100, 60000));
    assert_true(seconds() - start < 30);
    waitpid(child, NULL, 0);
    assert_read(&r, "one\ntwo\n");
    start = seconds();
    assert_false(read_some(&r, 100, 30));
    assert_true(seconds() - start >= 0.029);
    free_reader(&r);
}

static void sources_that_cannot_be_followed_are_refused(void **state)
{
    (void)state;
    tide_error err = {0};
    assert_null(kind->open("", &following, &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    assert_null(kind->open("/dev/null", &following, &err));
    assert_int_equal(err.status, TIDE_ERROR_IO);
    assert_string_equal(err.text, "cannot follow /dev/null: Not a regular file");
    assert_null(kind->open("/tmp", &following, &err));
    assert_string_equal(err.text, "cannot follow /tmp: Is a directory");
    allocations_left = 0;
    assert_null(kind->open("log", &following, &err));
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    allocations_left = -1;
}

/* Whoever writes a line must not be able to stop the run that reads it. */
static void text_that_looks_like_something_else_is_read_with_a_warning(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"\x1f\x8b\x08zz\nzz\n", "looks like gzip data"},
        {"\x28\xb5\x2f\xfdzz\n", "looks like zstd data"},
        {"BZh91AY&SY\1\n", "looks like data compressed with bzip2"},
        {"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", "looks like JSON"},
        {"PAR1S is where I live\n", NULL},
        {"\xff\xfeh and more\n", NULL},
        {"{\"a\":1}\n", NULL},
    };
    for (size_t i = 0; i < 2 * sizeof table / sizeof *table; i++) {
        const char *text = table[i / 2][0], *wanted = table[i / 2][1];
        append("log",
               i % 2 ? "text that is cut short ........................\n" : text);
        tide_error err;
        const tide_source_options options = {.follow = true,
                                             .expected = TIDE_EXPECTED_LINES};
        reader r = {.state = kind->open(in_folder("log"), &options, &err),
                    .text = malloc(TEXT_MAX)};
        assert_non_null(r.state);
        if (i % 2) {
            read_all(&r, 100);
            r.size = 0;
            assert_int_equal(truncate(in_folder("log"), 0), 0);
            append("log", text);
        }
        assert_read(&r, text);
        const char *notice = kind->notice(r.state);
        if (wanted)
            assert_non_null(notice && strstr(notice, wanted) ? notice : NULL);
        else
            assert_true(!notice || !strstr(notice, "looks like"));
        free_reader(&r);
        unlink(in_folder("log"));
    }
}

static void non_text_by_name_and_content_is_refused(void **state)
{
    (void)state;
    static const char *const table[][3] = {
        {"log.gz", "\x1f\x8b\x08zz\n", "has gzip data, which cannot be followed"},
        {"log.bz2", "BZh91AY&SY\1\n", "is data compressed with bzip2"},
        {"log.vec", "2 3\na 1 2 3\nb 4 5 6\n", "wordtide import"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        append(table[i][0], table[i][1]);
        const tide_source_options options = {.follow = true,
                                             .expected = TIDE_EXPECTED_LINES};
        tide_error err = {0};
        assert_null(kind->open(in_folder(table[i][0]), &options, &err));
        assert_int_equal(err.status, TIDE_ERROR_FORMAT);
        assert_non_null(strstr(err.text, table[i][2]));
        unlink(in_folder(table[i][0]));
        append(table[i][0], "some text\n");
        void *text = kind->open(in_folder(table[i][0]), &options, &err);
        assert_non_null(text);
        kind->close(text);
        unlink(in_folder(table[i][0]));
    }
}

static void a_line_that_only_starts_like_an_archive_is_text(void **state)
{
    (void)state;
    append("log", "BZh");
    reader r = new_reader();
    assert_read(&r, "");
    append("log", "ang went home\nPK");
    assert_read(&r, "BZhang went home\n");
    append("log", "\3\4\n");
    assert_read(&r, "BZhang went home\nPK\3\4\n");
    free_reader(&r);
}

/* -- rotation ---------------------------------------------------------------------- */

static void the_old_file_is_read_until_the_new_one_has_text(void **state)
{
    (void)state;
    append("log", "one\n");
    reader r = new_reader();
    assert_read(&r, "one\n");
    rename_to("log", "log.1");
    append("log.1", "two\n");
    assert_read(&r, "one\ntwo\n");
    append("log", "");
    append("log.1", "three\n");
    assert_read(&r, "one\ntwo\nthree\n");
    assert_null(kind->notice(r.state));
    append("log.1", "four\n");
    append("log", "five\n");
    assert_read(&r, "one\ntwo\nthree\nfour\nfive\n");
    assert_notice(&r, "was rotated");
    free_reader(&r);
}

/* The line feed that we make is not made again by the next reader. */
static void the_last_line_of_a_rotated_file_gets_a_line_feed(void **state)
{
    (void)state;
    append("log", "one\ntw");
    reader r = new_reader();
    read_all(&r, 100);
    save_position(&r);
    rename_to("log", "log.1");
    append("log", "three\n");
    for (size_t capacity = 1; capacity < 12; capacity++) {
        go_back(&r);
        read_all(&r, capacity);
        assert_read(&r, "one\ntw\nthree\n");
    }
    free_reader(&r);
}

/* A reader may stop before or behind it. */
static void the_line_feed_of_a_rotation_has_a_place_on_both_sides(void **state)
{
    (void)state;
    static const struct {
        size_t size, rest;
    } table[] = {{6, 0}, {6, 1}, {7, 0}, {7, 1}};
    append("log.1", "one\ntw");
    append("log", "three\n");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        rename_to("log", "log.new");
        rename_to("log.1", "log");
        reader r = new_reader();
        rename_to("log", "log.1");
        rename_to("log.new", "log");
        while (r.size < table[i].size)
            assert_true(read_some(&r, 100, 0));
        assert_int_equal(r.size, table[i].size);
        save_place_before(&r, table[i].rest);
        go_back(&r);
        assert_read(&r, "one\ntw\nthree\n");
        free_reader(&r);
    }
}

static void files_of_several_rotations_are_read_in_their_order(void **state)
{
    (void)state;
    append("log", "one\n");
    reader r = new_reader();
    read_all(&r, 100);
    save_position(&r);
    append("log", "two\n");
    rename_to("log", "log.1");
    append("log", "three\n");
    rename_to("log.1", "log.2");
    rename_to("log", "log.1");
    append("log", "four\n");
    append("log.2.gz", "no text");
    append("log.bak", "no part of it\n");
    append("logbook", "nor this\n");
    assert_read(&r, "one\ntwo\nthree\nfour\n");
    go_back(&r);
    assert_read(&r, "one\ntwo\nthree\nfour\n");
    free_reader(&r);
}

/* Within one tick of the clock, so that names alone tell which file is the older. */
static void append_in_one_tick(const char *name, const char *text)
{
    static const struct timespec times[2] = {{.tv_sec = 2000000000},
                                             {.tv_sec = 2000000000}};
    append(name, text);
    assert_int_equal(utimensat(AT_FDCWD, in_folder(name), times, 0), 0);
}

static void rotate_again(void)
{
    rename_to("log.1", "log.2");
    rename_to("log", "log.1");
    append_in_one_tick("log", "three\n");
}

/* A reader that combines listings of two moments would mistake the current file for
 * log.1, and skip the file that has that name now. */
static void a_rotation_while_the_directory_is_listed_loses_nothing(void **state)
{
    (void)state;
    append_in_one_tick("log", "one\n");
    reader r = new_reader();
    assert_read(&r, "one\n");
    rename_to("log", "log.1");
    append_in_one_tick("log", "two\n");
    after_scan = rotate_again;
    read_all(&r, 100);
    assert_null(after_scan);
    assert_read(&r, "one\ntwo\nthree\n");
    free_reader(&r);
}

static void a_file_compressed_before_it_was_read_is_reported(void **state)
{
    (void)state;
    append("log", "one\n");
    reader r = new_reader();
    read_all(&r, 100);
    rename_to("log", "log.2");
    append("log.1.gz", "packed");
    struct timespec later[2] = {{.tv_sec = time(NULL) + 5}, {.tv_sec = time(NULL) + 5}};
    utimensat(AT_FDCWD, in_folder("log.1.gz"), later, 0);
    append("log", "three\n");
    assert_read(&r, "one\nthree\n");
    assert_notice(&r, "log.1.gz was compressed");
    free_reader(&r);
}

static void a_deleted_file_is_waited_for(void **state)
{
    (void)state;
    append("log", "one\n");
    reader r = new_reader();
    read_all(&r, 100);
    unlink(in_folder("log"));
    read_all(&r, 100);
    assert_notice(&r, "was deleted");
    read_all(&r, 100);
    assert_null(kind->notice(r.state));
    append("log", "two\n");
    assert_read(&r, "one\ntwo\n");
    free_reader(&r);
}

static void a_truncated_file_is_read_from_its_start(void **state)
{
    (void)state;
    append("log", "one\ntwo\nlong");
    reader r = new_reader();
    while (r.size < 10)
        read_some(&r, 1, 0);
    assert_int_equal(truncate(in_folder("log"), 0), 0);
    append("log", "new\n");
    assert_read(&r, "one\ntwo\nlo\nnew\n");
    assert_notice(&r, "was truncated");
    free_reader(&r);
}

/* -- positions --------------------------------------------------------------------- */

/* As with copytruncate, or when the folder was copied to another disk. */
static void a_copy_is_recognized_by_its_text(void **state)
{
    (void)state;
    append("log", "one\ntwo\n");
    reader r = new_reader();
    assert_true(read_some(&r, 6, 0));
    save_position(&r);
    append("log.1", "one\ntwo\n");
    assert_int_equal(truncate(in_folder("log"), 0), 0);
    append("log", "new\n");
    go_back(&r);
    assert_read(&r, "one\ntwo\nnew\n");
    free_reader(&r);
}

static void a_place_that_does_not_exist_is_refused_and_reading_starts(void **state)
{
    (void)state;
    append("log", "one\ntwo\n");
    reader r = new_reader();
    read_all(&r, 100);
    save_position(&r);
    assert_int_equal(truncate(in_folder("log"), 0), 0);
    append("log", "six\nten\n");
    kind->close(r.state);
    open_reader(&r);
    tide_error err = {0};
    static const char *const wrong[] = {"",        "1:2",     "1:2 3 ",
                                        "1:2 3 x", "a:2 3 4", "1:2 3 4 5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(kind->seek_position(r.state, wrong[i], &err),
                         TIDE_ERROR_FORMAT);
    assert_int_equal(kind->seek_position(r.state, r.position, &err), TIDE_ERROR_FORMAT);
    assert_non_null(strstr(err.text, "has the text that was read before"));
    r.size = 0;
    assert_read(&r, "six\nten\n");
    free_reader(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(matches_paths_only_when_asked_to_follow),
        IN_FOLDER(a_line_is_returned_when_it_is_complete),
        IN_FOLDER(a_line_longer_than_the_buffer_is_returned_in_parts),
        IN_FOLDER(a_missing_file_is_waited_for),
        IN_FOLDER(a_first_file_that_is_rotated_at_once_is_read),
        IN_FOLDER(a_wait_ends_when_something_is_written),
        IN_FOLDER(sources_that_cannot_be_followed_are_refused),
        IN_FOLDER(text_that_looks_like_something_else_is_read_with_a_warning),
        IN_FOLDER(non_text_by_name_and_content_is_refused),
        IN_FOLDER(a_line_that_only_starts_like_an_archive_is_text),
        IN_FOLDER(the_old_file_is_read_until_the_new_one_has_text),
        IN_FOLDER(the_last_line_of_a_rotated_file_gets_a_line_feed),
        IN_FOLDER(the_line_feed_of_a_rotation_has_a_place_on_both_sides),
        IN_FOLDER(files_of_several_rotations_are_read_in_their_order),
        IN_FOLDER(a_rotation_while_the_directory_is_listed_loses_nothing),
        IN_FOLDER(a_file_compressed_before_it_was_read_is_reported),
        IN_FOLDER(a_deleted_file_is_waited_for),
        IN_FOLDER(a_truncated_file_is_read_from_its_start),
        IN_FOLDER(a_copy_is_recognized_by_its_text),
        IN_FOLDER(a_place_that_does_not_exist_is_refused_and_reading_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
