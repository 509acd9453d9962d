/* test_run_turns.c - sources that are read in turns: the incomplete line of one does
 * not block the others, and every word is learned once, however text arrives and runs
 * end.
 */
#include "base/base.h"
#include "train_fixture.h"

#include "clock_fixture.h"

#include <pthread.h>

enum { BLOCK = 65536 }; /* the block size of a run */

#define RECIPE "vocab=400 dim=2 window=1 replay=1 threads=1 "

enum { WORDS = 50, MIB = 1 << 20, PATIENCE = 300 };

static uint64_t count_of(const tide_trainer *trainer, const char *word)
{
    tide_entry entry;
    return tide_model_find(tide_trainer_model(trainer), word, &entry, NULL)
               ? 0
               : entry.count;
}

static void append(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The same word again and again, and no line feed. */
static corpus repeat(const char *word, size_t size)
{
    corpus t = {malloc(size + 80), 0};
    assert_non_null(t.bytes);
    while (t.size < size)
        t.size += (size_t)sprintf(t.bytes + t.size, "%s", word);
    return t;
}

/* -- random text, written while it is read ---------------------------------------- */

static void put(corpus *t, size_t *capacity, const char *text)
{
    size_t size = strlen(text);
    if (t->size + size >= *capacity) {
        *capacity = 2 * *capacity + size;
        t->bytes = realloc(t->bytes, *capacity);
        assert_non_null(t->bytes);
    }
    memcpy(t->bytes + t->size, text, size);
    t->size += size;
}

static size_t random_length(tide_rng *rng, int line)
{
    uint64_t kind = tide_rng_below(rng, 40);
    return line == 20 ? MIB + MIB / 4
                      : 1 + tide_rng_below(rng, kind < 34   ? 30
                                                : kind < 38 ? 3000
                                                            : 300000);
}

/* Lines, or records of the given kind; those of CSV are quoted and contain line
 * feeds. */
static corpus random_text(tide_rng *rng, const char *kind, char letter)
{
    corpus t = {NULL, 0};
    size_t capacity = 0;
    bool csv = !strcmp(kind, "csv"), json = !strcmp(kind, "json");
    for (int line = 0; line < 100; line++) {
        size_t end = t.size + random_length(rng, line);
        put(&t, &capacity, csv ? "\"" : json ? "{\"text\":\"" : "");
        while (t.size < end) {
            char word[16];
            snprintf(word, sizeof word, "%c%d", letter,
                     (int)tide_rng_below(rng, WORDS));
            put(&t, &capacity, word);
            uint64_t what = csv ? tide_rng_below(rng, 20) : 2;
            put(&t, &capacity, what == 0 ? "\n" : what == 1 ? "\"\" " : " ");
        }
        put(&t, &capacity, csv ? "\"\n" : json ? "\"}\n" : "\n");
    }
    return t;
}

typedef struct writer {
    pthread_t thread;
    tide_rng rng;
    corpus text[2];
    const char *const *paths;
    volatile sig_atomic_t stop, save, done;
    uint64_t expected; /* words in all */
    double end;
} writer;

static void *write_on(void *data)
{
    writer *w = data;
    size_t at[2] = {0};
    while (at[0] < w->text[0].size || at[1] < w->text[1].size) {
        uint64_t i = tide_rng_below(&w->rng, 2);
        size_t left = w->text[i].size - at[i],
               size = tide_rng_below(&w->rng, tide_rng_below(&w->rng, 3) ? 40 : 60000);
        size = size < left ? size : left;
        append(w->paths[i], w->text[i].bytes + at[i], size);
        at[i] += size;
        if (tide_rng_below(&w->rng, 6) == 0)
            w->save = 1;
        if (tide_rng_below(&w->rng, 10) == 0)
            w->stop = 1;
        struct timespec pause = {.tv_nsec = (long)tide_rng_below(&w->rng, 1000000)};
        nanosleep(&pause, NULL);
    }
    w->done = 1;
    return NULL;
}

static void stop_at_the_end(void *data, const tide_stats *stats)
{
    writer *w = data;
    if ((w->done && stats->tokens >= w->expected) || seconds() > w->end)
        w->stop = 1;
}

/* Resumes as after a stop or as after a kill; after a kill the previous checkpoint may
 * be the last one. */
static tide_trainer *load_some(tide_trainer *trainer, writer *w, const char *settings)
{
    const char *path = tide_rng_below(&w->rng, 2) || access("m.1", F_OK) ? "m" : "m.1";
    tide_trainer_free(trainer);
    return access(path, F_OK) ? trainer_of(settings) : load_from(path);
}

static void compare(const tide_trainer *trainer, const tide_trainer *whole)
{
    for (int i = 0; i < 2 * WORDS; i++) {
        char word[16];
        snprintf(word, sizeof word, "%c%d", 'a' + i / WORDS, i % WORDS);
        assert_int_equal(count_of(trainer, word), count_of(whole, word));
    }
    tide_stats stats = stats_of(trainer), expected = stats_of(whole);
    assert_int_equal(stats.vocabulary, expected.vocabulary);
    assert_int_equal(stats.records, expected.records);
    assert_int_equal(stats.long_records, expected.long_records);
    assert_int_equal(stats.malformed_records, expected.malformed_records);
    assert_int_equal(stats.dropped_bytes, expected.dropped_bytes);
}

static void storm(const char *kind, size_t count, uint64_t seed)
{
    static const char *const paths[] = {"a", "b"};
    char settings[200];
    snprintf(settings, sizeof settings, RECIPE "%s",
             !strcmp(kind, "csv")    ? "records=csv text=1"
             : !strcmp(kind, "json") ? "records=json text=text"
                                     : "");
    writer w = {
        .rng = tide_rng_seeded(seed), .paths = paths, .end = seconds() + PATIENCE};
    for (int i = 0; i < 2; i++) {
        unlink(paths[i]);
        w.text[i] = random_text(&w.rng, kind, (char)('a' + i));
        write_file(paths[i], w.text[i].bytes, w.text[i].size);
    }
    tide_run how = {.size = sizeof(tide_run), .sources = paths, .source_count = count};
    tide_trainer *whole = trainer_of(settings);
    assert_int_equal(tide_trainer_run(whole, &how, NULL), 0);
    w.expected = stats_of(whole).tokens;

    write_file("a", "", 0);
    write_file("b", "", 0);
    unlink("m");
    unlink("m.1");
    how.follow = true;
    how.checkpoint_path = "m";
    how.keep_checkpoints = 1;
    how.stop = &w.stop;
    how.save_now = &w.save;
    how.progress = stop_at_the_end;
    how.progress_data = &w;
    assert_int_equal(pthread_create(&w.thread, NULL, write_on, &w), 0);
    tide_trainer *trainer = trainer_of(settings);
    int stops = 0;
    for (;; stops++) {
        tide_error err = {0};
        bool done = w.done;
        w.stop = 0;
        if (tide_trainer_run(trainer, &how, &err) != 1)
            fail_msg("%s", err.text);
        if (done && stats_of(trainer).tokens >= w.expected)
            break;
        if (seconds() > w.end)
            fail_msg("%s, seed %d: %d words of %d", kind, (int)seed,
                     (int)stats_of(trainer).tokens, (int)w.expected);
        trainer = load_some(trainer, &w, settings);
    }
    pthread_join(w.thread, NULL);
    assert_true(stops > 0);
    compare(trainer, whole);
    tide_trainer_free(trainer);
    tide_trainer_free(whole);
    free(w.text[0].bytes);
    free(w.text[1].bytes);
}

static void every_word_is_learned_once_however_text_arrives(void **state)
{
    (void)state;
    static const char *const kinds[] = {"lines", "csv", "json"};
    for (uint64_t seed = 0; seed < 9; seed++)
        storm(kinds[seed % 3], seed < 6 ? 2 : 1, seed);
}

/* -- incomplete lines and records ------------------------------------------------- */

typedef struct half {
    volatile sig_atomic_t stop, save;
    int saved, calls;
    uint64_t tokens;       /* when to request a save, and then a stop */
    uint64_t until, bytes; /* tokens read: where to stop, and where it stopped */
} half;

static void save_then_stop(void *data, const tide_stats *stats)
{
    half *h = data;
    if (stats->tokens >= h->tokens && !h->saved)
        h->save = 1;
    if ((h->saved || ++h->calls > 10 * PATIENCE) && !h->stop) {
        h->stop = 1;
        h->bytes = stats->bytes;
    }
}

static void note_saved(void *data, const tide_checkpoint *checkpoint)
{
    assert_null(checkpoint->error);
    ((half *)data)->saved++;
}

static tide_run until_saved(half *h, const char *const *sources, size_t count)
{
    return (tide_run){.size = sizeof(tide_run),
                      .sources = sources,
                      .source_count = count,
                      .follow = true,
                      .stop = &h->stop,
                      .save_now = &h->save,
                      .checkpoint_path = "m",
                      .progress = save_then_stop,
                      .progress_data = h,
                      .checkpointed = note_saved,
                      .checkpointed_data = h};
}

/* While a line, or a record with a stray quote, has no end, the other source is read,
 * checkpoints are made, and a stop works. Then the end arrives. */
static void an_incomplete_line_does_not_block_other_sources(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *begin, *end;
        size_t size;
        bool too_long;
    } table[] = {
        {RECIPE, "", "\nx x\n", 80000, false},
        {RECIPE "records=csv text=1", "\"", "\"\nx x\n", 80000, false},
        {RECIPE "records=csv text=1", "\"x\n\n", "\"\nx x\n", 3, false},
        {RECIPE "records=json text=text", "{\"text\":\"", "\"}\n{\"text\":\"x x\"}\n",
         80000, false},
        {RECIPE "records=json text=text", "{\"text\":\"", "\"}\n{\"text\":\"x x\"}\n",
         3 * MIB, true},
    };
    static const char *const sources[] = {"half", "other"};
    for (size_t i = 0; i < COUNT(table); i++) {
        bool json = strstr(table[i].settings, "json") != NULL;
        corpus line = repeat("x ", table[i].size);
        write_file("half", table[i].begin, strlen(table[i].begin));
        append("half", line.bytes, line.size);
        write_file("other", "", 0);
        for (int k = 0; k < 100; k++)
            append("other", json ? "{\"text\":\"beta gamma\"}\n" : "beta gamma\n",
                   json ? 22 : 11);
        half h = {.tokens = 200};
        tide_run how = until_saved(&h, sources, 2);
        tide_trainer *trainer = trainer_of(table[i].settings);
        assert_int_equal(tide_trainer_run(trainer, &how, NULL), 1);
        assert_true(h.saved > 0);
        assert_int_equal(count_of(trainer, "beta"), 100);
        tide_trainer_free(trainer);

        append("half", table[i].end, strlen(table[i].end));
        trainer = load_from("m");
        uint64_t x = table[i].too_long    ? 2
                     : table[i].size == 3 ? 1 + 2 + 2
                                          : table[i].size / 2 + 2;
        h = (half){.tokens = 200 + x};
        assert_int_equal(tide_trainer_run(trainer, &how, NULL), 1);
        assert_int_equal(count_of(trainer, "beta"), 100);
        assert_int_equal(count_of(trainer, "x"), x);
        assert_int_equal(stats_of(trainer).long_records, table[i].too_long);
        assert_int_equal(stats_of(trainer).malformed_records, 0);
        tide_trainer_free(trainer);
        free(line.bytes);
    }
}

