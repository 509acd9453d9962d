/* test_batch.c - batch training on stored text, which is read several times. */
#include "vector/vector.h"
#include "vocab/vocab.h"
#include "batch_fixture.h"

#include "oracle_batch.h"

/* -- against the oracle ----------------------------------------------------------- */

typedef struct setting {
    const char *sample, *alpha, *min_alpha;
    int vocab, min_count, epochs, D, C, S, lines, types;
} setting;

static batch_oracle *make_oracle(const setting *s)
{
    batch_oracle *o = calloc(1, sizeof *o);
    assert_non_null(o);
    o->D = s->D;
    o->C = s->C;
    o->S = s->S;
    o->epochs = s->epochs;
    o->vocab = (uint64_t)s->vocab;
    o->min_count = (uint64_t)s->min_count;
    o->seed = 7;
    o->sample = atof(s->sample);
    o->alpha = atof(s->alpha);
    o->min_alpha = atof(s->min_alpha);
    return o;
}

static tide_trainer *make_engine(const setting *s, const tide_run *run)
{
    char settings[512];
    snprintf(settings, sizeof settings,
             "profile=word2vec seed=7 sample=%s alpha=%s min-alpha=%s vocab=%d "
             "min-count=%d epochs=%d dim=%d window=%d negative=%d",
             s->sample, s->alpha, s->min_alpha, s->vocab, s->min_count, s->epochs, s->D,
             s->C, s->S);
    return batch_of(settings, run);
}

static void same_words_and_counts(const tide_model *model, const batch_oracle *o)
{
    assert_int_equal(tide_model_size(model), o->size);
    assert_int_equal(tide_vocabulary_total(model->vocabulary), o->total);
    for (uint32_t k = 0; k < (uint32_t)o->size; k++) {
        uint32_t length;
        const char *word = tide_vocabulary_word(model->vocabulary, k, &length);
        assert_int_equal(length, strlen(o->word[k]));
        assert_memory_equal(word, o->word[k], length);
        assert_int_equal(tide_vocabulary_count(model->vocabulary, k), o->count[k]);
        assert_int_equal(tide_vocabulary_error(model->vocabulary, k), 0);
    }
}

/* Compares single with double precision, and checks that the vectors have moved far
 * more than the tolerance. */
static void same_vectors(const tide_model *model, const batch_oracle *o)
{
    double worst = 0, longest = 0;
    for (uint32_t k = 0; k < (uint32_t)o->size; k++)
        for (int d = 0; d < o->D; d++) {
            double v = (double)tide_matrix_row(&model->input, k)[d] - o->v[k][d];
            double u = (double)tide_matrix_row(&model->output, k)[d] - o->u[k][d];
            worst = fmax(worst, fmax(fabs(u), fabs(v)));
            longest = fmax(longest, fabs(o->u[k][d]));
        }
    if (!(worst < 2e-4 && longest > 0.1))
        fail_msg("vectors up to %g differ by %g", longest, worst);
}

static void compare(const setting *s)
{
    corpus t = make_text(11, s->lines, s->types);
    write_file("text", t.bytes, t.size);
    tide_run run = run_over(1);
    tide_trainer *trainer = make_engine(s, &run);
    batch_oracle *o = make_oracle(s);
    batch_train(o, t.bytes);
    const tide_model *model = tide_trainer_model(trainer);
    same_words_and_counts(model, o);
    run_to(trainer, &run, 0);
    same_words_and_counts(model, o);
    same_vectors(model, o);
    tide_stats stats = stats_of(trainer);
    assert_int_equal(stats.epoch, s->epochs);
    assert_int_equal(stats.tokens - stats.rejected, o->done);
    tide_trainer_free(trainer);
    batch_free(o);
    free(t.bytes);
}

static void batch_training_equals_word2vec(void **state)
{
    (void)state;
    compare(&(setting){"0.01", "0.05", "0.0000025", 1000, 5, 2, 16, 5, 5, 500, 300});
}

static void the_most_frequent_words_are_kept(void **state)
{
    (void)state;
    compare(&(setting){"0.05", "0.1", "0.0001", 40, 2, 3, 8, 3, 4, 300, 200});
}

