/* test_resolve.c - user input resolves to the words that training made of it. */
#include "base/base.h"
#include "token/token.h"
#include "model_fixture.h"

static tide_resolver *resolver_of(const tide_model *model)
{
    tide_error err;
    tide_resolver *r = tide_resolver_new(model, &err);
    if (!r)
        fail_msg("%s", err.text);
    return r;
}

static tide_view *make_view(const tide_model *model)
{
    tide_view *view = tide_view_new(model, TIDE_VECTORS_INPUT, true, NULL);
    assert_non_null(view);
    return view;
}

/* Lists the tokens of a term separated by spaces, with a - before those without a
 * vector. */
static void expect_term(const tide_model *model, const char *text, const char *expected)
{
    tide_resolver *r = resolver_of(model);
    tide_view *view = make_view(model);
    tide_term term;
    char found[2048] = "";
    tide_resolver_find(r, view, text, &term);
    for (uint32_t i = 0, used = 0; i < term.count; i++)
        used += (uint32_t)snprintf(found + used, sizeof found - used, "%s%s%s",
                                   i ? " " : "", term.has_vector[i] ? "" : "-",
                                   term.tokens[i]);
    if (strcmp(found, expected) != 0)
        fail_msg("'%s' is read as '%s', not '%s'", text, found, expected);
    assert_int_equal(term.exact, term.count == 1 && !strcmp(text, term.tokens[0]));
    tide_view_free(view);
    tide_resolver_free(r);
}

static tide_trainer *learned(const char *settings, const char *text)
{
    char all[256];
    snprintf(all, sizeof all, "vocab=100 dim=8 replay=1 %s", settings);
    tide_trainer *trainer = trainer_of(all);
    for (int i = 0; i < 20; i++)
        feed_text(trainer, text);
    return trainer;
}

static void queries_are_tokenized_like_training_text(void **state)
{
    (void)state;
    tide_trainer *trainer =
        learned("", "Tea ДЕНЬ J’aime 咖啡 ΚΑΦΈΣ naïve ice-cream __label__X\n");
    const tide_model *model = tide_trainer_model(trainer);
    static const char *const pairs[][2] = {{"Tea", "tea"},
                                           {"TEA", "tea"},
                                           {"tea", "tea"},
                                           {"день", "день"},
                                           {"ДЕНЬ", "день"},
                                           {"J'AIME", "j'aime"},
                                           {"j’aime", "j'aime"},
                                           {"咖啡", "咖 啡"},
                                           {"ICE CREAM", "ice cream"},
                                           {"Coffee", "-coffee"},
                                           {"tea, please!", "tea -please"},
                                           {"__label__X", "__label__X"},
                                           {"NAI\u0308VE", "naïve"},
                                           {"!?", ""},
                                           {"", ""}};
    for (size_t i = 0; i < COUNT(pairs); i++)
        expect_term(model, pairs[i][0], pairs[i][1]);
    tide_trainer_free(trainer);
}

static void final_sigma_is_found_in_any_spelling(void **state)
{
    (void)state;
    static const char *const spellings[] = {"καφές", "ΚΑΦΈΣ", "Καφές", "καφέσ"};
    for (size_t i = 0; i < COUNT(spellings); i++) {
        char text[64];
        snprintf(text, sizeof text, "%s και\n", spellings[i]);
        tide_trainer *trainer = learned("", text);
        tide_resolver *r = resolver_of(tide_trainer_model(trainer));
        tide_view *view = make_view(tide_trainer_model(trainer));
        for (size_t j = 0; j < COUNT(spellings); j++) {
            tide_term term;
            tide_resolver_find(r, view, spellings[j], &term);
            assert_int_equal(term.known, 1);
        }
        tide_view_free(view);
        tide_resolver_free(r);
        tide_trainer_free(trainer);
    }
}

static void exact_word_takes_precedence(void **state)
{
    (void)state;
    tide_trainer *trainer = learned("tokens=space", "Tea tea New_York new york\n");
    const tide_model *model = tide_trainer_model(trainer);
    expect_term(model, "Tea", "Tea");
    expect_term(model, "tea", "tea");
    expect_term(model, "TEA", "-TEA");
    expect_term(model, "New York", "New_York");
    expect_term(model, " New  York ", "New_York");
    expect_term(model, "new york", "new york");
    tide_trainer_free(trainer);
}

