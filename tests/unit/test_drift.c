/* test_drift.c - changes happen as planned, and are detected when vectors have followed
 * and not before. */
#include "base/base.h"
#include "eval/eval.h"
#include "run/run.h"
#include "vocab/vocab.h"
#include "train_fixture.h"
#include "memory_fixture.h"

enum { TOKENS = 300000, AT = 100000, OVER = 100000 };

static const char text_path[] = "text";
static const char *const sources[] = {text_path};

static tide_drift_options plain_options(void)
{
    return (tide_drift_options){
        .sources = sources, .source_count = 1, .at = AT, .over = OVER, .words = 40};
}

static void write_demo(uint64_t tokens)
{
    corpus t = demo_text(1, tokens);
    write_file(text_path, t.bytes, t.size);
    free(t.bytes);
}

static tide_drift_plan *plan_of(const char *settings, const tide_drift_options *options)
{
    tide_error err;
    tide_params *params = params_of(settings);
    tide_drift_plan *plan = tide_drift_plan_new(params, options, &err);
    tide_params_free(params);
    if (!plan)
        fail_msg("%s", err.text);
    return plan;
}

/* -- the plan ---------------------------------------------------------------------- */

/* How often a changing word occurred and what it turned into, in three parts of the
 * text: before the moment of change, during gradual changes, and after them. */
typedef struct outcome {
    uint64_t came[3], kept[3], became_other[3], vanished[3];
    double expected,
        variance; /* of became_other[1], for a probability rising from 0 to 1 */
} outcome;

static void apply_plan(tide_drift_plan *plan, outcome *outcomes)
{
    tide_params *params = params_of("");
    tide_sentence_reader *text = tide_sentence_reader_open(params, sources, 1, NULL);
    tide_word word;
    bool ended;
    for (uint64_t token = 0;
         tide_sentence_reader_next(text, &word, 1, &ended, NULL) || ended; token++) {
        uint32_t number = tide_vocabulary_find(plan->index, &word);
        tide_word result = tide_drift_plan_apply(plan, &word, token);
        if (number == TIDE_NO_SLOT) {
            assert_ptr_equal(result.bytes, word.bytes);
            assert_int_equal(result.length, word.length);
            continue;
        }
        outcome *f = &outcomes[number];
        int third = token < AT ? 0 : token < AT + OVER ? 1 : 2;
        const char *other = plan->words[plan->unchanged + plan->changes[number].other];
        double chance = third == 1 ? (double)(token - AT) / OVER : 0;
        f->came[third]++;
        f->vanished[third] += !result.length;
        f->kept[third] += result.bytes == word.bytes && result.length;
        f->became_other[third] += result.length == strlen(other) &&
                                  !memcmp(result.bytes, other, result.length) &&
                                  result.bytes != word.bytes;
        f->expected += chance;
        f->variance += chance * (1 - chance);
    }
    tide_sentence_reader_close(text);
    tide_params_free(params);
}

/* A new word does not occur in the text, so its outcome is empty, as it should be. */
static void check_outcome(const tide_word_change *change, const outcome *f,
                          outcome *sum)
{
    uint64_t after = f->came[1] + f->came[2];
    assert_int_equal(f->kept[0], f->came[0]);
    if (change->event == TIDE_DRIFT_SWAP)
        assert_int_equal(f->became_other[1] + f->became_other[2], after);
    if (change->event == TIDE_DRIFT_DEAD)
        assert_int_equal(f->vanished[1] + f->vanished[2], after);
    if (change->event == TIDE_DRIFT_GRADUAL)
        assert_int_equal(f->became_other[2], f->came[2]);
    for (int third = 0; third < 3; third++) {
        sum->came[third] += f->came[third];
        sum->kept[third] += f->kept[third];
        sum->became_other[third] += f->became_other[third];
        sum->vanished[third] += f->vanished[third];
    }
    sum->expected += f->expected;
    sum->variance += f->variance;
}

static void words_change_according_to_the_plan(void **state)
{
    (void)state;
    write_demo(TOKENS);
    tide_drift_options options = plain_options();
    tide_drift_plan *plan = plan_of("seed=3", &options);
    outcome *outcomes = calloc(plan->changing, sizeof *outcomes);
    outcome sums[TIDE_DRIFT_EVENTS] = {0};
    apply_plan(plan, outcomes);
    for (uint32_t i = 0; i < plan->changing; i++)
        check_outcome(&plan->changes[i], &outcomes[i], &sums[plan->changes[i].event]);
    const outcome *gradual = &sums[TIDE_DRIFT_GRADUAL], *born = &sums[TIDE_DRIFT_BORN];
    assert_true(gradual->came[1] > 1000 && born->came[1] > 1000);
    assert_true(fabs((double)gradual->became_other[1] - gradual->expected) <
                5 * sqrt(gradual->variance)); /* 5 sigma */
    double halves = (double)(born->came[1] + born->came[2]) / 2;
    assert_true(fabs((double)(born->became_other[1] + born->became_other[2]) - halves) <
                5 * sqrt(halves / 2)); /* 5 sigma */
    assert_int_equal(born->vanished[1] + born->vanished[2], 0);
    free(outcomes);
    tide_drift_plan_free(plan);
}