static void rates_fall_to_their_floor_and_no_further(void **state)
{
    (void)state;
    compare(&(setting){"1", "0.1", "0.06", 500, 5, 2, 8, 2, 3, 300, 100});
}

static void nothing_is_subsampled_with_sample_0(void **state)
{
    (void)state;
    compare(&(setting){"0", "0.05", "0", 500, 1, 1, 8, 2, 5, 300, 100});
}

/* -- stop and resume -------------------------------------------------------------- */

static const char *const batch_settings[] = {
    "profile=word2vec epochs=3 vocab=300 dim=12",
    "profile=default epochs=2 vocab=300 dim=12 replay-ring=4000 min-count=2",
    "profile=fast epochs=3 vocab=200 dim=8 rate=decay alpha=0.05 subword=500",
    "profile=word2vec epochs=2 vocab=300 dim=8 rate=coordinate contexts=full",
    "profile=paper epochs=2 vocab=300 dim=8 sampler=alias tau=1000",
};

typedef struct stopper {
    volatile sig_atomic_t stop;
    uint64_t at; /* tokens */
} stopper;

static void stop_there(void *data, const tide_stats *stats)
{
    stopper *s = data;
    if (stats->tokens >= s->at)
        s->stop = 1;
}

static void a_run_stopped_anywhere_resumes_exactly(void **state)
{
    (void)state;
    two_sources(21);
    for (size_t i = 0; i < COUNT(batch_settings); i++) {
        tide_run run = run_over(2);
        tide_trainer *whole = batch_of(batch_settings[i], &run);
        run_to(whole, &run, 0);
        save_to(whole, "whole");
        uint64_t all = stats_of(whole).tokens;
        tide_trainer_free(whole);
        int stops = 0;
        tide_trainer *trainer = batch_of(batch_settings[i], &run);
        for (uint64_t part = 1; part < 8; part++) {
            stopper s = {.at = all * part / 8};
            run.stop = &s.stop;
            run.pause = stop_there;
            run.pause_data = &s;
            run.pause_tokens = 500;
            tide_error err;
            int status = tide_trainer_run(trainer, &run, &err);
            assert_true(status >= 0);
            stops += status;
            save_to(trainer, "half");
            tide_trainer_free(trainer);
            trainer = load_from("half");
            if (!status)
                break;
        }
        run = run_over(2);
        if (stats_of(trainer).tokens < all)
            run_to(trainer, &run, 0);
        assert_in_range(stops, 4, 7);
        save_to(trainer, "parts");
        if (!same_file("whole", "parts"))
            fail_msg("%s: another model after %d stops", batch_settings[i], stops);
        tide_trainer_free(trainer);
    }
}

static void a_batch_model_can_be_given_more_epochs_or_become_a_stream(void **state)
{
    (void)state;
    two_sources(22);
    tide_error err;
    tide_run run = run_over(2);
    tide_trainer *trainer = batch_of("profile=default epochs=1 vocab=300 dim=8", &run);
    run_to(trainer, &run, 0);
    uint64_t once = stats_of(trainer).tokens;
    run_to(trainer, &run, TIDE_ERROR_PARAMETER);
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    static const char *const more[][2] = {{"epochs", "3"}};
    trainer = tide_trainer_load("model", more, 1, &err);
    run_to(trainer, &run, 0);
    assert_int_equal(stats_of(trainer).tokens, 3 * once);
    tide_trainer_free(trainer);
    static const char *const stream[][2] = {{"epochs", "0"}};
    trainer = tide_trainer_load("model", stream, 1, &err);
    feed_text(trainer, "brandnew brandnew brandnew brandnew words\n");
    tide_trainer_end(trainer, NULL);
    assert_true(stats_of(trainer).admitted >= stats_of(trainer).capacity);
    save_to(trainer, "stream");
    tide_trainer_free(trainer);
    static const char *const epochs[][2] = {{"epochs", "2"}};
    assert_null(tide_trainer_load("stream", epochs, 1, &err));
    assert_string_equal(
        err.text, "epochs cannot be changed to 2: the model was started as a stream");
}

