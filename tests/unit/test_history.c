/* test_history.c - what a history says about words is what was done to them.
 *
 * Most worlds here learn so little that no vector moves by itself, and have clocks that the test turns; so the truth
 * about rates, arrivals, departures and movements is known. */
#include "history/alarms.h"
#include "history/word_stats.h"
#include "history_fixture.h"

#include "memory_fixture.h"

/* -- rates and trends ------------------------------------------------------------------------------------ */

/* A word that comes three times among twenty does so whether counts are halved or not, also several times between two
 * looks. Halves are rounded down, which takes a little away. */
static void rates_are_right_also_where_counts_are_halved(void **state)
{
    (void)state;
    static const struct {
        const char *half_life;
        int rounds; /* of twenty tokens a second */
    } ways[] = {{"0", 1}, {"2000", 1}, {"97", 1}, {"100", 10}, {"500", 100}};
    const tide_history_options options = {.step = 1};
    for (size_t i = 0; i < COUNT(ways); i++) {
        char settings[256];
        snprintf(settings, sizeof settings, "vocab=100 half-life=%s %s",
                 ways[i].half_life, STILL_SETTINGS);
        world w = world_of(settings, &options);
        for (int second = 0; second < 40; second++) {
            for (int k = 0; k < 20 * ways[i].rounds; k++)
                say(&w, k % 20 % 7 == 1 ? "seldom" : "often", 1);
            look_later(&w, 1);
        }
        tide_history_word seldom = word_of(&w, "seldom"), often = word_of(&w, "often");
        double rounds = ways[i].rounds;
        assert_true(fabs(seldom.rate - 3 * rounds) < 0.1 * rounds * 3);
        assert_true(fabs(often.rate - 17 * rounds) < 0.1 * rounds * 17);
        assert_true(fabs(seldom.baseline - 3 * rounds) < 0.1 * rounds * 3);
        assert_true(fabs(seldom.trend) < 0.2 && fabs(often.trend) < 0.2);
        assert_true(fabs(seldom.ratio * seldom.baseline - seldom.rate) < 1e-9);
        world_free(&w);
    }
}

/* Also where counts are halved, which loses less than one of a word's occurrences each time. */
static void seen_is_how_often_and_never_falls(void **state)
{
    (void)state;
    static const uint64_t half_lives[] = {0, 97, 1000};
    const tide_history_options options = {.step = 1};
    for (size_t i = 0; i < COUNT(half_lives); i++) {
        char settings[256];
        uint64_t said = 0, before = 0;
        snprintf(settings, sizeof settings, "vocab=100 half-life=%d %s",
                 (int)half_lives[i], STILL_SETTINGS);
        world w = world_of(settings, &options);
        for (int second = 0; second < 200; second++) {
            int times = second % 3 * 10;
            say(&w, "one", times);
            say(&w, "other", 1 + second % 2);
            said += (uint64_t)times;
            look_later(&w, 1);
            if (!said)
                continue;
            uint64_t seen = word_of(&w, "one").seen;
            assert_true(seen >= before && seen <= said);
            before = seen;
        }
        uint64_t halvings = half_lives[i] ? 2300 / half_lives[i] : 0;
        assert_true(before + halvings >= said);
        world_free(&w);
    }
}

/* A mean of the last minutes is no answer to how often a word comes now. Text that comes in lumps has not ended in
 * between. */
static void rates_are_0_when_the_text_has_ended(void **state)
{
    (void)state;
    static const int pauses[] = {1, 20};
    const tide_history_options options = {.step = 60};
    for (size_t i = 0; i < COUNT(pauses); i++) {
        world w = world_of("vocab=100 " STILL_SETTINGS, &options);
        for (int second = 0; second < 400; second++) {
            say(&w, "one", second % pauses[i] ? 0 : 40);
            look_later(&w, 1);
            tide_history_word one = word_of(&w, "one");
            assert_true(!second || (one.rate > 0 && one.ratio > 0));
        }
        look_often(&w, 10 * pauses[i] + 1, 1);
        tide_history_word one = word_of(&w, "one");
        assert_true(fabs(one.rate) <= 0 && fabs(one.ratio) <= 0 && one.baseline > 0);
        look_often(&w, 5000, 1); /* nor does it come back */
        assert_true(fabs(word_of(&w, "one").rate) <= 0);
        say(&w, "one", 1);
        look_later(&w, 1);
        assert_true(word_of(&w, "one").rate > 0);
        world_free(&w);
    }
}

