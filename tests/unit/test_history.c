/* test_history.c - what a history says about words is what was done to them.
 *
 * Most worlds here learn so little that no vector moves by itself, and have clocks that the test turns; so the truth
 * about rates, arrivals, departures and movements is known. */
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
    tide_gone gone[8];
    const tide_history_list list = {.sort = TIDE_HISTORY_NEW};
    say(&w, "one", 9);
    say(&w, "two", 8);
    look_often(&w, 10, 1);
    assert_int_equal(tide_history_words(w.history, &list, words, 8, NULL, NULL), 0);
    assert_int_equal(tide_history_gone(w.history, 0, gone, 8), 0);
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
    assert_int_equal(tide_history_gone(w.history, 0, gone, 8), 1);
    assert_string_equal(gone[0].word, "three");
    assert_int_equal(gone[0].count, 3);
    assert_true(fabs(gone[0].left - w.now) < 1e-6);
    assert_int_equal(tide_history_gone(w.history, w.now, gone, 8), 0);
    assert_int_equal(tide_history_gone(w.history, w.now - 1, gone, 8), 1);
    tide_history_list lately = list;
    lately.after = w.now - 1; /* four came later, and is still there */
    assert_int_equal(tide_history_words(w.history, &lately, words, 8, NULL, NULL), 1);
    assert_string_equal(words[0].word, "four");
    lately.after = w.now;
    assert_int_equal(tide_history_words(w.history, &lately, words, 8, NULL, NULL), 0);
    tide_error err;
    assert_int_equal(tide_history_word_of(w.history, "three", words, &err),
                     TIDE_ERROR_UNKNOWN);
    say(&w, "three", 1); /* and four leaves */
    look_later(&w, 1);
    assert_int_equal(tide_history_gone(w.history, 0, gone, 8), 1);
    assert_string_equal(gone[0].word, "four");
    assert_true(fabs(word_of(&w, "three").first_seen - w.now) < 1e-6);
    world_free(&w);
}

/* A thousand words pass through, each seen once; the one that was seen often is still remembered. */
static void what_was_seen_often_is_remembered_longest(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    static tide_gone gone[TIDE_DEPARTED_MOST + 10];
    world w = world_of("vocab=1 " STILL_SETTINGS, &options);
    look_later(&w, 1);
    say(&w, "mayfly", 500);
    look_later(&w, 1);
    for (int i = 0; i < 3 * TIDE_DEPARTED_MOST; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        say(&w, name, 1);
        look_later(&w, 0.1);
    }
    size_t count = tide_history_gone(w.history, 0, gone, COUNT(gone));
    assert_int_equal(count, TIDE_DEPARTED_MOST);
    assert_string_equal(gone[count - 1].word, "mayfly");
    assert_int_equal(gone[count - 1].count, 500);
    world_free(&w);
}

/* A word that left and came back has no past, and no occurrences from before. */
static void words_that_come_back_begin_anew(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    tide_history_point points[TIDE_HISTORY_RUNGS_MAX];
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
    tide_history_point points[TIDE_HISTORY_RUNGS_MAX];
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
    tide_history_point points[TIDE_HISTORY_RUNGS_MAX];
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
                     TIDE_ERROR_UNKNOWN);
    say(&w, "absent", 1);
    look_often(&w, 2, 1);
    assert_true(tide_history_points(w.history, "absent", points, NULL) > 0);
    assert_int_equal(tide_history_unwatch(w.history, "w40", NULL), TIDE_OK);
    assert_int_equal(tide_history_unwatch(w.history, "w40", &err), TIDE_ERROR_UNKNOWN);
    look_later(&w, 1);
    assert_false(is_followed(&w, "w40"));
    assert_int_equal(tide_history_watch(w.history, "w41", NULL), TIDE_OK);
    world_free(&w);
}

/* -- movement -------------------------------------------------------------------------------------------------- */

enum { WORDS = 200, MOVERS = 30 };

/* Looks until all rungs have been compared with now. */
static void settle(world *w)
{
    look_often(w, TIDE_HISTORY_RUNGS_MAX, 1e-4);
}

/* Of the drift of a word seen so often, with 64 occurrences of no drift beside them. */
static double worth(const tide_history_word *w)
{
    return w->drift * (double)w->count / (double)(w->count + 64);
}

