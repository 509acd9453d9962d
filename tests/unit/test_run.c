/* test_run.c - runs over records, truncated archives and several sources resume where
 * they stopped, without losing, repeating or mixing text.
 */
#include "base/base.h"
#include "train_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#define RECIPE "vocab=300 dim=8 replay=1 "

typedef struct run_log {
    volatile sig_atomic_t stop;
    int stop_after; /* calls of on_progress until it requests a stop; 0 if never */
} run_log;

static void on_progress(void *data, const tide_stats *stats)
{
    run_log *log = data;
    if (stats->tokens > 0 && --log->stop_after == 0)
        log->stop = 1;
}

typedef struct outcome {
    int status;
    tide_error err;
} outcome;

static outcome run_with(tide_trainer *trainer, tide_run how, int stop_after)
{
    run_log log = {.stop_after = stop_after};
    how.stop = &log.stop;
    how.progress = on_progress;
    how.progress_data = &log;
    outcome o = {.err.text = ""};
    o.status = tide_trainer_run(trainer, &how, &o.err);
    return o;
}

static outcome run_one(tide_trainer *trainer, const char *source, int stop_after)
{
    return run_with(
        trainer,
        (tide_run){.size = sizeof(tide_run), .sources = &source, .source_count = 1},
        stop_after);
}

/* A table of posts, whose columns are "id" and "body", in this order or the other. */
static void write_table(const char *path, const corpus *t, bool id_first)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(id_first ? "id,body\n" : "body,id\n", file);
    int number = 0;
    for (const char *line = t->bytes; line < t->bytes + t->size; number++) {
        size_t length = (size_t)(strchr(line, '\n') - line);
        if (id_first)
            fprintf(file, "number%d,\"%.*s\"\n", number, (int)length, line);
        else
            fprintf(file, "\"%.*s\",number%d\n", (int)length, line, number);
        line += length + 1;
    }
    assert_int_equal(fclose(file), 0);
}

static corpus text_of(uint64_t seed, uint64_t tokens)
{
    corpus t = demo_text(seed, tokens);
    t.bytes[t.size] = 0; /* demo_text leaves room */
    return t;
}

static bool knows(const tide_trainer *trainer, const char *word)
{
    tide_entry entry;
    return tide_model_find(tide_trainer_model(trainer), word, &entry, NULL) == TIDE_OK;
}

static tide_trainer *saved_and_loaded(tide_trainer *trainer,
                                      const char *const (*changes)[2], size_t count)
{
    tide_error err;
    save_to(trainer, "part");
    tide_trainer_free(trainer);
    trainer = tide_trainer_load("part", changes, count, &err);
    if (!trainer)
        fail_msg("%s", err.text);
    return trainer;
}

#define CSV RECIPE "records=csv text=body"

static void every_table_resumes_with_its_own_columns(void **state)
{
    (void)state;
    corpus t = text_of(1, 30000), u = text_of(2, 3000);
    write_table("a.csv", &t, true);
    write_table("b.csv", &u, false);
    tide_trainer *whole = trainer_of(CSV);
    assert_int_equal(run_one(whole, "a.csv", 0).status, 0);
    uint64_t tokens = stats_of(whole).tokens;
    save_to(whole, "whole");
    tide_trainer_free(whole);

    tide_trainer *trainer = trainer_of(CSV);
    assert_int_equal(run_one(trainer, "a.csv", 1).status, 1);
    uint64_t half = stats_of(trainer).tokens;
    assert_in_range(half, 1, tokens - 1);
    trainer = saved_and_loaded(trainer, NULL, 0);
    save_to(trainer, "stopped");
    assert_int_equal(run_one(trainer, "a.csv", 0).status, 0);
    save_to(trainer, "resumed");
    assert_true(same_file("whole", "resumed"));
    tide_trainer_free(trainer);

    trainer = load_from("stopped");
    assert_int_equal(run_one(trainer, "b.csv", 0).status, 0);
    assert_true(stats_of(trainer).tokens > half + 2000);
    assert_false(knows(trainer, "number7") || knows(trainer, "id"));
    assert_int_equal(run_one(trainer, "a.csv", 0).status, 0); /* its position is kept */
    assert_false(knows(trainer, "number7") || knows(trainer, "id"));
    assert_int_equal(stats_of(trainer).missing_records, 0);
    tide_trainer_free(trainer);
    free(t.bytes);
    free(u.bytes);
}

