/* test_history_file.c - saving and loading preserves a history, and corrupt files are
 * rejected. */
#include "history/history_internal.h"
#include "history/alarms.h"
#include "history/history_file.h"
#include "history/snapshots.h"
#include "history/tracked_words.h"
#include "history_fixture.h"

enum { WORDS = 60 };

static const char settings[] = "vocab=80 " STILL_SETTINGS;
static const tide_history_options options = {.step = 1,
                                             .tracked = 40,
                                             .snapshots = 8,
                                             .warm_up = 3,
                                             .baseline = 3,
                                             .count_alarm = 5};

/* A history with every kind of event. */
static world new_history(void)
{
    tide_rng rng = tide_rng_seeded(1);
    world w = world_of(settings, &options);
    feed_words(&w, WORDS, 10);
    random_rows(&w, WORDS, &rng);
    assert_int_equal(tide_history_watch(w.history, "w55", NULL), TIDE_OK);
    assert_int_equal(tide_history_watch(w.history, "absent", NULL), TIDE_OK);
    for (int second = 0; second < 50; second++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", second);
        feed_word(&w, name, 6);
        feed_word(&w, "w1", second % 3);
        numbered_row(&w, 7)[second % 8] += 0.3f;
        update_after(&w, 1);
    }
    return w;
}

/* Another history over the same model, as after a restart. */
static world reloaded(const world *w)
{
    world other = *w;
    other.history = tide_history_new(w->live, &options, NULL);
    assert_non_null(other.history);
    return other;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-4;
}

static void expect_same_words(const world *a, const world *b)
{
    for (int sort = TIDE_HISTORY_COUNT; sort <= TIDE_HISTORY_DRIFT; sort++) {
        tide_history_word x[80], y[80];
        uint64_t totals[2];
        const tide_history_list list = {.sort = (tide_history_sort)sort};
        int count = tide_history_words(a->history, &list, x, 80, &totals[0], NULL);
        assert_int_equal(tide_history_words(b->history, &list, y, 80, &totals[1], NULL),
                         count);
        assert_int_equal(totals[0], totals[1]);
        for (int i = 0; i < count; i++) {
            assert_string_equal(x[i].word, y[i].word);
            assert_true(x[i].count == y[i].count && x[i].seen == y[i].seen &&
                        x[i].tracked == y[i].tracked && x[i].watched == y[i].watched);
            assert_true(
                same(x[i].rate, y[i].rate) && same(x[i].baseline, y[i].baseline) &&
                same(x[i].trend, y[i].trend) && same(x[i].drift, y[i].drift) &&
                same(x[i].since, y[i].since) && same(x[i].first_seen, y[i].first_seen));
        }
    }
}

static void expect_same_past(const world *a, const world *b)
{
    tide_history_point x[TIDE_HISTORY_SNAPSHOTS_MAX], y[TIDE_HISTORY_SNAPSHOTS_MAX];
    for (int word = 0; word < WORDS; word++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", word);
        int count = tide_history_points(a->history, name, x, NULL);
        assert_int_equal(tide_history_points(b->history, name, y, NULL), count);
        for (int i = 0; i < count; i++)
            assert_true(same(x[i].age, y[i].age) && same(x[i].time, y[i].time) &&
                        x[i].count == y[i].count && same(x[i].rate, y[i].rate) &&
                        same(x[i].drift, y[i].drift));
    }
    tide_evicted left[2][80];
    tide_alarm alarms[2][TIDE_ALARMS_MAX];
    size_t count = tide_history_evicted(a->history, 0, left[0], 80);
    assert_int_equal(tide_history_evicted(b->history, 0, left[1], 80), count);
    assert_true(count > 5);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(left[0][i].word, left[1][i].word);
    count = tide_history_alarms(a->history, 0, alarms[0], TIDE_ALARMS_MAX);
    assert_int_equal(tide_history_alarms(b->history, 0, alarms[1], TIDE_ALARMS_MAX),
                     count);
    assert_true(count > 5);
    for (size_t i = 0; i < count; i++)
        assert_true(alarms[0][i].number == alarms[1][i].number &&
                    alarms[0][i].kind == alarms[1][i].kind &&
                    !strcmp(alarms[0][i].word, alarms[1][i].word));
}

/* After the same updates both give the same answers; drift needs the updates that
 * compare. */
