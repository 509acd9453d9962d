/* test_history_bounds.c - empty histories, odd times, memory limits, and concurrent
 * updates, queries and training. */
#include "history/history_internal.h"
#include "history_fixture.h"

#include "memory_fixture.h"

/* -- odd times -------------------------------------------------------------------- */

static void an_empty_history_answers_queries(void **state)
{
    (void)state;
    tide_history_word word;
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    tide_evicted gone;
    tide_alarm alarm;
    tide_map_point point;
    uint64_t frame, total = 9;
    tide_error err;
    world w = world_of("vocab=100 " STILL_SETTINGS, NULL);
    w.now = 0;
    for (int updates = 0; updates < 3; updates++) {
        for (int sort = TIDE_HISTORY_COUNT; sort <= TIDE_HISTORY_DRIFT; sort++) {
            const tide_history_list list = {.sort = (tide_history_sort)sort};
            assert_int_equal(
                tide_history_words(w.history, &list, &word, 1, &total, NULL), 0);
            assert_int_equal(total, 0);
        }
        assert_int_equal(tide_history_word_of(w.history, "a", &word, &err),
                         TIDE_ERROR_NOT_FOUND);
        assert_int_equal(tide_history_points(w.history, "a", points, &err),
                         TIDE_ERROR_NOT_FOUND);
        assert_int_equal(tide_history_evicted(w.history, 0, &gone, 1), 0);
        assert_int_equal(tide_history_alarms(w.history, 0, &alarm, 1), 0);
        assert_int_equal(tide_history_map(w.history, &point, 1, &frame), 0);
        assert_int_equal(tide_history_tracked(w.history), 0);
        update_after(&w, 0);
    }
    feed_word(&w, "a", 1);
    update_after(&w, 0);
    word = word_of(&w, "a");
    assert_true(word.rate <= 0 && fabs(word.trend) <= 0 && isnan(word.first_seen));
    assert_int_equal(tide_history_update(w.history, (double)NAN, &err),
                     TIDE_ERROR_PARAMETER);
    assert_int_equal(tide_history_update(w.history, (double)INFINITY, &err),
                     TIDE_ERROR_PARAMETER);
    world_free(&w);
}

/* If the clock is set back, time stands still for one update; a year forward is a
 * year. */
static void a_clock_set_back_stands_still(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    for (int second = 0; second < 50; second++) {
        feed_word(&w, "word", 2);
        update_after(&w, 1);
    }
    update_after(&w, -1e6);
    int count = tide_history_points(w.history, "word", points, NULL);
    assert_true(count > 3);
    assert_true(points[0].age > 20 && points[0].age < 50);
    assert_true(fabs(points[0].time + points[0].age - w.now) < 1e-6);
    assert_true(fabs(word_of(&w, "word").rate - 2) < 0.2);
    for (int second = 0; second < 50; second++) {
        feed_word(&w, "word", 2);
        update_after(&w, 1);
    }
    assert_true(fabs(word_of(&w, "word").rate - 2) < 0.2);
    update_after(&w, 3e7);
    count = tide_history_points(w.history, "word", points, NULL);
    assert_true(points[0].age > 3e7 && points[count - 1].age < 1);
    assert_true(word_of(&w, "word").rate < 1e-3);
    world_free(&w);
}

