/* store_write.c - the writer of a store.
 *
 * Sections are written in sequence behind a gap for the header, which can be written
 * only when their sizes and checksums are known. Bytes are first copied into a buffer
 * and then hashed there, so the checksum is always that of the bytes written, even if
 * another thread modifies the original in between.
 *
 * For low-pause saves two threads share the work:
 *
 *     saving thread --> full --> writing thread (tide_store_run_writer)
 *                  <-- empty <--
 *
 * The saving thread fills buffers and passes them on through the queue `full`; it
 * writes a buffer itself if `empty` has no other for it, so it never waits. When it is
 * done, the last few buffers may still have to be written. In addition the file can be
 * preallocated (tide_store_preallocate): its blocks are reserved on disk, and its pages
 * are in the page cache, where new ones would have to be allocated and cleared first.
 *
 * A failure is remembered until the commit, so that modules can save themselves without
 * checking for errors. The contents of the file depend on its sections alone, not on
 * time, process or chance.
 */
#include "file/file.h"
#include "file/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

enum { BUFFER_SIZE = TIDE_SIZE(1 << 20, 4096), SHARED_BUFFERS = 4 };

typedef struct buffer {
    uint64_t offset; /* in the file */
    size_t used;
    unsigned char bytes[BUFFER_SIZE];
} buffer;

struct tide_store_writer {
    XXH3_state_t hash; /* of the open section, up to `hashed` */
    tide_replacement replacement;
    tide_section_table table; /* its last section is open */
    tide_error failure;       /* of the saving thread; TIDE_OK if there is none */
    _Atomic int write_errno;  /* of the first write that failed; 0 if none did */
    uint64_t preallocated;    /* bytes */
    buffer *filling;          /* one of `buffers` */
    size_t hashed;            /* bytes of `filling` that are in `hash` */
    buffer *buffers;          /* one, or SHARED_BUFFERS */
    tide_queue *full, *empty; /* of buffers; NULL without a writing thread */
    void (*on_progress)(void *data); /* may be NULL */
    void *progress_data;
    char path[];
};

static void free_writer(tide_store_writer *w)
{
    tide_queue_free(w->full);
    tide_queue_free(w->empty);
    free(w->buffers);
    free(w);
}

/* A store replaces only stores. */
static int check_target(const tide_store_writer *w, tide_error *err)
{
    tide_target target;
    const tide_replacement *r = &w->replacement;
    int error = tide_target_read(r->directory, r->name, &target);
    if (target != TIDE_TARGET_OTHER)
        return TIDE_OK;
    return tide_fail(err, TIDE_ERROR_IO, "cannot write %s: %s", w->path,
                     error ? strerror(error) : "it exists and is not a model");
}

tide_store_writer *tide_store_create(const char *path, tide_error *err)
{
    size_t length = strlen(path);
    tide_store_writer *w = tide_alloc(1, sizeof *w + length + 1);
    if (w)
        w->filling = w->buffers = tide_alloc(1, sizeof *w->buffers);
    if (!w || !w->buffers) {
        free(w);
        tide_fail(err, TIDE_ERROR_MEMORY, "cannot write %s: no memory", path);
        return NULL;
    }
    memcpy(w->path, path, length + 1);
    /* The first buffer starts behind the header, which is written last. */
    w->filling->offset = TIDE_STORE_HEADER;
    XXH3_64bits_reset(&w->hash);
    if (tide_replacement_open(&w->replacement, w->path, err) != TIDE_OK) {
        free_writer(w);
        return NULL;
    }
    if (check_target(w, err) != TIDE_OK) {
        tide_store_discard(w);
        return NULL;
    }
    return w;
}

void tide_store_on_progress(tide_store_writer *w, void (*callback)(void *data),
                            void *data)
{
    w->on_progress = callback;
    w->progress_data = data;
}

static bool failed(const tide_store_writer *w)
{
    return w->failure.status != TIDE_OK || w->write_errno;
}

/* -- writing ----------------------------------------------------------------------- */

static void write_buffer(tide_store_writer *w, const buffer *b)
{
    /* After a failure the file is lost, so the remaining buffers are dropped; the
     * commit reports the first error. Both threads may get here, hence the atomic. */
    if (!w->write_errno)
        w->write_errno =
            tide_file_write(w->replacement.file, b->bytes, b->used, b->offset);
}

