/* test_predictor.c - predictors: training on sampled posts, anchors, memory, files, and
 * scores. */
#include "base/base.h"
#include "file/file.h"
#include "label/label.h"
#include "label/predictor.h"
#include "train/train.h"
#include "vocab/vocab.h"
#include "labels_fixture.h"

#include <errno.h>
#include <malloc.h>

/* -- counted and failing allocations ---------------------------------------------- */

enum { BLOCKS = 4096 };

static int allocations_left = -1; /* until one fails; negative if none does */
static void *blocks[BLOCKS];      /* live allocations of tide_alloc, and their sizes */
static size_t sizes[BLOCKS], live, peak;

static void note_block(void *block, size_t size)
{
    size_t at = 0;
    while (at < BLOCKS && blocks[at])
        at++;
    if (at == BLOCKS)
        abort();
    blocks[at] = block;
    sizes[at] = size;
    live += size;
    peak = live > peak ? live : peak;
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = NULL;
    if (allocations_left >= 0 && allocations_left-- == 0)
        return ENOMEM;
    *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (*block && !SANITIZED)
        note_block(*block, size);
    return *block ? 0 : ENOMEM;
}

#if !SANITIZED /* a sanitizer needs malloc itself; `live` is still exact without it */
void __libc_free(void *block);

void free(void *block)
{
    for (size_t at = 0; block && at < BLOCKS; at++)
        if (blocks[at] == block) {
            blocks[at] = NULL;
            live -= sizes[at];
        }
    __libc_free(block);
}
#endif

/* -- trainers --------------------------------------------------------------------- */

#define HASHTAGS LABELED "tokens=space labels=hashtags dim=8 replay=1 "

/* Trained on 200 posts, with predictions. */
static tide_trainer *fitted(const char *settings, uint64_t seed)
{
    stream s = make_stream(SPACE_HASHTAGS, seed, 200);
    tide_trainer *trainer = trained(settings, &s.with);
    fit(trainer);
    stream_free(&s);
    return trainer;
}

/* The prediction for a post; the caller frees it. */
static char *predict_text(tide_trainer *trainer, const char *post)
{
    prediction_log log;
    log_open(&log);
    watch_into(trainer, &log);
    feed_text(trainer, post);
    tide_trainer_watch_labels(trainer, NULL, NULL, NULL);
    assert_int_equal(log.posts, 1);
    char *prediction = strdup(last_prediction(&log));
    log_close(&log);
    return prediction;
}

static void learn_on(tide_trainer *trainer, uint64_t seed)
{
    stream s = make_stream(SPACE_HASHTAGS, seed, 200);
    feed(trainer, s.with.bytes, s.with.size);
    stream_free(&s);
}

/* -- labels ----------------------------------------------------------------------- */

static void the_most_frequent_labels_with_posts_are_predicted(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of(HASHTAGS "vocab=50 admission=none label-top=3");
    for (int i = 0; i < 5; i++)
        feed_text(trainer,
                  "#wordless\n#wordless\nsome words #third #first\n#first word\n");
    feed_text(trainer,
              "#second some\n#second some\n#second some\n#second\n#second\n#second\n"
              "#fourth word\n");
    fit(trainer);
    char *prediction = predict_text(trainer, "some\n");
    const char *first = strstr(prediction, " #first 0x"),
               *second = strstr(prediction, " #second 0x"),
               *third = strstr(prediction, " #third 0x");
    assert_true(first && second && third && first < second && second < third);
    assert_null(strstr(prediction, "#wordless"));
    assert_null(strstr(prediction, "#fourth"));
    assert_int_equal(label_stats_of(trainer).predicted, 3);
    assert_int_equal(label_stats_of(trainer).posts_at_fit,
                     label_stats_of(trainer).posts - 1);
    free(prediction);
    tide_trainer_free(trainer);
}

