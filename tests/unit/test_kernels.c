/* test_kernels.c - every kernel set against plain arithmetic in double precision. */

#include "base/base.h"
#include "vector/vector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 150, MOST_DIM = 640 };

static const uint32_t dims[] = {1, 3, 16, 17, 64, 100, 128, 200, 300, 513, 640};
static const size_t counts[] = {1, 2, 5, 7, 8, 9, 13, 36, 63, 64, 65, 150};

typedef struct data {
    tide_matrix rows, sums;
    double before[MOST_ROWS][MOST_DIM];
    float x[MOST_DIM] __attribute__((aligned(64)));
    float gradient[MOST_DIM] __attribute__((aligned(64)));
    float errors[MOST_ROWS + 16] __attribute__((aligned(64)));
    float steps[MOST_ROWS + 16] __attribute__((aligned(64)));
    float out[MOST_ROWS + 16] __attribute__((aligned(64)));
    float *row[MOST_ROWS], *sum[MOST_ROWS];
} data;

static data *data_new(uint32_t dim, size_t count)
{
    data *d = tide_alloc(1, sizeof *d);
    assert_non_null(d);
    assert_int_equal(tide_matrix_init(&d->rows, (uint32_t)count, dim, NULL), TIDE_OK);
    assert_int_equal(tide_matrix_init(&d->sums, (uint32_t)count, dim, NULL), TIDE_OK);
    tide_rng rng = tide_rng_seeded(dim * 1000 + count);
    for (uint32_t i = 0; i < dim; i++) {
        d->x[i] = tide_rng_float(&rng) - 0.5f;
        d->gradient[i] = tide_rng_float(&rng) - 0.5f;
    }
    for (uint32_t j = 0; j < count; j++) {
        d->row[j] = tide_matrix_row(&d->rows, j);
        d->sum[j] = tide_matrix_row(&d->sums, j);
        d->errors[j] = tide_rng_float(&rng) - 0.5f;
        d->steps[j] = tide_rng_float(&rng) - 0.5f;
        for (uint32_t i = 0; i < dim; i++) {
            d->before[j][i] = (double)(d->row[j][i] = tide_rng_float(&rng) - 0.5f);
            d->sum[j][i] = tide_rng_float(&rng);
        }
    }
    return d;
}

static void data_free(data *d)
{
    tide_matrix_release(&d->rows);
    tide_matrix_release(&d->sums);
    free(d);
}

static void close_to(double value, double expected)
{
    if (!(fabs(value - expected) <= 2e-5 * (1 + fabs(expected))))
        fail_msg("%.9g is not %.9g", value, expected);
}

static void padding_is_zero(const data *d, size_t count)
{
    for (size_t j = 0; j < count; j++)
        for (uint32_t i = d->rows.dim; i < d->rows.stride; i++)
            assert_true(d->row[j][i] == 0);
}

/* Runs a check for every usable set, dimension and number of rows. */
static void for_all_sets(void (*check)(const tide_kernels *k, data *d, size_t count))
{
    bool usable;
    const tide_kernels *k;
    for (size_t set = 0; (k = tide_kernels_at(set, &usable)); set++)
        for (size_t a = 0; usable && a < sizeof dims / sizeof *dims; a++)
            for (size_t b = 0; b < sizeof counts / sizeof *counts; b++) {
                data *d = data_new(dims[a], counts[b]);
                check(k, d, counts[b]);
                padding_is_zero(d, counts[b]);
                data_free(d);
            }
}

static double exact_dot(const float *x, const double *y, uint32_t dim)
{
    double sum = 0;
    for (uint32_t i = 0; i < dim; i++)
        sum += (double)x[i] * y[i];
    return sum;
}

static void check_dots(const tide_kernels *k, data *d, size_t count)
{
    k->dots(d->x, d->row, count, d->rows.stride, d->out);
    for (size_t j = 0; j < count; j++) {
        double expected = exact_dot(d->x, d->before[j], d->rows.dim);
        close_to((double)d->out[j], expected);
        close_to((double)k->dot(d->x, d->row[j], d->rows.stride), expected);
    }
}

static void dot_products_are_correct(void **state)
{
    (void)state;
    for_all_sets(check_dots);
}

