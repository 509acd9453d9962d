/* test_eval.c - evaluation by sets of word pairs and analogy questions; files of
 * vectors as models. */
#include "base/base.h"
#include "eval/eval.h"
#include "query/query.h"
#include "memory_fixture.h"

#include "train_fixture.h"

#include <wordtide/formats.h>

/* -- models read from text --------------------------------------------------------- */

typedef struct subject {
    tide_model *model;
    tide_view *view;
} subject;

static tide_model *open_model(const char *path)
{
    tide_error err;
    tide_model *model = tide_model_open(path, &err);
    if (!model)
        fail_msg("%s", err.text);
    return model;
}

static subject subject_open(const char *path)
{
    subject a = {.model = open_model(path)};
    a.view = tide_view_new(a.model, TIDE_VECTORS_INPUT, false, NULL);
    assert_non_null(a.view);
    return a;
}

static void subject_free(subject *a)
{
    tide_view_free(a->view);
    tide_model_free(a->model);
}

static void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* word0, word1, ... with random vectors; every seventh equals the previous one. */
static void write_vectors(const char *path, uint32_t words, uint32_t dim, bool header)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    tide_rng rng = tide_rng_seeded(words);
    if (header)
        fprintf(file, "%u %u\n", words, dim);
    float row[64];
    for (uint32_t i = 0; i < words; i++) {
        fprintf(file, "word%u", i);
        for (uint32_t d = 0; d < dim; d++) {
            if (i % 7 != 6)
                row[d] = (float)tide_rng_normal(&rng);
            fprintf(file, " %.9g", (double)row[d]);
        }
        fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
}

static void a_file_of_vectors_is_a_model_of_its_rows(void **state)
{
    (void)state;
    enum { WORDS = 9000, DIM = 5 }; /* more than the initial capacity */
    for (int header = 0; header < 2; header++) {
        write_vectors("v", WORDS, DIM, header);
        subject a = subject_open("v");
        tide_rows *rows = tide_rows_open("v", NULL, NULL);
        tide_entry *words = tide_alloc(WORDS, sizeof *words);
        assert_int_equal(tide_model_size(a.model), WORDS);
        assert_int_equal(tide_model_capacity(a.model), WORDS);
        assert_int_equal(tide_model_words(a.model, words, WORDS), WORDS);
        assert_int_equal(tide_model_tokens(a.model), 0);
        assert_string_equal(tide_model_params(a.model), "");
        tide_row row;
        for (uint32_t i = 0; i < WORDS; i++) {
            float vector[DIM];
            assert_int_equal(tide_rows_next(rows, &row, NULL), 1);
            assert_string_equal(words[i].word, row.word);
            assert_true(words[i].count == 0 && words[i].error == 0);
            assert_int_equal(tide_view_vector(a.view, row.word, vector, NULL), 0);
            assert_memory_equal(vector, row.vector, sizeof vector);
        }
        tide_origin origin = *tide_model_origin(a.model);
        assert_string_equal(origin.format, header ? "word2vec" : "glove");
        assert_true(origin.uncounted && !origin.duplicates && !origin.left_out);
        free(words);
        tide_rows_close(rows);
        subject_free(&a);
    }
}

/* For vectors of any length, even if their squares overflow or underflow. */
static void only_directions_count(void **state)
{
    (void)state;
    static const float sizes[] = {1, 0x1p100f, 0x1p-100f, 0x1p-140f};
    static const char *const words[] = {"a", "b", "c"};
    float expected[COUNT(words)][2];
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char text[512];
        double x = (double)sizes[i];
        sprintf(text, "a %.9g 0\nb %.9g %.9g\nc %.9g %.9g\n", 2 * x, x, x, -x, 3 * x);
        write_text("v", text);
        subject a = subject_open("v");
        for (size_t w = 0; w < COUNT(words); w++) {
            tide_hit hits[2];
            tide_query query = {.positive = &words[w], .positive_count = 1};
            assert_int_equal(tide_view_nearest(a.view, &query, hits, 2, NULL), 2);
            for (int k = 0; k < 2; k++)
                if (i == 0)
                    expected[w][k] = hits[k].score;
                else
                    assert_true(fabsf(hits[k].score - expected[w][k]) < 1e-6f);
        }
        subject_free(&a);
    }
    assert_true(expected[0][0] > 0.7f && expected[0][1] < 0);
}

