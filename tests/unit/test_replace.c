/* test_replace.c - a file is replaced atomically. */
#include "base/base.h"
#include "file/file.h"
#include "store_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* -- a system that misbehaves ------------------------------------------------------ */

static const char *stuck;   /* a name that cannot be replaced */
static bool nothing_is_out; /* writes say that they have written nothing */
static mode_t widest_mode;  /* of files before they were renamed */

/* The library calls these instead of the system's. */
int renameat(int from, const char *old, int to, const char *new)
{
    if (stuck && strcmp(new, stuck) == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    return nothing_is_out ? 0 : syscall(SYS_write, file, bytes, size);
}

int fchmod(int file, mode_t mode)
{
    struct stat before;
    if (fstat(file, &before) == 0)
        widest_mode |= before.st_mode & 07777;
    return (int)syscall(SYS_fchmod, file, mode);
}

/* -- tests ------------------------------------------------------------------------- */

static void abandoned_file_leaves_no_trace(void **state)
{
    (void)state;
    write_small("m.tide");
    tide_store_writer *w = tide_store_create("m.tide", NULL);
    tide_store_put(w, "params", "x", 1);
    assert_int_equal(entries("."), 2);
    expect_small("m.tide");
    tide_store_discard(w);
    tide_store_discard(NULL);
    expect_small("m.tide");
    assert_int_equal(entries("."), 1);
}

static void a_file_that_is_begun_needs_no_more_descriptors(void **state)
{
    (void)state;
    struct rlimit before, none;
    tide_error err = {0};
    tide_store_writer *w = tide_store_create("m.tide", &err);
    assert_non_null(w);
    int next = dup(0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){(rlim_t)next, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    tide_store_put(w, "params", "x", 1);
    int status = tide_store_commit(w, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (status)
        fail_msg("%s", err.text);
    assert_int_equal(entries("."), 1);
}

static void full_disk_leaves_the_old_file_and_no_other(void **state)
{
    (void)state;
    static const unsigned char block[1 << 16];
    tide_error err;
    struct rlimit unlimited, limit;
    write_small("m.tide");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    signal(SIGXFSZ, SIG_IGN);
    /* In the header, in a section, in the middle of a large one, in the end record. */
    static const rlim_t limits[] = {
        0, 100, 2688, 2700, 1 << 20, 3000000, 64 * 65536 + 2700};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        limit = (struct rlimit){limits[i], unlimited.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        tide_store_writer *w = tide_store_create("m.tide", &err);
        tide_store_begin(w, "rows");
        for (int n = 0; n < 64; n++)
            tide_store_append(w, block, sizeof block);
        int status = tide_store_commit(w, &err);
        setrlimit(RLIMIT_FSIZE, &unlimited);
        assert_int_equal(status, TIDE_ERROR_IO);
        assert_string_equal(err.text, "cannot write m.tide: File too large");
        expect_small("m.tide");
        assert_int_equal(entries("."), 1);
    }
    signal(SIGXFSZ, SIG_DFL);
}

static void write_of_zero_bytes_fails_instead_of_looping(void **state)
{
    (void)state;
    tide_error err;
    spit("words.txt", "old", 3);
    tide_output *out = tide_output_create("words.txt", NULL);
    assert_non_null(out);
    tide_output_put(out, "new", 3);
    nothing_is_out = true;
    int status = tide_output_commit(out, &err);
    nothing_is_out = false;
    assert_int_equal(status, TIDE_ERROR_IO);
    assert_string_equal(err.text, "cannot write words.txt: No space left on device");
    assert_int_equal(entries("."), 1);
}

/* -- generations ------------------------------------------------------------------- */

enum { OLDER = 3 };

static int publish_number(uint64_t number)
{
    tide_store_writer *w = tide_store_create("m.tide", NULL);
    tide_store_put(w, "number", &number, sizeof number);
    tide_store_finish(w);
    return tide_store_commit_keeping(w, OLDER, NULL);
}

static void name_generation(char name[32], int age)
{
    snprintf(name, 32, age ? "m.tide.%d" : "m.tide", age);
}

static void expect_generations(uint64_t newest)
{
    for (int age = 0; age <= OLDER; age++) {
        char name[32];
        name_generation(name, age);
        expect_number(name, newest - (uint64_t)age);
    }
    assert_int_equal(entries("."), 1 + OLDER);
}

static void failed_rename_loses_no_older_version(void **state)
{
    (void)state;
    for (uint64_t number = 1; number <= 4; number++)
        assert_int_equal(publish_number(number), TIDE_OK);
    expect_generations(4);
    stuck = "m.tide";
    for (int times = 0; times < 5; times++)
        assert_int_equal(publish_number(5), TIDE_ERROR_IO);
    stuck = NULL;
    expect_number("m.tide", 4);
    expect_number("m.tide.1", 4);
    expect_number("m.tide.2", 3);
    expect_number("m.tide.3", 2);
    assert_int_equal(publish_number(5), TIDE_OK);
    expect_generations(5);
}

/* The names are as a kill leaves them after that many were shifted. */
static void kill_while_shifting_loses_no_older_version(void **state)
{
    (void)state;
    for (uint64_t number = 1; number <= 4; number++)
        assert_int_equal(publish_number(number), TIDE_OK);
    for (int moved = 0; moved <= OLDER; moved++) {
        for (int age = OLDER; age > OLDER - moved; age--) {
            char from[32], to[32];
            name_generation(from, age - 1);
            name_generation(to, age);
            assert_int_equal(unlink(to) | link(from, to), 0);
        }
        assert_int_equal(publish_number((uint64_t)moved + 5), TIDE_OK);
        expect_generations((uint64_t)moved + 5);
    }
}

/* -- permissions ------------------------------------------------------------------- */

/* Runs `check` without the rights of root, which no permission stops. */
static void as_nobody(void (*check)(void))
{
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
            _exit(9);
        check();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition))                                                              \
            _exit(__LINE__ % 200 + 1);                                                 \
    } while (0)

static void check_permissions(void)
{
    tide_error err;
    CHECK(tide_store_create("closed/m.tide", &err) == NULL);
    CHECK(err.status == TIDE_ERROR_IO);
    CHECK(!strcmp(err.text, "cannot write closed/m.tide: Permission denied"));
    CHECK(tide_path_writable("closed/m.tide", &err) == TIDE_ERROR_IO);
    CHECK(tide_path_writable("open/kept.tide", &err) == TIDE_ERROR_IO);
    CHECK(!strcmp(err.text, "cannot write open/kept.tide: Permission denied"));
    CHECK(tide_path_writable("open/new.tide", &err) == TIDE_OK);
    CHECK(tide_store_open("open/secret.tide", &err) == NULL);
    CHECK(err.status == TIDE_ERROR_IO);
}

static void missing_permission_is_reported_and_a_read_only_file_kept(void **state)
{
    (void)state;
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(mkdir("closed", 0755) | mkdir("open", 0777), 0);
    assert_int_equal(chmod("open", 0777), 0);
    write_small("open/kept.tide");
    write_small("open/secret.tide");
    assert_int_equal(chmod("open/kept.tide", 0444) | chmod("open/secret.tide", 0), 0);
    assert_int_equal(chmod("closed", 0555), 0);
    as_nobody(check_permissions);
    assert_int_equal(entries("open"), 2);
    assert_int_equal(entries("closed"), 0);
}

static void paths_that_cannot_be_files_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "cannot write : not a valid file name"},
        {".", "cannot write .: Is a directory"},
        {"sub", "cannot write sub: Is a directory"},
        {"sub/", "cannot write sub/: Is a directory"},
        {"none/", "cannot write none/: not a valid file name"},
        {"none/m.tide", "cannot write none/m.tide: No such file or directory"},
        {"file/m.tide", "cannot write file/m.tide: Not a directory"},
        {"pipe", "cannot write pipe: not a regular file"},
        {"dangling", "cannot write dangling: dangling symbolic link"},
        {"loop", "cannot write loop: Too many levels of symbolic links"},
        {"/dev/null", "cannot write /dev/null: not a regular file"},
        {"/dev/stdout", "cannot write /dev/stdout: an open file cannot be replaced"},
        {"/dev/fd/1", "cannot write /dev/fd/1: an open file cannot be replaced"},
    };
    assert_int_equal(mkdir("sub", 0777) | mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("nowhere", "dangling") | symlink("loop", "loop"), 0);
    spit("file", "", 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tide_error err;
        assert_int_equal(tide_path_writable(cases[i][0], &err), TIDE_ERROR_IO);
        assert_string_equal(err.text, cases[i][1]);
        assert_null(tide_store_create(cases[i][0], &err));
        assert_string_equal(err.text, cases[i][1]);
        assert_null(tide_store_create(cases[i][0], NULL));
    }
    assert_int_equal(entries("."), 5);
    assert_int_equal(entries("sub"), 0);
}

