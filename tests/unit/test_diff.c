/* test_diff.c - the differences found between two models are those that were made. */
#include "base/base.h"
#include "vector/vector.h"
#include "vocab/vocab.h"
#include "train_fixture.h"

#include <wordtide/eval.h>

enum { WORDS = 300, DIM = 10, MOVED = 40, STRAYED = 20 };

/* A model given by words, counts and rows. */
typedef struct fake_model {
    float rows[WORDS][DIM];
    uint64_t counts[WORDS];
    bool held[WORDS];
    tide_model *model;
    tide_view *space;
} fake_model;

static void name_word(int word, char name[16])
{
    snprintf(name, 16, "w%d", word);
}

static fake_model *fake_model_new(void)
{
    tide_rng rng = tide_rng_seeded(1);
    fake_model *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (int word = 0; word < WORDS; word++) {
        t->held[word] = true;
        t->counts[word] = 5000 - 10 * (uint64_t)word;
        for (int d = 0; d < DIM; d++)
            t->rows[word][d] = (float)tide_rng_normal(&rng);
    }
    return t;
}

/* Imports the counts into a trainer, so that the file is a native model with tokens. */
static void fake_model_open(fake_model *t, const char *path)
{
    tide_trainer *trainer = trainer_of("vocab=400 dim=10");
    tide_model *model = (tide_model *)(uintptr_t)tide_trainer_model(trainer);
    for (int word = 0; word < WORDS; word++) {
        char name[32] = "";
        name_word(word, name);
        if (!t->held[word])
            continue;
        const tide_word text = {name, (uint32_t)strlen(name)};
        uint32_t slot =
            tide_vocabulary_insert(model->vocabulary, &text, t->counts[word], 0);
        assert_true(slot != TIDE_NO_SLOT);
        memcpy(tide_matrix_row(&model->input, slot), t->rows[word],
               sizeof t->rows[word]);
    }
    save_to(trainer, path);
    tide_trainer_free(trainer);
    t->model = tide_model_open(path, NULL);
    t->space = tide_view_new(t->model, TIDE_VECTORS_INPUT, false, NULL);
    assert_non_null(t->space);
}

static void fake_model_free(fake_model *t)
{
    tide_view_free(t->space);
    tide_model_free(t->model);
    free(t);
}

static void rotate_fake_model(fake_model *t)
{
    for (int word = 0; word < WORDS; word++) {
        tide_rng rng = tide_rng_seeded(2);
        float *row = t->rows[word];
        for (int p = 0; p + 1 < DIM; p++)
            for (int q = p + 1; q < DIM; q++) {
                double angle = 6.28 * tide_rng_double(&rng);
                double x = (double)row[p], y = (double)row[q];
                row[p] = (float)(cos(angle) * x - sin(angle) * y);
                row[q] = (float)(sin(angle) * x + cos(angle) * y);
            }
        row[0] = -row[0];
    }
}

static tide_diff *diff_of(const fake_model *a, const fake_model *b, tide_diff_sort sort)
{
    const tide_diff_options how = {.sort = sort, .min_count = 20};
    tide_error err;
    tide_diff *diff = tide_diff_new(a->space, b->space, &how, &err);
    if (!diff)
        fail_msg("%s", err.text);
    return diff;
}

/* Neither the same model nor one rotated, reflected and scaled by two has
 * differences. */
static void a_rotated_copy_has_no_differences(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        fake_model *a = fake_model_new(), *b = fake_model_new();
        if (way)
            rotate_fake_model(b);
        for (int word = 0; word < WORDS && way; word++)
            b->counts[word] *= 2;
        fake_model_open(a, "a");
        fake_model_open(b, "b");
        for (int sort = TIDE_DIFF_DRIFT; sort <= TIDE_DIFF_COUNT; sort++) {
            tide_diff *diff = diff_of(a, b, (tide_diff_sort)sort);
            assert_int_equal(tide_diff_size(diff), 0);
            tide_diff_summary s = tide_diff_summary_of(diff);
            assert_int_equal(s.shared, WORDS);
            assert_true(s.drift < 0.01 && s.overlap >= 1);
            tide_diff_free(diff);
        }
        fake_model_free(a);
        fake_model_free(b);
    }
}

/* Pairs of words swap their vectors, some get new directions, and all are rotated. The
 * other words are found unmoved, which requires a rotation not influenced by the moved
 * ones. */
static void swapped_words_come_first_and_others_stay(void **state)
{
    (void)state;
    fake_model *a = fake_model_new(), *b = fake_model_new();
    for (int word = 0; word < MOVED; word += 2)
        for (int d = 0; d < DIM; d++) {
            float kept = b->rows[word * 3][d];
            b->rows[word * 3][d] = b->rows[word * 3 + 3][d];
            b->rows[word * 3 + 3][d] = kept;
        }
    tide_rng rng = tide_rng_seeded(3);
    for (int word = MOVED; word < MOVED + STRAYED; word++)
        for (int d = 0; d < DIM; d++)
            b->rows[word * 3][d] = (float)tide_rng_normal(&rng);
    rotate_fake_model(b);
    fake_model_open(a, "a");
    fake_model_open(b, "b");
    tide_diff *diff = diff_of(a, b, TIDE_DIFF_DRIFT);
    assert_int_equal(tide_diff_size(diff), MOVED + STRAYED);
    double last = 180;
    for (size_t i = 0; i < MOVED + STRAYED; i++) {
        tide_difference d = tide_diff_at(diff, i);
        long word = strtol(d.word + 1, NULL, 10);
        assert_true(word % 3 == 0 && word < 3 * (MOVED + STRAYED));
        assert_true(d.drift > 5 && d.drift <= last && d.overlap < 0.5);
        last = d.drift;
    }
    tide_diff_free(diff);
    diff = diff_of(a, b, TIDE_DIFF_OVERLAP);
    for (size_t i = 0; i < MOVED / 2; i++)
        assert_true(strtol(tide_diff_at(diff, i).word + 1, NULL, 10) % 3 == 0);
    tide_diff_free(diff);
    fake_model_free(a);
    fake_model_free(b);
}

