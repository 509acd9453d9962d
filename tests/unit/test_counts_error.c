/* test_counts_error.c - errors of the counts of a model, against a naive computation
 * over all points. */
#include "base/base.h"
#include "eval/eval.h"
#include "train_fixture.h"

#include "memory_fixture.h"

#include <wordtide/formats.h>

enum { TYPES = 4000, TOKENS = 60000 };

/* -- texts and models -------------------------------------------------------------- */

/* Words w1, w2, ... whose frequency falls as 1 / rank. */
static corpus zipf_text_of(int types, uint64_t seed)
{
    corpus t = {malloc((size_t)TOKENS * 8), 0};
    assert_non_null(t.bytes);
    tide_rng rng = tide_rng_seeded(seed);
    for (int i = 0; i < TOKENS; i++) {
        int rank = (int)exp(tide_rng_double(&rng) * log(types + 1.0));
        t.size +=
            (size_t)sprintf(t.bytes + t.size, "w%d%c", rank, i % 20 == 19 ? '\n' : ' ');
    }
    return t;
}

static corpus zipf_text(uint64_t seed)
{
    return zipf_text_of(TYPES, seed);
}

typedef struct subject {
    tide_trainer *trainer;
    tide_counts *truth;
} subject;

static tide_counts *count_file(const char *path)
{
    tide_error err;
    tide_params *params = params_of("tokens=space");
    const tide_run run = {
        .size = sizeof(tide_run), .sources = &path, .source_count = 1};
    tide_counts *counts;
    tide_counts_new(params, &run, &counts, &err);
    tide_params_free(params);
    if (!counts)
        fail_msg("%s", err.text);
    return counts;
}

static subject subject_of(const char *settings, const corpus *t)
{
    write_file("text", t->bytes, t->size);
    subject s = {trained(settings, t), count_file("text")};
    return s;
}

static void subject_free(subject *s)
{
    tide_counts_free(s->truth);
    tide_trainer_free(s->trainer);
}

/* -- points and results derived from them ------------------------------------------ */

typedef struct point_list {
    tide_count_point items[TYPES + 1];
    size_t count;
} point_list;

static void record_point(void *data, const tide_count_point *point)
{
    point_list *list = data;
    assert_true(list->count < COUNT(list->items));
    list->items[list->count++] = *point;
}

/* The median of some points, found by counting smaller ones. */
static double naive_median(const point_list *list, uint64_t from, uint64_t to,
                           bool held_only)
{
    size_t size = 0;
    for (uint64_t r = from; r <= to; r++)
        size += !held_only || list->items[r - 1].held;
    double low = (double)NAN, high = (double)NAN;
    for (uint64_t r = from; r <= to; r++) {
        double x = list->items[r - 1].error;
        size_t below = 0, equal = 0;
        for (uint64_t q = from; q <= to; q++) {
            if (held_only && !list->items[q - 1].held)
                continue;
            below += list->items[q - 1].error < x;
            equal += list->items[q - 1].error == x;
        }
        if (held_only && !list->items[r - 1].held)
            continue;
        if (below <= (size - 1) / 2 && (size - 1) / 2 < below + equal)
            low = x;
        if (below <= size / 2 && size / 2 < below + equal)
            high = x;
    }
    return (low + high) / 2;
}

static void assert_same(double x, double y)
{
    if (isnan(x) || isnan(y))
        assert_true(isnan(x) && isnan(y));
    else
        assert_true(fabs(x - y) <= 1e-12 * (1 + fabs(y)));
}

static void check_bands(const tide_counts_result *r, const point_list *list)
{
    static const uint64_t ranks[] = {1, 10, 100, 1000, 2000};
    assert_int_equal(r->band_count, COUNT(ranks));
    for (size_t i = 0; i < r->band_count; i++) {
        const tide_count_band *b = &r->bands[i];
        assert_int_equal(b->rank, ranks[i]);
        assert_int_equal(b->from, (uint64_t)ceil(0.95 * (double)ranks[i] - 1e-9));
        assert_int_equal(b->to, (uint64_t)floor(1.05 * (double)ranks[i] + 1e-9));
        assert_int_equal(b->words, b->to - b->from + 1);
        double dropped = 0;
        for (uint64_t rank = b->from; rank <= b->to; rank++)
            dropped += !list->items[rank - 1].held;
        assert_same(b->dropped, dropped / (double)b->words);
        assert_same(b->median_error, naive_median(list, b->from, b->to, false));
        assert_same(b->median_error_held, naive_median(list, b->from, b->to, true));
    }
}