/* All are turned together, which nobody sees, and some by themselves, which everybody does. */
static void drift_is_what_a_word_turns_by_itself(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    static float before[MOVERS][8];
    tide_rng rng = tide_rng_seeded(1);
    world w = world_of("vocab=500 " STILL_SETTINGS, &options);
    say_all(&w, WORDS, 10);
    random_rows(&w, WORDS, &rng);
    look_often(&w, 3, 1);
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
    turn_all(&w, WORDS, 77);
    look_later(&w, 1);
    settle(&w);
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
                    (!i || worth(&words[i]) <= worth(&words[i - 1])));
    world_free(&w);
}

/* Neighbours then are those of the vectors then, whatever has become of them. */
static void neighbours_then_are_those_of_then(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .rungs = 8};
    tide_rng rng = tide_rng_seeded(2);
    world w = world_of("vocab=500 " STILL_SETTINGS, &options);
    say_all(&w, WORDS, 10);
    random_rows(&w, WORDS, &rng);
    look_later(&w, 1);
    static float then[WORDS][8];
    for (int i = 0; i < WORDS; i++)
        memcpy(then[i], numbered_row(&w, i), sizeof then[i]);
    random_rows(&w, WORDS, &rng);
    look_often(&w, 16, 1);
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
                     TIDE_ERROR_UNKNOWN);
    assert_int_equal(
        tide_history_nearest(w.history, "nobody", 1, &hit, 1, &taken, &err),
        TIDE_ERROR_UNKNOWN);
    world_free(&w);
}

