/* test_bag.c - the bag-of-words classifier: gradients against differences of the loss,
 * what it learns, labels that take each other's place, memory, and its file.
 */
#include "base/base.h"
#include "label/bag.h"
#include "label/label.h"
#include "train/train.h"
#include "labels_fixture.h"

#include <float.h>

/* -- bags and trackers ------------------------------------------------------------- */

enum { DIM = 24, SLOTS = 8 };

static tide_bag_options small_options(uint32_t labels)
{
    return (tide_bag_options){.dim = DIM,
                              .rows = 4000,
                              .labels = labels,
                              .slots = SLOTS,
                              .words = 10,
                              .posts = 30,
                              .seed = 7};
}

static tide_bag *bag_of(const tide_bag_options *options)
{
    tide_error err;
    tide_bag *bag = tide_bag_new(options, &err);
    if (!bag)
        fail_msg("%s", err.text);
    return bag;
}

static tide_tracker *new_tracker(void)
{
    const tide_tracker_options options = {.labels = SLOTS,
                                          .max_posts = 100,
                                          .post_bytes = 512,
                                          .memory = 1 << 18,
                                          .seed = 1};
    tide_tracker *tracker = tide_tracker_new(&options, NULL);
    assert_non_null(tracker);
    return tracker;
}

/* A word with 16 readable bytes after it. */
static tide_word word_at(char *buffer, const char *text)
{
    memset(buffer, 0, 96);
    strcpy(buffer, text);
    return (tide_word){buffer, (uint32_t)strlen(text)};
}

/* Makes this the current post; every word has a vector of zeros. */
static void set_words(tide_bag *bag, const char *text)
{
    static float zeros[32] __attribute__((aligned(64)));
    char copy[256], buffer[96];
    snprintf(copy, sizeof copy, "%s", text);
    tide_bag_clear(bag);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        tide_word w = word_at(buffer, word);
        tide_bag_add(bag, &w, zeros);
    }
}

/* A post with one label goes through tracker and bag. */
static void learn(tide_bag *bag, tide_tracker *tracker, const char *text,
                  const char *label)
{
    char buffer[96];
    tide_word name = word_at(buffer, label);
    tide_tracker_add(tracker, &name, 1, text, strlen(text));
    uint32_t slot = tide_tracker_find(tracker, &name);
    set_words(bag, text);
    tide_bag_learn(bag, tracker, &slot, 1, tide_tracker_state(tracker).posts - 1);
}

static uint32_t label_named(const tide_bag *bag, const tide_tracker *tracker,
                            const char *name)
{
    char buffer[96];
    tide_word word = word_at(buffer, name);
    tide_tracked_label label;
    uint32_t slot = tide_tracker_find(tracker, &word);
    return tide_tracker_label(tracker, slot, &label) ? tide_bag_find(bag, &label)
                                                     : TIDE_NO_LABEL;
}

/* -- one step ---------------------------------------------------------------------- */

/* The cross entropy of the current post with these labels. */
static double loss(tide_bag *bag, const uint32_t *labels, uint32_t count)
{
    const float *probabilities = tide_bag_predict(bag);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum -= log((double)probabilities[labels[i]]) / count;
    return sum;
}

/* The derivative of the loss by one weight. */
static double slope(tide_bag *bag, float *weight, const uint32_t *labels,
                    uint32_t count)
{
    const float before = *weight, change = 5e-3f;
    *weight = before + change;
    double above = loss(bag, labels, count);
    *weight = before - change;
    double below = loss(bag, labels, count);
    *weight = before;
    return (above - below) / (2 * (double)change);
}

/* With this sum of squares a step is so small that it follows the gradient, whose size
 * is then the step divided by the rate. */
#define CALM 1e6f

