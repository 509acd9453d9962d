/* test_numerics.c - models after a very long stream behave like young models on the
 * same text. */
#include "base/base.h"
#include "file/file.h"
#include "sgns/optimizer_internal.h"
#include "sgns/sgns.h"
#include "train/ingest_internal.h"
#include "train/train.h"
#include "vector/vector.h"
#include "vocab/vocab.h"
#include "old_fixture.h"

enum { BELOW = 1000, YOUNG = 8000, MORE = 4000 };

/* -- making old -------------------------------------------------------------------- */

/* How much is added to the counters of a model. */
typedef struct older {
    uint64_t tokens, sentences, emitted, centers;
} older;

/* So that each counter passes the age soon. */
static older older_by(const tide_trainer *trainer, uint64_t age)
{
    tide_stats stats = stats_of(trainer);
    const tide_ingest *ingest = tide_trainer_ingest((tide_trainer *)trainer);
    return (older){.tokens = age - BELOW - stats.tokens,
                   .sentences = age - BELOW / 20 - stats.sentences,
                   .emitted = age - BELOW / 20 - ingest->emitted,
                   .centers = age - BELOW - stats.trained};
}

/* All added tokens are of the word in slot 0. A rebuild of the table of negatives
 * becomes due. */
static void make_older(const char *path, const older *by, uint64_t chunks)
{
    shift(path, "vocab.state", VOCAB_TOKENS, 1, VOCAB_TOTAL + 1, by->tokens);
    shift_one(path, "vocab.counts", 0, by->tokens);
    shift(path, "vocab.arrived", 1, 1, SIZE_MAX, by->tokens);
    shift_one(path, "intake", 0, by->sentences);
    shift_one(path, "intake", 1, by->emitted);
    shift_one(path, "intake", 2, by->tokens);
    shift(path, "intake.admitted", 0, 1, SIZE_MAX, by->sentences);
    shift_one(path, "rate.origin", 0, by->tokens);
    shift_one(path, "trainer", 0, by->centers);
    if (chunks) {
        shift_one(path, "replay.chunks", 0, by->tokens - by->tokens % chunks);
        shift(path, "replay.chunks", 2, 2, SIZE_MAX, by->sentences); /* stamps */
    }
    size_t size;
    unsigned char *state = read_section(path, "vocab.state", &size);
    replace_number(path, path, "sampler.state", ALIAS_NEXT,
                   tide_get64(state + 8 * VOCAB_TOKENS));
    free(state);
}

/* -- counting ---------------------------------------------------------------------- */

typedef struct pair {
    tide_trainer *young, *old;
    tide_stats young_before, old_before;
    older by;
    corpus more;
} pair;

static pair pair_of(const char *recipe, uint64_t age, uint64_t chunks)
{
    corpus first = demo_text(5, YOUNG);
    tide_trainer *trainer = trained(recipe, &first);
    save_to(trainer, "young");
    save_to(trainer, "old");
    pair p = {.by = older_by(trainer, age), .more = demo_text(6, MORE)};
    tide_trainer_free(trainer);
    free(first.bytes);
    make_older("old", &p.by, chunks);
    p.young = load_from("young");
    p.old = load_from("old");
    p.young_before = stats_of(p.young);
    p.old_before = stats_of(p.old);
    return p;
}

static void pair_free(pair *p)
{
    tide_trainer_free(p->young);
    tide_trainer_free(p->old);
    free(p->more.bytes);
}

static void feed_both(pair *p)
{
    feed(p->young, p->more.bytes, p->more.size);
    feed(p->old, p->more.bytes, p->more.size);
}

static void assert_same_counts(const pair *p)
{
    const tide_vocabulary *young = tide_trainer_model(p->young)->vocabulary;
    const tide_vocabulary *old = tide_trainer_model(p->old)->vocabulary;
    assert_int_equal(tide_vocabulary_used(old), tide_vocabulary_used(young));
    for (uint32_t slot = 0; slot < tide_vocabulary_used(old); slot++) {
        uint32_t one, two;
        const char *word = tide_vocabulary_word(young, slot, &one);
        assert_memory_equal(word, tide_vocabulary_word(old, slot, &two), one);
        assert_int_equal(one, two);
        assert_int_equal(tide_vocabulary_count(old, slot) - (slot ? 0 : p->by.tokens),
                         tide_vocabulary_count(young, slot));
        assert_int_equal(tide_vocabulary_error(old, slot),
                         tide_vocabulary_error(young, slot));
    }
    assert_int_equal(tide_vocabulary_total(old),
                     tide_vocabulary_total(young) + p->by.tokens);
}