static void phrase_is_found_by_its_words(void **state)
{
    (void)state;
    tide_trainer *trainer = learned("", "new_york is a city new york is_a\n");
    const tide_model *model = tide_trainer_model(trainer);
    expect_term(model, "New York", "new_york");
    expect_term(model, "New_York", "new_york");
    expect_term(model, "york, new", "york new");
    tide_trainer_free(trainer);
}

static void stop_words_are_kept_in_queries(void **state)
{
    (void)state;
    write_file("stop", "of\n", 3);
    tide_trainer *trainer = learned("stop-words=stop min-length=3", "cup of tea\n");
    expect_term(tide_trainer_model(trainer), "Cup Of Tea", "cup -of tea");
    tide_trainer_free(trainer);
}

static void vector_file_is_searched_as_written_and_then_folded(void **state)
{
    (void)state;
    static const char vectors[] =
        "5 2\nNew_York 1 0\nParis 0 1\ntea 1 1\n咖 1 2\n啡 2 1\n";
    write_file("some.vec", vectors, sizeof vectors - 1);
    tide_error err;
    tide_model *model = tide_model_open("some.vec", &err);
    if (!model)
        fail_msg("%s", err.text);
    expect_term(model, "New York", "New_York");
    expect_term(model, "Paris", "Paris");
    expect_term(model, "PARIS", "-paris");
    expect_term(model, "Paris TEA", "Paris tea");
    expect_term(model, "咖啡", "咖 啡");
    tide_model_free(model);
}

/* -- compared with the tokenizer --------------------------------------------------- */

/* A random text of pieces that have a special meaning in some kind of tokenizer. */
static void write_text(tide_rng *rng, char text[256])
{
    static const char *const pieces[] = {
        "Tea",  "the",  " ",     " ", "#Wave", "@me", "’",       "'s",
        "ДЕНЬ", "咖啡", "1,000", "_", ".",     "é",   "E\u0301", "http://x.org/a",
        "0xff", "\t",   "\xff",  "🌊", "Σ"};
    size_t used = 0, count = 1 + tide_rng_below(rng, 12);
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, 256 - used, "%s",
                                 pieces[tide_rng_below(rng, COUNT(pieces))]);
}

static void tokens_match_the_tokenizer(void **state)
{
    (void)state;
    static const char *const kinds[] = {[TIDE_TOKENIZER_SPACE] = "space",
                                        [TIDE_TOKENIZER_WORDS] = "words",
                                        [TIDE_TOKENIZER_SOCIAL] = "social",
                                        [TIDE_TOKENIZER_LOG] = "log"};
    tide_rng rng = tide_rng_seeded(4);
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        char settings[96];
        snprintf(settings, sizeof settings, "tokens=%s urls=keep mentions=keep",
                 kinds[kind]);
        tide_trainer *trainer = learned(settings, "unrelated words of a text\n");
        tide_resolver *r = resolver_of(tide_trainer_model(trainer));
        tide_view *view = make_view(tide_trainer_model(trainer));
        const tide_tokenizer_options options = {.kind = (tide_tokenizer_kind)kind};
        for (int i = 0; i < 500; i++) {
            char text[256];
            tide_term term;
            tide_word words[256];
            bool ended;
            write_text(&rng, text);
            tide_tokenizer *t = tide_tokenizer_new(&options, NULL);
            tide_tokenizer_feed(t, text, strlen(text));
            tide_tokenizer_end(t);
            size_t count = tide_tokenizer_next(t, words, COUNT(words), &ended);
            tide_resolver_find(r, view, text, &term);
            assert_int_equal(term.count, count < TIDE_TERM_MAX ? count : TIDE_TERM_MAX);
            for (size_t k = 0; k < term.count; k++) {
                assert_int_equal(strlen(term.tokens[k]), words[k].length);
                assert_memory_equal(term.tokens[k], words[k].bytes, words[k].length);
            }
            tide_tokenizer_free(t);
        }
        tide_view_free(view);
        tide_resolver_free(r);
        tide_trainer_free(trainer);
    }
}

/* -- means ------------------------------------------------------------------------- */

