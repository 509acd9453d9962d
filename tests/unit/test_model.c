/* test_model.c - models: what a file keeps, what a question is answered, what a loader refuses. */
#include "model_oracle.h"

/* A trained model with some hundred words; NULL-terminated extra text comes first. */
static tide_trainer *small_trainer(const char *settings)
{
    char all[256];
    snprintf(all, sizeof all, "vocab=400 dim=20 replay=1 %s", settings);
    corpus t = demo_text(21, 6000);
    tide_trainer *trainer = trained(all, &t);
    free(t.bytes);
    return trainer;
}

static tide_model *load_model(const char *path)
{
    tide_error err;
    tide_model *model = tide_model_load(path, &err);
    if (!model)
        fail_msg("%s", err.text);
    return model;
}

static const char *const kinds[] = {
    "",
    "admission=none",
    "vocabulary=misra-gries",
    "vocabulary=exact",
    "subword=700",
    "vocab=3000",
    "vocab=3000 admission=none",
    "vocab=3000 vocabulary=misra-gries",
    "vocab=3000 vocabulary=exact sampler=reservoir reservoir=1000",
    "vocab=3000 admission=none subword=500 minn=1 maxn=8"};

/* -- files ---------------------------------------------------------------------------- */

static void assert_same_rows(const tide_matrix *a, const tide_matrix *b, uint32_t rows)
{
    assert_int_equal(a->dim, b->dim);
    for (uint32_t row = 0; row < rows; row++)
        assert_memory_equal(tide_matrix_row(a, row), tide_matrix_row(b, row),
                            a->stride * sizeof(float));
}

static void a_loaded_model_is_the_saved_one_bit_by_bit(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tide_trainer *trainer = small_trainer(kinds[k]);
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
        assert_same_rows(&saved->subword, &model->subword, saved->subword.count);
        tide_model_free(model);
        tide_trainer_free(trainer);
    }
}

static void words_come_by_falling_count_and_are_found(void **state)
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
                     TIDE_ERROR_UNKNOWN);
    assert_string_equal(err.text, "'nosuchword' is not in the vocabulary");
    char longest[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(tide_model_find(model, longest, &entry, NULL), TIDE_ERROR_UNKNOWN);
    assert_int_equal(tide_model_find(model, "", &entry, NULL), TIDE_ERROR_UNKNOWN);
    tide_trainer_free(trainer);
}

/* -- subwords ------------------------------------------------------------------------- */

static void ngrams_are_those_of_the_definition(void **state)
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
                tide_subwords how = {1 + 997 * longest, shortest, longest};
                uint32_t ids[TIDE_SUBWORDS_MAX], wanted[TIDE_SUBWORDS_MAX];
                uint32_t count =
                    tide_subwords_of(&how, words[i], (uint32_t)strlen(words[i]), ids);
                assert_int_equal(count, naive_ngrams(&how, words[i], wanted));
                assert_memory_equal(ids, wanted, count * sizeof *ids);
            }
}

static void an_unseen_word_is_the_mean_of_its_ngrams(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("subword=700");
    const tide_model *model = tide_trainer_model(trainer);
    tide_space *space = tide_space_new(model, TIDE_VECTORS_INPUT, false, NULL);
    float vector[20];
    uint32_t ids[TIDE_SUBWORDS_MAX];
    assert_int_equal(tide_space_vector(space, "ministerium", vector, NULL), TIDE_OK);
    uint32_t count = naive_ngrams(&model->shape.subwords, "ministerium", ids);
    for (uint32_t d = 0; d < 20; d++) {
        double sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += (double)tide_matrix_row(&model->subword, ids[i])[d];
        assert_true(fabs(sum / count - (double)vector[d]) < 1e-6);
    }
    tide_space_free(space);
    tide_trainer_free(trainer);
}

static void only_subwords_give_unseen_words_a_vector(void **state)
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
            tide_space *space = tide_space_new(model, v, true, NULL);
            bool known = subwords && v != TIDE_VECTORS_OUTPUT;
            int wanted = known ? TIDE_OK : TIDE_ERROR_UNKNOWN;
            err.text[0] = 0;
            assert_int_equal(tide_space_vector(space, unseen, vector, &err), wanted);
            assert_int_equal(strstr(err.text, unseen) == NULL, known);
            assert_int_equal(tide_space_similarity(space, seen, unseen, &cosine, NULL),
                             wanted);
            assert_int_equal(tide_space_nearest(space, &query, &hit, 1, NULL),
                             known ? 1 : TIDE_ERROR_UNKNOWN);
            assert_int_equal(tide_space_vector(space, "", vector, NULL),
                             TIDE_ERROR_UNKNOWN);
            tide_space_free(space);
        }
        tide_trainer_free(trainer);
    }
}

