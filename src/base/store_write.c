/* store_write.c - the writer of a store.
 *
 * Sections go out as they come, behind a place left free for the header, which can only
 * be written when their sizes and checksums are known. Bytes are first copied and then
 * hashed where the copy is: the checksum is always that of the bytes written, even if
 * somebody changed the original in between.
 *
 * A failure is kept until the commit, so that modules can save themselves without
 * looking after errors. The file depends on its sections alone: no time, process or
 * chance.
 */
#include "base/store_private.h"

#include <stdlib.h>
#include <xxhash.h>

enum { BUFFER = TIDE_ROOM(1 << 20, 4096) };

struct tide_store_writer {
    XXH3_state_t hash; /* of the open section */
    tide_replacement replacement;
    tide_section_table table;  /* its last section is open */
    tide_error failure;        /* the first one; TIDE_OK while there is none */
    uint64_t written;          /* bytes of the file that have left the buffer */
    size_t used;               /* bytes in the buffer */
    void (*watch)(void *data); /* NULL for nobody */
    void *watch_data;
    unsigned char buffer[BUFFER];
    char path[];
};

tide_store_writer *tide_store_create(const char *path, tide_error *err)
{
    size_t length = strlen(path);
    tide_store_writer *w = tide_alloc(1, sizeof *w + length + 1);
    if (!w) {
        tide_fail(err, TIDE_ERROR_MEMORY, "cannot write %s: no memory", path);
        return NULL;
    }
    memcpy(w->path, path, length + 1);
    w->written = TIDE_STORE_HEADER;
    if (tide_replacement_open(&w->replacement, w->path, err) != TIDE_OK) {
        free(w);
        return NULL;
    }
    return w;
}

void tide_store_watch(tide_store_writer *w, void (*watch)(void *data), void *data)
{
    w->watch = watch;
    w->watch_data = data;
}

static bool failed(const tide_store_writer *w)
{
    return w->failure.status != TIDE_OK;
}

static void write_at(tide_store_writer *w, const unsigned char *bytes, size_t size,
                     uint64_t offset)
{
    if (failed(w))
        return;
    int reason = tide_file_write(w->replacement.file, bytes, size, offset);
    if (reason)
        tide_fail(&w->failure, TIDE_ERROR_IO, "cannot write %s: %s", w->path,
                  strerror(reason));
}

static void flush(tide_store_writer *w)
{
    write_at(w, w->buffer, w->used, w->written);
    w->written += w->used;
    w->used = 0;
}

/* The next bytes of the file, whether they belong to a section or lie between two. */
static void write_on(tide_store_writer *w, const void *bytes, size_t size, bool hashed)
{
    const unsigned char *from = bytes;
    while (size > 0 && !failed(w)) {
        size_t n = BUFFER - w->used < size ? BUFFER - w->used : size;
        memcpy(w->buffer + w->used, from, n);
        if (hashed)
            XXH3_64bits_update(&w->hash, w->buffer + w->used, n);
        w->used += n;
        from += n;
        size -= n;
        if (w->used < BUFFER)
            continue;
        flush(w);
        if (w->watch)
            w->watch(w->watch_data);
    }
}

static void end_section(tide_store_writer *w)
{
    if (w->table.count == 0)
        return;
    static const unsigned char zeros[TIDE_STORE_ALIGN];
    tide_section *section = &w->table.sections[w->table.count - 1];
    section->checksum = XXH3_64bits_digest(&w->hash);
    uint64_t end = section->offset + section->size;
    write_on(w, zeros, tide_store_aligned(end) - end, false);
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
    section->offset = w->written + w->used;
    w->table.count++;
    XXH3_64bits_reset(&w->hash);
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
    write_on(w, bytes, size, true);
    w->table.sections[w->table.count - 1].size += size;
}

void tide_store_put(tide_store_writer *w, const char *name, const void *bytes,
                    size_t size)
{
    tide_store_begin(w, name);
    tide_store_append(w, bytes, size);
}

/* What a reader would find now must be what was meant to be written. */
static void read_back(tide_store_writer *w)
{
    int file = w->replacement.file;
    tide_section_table found;
    bool same = tide_store_table(file, w->path, &found, NULL) == TIDE_OK &&
                found.seal == w->table.seal;
    for (uint32_t i = 0; same && i < w->table.count; i++)
        same = tide_store_check(file, w->path, &w->table.sections[i], w->buffer, BUFFER,
                                NULL) == TIDE_OK;
    if (!same)
        tide_fail(&w->failure, TIDE_ERROR_IO,
                  "cannot write %s: reading it back gives something else", w->path);
}

static void finish(tide_store_writer *w)
{
    unsigned char header[TIDE_STORE_HEADER], end[TIDE_STORE_END];
    end_section(w);
    w->table.length = w->written + w->used + sizeof end;
    tide_store_header(&w->table, header);
    tide_store_end(&w->table, end);
    write_on(w, end, sizeof end, false);
    flush(w);
    write_at(w, header, sizeof header, 0);
}

uint64_t tide_store_seal(tide_store_writer *w)
{
    if (!failed(w))
        finish(w);
    w->watch = NULL;
    return w->table.length;
}

int tide_store_publish(tide_store_writer *w, uint32_t older, tide_error *err)
{
    int status;
    if (!failed(w))
        tide_replacement_sync(&w->replacement, &w->failure);
    if (!failed(w))
        read_back(w);
    if (failed(w)) {
        status = tide_fail(err, w->failure.status, "%s", w->failure.text);
        tide_replacement_abandon(&w->replacement);
    } else {
        status = tide_replacement_commit(&w->replacement, older, err);
    }
    free(w);
    return status;
}

int tide_store_commit(tide_store_writer *w, tide_error *err)
{
    tide_store_seal(w);
    return tide_store_publish(w, 0, err);
}

void tide_store_abandon(tide_store_writer *w)
{
    if (!w)
        return;
    tide_replacement_abandon(&w->replacement);
    free(w);
}
