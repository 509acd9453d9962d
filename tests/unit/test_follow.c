/* test_follow.c - a file that grows and is rotated is read line by line, each line once,
 * whatever happens to the file and to its reader. */
#include "text/source.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "memory_fixture.h"

enum { TEXT_MAX = 1 << 20, PATH_SIZE = 512 };

/* -- a folder, and files in it ----------------------------------------------------- */

static char folder[64];

static const char *in_folder(const char *name)
{
    static char paths[4][PATH_SIZE];
    static int turn;
    char *path = paths[turn = (turn + 1) % 4];
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_follow.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            unlink(in_folder(entry->d_name));
    closedir(dir);
    return rmdir(folder);
}

static void append(const char *name, const char *text)
{
    int file = open(in_folder(name), O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static void rename_to(const char *from, const char *to)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", in_folder(from));
    assert_int_equal(rename(path, in_folder(to)), 0);
}

/* What happens to the folder when somebody has just read it to its end; once. */
static void (*after_scan)(void);

/* siblings.c calls this one instead of the system's. */
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

/* -- a reader ---------------------------------------------------------------------- */

typedef struct reader {
    void *state;
    char *text; /* [TEXT_MAX], all that was read */
    size_t size;
    char *place; /* saved last */
    size_t place_size;
} reader;

static const tide_source_kind *const kind = &tide_source_follow;
static const tide_source_options following = {.follow = true};

static void open_reader(reader *r)
{
    tide_error err = {0};
    r->state = kind->open(in_folder("log"), &following, &err);
    if (!r->state)
        fail_msg("%s", err.text);
}

static reader new_reader(void)
{
    reader r = {.text = malloc(TEXT_MAX)};
    open_reader(&r);
    return r;
}

static void free_reader(reader *r)
{
    kind->close(r->state);
    free(r->text);
    free(r->place);
}

/* One read; false when there was nothing. */
static bool read_some(reader *r, size_t room, int wait_ms)
{
    tide_error err = {0};
    assert_true(r->size + room <= TEXT_MAX);
    ptrdiff_t count = kind->read(r->state, r->text + r->size, room, wait_ms, &err);
    if (count == TIDE_SOURCE_LATER)
        return false;
    if (count <= 0)
        fail_msg("%td %s", count, err.text);
    assert_true((size_t)count <= room);
    r->size += (size_t)count;
    assert_int_equal(kind->settled(r->state), r->text[r->size - 1] == '\n');
    return true;
}

static void read_all(reader *r, size_t room)
{
    while (read_some(r, room, 0))
        continue;
}

static void save_place(reader *r)
{
    tide_error err = {0};
    assert_true(kind->settled(r->state));
    free(r->place);
    r->place = kind->place(r->state, 0, &err);
    if (!r->place)
        fail_msg("%s", err.text);
    r->place_size = r->size;
}

/* As after a kill: what was read since the last save is forgotten. */
static void go_back(reader *r)
{
    tide_error err = {0};
    kind->close(r->state);
    open_reader(r);
    if (kind->go_to(r->state, r->place, &err) != TIDE_OK)
        fail_msg("%s: %s", r->place, err.text);
    r->size = r->place_size;
    assert_true(kind->settled(r->state));
}

static void assert_read(reader *r, const char *text)
{
    read_all(r, 100);
    r->text[r->size] = '\0';
    assert_string_equal(r->text, text);
}

static void assert_news(reader *r, const char *part)
{
    const char *news = kind->news(r->state);
    if (!news || !strstr(news, part))
        fail_msg("%s instead of %s", news ? news : "no news", part);
    assert_null(kind->news(r->state));
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

static void a_line_is_given_when_it_is_complete(void **state)
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

static void a_line_longer_than_the_room_comes_in_parts(void **state)
{
    (void)state;
    append("log", "abcdefgh");
    reader r = new_reader();
    assert_true(read_some(&r, 3, 0));
    assert_false(kind->settled(r.state));
    read_all(&r, 3);
    assert_int_equal(r.size, 6);
    append("log", "\n");
    read_all(&r, 3);
    assert_true(kind->settled(r.state));
    assert_read(&r, "abcdefgh\n");
    free_reader(&r);
}

static void a_file_that_is_not_there_yet_is_waited_for(void **state)
{
    (void)state;
    reader r = new_reader();
    read_all(&r, 10);
    save_place(&r);
    assert_int_equal(r.size, 0);
    append("log", "one\n");
    assert_read(&r, "one\n");
    go_back(&r);
    assert_read(&r, "one\n");
    free_reader(&r);
}

/* Nobody had a chance to see the first file under its own name. */
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

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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
    assert_true(read_some(&r, 100, 20000));
    assert_true(seconds() - start < 10);
    waitpid(child, NULL, 0);
    assert_read(&r, "one\ntwo\n");
    start = seconds();
    assert_false(read_some(&r, 100, 30));
    assert_true(seconds() - start >= 0.029);
    free_reader(&r);
}

static void what_cannot_be_followed_is_refused(void **state)
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

/* With any room, also before the first line is complete, and after it was text. */
static void a_packed_file_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *error;
    } table[] = {
        {"\x1f\x8b\x08zz\nzz\n", "/log is compressed, and cannot be followed: its gzip "
                                 "data is read without --follow"},
        {"\x28\xb5\x2f\xfdzz", "/log is compressed, and cannot be followed: its zstd"},
        {"BZh91AY&SY\n", "/log is compressed with bzip2, and cannot be followed: what "
                         "grows has to be text"},
        {"\xff\xfeh", "/log is UTF-16 text, and cannot be followed"},
    };
    for (size_t i = 0; i < 2 * sizeof table / sizeof *table; i++) {
        if (i % 2)
            append("log", "text that is cut short\n");
        else
            append("log", table[i / 2].bytes);
        reader r = new_reader();
        if (i % 2) {
            read_all(&r, 100);
            assert_int_equal(truncate(in_folder("log"), 0), 0);
            append("log", table[i / 2].bytes);
        }
        for (size_t room = 1; room < 30; room++) {
            char bytes[30];
            tide_error err = {0};
            ptrdiff_t count = kind->read(r.state, bytes, room, 0, &err);
            assert_int_equal(count, TIDE_ERROR_FORMAT);
            assert_non_null(strstr(err.text, table[i / 2].error));
        }
        free_reader(&r);
        unlink(in_folder("log"));
    }
}

