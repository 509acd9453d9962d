/* test_large_counts.c - sketches and samplers after very long streams: large counts are
 * as exact as small ones, and draws follow them. */
#include "base/base.h"
#include "file/file.h"
#include "sampler/sampler.h"
#include "vocab/vocab.h"
#include "old_fixture.h"

/* -- vocabularies ------------------------------------------------------------------ */

enum { TYPES = 400, TOKENS = 6000 };

/* Adds words whose numbers are squares of uniform numbers: the first are the most
 * frequent. The sampler may be NULL. */
static void count_some(tide_vocabulary *v, tide_sampler *sampler, uint64_t seed,
                       size_t tokens)
{
    tide_rng rng = tide_rng_seeded(seed);
    for (size_t i = 0; i < tokens; i++) {
        double u = tide_rng_double(&rng);
        char text[32] = "";
        int length = snprintf(text, sizeof text, "w%u", (unsigned)(u * u * TYPES));
        tide_word word = {text, (uint32_t)length};
        uint32_t slot;
        tide_admission admission;
        tide_vocabulary_add(v, &word, 1, &slot, &admission);
        if (sampler)
            tide_sampler_add(sampler, v, &slot, 1);
    }
}

static void save_vocabulary(const tide_vocabulary *v, const char *path)
{
    tide_store_writer *writer = tide_store_create(path, NULL);
    assert_non_null(writer);
    tide_vocabulary_save(v, writer);
    assert_int_equal(tide_store_commit(writer, NULL), TIDE_OK);
}

static tide_vocabulary *load_vocabulary(const tide_vocabulary_options *options,
                                        const char *path)
{
    tide_error err;
    tide_store *store = tide_store_open(path, &err);
    assert_non_null(store);
    tide_vocabulary *v = tide_vocabulary_load(options, store, &err);
    if (!v)
        fail_msg("%s", err.text);
    tide_store_close(store);
    return v;
}

/* Adds to count and error of every slot that has a word. */
static void shift_counts(const char *path, uint64_t by)
{
    size_t size;
    unsigned char *bytes = read_section(path, "vocab.counts", &size);
    for (size_t at = 0; at < size; at += 16)
        if (tide_get64(bytes + at)) {
            tide_put64(bytes + at, tide_get64(bytes + at) + by);
            tide_put64(bytes + at + 8, tide_get64(bytes + at + 8) + by);
        }
    replace_section(path, path, "vocab.counts", bytes, size);
    free(bytes);
}

/* Compares two vocabularies after the same tokens: counts, errors and bounds of the
 * second are higher by `by`. */
static void count_twice(const tide_vocabulary_options *options, uint64_t by,
                        tide_vocabulary **young, tide_vocabulary **old)
{
    *young = tide_vocabulary_new(options, NULL);
    assert_non_null(*young);
    count_some(*young, NULL, 1, TOKENS);
    save_vocabulary(*young, "v");
    shift("v", "vocab.state", VOCAB_TOKENS, 1, VOCAB_TOTAL + 1, by * options->capacity);
    shift_one("v", "vocab.state", VOCAB_MINIMUM, by);
    size_t size;
    unsigned char *numbers = read_section("v", "vocab.state", &size);
    if (tide_get64(numbers + 8 * VOCAB_LOWEST) != UINT64_MAX)
        shift_one("v", "vocab.state", VOCAB_LOWEST, by);
    free(numbers);
    shift_counts("v", by);
    *old = load_vocabulary(options, "v");
}

static void assert_shifted(const tide_vocabulary *young, const tide_vocabulary *old,
                           uint32_t slot, uint64_t by)
{
    uint32_t one, two;
    const char *word = tide_vocabulary_word(young, slot, &one);
    const char *other = tide_vocabulary_word(old, slot, &two);
    assert_int_equal(one, two);
    if (!word)
        return;
    assert_memory_equal(word, other, one);
    assert_int_equal(tide_vocabulary_count(old, slot),
                     tide_vocabulary_count(young, slot) + by);
    assert_int_equal(tide_vocabulary_error(old, slot),
                     tide_vocabulary_error(young, slot) + by);
}

