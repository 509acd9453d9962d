/* test_model.c - words, subwords and queries of a model, against naive
 * implementations. */
#include "base/base.h"
#include "model/model.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"
#include "model_fixture.h"
#include "model_oracle.h"

static void words_are_listed_by_count_and_found(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("");
    const tide_model *model = tide_trainer_model(trainer);
    tide_entry words[400], entry;
    tide_error err;
    size_t count = tide_model_words(model, words, 400);
    assert_int_equal(count, tide_model_size(model));
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || words[i].count <= words[i - 1].count);
        assert_true(words[i].error <= words[i].count);
        assert_int_equal(tide_model_find(model, words[i].word, &entry, NULL), TIDE_OK);
        assert_string_equal(entry.word, words[i].word);
        assert_int_equal(entry.slot, words[i].slot);
        assert_int_equal(entry.count, words[i].count);
        assert_int_equal(entry.error, words[i].error);
    }
    assert_int_equal(tide_model_words(model, words, 7), 7);
    assert_int_equal(tide_model_words(model, words, 0), 0);
    assert_int_equal(tide_model_find(model, "nosuchword", &entry, &err),
                     TIDE_ERROR_NOT_FOUND);
    assert_string_equal(err.text, "'nosuchword' is not in the vocabulary");
    char longest[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(tide_model_find(model, longest, &entry, NULL),
                     TIDE_ERROR_NOT_FOUND);
    assert_int_equal(tide_model_find(model, "", &entry, NULL), TIDE_ERROR_NOT_FOUND);
    tide_trainer_free(trainer);
}

/* -- subwords ---------------------------------------------------------------------- */

static void ngrams_match_the_definition(void **state)
{
    (void)state;
    static const char *const words[] = {
        "a",
        "ab",
        "word",
        "straße",
        "größer",
        "日本語",
        "naïve",
        "🙂",
        "x🙂y",
        "ñ",
        "internationalisation",
        "ααββγγδδεεζζηηθθιικκλλμμννξξ",
        "012345678901234567890123456789012345678901234567890123456789012"};
    for (uint32_t shortest = 1; shortest <= TIDE_SUBWORD_LENGTH_MAX; shortest++)
        for (uint32_t longest = shortest; longest <= TIDE_SUBWORD_LENGTH_MAX; longest++)
            for (size_t i = 0; i < COUNT(words); i++) {
                tide_subwords subwords = {1 + 997 * longest, shortest, longest};
                uint32_t ids[TIDE_SUBWORDS_MAX], wanted[TIDE_SUBWORDS_MAX];
                uint32_t count = tide_subwords_of(&subwords, words[i],
                                                  (uint32_t)strlen(words[i]), ids);
                assert_int_equal(count, naive_ngrams(&subwords, words[i], wanted));
                assert_memory_equal(ids, wanted, count * sizeof *ids);
            }
}

static void an_unseen_word_is_the_mean_of_its_ngrams(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("subword=700");
    const tide_model *model = tide_trainer_model(trainer);
    tide_view *view = tide_view_new(model, TIDE_VECTORS_INPUT, false, NULL);
    float vector[20];
    uint32_t ids[TIDE_SUBWORDS_MAX];
    assert_int_equal(tide_view_vector(view, "ministerium", vector, NULL), TIDE_OK);
    uint32_t count = naive_ngrams(&model->shape.subwords, "ministerium", ids);
    for (uint32_t d = 0; d < 20; d++) {
        double sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += (double)tide_matrix_row(&model->subword, ids[i])[d];
        assert_true(fabs(sum / count - (double)vector[d]) < 1e-6);
    }
    tide_view_free(view);
    tide_trainer_free(trainer);
}

