/* source.c - the table of sources: the first kind that matches a name opens it.
 *
 * Every name that no other kind claims is a path; a file that happens to be called "-"
 * or "demo:" can be named "./-" or "./demo:".
 *
 * The position of a source that is one sequence of bytes is the text
 *
 *     OFFSET FINGERPRINT
 *
 * in decimal and in hexadecimal digits. The fingerprint is a hash of up to 4 KiB of the
 * text before the offset; it shows whether the source is still the same. Offsets count
 * decompressed bytes, so a file may be compressed or decompressed between two runs.
 */
#include "source/source.h"

#include "source/unpacker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const tide_source_kind *const kinds[] = {
    &tide_source_spool,  &tide_source_stdin,      &tide_source_demo,
    &tide_source_feed,   &tide_source_feed_spool,
#ifdef TIDE_KAFKA
    &tide_source_kafka,
#endif
    &tide_source_follow, &tide_source_file,
};

/* How long tide_source_read waits in one poll; a signal ends the wait immediately. */
enum { READ_WAIT_MS = 1000 };

enum { POSITION_SIZE = 20 + 1 + 16 + 1 };

struct tide_source {
    const tide_source_kind *kind;
    void *state;
    tide_unpacker *unpacker; /* NULL for a kind that is never compressed */
    uint64_t offset;
    char spec[];
};

static const tide_source_kind *find_kind(const char *spec,
                                         const tide_source_options *options)
{
    enum { LAST = sizeof kinds / sizeof kinds[0] - 1 };
    for (size_t i = 0; i < LAST; i++)
        if (kinds[i]->matches(spec, options))
            return kinds[i];
    return kinds[LAST]; /* matches every name */
}

/* The offset at which a source starts after it was opened or moved to a position. */
static uint64_t start_offset(const tide_source *source)
{
    return source->kind->offset ? source->kind->offset(source->state) : 0;
}

tide_source *tide_source_open_with(const char *spec, const tide_source_options *options,
                                   tide_error *err)
{
    tide_source *source = tide_alloc(1, sizeof *source + strlen(spec) + 1);
    if (!source) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    memcpy(source->spec, spec, strlen(spec) + 1);
    source->kind = find_kind(spec, options);
    source->state = source->kind->open(spec, options, err);
    if (!source->state)
        goto failed;
    source->offset = start_offset(source);
    /* Compression is detected at the first read, since opening must not block on a
     * pipe. */
    if (source->kind->may_be_compressed) {
        source->unpacker = tide_unpacker_new(source->kind, source->state, source->spec,
                                             options->expected, err);
        if (!source->unpacker)
            goto failed;
    }
    return source;

failed:
    tide_source_close(source);
    return NULL;
}

tide_source *tide_source_open(const char *spec, tide_error *err)
{
    return tide_source_open_with(spec, &(tide_source_options){0}, err);
}

void tide_source_close(tide_source *source)
{
    if (!source)
        return;
    tide_unpacker_free(source->unpacker);
    if (source->state)
        source->kind->close(source->state);
    free(source);
}

/* -- reading ----------------------------------------------------------------------- */

ptrdiff_t tide_source_poll(tide_source *source, void *bytes, size_t capacity,
                           int wait_ms, tide_error *err)
{
    if (capacity == 0)
        return 0;
    ptrdiff_t count =
        source->unpacker
            ? tide_unpacker_read(source->unpacker, bytes, capacity, wait_ms, err)
            : source->kind->read(source->state, bytes, capacity, wait_ms, err);
    if (count > 0)
        source->offset += (uint64_t)count;
    return count;
}

/* tide_source_read has no model to save, so everything that was read counts as
 * saved. */
static int mark_all_saved(tide_source *source, tide_error *err)
{
    char *position = tide_source_position(source, source->offset, err);
    if (!position)
        return TIDE_ERROR_IO;
    /* A consumer group that asked for a save continues after this, and a spool
     * discards. */
    (void)tide_source_saved(source, position, NULL); /* a failed commit is retried */
    free(position);
    return TIDE_OK;
}

ptrdiff_t tide_source_read(tide_source *source, void *bytes, size_t capacity,
                           tide_error *err)
{
    for (;;) {
        /* A kind reports by EINTR that a signal ended its wait, so an old value must
         * not be mistaken for one. */
        errno = 0;
        ptrdiff_t count = tide_source_poll(source, bytes, capacity, READ_WAIT_MS, err);
        if (count != TIDE_SOURCE_LATER && count != TIDE_SOURCE_SAVE)
            return count;
        if (count == TIDE_SOURCE_LATER && errno == EINTR) {
            tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", source->spec,
                      strerror(EINTR));
            errno = EINTR; /* the caller may want to know, and formatting changes it */
            return TIDE_ERROR_IO;
        }
        if (count == TIDE_SOURCE_SAVE && mark_all_saved(source, err) != TIDE_OK)
            return TIDE_ERROR_IO;
    }
}

uint64_t tide_source_offset(const tide_source *source)
{
    return source->offset;
}

bool tide_source_progress(const tide_source *source, uint64_t *read, uint64_t *size)
{
    return source->kind->progress && source->kind->progress(source->state, read, size);
}

