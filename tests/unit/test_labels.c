/* test_labels.c - a trainer on labeled posts: words are learned as if there were no
 * labels, a prediction depends on earlier posts only, and a stop changes nothing.
 */
#include "base/base.h"
#include "label/label.h"
#include "train/train.h"
#include "labels_fixture.h"

static const char *const recipes[] = {
    LABELED "vocab=50 dim=8 replay-ring=4000",
    LABELED "profile=paper vocab=50 dim=8 reservoir=2000 tau=1000 window=2",
    LABELED "profile=incremental vocab=50 dim=8 reservoir=1000",
    LABELED "profile=fast vocab=50 dim=8 subword=300",
    LABELED "vocab=50 dim=8 replay=1 phrases=500 phrase-threshold=3 half-life=5000",
};

/* "name=value ..." of a profile for a kind of text, and more. */
static const char *settings_of(size_t recipe, label_kind kind, const char *more)
{
    static char settings[512];
    snprintf(settings, sizeof settings, "%s%s%s", recipes[recipe], kind_settings[kind],
             more);
    return settings;
}

/* -- words ------------------------------------------------------------------------ */

/* Everything that is learned from words. */
static bool compare_learned(const char *name)
{
    static const char *const learned[] = {"vocab.",  "input",  "output",
                                          "subword", "phrase", "sampler."};
    for (size_t i = 0; i < COUNT(learned); i++)
        if (!strncmp(name, learned[i], strlen(learned[i]))) {
            same_section("with", "without", name);
            return true;
        }
    return false;
}

static void labels_are_never_words(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 7, 4096};
    for (label_kind kind = 0; kind < KINDS; kind++) {
        stream s = make_stream(kind, 3 + kind, 300);
        for (size_t r = 0; r < COUNT(recipes); r++) {
            tide_trainer *without = trainer_of(settings_of(r, kind, " labels=off"));
            feed(without, s.without.bytes, s.without.size);
            assert_true(stats_of(without).evicted + stats_of(without).rejected > 10);
            finish(without, "without");
            for (size_t i = 0; i < COUNT(pieces); i++) {
                tide_trainer *with = trainer_of(settings_of(r, kind, ""));
                feed_pieces(with, &s.with, pieces[i]);
                assert_true(label_stats_of(with).labels > 8);
                finish(with, "with");
                assert_in_range(each_section("without", compare_learned), 6, 20);
            }
        }
        stream_free(&s);
    }
}

static void expect_label(const tide_label *label, const char *name, uint64_t count)
{
    assert_string_equal(label->name, name);
    assert_int_equal(label->count, count);
}

static void text_that_only_looks_like_a_label_is_a_word(void **state)
{
    (void)state;
    static const char *const texts[KINDS] = {
        "#one #one #\xef\xb8\x8f\xe2\x83\xa3 #\xe2\x83\xa3 # a#two word\n",
        "#one #ONE #\xef\xb8\x8f\xe2\x83\xa3 #\xe2\x83\xa3 # a#two word #1\n",
        "__label__one __label__one __label__ a__label__two #two word\n"};
    static const uint32_t words[KINDS] = {5, 6, 3};
    for (label_kind kind = 0; kind < KINDS; kind++) {
        tide_trainer *trainer = trainer_of(settings_of(0, kind, " admission=none"));
        prediction_log log;
        log_open(&log);
        watch_into(trainer, &log);
        feed_text(trainer, texts[kind]);
        assert_string_equal(log.labels_carried, kind == MARKED ? " one\n" : " #one\n");
        log_close(&log);
        tide_label labels[4];
        assert_int_equal(tide_trainer_labels(trainer, labels, 4), 1);
        expect_label(&labels[0], kind == MARKED ? "one" : "#one", 1);
        assert_int_equal(stats_of(trainer).tokens, words[kind]);
        tide_trainer_free(trainer);
    }
}

/* -- before a post is learned ----------------------------------------------------- */

