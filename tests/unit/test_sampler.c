/* test_sampler.c - the samplers draw from the right distribution, at any time and in
 * all threads. */
#include "base/base.h"
#include "file/file.h"
#include "sampler/sampler.h"
#include "vocab/vocab.h"
#include "sketch_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static tide_vocabulary *vocabulary(tide_vocabulary_kind kind, uint32_t capacity)
{
    tide_vocabulary_options options = {.kind = kind, .capacity = capacity};
    tide_vocabulary *v = tide_vocabulary_new(&options, NULL);
    assert_non_null(v);
    return v;
}

static tide_sampler_options setup(tide_sampler_kind kind, uint32_t capacity)
{
    return (tide_sampler_options){.kind = kind,
                                  .capacity = capacity,
                                  .power = 0.75f,
                                  .reservoir_size = 5000,
                                  .seed = 3};
}

static tide_sampler *made(const tide_sampler_options *options)
{
    tide_sampler *s = tide_sampler_new(options, NULL);
    assert_non_null(s);
    return s;
}

static tide_sampler *loaded(const char *path, const tide_sampler_options *options,
                            tide_error *err)
{
    tide_store *store = tide_store_open(path, err);
    assert_non_null(store);
    tide_sampler *s = tide_sampler_load(options, store, err);
    tide_store_close(store);
    return s;
}

/* Draws and checks by a chi-square test that slot i is drawn with probability
 * weights[i] / sum. Slots with 0 must never be drawn; those expected fewer than 5 times
 * are pooled. Chi-square with f degrees of freedom has mean f and variance 2 f; 5 sigma
 * are allowed in either direction. */
static void assert_distribution(const tide_draws *draws, const double *weights,
                                uint32_t size)
{
    enum { DRAWS = 2000000, BATCH = 1000 };
    uint64_t *drawn = calloc(size, sizeof *drawn);
    assert_non_null(drawn);
    tide_rng rng = tide_rng_seeded(17);
    for (int i = 0; i < DRAWS; i += BATCH) {
        uint32_t slots[BATCH];
        tide_draws_next(draws, &rng, slots, BATCH);
        for (int k = 0; k < BATCH; k++) {
            assert_true(slots[k] < size);
            drawn[slots[k]]++;
        }
    }
    double sum = 0, chi = 0, rest = 0, rest_drawn = 0, freedom = -1;
    for (uint32_t i = 0; i < size; i++)
        sum += weights[i];
    for (uint32_t i = 0; i < size; i++) {
        double expected = weights[i] / sum * DRAWS, found = (double)drawn[i];
        if (weights[i] <= 0)
            assert_int_equal(drawn[i], 0);
        if (expected < 5) {
            rest += expected;
            rest_drawn += found;
            continue;
        }
        chi += (found - expected) * (found - expected) / expected;
        freedom++;
    }
    if (rest >= 5) {
        chi += (rest_drawn - rest) * (rest_drawn - rest) / rest;
        freedom++;
    }
    free(drawn);
    assert_true(freedom > 10);
    assert_true(fabs(chi - freedom) < 5 * sqrt(2 * freedom));
}

/* -- alias ------------------------------------------------------------------------- */

static double *powers(const tide_vocabulary *v, double power)
{
    uint32_t size = tide_vocabulary_used(v);
    double *weights = calloc(size, sizeof *weights);
    assert_non_null(weights);
    for (uint32_t i = 0; i < size; i++) {
        double weight = (double)tide_vocabulary_weight(v, i);
        weights[i] = weight > 0 ? pow(weight, power) : 0;
    }
    return weights;
}