/* -- sources ---------------------------------------------------------------------- */

/* A pipe that was read to its end would look like empty text. */
static void resuming_needs_replayable_text_too(void **state)
{
    (void)state;
    two_sources(23);
    tide_run run = run_over(2), pipe = {.size = sizeof(tide_run)};
    static const char *const standard_input[] = {"-"};
    pipe.sources = standard_input;
    pipe.source_count = 1;
    tide_trainer *trainer = batch_of("profile=word2vec epochs=2 vocab=50 dim=4", &run);
    tide_error err;
    assert_int_equal(tide_trainer_run(trainer, &pipe, &err), TIDE_ERROR_PARAMETER);
    assert_string_equal(
        err.text,
        "batch training reads its text several times, but '-' can be read only once");
    tide_trainer_free(trainer);
}

static void a_bad_record_counts_once_in_every_epoch(void **state)
{
    (void)state;
    char text[2000] = "";
    for (int i = 0; i < 20; i++)
        strcat(text, i % 4 ? "{\"text\": \"one two three\"}\n" : "{\"text\": \n");
    write_file("text", text, strlen(text));
    tide_run run = run_over(1);
    run.errors_limited = true;
    for (run.max_errors = 4; run.max_errors <= 5; run.max_errors++) {
        tide_trainer *trainer = batch_of("profile=word2vec records=json text=text "
                                         "epochs=3 vocab=50 dim=4",
                                         &run);
        run_to(trainer, &run, run.max_errors < 5 ? TIDE_ERROR_INPUT : 0);
        tide_trainer_free(trainer);
    }
}

/* The header of a file is a header in every epoch, also after a stop. */
static void headers_are_read_in_every_epoch(void **state)
{
    (void)state;
    write_file("text", "id,body\n1,one two\n2,one two\n3,one two\n", 38);
    tide_run run = run_over(1);
    stopper s = {.at = 8};
    run.stop = &s.stop;
    run.pause = stop_there;
    run.pause_data = &s;
    run.pause_tokens = 2;
    tide_trainer *trainer = batch_of("profile=word2vec records=csv text=body epochs=3 "
                                     "vocab=50 dim=4 min-count=1",
                                     &run);
    run_to(trainer, &run, 1);
    save_to(trainer, "half");
    tide_trainer_free(trainer);
    trainer = load_from("half");
    run = run_over(1);
    run_to(trainer, &run, 0);
    assert_int_equal(stats_of(trainer).tokens, 18);
    assert_int_equal(stats_of(trainer).vocabulary, 2);
    assert_int_equal(stats_of(trainer).rejected, 0);
    tide_trainer_free(trainer);
}

/* A half-life does not affect an optimizer without decay. */
static void a_stream_with_decay_is_resumed_however_long_it_is(void **state)
{
    (void)state;
    corpus t = make_text(24, 1500, 300);
    tide_trainer *trainer =
        trained("profile=word2vec rate-half-life=50 vocab=50 dim=4", &t);
    assert_true(stats_of(trainer).tokens > 50 * 128);
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    tide_trainer_free(load_from("model"));
    free(t.bytes);
}

/* -- rejected input --------------------------------------------------------------- */

static void refuse(const char *settings, const tide_run *run, int status,
                   const char *message)
{
    tide_error err = {.text = ""};
    tide_params *params = params_of(settings);
    tide_trainer *trainer;
    assert_int_equal(tide_trainer_new_batch(params, run, &trainer, &err), status);
    assert_null(trainer);
    assert_string_equal(err.text, message);
    assert_int_equal(err.status, status);
    assert_int_equal(tide_trainer_new_batch(params, run, &trainer, NULL), status);
    tide_params_free(params);
}

