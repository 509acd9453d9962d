/* test_resume.c - with one thread a model file is a function of the parameters and the
 * text: how the text is cut into feeds, and where training is stopped and resumed, must
 * not change a byte. */
#include "base/base.h"
#include "file/file.h"
#include "vector/vector.h"
#include "train_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { TOKENS = SANITIZED ? 4000 : 8000 };

/* Each has state that the others do not have. Small vocabularies cause evictions, a
 * small ring is overwritten, a short half-life of the optimizer causes rescales. */
static const char *const recipes[] = {
    "vocab=500 dim=8 replay-ring=20000",
    "vocab=60 dim=8 replay-ring=20000",
    "profile=fast vocab=60 dim=8 admission=none",
    "profile=paper vocab=60 dim=8 reservoir=3000 tau=500 window=2",
    "profile=athena vocab=60 dim=8 reservoir=3000 tau=500",
    "profile=incremental vocab=60 dim=8 reservoir=3000",
    "profile=word2vec vocab=300 dim=8 rate=power",
    "vocab=300 dim=8 vocabulary=exact sampler=smoothed reservoir=3000 replay=1",
    "vocab=60 dim=8 subword=5000 admission=none replay=1",
    "vocab=60 dim=8 half-life=700 replay-ring=20000",
    "vocab=60 dim=8 admission=none replay=4 replay-ring=2000",
    "vocab=500 dim=8 replay=5 replay-ring=3000 replay-fade=2000",
    "vocab=500 dim=8 replay=1 rate-half-life=50",
    "vocab=500 dim=8 replay=1 rate-half-life=70",
};

/* The demo stream with difficult input in the middle of it: a line of 2,500 words, a
 * word too long, invalid UTF-8, non-ASCII words, empty lines, and no newline at the
 * end. */
static corpus odd_text(void)
{
    corpus demo = demo_text(5, TOKENS), t = {malloc(demo.size + 65536), 0};
    assert_non_null(t.bytes);
    size_t half = demo.size / 2;
    while (demo.bytes[half - 1] != '\n')
        half++;
    memcpy(t.bytes, demo.bytes, half);
    t.size = half;
    for (int i = 0; i < 2500; i++)
        t.size += (size_t)sprintf(t.bytes + t.size, "word%d ", i * i % 97);
    t.size += (size_t)sprintf(t.bytes + t.size,
                              "\n\n  \nthe %0200d of \xff\xfe the "
                              "gr\xc3\xbc\xc3\x9f"
                              "e \xe2\x82\xac and\n\n",
                              7);
    memcpy(t.bytes + t.size, demo.bytes + half, demo.size - half);
    t.size += demo.size - half - 1;
    free(demo.bytes);
    return t;
}

static void finish(tide_trainer *trainer, const char *path)
{
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    save_to(trainer, path);
    tide_trainer_free(trainer);
}

static void train_whole(const char *recipe, const corpus *t, const char *path)
{
    tide_trainer *trainer = trainer_of(recipe);
    feed(trainer, t->bytes, t->size);
    finish(trainer, path);
}

/* -- feeds ------------------------------------------------------------------------- */

/* Pieces of `most` bytes, or of random sizes if it is 0. */
static void train_in_pieces(const char *recipe, const corpus *t, size_t most,
                            const char *path)
{
    tide_trainer *trainer = trainer_of(recipe);
    tide_rng rng = tide_rng_seeded(3);
    for (size_t at = 0, size; at < t->size; at += size) {
        size = most ? most : 1 + tide_rng_below(&rng, 200);
        size = size < t->size - at ? size : t->size - at;
        feed(trainer, t->bytes + at, size);
    }
    finish(trainer, path);
}

static void cuts_between_feeds_do_not_change_the_model(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, 4096, 0};
    corpus t = odd_text();
    for (size_t r = 0; r < COUNT(recipes); r++) {
        train_whole(recipes[r], &t, "whole");
        for (size_t i = 0; i < COUNT(sizes); i++) {
            train_in_pieces(recipes[r], &t, sizes[i], "pieces");
            if (!same_file("whole", "pieces"))
                fail_msg("%s: pieces of %zu bytes change the model", recipes[r],
                         sizes[i]);
        }
    }
    free(t.bytes);
}