static void a_line_that_only_begins_like_an_archive_is_text(void **state)
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
    assert_null(kind->news(r.state));
    append("log.1", "four\n");
    append("log", "five\n");
    assert_read(&r, "one\ntwo\nthree\nfour\nfive\n");
    assert_news(&r, "was rotated");
    free_reader(&r);
}

/* The line feed that we make is not made again by the next reader. */
static void the_last_line_of_a_rotated_file_is_ended(void **state)
{
    (void)state;
    append("log", "one\ntw");
    reader r = new_reader();
    read_all(&r, 100);
    save_place(&r);
    rename_to("log", "log.1");
    append("log", "three\n");
    for (size_t room = 1; room < 12; room++) {
        go_back(&r);
        read_all(&r, room);
        assert_read(&r, "one\ntw\nthree\n");
    }
    go_back(&r);
    assert_true(read_some(&r, 100, 0));
    assert_int_equal(r.size, 7); /* "one tw " */
    save_place(&r);
    go_back(&r);
    assert_read(&r, "one\ntw\nthree\n");
    free_reader(&r);
}

static void files_of_several_rotations_are_read_in_their_order(void **state)
{
    (void)state;
    append("log", "one\n");
    reader r = new_reader();
    read_all(&r, 100);
    save_place(&r);
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

/* A reader that puts together what it saw of two moments would take the present file for
 * log.1, and leave out the one that is called so now. */
static void a_rotation_while_the_folder_is_read_loses_nothing(void **state)
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

static void a_file_compressed_before_it_was_read_is_told(void **state)
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
    assert_news(&r, "log.1.gz was compressed");
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
    assert_news(&r, "was deleted");
    read_all(&r, 100);
    assert_null(kind->news(r.state));
    append("log", "two\n");
    assert_read(&r, "one\ntwo\n");
    free_reader(&r);
}

static void a_file_cut_short_is_read_from_its_beginning(void **state)
{
    (void)state;
    append("log", "one\ntwo\nlong");
    reader r = new_reader();
    while (r.size < 10)
        read_some(&r, 1, 0);
    assert_false(kind->settled(r.state));
    assert_int_equal(truncate(in_folder("log"), 0), 0);
    append("log", "new\n");
    assert_read(&r, "one\ntwo\nlo\nnew\n");
    assert_news(&r, "was cut short");
    free_reader(&r);
}