static void a_post_is_predicted_before_its_words_are_counted(void **state)
{
    (void)state;
    prediction_log log;
    log_open(&log);
    tide_trainer *trainer =
        trainer_of(settings_of(0, SPACE_HASHTAGS, " admission=none"));
    feed_text(trainer, "some words #first\n");
    fit(trainer);
    watch_into(trainer, &log);
    feed_text(trainer, "quite new quite new #first\n");
    assert_non_null(strstr(last_prediction(&log), ": 4 words, 4 unknown;"));
    feed_text(trainer, "quite new some more\n");
    assert_non_null(strstr(last_prediction(&log), ": 4 words, 1 unknown;"));
    feed_text(trainer, "quite more");
    assert_int_equal(log.posts, 2);
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    assert_non_null(strstr(last_prediction(&log), ": 2 words, 0 unknown;"));
    tide_trainer_free(trainer);
    log_close(&log);
}

/* The predictions for the posts of a text, with refits in between. */
static void log_stream(prediction_log *log, const corpus *t)
{
    log_open(log);
    tide_trainer *trainer =
        trainer_of(settings_of(0, SPACE_HASHTAGS, " admission=none label-refit=20"));
    watch_into(trainer, log);
    feed(trainer, t->bytes, t->size);
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    tide_trainer_free(trainer);
}

/* The first `count` lines. */
static size_t lines_size(const char *text, int lines)
{
    const char *at = text;
    for (; lines > 0; lines--)
        at = strchr(at, '\n') + 1;
    return (size_t)(at - text);
}

static void predictions_do_not_depend_on_later_posts(void **state)
{
    (void)state;
    stream s = make_stream(SPACE_HASHTAGS, 11, 60);
    prediction_log whole;
    log_stream(&whole, &s.with);
    assert_int_equal(whole.posts, 60);
    for (int posts = 1; posts < 60; posts++) {
        prediction_log part;
        log_stream(&part, &(corpus){s.with.bytes, lines_size(s.with.bytes, posts)});
        assert_int_equal(part.posts, posts);
        assert_memory_equal(whole.predictions, part.predictions, part.predictions_size);
        assert_memory_equal(whole.labels_carried, part.labels_carried,
                            part.carried_size);
        log_close(&part);
    }
    log_close(&whole);
    stream_free(&s);
}

/* The same text with other labels in one of its lines. */
static corpus relabeled(const corpus *t, int line)
{
    size_t from = lines_size(t->bytes, line), to = lines_size(t->bytes, line + 1);
    corpus other = {malloc(t->size + 32), from};
    assert_non_null(other.bytes);
    memcpy(other.bytes, t->bytes, from);
    other.size += (size_t)sprintf(other.bytes + other.size, "#other #tag1 ");
    for (size_t at = from; at < t->size; at++) {
        if (at < to && !strncmp(t->bytes + at, "#tag", 4))
            at += strcspn(t->bytes + at, " ");
        other.bytes[other.size++] = t->bytes[at];
    }
    return other;
}

static void predictions_do_not_depend_on_the_labels_of_the_post(void **state)
{
    (void)state;
    stream s = make_stream(SPACE_HASHTAGS, 12, 60);
    prediction_log log;
    log_stream(&log, &s.with);
    int later = 0;
    for (int line = 0; line < 60; line++) {
        corpus other = relabeled(&s.with, line);
        prediction_log exchanged;
        log_stream(&exchanged, &other);
        assert_int_equal(exchanged.posts, 60);
        assert_memory_equal(log.predictions, exchanged.predictions,
                            lines_size(log.predictions, line + 1));
        assert_string_not_equal(log.labels_carried, exchanged.labels_carried);
        later += strcmp(log.predictions, exchanged.predictions) != 0;
        log_close(&exchanged);
        free(other.bytes);
    }
    assert_true(later > 20); /* later predictions do depend on it */
    log_close(&log);
    stream_free(&s);
}

/* -- stops ------------------------------------------------------------------------ */

/* Records with several fields or lines; unchanged, and as a resumed text. */
static corpus make_records(uint64_t seed, int records)
{
    corpus t = {malloc((size_t)records * 256), 0};
    assert_non_null(t.bytes);
    tide_rng rng = tide_rng_seeded(seed);
    for (int i = 0; i < records; i++) {
        unsigned first = (unsigned)tide_rng_below(&rng, 5),
                 next = (unsigned)tide_rng_below(&rng, 40);
        t.size +=
            (size_t)sprintf(t.bytes + t.size,
                            "{\"title\":\"w%u w%u\",\"body\":\"w%u\\nnew york\\n\\nw%u "
                            "__label__odd%u\","
                            "\"time\":%d,\"topic\":\"tag %u\"}\n",
                            first, next, next / 2, first, next, 1700000000 + i, first);
    }
    return t;
}