/* The same words always have the same label, so it can be predicted. */
static void labels_are_predicted_from_words(void **state)
{
    (void)state;
    tide_trainer *trainer =
        trainer_of(HASHTAGS "vocab=50 admission=none label-each=200 "
                            "classifier-epochs=60 classifier-rate=0.05");
    for (int i = 0; i < 150; i++)
        feed_text(trainer,
                  i % 2 ? "ball goal team #sport\n" : "vote law party #state\n");
    fit(trainer);
    char *prediction[2] = {predict_text(trainer, "goal ball\n"),
                           predict_text(trainer, "party law\n")};
    for (int i = 0; i < 2; i++) {
        const char *sport = strstr(prediction[i], "#sport "),
                   *of_state = strstr(prediction[i], "#state ");
        assert_true(sport && of_state);
        assert_true(strtod(strchr(i ? of_state : sport, ' '), NULL) > 0.8);
        assert_true(strtod(strchr(i ? sport : of_state, ' '), NULL) < 0.2);
        free(prediction[i]);
    }
    tide_trainer_free(trainer);
}

/* Words beyond the classifier's maximum are only counted. */
static void words_beyond_the_maximum_change_nothing(void **state)
{
    (void)state;
    static const char *const kinds[] = {"", "subword=500",
                                        "subword=500 classifier=cnn"};
    static const char *const posts[] = {"w1 w2", "w1 w2 w3 w4"};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        char settings[512];
        snprintf(settings, sizeof settings, "%s%s",
                 HASHTAGS
                 "vocab=200 admission=none label-anchors=0 classifier-words=2 ",
                 kinds[i]);
        tide_trainer *trainer = fitted(settings, 12);
        save_to(trainer, "model");
        tide_labeler *labeler = tide_labeler_load("model", NULL);
        tide_prediction guesses[COUNT(posts)];
        for (size_t post = 0; post < COUNT(posts); post++) {
            uint64_t known;
            tide_labeler_add(labeler, posts[post], strlen(posts[post]));
            tide_labeler_end(labeler, &guesses[post], 1, &known);
            assert_int_equal(known, 2 * (post + 1));
        }
        assert_string_equal(guesses[0].label, guesses[1].label);
        assert_memory_equal(&guesses[0].probability, &guesses[1].probability,
                            sizeof(float));
        tide_labeler_free(labeler);
        tide_trainer_free(trainer);
    }
}

static void add_word(tide_predictor *predictor, const char *text)
{
    char padded[TIDE_WORD_MAX + 16] = {0};
    tide_word word = {padded, (uint32_t)strlen(text)};
    memcpy(padded, text, word.length);
    tide_predictor_add(predictor, &word);
}

/* A quarantined slot is about to get another word, so its vector is not read. */
static void words_of_quarantined_slots_are_unknown(void **state)
{
    (void)state;
    tide_trainer *trainer =
        fitted(HASHTAGS "vocab=200 admission=none label-anchors=0", 12);
    const tide_model *model = tide_trainer_model(trainer);
    uint64_t quarantined[200 / 64 + 1] = {0};
    save_to(trainer, "model");
    tide_store *store = tide_store_open("model", NULL);
    tide_predictor *predictor = tide_predictor_new(model, quarantined, NULL);
    assert_true(predictor && store);
    assert_int_equal(tide_predictor_load(predictor, store, NULL), TIDE_OK);
    tide_entry entry;
    assert_int_equal(tide_model_find(model, "w2", &entry, NULL), TIDE_OK);
    for (uint64_t known = 3; known > 1; known--) {
        add_word(predictor, "w1");
        add_word(predictor, "w2");
        add_word(predictor, "w3");
        tide_predictor_result result = tide_predictor_end(predictor);
        assert_int_equal(result.words, 3);
        assert_int_equal(result.known, known);
        quarantined[entry.slot / 64] |= UINT64_C(1) << entry.slot % 64;
    }
    tide_predictor_free(predictor);
    tide_store_close(store);
    tide_trainer_free(trainer);
}

/* -- anchors ---------------------------------------------------------------------- */

static void anchored_words_have_their_old_vectors(void **state)
{
    (void)state;
    static const char *const kinds[] = {HASHTAGS "vocab=200 admission=none",
                                        HASHTAGS "vocab=200 admission=none subword=500",
                                        HASHTAGS
                                        "vocab=200 admission=none classifier=cnn"};
    static const char *const anchors[] = {" label-anchors=0", " label-anchors=1000"};
    for (size_t i = 0; i < 2 * COUNT(kinds); i++) {
        char settings[512];
        snprintf(settings, sizeof settings, "%s%s", kinds[i / 2], anchors[i % 2]);
        tide_trainer *trainer = fitted(settings, 3);
        char *before = predict_text(trainer, "w1 w2 w3\n");
        learn_on(trainer, 4);
        char *after = predict_text(trainer, "w1 w2 w3\n");
        assert_int_equal(strcmp(before, after) == 0, i % 2);
        free(before);
        free(after);
        tide_trainer_free(trainer);
    }
}