/* -- questions ------------------------------------------------------------------------ */

/* The same scores to float precision, of which taking out the mean costs a digit, rank by rank;
 * where the order differs, scores are equal to that precision. */
static void assert_nearest(const tide_space *space, const naive_space *naive,
                           const tide_query *query, size_t room)
{
    static naive_hit wanted[4000];
    tide_hit hits[500];
    size_t all = naive_nearest(naive, query, wanted, 4000);
    int found = tide_space_nearest(space, query, hits, room, NULL);
    assert_int_equal(found, room < all ? room : all);
    for (int i = 0; i < found; i++) {
        uint32_t length;
        const char *word =
            tide_vocabulary_word(naive->model->vocabulary, hits[i].slot, &length);
        assert_string_equal(hits[i].word, word);
        assert_true(fabs((double)hits[i].score - wanted[i].score) < 2e-5);
        assert_true(i == 0 || hits[i].score <= hits[i - 1].score);
        size_t place = 0;
        while (place < all && wanted[place].slot != hits[i].slot)
            place++;
        assert_true(place < all);
        assert_true(fabs(wanted[place].score - wanted[i].score) < 4e-5);
        for (int other = 0; other < i; other++)
            assert_true(hits[other].slot != hits[i].slot);
    }
}

static void nearest_is_the_full_sort_in_double_precision(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tide_trainer *trainer = small_trainer(kinds[k]);
        const tide_model *model = tide_trainer_model(trainer);
        tide_entry words[100];
        size_t count = tide_model_words(model, words, 100);
        tide_rng rng = tide_rng_seeded(k);
        for (int turn = 0; turn < 36; turn++) {
            tide_vectors vectors = (tide_vectors)(turn % 3);
            bool centred = turn / 3 % 2;
            tide_space *space = tide_space_new(model, vectors, centred, NULL);
            naive_space naive = naive_space_of(model, vectors, centred);
            const char *asked[6];
            for (int i = 0; i < 6; i++)
                asked[i] = words[tide_rng_below(&rng, count)].word;
            float vector[20];
            for (int d = 0; d < 20; d++)
                vector[d] = tide_rng_float(&rng) - 0.5f;
            tide_query query = {.positive = asked,
                                .positive_count = (size_t)(1 + turn % 3),
                                .negative = asked + 3,
                                .negative_count = (size_t)(turn / 6 % 4),
                                .vector = turn % 5 == 4 ? vector : NULL,
                                .among = turn % 4 == 3 ? 50 : 0};
            if (turn % 7 == 6)
                query.positive_count = query.negative_count = 0, query.vector = vector;
            assert_nearest(space, &naive, &query, turn % 2 ? 10 : 500);
            tide_space_free(space);
        }
        tide_trainer_free(trainer);
    }
}

static void words_of_the_query_are_left_out(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("");
    tide_space *space =
        tide_space_new(tide_trainer_model(trainer), TIDE_VECTORS_INPUT, false, NULL);
    static const char *const asked[] = {"the", "of", "in", "the"};
    tide_query query = {asked, 2, asked + 2, 2, NULL, 0};
    tide_hit hits[400];
    int count = tide_space_nearest(space, &query, hits, 400, NULL);
    assert_int_equal(count, tide_model_size(tide_trainer_model(trainer)) - 3);
    for (int i = 0; i < count; i++)
        for (int a = 0; a < 4; a++)
            assert_string_not_equal(hits[i].word, asked[a]);
    assert_int_equal(tide_space_nearest(space, &query, hits, 0, NULL), 0);
    tide_space_free(space);
    tide_trainer_free(trainer);
}

/* Good ones and bad ones, of all words and of some, with room for many, few or none. */
static void several_questions_are_answered_as_one_by_one(void **state)
{
    (void)state;
    enum { ASKED = 40, ROOM = 30 };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tide_trainer *trainer = small_trainer(kinds[k]);
        const tide_model *model = tide_trainer_model(trainer);
        tide_space *space = tide_space_new(model, TIDE_VECTORS_INPUT, true, NULL);
        static const char *const nobody = "\xff";
        tide_entry words[ASKED];
        tide_hit hits[ASKED][ROOM], alone[ROOM];
        tide_search searches[ASKED];
        assert_int_equal(tide_model_words(model, words, ASKED), ASKED);
        for (size_t i = 0; i < ASKED; i++)
            searches[i] = (tide_search){
                .query = {.positive = i % 9 == 8 ? &nobody : &words[i].word,
                          .positive_count = 1,
                          .among = i % 5 == 4 ? 20 : 0},
                .hits = hits[i],
                .room = i % 7 == 6 ? 0 : 1 + i % ROOM};
        tide_space_search(space, searches, ASKED);
        for (size_t i = 0; i < ASKED; i++) {
            tide_error err;
            int found = tide_space_nearest(space, &searches[i].query, alone,
                                           searches[i].room, &err);
            assert_int_equal(searches[i].found, found);
            if (found < 0)
                assert_string_equal(searches[i].error.text, err.text);
            for (int h = 0; h < found; h++) {
                assert_string_equal(hits[i][h].word, alone[h].word);
                assert_float_equal(hits[i][h].score, alone[h].score, 0);
            }
        }
        tide_space_free(space);
        tide_trainer_free(trainer);
    }
}