int tide_store_start_writer(tide_store_writer *w, tide_error *err)
{
    buffer *buffers = tide_alloc(SHARED_BUFFERS, sizeof *buffers);
    w->full = tide_queue_new(SHARED_BUFFERS, NULL);
    w->empty = tide_queue_new(SHARED_BUFFERS, NULL);
    if (!buffers || !w->full || !w->empty) {
        free(buffers);
        return tide_fail(err, TIDE_ERROR_MEMORY, "cannot write %s: no memory", w->path);
    }
    /* The single buffer is replaced before anything is in it; one of the new ones is
     * filled, the others start out empty. */
    buffers[0].offset = w->filling->offset;
    for (int i = 1; i < SHARED_BUFFERS; i++)
        tide_queue_try_push(w->empty, &buffers[i]);
    free(w->buffers);
    w->filling = w->buffers = buffers;
    return TIDE_OK;
}

void tide_store_run_writer(tide_store_writer *w)
{
    for (buffer *b; (b = tide_queue_pop(w->full));) {
        write_buffer(w, b);
        /* Cannot fail, for the reason given in flush(). */
        tide_queue_try_push(w->empty, b);
    }
}

static void update_hash(tide_store_writer *w)
{
    buffer *b = w->filling;
    XXH3_64bits_update(&w->hash, b->bytes + w->hashed, b->used - w->hashed);
    w->hashed = b->used;
}

/* Gets the current buffer written and continues with an empty one, at `offset` in the
 * file. */
static void flush(tide_store_writer *w, uint64_t offset)
{
    /* The buffer may hold the end of one section and the start of the next;
     * tide_store_begin has set `hashed` to that boundary, so only the open section is
     * hashed here. After this the buffer may belong to the other thread, so it has to
     * be hashed first. */
    update_hash(w);
    buffer *empty = w->full ? tide_queue_try_pop(w->empty) : NULL;
    if (empty) {
        /* The push cannot fail: every buffer is in `full`, in `empty`, being filled or
         * being written, and each queue has a capacity of SHARED_BUFFERS. */
        tide_queue_try_push(w->full, w->filling);
        w->filling = empty;
    } else {
        /* There is no second thread, or it has fallen behind and all other buffers are
         * waiting for it. Writing this one here bounds memory without waiting for it.
         * The order of the writes does not matter, since each has its own offset. */
        write_buffer(w, w->filling);
    }
    w->filling->offset = offset;
    w->filling->used = w->hashed = 0;
}

static uint64_t end_of_file(const tide_store_writer *w)
{
    return w->filling->offset + w->filling->used;
}

static void write_bytes(tide_store_writer *w, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    while (size > 0 && !failed(w)) {
        buffer *b = w->filling;
        size_t n = BUFFER_SIZE - b->used < size ? BUFFER_SIZE - b->used : size;
        memcpy(b->bytes + b->used, from, n);
        b->used += n;
        from += n;
        size -= n;
        if (b->used < BUFFER_SIZE)
            continue;
        /* A full buffer is the natural moment to let the caller do something else, such
         * as serving live queries: a megabyte has been copied since the last time. */
        flush(w, end_of_file(w));
        if (w->on_progress)
            w->on_progress(w->progress_data);
    }
}

/* -- sections ---------------------------------------------------------------------- */

static void end_section(tide_store_writer *w)
{
    if (w->table.count == 0)
        return;
    static const unsigned char zeros[TIDE_STORE_ALIGN];
    tide_section *section = &w->table.sections[w->table.count - 1];
    update_hash(w);
    section->checksum = XXH3_64bits_digest(&w->hash);
    /* The padding is not part of the section, and not of its checksum, which is taken
     * before. */
    uint64_t end = section->offset + section->size;
    write_bytes(w, zeros, tide_store_aligned(end) - end);
}

void tide_store_begin(tide_store_writer *w, const char *name)
{
    if (failed(w))
        return;
    end_section(w);
    if (w->table.count == TIDE_SECTIONS_MAX) {
        tide_fail(&w->failure, TIDE_ERROR_PARAMETER,
                  "cannot write %s: more than %d sections", w->path, TIDE_SECTIONS_MAX);
        return;
    }
    tide_section *section = &w->table.sections[w->table.count];
    size_t length = strnlen(name, sizeof section->name);
    memcpy(section->name, name, length);
    /* Names are constants of the code, so this can only fail by a bug. It is checked
     * all the same, because a file with two sections of one name could never be
     * read. */
    bool valid =
        length < sizeof section->name && tide_section_name_valid(section->name);
    for (uint32_t i = 0; valid && i < w->table.count; i++)
        valid = strcmp(w->table.sections[i].name, name) != 0;
    if (!valid) {
        tide_fail(&w->failure, TIDE_ERROR_PARAMETER,
                  "cannot write %s: invalid or duplicate section name \"%.20s\"",
                  w->path, name);
        return;
    }
    /* The hash of the new section starts at the current end of the buffer, which may
     * still hold the end of the previous one. */
    section->offset = end_of_file(w);
    w->table.count++;
    XXH3_64bits_reset(&w->hash);
    w->hashed = w->filling->used;
}

