/* test_history_moves.c - drift is how far words were rotated, the map is stable, and
 * alarms are raised once. */
#include "history/history_internal.h"
#include "history/alarms.h"
#include "history_fixture.h"

/* -- drift ------------------------------------------------------------------------ */

enum { WORDS = 200, MOVERS = 30 };

/* Updates until all snapshots have been compared with now. */
static void compare_all_snapshots(world *w)
{
    update_often(w, TIDE_HISTORY_SNAPSHOTS_MAX, 1e-4);
}

/* The expected sort key: drift discounted by 64 occurrences without drift. */
static double drift_score(const tide_history_word *w)
{
    return w->drift * (double)w->count / (double)(w->count + 64);
}

/* A rotation of all words is not drift; that of a single word is. */
static void drift_excludes_the_common_rotation(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .baseline = -1};
    static float before[MOVERS][8];
    tide_rng rng = tide_rng_seeded(1);
    world w = world_of("vocab=500 " STILL_SETTINGS, &options);
    feed_words(&w, WORDS, 10);
    random_rows(&w, WORDS, &rng);
    update_often(&w, 3, 1);
    double oldest = w.now - 2;
    for (int i = 0; i < MOVERS; i++) {
        float *row = numbered_row(&w, i * 5);
        memcpy(before[i], row, sizeof before[i]);
        for (uint32_t d = 0; d < 8; d++)
            row[d] += (float)((0.3 + i / 10.0) * tide_rng_normal(&rng));
    }
    double angles[MOVERS];
    for (int i = 0; i < MOVERS; i++)
        angles[i] = angle_between(before[i], numbered_row(&w, i * 5), 8);
    rotate_all(&w, WORDS, 77);
    update_after(&w, 1);
    compare_all_snapshots(&w);
    for (int i = 0; i < WORDS; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        tide_history_word word = word_of(&w, name);
        bool moved = i % 5 == 0 && i / 5 < MOVERS;
        assert_true(fabs(word.since - oldest) < 1e-3);
        assert_true(fabs(word.drift - (moved ? angles[i / 5] : 0)) < 0.1);
    }
    tide_history_word words[MOVERS];
    const tide_history_list list = {.sort = TIDE_HISTORY_DRIFT};
    assert_int_equal(tide_history_words(w.history, &list, words, MOVERS, NULL, NULL),
                     MOVERS);
    for (int i = 0; i < MOVERS; i++)
        assert_true(strtol(words[i].word + 1, NULL, 10) % 5 == 0 &&
                    (!i || drift_score(&words[i]) <= drift_score(&words[i - 1])));
    world_free(&w);
}

/* Fitting a rotation takes O(dim^3), so it is done less often. */
static void large_rotations_are_fitted_rarely(void **state)
{
    (void)state;
    const struct {
        const char *settings;
        int max; /* in ten updates one second apart */
    } cases[] = {{"vocab=20 rate=constant alpha=1e-9 replay=1 dim=100", 10},
                 {"vocab=20 rate=constant alpha=1e-9 replay=1 dim=200", 3},
                 {"vocab=20 rate=constant alpha=1e-9 replay=1 dim=1000", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world w = world_of(cases[i].settings, &(tide_history_options){.step = 1});
        double before = (double)NAN;
        int found = 0;
        feed_words(&w, 10, 10);
        for (int update = 0; update < 10; update++) {
            update_after(&w, 1);
            found += w.history->last_fit > before ||
                     isnan(before) != isnan(w.history->last_fit);
            before = w.history->last_fit;
        }
        assert_in_range(found, 1, cases[i].max);
        world_free(&w);
    }
}

/* They do not depend on how the vectors changed since. */
static void past_neighbors_use_past_vectors(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .snapshots = 8};
    tide_rng rng = tide_rng_seeded(2);
    world w = world_of("vocab=500 " STILL_SETTINGS, &options);
    feed_words(&w, WORDS, 10);
    random_rows(&w, WORDS, &rng);
    update_after(&w, 1);
    static float then[WORDS][8];
    for (int i = 0; i < WORDS; i++)
        memcpy(then[i], numbered_row(&w, i), sizeof then[i]);
    random_rows(&w, WORDS, &rng);
    update_often(&w, 16, 1);
    for (int i = 0; i < WORDS; i += 17) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        tide_history_hit hits[5];
        double taken;
        int count = tide_history_nearest(w.history, name, 16, hits, 5, &taken, NULL);
        assert_int_equal(count, 5);
        assert_true(fabs(taken - 16) < 1e-6);
        for (int k = 0; k < count; k++) {
            long other = strtol(hits[k].word + 1, NULL, 10);
            double angle = angle_between(then[i], then[other], 8);
            int nearer = 0;
            for (int j = 0; j < WORDS; j++)
                nearer += j != i && angle_between(then[i], then[j], 8) < angle - 0.05;
            assert_true(nearer <= k);
            assert_true(fabs(acos((double)hits[k].score) * 57.2958 - angle) < 0.1);
        }
    }
    tide_history_hit hit;
    double taken;
    tide_error err;
    assert_int_equal(tide_history_nearest(w.history, "w0", 1000, &hit, 1, &taken, &err),
                     TIDE_ERROR_NOT_FOUND);
    assert_int_equal(
        tide_history_nearest(w.history, "nobody", 1, &hit, 1, &taken, &err),
        TIDE_ERROR_NOT_FOUND);
    world_free(&w);
}