static void the_same_text_twice_gives_the_same_model(void **state)
{
    (void)state;
    corpus t = odd_text();
    train_whole("vocab=60 dim=20", &t, "one");
    train_whole("vocab=60 dim=20", &t, "two");
    assert_true(same_file("one", "two"));
    train_whole("vocab=60 dim=20 seed=2", &t, "two");
    assert_false(same_file("one", "two"));
    free(t.bytes);
}

/* -- saves ------------------------------------------------------------------------- */

enum { PLACES = 9 };

/* At the beginning; in the middle of a word, a sentence, the endless line, the endless
 * word, a character; between sentences; before the last byte and after it. */
static void find_places(const corpus *t, size_t places[PLACES])
{
    char *line = memmem(t->bytes, t->size, "word0 ", 6);
    char *zeros = memmem(t->bytes, t->size, "0000000000000000", 16);
    char *euro = memmem(t->bytes, t->size, "\xe2\x82\xac", 3);
    assert_true(line && zeros && euro);
    size_t end = t->size / 4;
    while (t->bytes[end - 1] != '\n')
        end++;
    const size_t found[PLACES] = {0,
                                  end,
                                  end + 2,
                                  end + strcspn(t->bytes + end, " ") + 1,
                                  (size_t)(line - t->bytes) + 9000,
                                  (size_t)(zeros - t->bytes) + 100,
                                  (size_t)(euro - t->bytes) + 2,
                                  t->size - 1,
                                  t->size};
    memcpy(places, found, sizeof found);
}

static void a_stop_anywhere_does_not_change_the_model(void **state)
{
    (void)state;
    corpus t = odd_text();
    size_t places[PLACES];
    find_places(&t, places);
    for (size_t r = 0; r < COUNT(recipes); r++) {
        train_whole(recipes[r], &t, "whole");
        tide_trainer *often = trainer_of(recipes[r]);
        size_t at = 0;
        for (int i = 0; i < PLACES; i++) { /* the one stopped at every offset */
            feed(often, t.bytes + at, places[i] - at);
            at = places[i];
            save_to(often, "part");
            tide_trainer_free(often);
            often = load_from("part");
            save_to(often, "again");
            if (!same_file("part", "again"))
                fail_msg("%s: loading at byte %zu changes the model", recipes[r], at);
        }
        finish(often, "often");
        if (!same_file("whole", "often"))
            fail_msg("%s: stops change the model", recipes[r]);
    }
    free(t.bytes);
}

static void a_save_does_not_disturb_training(void **state)
{
    (void)state;
    corpus t = odd_text();
    for (size_t r = 0; r < COUNT(recipes); r++) {
        train_whole(recipes[r], &t, "whole");
        tide_trainer *trainer = trainer_of(recipes[r]);
        for (size_t at = 0, size; at < t.size; at += size) {
            size = t.size - at < 9001 ? t.size - at : 9001;
            feed(trainer, t.bytes + at, size);
            save_to(trainer, "part");
        }
        finish(trainer, "saved");
        if (!same_file("whole", "saved"))
            fail_msg("%s: saving changes the model", recipes[r]);
    }
    free(t.bytes);
}

/* Checks that the parameters have the effects described above. */
static void the_parameters_cause_evictions_wraps_and_rescales(void **state)
{
    (void)state;
    corpus t = odd_text();
    tide_trainer *trainer = trained("vocab=60 dim=8 admission=none replay=1", &t);
    assert_true(stats_of(trainer).evicted > 500);
    assert_int_equal(stats_of(trainer).cut_sentences, 2);
    assert_int_equal(stats_of(trainer).cut_words, 1);
    assert_int_equal(stats_of(trainer).skipped_invalid, 1);
    assert_true(stats_of(trainer).tokens >
                2 * 2000); /* a ring of 2,000 is overwritten */
    finish(trainer, "evicted");
    train_whole("vocab=500 dim=8 replay=1 rate-half-life=50", &t, "rescaled");
    size_t size;
    unsigned char *bytes = read_section("rescaled", "rate.origin", &size);
    assert_true(tide_get64(bytes) > 24 * 50); /* tokens at the last rescale */
    free(bytes);
    free(t.bytes);
}

/* -- changes ----------------------------------------------------------------------- */

static tide_trainer *load_changed(const char *path, const char *name, const char *value,
                                  tide_error *err)
{
    const char *const change[1][2] = {{name, value}};
    return tide_trainer_load(path, change, 1, err);
}

