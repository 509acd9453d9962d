/* test_refit.c - a run can be stopped during a refit of the classifier, at any epoch
 * and with any source, and resumes to the same bytes.
 */
#include "labels_fixture.h"

#include <signal.h>

#define RECIPE LABELED "vocab=50 dim=8 replay-ring=4000 tokens=space labels=hashtags "

enum { POSTS = 120 };

typedef struct stopper {
    volatile sig_atomic_t stop;
    int epochs;      /* seen */
    int stop_at;     /* the epoch that requests a stop; 0 if none */
    uint64_t tokens; /* number of tokens that does; 0 if none */
} stopper;

static bool see_epoch(void *data, const tide_epoch *epoch)
{
    (void)epoch;
    stopper *s = data;
    if (++s->epochs == s->stop_at)
        s->stop = 1;
    return true;
}

static void see_tokens(void *data, const tide_stats *stats)
{
    stopper *s = data;
    if (s->tokens && stats->tokens >= s->tokens)
        s->stop = 1;
}

/* One run over the source. */
static int run_with(tide_trainer *trainer, stopper *s, const char *source, bool follow)
{
    tide_error err = {.text = ""};
    tide_run how = {.size = sizeof(tide_run),
                    .sources = &source,
                    .source_count = 1,
                    .follow = follow,
                    .stop = &s->stop,
                    .progress = see_tokens,
                    .progress_data = s};
    tide_trainer_watch_labels(trainer, NULL, see_epoch, s);
    int status = tide_trainer_run(trainer, &how, &err);
    if (status < 0)
        fail_msg("%s", err.text);
    return status;
}

static tide_trainer *again(tide_trainer *trainer)
{
    save_to(trainer, "part");
    tide_trainer_free(trainer);
    return load_from("part");
}

/* The model of an uninterrupted run. Returns the number of epochs. */
static int run_whole(const char *settings)
{
    stopper s = {0};
    tide_trainer *trainer = trainer_of(settings);
    assert_int_equal(run_with(trainer, &s, "text", false), 0);
    assert_true(label_stats_of(trainer).fits > 0);
    save_to(trainer, "whole");
    tide_trainer_free(trainer);
    return s.epochs;
}

/* Stopped at this epoch, and up to `more` times at the first epoch after resuming. */
static void run_stopped(const char *settings, int stop_at, int more)
{
    stopper s = {.stop_at = stop_at};
    tide_trainer *trainer = trainer_of(settings);
    int status = run_with(trainer, &s, "text", false);
    for (; status; more--) {
        s = (stopper){.stop_at = more > 0};
        trainer = again(trainer);
        status = run_with(trainer, &s, "text", false);
    }
    save_to(trainer, "stopped");
    tide_trainer_free(trainer);
    if (!same_file("whole", "stopped"))
        fail_msg("%s: a stop at epoch %d changes the model", settings, stop_at);
}

static void a_stop_at_any_epoch_changes_nothing(void **state)
{
    (void)state;
    /* The post of 2300 words is number 61, and post 9 has no words. */
    static const char *const settings[] = {
        RECIPE "label-refit=40", RECIPE "label-refit=61", RECIPE "label-refit=9",
        RECIPE "label-refit=30 phrases=500 phrase-threshold=3"};
    stream s = make_stream(SPACE_HASHTAGS, 3, POSTS);
    write_file("text", s.with.bytes, s.with.size);
    for (size_t i = 0; i < COUNT(settings); i++) {
        int epochs = run_whole(settings[i]);
        for (int stop_at = 1; stop_at <= epochs; stop_at++)
            run_stopped(settings[i], stop_at, 0);
        run_stopped(settings[i], 1, 1);
        run_stopped(settings[i], 1, 5);
    }
    stream_free(&s);
}