static void unseen_words_have_a_vector_only_with_subwords(void **state)
{
    (void)state;
    tide_error err;
    float vector[20], cosine;
    const char *unseen = "ministerium", *seen = "the";
    tide_query query = {.positive = &unseen, .positive_count = 1};
    tide_hit hit;
    for (int subwords = 0; subwords < 2; subwords++) {
        tide_trainer *trainer = small_trainer(subwords ? "subword=700" : "");
        const tide_model *model = tide_trainer_model(trainer);
        for (tide_vectors v = TIDE_VECTORS_INPUT; v <= TIDE_VECTORS_SUM; v++) {
            tide_view *view = tide_view_new(model, v, true, NULL);
            bool known = subwords && v != TIDE_VECTORS_OUTPUT;
            int wanted = known ? TIDE_OK : TIDE_ERROR_NOT_FOUND;
            err.text[0] = 0;
            assert_int_equal(tide_view_vector(view, unseen, vector, &err), wanted);
            assert_int_equal(strstr(err.text, unseen) == NULL, known);
            assert_int_equal(tide_view_similarity(view, seen, unseen, &cosine, NULL),
                             wanted);
            assert_int_equal(tide_view_nearest(view, &query, &hit, 1, NULL),
                             known ? 1 : TIDE_ERROR_NOT_FOUND);
            assert_int_equal(tide_view_vector(view, "", vector, NULL),
                             TIDE_ERROR_NOT_FOUND);
            tide_view_free(view);
        }
        tide_trainer_free(trainer);
    }
}

/* -- queries ----------------------------------------------------------------------- */

/* Compares the scores rank by rank to float precision, minus a digit lost by
 * subtracting the mean. Words of a query that nearly cancel leave a short sum: relative
 * to it, the rounding errors of the words are as much larger. Where the order differs,
 * scores are equal to that precision. */
static void assert_nearest(const tide_view *view, const naive_view *expected,
                           const tide_query *query, size_t capacity)
{
    static naive_hit wanted[4000];
    tide_hit hits[500];
    size_t all = naive_nearest(expected, query, wanted, 4000);
    double direction[64];
    double precision = 2e-5 / fmin(1, naive_query(expected, query, direction));
    int found = tide_view_nearest(view, query, hits, capacity, NULL);
    assert_int_equal(found, capacity < all ? capacity : all);
    for (int i = 0; i < found; i++) {
        uint32_t length;
        const char *word =
            tide_vocabulary_word(expected->model->vocabulary, hits[i].slot, &length);
        assert_string_equal(hits[i].word, word);
        assert_true(fabs((double)hits[i].score - wanted[i].score) < precision);
        assert_true(i == 0 || hits[i].score <= hits[i - 1].score);
        size_t place = 0;
        while (place < all && wanted[place].slot != hits[i].slot)
            place++;
        assert_true(place < all);
        assert_true(fabs(wanted[place].score - wanted[i].score) < 2 * precision);
        for (int other = 0; other < i; other++)
            assert_true(hits[other].slot != hits[i].slot);
    }
}

static void nearest_equals_a_full_sort_in_double_precision(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(model_kinds); k++) {
        tide_trainer *trainer = small_trainer(model_kinds[k]);
        const tide_model *model = tide_trainer_model(trainer);
        tide_entry words[100];
        size_t count = tide_model_words(model, words, 100);
        tide_rng rng = tide_rng_seeded(k);
        for (int turn = 0; turn < 36; turn++) {
            tide_vectors vectors = (tide_vectors)(turn % 3);
            bool centered = turn / 3 % 2;
            tide_view *view = tide_view_new(model, vectors, centered, NULL);
            naive_view expected = naive_view_of(model, vectors, centered);
            const char *inputs[6];
            for (int i = 0; i < 6; i++)
                inputs[i] = words[tide_rng_below(&rng, count)].word;
            float vector[20];
            for (int d = 0; d < 20; d++)
                vector[d] = tide_rng_float(&rng) - 0.5f;
            tide_query query = {.positive = inputs,
                                .positive_count = (size_t)(1 + turn % 3),
                                .negative = inputs + 3,
                                .negative_count = (size_t)(turn / 6 % 4),
                                .vector = turn % 5 == 4 ? vector : NULL,
                                .top = turn % 4 == 3 ? 50 : 0};
            if (turn % 7 == 6)
                query.positive_count = query.negative_count = 0, query.vector = vector;
            assert_nearest(view, &expected, &query, turn % 2 ? 10 : 500);
            tide_view_free(view);
        }
        tide_trainer_free(trainer);
    }
}

static void words_of_the_query_are_excluded(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("");
    tide_view *view =
        tide_view_new(tide_trainer_model(trainer), TIDE_VECTORS_INPUT, false, NULL);
    static const char *const inputs[] = {"the", "of", "in", "the"};
    tide_query query = {inputs, 2, inputs + 2, 2, NULL, 0};
    tide_hit hits[400];
    int count = tide_view_nearest(view, &query, hits, 400, NULL);
    assert_int_equal(count, tide_model_size(tide_trainer_model(trainer)) - 3);
    for (int i = 0; i < count; i++)
        for (int a = 0; a < 4; a++)
            assert_string_not_equal(hits[i].word, inputs[a]);
    assert_int_equal(tide_view_nearest(view, &query, hits, 0, NULL), 0);
    tide_view_free(view);
    tide_trainer_free(trainer);
}

