/* test_wording.c - a labeler tokenizes text as in training, so it predicts the same
 * labels as the trainer. */
#include "labels_fixture.h"

/* -- trainer and labeler ----------------------------------------------------------- */

typedef struct answer {
    uint32_t words, known, count;
    char names[8][TIDE_WORD_MAX + 1];
    float probabilities[8];
} answer;

static void store_answer(void *data, const tide_predicted_post *predicted)
{
    answer *a = data;
    assert_true(predicted->name_count <= COUNT(a->names));
    *a = (answer){predicted->words,
                  predicted->words - predicted->unknown,
                  predicted->name_count,
                  {""},
                  {0}};
    for (uint32_t i = 0; i < predicted->name_count; i++) {
        snprintf(a->names[i], sizeof a->names[i], "%s", predicted->names[i]);
        a->probabilities[i] = predicted->probabilities[i];
    }
}

static float probability_of(const answer *a, const char *name)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (!strcmp(a->names[i], name))
            return a->probabilities[i];
    fail_msg("%s is not predicted", name);
    return 0;
}

/* Adds the text in pieces and compares the predictions, to the last bit. */
static void expect_same(tide_labeler *labeler, const answer *a, const char *text,
                        size_t piece)
{
    tide_prediction predictions[8];
    uint64_t known;
    for (size_t at = 0, size = strlen(text); at < size; at += piece)
        tide_labeler_add(labeler, text + at, piece < size - at ? piece : size - at);
    assert_int_equal(tide_labeler_end(labeler, predictions, 8, &known), a->count);
    if (known != a->known)
        fail_msg("%llu words are known and not %u: %.80s", (unsigned long long)known,
                 a->known, text);
    for (uint32_t i = 0; i < a->count; i++) {
        float expected = probability_of(a, predictions[i].label);
        assert_memory_equal(&predictions[i].probability, &expected, sizeof expected);
        assert_true(!i || predictions[i].probability <= predictions[i - 1].probability);
    }
}

/* With phrases the vocabulary must hold all words: for a labeler, a pair that is not in
 * the vocabulary is two words. */
static const char *const parameter_sets[] = {
    LABELED "tokens=space labels=hashtags vocab=30 dim=8 replay=1 label-anchors=9",
    LABELED "tokens=social labels=hashtags vocab=30 dim=8 replay=1 classifier=cnn",
    LABELED "tokens=words labels=marked vocab=30 dim=8 subword=300 replay=1",
    LABELED "tokens=words labels=marked vocab=30 dim=8 replay=1 stop-words=stop",
    LABELED "tokens=space labels=hashtags vocab=120 dim=8 replay=1 phrases=800 "
            "phrase-threshold=20",
    LABELED
    "tokens=space labels=hashtags vocab=120 dim=8 replay=1 phrases=800 subword=50 "
    "phrase-threshold=20 classifier-words=3",
};

/* Trains a model, saves it to "model", and returns its stream. */
static stream train_model(size_t set)
{
    label_kind kind = strstr(parameter_sets[set], "marked") ? MARKED : SPACE_HASHTAGS;
    stream s = make_stream(kind, 5 + set, 300);
    write_file("stop", "w1\nw7\nyork\n", 11);
    tide_trainer *trainer = trained(parameter_sets[set], &s.with);
    fit(trainer);
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    return s;
}

static tide_labeler *load_labeler(void)
{
    tide_error err = {.text = ""};
    tide_labeler *labeler = tide_labeler_load("model", &err);
    if (!labeler)
        fail_msg("%s", err.text);
    return labeler;
}

/* A saved model, loaded by a trainer that no longer learns and by a labeler. */
typedef struct fixture {
    stream s;
    tide_trainer *trainer;
    tide_labeler *labeler;
    answer predicted; /* the prediction of the trainer for its last post */
} fixture;

static void setup(fixture *b, size_t set)
{
    *b = (fixture){.s = train_model(set), .labeler = load_labeler()};
    b->trainer = load_frozen("model", "all");
    tide_trainer_watch_labels(b->trainer, store_answer, NULL, &b->predicted);
}

static void teardown(fixture *b)
{
    tide_trainer_free(b->trainer);
    tide_labeler_free(b->labeler);
    stream_free(&b->s);
}

