/* test_demo_learned.c - a model learns the events of the demo stream: the neighbors of
 * new words are of their group, and those of changed words of their new group. */
#include "demo/demo.h"
#include "train_fixture.h"

#include "demo_fixture.h"

enum {
    NEAR = 10,
    STEP = 20000,
    TOKENS = 4000000,
    LEARNING = 900000, /* tokens from the end of a change to its measurement */
};

static const char spec[] = "demo:seed=3,events=on";
static const char settings[] = "vocab=4000 dim=32 replay=2 half-life=300000 "
                               "rate-half-life=300000";

/* Whether a word is of a group at the start of the stream, or coined for it. */
static bool belongs(const truth *t, const char *group, const char *word)
{
    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->facts[i].words[0], "group") &&
            !strcmp(t->facts[i].words[1], group) && is_in(&t->facts[i], word))
            return true;
    for (int i = 0; i < TIDE_DEMO_COINED_GROUPS; i++)
        if (!strcmp(tide_demo_coinages[i].group, group) &&
            strstr(tide_demo_coinages[i].words, word))
            return true;
    return false;
}

/* The fraction of the nearest words that belong to a group. */
static double precision(const tide_trainer *trainer, const truth *t, const char *word,
                        const char *group)
{
    tide_view *view =
        tide_view_new(tide_trainer_model(trainer), TIDE_VECTORS_INPUT, true, NULL);
    assert_non_null(view);
    tide_query query = {.positive = &word, .positive_count = 1};
    tide_hit hits[NEAR];
    if (tide_view_nearest(view, &query, hits, NEAR, NULL) != NEAR)
        fail_msg("%s has fewer than %d neighbors", word, NEAR);
    int right = 0;
    for (int i = 0; i < NEAR; i++)
        right += belongs(t, group, hits[i].word);
    tide_view_free(view);
    return (double)right / NEAR;
}

typedef struct scores {
    double birth, before, old, new;
    int births, changes_before, changes_after;
} scores;

/* Measures an event when the stream, which advances in steps, has reached the token
 * `now`: a birth at its end, a change just before it and some time after it. */
static void measure_event(const tide_trainer *trainer, const truth *t,
                          const tide_demo_event *e, uint64_t now, scores *s)
{
    uint64_t last = now - STEP;
    if (is(e, "birth") && e->to > last && e->to <= now) {
        s->birth += precision(trainer, t, e->word, e->after);
        s->births++;
    }
    if (!is(e, "change"))
        return;
    if (e->from > now && e->from <= now + STEP) {
        s->before += precision(trainer, t, e->word, e->before);
        s->changes_before++;
    }
    if (e->to + LEARNING > last && e->to + LEARNING <= now) {
        s->old += precision(trainer, t, e->word, e->before);
        s->new += precision(trainer, t, e->word, e->after);
        s->changes_after++;
    }
}

static void feed_until(tide_trainer *trainer, tide_demo *demo, uint64_t token)
{
    char bytes[16384];
    size_t size;
    while ((size = tide_demo_read_until(demo, bytes, sizeof bytes, token)) > 0)
        feed(trainer, bytes, size);
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
}

static scores run_stream(void)
{
    event_list *l = events_of(spec, 0, TOKENS);
    tide_demo_settings demo_settings;
    assert_int_equal(tide_demo_settings_read(spec, &demo_settings, NULL), TIDE_OK);
    tide_demo *demo = tide_demo_of(&demo_settings, NULL);
    tide_trainer *trainer = trainer_of(settings);
    truth t = truth_load();
    scores s = {0};
    for (uint64_t now = STEP; now <= TOKENS; now += STEP) {
        feed_until(trainer, demo, now);
        for (size_t i = 0; i < l->count; i++)
            measure_event(trainer, &t, &l->items[i], now, &s);
    }
    free(l);
    truth_free(&t);
    tide_trainer_free(trainer);
    tide_demo_free(demo);
    return s;
}

/* Mean precision at 10 over all events of the stream. Measured: 1.00 for new words,
 * 1.00 for others before they change; afterwards 0.00 for the old group and 0.98 for
 * the new one. */
static void neighbors_are_of_the_current_group(void **state)
{
    (void)state;
    scores s = run_stream();
    assert_true(s.births >= 10 && s.changes_before >= 5 && s.changes_after >= 4);
    assert_true(s.birth / s.births >= 0.95);
    assert_true(s.before / s.changes_before >= 0.95);
    assert_true(s.old / s.changes_after <= 0.05);
    assert_true(s.new / s.changes_after >= 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbors_are_of_the_current_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