/* Valid and invalid queries, among all words and some, for many, few and no results. */
static void batched_searches_equal_single_searches(void **state)
{
    (void)state;
    enum { ASKED = 40, ROOM = 30 };
    for (size_t k = 0; k < COUNT(model_kinds); k++) {
        tide_trainer *trainer = small_trainer(model_kinds[k]);
        const tide_model *model = tide_trainer_model(trainer);
        tide_view *view = tide_view_new(model, TIDE_VECTORS_INPUT, true, NULL);
        static const char *const invalid_word = "\xff";
        tide_entry words[ASKED];
        tide_hit hits[ASKED][ROOM], alone[ROOM];
        tide_search searches[ASKED];
        assert_int_equal(tide_model_words(model, words, ASKED), ASKED);
        for (size_t i = 0; i < ASKED; i++)
            searches[i] = (tide_search){
                .query = {.positive = i % 9 == 8 ? &invalid_word : &words[i].word,
                          .positive_count = 1,
                          .top = i % 5 == 4 ? 20 : 0},
                .hits = hits[i],
                .capacity = i % 7 == 6 ? 0 : 1 + i % ROOM};
        tide_view_search(view, searches, ASKED);
        for (size_t i = 0; i < ASKED; i++) {
            tide_error err;
            int found = tide_view_nearest(view, &searches[i].query, alone,
                                          searches[i].capacity, &err);
            assert_int_equal(searches[i].found, found);
            if (found < 0)
                assert_string_equal(searches[i].error.text, err.text);
            for (int h = 0; h < found; h++) {
                assert_string_equal(hits[i][h].word, alone[h].word);
                assert_float_equal(hits[i][h].score, alone[h].score, 0);
            }
        }
        tide_view_free(view);
        tide_trainer_free(trainer);
    }
}

static void a_query_of_too_many_words_is_rejected(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("");
    tide_view *view =
        tide_view_new(tide_trainer_model(trainer), TIDE_VECTORS_INPUT, false, NULL);
    const char *inputs[1000];
    for (int i = 0; i < 1000; i++)
        inputs[i] = "the";
    tide_query query = {.positive = inputs, .positive_count = 1000};
    tide_hit hit;
    tide_error err;
    assert_int_equal(tide_view_nearest(view, &query, &hit, 1, &err),
                     TIDE_ERROR_PARAMETER);
    query.positive_count = 64;
    assert_int_equal(tide_view_nearest(view, &query, &hit, 1, &err), 1);
    tide_view_free(view);
    tide_trainer_free(trainer);
}

static void an_analogy_is_nearest_to_b_minus_a_plus_c(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("");
    const tide_model *model = tide_trainer_model(trainer);
    tide_view *view = tide_view_new(model, TIDE_VECTORS_INPUT, true, NULL);
    tide_entry words[60];
    assert_int_equal(tide_model_words(model, words, 60), 60);
    for (int i = 0; i + 2 < 60; i += 3) {
        const char *a = words[i].word, *b = words[i + 1].word, *c = words[i + 2].word;
        const char *plus[] = {b, c}, *minus[] = {a};
        tide_query query = {plus, 2, minus, 1, NULL, 0};
        tide_hit wanted[5], hits[5];
        assert_int_equal(tide_view_nearest(view, &query, wanted, 5, NULL), 5);
        assert_int_equal(tide_view_analogy(view, a, b, c, hits, 5, NULL), 5);
        for (int h = 0; h < 5; h++) {
            assert_int_equal(hits[h].slot, wanted[h].slot);
            assert_true(hits[h].score == wanted[h].score);
        }
    }
    tide_hit hit;
    assert_int_equal(tide_view_analogy(view, "the", "nosuchword", "of", &hit, 1, NULL),
                     TIDE_ERROR_NOT_FOUND);
    tide_view_free(view);
    tide_trainer_free(trainer);
}

