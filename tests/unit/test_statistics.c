/* test_statistics.c - correlations against their definitions in long double. */

#include "base/base.h"
#include "eval/eval.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static long double naive_pearson(const long double *x, const long double *y, size_t n)
{
    long double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (long double)n;
        my += y[i] / (long double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xy / sqrtl(xx * yy);
}

/* The rank of a value: the number of smaller ones, plus half of the other equal
 * ones. */
static void naive_ranks(const double *x, size_t n, long double *ranks)
{
    for (size_t i = 0; i < n; i++) {
        long double smaller = 0, equal = 0;
        for (size_t j = 0; j < n; j++) {
            smaller += x[j] < x[i];
            equal += x[j] == x[i];
        }
        ranks[i] = smaller + (equal + 1) / 2;
    }
}

enum { LIST = 300 };

/* Random numbers with about `kinds` different values, correlated by `share`. */
static void make_lists(tide_rng *rng, uint64_t kinds, double share, size_t n, double *x,
                       double *y)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)tide_rng_below(rng, kinds);
        y[i] =
            tide_rng_double(rng) < share ? -x[i] : (double)tide_rng_below(rng, kinds);
    }
}

static void spearman_equals_the_definition_with_any_number_of_ties(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(1);
    double x[LIST], y[LIST], rho;
    long double rx[LIST], ry[LIST];
    for (uint64_t kinds = 2; kinds < 2000; kinds *= 3)
        for (int run = 0; run < 20; run++) {
            size_t n = 20 + tide_rng_below(&rng, LIST - 20);
            make_lists(&rng, kinds, 0.1 * run / 2, n, x, y);
            naive_ranks(x, n, rx);
            naive_ranks(y, n, ry);
            assert_int_equal(tide_spearman(x, y, n, &rho, NULL), TIDE_OK);
            assert_true(fabs(rho - (double)naive_pearson(rx, ry, n)) < 1e-12);
        }
}

static void pearson_is_accurate_far_from_zero_and_at_any_scale(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(2);
    double x[LIST], y[LIST];
    long double lx[LIST], ly[LIST];
    const double offsets[] = {0, 1, 1e6, -1e12}, scales[] = {1, 0x1p-460, 0x1p460};
    for (size_t o = 0; o < COUNT(offsets); o++)
        for (size_t s = 0; s < COUNT(scales); s++) {
            for (size_t i = 0; i < LIST; i++) {
                double common = tide_rng_normal(&rng);
                x[i] = (offsets[o] + common) * scales[s];
                y[i] = common + tide_rng_normal(&rng);
                lx[i] = (long double)x[i] / (long double)scales[s];
                ly[i] = (long double)y[i];
            }
            double r = tide_pearson(x, y, LIST);
            assert_true(fabs(r - (double)naive_pearson(lx, ly, LIST)) < 1e-10);
        }
}

static void a_constant_list_has_no_correlation(void **state)
{
    (void)state;
    double same[LIST], other[LIST], rho = 0;
    for (size_t i = 0; i < LIST; i++) {
        same[i] = 0.1; /* the rounded mean is not exactly 0.1 */
        other[i] = (double)i;
    }
    for (size_t n = 0; n <= LIST; n += n < 3 ? 1 : 99) {
        assert_true(isnan(tide_pearson(same, other, n)));
        assert_true(isnan(tide_pearson(other, same, n)));
        assert_int_equal(tide_spearman(same, other, n, &rho, NULL), TIDE_OK);
        assert_true(isnan(rho));
    }
    assert_true(tide_pearson(other, other, 2) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spearman_equals_the_definition_with_any_number_of_ties),
        cmocka_unit_test(pearson_is_accurate_far_from_zero_and_at_any_scale),
        cmocka_unit_test(a_constant_list_has_no_correlation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
