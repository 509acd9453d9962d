/* test_periods.c - changes between two moments are found despite a common rotation, and
 * a stream is divided into its periods. */
#include "base/base.h"
#include "eval/eval.h"
#include "run/run.h"
#include "vector/vector.h"
#include "vocab/vocab.h"
#include "train_fixture.h"
#include "memory_fixture.h"

/* -- synthetic snapshots ----------------------------------------------------------- */

enum { WORDS = 300, DIM = 12 };

static void name_word(uint32_t i, char padded[TIDE_WORD_MAX + 16])
{
    memset(padded, 0, TIDE_WORD_MAX + 16);
    sprintf(padded, "word%u", i);
}

/* Word order[i] has row i. */
static tide_snapshot *snapshot_of(const uint32_t *order, uint32_t count)
{
    const tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_EXACT,
                                             .capacity = count};
    tide_snapshot *s = tide_alloc(1, sizeof *s);
    s->count = count;
    s->index = tide_vocabulary_new(&options, NULL);
    s->held = tide_alloc(count, sizeof *s->held);
    assert_int_equal(tide_matrix_init(&s->rows, count, DIM, NULL), TIDE_OK);
    for (uint32_t i = 0; i < count; i++) {
        char padded[TIDE_WORD_MAX + 16];
        name_word(order[i], padded);
        tide_word word = {padded, (uint32_t)strlen(padded)};
        assert_int_equal(tide_vocabulary_insert(s->index, &word, 1, 0), i);
        s->held[i] = true;
    }
    return s;
}

static void random_unit(tide_rng *rng, float *row)
{
    double square = 0;
    for (int d = 0; d < DIM; d++) {
        row[d] = (float)tide_rng_normal(rng);
        square += (double)row[d] * (double)row[d];
    }
    for (int d = 0; d < DIM; d++)
        row[d] /= (float)sqrt(square);
}

/* Rotates by 90 degrees in six planes. */
static void rotate_row(const float *row, float *out)
{
    for (int d = 0; d < DIM; d += 2) {
        out[d] = -row[d + 1];
        out[d + 1] = row[d];
    }
}

/* Two snapshots of the same vectors, the second rotated and in another order. */
static void make_pair(tide_rng *rng, tide_snapshot **then, tide_snapshot **now)
{
    uint32_t straight[WORDS], back[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        straight[i] = i;
        back[i] = WORDS - 1 - i;
    }
    *then = snapshot_of(straight, WORDS);
    *now = snapshot_of(back, WORDS);
    for (uint32_t i = 0; i < WORDS; i++) {
        random_unit(rng, tide_matrix_row(&(*then)->rows, i));
        rotate_row(tide_matrix_row(&(*then)->rows, i),
                   tide_matrix_row(&(*now)->rows, WORDS - 1 - i));
    }
}

static void a_rotation_is_not_a_change(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(1);
    tide_snapshot *then, *now;
    tide_stability result;
    float aligned[WORDS];
    make_pair(&rng, &then, &now);
    const tide_comparison c = {then, now, WORDS, 50};
    assert_int_equal(tide_snapshot_compare(&c, &result, aligned, NULL), TIDE_OK);
    assert_int_equal(result.words, 50);
    assert_true(fabs(result.cosine) < 1e-6); /* rotated by 90 degrees */
    assert_true(fabs(result.aligned - 1) < 1e-5);
    assert_true(fabs(result.overlap - 1) < 1e-9);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_true(fabsf(aligned[i] - 1) < 1e-5f);
    tide_snapshot_free(then);
    tide_snapshot_free(now);
}

