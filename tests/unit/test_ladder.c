/* test_ladder.c - the parts of a history that need no model: the ladder of ages, rates and trends, the plane. */
#include "base/base.h"
#include "history/ema.h"
#include "history/history.h"
#include "history/projection.h"
#include "history/snapshots.h"
#include "vector/vector.h"
#include "history_fixture.h"

static tide_snapshots ladder_of(uint32_t rungs, uint32_t places, uint32_t dim)
{
    tide_snapshots l, shape = {.rungs = rungs, .places = places, .dim = dim, .step = 1};
    assert_int_equal(tide_snapshots_init(&l, &shape, NULL), TIDE_OK);
    return l;
}

/* -- the ladder ------------------------------------------------------------------------------------ */

static bool has_between(const tide_snapshots *l, double clock, double young, double old)
{
    for (uint32_t rung = 0; rung < l->rungs; rung++) {
        double age = clock - l->times[rung];
        if (age > young && age < old)
            return true;
    }
    return false;
}

/* Whoever looks often enough has, of every age of the ladder, a snapshot between it and twice it, give or take the
 * time between two looks. */
static void there_is_a_snapshot_between_every_age_and_twice_it(void **state)
{
    (void)state;
    enum { RUNGS = 12, STEPS = 20000 };
    const double late = 0.4;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        tide_rng rng = tide_rng_seeded(seed);
        tide_snapshots l = ladder_of(RUNGS, 1, 1);
        double clock = 0;
        while (clock < STEPS) {
            tide_snapshots_due(&l, clock);
            for (int k = 0; k <= RUNGS - 2; k++)
                if (clock >= ldexp(2, k))
                    assert_true(
                        has_between(&l, clock, ldexp(1, k) - late, ldexp(2, k)));
            clock += late * tide_rng_double(&rng);
        }
        tide_snapshots_release(&l);
    }
}

/* However late somebody looks, what is kept was taken at a look, no two at the same, and one of them now. */
static void times_are_true_after_pauses_of_any_length(void **state)
{
    (void)state;
    enum { LOOKS = 3000 };
    static double looks[LOOKS];
    tide_rng rng = tide_rng_seeded(4);
    tide_snapshots l = ladder_of(18, 1, 1);
    double clock = 0;
    for (int i = 0; i < LOOKS; i++) {
        looks[i] = clock;
        bool due = tide_snapshots_due(&l, clock) != TIDE_NO_SNAPSHOT;
        assert_true(due == (!i || floor(clock) > floor(looks[i - 1])));
        for (uint32_t rung = 0; rung < l.rungs; rung++) {
            bool found = isnan(l.times[rung]);
            for (int k = 0; k <= i && !found; k++)
                found = !(looks[k] < l.times[rung] || looks[k] > l.times[rung]);
            assert_true(found);
            for (uint32_t other = 0; other < rung; other++)
                assert_true(isnan(l.times[rung]) || isnan(l.times[other]) ||
                            fabs(l.times[rung] - l.times[other]) > 0);
        }
        double pause = pow(10, 6 * tide_rng_double(&rng) - 2);
        clock += tide_rng_below(&rng, 10) ? pause / 1e3 : pause;
    }
    tide_snapshots_release(&l);
}

static void a_vector_comes_back_within_a_fiftieth_of_a_degree(void **state)
{
    (void)state;
    enum { DIM = 300 };
    tide_rng rng = tide_rng_seeded(5);
    tide_snapshots l = ladder_of(3, 2, DIM);
    uint32_t rung = tide_snapshots_due(&l, 0);
    for (int round = 0; round < 100; round++) {
        float row[DIM], again[DIM];
        double square = 0;
        for (int d = 0; d < DIM; d++) {
            row[d] = (float)tide_rng_normal(&rng);
            square += (double)row[d] * (double)row[d];
        }
        for (int d = 0; d < DIM; d++)
            row[d] /= (float)sqrt(square);
        tide_snapshots_put(&l, rung, 1, row, 7, 2.5f);
        assert_true(tide_snapshots_row(&l, rung, 1, again));
        assert_true(angle_between(row, again, DIM) < 0.02);
        assert_false(tide_snapshots_row(&l, rung, 0, again));
    }
    assert_int_equal(tide_snapshots_count(&l, rung, 1), 7);
    tide_snapshots_release(&l);
}