static void invalid_options_are_rejected(void **state)
{
    (void)state;
    static const tide_history_options wrong[] = {
        {.tracked = UINT32_MAX},
        {.watched = UINT32_MAX},
        {.snapshots = 1},
        {.snapshots = 33},
        {.step = -1},
        {.step = (double)NAN},
        {.step = 1e300},
        {.warm_up = (double)INFINITY},
        {.drift_age = -1},
        {.trend_alarm = (double)NAN},
        {.drift_alarm = -0.001},
    };
    tide_trainer *trainer = trainer_of("vocab=10 dim=8");
    tide_live *live = tide_live_new(trainer, TIDE_VECTORS_INPUT, false, NULL);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tide_error err = {0};
        assert_null(tide_history_new(live, &wrong[i], &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    }
    tide_live_free(live);
    tide_trainer_free(trainer);
}

/* -- memory ----------------------------------------------------------------------- */

static void memory_is_as_announced_and_allocated_at_the_start(void **state)
{
    (void)state;
    static const char settings[] = "vocab=3000 dim=48 replay=1";
    const tide_history_options options = {.step = 1, .tracked = 500};
    tide_params *params = params_of(settings);
    world w = {.trainer = trainer_of(settings)};
    w.live = tide_live_new(w.trainer, TIDE_VECTORS_INPUT, true, NULL);
    uint64_t announced = tide_history_bytes(params, &options);
    allocated_bytes = 0;
    w.history = tide_history_new(w.live, &options, NULL);
    assert_in_range(allocated_bytes, announced - 64 * 64, announced + 64 * 64);
    allocations_left = 0;
    for (int second = 0; second < 20; second++) {
        feed_words(&w, 80, 1);
        update_after(&w, 1);
    }
    assert_true(word_of(&w, "w3").rate > 0);
    allocations_left = -1;
    world_free(&w);
    tide_params_free(params);
}

/* The documentation quotes this figure. */
static void memory_of_the_default_shape_is_small(void **state)
{
    (void)state;
    tide_params *params = params_of("vocab=70000 dim=100");
    double mebibytes = (double)tide_history_bytes(params, NULL) / (1 << 20);
    print_message("a history of 70,000 words of 100 dimensions: %.1f MiB\n", mebibytes);
    assert_true(mebibytes > 30 && mebibytes < 45);
    tide_params_free(params);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of("vocab=60 dim=8");
    tide_live *live = tide_live_new(trainer, TIDE_VECTORS_INPUT, true, NULL);
    int failed = 0;
    for (tide_history *history = NULL; !history; failed++) {
        tide_error err = {0};
        allocations_left = failed;
        history = tide_history_new(live, NULL, &err);
        allocations_left = -1;
        assert_int_equal(err.status, history ? TIDE_OK : TIDE_ERROR_MEMORY);
        tide_history_free(history);
    }
    assert_true(failed > 30);
    tide_live_free(live);
    tide_trainer_free(trainer);
}

/* -- concurrency ------------------------------------------------------------------ */

typedef struct shared {
    world w;
    _Atomic bool running;
    _Atomic uint64_t updates, queries, wrong;
} shared;

static void *update_loop(void *argument)
{
    shared *c = argument;
    for (double now = 1; c->running; now += 0.5, c->updates++) {
        c->wrong += tide_history_update(c->w.history, now, NULL) != TIDE_OK;
        c->wrong += tide_history_save(c->w.history, "history", NULL) != TIDE_OK;
    }
    return NULL;
}

static void *query_loop(void *argument)
{
    shared *c = argument;
    tide_history *h = c->w.history;
    tide_rng rng = tide_rng_seeded(9);
    static const char *const watched[] = {"the", "tea", "coffee", "nobody"};
    while (c->running) {
        tide_history_word words[20];
        tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
        tide_history_hit hits[5];
        tide_map_point map[50];
        tide_evicted gone[5];
        tide_alarm alarms[5];
        double taken;
        uint64_t frame;
        const char *word = watched[tide_rng_below(&rng, COUNT(watched))];
        const tide_history_list list = {.sort =
                                            (tide_history_sort)tide_rng_below(&rng, 4)};
        int count = tide_history_words(h, &list, words, COUNT(words), NULL, NULL);
        for (int i = 0; i < count; i++)
            c->wrong += !words[i].word[0] || !(words[i].rate >= 0);
        tide_history_points(h, word, points, NULL);
        tide_history_nearest(h, word, 4, hits, COUNT(hits), &taken, NULL);
        for (size_t i = tide_history_map(h, map, COUNT(map), &frame); i-- > 0;)
            c->wrong += !(fabsf(map[i].x) < 100 && fabsf(map[i].y) < 100);
        tide_history_evicted(h, 0, gone, COUNT(gone));
        tide_history_alarms(h, 0, alarms, COUNT(alarms));
        if (tide_rng_below(&rng, 2))
            tide_history_watch(h, word, NULL);
        else
            tide_history_unwatch(h, word, NULL);
        c->queries++;
    }
    return NULL;
}

/* Training runs while one thread updates and saves, and another queries and watches
 * words. */
static void updates_queries_and_training_run_concurrently(void **state)
{
    (void)state;
    const tide_history_options options = {
        .step = 1, .tracked = 100, .snapshots = 6, .warm_up = 2, .trend_alarm = 0.5};
    shared c = {.w = world_of("vocab=300 dim=16 threads=2 replay-ring=10000", &options),
                .running = true};
    pthread_t updater, querier;
    assert_int_equal(pthread_create(&updater, NULL, update_loop, &c), 0);
    assert_int_equal(pthread_create(&querier, NULL, query_loop, &c), 0);
    corpus text = demo_text(4, 20000);
    while (c.updates < 50 || c.queries < 20) {
        feed(c.w.trainer, text.bytes, text.size);
        tide_live_update(c.w.live);
    }
    c.running = false;
    pthread_join(updater, NULL);
    pthread_join(querier, NULL);
    assert_int_equal(c.wrong, 0);
    free(text.bytes);
    world_free(&c.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_history_answers_queries),
        cmocka_unit_test(a_clock_set_back_stands_still),
        cmocka_unit_test(invalid_options_are_rejected),
        cmocka_unit_test(memory_is_as_announced_and_allocated_at_the_start),
        cmocka_unit_test(memory_of_the_default_shape_is_small),
        cmocka_unit_test(failed_allocations_are_reported),
        IN_FOLDER(updates_queries_and_training_run_concurrently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
