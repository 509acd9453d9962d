/* test_align.c - the result of alignment is a rotation, and none fits better. */

#include "base/base.h"
#include "model/model.h"
#include "query/query.h"
#include "vector/vector.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { DIM_MAX = 100, ROWS_MAX = 300 };

static float from[ROWS_MAX * DIM_MAX], to[ROWS_MAX * DIM_MAX];
static double rotation[DIM_MAX * DIM_MAX];

/* -- oracle: rotations composed of plane rotations and reflections ----------------- */

static void identity(double *r, uint32_t dim)
{
    for (uint32_t i = 0; i < dim * dim; i++)
        r[i] = i / dim == i % dim;
}

/* Rotates the columns p and q of a matrix. */
static void rotate_plane(double *r, uint32_t dim, uint32_t p, uint32_t q, double angle)
{
    for (uint32_t row = 0; row < dim; row++) {
        double x = r[row * dim + p], y = r[row * dim + q];
        r[row * dim + p] = cos(angle) * x - sin(angle) * y;
        r[row * dim + q] = sin(angle) * x + cos(angle) * y;
    }
}

static void random_rotation(tide_rng *rng, double *r, uint32_t dim, bool mirrored)
{
    identity(r, dim);
    for (uint32_t p = 0; p < dim; p++)
        for (uint32_t q = 0; q < dim; q++)
            if (p != q)
                rotate_plane(r, dim, p, q, 6.28 * tide_rng_double(rng));
    for (uint32_t row = 0; row < dim && mirrored; row++)
        r[row * dim] = -r[row * dim];
}

static void apply(const double *r, uint32_t dim, size_t rows, double noise,
                  tide_rng *rng)
{
    for (size_t i = 0; i < rows; i++)
        for (uint32_t column = 0; column < dim; column++) {
            double sum = noise * tide_rng_normal(rng);
            for (uint32_t d = 0; d < dim; d++)
                sum += (double)from[i * dim + d] * r[d * dim + column];
            to[i * dim + column] = (float)sum;
        }
}

static double distance(const double *r, uint32_t dim, size_t rows)
{
    double total = 0;
    for (size_t i = 0; i < rows; i++)
        for (uint32_t column = 0; column < dim; column++) {
            double sum = -(double)to[i * dim + column];
            for (uint32_t d = 0; d < dim; d++)
                sum += (double)from[i * dim + d] * r[d * dim + column];
            total += sum * sum;
        }
    return total;
}

static double farthest_from_orthogonal(const double *r, uint32_t dim)
{
    double worst = 0;
    for (uint32_t a = 0; a < dim; a++)
        for (uint32_t b = 0; b < dim; b++) {
            double sum = -(double)(a == b);
            for (uint32_t row = 0; row < dim; row++)
                sum += r[row * dim + a] * r[row * dim + b];
            worst = fabs(sum) > worst ? fabs(sum) : worst;
        }
    return worst;
}

static void fill(tide_rng *rng, float *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rows[i] = (float)tide_rng_normal(rng);
}

static int try_align(uint32_t dim, size_t rows)
{
    const tide_matrix a = {from, (uint32_t)rows, dim, dim};
    const tide_matrix b = {to, (uint32_t)rows, dim, dim};
    tide_error err;
    tide_aligner *aligner = tide_aligner_new(dim, 0, &err);
    assert_non_null(aligner);
    int status = tide_aligner_fit(aligner, &a, &b, &err);
    memcpy(rotation, tide_aligner_rotation(aligner), sizeof(double) * dim * dim);
    tide_aligner_free(aligner);
    return status;
}

static void align(uint32_t dim, size_t rows)
{
    assert_int_equal(try_align(dim, rows), TIDE_OK);
    assert_true(farthest_from_orthogonal(rotation, dim) < 1e-10);
}

/* -- tests ------------------------------------------------------------------------- */

