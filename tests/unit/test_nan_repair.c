/* test_nan_repair.c - NaNs and impossible values in vectors and accumulators are found
 * and reset, and all others stay as they are. */
#include "base/base.h"
#include "sgns/optimizer_internal.h"
#include "sgns/sgns.h"
#include "vector/vector.h"
#include "vocab/vocab.h"
#include "batch_fixture.h"

enum { YOUNG = 8000, MORE = 4000 };

/* -- places ------------------------------------------------------------------------ */

/* Every kind of value that can be damaged; NULL if the model does not have it. */
static float *in_matrix(const tide_matrix *m, uint32_t row, uint32_t at)
{
    return m->rows ? tide_matrix_row(m, row) + at : NULL;
}

static float *in_sums(const tide_accumulators *s, uint32_t row)
{
    return s->values ? &s->values[tide_sum_at(row, s->shift)] : NULL;
}

enum {
    INPUT_FIRST,
    INPUT_LAST,
    INPUT_PADDING,
    OUTPUT,
    INPUT_SUM,
    OUTPUT_SUM,
    INPUT_EACH,
    OUTPUT_EACH,
    SUBWORD,
    SUBWORD_SUM,
    PLACES,
};

static float *place_of(const tide_sgns *sgns, int place, uint32_t row)
{
    const tide_optimizer *r = sgns->optimizer;
    uint32_t dim = sgns->model->input.dim;
    switch (place) {
    case INPUT_FIRST:
        return in_matrix(&sgns->model->input, row, 0);
    case INPUT_LAST:
        return in_matrix(&sgns->model->input, row, dim - 1);
    case INPUT_PADDING:
        return in_matrix(&sgns->model->input, row, sgns->model->input.stride - 1);
    case OUTPUT:
        return in_matrix(&sgns->model->output, row, dim / 2);
    case INPUT_SUM:
        return in_sums(&r->input_accumulators, row);
    case OUTPUT_SUM:
        return in_sums(&r->output_accumulators, row);
    case INPUT_EACH:
        return in_matrix(&r->input_coordinates, row, dim - 1);
    case OUTPUT_EACH:
        return in_matrix(&r->output_coordinates, row, 1);
    case SUBWORD:
        /* The last two bfloats as one float, whose upper half is the last. */
        return !sgns->model->subword.rows
                   ? NULL
                   : (float *)(void *)(tide_bfloats_row(&sgns->model->subword, row) +
                                       dim - 2);
    default:
        return in_sums(&r->subword_accumulators, row);
    }
}

static const char *const kinds[] = {
    "vocab=60 dim=20 subword=500 admission=none replay=1",
    "profile=incremental vocab=60 dim=20 reservoir=3000",
    "profile=paper vocab=60 dim=20 reservoir=3000 window=2",
    "vocab=60 dim=20 vocabulary=misra-gries replay=1",
    "vocab=60 dim=20 replay=3 replay-ring=4000 threads=2",
};

static const float wrong[] = {NAN, -NAN, INFINITY, -INFINITY, 1e30f, -1e30f};

/* Resets by hand what a place is part of. */
static void reset_by_hand(const tide_sgns *sgns, int place, uint32_t row)
{
    uint32_t length;
    size_t size = sgns->model->input.stride * sizeof(float);
    if (place < SUBWORD &&
        tide_vocabulary_word(sgns->model->vocabulary, row, &length)) {
        tide_init_slot(sgns, row);
    } else if (place < SUBWORD) {
        memset(tide_matrix_row(&sgns->model->input, row), 0, size);
        memset(tide_matrix_row(&sgns->model->output, row), 0, size);
        tide_optimizer_reset(sgns->optimizer, row);
    } else {
        memset(tide_bfloats_row(&sgns->model->subword, row), 0, size / 2);
        *in_sums(&sgns->optimizer->subword_accumulators, row) = 0;
    }
}

/* Writes every bad value into its own row, all at one kind of place. */
static void check_place(const char *path, int place)
{
    tide_trainer *ill = load_from(path), *well = load_from(path);
    const tide_sgns *sgns = sgns_of(ill);
    if (place_of(sgns, place, 0)) {
        for (uint32_t i = 0; i < COUNT(wrong); i++) {
            *place_of(sgns, place, 3 + 7 * i) = wrong[i];
            reset_by_hand(sgns_of(well), place, 3 + 7 * i);
        }
        tide_repaired repaired;
        tide_repair_nans(sgns, &repaired);
        assert_int_equal(repaired.words, place < SUBWORD ? COUNT(wrong) : 0);
        assert_int_equal(repaired.subwords, place < SUBWORD ? 0 : COUNT(wrong));
        save_to(ill, "ill");
        save_to(well, "well");
        assert_true(same_file("ill", "well"));
        tide_repair_nans(sgns, &repaired);
        assert_int_equal(repaired.words + repaired.subwords, 0);
    }
    tide_trainer_free(ill);
    tide_trainer_free(well);
}