static void check_spread(const tide_kernels *k, data *d, size_t count, bool after)
{
    double gradient[MOST_DIM];
    for (uint32_t i = 0; i < d->rows.dim; i++)
        gradient[i] = (double)d->gradient[i];
    (after ? k->spread_after : k->spread)(d->x, d->row, d->errors, d->steps, count,
                                          d->rows.stride, d->gradient);
    for (uint32_t i = 0; i < d->rows.dim; i++)
        for (size_t j = 0; j < count; j++) {
            double step = (double)d->steps[j] * (double)d->errors[j];
            double new = d->before[j][i] + step *(double)d->x[i];
            close_to((double)d->row[j][i], new);
            gradient[i] += (double)d->errors[j] * (after ? new : d->before[j][i]);
        }
    for (uint32_t i = 0; i < d->rows.dim; i++)
        close_to((double)d->gradient[i], gradient[i]);
}

static void check_spread_before(const tide_kernels *k, data *d, size_t count)
{
    check_spread(k, d, count, false);
}

static void check_spread_after(const tide_kernels *k, data *d, size_t count)
{
    check_spread(k, d, count, true);
}

static void gradients_use_rows_before_the_update(void **state)
{
    (void)state;
    for_all_sets(check_spread_before);
}

static void gradients_can_use_rows_after_the_update(void **state)
{
    (void)state;
    for_all_sets(check_spread_after);
}

static float random_error(tide_rng *rng)
{
    return tide_rng_float(rng) - 0.5f;
}

/* Some vectors x, and an error for each of them and every row. */
typedef struct vectors_and_errors {
    float x[TIDE_BLOCK * MOST_DIM] __attribute__((aligned(64)));
    float gradients[TIDE_BLOCK * MOST_DIM] __attribute__((aligned(64)));
    float errors[MOST_ROWS * TIDE_BLOCK];
} vectors_and_errors;

static vectors_and_errors *collect_vectors(const data *d, size_t vectors, size_t count)
{
    static vectors_and_errors c;
    tide_rng rng = tide_rng_seeded(count);
    memset(&c, 0, sizeof c);
    for (size_t i = 0; i < vectors; i++)
        for (uint32_t n = 0; n < d->rows.dim; n++)
            c.x[i * d->rows.stride + n] = random_error(&rng);
    for (size_t j = 0; j < count * vectors; j++)
        c.errors[j] = random_error(&rng);
    return &c;
}

static void check_vector_dots(const data *d, const vectors_and_errors *c,
                              size_t vectors, size_t count, const float *out)
{
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < vectors; i++)
            close_to((double)out[j * vectors + i],
                     exact_dot(c->x + i * d->rows.stride, d->before[j], d->rows.dim));
}

static void check_vector_steps(const data *d, const vectors_and_errors *c,
                               size_t vectors, size_t count)
{
    uint32_t stride = d->rows.stride, dim = d->rows.dim;
    for (uint32_t n = 0; n < dim; n++)
        for (size_t i = 0; i < vectors; i++) {
            double gradient = 0;
            for (size_t j = 0; j < count; j++)
                gradient += (double)c->errors[j * vectors + i] * d->before[j][n];
            close_to((double)c->gradients[i * stride + n], gradient);
        }
    for (size_t j = 0; j < count; j++)
        for (uint32_t n = 0; n < dim; n++) {
            double step = 0;
            for (size_t i = 0; i < vectors; i++)
                step +=
                    (double)c->errors[j * vectors + i] * (double)c->x[i * stride + n];
            close_to((double)d->row[j][n],
                     d->before[j][n] + (double)d->steps[j] * step);
        }
}

static void check_block(const tide_kernels *k, data *d, size_t count)
{
    static float out[MOST_ROWS][TIDE_BLOCK];
    vectors_and_errors *c = collect_vectors(d, TIDE_BLOCK, count);
    k->block_dots(c->x, d->row, count, d->rows.stride, out);
    check_vector_dots(d, c, TIDE_BLOCK, count, out[0]);
    k->block_spread(c->x, d->row, (const float(*)[TIDE_BLOCK])c->errors, d->steps,
                    count, d->rows.stride, c->gradients);
    check_vector_steps(d, c, TIDE_BLOCK, count);
}

static void check_quad(const tide_kernels *k, data *d, size_t count)
{
    static float out[MOST_ROWS + 4][TIDE_QUAD], squares[MOST_ROWS + 4];
    static const float weights[TIDE_QUAD] = {0.5f, 2.0f, 0.0f, 1.0f};
    vectors_and_errors *c = collect_vectors(d, TIDE_QUAD, count);
    const float(*errors)[TIDE_QUAD] = (const float(*)[TIDE_QUAD])c->errors;
    k->quad_dots(c->x, d->row, count, d->rows.stride, out);
    check_vector_dots(d, c, TIDE_QUAD, count, out[0]);
    k->quad_squares(errors, weights, count, squares);
    for (size_t j = 0; j < count; j++) {
        double sum = 0;
        for (int i = 0; i < TIDE_QUAD; i++)
            sum += pow((double)errors[j][i], 2) * (double)weights[i];
        close_to((double)squares[j], sum);
    }
    k->quad_spread(c->x, d->row, errors, d->steps, count, d->rows.stride, c->gradients);
    check_vector_steps(d, c, TIDE_QUAD, count);
}