static void random_rotation_is_recovered(void **state)
{
    (void)state;
    static double truth[DIM_MAX * DIM_MAX];
    tide_rng rng = tide_rng_seeded(1);
    const uint32_t dims[] = {1, 2, 3, 7, 16, 100};
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++)
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            uint32_t dim = dims[k];
            fill(&rng, from, ROWS_MAX * dim);
            random_rotation(&rng, truth, dim, mirrored);
            apply(truth, dim, ROWS_MAX, 0, &rng);
            align(dim, ROWS_MAX);
            for (uint32_t i = 0; i < dim * dim; i++) /* `to` is rounded to float */
                assert_true(fabs(rotation[i] - truth[i]) < 1e-6);
        }
}

/* With noise the result differs from the true rotation but fits best: a small rotation
 * in any plane makes it worse, and the true rotation is worse too. */
static void no_other_rotation_fits_better(void **state)
{
    (void)state;
    enum { DIM = 12, ROWS = 40 };
    double truth[DIM * DIM], other[DIM * DIM];
    tide_rng rng = tide_rng_seeded(2);
    for (int run = 0; run < 10; run++) {
        fill(&rng, from, ROWS * DIM);
        random_rotation(&rng, truth, DIM, run % 2);
        apply(truth, DIM, ROWS, 0.5, &rng);
        align(DIM, ROWS);
        double best = distance(rotation, DIM, ROWS);
        assert_true(best < distance(truth, DIM, ROWS));
        for (uint32_t p = 0; p < DIM; p++)
            for (uint32_t q = 0; q < DIM; q++)
                for (int sign = -1; p != q && sign < 2; sign += 2) {
                    memcpy(other, rotation, sizeof other);
                    rotate_plane(other, DIM, p, q, sign * 1e-3);
                    assert_true(best < distance(other, DIM, ROWS));
                }
    }
}

static void unrelated_vectors_give_a_rotation(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(3);
    fill(&rng, from, ROWS_MAX * DIM_MAX);
    fill(&rng, to, ROWS_MAX * DIM_MAX);
    align(DIM_MAX, ROWS_MAX);
}

/* Fewer rows than dimensions leave directions free, but the rows are matched
 * exactly. */
static void few_rows_are_matched_exactly(void **state)
{
    (void)state;
    static double truth[DIM_MAX * DIM_MAX];
    tide_rng rng = tide_rng_seeded(4);
    const size_t rows[] = {1, 2, 30, 99};
    random_rotation(&rng, truth, DIM_MAX, false);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        fill(&rng, from, rows[k] * DIM_MAX);
        apply(truth, DIM_MAX, rows[k], 0, &rng);
        align(DIM_MAX, rows[k]);
        assert_true(distance(rotation, DIM_MAX, rows[k]) < 1e-8);
    }
}

/* Equal columns, zero columns, and very different scales. */
static void degenerate_vectors_give_a_rotation(void **state)
{
    (void)state;
    enum { DIM = 20, ROWS = 50 };
    tide_rng rng = tide_rng_seeded(5);
    fill(&rng, from, ROWS * DIM);
    for (size_t i = 0; i < ROWS; i++) {
        for (uint32_t d = 0; d < DIM; d++) {
            float value = from[i * DIM + (d < 5 ? 0 : d)];
            from[i * DIM + d] = d > 14 ? 0 : value * powf(10, (float)d - 10);
            to[i * DIM + d] = from[i * DIM + (DIM - 1 - d)];
        }
    }
    align(DIM, ROWS);
}

static void zero_vectors_give_the_identity(void **state)
{
    (void)state;
    enum { DIM = 9 };
    double still[DIM * DIM];
    identity(still, DIM);
    memset(from, 0, sizeof from);
    memset(to, 0, sizeof to);
    align(DIM, ROWS_MAX);
    assert_memory_equal(rotation, still, sizeof still);
    align(DIM, 0);
    assert_memory_equal(rotation, still, sizeof still);
}

/* Data about one direction does not affect the others. */
static void unknown_directions_stay_unchanged(void **state)
{
    (void)state;
    enum { DIM = 6 };
    memset(from, 0, sizeof from);
    memset(to, 0, sizeof to);
    from[2] = 3;
    to[2] = -4;
    align(DIM, 1);
    for (uint32_t i = 0; i < DIM * DIM; i++) {
        double wanted = i == 2 * DIM + 2 ? -1 : i / DIM == i % DIM;
        assert_true(fabs(rotation[i] - wanted) < 1e-12);
    }
}

