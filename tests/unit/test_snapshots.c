/* test_snapshots.c - the parts of a history that need no model: snapshots at doubling
 * ages, rates and trends, the map plane. */
#include "base/base.h"
#include "history/ema.h"
#include "history/history.h"
#include "history/projection.h"
#include "history/snapshots.h"
#include "vector/vector.h"
#include "history_fixture.h"

static tide_snapshots new_snapshots(uint32_t count, uint32_t rows, uint32_t dim)
{
    tide_snapshots l, shape = {.count = count, .rows = rows, .dim = dim, .step = 1};
    assert_int_equal(tide_snapshots_init(&l, &shape, NULL), TIDE_OK);
    return l;
}

/* -- snapshots -------------------------------------------------------------------- */

static bool has_between(const tide_snapshots *l, double clock, double young, double old)
{
    for (uint32_t snapshot = 0; snapshot < l->count; snapshot++) {
        double age = clock - l->times[snapshot];
        if (age > young && age < old)
            return true;
    }
    return false;
}

/* With frequent updates there is, for every age, a snapshot between it and twice it,
 * within the time between two updates. */
static void some_snapshot_is_between_every_age_and_twice_it(void **state)
{
    (void)state;
    enum { COUNT_MAX = 12, STEPS = 20000 };
    const double late = 0.4;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        tide_rng rng = tide_rng_seeded(seed);
        tide_snapshots l = new_snapshots(COUNT_MAX, 1, 1);
        double clock = 0;
        while (clock < STEPS) {
            tide_snapshots_due(&l, clock);
            for (int k = 0; k <= COUNT_MAX - 2; k++)
                if (clock >= ldexp(2, k))
                    assert_true(
                        has_between(&l, clock, ldexp(1, k) - late, ldexp(2, k)));
            clock += late * tide_rng_double(&rng);
        }
        tide_snapshots_release(&l);
    }
}

/* However late an update comes, every snapshot has the time of some update, no two have
 * the same, and one was just taken. */
static void times_are_exact_after_gaps_of_any_length(void **state)
{
    (void)state;
    enum { UPDATES = 3000 };
    static double update_times[UPDATES];
    tide_rng rng = tide_rng_seeded(4);
    tide_snapshots l = new_snapshots(18, 1, 1);
    double clock = 0;
    for (int i = 0; i < UPDATES; i++) {
        update_times[i] = clock;
        bool due = tide_snapshots_due(&l, clock) != TIDE_NO_SNAPSHOT;
        assert_true(due == (!i || floor(clock) > floor(update_times[i - 1])));
        for (uint32_t snapshot = 0; snapshot < l.count; snapshot++) {
            bool found = isnan(l.times[snapshot]);
            for (int k = 0; k <= i && !found; k++)
                found = !(update_times[k] < l.times[snapshot] ||
                          update_times[k] > l.times[snapshot]);
            assert_true(found);
            for (uint32_t other = 0; other < snapshot; other++)
                assert_true(isnan(l.times[snapshot]) || isnan(l.times[other]) ||
                            fabs(l.times[snapshot] - l.times[other]) > 0);
        }
        double pause = pow(10, 6 * tide_rng_double(&rng) - 2);
        clock += tide_rng_below(&rng, 10) ? pause / 1e3 : pause;
    }
    tide_snapshots_release(&l);
}

static void a_stored_vector_is_accurate_to_a_fiftieth_of_a_degree(void **state)
{
    (void)state;
    enum { DIM = 300 };
    tide_rng rng = tide_rng_seeded(5);
    tide_snapshots l = new_snapshots(3, 2, DIM);
    uint32_t snapshot = tide_snapshots_due(&l, 0);
    for (int round = 0; round < 100; round++) {
        float row[DIM], again[DIM];
        double square = 0;
        for (int d = 0; d < DIM; d++) {
            row[d] = (float)tide_rng_normal(&rng);
            square += (double)row[d] * (double)row[d];
        }
        for (int d = 0; d < DIM; d++)
            row[d] /= (float)sqrt(square);
        tide_snapshots_put(&l, snapshot, 1, row, 7, 2.5f);
        assert_true(tide_snapshots_row(&l, snapshot, 1, again));
        assert_true(angle_between(row, again, DIM) < 0.02);
        assert_false(tide_snapshots_row(&l, snapshot, 0, again));
    }
    assert_int_equal(tide_snapshots_count(&l, snapshot, 1), 7);
    tide_snapshots_release(&l);
}