static void other_columns_can_be_chosen_in_the_middle(void **state)
{
    (void)state;
    corpus t = text_of(1, 30000);
    write_table("a.csv", &t, true);
    tide_trainer *trainer = trainer_of(CSV);
    assert_int_equal(run_one(trainer, "a.csv", 1).status, 1);
    uint64_t half = stats_of(trainer).tokens;
    trainer = saved_and_loaded(trainer, (const char *const[][2]){{"text", "id"}}, 1);
    assert_int_equal(run_one(trainer, "a.csv", 0).status, 0);
    assert_true(stats_of(trainer).tokens > half);
    assert_int_equal(stats_of(trainer).missing_records, 0);
    tide_trainer_free(trainer);
    free(t.bytes);
}

static void a_run_with_too_many_errors_resumes_to_the_same_model(void **state)
{
    (void)state;
    corpus t = text_of(3, 30000);
    FILE *file = fopen("a.jsonl", "w");
    assert_non_null(file);
    int number = 0;
    for (const char *line = t.bytes; line < t.bytes + t.size; number++) {
        size_t length = (size_t)(strchr(line, '\n') - line);
        fprintf(file, number % 10 ? "{\"text\":\"%.*s\"}\n" : "{%.*s\n", (int)length,
                line);
        line += length + 1;
    }
    fputs("{bad", file);
    fclose(file);
    const char *source = "a.jsonl";
    tide_trainer *trainer = trainer_of(RECIPE "records=json");
    assert_int_equal(run_one(trainer, source, 0).status, 0);
    uint64_t bad = stats_of(trainer).malformed_records;
    save_to(trainer, "whole");
    tide_trainer_free(trainer);
    tide_run how = {.size = sizeof(tide_run),
                    .sources = &source,
                    .source_count = 1,
                    .errors_limited = true,
                    .max_errors = bad - 1};
    trainer = trainer_of(RECIPE "records=json");
    outcome o = run_with(trainer, how, 0);
    assert_int_equal(o.status,
                     TIDE_ERROR_INPUT); /* in the last line, which has no line end */
    tide_trainer_free(trainer);
    how.max_errors = 20;
    trainer = trainer_of(RECIPE "records=json");
    o = run_with(trainer, how, 0);
    assert_int_equal(o.status, TIDE_ERROR_INPUT);
    trainer = saved_and_loaded(trainer, NULL, 0);
    assert_int_equal(run_one(trainer, source, 0).status, 0);
    save_to(trainer, "resumed");
    assert_true(same_file("whole", "resumed"));
    tide_trainer_free(trainer);
    free(t.bytes);
}

static void write_packed(const char *path, const corpus *t, double part)
{
    uLongf size = compressBound(t->size) + 64;
    unsigned char *packed = malloc(size);
    assert_non_null(packed);
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (unsigned char *)t->bytes;
    z.avail_in = (unsigned)t->size;
    z.next_out = packed;
    z.avail_out = (unsigned)size;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    write_file(path, (const char *)packed, (size_t)((double)z.total_out * part));
    deflateEnd(&z);
    free(packed);
}

static void an_archive_that_is_completed_later_is_resumed(void **state)
{
    (void)state;
    corpus t = text_of(4, 40000);
    write_packed("a.gz", &t, 1);
    tide_trainer *trainer = trainer_of(RECIPE);
    assert_int_equal(run_one(trainer, "a.gz", 0).status, 0);
    save_to(trainer, "whole");
    tide_trainer_free(trainer);
    write_packed("a.gz", &t, 0.6);
    trainer = trainer_of(RECIPE);
    assert_int_equal(run_one(trainer, "a.gz", 0).status, TIDE_ERROR_FORMAT);
    assert_true(stats_of(trainer).tokens > 10000);
    trainer = saved_and_loaded(trainer, NULL, 0);
    write_packed("a.gz", &t, 1);
    assert_int_equal(run_one(trainer, "a.gz", 0).status, 0);
    save_to(trainer, "resumed");
    assert_true(same_file("whole", "resumed"));
    tide_trainer_free(trainer);
    free(t.bytes);
}

