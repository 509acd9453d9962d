/* test_cosines.c - the search kernel of every set against cosines in double
 * precision. */

#include "base/base.h"
#include "vector/vector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 150, MOST_DIM = 640 };

static const uint32_t dims[] = {1, 3, 16, 17, 64, 100, 103, 128, 300, 640};
static const size_t counts[] = {1, 7, 8, 9, 63, 64, 65, 128, 150};
static const float centers[] = {0, 0.1f, 1, 10000}; /* relative to the length of rows */

typedef struct data {
    tide_query_batch questions;
    float scores[MOST_ROWS][TIDE_QUERY_BATCH] __attribute__((aligned(64)));
    float vectors[MOST_DIM][TIDE_QUERY_BATCH] __attribute__((aligned(64)));
    float center[MOST_DIM] __attribute__((aligned(64)));
    bool near[MOST_ROWS];
    tide_matrix rows;
    float *row[MOST_ROWS];
} data;

static float draw(tide_rng *rng)
{
    return tide_rng_float(rng) - 0.5f;
}

static void make_query(data *d, size_t i, uint32_t dim, tide_rng *rng)
{
    double square = 0, product = 0;
    for (uint32_t n = 0; n < dim; n++) {
        d->vectors[n][i] = draw(rng);
        square += (double)d->vectors[n][i] * (double)d->vectors[n][i];
    }
    for (uint32_t n = 0; n < dim; n++) {
        d->vectors[n][i] = (float)((double)d->vectors[n][i] / sqrt(square));
        product += (double)d->vectors[n][i] * (double)d->center[n];
    }
    d->questions.offsets[i] = (float)product;
    d->questions.bounds[i] = draw(rng);
}

static data *data_new(uint32_t dim, size_t count, float center)
{
    data *d = tide_alloc(1, sizeof *d);
    assert_non_null(d);
    assert_int_equal(tide_matrix_init(&d->rows, (uint32_t)count, dim, NULL), TIDE_OK);
    tide_rng rng = tide_rng_seeded(dim * 1000 + count);
    d->questions.dim = dim;
    d->questions.vectors = d->vectors[0];
    d->questions.center = d->center;
    for (uint32_t n = 0; n < dim; n++) {
        d->center[n] = center * draw(&rng);
        d->questions.center_square += d->center[n] * d->center[n];
    }
    for (size_t i = 0; i < TIDE_QUERY_BATCH; i++)
        make_query(d, i, dim, &rng);
    for (uint32_t j = 0; j < count; j++) {
        d->row[j] = tide_matrix_row(&d->rows, j);
        for (uint32_t n = 0; n < dim; n++)
            d->row[j][n] = d->center[n] + draw(&rng);
    }
    return d;
}

static void data_free(data *d)
{
    tide_matrix_release(&d->rows);
    free(d);
}

/* |x - c| in double precision. */
static double distance(const data *d, size_t j)
{
    double square = 0;
    for (uint32_t n = 0; n < d->rows.dim; n++)
        square += pow((double)d->row[j][n] - (double)d->center[n], 2);
    return sqrt(square);
}

static double exact_cosine(const data *d, size_t j, size_t i)
{
    double product = 0;
    for (uint32_t n = 0; n < d->rows.dim; n++)
        product +=
            (double)d->vectors[n][i] * ((double)d->row[j][n] - (double)d->center[n]);
    return product / distance(d, j);
}

static void check(const tide_kernels *k, data *d, size_t count)
{
    double center = sqrt((double)d->questions.center_square);
    k->cosines(&d->questions, d->row, count, d->rows.stride, d->scores, d->near);
    for (size_t j = 0; j < count; j++) {
        bool near = false, ordinary = distance(d, j) > 0.11 * center + 1e-6;
        for (size_t i = 0; i < TIDE_QUERY_BATCH; i++) {
            float score = d->scores[j][i];
            near |= !(score < d->questions.bounds[i]);
            assert_true(!isnan(score) || !ordinary);
            if (!isnan(score) && !(fabs((double)score - exact_cosine(d, j, i)) < 1e-4))
                fail_msg("%.9g is not %.9g", (double)score, exact_cosine(d, j, i));
        }
        assert_int_equal(d->near[j], near);
    }
}

/* Runs a check for every usable set. */
static void for_all_sets(void (*run)(const tide_kernels *k))
{
    bool usable;
    const tide_kernels *k;
    for (size_t set = 0; (k = tide_kernels_at(set, &usable)); set++)
        if (usable)
            run(k);
}

static void run_all_shapes(const tide_kernels *k)
{
    for (size_t a = 0; a < sizeof dims / sizeof *dims; a++)
        for (size_t b = 0; b < sizeof counts / sizeof *counts; b++)
            for (size_t c = 0; c < sizeof centers / sizeof *centers; c++) {
                data *d = data_new(dims[a], counts[b], centers[c]);
                check(k, d, counts[b]);
                data_free(d);
            }
}

static void cosines_are_accurate_or_nan(void **state)
{
    (void)state;
    for_all_sets(run_all_shapes);
}

/* Huge, tiny and NaN values, and a row equal to the center. */
static void run_degenerate_rows(const tide_kernels *k)
{
    static const float odd[] = {0, 1e30f, 1e-30f, INFINITY, NAN};
    enum { ODD = sizeof odd / sizeof *odd, COUNT = 20 };
    for (size_t c = 0; c < 2; c++) {
        data *d = data_new(100, COUNT, centers[c]);
        for (size_t j = 0; j < ODD; j++)
            for (uint32_t n = 0; n < 100; n++)
                d->row[3 * j][n] = d->center[n] + odd[j];
        for (size_t i = 0; i < TIDE_QUERY_BATCH; i++)
            d->questions.bounds[i] = INFINITY;
        k->cosines(&d->questions, d->row, COUNT, d->rows.stride, d->scores, d->near);
        for (size_t j = 0; j < COUNT; j++) {
            bool known = j % 3 || j / 3 >= ODD;
            assert_int_equal(d->near[j], !known);
            for (size_t i = 0; i < TIDE_QUERY_BATCH; i++)
                assert_int_equal(isnan(d->scores[j][i]), !known);
        }
        data_free(d);
    }
}

static void a_degenerate_row_is_near_to_all_and_affects_no_other(void **state)
{
    (void)state;
    for_all_sets(run_degenerate_rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cosines_are_accurate_or_nan),
        cmocka_unit_test(a_degenerate_row_is_near_to_all_and_affects_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