static void check_points(const subject *s, const tide_counts_result *r,
                         const point_list *list)
{
    const tide_model *model = tide_trainer_model(s->trainer);
    uint64_t tokens = 0;
    for (size_t i = 0; i < list->count; i++) {
        const tide_count_point *p = &list->items[i];
        tide_entry entry, real = tide_counts_at(s->truth, i);
        bool held = tide_model_find(model, p->word, &entry, NULL) == TIDE_OK;
        tokens += p->truth;
        assert_int_equal(p->rank, i + 1);
        assert_string_equal(p->word, real.word);
        assert_int_equal(p->truth, real.count);
        assert_int_equal(p->held, held);
        assert_int_equal(p->count, held ? entry.count : r->minimum);
        assert_true(p->count >= p->truth);
        assert_same(p->error, (double)(p->count - p->truth) / (double)p->truth);
    }
    assert_int_equal(tokens, r->tokens);
    assert_int_equal(list->count, r->types);
}

static void check_shares(const tide_counts_result *r, const point_list *list)
{
    double dropped = 0, dropped_top = 0, dropped_tokens = 0, error = 0, error_held = 0;
    uint64_t top = r->capacity < r->types ? r->capacity : r->types;
    for (size_t i = 0; i < list->count; i++) {
        const tide_count_point *p = &list->items[i];
        dropped += !p->held;
        dropped_tokens += p->held ? 0 : (double)p->truth;
        if (p->rank > top)
            continue;
        dropped_top += !p->held;
        error += p->error;
        error_held += p->held ? p->error : 0;
    }
    assert_same(r->dropped_types, dropped / (double)r->types);
    assert_same(r->dropped_tokens, dropped_tokens / (double)r->tokens);
    assert_same(r->dropped_top, dropped_top / (double)top);
    assert_same(r->mean_error, error / (double)top);
    assert_same(r->mean_error_held, error_held / ((double)top - dropped_top));
}

static tide_counts_result evaluate(const subject *s, point_list *list)
{
    tide_error err;
    tide_counts_result result;
    list->count = 0;
    assert_int_equal(tide_eval_counts(tide_trainer_model(s->trainer), s->truth, &result,
                                      record_point, list, &err),
                     TIDE_OK);
    return result;
}

/* -- tests ------------------------------------------------------------------------- */

static void results_follow_from_the_points(void **state)
{
    (void)state;
    static const char *const models[] = {"admission=none", "admission=gate",
                                         "vocabulary=misra-gries admission=none"};
    static point_list list;
    corpus t = zipf_text(1);
    for (size_t i = 0; i < COUNT(models); i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "vocab=300 dim=1 replay=1 tokens=space %s",
                 models[i]);
        subject s = subject_of(settings, &t);
        tide_counts_result r = evaluate(&s, &list);
        assert_int_equal(r.capacity, 300);
        assert_int_equal(r.top, 300);
        assert_true(r.minimum > 1 && r.dropped_types > 0.5);
        check_points(&s, &r, &list);
        check_shares(&r, &list);
        check_bands(&r, &list);
        subject_free(&s);
    }
    free(t.bytes);
}

static void a_vocabulary_that_holds_all_words_has_no_error(void **state)
{
    (void)state;
    static point_list list;
    corpus t = zipf_text(2);
    subject s = subject_of("vocab=5000 dim=1 replay=1 tokens=space", &t);
    tide_counts_result r = evaluate(&s, &list);
    assert_int_equal(r.tokens, TOKENS);
    assert_int_equal(r.held, r.types);
    assert_int_equal(r.top, r.types);
    assert_int_equal(r.minimum, 0);
    assert_true(r.dropped_top == 0 && r.dropped_types == 0 && r.dropped_tokens == 0);
    assert_true(r.mean_error == 0 && r.mean_error_held == 0);
    for (size_t i = 0; i < r.band_count; i++)
        assert_true(r.bands[i].median_error == 0 && r.bands[i].dropped == 0);
    subject_free(&s);
    free(t.bytes);
}

