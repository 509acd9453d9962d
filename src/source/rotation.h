/* rotation.h - the files that a log is rotated into: log, log.1, log-20260101. Private. */
#ifndef TIDE_SOURCE_ROTATION_H
#define TIDE_SOURCE_ROTATION_H

#include "base/base.h"

#include <limits.h>
#include <sys/stat.h>
#include <time.h>

typedef struct tide_rotated_file {
    dev_t device;
    ino_t inode;
    struct timespec written; /* last */
    uint64_t size;
    char name[NAME_MAX + 1]; /* in its folder; "" when it has none there any more */
} tide_rotated_file;

/* What the writer has gone on with since it wrote the file that is read now. */
typedef struct tide_rotation {
    bool found;
    bool has_text;             /* one of all those that come later has */
    tide_rotated_file next;    /* the first of them */
    char packed[NAME_MAX + 1]; /* one before that which is compressed; "" */
} tide_rotation;

/* All but the name. */
void tide_rotation_set(tide_rotated_file *file, const struct stat *status);

/* What follows `present`, whose name is found out. False when the folder cannot be read, or is being
 * changed at this moment. */
bool tide_rotation_next(const char *folder, const char *base,
                        const tide_rotated_file *present, tide_rotation *s);

/* Hash of the up to TIDE_FINGERPRINT_BYTES that end at `offset`; false when the file ends before. */
bool tide_fingerprint_file(int file, uint64_t offset, uint64_t *fingerprint);

/* Opens the sibling that has this fingerprint at this offset: the one with the right device and inode,
 * or else the only one. Returns its descriptor or -1. */
int tide_rotation_find(const char *folder, const char *base,
                       const tide_rotated_file *wanted, uint64_t offset,
                       uint64_t fingerprint);

/* Opens the file if it still has this name. Returns its descriptor or -1. */
int tide_rotation_open(const char *folder, const tide_rotated_file *file);

#endif
