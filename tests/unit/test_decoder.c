/* test_decoder.c - compressed text is detected by its first bytes and decompressed; a
 * corrupt archive yields everything before the corruption, then an error. */
#include "base/base.h"
#include "detect/detect.h"
#include "source/source.h"
#include "source/unpacker.h"
#include "decoder_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "memory_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* -- packing ----------------------------------------------------------------------- */

typedef struct block {
    unsigned char *bytes;
    size_t size;
} block;

/* Large enough for the compressed form of incompressible data of this size. */
static block new_block(size_t text_size)
{
    block b = {calloc(1, text_size + text_size / 100 + 1000), 0};
    assert_non_null(b.bytes);
    b.size = text_size + text_size / 100 + 1000;
    return b;
}

static block pack_gzip(block text, int level)
{
    block b = new_block(text.size);
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
    z.next_in = text.bytes;
    z.avail_in = (uInt)text.size;
    z.next_out = b.bytes;
    z.avail_out = (uInt)b.size;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    b.size = z.total_out;
    deflateEnd(&z);
    return b;
}

static block pack_zstd(block text, int level)
{
    block b = new_block(text.size);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    b.size = ZSTD_compress2(context, b.bytes, b.size, text.bytes, text.size);
    assert_false(ZSTD_isError(b.size));
    ZSTD_freeCCtx(context);
    return b;
}

static block pack_xz(block text, int level)
{
    block b = new_block(text.size);
    size_t used = 0;
    assert_int_equal(lzma_easy_buffer_encode((uint32_t)level, LZMA_CHECK_CRC64, NULL,
                                             text.bytes, text.size, b.bytes, &used,
                                             b.size),
                     LZMA_OK);
    b.size = used;
    return b;
}

static const struct packer {
    const char *name;
    block (*pack)(block text, int level);
    int levels[3];
    size_t magic_size;
} packers[] = {
    {"gzip", pack_gzip, {0, 1, 9}, 2},
    {"zstd", pack_zstd, {-5, 3, 12}, 4},
    {"xz", pack_xz, {0, 3, 6}, 6},
};

/* Text of a few words, or bytes of which every one is as likely as any other. */
static block made_text(size_t size, bool random, uint64_t seed)
{
    static const char *const words[] = {"tide ", "moon ", "harbour ", "ebb\n", "a "};
    block text = {malloc(size + 16), size};
    assert_non_null(text.bytes);
    tide_rng rng = tide_rng_seeded(seed);
    for (size_t i = 0; i < size;) {
        const char *word = words[tide_rng_below(&rng, COUNT(words))];
        size_t length = random ? 1 : strlen(word);
        if (random)
            text.bytes[i] = (unsigned char)tide_rng_next(&rng);
        else
            memcpy(text.bytes + i, word, length);
        i += length;
    }
    return text;
}

static block joined(block a, block b)
{
    block both = {malloc(a.size + b.size + 1), a.size + b.size};
    assert_non_null(both.bytes);
    memcpy(both.bytes, a.bytes, a.size);
    memcpy(both.bytes + a.size, b.bytes, b.size);
    return both;
}

static block literal(const char *bytes, size_t size)
{
    block b = {(unsigned char *)(uintptr_t)bytes, size};
    return b;
}

/* -- unpacking --------------------------------------------------------------------- */

typedef struct result {
    block text;
    tide_error err; /* status TIDE_OK at the end of a good archive */
} result;