static void ties_keep_the_order_of_rows(void **state)
{
    (void)state;
    tide_hit hits[3];
    size_t count = 0;
    for (uint32_t slot = 0; slot < 5; slot++)
        count = tide_hits_insert(hits, count, 3, (tide_hit){"x", 0.5f, slot});
    count = tide_hits_insert(hits, count, 3, (tide_hit){"y", 0.75f, 9});
    assert_int_equal(count, 3);
    assert_true(hits[0].slot == 9 && hits[1].slot == 0 && hits[2].slot == 1);
}

static void the_first_row_of_a_word_is_kept(void **state)
{
    (void)state;
    write_text("v", "a 1 2\nb 3 4\na 5 6\n\xff 7 8\nc nan 1\nb 0 0\n");
    subject a = subject_open("v");
    tide_origin origin = *tide_model_origin(a.model);
    float vector[2];
    assert_int_equal(tide_model_size(a.model), 2);
    assert_int_equal(origin.duplicates, 2);
    assert_int_equal(origin.left_out, 2);
    assert_int_equal(tide_view_vector(a.view, "a", vector, NULL), TIDE_OK);
    assert_true(vector[0] == 1 && vector[1] == 2);
    subject_free(&a);
}

/* A trained model gives the same results after saving, loading and exporting. */
static void counts_are_reported_if_the_file_has_them(void **state)
{
    (void)state;
    const char *settings = "vocab=200 dim=8 threads=1";
    corpus text = demo_text(1, 3000);
    tide_trainer *trainer = trained(settings, &text);
    save_to(trainer, "m.tide");
    tide_trainer_free(trainer);
    free(text.bytes);
    tide_model *native = open_model("m.tide");
    assert_string_equal(tide_model_origin(native)->format, "tide");
    tide_export options = {.format = "safetensors"};
    assert_int_equal(tide_model_export(native, &options, "m.safetensors", NULL, NULL),
                     0);
    tide_model *other = open_model("m.safetensors");
    tide_entry ours[200], others[200];
    size_t count = tide_model_words(native, ours, 200);
    assert_int_equal(tide_model_words(other, others, 200), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(others[i].word, ours[i].word);
        assert_int_equal(others[i].count, ours[i].count);
    }
    tide_error err;
    assert_null(tide_view_new(other, TIDE_VECTORS_SUM, false, &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    assert_null(tide_view_new(other, TIDE_VECTORS_OUTPUT, true, &err));
    assert_null(tide_params_of_model(other, &err));
    tide_model_free(native);
    tide_model_free(other);
}

static void other_files_are_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        tide_status status;
    } bad[] = {
        {"", TIDE_ERROR_FORMAT},
        {"hello\n", TIDE_ERROR_FORMAT},
        {"\x89TID is not all there is to it", TIDE_ERROR_FORMAT},
        {"1000000000 4000\nthe 1 2 3\n",
         TIDE_ERROR_FORMAT}, /* too short for a native model */
        {"3 2\na 1 2\nb 1\n", TIDE_ERROR_FORMAT},
    };
    tide_error err;
    for (size_t i = 0; i < COUNT(bad); i++) {
        write_text("v", bad[i].bytes);
        err.status = TIDE_OK;
        assert_null(tide_model_open("v", &err));
        assert_int_equal(err.status, bad[i].status);
        assert_null(tide_model_open("v", NULL));
    }
    assert_null(tide_model_open("nothing", &err));
    assert_int_equal(err.status, TIDE_ERROR_IO);
    assert_null(tide_model_open(".", &err));
}

/* -- pairs ------------------------------------------------------------------------- */

