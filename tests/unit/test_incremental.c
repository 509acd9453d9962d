/* test_incremental.c - profile incremental is incremental SGNS: the library against a
 * plain program. */

#include "base/base.h"
#include "train/train.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "oracle_incremental.h"

typedef struct setting {
    int K, D, C, S, types, sentences, table;
    const char *sample;
} setting;

static tide_trainer *make_engine(const setting *s)
{
    tide_error err;
    tide_params *params = tide_params_new(&err);
    char numbers[6][16];
    const int values[6] = {s->K, s->D, s->C, s->S, s->table, 7};
    static const char *const names[6] = {"vocab",    "dim",       "window",
                                         "negative", "reservoir", "seed"};
    assert_non_null(params);
    assert_int_equal(tide_params_set(params, "profile", "incremental", &err), TIDE_OK);
    for (int i = 0; i < 6; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", values[i]);
        assert_int_equal(tide_params_set(params, names[i], numbers[i], &err), TIDE_OK);
    }
    assert_int_equal(tide_params_set(params, "sample", s->sample, &err), TIDE_OK);
    tide_trainer *trainer = tide_trainer_new(params, &err);
    tide_params_free(params);
    if (!trainer)
        fail_msg("%s", err.text);
    return trainer;
}

static rival *make_oracle(const setting *s)
{
    rival *o = calloc(1, sizeof *o);
    assert_non_null(o);
    o->K = s->K;
    o->D = s->D;
    o->C = s->C;
    o->S = s->S;
    o->table_size = s->table;
    o->sample = atof(s->sample);
    o->eta = 0.1;
    o->power = 0.75;
    o->seed = 7;
    o->rounding = tide_rng_seeded(7);
    o->thinning = tide_rng_seeded(7 ^ 0x1e7a4e);
    return o;
}

static void feed_both(tide_trainer *trainer, rival *o, const setting *s)
{
    tide_rng rng = tide_rng_seeded(99);
    for (int i = 0; i < s->sentences; i++) {
        char words[RIVAL_SENTENCE][16], line[RIVAL_SENTENCE * 17] = "";
        int count = 1 + (int)tide_rng_below(&rng, 30);
        for (int j = 0; j < count; j++) {
            snprintf(words[j], sizeof words[j], "w%d",
                     (int)pow(s->types, tide_rng_double(&rng)));
            strcat(strcat(line, words[j]), j + 1 < count ? " " : "\n");
        }
        assert_int_equal(tide_trainer_feed(trainer, line, strlen(line), NULL), TIDE_OK);
        rival_sentence(o, words, count);
    }
    tide_trainer_end(trainer, NULL);
}

static void same_words_and_counts(const tide_model *model, const rival *o)
{
    for (uint32_t k = 0; k < (uint32_t)o->K; k++) {
        uint32_t length;
        const char *word = tide_vocabulary_word(model->vocabulary, k, &length);
        assert_int_equal(length, strlen(o->word[k]));
        if (length)
            assert_memory_equal(word, o->word[k], length);
        if (length)
            assert_int_equal(tide_vocabulary_weight(model->vocabulary, k), o->c[k]);
    }
}

/* Single against double precision; the first steps of AdaGrad magnify the
 * difference. */
static void same_vectors(const tide_model *model, const rival *o)
{
    double worst = 0, longest = 0;
    for (uint32_t k = 0; k < (uint32_t)o->K; k++)
        for (int d = 0; d < o->D; d++) {
            double v = (double)tide_matrix_row(&model->input, k)[d] - o->v[k][d];
            double u = (double)tide_matrix_row(&model->output, k)[d] - o->u[k][d];
            worst = fmax(worst, fmax(fabs(u), fabs(v)));
            longest = fmax(longest, fabs(o->v[k][d]));
        }
    if (!(worst < 2e-3 && longest > 0.5))
        fail_msg("vectors up to %g differ by %g", longest, worst);
}

static void compare(const setting *s, bool words_leave)
{
    tide_trainer *trainer = make_engine(s);
    rival *o = make_oracle(s);
    feed_both(trainer, o, s);
    tide_stats stats;
    tide_trainer_stats(trainer, &stats, sizeof stats);
    assert_true(o->emitted > 0 && stats.trained > 0);
    assert_int_equal(stats.evicted > 0, words_leave);
    same_words_and_counts(tide_trainer_model(trainer), o);
    same_vectors(tide_trainer_model(trainer), o);
    tide_trainer_free(trainer);
    free(o);
}

static void training_matches_incremental_sgns(void **state)
{
    (void)state;
    compare(&(setting){100, 16, 5, 5, 80, 300, 100000, "0.05"}, false);
}

static void a_full_table_is_overwritten_in_proportion(void **state)
{
    (void)state;
    compare(&(setting){100, 8, 2, 5, 80, 400, 500, "0.1"}, false);
}

static void words_with_count_zero_leave_and_start_over(void **state)
{
    (void)state;
    compare(&(setting){30, 8, 3, 3, 150, 300, 2000, "0.1"}, true);
}

static void nothing_is_subsampled_with_sample_1(void **state)
{
    (void)state;
    compare(&(setting){50, 8, 2, 4, 60, 300, 1000, "1"}, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_matches_incremental_sgns),
        cmocka_unit_test(a_full_table_is_overwritten_in_proportion),
        cmocka_unit_test(words_with_count_zero_leave_and_start_over),
        cmocka_unit_test(nothing_is_subsampled_with_sample_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