/* A file of vectors with counts has the same errors as the model it was exported
 * from. */
static void an_exported_model_has_the_same_errors(void **state)
{
    (void)state;
    static point_list list;
    corpus t = zipf_text(5);
    subject s = subject_of("vocab=300 dim=1 replay=1 tokens=space", &t);
    tide_counts_result ours = evaluate(&s, &list), others;
    const tide_export how = {.format = "safetensors"};
    assert_int_equal(
        tide_model_export(tide_trainer_model(s.trainer), &how, "v", NULL, NULL), 0);
    tide_model *exported = tide_model_open("v", NULL);
    assert_non_null(exported);
    assert_int_equal(tide_eval_counts(exported, s.truth, &others, NULL, NULL, NULL), 0);
    assert_true(ours.dropped_top > 0);
    assert_int_equal(others.minimum, ours.minimum);
    assert_same(others.mean_error, ours.mean_error);
    for (size_t i = 0; i < ours.band_count; i++)
        assert_same(others.bands[i].median_error, ours.bands[i].median_error);
    tide_model_free(exported);
    subject_free(&s);
    free(t.bytes);
}

static void the_gate_drops_less_than_plain_space_saving(void **state)
{
    (void)state;
    static point_list list;
    double dropped[2];
    corpus t = zipf_text(3);
    for (int gate = 0; gate < 2; gate++) {
        subject s =
            subject_of(gate ? "vocab=300 dim=1 replay=1 tokens=space admission=gate"
                            : "vocab=300 dim=1 replay=1 tokens=space admission=none",
                       &t);
        dropped[gate] = evaluate(&s, &list).dropped_top;
        subject_free(&s);
    }
    assert_true(dropped[1] < dropped[0] / 2);
    free(t.bytes);
}

static void results_of_an_empty_text_are_nan(void **state)
{
    (void)state;
    char nothing[] = "\n";
    corpus t = {nothing, 1};
    subject s = subject_of("vocab=300 dim=1 tokens=space", &t);
    tide_counts_result r;
    assert_int_equal(
        tide_eval_counts(tide_trainer_model(s.trainer), s.truth, &r, NULL, NULL, NULL),
        TIDE_OK);
    assert_int_equal(r.types, 0);
    assert_int_equal(r.band_count, 0);
    assert_true(isnan(r.dropped_top) && isnan(r.dropped_tokens) && isnan(r.mean_error));
    subject_free(&s);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    corpus t = zipf_text(4);
    subject s = subject_of("vocab=300 dim=1 replay=1 tokens=space", &t);
    tide_counts_result r;
    tide_error err;
    allocations_left = 0;
    int status =
        tide_eval_counts(tide_trainer_model(s.trainer), s.truth, &r, NULL, NULL, &err);
    allocations_left = -1;
    assert_int_equal(status, TIDE_ERROR_MEMORY);
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    subject_free(&s);
    free(t.bytes);
}

/* The last band ends with the last word, so its size is even in half of the cases. */
static void medians_are_correct_for_bands_of_any_size(void **state)
{
    (void)state;
    static point_list list;
    for (int types = 100; types <= 104; types++) {
        corpus t = zipf_text_of(types, (uint64_t)types);
        for (int vocab = 90; vocab <= 100; vocab += 5) {
            char settings[128];
            snprintf(settings, sizeof settings,
                     "vocab=%d dim=1 replay=1 tokens=space admission=none", vocab);
            subject s = subject_of(settings, &t);
            tide_counts_result r = evaluate(&s, &list);
            assert_int_equal(r.band_count, 3);
            const tide_count_band *b = &r.bands[2];
            assert_int_equal(b->to, types);
            assert_same(b->median_error, naive_median(&list, b->from, b->to, false));
            if (b->dropped < 1)
                assert_same(b->median_error_held,
                            naive_median(&list, b->from, b->to, true));
            subject_free(&s);
        }
        free(t.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(results_follow_from_the_points),
        IN_FOLDER(medians_are_correct_for_bands_of_any_size),
        IN_FOLDER(a_vocabulary_that_holds_all_words_has_no_error),
        IN_FOLDER(an_exported_model_has_the_same_errors),
        IN_FOLDER(the_gate_drops_less_than_plain_space_saving),
        IN_FOLDER(results_of_an_empty_text_are_nan),
        IN_FOLDER(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