typedef struct stretch {
    const char *settings;
    corpus before, here; /* the stops, after every byte, are in the latter */
} stretch;

/* The last lines, with at least `size` bytes. */
static size_t start_of_last(const corpus *t, size_t size)
{
    size_t start = t->size - size;
    while (start > 0 && t->bytes[start - 1] != '\n')
        start--;
    return start;
}

static void learn_stretch(const stretch *s, bool stop, prediction_log *log,
                          const char *path)
{
    tide_trainer *trainer = trainer_of(s->settings);
    log_open(log);
    watch_into(trainer, log);
    feed(trainer, s->before.bytes, s->before.size);
    fit(trainer);
    for (size_t i = 0; i < s->here.size; i++) {
        feed(trainer, s->here.bytes + i, 1);
        if (!stop)
            continue;
        save_to(trainer, "part");
        tide_trainer_free(trainer);
        trainer = load_from("part");
        watch_into(trainer, log);
    }
    finish(trainer, path);
}

static void expect_stops_change_nothing(const char *settings, const corpus *t)
{
    size_t start = start_of_last(t, SANITIZED ? 30 : 80);
    stretch s = {settings, {t->bytes, start}, {t->bytes + start, t->size - start - 1}};
    prediction_log whole, stopped;
    learn_stretch(&s, false, &whole, "whole");
    learn_stretch(&s, true, &stopped, "stopped");
    assert_string_equal(whole.predictions, stopped.predictions);
    assert_string_equal(whole.labels_carried, stopped.labels_carried);
    if (!same_file("whole", "stopped"))
        fail_msg("%s: stops change the model", settings);
    log_close(&whole);
    log_close(&stopped);
}

static void a_stop_after_any_byte_changes_nothing(void **state)
{
    (void)state;
    for (label_kind kind = 0; kind < KINDS; kind++) {
        stream s = make_stream(kind, 21 + kind, 150);
        size_t recipe = kind == SPACE_HASHTAGS ? 4 : kind == MARKED ? 1 : 3;
        expect_stops_change_nothing(settings_of(recipe, kind, ""), &s.with);
        stream_free(&s);
    }
    stream s = make_stream(SPACE_HASHTAGS, 31, 150);
    expect_stops_change_nothing(
        settings_of(2, SPACE_HASHTAGS, " label-refit=3 classifier=cnn"), &s.with);
    stream_free(&s);
    corpus t = make_records(41, 90);
    expect_stops_change_nothing(
        LABELED "vocab=30 dim=8 replay=1 admission=none records=json label-refit=7 "
                "text=title,body time=time label=topic labels=marked phrases=200",
        &t);
    free(t.bytes);
}

/* In the middle of an overlong line its labels are known and its first words were
 * predicted from. */
static void a_stop_within_an_overlong_line_changes_nothing(void **state)
{
    (void)state;
    corpus t = {calloc(1, 65536), 0};
    for (int i = 0; i < 1015; i++)
        t.size +=
            (size_t)sprintf(t.bytes + t.size, "%sw%d ", i % 333 ? "" : "#tag ", i % 29);
    for (int i = 0; i < 3; i++)
        t.size += (size_t)sprintf(t.bytes + t.size, "#late%d ", i);
    size_t start = t.size - 100;
    prediction_log logs[2];
    for (int stop = 0; stop < 2; stop++) {
        tide_trainer *trainer = trainer_of(settings_of(0, SPACE_HASHTAGS, ""));
        log_open(&logs[stop]);
        watch_into(trainer, &logs[stop]);
        feed(trainer, t.bytes, start);
        for (size_t i = start; i < t.size; i++) {
            feed(trainer, t.bytes + i, 1);
            if (stop) {
                save_to(trainer, "part");
                tide_trainer_free(trainer);
                trainer = load_from("part");
                watch_into(trainer, &logs[stop]);
            }
        }
        feed_text(trainer, "\nnext post #tag\n");
        finish(trainer, stop ? "stopped" : "whole");
    }
    assert_int_equal(logs[0].posts, 2);
    assert_string_equal(logs[0].predictions, logs[1].predictions);
    assert_string_equal(logs[0].labels_carried, " #tag\n #tag\n");
    assert_string_equal(logs[0].labels_carried, logs[1].labels_carried);
    assert_true(same_file("whole", "stopped"));
    log_close(&logs[0]);
    log_close(&logs[1]);
    free(t.bytes);
}