/* Words stay whole and each piece becomes a line, wherever reads were cut. */
static void a_line_longer_than_a_mebibyte_is_split(void **state)
{
    (void)state;
    static const char *const words[] = {"abcdefg ", "\xc3\xa9"};
    static const char *const sources[] = {"half", "other"};
    write_file("other", "beta gamma\n", 11);
    for (size_t i = 0; i < COUNT(words); i++) {
        corpus line = repeat(words[i], 5 * MIB / 2);
        write_file("half", line.bytes, line.size);
        append("half", "\n", 1);
        half h = {.tokens = i ? 5 : 2 + line.size / 8};
        tide_run how = until_saved(&h, sources, 2);
        tide_trainer *trainer = trainer_of(RECIPE "tokens=space");
        assert_int_equal(tide_trainer_run(trainer, &how, NULL), 1);
        tide_stats stats = stats_of(trainer);
        assert_int_equal(stats.tokens, h.tokens);
        assert_int_equal(stats.vocabulary, 3);
        assert_int_equal(stats.skipped_invalid, 0);
        assert_int_equal(stats.cut_words, i ? 3 : 0);
        tide_trainer_free(trainer);
        free(line.bytes);
    }
}

/* -- a single source -------------------------------------------------------------- */

static void stop_after_bytes(void *data, const tide_stats *stats)
{
    half *h = data;
    if (stats->bytes >= h->until && !h->stop) {
        h->stop = 1;
        h->bytes = stats->bytes;
    }
}