/* What was in it before is not taken for what is in it now. */
static void a_rung_that_is_used_again_knows_nothing(void **state)
{
    (void)state;
    const float row[] = {0.6f, 0.8f};
    float found[2];
    tide_snapshots l = ladder_of(3, 2, 2);
    for (int i = 0; i < 50; i++) {
        uint32_t rung = tide_snapshots_due(&l, i);
        assert_int_not_equal(rung, TIDE_NO_SNAPSHOT);
        for (uint32_t place = 0; place < 2; place++) {
            assert_false(tide_snapshots_row(&l, rung, place, found));
            assert_true(isnan(*tide_snapshots_angle(&l, rung, place)));
            assert_int_equal(tide_snapshots_count(&l, rung, place), 0);
            tide_snapshots_put(&l, rung, place, row, 7, 2.5f);
            *tide_snapshots_angle(&l, rung, place) = 45;
        }
    }
    tide_snapshots_release(&l);
}

/* Every snapshot is compared in the end, none while another is older in proportion, and none too often. */
static void comparisons_keep_up_with_ages(void **state)
{
    (void)state;
    tide_snapshots l = ladder_of(10, 1, 1);
    uint64_t comparisons = 0;
    enum { LOOKS = 40000 };
    for (int i = 0; i < LOOKS; i++) {
        double clock = i / 10.0;
        tide_snapshots_due(&l, clock);
        uint32_t rung = tide_snapshots_stale(&l, clock);
        if (rung != TIDE_NO_SNAPSHOT) {
            l.compared[rung] = clock;
            comparisons++;
        }
        for (uint32_t k = 0; k < l.rungs && i > 100; k++) {
            if (isnan(l.times[k]) || isnan(l.compared[k]))
                continue;
            double patience = fmax(1, (clock - l.times[k]) / 4);
            assert_true(clock - l.compared[k] < patience + 2);
        }
    }
    assert_in_range(comparisons, LOOKS / 10, 6 * LOOKS / 10); /* steps, not looks */
    tide_snapshots_release(&l);
}

/* -- rates ----------------------------------------------------------------------------------------- */

/* Against the sum that the file's comment writes down, with lumps at any times. */
static void a_rate_is_the_faded_sum_over_the_faded_seconds(void **state)
{
    (void)state;
    enum { LOOKS = 200, PIECES = 2000 };
    tide_rng rng = tide_rng_seeded(6);
    tide_ema tempo = {.span = 5};
    double ends[LOOKS], lumps[LOOKS], clock = 0;
    float sum = 0;
    for (int i = 0; i < LOOKS; i++) {
        double seconds = i % 50 == 49 ? 20 : 2 * tide_rng_double(&rng);
        clock += seconds;
        ends[i] = clock;
        lumps[i] = (double)tide_rng_below(&rng, 30);
        tide_ema_advance(&tempo, seconds, 100);
        sum = tide_ema_add(&tempo, sum, lumps[i]);
    }
    double wanted = 0, out_of = 0;
    for (int i = 0; i < LOOKS; i++) {
        double start = i ? ends[i - 1] : 0, width = (ends[i] - start) / PIECES;
        for (int k = 0; k < PIECES; k++) {
            double weight = exp(-(clock - start - (k + 0.5) * width) / 5);
            wanted += weight * lumps[i] / PIECES;
            out_of += weight * width;
        }
    }
    assert_true(fabs(tide_ema_rate(&tempo, sum) - wanted / out_of) < 1e-3);
}

/* Occurrences in a second with a mean: a Poisson number. */
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

/* Whatever the frequency, a steady word stays within 5 sigma of no trend: 5 * 0.2. One that comes four times as often as
 * before is above all of them within a minute. */
static void chance_is_no_trend_and_change_is(void **state)
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

/* -- the plane ------------------------------------------------------------------------------------- */

enum { SPOTS = 300, DIM = 12 };

/* Two directions in which rows differ much, and others in which they differ little. */
static void make_rows(tide_matrix *rows, bool usable[SPOTS])
{
    tide_rng rng = tide_rng_seeded(8);
    assert_int_equal(tide_matrix_init(rows, SPOTS, DIM, NULL), TIDE_OK);
    for (uint32_t i = 0; i < SPOTS; i++) {
        usable[i] = i % 7 != 0;
        for (uint32_t d = 0; d < DIM; d++) {
            double size = d == 3 ? 2 : d == 8 ? 1.5 : 0.3;
            tide_matrix_row(rows, i)[d] = (float)(1 + size * tide_rng_normal(&rng));
        }
    }
}

static double farthest_move(const tide_projection *p, double before[SPOTS][2],
                            const bool *usable)
{
    double most = 0;
    for (int i = 0; i < SPOTS; i++)
        if (usable[i])
            most = fmax(most, hypot(p->spots[i][0] - before[i][0],
                                    p->spots[i][1] - before[i][1]));
    return most;
}