static void two_threads_predict_and_refit(void **state)
{
    (void)state;
    stream s = make_stream(SPACE_HASHTAGS, 51, SANITIZED ? 600 : 3000);
    static const char *const vectors[] = {"", " subword=300"};
    for (size_t i = 0; i < COUNT(vectors); i++) {
        char more[128];
        prediction_log log;
        log_open(&log);
        snprintf(more, sizeof more,
                 " threads=2 admission=none label-refit=200 label-anchors=5%s",
                 vectors[i]);
        tide_trainer *trainer = trainer_of(settings_of(0, SPACE_HASHTAGS, more));
        watch_into(trainer, &log);
        feed_pieces(trainer, &s.with, 4096);
        fit(trainer);
        feed(trainer, s.with.bytes, s.with.size);
        assert_int_equal(log.posts, 2 * s.posts);
        assert_int_equal(label_stats_of(trainer).posts, 2 * s.posts);
        assert_int_equal(label_stats_of(trainer).fits, 1 + 2 * s.posts / 200);
        assert_int_equal(label_stats_of(trainer).predicted, 6);
        finish(trainer, "model");
        tide_trainer_free(load_from("model"));
        log_close(&log);
    }
    stream_free(&s);
}

/* -- fixed vocabularies ----------------------------------------------------------- */

/* Exact while all labels are tracked. */
static uint64_t count_of(const tide_trainer *trainer, const char *name)
{
    tide_label labels[64];
    size_t count = tide_trainer_labels(trainer, labels, COUNT(labels));
    for (size_t i = 0; i < count; i++)
        if (!strcmp(labels[i].name, name))
            return labels[i].count;
    return 0;
}

static void a_batch_counts_every_post_once(void **state)
{
    (void)state;
    stream s = make_stream(SPACE_HASHTAGS, 61, 200);
    write_file("text", s.with.bytes, s.with.size);
    write_file("more", "more of #tag0 w1\nand w2 more #tag0\n", 34);
    tide_run once = run_over(1), both = run_over(2);
    tide_trainer *trainer = trained(settings_of(0, SPACE_HASHTAGS, ""), &s.with);
    uint64_t expected = count_of(trainer, "#tag0");
    tide_trainer_free(trainer);

    prediction_log log;
    log_open(&log);
    trainer = batch_of(LABELED "tokens=space labels=hashtags epochs=3 vocab=50 dim=8 "
                               "label-refit=50",
                       &once);
    watch_into(trainer, &log);
    run_to(trainer, &once, 0);
    assert_int_equal(log.posts, 3 * s.posts);
    assert_int_equal(label_stats_of(trainer).posts, s.posts);
    assert_int_equal(label_stats_of(trainer).fits, s.posts / 50);
    assert_true(expected > 5);
    assert_int_equal(count_of(trainer, "#tag0"), expected);
    save_to(trainer, "model");
    tide_trainer_free(trainer);

    trainer = load_frozen("model", "yes");
    run_to(trainer, &both, 0);
    assert_int_equal(label_stats_of(trainer).posts, 2 * s.posts + 2);
    assert_int_equal(count_of(trainer, "#tag0"), 2 * expected + 2);
    tide_trainer_free(trainer);
    log_close(&log);
    stream_free(&s);
}

static bool compare_frozen(const char *name)
{
    static const char *const fixed[] = {"vocab.",   "input", "output", "subword",
                                        "sampler.", "rate",  "replay", "phrase."};
    for (size_t i = 0; i < COUNT(fixed); i++)
        if (!strncmp(name, fixed[i], strlen(fixed[i]))) {
            same_section("model", "frozen", name);
            return true;
        }
    return false;
}