static void assert_alike(const tide_vocabulary_options *options, uint64_t by)
{
    tide_vocabulary *young, *old;
    count_twice(options, by, &young, &old);
    count_some(young, NULL, 2, TOKENS);
    count_some(old, NULL, 2, TOKENS);
    assert_true(tide_vocabulary_evicted(young) > 300);
    assert_int_equal(tide_vocabulary_evicted(old), tide_vocabulary_evicted(young));
    assert_int_equal(tide_vocabulary_minimum(old), tide_vocabulary_minimum(young) + by);
    for (uint32_t slot = 0; slot < options->capacity; slot++)
        assert_shifted(young, old, slot, by);
    tide_vocabulary_free(young);
    tide_vocabulary_free(old);
}

/* Which words are admitted and evicted, and by how much counts grow, depends on
 * differences of counts alone. */
static void words_are_admitted_and_evicted_as_with_small_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++) {
        uint32_t capacity = ages[i] >> 60 ? 1 : 50; /* or tokens would exceed 2^64 */
        tide_vocabulary_options plain = {.kind = TIDE_VOCABULARY_SPACE_SAVING,
                                         .capacity = capacity};
        tide_vocabulary_options canceling = {.kind = TIDE_VOCABULARY_MISRA_GRIES,
                                             .capacity = capacity};
        assert_alike(&plain, ages[i] - 150); /* counts pass it */
        assert_alike(&canceling, ages[i] - 150);
    }
}

/* A word in every slot, seen `most` times over its rank. */
static tide_vocabulary *filled_vocabulary(const tide_vocabulary_options *options,
                                          uint64_t most)
{
    tide_vocabulary *v = tide_vocabulary_new(options, NULL);
    assert_non_null(v);
    for (uint32_t rank = 1; rank <= options->capacity; rank++) {
        char text[32] = "";
        int length = snprintf(text, sizeof text, "w%u", rank);
        tide_word word = {text, (uint32_t)length};
        uint64_t count = most / rank;
        assert_int_equal(tide_vocabulary_insert(v, &word, count, count / 3), rank - 1);
    }
    return v;
}

/* The weights used for subsampling and for draws. */
static void weights_follow_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++) {
        tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_SPACE_SAVING,
                                           .capacity = 1};
        tide_vocabulary *v = filled_vocabulary(&options, ages[i] + 500);
        uint32_t slots[] = {0, TIDE_NO_SLOT};
        float weights[2];
        tide_vocabulary_weights(v, slots, 2, weights);
        assert_true(weights[0] == (float)(ages[i] + 500) && weights[1] == 0);
        tide_vocabulary_free(v);
    }
}

static void large_counts_are_halved_exactly(void **state)
{
    (void)state;
    enum { K = 20, HALF_LIFE = 100 };
    for (size_t i = 0; i < COUNT(ages); i++) {
        tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_SPACE_SAVING,
                                           .capacity = K,
                                           .half_life = HALF_LIFE};
        tide_vocabulary *v = filled_vocabulary(&options, ages[i] / 4 - 1);
        uint64_t total = tide_vocabulary_total(v);
        tide_word word = {"w1\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 2};
        for (int token = 0; token < HALF_LIFE; token++) {
            uint32_t slot;
            tide_admission admission;
            tide_vocabulary_add(v, &word, 1, &slot, &admission);
        }
        assert_int_equal(tide_vocabulary_total(v), (total + HALF_LIFE) / 2);
        for (uint32_t slot = 0; slot < K; slot++) {
            uint64_t count = (ages[i] / 4 - 1) / (slot + 1), error = count / 3;
            count += slot ? 0 : HALF_LIFE;
            assert_int_equal(tide_vocabulary_count(v, slot), count / 2);
            assert_int_equal(tide_vocabulary_error(v, slot),
                             count / 2 - (count - error) / 2);
        }
        tide_vocabulary_free(v);
    }
}

