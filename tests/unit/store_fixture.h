/* store_fixture.h - files of a folder, and a small one to damage. */
#ifndef TIDE_STORE_FIXTURE_H
#define TIDE_STORE_FIXTURE_H

#include "file/file.h"
#include "file/store_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "folder_fixture.h"

/* Replaces the C library's, so that tests can make it fail. */
static bool memory_is_out;

int posix_memalign(void **block, size_t alignment, size_t size)
{
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    *block = memory_is_out ? NULL : aligned_alloc(alignment, rounded);
    return *block ? 0 : ENOMEM;
}

/* -- files ------------------------------------------------------------------------- */

/* Entries of the folder, which must be no more than the test put there. */
static inline int entries(const char *path)
{
    int count = -2; /* . and .. */
    DIR *listing = opendir(path);
    assert_non_null(listing);
    while (readdir(listing))
        count++;
    closedir(listing);
    return count;
}

enum { ROOM = 1 << 16 };

static inline size_t slurp(const char *path, unsigned char *bytes)
{
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    ssize_t size = read(file, bytes, ROOM);
    assert_in_range(size, 0, ROOM - 1);
    close(file);
    return (size_t)size;
}

static inline void spit(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    assert_int_equal(close(file), 0);
}

/* -- a small model ----------------------------------------------------------------- */

static const char text[] =
    "the quick brown fox jumps over the lazy dog, and then sleeps.";

static inline void write_small(const char *path)
{
    tide_error err;
    tide_store_writer *w = tide_store_create(path, &err);
    assert_non_null(w);
    tide_store_put(w, "params", text, 13);
    tide_store_put(w, "empty", NULL, 0);
    tide_store_begin(w, "rows.in-0");
    tide_store_append(w, text, 40);
    tide_store_append(w, text + 40, 0);
    tide_store_append(w, text + 40, 21);
    tide_store_put(w, "line",
                   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                   64);
    assert_int_equal(tide_store_commit(w, &err), TIDE_OK);
}

static inline void expect_small(const char *path)
{
    tide_error err;
    char bytes[64];
    tide_store *s = tide_store_open(path, &err);
    assert_non_null(s);
    assert_string_equal(tide_store_path(s), path);
    assert_int_equal(tide_store_size(s, "params", &err), 13);
    assert_int_equal(tide_store_size(s, "empty", &err), 0);
    assert_int_equal(tide_store_read(s, "params", bytes, 13, &err), TIDE_OK);
    assert_memory_equal(bytes, text, 13);
    assert_int_equal(tide_store_read(s, "empty", NULL, 0, &err), TIDE_OK);
    assert_int_equal(tide_store_read(s, "rows.in-0", bytes, 61, &err), TIDE_OK);
    assert_memory_equal(bytes, text, 61);
    tide_store_close(s);
}

/* Returns the text of the refusal. */
static inline const char *refused(const char *path)
{
    static tide_error err;
    err.text[0] = '\0';
    tide_store *s = tide_store_open(path, &err);
    if (s)
        tide_store_close(s);
    assert_null(s);
    assert_int_equal(err.status, TIDE_ERROR_FORMAT);
    assert_null(tide_store_open(path, NULL));
    return err.text;
}

static inline void assert_contains(const char *whole, const char *part)
{
    if (!strstr(whole, part))
        fail_msg("\"%s\" is not in \"%s\"", part, whole);
}

/* What a file that was published as number `number` holds. */
static inline void expect_number(const char *path, uint64_t number)
{
    uint64_t found;
    tide_store *s = tide_store_open(path, NULL);
    assert_non_null(s);
    assert_int_equal(tide_store_read(s, "number", &found, sizeof found, NULL), TIDE_OK);
    assert_int_equal(found, number);
    tide_store_close(s);
}

#endif