/* The row of an evicted word is not among the neighbors. */
static void past_neighbors_have_names(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .snapshots = 8, .tracked = 40};
    tide_rng rng = tide_rng_seeded(5);
    world w = world_of("vocab=60 " STILL_SETTINGS, &options);
    feed_words(&w, 60, 10);
    random_rows(&w, 60, &rng);
    update_often(&w, 8, 1);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        feed_word(&w, name, 1);
        update_after(&w, 0.1);
    }
    tide_history_hit hits[60];
    double taken;
    int count = tide_history_nearest(w.history, "w0", 8, hits, 60, &taken, NULL);
    assert_in_range(count, 1, 40);
    for (int k = 0; k < count; k++)
        assert_true(*hits[k].word);
    world_free(&w);
}

static void points_are_ordered_from_oldest_to_newest(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .snapshots = 7};
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    double ages[TIDE_HISTORY_SNAPSHOTS_MAX];
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    for (int second = 0; second < 100; second++) {
        feed_word(&w, "word", 3);
        feed_word(&w, "other", 5);
        update_after(&w, 1);
    }
    int count = tide_history_points(w.history, "word", points, NULL);
    assert_int_equal(count, 7);
    for (int i = 0; i < count; i++) {
        assert_true(!i || points[i].age < points[i - 1].age);
        assert_true(fabs(points[i].time + points[i].age - w.now) < 1e-6);
        assert_int_equal(points[i].count, 3 * (100 - (int)points[i].age));
        assert_true(points[i].age > 95 || fabs(points[i].rate - 3) < 0.1);
    }
    assert_int_equal(tide_history_ages(w.history, ages), 6);
    assert_true(ages[0] >= 1 && ages[0] <= 1 && ages[5] >= 32 && ages[5] <= 32);
    world_free(&w);
}

/* -- the map ---------------------------------------------------------------------- */

static tide_map_point map_points[2][WORDS];

static size_t read_map(const world *w, int which, uint64_t *frame)
{
    return tide_history_map(w->history, map_points[which], WORDS, frame);
}

static double largest_move(void)
{
    double max = 0;
    for (int i = 0; i < WORDS; i++) {
        assert_string_equal(map_points[0][i].word, map_points[1][i].word);
        max = fmax(max, hypot((double)(map_points[0][i].x - map_points[1][i].x),
                              (double)(map_points[0][i].y - map_points[1][i].y)));
    }
    return max;
}

/* Large variance in two directions, so that the plane is well defined. */
static void rows_of_a_plane(const world *w, tide_rng *rng)
{
    random_rows(w, WORDS, rng);
    for (int i = 0; i < WORDS; i++) {
        numbered_row(w, i)[1] *= 4;
        numbered_row(w, i)[6] *= 3;
    }
}

