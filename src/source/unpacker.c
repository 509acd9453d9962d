/* unpacker.c - reads a source and decompresses it if its first bytes say so.
 *
 *     source --> in (64 KiB) --> decoder --> ring (128 KiB) --> caller
 *
 * Nothing is returned while the first bytes may still be the start of a magic number.
 * Most texts are decided by their first byte, all by their sixth; a text that ends
 * before that is not compressed. Then the start of the (decompressed) text is examined
 * by detect.h, as much of it as has arrived, and refused if it is not text. From then
 * on plain text goes to the caller directly.
 *
 * Compressed text cannot be read backwards, but a position is near the last read and
 * has a fingerprint of the text before it. So the text is decompressed into a ring
 * buffer that keeps the last of it. To go back further, decompression restarts at the
 * beginning. Text is always decompressed on demand, so that a small archive of a huge
 * text needs no more memory than any other.
 *
 * A corrupt archive yields everything that could be decompressed, then the error, and
 * the same error at every further read.
 */
#include "source/unpacker.h"

#include "decode/decode.h"
#include "detect/detect.h"
#include "source/source.h"

#include <stdlib.h>

enum { IN_SIZE = TIDE_SIZE(64 << 10, 1024), RING = TIDE_UNPACKED_KEPT };

enum { HEAD = TIDE_DETECT_SIZE };

_Static_assert((int)HEAD <= (int)IN_SIZE && (int)HEAD <= (int)RING,
               "the head fits the buffers");

struct tide_unpacker {
    const tide_source_kind *kind;
    void *state;
    const char *spec, *name;

    tide_expected expected;

    enum { UNDECIDED, PLAIN, COMPRESSED, REFUSED } form;
    bool content_checked; /* by detect.h */
    bool ended;           /* the source */
    size_t in_start, in_size;
    unsigned char in[IN_SIZE];

    /* If compressed. */
    const tide_decoder_kind *decoder;
    void *decoder_state;
    tide_error failure;  /* returned after all the text */
    bool output_full;    /* the decoder filled its output buffer: it may have more */
    uint64_t produced;   /* bytes of text */
    uint64_t returned;   /* bytes of them that the caller has got */
    unsigned char *ring; /* [RING], byte i of the text at i mod RING */
};

static size_t min_size(uint64_t a, size_t b)
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
    if (u->decoder_state)
        u->decoder->close(u->decoder_state);
    free(u->ring);
    free(u);
}

/* Reads more of the source into `in`. The first call may wait; it sets *wait_ms to 0,
 * so that further calls do not wait again. */