/* Ten times as much of everything is no trend of anything; a word that comes instead of another is. */
static void a_busy_hour_is_no_trend(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    for (int second = 0; second < 200; second++) {
        int busy = second < 180 ? 1 : 10;
        say(&w, "a", 4 * busy);
        say(&w, second < 180 ? "b" : "c", 6 * busy);
        look_later(&w, 1);
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

/* -- who comes and goes ----------------------------------------------------------------------------------- */

static void words_that_come_are_new_and_those_that_leave_are_gone(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .warm_up = 5};
    world w = world_of("vocab=3 " STILL_SETTINGS, &options);
    tide_history_word words[8];
    tide_evicted gone[8];
    const tide_history_list list = {.sort = TIDE_HISTORY_NEW};
    say(&w, "one", 9);
    say(&w, "two", 8);
    look_often(&w, 10, 1);
    assert_int_equal(tide_history_words(w.history, &list, words, 8, NULL, NULL), 0);
    assert_int_equal(tide_history_evicted(w.history, 0, gone, 8), 0);
    say(&w, "three", 3);
    look_later(&w, 1);
    double came = w.now;
    assert_int_equal(tide_history_words(w.history, &list, words, 8, NULL, NULL), 1);
    assert_string_equal(words[0].word, "three");
    assert_true(fabs(words[0].first_seen - came) < 1e-6);
    assert_true(isnan(word_of(&w, "one").first_seen));
    look_later(&w, 1);
    say(&w, "four", 2); /* takes the place of three */
    look_later(&w, 1);
    assert_int_equal(tide_history_evicted(w.history, 0, gone, 8), 1);
    assert_string_equal(gone[0].word, "three");
    assert_int_equal(gone[0].count, 3);
    assert_true(fabs(gone[0].left - w.now) < 1e-6);
    assert_int_equal(tide_history_evicted(w.history, w.now, gone, 8), 0);
    assert_int_equal(tide_history_evicted(w.history, w.now - 1, gone, 8), 1);
    tide_history_list lately = list;
    lately.after = w.now - 1; /* four came later, and is still there */
    assert_int_equal(tide_history_words(w.history, &lately, words, 8, NULL, NULL), 1);
    assert_string_equal(words[0].word, "four");
    lately.after = w.now;
    assert_int_equal(tide_history_words(w.history, &lately, words, 8, NULL, NULL), 0);
    tide_error err;
    assert_int_equal(tide_history_word_of(w.history, "three", words, &err),
                     TIDE_ERROR_NOT_FOUND);
    say(&w, "three", 1); /* and four leaves */
    look_later(&w, 1);
    assert_int_equal(tide_history_evicted(w.history, 0, gone, 8), 1);
    assert_string_equal(gone[0].word, "four");
    assert_true(fabs(word_of(&w, "three").first_seen - w.now) < 1e-6);
    world_free(&w);
}

/* A thousand words pass through, each seen once; the one that was seen often is still remembered. */
static void what_was_seen_often_is_remembered_longest(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    static tide_evicted gone[TIDE_EVICTED_WORDS_MAX + 10];
    world w = world_of("vocab=1 " STILL_SETTINGS, &options);
    look_later(&w, 1);
    say(&w, "mayfly", 500);
    look_later(&w, 1);
    for (int i = 0; i < 3 * TIDE_EVICTED_WORDS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        say(&w, name, 1);
        look_later(&w, 0.1);
    }
    size_t count = tide_history_evicted(w.history, 0, gone, COUNT(gone));
    assert_int_equal(count, TIDE_EVICTED_WORDS_MAX);
    assert_string_equal(gone[count - 1].word, "mayfly");
    assert_int_equal(gone[count - 1].count, 500);
    for (size_t i = 0; i + 1 < count; i++) { /* of equals the latest */
        char name[16];
        snprintf(name, sizeof name, "w%d", 3 * TIDE_EVICTED_WORDS_MAX - 2 - (int)i);
        assert_string_equal(gone[i].word, name);
    }
    world_free(&w);
}

/* Whoever had the slot before. */
static void a_newcomer_has_rates_of_its_own(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    world w = world_of("vocab=2 " STILL_SETTINGS, &options);
    for (int i = 0; i < 60; i++) {
        say(&w, "stays", 300);
        say(&w, "leaves", 100);
        look_later(&w, 1);
    }
    tide_history_word before = word_of(&w, "leaves");
    assert_true(before.rate > 90 && before.rate < 110);
    say(&w, "stays", 300);
    say(&w, "comes", 3);
    look_later(&w, 1);
    tide_history_word comes = word_of(&w, "comes");
    assert_true(comes.rate > 0 && comes.rate < 4);
    assert_false(comes.baseline > 4);
    world_free(&w);
}

/* As many as are kept can be read, whatever was read before. */
static void the_latest_alarms_can_be_read_by_number(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .baseline = 0.5};
    static tide_alarm alarms[TIDE_ALARMS_KEPT + 10];
    world w = world_of("vocab=3 " STILL_SETTINGS, &options);
    look_often(&w, 2, 1);
    for (uint64_t rung = 0; rung < 2 * TIDE_ALARMS_KEPT + 5; rung++) {
        uint64_t first = rung > TIDE_ALARMS_KEPT ? rung - TIDE_ALARMS_KEPT : 0;
        for (uint64_t after = first > 3 ? first - 3 : 0; after < rung + 2;
             after += 1 + rung / 8) {
            uint64_t begin = after > first ? after : first;
            size_t found = tide_history_alarms(w.history, after, alarms, COUNT(alarms));
            assert_int_equal(found, begin < rung ? rung - begin : 0);
            for (size_t i = 0; i < found; i++) {
                assert_int_equal(alarms[i].number, begin + i + 1);
                assert_true(alarms[i].score >= (double)(begin + i) &&
                            alarms[i].score <= (double)(begin + i));
            }
        }
        tide_alarm_ring(w.history, TIDE_ALARM_NEW, "word", (double)rung, 0);
    }
    world_free(&w);
}