static void the_scale_of_vectors_does_not_matter(void **state)
{
    (void)state;
    enum { DIM = 8, ROWS = 30 };
    double first[DIM * DIM];
    const float scales[] = {1e-30f, 1e-6f, 1e12f, 1e30f};
    tide_rng rng = tide_rng_seeded(6);
    fill(&rng, from, ROWS * DIM);
    fill(&rng, to, ROWS * DIM);
    align(DIM, ROWS);
    memcpy(first, rotation, sizeof first);
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        rng = tide_rng_seeded(6);
        fill(&rng, from, ROWS * DIM);
        fill(&rng, to, ROWS * DIM);
        for (size_t i = 0; i < ROWS * DIM; i++)
            from[i] *= scales[k];
        align(DIM, ROWS);
        for (uint32_t i = 0; i < DIM * DIM; i++)
            assert_true(fabs(rotation[i] - first[i]) < 1e-5);
    }
}

static void make_units(float *rows, size_t count, uint32_t dim)
{
    for (size_t i = 0; i < count; i++) {
        double square = 0;
        for (uint32_t d = 0; d < dim; d++)
            square += pow((double)rows[i * dim + d], 2);
        for (uint32_t d = 0; d < dim; d++)
            rows[i * dim + d] /= (float)sqrt(square);
    }
}

/* A fifth of the words move at random. The others are only found unmoved if the moved
 * ones do not influence the rotation. */
static void moved_words_do_not_affect_the_rotation_of_the_others(void **state)
{
    (void)state;
    enum { DIM = 20 };
    static double truth[DIM * DIM];
    tide_rng rng = tide_rng_seeded(7);
    const tide_matrix a = {from, ROWS_MAX, DIM, DIM}, b = {to, ROWS_MAX, DIM, DIM};
    fill(&rng, from, (size_t)ROWS_MAX * DIM);
    make_units(from, ROWS_MAX, DIM);
    random_rotation(&rng, truth, DIM, true);
    apply(truth, DIM, ROWS_MAX, 0, &rng);
    fill(&rng, to, (size_t)ROWS_MAX / 5 * DIM);
    make_units(to, ROWS_MAX, DIM);
    tide_aligner *aligner = tide_aligner_new(DIM, ROWS_MAX, NULL);
    assert_non_null(aligner);
    double plain = 0, most = 0;
    assert_int_equal(tide_aligner_fit(aligner, &a, &b, NULL), TIDE_OK);
    for (uint32_t i = ROWS_MAX / 5; i < ROWS_MAX; i++)
        plain +=
            tide_aligner_angle(aligner, tide_matrix_row(&a, i), tide_matrix_row(&b, i));
    assert_int_equal(tide_aligner_fit_majority(aligner, &a, &b, NULL), TIDE_OK);
    for (uint32_t i = ROWS_MAX / 5; i < ROWS_MAX; i++) {
        double angle =
            tide_aligner_angle(aligner, tide_matrix_row(&a, i), tide_matrix_row(&b, i));
        most = angle > most ? angle : most;
    }
    assert_true(most < 1e-4 && plain / ROWS_MAX > 0.5);
    tide_aligner_free(aligner);
}

static void nan_and_infinity_are_rejected(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        memset(from, 0, sizeof from);
        memset(to, 0, sizeof to);
        from[3] = k ? INFINITY : NAN;
        to[1] = 1;
        assert_int_equal(try_align(4, 2), TIDE_ERROR_PARAMETER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_rotation_is_recovered),
        cmocka_unit_test(no_other_rotation_fits_better),
        cmocka_unit_test(unrelated_vectors_give_a_rotation),
        cmocka_unit_test(few_rows_are_matched_exactly),
        cmocka_unit_test(degenerate_vectors_give_a_rotation),
        cmocka_unit_test(zero_vectors_give_the_identity),
        cmocka_unit_test(unknown_directions_stay_unchanged),
        cmocka_unit_test(the_scale_of_vectors_does_not_matter),
        cmocka_unit_test(moved_words_do_not_affect_the_rotation_of_the_others),
        cmocka_unit_test(nan_and_infinity_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
