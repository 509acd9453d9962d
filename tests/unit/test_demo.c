/* test_demo.c - the text of the demo stream, and its ground truth. */

#include "base/base.h"
#include "demo/demo.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "memory_fixture.h"

#include <wordtide/tools.h>

enum { TOKENS = 1000000, WORDS_MAX = 5000, STREAM_MAX = 8 << 20 };

/* -- a million tokens and their counts --------------------------------------------- */

typedef struct counted {
    char word[TIDE_WORD_MAX + 1];
    uint32_t count;
} counted;

static char *stream;
static size_t stream_size;
static counted *words; /* sorted */
static size_t word_count;

static int by_spelling(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void count_words(void)
{
    static char *tokens[TOKENS + 100];
    char *text = malloc(stream_size + 1);
    assert_non_null(text);
    memcpy(text, stream, stream_size);
    text[stream_size] = '\0';
    size_t count = 0;
    for (size_t i = 0, start = 0; i < stream_size; i++)
        if (text[i] == ' ' ||
            text[i] == '\n') { /* not strsep, which scans the rest each time */
            text[i] = 0;
            if (i > start)
                tokens[count++] = text + start;
            start = i + 1;
        }
    qsort(tokens, count, sizeof *tokens, by_spelling);
    for (size_t i = 0; i < count; i++) {
        if (word_count == 0 || strcmp(words[word_count - 1].word, tokens[i]) != 0)
            snprintf(words[word_count++].word, TIDE_WORD_MAX + 1, "%s", tokens[i]);
        assert_true(word_count < WORDS_MAX);
        words[word_count - 1].count++;
    }
    free(text);
}

/* Reads a million tokens in complete lines from a source that ends there. */
static int make_stream(void **state)
{
    (void)state;
    stream = malloc(STREAM_MAX);
    words = calloc(WORDS_MAX, sizeof *words);
    tide_source *source = tide_source_open("demo:seed=1,tokens=1e6", NULL);
    ptrdiff_t count;
    while ((count = tide_source_read(source, stream + stream_size,
                                     STREAM_MAX - stream_size, NULL)) > 0)
        stream_size += (size_t)count;
    tide_source_close(source);
    count_words();
    return 0;
}

static int free_stream(void **state)
{
    (void)state;
    free(stream);
    free(words);
    return 0;
}

static uint32_t count_of(const char *word)
{
    size_t low = 0, high = word_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(words[middle].word, word);
        if (order == 0)
            return words[middle].count;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return 0;
}

/* -- the stream -------------------------------------------------------------------- */

static void stream_depends_only_on_the_seed(void **state)
{
    (void)state;
    char one[10000], same[10000], other[10000];
    tide_demo *a = tide_demo_new(1, NULL), *b = tide_demo_new(1, NULL);
    tide_demo *c = tide_demo_new(2, NULL);
    tide_demo_read(a, one, sizeof one);
    tide_demo_read(b, same, sizeof same);
    tide_demo_read(c, other, sizeof other);
    assert_memory_equal(one, same, sizeof one);
    assert_memory_not_equal(one, other, 100);
    tide_demo_free(a);
    tide_demo_free(b);
    tide_demo_free(c);
    tide_demo_free(NULL);
}

/* Documented figures and other tests depend on these bytes. */
static void stream_has_not_changed(void **state)
{
    (void)state;
    enum { PREFIX = 1 << 20 };
    assert_true(stream_size >= PREFIX);
    assert_int_equal(tide_hash(stream, PREFIX, 0), 0xe7b2c9ed65be16eb);
}

static void stream_does_not_depend_on_the_sizes_of_reads(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 7, 64, 4096, 0};
    tide_rng rng = tide_rng_seeded(3);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char piece[5000];
        tide_demo *demo = tide_demo_new(1, NULL);
        for (size_t done = 0; done < 100000;) {
            size_t capacity = pieces[i] ? pieces[i] : 1 + tide_rng_below(&rng, 5000);
            size_t size = tide_demo_read(demo, piece, capacity);
            assert_in_range(size, 1, capacity);
            assert_memory_equal(piece, stream + done, size);
            done += size;
        }
        tide_demo_free(demo);
    }
}