/* Nothing of the previous contents can be read. */
static void a_replaced_snapshot_is_empty(void **state)
{
    (void)state;
    const float unit[] = {0.6f, 0.8f};
    float found[2];
    tide_snapshots l = new_snapshots(3, 2, 2);
    for (int i = 0; i < 50; i++) {
        uint32_t snapshot = tide_snapshots_due(&l, i);
        assert_int_not_equal(snapshot, TIDE_NO_SNAPSHOT);
        for (uint32_t row = 0; row < 2; row++) {
            assert_false(tide_snapshots_row(&l, snapshot, row, found));
            assert_true(isnan(*tide_snapshots_angle(&l, snapshot, row)));
            assert_int_equal(tide_snapshots_count(&l, snapshot, row), 0);
            tide_snapshots_put(&l, snapshot, row, unit, 7, 2.5f);
            *tide_snapshots_angle(&l, snapshot, row) = 45;
        }
    }
    tide_snapshots_release(&l);
}

/* Every snapshot is compared again after about a quarter of its age, and not too
 * often. */
static void every_snapshot_is_compared_often_enough(void **state)
{
    (void)state;
    tide_snapshots l = new_snapshots(10, 1, 1);
    uint64_t comparisons = 0;
    enum { UPDATES = 40000 };
    for (int i = 0; i < UPDATES; i++) {
        double clock = i / 10.0;
        tide_snapshots_due(&l, clock);
        uint32_t snapshot = tide_snapshots_stale(&l, clock);
        if (snapshot != TIDE_NO_SNAPSHOT) {
            l.compared_at[snapshot] = clock;
            comparisons++;
        }
        for (uint32_t k = 0; k < l.count && i > 100; k++) {
            if (isnan(l.times[k]) || isnan(l.compared_at[k]))
                continue;
            double interval = fmax(1, (clock - l.times[k]) / 4);
            assert_true(clock - l.compared_at[k] < interval + 2);
        }
    }
    assert_in_range(comparisons, UPDATES / 10,
                    6 * UPDATES / 10); /* steps, not updates */
    tide_snapshots_release(&l);
}

/* -- rates ------------------------------------------------------------------------ */

/* Compares with a numeric integral of the definition in ema.c, with updates at
 * irregular times. */
static void a_rate_is_the_decayed_sum_over_the_decayed_seconds(void **state)
{
    (void)state;
    enum { UPDATES = 200, PIECES = 2000 };
    tide_rng rng = tide_rng_seeded(6);
    tide_ema ema = {.span = 5};
    double ends[UPDATES], lumps[UPDATES], clock = 0;
    float sum = 0;
    for (int i = 0; i < UPDATES; i++) {
        double seconds = i % 50 == 49 ? 20 : 2 * tide_rng_double(&rng);
        clock += seconds;
        ends[i] = clock;
        lumps[i] = (double)tide_rng_below(&rng, 30);
        tide_ema_advance(&ema, seconds, 100);
        sum = tide_ema_add(&ema, sum, lumps[i]);
    }
    double wanted = 0, out_of = 0;
    for (int i = 0; i < UPDATES; i++) {
        double start = i ? ends[i - 1] : 0, width = (ends[i] - start) / PIECES;
        for (int k = 0; k < PIECES; k++) {
            double weight = exp(-(clock - start - (k + 0.5) * width) / 5);
            wanted += weight * lumps[i] / PIECES;
            out_of += weight * width;
        }
    }
    assert_true(fabs(tide_ema_rate(&ema, sum) - wanted / out_of) < 1e-3);
}