static void changes_start_at_the_moment(void **state)
{
    (void)state;
    write_demo(TOKENS);
    tide_drift_options options = plain_options();
    tide_drift_plan *plan = plan_of("", &options);
    for (uint32_t i = 0; i < plan->changing; i++) {
        if (plan->changes[i].event != TIDE_DRIFT_SWAP)
            continue;
        char bytes[TIDE_WORD_MAX + 16] = {0};
        uint32_t length =
            (uint32_t)sprintf(bytes, "%s", plan->words[plan->unchanged + i]);
        const tide_word word = {bytes, length};
        assert_ptr_equal(tide_drift_plan_apply(plan, &word, AT - 1).bytes, bytes);
        assert_ptr_equal(tide_drift_plan_apply(plan, &word, AT).bytes,
                         plan->words[plan->unchanged + plan->changes[i].other]);
    }
    tide_drift_plan_free(plan);
}

/* The count of a word in the text, or 0. */
static uint64_t count_of(const tide_drift_plan *plan, const char *word)
{
    for (size_t rank = 0; rank < tide_counts_size(plan->counts); rank++)
        if (!strcmp(tide_counts_at(plan->counts, rank).word, word))
            return tide_counts_at(plan->counts, rank).count;
    return 0;
}

static void chosen_words_are_eligible(void **state)
{
    (void)state;
    write_demo(TOKENS);
    tide_drift_options options = plain_options();
    tide_drift_plan *plan = plan_of("", &options);
    uint32_t measured[TIDE_DRIFT_EVENTS] = {0};
    for (uint32_t i = 0; i < plan->changing; i++) {
        const tide_word_change *change = &plan->changes[i];
        const char *word = plan->words[plan->unchanged + i];
        uint64_t count = count_of(plan, word);
        bool newcomer = change->event == TIDE_DRIFT_BORN && change->measured;
        measured[change->event] += change->measured;
        assert_true(newcomer ? count == 0 : count >= 100);
        assert_true(newcomer || count <= tide_counts_at(plan->counts, 100).count);
        assert_int_equal(plan->changes[change->other].event, change->event);
        uint64_t other = count_of(plan, plan->words[plan->unchanged + change->other]);
        if (change->event < TIDE_DRIFT_BORN) /* adjacent in the order of counts */
            assert_true(fabs(log((double)count / (double)other)) < 0.2);
        for (uint32_t k = 0; k < plan->unchanged + plan->changing; k++)
            assert_true(k == plan->unchanged + i || strcmp(plan->words[k], word) != 0);
    }
    for (int event = 0; event < TIDE_DRIFT_EVENTS; event++)
        assert_int_equal(measured[event], 40);
    tide_drift_plan_free(plan);
}

static bool same_choice(const tide_drift_plan *a, const tide_drift_plan *b)
{
    for (uint32_t i = 0; i < a->changing; i++)
        if (strcmp(a->words[a->unchanged + i], b->words[b->unchanged + i]) != 0)
            return false;
    return a->changing == b->changing;
}

/* Words are swapped in pairs, so an odd number is rounded up. */
static void an_odd_number_of_words_is_rounded_up(void **state)
{
    (void)state;
    static const uint32_t asked[] = {1, 2, 3, 39}, given[] = {2, 2, 4, 40};
    write_demo(TOKENS);
    tide_drift_options options = plain_options();
    for (size_t i = 0; i < COUNT(asked); i++) {
        options.words = asked[i];
        tide_drift_plan *plan = plan_of("", &options);
        uint32_t measured[TIDE_DRIFT_EVENTS] = {0};
        for (uint32_t k = 0; k < plan->changing; k++)
            measured[plan->changes[k].event] += plan->changes[k].measured;
        for (int event = 0; event < TIDE_DRIFT_EVENTS; event++)
            assert_int_equal(measured[event], given[i]);
        tide_drift_plan_free(plan);
    }
}

