/* test_store.c - the sectioned file: what is written is read, and nothing else is. */
#include "base/base.h"
#include "file/file.h"
#include "file/store_internal.h"
#include "store_fixture.h"

/* -- round trips ------------------------------------------------------------------- */

static void sections_are_read_as_written(void **state)
{
    (void)state;
    write_small("m.tide");
    expect_small("m.tide");
    assert_int_equal(entries("."), 1);
}

/* Random sections in random pieces, some longer than any buffer, against the
 * originals. */
static void sections_of_any_size_come_back_however_they_were_cut(void **state)
{
    (void)state;
    enum { SOURCE = 3 << 20 };
    static unsigned char source[SOURCE], found[SOURCE];
    tide_rng rng = tide_rng_seeded(1);
    for (size_t i = 0; i < SOURCE; i++)
        source[i] = (unsigned char)tide_rng_next(&rng);
    for (int run = 0; run < 12; run++) {
        size_t sizes[TIDE_SECTIONS_MAX];
        size_t count = tide_rng_below(&rng, TIDE_SECTIONS_MAX + 1);
        tide_store_writer *w = tide_store_create("m.tide", NULL);
        assert_non_null(w);
        for (size_t i = 0; i < count; i++) {
            char name[32];
            snprintf(name, sizeof name, "section.%zu", i);
            size_t limit = i == 0 ? SOURCE : 300;
            sizes[i] = tide_rng_below(&rng, limit);
            tide_store_begin(w, name);
            for (size_t at = i, left = sizes[i], n; left > 0; at += n, left -= n) {
                n = 1 + tide_rng_below(&rng, left);
                tide_store_append(w, source + at, n);
            }
        }
        assert_int_equal(tide_store_commit(w, NULL), TIDE_OK);
        tide_store *s = tide_store_open("m.tide", NULL);
        assert_non_null(s);
        for (size_t i = 0; i < count; i++) {
            char name[32];
            snprintf(name, sizeof name, "section.%zu", i);
            assert_int_equal(tide_store_size(s, name, NULL), sizes[i]);
            assert_int_equal(tide_store_read(s, name, found, sizes[i], NULL), TIDE_OK);
            assert_memory_equal(found, source + i, sizes[i]);
            size_t from = tide_rng_below(&rng, sizes[i] + 1);
            size_t n = tide_rng_below(&rng, sizes[i] - from + 1);
            assert_int_equal(tide_store_read_at(s, name, from, found, n, NULL),
                             TIDE_OK);
            assert_memory_equal(found, source + i + from, n);
        }
        tide_store_close(s);
    }
    assert_int_equal(entries("."), 1);
}

static void same_sections_give_the_same_bytes(void **state)
{
    (void)state;
    unsigned char first[ROOM], second[ROOM];
    write_small("a.tide");
    write_small("b.tide");
    size_t size = slurp("a.tide", first);
    assert_int_equal(slurp("b.tide", second), size);
    assert_memory_equal(first, second, size);
    assert_int_equal(size, 2688 + 64 + 0 + 64 + 64 + 24);
}

/* Files of today must be readable tomorrow: doc/FORMAT.md, as bytes. */
static void layout_is_the_one_that_is_documented(void **state)
{
    (void)state;
    unsigned char bytes[ROOM];
    write_small("m.tide");
    size_t size = slurp("m.tide", bytes);
    assert_memory_equal(bytes, "\x89TID\r\n\x1a\n\1\0\0\0\4\0\0\0", 16);
    assert_int_equal(tide_get64(bytes + 16), size);
    assert_memory_equal(bytes + 64, "params\0\0\0\0\0\0\0\0\0\0", 16);
    assert_int_equal(tide_get64(bytes + 64 + 16), 2688);
    assert_int_equal(tide_get64(bytes + 64 + 24), 13);
    assert_true(tide_get64(bytes + 64 + 32) == tide_hash(text, 13, 0));
    assert_memory_equal(bytes + 64 + 40, "empty", 6);
    assert_int_equal(tide_get64(bytes + 64 + 40 + 16), 2688 + 64);
    assert_memory_equal(bytes + 2688, text, 13);
    assert_true(tide_get64(bytes + 2680) == tide_hash(bytes, 2680, 0));
    assert_memory_equal(bytes + size - 24, "TIDE END", 8);
    assert_int_equal(tide_get64(bytes + size - 16), size);
    assert_memory_equal(bytes + size - 8, bytes + 2680, 8);
}

