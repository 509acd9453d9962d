/* test_run_pauses.c - the pause callback of a run, which may read the model. */
#include "batch_fixture.h"

typedef struct pauses {
    tide_trainer *trainer;
    uint64_t tokens[1000];
    size_t count;
} pauses;

static void note_pause(void *data, const tide_stats *stats)
{
    pauses *p = data;
    assert_in_range(p->count, 0, 999);
    p->tokens[p->count++] = stats->tokens;
    assert_int_equal(stats_of(p->trainer).trained, stats->trained);
}

static pauses run_with_pauses(const char *settings, size_t sources, const char *path)
{
    tide_run run = run_over(sources);
    pauses p = {.trainer = trainer_of(settings)};
    run.pause = note_pause;
    run.pause_data = &p;
    run.pause_tokens = 1000;
    run_to(p.trainer, &run, 0);
    save_to(p.trainer, path);
    tide_trainer_free(p.trainer);
    return p;
}

/* At the ends of sentences, which have 1,000 tokens at most, and of the text. */
static pauses expected_pauses(const char *text)
{
    pauses p = {0};
    uint64_t tokens = 0, next = 1000, sentence = 0;
    for (; *text; text++) {
        bool word_ends = *text == ' ' || *text == '\n';
        tokens += word_ends;
        sentence += word_ends;
        if (*text != '\n' && sentence < 1000)
            continue;
        sentence = 0;
        if (tokens < next)
            continue;
        p.tokens[p.count++] = tokens;
        next = tokens - tokens % 1000 + 1000;
    }
    if (p.tokens[p.count - 1] < tokens)
        p.tokens[p.count++] = tokens;
    return p;
}

static void pauses_depend_on_tokens_alone_and_change_nothing(void **state)
{
    (void)state;
    const char *settings = "vocab=100 dim=8";
    corpus t = make_text(51, 700, 300);
    write_file("text", t.bytes, t.size);
    tide_run run = run_over(1);
    tide_trainer *trainer = trainer_of(settings);
    run_to(trainer, &run, 0);
    save_to(trainer, "without");
    uint64_t all = stats_of(trainer).tokens;
    tide_trainer_free(trainer);
    pauses one = run_with_pauses(settings, 1, "with");
    assert_true(same_file("without", "with"));
    pauses expected = expected_pauses(t.bytes);
    assert_int_equal(expected.tokens[expected.count - 1], all);
    assert_int_equal(one.count, expected.count);
    assert_memory_equal(one.tokens, expected.tokens, sizeof one.tokens);

    char *feed_at = strchr(t.bytes + t.size / 3, '\n') + 1;
    write_file("text", t.bytes, (size_t)(feed_at - t.bytes));
    write_file("more", feed_at, t.size - (size_t)(feed_at - t.bytes));
    pauses two = run_with_pauses(settings, 2, "cut");
    assert_int_equal(two.count, one.count);
    assert_memory_equal(two.tokens, one.tokens, sizeof one.tokens);
    free(t.bytes);
}

/* Reaching a multiple is enough, and a multiple reached before the run does not count
 * again. */
static void a_pause_is_due_when_a_multiple_is_reached(void **state)
{
    (void)state;
    static const uint64_t expected[] = {16, 24, 28};
    tide_run run = run_over(1);
    pauses p = {.trainer = trainer_of("vocab=10 dim=4")};
    feed_text(p.trainer, "a b c d\ne f g h\n");
    write_file("text", "a b c d\na b c d\na b c d\na b c d\na b c d\n", 40);
    run.pause = note_pause;
    run.pause_data = &p;
    run.pause_tokens = 8;
    run_to(p.trainer, &run, 0);
    assert_int_equal(p.count, COUNT(expected));
    assert_memory_equal(p.tokens, expected, sizeof expected);
    tide_trainer_free(p.trainer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(pauses_depend_on_tokens_alone_and_change_nothing),
        IN_FOLDER(a_pause_is_due_when_a_multiple_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