static void words_of_one_side_are_listed_by_count(void **state)
{
    (void)state;
    fake_model *a = fake_model_new(), *b = fake_model_new();
    for (int word = 0; word < 20; word++) {
        b->held[5 * word] = false;
        a->held[5 * word + 1] = false;
    }
    a->counts[5] = 19; /* too rare to be reported as missing */
    b->counts[2] = 10; /* too rare to be compared */
    b->counts[7] *= 9;
    fake_model_open(a, "a");
    fake_model_open(b, "b");
    const tide_diff_sort sorts[] = {TIDE_DIFF_GONE, TIDE_DIFF_NEW};
    for (int way = 0; way < 2; way++) {
        tide_diff *diff = diff_of(a, b, sorts[way]);
        assert_int_equal(tide_diff_size(diff), way ? 20 : 19);
        uint64_t last = UINT64_MAX;
        for (size_t i = 0; i < tide_diff_size(diff); i++) {
            tide_difference d = tide_diff_at(diff, i);
            uint64_t count = way ? d.count_b : d.count_a;
            assert_true(d.in_a == !way && d.in_b == way && isnan(d.drift));
            assert_int_equal(strtol(d.word + 1, NULL, 10) % 5, way);
            assert_true(count <= last);
            last = count;
        }
        assert_int_equal(tide_diff_summary_of(diff).shared, WORDS - 41);
        tide_diff_free(diff);
    }
    tide_diff *diff = diff_of(a, b, TIDE_DIFF_COUNT);
    tide_difference first = tide_diff_at(diff, 0);
    assert_string_equal(first.word, "w7");
    assert_true(fabs(first.change - log2(9)) < 0.2);
    tide_diff_free(diff);
    fake_model_free(a);
    fake_model_free(b);
}

/* Vectors of different dimensions have no angle, but have neighbors. */
static void different_dimensions_are_compared_by_neighbors(void **state)
{
    (void)state;
    FILE *file = fopen("flat.txt", "w");
    assert_non_null(file);
    fprintf(file, "%d 3\n", WORDS);
    fake_model *a = fake_model_new();
    for (int word = 0; word < WORDS; word++)
        fprintf(file, "w%d %g %g %g\n", word, (double)a->rows[word][0],
                (double)a->rows[word][1], (double)a->rows[word][2]);
    fclose(file);
    fake_model_open(a, "a");
    fake_model b = {.model = tide_model_open("flat.txt", NULL)};
    b.space = tide_view_new(b.model, TIDE_VECTORS_INPUT, false, NULL);
    tide_diff *diff = diff_of(a, &b, TIDE_DIFF_DRIFT);
    tide_diff_summary s = tide_diff_summary_of(diff);
    assert_int_equal(tide_diff_size(diff), 0);
    assert_true(s.shared == WORDS && isnan(s.drift) && s.overlap < 0.5);
    tide_diff_free(diff);
    diff = diff_of(a, &b, TIDE_DIFF_OVERLAP);
    assert_true(tide_diff_size(diff) > WORDS / 2);
    assert_true(isnan(tide_diff_at(diff, 0).change));
    tide_diff_free(diff);
    tide_view_free(b.space);
    tide_model_free(b.model);
    fake_model_free(a);
}

/* Models without common words, and empty models. */
static void models_without_common_words_are_compared(void **state)
{
    (void)state;
    fake_model *a = fake_model_new(), *b = fake_model_new(), *c = fake_model_new();
    for (int word = 0; word < WORDS; word++) {
        a->held[word] = word % 2;
        b->held[word] = !(word % 2);
        c->held[word] = false;
    }
    fake_model_open(a, "a");
    fake_model_open(b, "b");
    fake_model_open(c, "c");
    const struct {
        fake_model *a, *b;
        size_t gone;
    } pairs[] = {{a, b, WORDS / 2}, {a, c, WORDS / 2}, {c, a, 0}, {c, c, 0}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        tide_diff *diff = diff_of(pairs[i].a, pairs[i].b, TIDE_DIFF_GONE);
        assert_int_equal(tide_diff_size(diff), pairs[i].gone);
        assert_int_equal(tide_diff_summary_of(diff).shared, 0);
        tide_diff_free(diff);
    }
    fake_model_free(a);
    fake_model_free(b);
    fake_model_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_rotated_copy_has_no_differences),
        IN_FOLDER(swapped_words_come_first_and_others_stay),
        IN_FOLDER(words_of_one_side_are_listed_by_count),
        IN_FOLDER(different_dimensions_are_compared_by_neighbors),
        IN_FOLDER(models_without_common_words_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