static void store_without_sections_is_a_store(void **state)
{
    (void)state;
    tide_store_writer *w = tide_store_create("m.tide", NULL);
    assert_int_equal(tide_store_commit(w, NULL), TIDE_OK);
    tide_store *s = tide_store_open("m.tide", NULL);
    assert_non_null(s);
    assert_false(tide_store_has(s, "params"));
    tide_store_close(s);
    tide_store_close(NULL);
}

static void count_call(void *calls)
{
    ++*(int *)calls;
}

static void progress_is_reported_until_the_file_is_finished(void **state)
{
    (void)state;
    enum { PIECE = 1 << 20, PIECES = 8 };
    static unsigned char bytes[PIECE];
    int calls = 0;
    tide_store_writer *w = tide_store_create("m.tide", NULL);
    tide_store_on_progress(w, count_call, &calls);
    tide_store_put(w, "small", bytes, 16);
    assert_int_equal(calls, 0);
    for (int i = 0; i < PIECES; i++) {
        char name[] = {'a', (char)('a' + i), 0};
        tide_store_put(w, name, bytes, PIECE);
        assert_int_equal(calls, i + 1);
    }
    tide_store_finish(w);
    assert_int_equal(calls, PIECES);
    assert_int_equal(tide_store_commit_keeping(w, 0, NULL), TIDE_OK);
    assert_int_equal(calls, PIECES);
}

/* Changes a byte of the one hidden file in the folder. */
static void damage_temporary(off_t at)
{
    DIR *listing = opendir(".");
    char name[NAME_MAX + 1] = "";
    for (struct dirent *entry; (entry = readdir(listing));)
        if (entry->d_name[0] == '.' && strstr(entry->d_name, ".tmp."))
            snprintf(name, sizeof name, "%s", entry->d_name);
    closedir(listing);
    unsigned char byte = 0;
    int file = open(name, O_RDWR);
    assert_true(file >= 0 && pread(file, &byte, 1, at) == 1);
    byte ^= 0x10;
    assert_true(pwrite(file, &byte, 1, at) == 1);
    close(file);
}

static void as_many_older_versions_are_kept_as_requested(void **state)
{
    (void)state;
    for (uint64_t number = 1; number <= 6; number++) {
        tide_store_writer *w = tide_store_create("m.tide", NULL);
        tide_store_put(w, "number", &number, sizeof number);
        uint64_t size = tide_store_finish(w);
        if (number > 1)
            expect_number("m.tide", number - 1); /* is not there before it is safe */
        assert_int_equal(tide_store_commit_keeping(w, 2, NULL), TIDE_OK);
        struct stat status;
        assert_int_equal(stat("m.tide", &status), 0);
        assert_int_equal(size, status.st_size);
        assert_int_equal(entries("."), number < 3 ? number : 3);
        expect_number("m.tide", number);
        if (number > 1)
            expect_number("m.tide.1", number - 1);
        if (number > 2)
            expect_number("m.tide.2", number - 2);
    }
}

/* A byte that was written and is not there. */
static void file_is_read_back_before_it_replaces_the_old_one(void **state)
{
    (void)state;
    write_small("m.tide");
    static const unsigned char bytes[1000] = {1};
    for (off_t at = 0; at < 4000; at += 97) {
        tide_error err = {0};
        tide_store_writer *w = tide_store_create("m.tide", NULL);
        tide_store_put(w, "bytes", bytes, sizeof bytes);
        uint64_t size = tide_store_finish(w);
        if ((uint64_t)at >= size)
            at = (off_t)size - 1;
        damage_temporary(at);
        assert_int_equal(tide_store_commit_keeping(w, 1, &err), TIDE_ERROR_IO);
        assert_non_null(strstr(err.text, "read-back verification failed"));
        expect_small("m.tide");
        assert_int_equal(entries("."), 1);
        if ((uint64_t)at == size - 1)
            break;
    }
}