/* A word that left and came back has no past, and no occurrences from before. */
static void words_that_come_back_begin_anew(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    world w = world_of("vocab=3 " STILL_SETTINGS, &options);
    say(&w, "stays", 100);
    say(&w, "remains", 100);
    say(&w, "leaves", 50);
    assert_int_equal(tide_history_watch(w.history, "leaves", NULL), TIDE_OK);
    look_often(&w, 20, 1);
    assert_true(tide_history_points(w.history, "leaves", points, NULL) > 3);
    say(&w, "other", 1);
    look_often(&w, 2, 1);
    assert_int_equal(tide_history_points(w.history, "leaves", points, NULL), 0);
    say(&w, "leaves", 1);
    look_later(&w, 1);
    assert_int_equal(tide_history_points(w.history, "leaves", points, NULL), 1);
    assert_true(word_of(&w, "leaves").rate < 1);
    assert_true(tide_history_points(w.history, "stays", points, NULL) > 3);
    say(&w, "third", 1);
    say(&w, "leaves", 1); /* gone and back between two looks: it begins anew as well */
    look_later(&w, 1);
    assert_int_equal(tide_history_points(w.history, "leaves", points, NULL), 1);
    world_free(&w);
}

/* -- who is followed ----------------------------------------------------------------------------------------- */

static bool is_followed(const world *w, const char *word)
{
    return word_of(w, word).followed;
}

