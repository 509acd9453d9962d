/* test_formats.c - writing, reading and rejecting files of vectors in all formats. */

#include "base/base.h"
#include "file/file.h"
#include "format/format.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <dirent.h>
#include <math.h>

#include "folder_fixture.h"
#include "memory_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* -- files ------------------------------------------------------------------------- */

static int files_here(void)
{
    int count = -2; /* . and .. */
    DIR *listing = opendir(".");
    assert_non_null(listing);
    while (readdir(listing))
        count++;
    closedir(listing);
    return count;
}

enum { ROOM = 1 << 20 };

static size_t read_bytes(const char *path, char bytes[ROOM])
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, ROOM - 1, file);
    fclose(file);
    bytes[size] = '\0';
    return size;
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

/* -- a model ----------------------------------------------------------------------- */

/* words[0] has the highest count. */
static tide_model *model_of(const char *const *words, uint32_t count, uint32_t dim)
{
    tide_error err;
    tide_shape shape = {
        .vocabulary = {.kind = TIDE_VOCABULARY_EXACT, .capacity = count}, .dim = dim};
    tide_model *model = tide_model_new(&shape, &err);
    assert_non_null(model);
    tide_rng rng = tide_rng_seeded(dim);
    for (uint32_t i = 0; i < count; i++) {
        char padded[TIDE_WORD_MAX + 17] = "";
        uint32_t slot, length = (uint32_t)strlen(words[i]);
        tide_admission admission;
        memcpy(padded, words[i], length);
        for (uint32_t times = 0; times < 2 * (count - i); times++)
            tide_vocabulary_add(model->vocabulary, &(tide_word){padded, length}, 1,
                                &slot, &admission);
        for (uint32_t d = 0; d < dim; d++) {
            tide_matrix_row(&model->input, slot)[d] = (float)tide_rng_normal(&rng);
            tide_matrix_row(&model->output, slot)[d] = (float)tide_rng_normal(&rng);
        }
    }
    return model;
}

static const char *const plain[] = {"the",
                                    "of",
                                    "and",
                                    "z\xc3\xbcrich",
                                    "\xe6\x97\xa5\xe6\x9c\xac",
                                    "\"",
                                    "\\",
                                    "</s>",
                                    "7",
                                    "1e5",
                                    "\\N",
                                    "nan",
                                    "a,b",
                                    "'"};

static tide_model *plain_model(uint32_t dim)
{
    return model_of(plain, COUNT(plain), dim);
}

static tide_exported export_to(const tide_model *model, const char *format,
                               const char *dtype, const char *path)
{
    tide_error err = {.text = ""};
    tide_export how = {.format = format, .dtype = dtype};
    tide_exported done;
    if (tide_model_export(model, &how, path, &done, &err))
        fail_msg("%s: %s", format, err.text);
    return done;
}

static tide_rows *open_rows(const char *path, const char *format)
{
    tide_error err = {.text = ""};
    tide_rows *rows = tide_rows_open(path, format, &err);
    if (!rows)
        fail_msg("%s: %s", path, err.text);
    return rows;
}

/* The error message with which opening or reading fails. */
static const char *failure_of(const char *path, const char *format)
{
    static tide_error err;
    err = (tide_error){.text = ""};
    tide_rows *rows = tide_rows_open(path, format, &err);
    tide_row row;
    int got = rows ? 1 : (int)err.status;
    while (got == 1)
        got = tide_rows_next(rows, &row, &err);
    tide_rows_close(rows);
    assert_true(got < 0);
    assert_int_equal(got, err.status);
    return err.text;
}

static void assert_contains(const char *whole, const char *part)
{
    if (!strstr(whole, part))
        fail_msg("\"%s\" is not in \"%s\"", part, whole);
}

/* -- round trips ------------------------------------------------------------------- */

static const char *const readable[] = {"word2vec", "word2vec-binary", "glove", "npy",
                                       "safetensors"};

static bool keeps_counts(const char *format)
{
    return !strcmp(format, "npy") || !strcmp(format, "safetensors");
}

