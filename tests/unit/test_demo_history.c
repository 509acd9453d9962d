/* test_demo_history.c - the history detects the events of the demo stream: new words
 * are listed as new, changed words lead the drift list, bursts the trend list, and
 * faded words are evicted.
 *
 * The stream is read without a rate limit; 2,000 words count as a second. */
#include "demo/demo.h"
#include "train_fixture.h"

#include "demo_fixture.h"

#include <wordtide/history.h>

enum {
    TOKENS = SANITIZED ? 400000 : 5000000,
    STEP = 10000, /* tokens between two checks */
    WORDS_PER_SECOND = 2000,
    CHANGE_DELAY = 450000, /* tokens from the end of a change to its check */
    DRIFT_AGE = 450,       /* seconds; goes back to before the change */
    MOVERS = 3,
    RISERS = 5,
    NEWEST = 5,
    FADE_DELAY = 1800000, /* tokens until an unused word is evicted */
};

static const char spec[] = "demo:seed=3,events=on";

/* So few slots that each new word evicts another. */
static const char settings[] = "vocab=2350 dim=32 replay=2 half-life=300000 "
                               "rate-half-life=300000";

typedef struct tally {
    int births, found_new;
    int listed, correctly_new; /* words listed as new at the end */
    int changes, found_moved;
    int bursts, found_rising;
    int fades, found_gone;
} tally;

static bool listed(tide_history *history, tide_history_sort sort, size_t count,
                   const char *word)
{
    tide_history_word words[16];
    const tide_history_list list = {.sort = sort};
    int found = tide_history_words(history, &list, words, count, NULL, NULL);
    for (int i = 0; i < found; i++)
        if (!strcmp(words[i].word, word))
            return true;
    return false;
}

static bool is_evicted(tide_history *history, const char *word)
{
    tide_evicted evicted[1000];
    size_t count = tide_history_evicted(history, 0, evicted, COUNT(evicted));
    for (size_t i = 0; i < count; i++)
        if (!strcmp(evicted[i].word, word))
            return true;
    return false;
}

static bool is_due(uint64_t token, uint64_t now)
{
    return token > now - STEP && token <= now;
}

static void check_event(tide_history *history, const tide_demo_event *e, uint64_t now,
                        tally *t)
{
    if (is(e, "birth") && is_due(e->from + 120000, now) && now > 1000000) {
        t->births++;
        t->found_new += listed(history, TIDE_HISTORY_NEW, NEWEST, e->word);
    }
    if (is(e, "change") && is_due(e->to + CHANGE_DELAY, now) && now > 1500000) {
        t->changes++;
        t->found_moved += listed(history, TIDE_HISTORY_DRIFT, MOVERS, e->word);
    }
    if (is(e, "burst") && is_due(e->from + 60000, now) && now > 1000000) {
        t->bursts++;
        t->found_rising += listed(history, TIDE_HISTORY_TREND, RISERS, e->word);
    }
    if (is(e, "fade") && is_due(e->to + FADE_DELAY, now)) {
        t->fades++;
        t->found_gone += is_evicted(history, e->word);
    }
}

static bool has_birth(const event_list *l, const char *word)
{
    for (size_t i = 0; i < l->count; i++)
        if (is(&l->items[i], "birth") && !strcmp(l->items[i].word, word))
            return true;
    return false;
}

/* Checks the frequent words that are listed as new at the end. */
static void check_new_words(tide_history *history, const event_list *l, tally *t)
{
    tide_history_word words[40];
    const tide_history_list list = {.sort = TIDE_HISTORY_NEW};
    int found = tide_history_words(history, &list, words, COUNT(words), NULL, NULL);
    for (int i = 0; i < found; i++) {
        if (words[i].count < 50)
            continue;
        t->listed++;
        t->correctly_new += has_birth(l, words[i].word);
    }
}

static tally run_stream(void)
{
    tally t = {0};
    tide_error err;
    event_list *l = events_of(spec, 0, TOKENS);
    tide_demo_settings demo_settings;
    assert_int_equal(tide_demo_settings_read(spec, &demo_settings, NULL), TIDE_OK);
    tide_demo *demo = tide_demo_of(&demo_settings, NULL);
    tide_trainer *trainer = trainer_of(settings);
    tide_live *live = tide_live_new(trainer, TIDE_VECTORS_INPUT, true, NULL);
    const tide_history_options options = {.step = 5, .drift_age = DRIFT_AGE};
    tide_history *history = tide_history_new(live, &options, &err);
    assert_non_null(history);
    for (uint64_t now = STEP; now <= TOKENS; now += STEP) {
        char bytes[16384];
        size_t size;
        while ((size = tide_demo_read_until(demo, bytes, sizeof bytes, now)) > 0)
            feed(trainer, bytes, size);
        assert_true(tide_live_update(live));
        assert_int_equal(
            tide_history_update(history, (double)now / WORDS_PER_SECOND, &err),
            TIDE_OK);
        for (size_t i = 0; i < l->count; i++)
            check_event(history, &l->items[i], now, &t);
    }
    check_new_words(history, l, &t);
    free(l);
    tide_history_free(history);
    tide_live_free(live);
    tide_trainer_free(trainer);
    tide_demo_free(demo);
    return t;
}

/* Measured: 11 of 11 new words among the 5 newest within a minute, and all 8 listed
 * ones are new; 7 of 7 changed words among the 10 farthest movers of 2,300; 14 of 14
 * bursts among the 5 steepest trends within half a minute; 9 of 9 faded words
 * evicted. */
static void history_detects_all_events(void **state)
{
    (void)state;
    tally t = run_stream();
    print_message("new: %d of %d found, %d of %d listed are; moved: %d of %d; rising: "
                  "%d of %d; gone: %d of %d\n",
                  t.found_new, t.births, t.correctly_new, t.listed, t.found_moved,
                  t.changes, t.found_rising, t.bursts, t.found_gone, t.fades);
    if (SANITIZED)
        return; /* the stream is too short for the events to end */
    assert_true(t.births >= 10 && t.found_new >= t.births - 1);
    assert_true(t.listed >= 5 && t.correctly_new >= t.listed - 1);
    assert_true(t.changes >= 5 && t.found_moved >= t.changes - 1);
    assert_true(t.bursts >= 10 && t.found_rising >= t.bursts - 1);
    assert_true(t.fades >= 5 && t.found_gone >= t.fades - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history_detects_all_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
