/* fuzz_fixture.h - what fuzz targets share: what must hold, a folder of the process, files in it. */
#ifndef TIDE_FUZZ_FIXTURE_H
#define TIDE_FUZZ_FIXTURE_H

#include "base/base.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool condition)
{
    if (!condition)
        abort();
}

static inline void must_have_said_why(const tide_error *err)
{
    must(err->status < 0 && err->text[0] && !strchr(err->text, '\n'));
}

enum { FOLDER_MAX = 512, IN_FOLDER_MAX = FOLDER_MAX + 64 };

static inline void make_folder(char folder[FOLDER_MAX])
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, FOLDER_MAX, "%.400s/tide-fuzz-XXXXXX",
             temporary ? temporary : P_tmpdir);
    must(mkdtemp(folder) != NULL);
}

static inline void spit(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    close(file);
}

/* Returns the size, which is below the room. */
static inline size_t slurp(const char *path, void *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    must(file != NULL);
    size_t size = fread(bytes, 1, room, file);
    must(size < room);
    fclose(file);
    return size;
}

#endif