void tide_store_append(tide_store_writer *w, const void *bytes, size_t size)
{
    if (failed(w))
        return;
    if (w->table.count == 0) {
        tide_fail(&w->failure, TIDE_ERROR_PARAMETER,
                  "cannot write %s: no section was begun", w->path);
        return;
    }
    write_bytes(w, bytes, size);
    w->table.sections[w->table.count - 1].size += size;
}

void tide_store_put(tide_store_writer *w, const char *name, const void *bytes,
                    size_t size)
{
    tide_store_begin(w, name);
    tide_store_append(w, bytes, size);
}

/* Writes the end record, and then the header into the gap at the start of the file. */
static void write_end_and_header(tide_store_writer *w)
{
    unsigned char header[TIDE_STORE_HEADER], end[TIDE_STORE_END];
    end_section(w);
    w->table.length = end_of_file(w) + sizeof end;
    tide_store_header(&w->table, header);
    tide_store_end(&w->table, end);
    write_bytes(w, end, sizeof end);
    /* The first flush moves the position to the start of the file, the second writes
     * the header there. */
    flush(w, 0);
    write_bytes(w, header, sizeof header);
    flush(w, 0);
}

uint64_t tide_store_finish(tide_store_writer *w)
{
    if (!failed(w))
        write_end_and_header(w);
    w->on_progress = NULL;
    if (w->full)
        tide_queue_close(w->full);
    return w->table.length;
}

/* -- committing -------------------------------------------------------------------- */

static bool is_disk_full(int reason)
{
    return reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
}

/* If the file system cannot reserve blocks, the file becomes a hole of that size, which
 * still brings its pages into the cache. */
void tide_store_preallocate(tide_store_writer *w, uint64_t bytes)
{
    int file = w->replacement.file;
    int reason = fallocate(file, 0, 0, (off_t)bytes) != 0 ? errno : 0;
    if (reason && !is_disk_full(reason))
        reason = ftruncate(file, (off_t)bytes) != 0 ? errno : 0;
    w->write_errno = reason;
    if (reason)
        return;
    w->preallocated = bytes;
    /* Writes that other programs have pending would compete with the save. Waiting for
     * them here, outside the pause, is the point of this function. */
    (void)syncfs(file);
    /* Reading allocates the pages of the file in the page cache. A failure only makes
     * the save slower. */
    for (uint64_t at = 0; at < bytes; at += BUFFER_SIZE)
        if (tide_file_read(file, w->filling->bytes, BUFFER_SIZE, at) < 0)
            return;
}

/* Verifies that a reader finds what was meant to be written. */
static void read_back(tide_store_writer *w)
{
    int file = w->replacement.file;
    tide_section_table found;
    /* The table is parsed as a reader would, and every section is hashed as it is now
     * in the file. Both must agree with what was computed from the buffers. */
    bool same = tide_store_table(file, w->path, &found, NULL) == TIDE_OK &&
                found.checksum == w->table.checksum;
    for (uint32_t i = 0; same && i < w->table.count; i++)
        same = tide_store_check(file, w->path, &w->table.sections[i], w->buffers->bytes,
                                BUFFER_SIZE, NULL) == TIDE_OK;
    if (!same)
        tide_fail(&w->failure, TIDE_ERROR_IO,
                  "cannot write %s: read-back verification failed", w->path);
}

/* Truncates a preallocated file to its actual length, syncs it and reads it back. */
static void sync_and_verify(tide_store_writer *w)
{
    if (w->preallocated > w->table.length &&
        ftruncate(w->replacement.file, (off_t)w->table.length) != 0)
        w->write_errno = errno;
    /* Only now are both threads done, so the error of either is final. Truncation comes
     * first: a sync would write blocks that are about to be dropped. */
    if (w->write_errno)
        tide_fail(&w->failure, TIDE_ERROR_IO, "cannot write %s: %s", w->path,
                  strerror(w->write_errno));
    else if (tide_replacement_sync(&w->replacement, &w->failure) == TIDE_OK)
        read_back(w);
}

int tide_store_commit_keeping(tide_store_writer *w, uint32_t keep, tide_error *err)
{
    int status;
    if (w->failure.status == TIDE_OK)
        sync_and_verify(w);
    if (w->failure.status != TIDE_OK) {
        status = tide_fail(err, w->failure.status, "%s", w->failure.text);
        tide_replacement_discard(&w->replacement);
    } else {
        status = tide_replacement_commit(&w->replacement, keep, err);
    }
    free_writer(w);
    return status;
}

int tide_store_commit(tide_store_writer *w, tide_error *err)
{
    tide_store_finish(w);
    return tide_store_commit_keeping(w, 0, err);
}

void tide_store_discard(tide_store_writer *w)
{
    if (!w)
        return;
    tide_replacement_discard(&w->replacement);
    free_writer(w);
}