static void calm_down(tide_bag *bag)
{
    for (uint32_t i = 0; i < bag->options.rows; i++)
        bag->sums[i] = bag->sums[i] > 0 ? CALM : 0;
    for (uint32_t i = 0; i < bag->label_count; i++)
        bag->labels[i].sum = bag->labels[i].bias_sum = CALM;
}

enum { CHECKED = 40 };

static void a_step_follows_the_gradient(void **state)
{
    (void)state;
    tide_bag_options options = small_options(3);
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    for (int i = 0; i < 20; i++) {
        learn(bag, tracker, "one two three", "a");
        learn(bag, tracker, "four five one", "b");
        learn(bag, tracker, "six", "c");
    }
    const uint32_t carried[] = {0, 2};
    set_words(bag, "one five one six");
    tide_bag_step(bag, carried, 2); /* now all pairs have rows */
    calm_down(bag);
    tide_bag_predict(bag);
    float *weights[CHECKED], before[CHECKED];
    double slopes[CHECKED];
    for (int i = 0; i < CHECKED; i++) {
        uint32_t row = (uint32_t)i % bag->feature_count;
        weights[i] = i % 4 == 0   ? bag->output_rows[i / 4 % 3] + i % DIM
                     : i % 4 == 1 ? &bag->labels[i / 4 % 3].bias
                                  : bag->features[row] + i % DIM;
        slopes[i] = slope(bag, weights[i], carried, 2);
        before[i] = *weights[i];
    }
    tide_bag_predict(bag);
    tide_bag_step(bag, carried, 2);
    double along = 0, ours = 0, theirs = 0;
    for (int kind = 0; kind < 4; kind++) {
        for (int i = kind; i < CHECKED; i += 4) {
            double moved = (double)(before[i] - *weights[i]);
            along += moved * slopes[i];
            ours += moved * moved;
            theirs += slopes[i] * slopes[i];
        }
        assert_true(ours > 0 && theirs > 0);
        if (!(along / sqrt(ours * theirs) > 0.98))
            fail_msg("kind %d: the cosine is %g", kind, along / sqrt(ours * theirs));
        along = ours = theirs = 0;
    }
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

static void probabilities_sum_to_one(void **state)
{
    (void)state;
    tide_bag_options options = small_options(5);
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    static const char *const labels[] = {"a", "b", "c", "d", "e"};
    for (uint32_t i = 0; i < 200; i++) {
        char text[64];
        snprintf(text, sizeof text, "w%u w%u common", i % 5, i % 7);
        learn(bag, tracker, text, labels[i % 5]);
        double sum = 0;
        set_words(bag, "w1 common unseen");
        const float *probabilities = tide_bag_predict(bag);
        for (uint32_t l = 0; l < bag->label_count; l++)
            sum += (double)probabilities[l];
        assert_true(fabs(sum - 1) < 1e-5);
    }
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

static void a_post_without_words_gets_the_frequencies(void **state)
{
    (void)state;
    tide_bag_options options = small_options(3);
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    for (int i = 0; i < 40; i++)
        learn(bag, tracker, "some words", i % 4 ? "often" : "seldom");
    tide_bag_clear(bag);
    const float *probabilities = tide_bag_predict(bag);
    assert_true(probabilities[label_named(bag, tracker, "often")] == 0.75f);
    assert_true(probabilities[label_named(bag, tracker, "seldom")] == 0.25f);
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

/* A vector that other threads have spoiled, or an imported one. */
static void odd_vectors_do_no_harm(void **state)
{
    (void)state;
    tide_bag_options options = small_options(2);
    static const float odd[] = {NAN, INFINITY, -INFINITY, FLT_MAX, 1e30f, -1e19f};
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    float vector[32] __attribute__((aligned(64))) = {0};
    for (uint32_t i = 0; i < 60; i++) {
        char text[96], buffer[96];
        learn(bag, tracker, "plain words", i % 2 ? "a" : "b");
        snprintf(text, sizeof text, "odd%u", i);
        tide_word word = word_at(buffer, text);
        vector[i % DIM] = odd[i % COUNT(odd)];
        set_words(bag, "plain");
        tide_bag_add(bag, &word, vector);
        for (int times = 0; times < 3; times++) {
            const float *probabilities = tide_bag_predict(bag);
            assert_true(probabilities[0] >= 0 && probabilities[0] <= 1);
            tide_bag_step(bag, &(uint32_t){i / 2 % 2}, 1);
        }
        vector[i % DIM] = 0;
    }
    for (uint32_t row = 0; row < options.rows; row++)
        for (uint32_t d = 0; d < DIM; d++)
            assert_true(fabsf(tide_matrix_row(&bag->rows, row)[d]) < 100);
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

/* -- learning ---------------------------------------------------------------------- */

/* Each word votes for a label, and the majority wins. */
static void a_planted_rule_is_learned_in_one_pass(void **state)
{
    (void)state;
    enum { POSTS = 4000, RULES = 4, WORDS = 80 };
    static const char *const labels[RULES] = {"a", "b", "c", "d"};
    tide_bag_options options = small_options(RULES);
    options.posts = 500;
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    tide_rng rng = tide_rng_seeded(3);
    int right = 0;
    for (int i = 0; i < POSTS; i++) {
        char text[128] = "";
        int votes[RULES] = {0}, best = 0;
        for (int w = 0; w < 7; w++) {
            int word = (int)tide_rng_below(&rng, WORDS);
            votes[word % RULES]++;
            sprintf(text + strlen(text), "w%d ", word);
        }
        for (int l = 1; l < RULES; l++)
            best = votes[l] > votes[best] ? l : best;
        set_words(bag, text);
        const float *probabilities = tide_bag_predict(bag);
        uint32_t expected = label_named(bag, tracker, labels[best]), most = 0;
        for (uint32_t l = 1; l < bag->label_count; l++)
            most = probabilities[l] > probabilities[most] ? l : most;
        right += i >= POSTS / 2 && most == expected;
        learn(bag, tracker, text, labels[best]);
    }
    if (right < POSTS / 2 * 0.75)
        fail_msg("only %d of %d are right", right, POSTS / 2);
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

static void the_order_of_two_words_can_matter(void **state)
{
    (void)state;
    tide_bag_options options = small_options(2);
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    for (int i = 0; i < 300; i++)
        learn(bag, tracker, i % 2 ? "dog bites man" : "man bites dog",
              i % 2 ? "usual" : "news");
    set_words(bag, "man bites dog");
    assert_true(tide_bag_predict(bag)[label_named(bag, tracker, "news")] > 0.9f);
    set_words(bag, "dog bites man");
    assert_true(tide_bag_predict(bag)[label_named(bag, tracker, "news")] < 0.1f);
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

/* Two words with the same vector: what was learned about one is known of the other. */
static void a_word_without_a_row_is_represented_by_its_vector(void **state)
{
    (void)state;
    tide_bag_options options = small_options(2);
    options.rows = 400000; /* so that no two words share one */
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    float vectors[2][32] __attribute__((aligned(64))) = {{0}, {0}};
    char buffer[96], label[96];
    for (int d = 0; d < DIM; d++)
        vectors[d % 2][d] = 0.45f;
    for (int i = 0; i < 600; i++) {
        char text[32];
        snprintf(text, sizeof text, "w%d", i);
        tide_word word = word_at(buffer, text),
                  name = word_at(label, i % 2 ? "a" : "b");
        tide_tracker_add(tracker, &name, 1, text, strlen(text));
        uint32_t slot = tide_tracker_find(tracker, &name);
        tide_bag_clear(bag);
        tide_bag_add(bag, &word, vectors[i % 2]);
        tide_bag_learn(bag, tracker, &slot, 1, (uint64_t)i);
    }
    for (int i = 0; i < 2; i++) {
        tide_word word = word_at(buffer, "never-seen");
        tide_bag_clear(bag);
        tide_bag_add(bag, &word, vectors[i]);
        float p = tide_bag_predict(bag)[label_named(bag, tracker, i ? "a" : "b")];
        if (!(p > 0.8f))
            fail_msg("the probability is %g", (double)p);
    }
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

/* -- labels ------------------------------------------------------------------------ */

/* Two labels can be learned, and a third becomes more frequent than one of them. */
static void a_frequent_label_takes_the_place_of_a_rare_one(void **state)
{
    (void)state;
    tide_bag_options options = small_options(2);
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    for (int i = 0; i < 50; i++)
        learn(bag, tracker, "frequent words", "often");
    for (int i = 0; i < 8; i++)
        learn(bag, tracker, "seldom words", "seldom");
    uint32_t place = label_named(bag, tracker, "seldom");
    for (int i = 0; i < 9; i++) { /* not an eighth more */
        learn(bag, tracker, "new words", "new");
        assert_int_equal(label_named(bag, tracker, "new"), TIDE_NO_LABEL);
    }
    learn(bag, tracker, "new words", "new");
    assert_int_equal(label_named(bag, tracker, "new"), place);
    assert_int_equal(label_named(bag, tracker, "seldom"), TIDE_NO_LABEL);
    assert_int_not_equal(label_named(bag, tracker, "often"), TIDE_NO_LABEL);
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

static void nothing_remains_of_a_replaced_label(void **state)
{
    (void)state;
    tide_bag_options options = small_options(2);
    options.posts = 0; /* nothing is repeated, so the first step is the only one */
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    static const char *const names[] = {"seldom"};
    for (int i = 0; i < 20; i++)
        learn(bag, tracker, "frequent words", "often");
    for (int i = 0; i < 8; i++)
        learn(bag, tracker, "seldom words", "seldom");
    uint32_t place = label_named(bag, tracker, "seldom");
    tide_bag_set_names(bag, names, 1);
    bag->labels[place].name = 1;
    tide_bag_reset_label(bag, place);
    for (uint32_t d = 0; d < DIM; d++)
        assert_true(bag->output_rows[place][d] == 0);
    const tide_bag_label *label = &bag->labels[place];
    assert_true(label->sum == 0 && label->bias_sum == 0 && label->posts == 0);
    assert_int_equal(label->name, 0);
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

/* The tracker gives the slot of a label to another one: kept posts of the first must not
 * be learned with the second. */
static void kept_posts_do_not_change_their_label_with_its_slot(void **state)
{
    (void)state;
    tide_bag_options options = small_options(SLOTS);
    options.rows = 400000; /* so that no two words share one */
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    char buffer[96], text[32];
    tide_tracked_label now;
    learn(bag, tracker, "old", "old");
    learn(bag, tracker, "old", "old");
    tide_word old = word_at(buffer, "old");
    uint32_t slot = tide_tracker_find(tracker, &old), row = bag->feature_ids[0];
    bag->options.posts = 0; /* only what is kept now is repeated */
    for (int i = 0; tide_tracker_find(tracker, &old) != TIDE_NO_SLOT; i++) {
        snprintf(text, sizeof text, "t%d", i % 97);
        learn(bag, tracker, "other", text);
        assert_true(i < 10000);
    }
    float before[DIM];
    memcpy(before, tide_matrix_row(&bag->rows, row), sizeof before);
    for (int i = 0; i < 200; i++) {
        assert_true(tide_tracker_label(tracker, slot, &now));
        snprintf(text, sizeof text, "%s", now.name);
        learn(bag, tracker, "other", text);
        assert_true(tide_tracker_label(tracker, slot, &now));
        assert_int_not_equal(tide_bag_find(bag, &now), TIDE_NO_LABEL);
    }
    assert_memory_equal(before, tide_matrix_row(&bag->rows, row), sizeof before);
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

/* Labels that the tracker has evicted leave their places to those that it holds. */
static void labels_of_today_are_learned_whatever_came_before(void **state)
{
    (void)state;
    tide_bag_options options = small_options(4);
    tide_bag *bag = bag_of(&options);
    tide_tracker *tracker = new_tracker();
    char text[32];
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "t%d", i);
        learn(bag, tracker, "some words", text);
    }
    uint32_t held = 0;
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "t%d", i);
        held += label_named(bag, tracker, text) != TIDE_NO_LABEL;
    }
    assert_true(held > 0);
    tide_tracker_free(tracker);
    tide_bag_free(bag);
}

static void a_bag_takes_the_announced_memory_and_no_more(void **state)
{
    (void)state;
    tide_bag_options options = small_options(3);
    uint64_t few = tide_bag_bytes(&options);
    options.posts *= 2;
    assert_int_equal(tide_bag_bytes(&options) - few,
                     30 * (sizeof(tide_bag_post) + 10 * sizeof(uint32_t)));
    options.posts /= 2;
    options.rows *= 2;
    assert_int_equal(tide_bag_bytes(&options) - few,
                     4000 * (sizeof(float) + tide_matrix_bytes(1, DIM)));
}

/* -- trainers ---------------------------------------------------------------------- */

#define BAG                                                                            \
    "label-slots=40 label-memory=65536 label-top=6 label-each=20 classifier=bag "      \
    "tokens=space labels=hashtags vocab=50 dim=8 replay-ring=4000 "

/* The same text with other labels in the line. */
static char *with_other_labels(const corpus *t, int line, size_t *size)
{
    char *other = malloc(t->size + 32);
    assert_non_null(other);
    *size = 0;
    int at_line = 0;
    for (size_t at = 0; at < t->size; at++) {
        if (at_line == line && !strncmp(t->bytes + at, "#tag", 4)) {
            memcpy(other + *size, "#tag7", 5);
            *size += 5;
            at += strcspn(t->bytes + at, " ") - 1;
            continue;
        }
        at_line += t->bytes[at] == '\n';
        other[(*size)++] = t->bytes[at];
    }
    return other;
}

static void log_bag(prediction_log *log, const char *bytes, size_t size)
{
    log_open(log);
    tide_trainer *trainer = trainer_of(BAG "admission=none label-refit=10");
    watch_into(trainer, log);
    feed(trainer, bytes, size);
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    tide_trainer_free(trainer);
}

static size_t size_of_lines(const char *text, int lines)
{
    const char *at = text;
    for (; lines > 0; lines--)
        at = strchr(at, '\n') + 1;
    return (size_t)(at - text);
}

static void the_labels_of_a_post_do_not_change_its_prediction(void **state)
{
    (void)state;
    stream s = make_stream(SPACE_HASHTAGS, 12, 60);
    prediction_log log;
    log_bag(&log, s.with.bytes, s.with.size);
    int later = 0;
    for (int line = 0; line < 60; line++) {
        size_t size;
        char *other = with_other_labels(&s.with, line, &size);
        prediction_log changed;
        log_bag(&changed, other, size);
        assert_int_equal(changed.posts, log.posts);
        assert_memory_equal(log.predictions, changed.predictions,
                            size_of_lines(log.predictions, line + 1));
        later += strcmp(log.predictions, changed.predictions) != 0;
        log_close(&changed);
        free(other);
    }
    assert_true(later > 20); /* later predictions do depend on it */
    log_close(&log);
    stream_free(&s);
}

static void a_saved_bag_continues_exactly_like_the_original(void **state)
{
    (void)state;
    static const char *const more[] = {"label-refit=7", "label-top=2 label-slots=9",
                                       "subword=300 label-refit=50"};
    for (size_t i = 0; i < COUNT(more); i++) {
        char settings[512];
        snprintf(settings, sizeof settings, "%s%s", BAG, more[i]);
        stream s = make_stream(SPACE_HASHTAGS, 31 + i, 150);
        prediction_log logs[2];
        for (int stops = 0; stops < 2; stops++) {
            tide_trainer *trainer = trainer_of(settings);
            log_open(&logs[stops]);
            watch_into(trainer, &logs[stops]);
            for (size_t at = 0, size; at < s.with.size; at += size) {
                size = s.with.size - at < 97 ? s.with.size - at : 97;
                feed(trainer, s.with.bytes + at, size);
                if (!stops)
                    continue;
                save_to(trainer, "part");
                tide_trainer_free(trainer);
                trainer = load_from("part");
                watch_into(trainer, &logs[stops]);
            }
            fit(trainer);
            finish(trainer, stops ? "stopped" : "whole");
        }
        assert_string_equal(logs[0].predictions, logs[1].predictions);
        if (!same_file("whole", "stopped"))
            fail_msg("%s: stops change the model", settings);
        log_close(&logs[0]);
        log_close(&logs[1]);
        stream_free(&s);
    }
}

static void a_frozen_model_learns_nothing(void **state)
{
    (void)state;
    stream s = make_stream(SPACE_HASHTAGS, 41, 100);
    tide_trainer *trainer = trained(BAG, &s.with);
    fit(trainer);
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    trainer = load_frozen("model", "all");
    feed(trainer, s.with.bytes, s.with.size);
    finish(trainer, "frozen");
    static const char *const sections[] = {"bag.state", "bag.used", "bag.rows",
                                           "bag.output", "bag.posts"};
    for (size_t i = 0; i < COUNT(sections); i++)
        same_section("model", "frozen", sections[i]);
    stream_free(&s);
}

/* A network is exchanged for a bag, which learns the posts that were kept, and back. */
static void the_kind_of_classifier_can_be_changed(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bag", "linear", "bag", "frequent", "bag"};
    stream s = make_stream(SPACE_HASHTAGS, 51, 300);
    tide_trainer *trainer = trained(BAG "classifier=cnn classifier-epochs=1 "
                                        "classifier-maps=2",
                                    &s.with);
    fit(trainer);
    save_to(trainer, "model");
    tide_trainer_free(trainer);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *const changed[][2] = {{"classifier", kinds[i]}};
        tide_error err;
        trainer = tide_trainer_load("model", changed, 1, &err);
        if (!trainer)
            fail_msg("%s", err.text);
        fit(trainer);
        feed(trainer, s.with.bytes, s.with.size);
        assert_int_equal(label_stats_of(trainer).predicted, 6);
        assert_int_equal(label_stats_of(trainer).fits, 2 + i);
        save_to(trainer, "model");
        tide_trainer_free(trainer);
        tide_labeler *labeler = tide_labeler_load("model", &err);
        assert_non_null(labeler);
        assert_int_equal(tide_labeler_size(labeler), 6);
        tide_labeler_free(labeler);
    }
    stream_free(&s);
}

/* -- file -------------------------------------------------------------------------- */

static void save_valid(void)
{
    stream s = make_stream(SPACE_HASHTAGS, 61, 120);
    tide_trainer *trainer = trained(BAG, &s.with);
    fit(trainer);
    save_to(trainer, "good");
    tide_trainer_free(trainer);
    stream_free(&s);
}

static void expect_refused(const char *section)
{
    tide_error err = {.text = ""};
    assert_null(tide_trainer_load("bad", NULL, 0, &err));
    assert_int_equal(err.status, TIDE_ERROR_FORMAT);
    if (!strstr(err.text, "section \"bag.") || strchr(err.text, '\n'))
        fail_msg("section %s is damaged, and it says %s", section, err.text);
}

static void sections_of_the_wrong_size_are_rejected(void **state)
{
    (void)state;
    static const char *const sections[] = {"bag.state",  "bag.used",   "bag.rows",
                                           "bag.labels", "bag.output", "bag.posts"};
    save_valid();
    tide_trainer_free(load_from("good"));
    for (size_t i = 0; i < COUNT(sections); i++) {
        size_t size;
        unsigned char *bytes = read_section("good", sections[i], &size);
        bytes[size] = 0;
        replace_section("good", "bad", sections[i], bytes, size - 1);
        expect_refused(sections[i]);
        replace_section("good", "bad", sections[i], bytes, size + 1);
        expect_refused(sections[i]);
        if (i) { /* without the first there is no bag */
            replace_section("good", "bad", sections[i], NULL, 0);
            expect_refused(sections[i]);
        }
        free(bytes);
    }
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
    static const struct {
        const char *section;
        size_t place;
        uint64_t number;
    } numbers[] = {
        {"bag.state", 0, 9},           {"bag.state", 0, 0},
        {"bag.state", 1, 0},           {"bag.state", 1, UINT64_MAX},
        {"bag.state", 2, 1000},        {"bag.state", 3, 39},
        {"bag.state", 3, UINT64_MAX},  {"bag.state", 4, UINT64_MAX},
        {"bag.state", 5, UINT64_MAX},  {"bag.state", 8, 2},
        {"bag.state", 9, 65537},       {"bag.labels", 0, 40},
        {"bag.labels", 2, UINT64_MAX}, {"bag.labels", 3, 7},
        {"bag.labels", 3, UINT64_MAX},
    };
    save_valid();
    for (size_t i = 0; i < COUNT(numbers); i++) {
        unsigned char bytes[8];
        tide_put64(bytes, numbers[i].number);
        damage(numbers[i].section, 8 * numbers[i].place, bytes, 8);
    }
    static const float values[] = {NAN, INFINITY, -INFINITY, FLT_MAX, -1e13f};
    for (size_t i = 0; i < COUNT(values); i++) {
        damage("bag.rows", 0, &values[i], 4); /* a sum */
        damage("bag.rows", 4, &values[i], 4);
        damage("bag.labels", 32, &values[i], 4);
        damage("bag.output", 12, &values[i], 4);
    }
    damage("bag.rows", 0, &(float){0}, 4);
    damage("bag.labels", 36, &(float){-1}, 4);
    damage("bag.posts", 8, &(uint32_t){0}, 4);          /* words */
    damage("bag.posts", 8, &(uint32_t){UINT32_MAX}, 4); /* words */
    damage("bag.posts", 12, &(uint32_t){9}, 4);         /* labels */
    damage("bag.posts", 16, &(uint32_t){40}, 4);        /* a slot */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_follows_the_gradient),
        cmocka_unit_test(probabilities_sum_to_one),
        cmocka_unit_test(a_post_without_words_gets_the_frequencies),
        cmocka_unit_test(odd_vectors_do_no_harm),
        cmocka_unit_test(a_planted_rule_is_learned_in_one_pass),
        cmocka_unit_test(the_order_of_two_words_can_matter),
        cmocka_unit_test(a_word_without_a_row_is_represented_by_its_vector),
        cmocka_unit_test(a_frequent_label_takes_the_place_of_a_rare_one),
        cmocka_unit_test(nothing_remains_of_a_replaced_label),
        cmocka_unit_test(kept_posts_do_not_change_their_label_with_its_slot),
        cmocka_unit_test(labels_of_today_are_learned_whatever_came_before),
        cmocka_unit_test(a_bag_takes_the_announced_memory_and_no_more),
        cmocka_unit_test(the_labels_of_a_post_do_not_change_its_prediction),
        IN_FOLDER(a_saved_bag_continues_exactly_like_the_original),
        IN_FOLDER(a_frozen_model_learns_nothing),
        IN_FOLDER(the_kind_of_classifier_can_be_changed),
        IN_FOLDER(sections_of_the_wrong_size_are_rejected),
        IN_FOLDER(invalid_numbers_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