static void column_names_are_rejected_without_a_header(void **state)
{
    (void)state;
    write_file("a.csv", "id,body\n1,tea\n", 14);
    const char *source = "a.csv";
    tide_trainer *trainer = trainer_of(CSV);
    outcome o = run_with(trainer,
                         (tide_run){.size = sizeof(tide_run),
                                    .sources = &source,
                                    .source_count = 1,
                                    .follow = true},
                         0);
    assert_int_equal(o.status, TIDE_ERROR_PARAMETER);
    assert_non_null(strstr(o.err.text, "a.csv"));
    tide_trainer_free(trainer);
}

/* -- several sources at once ------------------------------------------------------ */

typedef struct typist {
    int pipe, calls;
    volatile sig_atomic_t stop;
} typist;

/* Completes the line after a while, and requests a stop when all words are read. */
static void type_on(void *data, const tide_stats *stats)
{
    typist *t = data;
    if (++t->calls == 3)
        assert_int_equal(write(t->pipe, "lo\n", 3), 3);
    t->stop = stats->tokens == 4 || t->calls == 300;
}

static void an_incomplete_line_is_not_mixed_with_others(void **state)
{
    (void)state;
    write_file("log", "world\nwide\n", 11);
    int ends[2], input = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(input >= 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    assert_int_equal(write(ends[1], "alpha hel", 9), 9);
    typist t = {.pipe = ends[1]};
    const char *const sources[] = {"-", "log"};
    tide_trainer *trainer = trainer_of(RECIPE);
    tide_run how = {.size = sizeof(tide_run),
                    .sources = sources,
                    .source_count = 2,
                    .follow = true,
                    .stop = &t.stop,
                    .progress = type_on,
                    .progress_data = &t};
    assert_int_equal(tide_trainer_run(trainer, &how, NULL), 1);
    dup2(input, STDIN_FILENO);
    assert_int_equal(stats_of(trainer).tokens, 4);
    assert_true(knows(trainer, "hello") && knows(trainer, "world"));

    /* The position in the file was recorded although the run stopped in the pipe. */
    trainer = saved_and_loaded(trainer, NULL, 0);
    write_file("log", "world\nwide\nweb\n", 15);
    t = (typist){.calls = 290};
    how.sources = &sources[1];
    how.source_count = 1;
    assert_int_equal(tide_trainer_run(trainer, &how, NULL), 1);
    assert_int_equal(stats_of(trainer).tokens, 5);
    tide_trainer_free(trainer);
    close(input);
    close(ends[0]);
    close(ends[1]);
}

typedef struct end_log {
    bool saved, saved_at_end;
    int calls, ends; /* calls with `ending` set */
    uint64_t tokens;
} end_log;

static void see_the_end(void *data, const tide_stats *stats)
{
    end_log *log = data;
    log->calls++;
    assert_true(stats->ending || !log->ends); /* it stays set */
    log->ends += stats->ending;
    log->saved_at_end = log->saved_at_end || log->saved;
    log->tokens = stats->tokens;
}

static void the_end_is_reported_before_the_last_save(void **state)
{
    (void)state;
    write_file("text", "hello wide world\n", 17);
    const char *source = "text", *missing = "missing";
    end_log log = {0};
    tide_trainer *trainer = trainer_of(RECIPE);
    tide_run how = {.size = sizeof(tide_run),
                    .sources = &source,
                    .source_count = 1,
                    .progress = see_the_end,
                    .progress_data = &log,
                    .save_path = "m",
                    .saved = &log.saved};
    assert_int_equal(tide_trainer_run(trainer, &how, NULL), 0);
    assert_true(log.saved && !log.saved_at_end);
    assert_true(log.ends >= 1 && log.calls > log.ends);
    assert_int_equal(log.tokens, 3);
    log = (end_log){0};
    how.sources = &missing;
    assert_int_equal(tide_trainer_run(trainer, &how, NULL), TIDE_ERROR_IO);
    assert_true(log.ends == log.calls && log.ends == 1 && !log.saved);
    tide_trainer_free(trainer);
}

/* With a half-life the counts of pairs and of words are halved alike. */
static void words_that_are_independent_are_never_joined(void **state)
{
    (void)state;
    tide_trainer *trainer =
        trainer_of("vocab=500 dim=4 replay=1 phrases=1000 half-life=2000");
    tide_rng rng = tide_rng_seeded(5);
    for (int line = 0; line < 20000; line++) {
        char text[64];
        int at = 0;
        for (int i = 0; i < 8; i++)
            at += sprintf(text + at, "w%d ", (int)tide_rng_below(&rng, 10));
        feed(trainer, text, (size_t)at);
        feed_text(trainer, "\n");
    }
    assert_int_equal(stats_of(trainer).vocabulary, 10);
    tide_trainer_free(trainer);
}

typedef struct asker {
    volatile sig_atomic_t now;
    bool has_asked;
} asker;

static void ask_once(void *data, const tide_stats *stats)
{
    asker *a = data;
    (void)stats;
    a->now = a->now || !a->has_asked;
    a->has_asked = true;
}

/* The checkpoint exists only because it was requested. */
static void a_requested_save_is_made(void **state)
{
    (void)state;
    const char *source = "demo:tokens=200000";
    asker patient = {0}, asking = {0};
    tide_error err;
    tide_run how = {.size = sizeof(tide_run),
                    .sources = &source,
                    .source_count = 1,
                    .progress = ask_once,
                    .progress_data = &patient,
                    .save_path = "end",
                    .checkpoint_path = "way"};
    tide_trainer *trainer = trainer_of(RECIPE);
    assert_int_equal(tide_trainer_run(trainer, &how, &err), 0);
    assert_int_not_equal(access("way", F_OK), 0);
    how.progress_data = &asking;
    how.save_now = &asking.now;
    assert_int_equal(tide_trainer_run(trainer, &how, &err), 0);
    tide_trainer_free(trainer);
    tide_trainer *saved = tide_trainer_load("way", NULL, 0, &err);
    assert_non_null(saved);
    tide_trainer_free(saved);
    assert_true(asking.has_asked && !asking.now);
}

static void count_checkpoint(void *data, const tide_checkpoint *checkpoint)
{
    assert_null(checkpoint->error);
    ++*(int *)data;
}

/* At the end of the sentence in which the limit is reached, however much is read at
 * once: a sentence of the demo has fewer than 50 words. */
static void a_save_is_made_after_save_tokens(void **state)
{
    (void)state;
    enum { WORDS = 30000, EVERY = 500, SENTENCE = 50 };
    corpus t = demo_text(11, WORDS);
    write_file("text", t.bytes, t.size);
    const char *sources[] = {"text", "feed:"};
    for (size_t i = 0; i < COUNT(sources); i++) {
        int saved = 0;
        tide_error err = {0};
        tide_feed *feed = tide_feed_new(t.size + 1, &err);
        assert_int_equal(tide_feed_push(feed, t.bytes, t.size, &err), t.size);
        tide_feed_close(feed);
        tide_run how = {.size = sizeof(tide_run),
                        .sources = &sources[i],
                        .source_count = 1,
                        .feed = feed,
                        .save_path = "m",
                        .save_tokens = EVERY,
                        .checkpointed = count_checkpoint,
                        .checkpointed_data = &saved};
        tide_trainer *trainer = trainer_of(RECIPE);
        assert_int_equal(tide_trainer_run(trainer, &how, &err), 0);
        assert_in_range(saved, WORDS / (EVERY + SENTENCE), WORDS / EVERY);
        tide_trainer_free(trainer);
        tide_feed_free(feed);
    }
    free(t.bytes);
}

/* -- programs built against other versions of the header -------------------------- */

static int run_of_size(const tide_run *run, size_t size)
{
    tide_trainer *trainer = trainer_of(RECIPE);
    tide_run *sized = (tide_run *)(void *)run;
    sized->size = size;
    int status = tide_trainer_run(trainer, run, NULL);
    tide_trainer_free(trainer);
    return status;
}

static void a_run_may_be_of_an_older_or_newer_version(void **state)
{
    (void)state;
    const char *source = "a.txt";
    write_file(source, "tea and coffee\n", 15);
    struct {
        tide_run run;
        char later[24];
    } newer = {.run = {.sources = &source, .source_count = 1, .save_path = "m"}};
    assert_int_equal(run_of_size(&newer.run, 0), TIDE_ERROR_PARAMETER);
    assert_int_equal(run_of_size(&newer.run, sizeof newer), 0);
    assert_int_equal(access("m", F_OK), 0);
    newer.later[20] = 1; /* a member that is set and that this version cannot honor */
    assert_int_equal(run_of_size(&newer.run, sizeof newer), TIDE_ERROR_PARAMETER);
    assert_int_equal(run_of_size(&newer.run, sizeof(tide_run)), 0);
    /* an older program has no save_path, whatever lies behind its struct */
    assert_int_equal(remove("m"), 0);
    assert_int_equal(run_of_size(&newer.run, offsetof(tide_run, save_path)), 0);
    assert_int_equal(access("m", F_OK), -1);
}

static void statistics_have_the_size_that_the_caller_knows(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of(RECIPE);
    assert_int_equal(tide_trainer_feed(trainer, "tea and coffee\n", 15, NULL), 0);
    struct {
        tide_stats stats;
        char later[16];
    } s;
    memset(&s, 0x55, sizeof s);
    tide_trainer_stats(trainer, &s.stats, 2 * sizeof(uint64_t));
    assert_int_equal(s.stats.tokens, 3);
    assert_int_equal(s.stats.sentences, 0x5555555555555555);
    tide_trainer_stats(trainer, &s.stats, sizeof s);
    assert_int_equal(s.stats.sentences, 1);
    for (size_t i = 0; i < sizeof s.later; i++)
        assert_int_equal(s.later[i], 0);
    tide_trainer_free(trainer);
}

static void *stop_trainer(void *trainer)
{
    tide_trainer_stop(trainer);
    return NULL;
}

/* The demo stream never ends by itself. */
static void any_thread_may_stop_a_trainer(void **state)
{
    (void)state;
    const char *source = "demo:";
    const tide_run run = {
        .size = sizeof(tide_run), .sources = &source, .source_count = 1};
    tide_trainer *trainer = trainer_of(RECIPE);
    for (int round = 0; round < 2; round++) { /* a stop is for one run */
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, stop_trainer, trainer), 0);
        assert_int_equal(tide_trainer_run(trainer, &run, NULL), 1);
        pthread_join(thread, NULL);
    }
    source = "a.txt";
    write_file(source, "tea and coffee\n", 15);
    assert_int_equal(tide_trainer_run(trainer, &run, NULL), 0);
    tide_trainer_free(trainer);
}