static void the_past_of_a_word_is_told_oldest_first(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1, .rungs = 7};
    tide_history_point points[TIDE_HISTORY_RUNGS_MAX];
    double ages[TIDE_HISTORY_RUNGS_MAX];
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    for (int second = 0; second < 100; second++) {
        say(&w, "word", 3);
        say(&w, "other", 5);
        look_later(&w, 1);
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

/* -- the map ---------------------------------------------------------------------------------------------------- */

static tide_map_point spots[2][WORDS];

static size_t see_map(const world *w, int which, uint64_t *frame)
{
    return tide_history_map(w->history, spots[which], WORDS, frame);
}

static double farthest_spot(void)
{
    double most = 0;
    for (int i = 0; i < WORDS; i++) {
        assert_string_equal(spots[0][i].word, spots[1][i].word);
        most = fmax(most, hypot((double)(spots[0][i].x - spots[1][i].x),
                                (double)(spots[0][i].y - spots[1][i].y)));
    }
    return most;
}

/* Directions in which words differ much, so that the plane is a clear one. */
static void rows_of_a_plane(const world *w, tide_rng *rng)
{
    random_rows(w, WORDS, rng);
    for (int i = 0; i < WORDS; i++) {
        numbered_row(w, i)[1] *= 4;
        numbered_row(w, i)[6] *= 3;
    }
}

static void the_map_stays_where_it_is(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    tide_rng rng = tide_rng_seeded(3);
    uint64_t first, frame;
    world w = world_of("vocab=500 " STILL_SETTINGS, &options);
    assert_int_equal(see_map(&w, 0, &frame), 0);
    say_all(&w, WORDS, 10);
    rows_of_a_plane(&w, &rng);
    look_later(&w, 1);
    assert_int_equal(see_map(&w, 0, &first), WORDS);
    look_often(&w, 5, 1);
    assert_int_equal(see_map(&w, 1, &frame), WORDS);
    assert_int_equal(frame, first);
    assert_true(farthest_spot() <= 0);
    turn_all(&w, WORDS, 5); /* a rotation of all, which may mirror the plane */
    look_later(&w, 1);
    see_map(&w, 1, &frame);
    assert_int_equal(frame, first + 1);
    assert_true(farthest_spot() < 0.01);
    for (int i = 0; i < WORDS; i++)
        for (uint32_t d = 0; d < 8; d++)
            numbered_row(&w, i)[d] += (float)(0.02 * tide_rng_normal(&rng));
    look_later(&w, 1);
    see_map(&w, 1, &frame);
    assert_true(farthest_spot() < 0.1);
    world_free(&w);
}

/* -- alarms ----------------------------------------------------------------------------------------------------- */

typedef struct heard {
    int count[TIDE_ALARM_KINDS];
    tide_alarm last[TIDE_ALARM_KINDS];
} heard;

static void hear(void *data, const tide_alarm *alarm)
{
    heard *h = data;
    h->count[alarm->kind]++;
    h->last[alarm->kind] = *alarm;
}

/* What was said so far is older than the history. */
static void begin_again(world *w, const tide_history_options *options)
{
    tide_live_update(w->live);
    tide_history_free(w->history);
    w->history = tide_history_new(w->live, options, NULL);
    assert_non_null(w->history);
}

static void every_event_rings_once(void **state)
{
    (void)state;
    heard h = {0};
    const tide_history_options options = {.step = 1,
                                          .warm_up = 1,
                                          .trend_alarm = 1,
                                          .drift_alarm = 20,
                                          .count_alarm = 30,
                                          .alarm = hear,
                                          .alarm_data = &h};
    tide_rng rng = tide_rng_seeded(4);
    world w = world_of("vocab=50 " STILL_SETTINGS, &options);
    say_all(&w, 49, 100);
    random_rows(&w, 49, &rng);
    begin_again(&w, &options);
    for (int second = 0; second < 60; second++) {
        say(&w, "w0", 20);
        look_later(&w, 1);
    }
    for (int kind = 0; kind < TIDE_ALARM_KINDS; kind++)
        assert_int_equal(h.count[kind], 0);
    for (int second = 0; second < 20; second++) {
        say(&w, "burst", 20);
        say(&w, "w0", 20);
        look_later(&w, 1);
    }
    assert_int_equal(h.count[TIDE_ALARM_NEW], 1);
    assert_int_equal(h.count[TIDE_ALARM_TREND], 1);
    assert_string_equal(h.last[TIDE_ALARM_NEW].word, "burst");
    assert_string_equal(h.last[TIDE_ALARM_TREND].word, "burst");
    for (uint32_t d = 0; d < 8; d++)
        numbered_row(&w, 7)[d] = (float)tide_rng_normal(&rng);
    look_often(&w, 60, 1);
    assert_int_equal(h.count[TIDE_ALARM_DRIFT], 1);
    assert_string_equal(h.last[TIDE_ALARM_DRIFT].word, "w7");
    assert_int_equal(h.count[TIDE_ALARM_GONE], 0);
    say(&w, "stranger", 1); /* the last of them, seen 101 times, leaves */
    look_later(&w, 1);
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

/* The ring forgets the oldest and never a number. */
static void the_last_alarms_can_be_read_by_number(void **state)
{
    (void)state;
    heard h = {0};
    const tide_history_options options = {
        .step = 1, .warm_up = 1e-9, .count_alarm = 1, .alarm = hear, .alarm_data = &h};
    static tide_alarm alarms[TIDE_ALARMS_KEPT + 1];
    world w = world_of("vocab=2000 " STILL_SETTINGS, &options);
    look_often(&w, 2, 1);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 60; i++) {
            char name[32];
            snprintf(name, sizeof name, "r%dw%d", round, i);
            say(&w, name, 1);
        }
        look_later(&w, 1);
    }
    assert_int_equal(h.count[TIDE_ALARM_NEW], 600);
    size_t count = tide_history_alarms(w.history, 0, alarms, COUNT(alarms));
    assert_int_equal(count, TIDE_ALARMS_KEPT);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(alarms[i].number, 600 - TIDE_ALARMS_KEPT + 1 + i);
    assert_int_equal(tide_history_alarms(w.history, 600, alarms, 1), 0);
    assert_int_equal(tide_history_alarms(w.history, UINT64_MAX, alarms, 1), 0);
    world_free(&w);
}

/* -- odd times ---------------------------------------------------------------------------------------------------- */