static void the_choice_depends_on_the_seed_alone(void **state)
{
    (void)state;
    write_demo(TOKENS);
    tide_drift_options options = plain_options();
    tide_drift_plan *one = plan_of("seed=1", &options);
    tide_drift_plan *same = plan_of("profile=paper seed=1 dim=10", &options);
    tide_drift_plan *other = plan_of("seed=2", &options);
    assert_true(same_choice(one, same));
    assert_false(same_choice(one, other));
    tide_drift_plan_free(one);
    tide_drift_plan_free(same);
    tide_drift_plan_free(other);
}

/* The text may already contain the default names of new words. */
static void new_words_have_unused_names(void **state)
{
    (void)state;
    corpus t = demo_text(1, TOKENS);
    static const char more[] = "\nnewcomer0 newcomer_ newcomer__3 newcomers\n";
    char *bytes = malloc(t.size + sizeof more);
    memcpy(bytes, t.bytes, t.size);
    memcpy(bytes + t.size, more, sizeof more - 1);
    write_file(text_path, bytes, t.size + sizeof more - 1);
    free(bytes);
    free(t.bytes);
    tide_drift_options options = plain_options();
    tide_drift_plan *plan = plan_of("", &options);
    for (uint32_t i = 0; i < plan->changing; i++)
        if (plan->changes[i].event == TIDE_DRIFT_BORN && plan->changes[i].measured)
            assert_int_equal(count_of(plan, plan->words[plan->unchanged + i]), 0);
    tide_drift_plan_free(plan);
}

/* -- the run ----------------------------------------------------------------------- */

typedef struct curve {
    tide_drift_evaluation evaluations[64];
    size_t count;
} curve;

static void record_evaluation(void *data, const tide_drift_evaluation *evaluation)
{
    curve *c = data;
    assert_true(c->count < COUNT(c->evaluations));
    c->evaluations[c->count++] = *evaluation;
}

static tide_drift_result run(const char *settings, tide_drift_options options, curve *c)
{
    tide_error err;
    tide_drift_result result;
    tide_params *params = params_of(settings);
    *c = (curve){0};
    options.evaluation = record_evaluation;
    options.evaluation_data = c;
    if (tide_eval_drift(params, &options, &result, &err))
        fail_msg("%s", err.text);
    tide_params_free(params);
    return result;
}

/* Checks the times of 50 % and 90 % against the measurements. */
static void check_crossings(const tide_drift_result *r, const curve *c)
{
    for (int event = 0; event < TIDE_DRIFT_EVENTS; event++) {
        uint64_t first[2] = {TIDE_DRIFT_NEVER, TIDE_DRIFT_NEVER};
        for (size_t i = c->count; i-- > 0;) {
            if (c->evaluations[i].followed[event] >= 0.5)
                first[0] = c->evaluations[i].tokens;
            if (c->evaluations[i].followed[event] >= 0.9)
                first[1] = c->evaluations[i].tokens;
        }
        assert_int_equal(r->half[event], first[0]);
        assert_int_equal(r->nine_tenths[event], first[1]);
    }
}

static void changes_are_detected_and_nothing_else(void **state)
{
    (void)state;
    if (SANITIZED)
        skip(); /* the expected values need this much text, which would take a minute */
    write_demo(800000);
    tide_drift_options options = plain_options();
    options.at = 300000;
    options.every = 50000;
    curve c;
    tide_drift_result r = run("profile=fast dim=40 vocab=3000", options, &c);
    check_crossings(&r, &c);
    assert_true(r.tokens >= 800000 && r.tokens < 801000);
    assert_int_equal(c.count, 2 + (r.tokens - 1 - r.at) / 50000);
    assert_int_equal(c.evaluations[0].tokens, 0);
    assert_int_equal(c.evaluations[3].tokens, 150000);
    assert_int_equal(r.last.tokens, r.tokens - r.at);
    assert_true(c.evaluations[0].followed[TIDE_DRIFT_SWAP] < 0.1);
    assert_true(fabs(c.evaluations[0].score[TIDE_DRIFT_SWAP]) < 1e-9);
    /* 0.75 to 0.9, and sigma is 0.07 for 40 words */
    assert_true(r.last.followed[TIDE_DRIFT_SWAP] > 0.5);
    assert_true(r.last.followed[TIDE_DRIFT_GRADUAL] > 0.5);
    assert_true(r.last.followed[TIDE_DRIFT_BORN] > 0.5);
    assert_true(r.half[TIDE_DRIFT_SWAP] <= r.half[TIDE_DRIFT_GRADUAL]);
    assert_true(r.last.score[TIDE_DRIFT_SWAP] > 0.5);
    assert_int_equal(r.last.words[TIDE_DRIFT_DEAD], 40);
    assert_true(r.last.followed[TIDE_DRIFT_DEAD] < 0.1);

    options.control = true;
    tide_drift_result still = run("profile=fast dim=40 vocab=3000", options, &c);
    check_crossings(&still, &c);
    assert_true(still.last.followed[TIDE_DRIFT_SWAP] < 0.4); /* 0.15, sigma 0.06 */
    assert_true(still.last.followed[TIDE_DRIFT_GRADUAL] < 0.4);
    assert_true(still.last.followed[TIDE_DRIFT_BORN] < 0.01);
    assert_true(still.last.score[TIDE_DRIFT_SWAP] < 0.2);
    assert_true(isnan(still.last.score[TIDE_DRIFT_BORN]));
    assert_int_equal(still.unchanged.words, 1000);
    assert_true(still.unchanged.aligned > 0.5 && still.unchanged.aligned <= 1);
    assert_true(still.unchanged.overlap > 0.3 && still.unchanged.overlap <= 1);
}