/* Two words at the border take turns; neither loses its past. */
static void words_at_the_border_do_not_flap(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .follow = 20};
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    say_all(&w, 19, 1000);
    say(&w, "x", 500);
    say(&w, "y", 499);
    look_later(&w, 1);
    assert_true(is_followed(&w, "x") && !is_followed(&w, "y"));
    for (int i = 0; i < 40; i++) {
        say(&w, i % 2 ? "x" : "y", 2);
        look_later(&w, 1);
    }
    assert_true(is_followed(&w, "x") && is_followed(&w, "y"));
    assert_true(tide_history_points(w.history, "x", points, NULL) > 5);
    assert_true(tide_history_points(w.history, "y", points, NULL) > 5);
    assert_int_equal(tide_history_followed(w.history), 21);
    say(&w, "p", 2000);
    say(&w, "q", 2000);
    say(&w, "r", 2000);
    look_later(&w, 1);
    assert_false(is_followed(&w, "x") || is_followed(&w, "y")); /* 22nd and 23rd */
    world_free(&w);
}

static void watched_words_are_followed_whatever_their_rank(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .follow = 10, .watch = 2};
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    tide_error err;
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    say_all(&w, 50, 1);
    look_later(&w, 1);
    assert_false(is_followed(&w, "w40"));
    assert_int_equal(tide_history_watch(w.history, "w40", NULL), TIDE_OK);
    assert_int_equal(tide_history_watch(w.history, "w40", NULL), TIDE_OK);
    assert_int_equal(tide_history_watch(w.history, "absent", NULL), TIDE_OK);
    assert_int_equal(tide_history_watch(w.history, "w41", &err), TIDE_ERROR_PARAMETER);
    assert_int_equal(tide_history_watch(w.history, "", &err), TIDE_ERROR_PARAMETER);
    look_often(&w, 3, 1);
    assert_true(word_of(&w, "w40").watched && is_followed(&w, "w40"));
    assert_int_equal(tide_history_points(w.history, "w40", points, NULL), 2);
    assert_int_equal(tide_history_points(w.history, "absent", points, NULL), 0);
    assert_int_equal(tide_history_points(w.history, "w41", points, &err),
                     TIDE_ERROR_NOT_FOUND);
    say(&w, "absent", 1);
    look_often(&w, 2, 1);
    assert_true(tide_history_points(w.history, "absent", points, NULL) > 0);
    assert_int_equal(tide_history_unwatch(w.history, "w40", NULL), TIDE_OK);
    assert_int_equal(tide_history_unwatch(w.history, "w40", &err),
                     TIDE_ERROR_NOT_FOUND);
    look_later(&w, 1);
    assert_false(is_followed(&w, "w40"));
    assert_int_equal(tide_history_watch(w.history, "w41", NULL), TIDE_OK);
    world_free(&w);
}

/* -- lists --------------------------------------------------------------------------------------------------------- */

static void lists_have_prefixes_pages_and_totals(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .warm_up = 1e-9};
    world w = world_of("vocab=200 " STILL_SETTINGS, &options);
    look_often(&w, 2, 1);
    say_all(&w, 100, 1);
    look_later(&w, 1);
    for (int sort = TIDE_HISTORY_COUNT; sort <= TIDE_HISTORY_TREND; sort++) {
        tide_history_word page[7], *all = calloc(100, sizeof *all);
        assert_non_null(all);
        tide_history_list list = {.sort = (tide_history_sort)sort};
        assert_int_equal(tide_history_words(w.history, &list, all, 100, NULL, NULL),
                         100);
        if (sort != TIDE_HISTORY_TREND) { /* nothing has one */
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
        cmocka_unit_test(rates_are_right_also_where_counts_are_halved),
        cmocka_unit_test(seen_is_how_often_and_never_falls),
        cmocka_unit_test(rates_are_0_when_the_text_has_ended),
        cmocka_unit_test(a_busy_hour_is_no_trend),
        cmocka_unit_test(words_that_come_are_new_and_those_that_leave_are_gone),
        cmocka_unit_test(what_was_seen_often_is_remembered_longest),
        cmocka_unit_test(words_that_come_back_begin_anew),
        cmocka_unit_test(a_newcomer_has_rates_of_its_own),
        cmocka_unit_test(the_latest_alarms_can_be_read_by_number),
        cmocka_unit_test(words_at_the_border_do_not_flap),
        cmocka_unit_test(watched_words_are_followed_whatever_their_rank),
        cmocka_unit_test(lists_have_prefixes_pages_and_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