/* A Poisson random number. */
static double poisson(tide_rng *rng, double mean)
{
    double limit = exp(-mean), product = 1;
    int count = -1;
    do {
        product *= tide_rng_double(rng);
        count++;
    } while (product > limit);
    return count;
}

/* At any frequency a steady word stays within 5 sigma, 5 * 0.2, of no trend. A word
 * whose rate quadruples exceeds all of them within a minute. */
static void chance_is_not_a_trend_but_change_is(void **state)
{
    (void)state;
    enum { WORDS = 400, SECONDS = 3000, BURST = 2940 };
    tide_rng rng = tide_rng_seeded(7);
    tide_ema fast = {.span = 30}, slow = {.span = 8640};
    static float sums[WORDS + 1][2];
    double highest = 0, burst = 0;
    for (int second = 0; second < SECONDS; second++) {
        tide_ema_advance(&fast, 1, 1e5);
        tide_ema_advance(&slow, 1, 1e5);
        for (int word = 0; word <= WORDS; word++) {
            double mean = pow(10, -4 + 5.5 * word / WORDS);
            if (word == WORDS)
                mean = second < BURST ? 1 : 4;
            double came = poisson(&rng, mean);
            sums[word][0] = tide_ema_add(&fast, sums[word][0], came);
            sums[word][1] = tide_ema_add(&slow, sums[word][1], came);
            double trend =
                tide_trend((double)sums[word][0],
                           (double)sums[word][1] * fast.tokens / slow.tokens);
            if (word == WORDS)
                burst = trend;
            else if (second > 100)
                highest = fmax(highest, fabs(trend));
        }
    }
    assert_true(highest < 1);
    assert_true(burst > highest);
    assert_true(tide_trend(2, 0) < 0.5); /* seen twice, never before */
}

/* -- projection ------------------------------------------------------------------- */

enum { ROWS = 300, DIM = 12 };

/* Rows with a large variance in two directions and a small one in the others. */
static void make_rows(tide_matrix *rows, bool has_vector[ROWS])
{
    tide_rng rng = tide_rng_seeded(8);
    assert_int_equal(tide_matrix_init(rows, ROWS, DIM, NULL), TIDE_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        has_vector[i] = i % 7 != 0;
        for (uint32_t d = 0; d < DIM; d++) {
            double size = d == 3 ? 2 : d == 8 ? 1.5 : 0.3;
            tide_matrix_row(rows, i)[d] = (float)(1 + size * tide_rng_normal(&rng));
        }
    }
}

static double largest_move(const tide_projection *p, double before[ROWS][2],
                           const bool *has_vector)
{
    double most = 0;
    for (int i = 0; i < ROWS; i++)
        if (has_vector[i])
            most = fmax(most, hypot(p->points[i][0] - before[i][0],
                                    p->points[i][1] - before[i][1]));
    return most;
}

static void the_plane_has_the_largest_variance(void **state)
{
    (void)state;
    tide_matrix rows;
    tide_projection p;
    bool has_vector[ROWS];
    make_rows(&rows, has_vector);
    assert_int_equal(tide_projection_init(&p, ROWS, DIM, NULL), TIDE_OK);
    tide_projection_update(&p, &rows, has_vector);
    double inside = 0;
    for (int k = 0; k < 2; k++)
        inside += pow(p.basis[k * DIM + 3], 2) + pow(p.basis[k * DIM + 8], 2);
    assert_true(inside > 1.98); /* of 2; the rest is sampling noise */
    int within = 0, count = 0;
    for (int i = 0; i < ROWS; i++) {
        count += has_vector[i];
        within += has_vector[i] && hypot(p.points[i][0], p.points[i][1]) <= 1 + 1e-9;
        assert_int_equal(p.has_point[i], has_vector[i]);
    }
    assert_in_range(within, count * 97 / 100, count * 99 / 100);
    tide_projection_release(&p);
    tide_matrix_release(&rows);
}