static void the_map_is_stable(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    tide_rng rng = tide_rng_seeded(3);
    uint64_t first, frame;
    world w = world_of("vocab=500 " STILL_SETTINGS, &options);
    assert_int_equal(read_map(&w, 0, &frame), 0);
    feed_words(&w, WORDS, 10);
    rows_of_a_plane(&w, &rng);
    update_after(&w, 1);
    assert_int_equal(read_map(&w, 0, &first), WORDS);
    update_often(&w, 5, 1);
    assert_int_equal(read_map(&w, 1, &frame), WORDS);
    assert_int_equal(frame, first);
    assert_true(largest_move() <= 0);
    rotate_all(&w, WORDS, 5); /* a common rotation, which may mirror the plane */
    update_after(&w, 1);
    read_map(&w, 1, &frame);
    assert_int_equal(frame, first + 1);
    assert_true(largest_move() < 0.01);
    for (int i = 0; i < WORDS; i++)
        for (uint32_t d = 0; d < 8; d++)
            numbered_row(&w, i)[d] += (float)(0.02 * tide_rng_normal(&rng));
    update_after(&w, 1);
    read_map(&w, 1, &frame);
    assert_true(largest_move() < 0.1);
    world_free(&w);
}

/* -- alarms ----------------------------------------------------------------------- */

typedef struct alarm_log {
    int count[TIDE_ALARM_KINDS];
    tide_alarm last[TIDE_ALARM_KINDS];
} alarm_log;

static void log_alarm(void *data, const tide_alarm *alarm)
{
    alarm_log *h = data;
    h->count[alarm->kind]++;
    h->last[alarm->kind] = *alarm;
}

/* Starts a history after the words so far were fed. */
static void restart_history(world *w, const tide_history_options *options)
{
    tide_live_update(w->live);
    tide_history_free(w->history);
    w->history = tide_history_new(w->live, options, NULL);
    assert_non_null(w->history);
}