static void labeler_predicts_the_same_as_the_trainer(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT(parameter_sets); r++) {
        fixture b;
        setup(&b, r);
        int known = 0, unknown = 0;
        char *rest = b.s.with.bytes, *line;
        for (size_t i = 0; (line = strtok_r(rest, "\n", &rest)); i++) {
            b.predicted.count = 0;
            feed_text(b.trainer, line);
            feed_text(b.trainer, "\n");
            if (!b.predicted.count)
                continue; /* nothing but stop words is no post */
            expect_same(b.labeler, &b.predicted, line, i % 2 ? 4096 : 3);
            known += b.predicted.known > 0;
            unknown += b.predicted.known < b.predicted.words;
        }
        assert_true(known > 200);
        bool all_held = strstr(parameter_sets[r], "subword") ||
                        strstr(parameter_sets[r], "phrases");
        assert_true(unknown > 20 || all_held);
        teardown(&b);
    }
}

/* As in a record, a line feed does not end a sentence, so a phrase may span lines. */
static void labeler_treats_line_feeds_as_spaces(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT(parameter_sets); r++) {
        fixture b;
        setup(&b, r);
        feed_text(b.trainer, "w2 new york w3 w4 new york\n");
        expect_same(b.labeler, &b.predicted, "w2 new\nyork w3\n\nw4\nnew\nyork\n",
                    4096);
        expect_same(b.labeler, &b.predicted, "\nw2 new\nyork w3\n\nw4\nnew\nyork", 1);
        teardown(&b);
    }
}

static void labeler_reads_a_thousand_words(void **state)
{
    (void)state;
    char text[1300 * 8], *to = text;
    for (int i = 0; i < 1300; i++)
        to += sprintf(to, i < 996 ? "x%d " : "w%d ", i % 40);
    for (size_t r = 0; r < COUNT(parameter_sets); r++) {
        fixture b;
        setup(&b, r);
        feed_text(b.trainer, text);
        feed_text(b.trainer, "\n");
        assert_int_equal(b.predicted.words, 1000);
        expect_same(b.labeler, &b.predicted, text, 4096);
        feed_text(b.trainer, "w2 w3\n"); /* the next text starts with an empty state */
        expect_same(b.labeler, &b.predicted, "w2 w3", 4096);
        teardown(&b);
    }
}

static void labeler_returns_the_most_probable_labels_first(void **state)
{
    (void)state;
    fixture b;
    setup(&b, 0);
    uint32_t size = tide_labeler_size(b.labeler);
    tide_prediction all[8], some[8];
    uint64_t known;
    assert_int_equal(size, 6);
    tide_labeler_add(b.labeler, "w1 w2", 5);
    assert_int_equal(tide_labeler_end(b.labeler, all, size, &known), size);
    assert_int_equal(known, 2);
    for (size_t capacity = 0; capacity <= size; capacity++) {
        tide_labeler_add(b.labeler, "w1 w2", 5);
        assert_int_equal(tide_labeler_end(b.labeler, some, capacity, &known), capacity);
        for (size_t i = 0; i < capacity; i++)
            assert_string_equal(some[i].label, all[i].label);
    }
    teardown(&b);
}

/* Predictions depend only on the words of a text, not on labels in it. */
static void labeler_ignores_labels_in_the_text(void **state)
{
    (void)state;
    fixture b;
    setup(&b, 0);
    tide_prediction plain[8], labeled[8];
    uint64_t known;
    tide_labeler_add(b.labeler, "w1 w2", 5);
    size_t count = tide_labeler_end(b.labeler, plain, 8, &known);
    tide_labeler_add(b.labeler, "#tag1 w1 #w1 #tag2 w2", 21);
    assert_int_equal(tide_labeler_end(b.labeler, labeled, 8, &known), count);
    assert_int_equal(known, 2);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(plain[i].label, labeled[i].label);
        assert_memory_equal(&plain[i].probability, &labeled[i].probability,
                            sizeof(float));
    }
    assert_int_equal(tide_labeler_end(b.labeler, plain, 8, &known), count);
    assert_int_equal(known, 0);
    teardown(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(labeler_predicts_the_same_as_the_trainer),
        IN_FOLDER(labeler_treats_line_feeds_as_spaces),
        IN_FOLDER(labeler_reads_a_thousand_words),
        IN_FOLDER(labeler_returns_the_most_probable_labels_first),
        IN_FOLDER(labeler_ignores_labels_in_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