static void tokens_are_counted_by_line(void **state)
{
    (void)state;
    tide_demo *demo = tide_demo_new(1, NULL);
    assert_int_equal(tide_demo_tokens(demo), 0);
    uint64_t tokens = 0;
    for (size_t done = 0; done < 5000; done++) {
        char byte;
        if (done == 0 || stream[done - 1] == '\n')
            for (size_t i = done; i == done || stream[i - 1] != '\n'; i++)
                tokens += stream[i] == ' ' || stream[i] == '\n';
        assert_int_equal(tide_demo_read(demo, &byte, 1), 1);
        assert_int_equal(tide_demo_tokens(demo), tokens);
    }
    tide_demo_free(demo);
}

/* The name of a topic, with # before it. */
static bool is_hashtag(const char *text, size_t length)
{
    for (size_t i = 0; i < tide_demo_topic_count; i++)
        if (length == strlen(tide_demo_topics[i].name) + 1 && text[0] == '#' &&
            !memcmp(text + 1, tide_demo_topics[i].name, length - 1))
            return true;
    return false;
}

static void hashtags_are_added_to_the_same_stream(void **state)
{
    (void)state;
    static char text[1 << 20];
    tide_source *source = tide_source_open("demo:tokens=50000,hashtags=1", NULL);
    size_t size = 0, at = 0;
    for (ptrdiff_t got;
         (got = tide_source_read(source, text + size, sizeof text - size, NULL)) > 0;)
        size += (size_t)got;
    tide_source_close(source);
    assert_in_range(size, 300000, sizeof text - 1);
    for (size_t from = 0; from < size;) {
        const char *end = memchr(text + from, '\n', size - from);
        const char *tag = memrchr(text + from, ' ', (size_t)(end - text) - from);
        size_t length = (size_t)(tag - text) - from;
        assert_true(is_hashtag(tag + 1, (size_t)(end - tag) - 1));
        assert_memory_equal(text + from, stream + at, length);
        assert_int_equal(stream[at + length], '\n');
        at += length + 1;
        from = (size_t)(end - text) + 1;
    }
}

static void every_line_is_8_to_25_lower_case_words(void **state)
{
    (void)state;
    size_t length = 1;
    for (size_t i = 0; i < stream_size; i++) {
        if (stream[i] == '\n') {
            if (length < 8 || length > 25)
                fail_msg("%zu words before byte %zu", length, i);
            length = 1;
            continue;
        }
        assert_true(stream[i] == ' ' || islower((unsigned char)stream[i]));
        assert_false(stream[i] == ' ' &&
                     (stream[i + 1] == ' ' || stream[i + 1] == '\n'));
        length += stream[i] == ' ';
    }
}

/* Adds every run of letters in the text of a table to `known`. */
static size_t add_known(char **known, size_t count, const char *text, char **copies)
{
    char *copy = strdup(text);
    *copies = copy;
    for (char *c = copy; *c; c++)
        *c = islower((unsigned char)*c) ? *c : ' ';
    for (char *rest = copy, *word; (word = strsep(&rest, " "));)
        if (*word)
            known[count++] = word;
    return count;
}

static void every_word_is_in_a_list_or_a_template(void **state)
{
    (void)state;
    static char *known[20000], *copies[2000];
    char an[] = "an";
    size_t count = 1, copy_count = 0;
    known[0] = an;
    for (size_t i = 0; i < tide_demo_list_count; i++)
        count = add_known(known, count, tide_demo_lists[i].rows, &copies[copy_count++]);
    for (size_t i = 0; i < tide_demo_topic_count + 2; i++) {
        const tide_demo_topic *t = i < tide_demo_topic_count    ? &tide_demo_topics[i]
                                   : i == tide_demo_topic_count ? &tide_demo_openers
                                                                : &tide_demo_tails;
        for (size_t k = 0; t->templates[k]; k++)
            count = add_known(known, count, t->templates[k], &copies[copy_count++]);
    }
    qsort(known, count, sizeof *known, by_spelling);
    for (size_t i = 0; i < word_count; i++) {
        char *word = words[i].word;
        if (!bsearch(&word, known, count, sizeof *known, by_spelling))
            fail_msg("%s", word);
    }
    for (size_t i = 0; i < copy_count; i++)
        free(copies[i]);
}

