/* fuzz_positions.c - arbitrary texts as positions in sources.
 *
 * The first byte: bits 0 to 1 select the source; bit 2 says that the rest is not a
 * position but changes to a valid one: a byte that says how much is read before, then
 * pairs of an index and a byte to be written there. If a position is accepted, the
 * source can compose a position of its new position and return to it. Otherwise it is
 * refused with a reason, and reading starts where it would have started.
 */
#include "source/source.h"
#include "fuzz_fixture.h"

#include <errno.h>
#include <sys/inotify.h>

enum { FOLLOWED = 1, SOURCES = 3, LINES = 1000, READ = 512 };

/* Disables inotify for a followed file: nothing changes here, and closing an inotify
 * descriptor is slow. */
int inotify_init1(int flags)
{
    (void)flags;
    errno = ENOSYS;
    return -1;
}

static char folder[FOLDER_MAX], path[IN_FOLDER_MAX];
static tide_source *sources[SOURCES];

static void remove_folder(void)
{
    for (int i = 0; i < SOURCES; i++)
        tide_source_close(sources[i]);
    unlink(path);
    rmdir(folder);
}

static void make_file(void)
{
    static char text[16 * LINES];
    size_t size = 0;
    for (int i = 0; i < LINES; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "word%d\n", i);
    make_folder(folder);
    snprintf(path, sizeof path, "%s/text", folder);
    must(atexit(remove_folder) == 0);
    spit(path, text, size);
}

static tide_source *open_source(int kind)
{
    if (!folder[0])
        make_file();
    const char *const specs[SOURCES] = {path, path, "demo:tokens=1000"};
    const tide_source_options options = {.follow = kind == FOLLOWED};
    if (kind == FOLLOWED) { /* accepts a position only right after it was opened */
        tide_source_close(sources[kind]);
        sources[kind] = NULL;
    }
    if (!sources[kind])
        sources[kind] = tide_source_open_with(specs[kind], &options, NULL);
    must(sources[kind] != NULL);
    return sources[kind];
}

static void read_some(tide_source *source, size_t size)
{
    char bytes[READ];
    tide_error err = {.text = ""};
    must(tide_source_poll(source, bytes, size, 0, &err) >= TIDE_SOURCE_LATER);
}

/* The position of the current position. */
static char *present_position(tide_source *source)
{
    char *position = tide_source_position(source, tide_source_offset(source), NULL);
    must(position && !strchr(position, '\n'));
    return position;
}

static char *changed_position(int kind, const uint8_t *data, size_t size)
{
    tide_source *source = open_source(kind);
    read_some(source, 1 + data[0]);
    char *position = present_position(source);
    size_t length = strlen(position);
    for (data++, size--; size >= 2; data += 2, size -= 2)
        position[data[0] % length] = (char)data[1];
    return position;
}

static void try_position(int kind, const char *position)
{
    tide_error err = {.text = ""};
    tide_source *source = open_source(kind);
    uint64_t before = tide_source_offset(source);
    int status = tide_source_seek(source, position, &err);
    if (status)
        must_have_error_text(&err);
    if (status && status != TIDE_ERROR_FORMAT) { /* it must not be read */
        tide_source_close(source);
        sources[kind] = NULL;
        return;
    }
    must(!status || tide_source_offset(source) == before);
    read_some(source, READ);
    uint64_t offset = tide_source_offset(source);
    char *here = present_position(source);
    source = open_source(kind);
    must(tide_source_seek(source, here, NULL) == TIDE_OK);
    must(kind == FOLLOWED || tide_source_offset(source) == offset);
    free(here);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    int kind = data[0] % 4 % SOURCES;
    char *position = data[0] & 4 ? changed_position(kind, data + 1, size - 1)
                                 : strndup((const char *)data + 1, size - 1);
    must(position != NULL);
    try_position(kind, position);
    free(position);
    return 0;
}