static void nothing_is_known_of_nothing(void **state)
{
    (void)state;
    tide_history_word word;
    tide_history_point points[TIDE_HISTORY_RUNGS_MAX];
    tide_gone gone;
    tide_alarm alarm;
    tide_map_point spot;
    uint64_t frame, total = 9;
    tide_error err;
    world w = world_of("vocab=100 " STILL_SETTINGS, NULL);
    w.now = 0;
    for (int looks = 0; looks < 3; looks++) {
        for (int sort = TIDE_HISTORY_COUNT; sort <= TIDE_HISTORY_DRIFT; sort++) {
            const tide_history_list list = {.sort = (tide_history_sort)sort};
            assert_int_equal(
                tide_history_words(w.history, &list, &word, 1, &total, NULL), 0);
            assert_int_equal(total, 0);
        }
        assert_int_equal(tide_history_word_of(w.history, "a", &word, &err),
                         TIDE_ERROR_UNKNOWN);
        assert_int_equal(tide_history_points(w.history, "a", points, &err),
                         TIDE_ERROR_UNKNOWN);
        assert_int_equal(tide_history_gone(w.history, 0, &gone, 1), 0);
        assert_int_equal(tide_history_alarms(w.history, 0, &alarm, 1), 0);
        assert_int_equal(tide_history_map(w.history, &spot, 1, &frame), 0);
        assert_int_equal(tide_history_followed(w.history), 0);
        look_later(&w, 0);
    }
    say(&w, "a", 1);
    look_later(&w, 0);
    word = word_of(&w, "a");
    assert_true(word.rate <= 0 && fabs(word.trend) <= 0 && isnan(word.first_seen));
    assert_int_equal(tide_history_look(w.history, (double)NAN, &err),
                     TIDE_ERROR_PARAMETER);
    assert_int_equal(tide_history_look(w.history, (double)INFINITY, &err),
                     TIDE_ERROR_PARAMETER);
    world_free(&w);
}