static void alias_draws_in_proportion_to_the_power_of_counts(void **state)
{
    (void)state;
    const float all[] = {0.75f, 1, 0.5f, 0};
    for (size_t i = 0; i < COUNT(all); i++) {
        stream s = stream_zipf(3000, 50000, i);
        tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_EXACT, 3000);
        tide_sampler_options options = setup(TIDE_SAMPLER_ALIAS, 3000);
        options.power = all[i];
        tide_sampler *sampler = made(&options);
        stream_feed(&s, 0, s.token_count, 256, v, NULL);
        assert_true(tide_sampler_refresh(sampler, v, true));
        double *weights = powers(v, (double)all[i]);
        assert_distribution(tide_sampler_draws(sampler), weights,
                            tide_vocabulary_used(v));
        free(weights);
        tide_sampler_free(sampler);
        tide_vocabulary_free(v);
        stream_free(&s);
    }
}

/* Adds up, column by column, the probability with which each slot is drawn. */
static void the_alias_table_is_exact(void **state)
{
    (void)state;
    stream s = stream_zipf(5000, 60000, 4);
    const tide_vocabulary_kind kinds[] = {TIDE_VOCABULARY_EXACT,
                                          TIDE_VOCABULARY_SPACE_SAVING,
                                          TIDE_VOCABULARY_MISRA_GRIES};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tide_vocabulary *v = vocabulary(kinds[k], 1500);
        tide_sampler_options options = setup(TIDE_SAMPLER_ALIAS, 1500);
        tide_sampler *sampler = made(&options);
        stream_feed(&s, 0, s.token_count, 256, v, NULL);
        assert_true(tide_sampler_refresh(sampler, v, true));
        save("a", NULL, sampler);
        size_t size;
        unsigned char *table = read_section("a", "sampler.table", &size);
        size_t n = size / 8;
        assert_int_equal(n, tide_vocabulary_used(v));
        double *weights = powers(v, 0.75), *found = calloc(n, sizeof *found), sum = 0;
        assert_non_null(found);
        for (size_t i = 0; i < n; i++) {
            uint64_t column = tide_get64(table + 8 * i);
            double share = (double)(uint32_t)column * 0x1p-32;
            found[i] += share / (double)n;
            found[column >> 32] += (1 - share) / (double)n;
            sum += weights[i];
        }
        for (size_t i = 0; i < n; i++) /* shares are truncated to 32 bits */
            assert_true(fabs(found[i] - weights[i] / sum) < 1e-9 + 1e-9 * found[i]);
        for (size_t i = 0; i < n; i++)
            assert_true(weights[i] > 0 || found[i] <= 0);
        free(found);
        free(weights);
        free(table);
        tide_sampler_free(sampler);
        tide_vocabulary_free(v);
    }
    stream_free(&s);
}

static void alias_never_draws_an_empty_slot(void **state)
{
    (void)state;
    stream s = stream_zipf(3000, 40000, 5);
    tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_MISRA_GRIES, 500);
    size_t end = 10000; /* until many slots are empty */
    stream_feed(&s, 0, end, 1, v, NULL);
    for (; end < s.token_count && tide_vocabulary_size(v) > 400; end++)
        stream_feed(&s, end, end + 1, 1, v, NULL);
    assert_true(tide_vocabulary_size(v) <= 400);
    tide_sampler_options options = setup(TIDE_SAMPLER_ALIAS, 500);
    tide_sampler *sampler = made(&options);
    assert_true(tide_sampler_refresh(sampler, v, true));
    double *weights = powers(v, 0.75);
    assert_distribution(tide_sampler_draws(sampler), weights, tide_vocabulary_used(v));
    free(weights);
    tide_sampler_free(sampler);
    tide_vocabulary_free(v);
    stream_free(&s);
}