/* Reads a source until the given bytes are learned or it ends, and saves the model. */
static uint64_t read_until(tide_trainer *trainer, const char *source, bool follow,
                           uint64_t bytes, const char *path)
{
    half h = {.until = bytes};
    tide_error err = {0};
    tide_run how = {.size = sizeof(tide_run),
                    .sources = &source,
                    .source_count = 1,
                    .follow = follow,
                    .stop = &h.stop,
                    .progress = stop_after_bytes,
                    .progress_data = &h};
    if (tide_trainer_run(trainer, &how, &err) < 0)
        fail_msg("%s", err.text);
    save_to(trainer, path);
    return h.bytes;
}

/* Only the rest of a block is read after a stop, and resuming leads to the same
 * model. */
static void a_stop_does_not_wait_for_the_end_of_a_line(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *begin, *word;
        bool follow;
    } table[] = {
        {RECIPE, "some words ", "tea and milk ", true},
        {RECIPE, "some words ", "x", true},
        {RECIPE, "some words ", "x", false},
        {RECIPE "records=json text=text", "{\"text\":\"some words\"}\n{\"text\":\"",
         "x", false},
        {RECIPE "records=csv text=1", "some words\n\"", "x\n", true},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        bool follow = table[i].follow;
        corpus line = repeat(table[i].word, 4 * MIB);
        uint64_t all = strlen(table[i].begin) + line.size + 1;
        write_file("half", table[i].begin, strlen(table[i].begin));
        append("half", line.bytes, line.size);
        append("half", "\n", 1);
        tide_trainer *trainer = trainer_of(table[i].settings);
        uint64_t stopped = read_until(trainer, "half", follow, 1, "stopped");
        assert_in_range(stats_of(trainer).bytes, stopped, stopped + 2 * BLOCK);
        assert_true(stats_of(trainer).bytes < all);
        tide_trainer_free(trainer);
        trainer = load_from("stopped");
        read_until(trainer, "half", follow, all, "resumed");
        assert_int_equal(stats_of(trainer).bytes, all);
        tide_trainer_free(trainer);
        trainer = trainer_of(table[i].settings);
        read_until(trainer, "half", follow, all, "whole");
        tide_trainer_free(trainer);
        assert_true(same_file("whole", "resumed"));
        free(line.bytes);
    }
}