static void quads_equal_single_vectors(void **state)
{
    (void)state;
    for_all_sets(check_quad);
}

static void blocks_equal_single_vectors(void **state)
{
    (void)state;
    for_all_sets(check_block);
}

static void check_coordinates(const tide_kernels *k, data *d, size_t count)
{
    double gradient[MOST_DIM], sums[MOST_DIM];
    const float eta = 0.1f;
    for (uint32_t i = 0; i < d->rows.dim; i++) {
        gradient[i] = (double)d->gradient[i];
        sums[i] = (double)d->sum[0][i];
    }
    k->spread_coordinates(d->x, d->row, d->sum, d->errors, eta, count, d->rows.stride,
                          d->gradient);
    for (uint32_t i = 0; i < d->rows.dim; i++) {
        double g = (double)d->errors[0] * (double)d->x[i], sum = sums[i] + g * g;
        close_to((double)d->sum[0][i], sum);
        close_to((double)d->row[0][i], d->before[0][i] + 0.1 * g / sqrt(sum + 1e-8));
        for (size_t j = 0; j < count; j++)
            gradient[i] += (double)d->errors[j] * d->before[j][i];
        close_to((double)d->gradient[i], gradient[i]);
    }
    for (uint32_t i = 0; i < d->rows.dim; i++) {
        gradient[i] = (double)d->row[0][i];
        sums[i] = (double)d->sum[0][i];
    }
    k->add_coordinates(d->row[0], d->sum[0], d->gradient, eta, d->rows.stride);
    for (uint32_t i = 0; i < d->rows.dim; i++) {
        double g = (double)d->gradient[i], sum = sums[i] + g * g;
        close_to((double)d->row[0][i], gradient[i] + 0.1 * g / sqrt(sum + 1e-8));
    }
}

static void coordinates_have_separate_rates(void **state)
{
    (void)state;
    for_all_sets(check_coordinates);
}

static void check_rows(const tide_kernels *k, data *d, size_t count)
{
    uint32_t stride = d->rows.stride;
    k->sum(d->row, count, 0.5f, stride, d->gradient);
    for (uint32_t i = 0; i < d->rows.dim; i++) {
        double sum = 0;
        for (size_t j = 0; j < count; j++)
            sum += d->before[j][i];
        close_to((double)d->gradient[i], 0.5 * sum);
    }
    k->add(d->row[0], -2.0f, d->x, stride);
    for (uint32_t i = 0; i < d->rows.dim; i++)
        close_to((double)d->row[0][i], d->before[0][i] - 2 * (double)d->x[i]);
    k->copy(d->row[0], d->x, stride);
    assert_memory_equal(d->row[0], d->x, stride * sizeof(float));
}

static void rows_are_summed_added_and_copied(void **state)
{
    (void)state;
    for_all_sets(check_rows);
}

static void check_errors(const tide_kernels *k, data *d, size_t count)
{
    for (size_t positives = 0; positives <= count; positives += count / 2 + 1) {
        tide_rng rng = tide_rng_seeded(count);
        float weights[MOST_ROWS + 16] __attribute__((aligned(64)));
        double expected[MOST_ROWS];
        for (size_t j = 0; j < count; j++) {
            weights[j] = tide_rng_float(&rng);
            d->errors[j] = 80 * (tide_rng_float(&rng) - 0.5f);
            double y = 1 / (1 + exp(-(double)d->errors[j]));
            expected[j] = (double)weights[j] * ((j < positives) - y);
        }
        k->errors(d->errors, weights, positives, count);
        for (size_t j = 0; j < count; j++)
            if (fabs((double)d->errors[j] - expected[j]) > 4e-7)
                fail_msg("%.9g is not %.9g", (double)d->errors[j], expected[j]);
    }
}

static void errors_are_label_minus_sigmoid(void **state)
{
    (void)state;
    for_all_sets(check_errors);
}

