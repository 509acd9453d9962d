/* test_agreement.c - the agreement of two models, against a naive computation in double
 * precision. */
#include "eval/eval.h"
#include "model_oracle.h"

#include "memory_fixture.h"

enum { TOKENS = 40000, NEAR = 10, WORDS_MAX = 700 };

/* -- two models -------------------------------------------------------------------- */

/* A is small and has evicted some words of B; both hold more words than fit one chunk
 * of the search. */
typedef struct models {
    tide_trainer *trainers[2];
    tide_view *views[2];
} models;

static models models_of(const char *a, const char *b, bool centered)
{
    models m;
    const char *const settings[] = {a, b};
    corpus t = demo_text(1, TOKENS);
    for (int i = 0; i < 2; i++) {
        m.trainers[i] = trained(settings[i], &t);
        m.views[i] = tide_view_new(tide_trainer_model(m.trainers[i]),
                                   TIDE_VECTORS_INPUT, centered, NULL);
        assert_non_null(m.views[i]);
    }
    free(t.bytes);
    return m;
}

static void models_free(models *m)
{
    for (int i = 0; i < 2; i++) {
        tide_view_free(m->views[i]);
        tide_trainer_free(m->trainers[i]);
    }
}

static models default_models(void)
{
    return models_of("vocab=450 dim=12 replay=3 seed=1",
                     "vocab=600 dim=20 replay=3 seed=2", false);
}

/* -- the oracle -------------------------------------------------------------------- */

typedef struct oracle {
    uint32_t words;
    const char *names[WORDS_MAX];
    bool held[WORDS_MAX]; /* whether A holds it */
    double vectors[2][WORDS_MAX][32];
} oracle;

static void oracle_fill(oracle *o, const models *m)
{
    static tide_entry entries[WORDS_MAX];
    const tide_model *a = tide_trainer_model(m->trainers[0]);
    const tide_model *b = tide_trainer_model(m->trainers[1]);
    *o = (oracle){.words = (uint32_t)tide_model_words(b, entries, WORDS_MAX)};
    assert_true(o->words < WORDS_MAX);
    for (uint32_t i = 0; i < o->words; i++) {
        tide_entry found;
        o->names[i] = entries[i].word;
        o->held[i] = tide_model_find(a, entries[i].word, &found, NULL) == TIDE_OK;
        for (int side = 0; side < 2; side++) {
            float row[32] = {0};
            if (side == 0 && !o->held[i])
                continue;
            assert_int_equal(
                tide_view_vector(m->views[side], entries[i].word, row, NULL), TIDE_OK);
            for (int d = 0; d < 32; d++)
                o->vectors[side][i][d] = (double)row[d];
        }
    }
}

static double oracle_cosine(const oracle *o, int side, uint32_t i, uint32_t j)
{
    const double *x = o->vectors[side][i], *y = o->vectors[side][j];
    double xx = naive_dot(x, x, 32), yy = naive_dot(y, y, 32);
    return xx > 0 && yy > 0 ? naive_dot(x, y, 32) / sqrt(xx * yy) : 0;
}

static bool within(tide_band band, uint32_t rank)
{
    return band.first <= rank && rank <= band.last;
}

/* Whether one word is in the first band and the other in the second. Called once per
 * pair of different words. */
static bool in_cell(tide_band first, tide_band second, uint32_t i, uint32_t j)
{
    return (within(first, i) && within(second, j)) ||
           (within(first, j) && within(second, i));
}