/* Cosines with a: b 1, c 0, d -1, e about 0.7. */
static const char compass[] = "a 1 0\nb 2 0\nc 0 3\nd -1 0\ne 1 1\nZ 1 0.5\nz 0 1\n"
                              "stra\xc3\x9f"
                              "e 5 1\n";

static int evaluate(const subject *a, const char *set, tide_eval_options options,
                    tide_similarity_result *result)
{
    write_text("set", set);
    tide_error err = {.text = ""};
    int status = tide_eval_similarity(a->view, "set", &options, result, &err);
    assert_true((status < 0) == (err.text[0] != 0));
    return status;
}

static void pairs_are_read_in_many_formats(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint64_t pairs, known, bad_lines;
    } sets[] = {
        {"a\tb\t9\na\tc\t5\na\td\t1\n", 3, 3, 0},
        {"a,b,9\na,c,5\na,d,1", 3, 3, 0},
        {"a;b;9\na;c;5.5e0\na;d;-1", 3, 3, 0},
        {"a b 9\na   c  5\n  a d 1  \n", 3, 3, 0},
        {"\xef\xbb\xbf"
         "a\tb\t9\r\na\tc\t5\r\n\r\na\td\t1\r\n",
         3, 3, 0},
        {"Word 1,Word 2,Human (mean)\na,b,9\na,c,5\na,d,1\n", 3, 3, 0},
        {"# from\n\n# people 1 2 3\na b 9\na c 5\na d 1\n", 3, 3, 0},
        {"word1\tword2\tPOS\tscore\tmore\na\tb\tN\t9\t1.5\nA\tc\tV\t5\t2."
         "5\na\td\tN\t1\t0",
         3, 3, 0},
        {"a b 9\na c\na c x\na\na c 5\na d 1\n\"a d 1\"\n", 3, 3, 4},
        {"a b 9\na c 5\na d 1\na q 3\nq q 2\nnew york\tb\t7\n", 6, 3, 0},
        {"a b 9\na c 5\na d 1\na b inf\na b nan\na b 1e999\na b 0x10\n", 3, 3, 4},
    };
    write_text("v", compass);
    subject a = subject_open("v");
    for (size_t i = 0; i < COUNT(sets); i++) {
        tide_similarity_result r;
        assert_int_equal(evaluate(&a, sets[i].set, (tide_eval_options){0}, &r),
                         TIDE_OK);
        if (r.pairs != sets[i].pairs || r.known != sets[i].known ||
            r.bad_lines != sets[i].bad_lines)
            fail_msg("set %zu: %d pairs, %d known, %d bad lines", i, (int)r.pairs,
                     (int)r.known, (int)r.bad_lines);
        assert_true(r.spearman == 1 && r.pearson > 0.98);
    }
    subject_free(&a);
}

static void words_are_found_as_spelled_or_folded(void **state)
{
    (void)state;
    write_text("v", compass);
    subject a = subject_open("v");
    tide_similarity_result r;
    /* Z, z and STRASSE, whose folded form the model does not hold */
    evaluate(&a, "Z a 3\nz a 2\nA D 1\n", (tide_eval_options){0}, &r);
    assert_true(r.known == 3 && r.spearman == 1);
    evaluate(&a, "Z a 2\nz a 3\nA D 1\n", (tide_eval_options){0}, &r);
    assert_true(r.known == 3 && r.spearman == 0.5);
    evaluate(&a,
             "STRASSE a 1\nSTRA\xe1\xba\x9e"
             "E a 2\nstra\xc3\x9f"
             "e a 3\n\xff a 2\n",
             (tide_eval_options){0}, &r);
    assert_true(r.pairs == 4 && r.known == 1 && isnan(r.spearman));
    subject_free(&a);
}

