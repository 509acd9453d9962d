/* test_model_file.c - a file preserves a model bit by bit, and invalid files are
 * rejected. */
#include "file/store_internal.h"
#include "vector/vector.h"
#include "vocab/vocab.h"
#include "model_fixture.h"

/* -- files ------------------------------------------------------------------------- */

static void assert_same_rows(const tide_matrix *a, const tide_matrix *b, uint32_t rows)
{
    assert_int_equal(a->dim, b->dim);
    for (uint32_t row = 0; row < rows; row++)
        assert_memory_equal(tide_matrix_row(a, row), tide_matrix_row(b, row),
                            a->stride * sizeof(float));
}

static void a_loaded_model_equals_the_saved_one_bit_by_bit(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(model_kinds); k++) {
        tide_trainer *trainer = small_trainer(model_kinds[k]);
        const tide_model *saved = tide_trainer_model(trainer);
        save_to(trainer, "m");
        tide_model *model = load_model("m");
        uint32_t size = tide_model_size(saved);
        assert_int_equal(tide_model_size(model), size);
        assert_int_equal(tide_model_capacity(model), tide_model_capacity(saved));
        assert_int_equal(tide_model_dim(model), 20);
        assert_int_equal(tide_model_subwords(model), tide_model_subwords(saved));
        assert_int_equal(tide_model_tokens(model), tide_model_tokens(saved));
        assert_string_equal(tide_model_params(model), tide_model_params(saved));
        tide_entry *words = calloc(2 * size, sizeof *words);
        assert_non_null(words);
        assert_int_equal(tide_model_words(saved, words, size), size);
        assert_int_equal(tide_model_words(model, words + size, size), size);
        for (uint32_t i = 0; i < size; i++) {
            assert_string_equal(words[i].word, words[size + i].word);
            assert_int_equal(words[i].count, words[size + i].count);
            assert_int_equal(words[i].error, words[size + i].error);
            assert_int_equal(words[i].slot, words[size + i].slot);
        }
        free(words);
        uint32_t used = tide_vocabulary_used(saved->vocabulary);
        assert_same_rows(&saved->input, &model->input, used);
        assert_same_rows(&saved->output, &model->output, used);
        for (uint32_t row = 0; row < saved->subword.count; row++)
            for (uint32_t d = 0; d < 20; d++)
                assert_true(bfloat_at(&saved->subword, row, d) ==
                            bfloat_at(&model->subword, row, d));
        tide_model_free(model);
        tide_trainer_free(trainer);
    }
}

/* -- rejected files ------------------------------------------------------------- */

static void assert_rejected(const char *path, const char *what)
{
    tide_error err = {.status = TIDE_OK};
    tide_model *model = tide_model_load(path, &err);
    if (model || err.status != TIDE_ERROR_FORMAT)
        fail_msg("a model with %s was %s", what, model ? "loaded" : err.text);
    assert_true(err.text[0] && !strchr(err.text, '\n'));
    err.status = TIDE_OK;
    tide_trainer *trainer = tide_trainer_load(path, NULL, 0, &err);
    if (trainer || err.status != TIDE_ERROR_FORMAT)
        fail_msg("a trainer with %s was %s", what, trainer ? "loaded" : err.text);
    assert_null(tide_model_load(path, NULL));
    assert_null(tide_trainer_load(path, NULL, 0, NULL));
}