static void section_that_is_missing_or_of_another_size_is_named(void **state)
{
    (void)state;
    tide_error err;
    char bytes[64];
    write_small("m.tide");
    tide_store *s = tide_store_open("m.tide", NULL);
    assert_true(tide_store_has(s, "params"));
    assert_false(tide_store_has(s, "param"));
    assert_int_equal(tide_store_size(s, "param", &err), TIDE_ERROR_FORMAT);
    assert_string_equal(err.text, "m.tide: section \"param\" is missing");
    assert_int_equal(tide_store_read(s, "param", bytes, 1, &err), TIDE_ERROR_FORMAT);
    assert_int_equal(tide_store_read_at(s, "param", 0, bytes, 1, &err),
                     TIDE_ERROR_FORMAT);
    assert_int_equal(tide_store_read(s, "params", bytes, 12, &err), TIDE_ERROR_FORMAT);
    assert_string_equal(err.text,
                        "m.tide: section \"params\" has 13 bytes instead of 12");
    assert_int_equal(tide_store_read_at(s, "params", 0, bytes, 13, &err), TIDE_OK);
    assert_int_equal(tide_store_read_at(s, "params", 13, bytes, 0, &err), TIDE_OK);
    assert_int_equal(tide_store_read_at(s, "params", 0, bytes, 14, &err),
                     TIDE_ERROR_FORMAT);
    assert_int_equal(tide_store_read_at(s, "params", 14, bytes, 0, &err),
                     TIDE_ERROR_FORMAT);
    assert_int_equal(tide_store_read_at(s, "params", UINT64_MAX, bytes, 2, &err),
                     TIDE_ERROR_FORMAT);
    tide_store_close(s);
}

/* -- damage ------------------------------------------------------------------------ */

static void every_flipped_bit_is_refused(void **state)
{
    (void)state;
    unsigned char bytes[ROOM];
    write_small("m.tide");
    size_t size = slurp("m.tide", bytes);
    int file = open("m.tide", O_WRONLY);
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            unsigned char flipped = (unsigned char)(bytes[at] ^ 1 << bit);
            assert_int_equal(pwrite(file, &flipped, 1, (off_t)at), 1);
            const char *why = refused("m.tide");
            if (at >= 2688 + 64 && at < 2688 + 64 + 61)
                assert_string_equal(
                    why,
                    "m.tide: section \"rows.in-0\" is corrupt (checksum mismatch)");
            assert_int_equal(pwrite(file, &bytes[at], 1, (off_t)at), 1);
        }
    close(file);
    expect_small("m.tide");
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    unsigned char bytes[ROOM];
    write_small("m.tide");
    size_t size = slurp("m.tide", bytes);
    while (size-- > 0) {
        assert_int_equal(truncate("m.tide", (off_t)size), 0);
        assert_contains(refused("m.tide"), "m.tide: truncated: ");
    }
}

static void anything_appended_is_refused(void **state)
{
    (void)state;
    unsigned char bytes[ROOM];
    write_small("m.tide");
    size_t size = slurp("m.tide", bytes);
    tide_rng rng = tide_rng_seeded(2);
    for (size_t more = 1; more < 200; more++) {
        bytes[size + more - 1] = more % 2 ? 0 : (unsigned char)tide_rng_next(&rng);
        spit("m.tide", bytes, size + more);
        assert_contains(refused("m.tide"), "bytes follow the end record");
    }
}