static void a_loaded_history_equals_the_saved_one(void **state)
{
    (void)state;
    world w = new_history(), other = reloaded(&w);
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    tide_error err;
    if (tide_history_load(other.history, "history", &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < 60; i++) {
        feed_word(&w, "w2", 3);
        update_after(&w, 1);
        other.now = w.now;
        assert_int_equal(tide_history_update(other.history, other.now, NULL), TIDE_OK);
    }
    expect_same_words(&w, &other);
    expect_same_past(&w, &other);
    assert_int_equal(tide_history_load(other.history, "history", &err),
                     TIDE_ERROR_PARAMETER);
    tide_history_free(other.history);
    world_free(&w);
}

/* Version 1 had no occurrences: they start at the count. */
static void a_file_of_version_1_is_loaded(void **state)
{
    (void)state;
    size_t size, kept = 0;
    world w = new_history(), other = reloaded(&w);
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    unsigned char *words = read_section("history", "words", &size);
    for (size_t at = 0; at < size; at += WORD_SIZE, kept += WORD_SIZE_1)
        memmove(words + kept, words + at, WORD_SIZE_1);
    replace_section("history", "between", "words", words, kept);
    replace_number("between", "old", "history", NUMBER_VERSION, 1);
    tide_error err;
    if (tide_history_load(other.history, "old", &err))
        fail_msg("%s", err.text);
    assert_int_equal(tide_history_check("old", NULL, NULL), TIDE_OK);
    for (int i = 0; i < 60; i++) {
        update_after(&w, 1);
        assert_int_equal(tide_history_update(other.history, w.now, NULL), TIDE_OK);
    }
    expect_same_words(&w, &other);
    free(words);
    tide_history_free(other.history);
    world_free(&w);
}

/* The time without updates has passed. */
static void time_between_two_runs_counts(void **state)
{
    (void)state;
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    world w = new_history(), other = reloaded(&w);
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    assert_int_equal(tide_history_load(other.history, "history", NULL), TIDE_OK);
    update_after(&other, 1e5);
    assert_true(tide_history_points(other.history, "w0", points, NULL) > 3);
    assert_true(points[0].age > 1e5 && points[0].age < 1e5 + 60);
    assert_true(fabs(points[0].time + points[0].age - other.now) < 1e-3);
    tide_history_free(other.history);
    world_free(&w);
}

/* The model may have changed since: words that are not in its vocabulary have no
 * past. */
static void words_not_in_the_vocabulary_are_dropped(void **state)
{
    (void)state;
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    tide_error err;
    world w = new_history(), other = world_of(settings, &options);
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    feed_word(&other, "w3", 7);
    tide_live_update(other.live);
    assert_int_equal(tide_history_load(other.history, "history", NULL), TIDE_OK);
    other.now = w.now;
    update_after(&other, 1);
    assert_true(tide_history_points(other.history, "w3", points, NULL) > 3);
    assert_int_equal(tide_history_points(other.history, "w4", points, &err),
                     TIDE_ERROR_NOT_FOUND);
    assert_int_equal(tide_history_points(other.history, "absent", points, NULL), 0);
    world_free(&other);
    world_free(&w);
}

static void another_shape_is_rejected(void **state)
{
    (void)state;
    static const tide_history_options others[] = {
        {.step = 2, .tracked = 40, .snapshots = 8},
        {.step = 1, .tracked = 40, .snapshots = 9}};
    tide_error err;
    world w = new_history();
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    for (size_t i = 0; i < COUNT(others); i++) {
        tide_history *h = tide_history_new(w.live, &others[i], NULL);
        assert_int_equal(tide_history_load(h, "history", &err), TIDE_ERROR_PARAMETER);
        tide_history_free(h);
    }
    world other = world_of("vocab=80 dim=9", &options);
    assert_int_equal(tide_history_load(other.history, "history", &err),
                     TIDE_ERROR_PARAMETER);
    assert_int_equal(tide_history_load(other.history, "nowhere", &err), TIDE_ERROR_IO);
    world_free(&other);
    world_free(&w);
}

/* With fewer rows, as many words are tracked as fit. */
static void a_smaller_history_loads_what_fits(void **state)
{
    (void)state;
    const tide_history_options small = {
        .step = 1, .tracked = 5, .snapshots = 8, .watched = 1};
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    world w = new_history();
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    world other = w;
    other.history = tide_history_new(w.live, &small, NULL);
    assert_int_equal(tide_history_load(other.history, "history", NULL), TIDE_OK);
    update_often(&other, 2, 1);
    assert_true(tide_history_tracked(other.history) <= 6);
    assert_true(tide_history_points(other.history, "w0", points, NULL) > 0);
    tide_history_free(other.history);
    world_free(&w);
}

/* Replaces every number of every section by an odd one: the file is rejected with its
 * name, or the history can be queried and updated. */
static void odd_numbers_are_rejected_or_harmless(void **state)
{
    (void)state;
    static const char *const sections[] = {"history", "places", "rungs",
                                           "words",   "gone",   "alarms"};
    static const uint64_t odd[] = {0, UINT64_MAX, UINT64_C(0x7ff0000000000000),
                                   UINT64_C(0xbff0000000000000), 1};
    int rejected = 0, loaded_count = 0;
    world w = new_history();
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    for (size_t s = 0; s < COUNT(sections); s++) {
        size_t size;
        free(read_section("history", sections[s], &size));
        for (size_t place = 0; place < size / 8 && place < 40; place++) {
            tide_error err = {0};
            world other = reloaded(&w);
            replace_number("history", "changed", sections[s], place,
                           odd[(place + s) % COUNT(odd)]);
            int loaded = tide_history_load(other.history, "changed", &err);
            if (loaded) {
                assert_true(strstr(err.text, "changed") != NULL);
                rejected++;
            } else {
                loaded_count++;
            }
            if (loaded != TIDE_ERROR_PARAMETER) /* another shape */
                assert_int_equal(tide_history_check("changed", NULL, NULL), loaded);
            update_often(&other, 3, 1);
            assert_true(word_of(&other, "w0").rate >= 0);
            tide_history_free(other.history);
        }
    }
    assert_true(rejected > 50 && loaded_count > 20);
    world_free(&w);
}

/* A word cannot have been tracked since tomorrow. */
static void future_times_are_rejected(void **state)
{
    (void)state;
    world w = new_history();
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    const double times[] = {w.history->clock - 1, w.history->clock + 1};
    for (size_t i = 0; i < COUNT(times); i++) {
        tide_error err = {0};
        uint64_t bits;
        memcpy(&bits, &times[i], sizeof bits);
        replace_number("history", "changed", "places", TEXT / 8, bits);
        world other = reloaded(&w);
        assert_int_equal(tide_history_load(other.history, "changed", &err),
                         i ? TIDE_ERROR_FORMAT : TIDE_OK);
        tide_history_free(other.history);
    }
    world_free(&w);
}

static void truncated_or_missing_sections_are_rejected(void **state)
{
    (void)state;
    static const char *const sections[] = {"history", "places", "rungs",
                                           "words",   "gone",   "alarms"};
    world w = new_history();
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    for (size_t s = 0; s < COUNT(sections); s++)
        for (int way = 0; way < 2; way++) {
            size_t size;
            tide_error err = {0};
            world other = reloaded(&w);
            unsigned char *bytes = read_section("history", sections[s], &size);
            replace_section("history", "changed", sections[s], way ? bytes : NULL,
                            size - 1);
            assert_int_equal(tide_history_load(other.history, "changed", &err),
                             TIDE_ERROR_FORMAT);
            assert_true(strstr(err.text, sections[s]) != NULL);
            assert_int_equal(tide_history_check("changed", NULL, NULL),
                             TIDE_ERROR_FORMAT);
            update_often(&other, 2, 1);
            assert_true(isnan(word_of(&other, "w0").first_seen));
            free(bytes);
            tide_history_free(other.history);
        }
    world_free(&w);
}

static void a_file_can_be_checked_without_its_model(void **state)
{
    (void)state;
    tide_history_facts facts;
    tide_error err = {0};
    world w = new_history();
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    assert_int_equal(tide_trainer_save(w.trainer, "model", NULL), TIDE_OK);
    assert_int_equal(tide_history_check("history", &facts, &err), TIDE_OK);
    assert_true(facts.is_history);
    assert_int_equal(facts.dim, 8);
    assert_int_equal(facts.snapshots, options.snapshots);
    assert_true(facts.step == options.step);
    assert_int_equal(facts.tracked, tide_history_tracked(w.history));
    assert_int_equal(tide_history_check("model", &facts, &err), TIDE_ERROR_FORMAT);
    assert_false(facts.is_history);
    assert_int_equal(tide_history_check("nowhere", &facts, &err), TIDE_ERROR_IO);
    assert_false(facts.is_history);
    world_free(&w);
}

/* How many rows a word has. */
static uint32_t count_rows(const world *w, const char *word)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < w->history->snapshots.rows; at++)
        count += !strcmp(w->history->tracked[at].word, word);
    return count;
}