static void similarity_is_symmetric_and_one_with_itself(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("");
    const tide_model *model = tide_trainer_model(trainer);
    tide_entry words[100];
    size_t count = tide_model_words(model, words, 100);
    for (int centered = 0; centered < 2; centered++) {
        tide_view *view = tide_view_new(model, TIDE_VECTORS_INPUT, centered, NULL);
        naive_view expected = naive_view_of(model, TIDE_VECTORS_INPUT, centered);
        for (size_t i = 0; i < count; i++) {
            const char *a = words[i].word, *b = words[(7 * i + 3) % count].word;
            float there, back, self;
            double x[64], y[64];
            assert_int_equal(tide_view_similarity(view, a, b, &there, NULL), TIDE_OK);
            assert_int_equal(tide_view_similarity(view, b, a, &back, NULL), TIDE_OK);
            assert_int_equal(tide_view_similarity(view, a, a, &self, NULL), TIDE_OK);
            assert_true(there == back);
            assert_true(fabs((double)self - 1) < 1e-6);
            naive_vector(&expected, slot_of(model, a), x);
            naive_vector(&expected, slot_of(model, b), y);
            naive_unit(x, 20);
            naive_unit(y, 20);
            assert_true(fabs(naive_dot(x, y, 20) - (double)there) < 2e-6);
        }
        tide_view_free(view);
    }
    tide_trainer_free(trainer);
}

/* Checks that no better suggestion is missing. Returns the number of suggestions. */
static size_t check_suggestions(const tide_model *model, const char *inputs)
{
    tide_entry words[400], entries[5];
    size_t size = tide_model_words(model, words, 400);
    size_t found = tide_model_suggest(model, inputs, entries, 5);
    int farthest = strlen(inputs) < 4 ? 1 : 2, last = 0;
    uint64_t last_count = UINT64_MAX;
    for (size_t k = 0; k < found; k++) {
        int distance = naive_distance(inputs, entries[k].word);
        assert_in_range(distance, last, farthest);
        assert_true(distance > last || entries[k].count <= last_count);
        last = distance;
        last_count = entries[k].count;
    }
    for (size_t w = 0; w < size; w++) {
        int distance = naive_distance(inputs, words[w].word);
        bool listed = false;
        for (size_t k = 0; k < found; k++)
            listed |= entries[k].slot == words[w].slot;
        if (!listed && distance <= farthest)
            assert_true(found == 5 &&
                        (distance > last ||
                         (distance == last && words[w].count <= last_count)));
    }
    return found;
}

/* Inserts, deletes, replaces or swaps letters. */
static void misspell(char *word, tide_rng *rng)
{
    size_t size = strlen(word), at = tide_rng_below(rng, size);
    char letter = (char)('a' + tide_rng_below(rng, 26));
    switch (tide_rng_below(rng, 4)) {
    case 0:
        memmove(word + at + 1, word + at, size - at + 1);
        word[at] = letter;
        break;
    case 1:
        memmove(word + at, word + at + 1, size - at);
        break;
    case 2:
        word[at] = letter;
        break;
    default:
        if (at + 1 < size) {
            char first = word[at];
            word[at] = word[at + 1];
            word[at + 1] = first;
        }
    }
}