static void alias_is_rebuilt_at_1000_tokens_and_then_at_5_percent_growth(void **state)
{
    (void)state;
    stream s = stream_zipf(300, 200000, 6);
    tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_EXACT, 300);
    tide_sampler_options options = setup(TIDE_SAMPLER_ALIAS, 300);
    tide_sampler *sampler = made(&options);
    uint64_t last = 0;
    const tide_draws *before = NULL;
    for (size_t i = 0; i < s.token_count; i++) {
        stream_feed(&s, i, i + 1, 1, v, NULL);
        uint64_t step = last / 20 > 2000 ? last / 20 : 2000;
        bool due = i + 1 >= (last == 0 ? 1000 : last + step);
        assert_false(tide_sampler_refresh(sampler, v, false));
        assert_ptr_equal(tide_sampler_draws(sampler), before);
        assert_int_equal(tide_sampler_refresh(sampler, v, true), due);
        if (!due)
            continue;
        last = i + 1;
        assert_ptr_not_equal(tide_sampler_draws(sampler), before);
        before = tide_sampler_draws(sampler);
    }
    tide_sampler_free(sampler);
    tide_vocabulary_free(v);
    stream_free(&s);
}

/* With a half-life of H the total varies between H and 2 H, so a twentieth of it is at
 * most H / 10. */
static void alias_is_rebuilt_at_a_steady_rate_with_halving(void **state)
{
    (void)state;
    stream s = stream_zipf(300, 200000, 7);
    tide_vocabulary_options halving = {
        .kind = TIDE_VOCABULARY_SPACE_SAVING, .capacity = 100, .half_life = 40000};
    tide_vocabulary *v = tide_vocabulary_new(&halving, NULL);
    tide_sampler_options options = setup(TIDE_SAMPLER_ALIAS, 100);
    tide_sampler *sampler = made(&options);
    size_t last = 0;
    for (size_t i = 0; i < s.token_count; i++) {
        stream_feed(&s, i, i + 1, 1, v, NULL);
        if (tide_sampler_refresh(sampler, v, true))
            last = i;
        assert_true(i - last <= 4000);
    }
    tide_sampler_free(sampler);
    tide_vocabulary_free(v);
    stream_free(&s);
}

/* With a half-life of one token all weights are 0. */
static void alias_is_not_built_while_all_weights_are_zero(void **state)
{
    (void)state;
    stream s = stream_zipf(30, 3000, 8);
    tide_vocabulary_options halving = {
        .kind = TIDE_VOCABULARY_EXACT, .capacity = 100, .half_life = 1};
    tide_vocabulary *v = tide_vocabulary_new(&halving, NULL);
    tide_sampler_options options = setup(TIDE_SAMPLER_ALIAS, 100);
    tide_sampler *sampler = made(&options);
    stream_feed(&s, 0, s.token_count, 256, v, NULL);
    assert_false(tide_sampler_refresh(sampler, v, true));
    assert_null(tide_sampler_draws(sampler));
    tide_sampler_free(sampler);
    tide_vocabulary_free(v);
    stream_free(&s);
}

/* -- reservoir --------------------------------------------------------------------- */

/* Over many runs every item of the stream is kept equally often. */
static void reservoir_keeps_every_item_equally_often(void **state)
{
    (void)state;
    enum { RUNS = 20000, STREAM = 20, SIZE = 5 };
    tide_rng rng = tide_rng_seeded(1);
    int kept[STREAM] = {0};
    for (int run = 0; run < RUNS; run++) {
        tide_sampler_options options = setup(TIDE_SAMPLER_RESERVOIR, STREAM);
        options.reservoir_size = SIZE;
        options.seed = (uint64_t)run;
        tide_sampler *sampler = made(&options);
        assert_null(tide_sampler_draws(sampler));
        for (uint32_t item = 0; item < STREAM; item++) {
            const uint32_t slots[] = {TIDE_NO_SLOT, item, TIDE_NO_SLOT};
            tide_sampler_add(sampler, NULL, slots, COUNT(slots));
        }
        uint32_t drawn;
        tide_draws_next(tide_sampler_draws(sampler), &rng, &drawn, 1);
        kept[drawn]++;
        tide_sampler_free(sampler);
    }
    for (int i = 0; i < STREAM; i++) /* expect 1000 each; 5 sigma is about 154 */
        assert_in_range(kept[i], 840, 1160);
}

