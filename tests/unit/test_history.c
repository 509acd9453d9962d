/* test_history.c - rates, trends, arrivals, evictions, tracking and lists match what
 * was fed.
 *
 * Most worlds here have a learning rate so small that no vector moves by itself, and a
 * clock set by the test. So the true rates, arrivals, evictions and drifts are known.
 */
#include "history/alarms.h"
#include "history/word_stats.h"
#include "history_fixture.h"

#include "memory_fixture.h"

/* -- rates and trends ------------------------------------------------------------- */

/* A word that is 3 of 20 tokens has that share with any half-life, even with several
 * halvings per update. Halved counts are rounded down, which loses a little. */
static void rates_are_right_with_a_half_life(void **state)
{
    (void)state;
    static const struct {
        const char *half_life;
        int rounds; /* of 20 tokens per second */
    } cases[] = {{"0", 1}, {"2000", 1}, {"97", 1}, {"100", 10}, {"500", 100}};
    const tide_history_options options = {.step = 1};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char settings[256];
        snprintf(settings, sizeof settings, "vocab=100 half-life=%s %s",
                 cases[i].half_life, STILL_SETTINGS);
        world w = world_of(settings, &options);
        for (int second = 0; second < 40; second++) {
            for (int k = 0; k < 20 * cases[i].rounds; k++)
                feed_word(&w, k % 20 % 7 == 1 ? "seldom" : "often", 1);
            update_after(&w, 1);
        }
        tide_history_word seldom = word_of(&w, "seldom"), often = word_of(&w, "often");
        double rounds = cases[i].rounds;
        assert_true(fabs(seldom.rate - 3 * rounds) < 0.1 * rounds * 3);
        assert_true(fabs(often.rate - 17 * rounds) < 0.1 * rounds * 17);
        assert_true(fabs(seldom.baseline - 3 * rounds) < 0.1 * rounds * 3);
        assert_true(fabs(seldom.trend) < 0.2 && fabs(often.trend) < 0.2);
        assert_true(fabs(seldom.ratio * seldom.baseline - seldom.rate) < 1e-9);
        world_free(&w);
    }
}

/* A halving loses less than one occurrence of a word. */
static void seen_counts_occurrences_and_never_falls(void **state)
{
    (void)state;
    static const uint64_t half_lives[] = {0, 97, 1000};
    const tide_history_options options = {.step = 1};
    for (size_t i = 0; i < COUNT(half_lives); i++) {
        char settings[256];
        uint64_t fed = 0, before = 0;
        snprintf(settings, sizeof settings, "vocab=100 half-life=%d %s",
                 (int)half_lives[i], STILL_SETTINGS);
        world w = world_of(settings, &options);
        for (int second = 0; second < 200; second++) {
            int times = second % 3 * 10;
            feed_word(&w, "one", times);
            feed_word(&w, "other", 1 + second % 2);
            fed += (uint64_t)times;
            update_after(&w, 1);
            if (!fed)
                continue;
            uint64_t seen = word_of(&w, "one").seen;
            assert_true(seen >= before && seen <= fed);
            before = seen;
        }
        uint64_t halvings = half_lives[i] ? 2300 / half_lives[i] : 0;
        assert_true(before + halvings >= fed);
        world_free(&w);
    }
}

/* The moving average alone would stay above 0 for minutes. Text that arrives in bursts
 * has not ended in between. */
static void rates_are_0_after_the_text_has_ended(void **state)
{
    (void)state;
    static const int gaps[] = {1, 20};
    const tide_history_options options = {.step = 60};
    for (size_t i = 0; i < COUNT(gaps); i++) {
        world w = world_of("vocab=100 " STILL_SETTINGS, &options);
        for (int second = 0; second < 400; second++) {
            feed_word(&w, "one", second % gaps[i] ? 0 : 40);
            update_after(&w, 1);
            tide_history_word one = word_of(&w, "one");
            assert_true(!second || (one.rate > 0 && one.ratio > 0));
        }
        update_often(&w, 10 * gaps[i] + 1, 1);
        tide_history_word one = word_of(&w, "one");
        assert_true(fabs(one.rate) <= 0 && fabs(one.ratio) <= 0 && one.baseline > 0);
        update_often(&w, 5000, 1); /* and it stays 0 */
        assert_true(fabs(word_of(&w, "one").rate) <= 0);
        feed_word(&w, "one", 1);
        update_after(&w, 1);
        assert_true(word_of(&w, "one").rate > 0);
        world_free(&w);
    }
}

/* Ten times as much of everything is not a trend; a word that replaces another is
 * one. */