static void names_as_long_as_the_system_allows_work_and_longer_ones_do_not(void **state)
{
    (void)state;
    char name[NAME_MAX + 2];
    tide_error err;
    memset(name, 'n', sizeof name);
    name[NAME_MAX + 1] = '\0';
    assert_int_equal(tide_path_writable(name, &err), TIDE_ERROR_IO);
    assert_contains(err.text, ": File name too long");
    name[NAME_MAX] = '\0';
    write_small(name);
    expect_small(name);
    static char path[PATH_MAX + 100];
    memset(path, '/', sizeof path - 1);
    assert_int_equal(tide_path_writable(path, &err), TIDE_ERROR_IO);
    assert_contains(err.text, ": File name too long");
    assert_int_equal(entries("."), 1);
}

static void link_stays_and_what_it_points_to_is_replaced(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(mkdir("sub", 0777), 0);
    spit("sub/real.tide", "", 0);
    assert_int_equal(symlink("sub/real.tide", "link.tide"), 0);
    assert_int_equal(tide_path_writable("link.tide", NULL), TIDE_OK);
    write_small("link.tide");
    assert_int_equal(lstat("link.tide", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    expect_small("sub/real.tide");
    assert_int_equal(entries("."), 2);
    assert_int_equal(entries("sub"), 1);
}

/* What a store may not replace, and what it may: in turn a text, a file that only begins
 * with zeros, nothing, zeros, and a store without its end or its beginning. */
static void only_stores_and_files_without_content_are_replaced(void **state)
{
    (void)state;
    static const struct {
        char bytes[5];
        size_t zeros; /* before them */
        bool replaceable;
    } cases[] = {
        {"text", 0, false}, {"x", 9000, false}, {"", 0, true}, {"", 9000, true}};
    static unsigned char bytes[ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tide_error err = {0};
        size_t length = strlen(cases[i].bytes), size = cases[i].zeros + length;
        memset(bytes, 0, ROOM);
        memcpy(bytes + cases[i].zeros, cases[i].bytes, length);
        spit("m.tide", bytes, size);
        if (cases[i].replaceable) {
            assert_int_equal(tide_path_replaceable("m.tide", 0, &err), TIDE_OK);
            write_small("m.tide");
            expect_small("m.tide");
            continue;
        }
        assert_int_equal(tide_path_replaceable("m.tide", 0, &err),
                         TIDE_ERROR_PARAMETER);
        assert_string_equal(err.text, "m.tide exists and is not a model; choose "
                                      "another name, or delete it");
        assert_null(tide_store_create("m.tide", &err));
        assert_int_equal(err.status, TIDE_ERROR_IO);
        assert_string_equal(err.text,
                            "cannot write m.tide: it exists and is not a model");
        assert_int_equal(slurp("m.tide", bytes), size);
        assert_int_equal(entries("."), 1);
    }
    size_t size = slurp("m.tide", bytes);
    spit("m.tide", bytes, size / 2);
    write_small("m.tide");
    memset(bytes, 'x', size / 2);
    spit("m.tide", bytes, size);
    assert_int_equal(tide_path_not_model("m.tide", NULL), TIDE_ERROR_PARAMETER);
    write_small("m.tide");
    expect_small("m.tide");
}

static void earlier_versions_replace_no_other_file(void **state)
{
    (void)state;
    tide_error err = {0};
    unsigned char bytes[ROOM];
    spit("m.tide.3", "text", 4);
    assert_int_equal(tide_path_replaceable("m.tide", 3, NULL), TIDE_OK);
    spit("m.tide.2", "text", 4);
    assert_int_equal(tide_path_replaceable("m.tide", 1, NULL), TIDE_OK);
    assert_int_equal(tide_path_replaceable("m.tide", OLDER, &err),
                     TIDE_ERROR_PARAMETER);
    assert_string_equal(err.text, "m.tide.2 exists and is not a model; choose another "
                                  "name, or delete it");
    for (uint64_t number = 1; number <= 4; number++)
        assert_int_equal(publish_number(number), TIDE_OK);
    expect_number("m.tide", 4);
    expect_number("m.tide.1", 3);
    assert_int_equal(slurp("m.tide.2", bytes), 4);
    assert_int_equal(slurp("m.tide.3", bytes), 4);
    assert_int_equal(entries("."), 4);
}

static void absolute_paths_and_a_change_of_directory_work(void **state)
{
    (void)state;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/m.tide", folder);
    write_small(path);
    expect_small(path);
    assert_int_equal(mkdir("sub", 0777), 0);
    tide_store_writer *w = tide_store_create("m.tide", NULL);
    tide_store_put(w, "moved", "", 0);
    assert_int_equal(chdir("sub"), 0);
    assert_int_equal(tide_store_commit(w, NULL), TIDE_OK);
    assert_int_equal(entries("."), 0);
    tide_store *s = tide_store_open(path, NULL);
    assert_true(tide_store_has(s, "moved"));
    tide_store_close(s);
}

static void mode_of_the_old_file_is_kept_and_a_new_one_follows_the_umask(void **state)
{
    (void)state;
    struct stat status;
    mode_t mask = umask(027);
    write_small("m.tide");
    umask(mask);
    assert_int_equal(stat("m.tide", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(chmod("m.tide", 0604), 0);
    write_small("m.tide");
    assert_int_equal(stat("m.tide", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0604);
}

static void temporary_file_is_never_open_to_more_than_the_old_one(void **state)
{
    (void)state;
    write_small("m.tide");
    assert_int_equal(chmod("m.tide", 0600), 0);
    mode_t mask = umask(0);
    widest_mode = 0;
    write_small("m.tide");
    umask(mask);
    assert_int_equal(widest_mode, 0600);
}

static void reader_of_the_old_file_keeps_it(void **state)
{
    (void)state;
    char bytes[16];
    write_small("m.tide");
    tide_store *s = tide_store_open("m.tide", NULL);
    tide_store_writer *w = tide_store_create("m.tide", NULL);
    tide_store_put(w, "params", "another", 7);
    assert_int_equal(tide_store_commit(w, NULL), TIDE_OK);
    assert_int_equal(tide_store_read(s, "params", bytes, 13, NULL), TIDE_OK);
    assert_memory_equal(bytes, text, 13);
    tide_store_close(s);
}

static void two_writers_of_one_path_do_not_interfere_and_the_last_one_wins(void **state)
{
    (void)state;
    tide_store_writer *first = tide_store_create("m.tide", NULL);
    tide_store_writer *second = tide_store_create("m.tide", NULL);
    assert_int_equal(entries("."), 2);
    tide_store_put(first, "first", "1", 1);
    tide_store_put(second, "second", "2", 1);
    assert_int_equal(tide_path_writable("m.tide", NULL), TIDE_OK);
    assert_int_equal(tide_store_commit(second, NULL), TIDE_OK);
    assert_int_equal(tide_store_commit(first, NULL), TIDE_OK);
    tide_store *s = tide_store_open("m.tide", NULL);
    assert_non_null(s);
    assert_true(tide_store_has(s, "first"));
    tide_store_close(s);
    assert_int_equal(entries("."), 1);
}

/* A process that dies while writing leaves its temporary file; the next one removes it,
 * but touches neither files of other names nor files that only look similar. */
static void files_of_a_crashed_writer_are_removed_by_the_next(void **state)
{
    (void)state;
    write_small("m.tide");
    pid_t child = fork();
    if (child == 0) {
        tide_store_writer *w = tide_store_create("m.tide", NULL);
        tide_store_begin(w, "rows");
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    expect_small("m.tide");
    assert_int_equal(entries("."), 2);
    spit(".m.tide.tmp.notes", "", 0);
    spit(".other.tide.tmp.1.0", "", 0);
    assert_int_equal(symlink("m.tide", ".m.tide.tmp.2.0"), 0);
    write_small("m.tide");
    expect_small("m.tide");
    assert_int_equal(entries("."), 4);
}

/* Killed at any moment, a writer leaves a complete file, the old one or the new one. */
static void killed_writer_leaves_a_complete_file(void **state)
{
    (void)state;
    static const unsigned char block[1 << 16];
    tide_rng rng = tide_rng_seeded(8);
    write_small("m.tide");
    for (int round = 0; round < 40; round++) {
        pid_t child = fork();
        if (child == 0)
            for (;;) {
                tide_store_writer *w = tide_store_create("m.tide", NULL);
                for (int n = 0; n < 8; n++) {
                    char name[] = {(char)('a' + n), '\0'};
                    tide_store_put(w, name, block, sizeof block);
                }
                tide_store_commit(w, NULL);
            }
        usleep((useconds_t)tide_rng_below(&rng, 20000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        tide_store *s = tide_store_open("m.tide", NULL);
        assert_non_null(s);
        tide_store_close(s);
        assert_in_range(entries("."), 1, 2);
    }
    assert_int_equal(tide_path_writable("m.tide", NULL), TIDE_OK);
    assert_int_equal(entries("."), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(abandoned_file_leaves_no_trace),
        IN_FOLDER(a_file_that_is_begun_needs_no_more_descriptors),
        IN_FOLDER(full_disk_leaves_the_old_file_and_no_other),
        IN_FOLDER(write_of_zero_bytes_fails_instead_of_looping),
        IN_FOLDER(failed_rename_loses_no_older_version),
        IN_FOLDER(kill_while_shifting_loses_no_older_version),
        IN_FOLDER(missing_permission_is_reported_and_a_read_only_file_kept),
        IN_FOLDER(paths_that_cannot_be_files_are_refused),
        IN_FOLDER(names_as_long_as_the_system_allows_work_and_longer_ones_do_not),
        IN_FOLDER(link_stays_and_what_it_points_to_is_replaced),
        IN_FOLDER(only_stores_and_files_without_content_are_replaced),
        IN_FOLDER(earlier_versions_replace_no_other_file),
        IN_FOLDER(absolute_paths_and_a_change_of_directory_work),
        IN_FOLDER(mode_of_the_old_file_is_kept_and_a_new_one_follows_the_umask),
        IN_FOLDER(temporary_file_is_never_open_to_more_than_the_old_one),
        IN_FOLDER(reader_of_the_old_file_keeps_it),
        IN_FOLDER(two_writers_of_one_path_do_not_interfere_and_the_last_one_wins),
        IN_FOLDER(files_of_a_crashed_writer_are_removed_by_the_next),
        IN_FOLDER(killed_writer_leaves_a_complete_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