/* A clock that is set back stands still once; a year forward is a year. */
static void a_clock_that_jumps_is_followed_forward_only(void **state)
{
    (void)state;
    const tide_history_options options = {.step = 1};
    tide_history_point points[TIDE_HISTORY_RUNGS_MAX];
    world w = world_of("vocab=100 " STILL_SETTINGS, &options);
    for (int second = 0; second < 50; second++) {
        say(&w, "word", 2);
        look_later(&w, 1);
    }
    look_later(&w, -1e6);
    int count = tide_history_points(w.history, "word", points, NULL);
    assert_true(count > 3);
    assert_true(points[0].age > 20 && points[0].age < 50);
    assert_true(fabs(points[0].time + points[0].age - w.now) < 1e-6);
    assert_true(fabs(word_of(&w, "word").rate - 2) < 0.2);
    for (int second = 0; second < 50; second++) {
        say(&w, "word", 2);
        look_later(&w, 1);
    }
    assert_true(fabs(word_of(&w, "word").rate - 2) < 0.2);
    look_later(&w, 3e7);
    count = tide_history_points(w.history, "word", points, NULL);
    assert_true(points[0].age > 3e7 && points[count - 1].age < 1);
    assert_true(word_of(&w, "word").rate < 1e-3);
    world_free(&w);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const tide_history_options wrong[] = {
        {.follow = UINT32_MAX},
        {.watch = UINT32_MAX},
        {.rungs = 1},
        {.rungs = 33},
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

/* -- memory -------------------------------------------------------------------------------------------------------- */

static void memory_is_what_was_said_and_taken_at_the_start(void **state)
{
    (void)state;
    static const char settings[] = "vocab=3000 dim=48 replay=1";
    const tide_history_options options = {.step = 1, .follow = 500};
    tide_params *params = params_of(settings);
    world w = {.trainer = trainer_of(settings)};
    w.live = tide_live_new(w.trainer, TIDE_VECTORS_INPUT, true, NULL);
    uint64_t promised = tide_history_bytes(params, &options);
    allocated_bytes = 0;
    w.history = tide_history_new(w.live, &options, NULL);
    assert_in_range(allocated_bytes, promised - 64 * 64, promised + 64 * 64);
    allocations_left = 0;
    for (int second = 0; second < 20; second++) {
        say_all(&w, 80, 1);
        look_later(&w, 1);
    }
    assert_true(word_of(&w, "w3").rate > 0);
    allocations_left = -1;
    world_free(&w);
    tide_params_free(params);
}

/* Whoever plans is told beforehand; the documents have the figure. */
static void memory_of_the_usual_shape_is_small(void **state)
{
    (void)state;
    tide_params *params = params_of("vocab=70000 dim=100");
    double mebibytes = (double)tide_history_bytes(params, NULL) / (1 << 20);
    print_message("a history of 70,000 words of 100 dimensions: %.1f MiB\n", mebibytes);
    assert_true(mebibytes > 30 && mebibytes < 45);
    tide_params_free(params);
}

static void lost_memory_is_told(void **state)
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

/* -- all at once ----------------------------------------------------------------------------------------------------- */

typedef struct crowd {
    world w;
    _Atomic bool going;
    _Atomic uint64_t looks, answers, wrong;
} crowd;

static void *look_on(void *argument)
{
    crowd *c = argument;
    for (double now = 1; c->going; now += 0.5, c->looks++)
        c->wrong += tide_history_look(c->w.history, now, NULL) != TIDE_OK;
    return NULL;
}

static void *ask_on(void *argument)
{
    crowd *c = argument;
    tide_history *h = c->w.history;
    tide_rng rng = tide_rng_seeded(9);
    static const char *const watched[] = {"the", "tea", "coffee", "nobody"};
    while (c->going) {
        tide_history_word words[20];
        tide_history_point points[TIDE_HISTORY_RUNGS_MAX];
        tide_history_hit hits[5];
        tide_map_point map[50];
        tide_gone gone[5];
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
        tide_history_gone(h, 0, gone, COUNT(gone));
        tide_history_alarms(h, 0, alarms, COUNT(alarms));
        if (tide_rng_below(&rng, 2))
            tide_history_watch(h, word, NULL);
        else
            tide_history_unwatch(h, word, NULL);
        c->wrong += tide_history_save(h, "history", NULL) != TIDE_OK;
        c->answers++;
    }
    return NULL;
}

/* Learning goes on while one thread looks and another asks, watches and saves. */
static void looking_asking_and_learning_go_on_together(void **state)
{
    (void)state;
    const tide_history_options options = {
        .step = 1, .follow = 100, .rungs = 6, .warm_up = 2, .trend_alarm = 0.5};
    crowd c = {.w = world_of("vocab=300 dim=16 threads=2 replay-ring=10000", &options),
               .going = true};
    pthread_t looker, asker;
    assert_int_equal(pthread_create(&looker, NULL, look_on, &c), 0);
    assert_int_equal(pthread_create(&asker, NULL, ask_on, &c), 0);
    corpus text = demo_text(4, 20000);
    while (c.looks < 50 || c.answers < 20) {
        feed(c.w.trainer, text.bytes, text.size);
        tide_live_update(c.w.live);
    }
    c.going = false;
    pthread_join(looker, NULL);
    pthread_join(asker, NULL);
    assert_int_equal(c.wrong, 0);
    free(text.bytes);
    world_free(&c.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_right_also_where_counts_are_halved),
        cmocka_unit_test(a_busy_hour_is_no_trend),
        cmocka_unit_test(words_that_come_are_new_and_those_that_leave_are_gone),
        cmocka_unit_test(what_was_seen_often_is_remembered_longest),
        cmocka_unit_test(words_that_come_back_begin_anew),
        cmocka_unit_test(words_at_the_border_do_not_flap),
        cmocka_unit_test(watched_words_are_followed_whatever_their_rank),
        cmocka_unit_test(drift_is_what_a_word_turns_by_itself),
        cmocka_unit_test(neighbours_then_are_those_of_then),
        cmocka_unit_test(the_past_of_a_word_is_told_oldest_first),
        cmocka_unit_test(the_map_stays_where_it_is),
        cmocka_unit_test(every_event_rings_once),
        cmocka_unit_test(the_last_alarms_can_be_read_by_number),
        cmocka_unit_test(nothing_is_known_of_nothing),
        cmocka_unit_test(a_clock_that_jumps_is_followed_forward_only),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(lists_have_prefixes_pages_and_totals),
        cmocka_unit_test(memory_is_what_was_said_and_taken_at_the_start),
        cmocka_unit_test(memory_of_the_usual_shape_is_small),
        cmocka_unit_test(lost_memory_is_told),
        IN_FOLDER(looking_asking_and_learning_go_on_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