/* Reads everything; with `capacity` 0 the sizes are random. */
static result unpacked(memory *m, size_t capacity, size_t text_max)
{
    result r = {{malloc(text_max + 1), 0}, {0}};
    tide_rng rng = tide_rng_seeded(m->size);
    tide_unpacker *u =
        tide_unpacker_new(&memory_kind, m, "news", TIDE_EXPECTED_LINES, NULL);
    ptrdiff_t count = 1;
    for (size_t later = 0; count != 0 && r.err.status == TIDE_OK;) {
        size_t some = capacity ? capacity : 1 + tide_rng_below(&rng, 100000);
        size_t left = text_max + 1 - r.text.size;
        assert_true(left > 0);
        count = tide_unpacker_read(u, r.text.bytes + r.text.size,
                                   some < left ? some : left, 0, &r.err);
        if (count > 0)
            r.text.size += (size_t)count;
        assert_true(count >= 0 || count == TIDE_SOURCE_LATER ||
                    count == (ptrdiff_t)r.err.status);
        later += count == TIDE_SOURCE_LATER;
        assert_true(later <= 2 * m->size + 2);
    }
    char again;
    tide_error err = {0}; /* the end stays the end, and an error the same error */
    while ((count = tide_unpacker_read(u, &again, 1, 0, &err)) == TIDE_SOURCE_LATER)
        assert_true(m->stutters);
    assert_int_equal(count, r.err.status);
    assert_string_equal(err.text, r.err.text);
    tide_unpacker_free(u);
    return r;
}

static void assert_same(block found, block wanted)
{
    assert_int_equal(found.size, wanted.size);
    assert_memory_equal(found.bytes, wanted.bytes, wanted.size);
}

static void assert_unpacks(block archive, size_t piece, size_t capacity, block text)
{
    memory m = {archive.bytes, archive.size, 0, piece, piece % 2 == 1, false};
    result r = unpacked(&m, capacity, text.size);
    assert_string_equal(r.err.text, "");
    assert_same(r.text, text);
    free(r.text.bytes);
}

static void assert_breaks(block archive, block text, size_t at_least, const char *error)
{
    memory m = {archive.bytes, archive.size, 0, 0, false, false};
    result r = unpacked(&m, 0, text.size);
    assert_int_equal(r.err.status, TIDE_ERROR_FORMAT);
    assert_true(r.text.size >= at_least && r.text.size <= text.size);
    assert_memory_equal(r.text.bytes, text.bytes, r.text.size);
    if (error)
        assert_string_equal(r.err.text, error);
    free(r.text.bytes);
}

/* -- whole archives ---------------------------------------------------------------- */

static void text_comes_out_as_it_went_in_at_every_size_and_level(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,     1,      2,      100,    4095,   65535,  65536,
                                   65537, 131071, 131072, 131073, 300000, 3000000};
    for (size_t i = 0; i < COUNT(packers) * COUNT(sizes) * 2; i++) {
        const struct packer *p = &packers[i / 2 / COUNT(sizes)];
        size_t size = sizes[i / 2 % COUNT(sizes)];
        block text = made_text(size, i % 2, i);
        for (int level = 0; level < (size > 1000000 ? 1 : 3); level++) {
            block archive = p->pack(text, p->levels[level]);
            assert_unpacks(archive, 0, 0, text);
            free(archive.bytes);
        }
        free(text.bytes);
    }
}

static void text_is_the_same_for_any_size_of_reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(packers) * 2; i++) {
        block text = made_text(3000, i % 2, 50 + i);
        block archive = packers[i / 2].pack(text, 3);
        for (size_t piece = 1; piece < 9; piece++)
            for (size_t capacity = 1; capacity < 9; capacity++)
                assert_unpacks(archive, piece, capacity, text);
        free(archive.bytes);
        free(text.bytes);
    }
}