static void a_moved_word_is_found(void **state)
{
    (void)state;
    enum { MOVED = 17, LOST = 20, MISSING = 40 };
    tide_rng rng = tide_rng_seeded(2);
    tide_snapshot *then, *now;
    tide_stability result;
    float aligned[WORDS];
    make_pair(&rng, &then, &now);
    random_unit(&rng, tide_matrix_row(&now->rows, WORDS - 1 - MOVED));
    now->held[WORDS - 1 - LOST] = false;
    then->held[MISSING] = false;
    const tide_comparison c = {then, now, WORDS, 50};
    assert_int_equal(tide_snapshot_compare(&c, &result, aligned, NULL), TIDE_OK);
    assert_int_equal(result.words, 48);
    assert_true(isnan(aligned[LOST]) && isnan(aligned[MISSING]));
    for (uint32_t i = 0; i < WORDS; i++)
        if (i != LOST && i != MISSING)
            assert_true(i == MOVED ? aligned[i] < 0.9f : aligned[i] > 0.99f);
    assert_true(result.overlap < 1 && result.overlap > 0.9);
    tide_snapshot_free(then);
    tide_snapshot_free(now);
}

static void results_without_common_words_are_nan(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(3);
    tide_snapshot *then, *now;
    tide_stability result;
    make_pair(&rng, &then, &now);
    memset(now->held, 0, WORDS * sizeof *now->held);
    const tide_comparison c = {then, now, WORDS, 50};
    assert_int_equal(tide_snapshot_compare(&c, &result, NULL, NULL), TIDE_OK);
    assert_int_equal(result.words, 0);
    assert_true(isnan(result.cosine) && isnan(result.aligned) && isnan(result.overlap));
    tide_snapshot_free(then);
    tide_snapshot_free(now);
}