static void bad_values_are_reset_and_nothing_else_changes(void **state)
{
    (void)state;
    corpus t = demo_text(5, YOUNG);
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tide_trainer *trainer = trained(kinds[k], &t);
        save_to(trainer, "m");
        tide_trainer_free(trainer);
        for (int place = 0; place < PLACES; place++)
            check_place("m", place);
    }
    free(t.bytes);
}

static void negative_accumulators_are_reset(void **state)
{
    (void)state;
    corpus t = demo_text(5, YOUNG);
    for (size_t k = 0; k < 2; k++) {
        tide_trainer *trainer = trained(kinds[k], &t);
        const tide_sgns *sgns = sgns_of(trainer);
        *place_of(sgns, k ? INPUT_EACH : INPUT_SUM, 5) = -1e-3f;
        *place_of(sgns, k ? OUTPUT_EACH : OUTPUT_SUM, 6) = -1e30f;
        tide_repaired repaired;
        tide_repair_nans(sgns, &repaired);
        assert_int_equal(repaired.words, 2);
        tide_trainer_free(trainer);
    }
    free(t.bytes);
}

/* Feeds lines until a slot has lost its word and not been reused. */
static uint32_t feed_until_a_slot_is_empty(tide_trainer *trainer, const corpus *t)
{
    const tide_vocabulary *v = tide_trainer_model(trainer)->vocabulary;
    for (size_t at = 0, size; at < t->size; at += size) {
        size = strcspn(t->bytes + at, "\n") + 1;
        feed(trainer, t->bytes + at, size);
        uint32_t length;
        for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++)
            if (!tide_vocabulary_word(v, slot, &length))
                return slot;
    }
    fail_msg("no slot has become empty");
    return TIDE_NO_SLOT;
}

static void a_bad_empty_slot_is_zeroed(void **state)
{
    (void)state;
    corpus t = demo_text(5, YOUNG);
    tide_trainer *trainer =
        trainer_of("vocab=60 dim=20 vocabulary=misra-gries replay=1");
    uint32_t slot = feed_until_a_slot_is_empty(trainer, &t);
    const tide_sgns *sgns = sgns_of(trainer);
    *place_of(sgns, OUTPUT, slot) = NAN;
    *place_of(sgns, OUTPUT_SUM, slot) = NAN;
    *place_of(sgns, INPUT_FIRST, slot) = 1;
    tide_repaired repaired;
    tide_repair_nans(sgns, &repaired);
    assert_int_equal(repaired.words, 1);
    for (int place = INPUT_FIRST; place <= OUTPUT_SUM; place++)
        assert_true(*place_of(sgns, place, slot) == 0);
    tide_trainer_free(trainer);
    free(t.bytes);
}

static void assert_answers_are_finite(const tide_trainer *trainer)
{
    const tide_model *model = tide_trainer_model(trainer);
    assert_true(is_finite(model));
    tide_view *space = tide_view_new(model, TIDE_VECTORS_INPUT, true, NULL);
    assert_non_null(space);
    const char *word = "the";
    tide_query query = {.positive = &word, .positive_count = 1};
    tide_hit hits[10];
    int found = tide_view_nearest(space, &query, hits, 10, NULL);
    assert_int_equal(found, 10);
    for (int i = 0; i < found; i++)
        assert_true(isfinite(hits[i].score) && fabsf(hits[i].score) < 1.01f);
    tide_view_free(space);
}

/* Before the repair: searches do not return words with bad vectors, but all others. */
static void bad_vectors_do_not_hide_the_others(void **state)
{
    (void)state;
    corpus t = demo_text(5, YOUNG);
    tide_trainer *trainer = trained("vocab=60 dim=20 admission=none replay=1", &t);
    const tide_model *model = tide_trainer_model(trainer);
    const char *asked = "the";
    for (uint32_t i = 0; i < COUNT(wrong); i++) {
        *place_of(sgns_of(trainer), INPUT_FIRST, 3 + 7 * i) = wrong[i];
        tide_view *space = tide_view_new(model, TIDE_VECTORS_INPUT, true, NULL);
        tide_query query = {.positive = &asked, .positive_count = 1};
        tide_hit hits[60];
        int found = tide_view_nearest(space, &query, hits, 60, NULL);
        assert_in_range(found, 59 - (i + 1), 59);
        int good = 0;
        for (int h = 0; h < found; h++)
            good += isfinite(hits[h].score) && fabsf(hits[h].score) > 1e-3f;
        assert_in_range(good, 40, 59);
        tide_view_free(space);
    }
    tide_trainer_free(trainer);
    free(t.bytes);
}