/* The gate's cells have 32 bits: a saturated cell stays saturated and admits words. */
static void a_saturated_gate_admits_and_never_wraps_to_zero(void **state)
{
    (void)state;
    enum { K = 50, FILL = 100 };
    tide_vocabulary_options options = {
        .kind = TIDE_VOCABULARY_SPACE_SAVING, .capacity = K, .gate = true, .seed = 1};
    tide_vocabulary *v = filled_vocabulary(&options, UINT64_C(1) << 40);
    save_vocabulary(v, "v");
    tide_vocabulary_free(v);
    size_t size;
    unsigned char *cells = read_section("v", "vocab.gate", &size);
    for (size_t i = 0; i < size / 4; i++)
        memcpy(cells + 4 * i, &(uint32_t){UINT32_MAX - FILL}, 4);
    replace_section("v", "v", "vocab.gate", cells, size);
    free(cells);
    v = load_vocabulary(&options, "v");
    for (uint64_t round = 0; round < 60; round++)
        count_some(v, NULL, round, 1000);
    assert_true(tide_vocabulary_evicted(v) > 0);
    save_vocabulary(v, "v");
    cells = read_section("v", "vocab.gate", &size);
    for (size_t i = 0; i < size / 4; i++) {
        uint32_t cell;
        memcpy(&cell, cells + 4 * i, 4);
        assert_true(cell >= UINT32_MAX - FILL);
    }
    free(cells);
    for (uint32_t slot = 0; slot < K; slot++)
        assert_true(tide_vocabulary_error(v, slot) <= tide_vocabulary_count(v, slot));
    tide_vocabulary_free(v);
}

/* -- samplers ---------------------------------------------------------------------- */

/* Sum of (seen - expected)^2 / expected. */
static double chi_square(const uint64_t *seen, const double *expected, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double apart = (double)seen[i] - expected[i];
        sum += apart * apart / expected[i];
    }
    return sum;
}

/* 5 sigma above the mean for these degrees of freedom. */
static double chi_square_most(size_t degrees)
{
    return (double)degrees + 5 * sqrt(2 * (double)degrees);
}

static void negatives_follow_counts_of_any_size(void **state)
{
    (void)state;
    enum { K = 20, DRAWS = 400000 };
    for (size_t i = 0; i < COUNT(ages); i++) {
        tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_SPACE_SAVING,
                                           .capacity = K};
        tide_sampler_options how = {
            .kind = TIDE_SAMPLER_ALIAS, .capacity = K, .power = 0.75f};
        tide_vocabulary *v = filled_vocabulary(&options, ages[i] / 4);
        tide_sampler *sampler = tide_sampler_new(&how, NULL);
        assert_non_null(sampler);
        assert_true(tide_sampler_refresh(sampler, v, true));
        static uint32_t slots[DRAWS];
        uint64_t seen[K] = {0};
        double expected[K], sum = 0;
        tide_rng rng = tide_rng_seeded(i);
        tide_draws_next(tide_sampler_draws(sampler), &rng, slots, DRAWS);
        for (size_t d = 0; d < DRAWS; d++) {
            assert_true(slots[d] < K);
            seen[slots[d]]++;
        }
        for (int r = 0; r < K; r++)
            sum += expected[r] = pow(1.0 / (r + 1), 0.75);
        for (int r = 0; r < K; r++)
            expected[r] *= DRAWS / sum;
        assert_true(chi_square(seen, expected, K) < chi_square_most(K - 1));
        tide_sampler_free(sampler);
        tide_vocabulary_free(v);
    }
}

static void save_sampler(const tide_sampler *sampler, const char *path)
{
    tide_store_writer *writer = tide_store_create(path, NULL);
    assert_non_null(writer);
    tide_sampler_save(sampler, writer);
    assert_int_equal(tide_store_commit(writer, NULL), TIDE_OK);
}