static void assert_rows(tide_rows *rows, const tide_model *model, bool counts)
{
    uint32_t dim = tide_model_dim(model);
    tide_view *space = tide_view_new(model, TIDE_VECTORS_INPUT, false, NULL);
    tide_error err;
    tide_row row;
    float wanted[TIDE_DIM_MAX];
    assert_non_null(space);
    assert_int_equal(tide_rows_dim(rows), dim);
    for (uint32_t i = 0; i < COUNT(plain); i++) {
        assert_int_equal(tide_rows_next(rows, &row, &err), 1);
        assert_string_equal(row.word, plain[i]);
        assert_int_equal(row.length, strlen(plain[i]));
        assert_int_equal(row.count, counts ? 2 * (COUNT(plain) - i) : 0);
        assert_int_equal(tide_view_vector(space, plain[i], wanted, NULL), TIDE_OK);
        assert_memory_equal(row.vector, wanted, dim * sizeof(float));
    }
    assert_int_equal(tide_rows_next(rows, &row, &err), 0);
    assert_int_equal(tide_rows_next(rows, &row, &err), 0);
    assert_int_equal(tide_rows_left_out(rows), 0);
    tide_view_free(space);
}

static void exports_are_read_back_bit_by_bit(void **state)
{
    (void)state;
    const uint32_t dims[] = {1, 2, 7, 100, 300, TIDE_DIM_MAX};
    for (size_t d = 0; d < COUNT(dims); d++) {
        tide_model *model = plain_model(dims[d]);
        for (size_t f = 0; f < COUNT(readable); f++) {
            tide_exported done = export_to(model, readable[f], NULL, "out");
            assert_int_equal(done.words, COUNT(plain));
            assert_int_equal(done.left_out, 0);
            tide_rows *rows = open_rows("out", NULL);
            assert_string_equal(tide_rows_format(rows), readable[f]);
            assert_int_equal(tide_rows_count(rows),
                             strcmp(readable[f], "glove") ? COUNT(plain) : 0);
            assert_rows(rows, model, keeps_counts(readable[f]));
            tide_rows_close(rows);
            rows = open_rows("out", readable[f]);
            assert_rows(rows, model, keeps_counts(readable[f]));
            tide_rows_close(rows);
        }
        tide_model_free(model);
    }
}

static void a_native_model_is_read_like_any_other_file(void **state)
{
    (void)state;
    tide_model *model = plain_model(9);
    tide_store_writer *writer = tide_store_create("m.tide", NULL);
    assert_non_null(writer);
    tide_model_save(model, writer);
    assert_int_equal(tide_store_commit(writer, NULL), TIDE_OK);
    tide_rows *rows = open_rows("m.tide", NULL);
    assert_string_equal(tide_rows_format(rows), "tide");
    assert_int_equal(tide_rows_count(rows), COUNT(plain));
    assert_rows(rows, model, true);
    tide_rows_close(rows);
    tide_model_free(model);
}

static void a_model_without_words_is_written_and_read(void **state)
{
    (void)state;
    tide_model *model = model_of(plain, 1, 3);
    tide_shape shape = {.vocabulary = {.kind = TIDE_VOCABULARY_EXACT, .capacity = 1},
                        .dim = 3};
    tide_model_free(model);
    model = tide_model_new(&shape, NULL);
    assert_non_null(model);
    for (size_t f = 0; f < COUNT(readable); f++) {
        if (!strcmp(readable[f], "glove"))
            continue; /* an empty file has no dimension */
        assert_int_equal(export_to(model, readable[f], NULL, "out").words, 0);
        tide_rows *rows = open_rows("out", readable[f]);
        tide_row row;
        assert_int_equal(tide_rows_next(rows, &row, NULL), 0);
        tide_rows_close(rows);
    }
    tide_model_free(model);
}