static void a_frozen_model_predicts_and_counts_but_does_not_train(void **state)
{
    (void)state;
    stream first = make_stream(SPACE_HASHTAGS, 71, 200),
           then = make_stream(SPACE_HASHTAGS, 72, 100);
    for (size_t r = 0; r < COUNT(recipes); r++) {
        tide_trainer *trainer =
            trained(settings_of(r, SPACE_HASHTAGS, ""), &first.with);
        fit(trainer);
        save_to(trainer, "model");
        tide_trainer_free(trainer);
        prediction_log log;
        log_open(&log);
        trainer = load_frozen("model", "all");
        uint64_t trained_before = stats_of(trainer).trained;
        watch_into(trainer, &log);
        feed(trainer, then.with.bytes, then.with.size);
        assert_int_equal(log.posts, then.posts);
        assert_int_equal(label_stats_of(trainer).posts, first.posts + then.posts);
        assert_int_equal(stats_of(trainer).trained, trained_before);
        finish(trainer, "frozen");
        assert_in_range(each_section("model", compare_frozen), 6, 24);
        log_close(&log);
    }
    stream_free(&first);
    stream_free(&then);
}

/* -- posts ------------------------------------------------------------------------ */

static void a_record_is_one_post_with_any_fields_and_lines(void **state)
{
    (void)state;
    prediction_log log;
    log_open(&log);
    tide_trainer *trainer =
        trainer_of(LABELED "vocab=30 dim=8 records=json text=title,body time=time "
                           "label=topic labels=marked");
    watch_into(trainer, &log);
    feed_text(trainer, "{\"title\":\"one two\",\"body\":\"three\\nfour\\n\\n"
                       "__label__odd\\r\\nfive\",\"time\":12,\"topic\":\"the sport\"}\n"
                       "{\"title\":\"six\",\"body\":\"\",\"topic\":[\"x\",\"y\"]}\n");
    assert_int_equal(log.posts, 2);
    assert_non_null(strstr(log.predictions, "0 0x1.8p+3: 5 words, 5 unknown; 0\n"));
    assert_non_null(strstr(log.predictions, "1 0x1.8p+3: 1 words"));
    assert_int_equal(stats_of(trainer).sentences, 2);
    assert_string_equal(log.labels_carried, " the_sport odd\n x y\n");
    tide_trainer_free(trainer);
    log_close(&log);
}

/* A line of words with a label before word `at` and one at its end. */
static char *long_line(int words, int at)
{
    char *line = malloc((size_t)words * 8 + 64), *to = line;
    assert_non_null(line);
    for (int i = 0; i < words; i++)
        to += sprintf(to, "%sw%d ", i == at ? "#within " : "", i % 50);
    sprintf(to, "#behind\nnext #tag\n");
    return line;
}

static void a_post_is_the_first_thousand_words_of_a_line(void **state)
{
    (void)state;
    static const struct {
        int words, at, predicted;
        const char *labels_carried;
    } lines[] = {
        {999, 500, 999, " #within #behind\n #tag\n"},
        {1000, 999, 1000, " #within\n #tag\n"},
        {1001, 999, 1000, " #within\n #tag\n"},
        {1500, 1000, 1000, "\n #tag\n"},
        {2500, 0, 1000, " #within\n #tag\n"},
    };
    for (size_t i = 0; i < COUNT(lines); i++)
        for (size_t piece = 1; piece < 100000; piece *= 50) {
            char *line = long_line(lines[i].words, lines[i].at), expected[64];
            prediction_log log;
            log_open(&log);
            tide_trainer *trainer = trainer_of(settings_of(0, SPACE_HASHTAGS, ""));
            watch_into(trainer, &log);
            feed_pieces(trainer, &(corpus){line, strlen(line)}, piece);
            assert_string_equal(log.labels_carried, lines[i].labels_carried);
            snprintf(expected, sizeof expected, "0 nan: %d words", lines[i].predicted);
            assert_non_null(strstr(log.predictions, expected));
            assert_non_null(strstr(log.predictions, "1 nan: 1 words"));
            assert_int_equal(stats_of(trainer).tokens, lines[i].words + 1);
            assert_int_equal(stats_of(trainer).cut_sentences,
                             (lines[i].words - 1) / 1000);
            tide_trainer_free(trainer);
            log_close(&log);
            free(line);
        }
}

/* With phrases a word waits for the next one. Which labels belong to the post must not
 * depend on how the text was cut into feeds. */
