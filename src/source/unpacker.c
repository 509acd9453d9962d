/* unpacker.c - the text of a source, packed or not: its first bytes tell.
 *
 *     source --> in (64 KiB) --> decoder --> kept (128 KiB) --> caller
 *
 * While the first bytes agree with the beginning of a magic number and none is
 * complete, nothing is given out. Most texts are settled by their first byte, all by
 * their sixth; what ends before that is not packed. The beginning of the text is then
 * looked at once more (detect.h), as much of it as has come: what is no text is refused.
 * From then on plain text goes to the caller directly.
 *
 * Packed text cannot be read backwards, but the place to go on from lies behind what
 * was read last and comes with a fingerprint of the text before it. So it is unpacked
 * into a ring that keeps the last of it. To go back further is to begin again; then as
 * on the way forward the text is made as it is asked for, so that the smallest archive
 * of the largest text needs no more memory than any other.
 *
 * An archive that is damaged gives all that could be unpacked, then the error, and that
 * again and again.
 */
#include "source/unpacker.h"

#include "decode/decode.h"
#include "detect/detect.h"
#include "source/source.h"

#include <stdlib.h>

enum { IN_SIZE = TIDE_ROOM(64 << 10, 1024), KEPT = TIDE_UNPACKED_KEPT };

enum { HEAD = TIDE_DETECT_SIZE };

_Static_assert((int)HEAD <= (int)IN_SIZE && (int)HEAD <= (int)KEPT,
               "the head fits the buffers");

struct tide_unpacker {
    const tide_source_kind *kind;
    void *state;
    const char *spec, *name;

    tide_expected expected;

    enum { UNSETTLED, PLAIN, PACKED, NOT_READABLE } form;
    bool judged; /* what the text is */
    bool ended;  /* the source */
    size_t in_start, in_size;
    unsigned char in[IN_SIZE];

    /* If packed. */
    const tide_decoder_kind *decoder;
    void *decoding;
    tide_error failure;   /* comes after all the text */
    bool filled;          /* the decoder used all its room: it may have more */
    uint64_t made, given; /* bytes of text; of them to the caller */
    unsigned char *kept;  /* [KEPT], byte i of the text at i mod KEPT */
};

static size_t smaller(uint64_t a, size_t b)
{
    return a < b ? (size_t)a : b;
}

tide_unpacker *tide_unpacker_new(const tide_source_kind *kind, void *state,
                                 const char *spec, tide_expected expected,
                                 tide_error *err)
{
    tide_unpacker *u = tide_alloc(1, sizeof *u);
    if (!u) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", spec);
        return NULL;
    }
    u->kind = kind;
    u->state = state;
    u->spec = spec;
    u->expected = expected;
    u->name = strcmp(spec, "-") == 0 ? "standard input" : spec;
    return u;
}

void tide_unpacker_free(tide_unpacker *u)
{
    if (!u)
        return;
    if (u->decoding)
        u->decoder->close(u->decoding);
    free(u->kept);
    free(u);
}

/* Adds to `in` what has come. Waits once, however often it is called. */
static ptrdiff_t fill(tide_unpacker *u, int *wait_ms, tide_error *err)
{
    memmove(u->in, u->in + u->in_start, u->in_size);
    u->in_start = 0;
    ptrdiff_t count = u->kind->read(u->state, u->in + u->in_size, IN_SIZE - u->in_size,
                                    *wait_ms, err);
    if (count > 0)
        u->in_size += (size_t)count;
    u->ended = count == 0;
    if (*wait_ms > 0)
        *wait_ms = 0;
    return count;
}

/* -- telling what it is -------------------------------------------------------------- */

/* The only memory that is taken after the source was opened: whether it is needed was
 * not known. */
static int begin(tide_unpacker *u, const tide_decoder_kind *decoder, tide_error *err)
{
    if (!u->kept && !(u->kept = tide_alloc(KEPT, 1)))
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to unpack %s", u->name);
    u->decoding = decoder->open(err);
    if (!u->decoding)
        return TIDE_ERROR_MEMORY;
    u->decoder = decoder;
    u->form = PACKED;
    return TIDE_OK;
}

static int choose_form(tide_unpacker *u, tide_error *err)
{
    tide_compression form = tide_compression_of(u->in, u->in_size);
    if (form.decoder)
        return begin(u, form.decoder, err);
    if (!form.undecided || u->ended)
        u->form = PLAIN;
    return TIDE_OK;
}

