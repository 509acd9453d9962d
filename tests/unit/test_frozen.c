/* test_frozen.c - resuming with a frozen vocabulary. */
#include "base/base.h"
#include "batch_fixture.h"

static const char *const stream_settings[] = {
    "profile=default vocab=120 dim=12 replay-ring=4000 rate-half-life=5000",
    "profile=paper vocab=120 dim=8 reservoir=2000 tau=1000 window=2",
    "profile=athena vocab=120 dim=8 reservoir=2000 tau=1000",
    "profile=incremental vocab=120 dim=8 reservoir=1000",
    "profile=word2vec vocab=120 dim=8",
    "profile=fast vocab=120 dim=8 subword=300 half-life=3000",
};

/* Trains the text on a saved model with a frozen vocabulary. */
static void learn_frozen(const char *from, const char *to, const char *text)
{
    static const char *const frozen[][2] = {{"frozen", "yes"}};
    tide_error err;
    tide_trainer *trainer = tide_trainer_load(from, frozen, 1, &err);
    if (!trainer)
        fail_msg("%s", err.text);
    feed_text(trainer, text);
    tide_trainer_end(trainer, NULL);
    save_to(trainer, to);
    tide_trainer_free(trainer);
}

/* The words of the text that are in the vocabulary. */
static char *known_words(const char *path, const char *text)
{
    tide_model *model = tide_model_load(path, NULL);
    char *known = calloc(1, strlen(text) + 2), *to = known;
    assert_true(model && known);
    while (*text) {
        char word[TIDE_WORD_MAX + 1];
        tide_entry entry;
        size_t length = strcspn(text, " \n");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (length && !tide_model_find(model, word, &entry, NULL))
            to += sprintf(to, "%s ", word);
        text += length;
        if (*text == '\n')
            to += sprintf(to, "\n");
        text += *text != 0;
    }
    tide_model_free(model);
    return known;
}

static void unknown_words_have_no_effect(void **state)
{
    (void)state;
    corpus first = make_text(31, 800, 400), then = make_text(32, 400, 600);
    for (size_t i = 0; i < COUNT(stream_settings); i++) {
        tide_trainer *trainer = trained(stream_settings[i], &first);
        save_to(trainer, "model");
        tide_trainer_free(trainer);
        char *known = known_words("model", then.bytes);
        assert_true(strlen(known) < then.size);
        learn_frozen("model", "with", then.bytes);
        learn_frozen("model", "without", known);
        static const char *const learned[] = {"input", "output", "intake.admitted",
                                              "rate.origin"};
        for (size_t s = 0; s < COUNT(learned); s++)
            same_section("with", "without", learned[s]);
        static const char *const stays[] = {"vocab.state", "vocab.counts", "vocab.text",
                                            "sampler.state"};
        for (size_t s = 0; s < COUNT(stays); s++)
            same_section("model", "with", stays[s]);
        same_section("model", "with",
                     strstr(stream_settings[i], "reservoir") ? "sampler.entries"
                                                             : "sampler.table");
        size_t one, two;
        unsigned char *before = read_section("model", "input", &one),
                      *after = read_section("with", "input", &two);
        assert_memory_not_equal(before, after, one);
        free(before);
        free(after);
        free(known);
    }
    free(first.bytes);
    free(then.bytes);
}

static void a_frozen_model_resumes_exactly_after_a_save_anywhere(void **state)
{
    (void)state;
    corpus first = make_text(33, 500, 400), then = make_text(34, 200, 600);
    tide_rng rng = tide_rng_seeded(5);
    for (size_t i = 0; i < COUNT(stream_settings); i++) {
        tide_trainer *trainer = trained(stream_settings[i], &first);
        save_to(trainer, "model");
        tide_trainer_free(trainer);
        learn_frozen("model", "whole", then.bytes);
        size_t cut = tide_rng_below(&rng, then.size);
        static const char *const frozen[][2] = {{"frozen", "yes"}};
        trainer = tide_trainer_load("model", frozen, 1, NULL);
        feed(trainer, then.bytes, cut);
        save_to(trainer, "half");
        tide_trainer_free(trainer);
        trainer = load_from("half");
        feed(trainer, then.bytes + cut, then.size - cut);
        tide_trainer_end(trainer, NULL);
        save_to(trainer, "parts");
        tide_trainer_free(trainer);
        assert_true(same_file("whole", "parts"));
    }
    free(first.bytes);
    free(then.bytes);
}

/* With min-alpha 0, the learning rate after the end of the schedule is 0; otherwise it
 * is min-alpha. */