static void term_is_the_mean_of_its_words(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < 2; kind++) {
        tide_trainer *trainer = small_trainer(kind ? "subword=700" : "");
        const tide_model *model = tide_trainer_model(trainer);
        tide_view *view = make_view(model);
        tide_entry entries[40];
        assert_int_equal(tide_model_words(model, entries, 40), 40);
        tide_rng rng = tide_rng_seeded(8);
        for (int i = 0; i < 50; i++) {
            size_t count = 2 + tide_rng_below(&rng, TIDE_TERM_MAX - 1), used = 0;
            char term[TIDE_TERM_MAX * (TIDE_WORD_MAX + 1)];
            double expected[20] = {0};
            for (size_t k = 0; k < count; k++) {
                const char *word = entries[tide_rng_below(&rng, 40)].word;
                float vector[20];
                assert_int_equal(tide_view_vector(view, word, vector, NULL), 0);
                used += (size_t)snprintf(term + used, sizeof term - used, "%s%s",
                                         k ? " " : "", word);
                for (int d = 0; d < 20; d++)
                    expected[d] += (double)vector[d] / (double)count;
            }
            float mean[20], cosine;
            assert_int_equal(tide_view_mean(view, term, mean, NULL), TIDE_OK);
            for (int d = 0; d < 20; d++)
                assert_float_equal(mean[d], expected[d], 1e-5);
            assert_int_equal(tide_view_similarity(view, term, term, &cosine, NULL), 0);
            assert_float_equal(cosine, 1, 1e-5);

            const char *positive[] = {term};
            const tide_query query = {.positive = positive, .positive_count = 1};
            tide_hit hits[10];
            assert_int_equal(tide_view_nearest(view, &query, hits, 10, NULL), 10);
            for (int h = 0; h < 10; h++) {
                char inside[sizeof term + 2], spaced[TIDE_WORD_MAX + 3];
                snprintf(inside, sizeof inside, " %s ", term);
                snprintf(spaced, sizeof spaced, " %s ", hits[h].word);
                assert_null(strstr(inside, spaced));
                assert_int_equal(
                    tide_view_similarity(view, term, hits[h].word, &cosine, NULL), 0);
                assert_float_equal(cosine, hits[h].score, 1e-4);
            }
        }
        tide_view_free(view);
        tide_trainer_free(trainer);
    }
}

static void term_with_an_unknown_word_is_unknown(void **state)
{
    (void)state;
    tide_trainer *trainer = learned("", "tea and coffee\n");
    tide_view *view = make_view(tide_trainer_model(trainer));
    static const char *const unknown[] = {"tea nosuchword", "nosuchword tea", " ", ""};
    float vector[8];
    for (size_t i = 0; i < COUNT(unknown); i++)
        assert_int_equal(tide_view_mean(view, unknown[i], vector, NULL),
                         TIDE_ERROR_NOT_FOUND);
    char many[4 * (TIDE_TERM_MAX + 1) + 1] = "";
    for (int i = 0; i <= TIDE_TERM_MAX; i++)
        strcat(many, "tea ");
    assert_int_equal(tide_view_mean(view, many, vector, NULL), TIDE_ERROR_NOT_FOUND);
    tide_view_free(view);
    tide_trainer_free(trainer);
}

/* -- suggestions ------------------------------------------------------------------- */

static void suggestions_are_for_the_tokenized_word(void **state)
{
    (void)state;
    static const char *const cases[][3] = {{"", "COFFE", "coffee"},
                                           {"", "ДЕНЬГ", "день"},
                                           {"", "cup of Coffe", "coffee"},
                                           {"tokens=space", "COFFEE", "coffee"},
                                           {"tokens=space", "ДЕНЬ", "день"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        tide_trainer *trainer = learned(cases[i][0], "cup of coffee день\n");
        const tide_model *model = tide_trainer_model(trainer);
        tide_resolver *r = resolver_of(model);
        tide_view *view = make_view(model);
        tide_term term;
        tide_entry entry;
        tide_resolver_find(r, view, cases[i][1], &term);
        assert_int_equal(tide_term_suggest(&term, model, cases[i][1], &entry, 1), 1);
        assert_string_equal(entry.word, cases[i][2]);
        tide_view_free(view);
        tide_resolver_free(r);
        tide_trainer_free(trainer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(queries_are_tokenized_like_training_text),
        IN_FOLDER(final_sigma_is_found_in_any_spelling),
        IN_FOLDER(exact_word_takes_precedence),
        IN_FOLDER(phrase_is_found_by_its_words),
        IN_FOLDER(stop_words_are_kept_in_queries),
        IN_FOLDER(vector_file_is_searched_as_written_and_then_folded),
        IN_FOLDER(tokens_match_the_tokenizer),
        IN_FOLDER(term_is_the_mean_of_its_words),
        IN_FOLDER(term_with_an_unknown_word_is_unknown),
        IN_FOLDER(suggestions_are_for_the_tokenized_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
