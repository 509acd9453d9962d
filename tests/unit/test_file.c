/* test_file.c - reading and writing where every call may be interrupted, or do a part
 * of what it was asked for. */

#include "base/base.h"
#include "file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "folder_fixture.h"

enum { SIZE = 10000, NEVER = 1 << 30 };

/* -- calls that do as the test wants ----------------------------------------------- */

/* Replace the C library's. */
static tide_rng rng;
static bool difficult;
static int interruptions_left; /* calls that fail with EINTR, one after the other */
static int failing;            /* an errno for every call, if any */

static bool is_interrupted(void)
{
    if (interruptions_left == 0 && difficult && tide_rng_below(&rng, 3) == 0)
        interruptions_left = 1;
    if (interruptions_left > 0) {
        interruptions_left--;
        errno = EINTR;
        return true;
    }
    errno = failing;
    return failing;
}

static size_t part_of(size_t size)
{
    return difficult && size > 1 ? 1 + (size_t)tide_rng_below(&rng, size) : size;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    return is_interrupted() ? -1
                            : syscall(SYS_pwrite64, file, bytes, part_of(size), offset);
}

ssize_t pread(int file, void *bytes, size_t size, off_t offset)
{
    return is_interrupted() ? -1
                            : syscall(SYS_pread64, file, bytes, part_of(size), offset);
}

ssize_t read(int file, void *bytes, size_t size)
{
    return is_interrupted() ? -1 : syscall(SYS_read, file, bytes, size);
}

int fdatasync(int file)
{
    return is_interrupted() ? -1 : (int)syscall(SYS_fdatasync, file);
}

/* -- tests ------------------------------------------------------------------------- */

static int new_file(void)
{
    int file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    return file;
}

static void short_writes_and_reads_are_continued(void **state)
{
    (void)state;
    static unsigned char written[SIZE], found[SIZE + 1];
    rng = tide_rng_seeded(1);
    int file = new_file();
    for (int turn = 0; turn < 200; turn++) {
        size_t at = (size_t)tide_rng_below(&rng, SIZE);
        size_t size = (size_t)tide_rng_below(&rng, SIZE - at);
        for (size_t i = 0; i < size; i++)
            written[at + i] = (unsigned char)tide_rng_next(&rng);
        difficult = true;
        assert_int_equal(tide_file_write(file, written + at, size, at), 0);
        assert_int_equal(tide_file_read(file, found, size, at), size);
        difficult = false;
        assert_memory_equal(found, written + at, size);
    }
    assert_int_equal(ftruncate(file, SIZE), 0);
    difficult = true;
    assert_int_equal(tide_file_read(file, found, sizeof found, 0), SIZE);
    assert_int_equal(tide_file_read(file, found, sizeof found, SIZE), 0);
    difficult = false;
    assert_memory_equal(found, written, SIZE);
    close(file);
}

static void endless_signals_do_not_block(void **state)
{
    (void)state;
    char byte = 1;
    int file = new_file();
    interruptions_left = NEVER;
    assert_int_equal(tide_file_write(file, &byte, 1, 0), EINTR);
    assert_int_equal(tide_file_read(file, &byte, 1, 0), -1);
    assert_int_equal(tide_file_read_some(file, &byte, 1), -1);
    assert_int_equal(tide_file_sync(file), EINTR);
    interruptions_left = 10;
    assert_int_equal(tide_file_write(file, &byte, 1, 0), 0);
    interruptions_left = 10;
    assert_int_equal(tide_file_read_some(file, &byte, 1), 1);
    interruptions_left = 10;
    assert_int_equal(tide_file_sync(file), 0);
    interruptions_left = 0;
    close(file);
}

static void failures_are_reported(void **state)
{
    (void)state;
    char byte = 1;
    int file = new_file();
    failing = EIO;
    assert_int_equal(tide_file_write(file, &byte, 1, 0), EIO);
    assert_int_equal(tide_file_sync(file), EIO);
    assert_int_equal(tide_file_read(file, &byte, 1, 0), -1);
    assert_int_equal(errno, EIO);
    failing = 0;
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(short_writes_and_reads_are_continued),
        IN_FOLDER(endless_signals_do_not_block),
        IN_FOLDER(failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