static void after_the_schedule_the_rate_stays_at_min_alpha(void **state)
{
    (void)state;
    two_sources(41);
    tide_run both = run_over(2), again = run_over(1);
    tide_trainer *trainer =
        batch_of("profile=word2vec epochs=2 vocab=300 dim=8 min-alpha=0", &both);
    run_to(trainer, &both, 0);
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    static const char *const floors[] = {"0", "0.01"};
    for (size_t i = 0; i < COUNT(floors); i++) {
        const char *changes[][2] = {{"frozen", "yes"}, {"min-alpha", floors[i]}};
        tide_error err;
        trainer = tide_trainer_load("model", (const char *const(*)[2])changes, 2, &err);
        if (!trainer)
            fail_msg("%s", err.text);
        uint64_t before = stats_of(trainer).tokens;
        run_to(trainer, &again, 0);
        assert_true(stats_of(trainer).tokens > before);
        assert_int_equal(stats_of(trainer).epochs, 0);
        save_to(trainer, "on");
        tide_trainer_free(trainer);
        size_t size;
        unsigned char *old = read_section("model", "output", &size),
                      *new = read_section("on", "output", &size);
        assert_int_equal(memcmp(old, new, size) != 0, i);
        free(old);
        free(new);
    }
}

/* A stream may have been too short to build a table of negatives, and with frozen words
 * none can be built later. */
static void a_model_can_be_frozen_after_little_text(void **state)
{
    (void)state;
    static const char *const frozen[][2] = {{"frozen", "yes"}};
    tide_trainer *trainer = trainer_of("vocab=20 dim=4 sample=0 replay=1");
    feed_text(trainer, "one two three\n");
    save_to(trainer, "model");
    assert_int_equal(stats_of(trainer).trained, 0);
    tide_trainer_free(trainer);
    trainer = tide_trainer_load("model", frozen, 1, NULL);
    feed_text(trainer, "three two one\n");
    assert_int_equal(stats_of(trainer).trained, 3);
    tide_trainer_free(trainer);
}

static void a_model_without_words_cannot_be_frozen(void **state)
{
    (void)state;
    static const char *const kinds[] = {"vocab=20 dim=4", "profile=paper reservoir=10",
                                        "profile=incremental reservoir=10"};
    static const char *const frozen[][2] = {{"frozen", "yes"}};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        tide_error err;
        tide_trainer *trainer = trainer_of(kinds[i]);
        save_to(trainer, "model");
        tide_trainer_free(trainer);
        assert_null(tide_trainer_load("model", frozen, 1, &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
        assert_string_equal(
            err.text, "frozen yes: the model has too few words to draw negatives from");
    }
}

/* A pair that becomes frequent now is not joined to a word that is not in the
 * vocabulary. */
static void phrases_are_frozen_with_the_words(void **state)
{
    (void)state;
    static const char *const frozen[][2] = {{"frozen", "yes"}};
    tide_trainer *trainer =
        trainer_of("tokens=space phrases=500 phrase-threshold=2 vocab=50 dim=4");
    for (int i = 0; i < 400; i++)
        feed_text(trainer, i % 2 ? "new york is large\n" : "soup is large cold is\n");
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    trainer = tide_trainer_load("model", frozen, 1, NULL);
    tide_stats before = stats_of(trainer);
    for (int i = 0; i < 400; i++)
        feed_text(trainer, "new york cold soup\n");
    tide_stats after = stats_of(trainer);
    assert_int_equal(after.tokens - before.tokens, 400 * 3);
    assert_int_equal(after.rejected, before.rejected);
    save_to(trainer, "after");
    static const char *const stays[] = {"phrase.state", "phrase.counts"};
    for (size_t s = 0; s < COUNT(stays); s++)
        same_section("model", "after", stays[s]);
    tide_trainer_free(trainer);
}

static void older_files_without_the_section_are_loaded(void **state)
{
    (void)state;
    corpus t = make_text(61, 500, 400);
    tide_trainer *trainer = trained("vocab=50 dim=8 admission=none", &t);
    assert_null(strstr(tide_model_params(tide_trainer_model(trainer)), "epochs"));
    assert_null(strstr(tide_model_params(tide_trainer_model(trainer)), "frozen"));
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    replace_section("model", "older", "vocab.arrived", NULL, 0);
    tide_trainer *one = load_from("model"), *two = load_from("older");
    feed(one, t.bytes, t.size);
    feed(two, t.bytes, t.size);
    save_to(one, "one");
    save_to(two, "two");
    same_section("one", "two", "input");
    same_section("one", "two", "vocab.counts");
    assert_true(stats_of(one).evicted_young > stats_of(two).evicted_young);
    tide_trainer_free(one);
    tide_trainer_free(two);
    free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(unknown_words_have_no_effect),
        IN_FOLDER(a_frozen_model_resumes_exactly_after_a_save_anywhere),
        IN_FOLDER(after_the_schedule_the_rate_stays_at_min_alpha),
        IN_FOLDER(a_model_can_be_frozen_after_little_text),
        IN_FOLDER(a_model_without_words_cannot_be_frozen),
        IN_FOLDER(phrases_are_frozen_with_the_words),
        IN_FOLDER(older_files_without_the_section_are_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