static void options_select_what_is_written(void **state)
{
    (void)state;
    tide_model *model = plain_model(5);
    for (int vectors = 0; vectors < 3; vectors++)
        for (int centered = 0; centered < 2; centered++) {
            tide_export how = {.format = "word2vec",
                               .vectors = (tide_vectors)vectors,
                               .centered = centered,
                               .top = 4};
            tide_exported done;
            assert_int_equal(tide_model_export(model, &how, "out", &done, NULL), 0);
            assert_int_equal(done.words, 4);
            tide_view *space = tide_view_new(model, how.vectors, centered, NULL);
            tide_rows *rows = open_rows("out", NULL);
            tide_row row;
            float wanted[5];
            for (int i = 0; i < 4; i++) {
                assert_int_equal(tide_rows_next(rows, &row, NULL), 1);
                assert_string_equal(row.word, plain[i]);
                tide_view_vector(space, plain[i], wanted, NULL);
                assert_memory_equal(row.vector, wanted, sizeof wanted);
            }
            assert_int_equal(tide_rows_next(rows, &row, NULL), 0);
            tide_rows_close(rows);
            tide_view_free(space);
        }
    tide_model_free(model);
}

/* -- compact number types ---------------------------------------------------------- */

/* The nearest of all half-precision numbers, ties to even; 65536 stands for
 * infinity. */
static uint16_t naive_half(float value)
{
    double x = fabs((double)value);
    uint32_t below = 0, above = 0x7c00;
    while (above - below > 1) {
        uint32_t middle = (below + above) / 2;
        if ((double)tide_half_to_float((uint16_t)middle) <= x)
            below = middle;
        else
            above = middle;
    }
    double low = x - (double)tide_half_to_float((uint16_t)below);
    double high =
        (above == 0x7c00 ? 65536 : (double)tide_half_to_float((uint16_t)above)) - x;
    uint32_t nearest = low < high || (low == high && below % 2 == 0) ? below : above;
    return (uint16_t)(nearest | (signbit(value) ? 0x8000u : 0));
}

static void floats_become_the_nearest_halves(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(8);
    assert_true(tide_half_to_float(0x3c01) == 1 + 0x1p-10f &&
                tide_half_to_float(1) == 0x1p-24f);
    assert_true(tide_half_to_float(0xfbff) == -65504 &&
                isinf(tide_half_to_float(0x7c00)));
    for (uint32_t half = 0; half < 0x10000; half++) {
        float value = tide_half_to_float((uint16_t)half);
        if ((half & 0x7fff) <= 0x7c00)
            assert_int_equal(tide_half_from_float(value), half);
        else
            assert_true(isnan(value) &&
                        (tide_half_from_float(value) & 0x7fff) > 0x7c00);
    }
    for (uint32_t i = 0; i < 1000000; i++) {
        uint32_t bits = (uint32_t)tide_rng_next(&rng);
        if (i % 2) /* exponents around the range of half precision */
            bits = (bits & 0x807fffff) | (100 + i % 48) << 23;
        if (i % 8 == 1) /* half way between two */
            bits = (bits & 0xffffe000) | 0x1000;
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isnan(value))
            assert_int_equal(tide_half_from_float(value), naive_half(value));
    }
}

static void smaller_types_are_as_accurate_as_possible(void **state)
{
    (void)state;
    const char *const formats[] = {"npy", "safetensors"};
    const char *const dtypes[] = {"f16", "i8"};
    enum { DIM = 33 };
    tide_model *model = plain_model(DIM);
    memset(tide_matrix_row(&model->input, 2), 0, DIM * sizeof(float));
    tide_view *space = tide_view_new(model, TIDE_VECTORS_INPUT, false, NULL);
    for (size_t f = 0; f < 2; f++)
        for (size_t t = 0; t < 2; t++) {
            export_to(model, formats[f], dtypes[t], "out");
            tide_rows *rows = open_rows("out", NULL);
            tide_row row;
            float x[DIM];
            for (size_t i = 0; i < COUNT(plain); i++) {
                assert_int_equal(tide_rows_next(rows, &row, NULL), 1);
                tide_view_vector(space, plain[i], x, NULL);
                float largest = 0;
                for (int d = 0; d < DIM; d++)
                    largest = fmaxf(largest, fabsf(x[d]));
                for (int d = 0; d < DIM; d++) {
                    float step = t ? largest / 127 : fabsf(x[d]) / 1024 + 0x1p-24f;
                    assert_true(fabsf(row.vector[d] - x[d]) <= 0.501f * step);
                }
            }
            tide_rows_close(rows);
        }
    tide_view_free(space);
    tide_model_free(model);
}