static void only_the_most_frequent_words_are_anchored(void **state)
{
    (void)state;
    tide_trainer *trainer =
        fitted(HASHTAGS "vocab=200 admission=none label-anchors=3", 5);
    tide_entry top[4];
    assert_int_equal(tide_model_words(tide_trainer_model(trainer), top, 4), 4);
    char posts[2][128];
    snprintf(posts[0], sizeof posts[0], "%s %s %s\n", top[0].word, top[1].word,
             top[2].word);
    snprintf(posts[1], sizeof posts[1], "%s\n", top[3].word);
    char *before[2] = {predict_text(trainer, posts[0]),
                       predict_text(trainer, posts[1])};
    learn_on(trainer, 6);
    for (int i = 0; i < 2; i++) {
        char *after = predict_text(trainer, posts[i]);
        assert_int_equal(strcmp(before[i], after) == 0, !i);
        free(before[i]);
        free(after);
    }
    tide_trainer_free(trainer);
}

static void an_anchored_word_may_leave_the_vocabulary(void **state)
{
    (void)state;
    for (int anchored = 0; anchored < 2; anchored++) {
        tide_trainer *trainer =
            trainer_of(anchored ? HASHTAGS "vocab=10 admission=none label-anchors=5"
                                : HASHTAGS "vocab=10 admission=none label-anchors=0");
        feed_text(trainer, "old words #tag\nold words #tag\n");
        fit(trainer);
        for (int i = 0; i < 100; i++) {
            char post[32];
            snprintf(post, sizeof post, "new%d new%d\n", i, i);
            feed_text(trainer, post);
        }
        tide_entry entry;
        assert_int_not_equal(
            tide_model_find(tide_trainer_model(trainer), "old", &entry, NULL), TIDE_OK);
        save_to(trainer, "model");
        tide_trainer_free(trainer);
        trainer = load_from("model");
        char *prediction = predict_text(trainer, "old old other\n");
        assert_non_null(
            strstr(prediction, anchored ? ": 3 words, 1 unknown" : ", 3 unknown"));
        free(prediction);
        tide_trainer_free(trainer);
    }
}

/* -- memory ----------------------------------------------------------------------- */

static void labels_take_the_announced_memory(void **state)
{
    (void)state;
    static const char *const some[] = {
        "labels=marked classifier=cnn label-memory=65536 label-slots=1",
        "labels=marked classifier=cnn label-memory=1M label-slots=5000 "
        "label-posts=7"};
    for (size_t i = 0; i < COUNT(some) && !SANITIZED; i++) {
        tide_params *params = params_of(some[i]);
        size_t before = live;
        peak = live;
        tide_labels *labels = tide_labels_new(params, NULL, NULL, NULL, NULL);
        assert_non_null(labels);
        size_t taken = peak - before - sizeof(tide_predictor);
        assert_in_range(taken, tide_labels_bytes(params) / 2,
                        tide_labels_bytes(params));
        tide_labels_free(labels);
        assert_int_equal(live, before);
        tide_params_free(params);
    }
}

enum { CROWD = 20, CROWD_WORDS = 650 };

/* Posts that contain every word of the vocabulary once, so that most of the planned
 * memory is used. */
static tide_trainer *crowded(const char *settings)
{
    tide_trainer *trainer = trainer_of(settings);
    for (int i = 0; i < CROWD; i++) {
        char post[8 * CROWD_WORDS] = "#tag ", *to = post + strlen(post);
        for (int w = 0; w < CROWD_WORDS; w++)
            to += sprintf(to, "w%x ", CROWD_WORDS * i + w);
        sprintf(to, "\n");
        feed_text(trainer, post);
    }
    assert_int_equal(stats_of(trainer).vocabulary, CROWD * CROWD_WORDS);
    assert_int_equal(label_stats_of(trainer).cut, 0);
    return trainer;
}