static void invalid_shapes_are_rejected(void **state)
{
    (void)state;
    static const struct {
        size_t place;
        uint64_t number;
        const char *what;
    } cases[] = {
        {0, 0, "no capacity"},
        {0, UINT64_MAX, "a huge capacity"},
        {0, 5, "a capacity below its words"},
        {0, 5000, "another capacity than its parameters"},
        {1, 0, "no dimension"},
        {1, 4097, "a huge dimension"},
        {1, 19, "another dimension"},
        {1, UINT64_C(1) << 32 | 20, "a dimension beyond 32 bits"},
        {2, 3, "another kind"},
        {2, UINT64_MAX, "no kind"},
        {2, 1, "the wrong kind"},
        {3, 2, "a gate of 2"},
        {3, 0, "a gate that is missing"},
        {5, 99, "another seed"},
        {6, UINT64_C(1) << 31, "too many subwords"},
        {6, 10, "other subwords"},
        {7, 0, "n-grams of no characters"},
        {7, 6, "n-grams longer than the longest"},
        {8, 9, "n-grams too long"},
        {9, 1, "one word"},
        {9, UINT64_MAX, "more words than its capacity"},
    };
    tide_trainer *trainer = small_trainer("subword=50");
    save_to(trainer, "m");
    tide_trainer_free(trainer);
    for (size_t i = 0; i < COUNT(cases); i++) {
        replace_number("m", "bad", "model", cases[i].place, cases[i].number);
        assert_rejected("bad", cases[i].what);
    }
}

static void sections_of_the_wrong_size_are_rejected(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "subword=50", "admission=none vocab=2000",
        "profile=paper vocab=300 dim=20 reservoir=1000",
        "profile=incremental vocab=300 dim=20 reservoir=1000"};
    for (size_t k = 0; k < COUNT(settings); k++) {
        tide_trainer *trainer = small_trainer(settings[k]);
        feed_text(trainer, "half a sent");
        save_to(trainer, "m");
        tide_trainer_free(trainer);
        tide_section_table table;
        int file = open("m", O_RDONLY);
        assert_int_equal(tide_store_table(file, "m", &table, NULL), TIDE_OK);
        close(file);
        for (uint32_t i = 0; i < table.count; i++) {
            const char *name = table.sections[i].name;
            size_t size;
            unsigned char *bytes = read_section("m", name, &size);
            bytes[size] = 0;
            for (int change = 0; change < 4; change++) {
                size_t other = change == 0   ? size + 1
                               : change == 1 ? size - (size > 0)
                               : change == 2 ? size / 2
                                             : 0;
                if (other == size)
                    continue;
                replace_section("m", "bad", name, bytes, other);
                tide_error err = {.status = TIDE_OK};
                trainer = tide_trainer_load("bad", NULL, 0, &err);
                if (trainer || err.status != TIDE_ERROR_FORMAT)
                    fail_msg("%s: section %s with %zu bytes instead of %zu: %s",
                             settings[k], name, other, size,
                             trainer ? "loaded" : err.text);
                tide_model_free(tide_model_load("bad", NULL));
            }
            replace_section("m", "bad", name, NULL, 0);
            trainer = tide_trainer_load("bad", NULL, 0, NULL);
            bool older =
                !strcmp(name, "vocab.arrived"); /* older files do not have it */
            assert_int_equal(trainer != NULL, older);
            tide_trainer_free(trainer);
            free(bytes);
        }
    }
}

static void nan_and_infinity_are_rejected(void **state)
{
    (void)state;
    static const char *const matrices[] = {"input", "output", "subword"};
    static const float values[] = {(float)NAN, (float)INFINITY, -(float)INFINITY};
    tide_trainer *trainer = small_trainer("subword=50");
    save_to(trainer, "m");
    tide_trainer_free(trainer);
    for (size_t i = 0; i < COUNT(matrices); i++)
        for (size_t v = 0; v < COUNT(values); v++) {
            size_t size;
            unsigned char *bytes = read_section("m", matrices[i], &size);
            size_t place = v == 0 ? 0 : v == 1 ? size / 8 * 4 : size - 4;
            memcpy(bytes + place, &values[v], sizeof values[v]);
            replace_section("m", "bad", matrices[i], bytes, size);
            assert_rejected("bad", "NaN");
            free(bytes);
        }
}