static void contradictory_options_are_rejected(void **state)
{
    (void)state;
    write_file("text", "one two three one\n", 18);
    tide_run text = run_over(1), none = {.size = sizeof(tide_run)},
             pipe = {.size = sizeof(tide_run)}, followed = run_over(1);
    static const char *const standard_input[] = {"-"};
    pipe.sources = standard_input;
    pipe.source_count = 1;
    followed.follow = true;
    refuse(
        "epochs=1", &pipe, TIDE_ERROR_PARAMETER,
        "batch training reads its text several times, but '-' can be read only once");
    refuse("epochs=1", &followed, TIDE_ERROR_PARAMETER,
           "batch training reads its text several times, but a followed source has no "
           "end");
    refuse("epochs=0", &text, TIDE_ERROR_PARAMETER,
           "batch training needs epochs of at least 1");
    refuse("epochs=1 frozen=yes", &text, TIDE_ERROR_PARAMETER,
           "frozen needs a model to resume");
    refuse("epochs=1 sampler=reservoir", &text, TIDE_ERROR_PARAMETER,
           "epochs needs sampler alias: reservoirs are for streams");
    refuse("epochs=1 half-life=1000", &text, TIDE_ERROR_PARAMETER,
           "epochs cannot be combined with half-life: counts are fixed");
    refuse("epochs=1 phrases=100", &text, TIDE_ERROR_PARAMETER,
           "epochs cannot be combined with phrases: a pair would be one word in one "
           "epoch and two in another");
    refuse("epochs=1", &text, TIDE_ERROR_INPUT,
           "no word occurs at least 5 times (min-count)");
    refuse("epochs=1", &none, TIDE_ERROR_INPUT, "the text contains no words");
    tide_error err;
    tide_params *params = params_of("epochs=1");
    assert_null(tide_trainer_new(params, &err));
    assert_string_equal(err.text,
                        "epochs needs text whose words have been counted before");
    tide_params_free(params);
}

/* The table for negative sampling does not need a minimum number of words. */
static void a_tiny_text_is_learned(void **state)
{
    (void)state;
    write_file("text", "one two three one\n", 18);
    tide_run run = run_over(1);
    tide_trainer *trainer =
        batch_of("profile=word2vec epochs=4 min-count=1 dim=4 sample=0 vocab=10", &run);
    run_to(trainer, &run, 0);
    assert_int_equal(stats_of(trainer).trained, 16);
    tide_trainer_free(trainer);
}

static void corrupt_numbers_are_rejected(void **state)
{
    (void)state;
    two_sources(71);
    tide_run run = run_over(2);
    tide_trainer *trainer =
        batch_of("profile=word2vec epochs=1 vocab=50 dim=4 admission=none", &run);
    run_to(trainer, &run, 0);
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    tide_error err;
    replace_number("model", "bad", "intake.left-out", 0, UINT64_MAX);
    assert_null(tide_trainer_load("bad", NULL, 0, &err));
    assert_string_equal(err.text, "bad: section \"intake.left-out\" is corrupt");
    replace_number("model", "bad", "vocab.arrived", 0, 5);
    assert_null(tide_trainer_load("bad", NULL, 0, &err));
    assert_string_equal(
        err.text, "bad: section \"vocab.arrived\" is corrupt (more early evictions "
                  "than evictions)");
    replace_section("model", "bad", "passes", NULL, 0);
    assert_null(tide_trainer_load("bad", NULL, 0, &err));
    assert_int_equal(err.status, TIDE_ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(batch_training_equals_word2vec),
        IN_FOLDER(the_most_frequent_words_are_kept),
        IN_FOLDER(rates_fall_to_their_floor_and_no_further),
        IN_FOLDER(nothing_is_subsampled_with_sample_0),
        IN_FOLDER(a_run_stopped_anywhere_resumes_exactly),
        IN_FOLDER(a_batch_model_can_be_given_more_epochs_or_become_a_stream),
        IN_FOLDER(resuming_needs_replayable_text_too),
        IN_FOLDER(a_bad_record_counts_once_in_every_epoch),
        IN_FOLDER(headers_are_read_in_every_epoch),
        IN_FOLDER(a_stream_with_decay_is_resumed_however_long_it_is),
        IN_FOLDER(contradictory_options_are_rejected),
        IN_FOLDER(a_tiny_text_is_learned),
        IN_FOLDER(corrupt_numbers_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