/* The position of a row is the number of nearer rows. */
static void the_nearest_rows_are_found(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(4);
    tide_snapshot *then, *now;
    make_pair(&rng, &then, &now);
    bool allowed[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        allowed[i] = i % 3 != 0;
    for (uint32_t row = 0; row < WORDS; row++) {
        uint32_t near[TIDE_NEAREST];
        assert_int_equal(tide_nearest_rows(&then->rows, row, 200, allowed, near),
                         TIDE_NEAREST);
        for (uint32_t k = 0; k < TIDE_NEAREST; k++) {
            const float *x = tide_matrix_row(&then->rows, row);
            const tide_kernels *kernels = tide_kernels_best();
            float score = kernels->dot(x, tide_matrix_row(&then->rows, near[k]),
                                       then->rows.stride);
            uint32_t nearer = 0;
            for (uint32_t i = 0; i < 200; i++)
                nearer += i != row && allowed[i] &&
                          kernels->dot(x, tide_matrix_row(&then->rows, i),
                                       then->rows.stride) > score;
            assert_true(near[k] != row && near[k] < 200 && allowed[near[k]]);
            assert_int_equal(nearer, k);
        }
    }
    tide_snapshot_free(then);
    tide_snapshot_free(now);
}

/* -- the word trainer -------------------------------------------------------------- */

/* A trainer fed with the words of a text learns the same as one that reads the text. */
static void a_word_trainer_equals_training_on_the_text(void **state)
{
    (void)state;
    static const char settings[] = "tokens=space dim=8 vocab=500 replay=2";
    corpus t = demo_text(5, 30000);
    write_file("text", t.bytes, t.size);
    tide_trainer *direct = trained(settings, &t);
    tide_params *params = params_of(settings);
    tide_word_trainer *trainer = tide_word_trainer_new(params, NULL);
    const char *const sources[] = {"text"};
    tide_sentence_reader *text = tide_sentence_reader_open(params, sources, 1, NULL);
    tide_word words[7];
    bool ended;
    int count;
    while ((count = tide_sentence_reader_next(text, words, 7, &ended, NULL)) || ended) {
        for (int i = 0; i < count; i++)
            tide_word_trainer_add(trainer, &words[i]);
        if (ended)
            tide_word_trainer_end_sentence(trainer);
    }
    const tide_model *a = tide_trainer_model(direct),
                     *b = tide_word_trainer_drain(trainer);
    assert_int_equal(tide_model_size(a), tide_model_size(b));
    assert_memory_equal(a->input.rows, b->input.rows,
                        (size_t)a->input.count * a->input.stride * sizeof(float));
    tide_sentence_reader_close(text);
    tide_word_trainer_free(trainer);
    tide_params_free(params);
    tide_trainer_free(direct);
    free(t.bytes);
}

/* -- periods ----------------------------------------------------------------------- */

typedef struct seen {
    char names[16][32];
    uint64_t tokens[16], frequent[16];
    char moved[16][TIDE_WORD_MAX + 1], newest[16][TIDE_WORD_MAX + 1];
    size_t count;
} seen;

static void record_period(void *data, const tide_period *p)
{
    seen *s = data;
    assert_true(s->count < 16);
    snprintf(s->names[s->count], sizeof s->names[0], "%s", p->name);
    s->tokens[s->count] = p->tokens;
    s->frequent[s->count] = p->frequent.words;
    if (p->mover_count)
        snprintf(s->moved[s->count], sizeof s->moved[0], "%s", p->movers[0].word);
    if (p->newcomer_count)
        snprintf(s->newest[s->count], sizeof s->newest[0], "%s", p->newcomers[0].word);
    s->count++;
}

static int try_periods(const char *settings, tide_period_unit unit, uint64_t tokens,
                       seen *s, tide_error *err)
{
    const char *const sources[] = {"stream"};
    const tide_periods_options options = {.sources = sources,
                                          .source_count = 1,
                                          .unit = unit,
                                          .tokens = tokens,
                                          .period = record_period,
                                          .period_data = s};
    tide_params *params = params_of(settings);
    *s = (seen){0};
    int status = tide_eval_periods(params, &options, err);
    tide_params_free(params);
    return status;
}

static void check_names(const char *records, tide_period_unit unit,
                        const char *const *names, const uint64_t *tokens, size_t count)
{
    seen s;
    write_file("stream", records, strlen(records));
    assert_int_equal(
        try_periods("profile=fast records=tsv time=1 text=2 dim=4 vocab=100", unit, 0,
                    &s, NULL),
        TIDE_OK);
    assert_int_equal(s.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(s.names[i], names[i]);
        assert_int_equal(s.tokens[i], tokens[i]);
    }
}

/* Records without a time, and late ones, belong to the current period. */
static void periods_end_according_to_time(void **state)
{
    (void)state;
    static const char records[] = "no time\ta b\n"
                                  "2019-12-30T10:00:00Z\ta b c\n"
                                  "2019-12-31T23:59:59Z\tc d\n"
                                  "2020-01-01\te\n"
                                  "2019-12-31\tlate one\n"
                                  "\tx y z\n"
                                  "2021-02-03T00:00:00+01:00\tf g\n";
    const char *const days[] = {"2019-12-30", "2019-12-31", "2020-01-01", "2021-02-02"};
    const uint64_t day_tokens[] = {5, 2, 6, 2};
    check_names(records, TIDE_PERIOD_DAY, days, day_tokens, 4);
    const char *const weeks[] = {"2020-W01", "2021-W05"};
    const uint64_t week_tokens[] = {13, 2};
    check_names(records, TIDE_PERIOD_WEEK, weeks, week_tokens, 2);
    const char *const months[] = {"2019-12", "2020-01", "2021-02"};
    const uint64_t month_tokens[] = {7, 6, 2};
    check_names(records, TIDE_PERIOD_MONTH, months, month_tokens, 3);
    const char *const years[] = {"2019", "2020", "2021"};
    check_names(records, TIDE_PERIOD_YEAR, years, month_tokens, 3);
}

static void periods_can_be_numbers_of_tokens(void **state)
{
    (void)state;
    corpus t = demo_text(1, 10000);
    write_file("stream", t.bytes, t.size);
    free(t.bytes);
    seen s;
    assert_int_equal(
        try_periods("dim=4 vocab=2000", TIDE_PERIOD_TOKENS, 4000, &s, NULL), TIDE_OK);
    assert_int_equal(s.count, 3);
    uint64_t total = 0;
    for (size_t i = 0; i < s.count; i++) {
        total += s.tokens[i];
        assert_true(i == 2 || (s.tokens[i] >= 4000 && s.tokens[i] < 4100));
        assert_int_equal(strtoull(s.names[i], NULL, 10), total);
    }
    assert_int_equal(s.frequent[0], 0);
    assert_true(s.frequent[1] > 500);
    const char *even = "a b c d\na b c d\na b c d\na b c d\na b c d";
    write_file("stream", even, strlen(even));
    assert_int_equal(try_periods("dim=4 vocab=10", TIDE_PERIOD_TOKENS, 8, &s, NULL),
                     TIDE_OK);
    assert_int_equal(s.count, 3);
    assert_true(s.tokens[0] == 8 && s.tokens[1] == 8 && s.tokens[2] == 4);
}

/* Two kinds of sentences. In the second month `fickle` changes to the other kind, and
 * `fresh` appears. */
static void write_changing_text(void)
{
    FILE *file = fopen("stream", "w");
    assert_non_null(file);
    tide_rng rng = tide_rng_seeded(7);
    for (int i = 0; i < 24000; i++) {
        bool second = i >= 12000;
        int kind = (int)tide_rng_below(&rng, 2);
        fprintf(file, "2020-%02d-01\t", second ? 2 : 1);
        for (int k = 0; k < 6; k++)
            fprintf(file, "k%dw%d ", kind, (int)tide_rng_below(&rng, 30));
        if (tide_rng_below(&rng, 4) == 0)
            fprintf(file, "%s ", kind == second ? "fickle" : "other");
        if (second && tide_rng_below(&rng, 20) == 0)
            fprintf(file, "fresh");
        fprintf(file, "\n");
    }
    fclose(file);
}

static void moved_and_new_words_are_reported(void **state)
{
    (void)state;
    write_changing_text();
    seen s;
    assert_int_equal(
        try_periods("profile=fast records=tsv time=1 text=2 dim=16 vocab=200 sample=0",
                    TIDE_PERIOD_MONTH, 0, &s, NULL),
        TIDE_OK);
    assert_int_equal(s.count, 2);
    assert_true(!strcmp(s.moved[1], "fickle") || !strcmp(s.moved[1], "other"));
    assert_string_equal(s.newest[1], "fresh");
}

static void invalid_input_is_reported(void **state)
{
    (void)state;
    tide_error err;
    seen s;
    assert_int_equal(try_periods("", TIDE_PERIOD_DAY, 0, &s, &err), TIDE_ERROR_IO);
    write_file("stream", "a b c\n", 6);
    assert_int_equal(try_periods("", TIDE_PERIOD_DAY, 0, &s, &err), TIDE_ERROR_INPUT);
    assert_non_null(strstr(err.text, "parameter time"));
    assert_int_equal(try_periods("records=tsv text=body", TIDE_PERIOD_DAY, 0, &s, &err),
                     TIDE_ERROR_INPUT);
    assert_non_null(strstr(err.text, "body"));
    write_file("stream", "", 0);
    assert_int_equal(try_periods("", TIDE_PERIOD_DAY, 0, &s, &err), TIDE_OK);
    assert_int_equal(s.count, 0);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    corpus t = demo_text(1, 3000);
    write_file("stream", t.bytes, t.size);
    free(t.bytes);
    int status = TIDE_ERROR_MEMORY;
    for (int allowed = 1; status;
         allowed++) { /* the first allocation is that of the parameters */
        tide_error err;
        seen s;
        allocations_left = allowed;
        status = try_periods("dim=4 vocab=500", TIDE_PERIOD_TOKENS, 1000, &s, &err);
        allocations_left = -1;
        if (status && status != TIDE_ERROR_MEMORY)
            fail_msg("allocation %d: %s", allowed, err.text);
        assert_true(allowed < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rotation_is_not_a_change),
        cmocka_unit_test(a_moved_word_is_found),
        cmocka_unit_test(results_without_common_words_are_nan),
        cmocka_unit_test(the_nearest_rows_are_found),
        IN_FOLDER(a_word_trainer_equals_training_on_the_text),
        IN_FOLDER(periods_end_according_to_time),
        IN_FOLDER(periods_can_be_numbers_of_tokens),
        IN_FOLDER(moved_and_new_words_are_reported),
        IN_FOLDER(invalid_input_is_reported),
        IN_FOLDER(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