static uint64_t reads_so_far(void)
{
    unsigned long long reads = 0;
    char line[100];
    FILE *file = fopen("/proc/self/io", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "syscr: %llu", &reads);
    if (file)
        fclose(file);
    return reads;
}

/* With several sources or a single one. */
static void a_long_line_is_read_like_any_other_text(void **state)
{
    (void)state;
    static const char *const sources[] = {"half", "other"};
    uint64_t reads[2];
    write_file("other", "beta gamma\n", 11);
    for (size_t count = 1; count <= 2; count++) {
        for (int lines = 0; lines < 2; lines++) {
            corpus text = repeat(lines ? "tea and milk\n" : "tea and milk ", 4 * MIB);
            write_file("half", text.bytes, text.size);
            append("half", "\n", 1);
            half h = {.tokens = text.size / 13 * 3 + (count - 1) * 2};
            tide_run how = until_saved(&h, sources, count);
            uint64_t before = reads_so_far();
            tide_trainer *trainer = trainer_of(RECIPE);
            assert_int_equal(tide_trainer_run(trainer, &how, NULL), 1);
            assert_int_equal(stats_of(trainer).tokens, h.tokens);
            reads[lines] = reads_so_far() - before;
            tide_trainer_free(trainer);
            free(text.bytes);
        }
        assert_true(reads[0] <=
                    4 * reads[1] + 100); /* byte by byte would be 10,000 times */
    }
}