/* Even if it is watched, unwatched and watched again before the next update. */
static void a_word_has_one_row(void **state)
{
    (void)state;
    world w = new_history();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tide_history_unwatch(w.history, "absent", NULL), TIDE_OK);
        assert_int_equal(count_rows(&w, "absent"), 0);
        assert_int_equal(tide_history_watch(w.history, "absent", NULL), TIDE_OK);
        assert_int_equal(count_rows(&w, "absent"), 1);
    }
    assert_int_equal(tide_history_save(w.history, "h", NULL), TIDE_OK);
    world other = reloaded(&w);
    assert_int_equal(tide_history_load(other.history, "h", NULL), TIDE_OK);
    tide_history_free(other.history);
    world_free(&w);
}

/* Earlier versions could write such files. */
static void duplicate_words_are_loaded_once(void **state)
{
    (void)state;
    tide_error err = {0};
    world w = new_history();
    assert_int_not_equal(tide_tracked_word_add(w.history, "absent", true),
                         TIDE_NOT_TRACKED);
    assert_int_not_equal(tide_tracked_word_add(w.history, "w3", false),
                         TIDE_NOT_TRACKED);
    assert_int_equal(tide_history_save(w.history, "h", NULL), TIDE_OK);
    world other = reloaded(&w);
    if (tide_history_load(other.history, "h", &err))
        fail_msg("%s", err.text);
    assert_int_equal(count_rows(&other, "absent"), 1);
    assert_int_equal(count_rows(&other, "w3"), 1);
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    int count = tide_history_points(w.history, "w3", points, NULL);
    assert_int_equal(tide_history_points(other.history, "w3", points, NULL), count);
    tide_history_free(other.history);
    world_free(&w);
}