/* A stream of one slot 2^33 tokens long, then of another: 2^23 of those replace 2^23 *
 * 2^20 / 2^33 = 1024 entries, less half a percent as the stream grows; 5 sigma is 160.
 * A 32-bit generator would replace twice as many, in one half of the entries. */
static void reservoir_is_correct_beyond_2_to_the_32_tokens(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20, MORE = 1 << 23 };
    tide_sampler_options options = setup(TIDE_SAMPLER_RESERVOIR, 2);
    options.reservoir_size = SIZE;
    tide_sampler *sampler = made(&options);
    uint32_t slots[256] = {0};
    for (int i = 0; i < SIZE; i += 256)
        tide_sampler_add(sampler, NULL, slots, 256);
    save("a", NULL, sampler);
    tide_sampler_free(sampler);
    replace_number("a", "b", "sampler.state", 3, UINT64_C(1) << 33);
    tide_error err;
    sampler = loaded("b", &options, &err);
    assert_non_null(sampler);
    for (int i = 0; i < 256; i++)
        slots[i] = 1;
    for (int i = 0; i < MORE; i += 256)
        tide_sampler_add(sampler, NULL, slots, 256);
    save("a", NULL, sampler);
    tide_sampler_free(sampler);
    size_t size;
    unsigned char *entries = read_section("a", "sampler.entries", &size);
    int replaced[2] = {0};
    for (size_t i = 0; i < SIZE; i++)
        replaced[i / (SIZE / 2)] += entries[4 * i];
    free(entries);
    assert_in_range(replaced[0] + replaced[1], 1024 - 165, 1024 + 165);
    assert_in_range(replaced[0], 512 - 115, 512 + 115);
}

/* Counts how often each slot is in a saved reservoir. */
static double *entries_law(const char *path, uint32_t capacity)
{
    size_t size;
    unsigned char *entries = read_section(path, "sampler.entries", &size);
    double *weights = calloc(capacity, sizeof *weights);
    assert_non_null(weights);
    for (size_t i = 0; i < size; i += 4) {
        uint32_t slot;
        memcpy(&slot, entries + i, 4);
        weights[slot]++;
    }
    free(entries);
    return weights;
}

static void both_reservoirs_draw_their_entries_uniformly(void **state)
{
    (void)state;
    stream s = stream_zipf(300, 30000, 9);
    for (int kind = TIDE_SAMPLER_RESERVOIR; kind <= TIDE_SAMPLER_SMOOTHED; kind++) {
        for (size_t tokens = 1000; tokens <= s.token_count; tokens *= 30) {
            tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_EXACT, 300);
            tide_sampler_options options = setup((tide_sampler_kind)kind, 300);
            tide_sampler *sampler = made(&options);
            stream_feed(&s, 0, tokens, 50, v, sampler);
            save("a", NULL, sampler);
            double *weights = entries_law("a", 300);
            assert_distribution(tide_sampler_draws(sampler), weights, 300);
            free(weights);
            tide_sampler_free(sampler);
            tide_vocabulary_free(v);
        }
    }
    stream_free(&s);
}

/* -- distributions of both reservoirs ---------------------------------------------- */

/* Accumulates a share over many runs. */
typedef struct mean {
    double sum;
    double square;
} mean;

static void mean_add(mean *m, double x)
{
    m->sum += x;
    m->square += x * x;
}

/* Within 5 sigma of the mean. Rounding to whole entries while the table fills adds an
 * error of 0.1 %. */
static void assert_mean(const mean *m, int runs, double expected)
{
    double found = m->sum / runs;
    double sigma = sqrt((m->square / runs - found * found) / runs);
    assert_true(fabs(found - expected) < 5 * sigma + 0.001 * expected);
}

/* Averaged over many seeds, the share of each slot, and that of all slots that occur
 * only in the first half of the stream, is proportional to count^power. */