/* -- accepted text ---------------------------------------------------------------- */

/* For any end of the run and any position of the feed among the sources. */
static void accepted_text_is_learned_when_another_source_fails(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"bad.jsonl", "feed:"}, {"feed:", "bad.jsonl"}, {"/dev/null", "feed:"}};
    write_file("bad.jsonl", "", 0);
    for (int i = 0; i < 20; i++)
        append("bad.jsonl", "{bad\n", 5);
    corpus text = repeat("tea and milk\n", 13 * 20000);
    for (size_t i = 0; i < COUNT(table); i++) {
        tide_error err = {0};
        tide_feed *feed = tide_feed_new(text.size, &err);
        assert_int_equal(tide_feed_push(feed, text.bytes, text.size, &err), text.size);
        unlink("m");
        tide_run how = {.size = sizeof(tide_run),
                        .sources = table[i],
                        .source_count = 2,
                        .follow = true,
                        .feed = feed,
                        .checkpoint_path = "m",
                        .errors_limited = true,
                        .max_errors = 5};
        tide_trainer *trainer = trainer_of(RECIPE "records=json text=text");
        int status = tide_trainer_run(trainer, &how, &err);
        assert_int_equal(status, i == 2 ? TIDE_ERROR_IO : TIDE_ERROR_INPUT);
        assert_int_equal(tide_feed_push(feed, "late\n", 5, &err), 0);
        tide_trainer_free(trainer);
        tide_feed_free(feed);
        trainer = load_from("m");
        assert_int_equal(count_of(trainer, "tea"), 20000);
        tide_trainer_free(trainer);
    }
    free(text.bytes);
}

/* The incomplete line is not learned with it, since it will be read again. */
static void drained_text_is_not_appended_to_an_incomplete_line(void **state)
{
    (void)state;
    static const char *const sources[] = {"half", "feed:"};
    corpus line = repeat("x ", 80000);
    write_file("half", line.bytes, line.size);
    tide_error err = {0};
    tide_feed *feed = tide_feed_new(1000, &err);
    half h = {.stop = 1};
    assert_int_equal(tide_feed_push(feed, "beta gamma\n", 11, &err), 11);
    tide_run how = until_saved(&h, sources, 2);
    how.feed = feed;
    h.stop = 0;
    h.tokens = 2;
    tide_trainer *trainer = trainer_of(RECIPE);
    assert_int_equal(tide_trainer_run(trainer, &how, NULL), 1);
    assert_int_equal(count_of(trainer, "x"), 0);
    assert_int_equal(count_of(trainer, "beta"), 1);
    tide_trainer_free(trainer);
    tide_feed_free(feed);
    free(line.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_word_is_learned_once_however_text_arrives),
        IN_FOLDER(an_incomplete_line_does_not_block_other_sources),
        IN_FOLDER(a_line_longer_than_a_mebibyte_is_split),
        IN_FOLDER(a_stop_does_not_wait_for_the_end_of_a_line),
        IN_FOLDER(a_long_line_is_read_like_any_other_text),
        IN_FOLDER(accepted_text_is_learned_when_another_source_fails),
        IN_FOLDER(drained_text_is_not_appended_to_an_incomplete_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