static void a_value_too_large_for_its_type_is_rejected(void **state)
{
    (void)state;
    tide_error err;
    tide_model *model = plain_model(4);
    tide_matrix_row(&model->input, 3)[1] = 70000;
    tide_export how = {.format = "npy", .dtype = "f16"};
    assert_int_equal(tide_model_export(model, &how, "out.npy", NULL, &err),
                     TIDE_ERROR_PARAMETER);
    assert_contains(err.text, "too large for f16");
    how.dtype = NULL;
    tide_matrix_row(&model->input, 3)[1] = INFINITY;
    assert_true(tide_model_export(model, &how, "out.npy", NULL, &err) < 0);
    assert_contains(err.text, "not finite");
    assert_int_equal(files_here(), 0);
    tide_model_free(model);
}

/* -- words that a format cannot hold ----------------------------------------------- */

static void words_that_a_format_cannot_hold_are_left_out(void **state)
{
    (void)state;
    const char *const odd[] = {"plain",          "with space",     "tab\there",
                               "line\nbreak",    "cr\rhere",       "nb\xc2\xa0sp",
                               "ne\xc2\x85l",    "ls\xe2\x80\xa8", "em\xe2\x80\x83",
                               "zw\xe2\x80\x8b", "\xe3\x80\x80",   "us\x1fhere",
                               "no\xff utf8"};
    const struct {
        const char *format;
        uint64_t left_out;
    } expected[] = {{"word2vec", 5}, {"word2vec-binary", 5}, {"glove", 11},
                    {"npy", 4},      {"projector", 4},       {"safetensors", 2},
                    {"pgvector", 1}};
    tide_model *model = model_of(odd, COUNT(odd), 3);
    for (size_t i = 0; i < COUNT(expected); i++) {
        tide_exported done = export_to(model, expected[i].format, NULL, "out");
        assert_int_equal(done.left_out, expected[i].left_out);
        assert_int_equal(done.words, COUNT(odd) - expected[i].left_out);
    }
    for (size_t f = 0; f < COUNT(readable); f++) {
        tide_exported done = export_to(model, readable[f], NULL, "out");
        tide_rows *rows = open_rows("out", NULL);
        tide_row row;
        uint64_t count = 0;
        while (tide_rows_next(rows, &row, NULL) > 0)
            count++;
        assert_int_equal(count, done.words);
        tide_rows_close(rows);
    }
    tide_model_free(model);
}

static void special_bytes_of_copy_are_escaped(void **state)
{
    (void)state;
    const char *const odd[] = {"back\\slash", "t\tn\nr\r", "\\."};
    static char bytes[ROOM];
    tide_model *model = model_of(odd, COUNT(odd), 2);
    tide_matrix_row(&model->input, 0)[0] = 0.5f;
    tide_matrix_row(&model->input, 0)[1] = -3;
    export_to(model, "pgvector", NULL, "out");
    read_bytes("out", bytes);
    assert_contains(bytes, "back\\\\slash\t6\t[0.5,-3]\n");
    assert_contains(bytes, "\nt\\tn\\nr\\r\t4\t[");
    assert_contains(bytes, "\n\\\\.\t2\t[");
    tide_model_free(model);
}

/* -- files ------------------------------------------------------------------------- */

static void files_have_the_documented_layout(void **state)
{
    (void)state;
    static char bytes[ROOM];
    const char *const words[] = {"a", "b"};
    tide_model *model = model_of(words, 2, 2);
    float *rows[] = {tide_matrix_row(&model->input, 0),
                     tide_matrix_row(&model->input, 1)};
    rows[0][0] = 0.25f, rows[0][1] = -1.5f, rows[1][0] = 0, rows[1][1] = 1e-7f;
    export_to(model, "word2vec", NULL, "out");
    read_bytes("out", bytes);
    assert_string_equal(bytes, "2 2\na 0.25 -1.5\nb 0 1e-7\n");
    export_to(model, "glove", NULL, "out");
    read_bytes("out", bytes);
    assert_string_equal(bytes, "a 0.25 -1.5\nb 0 1e-7\n");
    export_to(model, "word2vec-binary", NULL, "out");
    assert_int_equal(read_bytes("out", bytes), 4 + 2 * (2 + 8 + 1));
    assert_memory_equal(bytes, "2 2\na \0\0\x80\x3e\0\0\xc0\xbf\nb ", 17);
    mkdir("logs", 0777);
    export_to(model, "projector", NULL, "logs/");
    read_bytes("logs/vectors.tsv", bytes);
    assert_string_equal(bytes, "0.25\t-1.5\n0\t1e-7\n");
    read_bytes("logs/metadata.tsv", bytes);
    assert_string_equal(bytes, "word\tcount\na\t4\nb\t2\n");
    export_to(model, "projector", NULL, "logs/q\"");
    read_bytes("logs/q\"_config.json", bytes);
    assert_contains(bytes, "\"tensorPath\": \"q\\\"_vectors.tsv\"");
    export_to(model, "npy", NULL, "x.npy");
    assert_int_equal(read_bytes("x.npy", bytes) % 64, 16);
    read_bytes("x.words.tsv", bytes);
    assert_string_equal(bytes, "a\t4\nb\t2\n");
    tide_model_free(model);
}