static void a_run_does_not_replace_its_text(void **state)
{
    (void)state;
    static const char text[] = "tea and coffee\n";
    tide_error err;
    write_file("a.txt", text, sizeof text - 1);
    assert_int_equal(tide_train_file("a.txt", "a.txt", NULL, &err),
                     TIDE_ERROR_PARAMETER);
    assert_string_equal(err.text, "a.txt exists and is not a model; choose another "
                                  "name, or delete it");
    assert_int_equal(access("a.txt.1", F_OK), -1);
    assert_int_equal(tide_train_file("a.txt", "m.tide", NULL, &err), TIDE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_run_may_be_of_an_older_or_newer_version),
        IN_FOLDER(statistics_have_the_size_that_the_caller_knows),
        IN_FOLDER(any_thread_may_stop_a_trainer),
        IN_FOLDER(every_table_resumes_with_its_own_columns),
        IN_FOLDER(other_columns_can_be_chosen_in_the_middle),
        IN_FOLDER(a_run_with_too_many_errors_resumes_to_the_same_model),
        IN_FOLDER(an_archive_that_is_completed_later_is_resumed),
        IN_FOLDER(column_names_are_rejected_without_a_header),
        IN_FOLDER(an_incomplete_line_is_not_mixed_with_others),
        IN_FOLDER(the_end_is_reported_before_the_last_save),
        IN_FOLDER(a_requested_save_is_made),
        IN_FOLDER(a_save_is_made_after_save_tokens),
        IN_FOLDER(a_run_does_not_replace_its_text),
        cmocka_unit_test(words_that_are_independent_are_never_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