static void plain_text_is_unchanged(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "a",
                                        "(",
                                        "(tide)",
                                        "P",
                                        "PK",
                                        "PK\3",
                                        "PA",
                                        "PAR",
                                        "PAR2",
                                        "BZ",
                                        "BZ h",
                                        "\x1f",
                                        "\x1f!",
                                        "\3757zXZ",
                                        "\x28\xb5\x2f",
                                        "\x04\x22",
                                        "\x50\x2a!",
                                        "BZh",
                                        "BZh9",
                                        "BZh91",
                                        "BZh91A is my nick",
                                        "BZh91AY&SY is my nick",
                                        "BZh01AY&SY",
                                        "PAR1S is where I live\nand others",
                                        "\xff\xfe hi\nand others",
                                        "BZhang went home"};
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t piece = 0; piece < 4; piece++) {
            block text = literal(texts[i], strlen(texts[i]));
            assert_unpacks(text, piece, 1, text);
            assert_unpacks(text, piece, 0, text);
        }
    block large = made_text(200000, false, 1);
    assert_unpacks(large, 0, 0, large);
    assert_unpacks(large, 7, 0, large);
    free(large.bytes);
}

static void concatenated_members_are_one_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(packers); i++) {
        block one = made_text(5000, false, 1), two = made_text(70000, true, 2);
        block none = literal("", 0), both = joined(one, two);
        block a = packers[i].pack(one, 3), b = packers[i].pack(two, 3);
        block empty = packers[i].pack(none, 3), ab = joined(a, b);
        block abe = joined(ab, empty), eab = joined(empty, ab);
        assert_unpacks(ab, 0, 0, both);
        assert_unpacks(abe, 1, 0, both);
        assert_unpacks(eab, 3, 0, both);
        block *blocks[] = {&one, &two, &both, &a, &b, &empty, &ab, &abe, &eab};
        for (size_t k = 0; k < COUNT(blocks); k++)
            free(blocks[k]->bytes);
    }
}

/* 8 zeros are padding for gzip and xz; zstd has no padding. */
static void only_padding_may_follow(void **state)
{
    (void)state;
    static const struct {
        const char *after;
        size_t size;
        const char *errors[COUNT(packers)]; /* NULL for none */
    } table[] = {
        {"\0\0\0\0\0\0\0\0",
         8,
         {NULL,
          "news: zstd data is followed by trailing garbage, after 5000 bytes of text",
          NULL}},
        {"more text than a header",
         24,
         {"news: gzip data is followed by trailing garbage, after 5000 bytes of text",
          "news: zstd data is followed by trailing garbage, after 5000 bytes of text",
          "news: xz data is corrupt or followed by trailing garbage, after 5000 bytes "
          "of "
          "text"}},
    };
    block text = made_text(5000, false, 3);
    for (size_t i = 0; i < COUNT(packers) * COUNT(table); i++) {
        size_t k = i / COUNT(packers);
        block good = packers[i % COUNT(packers)].pack(text, 3);
        block archive = joined(good, literal(table[k].after, table[k].size));
        const char *error = table[k].errors[i % COUNT(packers)];
        if (error)
            assert_breaks(archive, text, text.size, error);
        else
            assert_unpacks(archive, 0, 0, text);
        free(archive.bytes);
        free(good.bytes);
    }
    free(text.bytes);
}

/* pzstd writes the size of a frame before it, in a frame to be skipped. */
static void zstd_may_start_with_a_skippable_frame(void **state)
{
    (void)state;
    block text = made_text(5000, false, 4), frame = pack_zstd(text, 3);
    block archive = joined(literal("\x50\x2a\x4d\x18\4\0\0\0\1\2\3\4", 12), frame);
    block twice = joined(archive, archive), both = joined(text, text);
    assert_unpacks(archive, 0, 0, text);
    assert_unpacks(twice, 1, 0, both);
    free(text.bytes);
    free(frame.bytes);
    free(archive.bytes);
    free(twice.bytes);
    free(both.bytes);
}

/* -- damaged archives -------------------------------------------------------------- */

/* What is shorter than a magic number is not known to be one. */
static void truncated_archive_yields_its_start_and_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(packers) * 2; i++) {
        const struct packer *p = &packers[i / 2];
        block text = made_text(1500, i % 2, 60 + i);
        block archive = p->pack(text, 3);
        for (size_t size = p->magic_size; size < archive.size; size++) {
            block cut = {archive.bytes, size};
            assert_breaks(cut, text, 0, NULL);
        }
        free(archive.bytes);
        free(text.bytes);
    }
}