/* Searches a line at a time: with sanitizers, strstr scans the rest of the stream. */
static const char *next_place(const char *at, const char *wanted)
{
    size_t length = strlen(wanted);
    for (; at + length < stream + stream_size; at++)
        if (at[0] == wanted[0] && at[1] == wanted[1] && !memcmp(at, wanted, length))
            return at;
    return NULL;
}

static void a_becomes_an_before_a_vowel(void **state)
{
    (void)state;
    stream[stream_size - 1] = '\0';
    for (const char *at = stream; (at = next_place(at, " a ")); at++)
        if (memchr("aeiou", at[3], 5))
            fail_msg("%.20s", at);
    for (const char *at = stream; (at = next_place(at, " an ")); at++)
        if (!memchr("aeiou", at[4], 5))
            fail_msg("%.20s", at);
    stream[stream_size - 1] = '\n';
}

static void vocabulary_has_the_expected_size(void **state)
{
    (void)state;
    uint32_t max_count = 0, rare = 0;
    for (size_t i = 0; i < word_count; i++) {
        max_count = words[i].count > max_count ? words[i].count : max_count;
        rare += words[i].count < 100;
    }
    assert_in_range(word_count, 1200, 4000);
    assert_in_range(max_count, TOKENS * 3 / 100, TOKENS * 9 / 100);
    assert_in_range(rare, word_count / 10, word_count * 9 / 10);
}

/* All topics are equally likely: 80,000 lines are about 18,000 articles. */
static void topics_are_equally_frequent(void **state)
{
    (void)state;
    enum { TOPICS_MAX = 16, LINES = 80000 };
    uint32_t lines[TOPICS_MAX] = {0};
    tide_demo *demo = tide_demo_new(4, NULL);
    char byte;
    for (int line = 0; line < LINES; line++) {
        do
            tide_demo_read(demo, &byte, 1);
        while (byte != '\n');
        lines[tide_demo_current(demo)->topic]++;
    }
    tide_demo_free(demo);
    assert_int_equal(tide_demo_topic_count, 8);
    for (size_t i = 0; i < tide_demo_topic_count; i++) /* 10000 each, 5 sigma is 1100 */
        if (lines[i] < 8900 || lines[i] > 11100)
            fail_msg("%s: %u lines", tide_demo_topics[i].name, lines[i]);
}

/* Rows are drawn in proportion to 1 / (rank + flatness). */
static void frequency_falls_with_rank(void **state)
{
    (void)state;
    /* weekday: flatness 30, seven rows, so the last is 30/36 as frequent as the
     * first */
    double ratio = (double)count_of("sunday") / (double)count_of("monday");
    assert_true(ratio > 0.65 && ratio < 1.02); /* 30/36, 5 sigma is about 0.17 */
    assert_true(count_of("goulash") > 3 * count_of("cobbler"));
    assert_true(count_of("election") > 5 * count_of("republic"));
}

/* -- ground truth ------------------------------------------------------------------ */

static char *truth(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(tide_demo_truth(out, NULL), TIDE_OK);
    fclose(out);
    return text;
}

static void assert_learnable(const char *word)
{
    if (count_of(word) < 20)
        fail_msg("%s occurs %u times", word, count_of(word));
}

/* Counts the groups and the analogies of a relation. */
typedef struct tally {
    int groups, analogies, relations;
    char relation[32];
} tally;

