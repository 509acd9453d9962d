/* test_paper.c - profile paper is Algorithm 2: the library against a plain program. */

#include "base/base.h"
#include "train/train.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "oracle_paper.h"

typedef struct setting {
    int K, D, C, S, types, sentences;
    const char *sample, *tau, *alpha;
} setting;

static void set(tide_params *params, const char *name, const char *value)
{
    tide_error err;
    if (tide_params_set(params, name, value, &err))
        fail_msg("%s", err.text);
}

static void set_number(tide_params *params, const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    set(params, name, text);
}

static tide_trainer *make_engine(const setting *s)
{
    tide_error err;
    tide_params *params = tide_params_new(&err);
    set(params, "profile", "paper");
    set_number(params, "vocab", s->K);
    set_number(params, "dim", s->D);
    set_number(params, "window", s->C);
    set_number(params, "negative", s->S);
    set(params, "sample", s->sample);
    set(params, "tau", s->tau);
    set(params, "alpha", s->alpha);
    set(params, "min-alpha", "0.001");
    set(params, "reservoir", "100000");
    set(params, "seed", "7");
    tide_trainer *trainer = tide_trainer_new(params, &err);
    if (!trainer)
        fail_msg("%s", err.text);
    tide_params_free(params);
    return trainer;
}

static oracle *make_oracle(const setting *s)
{
    oracle *o = calloc(1, sizeof *o);
    assert_non_null(o);
    o->K = s->K;
    o->D = s->D;
    o->C = s->C;
    o->S = s->S;
    o->delta = atof(s->sample);
    o->tau = atof(s->tau);
    o->kappa = atof(s->alpha);
    o->floor = 0.001;
    o->seed = 7;
    o->thinning = tide_rng_seeded(7 ^ 0x1e7a4e);
    return o;
}

/* Words of decreasing frequency, and from time to time one that never occurs again. */
static void make_word(char *word, tide_rng *rng, int types)
{
    double u = tide_rng_double(rng);
    if (u < 0.02)
        snprintf(word, 16, "once%d", (int)tide_rng_below(rng, 1000000));
    else
        snprintf(word, 16, "w%d", (int)(pow(types, tide_rng_double(rng))));
}

static void feed_both(tide_trainer *trainer, oracle *o, const setting *s)
{
    tide_rng rng = tide_rng_seeded(99);
    for (int i = 0; i < s->sentences; i++) {
        char words[ORACLE_SENTENCE][16], line[ORACLE_SENTENCE * 17] = "";
        int count = 1 + (int)tide_rng_below(&rng, 30);
        for (int j = 0; j < count; j++) {
            make_word(words[j], &rng, s->types);
            strcat(strcat(line, words[j]), j + 1 < count ? " " : "\n");
        }
        assert_int_equal(tide_trainer_feed(trainer, line, strlen(line), NULL), TIDE_OK);
        oracle_sentence(o, words, count);
    }
    tide_trainer_end(trainer, NULL);
}

static void same_words_and_counts(const tide_model *model, const oracle *o)
{
    assert_int_equal(tide_model_size(model), o->size);
    for (uint32_t k = 0; k < (uint32_t)o->size; k++) {
        uint32_t length;
        const char *word = tide_vocabulary_word(model->vocabulary, k, &length);
        assert_int_equal(length, strlen(o->word[k]));
        assert_memory_equal(word, o->word[k], length);
        assert_int_equal(tide_vocabulary_count(model->vocabulary, k), o->c[k]);
    }
}

/* Single against double precision over some hundred thousand steps. */
static void same_vectors(const tide_model *model, const oracle *o)
{
    double worst = 0;
    for (uint32_t k = 0; k < (uint32_t)o->size; k++)
        for (int d = 0; d < o->D; d++) {
            double v = fabs((double)tide_matrix_row(&model->input, k)[d] - o->v[k][d]);
            double u = fabs((double)tide_matrix_row(&model->output, k)[d] - o->u[k][d]);
            worst = fmax(worst, fmax(u, v));
        }
    if (!(worst < 2e-4))
        fail_msg("vectors differ by %g", worst);
}

static void compare(const setting *s)
{
    tide_trainer *trainer = make_engine(s);
    oracle *o = make_oracle(s);
    feed_both(trainer, o, s);
    const tide_model *model = tide_trainer_model(trainer);
    tide_stats stats;
    tide_trainer_stats(trainer, &stats, sizeof stats);
    assert_true(o->emitted > 0 && stats.trained > 0);
    same_words_and_counts(model, o);
    same_vectors(model, o);
    tide_trainer_free(trainer);
    free(o);
}

static void training_matches_the_papers_algorithm(void **state)
{
    (void)state;
    compare(&(setting){100, 16, 2, 5, 80, 600, "0.02", "2000", "0.025"});
}

static void ejected_words_start_over(void **state)
{
    (void)state;
    compare(&(setting){30, 8, 2, 3, 200, 600, "0.05", "500", "0.05"});
}

static void windows_with_an_ejected_word_are_skipped(void **state)
{
    (void)state;
    compare(&(setting){8, 4, 1, 2, 60, 800, "0.5", "100", "0.05"});
}

static void learning_rates_fall_to_the_minimum(void **state)
{
    (void)state;
    compare(&(setting){60, 8, 3, 5, 50, 400, "0.1", "50", "0.05"});
}

static void nothing_is_subsampled_with_sample_0(void **state)
{
    (void)state;
    compare(&(setting){50, 8, 2, 5, 60, 400, "1", "1000", "0.025"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_matches_the_papers_algorithm),
        cmocka_unit_test(ejected_words_start_over),
        cmocka_unit_test(windows_with_an_ejected_word_are_skipped),
        cmocka_unit_test(learning_rates_fall_to_the_minimum),
        cmocka_unit_test(nothing_is_subsampled_with_sample_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