static void a_question_of_too_many_words_is_refused(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("");
    tide_space *space =
        tide_space_new(tide_trainer_model(trainer), TIDE_VECTORS_INPUT, false, NULL);
    const char *asked[1000];
    for (int i = 0; i < 1000; i++)
        asked[i] = "the";
    tide_query query = {.positive = asked, .positive_count = 1000};
    tide_hit hit;
    tide_error err;
    assert_int_equal(tide_space_nearest(space, &query, &hit, 1, &err),
                     TIDE_ERROR_PARAMETER);
    query.positive_count = 64;
    assert_int_equal(tide_space_nearest(space, &query, &hit, 1, &err), 1);
    tide_space_free(space);
    tide_trainer_free(trainer);
}

static void an_analogy_is_nearest_to_b_less_a_plus_c(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("");
    const tide_model *model = tide_trainer_model(trainer);
    tide_space *space = tide_space_new(model, TIDE_VECTORS_INPUT, true, NULL);
    tide_entry words[60];
    assert_int_equal(tide_model_words(model, words, 60), 60);
    for (int i = 0; i + 2 < 60; i += 3) {
        const char *a = words[i].word, *b = words[i + 1].word, *c = words[i + 2].word;
        const char *plus[] = {b, c}, *minus[] = {a};
        tide_query query = {plus, 2, minus, 1, NULL, 0};
        tide_hit wanted[5], hits[5];
        assert_int_equal(tide_space_nearest(space, &query, wanted, 5, NULL), 5);
        assert_int_equal(tide_space_analogy(space, a, b, c, hits, 5, NULL), 5);
        for (int h = 0; h < 5; h++) {
            assert_int_equal(hits[h].slot, wanted[h].slot);
            assert_true(hits[h].score == wanted[h].score);
        }
    }
    tide_hit hit;
    assert_int_equal(
        tide_space_analogy(space, "the", "nosuchword", "of", &hit, 1, NULL),
        TIDE_ERROR_UNKNOWN);
    tide_space_free(space);
    tide_trainer_free(trainer);
}

static void similarity_is_symmetric_and_one_with_itself(void **state)
{
    (void)state;
    tide_trainer *trainer = small_trainer("");
    const tide_model *model = tide_trainer_model(trainer);
    tide_entry words[100];
    size_t count = tide_model_words(model, words, 100);
    for (int centred = 0; centred < 2; centred++) {
        tide_space *space = tide_space_new(model, TIDE_VECTORS_INPUT, centred, NULL);
        naive_space naive = naive_space_of(model, TIDE_VECTORS_INPUT, centred);
        for (size_t i = 0; i < count; i++) {
            const char *a = words[i].word, *b = words[(7 * i + 3) % count].word;
            float there, back, self;
            double x[64], y[64];
            assert_int_equal(tide_space_similarity(space, a, b, &there, NULL), TIDE_OK);
            assert_int_equal(tide_space_similarity(space, b, a, &back, NULL), TIDE_OK);
            assert_int_equal(tide_space_similarity(space, a, a, &self, NULL), TIDE_OK);
            assert_true(there == back);
            assert_true(fabs((double)self - 1) < 1e-6);
            naive_vector(&naive, slot_of(model, a), x);
            naive_vector(&naive, slot_of(model, b), y);
            naive_unit(x, 20);
            naive_unit(y, 20);
            assert_true(fabs(naive_dot(x, y, 20) - (double)there) < 2e-6);
        }
        tide_space_free(space);
    }
    tide_trainer_free(trainer);
}