static void more_text_is_not_a_trend(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    for (int second = 0; second < 200; second++) {
        int busy = second < 180 ? 1 : 10;
        feed_word(&w, "a", 4 * busy);
        feed_word(&w, second < 180 ? "b" : "c", 6 * busy);
        update_after(&w, 1);
    }
    assert_true(fabs(word_of(&w, "a").trend) < 0.2);
    assert_true(word_of(&w, "a").rate > 5 * word_of(&w, "a").baseline);
    assert_true(word_of(&w, "c").trend > 0.5);
    assert_true(word_of(&w, "b").trend < -2);
    tide_history_word words[2];
    uint64_t total;
    const tide_history_list list = {.sort = TIDE_HISTORY_TREND};
    assert_int_equal(tide_history_words(w.history, &list, words, 2, &total, NULL), 2);
    assert_int_equal(total, 3);
    assert_string_equal(words[0].word, "c");
    assert_string_equal(words[1].word, "a");
    world_free(&w);
}

/* -- admission and eviction ------------------------------------------------------- */

static void admitted_words_are_new_and_evicted_words_are_gone(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .warm_up = 5};
    world w = world_of("vocab=3 " STILL_SETTINGS, &options);
    tide_history_word words[8];
    tide_evicted gone[8];
    const tide_history_list list = {.sort = TIDE_HISTORY_NEW};
    feed_word(&w, "one", 9);
    feed_word(&w, "two", 8);
    update_often(&w, 10, 1);
    assert_int_equal(tide_history_words(w.history, &list, words, 8, NULL, NULL), 0);
    assert_int_equal(tide_history_evicted(w.history, 0, gone, 8), 0);
    feed_word(&w, "three", 3);
    update_after(&w, 1);
    double arrival = w.now;
    assert_int_equal(tide_history_words(w.history, &list, words, 8, NULL, NULL), 1);
    assert_string_equal(words[0].word, "three");
    assert_true(fabs(words[0].first_seen - arrival) < 1e-6);
    assert_true(isnan(word_of(&w, "one").first_seen));
    update_after(&w, 1);
    feed_word(&w, "four", 2); /* evicts three */
    update_after(&w, 1);
    assert_int_equal(tide_history_evicted(w.history, 0, gone, 8), 1);
    assert_string_equal(gone[0].word, "three");
    assert_int_equal(gone[0].count, 3);
    assert_true(fabs(gone[0].left - w.now) < 1e-6);
    assert_int_equal(tide_history_evicted(w.history, w.now, gone, 8), 0);
    assert_int_equal(tide_history_evicted(w.history, w.now - 1, gone, 8), 1);
    tide_history_list lately = list;
    lately.after = w.now - 1; /* four is newer, and still there */
    assert_int_equal(tide_history_words(w.history, &lately, words, 8, NULL, NULL), 1);
    assert_string_equal(words[0].word, "four");
    lately.after = w.now;
    assert_int_equal(tide_history_words(w.history, &lately, words, 8, NULL, NULL), 0);
    tide_error err;
    assert_int_equal(tide_history_word_of(w.history, "three", words, &err),
                     TIDE_ERROR_NOT_FOUND);
    feed_word(&w, "three", 1); /* evicts four */
    update_after(&w, 1);
    assert_int_equal(tide_history_evicted(w.history, 0, gone, 8), 1);
    assert_string_equal(gone[0].word, "four");
    assert_true(fabs(word_of(&w, "three").first_seen - w.now) < 1e-6);
    world_free(&w);
}

/* After thousands of evicted words that were seen once, a frequent one is still
 * remembered. */
static void frequent_words_are_remembered_longest(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    static tide_evicted gone[TIDE_EVICTED_WORDS_MAX + 10];
    world w = world_of("vocab=1 " STILL_SETTINGS, &options);
    update_after(&w, 1);
    feed_word(&w, "mayfly", 500);
    update_after(&w, 1);
    for (int i = 0; i < 3 * TIDE_EVICTED_WORDS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        feed_word(&w, name, 1);
        update_after(&w, 0.1);
    }
    size_t count = tide_history_evicted(w.history, 0, gone, COUNT(gone));
    assert_int_equal(count, TIDE_EVICTED_WORDS_MAX);
    assert_string_equal(gone[count - 1].word, "mayfly");
    assert_int_equal(gone[count - 1].count, 500);
    for (size_t i = 0; i + 1 < count; i++) { /* among equal counts, the latest */
        char name[16];
        snprintf(name, sizeof name, "w%d", 3 * TIDE_EVICTED_WORDS_MAX - 2 - (int)i);
        assert_string_equal(gone[i].word, name);
    }
    world_free(&w);
}