static void all_text_before_a_truncation_is_returned(void **state)
{
    (void)state;
    char error[128];
    for (size_t i = 0; i < COUNT(packers); i++) {
        block text = made_text(400000, true, 70 + i);
        block archive = packers[i].pack(text, 0), cut = {archive.bytes, 300000};
        memory m = {cut.bytes, cut.size, 0, 0, false, false};
        result r = unpacked(&m, 0, text.size);
        snprintf(error, sizeof error,
                 "news: %s data is truncated, after %zu bytes of text", packers[i].name,
                 r.text.size);
        assert_string_equal(r.err.text, error);
        /* Random bytes are stored in blocks of at most 128 KiB. */
        assert_breaks(cut, text, 300000 - (128 << 10) - 1000, error);
        free(r.text.bytes);
        free(archive.bytes);
        free(text.bytes);
    }
}

/* Everything before the corrupt block: zstd's blocks have 128 KiB. */
static void all_text_before_a_corruption_is_returned(void **state)
{
    (void)state;
    enum { BLOCK = 128 << 10 };
    block text = made_text(4 * BLOCK, true, 80), archive = pack_zstd(text, 3);
    size_t header = 0; /* of the fourth block: a raw one of full size, the last */
    for (size_t i = 3 * BLOCK; i < archive.size - 3 && !header; i++)
        if (memcmp(archive.bytes + i, text.bytes + 3 * BLOCK, 16) == 0)
            header = i - 3;
    assert_true(header > 0);
    archive.bytes[header] |= 6; /* a type that there is not */
    assert_breaks(archive, text, 3 * BLOCK, NULL);
    free(text.bytes);
    free(archive.bytes);
}

static void every_flipped_bit_that_changes_the_text_is_detected(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(packers) * 2; i++) {
        const struct packer *p = &packers[i / 2];
        block text = made_text(250, i % 2, 90 + i);
        block archive = p->pack(text, 3);
        for (size_t bit = p->magic_size * 8; bit < archive.size * 8; bit++) {
            archive.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            memory m = {archive.bytes, archive.size, 0, 0, false, false};
            result r = unpacked(&m, 0, 1 << 18);
            if (r.err.status == TIDE_OK)
                assert_same(r.text, text);
            free(r.text.bytes);
            archive.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        assert_unpacks(archive, 0, 0, text);
        free(archive.bytes);
        free(text.bytes);
    }
}

/* Frames made by hand: a window of 2^27 or 2^28 bytes, and the three bytes "abc". */
static void zstd_window_of_more_than_128_MiB_is_refused(void **state)
{
    (void)state;
    block text = literal("abc", 3);
    assert_unpacks(literal("\x28\xb5\x2f\xfd\0\x88\x19\0\0abc", 12), 0, 0, text);
    assert_breaks(
        literal("\x28\xb5\x2f\xfd\0\x90\x19\0\0abc", 12), text, 0,
        "news: zstd data needs a window above the limit of 128 MiB (use zstd -dc "
        "--long=31), after 0 bytes of text");
}

/* The header of the first block begins at byte 12: its size / 4 - 1, flags, two numbers
 * of seven bits a byte, the number of the filter, the size of its properties, the size
 * of its dictionary; a checksum at its end. */
static void xz_dictionary_of_more_than_256_MiB_is_refused(void **state)
{
    (void)state;
    block text = made_text(1000, false, 5), archive = pack_xz(text, 3);
    unsigned char *header = archive.bytes + 12, *filter = header + 2;
    size_t size = (header[0] + 1u) * 4;
    assert_int_equal(header[1], 0xc0);
    for (int numbers = 0; numbers < 2; numbers += *filter++ < 0x80)
        continue;
    assert_int_equal(*filter, LZMA_FILTER_LZMA2);
    filter[2] = 36; /* 1 GiB */
    uint32_t check = lzma_crc32(header, size - 4, 0);
    memcpy(header + size - 4, &check, sizeof check);
    assert_breaks(
        archive, text, 0,
        "news: xz data needs 1024 MiB of memory to be decompressed, more than "
        "the limit of 256 MiB (use xz -dc), after 0 bytes of text");
    free(text.bytes);
    free(archive.bytes);
}

