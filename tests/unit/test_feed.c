/* test_feed.c - text pushed by other threads: whole lines, in order, each once, and
 * none is lost when the run stops. */
#include "base/base.h"
#include "source/source.h"
#include "train_fixture.h"

#include "feed_fixture.h"

#include <pthread.h>

enum { PUSHERS = 3, LINES = SANITIZED ? 300 : 3000 };

static tide_source *source_of(tide_feed *feed)
{
    const tide_source_options options = {.feed = feed};
    tide_source *source = tide_source_open_with("feed:", &options, NULL);
    assert_non_null(source);
    return source;
}

/* Whatever is pushed and read, in any portions: the reported size is accepted, in whole
 * lines, and is read back unchanged. */
static void lines_come_out_as_they_went_in(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        tide_rng rng = tide_rng_seeded(seed);
        size_t capacity = 1 + tide_rng_below(&rng, 100), taken_all = 0, read_all = 0;
        char taken[20000], read[20000], text[64], bytes[64];
        tide_feed *feed = tide_feed_new(capacity, NULL);
        tide_source *source = source_of(feed);
        for (int turn = 0; turn < 200; turn++) {
            size_t size = tide_rng_below(&rng, sizeof text), waiting;
            for (size_t i = 0; i < size; i++)
                text[i] = tide_rng_below(&rng, 5) ? (char)('a' + turn % 26) : '\n';
            bool whole = tide_rng_below(&rng, 2);
            size_t used = (size_t)(whole ? tide_feed_push_whole
                                         : tide_feed_push)(feed, text, size, NULL);
            assert_true(whole ? used == size || !used : used <= size);
            if (used < size && used)
                assert_int_equal(text[used - 1], '\n');
            memcpy(taken + taken_all, text, used);
            taken_all += used;
            if (used && used == size && text[size - 1] != '\n')
                taken[taken_all++] = '\n';
            waiting = tide_feed_waiting(feed);
            assert_true(waiting <= capacity && waiting == taken_all - read_all);
            ptrdiff_t got = tide_source_poll(
                source, bytes, 1 + tide_rng_below(&rng, sizeof bytes), 0, NULL);
            assert_true(waiting ? got > 0 : got == TIDE_SOURCE_LATER);
            if (got > 0) {
                memcpy(read + read_all, bytes, (size_t)got);
                read_all += (size_t)got;
            }
        }
        tide_feed_close(feed);
        assert_int_equal(tide_feed_push(feed, "late\n", 5, NULL), 0);
        ptrdiff_t got;
        while ((got = tide_source_poll(source, bytes, sizeof bytes, 1000, NULL)) > 0) {
            memcpy(read + read_all, bytes, (size_t)got);
            read_all += (size_t)got;
        }
        assert_int_equal(got, 0);
        assert_int_equal(read_all, taken_all);
        assert_memory_equal(read, taken, taken_all);
        tide_source_close(source);
        tide_feed_free(feed);
    }
}

static uint64_t count_of(const tide_trainer *trainer, const char *word)
{
    tide_entry entry;
    if (tide_model_find(tide_trainer_model(trainer), word, &entry, NULL))
        return 0;
    return entry.count;
}

typedef struct stopping {
    tide_feed *feed;
    pthread_t threads[PUSHERS];
    _Atomic bool ended;
    volatile sig_atomic_t stop;
} stopping;

/* Stops as soon as the others have handed over everything, with text still waiting. */
static void *stop_at_the_end(void *argument)
{
    stopping *s = argument;
    static const char last[] = "lastword lastword lastword";
    for (int i = 0; i < PUSHERS; i++)
        pthread_join(s->threads[i], NULL);
    while (!tide_feed_push(s->feed, last, sizeof last - 1, NULL))
        ;
    s->ended = true;
    return NULL;
}

/* By the thread that learns, as a signal would. */
static void stop_if_ended(void *data, const tide_stats *stats)
{
    (void)stats;
    stopping *s = data;
    s->stop = s->ended;
}

/* Beside a source that always has text. */
static void every_line_is_learned_once(void **state)
{
    (void)state;
    tide_error err;
    stopping s = {.feed = tide_feed_new(1000, NULL)};
    tide_trainer *trainer = trainer_of("vocab=20000 dim=4 replay=1");
    pusher pushers[PUSHERS];
    pthread_t stopper;
    for (int i = 0; i < PUSHERS; i++) {
        pushers[i] = (pusher){s.feed, i, LINES};
        assert_int_equal(pthread_create(&s.threads[i], NULL, push, &pushers[i]), 0);
    }
    assert_int_equal(pthread_create(&stopper, NULL, stop_at_the_end, &s), 0);
    const char *sources[] = {"demo:", "feed:"};
    const tide_run run = {.size = sizeof(tide_run),
                          .sources = sources,
                          .source_count = 2,
                          .feed = s.feed,
                          .follow = true,
                          .progress = stop_if_ended,
                          .progress_data = &s,
                          .stop = &s.stop};
    assert_int_equal(tide_trainer_run(trainer, &run, &err), 1);
    pthread_join(stopper, NULL);
    for (int number = 0; number < PUSHERS; number++)
        for (int line = 0; line < LINES; line++) {
            char word[32];
            snprintf(word, sizeof word, "p%dl%d", number, line);
            assert_int_equal(count_of(trainer, word), 1);
        }
    assert_int_equal(count_of(trainer, "lastword"), 3);
    tide_trainer_free(trainer);
    tide_feed_free(s.feed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_out_as_they_went_in),
        cmocka_unit_test(every_line_is_learned_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