/* With a half-life, a small vocabulary evicts words that no longer occur. */
static void dead_words_are_evicted_with_a_half_life(void **state)
{
    (void)state;
    write_demo(300000);
    tide_drift_options options = plain_options();
    curve c;
    tide_drift_result r =
        run("profile=fast dim=8 vocab=1500 half-life=20000", options, &c);
    assert_true(r.last.words[TIDE_DRIFT_DEAD] > 10);
    assert_true(r.last.followed[TIDE_DRIFT_DEAD] > 0.9);
    assert_true(r.half[TIDE_DRIFT_DEAD] > 0 && r.half[TIDE_DRIFT_DEAD] < 200000);
}

static void the_same_run_gives_the_same_result(void **state)
{
    (void)state;
    write_demo(150000);
    tide_drift_options options = plain_options();
    options.every = 25000;
    curve c;
    tide_drift_result a = run("profile=fast dim=8", options, &c);
    tide_drift_result b = run("profile=fast dim=8", options, &c);
    assert_memory_equal(&a.last.followed, &b.last.followed, sizeof a.last.followed);
    assert_memory_equal(&a.unchanged, &b.unchanged, sizeof a.unchanged);
}

/* -- failures ---------------------------------------------------------------------- */

static void assert_fails(const char *settings, tide_drift_options options,
                         tide_status status, const char *text)
{
    tide_error err = {0};
    tide_drift_result result;
    tide_params *params = params_of(settings);
    assert_int_equal(tide_eval_drift(params, &options, &result, &err), status);
    assert_int_equal(tide_eval_drift(params, &options, &result, NULL), status);
    tide_params_free(params);
    if (!strstr(err.text, text))
        fail_msg("'%s' is not in '%s'", text, err.text);
}

static void invalid_input_is_reported(void **state)
{
    (void)state;
    tide_drift_options options = plain_options();
    assert_fails("", options, TIDE_ERROR_IO, text_path);
    write_file(text_path, "", 0);
    assert_fails("", options, TIDE_ERROR_PARAMETER, "not within the text");
    write_file(text_path, "a b c\nd e f\n", 12);
    options.at = 3;
    assert_fails("", options, TIDE_ERROR_INPUT, "too few words");
    write_demo(50000);
    options.at = 60000;
    assert_fails("", options, TIDE_ERROR_PARAMETER, "60000");
    options.at = 0;
    assert_fails("vocab=20", options, TIDE_ERROR_INPUT, "too few words");
    const char *const input[] = {"-"};
    options.sources = input;
    assert_fails("", options, TIDE_ERROR_PARAMETER, "twice");
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    write_demo(100000);
    tide_error err = {0};
    tide_drift_options options = plain_options();
    options.at = 20000;
    options.every = 20000;
    tide_params *params = params_of("profile=fast dim=4 vocab=2000");
    int status = TIDE_ERROR_MEMORY, step = SANITIZED ? 7 : 1;
    for (int allowed = 0; status; allowed += step) {
        tide_drift_result result;
        allocations_left = allowed;
        status = tide_eval_drift(params, &options, &result, &err);
        allocations_left = -1;
        if (status && status != TIDE_ERROR_MEMORY)
            fail_msg("allocation %d: %s", allowed, err.text);
        assert_true(allowed < 1000);
    }
    tide_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(words_change_according_to_the_plan),
        IN_FOLDER(changes_start_at_the_moment),
        IN_FOLDER(chosen_words_are_eligible),
        IN_FOLDER(an_odd_number_of_words_is_rounded_up),
        IN_FOLDER(the_choice_depends_on_the_seed_alone),
        IN_FOLDER(new_words_have_unused_names),
        IN_FOLDER(changes_are_detected_and_nothing_else),
        IN_FOLDER(dead_words_are_evicted_with_a_half_life),
        IN_FOLDER(the_same_run_gives_the_same_result),
        IN_FOLDER(invalid_input_is_reported),
        IN_FOLDER(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
