/* file.h - files: interrupted calls, the sectioned store, files that are replaced atomically. */
#ifndef TIDE_FILE_H
#define TIDE_FILE_H

#include "base/base.h"

/* -- calls that signals may interrupt (file_io.c) ---------------------------------- */

/* Writes all of it. Returns 0 or an errno, part of it written. */
int tide_file_write(int file, const void *bytes, size_t size, uint64_t offset);

/* Reads `size` bytes, or those up to the end of the file; returns how many. -1 with errno. */
ptrdiff_t tide_file_read(int file, void *bytes, size_t size, uint64_t offset);

/* read(2), begun again when a signal interrupts it. */
ptrdiff_t tide_file_read_some(int file, void *bytes, size_t size);

/* Whether an errno is for a lack that may soon be over, of file descriptors or of the kernel's memory, so that
 * the call should be made again later. */
bool tide_errno_is_transient(int reason);

/* Brings the bytes of a file to the disk. Returns 0 or an errno. */
int tide_file_sync(int file);

/* The same for the names in a directory. Some file systems cannot and need not. */
bool tide_directory_sync(int directory);

/* -- store (store_read.c, store_write.c): a sectioned, checksummed, atomically replaced file  */

/* Drawn byte by byte in doc/FORMAT.md. Section names are at most TIDE_SECTION_NAME_MAX bytes of
 * a-z 0-9 . - and appear once. */
#define TIDE_SECTION_NAME_MAX 15
#define TIDE_SECTIONS_MAX 64

typedef struct tide_store_writer tide_store_writer;

/* Begins a temporary file beside `path`, which stays as it is until the commit. */
tide_store_writer *tide_store_create(const char *path, tide_error *err);

/* Calls `watch` every now and then while the file is filled, until it is sealed. */
void tide_store_on_progress(tide_store_writer *writer, void (*watch)(void *data),
                            void *data);

/* Begin a section, append any number of pieces to it; the next begin or the commit ends it. Both
 * are no-ops after a failure, which the commit reports. */
void tide_store_begin(tide_store_writer *writer, const char *name);
void tide_store_append(tide_store_writer *writer, const void *bytes, size_t size);

/* One section in one piece. */
void tide_store_put(tide_store_writer *writer, const char *name, const void *bytes,
                    size_t size);

/* Writes the table and the end record, syncs, reads the headers back, renames over `path` and syncs
 * the directory. Frees the writer; on failure the old file is untouched and the temporary one gone. */
int tide_store_commit(tide_store_writer *writer, tide_error *err);

/* The two halves of a commit. The first writes all that is left to be written and returns the size of the
 * file; the second brings it to the disk and into its place, and needs nothing of what was saved. The
 * `older` files that were there before stay, as PATH.1 (the latest), PATH.2 and so on. */
uint64_t tide_store_finish(tide_store_writer *writer);
int tide_store_replace(tide_store_writer *writer, uint32_t older, tide_error *err);

/* For who may not stand still for long. Room for a file of about this size is made in advance, and may take as
 * long as the disk likes: blocks, pages, and a disk that has nothing else to write. No room is a failure of the writer. */
void tide_store_preallocate(tide_store_writer *writer, uint64_t bytes);

/* And another thread writes what is put into the file, in tide_store_run_writer, which returns when the file is sealed
 * and all of it written. To be shared before the first section. The seal must have returned before the file is
 * published. */
int tide_store_start_writer(tide_store_writer *writer, tide_error *err);
void tide_store_run_writer(tide_store_writer *writer);

/* Throws the temporary file away and frees the writer. NULL is fine. */
void tide_store_discard(tide_store_writer *writer);

typedef struct tide_store tide_store;

/* Opens and validates header, table, lengths, padding and end record, then the checksum of every
 * section, reading the file once in small pieces: nothing is allocated by what the file claims. */
tide_store *tide_store_open(const char *path, tide_error *err);
void tide_store_close(tide_store *store);

const char *tide_store_path(const tide_store *store);
uint64_t tide_store_length(const tide_store *store); /* of the file, in bytes */
bool tide_store_has(const tide_store *store, const char *name);

/* The size in bytes of a section that must be there; TIDE_ERROR_FORMAT otherwise. */
int64_t tide_store_size(const tide_store *store, const char *name, tide_error *err);

/* Reads a whole section, whose size must be `size`, and verifies its checksum again. */
int tide_store_read(tide_store *store, const char *name, void *bytes, size_t size,
                    tide_error *err);

/* Reads part of a section; for sections that are taken in pieces. */
int tide_store_read_at(tide_store *store, const char *name, uint64_t offset,
                       void *bytes, size_t size, tide_error *err);

/* Little-endian numbers in a growing or a given buffer, for small mixed sections. */
static inline void tide_put64(unsigned char *bytes, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t tide_get64(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* -- output (output.c): a file written from its beginning to its end, complete or not there  */

/* The rest is in wordtide.h. The path "-" is standard output, which has no temporary file. */

#define TIDE_OUTPUT_ROOM (256 * 1024)

/* Writes to a file of the caller's, which stays open. It has no temporary file either. */
tide_output *tide_output_open(int file, tide_error *err);

/* Room for `size` <= TIDE_OUTPUT_ROOM bytes, of which _take says how many were filled. After a
 * failure nothing is written any more; the commit reports it. */
char *tide_output_reserve(tide_output *out, size_t size);
void tide_output_advance(tide_output *out, size_t size);
void tide_output_put(tide_output *out, const void *bytes, size_t size);
bool tide_output_failed(const tide_output *out);

#endif