/* Not even those of the word that had its slot before. */
static void a_new_word_does_not_inherit_rates(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    world w = world_of("vocab=2 " STILL_SETTINGS, &options);
    for (int i = 0; i < 60; i++) {
        feed_word(&w, "stays", 300);
        feed_word(&w, "leaves", 100);
        update_after(&w, 1);
    }
    tide_history_word before = word_of(&w, "leaves");
    assert_true(before.rate > 90 && before.rate < 110);
    feed_word(&w, "stays", 300);
    feed_word(&w, "comes", 3);
    update_after(&w, 1);
    tide_history_word comes = word_of(&w, "comes");
    assert_true(comes.rate > 0 && comes.rate < 4);
    assert_false(comes.baseline > 4);
    world_free(&w);
}

/* Any suffix of the last TIDE_ALARMS_MAX can be read. */
static void the_latest_alarms_can_be_read_by_number(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .baseline = 0.5};
    static tide_alarm alarms[TIDE_ALARMS_MAX + 10];
    world w = world_of("vocab=3 " STILL_SETTINGS, &options);
    update_often(&w, 2, 1);
    for (uint64_t raised = 0; raised < 2 * TIDE_ALARMS_MAX + 5; raised++) {
        uint64_t first = raised > TIDE_ALARMS_MAX ? raised - TIDE_ALARMS_MAX : 0;
        for (uint64_t after = first > 3 ? first - 3 : 0; after < raised + 2;
             after += 1 + raised / 8) {
            uint64_t next = after > first ? after : first;
            size_t found = tide_history_alarms(w.history, after, alarms, COUNT(alarms));
            assert_int_equal(found, next < raised ? raised - next : 0);
            for (size_t i = 0; i < found; i++) {
                assert_int_equal(alarms[i].number, next + i + 1);
                assert_true(alarms[i].score >= (double)(next + i) &&
                            alarms[i].score <= (double)(next + i));
            }
        }
        tide_alarm_raise(w.history, TIDE_ALARM_NEW, "word", (double)raised, 0);
    }
    world_free(&w);
}

/* A word that was evicted and readmitted has no past and no earlier occurrences. */
static void readmitted_words_start_over(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    world w = world_of("vocab=3 " STILL_SETTINGS, &options);
    feed_word(&w, "stays", 100);
    feed_word(&w, "remains", 100);
    feed_word(&w, "leaves", 50);
    assert_int_equal(tide_history_watch(w.history, "leaves", NULL), TIDE_OK);
    update_often(&w, 20, 1);
    assert_true(tide_history_points(w.history, "leaves", points, NULL) > 3);
    feed_word(&w, "other", 1);
    update_often(&w, 2, 1);
    assert_int_equal(tide_history_points(w.history, "leaves", points, NULL), 0);
    feed_word(&w, "leaves", 1);
    update_after(&w, 1);
    assert_int_equal(tide_history_points(w.history, "leaves", points, NULL), 1);
    assert_true(word_of(&w, "leaves").rate < 1);
    assert_true(tide_history_points(w.history, "stays", points, NULL) > 3);
    feed_word(&w, "third", 1);
    feed_word(
        &w, "leaves",
        1); /* evicted and readmitted between two updates: it starts over as well */
    update_after(&w, 1);
    assert_int_equal(tide_history_points(w.history, "leaves", points, NULL), 1);
    world_free(&w);
}

/* -- tracked words ---------------------------------------------------------------- */

static bool is_tracked(const world *w, const char *word)
{
    return word_of(w, word).tracked;
}

/* Two words alternate at the border; neither loses its past. */
static void words_at_the_border_do_not_flap(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .tracked = 20};
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    feed_words(&w, 19, 1000);
    feed_word(&w, "x", 500);
    feed_word(&w, "y", 499);
    update_after(&w, 1);
    assert_true(is_tracked(&w, "x") && !is_tracked(&w, "y"));
    for (int i = 0; i < 40; i++) {
        feed_word(&w, i % 2 ? "x" : "y", 2);
        update_after(&w, 1);
    }
    assert_true(is_tracked(&w, "x") && is_tracked(&w, "y"));
    assert_true(tide_history_points(w.history, "x", points, NULL) > 5);
    assert_true(tide_history_points(w.history, "y", points, NULL) > 5);
    assert_int_equal(tide_history_tracked(w.history), 21);
    feed_word(&w, "p", 2000);
    feed_word(&w, "q", 2000);
    feed_word(&w, "r", 2000);
    update_after(&w, 1);
    assert_false(is_tracked(&w, "x") || is_tracked(&w, "y")); /* 22nd and 23rd */
    world_free(&w);
}