static void with_phrases_the_labels_of_a_long_line_do_not_depend_on_feeds(void **state)
{
    (void)state;
    char *line = long_line(1010, 1003);
    prediction_log logs[2];
    for (int i = 0; i < 2; i++) {
        log_open(&logs[i]);
        tide_trainer *trainer = trainer_of(
            settings_of(0, SPACE_HASHTAGS, " phrases=100 phrase-threshold=99"));
        watch_into(trainer, &logs[i]);
        feed_pieces(trainer, &(corpus){line, strlen(line)}, i ? 4096 : 1);
        tide_trainer_free(trainer);
    }
    assert_string_equal(logs[0].labels_carried, logs[1].labels_carried);
    assert_string_equal(logs[0].predictions, logs[1].predictions);
    log_close(&logs[0]);
    log_close(&logs[1]);
    free(line);
}

static void posts_may_lack_labels_or_words_or_have_many(void **state)
{
    (void)state;
    char many[4096] = "words ";
    for (int i = 0; i < 300; i++)
        sprintf(many + strlen(many), "#tag%d ", i);
    prediction_log log;
    log_open(&log);
    tide_trainer *trainer = trainer_of(settings_of(0, SPACE_HASHTAGS, ""));
    watch_into(trainer, &log);
    feed_text(trainer, "only words\n\n  \n#only #labels #only\n");
    assert_string_equal(log.labels_carried, "\n #only #labels\n");
    assert_non_null(strstr(last_prediction(&log), ": 0 words, 0 unknown"));
    feed_text(trainer, many);
    feed_text(trainer, "\n#last");
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    tide_label_stats stats = label_stats_of(trainer);
    assert_int_equal(stats.posts, 4);
    assert_int_equal(stats.unlabeled, 1);
    assert_int_equal(stats.empty, 2);
    assert_int_equal(stats.kept, 1);
    assert_int_equal(stats.labels, 2 + 32 + 1);
    assert_int_equal(stats.extra_labels, 256 - 32); /* the maximum */
    assert_string_equal(last_line(log.labels_carried), " #last\n");
    feed_text(trainer, "another text\n");
    assert_string_equal(last_line(log.labels_carried), "\n");
    tide_trainer_free(trainer);
    log_close(&log);
}

static void without_labels_there_is_nothing_to_fit(void **state)
{
    (void)state;
    tide_error err;
    tide_trainer *trainer =
        trainer_of(settings_of(0, SPACE_HASHTAGS, " label-refit=1"));
    feed_text(trainer, "only words\n#only #labels\n");
    assert_int_equal(tide_trainer_fit(trainer, NULL, NULL, &err), TIDE_ERROR_INPUT);
    assert_int_equal(tide_trainer_fit(trainer, NULL, NULL, NULL), TIDE_ERROR_INPUT);
    assert_null(tide_labels_problem(tide_trainer_labels_part(trainer)));
    assert_int_equal(label_stats_of(trainer).fits, 0);
    tide_trainer_free(trainer);
    trainer = trainer_of("vocab=30 dim=8");
    assert_int_equal(tide_trainer_fit(trainer, NULL, NULL, &err), TIDE_ERROR_PARAMETER);
    tide_trainer_free(trainer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(labels_are_never_words),
        cmocka_unit_test(text_that_only_looks_like_a_label_is_a_word),
        cmocka_unit_test(a_post_is_predicted_before_its_words_are_counted),
        cmocka_unit_test(predictions_do_not_depend_on_later_posts),
        cmocka_unit_test(predictions_do_not_depend_on_the_labels_of_the_post),
        IN_FOLDER(a_stop_after_any_byte_changes_nothing),
        IN_FOLDER(a_stop_within_an_overlong_line_changes_nothing),
        IN_FOLDER(two_threads_predict_and_refit),
        IN_FOLDER(a_batch_counts_every_post_once),
        IN_FOLDER(a_frozen_model_predicts_and_counts_but_does_not_train),
        cmocka_unit_test(a_record_is_one_post_with_any_fields_and_lines),
        cmocka_unit_test(a_post_is_the_first_thousand_words_of_a_line),
        cmocka_unit_test(with_phrases_the_labels_of_a_long_line_do_not_depend_on_feeds),
        cmocka_unit_test(posts_may_lack_labels_or_words_or_have_many),
        cmocka_unit_test(without_labels_there_is_nothing_to_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