static void foreign_and_mangled_files_are_distinguished(void **state)
{
    (void)state;
    unsigned char bytes[ROOM], mangled[ROOM];
    spit("m.tide", "7 2\nthe 0.1 0.2\n", 16);
    assert_string_equal(refused("m.tide"), "m.tide: not a wordtide model");
    spit("m.tide", "x", 1);
    assert_string_equal(refused("m.tide"), "m.tide: not a wordtide model");
    spit("m.tide", "", 0);
    assert_string_equal(refused("m.tide"), "m.tide: truncated: the file is empty");

    write_small("m.tide");
    size_t size = slurp("m.tide", bytes), kept = 0;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != '\r')
            mangled[kept++] = bytes[i];
    spit("m.tide", mangled, kept);
    assert_string_equal(refused("m.tide"),
                        "m.tide: corrupt: it was transferred in text mode");

    bytes[8] = 2;
    spit("m.tide", bytes, size);
    assert_contains(refused("m.tide"), "format version 2 is newer than this program");
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    tide_error err;
    assert_null(tide_store_open("missing.tide", &err));
    assert_int_equal(err.status, TIDE_ERROR_IO);
    assert_string_equal(err.text,
                        "cannot read missing.tide: No such file or directory");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_string_equal(refused("pipe"), "pipe: not a regular file");
    assert_string_equal(refused("."), ".: not a regular file");
    assert_string_equal(refused("/dev/null"), "/dev/null: not a regular file");
}

static void file_that_changes_after_it_was_opened_is_noticed(void **state)
{
    (void)state;
    tide_error err;
    char bytes[64];
    write_small("m.tide");
    tide_store *s = tide_store_open("m.tide", NULL);
    int file = open("m.tide", O_WRONLY);
    assert_int_equal(pwrite(file, "T", 1, 2688), 1);
    close(file);
    assert_int_equal(tide_store_read(s, "params", bytes, 13, &err), TIDE_ERROR_FORMAT);
    assert_string_equal(err.text,
                        "m.tide: section \"params\" is corrupt (checksum mismatch)");
    assert_int_equal(truncate("m.tide", 2690), 0);
    assert_int_equal(tide_store_read(s, "params", bytes, 13, &err), TIDE_ERROR_FORMAT);
    assert_contains(err.text, "truncated");
    tide_store_close(s);
}

/* -- wrong, but with right checksums ----------------------------------------------- */

enum { ENTRY = TIDE_STORE_ENTRY, TABLE = TIDE_STORE_TABLE, HEADER = TIDE_STORE_HEADER };

typedef struct change {
    size_t at;
    const char *bytes;
    size_t size;
    const char *refusal;
} change;

static void wrong_structure_is_refused_even_with_right_checksums(void **state)
{
    (void)state;
    static const change changes[] = {
        {8, "\0", 1, NULL},  /* the version is made right again */
        {10, "\7", 1, NULL}, /* a larger minor version is readable */
        {12, "\101", 1, "header is corrupt"},
        {15, "\1", 1, "header is corrupt"},
        {12, "\5", 1, "name of section 5"},
        {12, "\3", 1, "bytes after the table are not zero"},
        {24, "\1", 1, "header is corrupt"},
        {63, "\1", 1, "header is corrupt"},
        {2679, "\1", 1, "bytes after the table are not zero"},
        {TABLE, "P", 1, "name of section 1"},
        {TABLE, "\0", 1, "name of section 1"},
        {TABLE + 15, "x", 1, "name of section 1"},
        {TABLE + 6, "123456789x", 10, "name of section 1"},
        {TABLE, "empty\0", 6, "duplicate section \"empty\""},
        {TABLE + 17, "\0", 1, "section \"params\" has a wrong offset or size"},
        {TABLE + 16, "\1", 1, "section \"params\" has a wrong offset or size"},
        {TABLE + 23, "\x80", 1, "section \"params\" has a wrong offset or size"},
        {TABLE + 24, "\x41", 1, "section \"empty\" has a wrong offset or size"},
        {TABLE + 31, "\xff", 1, "section \"params\" has a wrong offset or size"},
        {TABLE + 24, "\xff\xff\xff\xff\xff\xff\xff\xff", 8,
         "section \"params\" has a wrong offset or size"},
        {TABLE + 3 * ENTRY + 24, "\1", 1, NULL}, /* the rest is zeros */
        {TABLE + 3 * ENTRY + 24, "\0", 1, "do not fill the file"},
        {TABLE + 3 * ENTRY + 24, "\x41", 1,
         "section \"line\" has a wrong offset or size"},
        {HEADER + 13, "\1", 1, "padding after section \"params\" is not zero"},
        {HEADER + 63, "\1", 1, "padding after section \"params\" is not zero"},
    };
    unsigned char bytes[ROOM], changed[ROOM];
    write_small("m.tide");
    size_t size = slurp("m.tide", bytes);
    memset(bytes + size - 24 - 63, 0, 63); /* the end of the last section */
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        memcpy(changed, bytes, size);
        memcpy(changed + changes[i].at, changes[i].bytes, changes[i].size);
        tide_store_rechecksum(changed, size);
        spit("m.tide", changed, size);
        if (changes[i].refusal) {
            assert_contains(refused("m.tide"), changes[i].refusal);
        } else {
            tide_store *s = tide_store_open("m.tide", NULL);
            assert_non_null(s);
            tide_store_close(s);
        }
    }
}