/* Without subsampling both emit the same sentences, replays included. */
static void an_old_model_counts_and_learns_as_much_as_a_young_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++) {
        pair p = pair_of("vocab=3000 dim=8 sample=0 replay=3 replay-ring=4000 "
                         "replay-fade=0",
                         ages[i], 4);
        assert_int_equal(p.old_before.tokens, ages[i] - BELOW);
        feed_both(&p);
        tide_stats young = stats_of(p.young), old = stats_of(p.old);
        assert_true(old.tokens > ages[i] && old.sentences > ages[i]);
        assert_true(p.old_before.sentences < ages[i]);
        assert_int_equal(old.tokens, young.tokens + p.by.tokens);
        assert_int_equal(old.sentences, young.sentences + p.by.sentences);
        assert_int_equal(old.trained, young.trained + p.by.centers);
        uint64_t learned = young.trained - p.young_before.trained;
        assert_true(learned > 2 * (young.tokens - p.young_before.tokens));
        assert_same_counts(&p);
        assert_true(is_finite(tide_trainer_model(p.old)));
        pair_free(&p);
    }
}

static void replays_of_an_old_model_have_faded(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++) {
        pair p = pair_of("vocab=3000 dim=8 sample=0 replay=3 replay-ring=4000 "
                         "replay-fade=10000",
                         ages[i], 4);
        feed_both(&p);
        uint64_t young = stats_of(p.young).trained - p.young_before.trained;
        uint64_t old = stats_of(p.old).trained - p.old_before.trained;
        assert_true(old > MORE / 2 && old < young);
        pair_free(&p);
    }
}

/* The word that fills the past is subsampled; the others are trained as before. */
static void an_old_model_subsamples_frequent_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++) {
        pair p = pair_of("vocab=3000 dim=8 replay=1", ages[i], 0);
        feed_both(&p);
        uint64_t learned = stats_of(p.old).trained - p.old_before.trained;
        assert_in_range(learned, MORE / 2, MORE);
        assert_same_counts(&p);
        pair_free(&p);
    }
}

/* The loss is a moving average over a million pairs, so it changes with every feed at
 * any age. */
static void the_loss_of_an_old_model_keeps_changing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++) {
        pair p = pair_of("vocab=3000 dim=8 replay=1", ages[i], 0);
        double before = p.old_before.loss;
        assert_true(before > 0);
        for (size_t at = 0; at + 8000 < p.more.size; at += 8000) {
            feed(p.old, p.more.bytes + at, 8000);
            double loss = stats_of(p.old).loss;
            assert_true(isfinite(loss) && loss > 0 && loss < 100);
            assert_true(loss != before);
            before = loss;
        }
        pair_free(&p);
    }
}

static void an_old_model_resumes_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++) {
        pair p = pair_of("vocab=3000 dim=8 replay=3 replay-ring=4000", ages[i], 4);
        size_t half = p.more.size / 2;
        feed(p.old, p.more.bytes, half);
        save_to(p.old, "half");
        feed(p.old, p.more.bytes + half, p.more.size - half);
        save_to(p.old, "whole");
        tide_trainer *resumed = load_from("half");
        feed(resumed, p.more.bytes + half, p.more.size - half);
        save_to(resumed, "resumed");
        assert_true(same_file("whole", "resumed"));
        tide_trainer_free(resumed);
        pair_free(&p);
    }
}

/* A reused slot is quarantined until everything emitted with its previous word has been
 * trained. */
static void an_old_model_releases_all_quarantined_slots(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++) {
        pair p = pair_of("vocab=200 dim=8 admission=none replay=1", ages[i], 0);
        save_to(p.old, "old");
        tide_trainer_free(p.old);
        const char *const threads[][2] = {{"threads", "2"}};
        p.old = tide_trainer_load("old", threads, 1, NULL);
        assert_non_null(p.old);
        feed(p.old, p.more.bytes, p.more.size);
        assert_int_equal(tide_trainer_end(p.old, NULL), TIDE_OK);
        assert_true(stats_of(p.old).evicted > p.old_before.evicted);
        for (uint32_t slot = 0; slot < 200; slot++)
            assert_false(tide_ingest_is_quarantined(tide_trainer_ingest(p.old), slot));
        pair_free(&p);
    }
}

static void assert_same_section(const char *a, const char *b, const char *section)
{
    size_t one, two;
    unsigned char *first = read_section(a, section, &one);
    unsigned char *second = read_section(b, section, &two);
    assert_int_equal(one, two);
    assert_memory_equal(first, second, one);
    free(first);
    free(second);
}

