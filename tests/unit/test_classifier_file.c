/* test_classifier_file.c - invalid input of a classifier, its memory and its file. */
#include "file/file.h"
#include "label/label.h"
#include "vector/vector.h"
#include "classifier_fixture.h"

#include <math.h>
#include <unistd.h>

/* -- invalid input ---------------------------------------------------------------- */

static void invalid_options_are_rejected(void **state)
{
    (void)state;
    const tide_classifier_options good = usual_options(10, 10);
    tide_classifier_options bad[15];
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].dim = 0;
    bad[1].dim = TIDE_DIM_MAX + 1;
    bad[2].labels = 0;
    bad[3].labels = 65537;
    bad[4].maps = 0;
    bad[5].max_words = 4097;
    bad[6].batch = 0;
    bad[7].max_epochs = 0;
    bad[8].patience = 0;
    bad[9].threads = 257;
    bad[10].dropout = 0.95f;
    bad[11].rate = 0;
    bad[12].held_out = NAN;
    bad[13].rate = NAN;
    bad[14].kind = TIDE_CLASSIFIER_KINDS;
    for (size_t i = 0; i < COUNT(bad); i++) {
        tide_error err;
        assert_null(tide_classifier_new(&bad[i], &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    }
}

/* `why` is part of the message. Afterwards the classifier is untrained. */
static void expect_refusal(const tide_example *examples, size_t count,
                           const tide_matrix *vectors, const char *why)
{
    tide_classifier_options o = small_options(TIDE_CLASSIFIER_CNN, 8, 4);
    o.threads = 2;
    tide_classifier *c = made(&o);
    tide_error err = {.text = ""};
    int status = tide_classifier_train(c, examples, count, vectors, NULL, NULL, &err);
    assert_true(status < 0);
    if (!strstr(err.text, why))
        fail_msg("\"%s\" instead of \"%s\"", err.text, why);
    float found[4], none[4] = {0};
    const float *row = tide_matrix_row(vectors, 0);
    tide_classifier_predict(c, &row, 1, found);
    assert_memory_equal(found, none, sizeof none);
    tide_classifier_free(c);
}

static void invalid_examples_are_rejected(void **state)
{
    (void)state;
    world *w = world_new(8, 1), *other = world_new(9, 1);
    label_by_words(w);
    expect_refusal(w->examples, 0, &w->vectors, "0 examples");
    expect_refusal(w->examples, POSTS, &other->vectors, "dimension 9");
    const uint32_t far_word = WORDS, far_label = 4, falling[] = {2, 1},
                   twice[] = {1, 1};
    const tide_example bad[] = {
        {&far_word, 1, NULL, 0},
        {w->words[0], 1, &far_label, 1},
        {w->words[0], 1, falling, 2},
        {w->words[0], 1, twice, 2},
    };
    const char *const why[] = {"word 60", "label 4", "ascending order",
                               "ascending order"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        tide_example before = w->examples[7];
        w->examples[7] = bad[i];
        expect_refusal(w->examples, POSTS, &w->vectors, why[i]);
        expect_refusal(w->examples, POSTS, &w->vectors, "example 7");
        w->examples[7] = before;
    }
    const tide_example wordless = {NULL, 0, NULL, 0};
    expect_refusal(&wordless, 1, &w->vectors, "none of 1");
    for (uint32_t i = 0; i < WORDS; i++)
        tide_matrix_row(&w->vectors, i)[3] = i % 2 ? NAN : INFINITY;
    expect_refusal(w->examples, POSTS, &w->vectors, "NaN");
    world_free(other);
    world_free(w);
}

/* -- memory ----------------------------------------------------------------------- */

static void memory_is_as_announced(void **state)
{
    (void)state;
    for (int kind = 0; kind < TIDE_CLASSIFIER_KINDS; kind++) {
        world *w = world_new(20, 2);
        label_by_words(w);
        tide_classifier_options o = small_options((tide_classifier_kind)kind, 20, 4);
        o.threads = 3;
        allocated = 0;
        tide_classifier *c = made(&o);
        assert_int_equal(allocated, tide_classifier_bytes(&o));
        allocated = 0;
        assert_int_equal(
            tide_classifier_train(c, w->examples, POSTS, &w->vectors, NULL, NULL, NULL),
            TIDE_OK);
        assert_int_equal(allocated, tide_classifier_training_bytes(&o, POSTS));
        float found[4];
        allocated = 0;
        tide_classifier_predict(c, w->rows[0], 1, found);
        assert_int_equal(allocated, 0);
        tide_classifier_free(c);
        world_free(w);
    }
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    world *w = world_new(8, 3);
    label_by_words(w);
    tide_classifier_options o = small_options(TIDE_CLASSIFIER_CNN, 8, 4);
    o.threads = 2;
    o.max_epochs = 1;
    tide_classifier *c = NULL;
    tide_error err;
    int failures = 0;
    for (; !c; failures++) {
        allocations_left = failures;
        err.status = TIDE_OK;
        c = tide_classifier_new(&o, &err);
        assert_int_equal(err.status, c ? TIDE_OK : TIDE_ERROR_MEMORY);
    }
    assert_true(failures > 8);
    int status = TIDE_ERROR_MEMORY;
    for (failures = 0; status; failures++) {
        allocations_left = failures;
        status =
            tide_classifier_train(c, w->examples, POSTS, &w->vectors, NULL, NULL, &err);
        assert_true(status == TIDE_OK || status == TIDE_ERROR_MEMORY);
        assert_int_equal(c->trained, status == TIDE_OK);
    }
    assert_true(failures > 8);
    allocations_left = -1;
    tide_classifier_free(c);
    world_free(w);
}

/* -- file ------------------------------------------------------------------------- */

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/tide-classifier-XXXXXX");
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void save(const tide_classifier *c)
{
    tide_store_writer *writer = tide_store_create(path, NULL);
    assert_non_null(writer);
    tide_classifier_save(c, writer);
    assert_int_equal(tide_store_commit(writer, NULL), TIDE_OK);
}

static tide_classifier *load(tide_error *err)
{
    tide_store *store = tide_store_open(path, err);
    assert_non_null(store);
    tide_classifier *c = tide_classifier_load(store, err);
    tide_store_close(store);
    return c;
}

static void a_loaded_classifier_equals_the_saved_one(void **state)
{
    (void)state;
    world *w = world_new(20, 4);
    label_by_words(w);
    for (int kind = 0; kind < 2 * TIDE_CLASSIFIER_KINDS; kind++) {
        tide_classifier_options o =
            small_options((tide_classifier_kind)(kind / 2), 20, 4);
        tide_classifier *c = kind % 2 ? trained(&o, w, NULL, NULL) : made(&o);
        save(c);
        tide_error err = {.text = ""};
        tide_classifier *again = load(&err);
        if (!again)
            fail_msg("%s", err.text);
        assert_true(same(c, again));
        assert_memory_equal(&c->options, &again->options, sizeof c->options);
        for (uint32_t i = 0; i < POSTS; i++) {
            float before[4], after[4];
            tide_classifier_predict(c, w->rows[i], w->examples[i].word_count, before);
            tide_classifier_predict(again, w->rows[i], w->examples[i].word_count,
                                    after);
            assert_memory_equal(before, after, sizeof before);
        }
        tide_classifier_free(again);
        tide_classifier_free(c);
    }
    world_free(w);
}

static const char *const sections[] = {"label.network", "label.prior", "label.dense",
                                       "label.filters", "label.bias"};

/* The sections of a valid file, to be changed one at a time. */
typedef struct saved {
    unsigned char bytes[COUNT(sections)][4096];
    size_t sizes[COUNT(sections)];
    bool missing[COUNT(sections)];
} saved;

static saved read_saved(void)
{
    saved s = {0};
    tide_store *store = tide_store_open(path, NULL);
    assert_non_null(store);
    for (size_t i = 0; i < COUNT(sections); i++) {
        s.sizes[i] = (size_t)tide_store_size(store, sections[i], NULL);
        assert_in_range(s.sizes[i], 4, sizeof s.bytes[i] - 8);
        assert_int_equal(
            tide_store_read(store, sections[i], s.bytes[i], s.sizes[i], NULL), TIDE_OK);
    }
    tide_store_close(store);
    return s;
}

/* The message names the section, and sizes in the file cause only small allocations. */
static void expect_damaged(const saved *s, size_t section)
{
    tide_store_writer *writer = tide_store_create(path, NULL);
    assert_non_null(writer);
    for (size_t i = 0; i < COUNT(sections); i++)
        if (!s->missing[i])
            tide_store_put(writer, sections[i], s->bytes[i], s->sizes[i]);
    assert_int_equal(tide_store_commit(writer, NULL), TIDE_OK);
    tide_error err = {.text = ""};
    allocated = 0;
    assert_null(load(&err));
    assert_in_range(allocated, 0, 1 << 20);
    assert_int_equal(err.status, TIDE_ERROR_FORMAT);
    if (!strstr(err.text, sections[section]))
        fail_msg("\"%s\" does not name %s", err.text, sections[section]);
}

static void save_a_small_one(void)
{
    world *w = world_new(6, 5);
    label_by_words(w);
    tide_classifier_options o = small_options(TIDE_CLASSIFIER_CNN, 6, 4);
    tide_classifier *c = trained(&o, w, NULL, NULL);
    save(c);
    tide_classifier_free(c);
    world_free(w);
}

static void corrupt_sections_are_rejected(void **state)
{
    (void)state;
    save_a_small_one();
    const saved good = read_saved();
    for (size_t i = 0; i < COUNT(sections); i++) {
        saved s = good;
        s.missing[i] = true;
        expect_damaged(&s, i);
        s = good;
        s.sizes[i] -= 4;
        expect_damaged(&s, i);
        s = good;
        s.sizes[i] += 4;
        expect_damaged(&s, i);
        const float bad[] = {NAN, INFINITY, -INFINITY};
        for (size_t k = 0; k < COUNT(bad) && i > 0; k++) {
            s = good;
            memcpy(s.bytes[i] + s.sizes[i] - sizeof bad[k], &bad[k], sizeof bad[k]);
            expect_damaged(&s, i);
        }
    }
    saved s = good;
    const float above = 1.5f;
    memcpy(s.bytes[1], &above, sizeof above);
    expect_damaged(&s, 1);
}

static void invalid_numbers_are_rejected(void **state)
{
    (void)state;
    save_a_small_one();
    const saved good = read_saved();
    enum { SEED = 13 }; /* any value is valid */
    const uint64_t bad[] = {UINT64_MAX, UINT64_C(1) << 32, 0x7fc00000 /* NaN */};
    for (int number = 0; number < SEED; number++)
        for (size_t k = 0; k < COUNT(bad); k++) {
            enum { PATIENCE = 7 }; /* any 32 bits */
            if (number == PATIENCE && bad[k] <= UINT32_MAX)
                continue;
            saved s = good;
            tide_put64(s.bytes[0] + 8 * number, bad[k]);
            expect_damaged(&s, 0);
        }
    const struct {
        int number;
        uint64_t value;
        size_t section; /* does not match it */
    } others[] = {
        {1, 4096, 3},  /* dim */
        {2, 65536, 1}, /* labels */
        {3, 1024, 2},  /* maps */
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        saved s = good;
        tide_put64(s.bytes[0] + 8 * others[i].number, others[i].value);
        expect_damaged(&s, others[i].section);
    }
}

static void failed_allocations_are_reported_by_load(void **state)
{
    (void)state;
    save_a_small_one();
    tide_store *store = tide_store_open(path, NULL);
    assert_non_null(store);
    tide_classifier *c = NULL;
    int failures = 0;
    for (; !c; failures++) {
        tide_error err = {.status = TIDE_OK};
        allocations_left = failures;
        c = tide_classifier_load(store, &err);
        assert_int_equal(err.status, c ? TIDE_OK : TIDE_ERROR_MEMORY);
    }
    assert_true(failures > 8);
    allocations_left = -1;
    tide_classifier_free(c);
    tide_store_close(store);
}

#define WITH_PATH(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_options_are_rejected),
        cmocka_unit_test(invalid_examples_are_rejected),
        cmocka_unit_test(memory_is_as_announced),
        cmocka_unit_test(failed_allocations_are_reported),
        WITH_PATH(a_loaded_classifier_equals_the_saved_one),
        WITH_PATH(corrupt_sections_are_rejected),
        WITH_PATH(invalid_numbers_are_rejected),
        WITH_PATH(failed_allocations_are_reported_by_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