static void training_takes_at_most_the_announced_memory(void **state)
{
    (void)state;
    static const char *const some[] = {"classifier=linear", "classifier=cnn",
                                       "classifier=frequent",
                                       "classifier=linear subword=100"};
    for (size_t i = 0; i < COUNT(some) && !SANITIZED; i++) {
        char settings[512];
        snprintf(
            settings, sizeof settings,
            "tokens=space labels=hashtags vocab=13000 dim=1 replay=1 admission=none "
            "label-slots=1 label-top=1 label-each=20 label-memory=1M "
            "label-bytes=4096 classifier-words=650 classifier-batch=1 "
            "classifier-epochs=1 "
            "label-anchors=13000 classifier-maps=1 %s",
            some[i]);
        tide_trainer *trainer = crowded(settings);
        uint64_t announced = tide_labels_fit_bytes(tide_trainer_params(trainer));
        size_t before = live;
        peak = live;
        fit(trainer);
        fit(trainer); /* the old classifier lives until the new one is trained */
        if (peak - before > announced)
            fail_msg("%s: %zu bytes and not %llu", some[i], peak - before,
                     (unsigned long long)announced);
        assert_true(peak - before > announced / 2);
        tide_trainer_free(trainer);
    }
}

static void failed_allocations_leave_the_classifier_unchanged(void **state)
{
    (void)state;
    tide_trainer *trainer =
        fitted(HASHTAGS "vocab=50 classifier=cnn classifier-maps=2 subword=50", 9);
    learn_on(trainer, 10);
    save_to(trainer, "before");
    int failures = 0;
    for (;; failures++) {
        tide_error err = {.text = ""};
        size_t before = live;
        allocations_left = failures;
        int status = tide_trainer_fit(trainer, NULL, NULL, &err);
        bool failed = allocations_left < 0;
        allocations_left = -1;
        assert_int_equal(status, failed ? TIDE_ERROR_MEMORY : TIDE_OK);
        if (!failed)
            break;
        assert_int_equal(err.status, TIDE_ERROR_MEMORY);
        assert_true(err.text[0] && !strchr(err.text, '\n'));
        assert_int_equal(live, before);
        save_to(trainer, "after");
        assert_true(same_file("before", "after"));
    }
    assert_true(failures > 20);
    assert_int_equal(label_stats_of(trainer).fits, 2);
    tide_trainer_free(trainer);
}

static void a_bag_takes_the_announced_memory_or_fails(void **state)
{
    (void)state;
    const tide_bag_options options = {.dim = 100,
                                      .rows = 3000,
                                      .labels = 50,
                                      .slots = 200,
                                      .words = 64,
                                      .posts = 300,
                                      .seed = 1};
    size_t before = live;
    int failures = 0;
    for (;; failures++) {
        tide_error err = {.text = ""};
        peak = live;
        allocations_left = failures;
        tide_bag *bag = tide_bag_new(&options, &err);
        allocations_left = -1;
        if (bag && !SANITIZED)
            assert_in_range(peak - before, tide_bag_bytes(&options) - 100,
                            tide_bag_bytes(&options));
        tide_bag_free(bag);
        assert_int_equal(live, before);
        if (bag)
            break;
        assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    }
    assert_int_equal(failures, 16);
}

static void failed_allocations_in_a_refit_are_reported_once(void **state)
{
    (void)state;
    tide_trainer *trainer =
        trainer_of(HASHTAGS "vocab=50 admission=none label-refit=2");
    tide_labels *labels = tide_trainer_labels_part(trainer);
    feed_text(trainer, "some words #tag\n");
    allocations_left = 0;
    feed_text(trainer, "some words #tag\n");
    allocations_left = -1;
    const char *problem = tide_labels_problem(labels);
    assert_non_null(problem);
    assert_non_null(strstr(problem, "no memory"));
    assert_null(tide_labels_problem(labels));
    feed_text(trainer, "some words #tag\nsome words #tag\n");
    assert_null(tide_labels_problem(labels));
    assert_int_equal(label_stats_of(trainer).fits, 1);
    tide_trainer_free(trainer);
}