static void every_event_raises_one_alarm(void **state)
{
    (void)state;
    alarm_log h = {0};
    const tide_history_options options = {.step = 1,
                                          .warm_up = 1,
                                          .trend_alarm = 1,
                                          .drift_alarm = 20,
                                          .count_alarm = 30,
                                          .alarm = log_alarm,
                                          .alarm_data = &h};
    tide_rng rng = tide_rng_seeded(4);
    world w = world_of("vocab=50 " STILL_SETTINGS, &options);
    feed_words(&w, 49, 100);
    random_rows(&w, 49, &rng);
    restart_history(&w, &options);
    for (int second = 0; second < 60; second++) {
        feed_word(&w, "w0", 20);
        update_after(&w, 1);
    }
    for (int kind = 0; kind < TIDE_ALARM_KINDS; kind++)
        assert_int_equal(h.count[kind], 0);
    for (int second = 0; second < 20; second++) {
        feed_word(&w, "burst", 20);
        feed_word(&w, "w0", 20);
        update_after(&w, 1);
    }
    assert_int_equal(h.count[TIDE_ALARM_NEW], 1);
    assert_int_equal(h.count[TIDE_ALARM_TREND], 1);
    assert_string_equal(h.last[TIDE_ALARM_NEW].word, "burst");
    assert_string_equal(h.last[TIDE_ALARM_TREND].word, "burst");
    for (uint32_t d = 0; d < 8; d++)
        numbered_row(&w, 7)[d] = (float)tide_rng_normal(&rng);
    update_often(&w, 60, 1);
    assert_int_equal(h.count[TIDE_ALARM_DRIFT], 1);
    assert_string_equal(h.last[TIDE_ALARM_DRIFT].word, "w7");
    assert_int_equal(h.count[TIDE_ALARM_GONE], 0);
    feed_word(&w, "stranger", 1); /* evicts the last of them, seen 101 times */
    update_after(&w, 1);
    assert_int_equal(h.count[TIDE_ALARM_GONE], 1);
    assert_string_equal(h.last[TIDE_ALARM_GONE].word, "w48");
    tide_alarm alarms[10];
    assert_int_equal(tide_history_alarms(w.history, 0, alarms, 10), 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(alarms[i].number, i + 1);
    assert_int_equal(tide_history_alarms(w.history, 2, alarms, 10), 2);
    assert_int_equal(alarms[0].number, 3);
    world_free(&w);
}

/* New, evicted, bursting and drifting words raise no alarm before there is a baseline,
 * nor do scores that were above their threshold by then. */
static void no_alarm_is_raised_before_the_baseline(void **state)
{
    (void)state;
    alarm_log h = {0};
    const tide_history_options options = {.step = 1,
                                          .warm_up = 1,
                                          .baseline = 100,
                                          .trend_alarm = 0.2,
                                          .drift_alarm = 5,
                                          .count_alarm = 3,
                                          .alarm = log_alarm,
                                          .alarm_data = &h};
    tide_rng rng = tide_rng_seeded(6);
    world w = world_of("vocab=60 " STILL_SETTINGS, &options);
    feed_words(&w, 50, 10);
    restart_history(&w, &options);
    for (int second = 0; second < 100; second++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", second);
        feed_word(&w, name, 6);
        feed_word(&w, "burst", second > 90 ? 20 : 0);
        random_rows(&w, 5, &rng);
        update_after(&w, 1);
        assert_true(isnan(word_of(&w, "w0").drift));
    }
    for (int second = 0; second < 5; second++) {
        feed_word(&w, "burst", 20);
        update_after(&w, 1);
    }
    assert_int_equal(h.count[TIDE_ALARM_NEW], 0);
    assert_int_equal(h.count[TIDE_ALARM_GONE], 0);
    assert_int_equal(h.count[TIDE_ALARM_DRIFT], 0);
    assert_int_equal(h.count[TIDE_ALARM_TREND], 0);
    feed_word(&w, "later", 100);
    update_after(&w, 1);
    assert_int_equal(h.count[TIDE_ALARM_NEW], 1);
    assert_int_equal(h.count[TIDE_ALARM_TREND], 1);
    assert_string_equal(h.last[TIDE_ALARM_TREND].word, "later");
    world_free(&w);
}

/* The ring buffer drops the oldest, and numbers stay consecutive. */
static void the_last_alarms_can_be_read_by_number(void **state)
{
    (void)state;
    alarm_log h = {0};
    const tide_history_options options = {.step = 1,
                                          .warm_up = 1e-9,
                                          .baseline = 1e-9,
                                          .count_alarm = 1,
                                          .alarm = log_alarm,
                                          .alarm_data = &h};
    static tide_alarm alarms[TIDE_ALARMS_MAX + 1];
    world w = world_of("vocab=2000 " STILL_SETTINGS, &options);
    update_often(&w, 2, 1);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 60; i++) {
            char name[32];
            snprintf(name, sizeof name, "r%dw%d", round, i);
            feed_word(&w, name, 1);
        }
        update_after(&w, 1);
    }
    assert_int_equal(h.count[TIDE_ALARM_NEW], 600);
    size_t count = tide_history_alarms(w.history, 0, alarms, COUNT(alarms));
    assert_int_equal(count, TIDE_ALARMS_MAX);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(alarms[i].number, 600 - TIDE_ALARMS_MAX + 1 + i);
    assert_int_equal(tide_history_alarms(w.history, 600, alarms, 1), 0);
    assert_int_equal(tide_history_alarms(w.history, UINT64_MAX, alarms, 1), 0);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_excludes_the_common_rotation),
        cmocka_unit_test(large_rotations_are_fitted_rarely),
        cmocka_unit_test(past_neighbors_use_past_vectors),
        cmocka_unit_test(past_neighbors_have_names),
        cmocka_unit_test(points_are_ordered_from_oldest_to_newest),
        cmocka_unit_test(the_map_is_stable),
        cmocka_unit_test(every_event_raises_one_alarm),
        cmocka_unit_test(no_alarm_is_raised_before_the_baseline),
        cmocka_unit_test(the_last_alarms_can_be_read_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