static void check_fact(char *line, tally *t)
{
    char *kind = strsep(&line, "\t"), *name = strsep(&line, "\t");
    assert_non_null(name);
    bool group = strcmp(kind, "group") == 0;
    assert_true(group || strcmp(kind, "analogy") == 0);
    int count = 0;
    for (char *word; (word = strsep(&line, group ? " " : "\t")); count++)
        assert_learnable(word);
    assert_true(group ? count >= 7 : count == 4);
    t->groups += group;
    t->analogies += !group;
    if (!group && strcmp(t->relation, name) != 0) {
        snprintf(t->relation, sizeof t->relation, "%s", name);
        t->relations++;
    }
}

static void every_word_of_the_ground_truth_is_frequent_enough(void **state)
{
    (void)state;
    tally t = {0};
    char *text = truth();
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        if (*line)
            check_fact(line, &t);
    assert_in_range(t.groups, 20, 100);
    assert_in_range(t.analogies, 500, 5000);
    assert_int_equal(t.relations, 7);
    free(text);
}

/* A word in two groups would be wrong in one of them. */
static void no_word_is_in_two_groups(void **state)
{
    (void)state;
    static char *members[WORDS_MAX];
    size_t count = 0;
    char *text = truth();
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        if (strcmp(line, "") == 0 || strcmp(strsep(&line, "\t"), "group") != 0)
            continue;
        strsep(&line, "\t");
        for (char *word; (word = strsep(&line, " "));)
            members[count++] = word;
    }
    qsort(members, count, sizeof *members, by_spelling);
    for (size_t i = 1; i < count; i++)
        if (strcmp(members[i - 1], members[i]) == 0)
            fail_msg("%s", members[i]);
    free(text);
}

static bool has_line(const char *text, const char *line)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s\n", line);
    for (const char *found = text; (found = strstr(found, wanted)); found++)
        if (found == text || found[-1] == '\n')
            return true;
    return false;
}

static void ground_truth_has_the_documented_format(void **state)
{
    (void)state;
    char *text = truth();
    assert_true(has_line(text,
                         "group\tweekdays\tmonday tuesday wednesday thursday friday "
                         "saturday sunday"));
    assert_non_null(strstr(text, "analogy\tcapital\tnorvania\ttarsk\t"));
    assert_non_null(strstr(text, "analogy\tgender\tking\tqueen\t"));
    assert_non_null(strstr(text, "analogy\tpast\tbake\tbaked\t"));
    free(text);
}

static void failure_to_write_the_ground_truth_is_reported(void **state)
{
    (void)state;
    tide_error err = {0};
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    assert_int_equal(tide_demo_truth(full, &err), TIDE_ERROR_IO);
    fclose(full);
}

static void allocation_failure_is_reported(void **state)
{
    (void)state;
    tide_error err = {0};
    allocations_left = 0;
    assert_null(tide_demo_new(1, &err));
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    assert_int_equal(tide_demo_truth(stderr, &err), TIDE_ERROR_MEMORY);
    allocations_left = -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_depends_only_on_the_seed),
        cmocka_unit_test(stream_has_not_changed),
        cmocka_unit_test(stream_does_not_depend_on_the_sizes_of_reads),
        cmocka_unit_test(tokens_are_counted_by_line),
        cmocka_unit_test(hashtags_are_added_to_the_same_stream),
        cmocka_unit_test(every_line_is_8_to_25_lower_case_words),
        cmocka_unit_test(every_word_is_in_a_list_or_a_template),
        cmocka_unit_test(a_becomes_an_before_a_vowel),
        cmocka_unit_test(vocabulary_has_the_expected_size),
        cmocka_unit_test(topics_are_equally_frequent),
        cmocka_unit_test(frequency_falls_with_rank),
        cmocka_unit_test(every_word_of_the_ground_truth_is_frequent_enough),
        cmocka_unit_test(no_word_is_in_two_groups),
        cmocka_unit_test(ground_truth_has_the_documented_format),
        cmocka_unit_test(failure_to_write_the_ground_truth_is_reported),
        cmocka_unit_test(allocation_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, make_stream, free_stream);
}
