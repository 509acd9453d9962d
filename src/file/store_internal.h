/* store_internal.h - what the parts of the store share: the layout and the replacement.
 *
 * store.c knows the layout and reads, store_write.c writes, replace.c puts a finished
 * file in the place of an old one.
 */
#ifndef TIDE_FILE_STORE_INTERNAL_H
#define TIDE_FILE_STORE_INTERNAL_H

#include "file/file.h"

#include <limits.h>

/* -- layout (store.c), drawn in doc/FORMAT.md -------------------------------------- */

enum {
    TIDE_STORE_MAJOR = 1, /* a reader refuses files of another one */
    TIDE_STORE_MINOR = 0, /* a larger one only adds sections */

    TIDE_STORE_ALIGN = 64,
    TIDE_STORE_TABLE = 64, /* where the table begins */
    TIDE_STORE_ENTRY = 40, /* bytes of one of its entries */
    TIDE_STORE_HEADER = 2688,
    TIDE_STORE_SEAL = TIDE_STORE_HEADER - 8, /* where the header's checksum is */
    TIDE_STORE_END = 24,
};

typedef struct tide_section {
    char name[TIDE_SECTION_NAME_MAX + 1];
    uint64_t offset;
    uint64_t size;
    uint64_t checksum;
} tide_section;

typedef struct tide_section_table {
    uint64_t length; /* of the file */
    uint64_t seal;   /* checksum of the header */
    uint32_t count;
    tide_section sections[TIDE_SECTIONS_MAX];
} tide_section_table;

static inline uint64_t tide_store_aligned(uint64_t offset)
{
    return (offset + TIDE_STORE_ALIGN - 1) / TIDE_STORE_ALIGN * TIDE_STORE_ALIGN;
}

/* Whether these are the bytes of a section name, filled up with zeros. */
bool tide_section_name_valid(const char name[TIDE_SECTION_NAME_MAX + 1]);

/* Encodes the table into a header and sets its seal. */
void tide_store_header(tide_section_table *table,
                       unsigned char header[TIDE_STORE_HEADER]);
void tide_store_end(const tide_section_table *table, unsigned char end[TIDE_STORE_END]);

/* Reads and validates header and end record: all but what the sections hold. */
int tide_store_table(int file, const char *path, tide_section_table *table,
                     tide_error *err);

/* Reads a section and what is behind it, and compares checksums. The buffer has room for TIDE_STORE_ALIGN
 * bytes or more. */
int tide_store_check(int file, const char *path, const tide_section *section,
                     unsigned char *buffer, size_t room, tide_error *err);

/* For tests: makes magic, length, checksums and end record of the bytes of a file
 * right, as far as its table allows, so that a reader gets to what lies behind them. */
void tide_store_rechecksum(unsigned char *bytes, size_t size);

/* -- replacement (replace.c) ------------------------------------------------------- */

/* A temporary file that is to take the place of another one. */
typedef struct tide_replacement {
    const char *path; /* as the caller named it, for messages; borrowed */
    int file;         /* the temporary one, to be written and read */
    int directory;
    char name[NAME_MAX + 1]; /* in the directory: of the target, and of the temporary */
    char temporary[NAME_MAX + 1];
} tide_replacement;

int tide_replacement_open(tide_replacement *replacement, const char *path,
                          tide_error *err);

/* Brings the bytes to the disk. */
int tide_replacement_sync(tide_replacement *replacement, tide_error *err);

/* Puts the file in its place, and the one that was there, if `older` is above 0, beside it with .1 behind
 * its name, what was .1 as .2, up to that number. Either way nothing is left to release. */
int tide_replacement_commit(tide_replacement *replacement, uint32_t older,
                            tide_error *err);

/* Removes the temporary file. */
void tide_replacement_discard(tide_replacement *replacement);

#endif
