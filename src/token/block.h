/* block.h - classifies 64 bytes of text into bit masks; bit i is for byte i.
 *
 * Four masks are enough to find words: whitespace (0x20 and below), line feeds, bytes
 * that are not printable ASCII (0x7f and above), and lower-case letters, which need no
 * further processing. All functions are inlined, so a mask that the caller does not use
 * costs nothing. The SSE2 and the portable version, which handles eight bytes per
 * 64-bit word, return the same masks.
 */
#ifndef TIDE_TOKEN_BLOCK_H
#define TIDE_TOKEN_BLOCK_H

#include "base/base.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { TIDE_BLOCK_SIZE = 64 };

typedef struct tide_block {
    uint64_t space;   /* at most 0x20 */
    uint64_t newline; /* 0x0a */
    uint64_t special; /* at least 0x7f */
    uint64_t letter;  /* a to z */
} tide_block;

/* Packs the top bits of the eight bytes of a word into one byte: the multiplication
 * moves bit 8i to bit 56 + i, and its partial products do not overlap. */
static inline uint64_t tide_block_gather(uint64_t tops)
{
    return ((tops >> 7) * 0x0102040810204080u) >> 56;
}

static inline tide_block tide_block_portable(const unsigned char *bytes)
{
    const uint64_t ones = 0x0101010101010101u, low = 0x7f * ones, top = 0x80 * ones;
    tide_block block = {0, 0, 0, 0};
    for (unsigned i = 0; i < TIDE_BLOCK_SIZE; i += 8) {
        uint64_t x;
        memcpy(&x, bytes + i, sizeof x);
        /* Comparisons of eight bytes at once: adding 0x7f - c to the low seven bits
         * sets the top bit exactly if they exceed c, without a carry into the next
         * byte. The top bit of the byte itself is handled separately, by | x or &
         * ~x. */
        uint64_t line_feeds = x ^ (0x0a * ones);
        uint64_t space = ~(((x & low) + (0x7f - 0x20) * ones) | x) & top;
        uint64_t newline = ~(((line_feeds & low) + low) | line_feeds) & top;
        uint64_t special = (((x & low) + ones) | x) & top;
        uint64_t at_least_a = (x & low) + (0x80 - 'a') * ones;
        uint64_t above_z = (x & low) + (0x7f - 'z') * ones;
        block.letter |= tide_block_gather(at_least_a & ~above_z & ~x & top) << i;
        block.space |= tide_block_gather(space) << i;
        block.newline |= tide_block_gather(newline) << i;
        block.special |= tide_block_gather(special) << i;
    }
    return block;
}

#ifdef __SSE2__
/* Classifies 16 bytes from `at`, which is a constant in every call. */
static inline void tide_block_add16(tide_block *block, const unsigned char *bytes,
                                    unsigned at)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(bytes + at));
    /* SSE2 compares bytes for equality or as signed numbers only. x <= c, unsigned, is
     * min(x, c) == x. */
    __m128i space = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x20)), x);
    __m128i newline = _mm_cmpeq_epi8(x, _mm_set1_epi8(0x0a));
    __m128i special = _mm_cmpeq_epi8(_mm_max_epu8(x, _mm_set1_epi8(0x7f)), x);
    /* Bytes below 'a' wrap around to large numbers, so one comparison tests both
     * bounds. */
    __m128i offset = _mm_sub_epi8(x, _mm_set1_epi8('a'));
    __m128i letter = _mm_cmpeq_epi8(_mm_min_epu8(offset, _mm_set1_epi8(25)), offset);
    block->letter |= (uint64_t)(unsigned)_mm_movemask_epi8(letter) << at;
    block->space |= (uint64_t)(unsigned)_mm_movemask_epi8(space) << at;
    block->newline |= (uint64_t)(unsigned)_mm_movemask_epi8(newline) << at;
    block->special |= (uint64_t)(unsigned)_mm_movemask_epi8(special) << at;
}

static inline tide_block tide_block_sse2(const unsigned char *bytes)
{
    tide_block block = {0, 0, 0, 0};
    tide_block_add16(&block, bytes, 0);
    tide_block_add16(&block, bytes, 16);
    tide_block_add16(&block, bytes, 32);
    tide_block_add16(&block, bytes, 48);
    return block;
}
#endif

static inline tide_block tide_block_read(const unsigned char *bytes)
{
#ifdef __SSE2__
    return tide_block_sse2(bytes);
#else
    return tide_block_portable(bytes);
#endif
}

#endif