/* Nobody better is left out; returns how many there are. */
static size_t check_suggestions(const tide_model *model, const char *asked)
{
    tide_entry words[400], entries[5];
    size_t size = tide_model_words(model, words, 400);
    size_t found = tide_model_suggest(model, asked, entries, 5);
    int farthest = strlen(asked) < 4 ? 1 : 2, last = 0;
    uint64_t last_count = UINT64_MAX;
    for (size_t k = 0; k < found; k++) {
        int distance = naive_distance(asked, entries[k].word);
        assert_in_range(distance, last, farthest);
        assert_true(distance > last || entries[k].count <= last_count);
        last = distance;
        last_count = entries[k].count;
    }
    for (size_t w = 0; w < size; w++) {
        int distance = naive_distance(asked, words[w].word);
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

/* One letter more, one less, another one, or two that change places. */
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
    static const char *const asked[] = {"teh",   "minsiter", "a",      "te",
                                        "towns", "govern",   "monday", "xyzzyxyzzy",
                                        "grüße", "",         "peices"};
    tide_trainer *trainer = small_trainer("");
    const tide_model *model = tide_trainer_model(trainer);
    tide_entry words[400], entries[20];
    size_t size = tide_model_words(model, words, 400), answers = 0;
    for (size_t i = 0; i < COUNT(asked); i++)
        answers += check_suggestions(model, asked[i]);
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

/* -- small models --------------------------------------------------------------------- */

static void an_empty_model_answers_nothing(void **state)
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
                         TIDE_ERROR_UNKNOWN);
        tide_space *space = tide_space_new(model, TIDE_VECTORS_SUM, true, NULL);
        assert_non_null(space);
        tide_query query = {.vector = vector};
        assert_int_equal(tide_space_nearest(space, &query, &hit, 1, NULL), 0);
        tide_space_free(space);
        tide_model_free(model);
    }
}

static void a_model_of_one_word_answers_about_it(void **state)
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
    tide_space *space = tide_space_new(model, TIDE_VECTORS_INPUT, false, NULL);
    float cosine;
    tide_hit hit;
    assert_int_equal(tide_space_similarity(space, "last", "last", &cosine, NULL), 0);
    assert_true(fabs((double)cosine - 1) < 1e-6);
    tide_query query = {.positive = &entry.word, .positive_count = 1};
    assert_int_equal(tide_space_nearest(space, &query, &hit, 1, NULL), 0);
    tide_space_free(space);
    tide_model_free(model);
}

/* -- files that are refused ------------------------------------------------------------- */

static void assert_refused(const char *path, const char *what)
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

static void impossible_shapes_are_refused(void **state)
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
        assert_refused("bad", cases[i].what);
    }
}

static void sections_of_the_wrong_size_are_refused(void **state)
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
            bool older = !strcmp(name, "vocab.arrived"); /* such files have none */
            assert_int_equal(trainer != NULL, older);
            tide_trainer_free(trainer);
            free(bytes);
        }
    }
}

static void numbers_that_are_not_finite_are_refused(void **state)
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
            assert_refused("bad", "a number that is none");
            free(bytes);
        }
}

static void a_word_that_is_there_twice_is_refused(void **state)
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
    assert_refused("bad", "a word twice");
    free(bytes);
}

static void parameters_that_do_not_fit_are_refused(void **state)
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

static void states_that_cannot_be_are_refused(void **state)
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
        IN_FOLDER(a_loaded_model_is_the_saved_one_bit_by_bit),
        cmocka_unit_test(words_come_by_falling_count_and_are_found),
        cmocka_unit_test(ngrams_are_those_of_the_definition),
        cmocka_unit_test(an_unseen_word_is_the_mean_of_its_ngrams),
        cmocka_unit_test(only_subwords_give_unseen_words_a_vector),
        cmocka_unit_test(nearest_is_the_full_sort_in_double_precision),
        cmocka_unit_test(words_of_the_query_are_left_out),
        cmocka_unit_test(several_questions_are_answered_as_one_by_one),
        cmocka_unit_test(a_question_of_too_many_words_is_refused),
        cmocka_unit_test(an_analogy_is_nearest_to_b_less_a_plus_c),
        cmocka_unit_test(similarity_is_symmetric_and_one_with_itself),
        cmocka_unit_test(suggestions_are_the_nearest_and_most_frequent),
        IN_FOLDER(an_empty_model_answers_nothing),
        IN_FOLDER(a_model_of_one_word_answers_about_it),
        IN_FOLDER(impossible_shapes_are_refused),
        IN_FOLDER(sections_of_the_wrong_size_are_refused),
        IN_FOLDER(numbers_that_are_not_finite_are_refused),
        IN_FOLDER(a_word_that_is_there_twice_is_refused),
        IN_FOLDER(parameters_that_do_not_fit_are_refused),
        IN_FOLDER(states_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