/* -- file ------------------------------------------------------------------------- */

/* A trained model, with the words and labels of half a post. */
static void save_half_a_post(void)
{
    tide_trainer *trainer =
        fitted(HASHTAGS "vocab=50 admission=none label-anchors=9", 11);
    feed_text(trainer, "\nhalf a #one post #two w");
    save_to(trainer, "good");
    tide_trainer_free(trainer);
}

/* The message names the section in one line. */
static void expect_refused(const char *section)
{
    tide_error err = {.text = ""};
    tide_trainer *trainer = tide_trainer_load("bad", NULL, 0, &err);
    if (trainer || err.status != TIDE_ERROR_FORMAT)
        fail_msg("section %s is damaged: %s", section, err.text);
    if (!strstr(err.text, section) || strchr(err.text, '\n'))
        fail_msg("section %s is damaged, and it says %s", section, err.text);
    assert_null(tide_trainer_load("bad", NULL, 0, NULL));
    bool expect_refusal =
        strncmp(section, "anchor.", 7) == 0 || !strcmp(section, "label.names");
    tide_labeler *labeler = tide_labeler_load("bad", &err);
    assert_int_equal(labeler == NULL, expect_refusal);
    tide_labeler_free(labeler);
}

static bool damage_size(const char *section)
{
    static const char *const ours[] = {"label.names",    "label.fitted",
                                       "anchor.",        "intake.post",
                                       "intake.waiting", "reader.labels"};
    bool tried = false;
    for (size_t i = 0; i < COUNT(ours); i++)
        tried = tried || !strncmp(section, ours[i], strlen(ours[i]));
    if (!tried)
        return false;
    size_t size;
    unsigned char *bytes = read_section("good", section, &size);
    assert_true(size > 0);
    bytes[size] = 1;
    replace_section("good", "bad", section, bytes, size - 1);
    expect_refused(section);
    replace_section("good", "bad", section, bytes, size + 1);
    expect_refused(section);
    if (strcmp(section, "label.names") !=
        0) { /* without it the predictor is untrained */
        replace_section("good", "bad", section, NULL, 0);
        expect_refused(section);
    }
    free(bytes);
    return true;
}

static void sections_of_the_wrong_size_are_rejected(void **state)
{
    (void)state;
    save_half_a_post();
    tide_trainer_free(load_from("good"));
    assert_in_range(each_section("good", damage_size), 7, 12);
}

static void damage(const char *section, size_t at, const void *bytes, size_t count)
{
    size_t size;
    unsigned char *all = read_section("good", section, &size);
    assert_true(at + count <= size);
    memcpy(all + at, bytes, count);
    replace_section("good", "bad", section, all, size);
    free(all);
    expect_refused(section);
}

static void invalid_numbers_are_rejected(void **state)
{
    (void)state;
    save_half_a_post();
    static const struct {
        const char *section;
        size_t place;
        uint64_t number;
    } numbers[] = {
        {"label.names", 0, 0}, /* 0 trainings but with labels */
        {"label.names", 1, UINT64_MAX},
        {"label.names", 1, TIDE_CAPACITY_MAX + UINT64_C(1)},
        {"label.fitted", 0, 201}, /* in the future */
        {"label.fitted", 0, UINT64_MAX},
        {"intake.post", 0, 1000},
        {"intake.post", 0, UINT64_C(1) << 34},
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        unsigned char bytes[8];
        tide_put64(bytes, numbers[i].number);
        damage(numbers[i].section, 8 * numbers[i].place, bytes, 8);
    }
    replace_number("good", "bad", "label.names", 1, 10); /* and 9 anchors */
    expect_refused("anchor.");
    peak = live;
    replace_number("good", "bad", "label.names", 1, TIDE_CAPACITY_MAX);
    expect_refused("anchor.");
    assert_in_range(peak - live, 0,
                    16 << 20); /* allocated because of a size in the file */
    damage("label.names", 16, "\0", 1);
    damage("label.names", 18, "\0", 1);
    damage("anchor.vectors", 4, &(float){NAN}, 4);
    damage("anchor.vectors", 8, &(float){INFINITY}, 4);
    damage("intake.waiting", 0, "\0", 1);
    damage("intake.waiting", 0, "A", 1);
    damage("reader.labels", 0, "\0", 1);
}

