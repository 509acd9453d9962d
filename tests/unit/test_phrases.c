/* test_phrases.c - phrases, compared with exact counts for any division into feeds, and
 * the text reader with records, stop words and phrases. */
#include "base/base.h"
#include "reader/reader.h"
#include "train_fixture.h"

/* -- oracle ------------------------------------------------------------------------ */

/* Applies the same rule to exact counts of all words w0 to w99 and all pairs, without a
 * sketch and without state between sentences. */
typedef struct oracle {
    uint64_t words[100], pairs[100][100], total;
    double threshold;
    uint64_t min_count;
} oracle;

static size_t oracle_line(oracle *o, const int *line, size_t count, char *out)
{
    char *at = out;
    bool held = false;
    for (size_t i = 0; i < count; i++) {
        o->words[line[i]]++;
        o->total++;
        uint64_t pair = i ? ++o->pairs[line[i - 1]][line[i]] : 0;
        /* the count of the previous word is the one at its occurrence */
        uint64_t before = i ? o->words[line[i - 1]] - (line[i - 1] == line[i]) : 0;
        bool join = held && pair > o->min_count &&
                    (double)(pair - o->min_count) * (double)o->total >
                        o->threshold * (double)before * (double)o->words[line[i]];
        if (join)
            at += sprintf(at, "w%d_w%d ", line[i - 1], line[i]);
        else if (held)
            at += sprintf(at, "w%d ", line[i - 1]);
        held = !join;
    }
    if (held)
        at += sprintf(at, "w%d ", line[count - 1]);
    *at++ = '\n';
    *at = 0;
    return (size_t)(at - out);
}

/* Random lines with some frequent pairs: for k < 5, w(2k) is mostly followed by
 * w(2k+1). */
static size_t random_line(tide_rng *rng, int *line)
{
    size_t count = 1 + tide_rng_below(rng, 12);
    for (size_t i = 0; i < count; i++) {
        line[i] = (int)tide_rng_below(rng, 100);
        bool follows = i && line[i - 1] < 10 && line[i - 1] % 2 == 0 &&
                       tide_rng_below(rng, 10) < 7;
        line[i] = follows ? line[i - 1] + 1 : line[i];
    }
    return count;
}

/* The output of the reader for a text fed in pieces of at most `piece` bytes. */
static char *read_all(const char *settings, const char *text, size_t size, size_t piece,
                      tide_rng *rng)
{
    tide_params *params = params_of(settings);
    tide_reader *reader = tide_reader_new(params, NULL, NULL);
    assert_non_null(reader);
    char *out = calloc(2 * size + 64, 1), *at = out;
    for (size_t done = 0; done <= size;) {
        size_t some = 1 + (size_t)tide_rng_below(rng, piece);
        some = some < size - done ? some : size - done;
        if (!some)
            tide_reader_end(reader);
        done += some ? tide_reader_feed(reader, text + done, some) : 1;
        tide_word words[7];
        size_t count;
        bool ended;
        while ((count = tide_reader_next(reader, words, 1 + tide_rng_below(rng, 7),
                                         &ended)) ||
               ended) {
            for (size_t i = 0; i < count; i++)
                at += sprintf(at, "%.*s ", (int)words[i].length, words[i].bytes);
            if (ended)
                at += sprintf(at, "\n");
        }
    }
    assert_true(tide_reader_at_boundary(reader));
    tide_reader_free(reader);
    tide_params_free(params);
    return out;
}

static void pairs_are_joined_according_to_exact_counts(void **state)
{
    (void)state;
    enum { LINES = 4000 };
    char *text = calloc(LINES, 64), *wanted = calloc(LINES, 128), *at = text,
         *out = wanted;
    tide_rng rng = tide_rng_seeded(3);
    oracle *o = calloc(1, sizeof *o);
    *o = (oracle){.threshold = 8, .min_count = 5};
    for (int i = 0; i < LINES; i++) {
        int line[16];
        size_t count = random_line(&rng, line);
        for (size_t w = 0; w < count; w++)
            at += sprintf(at, "w%d%c", line[w], w + 1 < count ? ' ' : '\n');
        out += oracle_line(o, line, count, out);
    }
    assert_non_null(strstr(wanted, "w4_w5"));
    static const size_t pieces[] = {1, 7, 4096};
    for (size_t i = 0; i < COUNT(pieces); i++) {
        char *found = read_all("phrases=20000 phrase-threshold=8", text,
                               (size_t)(at - text), pieces[i], &rng);
        assert_string_equal(found, wanted);
        free(found);
    }
    free(o);
    free(wanted);
    free(text);
}

/* A sketch that is far too small for all pairs joins some of the true ones and no
 * others. */