static uint64_t number_in(const char *path, const char *section, size_t place)
{
    size_t size;
    unsigned char *bytes = read_section(path, section, &size);
    uint64_t number = tide_get64(bytes + 8 * place);
    free(bytes);
    return number;
}

static void phrases_are_counted_at_any_age(void **state)
{
    (void)state;
    corpus first = demo_text(5, YOUNG), more = demo_text(6, MORE);
    for (size_t i = 0; i < COUNT(ages); i++) {
        tide_trainer *young =
            trained("vocab=3000 dim=8 replay=1 phrases=20000", &first);
        save_to(young, "old");
        uint64_t by = ages[i] - BELOW - number_in("old", "phrase.state", VOCAB_TOKENS);
        shift("old", "phrase.state", VOCAB_TOKENS, 1, VOCAB_TOTAL + 1, by);
        shift_one("old", "phrase.counts", 0, by);
        shift_one("old", "phrase", 0, by); /* words */
        tide_trainer *old = load_from("old");
        feed(young, more.bytes, more.size);
        feed(old, more.bytes, more.size);
        save_to(young, "young");
        save_to(old, "old");
        tide_trainer_free(young);
        tide_trainer_free(old);
        tide_trainer_free(load_from("old"));
        assert_true(number_in("old", "phrase.state", VOCAB_TOKENS) > ages[i]);
        shift("young", "phrase.state", VOCAB_TOKENS, 1, VOCAB_TOTAL + 1, by);
        shift_one("young", "phrase.counts", 0, by);
        assert_same_section("young", "old", "phrase.state");
        assert_same_section("young", "old", "phrase.counts");
    }
    free(first.bytes);
    free(more.bytes);
}

/* The counters allowed in a file are so low that no stream can overflow 64 bits. */
static void counters_that_might_overflow_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *section;
        size_t place;
    } numbers[] = {{"vocab.state", VOCAB_TOKENS},
                   {"intake", 0},
                   {"intake", 1},
                   {"intake", 2},
                   {"intake", 3},
                   {"trainer", 0},
                   {"replay.chunks", 0}};
    corpus t = demo_text(5, YOUNG);
    tide_trainer *trainer = trained("vocab=3000 dim=8 replay=2 replay-ring=4000", &t);
    save_to(trainer, "m");
    tide_trainer_free(trainer);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        tide_error err = {0};
        replace_number("m", "b", numbers[i].section, numbers[i].place,
                       TIDE_COUNTED_MAX + 1);
        assert_null(tide_trainer_load("b", NULL, 0, &err));
        assert_int_equal(err.status, TIDE_ERROR_FORMAT);
    }
    free(t.bytes);
}

/* -- rates ------------------------------------------------------------------------- */

/* The learning rate of the word in a slot for a gradient of 0, which leaves its
 * accumulator as it is. */
static float input_rate(tide_trainer *trainer, uint32_t slot)
{
    const tide_sgns *sgns = sgns_of(trainer);
    float scale = tide_optimizer_scale(sgns->optimizer,
                                       tide_ingest_clock(tide_trainer_ingest(trainer)));
    assert_true(tide_finite(scale) && scale > 0);
    return tide_optimizer_input_rate(sgns->optimizer, sgns->kernels, scale, slot, 0);
}

/* Accumulators are scaled by 2^(tokens / half-life) and rescaled when that has become
 * large: with a half-life of 50 tokens, about three times below. */
static void learning_rates_of_an_old_model_stay_positive_and_finite(void **state)
{
    (void)state;
    const char *const recipes[] = {"vocab=3000 dim=8 replay=1 rate-half-life=50",
                                   "vocab=3000 dim=8 replay=1 rate-half-life=0"};
    for (size_t r = 0; r < COUNT(recipes); r++)
        for (size_t i = 0; i < COUNT(ages); i++) {
            pair p = pair_of(recipes[r], ages[i], 0);
            uint64_t origin = sgns_of(p.old)->optimizer->origin;
            for (size_t at = 0; at + 2000 < p.more.size; at += 2000) {
                feed(p.old, p.more.bytes + at, 2000);
                for (uint32_t slot = 0; slot < 20; slot++) {
                    float rate = input_rate(p.old, slot);
                    assert_true(tide_finite(rate) && rate > 0 && rate < 0.5f);
                }
            }
            bool rescaled = sgns_of(p.old)->optimizer->origin != origin;
            assert_int_equal(rescaled, r == 0);
            assert_true(is_finite(tide_trainer_model(p.old)));
            pair_free(&p);
        }
}

/* A rescale changes no learning rate: every accumulator is divided by the same scale as
 * what is added later. */
