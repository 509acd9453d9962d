/* test_demo_truth.c - words and topics of the demo stream are as frequent as its events
 * say. */
#include "demo/demo.h"
#include "demo_fixture.h"

#include <ctype.h>
#include <math.h>

enum { MINUTE = 120000, TOKENS = 4000000, WORDS_MAX = 1024 };

/* -- counting words ---------------------------------------------------------------- */

/* The positions of the words of interest: the tokens before their lines. */
typedef struct occurrences {
    char word[TIDE_WORD_MAX + 1];
    uint32_t *at; /* tokens of the stream before each occurrence */
    size_t count, capacity;
} occurrences;

typedef struct occurrence_table {
    size_t count;
    occurrences words[WORDS_MAX]; /* sorted once all have been added */
} occurrence_table;

static int by_word(const void *a, const void *b)
{
    return strcmp(((const occurrences *)a)->word, ((const occurrences *)b)->word);
}

static void add_word(occurrence_table *w, const char *word, size_t length)
{
    for (size_t i = 0; i < w->count; i++)
        if (strlen(w->words[i].word) == length &&
            memcmp(w->words[i].word, word, length) == 0)
            return;
    assert_true(w->count < WORDS_MAX);
    memcpy(w->words[w->count++].word, word, length);
}

static occurrences *find(occurrence_table *w, const char *word)
{
    occurrences key = {.at = NULL};
    snprintf(key.word, sizeof key.word, "%s", word);
    return bsearch(&key, w->words, w->count, sizeof key, by_word);
}

static void add_occurrence(occurrences *w, uint64_t token)
{
    if (w->count == w->capacity) {
        w->capacity = 2 * w->capacity + 64;
        w->at = realloc(w->at, w->capacity * sizeof *w->at);
        assert_non_null(w->at);
    }
    w->at[w->count++] = (uint32_t)token;
}

static void scan_text(occurrence_table *w, const text *t)
{
    qsort(w->words, w->count, sizeof *w->words, by_word);
    uint64_t line = 0, tokens = 0;
    for (size_t i = 0, start = 0; i < t->size; i++) {
        if (islower((unsigned char)t->bytes[i]))
            continue;
        char word[TIDE_WORD_MAX + 1];
        snprintf(word, sizeof word, "%.*s", (int)(i - start), t->bytes + start);
        occurrences *found = find(w, word);
        if (found)
            add_occurrence(found, line);
        tokens++;
        line = t->bytes[i] == '\n' ? tokens : line;
        start = i + 1;
    }
}

static size_t count_between(occurrence_table *w, const char *word, uint64_t from,
                            uint64_t to)
{
    const occurrences *found = find(w, word);
    size_t count = 0;
    assert_non_null(found);
    for (size_t i = 0; i < found->count; i++)
        count += found->at[i] >= from && found->at[i] < to;
    return count;
}

static void free_table(occurrence_table *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->words[i].at);
    free(w);
}

/* The frequency of the words of a group in a stream without events. */
typedef struct group_frequencies {
    tide_demo_tables tables;
    occurrence_table *occurrence_table;
} group_frequencies;

static group_frequencies *count_groups(const text *t)
{
    group_frequencies *u = calloc(1, sizeof *u);
    u->occurrence_table = calloc(1, sizeof *u->occurrence_table);
    tide_demo_tables_load(&u->tables);
    static const char *const groups[] = {
        "companies", "bands",      "illnesses", "software",   "teams",
        "genres",    "seasonings", "drinks",    "vegetables", "towns",
        "dishes",    "surnames",   "sports"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        uint8_t list = tide_demo_group_list(&u->tables, groups[i]);
        const tide_demo_rows *l = &u->tables.lists[list];
        for (uint32_t row = 0; row < l->count; row++) {
            tide_demo_text word = u->tables.words[l->first + row];
            add_word(u->occurrence_table, word.bytes, word.length);
        }
    }
    scan_text(u->occurrence_table, t);
    return u;
}

static double group_uses(group_frequencies *u, const char *group)
{
    uint8_t list = tide_demo_group_list(&u->tables, group);
    const tide_demo_rows *l = &u->tables.lists[list];
    size_t count = 0;
    for (uint32_t row = 0; row < l->count; row++) {
        char word[TIDE_WORD_MAX + 1];
        tide_demo_text form = u->tables.words[l->first + row];
        snprintf(word, sizeof word, "%.*s", (int)form.length, form.bytes);
        count += find(u->occurrence_table, word)->count;
    }
    return (double)count;
}

/* A word with a given share of its group between two tokens has the expected number of
 * occurrences. Words of a group occur in articles, several at a time, which up to
 * doubles the variance of independent ones; the number of uses of the group, `n`, is
 * itself measured, with five times the variance. */