static void mean_shares_follow_the_counts(tide_sampler_kind kind, double power)
{
    enum { RUNS = 60, HALF = 20, TYPES = 2 * HALF, SIZE = 1000 };
    stream s = stream_zipf(HALF, 20000, 10);
    stream both = stream_new(TYPES, s.token_count);
    for (size_t i = 0; i < s.token_count; i++)
        both.tokens[i] = s.tokens[i] + (i < s.token_count / 2 ? 0 : HALF);
    mean shares[TYPES] = {{0}}, early = {0};
    double *weights = NULL, total = 0, early_weight = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_EXACT, TYPES);
        tide_sampler_options options = setup(kind, TYPES);
        options.reservoir_size = SIZE;
        options.seed = run;
        tide_sampler *sampler = made(&options);
        stream_feed(&both, 0, both.token_count, 30, v, sampler);
        save("a", NULL, sampler);
        double *found = entries_law("a", TYPES), first = 0;
        for (int i = 0; i < TYPES; i++) {
            mean_add(&shares[i], found[i] / SIZE);
            first += i < HALF ? found[i] / SIZE : 0;
        }
        mean_add(&early, first);
        free(found);
        if (!weights)
            weights = powers(v, power);
        tide_sampler_free(sampler);
        tide_vocabulary_free(v);
    }
    for (int i = 0; i < TYPES; i++) {
        total += weights[i];
        early_weight += i < HALF ? weights[i] : 0;
    }
    for (int i = 0; i < TYPES; i++)
        assert_mean(&shares[i], RUNS, weights[i] / total);
    assert_mean(&early, RUNS, early_weight / total);
    free(weights);
    stream_free(&both);
    stream_free(&s);
}

static void reservoir_follows_the_counts(void **state)
{
    (void)state;
    mean_shares_follow_the_counts(TIDE_SAMPLER_RESERVOIR, 1);
}

static void smoothed_follows_the_counts_to_the_power(void **state)
{
    (void)state;
    mean_shares_follow_the_counts(TIDE_SAMPLER_SMOOTHED, 0.75);
}

/* Z is the sum of all weights, however the stream is divided into batches. */
static void smoothed_sum_does_not_depend_on_batches(void **state)
{
    (void)state;
    stream s = stream_zipf(1000, 20000, 11);
    const size_t batches[] = {1, 7, 256};
    const tide_vocabulary_kind kinds[] = {TIDE_VOCABULARY_EXACT,
                                          TIDE_VOCABULARY_SPACE_SAVING};
    for (size_t i = 0; i < COUNT(batches) * COUNT(kinds); i++) {
        uint32_t capacity = i % 2 == 0 ? 1000 : 100;
        tide_vocabulary *v = vocabulary(kinds[i % 2], capacity);
        tide_sampler_options options = setup(TIDE_SAMPLER_SMOOTHED, capacity);
        tide_sampler *sampler = made(&options);
        stream_feed(&s, 0, s.token_count, batches[i / 2], v, sampler);
        save("a", NULL, sampler);
        size_t size;
        unsigned char *bytes = read_section("a", "sampler.state", &size);
        uint64_t bits = tide_get64(bytes + 8 * 4);
        double sum, expected = 0, *weights = powers(v, 0.75);
        memcpy(&sum, &bits, sizeof sum);
        for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++)
            expected += weights[slot];
        assert_true(fabs(sum - expected) < 1e-9 * expected);
        free(weights);
        free(bytes);
        tide_sampler_free(sampler);
        tide_vocabulary_free(v);
    }
    stream_free(&s);
}

/* If the halves of a stream have different words, those of the second are drawn more
 * and more often. */