/* It can still be saved. */
static void a_stopped_history_ignores_updates(void **state)
{
    (void)state;
    world w = new_history();
    double clock = w.history->clock;
    tide_history_stop(w.history);
    update_after(&w, 1);
    assert_true(w.history->clock <= clock);
    assert_int_equal(tide_history_save(w.history, "h", NULL), TIDE_OK);
    world other = reloaded(&w);
    assert_int_equal(tide_history_load(other.history, "h", NULL), TIDE_OK);
    assert_true(same(other.history->clock, clock));
    tide_history_free(other.history);
    world_free(&w);
}

static void an_empty_history_can_be_saved(void **state)
{
    (void)state;
    world w = world_of(settings, &options), other = reloaded(&w);
    assert_int_equal(tide_history_save(w.history, "history", NULL), TIDE_OK);
    assert_int_equal(tide_history_load(other.history, "history", NULL), TIDE_OK);
    feed_word(&w, "a", 1);
    update_after(&other, 1);
    assert_int_equal(word_of(&other, "a").count, 1);
    tide_error err;
    assert_int_equal(tide_history_save(w.history, "no/such/folder", &err),
                     TIDE_ERROR_IO);
    tide_history_free(other.history);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_loaded_history_equals_the_saved_one),
        IN_FOLDER(a_file_of_version_1_is_loaded),
        IN_FOLDER(time_between_two_runs_counts),
        IN_FOLDER(words_not_in_the_vocabulary_are_dropped),
        IN_FOLDER(another_shape_is_rejected),
        IN_FOLDER(a_smaller_history_loads_what_fits),
        IN_FOLDER(odd_numbers_are_rejected_or_harmless),
        IN_FOLDER(future_times_are_rejected),
        IN_FOLDER(truncated_or_missing_sections_are_rejected),
        IN_FOLDER(a_file_can_be_checked_without_its_model),
        IN_FOLDER(a_word_has_one_row),
        IN_FOLDER(duplicate_words_are_loaded_once),
        IN_FOLDER(a_stopped_history_ignores_updates),
        IN_FOLDER(an_empty_history_can_be_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