/* The same rows, rotated rows and mirrored rows have the same points. */
static void points_ignore_rotations_and_reflections(void **state)
{
    (void)state;
    tide_matrix rows;
    tide_projection p;
    bool has_vector[ROWS];
    double before[ROWS][2];
    make_rows(&rows, has_vector);
    assert_int_equal(tide_projection_init(&p, ROWS, DIM, NULL), TIDE_OK);
    tide_projection_update(&p, &rows, has_vector);
    memcpy(before, p.points, sizeof before);
    for (int way = 0; way < 4; way++) {
        for (uint32_t i = 0; i < ROWS && way; i++) {
            float *row = tide_matrix_row(&rows, i);
            if (way == 1)
                row[3] = -row[3];
            for (uint32_t q = 0; q + 1 < DIM && way >= 2; q++)
                rotate_row(row, q, q + 1, way + 0.3 * q);
            for (uint32_t d = 0; d < DIM && way == 3; d++)
                row[d] = -row[d];
        }
        tide_projection_update(&p, &rows, has_vector);
        assert_true(largest_move(&p, before, has_vector) < 1e-3);
    }
    tide_projection_release(&p);
    tide_matrix_release(&rows);
}

static void small_changes_move_points_little(void **state)
{
    (void)state;
    tide_matrix rows;
    tide_projection p;
    bool has_vector[ROWS];
    double before[ROWS][2];
    tide_rng rng = tide_rng_seeded(9);
    make_rows(&rows, has_vector);
    assert_int_equal(tide_projection_init(&p, ROWS, DIM, NULL), TIDE_OK);
    tide_projection_update(&p, &rows, has_vector);
    for (int frame = 0; frame < 200; frame++) {
        memcpy(before, p.points, sizeof before);
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t d = 0; d < DIM; d++)
                tide_matrix_row(&rows, i)[d] += (float)(0.01 * tide_rng_normal(&rng));
        tide_projection_update(&p, &rows, has_vector);
        assert_true(largest_move(&p, before, has_vector) < 0.05);
    }
    tide_projection_release(&p);
    tide_matrix_release(&rows);
}

/* No rows, one row, and identical rows. */
static void degenerate_inputs_give_finite_points(void **state)
{
    (void)state;
    tide_matrix rows;
    tide_projection p;
    bool has_vector[ROWS] = {false};
    assert_int_equal(tide_matrix_init(&rows, ROWS, DIM, NULL), TIDE_OK);
    assert_int_equal(tide_projection_init(&p, ROWS, DIM, NULL), TIDE_OK);
    for (uint32_t count = 0; count < 4; count++) {
        for (uint32_t i = 0; i < count; i++) {
            has_vector[i] = true;
            tide_matrix_row(&rows, i)[0] = 1;
        }
        tide_projection_update(&p, &rows, has_vector);
        for (uint32_t i = 0; i < count; i++)
            assert_true(fabs(p.points[i][0]) <= 1 && fabs(p.points[i][1]) <= 1);
    }
    tide_projection_release(&p);
    tide_matrix_release(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_snapshot_is_between_every_age_and_twice_it),
        cmocka_unit_test(times_are_exact_after_gaps_of_any_length),
        cmocka_unit_test(a_stored_vector_is_accurate_to_a_fiftieth_of_a_degree),
        cmocka_unit_test(every_snapshot_is_compared_often_enough),
        cmocka_unit_test(a_replaced_snapshot_is_empty),
        cmocka_unit_test(a_rate_is_the_decayed_sum_over_the_decayed_seconds),
        cmocka_unit_test(chance_is_not_a_trend_but_change_is),
        cmocka_unit_test(the_plane_has_the_largest_variance),
        cmocka_unit_test(points_ignore_rotations_and_reflections),
        cmocka_unit_test(small_changes_move_points_little),
        cmocka_unit_test(degenerate_inputs_give_finite_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