/* A value that differs from the present one and fits the other parameters. */
static const char *other_value(const tide_param_info *info)
{
    static char value[64];
    const char *bar = strchr(info->values, '|');
    if (bar && strncmp(info->initial, info->values, strlen(info->initial)))
        snprintf(value, sizeof value, "%.*s", (int)(bar - info->values), info->values);
    else if (bar)
        snprintf(value, sizeof value, "%.*s", (int)strcspn(bar + 1, "|"), bar + 1);
    else if (!strcmp(info->name, "memory"))
        return "1G";
    else if (!strcmp(info->name, "replay-ring") ||
             !strcmp(info->name, "rate-half-life"))
        return "5000";
    else if (strtod(info->initial, NULL) < 1)
        return !strchr(info->initial, '.')     ? "1"
               : !strcmp(info->initial, "0.5") ? "0.25"
                                               : "0.5";
    else
        return strcmp(info->initial, "4") != 0 ? "4" : "5";
    return value;
}

static void unknown_parameters_are_reported_with_the_file(void **state)
{
    (void)state;
    finish(trainer_of("dim=4 vocab=50"), "some.tide");
    tide_error err;
    tide_model *model = tide_model_load("some.tide", &err);
    assert_non_null(model);
    snprintf(model->params, strlen(model->params), "colour blue\n");
    assert_null(tide_params_of_model(model, &err));
    assert_string_equal(err.text, "some.tide: unknown parameter 'colour blue'");
    tide_model_free(model);
}