static void a_failed_export_leaves_the_old_file(void **state)
{
    (void)state;
    static char bytes[ROOM];
    tide_error err;
    size_t count;
    const tide_format_info *formats = tide_formats(&count);
    tide_model *model = plain_model(40);
    tide_matrix_row(&model->input, COUNT(plain) - 1)[0] = NAN;
    for (size_t i = 0; i < count; i++) {
        if (!formats[i].writes)
            continue;
        const char *path = strcmp(formats[i].name, "projector") ? "out.npy" : "p";
        tide_export how = {.format = formats[i].name};
        write_text("out.npy", "old");
        assert_true(tide_model_export(model, &how, path, NULL, &err) < 0);
        read_bytes("out.npy", bytes);
        assert_string_equal(bytes, "old");
        assert_int_equal(files_here(), 1);
        assert_true(tide_model_export(model, &how, "no/such/folder", NULL, &err) < 0);
    }
    tide_model_free(model);
}

static void invalid_options_are_rejected(void **state)
{
    (void)state;
    tide_error err;
    tide_model *model = plain_model(4);
    const struct {
        const char *format, *dtype, *path, *says;
    } wrong[] = {
        {"wrod2vec", NULL, "out", "unknown format"},
        {"tide", NULL, "out", "cannot be exported"},
        {"glove", "f16", "out", "holds f32"},
        {"npy", "f64", "out", "f32|f16|i8"},
        {"npy", "f", "out", "f32|f16|i8"},
        {"word2vec-binary", "f16", "out", "holds f32"},
        {"npy", NULL, "-", "needs a path"},
        {"projector", NULL, "-", "needs a path"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tide_export how = {.format = wrong[i].format, .dtype = wrong[i].dtype};
        assert_int_equal(tide_model_export(model, &how, wrong[i].path, NULL, &err),
                         TIDE_ERROR_PARAMETER);
        assert_contains(err.text, wrong[i].says);
    }
    assert_int_equal(files_here(), 0);
    write_text("x", "a 1\n");
    assert_contains(failure_of("x", "pgvector"), "cannot be read");
    assert_contains(failure_of("x", "nothing"), "unknown format");
    tide_model_free(model);
}

/* -- reading files of other programs ----------------------------------------------- */

static void assert_words(const char *path, const char *format, const char *words,
                         uint64_t left_out)
{
    char found[256] = "";
    tide_rows *rows = open_rows(path, NULL);
    tide_row row;
    tide_error err = {.text = ""};
    int got;
    assert_string_equal(tide_rows_format(rows), format);
    while ((got = tide_rows_next(rows, &row, &err)) > 0) {
        strcat(found, row.word);
        strcat(found, ";");
    }
    if (got < 0)
        fail_msg("%s", err.text);
    assert_string_equal(found, words);
    assert_int_equal(tide_rows_left_out(rows), left_out);
    tide_rows_close(rows);
}

static void texts_in_many_styles_are_read(void **state)
{
    (void)state;
    const struct {
        const char *text, *format, *words;
        uint64_t left_out;
    } texts[] = {
        {"2 2\na 1 2\nb 3 4\n", "word2vec", "a;b;", 0},
        {"2 2\na 1 2 \nb 3 4 \n", "word2vec", "a;b;", 0},
        {"2 2\r\na 1 2\r\nb 3 4\r\n", "word2vec", "a;b;", 0},
        {"2 2\na 1 2\nb 3 4", "word2vec", "a;b;", 0},
        {"2 2\na 1 2\nb 3 4\n\n\n", "word2vec", "a;b;", 0},
        {"2\t2\na\t1\t2\nb\t3\t4\n", "word2vec", "a;b;", 0},
        {"2 1\n7 1\n8 2\n", "word2vec", "7;8;", 0},
        {"2 3\n7 1\n8 2\n", "glove", "2;7;8;", 0},
        {"a 1 2\nb 3 4\n", "glove", "a;b;", 0},
        {"a 1 2\n", "glove", "a;", 0},
        {"a 1 2", "glove", "a;", 0},
        {"a 1 2\n. . . 3 4\nb 3 4\n", "glove", "a;b;", 1},
        {"3 2\na 1 2\nb nan 4\nc 1e99 2\n", "word2vec", "a;", 2},
        {"2 2\na 1 2\n 3 4\n", "word2vec", "a;", 1},
        {"2 2\na 1 2\n\xff 3 4\n", "word2vec", "a;", 1},
        {"2 2\na\xc2\xa0z 1 2\nb 1,5 4\n", "word2vec", "a\xc2\xa0z;", 1},
        {"2 2\nNew York 1 2\nb 3 4\n", "word2vec", "b;", 1},
        {"2 2\n\xe6\x97\xa5 \xe6\x9c\xac 1 2\nb 3 4\n", "word2vec", "b;", 1},
        {"2 2\na nan 2\nb 3 4\n", "word2vec", "b;", 1},
        {"New York 1 2\nb 3 4\n", "glove", "b;", 1},
        {"\xef\xbb\xbf"
         "2 2\na 1 2\nb 3 4\n",
         "word2vec", "a;b;", 0},
        {"\xef\xbb\xbf"
         "a 1 2\nb 3 4\n",
         "glove", "a;b;", 0},
        {"2 2\na 1 2\nwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"
         " 1 2\n",
         "word2vec", "a;", 1},
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        write_text("x", texts[i].text);
        assert_words("x", texts[i].format, texts[i].words, texts[i].left_out);
    }
}

/* "2 " can be the first bytes of a float. */
static void floats_that_look_like_text_are_still_binary(void **state)
{
    (void)state;
    tide_model *model = plain_model(6);
    const char *const starts[] = {"2 ", "12 3", "\n", "7\n", "-1 ", " ", "\t4 ", ".5 "};
    for (size_t i = 0; i < COUNT(starts); i++) {
        memcpy(tide_matrix_row(&model->input, 0), starts[i], strlen(starts[i]));
        tide_matrix_row(&model->input, 0)[3] = 1;
        export_to(model, "word2vec-binary", NULL, "out");
        tide_rows *rows = open_rows("out", NULL);
        assert_rows(rows, model, false);
        tide_rows_close(rows);
    }
    tide_model_free(model);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    write_text("x", "\xef\xbb\xbfgo 1 2\n");
    const char *const formats[] = {NULL, "glove"};
    for (size_t i = 0; i < COUNT(formats); i++) {
        tide_rows *rows = open_rows("x", formats[i]);
        tide_row row;
        assert_int_equal(tide_rows_next(rows, &row, NULL), 1);
        assert_string_equal(row.word, "go");
        tide_rows_close(rows);
    }
}

static void more_rows_than_the_maximum_are_rejected(void **state)
{
    (void)state;
    write_text("x", "1073741825 1\na 1\n");
    assert_int_equal(truncate("x", INT64_C(1) << 33), 0); /* a sparse file */
    assert_contains(failure_of("x", "word2vec"), "x: 1073741825 rows");
}

/* Only a native model has error bounds and parameters. */
static void errors_and_parameters_of_a_native_model_are_read(void **state)
{
    (void)state;
    tide_shape shape = {.vocabulary = {.kind = TIDE_VOCABULARY_EXACT, .capacity = 2},
                        .dim = 1};
    tide_model *model = tide_model_new(&shape, NULL);
    assert_non_null(model);
    model->params = strcpy(tide_alloc(16, 1), "tokens space\n");
    tide_word word = {"tea\0\0\0\0\0\0\0\0\0\0\0\0\0", 3};
    assert_int_equal(tide_vocabulary_insert(model->vocabulary, &word, 9, 4), 0);
    tide_store_writer *writer = tide_store_create("m.tide", NULL);
    tide_model_save(model, writer);
    assert_int_equal(tide_store_commit(writer, NULL), TIDE_OK);
    tide_rows *rows = open_rows("m.tide", NULL);
    tide_row row;
    assert_int_equal(tide_rows_next(rows, &row, NULL), 1);
    assert_int_equal(row.count, 9);
    assert_int_equal(row.error, 4);
    assert_string_equal(tide_rows_params(rows), "tokens space\n");
    tide_rows_close(rows);
    tide_model_free(model);
    write_text("x", "a 1\n");
    rows = open_rows("x", NULL);
    assert_string_equal(tide_rows_params(rows), "");
    tide_rows_close(rows);
}

static void newlines_after_binary_rows_are_optional(void **state)
{
    (void)state;
    write_bytes("x", "2 1\na \0\0\x80\x3f\nb \0\0\x80\x3f\n", 18);
    assert_words("x", "word2vec-binary", "a;b;", 0);
    write_bytes("x",
                "2 1\na \0\0\x80\x3f"
                "b \0\0\x80\x3f",
                16);
    assert_words("x", "word2vec-binary", "a;b;", 0);
    write_bytes("x",
                "2 1\na \0\0\x80\x7f"
                "b \0\0\x80\x3f",
                16);
    assert_words("x", "word2vec-binary", "b;", 1);
}

static void corrupt_files_are_rejected_with_their_position(void **state)
{
    (void)state;
    const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } corrupt[] = {
        {"", 0, "x: the file is empty"},
        {"hello\n", 6, "not a model or a file of vectors"},
        {"\xba\x16\x4f\x2f\x0c\0\0\0", 8, "the .vec file has the vectors"},
        {"\x80\4\x95\0\0\0\0\0\0\0\0gensim", 17, "gensim's native format"},
        {"\0\0\0\0\0\0\0\0\0\0\0\0", 12, "not a model or a file of vectors"},
        {"2 2\na 1 2\n", 10, "x: the file ends after row 1 of 2"},
        {"1 2\na 1 2\nb 3 4\n", 16, "x:3: more rows than the 1"},
        {"2 2\na 1 2\nb 3\n", 14, "x:3: 2 columns instead of 3"},
        {"2 2\na 1 2\nb 3 4 5\n", 18, "x:3: 4 columns instead"},
        {"a 1 2\nb 3\n", 10, "x:2: 2 columns instead"},
        {"2 0\na\nb\n", 8, "vectors of 0 numbers"},
        {"2 5000\na 1 2\n", 13, "vectors of 5000 numbers"},
        {"99999999999999999 4096\na \1\2\3", 28, "x: the file is too short for the 99"},
        {"3 2\na 1 2\nb 1\n", 13, "x: the file is too short for the 3 rows"},
        {"2 1\na \0\0\x80\x3f", 10, "x: the file is too short for the 2 rows"},
        {"2 1\na \0\0\x80\x3f\nb \0\0", 15, "x: the file ends in row 2 of 2"},
        {"1 1\na \0\0\x80\x3f\nb \0\0", 15, "extra bytes after 1 rows"},
        {"\x93NUMPY", 6, "cut off"},
        {"\x93NUMPY\1\0\xff\xff{}", 12, "cut off"},
        {"\x93NUMPY\1\0\4\0{  }\n", 14, "corrupt"},
        {"\x89TID\r\n\x1a\n", 8, "x"},
        {"\4\0\0\0\0\0\0\0{  }", 12, "corrupt"},
        {"\xff\0\0\0\0\0\0\0{  }", 12, "cut off"},
    };
    for (size_t i = 0; i < COUNT(corrupt); i++) {
        write_bytes("x", corrupt[i].bytes, corrupt[i].size);
        assert_contains(failure_of("x", NULL), corrupt[i].says);
    }
    assert_contains(failure_of("missing", NULL), "cannot read missing");
    assert_contains(failure_of(".", NULL), "cannot read .");
}

