/* target.c - what a path holds that is going to be written: a model replaces only
 * models, and everything else replaces anything but models.
 *
 * A corrupt model counts as a model as long as its start or its end is there. A file
 * without content, whose blocks were lost in a crash or never written, may be replaced
 * by anything.
 */
#include "file/file.h"
#include "file/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Finds out whether any byte is not zero. Returns 0 or an errno. */
static int find_content(int file, bool *found)
{
    unsigned char bytes[4096];
    uint64_t offset = 0;
    ptrdiff_t size;
    *found = false;
    while ((size = tide_file_read(file, bytes, sizeof bytes, offset)) > 0) {
        for (ptrdiff_t i = 0; i < size && !*found; i++)
            *found = bytes[i] != 0;
        if (*found)
            return 0;
        offset += (uint64_t)size;
    }
    return size < 0 ? errno : 0;
}

/* Anything but a regular file is rejected later, when the path is opened for writing. */
static int read_target(int directory, const char *name, tide_target *target)
{
    struct stat status;
    bool content;
    *target = TIDE_TARGET_EMPTY;
    if (fstatat(directory, name, &status, 0) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size == 0)
        return 0;
    int file = openat(directory, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? 0 : errno;
    int error = find_content(file, &content);
    if (!error && content)
        *target = tide_store_recognize(file) ? TIDE_TARGET_STORE : TIDE_TARGET_OTHER;
    close(file);
    return error;
}

int tide_target_read(int directory, const char *name, tide_target *target)
{
    int error = read_target(directory, name, target);
    /* What cannot be read is protected as if it were not a model. */
    if (error)
        *target = TIDE_TARGET_OTHER;
    return error;
}

int tide_path_not_model(const char *path, tide_error *err)
{
    tide_target target;
    tide_target_read(AT_FDCWD, path, &target);
    if (target != TIDE_TARGET_STORE)
        return TIDE_OK;
    return tide_fail(
        err, TIDE_ERROR_PARAMETER,
        "%s is a wordtide model; refusing to overwrite it (name another file "
        "or remove it first)",
        path);
}

static int check_target(const char *path, tide_error *err)
{
    tide_target target;
    int error = tide_target_read(AT_FDCWD, path, &target);
    if (error)
        return tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path,
                         strerror(error));
    if (target == TIDE_TARGET_OTHER)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s exists and is not a model; choose another name, or delete "
                         "it",
                         path);
    return TIDE_OK;
}

int tide_path_replaceable(const char *path, uint32_t keep, tide_error *err)
{
    char resolved[PATH_MAX], older[PATH_MAX + 16];
    struct stat found;
    int status = check_target(path, err);
    /* Earlier versions are beside the file that a symbolic link leads to. */
    bool is_link = lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
    const char *file = is_link && realpath(path, resolved) ? resolved : path;
    /* One version may be missing; see tide_trainer_recover. */
    for (uint32_t age = 1, missing = 0; age <= keep && missing < 2 && !status; age++) {
        snprintf(older, sizeof older, "%s.%u", file, age);
        missing = lstat(older, &found) == 0 ? 0 : missing + 1;
        status = check_target(older, err);
    }
    return status;
}