static void small_sketch_joins_only_certain_pairs(void **state)
{
    (void)state;
    enum { LINES = 20000 };
    char *text = calloc(LINES, 64), *at = text;
    tide_rng rng = tide_rng_seeded(4);
    for (int i = 0; i < LINES; i++) {
        int line[16];
        size_t count = random_line(&rng, line);
        for (size_t w = 0; w < count; w++)
            at += sprintf(at, "w%d%c", line[w], w + 1 < count ? ' ' : '\n');
    }
    char *found = read_all("phrases=300 phrase-threshold=8", text, (size_t)(at - text),
                           4096, &rng);
    size_t joined = 0;
    for (char *pair = found; (pair = strchr(pair, '_')); pair++, joined++) {
        int first, second;
        char *start = pair;
        while (start > found && start[-1] != ' ' && start[-1] != '\n')
            start--;
        assert_int_equal(sscanf(start, "w%d_w%d", &first, &second), 2);
        assert_true(first < 10 && first % 2 == 0 && second == first + 1);
    }
    assert_true(joined > 1000);
    free(found);
    free(text);
}

/* -- training with phrases --------------------------------------------------------- */

#define SETTINGS "vocab=500 dim=8 phrases=3000 phrase-threshold=20 replay=1"

static void model_with_phrases_resumes_at_any_byte(void **state)
{
    (void)state;
    enum { TEXT = 20000 };
    corpus t = demo_text(5, TEXT);
    tide_trainer *whole = trained(SETTINGS, &t);
    save_to(whole, "whole.tide");
    tide_rng rng = tide_rng_seeded(6);
    for (int turn = 0; turn < 5; turn++) {
        size_t cut = (size_t)tide_rng_below(&rng, t.size);
        tide_trainer *first = trainer_of(SETTINGS);
        feed(first, t.bytes, cut);
        save_to(first, "part.tide");
        tide_trainer_free(first);
        tide_trainer *second = load_from("part.tide");
        feed(second, t.bytes + cut, t.size - cut);
        assert_int_equal(tide_trainer_end(second, NULL), TIDE_OK);
        save_to(second, "resumed.tide");
        tide_trainer_free(second);
        assert_true(same_file("whole.tide", "resumed.tide"));
    }
    tide_trainer_free(whole);
    free(t.bytes);
}

static void corrupt_phrase_section_is_rejected(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of(SETTINGS);
    feed_text(trainer, "new york is new york and ");
    save_to(trainer, "good.tide");
    tide_trainer_free(trainer);
    static const uint64_t bad[][2] = {{0, UINT64_MAX}, {2, 2}, {3, 64}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        tide_error err;
        replace_number("good.tide", "bad.tide", "phrase", bad[i][0], bad[i][1]);
        assert_null(tide_trainer_load("bad.tide", NULL, 0, &err));
        assert_int_equal(err.status, TIDE_ERROR_FORMAT);
        assert_non_null(strstr(err.text, "phrase"));
    }
}

/* -- stop words -------------------------------------------------------------------- */

static void stop_words_are_stored_in_the_model(void **state)
{
    (void)state;
    write_file("stop.txt", "the\nof\n", 7);
    tide_trainer *trainer = trainer_of("vocab=50 dim=4 stop-words=stop.txt");
    feed_text(trainer, "the end of the day\n");
    save_to(trainer, "m.tide");
    tide_trainer_free(trainer);
    assert_int_equal(remove("stop.txt"), 0);
    trainer = load_from("m.tide");
    feed_text(trainer, "the beginning of the night\n");
    tide_entry entry;
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    const tide_model *model = tide_trainer_model(trainer);
    assert_int_equal(tide_model_find(model, "the", &entry, NULL), TIDE_ERROR_NOT_FOUND);
    assert_int_equal(tide_model_find(model, "night", &entry, NULL), TIDE_OK);
    assert_int_equal(stats_of(trainer).tokens, 4);
    assert_int_equal(stats_of(trainer).omitted_words, 6);
    tide_trainer_free(trainer);
}

static void missing_stop_word_file_is_reported(void **state)
{
    (void)state;
    tide_error err;
    tide_params *params = params_of("vocab=50 dim=4 stop-words=nowhere.txt");
    assert_null(tide_trainer_new(params, &err));
    assert_int_equal(err.status, TIDE_ERROR_IO);
    assert_non_null(strstr(err.text, "nowhere.txt"));
    tide_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_joined_according_to_exact_counts),
        cmocka_unit_test(small_sketch_joins_only_certain_pairs),
        IN_FOLDER(model_with_phrases_resumes_at_any_byte),
        IN_FOLDER(corrupt_phrase_section_is_rejected),
        IN_FOLDER(stop_words_are_stored_in_the_model),
        IN_FOLDER(missing_stop_word_file_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