static void unsupported_formats_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *error;
    } table[] = {
        {"BZh91AY&SY\xff",
         "news is data compressed with bzip2, which cannot be read: bzcat news | "
         "wordtide train -"},
        {"PK\3\4\24", "news is a zip archive, which cannot be read: unzip -p news | "
                      "wordtide train -"},
        {"\4\"M\x18zzz",
         "news is data compressed with lz4, which cannot be read: lz4 -dc news | "
         "wordtide train -"},
        {"PAR1\x15\x04\x15\x10",
         "news is a Parquet file, not text: export it as text, JSON or CSV"},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_breaks(literal(table[i].bytes, strlen(table[i].bytes)), literal("", 0),
                      0, table[i].error);
    for (char level = '1'; level <= '9'; level++) {
        const char bytes[] = {'B', 'Z', 'h', level, '1',   'A',
                              'Y', '&', 'S', 'Y',   '\xff'};
        assert_breaks(literal(bytes, sizeof bytes), literal("", 0), 0, table[0].error);
    }
}

/* -- going elsewhere --------------------------------------------------------------- */

static void compressed_text_can_be_resumed_from_any_offset(void **state)
{
    (void)state;
    enum { SIZE = 600000, PIECE = 70000, BACK = 64 << 10, HASHED = 4096 };
    static unsigned char piece[PIECE], peeked[HASHED];
    tide_rng rng = tide_rng_seeded(6);
    for (size_t i = 0; i < COUNT(packers); i++) {
        block text = made_text(SIZE, false, 7), archive = packers[i].pack(text, 3);
        memory m = {archive.bytes, archive.size, 0, 0, false, false};
        tide_unpacker *u =
            tide_unpacker_new(&memory_kind, &m, "news", TIDE_EXPECTED_LINES, NULL);
        for (int run = 0; run < 60; run++) {
            uint64_t offset = tide_rng_below(&rng, SIZE + 1);
            assert_int_equal(tide_unpacker_seek(u, offset, NULL), TIDE_OK);
            ptrdiff_t count;
            for (int reads = 0; reads < 3; reads++) {
                count = tide_unpacker_read(u, piece, PIECE, 0, NULL);
                assert_true(count > 0 || (count == 0 && offset == SIZE));
                assert_memory_equal(piece, text.bytes + offset, count);
                offset += (uint64_t)count;
            }
            uint64_t back = offset - tide_rng_below(&rng, BACK + 1) % (offset + 1);
            size_t size = back < HASHED ? (size_t)back : HASHED;
            assert_int_equal(tide_unpacker_peek(u, back, peeked, size, NULL), TIDE_OK);
            assert_memory_equal(peeked, text.bytes + back - size, size);
        }
        assert_int_equal(tide_unpacker_seek(u, SIZE, NULL), TIDE_OK);
        assert_int_equal(tide_unpacker_peek(u, SIZE + 1, peeked, 1, NULL),
                         TIDE_ERROR_IO);
        assert_int_equal(
            tide_unpacker_peek(u, SIZE - TIDE_UNPACKED_KEPT, peeked, 1, NULL),
            TIDE_ERROR_IO);
        assert_int_equal(tide_unpacker_seek(u, SIZE + 1, NULL), TIDE_ERROR_FORMAT);
        tide_unpacker_free(u);
        free(archive.bytes);
        free(text.bytes);
    }
}