static void of_several_values_for_a_parameter_the_last_counts(void **state)
{
    (void)state;
    static const char *const other_first[][2] = {{"dim", "5"}, {"dim", "4"}};
    static const char *const other_last[][2] = {{"dim", "4"}, {"dim", "5"}};
    tide_trainer *trainer = trainer_of("dim=4 vocab=50");
    finish(trainer, "m");
    tide_error err;
    trainer = tide_trainer_load("m", other_first, 2, &err);
    assert_non_null(trainer);
    tide_trainer_free(trainer);
    assert_null(tide_trainer_load("m", other_last, 2, &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
}

static void only_parameters_allowed_on_resume_can_be_changed(void **state)
{
    (void)state;
    size_t count;
    const tide_param_info *infos = tide_params_table(&count);
    tide_trainer *trainer =
        trainer_of("profile=default records=json"); /* so that fields can be given */
    feed_text(trainer, "{\"text\":\"a b c\"}\n");
    finish(trainer, "m");
    for (size_t i = 0; i < count; i++) {
        tide_error err = {.text = ""};
        char value[64];
        const char *other = other_value(&infos[i]);
        trainer = load_changed("m", infos[i].name, other, &err);
        bool fits =
            strcmp(infos[i].name, "epochs") != 0 &&  /* a stream stays a stream */
            strcmp(infos[i].name, "delimiter") != 0; /* and JSON */
        if ((trainer != NULL) != (infos[i].on_resume && fits))
            fail_msg("--%s %s: %s", infos[i].name, other, err.text);
        if (trainer) {
            tide_params_text(tide_trainer_params(trainer), infos[i].name, value,
                             sizeof value);
            assert_string_not_equal(value, infos[i].initial);
            tide_trainer_free(trainer);
        } else {
            assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
            assert_non_null(strstr(err.text, infos[i].name));
        }
        trainer = load_changed("m", infos[i].name, infos[i].initial, &err);
        if (!trainer)
            fail_msg("--%s %s: %s", infos[i].name, infos[i].initial, err.text);
        tide_trainer_free(trainer);
    }
    tide_error err;
    assert_null(load_changed("m", "colour", "blue", &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    assert_null(load_changed("m", "alpha", "much", &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    assert_null(load_changed("m", "memory", "1M", &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
}

static double moved(const char *path, const char *name, const char *value)
{
    static const char more[] = "the minister said that the town would vote again\n";
    tide_trainer *trainer = load_changed(path, name, value, NULL);
    tide_trainer *before = load_from(path);
    assert_true(trainer && before);
    feed_text(trainer, more);
    assert_true(is_finite(tide_trainer_model(trainer)));
    const tide_matrix *now = &tide_trainer_model(trainer)->input;
    const tide_matrix *then = &tide_trainer_model(before)->input;
    double sum = 0;
    for (uint32_t row = 0; row < now->count; row++)
        for (uint32_t d = 0; d < now->dim; d++)
            sum += fabs((double)tide_matrix_row(now, row)[d] -
                        (double)tide_matrix_row(then, row)[d]);
    tide_trainer_free(trainer);
    tide_trainer_free(before);
    return sum;
}

/* The accumulators in the file are scaled by the old half-life and must be converted to
 * the new one. One sentence is so short that the decay during it does not matter. */
static void a_new_half_life_keeps_the_learning_rates(void **state)
{
    (void)state;
    corpus t = odd_text();
    static const char *const others[] = {"0", "70", "100", "1000000"};
    train_whole("vocab=500 dim=8 replay=1 rate-half-life=50 sample=0", &t, "m");
    double same = moved("m", "rate-half-life", "50");
    assert_true(same > 0);
    for (size_t i = 0; i < COUNT(others); i++) {
        double other = moved("m", "rate-half-life", others[i]);
        if (!(other > same / 3 && other < same * 3))
            fail_msg("with rate-half-life %s vectors move %g instead of %g", others[i],
                     other, same);
    }
    free(t.bytes);
}

static void changed_parameters_are_stored_in_the_next_file(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of("vocab=10 dim=4 replay-ring=2000");
    finish(trainer, "m");
    trainer = load_changed("m", "lr", "0.125", NULL);
    assert_non_null(trainer);
    finish(trainer, "n");
    tide_model *model = tide_model_load("n", NULL);
    assert_non_null(model);
    assert_non_null(strstr(tide_model_params(model), "\nalpha 0.125\n"));
    tide_model_free(model);
}

/* -- runs -------------------------------------------------------------------------- */

typedef struct run_log {
    volatile sig_atomic_t stop;
    int stop_after; /* calls of the callback before it stops */
    int notes;
    char last_note[256];
} run_log;

static void on_progress(void *data, const tide_stats *stats)
{
    run_log *log = data;
    assert_true(stats->tokens > 0);
    if (--log->stop_after <= 0)
        log->stop = 1;
}

static void note(void *data, bool warning, const char *text)
{
    (void)warning;
    run_log *log = data;
    log->notes++;
    snprintf(log->last_note, sizeof log->last_note, "%s", text);
}

static int run(tide_trainer *trainer, const char *const *sources, size_t count,
               run_log *log)
{
    tide_run how = {.size = sizeof(tide_run),
                    .sources = sources,
                    .source_count = count,
                    .stop = &log->stop,
                    .progress = log->stop_after ? on_progress : NULL,
                    .progress_data = log,
                    .note = note,
                    .note_data = log};
    tide_error err;
    int status = tide_trainer_run(trainer, &how, &err);
    if (status < 0)
        fail_msg("%s", err.text);
    return status;
}

/* Two files of several blocks each. The second has no newline at the end. */
static void write_sources(void)
{
    corpus t = demo_text(8, 40000);
    size_t half = t.size / 2;
    while (t.bytes[half - 1] != '\n')
        half++;
    write_file("a.txt", t.bytes, half);
    write_file("b.txt", t.bytes + half, t.size - half - 1);
    free(t.bytes);
}

static const char *const two_files[] = {"a.txt", "b.txt"};
static const char *const run_recipes[] = {
    "vocab=300 dim=4 replay-ring=20000",
    "profile=paper vocab=300 dim=4 reservoir=3000",
    "profile=incremental vocab=300 dim=4 reservoir=3000",
};

static void run_to_the_end(const char *recipe, const char *path)
{
    tide_trainer *trainer = trainer_of(recipe);
    run_log log = {0};
    assert_int_equal(run(trainer, two_files, 2, &log), 0);
    assert_int_equal(log.notes, 0);
    save_to(trainer, path);
    tide_trainer_free(trainer);
}

static void a_run_stopped_in_every_block_gives_the_same_model(void **state)
{
    (void)state;
    write_sources();
    for (size_t r = 0; r < COUNT(run_recipes); r++) {
        run_to_the_end(run_recipes[r], "whole");
        tide_trainer *trainer = trainer_of(run_recipes[r]);
        int turns = 0, status;
        uint64_t tokens = 0;
        do {
            run_log log = {.stop_after = 1};
            status = run(trainer, two_files, 2, &log);
            save_to(trainer, "part");
            tide_trainer_free(trainer);
            trainer = load_from("part");
            assert_true(stats_of(trainer).tokens > tokens || status == 0);
            tokens = stats_of(trainer).tokens;
        } while (++turns < 100 && status == 1);
        assert_in_range(turns, 3, 20);
        save_to(trainer, "stopped");
        tide_trainer_free(trainer);
        if (!same_file("whole", "stopped"))
            fail_msg("%s: a stopped run ends elsewhere", run_recipes[r]);
    }
}

static void a_stop_before_the_start_reads_nothing(void **state)
{
    (void)state;
    write_sources();
    run_to_the_end(run_recipes[0], "whole");
    tide_trainer *trainer = trainer_of(run_recipes[0]);
    run_log log = {.stop = 1};
    assert_int_equal(run(trainer, two_files, 2, &log), 1);
    assert_int_equal(stats_of(trainer).tokens, 0);
    log.stop = 0;
    assert_int_equal(run(trainer, two_files, 2, &log), 0);
    save_to(trainer, "stopped");
    tide_trainer_free(trainer);
    assert_true(same_file("whole", "stopped"));
}

/* Runs in a process that is killed while it waits for input from a pipe, after a
 * checkpoint during the first file. */
static void run_killed_after_a_checkpoint(const char *recipe)
{
    static const char *const sources[] = {"a.txt", "pipe"};
    assert_int_equal(mkfifo("pipe", 0600), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tide_run how = {.size = sizeof(tide_run),
                        .sources = sources,
                        .source_count = 2,
                        .save_path = "checkpoint",
                        .save_tokens = 5000};
        tide_trainer_run(trainer_of(recipe), &how, NULL);
        _exit(1);
    }
    struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < 30000 && access("checkpoint", F_OK) != 0; i++)
        nanosleep(&moment, NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void a_run_saves_its_model_at_the_end(void **state)
{
    (void)state;
    write_sources();
    run_to_the_end(run_recipes[0], "whole");
    tide_trainer *trainer = trainer_of(run_recipes[0]);
    tide_run how = {.size = sizeof(tide_run),
                    .sources = two_files,
                    .source_count = 2,
                    .save_path = "saved",
                    .save_tokens = 15000};
    assert_int_equal(tide_trainer_run(trainer, &how, NULL), 0);
    tide_trainer_free(trainer);
    assert_true(same_file("whole", "saved"));
}

static void a_resumed_checkpoint_gives_the_same_model(void **state)
{
    (void)state;
    write_sources();
    run_to_the_end(run_recipes[0], "whole");
    run_killed_after_a_checkpoint(run_recipes[0]);
    tide_trainer *trainer = load_from("checkpoint");
    assert_in_range(stats_of(trainer).tokens, 5000, 20000);
    run_log log = {0};
    assert_int_equal(run(trainer, two_files, 2, &log), 0);
    save_to(trainer, "resumed");
    tide_trainer_free(trainer);
    assert_true(same_file("whole", "resumed"));
}

static void a_changed_file_is_read_from_its_start(void **state)
{
    (void)state;
    write_sources();
    tide_trainer *trainer = trainer_of(run_recipes[0]);
    run_log log = {.stop_after = 1};
    assert_int_equal(run(trainer, two_files, 2, &log), 1);
    uint64_t tokens = stats_of(trainer).tokens;
    save_to(trainer, "part");
    tide_trainer_free(trainer);
    FILE *file = fopen("a.txt", "r+b");
    assert_non_null(file);
    for (int i = 0; i < 100; i++)
        fputs("other words ", file);
    fseek(file, 60000, SEEK_SET);
    for (int i = 0; i < 1000; i++)
        fputs("other words ", file);
    fclose(file);
    trainer = load_from("part");
    log = (run_log){0};
    const char *const source[] = {"a.txt"};
    assert_int_equal(run(trainer, source, 1, &log), 0);
    assert_int_equal(log.notes, 1);
    assert_non_null(strstr(log.last_note, "a.txt"));
    assert_non_null(strstr(log.last_note, "read from the start"));
    tide_trainer *fresh = trainer_of(run_recipes[0]);
    assert_int_equal(run(fresh, source, 1, &log), 0);
    assert_int_equal(stats_of(trainer).tokens, tokens + stats_of(fresh).tokens);
    tide_trainer_free(trainer);
    tide_trainer_free(fresh);
}

static uint64_t tokens_of_run(const char *const *sources, size_t count)
{
    tide_trainer *trainer = trainer_of("vocab=300 dim=4 replay=1");
    run_log log = {0};
    assert_int_equal(run(trainer, sources, count, &log), 0);
    assert_int_equal(log.notes, 0);
    uint64_t tokens = stats_of(trainer).tokens;
    tide_trainer_free(trainer);
    return tokens;
}

static void a_source_named_twice_is_read_twice(void **state)
{
    (void)state;
    write_sources();
    const char *const twice[] = {"a.txt", "a.txt"};
    assert_int_equal(tokens_of_run(twice, 2), 2 * tokens_of_run(twice, 1));
}

static void a_finished_run_leaves_no_positions(void **state)
{
    (void)state;
    write_sources();
    tide_trainer *trainer = trainer_of(run_recipes[0]);
    run_log log = {0};
    assert_int_equal(run(trainer, two_files, 2, &log), 0);
    uint64_t once = stats_of(trainer).tokens;
    assert_int_equal(run(trainer, two_files, 2, &log), 0);
    assert_int_equal(stats_of(trainer).tokens, 2 * once);
    assert_int_equal(log.notes, 0);
    tide_trainer_free(trainer);
}

static void the_demo_source_can_be_stopped_too(void **state)
{
    (void)state;
    const char *const demo[] = {"demo:seed=7,tokens=40000"};
    tide_trainer *trainer = trainer_of(run_recipes[0]);
    run_log log = {0};
    assert_int_equal(run(trainer, demo, 1, &log), 0);
    assert_in_range(stats_of(trainer).tokens, 40000, 40100);
    save_to(trainer, "whole");
    tide_trainer_free(trainer);
    trainer = trainer_of(run_recipes[0]);
    log = (run_log){.stop_after = 1};
    assert_int_equal(run(trainer, demo, 1, &log), 1);
    save_to(trainer, "part");
    tide_trainer_free(trainer);
    trainer = load_from("part");
    log = (run_log){0};
    assert_int_equal(run(trainer, demo, 1, &log), 0);
    save_to(trainer, "stopped");
    tide_trainer_free(trainer);
    assert_true(same_file("whole", "stopped"));
}

static void a_missing_source_is_an_error(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of("vocab=300 dim=4 replay=1");
    const char *const missing[] = {"nowhere.txt"};
    tide_error err;
    tide_run how = {.size = sizeof(tide_run), .sources = missing, .source_count = 1};
    assert_int_equal(tide_trainer_run(trainer, &how, &err), TIDE_ERROR_IO);
    assert_non_null(strstr(err.text, "nowhere.txt"));
    assert_int_equal(tide_trainer_run(trainer, &how, NULL), TIDE_ERROR_IO);
    tide_trainer_free(trainer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(cuts_between_feeds_do_not_change_the_model),
        IN_FOLDER(the_same_text_twice_gives_the_same_model),
        IN_FOLDER(a_stop_anywhere_does_not_change_the_model),
        IN_FOLDER(a_save_does_not_disturb_training),
        IN_FOLDER(the_parameters_cause_evictions_wraps_and_rescales),
        IN_FOLDER(unknown_parameters_are_reported_with_the_file),
        IN_FOLDER(of_several_values_for_a_parameter_the_last_counts),
        IN_FOLDER(only_parameters_allowed_on_resume_can_be_changed),
        IN_FOLDER(a_new_half_life_keeps_the_learning_rates),
        IN_FOLDER(changed_parameters_are_stored_in_the_next_file),
        IN_FOLDER(a_run_stopped_in_every_block_gives_the_same_model),
        IN_FOLDER(a_stop_before_the_start_reads_nothing),
        IN_FOLDER(a_run_saves_its_model_at_the_end),
        IN_FOLDER(a_resumed_checkpoint_gives_the_same_model),
        IN_FOLDER(a_changed_file_is_read_from_its_start),
        IN_FOLDER(a_source_named_twice_is_read_twice),
        IN_FOLDER(a_finished_run_leaves_no_positions),
        IN_FOLDER(the_demo_source_can_be_stopped_too),
        IN_FOLDER(a_missing_source_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