static tide_agreement_cell oracle_cell(const oracle *o, tide_band first,
                                       tide_band second)
{
    static double cosines[2][WORDS_MAX * WORDS_MAX / 2];
    tide_agreement_cell cell = {.first = first, .second = second};
    size_t n = 0;
    for (uint32_t i = 1; i <= o->words; i++)
        for (uint32_t j = i + 1; j <= o->words; j++) {
            if (!in_cell(first, second, i, j))
                continue;
            cell.pairs++;
            if (!o->held[i - 1] || !o->held[j - 1])
                continue;
            for (int side = 0; side < 2; side++)
                cosines[side][n] = oracle_cosine(o, side, i - 1, j - 1);
            n++;
        }
    double sums[2] = {0}, xx = 0, yy = 0, xy = 0;
    for (size_t k = 0; k < n; k++)
        for (int side = 0; side < 2; side++)
            sums[side] += cosines[side][k];
    cell.defined = n;
    cell.mean_a = sums[0] / (double)n;
    cell.mean_b = sums[1] / (double)n;
    cell.bias = cell.mean_a - cell.mean_b;
    for (size_t k = 0; k < n; k++) {
        double x = cosines[0][k] - cell.mean_a, y = cosines[1][k] - cell.mean_b;
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    cell.pearson = xy / sqrt(xx * yy);
    return cell;
}

/* Whether `other` is one of the nearest words of `word`: fewer than NEAR shared words
 * are nearer. */
static bool is_near(const oracle *o, int side, uint32_t word, uint32_t other)
{
    double score = oracle_cosine(o, side, word, other);
    uint32_t nearer = 0;
    for (uint32_t k = 0; k < o->words; k++)
        nearer += k != word && o->held[k] && oracle_cosine(o, side, word, k) > score;
    return nearer < NEAR;
}

static tide_agreement_near oracle_near(const oracle *o, tide_band band)
{
    tide_agreement_near near = {.band = band};
    uint64_t common = 0;
    for (uint32_t word = band.first - 1; word < band.last; word++) {
        near.missing += !o->held[word];
        near.words += o->held[word];
        for (uint32_t k = 0; k < o->words && o->held[word]; k++)
            common += k != word && o->held[k] && is_near(o, 0, word, k) &&
                      is_near(o, 1, word, k);
    }
    near.overlap = (double)common / (double)near.words / NEAR;
    return near;
}

static void within_bound(double x, double y, double bound)
{
    if (!(fabs(x - y) < bound))
        fail_msg("%.9g is not %.9g", x, y);
}

/* Floats have 24 bits, and a dot product loses a few of them. */
static void assert_close(double x, double y)
{
    within_bound(x, y, 1e-5);
}

/* If cosines hardly vary, their rounding errors affect the correlation. */
static void assert_correlation(double x, double y)
{
    within_bound(x, y, 1e-4);
}

static tide_agreement_result compare(const models *m, const tide_band *bands,
                                     size_t count)
{
    tide_agreement_result result;
    tide_error err;
    const tide_agreement_options options = {
        .bands = bands, .band_count = count, .neighbors = NEAR};
    if (tide_eval_agreement(m->views[0], m->views[1], &options, &result, &err))
        fail_msg("%s", err.text);
    return result;
}

/* -- cells ------------------------------------------------------------------------- */

static void check_cell(const tide_agreement_cell *cell, const oracle *o)
{
    tide_agreement_cell wanted = oracle_cell(o, cell->first, cell->second);
    assert_int_equal(cell->pairs, wanted.pairs);
    assert_int_equal(cell->defined, wanted.defined);
    assert_correlation(cell->pearson, wanted.pearson);
    assert_close(cell->bias, wanted.bias);
    assert_close(cell->mean_a, wanted.mean_a);
    assert_close(cell->mean_b, wanted.mean_b);
}

static void cells_cover_all_pairs(void **state)
{
    (void)state;
    static oracle o;
    models m = default_models();
    oracle_fill(&o, &m);
    const tide_band bands[] = {{1, 50}, {101, 160}, {401, 500}};
    tide_agreement_result r = compare(&m, bands, COUNT(bands));
    assert_int_equal(r.cell_count, 6);
    uint64_t pairs = 0, defined = 0;
    for (size_t i = 0; i < r.cell_count; i++) {
        check_cell(&r.cells[i], &o);
        pairs += r.cells[i].pairs;
        defined += r.cells[i].defined;
    }
    assert_int_equal(r.cells[0].pairs, 50 * 49 / 2);
    assert_int_equal(r.cells[2].pairs, 50 * 100);
    assert_int_equal(r.all.pairs, pairs);
    assert_int_equal(r.all.defined, defined);
    assert_true(defined < pairs && r.cells[5].defined < r.cells[5].pairs);
    models_free(&m);
}

static void a_pair_in_overlapping_bands_is_counted_once(void **state)
{
    (void)state;
    static oracle o;
    models m = default_models();
    oracle_fill(&o, &m);
    const tide_band bands[] = {{1, 40}, {21, 60}, {30, 35}};
    tide_agreement_result r = compare(&m, bands, COUNT(bands));
    for (size_t i = 0; i < r.cell_count; i++)
        check_cell(&r.cells[i], &o);
    models_free(&m);
}

/* All cells of disjoint bands together equal the cell of one band of all their
 * words. */
static void the_total_equals_one_band_of_all_words(void **state)
{
    (void)state;
    models m = default_models();
    const tide_band parts[] = {{1, 30}, {31, 35}, {36, 120}}, whole = {1, 120};
    tide_agreement_cell all = compare(&m, parts, COUNT(parts)).all;
    tide_agreement_cell one = compare(&m, &whole, 1).cells[0];
    assert_int_equal(all.pairs, one.pairs);
    assert_int_equal(all.defined, one.defined);
    assert_correlation(all.pearson, one.pearson);
    assert_close(all.bias, one.bias);
    assert_close(all.mean_a, one.mean_a);
    models_free(&m);
}

static void vectors_are_those_of_the_views(void **state)
{
    (void)state;
    static oracle o;
    models m =
        models_of("vocab=300 dim=8 replay=1 subword=1000", "vocab=400 dim=16", true);
    oracle_fill(&o, &m);
    const tide_band bands[] = {{1, 100}, {201, 300}};
    tide_agreement_result r = compare(&m, bands, COUNT(bands));
    for (size_t i = 0; i < r.cell_count; i++)
        check_cell(&r.cells[i], &o);
    assert_true(r.near[1].missing >
                0); /* although they could be composed from n-grams */
    models_free(&m);
}

static void a_model_agrees_with_itself(void **state)
{
    (void)state;
    models m = models_of("vocab=300 dim=16", "vocab=300 dim=16", false);
    const tide_band bands[] = {{1, 100}, {101, 200}};
    tide_agreement_result r = compare(&m, bands, COUNT(bands));
    for (size_t i = 0; i < r.cell_count; i++) {
        assert_int_equal(r.cells[i].defined, r.cells[i].pairs);
        assert_true(r.cells[i].bias == 0);
        assert_correlation(r.cells[i].pearson, 1);
    }
    for (size_t i = 0; i < r.band_count; i++)
        assert_true(r.near[i].overlap == 1 && r.near[i].words == 100);
    models_free(&m);
}

static void too_few_pairs_have_no_correlation(void **state)
{
    (void)state;
    models m = models_of("vocab=300 dim=16", "vocab=300 dim=8", false);
    const tide_band bands[] = {{1, 2}, {5, 5}, {1, 3}};
    tide_agreement_result r = compare(&m, bands, COUNT(bands));
    assert_int_equal(r.cells[0].pairs, 1);
    assert_true(isnan(r.cells[0].pearson) && isfinite(r.cells[0].bias));
    assert_int_equal(r.cells[1].pairs, 2);
    assert_true(isnan(r.cells[1].pearson) && isfinite(r.cells[1].bias));
    assert_int_equal(r.cells[3].pairs, 0);
    assert_true(isnan(r.cells[3].mean_a) && isnan(r.cells[3].bias));
    assert_int_equal(r.cells[5].pairs, 3);
    assert_true(isfinite(r.cells[5].pearson));
    models_free(&m);
}

/* -- neighbors --------------------------------------------------------------------- */

static void overlap_counts_the_ten_nearest_shared_words(void **state)
{
    (void)state;
    static oracle o;
    models m = default_models();
    oracle_fill(&o, &m);
    const tide_band bands[] = {{1, 50}, {101, 160}, {401, 500}};
    tide_agreement_result r = compare(&m, bands, COUNT(bands));
    uint64_t common = 0;
    for (uint32_t i = 0; i < o.words; i++)
        common += o.held[i];
    assert_int_equal(r.common, common);
    assert_true(common > 256);
    for (size_t i = 0; i < r.band_count; i++) {
        tide_agreement_near wanted = oracle_near(&o, bands[i]);
        assert_int_equal(r.near[i].words, wanted.words);
        assert_int_equal(r.near[i].missing, wanted.missing);
        assert_true(wanted.overlap > 0.02 && wanted.overlap < 0.95);
        /* rounding may swap the tenth and the eleventh word of a list */
        double one_word = 1 / (double)wanted.words / NEAR;
        assert_true(fabs(r.near[i].overlap - wanted.overlap) < 1.5 * one_word);
    }
    models_free(&m);
}

static void no_words_in_common_have_no_overlap(void **state)
{
    (void)state;
    models m = models_of("vocab=300 dim=4 replay=1", "vocab=300 dim=4 replay=1", false);
    models empty = m;
    empty.trainers[0] = trainer_of("vocab=300 dim=4");
    empty.views[0] = tide_view_new(tide_trainer_model(empty.trainers[0]),
                                   TIDE_VECTORS_INPUT, false, NULL);
    const tide_band band = {1, 20};
    tide_agreement_result r = compare(&empty, &band, 1);
    assert_int_equal(r.common, 0);
    assert_int_equal(r.cells[0].defined, 0);
    assert_int_equal(r.near[0].missing, 20);
    assert_true(isnan(r.near[0].overlap) && isnan(r.cells[0].pearson));
    tide_view_free(empty.views[0]);
    tide_trainer_free(empty.trainers[0]);
    models_free(&m);
}

/* -- samples of pairs -------------------------------------------------------------- */

enum { SAMPLE_BAND = 10, SAMPLE_PAIRS = SAMPLE_BAND * (SAMPLE_BAND - 1) / 2 };

typedef struct sample {
    const oracle *o;
    int seen[SAMPLE_BAND + 1][SAMPLE_BAND + 1];
    int count;
} sample;

static uint32_t rank_of(const oracle *o, const char *word)
{
    for (uint32_t i = 0; i < o->words; i++)
        if (!strcmp(o->names[i], word))
            return i + 1;
    fail_msg("no word %s", word);
    return 0;
}

static void record_pair(void *data, const tide_agreement_pair *pair)
{
    sample *s = data;
    uint32_t i = rank_of(s->o, pair->words[0]), j = rank_of(s->o, pair->words[1]);
    assert_true(i < j && j <= SAMPLE_BAND);
    assert_int_equal(pair->first.last, SAMPLE_BAND);
    assert_close((double)pair->cosine_a, oracle_cosine(s->o, 0, i - 1, j - 1));
    assert_close((double)pair->cosine_b, oracle_cosine(s->o, 1, i - 1, j - 1));
    s->seen[i][j]++;
    s->count++;
}

static void sample_pairs(const models *m, sample *s, uint32_t size, uint64_t seed)
{
    const tide_band band = {1, SAMPLE_BAND};
    const tide_agreement_options options = {.bands = &band,
                                            .band_count = 1,
                                            .sample = size,
                                            .seed = seed,
                                            .pair = record_pair,
                                            .data = s};
    tide_agreement_result result;
    assert_int_equal(
        tide_eval_agreement(m->views[0], m->views[1], &options, &result, NULL),
        TIDE_OK);
}

static void every_pair_is_sampled_equally_often(void **state)
{
    (void)state;
    enum { RUNS = 2000, SIZE = 10 };
    static oracle o;
    models m = models_of("vocab=300 dim=4 replay=1", "vocab=300 dim=8 replay=1", false);
    oracle_fill(&o, &m);
    sample s = {.o = &o};
    for (uint64_t seed = 0; seed < RUNS; seed++)
        sample_pairs(&m, &s, SIZE, seed);
    assert_int_equal(s.count, RUNS * SIZE);
    for (int i = 1; i <= SAMPLE_BAND; i++)
        for (int j = i + 1; j <= SAMPLE_BAND; j++)
            /* expect 444 each; 6 sigma is about 112 */
            assert_in_range(s.seen[i][j], 332, 556);
    models_free(&m);
}

static void a_sample_larger_than_the_cell_contains_all_pairs(void **state)
{
    (void)state;
    static oracle o;
    models m = models_of("vocab=300 dim=4 replay=1", "vocab=300 dim=8 replay=1", false);
    oracle_fill(&o, &m);
    sample s = {.o = &o};
    sample_pairs(&m, &s, 1000, 1);
    assert_int_equal(s.count, SAMPLE_PAIRS);
    for (int i = 1; i <= SAMPLE_BAND; i++)
        for (int j = i + 1; j <= SAMPLE_BAND; j++)
            assert_int_equal(s.seen[i][j], 1);
    models_free(&m);
}

/* -- limits ------------------------------------------------------------------------ */

static void a_band_ends_at_the_last_word(void **state)
{
    (void)state;
    models m = models_of("vocab=100 dim=4 replay=1", "vocab=100 dim=4 replay=1", false);
    const tide_band band = {91, 4000000000};
    tide_agreement_result r = compare(&m, &band, 1);
    assert_int_equal(r.near[0].band.last, 100);
    assert_int_equal(r.cells[0].first.last, 100);
    assert_int_equal(r.cells[0].pairs, 45);
    models_free(&m);
}

static void invalid_bands_are_reported(void **state)
{
    (void)state;
    static const struct {
        tide_band band;
        const char *named;
    } wrong[] = {{{101, 200}, "101-200"}, {{0, 5}, "0-5"}, {{7, 6}, "7-6"}};
    models m = models_of("vocab=100 dim=4 replay=1", "vocab=100 dim=4 replay=1", false);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tide_error err;
        tide_agreement_result r;
        const tide_agreement_options options = {.bands = &wrong[i].band,
                                                .band_count = 1};
        assert_int_equal(
            tide_eval_agreement(m.views[0], m.views[1], &options, &r, &err),
            TIDE_ERROR_PARAMETER);
        assert_non_null(strstr(err.text, wrong[i].named));
    }
    tide_band many[TIDE_AGREEMENT_BANDS_MAX + 1];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = (tide_band){1, 1};
    const tide_agreement_options options = {.bands = many, .band_count = COUNT(many)};
    tide_agreement_result r;
    assert_int_equal(tide_eval_agreement(m.views[0], m.views[1], &options, &r, NULL),
                     TIDE_ERROR_PARAMETER);
    models_free(&m);
}

