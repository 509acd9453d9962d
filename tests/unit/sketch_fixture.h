/* sketch_fixture.h - shared by the tests of vocabularies and samplers: words, streams,
 * failing allocations, and files to be saved, compared and corrupted. */
#ifndef TIDE_SKETCH_FIXTURE_H
#define TIDE_SKETCH_FIXTURE_H

#include "base/base.h"
#include "file/file.h"
#include "sampler/sampler.h"
#include "vocab/vocab.h"

#include <math.h>

#include "section_fixture.h"

/* -- failing allocations ---------------------------------------------------------- */

/* Replaces the library's function, which the linker then leaves in its archive. */
static size_t allocated_bytes;
static int allocations_left = -1; /* until one fails; negative for no limit */

void *tide_alloc(size_t count, size_t size)
{
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    size_t rounded = (count * size + 64) / 64 * 64;
    void *block = aligned_alloc(64, rounded);
    assert_non_null(block);
    allocated_bytes += count * size;
    return memset(block, 0, rounded);
}

/* -- words and streams ------------------------------------------------------------- */

typedef struct stream {
    char (*texts)[TIDE_WORD_MAX + 16];
    tide_word *types;
    uint32_t type_count;
    uint32_t *tokens; /* types, by number */
    size_t token_count;
} stream;

static inline stream stream_new(uint32_t type_count, size_t token_count)
{
    stream s = {.type_count = type_count, .token_count = token_count};
    s.texts = calloc(type_count, sizeof *s.texts);
    s.types = calloc(type_count, sizeof *s.types);
    s.tokens = calloc(token_count, sizeof *s.tokens);
    assert_true(s.texts && s.types && s.tokens);
    for (uint32_t i = 0; i < type_count; i++) {
        int length = snprintf(s.texts[i], sizeof s.texts[i], "w%u", i);
        s.types[i] = (tide_word){s.texts[i], (uint32_t)length};
    }
    return s;
}

static inline void stream_free(stream *s)
{
    free(s->tokens);
    free(s->types);
    free(s->texts);
}

/* Type r has a probability proportional to 1 / (r + 1). */
static inline stream stream_zipf(uint32_t type_count, size_t token_count, uint64_t seed)
{
    stream s = stream_new(type_count, token_count);
    double *sums = calloc(type_count, sizeof *sums);
    assert_non_null(sums);
    for (uint32_t i = 0; i < type_count; i++)
        sums[i] = (i > 0 ? sums[i - 1] : 0) + 1 / (i + 1.0);
    tide_rng rng = tide_rng_seeded(seed);
    for (size_t i = 0; i < token_count; i++) {
        double x = tide_rng_double(&rng) * sums[type_count - 1];
        uint32_t low = 0, high = type_count - 1;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (sums[middle] > x)
                high = middle;
            else
                low = middle + 1;
        }
        s.tokens[i] = low;
    }
    free(sums);
    return s;
}

/* Words of some length, all different, with every byte value in them. */
static inline void stream_set_word(stream *s, uint32_t type, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        s->texts[type][i] = (char)(1 + (type * 7 + i * 31) % 255);
    uint32_t number = type;
    for (uint32_t i = 0; i < 3 && i < length; i++, number /= 255)
        s->texts[type][length - 1 - i] = (char)(1 + number % 255);
    s->types[type].length = length;
}

/* Counts tokens first to end - 1 in batches of `batch`, and adds them to the sampler,
 * if it is not NULL. */
static inline void stream_feed(const stream *s, size_t first, size_t end, size_t batch,
                               tide_vocabulary *v, tide_sampler *sampler)
{
    tide_word words[256];
    uint32_t slots[256];
    tide_admission admissions[256];
    assert_true(batch <= 256);
    while (first < end) {
        size_t count = end - first < batch ? end - first : batch;
        for (size_t i = 0; i < count; i++)
            words[i] = s->types[s->tokens[first + i]];
        tide_vocabulary_add(v, words, count, slots, admissions);
        if (sampler) {
            tide_sampler_add(sampler, v, slots, count);
            tide_sampler_refresh(sampler, v, true);
        }
        first += count;
    }
}

/* -- files ------------------------------------------------------------------------- */

static inline void save(const char *path, const tide_vocabulary *v,
                        const tide_sampler *sampler)
{
    tide_error err;
    tide_store_writer *writer = tide_store_create(path, &err);
    assert_non_null(writer);
    if (v)
        tide_vocabulary_save(v, writer);
    if (sampler)
        tide_sampler_save(sampler, writer);
    assert_int_equal(tide_store_commit(writer, &err), TIDE_OK);
}

static inline void assert_same_file(const char *a, const char *b)
{
    FILE *one = fopen(a, "rb");
    FILE *two = fopen(b, "rb");
    assert_true(one && two);
    int byte;
    do {
        byte = getc(one);
        assert_int_equal(byte, getc(two));
    } while (byte != EOF);
    fclose(one);
    fclose(two);
}

#endif