static void smoothed_adapts_when_words_are_dropped(void **state)
{
    (void)state;
    stream s = stream_zipf(2000, 60000, 12);
    for (size_t i = s.token_count / 2; i < s.token_count; i++)
        s.tokens[i] = (s.tokens[i] + 1000) % 2000;
    tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_MISRA_GRIES, 100);
    tide_sampler_options options = setup(TIDE_SAMPLER_SMOOTHED, 100);
    tide_sampler *sampler = made(&options);
    stream_feed(&s, 0, s.token_count, 20, v, sampler);
    assert_true(tide_vocabulary_evicted(v) > 1000);
    save("a", NULL, sampler);
    double *weights = entries_law("a", 100);
    assert_distribution(tide_sampler_draws(sampler), weights, 100);
    uint32_t slot = tide_vocabulary_find(v, &s.types[1000]);
    assert_int_not_equal(slot, TIDE_NO_SLOT);
    assert_true(weights[slot] > 50); /* one in a hundred entries */
    free(weights);
    tide_sampler_free(sampler);
    tide_vocabulary_free(v);
    stream_free(&s);
}

/* -- files ------------------------------------------------------------------------- */

static void a_loaded_sampler_continues_like_the_original(void **state)
{
    (void)state;
    stream s = stream_zipf(500, 20000, 13);
    const size_t stops[] = {0, 1, 1500, 9000};
    for (size_t i = 0; i < 3 * COUNT(stops); i++) {
        size_t stop = stops[i / 3];
        tide_error err;
        tide_sampler_options options = setup((tide_sampler_kind)(i % 3), 200);
        tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_SPACE_SAVING, 200);
        tide_vocabulary *w = vocabulary(TIDE_VOCABULARY_SPACE_SAVING, 200);
        tide_sampler *one = made(&options);
        stream_feed(&s, 0, stop, 50, v, one);
        stream_feed(&s, 0, stop, 50, w, NULL);
        save("a", NULL, one);
        tide_sampler *two = loaded("a", &options, &err);
        assert_non_null(two);
        assert_int_equal(tide_sampler_draws(one) == NULL,
                         tide_sampler_draws(two) == NULL);
        stream_feed(&s, stop, s.token_count, 50, v, one);
        stream_feed(&s, stop, s.token_count, 50, w, two);
        save("a", NULL, one);
        save("b", NULL, two);
        assert_same_file("a", "b");
        uint32_t drawn[2][100];
        tide_rng rng = tide_rng_seeded(1), same = rng;
        tide_draws_next(tide_sampler_draws(one), &rng, drawn[0], 100);
        tide_draws_next(tide_sampler_draws(two), &same, drawn[1], 100);
        assert_memory_equal(drawn[0], drawn[1], sizeof drawn[0]);
        tide_sampler_free(one);
        tide_sampler_free(two);
        tide_vocabulary_free(v);
        tide_vocabulary_free(w);
    }
    stream_free(&s);
}

static void assert_rejected(const char *path, const tide_sampler_options *options)
{
    tide_error err = {0};
    assert_null(loaded(path, options, &err));
    assert_int_equal(err.status, TIDE_ERROR_FORMAT);
    assert_non_null(strstr(err.text, "sampler."));
}