static void training_continues_after_a_repair(void **state)
{
    (void)state;
    corpus t = demo_text(5, YOUNG), more = demo_text(6, MORE);
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tide_trainer *trainer = trained(kinds[k], &t);
        const tide_sgns *sgns = sgns_of(trainer);
        for (int place = 0; place < PLACES; place++)
            for (uint32_t i = 0; place_of(sgns, place, 0) && i < COUNT(wrong); i++)
                *place_of(sgns, place, 5 * i + (uint32_t)place) = wrong[i];
        tide_repaired repaired;
        tide_repair_nans(sgns, &repaired);
        assert_true(repaired.words >= COUNT(wrong));
        uint64_t trained_before = stats_of(trainer).trained;
        feed(trainer, more.bytes, more.size);
        assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
        assert_true(stats_of(trainer).trained > trained_before);
        assert_true(isfinite(stats_of(trainer).loss));
        assert_answers_are_finite(trainer);
        tide_repair_nans(sgns, &repaired);
        assert_int_equal(repaired.words + repaired.subwords, 0);
        tide_trainer_free(trainer);
    }
    free(t.bytes);
    free(more.bytes);
}

/* Learning rates far too high, so that vectors grow until they are clipped, again and
 * again. */
static void diverging_training_is_not_taken_for_damage(void **state)
{
    (void)state;
    const char *const wild[] = {
        "vocab=500 dim=8",
        "profile=paper vocab=500 dim=8 reservoir=3000 alpha=10 alpha-output=10",
        "profile=incremental vocab=500 dim=8 reservoir=3000 alpha=10",
        "vocab=500 dim=8 alpha=10 alpha-output=10 min-alpha=1 window=64 sample=0 "
        "negative=64 rate-half-life=50",
        "profile=fast vocab=60 dim=8 subword=5000 rate=constant alpha=10 "
        "alpha-output=10 sample=0",
        "profile=fast vocab=10 dim=8 rate=constant alpha=10 alpha-output=10 sample=0 "
        "negative=64 window=64",
    };
    corpus t = demo_text(5, YOUNG);
    for (size_t i = 0; i < COUNT(wild); i++) {
        tide_trainer *trainer = trained(wild[i], &t);
        save_to(trainer, "before");
        tide_repaired repaired;
        tide_repair_nans(sgns_of(trainer), &repaired);
        assert_int_equal(repaired.words + repaired.subwords, 0);
        save_to(trainer, "after");
        assert_true(same_file("before", "after"));
        tide_trainer_free(trainer);
    }
    free(t.bytes);
}

static void an_empty_model_has_nothing_to_repair(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of("vocab=10 dim=4 subword=100");
    tide_repaired repaired = {7, 7};
    tide_repair_nans(sgns_of(trainer), &repaired);
    assert_int_equal(repaired.words + repaired.subwords, 0);
    tide_trainer_free(trainer);
}

/* NaNs do not spread: rows that are multiplied with one do not move. */
static void one_bad_row_stays_the_only_one(void **state)
{
    (void)state;
    corpus t = demo_text(5, YOUNG), more = demo_text(6, MORE);
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tide_trainer *trainer = trained(kinds[k], &t);
        const tide_sgns *sgns = sgns_of(trainer);
        *place_of(sgns, OUTPUT, 3) = NAN;
        feed(trainer, more.bytes, more.size);
        assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
        tide_repaired repaired;
        tide_repair_nans(sgns, &repaired);
        assert_true(repaired.words <= 1 &&
                    repaired.subwords == 0); /* slot 3 may have been reused */
        assert_true(isfinite(stats_of(trainer).loss));
        save_to(trainer, "m");
        tide_trainer_free(trainer);
        tide_trainer_free(load_from("m"));
    }
    free(t.bytes);
    free(more.bytes);
}

