/* store_write.c - the writer of a store.
 *
 * Sections go out as they come, behind a place left free for the header, which can only
 * be written when their sizes and checksums are known. Bytes are first copied into a
 * piece and then hashed where the copy is: the checksum is always that of the bytes
 * written, even if somebody changed the original in between.
 *
 * Who cannot wait for the file shares the work. One thread fills pieces, another writes
 * them (tide_store_run_writer); the first writes one itself when none is empty, and when it
 * is done the last few are still to be written. And it has room made in advance
 * (tide_store_preallocate): the disk has promised its blocks, and its pages are in the
 * cache of the kernel, where a new one would have to be found and cleared first.
 *
 * A failure is kept until the commit, so that modules can save themselves without
 * looking after errors. The file depends on its sections alone: no time, process or
 * chance.
 */
#include "file/file.h"
#include "file/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

enum { PIECE = TIDE_ROOM(1 << 20, 4096), SHARED_PIECES = 4 };

typedef struct piece {
    uint64_t offset; /* in the file */
    size_t used;
    unsigned char bytes[PIECE];
} piece;

struct tide_store_writer {
    XXH3_state_t hash; /* of the open section, without the end of the piece */
    tide_replacement replacement;
    tide_section_table table;  /* its last section is open */
    tide_error failure;        /* of who fills; TIDE_OK while there is none */
    _Atomic int unwritten;     /* errno of the first write that failed; 0 */
    uint64_t room;             /* bytes that the file was given in advance */
    piece *filling;            /* one of `pieces` */
    size_t hashed;             /* bytes of it */
    piece *pieces;             /* one, or SHARED_PIECES */
    tide_queue *full, *empty;  /* pieces of a file that is shared; NULL */
    void (*watch)(void *data); /* NULL for nobody */
    void *watch_data;
    char path[];
};

static void release(tide_store_writer *w)
{
    tide_queue_free(w->full);
    tide_queue_free(w->empty);
    free(w->pieces);
    free(w);
}

tide_store_writer *tide_store_create(const char *path, tide_error *err)
{
    size_t length = strlen(path);
    tide_store_writer *w = tide_alloc(1, sizeof *w + length + 1);
    if (w)
        w->filling = w->pieces = tide_alloc(1, sizeof *w->pieces);
    if (!w || !w->pieces) {
        free(w);
        tide_fail(err, TIDE_ERROR_MEMORY, "cannot write %s: no memory", path);
        return NULL;
    }
    memcpy(w->path, path, length + 1);
    w->filling->offset = TIDE_STORE_HEADER;
    XXH3_64bits_reset(&w->hash);
    if (tide_replacement_open(&w->replacement, w->path, err) != TIDE_OK) {
        release(w);
        return NULL;
    }
    return w;
}

void tide_store_on_progress(tide_store_writer *w, void (*watch)(void *data), void *data)
{
    w->watch = watch;
    w->watch_data = data;
}

static bool failed(const tide_store_writer *w)
{
    return w->failure.status != TIDE_OK || w->unwritten;
}

/* -- writing -------------------------------------------------------------------------- */

static void write_piece(tide_store_writer *w, const piece *p)
{
    if (!w->unwritten)
        w->unwritten =
            tide_file_write(w->replacement.file, p->bytes, p->used, p->offset);
}

int tide_store_start_writer(tide_store_writer *w, tide_error *err)
{
    piece *pieces = tide_alloc(SHARED_PIECES, sizeof *pieces);
    w->full = tide_queue_new(SHARED_PIECES, NULL);
    w->empty = tide_queue_new(SHARED_PIECES, NULL);
    if (!pieces || !w->full || !w->empty) {
        free(pieces);
        return tide_fail(err, TIDE_ERROR_MEMORY, "cannot write %s: no memory", w->path);
    }
    pieces[0].offset = w->filling->offset;
    for (int i = 1; i < SHARED_PIECES; i++)
        tide_queue_try_push(w->empty, &pieces[i]);
    free(w->pieces);
    w->filling = w->pieces = pieces;
    return TIDE_OK;
}

void tide_store_run_writer(tide_store_writer *w)
{
    for (piece *p; (p = tide_queue_pop(w->full));) {
        write_piece(w, p);
        tide_queue_try_push(w->empty, p);
    }
}

static void hash_piece(tide_store_writer *w)
{
    piece *p = w->filling;
    XXH3_64bits_update(&w->hash, p->bytes + w->hashed, p->used - w->hashed);
    w->hashed = p->used;
}

/* Goes on with an empty piece, at `offset`. */
static void flush(tide_store_writer *w, uint64_t offset)
{
    hash_piece(w);
    piece *empty = w->full ? tide_queue_try_pop(w->empty) : NULL;
    if (empty) {
        tide_queue_try_push(w->full, w->filling); /* has room for all */
        w->filling = empty;
    } else {
        write_piece(w, w->filling);
    }
    w->filling->offset = offset;
    w->filling->used = w->hashed = 0;
}

static uint64_t end_of_file(const tide_store_writer *w)
{
    return w->filling->offset + w->filling->used;
}

