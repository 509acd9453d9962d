/* test_metrics.c - the metrics against a reference implementation that keeps all
 * posts. */

#include "base/base.h"
#include "label/label.h"
#include "memory_fixture.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

enum { POSTS = 150, LABELS_MOST = 12 };

/* All predictions and truths of a run. */
typedef struct record {
    uint32_t labels;
    float threshold;
    float p[POSTS][LABELS_MOST];
    bool had[POSTS][LABELS_MOST];
} record;

/* Probabilities from a few values, so that there are ties. No post has the last label,
 * and the last but one is never predicted. */
static record random_record(uint32_t labels, uint64_t values, uint64_t seed)
{
    record r = {.labels = labels, .threshold = 0.5f};
    tide_rng rng = tide_rng_seeded(seed);
    for (int i = 0; i < POSTS; i++)
        for (uint32_t l = 0; l < labels; l++) {
            r.p[i][l] = (float)tide_rng_below(&rng, values) / (float)(values - 1);
            r.had[i][l] = tide_rng_below(&rng, 4) == 0;
            if (labels > 2 && l == labels - 1)
                r.had[i][l] = false;
            if (labels > 2 && l == labels - 2)
                r.p[i][l] *= 0.3f;
        }
    return r;
}

static tide_metrics *measured(const record *r)
{
    tide_metrics *m = tide_metrics_new(r->labels, r->threshold, NULL);
    assert_non_null(m);
    for (int i = 0; i < POSTS; i++) {
        uint32_t truth[LABELS_MOST], count = 0;
        for (uint32_t l = 0; l < r->labels; l++)
            if (r->had[i][l])
                truth[count++] = l;
        tide_metrics_add(m, r->p[i], truth, count);
    }
    return m;
}

/* -- reference implementation ----------------------------------------------------- */

static double or_0(double part, double whole)
{
    return whole == 0 ? 0 : part / whole;
}

/* All decisions about the labels in [from, to). */
static tide_score plain_score(const record *r, uint32_t from, uint32_t to)
{
    double right = 0, predicted = 0, had = 0;
    for (int i = 0; i < POSTS; i++)
        for (uint32_t l = from; l < to; l++) {
            bool is_predicted = r->p[i][l] >= r->threshold;
            right += is_predicted && r->had[i][l];
            predicted += is_predicted;
            had += r->had[i][l];
        }
    double precision = or_0(right, predicted), recall = or_0(right, had);
    return (tide_score){precision, recall,
                        or_0(2 * precision * recall, precision + recall)};
}

/* A label is in the top k if fewer than k come before it. */
static double plain_precision_at(const record *r, uint32_t k)
{
    double right = 0;
    if (k > r->labels)
        k = r->labels;
    for (int i = 0; i < POSTS; i++)
        for (uint32_t l = 0; l < r->labels; l++) {
            uint32_t before = 0;
            for (uint32_t o = 0; o < r->labels; o++)
                before +=
                    r->p[i][o] > r->p[i][l] || (o < l && r->p[i][o] == r->p[i][l]);
            right += before < k && r->had[i][l];
        }
    return right / POSTS / k;
}

static void assert_score(tide_score found, tide_score expected)
{
    assert_true(fabs(found.precision - expected.precision) < 1e-12);
    assert_true(fabs(found.recall - expected.recall) < 1e-12);
    assert_true(fabs(found.f1 - expected.f1) < 1e-12);
}

static void add(tide_score *sum, tide_score score, double weight)
{
    sum->precision += weight * score.precision;
    sum->recall += weight * score.recall;
    sum->f1 += weight * score.f1;
}

static double plain_support(const record *r, uint32_t label)
{
    double support = 0;
    for (int i = 0; i < POSTS; i++)
        support += r->had[i][label];
    return support;
}

static void check_record(const record *r)
{
    tide_metrics *m = measured(r);
    tide_score weighted = {0}, macro = {0};
    double all = 0;
    for (uint32_t l = 0; l < r->labels; l++)
        all += plain_support(r, l);
    for (uint32_t l = 0; l < r->labels; l++) {
        uint64_t support;
        tide_score expected = plain_score(r, l, l + 1);
        assert_score(tide_metrics_label(m, l, &support), expected);
        assert_true((double)support == plain_support(r, l));
        add(&weighted, expected, or_0((double)support, all));
        add(&macro, expected, 1.0 / r->labels);
    }
    tide_scores total = tide_metrics_total(m);
    assert_int_equal(total.scored, POSTS);
    assert_true((double)total.truths == all);
    assert_score(total.weighted, weighted);
    assert_score(total.macro, macro);
    assert_score(total.micro, plain_score(r, 0, r->labels));
    assert_true(fabs(total.precision_at_1 - plain_precision_at(r, 1)) < 1e-12);
    assert_true(fabs(total.precision_at_5 - plain_precision_at(r, 5)) < 1e-12);
    tide_metrics_free(m);
}

static void metrics_equal_their_definitions(void **state)
{
    (void)state;
    for (uint32_t labels = 1; labels <= LABELS_MOST; labels++)
        for (uint64_t values = 2; values < 2000; values *= 3)
            for (uint64_t seed = 0; seed < 5; seed++) {
                record r = random_record(labels, values, seed);
                check_record(&r);
                r.threshold = 0.2f;
                check_record(&r);
            }
}

static void undefined_ratios_are_0(void **state)
{
    (void)state;
    record r = {.labels = 6, .threshold = 0.5f};
    check_record(&r);
    tide_metrics *m = tide_metrics_new(6, 0.5f, NULL);
    tide_scores total = tide_metrics_total(m);
    const double none = 0;
    assert_memory_equal(&total.weighted.f1, &none, sizeof none);
    assert_memory_equal(&total.precision_at_5, &none, sizeof none);
    tide_metrics_free(m);
}

/* Posts are added one at a time, and only counts are kept. */
static void only_the_constructor_allocates(void **state)
{
    (void)state;
    tide_error err;
    allocations_left = 0;
    assert_null(tide_metrics_new(5, 0.5f, &err));
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    allocations_left = 1;
    assert_null(tide_metrics_new(5, 0.5f, &err));
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    allocations_left = 2;
    record r = random_record(5, 10, 1);
    tide_metrics *m = measured(&r);
    assert_int_equal(tide_metrics_total(m).scored, POSTS);
    tide_metrics_free(m);
    allocations_left = -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_equal_their_definitions),
        cmocka_unit_test(undefined_ratios_are_0),
        cmocka_unit_test(only_the_constructor_allocates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