static void assert_share(group_frequencies *u, occurrence_table *w,
                         const tide_demo_event *e, const char *group, double share,
                         uint64_t from, uint64_t to)
{
    to = to < TOKENS ? to : TOKENS;
    if (from >= to)
        return;
    double count = (double)count_between(w, e->word, from, to),
           n = group ? group_uses(u, group) : 1;
    double expected = n * share * (double)(to - from) / TOKENS;
    double sigma = sqrt(2 * expected + 5 * expected * expected / n);
    if (fabs(count - expected) > 5 * sigma)
        fail_msg("%s %s: %.0f times in [%llu, %llu), expected %.1f +- %.1f", e->kind,
                 e->word, count, (unsigned long long)from, (unsigned long long)to,
                 expected, sigma);
}

/* The share of a word is constant this long before and after an event. */
enum { MARGIN = 4 * MINUTE };

static void check_event(group_frequencies *u, occurrence_table *w,
                        const tide_demo_event *e)
{
    uint64_t start = e->from < MARGIN ? 0 : e->from - MARGIN;
    const char *during = e->after ? e->after : e->before;
    assert_share(u, w, e, e->before, e->share_before, start, e->from);
    assert_share(u, w, e, e->after, e->share_after, e->to, e->to + MARGIN);
    if (!is(e, "change")) {
        assert_share(u, w, e, during, e->share_during, e->from, e->to);
        return;
    }
    /* On average, half of the uses are in the new group during the change. */
    double ratio = group_uses(u, e->before) / group_uses(u, e->after);
    assert_share(u, w, e, e->after, e->share_during * (1 + ratio) / 2, e->from, e->to);
}

static void word_frequencies_match_the_events(void **state)
{
    (void)state;
    text plain = text_of("demo:seed=2,tokens=4e6");
    text t = text_of("demo:seed=21,events=on,tokens=4e6");
    event_list *l = events_of("demo:seed=21,events=on", 0, TOKENS);
    group_frequencies *u = count_groups(&plain);
    occurrence_table *w = calloc(1, sizeof *w);
    for (size_t i = 0; i < l->count; i++)
        add_word(w, l->items[i].word, strlen(l->items[i].word));
    scan_text(w, &t);
    size_t checked[4] = {0};
    static const char *const kinds[4] = {"birth", "fade", "change", "burst"};
    for (size_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < 4; k++)
            if (is(&l->items[i], kinds[k])) {
                check_event(u, w, &l->items[i]);
                checked[k]++;
            }
    for (size_t k = 0; k < 4; k++)
        assert_in_range(checked[k], 5, 20);
    free_table(u->occurrence_table), free_table(w), free(u), free(l);
    free(plain.bytes), free(t.bytes);
}

/* The fraction of lines between two tokens that have a hashtag. */
static double share_of_lines(const text *t, const char *topic, uint64_t from,
                             uint64_t to, double *lines)
{
    uint64_t tokens = 0;
    double all = 0, found = 0;
    for (size_t i = 0, line = 0; i < t->size; i++) {
        if (t->bytes[i] == ' ') /* the last is before the hashtag */
            tokens++;
        if (t->bytes[i] != '\n')
            continue;
        const char *tag = memrchr(t->bytes + line, '#', i - line);
        size_t length = (size_t)(t->bytes + i - tag - 1);
        bool same = length == strlen(topic) && memcmp(tag + 1, topic, length) == 0;
        all += tokens >= from && tokens < to;
        found += tokens >= from && tokens < to && same;
        line = i + 1;
    }
    *lines = all;
    return found / all;
}

/* Lines come in articles of n = 3 to 6, so the variance is that of independent lines
 * times E[n^2] / E[n] = 4.8. */
static void topic_frequencies_match_the_seasons(void **state)
{
    (void)state;
    text t = text_of("demo:seed=22,events=on,tokens=4e6,hashtags=on");
    event_list *l = events_of("demo:seed=22,events=on", 0, TOKENS);
    size_t seasons = 0;
    for (size_t i = 0; i < l->count; i++) {
        const tide_demo_event *e = &l->items[i];
        if (!is(e, "season") || e->to + (e->to - e->from) > TOKENS + MINUTE * 12)
            continue;
        double lines, share = share_of_lines(&t, e->word, e->from, e->to, &lines);
        double sigma = sqrt(4.8 * e->share_during * (1 - e->share_during) / lines);
        assert_true(fabs(share - e->share_during) < 5 * sigma && sigma < 0.003);
        share = share_of_lines(&t, e->word, e->to, 2 * e->to - e->from, &lines);
        sigma = sqrt(4.8 * e->share_after * (1 - e->share_after) / lines);
        if (2 * e->to - e->from <= TOKENS)
            assert_true(fabs(share - e->share_after) < 5 * sigma && sigma < 0.003);
        seasons++;
    }
    assert_in_range(seasons, 2, 3);
    free(l), free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(word_frequencies_match_the_events),
        cmocka_unit_test(topic_frequencies_match_the_seasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