static void corrupt_archive_can_be_resumed_before_the_corruption(void **state)
{
    (void)state;
    char bytes[100];
    for (size_t i = 0; i < COUNT(packers); i++) {
        block text = made_text(500000, true, 8), archive = packers[i].pack(text, 3);
        memory m = {archive.bytes, archive.size / 2, 0, 0, false, false};
        tide_unpacker *u =
            tide_unpacker_new(&memory_kind, &m, "news", TIDE_EXPECTED_LINES, NULL);
        tide_error err = {0};
        assert_int_equal(tide_unpacker_seek(u, 400000, &err), TIDE_ERROR_FORMAT);
        assert_string_equal(err.text,
                            "corrupt before byte 400000 of its text, so it is "
                            "read from the start");
        assert_int_equal(tide_unpacker_seek(u, 1000, NULL), TIDE_OK);
        assert_int_equal(tide_unpacker_read(u, bytes, 100, 0, NULL), 100);
        assert_memory_equal(bytes, text.bytes + 1000, 100);
        tide_unpacker_free(u);
        free(archive.bytes);
        free(text.bytes);
    }
}

/* -- files and pipes --------------------------------------------------------------- */

static char path[] = "/tmp/test_decoder.XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int descriptor = mkstemp(path);
    return descriptor >= 0 ? close(descriptor) : -1;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(block b)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b.bytes, 1, b.size, file), b.size);
    assert_int_equal(fclose(file), 0);
}

static char *place_after(uint64_t offset, size_t capacity)
{
    tide_error err = {0};
    char *bytes = malloc(capacity);
    tide_source *source = tide_source_open(path, &err);
    while (tide_source_offset(source) < offset)
        assert_true(tide_source_read(source, bytes, capacity, &err) > 0);
    char *place = tide_source_position(source, offset, &err);
    assert_string_equal(err.text, "");
    tide_source_close(source);
    free(bytes);
    return place;
}

/* A file may be compressed, decompressed or recompressed between two runs. */
static void position_in_a_file_does_not_depend_on_compression(void **state)
{
    (void)state;
    enum { SIZE = 400000, OFFSET = 300001 };
    unsigned char bytes[1000];
    block text = made_text(SIZE, false, 9), other = made_text(SIZE, false, 10);
    write_file(text);
    char *place = place_after(OFFSET, 65536);
    for (size_t i = 0; i < COUNT(packers); i++) {
        block archive = packers[i].pack(text, 3);
        write_file(archive);
        char *same = place_after(OFFSET, 65536);
        assert_string_equal(same, place);
        tide_source *source = tide_source_open(path, NULL);
        assert_true(tide_source_can_resume(source) && tide_source_divisible(source));
        assert_int_equal(tide_source_seek(source, place, NULL), TIDE_OK);
        assert_int_equal(tide_source_offset(source), OFFSET);
        assert_int_equal(tide_source_read(source, bytes, 1000, NULL), 1000);
        assert_memory_equal(bytes, text.bytes + OFFSET, 1000);
        tide_source_close(source);
        free(archive.bytes);
        free(same);
    }
    block shorter = {text.bytes, OFFSET - 1}, *const wrong[] = {&other, &shorter};
    static const char *const texts[] = {
        "the text before byte 300001 has changed, so it is read from the start",
        "shorter than before, so it is read from the start"};
    for (size_t i = 0; i < COUNT(packers) * 2; i++) {
        block archive = packers[i / 2].pack(*wrong[i % 2], 3);
        write_file(archive);
        tide_source *source = tide_source_open(path, NULL);
        tide_error err = {0};
        assert_int_equal(tide_source_seek(source, place, &err), TIDE_ERROR_FORMAT);
        assert_string_equal(err.text, texts[i % 2]);
        assert_int_equal(tide_source_offset(source), 0);
        assert_int_equal(tide_source_read(source, bytes, 1000, NULL), 1000);
        assert_memory_equal(bytes, wrong[i % 2]->bytes, 1000);
        tide_source_close(source);
        free(archive.bytes);
    }
    free(place);
    free(text.bytes);
    free(other.bytes);
}