static void write_on(tide_store_writer *w, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    while (size > 0 && !failed(w)) {
        piece *p = w->filling;
        size_t n = PIECE - p->used < size ? PIECE - p->used : size;
        memcpy(p->bytes + p->used, from, n);
        p->used += n;
        from += n;
        size -= n;
        if (p->used < PIECE)
            continue;
        flush(w, end_of_file(w));
        if (w->watch)
            w->watch(w->watch_data);
    }
}

/* -- sections ------------------------------------------------------------------------- */

static void end_section(tide_store_writer *w)
{
    if (w->table.count == 0)
        return;
    static const unsigned char zeros[TIDE_STORE_ALIGN];
    tide_section *section = &w->table.sections[w->table.count - 1];
    hash_piece(w);
    section->checksum = XXH3_64bits_digest(&w->hash);
    uint64_t end = section->offset + section->size;
    write_on(w, zeros, tide_store_aligned(end) - end);
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
    bool valid =
        length < sizeof section->name && tide_section_name_valid(section->name);
    for (uint32_t i = 0; valid && i < w->table.count; i++)
        valid = strcmp(w->table.sections[i].name, name) != 0;
    if (!valid) {
        tide_fail(&w->failure, TIDE_ERROR_PARAMETER,
                  "cannot write %s: not a new section name: %.20s", w->path, name);
        return;
    }
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
                  "cannot write %s: no section begun", w->path);
        return;
    }
    write_on(w, bytes, size);
    w->table.sections[w->table.count - 1].size += size;
}

void tide_store_put(tide_store_writer *w, const char *name, const void *bytes,
                    size_t size)
{
    tide_store_begin(w, name);
    tide_store_append(w, bytes, size);
}

static void finish(tide_store_writer *w)
{
    unsigned char header[TIDE_STORE_HEADER], end[TIDE_STORE_END];
    end_section(w);
    w->table.length = end_of_file(w) + sizeof end;
    tide_store_header(&w->table, header);
    tide_store_end(&w->table, end);
    write_on(w, end, sizeof end);
    flush(w, 0);
    write_on(w, header, sizeof header);
    flush(w, 0);
}

uint64_t tide_store_finish(tide_store_writer *w)
{
    if (!failed(w))
        finish(w);
    w->watch = NULL;
    if (w->full)
        tide_queue_close(w->full);
    return w->table.length;
}

/* -- the rest of its way -------------------------------------------------------------- */

static bool is_full(int reason)
{
    return reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
}

/* Where a file system cannot promise blocks, the pages are those of a hole. */
void tide_store_preallocate(tide_store_writer *w, uint64_t bytes)
{
    int file = w->replacement.file;
    int reason = fallocate(file, 0, 0, (off_t)bytes) != 0 ? errno : 0;
    if (reason && !is_full(reason))
        reason = ftruncate(file, (off_t)bytes) != 0 ? errno : 0;
    w->unwritten = reason;
    if (reason)
        return;
    w->room = bytes;
    (void)syncfs(file);
    for (uint64_t at = 0; at < bytes; at += PIECE)
        if (tide_file_read(file, w->filling->bytes, PIECE, at) < 0)
            return;
}

/* What a reader would find now must be what was meant to be written. */
static void read_back(tide_store_writer *w)
{
    int file = w->replacement.file;
    tide_section_table found;
    bool same = tide_store_table(file, w->path, &found, NULL) == TIDE_OK &&
                found.seal == w->table.seal;
    for (uint32_t i = 0; same && i < w->table.count; i++)
        same = tide_store_check(file, w->path, &w->table.sections[i], w->pieces->bytes,
                                PIECE, NULL) == TIDE_OK;
    if (!same)
        tide_fail(&w->failure, TIDE_ERROR_IO,
                  "cannot write %s: reading it back gives something else", w->path);
}

static void make_safe(tide_store_writer *w)
{
    if (w->room > w->table.length &&
        ftruncate(w->replacement.file, (off_t)w->table.length) != 0)
        w->unwritten = errno;
    if (w->unwritten)
        tide_fail(&w->failure, TIDE_ERROR_IO, "cannot write %s: %s", w->path,
                  strerror(w->unwritten));
    else if (tide_replacement_sync(&w->replacement, &w->failure) == TIDE_OK)
        read_back(w);
}

int tide_store_replace(tide_store_writer *w, uint32_t older, tide_error *err)
{
    int status;
    if (w->failure.status == TIDE_OK)
        make_safe(w);
    if (w->failure.status != TIDE_OK) {
        status = tide_fail(err, w->failure.status, "%s", w->failure.text);
        tide_replacement_discard(&w->replacement);
    } else {
        status = tide_replacement_commit(&w->replacement, older, err);
    }
    release(w);
    return status;
}

int tide_store_commit(tide_store_writer *w, tide_error *err)
{
    tide_store_finish(w);
    return tide_store_replace(w, 0, err);
}

void tide_store_discard(tide_store_writer *w)
{
    if (!w)
        return;
    tide_replacement_discard(&w->replacement);
    release(w);
}