/* Blocks have 64 KiB: the stop is in the second one, with more text after it. */
static void a_stop_in_a_long_text_changes_nothing(void **state)
{
    (void)state;
    stream s = make_stream(SPACE_HASHTAGS, 4, 9000);
    assert_true(s.with.size > 3 * 65536);
    write_file("text", s.with.bytes, s.with.size);
    int epochs = run_whole(RECIPE "label-refit=3000");
    assert_int_equal(epochs, 6);
    for (int stop_at = 1; stop_at <= epochs; stop_at++)
        run_stopped(RECIPE "label-refit=3000", stop_at, stop_at % 2);
    run_stopped(RECIPE "label-refit=3000", 1, 6);
    stream_free(&s);
}

static void records_are_deferred_too(void **state)
{
    (void)state;
    static const char settings[] =
        LABELED "vocab=30 dim=8 replay=1 records=json text=t label=l labels=marked "
                "label-refit=25";
    char text[POSTS * 64];
    size_t size = 0;
    for (int i = 0; i < POSTS; i++)
        size += (size_t)sprintf(text + size,
                                "{\"l\":[\"a%d\",\"b%d\"],\"t\":\"w%d w%d\\nw%d\"}\n",
                                i % 3, i % 5, i % 3, i % 7, i % 5);
    write_file("text", text, size);
    int epochs = run_whole(settings);
    for (int stop_at = 1; stop_at <= epochs; stop_at++)
        run_stopped(settings, stop_at, 0);
}

static void the_classifier_is_as_it_was_before_the_stop(void **state)
{
    (void)state;
    stream text = make_stream(SPACE_HASHTAGS, 3, POSTS);
    write_file("text", text.with.bytes, text.with.size);
    stopper s = {.stop_at = 3}; /* of two at a time */
    tide_trainer *trainer = trainer_of(RECIPE "label-refit=40");
    assert_int_equal(run_with(trainer, &s, "text", false), 1);
    tide_label_stats stats = label_stats_of(trainer);
    assert_int_equal(s.epochs, 3);
    assert_int_equal(stats.fits, 1);
    assert_int_equal(stats.posts_at_fit, 40);
    assert_int_equal(stats.posts, 80);

    /* Direct feeds cannot be stopped: deferred text is processed first. */
    trainer = again(trainer);
    tide_trainer_watch_labels(trainer, NULL, see_epoch, &s);
    feed_text(trainer, "w1 w2 #tag1\n");
    stats = label_stats_of(trainer);
    assert_int_equal(stats.fits, 3);
    assert_int_equal(stats.posts, POSTS + 1);
    tide_trainer_free(trainer);
    stream_free(&text);
}

/* Until all words are read, since the source has no end. */
static void follow_text(tide_trainer *trainer, uint64_t tokens, const char *path)
{
    stopper s = {.tokens = tokens};
    assert_int_equal(run_with(trainer, &s, "text", true), 1);
    assert_int_equal(stats_of(trainer).tokens, tokens);
    save_to(trainer, path);
    tide_trainer_free(trainer);
}

static void a_followed_file_resumes_too(void **state)
{
    (void)state;
    static const char settings[] = RECIPE "label-refit=40";
    stream text = make_stream(SPACE_HASHTAGS, 3, POSTS);
    write_file("text", text.with.bytes, text.with.size);
    run_whole(settings);
    tide_trainer *trainer = load_from("whole");
    uint64_t tokens = stats_of(trainer).tokens;
    tide_trainer_free(trainer);
    follow_text(trainer_of(settings), tokens, "whole");
    for (int stop_at = 1; stop_at <= 6; stop_at++) {
        stopper s = {.stop_at = stop_at};
        trainer = trainer_of(settings);
        assert_int_equal(run_with(trainer, &s, "text", true), 1);
        assert_true(stats_of(trainer).tokens < tokens);
        follow_text(again(trainer), tokens, "stopped");
        assert_true(same_file("whole", "stopped"));
    }
    stream_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_stop_at_any_epoch_changes_nothing),
        IN_FOLDER(a_stop_in_a_long_text_changes_nothing),
        IN_FOLDER(records_are_deferred_too),
        IN_FOLDER(the_classifier_is_as_it_was_before_the_stop),
        IN_FOLDER(a_followed_file_resumes_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