/* Every truncated file is rejected, unless it is text whose last row happens to be
 * complete. */
static void truncated_files_are_rejected(void **state)
{
    (void)state;
    static char bytes[ROOM];
    tide_model *model = model_of(plain, 4, 3);
    const char *const formats[] = {"word2vec", "word2vec-binary", "npy", "safetensors"};
    for (size_t f = 0; f < COUNT(formats); f++) {
        export_to(model, formats[f], NULL, "out");
        size_t size = read_bytes("out", bytes);
        bool text = !strcmp(formats[f], "word2vec");
        /* Exceptions: the last newline of a binary file, the last digits of text. */
        size_t end = text ? size - 12 : size - (!strcmp(formats[f], "word2vec-binary"));
        for (size_t cut = 0; cut < end; cut++) {
            write_bytes("out", bytes, cut);
            assert_true(*failure_of("out", formats[f]));
        }
    }
    tide_model_free(model);
}

static void numbers_of_words_and_rows_must_agree(void **state)
{
    (void)state;
    tide_model *model = model_of(plain, 3, 3);
    export_to(model, "npy", "i8", "x.npy");
    write_text("x.words.tsv", "the\t3\t1\nof\t2\t1\n");
    assert_contains(failure_of("x.npy", NULL), "fewer words");
    write_text("x.words.tsv", "the\t3\t1\nof\t2\t1\na\t1\t1\nb\t1\t1\n");
    assert_contains(failure_of("x.npy", NULL), "more words");
    write_text("x.words.tsv", "the\t3\t1\nof\t2\na\t1\t1\n");
    assert_contains(failure_of("x.npy", NULL), "x.words.tsv:2: no scale");
    unlink("x.words.tsv");
    assert_contains(failure_of("x.npy", NULL), "cannot read x.words.tsv");
    tide_model_free(model);
}