static void accumulators_are_rescaled_alike(void **state)
{
    (void)state;
    corpus t = demo_text(5, YOUNG);
    tide_trainer *trainer =
        trained("vocab=60 dim=8 subword=500 replay=1 rate-half-life=2000", &t);
    tide_optimizer *r = sgns_of(trainer)->optimizer;
    uint64_t clock = tide_ingest_clock(tide_trainer_ingest(trainer));
    const tide_accumulators *const all[] = {
        &r->input_accumulators, &r->output_accumulators, &r->subword_accumulators};
    const uint32_t rows[] = {60, 60, 500};
    static float before[3][500];
    for (int i = 0; i < 3; i++)
        for (uint32_t row = 0; row < rows[i]; row++)
            before[i][row] = all[i]->values[tide_sum_at(row, all[i]->shift)];
    float scale = tide_optimizer_scale(r, clock);
    assert_true(scale > 2);
    tide_optimizer_rescale(r, clock);
    assert_true(fabsf(tide_optimizer_scale(r, clock) - 1) < 1e-6f);
    for (int i = 0; i < 3; i++)
        for (uint32_t row = 0; row < rows[i]; row++)
            assert_true(fabsf(all[i]->values[tide_sum_at(row, all[i]->shift)] * scale -
                              before[i][row]) <= 1e-5f * before[i][row]);
    assert_true(before[0][0] > 0 && before[1][0] > 0);
    tide_trainer_free(trainer);
    free(t.bytes);
}

/* Ages stop at 2^32 - 1. */
static void learning_rates_that_fall_with_age_never_rise_again(void **state)
{
    (void)state;
    const char *const recipes[] = {
        "profile=word2vec vocab=3000 dim=8 rate=power tau=1000",
        "profile=paper vocab=3000 dim=8 reservoir=3000 tau=1e10"};
    corpus first = demo_text(5, YOUNG), more = demo_text(6, MORE);
    for (size_t r = 0; r < COUNT(recipes); r++) {
        tide_trainer *trainer = trained(recipes[r], &first);
        save_to(trainer, "m");
        tide_trainer_free(trainer);
        size_t size;
        unsigned char *bytes = read_section("m", "rate.age", &size);
        for (size_t i = 0; i < size / 4; i++)
            memcpy(bytes + 4 * i, &(uint32_t){UINT32_MAX - 20}, 4);
        replace_section("m", "m", "rate.age", bytes, size);
        free(bytes);
        trainer = load_from("m");
        float before = input_rate(trainer, 0);
        for (size_t at = 0; at + 500 < more.size; at += 500) {
            feed(trainer, more.bytes + at, 500);
            float rate = input_rate(trainer, 0);
            assert_true(rate > 0 && rate <= before);
            before = rate;
        }
        assert_int_equal(sgns_of(trainer)->optimizer->age_input[0], UINT32_MAX);
        tide_trainer_free(trainer);
    }
    free(first.bytes);
    free(more.bytes);
}

static void decay_is_even_over_any_number_of_tokens(void **state)
{
    (void)state;
    tide_params *params = params_of("profile=word2vec vocab=10 dim=4");
    tide_optimizer *rates = tide_optimizer_new(params, NULL);
    assert_non_null(rates);
    for (size_t i = 0; i < COUNT(ages); i++) {
        tide_optimizer_set_total(rates, (double)ages[i]);
        float before = 1;
        for (uint64_t step = 0; step <= 1000; step++) {
            float left = tide_optimizer_scale(rates, ages[i] / 1000 * step);
            assert_true(left >= 0 && left <= before);
            assert_true(fabsf(left - (1 - (float)step / 1000)) < 1e-3f);
            before = left;
        }
    }
    tide_optimizer_free(rates);
    tide_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(an_old_model_counts_and_learns_as_much_as_a_young_one),
        IN_FOLDER(replays_of_an_old_model_have_faded),
        IN_FOLDER(an_old_model_subsamples_frequent_words),
        IN_FOLDER(the_loss_of_an_old_model_keeps_changing),
        IN_FOLDER(an_old_model_resumes_exactly),
        IN_FOLDER(an_old_model_releases_all_quarantined_slots),
        IN_FOLDER(phrases_are_counted_at_any_age),
        IN_FOLDER(counters_that_might_overflow_are_refused),
        IN_FOLDER(learning_rates_of_an_old_model_stay_positive_and_finite),
        cmocka_unit_test(accumulators_are_rescaled_alike),
        IN_FOLDER(learning_rates_that_fall_with_age_never_rise_again),
        cmocka_unit_test(decay_is_even_over_any_number_of_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