static void overlong_names_are_rejected(void **state)
{
    (void)state;
    save_half_a_post();
    size_t size;
    unsigned char *bytes = read_section("good", "label.names", &size);
    for (unsigned char length = 64; length < 67; length++) {
        unsigned char names[16 + 6 * 67], *to = names + 16; /* there are six labels */
        memcpy(names, bytes, 16);
        for (int i = 0; i < 6; i++, to += 1 + length) {
            *to = length;
            memset(to + 1, 'a' + i, length);
        }
        replace_section("good", "bad", "label.names", names, (size_t)(to - names));
        if (length > TIDE_WORD_MAX)
            expect_refused("label.names");
        else
            tide_trainer_free(load_from("bad"));
    }
    free(bytes);
}

static void invalid_labels_of_half_a_post_are_rejected(void **state)
{
    (void)state;
    save_half_a_post();
    char bytes[257 * 65 + 1];
    memset(bytes, 'x', sizeof bytes);
    bytes[65] = 0; /* a byte too long */
    replace_section("good", "bad", "reader.labels", bytes, 66);
    expect_refused("reader.labels");
    for (size_t i = 1; i < sizeof bytes; i += 2)
        bytes[i] = 0;
    replace_section("good", "good-too", "reader.labels", bytes, 2 * 256);
    tide_trainer_free(load_from("good-too"));
    replace_section("good", "bad", "reader.labels", bytes, 2 * 257);
    expect_refused("reader.labels");
    replace_section("good", "bad", "reader.labels", bytes, sizeof bytes);
    expect_refused("reader.labels");
}

/* While a post waits none of its words was processed; there is no room for both. */
static void a_sentence_beside_a_waiting_post_is_rejected(void **state)
{
    (void)state;
    save_half_a_post();
    static const uint32_t slots[900];
    uint64_t hashes[900] = {0};
    replace_section("good", "slots", "intake.slots", slots, sizeof slots);
    replace_section("slots", "hashes", "intake.hashes", hashes, sizeof hashes);
    replace_number("hashes", "count", "intake", 4, COUNT(slots));
    replace_number("count", "bad", "intake", 5, COUNT(slots));
    expect_refused("intake.post");
}

static void an_untrained_predictor_is_loaded_as_such(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of(HASHTAGS "vocab=50 admission=none");
    feed_text(trainer, "some words #tag\n");
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    trainer = load_from("model");
    assert_int_equal(label_stats_of(trainer).fits, 0);
    assert_int_equal(label_stats_of(trainer).posts, 1);
    fit(trainer);
    assert_int_equal(label_stats_of(trainer).fits, 1);
    tide_trainer_free(trainer);
    tide_error err;
    assert_null(tide_labeler_load("model", &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    assert_null(tide_labeler_load("nowhere", &err));
    assert_int_equal(err.status, TIDE_ERROR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_frequent_labels_with_posts_are_predicted),
        cmocka_unit_test(labels_are_predicted_from_words),
        IN_FOLDER(words_beyond_the_maximum_change_nothing),
        IN_FOLDER(words_of_quarantined_slots_are_unknown),
        cmocka_unit_test(anchored_words_have_their_old_vectors),
        cmocka_unit_test(only_the_most_frequent_words_are_anchored),
        IN_FOLDER(an_anchored_word_may_leave_the_vocabulary),
        cmocka_unit_test(labels_take_the_announced_memory),
        cmocka_unit_test(training_takes_at_most_the_announced_memory),
        cmocka_unit_test(a_bag_takes_the_announced_memory_or_fails),
        IN_FOLDER(failed_allocations_leave_the_classifier_unchanged),
        cmocka_unit_test(failed_allocations_in_a_refit_are_reported_once),
        IN_FOLDER(sections_of_the_wrong_size_are_rejected),
        IN_FOLDER(invalid_numbers_are_rejected),
        IN_FOLDER(overlong_names_are_rejected),
        IN_FOLDER(invalid_labels_of_half_a_post_are_rejected),
        IN_FOLDER(a_sentence_beside_a_waiting_post_is_rejected),
        IN_FOLDER(an_untrained_predictor_is_loaded_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
