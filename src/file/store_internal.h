/* store_internal.h - shared by store_read.c, store_write.c, target.c, replace.c and
 * output.c: the layout of a store and the replacement of a file. Private.
 */
#ifndef TIDE_FILE_STORE_INTERNAL_H
#define TIDE_FILE_STORE_INTERNAL_H

#include "file/file.h"

#include <limits.h>

/* -- layout (store_read.c), see doc/FORMAT.md -------------------------------------- */

enum {
    TIDE_STORE_MAJOR = 1, /* a reader refuses files of another major version */
    TIDE_STORE_MINOR = 0, /* a larger minor version only adds sections */

    TIDE_STORE_ALIGN = 64,
    TIDE_STORE_TABLE = 64, /* offset of the table */
    TIDE_STORE_ENTRY = 40, /* size of one of its entries */
    TIDE_STORE_HEADER = 2688,
    TIDE_STORE_CHECKSUM = TIDE_STORE_HEADER - 8, /* offset of the header's checksum */
    TIDE_STORE_END = 24,
};

typedef struct tide_section {
    char name[TIDE_SECTION_NAME_MAX + 1];
    uint64_t offset;
    uint64_t size;
    uint64_t checksum;
} tide_section;

typedef struct tide_section_table {
    uint64_t length;   /* of the file */
    uint64_t checksum; /* of the header */
    uint32_t count;
    tide_section sections[TIDE_SECTIONS_MAX];
} tide_section_table;

static inline uint64_t tide_store_aligned(uint64_t offset)
{
    return (offset + TIDE_STORE_ALIGN - 1) / TIDE_STORE_ALIGN * TIDE_STORE_ALIGN;
}

/* Whether this is a valid section name, padded with zeros. */
bool tide_section_name_valid(const char name[TIDE_SECTION_NAME_MAX + 1]);

/* Encodes the table into a header and sets its checksum. */
void tide_store_header(tide_section_table *table,
                       unsigned char header[TIDE_STORE_HEADER]);
void tide_store_end(const tide_section_table *table, unsigned char end[TIDE_STORE_END]);

/* Whether the start or the end of the file is that of a store; the rest may be
 * corrupt. */
bool tide_store_recognize(int file);

/* Reads and validates header and end record: everything but the sections' contents. */
int tide_store_table(int file, const char *path, tide_section_table *table,
                     tide_error *err);

/* Reads a section and its padding and verifies its checksum. `capacity` is the size of
 * the buffer, at least TIDE_STORE_ALIGN bytes. */
int tide_store_check(int file, const char *path, const tide_section *section,
                     unsigned char *buffer, size_t capacity, tide_error *err);

/* For tests: corrects magic, length, checksums and end record in the bytes of a file,
 * as far as its table allows, so that a reader gets past them. */
void tide_store_rechecksum(unsigned char *bytes, size_t size);

/* -- target (target.c): what a path holds that is going to be written --------------- */

typedef enum tide_target {
    TIDE_TARGET_EMPTY, /* no file, or one without content */
    TIDE_TARGET_STORE, /* perhaps corrupt */
    TIDE_TARGET_OTHER, /* what no store may replace */
} tide_target;

/* Returns 0, or an errno if the file cannot be read; then it counts as other. */
int tide_target_read(int directory, const char *name, tide_target *target);

/* -- replacement (replace.c) ------------------------------------------------------- */

/* A temporary file that will replace another one. */
typedef struct tide_replacement {
    const char *path; /* as given by the caller, for messages; borrowed */
    int file;         /* the temporary file, open for reading and writing */
    int directory;
    char name[NAME_MAX + 1];      /* of the target, in the directory */
    char temporary[NAME_MAX + 1]; /* of the temporary file, in the directory */
} tide_replacement;

int tide_replacement_open(tide_replacement *replacement, const char *path,
                          tide_error *err);

/* Syncs the temporary file to disk. */
int tide_replacement_sync(tide_replacement *replacement, tide_error *err);

/* Renames the temporary file over the target. If `keep` is above 0, the old file is
 * kept as NAME.1, the one that was NAME.1 as NAME.2, and so on up to that number, or to
 * the first of these names that something other than a store has.
 * Releases everything, also on failure. */
int tide_replacement_commit(tide_replacement *replacement, uint32_t keep,
                            tide_error *err);

/* Removes the temporary file. */
void tide_replacement_discard(tide_replacement *replacement);

#endif