/* A saved file has no bad values, and neither has the trainer after the save. */
static void nothing_bad_is_saved(void **state)
{
    (void)state;
    corpus t = demo_text(5, YOUNG);
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (int place = 0; place < PLACES; place++) {
            tide_trainer *trainer = trained(kinds[k], &t);
            const tide_sgns *sgns = sgns_of(trainer);
            if (place_of(sgns, place, 0)) {
                *place_of(sgns, place, 9) = NAN;
                save_to(trainer, "m");
                assert_int_equal(stats_of(trainer).repaired, 1);
                assert_true(isfinite(*place_of(sgns, place, 9)));
                tide_trainer *loaded = load_from("m");
                assert_true(isfinite(*place_of(sgns_of(loaded), place, 9)));
                tide_trainer_free(loaded);
            }
            tide_trainer_free(trainer);
        }
    free(t.bytes);
}

/* -- on the way -------------------------------------------------------------------- */

/* Replaces the library's clock, which the linker then does not take from the
 * archive. */
static double now, step; /* seconds, and how much each call adds */

double tide_now_seconds(void)
{
    return now += step;
}

int64_t tide_now_ms(void)
{
    return (int64_t)(1e3 * now);
}

typedef struct way {
    tide_trainer *trainer;
    int pauses, warnings;
} way;

static bool has_two_bad_rows(const tide_sgns *sgns)
{
    return isnan(*place_of(sgns, OUTPUT, 0)) && isnan(*place_of(sgns, OUTPUT, 1));
}

/* Two output rows, which nothing else would repair, are damaged in the first pause.
 * Then a little less than a minute passes, and in the second pause the rest of it. */
static void spoil_and_wait(void *data, const tide_stats *stats)
{
    way *w = data;
    const tide_sgns *sgns = sgns_of(w->trainer);
    switch (++w->pauses) {
    case 1:
        *place_of(sgns, OUTPUT, 0) = NAN;
        *place_of(sgns, OUTPUT, 1) = NAN;
        now += 59;
        break;
    case 2:
        assert_true(has_two_bad_rows(sgns) && stats->repaired == 0);
        now += 2;
        break;
    default:
        assert_true(is_finite(sgns->model));
        assert_int_equal(stats->repaired, 2);
    }
}

static void keep_note(void *data, bool warning, const char *text)
{
    way *w = data;
    w->warnings += warning;
    assert_string_equal(text,
                        "vectors with NaN or infinite values were reinitialized: 2");
}

static void a_bad_row_is_repaired_within_a_minute_without_a_save(void **state)
{
    (void)state;
    const char *const recipes[] = {"vocab=3000 dim=8", "vocab=3000 dim=8 threads=2"};
    corpus t = demo_text(5, 60000);
    write_file("text", t.bytes, t.size);
    for (size_t i = 0; i < COUNT(recipes); i++) {
        way w = {.trainer = trainer_of(recipes[i])};
        tide_run run = run_over(1);
        run.pause = spoil_and_wait;
        run.pause_tokens = 20000; /* blocks are shorter */
        run.note = keep_note;
        run.pause_data = run.note_data = &w;
        run_to(w.trainer, &run, 0);
        assert_true(w.pauses > 2 && w.warnings == 1);
        tide_trainer_free(w.trainer);
    }
    free(t.bytes);
}

static void frequent_checks_change_nothing(void **state)
{
    (void)state;
    corpus t = demo_text(5, 40000);
    write_file("text", t.bytes, t.size);
    const char *const names[] = {"never", "always"};
    for (size_t i = 0; i < COUNT(names); i++) {
        tide_trainer *trainer = trainer_of("vocab=200 dim=8 admission=none");
        tide_run run = run_over(1);
        step = i ? 100 : 0;
        run_to(trainer, &run, 0);
        step = 0;
        assert_int_equal(stats_of(trainer).repaired, 0);
        save_to(trainer, names[i]);
        tide_trainer_free(trainer);
    }
    assert_true(same_file("never", "always"));
    free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(bad_values_are_reset_and_nothing_else_changes),
        cmocka_unit_test(negative_accumulators_are_reset),
        cmocka_unit_test(a_bad_empty_slot_is_zeroed),
        cmocka_unit_test(bad_vectors_do_not_hide_the_others),
        cmocka_unit_test(training_continues_after_a_repair),
        IN_FOLDER(diverging_training_is_not_taken_for_damage),
        cmocka_unit_test(an_empty_model_has_nothing_to_repair),
        IN_FOLDER(one_bad_row_stays_the_only_one),
        IN_FOLDER(nothing_bad_is_saved),
        IN_FOLDER(a_bad_row_is_repaired_within_a_minute_without_a_save),
        IN_FOLDER(frequent_checks_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