static int report(const tide_unpacker *u, tide_error *err)
{
    if (err)
        *err = u->failure;
    return (int)u->failure.status;
}

/* TIDE_OK when the form is known; otherwise as read. */
static int settle(tide_unpacker *u, int *wait_ms, tide_error *err)
{
    while (u->form == UNSETTLED) {
        bool more = u->in_size < TIDE_MAGIC_MAX && !u->ended;
        ptrdiff_t count = more ? fill(u, wait_ms, err) : 0;
        if (count < 0)
            return (int)count;
        int status = choose_form(u, err);
        if (status != TIDE_OK && u->form == UNSETTLED)
            return status;
    }
    return u->form == NOT_READABLE ? report(u, err) : TIDE_OK;
}

/* -- reading -------------------------------------------------------------------------- */

static ptrdiff_t read_plain(tide_unpacker *u, void *bytes, size_t room, int wait_ms,
                            tide_error *err)
{
    if (u->in_size > 0) {
        size_t count = smaller(u->in_size, room);
        memcpy(bytes, u->in + u->in_start, count);
        u->in_start += count;
        u->in_size -= count;
        return (ptrdiff_t)count;
    }
    if (u->ended) { /* a terminal would have to end twice */
        u->ended = false;
        return 0;
    }
    return u->kind->read(u->state, bytes, room, wait_ms, err);
}

/* Gives the decoder what there is and returns how much it made of it. */
static size_t decode(tide_unpacker *u, size_t room)
{
    size_t at = u->made % KEPT;
    room = smaller(room, KEPT - at);
    tide_decoding data = {u->in + u->in_start, u->in_size, u->kept + at, room};
    tide_error err;
    int status = u->decoder->decode(u->decoding, &data, u->ended, &err);
    size_t count = room - data.out_capacity;
    u->in_start += u->in_size - data.in_size;
    u->in_size = data.in_size;
    u->filled = data.out_capacity == 0;
    u->made += count;
    if (status != TIDE_OK)
        tide_fail(&u->failure, status, "%s: %s data %s, after %llu bytes of text",
                  u->name, u->decoder->name, err.text, (unsigned long long)u->made);
    return count;
}

/* Makes up to `room` bytes of text, the last ones of what is kept. */
static ptrdiff_t unpack(tide_unpacker *u, size_t room, int wait_ms, tide_error *err)
{
    while (u->failure.status == TIDE_OK) {
        if (u->in_size == 0 && !u->filled && !u->ended) {
            ptrdiff_t count = fill(u, &wait_ms, err);
            if (count < 0)
                return count;
        }
        size_t count = decode(u, room);
        if (count > 0)
            return (ptrdiff_t)count;
        if (u->ended && u->failure.status == TIDE_OK)
            return 0;
    }
    return report(u, err);
}

/* -- judging the beginning ----------------------------------------------------------- */

/* Adds plain text to the head, until it is full or no more is there. */
static ptrdiff_t fill_head(tide_unpacker *u, int *wait_ms, tide_error *err)
{
    ptrdiff_t count = 1;
    while (count > 0 && !u->ended && u->in_size < HEAD)
        count = fill(u, wait_ms, err);
    return count;
}

/* The same for packed text. A failure comes behind the text before it. */
static ptrdiff_t unpack_head(tide_unpacker *u, int *wait_ms, tide_error *err)
{
    tide_error failure;
    ptrdiff_t count = 1;
    while (count > 0 && u->made < HEAD) {
        count = unpack(u, HEAD - (size_t)u->made, *wait_ms, &failure);
        if (*wait_ms > 0)
            *wait_ms = 0;
    }
    if (u->made > 0 && u->failure.status)
        return 0;
    if (count < 0 && count != TIDE_SOURCE_LATER && err)
        *err = failure;
    return count;
}