static void corrupt_files_are_rejected(void **state)
{
    (void)state;
    static const char *const sections[] = {"sampler.table", "sampler.entries",
                                           "sampler.entries"};
    stream s = stream_zipf(500, 9000, 14);
    for (int kind = 0; kind < 3; kind++) {
        tide_sampler_options options = setup((tide_sampler_kind)kind, 200), other;
        tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_SPACE_SAVING, 200);
        tide_sampler *sampler = made(&options);
        stream_feed(&s, 0, s.token_count, 50, v, sampler);
        save("a", NULL, sampler);
        other = options, other.capacity = 201;
        assert_rejected("a", &other);
        other = options, other.kind = (tide_sampler_kind)((kind + 1) % 3);
        assert_rejected("a", &other);
        other = options, other.reservoir_size++;
        if (kind != TIDE_SAMPLER_ALIAS)
            assert_rejected("a", &other);
        replace_number("a", "b", sections[kind], 7, UINT64_C(200) << 32);
        assert_rejected("b", &options);
        replace_section("a", "b", sections[kind], "12345678", 7);
        assert_rejected("b", &options);
        replace_section("a", "b", "sampler.state", "12345678", 8);
        assert_rejected("b", &options);
        replace_number("a", "b", "sampler.state", 2, UINT64_MAX);
        assert_rejected("b", &options);
        if (kind == TIDE_SAMPLER_SMOOTHED) {
            replace_number("a", "b", "sampler.state", 3, UINT64_MAX);
            assert_rejected("b", &options);
            replace_number("a", "b", "sampler.state", 4, UINT64_MAX); /* NaN */
            assert_rejected("b", &options);
            replace_section("a", "b", "sampler.counts", "12345678", 8);
            assert_rejected("b", &options);
        }
        tide_sampler_free(sampler);
        tide_vocabulary_free(v);
    }
    stream_free(&s);
}

/* -- threads ----------------------------------------------------------------------- */

typedef struct drawer {
    const tide_draws *_Atomic draws; /* what to draw from; NULL to stop */
    const tide_draws *_Atomic in_use;
    uint32_t capacity;
    uint64_t bad;
} drawer;

static void *draw_until_stopped(void *data)
{
    drawer *d = data;
    tide_rng rng = tide_rng_seeded(1);
    uint32_t slots[64];
    const tide_draws *draws;
    while ((draws = atomic_load(&d->draws)) != NULL) {
        atomic_store(&d->in_use, draws);
        tide_draws_next(draws, &rng, slots, 64);
        for (int i = 0; i < 64; i++)
            d->bad += slots[i] >= d->capacity;
    }
    return NULL;
}

/* Publishes what to draw from, and waits until no thread draws from anything else. */
static void publish_draws(drawer *d, const tide_draws *draws)
{
    atomic_store(&d->draws, draws);
    while (atomic_load(&d->in_use) != draws)
        sched_yield();
}

static void threads_draw_while_slots_are_added(void **state)
{
    (void)state;
    enum { CAPACITY = 500 };
    stream s = stream_zipf(2000, 100000, 15);
    for (int kind = 0; kind < 3; kind++) {
        tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_SPACE_SAVING, CAPACITY);
        tide_sampler_options options = setup((tide_sampler_kind)kind, CAPACITY);
        tide_sampler *sampler = made(&options);
        stream_feed(&s, 0, 1000, 100, v, sampler);
        drawer d = {.draws = tide_sampler_draws(sampler), .capacity = CAPACITY};
        assert_non_null(atomic_load(&d.draws));
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, draw_until_stopped, &d), 0);
        publish_draws(&d, tide_sampler_draws(sampler));
        int built = 0;
        for (size_t i = 1000; i < s.token_count; i += 100) {
            tide_word words[100];
            uint32_t slots[100];
            tide_admission admissions[100];
            for (size_t k = 0; k < 100; k++)
                words[k] = s.types[s.tokens[i + k]];
            tide_vocabulary_add(v, words, 100, slots, admissions);
            tide_sampler_add(sampler, v, slots, 100);
            if (tide_sampler_refresh(sampler, v, true)) {
                publish_draws(&d, tide_sampler_draws(sampler));
                built++;
            }
        }
        atomic_store(&d.draws, NULL);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(d.bad, 0);
        if (kind == TIDE_SAMPLER_ALIAS)
            assert_true(built > 30);
        tide_sampler_free(sampler);
        tide_vocabulary_free(v);
    }
    stream_free(&s);
}

/* -- construction ------------------------------------------------------------------ */