/* -- places ------------------------------------------------------------------------ */

/* As with copytruncate, or when the folder was copied to another disk. */
static void a_copy_is_known_by_its_text(void **state)
{
    (void)state;
    append("log", "one\ntwo\n");
    reader r = new_reader();
    assert_true(read_some(&r, 6, 0));
    save_place(&r);
    append("log.1", "one\ntwo\n");
    assert_int_equal(truncate(in_folder("log"), 0), 0);
    append("log", "new\n");
    go_back(&r);
    assert_read(&r, "one\ntwo\nnew\n");
    free_reader(&r);
}

static void a_place_that_is_nowhere_is_refused_and_reading_begins(void **state)
{
    (void)state;
    append("log", "one\ntwo\n");
    reader r = new_reader();
    read_all(&r, 100);
    save_place(&r);
    assert_int_equal(truncate(in_folder("log"), 0), 0);
    append("log", "six\nten\n");
    kind->close(r.state);
    open_reader(&r);
    tide_error err = {0};
    static const char *const wrong[] = {"",        "1:2",     "1:2 3 ",
                                        "1:2 3 x", "a:2 3 4", "1:2 3 4 5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(kind->go_to(r.state, wrong[i], &err), TIDE_ERROR_FORMAT);
    assert_int_equal(kind->go_to(r.state, r.place, &err), TIDE_ERROR_FORMAT);
    assert_non_null(strstr(err.text, "has the text that was read before"));
    r.size = 0;
    assert_read(&r, "six\nten\n");
    free_reader(&r);
}

/* -- everything at once ------------------------------------------------------------ */

/* A writer of numbered lines, who does not look where his pieces are cut. */
typedef struct writer {
    tide_rng rng;
    int file;
    bool renamed; /* the file has lost its name, but the writer does not know */
    bool dates;
    int rotations;
    int line;
    char waiting[4096]; /* the rest of lines that are not written yet */
    size_t waits;
    char *text; /* [TEXT_MAX], what a reader should find */
    size_t size;
    bool empty; /* nothing is written into this file */
} writer;

static void open_log(writer *w)
{
    if (w->file >= 0)
        close(w->file);
    w->file = open(in_folder("log"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(w->file >= 0);
    w->renamed = false;
    w->empty = true;
}

static writer new_writer(uint64_t seed)
{
    writer w = {.rng = tide_rng_seeded(seed), .file = -1, .dates = seed % 2};
    w.text = malloc(TEXT_MAX);
    open_log(&w);
    return w;
}

static void free_writer(writer *w)
{
    if (w->file >= 0)
        close(w->file);
    free(w->text);
}

static void write_piece(writer *w)
{
    size_t wanted = 1 + tide_rng_below(&w->rng, tide_rng_below(&w->rng, 4) ? 30 : 600);
    while (w->waits < wanted) {
        int length =
            (int)tide_rng_below(&w->rng, tide_rng_below(&w->rng, 8) ? 20 : 500);
        w->waits += (size_t)snprintf(w->waiting + w->waits, 600, "%d %0*d\n", w->line++,
                                     length, 7);
    }
    if (w->empty && w->size && w->text[w->size - 1] != '\n')
        w->text[w->size++] = '\n';
    assert_int_equal(write(w->file, w->waiting, wanted), wanted);
    memcpy(w->text + w->size, w->waiting, wanted);
    w->size += wanted;
    w->waits -= wanted;
    memmove(w->waiting, w->waiting + wanted, w->waits);
    w->empty = false;
}

/* Either log.1 becomes log.2 and so on, or the new name has a date. */
static void rotate(writer *w)
{
    char from[32], to[32];
    if (w->renamed)
        open_log(w);
    for (int i = w->rotations; i > 0 && !w->dates; i--) {
        snprintf(from, sizeof from, "log.%d", i);
        snprintf(to, sizeof to, "log.%d", i + 1);
        rename_to(from, to);
    }
    if (w->dates)
        snprintf(to, sizeof to, "log-2026%04d", w->rotations);
    rename_to("log", w->dates ? to : "log.1");
    w->rotations++;
    w->renamed = true;
}

static void write_or_rotate(writer *w)
{
    uint64_t what = tide_rng_below(&w->rng, 20);
    if (what < 1)
        rotate(w);
    else if (what < 5 && w->renamed)
        open_log(w);
    else
        write_piece(w);
}

/* All that is begun gets to its end. */
static void finish_writing(writer *w)
{
    if (w->renamed)
        open_log(w);
    do
        write_piece(w);
    while (w->text[w->size - 1] != '\n');
    close(w->file);
    w->file = -1;
}

static void read_or_die(reader *r, tide_rng *rng)
{
    uint64_t what = tide_rng_below(rng, 20);
    if (what < 1)
        go_back(r);
    else if (what < 6 && kind->settled(r->state))
        save_place(r);
    else
        read_some(r, 1 + tide_rng_below(rng, tide_rng_below(rng, 2) ? 40 : 1000), 0);
}

static void compare_or_fail(const reader *r, const writer *w, uint64_t seed)
{
    if (r->size != w->size || memcmp(r->text, w->text, w->size) != 0)
        fail_msg("seed %d: read %zu bytes of %zu", (int)seed, r->size, w->size);
}

static void run_model(uint64_t seed)
{
    writer w = new_writer(seed);
    reader r = new_reader();
    save_place(&r);
    for (int i = 0; i < 300; i++) {
        uint64_t writes = tide_rng_below(&w.rng, 8) ? 1 : 15;
        for (uint64_t k = 0; k < writes; k++)
            write_or_rotate(&w);
        for (uint64_t k = tide_rng_below(&w.rng, 4); k > 0; k--)
            read_or_die(&r, &w.rng);
    }
    finish_writing(&w);
    read_all(&r, 50);
    compare_or_fail(&r, &w, seed);
    free_reader(&r);
    free_writer(&w);
}

static void every_line_comes_once_whatever_happens(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        run_model(seed);
        remove_folder(NULL);
        assert_int_equal(make_folder(NULL), 0);
    }
}

/* Writes in a process of its own; what it should have written comes back in a file. */
static pid_t write_from_child(writer *w)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    for (int i = 0; i < 1500; i++)
        write_or_rotate(w);
    finish_writing(w);
    FILE *all = fopen(in_folder("all.new"), "wb");
    fwrite(w->text, 1, w->size, all);
    fclose(all);
    rename_to("all.new", "all");
    _exit(0);
}

/* Files change while they are looked at. */
static void every_line_comes_once_while_files_are_renamed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        writer w = new_writer(1000 + seed);
        reader r = new_reader();
        save_place(&r);
        pid_t child = write_from_child(&w);
        while (access(in_folder("all"), F_OK) != 0)
            read_or_die(&r, &w.rng);
        waitpid(child, NULL, 0);
        read_all(&r, 5000);
        FILE *all = fopen(in_folder("all"), "rb");
        w.size = fread(w.text, 1, TEXT_MAX, all);
        fclose(all);
        compare_or_fail(&r, &w, seed);
        free_reader(&r);
        free_writer(&w);
        remove_folder(NULL);
        assert_int_equal(make_folder(NULL), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(matches_paths_only_when_asked_to_follow),
        TEST(a_line_is_given_when_it_is_complete),
        TEST(a_line_longer_than_the_room_comes_in_parts),
        TEST(a_file_that_is_not_there_yet_is_waited_for),
        TEST(a_first_file_that_is_rotated_at_once_is_read),
        TEST(a_wait_ends_when_something_is_written),
        TEST(what_cannot_be_followed_is_refused),
        TEST(a_packed_file_is_refused),
        TEST(a_line_that_only_begins_like_an_archive_is_text),
        TEST(the_old_file_is_read_until_the_new_one_has_text),
        TEST(the_last_line_of_a_rotated_file_is_ended),
        TEST(files_of_several_rotations_are_read_in_their_order),
        TEST(a_rotation_while_the_folder_is_read_loses_nothing),
        TEST(a_file_compressed_before_it_was_read_is_told),
        TEST(a_deleted_file_is_waited_for),
        TEST(a_file_cut_short_is_read_from_its_beginning),
        TEST(a_copy_is_known_by_its_text),
        TEST(a_place_that_is_nowhere_is_refused_and_reading_begins),
        TEST(every_line_comes_once_whatever_happens),
        TEST(every_line_comes_once_while_files_are_renamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