/* -- positions --------------------------------------------------------------------- */

bool tide_source_can_resume(const tide_source *source)
{
    return source->kind->can_resume && source->kind->can_resume(source->state);
}

bool tide_source_plain(const tide_source *source)
{
    return source->kind->plain;
}

bool tide_source_drains(const tide_source *source)
{
    return source->kind->drains;
}

bool tide_source_discards(const tide_source *source)
{
    return source->kind->discards;
}

bool tide_source_divisible(const tide_source *source)
{
    return !source->kind->at_boundary;
}

bool tide_source_is_one_text(const tide_source *source)
{
    return !source->kind->several_texts;
}

bool tide_source_at_boundary(const tide_source *source)
{
    return !source->kind->at_boundary || source->kind->at_boundary(source->state);
}

static int seek(tide_source *source, uint64_t offset, tide_error *err)
{
    int status = source->unpacker ? tide_unpacker_seek(source->unpacker, offset, err)
                                  : source->kind->seek(source->state, offset, err);
    if (status == TIDE_OK)
        source->offset = offset;
    return status;
}

static int fingerprint(tide_source *source, uint64_t offset, uint64_t *hash,
                       tide_error *err)
{
    unsigned char bytes[TIDE_FINGERPRINT_BYTES];
    size_t size = offset < sizeof bytes ? (size_t)offset : sizeof bytes;
    int status = source->unpacker
                     ? tide_unpacker_peek(source->unpacker, offset, bytes, size, err)
                     : source->kind->peek(source->state, offset, bytes, size, err);
    if (status == TIDE_OK)
        *hash = tide_hash(bytes, size, 0);
    return status;
}

char *tide_source_position(tide_source *source, uint64_t offset, tide_error *err)
{
    uint64_t hash;
    if (source->kind->position)
        return source->kind->position(source->state, offset, err);
    if (!tide_source_can_resume(source)) {
        tide_fail(err, TIDE_ERROR_IO, "%s cannot be resumed", source->spec);
        return NULL;
    }
    /* An offset alone would silently continue in another text if the file was replaced.
     * With the hash of what precedes it, that is noticed. */
    if (fingerprint(source, offset, &hash, err) != TIDE_OK)
        return NULL;
    char *position = tide_alloc(1, POSITION_SIZE);
    if (position)
        snprintf(position, POSITION_SIZE, "%llu %016llx", (unsigned long long)offset,
                 (unsigned long long)hash);
    else
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a position in %s",
                  source->spec);
    return position;
}

/* Parses `size` characters, which must all be digits. */
static bool read_digits(const char *text, size_t size, int base, uint64_t *number)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        /* strtoull would also accept white space, signs and prefixes, and positions
         * come from model files. */
        const char *digit = memchr(digits, text[i], (size_t)base);
        if (!digit || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)(digit - digits), &value))
            return false;
    }
    *number = value;
    return size > 0;
}

static bool parse_position(const char *position, uint64_t *offset, uint64_t *hash)
{
    size_t size = strcspn(position, " ");
    return position[size] == ' ' && read_digits(position, size, 10, offset) &&
           read_digits(position + size + 1, strlen(position + size + 1), 16, hash);
}

/* Seeks to the offset if the fingerprint of the text before it is `wanted`. */
static int seek_verified(tide_source *source, uint64_t offset, uint64_t wanted,
                         tide_error *err)
{
    uint64_t found;
    int status = seek(source, offset, err);
    if (status == TIDE_OK)
        status = fingerprint(source, offset, &found, err);
    if (status == TIDE_OK && found != wanted)
        status =
            tide_fail(err, TIDE_ERROR_FORMAT,
                      "the text before byte %llu has changed, so it is read from the "
                      "start",
                      (unsigned long long)offset);
    return status;
}

int tide_source_seek(tide_source *source, const char *position, tide_error *err)
{
    uint64_t offset, hash, before = source->offset;
    if (source->kind->seek_position) {
        int found = source->kind->seek_position(source->state, position, err);
        source->offset = start_offset(source);
        return found;
    }
    if (!tide_source_can_resume(source))
        return tide_fail(err, TIDE_ERROR_IO, "cannot be resumed");
    if (!parse_position(position, &offset, &hash))
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "'%s' is not a valid position, so it is read from the start",
                         position);
    /* On failure the source must be readable from where it was before: the caller then
     * reads the text from its start. */
    int status = seek_verified(source, offset, hash, err);
    if (status == TIDE_OK)
        return TIDE_OK;
    int back = seek(source, before, NULL);
    return back == TIDE_OK
               ? status
               : tide_fail(err, TIDE_ERROR_IO, "cannot return to its old position");
}

int tide_source_saved(tide_source *source, const char *position, tide_error *err)
{
    return source->kind->saved ? source->kind->saved(source->state, position, err)
                               : TIDE_OK;
}

int tide_source_finish(tide_source *source, tide_error *err)
{
    return source->kind->finish ? source->kind->finish(source->state, err) : TIDE_OK;
}

const char *tide_source_notice(tide_source *source)
{
    return source->kind->notice ? source->kind->notice(source->state) : NULL;
}