static ptrdiff_t fill_input(tide_unpacker *u, int *wait_ms, tide_error *err)
{
    /* What has not been consumed moves to the front; usually that is nothing, or a few
     * bytes of a header. */
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

/* -- detecting compression --------------------------------------------------------- */

/* Allocates after the source was opened, because only now it is known that the memory
 * is needed. */
static int start_decoder(tide_unpacker *u, const tide_decoder_kind *decoder,
                         tide_error *err)
{
    if (!u->ring && !(u->ring = tide_alloc(RING, 1)))
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to decompress %s", u->name);
    u->decoder_state = decoder->open(err);
    if (!u->decoder_state)
        return TIDE_ERROR_MEMORY;
    u->decoder = decoder;
    u->form = COMPRESSED;
    return TIDE_OK;
}

static int return_failure(const tide_unpacker *u, tide_error *err)
{
    if (err)
        *err = u->failure;
    return (int)u->failure.status;
}

/* Reads until it is known whether the source is compressed. TIDE_OK then; otherwise as
 * read. */
static int detect_form(tide_unpacker *u, int *wait_ms, tide_error *err)
{
    while (u->form == UNDECIDED) {
        /* TIDE_MAGIC_MAX bytes always decide. At the end of the source fewer have to
         * do. */
        bool more = u->in_size < TIDE_MAGIC_MAX && !u->ended;
        ptrdiff_t count = more ? fill_input(u, wait_ms, err) : 0;
        if (count < 0)
            return (int)count;
        tide_compression found = tide_compression_of(u->in, u->in_size);
        int status = found.decoder ? start_decoder(u, found.decoder, err) : TIDE_OK;
        if (status != TIDE_OK)
            return status;
        if (!found.decoder && (!found.undecided || u->ended))
            u->form = PLAIN;
    }
    return u->form == REFUSED ? return_failure(u, err) : TIDE_OK;
}

/* -- reading ----------------------------------------------------------------------- */

static ptrdiff_t read_plain(tide_unpacker *u, void *bytes, size_t capacity, int wait_ms,
                            tide_error *err)
{
    /* The head that was needed for the detection is returned first. Then the caller's
     * buffer is filled directly, without a copy. */
    if (u->in_size > 0) {
        size_t count = min_size(u->in_size, capacity);
        memcpy(bytes, u->in + u->in_start, count);
        u->in_start += count;
        u->in_size -= count;
        return (ptrdiff_t)count;
    }
    if (u->ended) { /* do not read a terminal again after its end of file */
        u->ended = false;
        return 0;
    }
    return u->kind->read(u->state, bytes, capacity, wait_ms, err);
}

/* Passes the available input to the decoder and returns how many bytes it has
 * produced. */
static size_t decode(tide_unpacker *u, size_t capacity)
{
    /* The output must be contiguous, so it ends at the end of the ring at the
     * latest. */
    size_t at = u->produced % RING;
    capacity = min_size(capacity, RING - at);
    tide_decoding data = {u->in + u->in_start, u->in_size, u->ring + at, capacity};
    tide_error err;
    int status = u->decoder->decode(u->decoder_state, &data, u->ended, &err);
    size_t count = capacity - data.out_capacity;
    u->in_start += u->in_size - data.in_size;
    u->in_size = data.in_size;
    u->output_full = data.out_capacity == 0;
    u->produced += count;
    /* The error is kept rather than returned: the same call may have produced text,
     * which the caller has to get first. */
    if (status != TIDE_OK)
        tide_fail(&u->failure, status, "%s: %s data %s, after %llu bytes of text",
                  u->name, u->decoder->name, err.text, (unsigned long long)u->produced);
    return count;
}

/* Decompresses up to `capacity` bytes of text into the ring, where they replace the
 * oldest ones. Returns the count, 0 at the end. */
static ptrdiff_t unpack(tide_unpacker *u, size_t capacity, int wait_ms, tide_error *err)
{
    while (u->failure.status == TIDE_OK) {
        /* Read only if the decoder has nothing left to work on. If it has filled its
         * last output buffer it may hold more output without any input, and a read
         * could then block although text is available. */
        if (u->in_size == 0 && !u->output_full && !u->ended) {
            ptrdiff_t count = fill_input(u, &wait_ms, err);
            if (count < 0)
                return count;
        }
        /* Headers and checksums consume input without producing text: then the loop
         * goes around again. After the end of the source, a call that produces nothing
         * means that the decoder is done; if the data was incomplete it has set
         * `failure`. */
        size_t count = decode(u, capacity);
        if (count > 0)
            return (ptrdiff_t)count;
        if (u->ended && u->failure.status == TIDE_OK)
            return 0;
    }
    return return_failure(u, err);
}

/* -- checking the content ---------------------------------------------------------- */

/* Reads plain text into the head, until it is full or no more is available. */
static ptrdiff_t fill_head(tide_unpacker *u, int *wait_ms, tide_error *err)
{
    ptrdiff_t count = 1;
    while (count > 0 && !u->ended && u->in_size < HEAD)
        count = fill_input(u, wait_ms, err);
    return count;
}

/* The same for compressed text. A failure does not count if there is text before it. */
static ptrdiff_t unpack_head(tide_unpacker *u, int *wait_ms, tide_error *err)
{
    tide_error failure;
    ptrdiff_t count = 1;
    while (count > 0 && u->produced < HEAD) {
        count = unpack(u, HEAD - (size_t)u->produced, *wait_ms, &failure);
        if (*wait_ms > 0)
            *wait_ms = 0;
    }
    /* A corrupt archive still yields the text before the damage; the failure is
     * returned after that text. */
    if (u->produced > 0 && u->failure.status)
        return 0;
    if (count < 0 && count != TIDE_SOURCE_LATER && err)
        *err = failure;
    return count;
}

/* Examines the start of the text before any of it is returned. TIDE_OK if it may be
 * read; otherwise as read. */
static ptrdiff_t check_content(tide_unpacker *u, int wait_ms, tide_error *err)
{
    /* Nothing has been returned yet: plain text is still in the input buffer,
     * compressed text at the start of the ring. */
    bool plain = u->form == PLAIN;
    ptrdiff_t count =
        plain ? fill_head(u, &wait_ms, err) : unpack_head(u, &wait_ms, err);
    tide_head head = {plain ? u->in + u->in_start : u->ring,
                      plain ? u->in_size : (size_t)u->produced,
                      count == 0 || (plain && u->ended)};
    if (count < 0 && (count != TIDE_SOURCE_LATER || head.size == 0))
        return count;
    tide_detected found = tide_detect(head, u->expected);
    if (found.kind) {
        u->form = REFUSED;
        return tide_detect_refuse(found.kind, head, u->spec, &u->failure);
    }
    /* More text may still come, as from a slow pipe, and could decide it. */
    if (found.undecided && !head.whole && head.size < HEAD)
        return TIDE_SOURCE_LATER;
    u->content_checked = true;
    return TIDE_OK;
}

static ptrdiff_t read_compressed(tide_unpacker *u, void *bytes, size_t capacity,
                                 int wait_ms, tide_error *err)
{
    if (u->returned == u->produced) {
        ptrdiff_t count = unpack(u, capacity, wait_ms, err);
        if (count <= 0)
            return count;
    }
    /* The copy ends at the end of the ring; the rest follows with the next read. */
    size_t at = u->returned % RING;
    size_t size = min_size(u->produced - u->returned, min_size(capacity, RING - at));
    memcpy(bytes, u->ring + at, size);
    u->returned += size;
    return (ptrdiff_t)size;
}

ptrdiff_t tide_unpacker_read(tide_unpacker *u, void *bytes, size_t capacity,
                             int wait_ms, tide_error *err)
{
    ptrdiff_t status = detect_form(u, &wait_ms, err);
    if (status == TIDE_OK && !u->content_checked)
        status = check_content(u, wait_ms, err);
    if (u->form == REFUSED)
        return return_failure(u, err);
    if (status != TIDE_OK)
        return status;
    return u->form == PLAIN ? read_plain(u, bytes, capacity, wait_ms, err)
                            : read_compressed(u, bytes, capacity, wait_ms, err);
}

/* -- seeking ----------------------------------------------------------------------- */

static int restart(tide_unpacker *u, tide_error *err)
{
    int status = u->kind->seek(u->state, 0, err);
    if (status != TIDE_OK)
        return status;
    u->decoder->restart(u->decoder_state);
    u->failure = (tide_error){.status = TIDE_OK};
    u->in_start = u->in_size = 0;
    u->ended = u->output_full = false;
    u->produced = u->returned = 0;
    return TIDE_OK;
}

static int unpack_until(tide_unpacker *u, uint64_t offset, tide_error *err)
{
    int status = offset < u->produced ? restart(u, err) : TIDE_OK;
    while (status == TIDE_OK && u->produced < offset) {
        ptrdiff_t count = unpack(u, min_size(offset - u->produced, RING), -1, err);
        if (count == 0)
            /* Not an I/O error: the text up to the old position no longer exists, so
             * the caller falls back to reading from the start. */
            status = tide_fail(err, TIDE_ERROR_FORMAT, TIDE_SHORTER);
        else if (count == TIDE_ERROR_FORMAT)
            status = tide_fail(err, TIDE_ERROR_FORMAT,
                               "corrupt before byte %llu of its text, so it is read "
                               "from the start",
                               (unsigned long long)offset);
        else if (count < 0)
            status = (int)count;
    }
    u->returned = u->produced;
    return status;
}

int tide_unpacker_seek(tide_unpacker *u, uint64_t offset, tide_error *err)
{
    int wait_ms = -1, status = detect_form(u, &wait_ms, err);
    if (status != TIDE_OK)
        return status;
    u->content_checked |= offset > 0; /* by the run that has read up to this offset */
    if (u->form == COMPRESSED)
        return unpack_until(u, offset, err);
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
    int wait_ms = -1, status = detect_form(u, &wait_ms, err);
    if (status != TIDE_OK)
        return status;
    if (u->form == PLAIN)
        return u->kind->peek(u->state, offset, bytes, size, err);
    if (offset > u->produced || u->produced - offset + size > RING)
        return tide_fail(err, TIDE_ERROR_IO, "%s: byte %llu is no longer in the buffer",
                         u->name, (unsigned long long)offset);
    /* Two parts, because the bytes may extend over the end of the ring. */
    size_t at = (offset - size) % RING, part = min_size(size, RING - at);
    memcpy(bytes, u->ring + at, part);
    memcpy((char *)bytes + part, u->ring, size - part);
    return TIDE_OK;
}