static void suggestions_are_the_nearest_and_most_frequent(void **state)
{
    (void)state;
    static const char *const inputs[] = {"teh",   "minsiter", "a",      "te",
                                         "towns", "govern",   "monday", "xyzzyxyzzy",
                                         "grüße", "",         "peices"};
    tide_trainer *trainer = small_trainer("");
    const tide_model *model = tide_trainer_model(trainer);
    tide_entry words[400], entries[20];
    size_t size = tide_model_words(model, words, 400), answers = 0;
    for (size_t i = 0; i < COUNT(inputs); i++)
        answers += check_suggestions(model, inputs[i]);
    assert_true(answers > 10);
    tide_rng rng = tide_rng_seeded(1);
    for (size_t w = 0; w < size; w++) {
        char word[80];
        snprintf(word, sizeof word, "%s", words[w].word);
        for (int edits = 0; edits < 3 && *word; edits++) {
            misspell(word, &rng);
            check_suggestions(model, word);
        }
    }
    assert_int_equal(tide_model_suggest(model, "teh", entries, 0), 0);
    assert_true(tide_model_suggest(model, "a", entries, 20) <= 20);
    char longest[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(tide_model_suggest(model, longest, entries, 5), 0);
    tide_trainer_free(trainer);
}

/* -- small models ------------------------------------------------------------------ */

static void an_empty_model_finds_nothing(void **state)
{
    (void)state;
    static const char *const settings[] = {"", "admission=none", "subword=10",
                                           "vocabulary=misra-gries",
                                           "vocabulary=exact"};
    for (size_t i = 0; i < COUNT(settings); i++) {
        char all[128];
        snprintf(all, sizeof all, "vocab=50 dim=7 replay=1 %s", settings[i]);
        tide_trainer *trainer = trainer_of(all);
        save_to(trainer, "m");
        tide_trainer_free(trainer);
        tide_model *model = load_model("m");
        tide_entry entry;
        tide_hit hit;
        float vector[7] = {1};
        assert_int_equal(tide_model_size(model), 0);
        assert_int_equal(tide_model_words(model, &entry, 1), 0);
        assert_int_equal(tide_model_suggest(model, "word", &entry, 1), 0);
        assert_int_equal(tide_model_find(model, "word", &entry, NULL),
                         TIDE_ERROR_NOT_FOUND);
        tide_view *view = tide_view_new(model, TIDE_VECTORS_SUM, true, NULL);
        assert_non_null(view);
        tide_query query = {.vector = vector};
        assert_int_equal(tide_view_nearest(view, &query, &hit, 1, NULL), 0);
        tide_view_free(view);
        tide_model_free(model);
    }
}

static void a_model_of_one_word_finds_it(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of("vocab=1 dim=1 replay=1 admission=none");
    feed_text(trainer, "a b a c a\nlast\n");
    save_to(trainer, "m");
    tide_trainer_free(trainer);
    tide_model *model = load_model("m");
    tide_entry entry;
    assert_int_equal(tide_model_words(model, &entry, 1), 1);
    assert_string_equal(entry.word, "last");
    assert_int_equal(entry.count, 6);
    assert_int_equal(entry.error, 5);
    tide_view *view = tide_view_new(model, TIDE_VECTORS_INPUT, false, NULL);
    float cosine;
    tide_hit hit;
    assert_int_equal(tide_view_similarity(view, "last", "last", &cosine, NULL), 0);
    assert_true(fabs((double)cosine - 1) < 1e-6);
    tide_query query = {.positive = &entry.word, .positive_count = 1};
    assert_int_equal(tide_view_nearest(view, &query, &hit, 1, NULL), 0);
    tide_view_free(view);
    tide_model_free(model);
}

/* Compared with a stable sort. */
static void the_best_hits_are_kept_and_ties_are_stable(void **state)
{
    (void)state;
    enum { OFFERED = 40, ROOM = 12 };
    tide_rng rng = tide_rng_seeded(9);
    for (int round = 0; round < 500; round++) {
        tide_hit offered[OFFERED], kept[ROOM];
        size_t capacity = 1 + (size_t)tide_rng_below(&rng, ROOM), count = 0;
        size_t offers = (size_t)tide_rng_below(&rng, OFFERED + 1);
        for (uint32_t i = 0; i < offers; i++) {
            offered[i] = (tide_hit){"", (float)tide_rng_below(&rng, 8), i};
            count = tide_hits_insert(kept, count, capacity, offered[i]);
        }
        assert_int_equal(count, offers < capacity ? offers : capacity);
        for (size_t i = 0; i < offers; i++) {
            size_t before = 0; /* hits that sort before it */
            for (size_t k = 0; k < offers; k++)
                before += offered[k].score > offered[i].score ||
                          (offered[k].score >= offered[i].score && k < i);
            if (before < count)
                assert_int_equal(kept[before].slot, i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_hits_are_kept_and_ties_are_stable),
        cmocka_unit_test(words_are_listed_by_count_and_found),
        cmocka_unit_test(ngrams_match_the_definition),
        cmocka_unit_test(an_unseen_word_is_the_mean_of_its_ngrams),
        cmocka_unit_test(unseen_words_have_a_vector_only_with_subwords),
        cmocka_unit_test(nearest_equals_a_full_sort_in_double_precision),
        cmocka_unit_test(words_of_the_query_are_excluded),
        cmocka_unit_test(batched_searches_equal_single_searches),
        cmocka_unit_test(a_query_of_too_many_words_is_rejected),
        cmocka_unit_test(an_analogy_is_nearest_to_b_minus_a_plus_c),
        cmocka_unit_test(similarity_is_symmetric_and_one_with_itself),
        cmocka_unit_test(suggestions_are_the_nearest_and_most_frequent),
        IN_FOLDER(an_empty_model_finds_nothing),
        IN_FOLDER(a_model_of_one_word_finds_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