static tide_sampler *load_sampler(const tide_sampler_options *how, const char *path)
{
    tide_store *store = tide_store_open(path, NULL);
    assert_non_null(store);
    tide_sampler *sampler = tide_sampler_load(how, store, NULL);
    assert_non_null(sampler);
    tide_store_close(store);
    return sampler;
}

static tide_sampler *reservoir_after(const tide_sampler_options *how, uint64_t seen)
{
    tide_sampler *sampler = tide_sampler_new(how, NULL);
    assert_non_null(sampler);
    uint32_t slots[1024] = {0};
    for (uint64_t i = 0; i < how->reservoir_size; i += COUNT(slots))
        tide_sampler_add(sampler, NULL, slots, COUNT(slots));
    save_sampler(sampler, "s");
    tide_sampler_free(sampler);
    replace_number("s", "s", "sampler.state", RESERVOIR_SEEN, seen);
    return load_sampler(how, "s");
}

/* A reservoir of 2^20 that has seen 2^33 tokens takes one in 8,192: of 2^23 that is
 * 1,024 with a sigma of 32, at any index. */
static void a_reservoir_is_uniform_after_eight_billion_tokens(void **state)
{
    (void)state;
    enum { BUCKETS = 16, SIZE = 1 << 20, ADDED = 1 << 23 };
    tide_sampler_options how = {.kind = TIDE_SAMPLER_RESERVOIR,
                                .capacity = 2,
                                .reservoir_size = SIZE,
                                .seed = 3};
    tide_sampler *sampler = reservoir_after(&how, UINT64_C(1) << 33);
    uint32_t ones[1024];
    for (size_t i = 0; i < COUNT(ones); i++)
        ones[i] = 1;
    for (size_t i = 0; i < ADDED; i += COUNT(ones))
        tide_sampler_add(sampler, NULL, ones, COUNT(ones));
    save_sampler(sampler, "s");
    tide_sampler_free(sampler);
    size_t size;
    unsigned char *entries = read_section("s", "sampler.entries", &size);
    assert_int_equal(size, 4 * SIZE);
    uint64_t seen[BUCKETS] = {0}, all = 0;
    double expected[BUCKETS];
    for (size_t i = 0; i < SIZE; i++)
        if (entries[4 * i]) {
            seen[i / (SIZE / BUCKETS)]++;
            all++;
        }
    free(entries);
    assert_in_range(all, 1024 - 5 * 32, 1024 + 5 * 32);
    for (int i = 0; i < BUCKETS; i++)
        expected[i] = (double)all / BUCKETS;
    assert_true(chi_square(seen, expected, BUCKETS) < chi_square_most(BUCKETS - 1));
}

static void a_reservoir_keeps_sampling_at_any_age(void **state)
{
    (void)state;
    tide_sampler_options how = {.kind = TIDE_SAMPLER_RESERVOIR,
                                .capacity = 2,
                                .reservoir_size = 1024,
                                .seed = 3};
    for (size_t i = 0; i < COUNT(ages); i++) {
        tide_sampler *sampler = reservoir_after(&how, ages[i] - 1000);
        uint32_t ones[2000];
        for (size_t k = 0; k < COUNT(ones); k++)
            ones[k] = 1;
        tide_sampler_add(sampler, NULL, ones, COUNT(ones));
        save_sampler(sampler, "s");
        tide_sampler_free(sampler);
        tide_sampler_free(load_sampler(&how, "s"));
        size_t size;
        unsigned char *numbers = read_section("s", "sampler.state", &size);
        assert_int_equal(tide_get64(numbers + 8 * RESERVOIR_SEEN), ages[i] + 1000);
        free(numbers);
    }
}

enum { SMOOTHED_SUM = 4 };