/* -- memory ------------------------------------------------------------------------ */

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    tide_error err;
    tide_exported done;
    tide_model *model = plain_model(6);
    for (size_t f = 0; f < COUNT(readable); f++) {
        tide_export how = {.format = readable[f], .centered = true};
        int left = 0, status;
        do {
            allocations_left = left++;
            err.text[0] = '\0';
            status = tide_model_export(model, &how, "out", &done, &err);
            allocations_left = -1;
            assert_true(!status || (err.status == TIDE_ERROR_MEMORY && *err.text));
        } while (status);
        assert_true(left > 5);
        tide_rows *rows;
        left = 0;
        do {
            allocations_left = left++;
            rows = tide_rows_open("out", NULL, &err);
            allocations_left = -1;
            assert_true(rows || err.status == TIDE_ERROR_MEMORY);
        } while (!rows);
        assert_true(left > 3);
        tide_rows_close(rows);
    }
    tide_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(exports_are_read_back_bit_by_bit),
        IN_FOLDER(a_native_model_is_read_like_any_other_file),
        IN_FOLDER(a_model_without_words_is_written_and_read),
        IN_FOLDER(options_select_what_is_written),
        IN_FOLDER(floats_become_the_nearest_halves),
        IN_FOLDER(smaller_types_are_as_accurate_as_possible),
        IN_FOLDER(a_value_too_large_for_its_type_is_rejected),
        IN_FOLDER(words_that_a_format_cannot_hold_are_left_out),
        IN_FOLDER(special_bytes_of_copy_are_escaped),
        IN_FOLDER(files_have_the_documented_layout),
        IN_FOLDER(a_failed_export_leaves_the_old_file),
        IN_FOLDER(invalid_options_are_rejected),
        IN_FOLDER(texts_in_many_styles_are_read),
        IN_FOLDER(floats_that_look_like_text_are_still_binary),
        IN_FOLDER(a_byte_order_mark_is_skipped),
        IN_FOLDER(more_rows_than_the_maximum_are_rejected),
        IN_FOLDER(errors_and_parameters_of_a_native_model_are_read),
        IN_FOLDER(newlines_after_binary_rows_are_optional),
        IN_FOLDER(corrupt_files_are_rejected_with_their_position),
        IN_FOLDER(truncated_files_are_rejected),
        IN_FOLDER(numbers_of_words_and_rows_must_agree),
        IN_FOLDER(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