static void watched_words_are_tracked_at_any_rank(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .tracked = 10, .watched = 2};
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    tide_error err;
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    feed_words(&w, 50, 1);
    update_after(&w, 1);
    assert_false(is_tracked(&w, "w40"));
    assert_int_equal(tide_history_watch(w.history, "w40", NULL), TIDE_OK);
    assert_int_equal(tide_history_watch(w.history, "w40", NULL), TIDE_OK);
    assert_int_equal(tide_history_watch(w.history, "absent", NULL), TIDE_OK);
    assert_int_equal(tide_history_watch(w.history, "w41", &err), TIDE_ERROR_PARAMETER);
    assert_int_equal(tide_history_watch(w.history, "", &err), TIDE_ERROR_PARAMETER);
    update_often(&w, 3, 1);
    assert_true(word_of(&w, "w40").watched && is_tracked(&w, "w40"));
    assert_int_equal(tide_history_points(w.history, "w40", points, NULL), 2);
    assert_int_equal(tide_history_points(w.history, "absent", points, NULL), 0);
    assert_int_equal(tide_history_points(w.history, "w41", points, &err),
                     TIDE_ERROR_NOT_FOUND);
    feed_word(&w, "absent", 1);
    update_often(&w, 2, 1);
    assert_true(tide_history_points(w.history, "absent", points, NULL) > 0);
    assert_int_equal(tide_history_unwatch(w.history, "w40", NULL), TIDE_OK);
    assert_int_equal(tide_history_unwatch(w.history, "w40", &err),
                     TIDE_ERROR_NOT_FOUND);
    update_after(&w, 1);
    assert_false(is_tracked(&w, "w40"));
    assert_int_equal(tide_history_watch(w.history, "w41", NULL), TIDE_OK);
    world_free(&w);
}

/* -- lists ------------------------------------------------------------------------ */

static void lists_have_prefixes_pages_and_totals(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .warm_up = 1e-9};
    world w = world_of("vocab=200 " STILL_SETTINGS, &options);
    update_often(&w, 2, 1);
    feed_words(&w, 100, 1);
    update_after(&w, 1);
    for (int sort = TIDE_HISTORY_COUNT; sort <= TIDE_HISTORY_TREND; sort++) {
        tide_history_word page[7], *all = calloc(100, sizeof *all);
        assert_non_null(all);
        tide_history_list list = {.sort = (tide_history_sort)sort};
        assert_int_equal(tide_history_words(w.history, &list, all, 100, NULL, NULL),
                         100);
        if (sort != TIDE_HISTORY_TREND) { /* all are equal */
            assert_string_equal(all[0].word, "w0");
            assert_int_equal(all[0].rank, 1);
        }
        for (uint32_t offset = 0; offset < 110; offset += 7) {
            uint64_t total;
            list.offset = offset;
            int count = tide_history_words(w.history, &list, page, 7, &total, NULL);
            assert_int_equal(total, 100);
            assert_int_equal(count, offset >= 100 ? 0 : offset > 93 ? 100 - offset : 7);
            for (int i = 0; i < count; i++)
                assert_string_equal(page[i].word, all[offset + (uint32_t)i].word);
        }
        list = (tide_history_list){.sort = (tide_history_sort)sort, .prefix = "w1"};
        uint64_t total;
        assert_int_equal(tide_history_words(w.history, &list, page, 0, &total, NULL),
                         0);
        assert_int_equal(total, 11);
        free(all);
    }
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_right_with_a_half_life),
        cmocka_unit_test(seen_counts_occurrences_and_never_falls),
        cmocka_unit_test(rates_are_0_after_the_text_has_ended),
        cmocka_unit_test(more_text_is_not_a_trend),
        cmocka_unit_test(admitted_words_are_new_and_evicted_words_are_gone),
        cmocka_unit_test(frequent_words_are_remembered_longest),
        cmocka_unit_test(readmitted_words_start_over),
        cmocka_unit_test(a_new_word_does_not_inherit_rates),
        cmocka_unit_test(the_latest_alarms_can_be_read_by_number),
        cmocka_unit_test(words_at_the_border_do_not_flap),
        cmocka_unit_test(watched_words_are_tracked_at_any_rank),
        cmocka_unit_test(lists_have_prefixes_pages_and_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