/* Standard input is a pipe, into which `feed` writes a byte at a time and reads what
 * comes out at once, a byte at a time too. Returns the size of that. */
typedef struct trickle {
    int saved, writer;
    tide_source *source;
} trickle;

static trickle new_trickle(void)
{
    int ends[2];
    trickle t = {.saved = dup(STDIN_FILENO)};
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    t.writer = ends[1];
    t.source = tide_source_open("-", NULL);
    assert_non_null(t.source);
    return t;
}

static size_t feed(trickle *t, const void *bytes, size_t size, unsigned char *text,
                   size_t capacity)
{
    size_t made = 0;
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(write(t->writer, (const char *)bytes + i, 1), 1);
        ptrdiff_t count;
        while ((count = tide_source_poll(t->source, text + made, 1, 0, NULL)) > 0)
            assert_true(++made < capacity);
        assert_int_equal(count, TIDE_SOURCE_LATER);
    }
    return made;
}

/* Returns what the read at the end returns. */
static ptrdiff_t end_trickle(trickle *t, tide_error *err)
{
    char bytes[1];
    close(t->writer);
    ptrdiff_t count = tide_source_read(t->source, bytes, 1, err);
    assert_false(tide_source_can_resume(t->source));
    tide_source_close(t->source);
    dup2(t->saved, STDIN_FILENO);
    close(t->saved);
    return count;
}

static void slow_plain_pipe_is_not_delayed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t held; /* bytes after which the first come out */
    } table[] = {{"tide", 1}, {"(tide", 2}, {"PAR5", 4}, {"BZ: a", 3}, {"\x1f\x1f", 2}};
    for (size_t i = 0; i < COUNT(table); i++) {
        unsigned char text[10];
        trickle t = new_trickle();
        size_t held = table[i].held, size = strlen(table[i].text);
        assert_int_equal(feed(&t, table[i].text, held - 1, text, 10), 0);
        assert_int_equal(feed(&t, table[i].text + held - 1, 1, text, 10), held);
        size_t rest = feed(&t, table[i].text + held, size - held, text + held, 5);
        assert_int_equal(held + rest, size);
        assert_memory_equal(text, table[i].text, size);
        assert_int_equal(end_trickle(&t, NULL), 0);
    }
}

static void slow_compressed_pipe_is_decompressed(void **state)
{
    (void)state;
    static unsigned char found[3001];
    for (size_t i = 0; i < COUNT(packers); i++) {
        block text = made_text(3000, false, 20 + i), archive = packers[i].pack(text, 3);
        trickle t = new_trickle();
        size_t made = feed(&t, archive.bytes, archive.size, found, sizeof found);
        assert_int_equal(made, text.size);
        assert_memory_equal(found, text.bytes, text.size);
        assert_int_equal(end_trickle(&t, NULL), 0);
        t = new_trickle();
        feed(&t, archive.bytes, archive.size - 1, found, sizeof found);
        tide_error err = {0};
        assert_int_equal(end_trickle(&t, &err), TIDE_ERROR_FORMAT);
        assert_non_null(strstr(err.text, "standard input: "));
        assert_non_null(strstr(err.text, " data is truncated, after "));
        free(archive.bytes);
        free(text.bytes);
    }
}

static size_t flushed_gzip(block line, unsigned char *archive, size_t capacity)
{
    z_stream z = {.next_in = line.bytes,
                  .avail_in = (uInt)line.size,
                  .next_out = archive,
                  .avail_out = (uInt)capacity};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
    assert_int_equal(deflate(&z, Z_SYNC_FLUSH), Z_OK);
    deflateEnd(&z);
    return z.total_out;
}