static void unknown_words_are_skipped_or_count_as_unrelated(void **state)
{
    (void)state;
    static const char set[] = "a b 9\na c 5\na d 1\nq a 7\n";
    write_text("v", compass);
    subject a = subject_open("v");
    tide_similarity_result r;
    assert_int_equal(evaluate(&a, set, (tide_eval_options){.keep_unknown = true}, &r),
                     0);
    assert_true(r.pairs == 4 && r.known == 3);
    assert_true(fabs(r.spearman - 0.9486832980505138) < 1e-15); /* 3/sqrt(10) */
    assert_int_equal(evaluate(&a, set, (tide_eval_options){.top = 3}, &r), 0);
    assert_true(r.pairs == 4 && r.known == 2 && r.spearman == 1);
    assert_int_equal(evaluate(&a, set, (tide_eval_options){.top = 1}, &r), 0);
    assert_true(r.known == 0 && isnan(r.spearman) && isnan(r.pearson));
    subject_free(&a);
}

static void a_set_without_pairs_is_an_error_that_names_it(void **state)
{
    (void)state;
    static const char *const empty[] = {"", "\n\n", "# none\n", "a b\n",
                                        "word word score"};
    write_text("v", compass);
    subject a = subject_open("v");
    tide_similarity_result r;
    tide_eval_options options = {0};
    tide_error err;
    for (size_t i = 0; i < COUNT(empty); i++) {
        write_text("set", empty[i]);
        assert_int_equal(tide_eval_similarity(a.view, "set", &options, &r, &err),
                         TIDE_ERROR_FORMAT);
        assert_non_null(strstr(err.text, "set"));
        assert_int_equal(
            tide_eval_analogy(a.view, "set", &options, NULL, 0, NULL, &err),
            TIDE_ERROR_FORMAT);
        assert_non_null(strstr(err.text, "set"));
    }
    assert_true(tide_eval_similarity(a.view, "no set", &options, &r, &err) < 0);
    assert_non_null(strstr(err.text, "no set"));
    subject_free(&a);
}

/* For any vectors, the cosines of words with themselves are ties. */
static void every_word_is_equally_near_to_itself(void **state)
{
    (void)state;
    write_vectors("v", 500, 20, false);
    subject a = subject_open("v");
    static char set[40000];
    size_t at = 0;
    for (int i = 0; i < 500; i++)
        at += (size_t)sprintf(set + at, "word%d word%d %d\n", i, i, i);
    tide_similarity_result r;
    evaluate(&a, set, (tide_eval_options){0}, &r);
    assert_true(r.known == 500 && isnan(r.spearman) && isnan(r.pearson));
    subject_free(&a);
}

/* A line longer than the buffer, full of pairs, counts as one bad line. */
static void long_lines_are_counted_once(void **state)
{
    (void)state;
    write_text("v", compass);
    subject a = subject_open("v");
    static char set[40000];
    for (size_t length = 4098; length < 13000; length += 498) {
        size_t at = (size_t)sprintf(set, "a b 9\n");
        for (size_t end = at + length; at < end; at += 6)
            memcpy(set + at, "a b 3 ", 6);
        for (int last = 0; last < 2; last++) { /* in the middle, or at the end */
            strcpy(set + at, last ? "" : "\na c 5\na d 1");
            tide_similarity_result r;
            evaluate(&a, set, (tide_eval_options){0}, &r);
            assert_int_equal(r.pairs, last ? 1 : 3);
            assert_int_equal(r.bad_lines, 1);
        }
    }
    subject_free(&a);
}

/* -- questions --------------------------------------------------------------------- */

/* Counts right answers with one search per question. */
static uint64_t naive_right_answers(const subject *a, uint32_t (*questions)[4],
                                    size_t count, uint32_t among)
{
    uint64_t right = 0;
    for (size_t i = 0; i < count; i++) {
        char words[4][16];
        for (int w = 0; w < 4; w++)
            sprintf(words[w], "word%u", questions[i][w]);
        const char *positive[] = {words[1], words[2]}, *negative[] = {words[0]};
        tide_query query = {positive, 2, negative, 1, NULL, among};
        tide_hit hit;
        int found = tide_view_nearest(a->view, &query, &hit, 1, NULL);
        right += found == 1 && !strcmp(hit.word, words[3]);
    }
    return right;
}