static void a_duplicate_word_is_rejected(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of("vocab=10 dim=3 replay=1");
    feed_text(trainer, "aa bb cc bb cc\n");
    save_to(trainer, "m");
    tide_trainer_free(trainer);
    size_t size;
    unsigned char *bytes = read_section("m", "vocab.text", &size);
    assert_int_equal(size, 6);
    memcpy(bytes + 4, "aa", 2);
    replace_section("m", "bad", "vocab.text", bytes, size);
    assert_rejected("bad", "a word twice");
    free(bytes);
}

static void parameters_that_do_not_match_are_rejected(void **state)
{
    (void)state;
    static const char *const changes[][2] = {
        {"dim 20", "dim 21"},           {"dim 20", "dim 20\ndim 20"},
        {"dim 20", "colour blue"},      {"vocab 400", "vocab 0"},
        {"vocab 400", "vocab 401"},     {"rate adagrad", "rate coordinate"},
        {"seed 1", "seed 2"},           {"minn 3", "minn 8"},
        {"half-life 0", "half-life 9"}, {"gradient before", "gradient after"},
    };
    tide_trainer *trainer = small_trainer("subword=50");
    save_to(trainer, "m");
    tide_trainer_free(trainer);
    size_t size;
    unsigned char *bytes = read_section("m", "params", &size);
    bytes[size] = 0;
    for (size_t i = 0; i < COUNT(changes); i++) {
        char text[8192];
        char *found = strstr((char *)bytes, changes[i][0]);
        assert_non_null(found);
        int length =
            snprintf(text, sizeof text, "%.*s%s%s", (int)(found - (char *)bytes),
                     (char *)bytes, changes[i][1], found + strlen(changes[i][0]));
        replace_section("m", "bad", "params", text, (size_t)length);
        tide_error err = {.status = TIDE_OK};
        trainer = tide_trainer_load("bad", NULL, 0, &err);
        if (trainer || err.status != TIDE_ERROR_FORMAT)
            fail_msg("parameters with '%s': %d %s", changes[i][1], err.status,
                     trainer ? "loaded" : err.text);
    }
    free(bytes);
}

static void invalid_states_are_rejected(void **state)
{
    (void)state;
    const double far = 1e17, negative = -1e17, none = (double)NAN;
    const struct {
        const char *section;
        size_t place;
        const void *number;
    } cases[] = {
        {"replay.chunks", 0, &(uint64_t){UINT64_MAX}},
        {"replay.chunks", 3, &(uint64_t){1001}},
        {"rate.origin", 0, &far},
        {"rate.origin", 0, &none},
        {"trainer", 1, &none},
        {"trainer", 2, &negative},
        {"intake", 0, &(uint64_t){0}},
        {"intake", 5, &(uint64_t){1000}},
        {"intake", 6, &(uint64_t){2}},
        {"rate.input", 0, &none},
    };
    tide_trainer *trainer = small_trainer("replay=3 replay-ring=2000");
    save_to(trainer, "m");
    tide_trainer_free(trainer);
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t number;
        memcpy(&number, cases[i].number, sizeof number);
        replace_number("m", "bad", cases[i].section, cases[i].place, number);
        tide_error err = {.status = TIDE_OK};
        trainer = tide_trainer_load("bad", NULL, 0, &err);
        if (trainer || err.status != TIDE_ERROR_FORMAT)
            fail_msg("section %s, number %zu, case %zu: %s", cases[i].section,
                     cases[i].place, i, trainer ? "loaded" : err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_loaded_model_equals_the_saved_one_bit_by_bit),
        IN_FOLDER(invalid_shapes_are_rejected),
        IN_FOLDER(sections_of_the_wrong_size_are_rejected),
        IN_FOLDER(nan_and_infinity_are_rejected),
        IN_FOLDER(a_duplicate_word_is_rejected),
        IN_FOLDER(parameters_that_do_not_match_are_rejected),
        IN_FOLDER(invalid_states_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