static size_t flushed_zstd(block line, unsigned char *archive, size_t capacity)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_inBuffer in = {line.bytes, line.size, 0};
    ZSTD_outBuffer out = {archive, capacity, 0};
    assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0);
    ZSTD_freeCCtx(context);
    return out.pos;
}

/* A writer that flushes is heard before it has finished. */
static void flushed_text_is_returned_before_the_archive_ends(void **state)
{
    (void)state;
    unsigned char archive[1000], found[1001];
    block line = made_text(1000, false, 21);
    for (int i = 0; i < 2; i++) {
        size_t size = i ? flushed_zstd(line, archive, sizeof archive)
                        : flushed_gzip(line, archive, sizeof archive);
        trickle t = new_trickle();
        assert_int_equal(feed(&t, archive, size, found, sizeof found), line.size);
        assert_memory_equal(found, line.bytes, line.size);
        assert_int_equal(end_trickle(&t, NULL), TIDE_ERROR_FORMAT);
    }
    free(line.bytes);
}

/* -- memory ------------------------------------------------------------------------ */

static void decompression_survives_the_loss_of_any_allocation(void **state)
{
    (void)state;
    unsigned char bytes[200];
    for (size_t i = 0; i < COUNT(packers); i++) {
        block text = made_text(100, false, 30), archive = packers[i].pack(text, 3);
        memory m = {archive.bytes, archive.size, 0, 0, false, false};
        tide_error err = {0};
        allocations_left = 0;
        assert_null(
            tide_unpacker_new(&memory_kind, &m, "news", TIDE_EXPECTED_LINES, &err));
        assert_int_equal(err.status, TIDE_ERROR_MEMORY);
        allocations_left = 1;
        tide_unpacker *u =
            tide_unpacker_new(&memory_kind, &m, "news", TIDE_EXPECTED_LINES, &err);
        for (int allowed = 0; allowed < 2; allowed++) { /* what it has it keeps */
            allocations_left = allowed;
            err = (tide_error){0};
            assert_int_equal(tide_unpacker_read(u, bytes, 200, 0, &err),
                             TIDE_ERROR_MEMORY);
            assert_int_equal(err.status, TIDE_ERROR_MEMORY);
        }
        allocations_left = -1;
        assert_int_equal(tide_unpacker_read(u, bytes, 200, 0, &err), 100);
        assert_memory_equal(bytes, text.bytes, 100);
        tide_unpacker_free(u);
        free(archive.bytes);
        free(text.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_comes_out_as_it_went_in_at_every_size_and_level),
        cmocka_unit_test(text_is_the_same_for_any_size_of_reads),
        cmocka_unit_test(plain_text_is_unchanged),
        cmocka_unit_test(concatenated_members_are_one_text),
        cmocka_unit_test(only_padding_may_follow),
        cmocka_unit_test(zstd_may_start_with_a_skippable_frame),
        cmocka_unit_test(truncated_archive_yields_its_start_and_an_error),
        cmocka_unit_test(all_text_before_a_truncation_is_returned),
        cmocka_unit_test(all_text_before_a_corruption_is_returned),
        cmocka_unit_test(every_flipped_bit_that_changes_the_text_is_detected),
        cmocka_unit_test(zstd_window_of_more_than_128_MiB_is_refused),
        cmocka_unit_test(xz_dictionary_of_more_than_256_MiB_is_refused),
        cmocka_unit_test(unsupported_formats_are_refused),
        cmocka_unit_test(compressed_text_can_be_resumed_from_any_offset),
        cmocka_unit_test(corrupt_archive_can_be_resumed_before_the_corruption),
        cmocka_unit_test(position_in_a_file_does_not_depend_on_compression),
        cmocka_unit_test(slow_plain_pipe_is_not_delayed),
        cmocka_unit_test(slow_compressed_pipe_is_decompressed),
        cmocka_unit_test(flushed_text_is_returned_before_the_archive_ends),
        cmocka_unit_test(decompression_survives_the_loss_of_any_allocation),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