/* For about half of the questions, D is the answer of the model. */
static void make_question(const subject *a, tide_rng *rng, uint32_t words,
                          uint32_t q[4])
{
    char names[3][16];
    for (int w = 0; w < 4; w++)
        q[w] = (uint32_t)tide_rng_below(rng, words);
    for (int w = 0; w < 3; w++)
        sprintf(names[w], "word%u", q[w]);
    tide_hit hit;
    if (tide_rng_below(rng, 2) &&
        tide_view_analogy(a->view, names[0], names[1], names[2], &hit, 1, NULL) == 1)
        q[3] = (uint32_t)strtoul(hit.word + 4, NULL, 10);
}

static void batched_answers_equal_single_searches(void **state)
{
    (void)state;
    enum { WORDS = 700, QUESTIONS = SANITIZED ? 600 : 1500 };
    const uint32_t amongs[] = {0, 3, 4, 127, 128, 300};
    write_vectors("v", WORDS, 9, false);
    subject a = subject_open("v");
    tide_rng rng = tide_rng_seeded(3);
    static uint32_t questions[QUESTIONS][4], known[QUESTIONS][4];
    FILE *file = fopen("questions", "w");
    for (size_t i = 0; i < QUESTIONS; i++) {
        make_question(&a, &rng, i % 3 ? WORDS : 5, questions[i]);
        const uint32_t *q = questions[i];
        fprintf(file, "word%u WORD%u\tword%u  word%u\n", q[0], q[1], q[2], q[3]);
    }
    fclose(file);
    for (size_t k = 0; k < COUNT(amongs); k++) {
        size_t count = 0;
        uint32_t among = amongs[k], limit = among ? among : WORDS;
        for (size_t i = 0; i < QUESTIONS; i++) {
            const uint32_t *q = questions[i];
            if (q[0] < limit && q[1] < limit && q[2] < limit && q[3] < limit)
                memcpy(known[count++], q, sizeof *known);
        }
        tide_analogy_result r;
        tide_eval_options options = {.top = among};
        assert_int_equal(
            tide_eval_analogy(a.view, "questions", &options, &r, 1, NULL, NULL), 1);
        assert_int_equal(r.questions, QUESTIONS);
        assert_int_equal(r.known, count);
        assert_int_equal(r.scored, count);
        assert_int_equal(r.correct, naive_right_answers(&a, known, count, among));
        if (!among)
            assert_in_range(r.correct, QUESTIONS / 4, QUESTIONS * 3 / 4);
    }
    subject_free(&a);
}

static void sections_are_counted_separately(void **state)
{
    (void)state;
    write_text("v", "a 1 0 0\nb 1 1 0\nc 0 0 1\nd 0.1 1 1\ne 0 -1 0\n");
    write_text("questions",
               "a b c d\n"
               ": capitals \r\n"
               "a b c d\nA B C D\na b c e\n\n# a b c d\n"
               ":empty\n"
               ": a name that is far, far too long for what there is room for: "
               "z\xc3\xbcrich-z\xc3\xbcrich\n"
               "a b c\na b c d e\na b c q\n");
    subject a = subject_open("v");
    tide_analogy_result r[4];
    uint64_t bad_lines;
    tide_eval_options options = {0};
    assert_int_equal(
        tide_eval_analogy(a.view, "questions", &options, r, 4, &bad_lines, NULL), 4);
    assert_int_equal(bad_lines, 2);
    const uint64_t expected[4][4] = {{1, 1, 1, 1}, {3, 3, 3, 2}, {0}, {1, 0, 0, 0}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(r[i].questions, expected[i][0]);
        assert_int_equal(r[i].known, expected[i][1]);
        assert_int_equal(r[i].scored, expected[i][2]);
        assert_int_equal(r[i].correct, expected[i][3]);
    }
    assert_string_equal(r[0].name, "");
    assert_string_equal(r[1].name, "capitals");
    assert_string_equal(r[2].name, "empty");
    assert_int_equal(strlen(r[3].name),
                     62); /* the two bytes of the u umlaut do not fit */
    options.keep_unknown = true;
    assert_int_equal(tide_eval_analogy(a.view, "questions", &options, r, 4, NULL, NULL),
                     4);
    assert_true(r[3].known == 0 && r[3].scored == 1 && r[3].correct == 0);
    r[1].questions = 99;
    assert_int_equal(tide_eval_analogy(a.view, "questions", &options, r, 1, NULL, NULL),
                     4);
    assert_int_equal(r[1].questions, 99);
    subject_free(&a);
}

