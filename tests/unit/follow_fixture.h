/* follow_fixture.h - for the tests of files that are followed: files that grow and are
 * renamed, and a reader that can die. */
#ifndef TIDE_FOLLOW_FIXTURE_H
#define TIDE_FOLLOW_FIXTURE_H

#include "source/source.h"

#include <fcntl.h>

#include "folder_fixture.h"

enum { TEXT_MAX = 1 << 20, PATH_SIZE = 512 };

/* -- files in the folder ----------------------------------------------------------- */

static inline const char *in_folder(const char *name)
{
    static char paths[4][PATH_SIZE];
    static int turn;
    char *path = paths[turn = (turn + 1) % 4];
    snprintf(path, PATH_SIZE, "%.400s/%s", folder, name);
    return path;
}

static inline void append(const char *name, const char *text)
{
    int file = open(in_folder(name), O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static inline void rename_to(const char *from, const char *to)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", in_folder(from));
    assert_int_equal(rename(path, in_folder(to)), 0);
}

/* -- a reader ---------------------------------------------------------------------- */

typedef struct reader {
    void *state;
    char *text; /* [TEXT_MAX], all that was read */
    size_t size;
    size_t begun;   /* of them, what an earlier source has read */
    size_t latest;  /* what the latest read gave */
    char *position; /* saved last */
    size_t position_size;
} reader;

static const tide_source_kind *const kind = &tide_source_follow;
static const tide_source_options following = {.follow = true};

static inline void open_reader(reader *r)
{
    tide_error err = {0};
    r->state = kind->open(in_folder("log"), &following, &err);
    if (!r->state)
        fail_msg("%s", err.text);
}

static inline reader new_reader(void)
{
    reader r = {.text = malloc(TEXT_MAX)};
    open_reader(&r);
    return r;
}

static inline void free_reader(reader *r)
{
    kind->close(r->state);
    free(r->text);
    free(r->position);
}

/* One read; false when there was nothing. */
static inline bool read_some(reader *r, size_t capacity, int wait_ms)
{
    tide_error err = {0};
    assert_true(r->size + capacity <= TEXT_MAX);
    ptrdiff_t count = kind->read(r->state, r->text + r->size, capacity, wait_ms, &err);
    if (count == TIDE_SOURCE_LATER)
        return false;
    if (count <= 0)
        fail_msg("%td %s", count, err.text);
    assert_true((size_t)count <= capacity);
    r->size += (size_t)count;
    r->latest = (size_t)count;
    return true;
}

static inline void read_all(reader *r, size_t capacity)
{
    while (read_some(r, capacity, 0))
        continue;
}

/* This many bytes of the last read are not consumed. */
static inline void save_place_before(reader *r, size_t rest)
{
    tide_error err = {0};
    assert_true(rest <= r->latest);
    free(r->position);
    r->position = kind->position(r->state, r->size - r->begun - rest, &err);
    if (!r->position)
        fail_msg("%s", err.text);
    r->position_size = r->size - rest;
}

static inline void save_position(reader *r)
{
    save_place_before(r, 0);
}

/* Like a kill: what was read since the last save is lost. */
static inline void go_back(reader *r)
{
    tide_error err = {0};
    kind->close(r->state);
    open_reader(r);
    if (kind->seek_position(r->state, r->position, &err) != TIDE_OK)
        fail_msg("%s: %s", r->position, err.text);
    r->size = r->begun = r->position_size;
    r->latest = 0;
}

static inline void assert_read(reader *r, const char *text)
{
    read_all(r, 100);
    r->text[r->size] = '\0';
    assert_string_equal(r->text, text);
}

static inline void assert_notice(reader *r, const char *part)
{
    const char *notice = kind->notice(r->state);
    if (!notice || !strstr(notice, part))
        fail_msg("%s instead of %s", notice ? notice : "no news", part);
    assert_null(kind->notice(r->state));
}

#endif