static void check_adagrad(const tide_kernels *k, data *d, size_t count)
{
    enum { SHIFT = 4 }; /* 256 sums */
    tide_adagrad how = {
        .eta = 0.25f, .base = 0.5f, .floor = 0.05f, .scale = 4.0f, .shift = SHIFT};
    float sums[16 << SHIFT] = {0};
    double expected[MOST_ROWS];
    uint32_t slots[MOST_ROWS] = {0};
    for (size_t j = 0; j < count; j++) {
        sums[tide_sum_at((uint32_t)j, SHIFT)] = (float)(j * j);
        expected[j] = (double)(j * j);
        slots[j] = (uint32_t)(j / 2 * 2); /* every other slot twice */
    }
    for (size_t j = 0; j < count; j++)
        d->errors[j] *= d->errors[j];
    k->adagrad(&how, sums, slots, d->errors, count, d->steps);
    for (size_t j = 0; j < count; j++) {
        double sum = expected[slots[j]] += (double)d->errors[j] * 4;
        double rate = 0.25 / sqrt(0.5 + sum / 4);
        close_to((double)d->steps[j], rate > 0.05 ? rate : 0.05);
        if (j + 1 == count || slots[j + 1] != slots[j])
            close_to((double)sums[tide_sum_at(slots[j], SHIFT)], sum);
    }
}

static void check_own_sums(const tide_kernels *k, data *d, size_t count)
{
    tide_adagrad how = {.eta = 0.25f, .base = 0.5f, .floor = 0.05f, .scale = 4.0f};
    float sums[MOST_ROWS + 16], added[MOST_ROWS + 16], before[MOST_ROWS + 16];
    for (size_t j = 0; j < MOST_ROWS + 16; j++) {
        sums[j] = (float)(j * j);
        added[j] = before[j] = (float)j;
    }
    for (size_t j = 0; j < count; j++)
        d->errors[j] *= d->errors[j];
    k->adagrad_partial(&how, sums, added, d->errors, count, d->steps);
    for (size_t j = 0; j < MOST_ROWS + 16; j++) {
        double square = j < count ? (double)d->errors[j] : 0;
        close_to((double)added[j], (double)before[j] + square * 4);
        if (j >= count)
            continue;
        double rate = 0.25 / sqrt(0.5 + (double)(sums[j] + added[j]) / 4);
        close_to((double)d->steps[j], fmax(rate, 0.05));
        float sum = sums[j] + before[j];
        close_to((double)k->adagrad_one(&how, &sum, (float)square), fmax(rate, 0.05));
        close_to((double)sum, (double)(sums[j] + added[j]));
    }
}

static void thread_local_sums_are_added(void **state)
{
    (void)state;
    for_all_sets(check_own_sums);
}

static void every_slot_has_a_separate_sum(void **state)
{
    (void)state;
    for (uint32_t shift = 0; shift < 8; shift++) {
        bool taken[16 << 8] = {false};
        for (uint32_t slot = 0; slot < 16u << shift; slot++) {
            size_t at = tide_sum_at(slot, shift);
            assert_true(at < 16u << shift && !taken[at]);
            taken[at] = true;
        }
    }
}

static void adagrad_sums_decay_and_rates_have_a_floor(void **state)
{
    (void)state;
    for_all_sets(check_adagrad);
}

static void extreme_dot_products_stay_finite(void **state)
{
    (void)state;
    bool usable;
    const tide_kernels *k;
    for (size_t set = 0; (k = tide_kernels_at(set, &usable)); set++) {
        float e[16] __attribute__((aligned(64))) = {1e30f, -1e30f, INFINITY, -INFINITY};
        float w[16] __attribute__((aligned(64))) = {1, 1, 1, 1};
        if (!usable)
            continue;
        k->errors(e, w, 0, 4);
        for (int j = 0; j < 4; j++)
            assert_true(fabsf(e[j] - (j % 2 ? 0.0f : -1.0f)) < 1e-6f);
    }
}

static void the_best_set_is_usable(void **state)
{
    (void)state;
    bool usable = false;
    size_t set = 0;
    while (tide_kernels_at(set, &usable) != tide_kernels_best())
        set++;
    assert_true(usable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_products_are_correct),
        cmocka_unit_test(gradients_use_rows_before_the_update),
        cmocka_unit_test(gradients_can_use_rows_after_the_update),
        cmocka_unit_test(blocks_equal_single_vectors),
        cmocka_unit_test(quads_equal_single_vectors),
        cmocka_unit_test(coordinates_have_separate_rates),
        cmocka_unit_test(rows_are_summed_added_and_copied),
        cmocka_unit_test(errors_are_label_minus_sigmoid),
        cmocka_unit_test(every_slot_has_a_separate_sum),
        cmocka_unit_test(adagrad_sums_decay_and_rates_have_a_floor),
        cmocka_unit_test(thread_local_sums_are_added),
        cmocka_unit_test(extreme_dot_products_stay_finite),
        cmocka_unit_test(the_best_set_is_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