static void the_plane_is_the_one_in_which_rows_differ_most(void **state)
{
    (void)state;
    tide_matrix rows;
    tide_projection p;
    bool usable[SPOTS];
    make_rows(&rows, usable);
    assert_int_equal(tide_projection_init(&p, SPOTS, DIM, NULL), TIDE_OK);
    tide_projection_update(&p, &rows, usable);
    double inside = 0;
    for (int k = 0; k < 2; k++)
        inside += pow(p.basis[k * DIM + 3], 2) + pow(p.basis[k * DIM + 8], 2);
    assert_true(inside > 1.98); /* of 2; what is missing is the sample's noise */
    int within = 0, count = 0;
    for (int i = 0; i < SPOTS; i++) {
        count += usable[i];
        within += usable[i] && hypot(p.spots[i][0], p.spots[i][1]) <= 1 + 1e-9;
        assert_int_equal(p.placed[i], usable[i]);
    }
    assert_in_range(within, count * 97 / 100, count * 99 / 100);
    tide_projection_release(&p);
    tide_matrix_release(&rows);
}

/* The same rows, rows turned in space, and their mirror image have their spots where they were. */
static void spots_do_not_follow_rotations_and_mirrors(void **state)
{
    (void)state;
    tide_matrix rows;
    tide_projection p;
    bool usable[SPOTS];
    double before[SPOTS][2];
    make_rows(&rows, usable);
    assert_int_equal(tide_projection_init(&p, SPOTS, DIM, NULL), TIDE_OK);
    tide_projection_update(&p, &rows, usable);
    memcpy(before, p.spots, sizeof before);
    for (int way = 0; way < 4; way++) {
        for (uint32_t i = 0; i < SPOTS && way; i++) {
            float *row = tide_matrix_row(&rows, i);
            if (way == 1)
                row[3] = -row[3];
            for (uint32_t q = 0; q + 1 < DIM && way >= 2; q++)
                turn_row(row, q, q + 1, way + 0.3 * q);
            for (uint32_t d = 0; d < DIM && way == 3; d++)
                row[d] = -row[d];
        }
        tide_projection_update(&p, &rows, usable);
        assert_true(farthest_move(&p, before, usable) < 1e-3);
    }
    tide_projection_release(&p);
    tide_matrix_release(&rows);
}

static void small_changes_are_small_on_the_plane(void **state)
{
    (void)state;
    tide_matrix rows;
    tide_projection p;
    bool usable[SPOTS];
    double before[SPOTS][2];
    tide_rng rng = tide_rng_seeded(9);
    make_rows(&rows, usable);
    assert_int_equal(tide_projection_init(&p, SPOTS, DIM, NULL), TIDE_OK);
    tide_projection_update(&p, &rows, usable);
    for (int frame = 0; frame < 200; frame++) {
        memcpy(before, p.spots, sizeof before);
        for (uint32_t i = 0; i < SPOTS; i++)
            for (uint32_t d = 0; d < DIM; d++)
                tide_matrix_row(&rows, i)[d] += (float)(0.01 * tide_rng_normal(&rng));
        tide_projection_update(&p, &rows, usable);
        assert_true(farthest_move(&p, before, usable) < 0.05);
    }
    tide_projection_release(&p);
    tide_matrix_release(&rows);
}

/* No rows, one, and rows that are all the same. */
static void planes_of_nothing_are_harmless(void **state)
{
    (void)state;
    tide_matrix rows;
    tide_projection p;
    bool usable[SPOTS] = {false};
    assert_int_equal(tide_matrix_init(&rows, SPOTS, DIM, NULL), TIDE_OK);
    assert_int_equal(tide_projection_init(&p, SPOTS, DIM, NULL), TIDE_OK);
    for (uint32_t count = 0; count < 4; count++) {
        for (uint32_t i = 0; i < count; i++) {
            usable[i] = true;
            tide_matrix_row(&rows, i)[0] = 1;
        }
        tide_projection_update(&p, &rows, usable);
        for (uint32_t i = 0; i < count; i++)
            assert_true(fabs(p.spots[i][0]) <= 1 && fabs(p.spots[i][1]) <= 1);
    }
    tide_projection_release(&p);
    tide_matrix_release(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_a_snapshot_between_every_age_and_twice_it),
        cmocka_unit_test(times_are_true_after_pauses_of_any_length),
        cmocka_unit_test(a_vector_comes_back_within_a_fiftieth_of_a_degree),
        cmocka_unit_test(comparisons_keep_up_with_ages),
        cmocka_unit_test(a_rung_that_is_used_again_knows_nothing),
        cmocka_unit_test(a_rate_is_the_faded_sum_over_the_faded_seconds),
        cmocka_unit_test(chance_is_no_trend_and_change_is),
        cmocka_unit_test(the_plane_is_the_one_in_which_rows_differ_most),
        cmocka_unit_test(spots_do_not_follow_rotations_and_mirrors),
        cmocka_unit_test(small_changes_are_small_on_the_plane),
        cmocka_unit_test(planes_of_nothing_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
