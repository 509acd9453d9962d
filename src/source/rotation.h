/* rotation.h - the files that a log is rotated into: log, log.1, log-20260101.
 * Private. */
#ifndef TIDE_SOURCE_ROTATION_H
#define TIDE_SOURCE_ROTATION_H

#include "base/base.h"

#include <limits.h>
#include <sys/stat.h>
#include <time.h>

typedef struct tide_rotated_file {
    dev_t device;
    ino_t inode;
    struct timespec written; /* last modification */
    uint64_t size;
    char name[NAME_MAX + 1]; /* in the directory; "" if it has no name there any more */
} tide_rotated_file;

/* The files that the writer has moved on to since it wrote the current one. */
typedef struct tide_rotation {
    bool found;                    /* there is such a file */
    bool has_text;                 /* at least one of them is not empty */
    tide_rotated_file next;        /* the first of them */
    char compressed[NAME_MAX + 1]; /* a compressed file before `next`; "" if none */
} tide_rotation;

/* Sets everything but the name. */
void tide_rotation_set(tide_rotated_file *file, const struct stat *status);

/* Finds the files that follow `current`. False if the directory cannot be read, or is
 * changing at this moment. */
bool tide_rotation_next(const char *folder, const char *base,
                        const tide_rotated_file *current, tide_rotation *s);

/* Hashes the last bytes, up to TIDE_FINGERPRINT_BYTES, before `offset`; false if the
 * file is shorter. */
bool tide_fingerprint_file(int file, uint64_t offset, uint64_t *fingerprint);

/* Opens the file that has this fingerprint at this offset: the one with the right
 * device and inode, or else the only one with that fingerprint. Returns its descriptor
 * or -1. */
int tide_rotation_find(const char *folder, const char *base,
                       const tide_rotated_file *wanted, uint64_t offset,
                       uint64_t fingerprint);

/* Opens the file if its name still refers to it. Returns its descriptor or -1. */
int tide_rotation_open(const char *folder, const tide_rotated_file *file);

#endif