/* A small file must not lead to a large list. */
static void too_many_sections_are_rejected(void **state)
{
    (void)state;
    enum { MOST = 1 << 16 };
    static char text[4 * MOST + 64];
    write_text("v", "a 1 0\nb 1 1\nc 0 1\nd -1 1\n");
    subject a = subject_open("v");
    tide_eval_options options = {0};
    tide_error err;
    for (int extra = 0; extra < 2; extra++) {
        size_t size = 0;
        for (int i = 0; i < MOST + extra; i++)
            size += (size_t)sprintf(text + size, ":x\n");
        sprintf(text + size, "a b c d\n");
        write_text("set", text);
        int count = tide_eval_analogy(a.view, "set", &options, NULL, 0, NULL, &err);
        assert_int_equal(count, extra ? TIDE_ERROR_FORMAT : MOST);
    }
    assert_non_null(strstr(err.text, "sections"));
    subject_free(&a);
}

/* -- memory ------------------------------------------------------------------------ */

/* Runs until it succeeds, allowing one more allocation each time. Returns how many it
 * takes. */
static int count_allocations(int (*attempt)(const subject *a, tide_error *err),
                             const subject *a)
{
    for (int left = 0;; left++) {
        tide_error err = {.text = ""};
        allocations_left = left;
        int status = attempt(a, &err);
        allocations_left = -1;
        if (status >= 0)
            return left;
        assert_int_equal(err.status, TIDE_ERROR_MEMORY);
        assert_true(err.text[0]);
        assert_true(left < 1000);
    }
}

static int attempt_open(const subject *a, tide_error *err)
{
    (void)a;
    tide_model *model = tide_model_open("v", err);
    tide_model_free(model);
    return model ? TIDE_OK : TIDE_ERROR_MEMORY;
}

static int attempt_pairs(const subject *a, tide_error *err)
{
    tide_similarity_result r;
    return tide_eval_similarity(a->view, "set", &(tide_eval_options){0}, &r, err);
}

static int attempt_questions(const subject *a, tide_error *err)
{
    return tide_eval_analogy(a->view, "questions", &(tide_eval_options){0}, NULL, 0,
                             NULL, err);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    write_vectors("v", 5000, 3, false);
    write_text("set", "word1 word2 1\nword1 word3 2\nword1 word4 3\n");
    write_text("questions",
               ": a\nword1 word2 word3 word4\n: b\nword1 word2 word5 word6\n");
    subject a = subject_open("v");
    assert_true(count_allocations(attempt_open, NULL) > 10);
    assert_true(count_allocations(attempt_pairs, &a) > 8);
    assert_true(count_allocations(attempt_questions, &a) > 6);
    subject_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_file_of_vectors_is_a_model_of_its_rows),
        IN_FOLDER(only_directions_count),
        IN_FOLDER(ties_keep_the_order_of_rows),
        IN_FOLDER(the_first_row_of_a_word_is_kept),
        IN_FOLDER(counts_are_reported_if_the_file_has_them),
        IN_FOLDER(other_files_are_rejected),
        IN_FOLDER(pairs_are_read_in_many_formats),
        IN_FOLDER(words_are_found_as_spelled_or_folded),
        IN_FOLDER(unknown_words_are_skipped_or_count_as_unrelated),
        IN_FOLDER(a_set_without_pairs_is_an_error_that_names_it),
        IN_FOLDER(every_word_is_equally_near_to_itself),
        IN_FOLDER(long_lines_are_counted_once),
        IN_FOLDER(batched_answers_equal_single_searches),
        IN_FOLDER(sections_are_counted_separately),
        IN_FOLDER(too_many_sections_are_rejected),
        IN_FOLDER(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