/* -- names and misuse -------------------------------------------------------------- */

static void bad_and_repeated_section_names_are_reported_by_the_commit(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",       "Upper", "sp ace",           "under_score",
        "params", "a/b",   "sixteen-letters-", "na\xc3\xafve"};
    write_small("m.tide");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tide_error err;
        tide_store_writer *w = tide_store_create("m.tide", &err);
        tide_store_put(w, "params", "x", 1);
        tide_store_put(w, names[i], "y", 1);
        tide_store_put(w, "later", "z", 1);
        assert_int_equal(tide_store_commit(w, &err), TIDE_ERROR_PARAMETER);
        assert_contains(err.text, "invalid or duplicate section name");
    }
    expect_small("m.tide");
    assert_int_equal(entries("."), 1);
}

static void too_many_sections_and_bytes_before_the_first_are_reported(void **state)
{
    (void)state;
    tide_error err;
    tide_store_writer *w = tide_store_create("m.tide", &err);
    for (int i = 0; i <= TIDE_SECTIONS_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, "section.%d", i);
        tide_store_put(w, name, &i, sizeof i);
    }
    assert_int_equal(tide_store_commit(w, &err), TIDE_ERROR_PARAMETER);
    assert_contains(err.text, "more than 64 sections");
    w = tide_store_create("m.tide", &err);
    tide_store_append(w, "x", 1);
    assert_int_equal(tide_store_commit(w, &err), TIDE_ERROR_PARAMETER);
    assert_int_equal(entries("."), 0);
}

static void without_memory_no_file_is_created(void **state)
{
    (void)state;
    tide_error err;
    write_small("m.tide");
    memory_is_out = true;
    tide_store_writer *w = tide_store_create("m.tide", &err);
    tide_store *s = tide_store_open("m.tide", NULL);
    memory_is_out = false;
    assert_null(w);
    assert_null(s);
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    assert_int_equal(entries("."), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(sections_are_read_as_written),
        IN_FOLDER(sections_of_any_size_come_back_however_they_were_cut),
        IN_FOLDER(same_sections_give_the_same_bytes),
        IN_FOLDER(layout_is_the_one_that_is_documented),
        IN_FOLDER(store_without_sections_is_a_store),
        IN_FOLDER(progress_is_reported_until_the_file_is_finished),
        IN_FOLDER(as_many_older_versions_are_kept_as_requested),
        IN_FOLDER(file_is_read_back_before_it_replaces_the_old_one),
        IN_FOLDER(section_that_is_missing_or_of_another_size_is_named),
        IN_FOLDER(every_flipped_bit_is_refused),
        IN_FOLDER(every_truncation_is_refused),
        IN_FOLDER(anything_appended_is_refused),
        IN_FOLDER(foreign_and_mangled_files_are_distinguished),
        IN_FOLDER(only_regular_files_are_read),
        IN_FOLDER(file_that_changes_after_it_was_opened_is_noticed),
        IN_FOLDER(wrong_structure_is_refused_even_with_right_checksums),
        IN_FOLDER(bad_and_repeated_section_names_are_reported_by_the_commit),
        IN_FOLDER(too_many_sections_and_bytes_before_the_first_are_reported),
        IN_FOLDER(without_memory_no_file_is_created),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