static void a_sampler_allocates_the_reported_bytes_and_nothing_later(void **state)
{
    (void)state;
    stream s = stream_zipf(500, 9000, 16);
    for (int kind = 0; kind < 3; kind++) {
        tide_vocabulary *v = vocabulary(TIDE_VOCABULARY_SPACE_SAVING, 200);
        tide_sampler_options options = setup((tide_sampler_kind)kind, 200);
        allocated_bytes = 0;
        tide_sampler *sampler = made(&options);
        stream_feed(&s, 0, s.token_count, 50, v, sampler);
        assert_int_equal(allocated_bytes, tide_sampler_bytes(&options));
        tide_sampler_free(sampler);
        tide_vocabulary_free(v);
    }
    stream_free(&s);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    const int allocations[] = {5, 2, 3};
    for (int kind = 0; kind < 3; kind++) {
        tide_sampler_options options = setup((tide_sampler_kind)kind, 200);
        for (int left = 0; left <= allocations[kind]; left++) {
            tide_error err = {0};
            allocations_left = left;
            tide_sampler *sampler = tide_sampler_new(&options, &err);
            allocations_left = -1;
            assert_int_equal(sampler != NULL, left == allocations[kind]);
            if (!sampler)
                assert_int_equal(err.status, TIDE_ERROR_MEMORY);
            tide_sampler_free(sampler);
        }
    }
}

static void invalid_options_are_rejected(void **state)
{
    (void)state;
    const tide_sampler_options impossible[] = {
        {.kind = (tide_sampler_kind)3, .capacity = 5},
        {.kind = TIDE_SAMPLER_ALIAS, .capacity = 0, .power = 1},
        {.kind = TIDE_SAMPLER_ALIAS, .capacity = TIDE_CAPACITY_MAX + 1, .power = 1},
        {.kind = TIDE_SAMPLER_ALIAS, .capacity = 5, .power = -0.5f},
        {.kind = TIDE_SAMPLER_ALIAS, .capacity = 5, .power = NAN},
        {.kind = TIDE_SAMPLER_SMOOTHED, .capacity = 5, .power = 2, .reservoir_size = 9},
        {.kind = TIDE_SAMPLER_SMOOTHED, .capacity = 5, .power = 1},
        {.kind = TIDE_SAMPLER_RESERVOIR, .capacity = 5, .reservoir_size = 0},
        {.kind = TIDE_SAMPLER_RESERVOIR, .capacity = 5, .reservoir_size = UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT(impossible); i++) {
        tide_error err = {0};
        assert_null(tide_sampler_new(&impossible[i], &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alias_draws_in_proportion_to_the_power_of_counts),
        cmocka_unit_test(the_alias_table_is_exact),
        cmocka_unit_test(alias_never_draws_an_empty_slot),
        cmocka_unit_test(alias_is_rebuilt_at_1000_tokens_and_then_at_5_percent_growth),
        cmocka_unit_test(alias_is_rebuilt_at_a_steady_rate_with_halving),
        cmocka_unit_test(alias_is_not_built_while_all_weights_are_zero),
        cmocka_unit_test(reservoir_keeps_every_item_equally_often),
        cmocka_unit_test(reservoir_is_correct_beyond_2_to_the_32_tokens),
        cmocka_unit_test(both_reservoirs_draw_their_entries_uniformly),
        cmocka_unit_test(reservoir_follows_the_counts),
        cmocka_unit_test(smoothed_follows_the_counts_to_the_power),
        cmocka_unit_test(smoothed_sum_does_not_depend_on_batches),
        cmocka_unit_test(smoothed_adapts_when_words_are_dropped),
        cmocka_unit_test(a_loaded_sampler_continues_like_the_original),
        cmocka_unit_test(corrupt_files_are_rejected),
        cmocka_unit_test(threads_draw_while_slots_are_added),
        cmocka_unit_test(a_sampler_allocates_the_reported_bytes_and_nothing_later),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(invalid_options_are_rejected),
    };
    return cmocka_run_group_tests_name("sampler", tests, enter_folder, leave_folder);
}
