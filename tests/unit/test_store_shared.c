/* test_store_shared.c - a store whose sections come from one thread and are written by
 * another, with or without preallocation. */
#include "base/base.h"
#include "file/file.h"
#include "store_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

static void *drain(void *writer)
{
    tide_store_run_writer(writer);
    return NULL;
}

/* Sections of chance, the same for the same seed. */
static void put_sections(tide_store_writer *w, uint64_t seed)
{
    enum { SOURCE = 12 << 20 };
    static unsigned char source[SOURCE];
    tide_rng rng = tide_rng_seeded(seed);
    for (size_t i = 0; i < SOURCE; i += 8)
        tide_put64(source + i, tide_rng_next(&rng));
    for (int i = 0; i < 5; i++) {
        tide_store_begin(w, (char[]){'s', (char)('0' + i), 0});
        size_t size = tide_rng_below(&rng, i % 2 ? 300 : SOURCE);
        for (size_t at = 0, n; at < size; at += n) {
            n = 1 + tide_rng_below(&rng, size - at);
            tide_store_append(w, source + at, n);
        }
    }
}

static int save_shared(uint64_t seed, uint64_t capacity, tide_error *err)
{
    pthread_t thread;
    tide_store_writer *w = tide_store_create("shared.tide", NULL);
    if (capacity)
        tide_store_preallocate(w, capacity);
    assert_int_equal(tide_store_start_writer(w, NULL), TIDE_OK);
    assert_int_equal(pthread_create(&thread, NULL, drain, w), 0);
    put_sections(w, seed);
    tide_store_finish(w);
    pthread_join(thread, NULL);
    return tide_store_commit_keeping(w, 0, err);
}

static void expect_same_bytes(const char *path, const char *other)
{
    enum { MOST = 64 << 20 };
    static unsigned char bytes[2][MOST];
    const char *paths[] = {path, other};
    ptrdiff_t sizes[2];
    for (int i = 0; i < 2; i++) {
        int file = open(paths[i], O_RDONLY);
        assert_true(file >= 0);
        sizes[i] = tide_file_read(file, bytes[i], MOST, 0);
        close(file);
    }
    assert_true(sizes[0] > 0 && sizes[0] == sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)sizes[0]);
}

static void file_is_the_same_with_two_threads_and_any_preallocation(void **state)
{
    (void)state;
    const uint64_t rooms[] = {0, 1, 5000, 3 << 20, 48 << 20};
    for (uint64_t seed = 0; seed < 10; seed++) {
        tide_store_writer *w = tide_store_create("plain.tide", NULL);
        put_sections(w, seed);
        assert_int_equal(tide_store_commit(w, NULL), TIDE_OK);
        assert_int_equal(save_shared(seed, rooms[seed % 5], NULL), TIDE_OK);
        expect_same_bytes("plain.tide", "shared.tide");
    }
    assert_int_equal(entries("."), 2);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The disk is full at the preallocation, or when the file grows beyond it. */
static void on_a_full_disk_the_write_fails_and_the_old_file_stays(void **state)
{
    (void)state;
    const uint64_t rooms[] = {0, 4096, 48 << 20};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(save_shared(1, 0, NULL), TIDE_OK);
    assert_int_equal(link("shared.tide", "before.tide"), 0);
    for (int i = 0; i < 3; i++) {
        tide_error err = {0};
        limit_files(100000);
        int status = save_shared(2, rooms[i], &err);
        limit_files(RLIM_INFINITY);
        assert_int_equal(status, TIDE_ERROR_IO);
        assert_non_null(strstr(err.text, strerror(EFBIG)));
        expect_same_bytes("shared.tide", "before.tide");
        assert_int_equal(entries("."), 2);
    }
    signal(SIGXFSZ, handler);
}

static void without_memory_starting_the_writer_fails_and_leaves_no_file(void **state)
{
    (void)state;
    tide_error err = {0};
    tide_store_writer *w = tide_store_create("m.tide", NULL);
    memory_is_out = true;
    int status = tide_store_start_writer(w, &err);
    memory_is_out = false;
    assert_int_equal(status, TIDE_ERROR_MEMORY);
    tide_store_discard(w);
    assert_int_equal(entries("."), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(file_is_the_same_with_two_threads_and_any_preallocation),
        IN_FOLDER(on_a_full_disk_the_write_fails_and_the_old_file_stays),
        IN_FOLDER(without_memory_starting_the_writer_fails_and_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