static double sum_of(const tide_sampler *sampler)
{
    save_sampler(sampler, "s");
    size_t size;
    unsigned char *state = read_section("s", "sampler.state", &size);
    uint64_t bits = tide_get64(state + 8 * SMOOTHED_SUM);
    double sum;
    memcpy(&sum, &bits, sizeof sum);
    free(state);
    return sum;
}

/* The sum of all weights is right on average although each addition is less than half
 * the distance to the next double. A sigma is at most the root of the total times that
 * distance. */
static void the_sum_of_a_smoothed_sampler_grows_at_any_size(void **state)
{
    (void)state;
    enum { K = 500, ADDED = 200000 };
    tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_EXACT, .capacity = K};
    tide_sampler_options how = {.kind = TIDE_SAMPLER_SMOOTHED,
                                .capacity = K,
                                .power = 0.75f,
                                .reservoir_size = 64,
                                .seed = 3};
    for (int exponent = 0; exponent <= 60; exponent += 4) {
        tide_vocabulary *v = tide_vocabulary_new(&options, NULL);
        tide_sampler *sampler = tide_sampler_new(&how, NULL);
        assert_true(v && sampler);
        count_some(v, sampler, 1, ADDED / 10);
        double start = sum_of(sampler) + ldexp(1, exponent), earned = 0;
        uint64_t bits;
        memcpy(&bits, &start, sizeof bits);
        replace_number("s", "s", "sampler.state", SMOOTHED_SUM, bits);
        tide_sampler_free(sampler);
        sampler = load_sampler(&how, "s");
        for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++)
            earned -= pow((double)tide_vocabulary_count(v, slot), 0.75);
        count_some(v, sampler, 2, ADDED);
        for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++)
            earned += pow((double)tide_vocabulary_count(v, slot), 0.75);
        double apart = nextafter(2 * start, HUGE_VAL) - 2 * start;
        double sigma = sqrt(earned * apart);
        assert_true(fabs(sum_of(sampler) - start - earned) < 5 * sigma + 1e-3 * earned);
        tide_sampler_free(sampler);
        tide_vocabulary_free(v);
    }
}

/* Bounds that are not powers of two reveal the bias of a modulo, and those beyond 2^32
 * lost upper bits. */
static void random_numbers_are_uniform_below_any_bound(void **state)
{
    (void)state;
    enum { BUCKETS = 64, DRAWS = 400000 };
    const uint64_t bounds[] = {UINT64_C(1) << 33, UINT64_C(3) << 32, UINT64_C(3) << 52,
                               UINT64_C(3) << 61, (UINT64_C(1) << 62) + 12345};
    for (size_t b = 0; b < COUNT(bounds); b++) {
        tide_rng rng = tide_rng_seeded(b);
        uint64_t seen[BUCKETS] = {0};
        double expected[BUCKETS];
        for (int i = 0; i < DRAWS; i++) {
            uint64_t place = tide_rng_below(&rng, bounds[b]);
            assert_true(place < bounds[b]);
            seen[place / (bounds[b] / BUCKETS + 1)]++;
        }
        for (int i = 0; i < BUCKETS; i++)
            expected[i] = (double)DRAWS / BUCKETS;
        assert_true(chi_square(seen, expected, BUCKETS) < chi_square_most(BUCKETS - 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(words_are_admitted_and_evicted_as_with_small_counts),
        cmocka_unit_test(weights_follow_counts),
        cmocka_unit_test(large_counts_are_halved_exactly),
        IN_FOLDER(a_saturated_gate_admits_and_never_wraps_to_zero),
        cmocka_unit_test(negatives_follow_counts_of_any_size),
        IN_FOLDER(a_reservoir_is_uniform_after_eight_billion_tokens),
        IN_FOLDER(a_reservoir_keeps_sampling_at_any_age),
        IN_FOLDER(the_sum_of_a_smoothed_sampler_grows_at_any_size),
        cmocka_unit_test(random_numbers_are_uniform_below_any_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
