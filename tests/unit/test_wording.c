/* test_wording.c - a text falls into words as it did in training, so a labeler tells of it what the trainer
 * would have told. */
#include "labels_fixture.h"

/* -- what both say -------------------------------------------------------------------------------------- */

typedef struct answer {
    uint32_t words, known, count;
    char names[8][TIDE_WORD_MAX + 1];
    float probabilities[8];
} answer;

static void take_answer(void *data, const tide_predicted_post *told)
{
    answer *a = data;
    assert_true(told->name_count <= COUNT(a->names));
    *a =
        (answer){told->words, told->words - told->unknown, told->name_count, {""}, {0}};
    for (uint32_t i = 0; i < told->name_count; i++) {
        snprintf(a->names[i], sizeof a->names[i], "%s", told->names[i]);
        a->probabilities[i] = told->probabilities[i];
    }
}

static float probability_of(const answer *a, const char *name)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (!strcmp(a->names[i], name))
            return a->probabilities[i];
    fail_msg("%s is not told", name);
    return 0;
}

/* Adds the text in pieces and compares what is guessed, to the last bit. */
static void expect_same(tide_labeler *labeler, const answer *a, const char *text,
                        size_t piece)
{
    tide_prediction guesses[8];
    uint64_t known;
    for (size_t at = 0, size = strlen(text); at < size; at += piece)
        tide_labeler_add(labeler, text + at, piece < size - at ? piece : size - at);
    assert_int_equal(tide_labeler_end(labeler, guesses, 8, &known), a->count);
    if (known != a->known)
        fail_msg("%llu words are known and not %u: %.80s", (unsigned long long)known,
                 a->known, text);
    for (uint32_t i = 0; i < a->count; i++) {
        float expected = probability_of(a, guesses[i].label);
        assert_memory_equal(&guesses[i].probability, &expected, sizeof expected);
        assert_true(!i || guesses[i].probability <= guesses[i - 1].probability);
    }
}

/* With phrases all words are held: a pair that is not is two words for a labeler. */
static const char *const recipes[] = {
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

/* A model that has learned "model", and its stream. */
static stream train_model(size_t recipe)
{
    label_kind kind = strstr(recipes[recipe], "marked") ? MARKED : SPACE_HASHTAGS;
    stream s = make_stream(kind, 5 + recipe, 300);
    write_file("stop", "w1\nw7\nyork\n", 11);
    tide_trainer *trainer = trained(recipes[recipe], &s.with);
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

/* A model that has learned its stream, asked through its trainer, which learns no more, and a labeler. */
typedef struct both {
    stream s;
    tide_trainer *trainer;
    tide_labeler *labeler;
    answer told; /* by the trainer, of its last post */
} both;

static void begin(both *b, size_t recipe)
{
    *b = (both){.s = train_model(recipe), .labeler = load_labeler()};
    b->trainer = load_frozen("model", "all");
    tide_trainer_watch_labels(b->trainer, take_answer, NULL, &b->told);
}

static void end(both *b)
{
    tide_trainer_free(b->trainer);
    tide_labeler_free(b->labeler);
    stream_free(&b->s);
}

static void a_labeler_tells_what_the_trainer_tells(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT(recipes); r++) {
        both b;
        begin(&b, r);
        int known = 0, unknown = 0;
        char *rest = b.s.with.bytes, *line;
        for (size_t i = 0; (line = strtok_r(rest, "\n", &rest)); i++) {
            b.told.count = 0;
            feed_text(b.trainer, line);
            feed_text(b.trainer, "\n");
            if (!b.told.count)
                continue; /* nothing but stop words is no post */
            expect_same(b.labeler, &b.told, line, i % 2 ? 4096 : 3);
            known += b.told.known > 0;
            unknown += b.told.known < b.told.words;
        }
        assert_true(known > 200);
        bool all_held = strstr(recipes[r], "subword") || strstr(recipes[r], "phrases");
        assert_true(unknown > 20 || all_held);
        end(&b);
    }
}

/* As in a record: also for phrases, which no line feed parts. */
static void line_feeds_are_blanks_for_a_labeler(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT(recipes); r++) {
        both b;
        begin(&b, r);
        feed_text(b.trainer, "w2 new york w3 w4 new york\n");
        expect_same(b.labeler, &b.told, "w2 new\nyork w3\n\nw4\nnew\nyork\n", 4096);
        expect_same(b.labeler, &b.told, "\nw2 new\nyork w3\n\nw4\nnew\nyork", 1);
        end(&b);
    }
}

static void a_labeler_reads_a_thousand_words(void **state)
{
    (void)state;
    char text[1300 * 8], *to = text;
    for (int i = 0; i < 1300; i++)
        to += sprintf(to, i < 996 ? "x%d " : "w%d ", i % 40);
    for (size_t r = 0; r < COUNT(recipes); r++) {
        both b;
        begin(&b, r);
        feed_text(b.trainer, text);
        feed_text(b.trainer, "\n");
        assert_int_equal(b.told.words, 1000);
        expect_same(b.labeler, &b.told, text, 4096);
        feed_text(b.trainer, "w2 w3\n"); /* and begins anew with the next text */
        expect_same(b.labeler, &b.told, "w2 w3", 4096);
        end(&b);
    }
}

static void a_labeler_gives_the_most_probable_labels_first(void **state)
{
    (void)state;
    both b;
    begin(&b, 0);
    uint32_t size = tide_labeler_size(b.labeler);
    tide_prediction all[8], some[8];
    uint64_t known;
    assert_int_equal(size, 6);
    tide_labeler_add(b.labeler, "w1 w2", 5);
    assert_int_equal(tide_labeler_end(b.labeler, all, size, &known), size);
    assert_int_equal(known, 2);
    for (size_t room = 0; room <= size; room++) {
        tide_labeler_add(b.labeler, "w1 w2", 5);
        assert_int_equal(tide_labeler_end(b.labeler, some, room, &known), room);
        for (size_t i = 0; i < room; i++)
            assert_string_equal(some[i].label, all[i].label);
    }
    end(&b);
}

/* What it says depends on its words alone, not on the labels that are written in it. */
static void a_labeler_does_not_read_labels(void **state)
{
    (void)state;
    both b;
    begin(&b, 0);
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
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_labeler_tells_what_the_trainer_tells),
        IN_FOLDER(line_feeds_are_blanks_for_a_labeler),
        IN_FOLDER(a_labeler_reads_a_thousand_words),
        IN_FOLDER(a_labeler_gives_the_most_probable_labels_first),
        IN_FOLDER(a_labeler_does_not_read_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
