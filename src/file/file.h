/* file.h - files: I/O that survives signals, the sectioned store, atomic replacement.
 */
#ifndef TIDE_FILE_H
#define TIDE_FILE_H

#include "base/base.h"

#include <wordtide/tools.h>

/* -- calls that signals may interrupt (file_io.c) ---------------------------------- */

/* Writes all `size` bytes. Returns 0 or an errno; after an error part may be written.
 */
int tide_file_write(int file, const void *bytes, size_t size, uint64_t offset);

/* Reads `size` bytes, or those up to the end of the file. Returns their count, or -1
 * with errno set. */
ptrdiff_t tide_file_read(int file, void *bytes, size_t size, uint64_t offset);

/* read(2), restarted when a signal interrupts it. */
ptrdiff_t tide_file_read_some(int file, void *bytes, size_t size);

/* Whether an errno reports a temporary shortage (of file descriptors or kernel memory),
 * so that the call is worth retrying later. */
bool tide_errno_is_transient(int reason);

/* Syncs the contents of a file to disk. Returns 0 or an errno. */
int tide_file_sync(int file);

/* Syncs the entries of a directory. File systems that do not support it do not need it;
 * then it succeeds. */
bool tide_directory_sync(int directory);

/* -- store (store_read.c, store_write.c): a file of named, checksummed sections ---- */

/* doc/FORMAT.md has the layout. Section names are unique and consist of at most
 * TIDE_SECTION_NAME_MAX characters of a-z 0-9 . - */
#define TIDE_SECTION_NAME_MAX 15
#define TIDE_SECTIONS_MAX 64

typedef struct tide_store_writer tide_store_writer;

/* Creates a temporary file beside `path`, which is left alone until the commit. Fails if
 * there is another file than a store at `path`. */
tide_store_writer *tide_store_create(const char *path, tide_error *err);

/* Calls `callback` from time to time while sections are written, until
 * tide_store_finish. */
void tide_store_on_progress(tide_store_writer *writer, void (*callback)(void *data),
                            void *data);

/* Begin a section, and append to it any number of times; the next begin, or the commit,
 * ends it. Both are no-ops after a failure, which the commit reports. */
void tide_store_begin(tide_store_writer *writer, const char *name);
void tide_store_append(tide_store_writer *writer, const void *bytes, size_t size);

/* Begins a section and appends all of it. */
void tide_store_put(tide_store_writer *writer, const char *name, const void *bytes,
                    size_t size);

/* Writes the header and the end record, syncs, reads the file back, renames it over
 * `path` and syncs the directory. Frees the writer. On failure the old file is
 * untouched and the temporary one removed. */
int tide_store_commit(tide_store_writer *writer, tide_error *err);

/* The two halves of a commit. tide_store_finish writes everything that is still
 * buffered and returns the size of the file. tide_store_commit_keeping syncs it, reads
 * it back and renames it over the old file; it does not access the saved objects any
 * more. The last `keep` versions of the file are kept as PATH.1 (the latest), PATH.2
 * and so on. */
uint64_t tide_store_finish(tide_store_writer *writer);
int tide_store_commit_keeping(tide_store_writer *writer, uint32_t keep,
                              tide_error *err);

/* For low-pause saves: preallocates about `bytes` for the file, both blocks on disk and
 * pages in the cache, and waits until the file system has nothing else to write. May
 * block on the disk. If the disk is full, the writer fails. */
void tide_store_preallocate(tide_store_writer *writer, uint64_t bytes);

/* Lets a second thread do the writing, in tide_store_run_writer, which returns when
 * tide_store_finish was called and everything is written. To be called before the first
 * section. tide_store_finish must have returned before the commit. */
int tide_store_start_writer(tide_store_writer *writer, tide_error *err);
void tide_store_run_writer(tide_store_writer *writer);

/* Removes the temporary file and frees the writer. `writer` may be NULL. */
void tide_store_discard(tide_store_writer *writer);

typedef struct tide_store tide_store;

/* Opens a store and validates all of it: header, table, lengths, padding, end record
 * and the checksum of every section. Reads the file once through a small buffer; sizes
 * found in the file never determine an allocation. */
tide_store *tide_store_open(const char *path, tide_error *err);
void tide_store_close(tide_store *store);

const char *tide_store_path(const tide_store *store);
uint64_t tide_store_length(const tide_store *store); /* of the file, in bytes */
bool tide_store_has(const tide_store *store, const char *name);

/* The size in bytes of a section; TIDE_ERROR_FORMAT if there is none of that name. */
int64_t tide_store_size(const tide_store *store, const char *name, tide_error *err);

/* Reads a whole section, whose size must be `size`, and verifies its checksum again. */
int tide_store_read(tide_store *store, const char *name, void *bytes, size_t size,
                    tide_error *err);

/* Reads part of a section, without verifying the checksum again. */
int tide_store_read_at(tide_store *store, const char *name, uint64_t offset,
                       void *bytes, size_t size, tide_error *err);

/* Encode and decode little-endian numbers. */
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

/* -- output (output.c): a file written sequentially and replaced atomically -------- */

/* More of it is in wordtide/tools.h. The path "-" is standard output, which has no
 * temporary file. */

#define TIDE_OUTPUT_BUFFER (256 * 1024)

/* Writes to a file that the caller has opened and has to close. It has no temporary
 * file either. */
tide_output *tide_output_open(int file, tide_error *err);

/* Returns a buffer of `size` <= TIDE_OUTPUT_BUFFER bytes; tide_output_advance then says
 * how many of them were filled. After a failure nothing more is written; the commit
 * reports it. */
char *tide_output_reserve(tide_output *out, size_t size);
void tide_output_advance(tide_output *out, size_t size);
void tide_output_put(tide_output *out, const void *bytes, size_t size);
bool tide_output_failed(const tide_output *out);

#endif
