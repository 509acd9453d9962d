/* fuzz_fixture.h - what fuzz targets share: what must hold, files in memory. */
#ifndef TIDE_FUZZ_FIXTURE_H
#define TIDE_FUZZ_FIXTURE_H

#include "base/base.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool condition)
{
    if (!condition)
        abort();
}

static inline void must_have_error_text(const tide_error *err)
{
    must(err->status < 0 && err->text[0] && !strchr(err->text, '\n'));
}

enum { FOLDER_MAX = 512, IN_FOLDER_MAX = FOLDER_MAX + 64 };

/* In memory, where the system has such a place: an input is not to wait for a disk. */
static inline void make_folder(char folder[FOLDER_MAX])
{
    const char *memory = "/dev/shm", *temporary = getenv("TMPDIR");
    if (access(memory, W_OK) != 0)
        memory = temporary ? temporary : P_tmpdir;
    snprintf(folder, FOLDER_MAX, "%.400s/tide-fuzz-XXXXXX", memory);
    must(mkdtemp(folder) != NULL);
}

/* The path of a file of these bytes, the same for all inputs. */
static inline const char *memory_file(const void *bytes, size_t size)
{
    static int file = -1;
    static char path[64];
    if (file < 0)
        file = memfd_create("input", MFD_CLOEXEC);
    must(file >= 0 && ftruncate(file, 0) == 0);
    must(pwrite(file, bytes, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}

static inline void spit(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    close(file);
}

/* Returns the size, which is below the room. */
static inline size_t slurp(const char *path, void *bytes, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    must(file != NULL);
    size_t size = fread(bytes, 1, capacity, file);
    must(size < capacity);
    fclose(file);
    return size;
}

#endif
