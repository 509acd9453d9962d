/* source.c - the table of sources: the first kind that knows a name opens it.
 *
 * Every name that no other kind claims is a path; a file that happens to be called "-"
 * or "demo:" is reached as "./-" or "./demo:".
 *
 * The place of a source that is one run of bytes is the text
 *
 *     OFFSET FINGERPRINT
 *
 * in decimal and in hexadecimal digits: a hash of up to 4 KiB of the text before the
 * offset, by which it is told whether the source is still the same. It counts unpacked
 * bytes, so that a file may be packed or unpacked between two runs.
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

/* How long a read waits before it looks again; a signal ends it at once. */
enum { READ_WAIT_MS = 1000 };

enum { PLACE_ROOM = 20 + 1 + 16 + 1 };

struct tide_source {
    const tide_source_kind *kind;
    void *state;
    tide_unpacker *unpacker; /* NULL for a kind that is never packed */
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
    return kinds[LAST]; /* takes every name */
}

/* Where a source that was opened, or went to a place, goes on. */
static uint64_t start_of(const tide_source *source)
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
    source->offset = start_of(source);
    if (source->kind->may_be_packed) {
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

/* -- reading -------------------------------------------------------------------------- */

ptrdiff_t tide_source_poll(tide_source *source, void *bytes, size_t room, int wait_ms,
                           tide_error *err)
{
    if (room == 0)
        return 0;
    ptrdiff_t count =
        source->unpacker
            ? tide_unpacker_read(source->unpacker, bytes, room, wait_ms, err)
            : source->kind->read(source->state, bytes, room, wait_ms, err);
    if (count > 0)
        source->offset += (uint64_t)count;
    return count;
}

/* Nobody is there who could save what was read, so it counts as saved. */
static int save_nothing(tide_source *source, tide_error *err)
{
    char *place = tide_source_place(source, source->offset, err);
    if (!place)
        return TIDE_ERROR_IO;
    (void)tide_source_saved(source, place, NULL); /* others learn it later */
    free(place);
    return TIDE_OK;
}

static int interrupted(const tide_source *source, tide_error *err)
{
    tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", source->spec, strerror(EINTR));
    errno = EINTR;
    return TIDE_ERROR_IO;
}

ptrdiff_t tide_source_read(tide_source *source, void *bytes, size_t room,
                           tide_error *err)
{
    for (;;) {
        errno = 0;
        ptrdiff_t count = tide_source_poll(source, bytes, room, READ_WAIT_MS, err);
        if (count != TIDE_SOURCE_LATER && count != TIDE_SOURCE_SAVE)
            return count;
        if (count == TIDE_SOURCE_LATER && errno == EINTR)
            return interrupted(source, err);
        if (count == TIDE_SOURCE_SAVE && save_nothing(source, err) != TIDE_OK)
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

/* -- places --------------------------------------------------------------------------- */

bool tide_source_can_resume(const tide_source *source)
{
    return source->kind->replayable && source->kind->replayable(source->state);
}

bool tide_source_plain(const tide_source *source)
{
    return source->kind->plain;
}

bool tide_source_drains(const tide_source *source)
{
    return source->kind->drained;
}

bool tide_source_discards(const tide_source *source)
{
    return source->kind->forgets;
}

bool tide_source_divisible(const tide_source *source)
{
    return !source->kind->settled;
}

bool tide_source_is_one_text(const tide_source *source)
{
    return !source->kind->several_texts;
}

bool tide_source_at_boundary(const tide_source *source)
{
    return !source->kind->settled || source->kind->settled(source->state);
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

char *tide_source_place(tide_source *source, uint64_t offset, tide_error *err)
{
    uint64_t hash;
    if (source->kind->place)
        return source->kind->place(source->state, offset, err);
    if (!tide_source_can_resume(source)) {
        tide_fail(err, TIDE_ERROR_IO, "%s cannot be read again", source->spec);
        return NULL;
    }
    if (fingerprint(source, offset, &hash, err) != TIDE_OK)
        return NULL;
    char *place = tide_alloc(1, PLACE_ROOM);
    if (place)
        snprintf(place, PLACE_ROOM, "%llu %016llx", (unsigned long long)offset,
                 (unsigned long long)hash);
    else
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a place in %s", source->spec);
    return place;
}

/* Digits alone, all of `size` characters. */
static bool read_digits(const char *text, size_t size, int base, uint64_t *number)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        const char *digit = memchr(digits, text[i], (size_t)base);
        if (!digit || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)(digit - digits), &value))
            return false;
    }
    *number = value;
    return size > 0;
}

static bool parse(const char *place, uint64_t *offset, uint64_t *hash)
{
    size_t size = strcspn(place, " ");
    return place[size] == ' ' && read_digits(place, size, 10, offset) &&
           read_digits(place + size + 1, strlen(place + size + 1), 16, hash);
}

static int find(tide_source *source, uint64_t offset, uint64_t wanted, tide_error *err)
{
    uint64_t found;
    int status = seek(source, offset, err);
    if (status == TIDE_OK)
        status = fingerprint(source, offset, &found, err);
    if (status == TIDE_OK && found != wanted)
        status =
            tide_fail(err, TIDE_ERROR_FORMAT,
                      "other text before byte %llu than it had, so it is read from its "
                      "start",
                      (unsigned long long)offset);
    return status;
}

int tide_source_seek(tide_source *source, const char *place, tide_error *err)
{
    uint64_t offset, hash, before = source->offset;
    if (source->kind->go_to) {
        int found = source->kind->go_to(source->state, place, err);
        source->offset = start_of(source);
        return found;
    }
    if (!tide_source_can_resume(source))
        return tide_fail(err, TIDE_ERROR_IO, "cannot be read again");
    if (!parse(place, &offset, &hash))
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "'%s' is no place in it, so it is read from its start", place);
    int status = find(source, offset, hash, err);
    if (status == TIDE_OK)
        return TIDE_OK;
    int back = seek(source, before, NULL);
    return back == TIDE_OK
               ? status
               : tide_fail(err, TIDE_ERROR_IO, "cannot be read where it was any more");
}

int tide_source_saved(tide_source *source, const char *place, tide_error *err)
{
    return source->kind->saved ? source->kind->saved(source->state, place, err)
                               : TIDE_OK;
}

int tide_source_finish(tide_source *source, tide_error *err)
{
    return source->kind->finish ? source->kind->finish(source->state, err) : TIDE_OK;
}

const char *tide_source_news(tide_source *source)
{
    return source->kind->news ? source->kind->news(source->state) : NULL;
}