static void ignore_pair(void *data, const tide_agreement_pair *pair)
{
    (void)data, (void)pair;
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    models m = models_of("vocab=100 dim=4 replay=1", "vocab=100 dim=4 replay=1", false);
    const tide_band bands[] = {{1, 10}, {11, 20}};
    const tide_agreement_options options = {.bands = bands,
                                            .band_count = 2,
                                            .neighbors = NEAR,
                                            .sample = 5,
                                            .pair = ignore_pair};
    tide_agreement_result r;
    tide_error err;
    int status = TIDE_ERROR_MEMORY, failed = 0;
    for (; status == TIDE_ERROR_MEMORY; failed++) {
        err = (tide_error){0};
        allocations_left = failed;
        status = tide_eval_agreement(m.views[0], m.views[1], &options, &r, &err);
        allocations_left = -1;
        assert_int_equal(err.status, status);
    }
    assert_int_equal(status, TIDE_OK);
    assert_true(failed > 15);
    models_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_cover_all_pairs),
        cmocka_unit_test(a_pair_in_overlapping_bands_is_counted_once),
        cmocka_unit_test(the_total_equals_one_band_of_all_words),
        cmocka_unit_test(vectors_are_those_of_the_views),
        cmocka_unit_test(a_model_agrees_with_itself),
        cmocka_unit_test(too_few_pairs_have_no_correlation),
        cmocka_unit_test(overlap_counts_the_ten_nearest_shared_words),
        cmocka_unit_test(no_words_in_common_have_no_overlap),
        cmocka_unit_test(every_pair_is_sampled_equally_often),
        cmocka_unit_test(a_sample_larger_than_the_cell_contains_all_pairs),
        cmocka_unit_test(a_band_ends_at_the_last_word),
        cmocka_unit_test(invalid_bands_are_reported),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