/* TIDE_OK when the text may be given out; otherwise as read. Nothing has been before. */
static ptrdiff_t judge(tide_unpacker *u, int wait_ms, tide_error *err)
{
    bool plain = u->form == PLAIN;
    ptrdiff_t count =
        plain ? fill_head(u, &wait_ms, err) : unpack_head(u, &wait_ms, err);
    tide_head head = {plain ? u->in + u->in_start : u->kept,
                      plain ? u->in_size : (size_t)u->made,
                      count == 0 || (plain && u->ended)};
    if (count < 0 && (count != TIDE_SOURCE_LATER || head.size == 0))
        return count;
    tide_detected found = tide_detect(head, u->expected);
    if (found.kind) {
        u->form = NOT_READABLE;
        return tide_detect_refuse(found.kind, head, u->spec, &u->failure);
    }
    if (found.undecided && !head.whole && head.size < HEAD)
        return TIDE_SOURCE_LATER;
    u->judged = true;
    return TIDE_OK;
}

static ptrdiff_t read_packed(tide_unpacker *u, void *bytes, size_t room, int wait_ms,
                             tide_error *err)
{
    if (u->given == u->made) {
        ptrdiff_t count = unpack(u, room, wait_ms, err);
        if (count <= 0)
            return count;
    }
    size_t at = u->given % KEPT;
    size_t size = smaller(u->made - u->given, smaller(room, KEPT - at));
    memcpy(bytes, u->kept + at, size);
    u->given += size;
    return (ptrdiff_t)size;
}

ptrdiff_t tide_unpacker_read(tide_unpacker *u, void *bytes, size_t room, int wait_ms,
                             tide_error *err)
{
    ptrdiff_t status = settle(u, &wait_ms, err);
    if (status == TIDE_OK && !u->judged)
        status = judge(u, wait_ms, err);
    if (u->form == NOT_READABLE)
        return report(u, err);
    if (status != TIDE_OK)
        return status;
    return u->form == PLAIN ? read_plain(u, bytes, room, wait_ms, err)
                            : read_packed(u, bytes, room, wait_ms, err);
}

/* -- going elsewhere -------------------------------------------------------------------- */

static int begin_again(tide_unpacker *u, tide_error *err)
{
    int status = u->kind->seek(u->state, 0, err);
    if (status != TIDE_OK)
        return status;
    u->decoder->restart(u->decoding);
    u->failure = (tide_error){.status = TIDE_OK};
    u->in_start = u->in_size = 0;
    u->ended = u->filled = false;
    u->made = u->given = 0;
    return TIDE_OK;
}

static int unpack_up_to(tide_unpacker *u, uint64_t offset, tide_error *err)
{
    int status = offset < u->made ? begin_again(u, err) : TIDE_OK;
    while (status == TIDE_OK && u->made < offset) {
        ptrdiff_t count = unpack(u, smaller(offset - u->made, KEPT), -1, err);
        if (count == 0)
            status = tide_fail(err, TIDE_ERROR_FORMAT, TIDE_SHORTER);
        else if (count == TIDE_ERROR_FORMAT)
            status = tide_fail(err, TIDE_ERROR_FORMAT,
                               "damaged before byte %llu of its text, so it is read "
                               "from its start",
                               (unsigned long long)offset);
        else if (count < 0)
            status = (int)count;
    }
    u->given = u->made;
    return status;
}

int tide_unpacker_seek(tide_unpacker *u, uint64_t offset, tide_error *err)
{
    int wait_ms = -1, status = settle(u, &wait_ms, err);
    if (status != TIDE_OK)
        return status;
    u->judged |= offset > 0; /* by the run that has read up to there */
    if (u->form == PACKED)
        return unpack_up_to(u, offset, err);
    status = u->kind->seek(u->state, offset, err);
    if (status == TIDE_OK) {
        u->in_size = 0;
        u->ended = false;
    }
    return status;
}

int tide_unpacker_peek(tide_unpacker *u, uint64_t offset, void *bytes, size_t size,
                       tide_error *err)
{
    int wait_ms = -1, status = settle(u, &wait_ms, err);
    if (status != TIDE_OK)
        return status;
    if (u->form == PLAIN)
        return u->kind->peek(u->state, offset, bytes, size, err);
    if (offset > u->made || u->made - offset + size > KEPT)
        return tide_fail(err, TIDE_ERROR_IO,
                         "%s: byte %llu is not among the text unpacked last", u->name,
                         (unsigned long long)offset);
    size_t at = (offset - size) % KEPT, part = smaller(size, KEPT - at);
    memcpy(bytes, u->kept + at, part);
    memcpy((char *)bytes + part, u->kept, size - part);
    return TIDE_OK;
}
