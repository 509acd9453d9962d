/* test_tokens_bounds.c - kinds words, social and log: long words and runs, division
 * into feeds, saving. */
#include "base/base.h"
#include "token/split.h"
#include "token/token.h"
#include "tokens_fixture.h"

/* -- length and memory ------------------------------------------------------------- */

static void long_words_are_truncated_at_code_points(void **state)
{
    (void)state;
    static const struct {
        size_t prefix;
        const char *tail;
        size_t kept, dropped;
    } table[] = {
        {63, "", 63, 0},          {64, "", 63, 1},  {500, "", 63, 437},
        {61, "é", 63, 0},         {62, "é", 62, 2}, {60, "éa", 63, 0},
        {62, "ß", 62, 2},         {61, "ß", 63, 0}, {60, "e\xcc\x81", 62, 0},
        {61, "e\xcc\x81", 63, 0}, {62, "İ", 62, 2},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[600];
        memset(text, 'X', table[i].prefix);
        strcpy(text + table[i].prefix, table[i].tail);
        transcript s = tokenize(&words, text);
        assert_int_equal(s.size, table[i].kept + 2);
        assert_int_equal(s.dropped, table[i].dropped);
        assert_int_equal(s.cut, table[i].dropped > 0);
        check_words(&s);
        free(s.bytes);
    }
}

/* Folds with utf8proc alone, into allocated memory. */
static size_t folded_by_library(const unsigned char *text, size_t size,
                                unsigned char **folded)
{
    *folded = NULL;
    utf8proc_ssize_t length = utf8proc_map(text, (utf8proc_ssize_t)size, folded,
                                           UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                               UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
    assert_true(length >= 0);
    return (size_t)length;
}

static void check_fold(const unsigned char *text, size_t size)
{
    unsigned char folded[TIDE_WORD_MAX], *wanted;
    size_t used, length = tide_fold(text, size, false, false, folded, &used);
    assert_int_equal(used, size);
    assert_true(length <= 3 * used);
    assert_true(oracle_valid(folded, length));
    for (size_t i = 0; i < length; i++)
        assert_true(folded[i] > 0x20);
    size_t wanted_length = folded_by_library(text, size, &wanted);
    bool rewritten = wanted_length > 3 * size || strchr((char *)wanted, ' ') ||
                     strstr((char *)wanted, "\xe2\x80\x99") ||
                     strstr((char *)wanted, "\xca\xbc");
    utf8proc_int32_t code;
    if (!rewritten && utf8proc_iterate(text, -1, &code) > 0 &&
        utf8proc_category(code) < UTF8PROC_CATEGORY_ZS) {
        assert_int_equal(length, wanted_length);
        assert_memory_equal(folded, wanted, length);
    }
    free(wanted);
}

/* Tests every code point alone, after a letter, and before an accent. */
static void folding_matches_utf8proc_within_bounds(void **state)
{
    (void)state;
    for (int code = 0x21; code <= 0x10ffff; code += 1 + (code > 0x20000) * 50) {
        unsigned char text[8] = {'a'};
        if (code == 0x7f)
            code = 0xa0;
        if (code == 0xd800)
            code = 0xe000;
        size_t size = 1 + (size_t)utf8proc_encode_char(code, text + 1);
        check_fold(text + 1, size - 1);
        if (utf8proc_category(code) < UTF8PROC_CATEGORY_ZS)
            check_fold(text, size);
        memcpy(text + size, "\xcc\x81", 3);
        check_fold(text + 1, size + 1);
    }
}

/* A full buffer of words that grow when folded, all valid until the next feed. */
static void words_that_grow_stay_valid_until_the_next_feed(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    static const char *const growing[][2] = {{"½ ", "1⁄2"}, {"क़ ", "क़"}, {"ŉ ", "'n"}};
    tide_word *all = calloc(COUNT, sizeof *all);
    char *text = malloc(16 * COUNT);
    for (size_t g = 0; g < 3; g++) {
        size_t size = 0, length = strlen(growing[g][0]), count = 0, taken;
        for (; size < 4 * COUNT; size += length)
            memcpy(text + size, growing[g][0], length);
        tide_tokenizer *t = tide_tokenizer_new(&words, NULL);
        size_t fed = tide_tokenizer_feed(t, text, size);
        tide_tokenizer_end(t);
        bool ended;
        while ((taken = tide_tokenizer_next(t, all + count, COUNT - count, &ended)) > 0)
            count += taken;
        assert_true(count >= fed / length);
        for (size_t i = 0; i + 1 < count; i++) {
            assert_int_equal(all[i].length, strlen(growing[g][1]));
            assert_memory_equal(all[i].bytes, growing[g][1], all[i].length);
        }
        tide_tokenizer_free(t);
    }
    free(text);
    free(all);
}

/* 2 MB without whitespace, of various contents and in each kind. */
static void endless_run_needs_no_extra_memory(void **state)
{
    (void)state;
    static const char *const runs[] = {"x",  "中", "a.", "é", "\xff",
                                       "#a", "::", "/-", "_"};
    static char text[1 << 20];
    static const tide_tokenizer_kind kinds[] = {
        TIDE_TOKENIZER_WORDS, TIDE_TOKENIZER_SOCIAL, TIDE_TOKENIZER_LOG};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
            tide_tokenizer_options options = {.kind = kinds[k]};
            size_t length = strlen(runs[r]), size = sizeof text / length * length;
            for (size_t i = 0; i < size; i++)
                text[i] = runs[r][i % length];
            assert_true(tide_tokenizer_bytes(&options) < 400000);
            tide_tokenizer *t = tide_tokenizer_new(&options, NULL);
            for (size_t done = 0; done < 2 * size;) {
                size_t from = done % size;
                done += tide_tokenizer_feed(t, text + from, size - from);
                tide_word list[BATCH];
                bool ended;
                while (tide_tokenizer_next(t, list, BATCH, &ended) > 0)
                    continue;
                assert_true(tide_tokenizer_pending(t) <= 1024);
            }
            tide_tokenizer_free(t);
        }
}

/* -- division into feeds, saving --------------------------------------------------- */

static void result_does_not_depend_on_feeds_or_batches(void **state)
{
    (void)state;
    enum { TEXT = 12000 };
    static const size_t pieces[] = {1, 7, 64, 0};
    unsigned char *text = malloc(TEXT);
    tide_rng rng = tide_rng_seeded(12);
    for (int run = 0; run < 10 * VARIANTS; run++) {
        const tide_tokenizer_options *options = &variants[run % VARIANTS];
        size_t size = random_text(&rng, text, TEXT);
        transcript wanted = transcript_make(options, text, size, size + 1, BATCH, &rng);
        check_words(&wanted);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            transcript s = transcript_make(options, text, size, pieces[i],
                                           1 + tide_rng_below(&rng, 5), &rng);
            assert_true(transcript_equal(&s, &wanted));
            free(s.bytes);
        }
        free(wanted.bytes);
    }
    free(text);
}

static void tokenizer_continues_after_save_and_load(void **state)
{
    (void)state;
    enum { TEXT = 3000 };
    unsigned char text[TEXT];
    tide_rng rng = tide_rng_seeded(14);
    for (int run = 0; run < 5 * VARIANTS; run++) {
        const tide_tokenizer_options *options = &variants[run % VARIANTS];
        size_t size = random_text(&rng, text, TEXT);
        size_t stop = tide_rng_below(&rng, size + 1);
        transcript wanted = transcript_make(options, text, size, size + 1, BATCH, &rng);
        check_stop(options, text, size, stop, &wanted);
        free(wanted.bytes);
    }
}

/* Nothing is fed between loading and the end: the word can still grow into the overflow
 * area. */
static void incomplete_word_that_grows_survives_save_and_load(void **state)
{
    (void)state;
    transcript s = {0};
    tide_tokenizer *t = tide_tokenizer_new(&words, NULL);
    feed_all(&s, t, "½/½/x", strlen("½/½/x"), BATCH);
    t = save_and_load(t, &words);
    tide_tokenizer_end(t);
    transcript_take(&s, t, BATCH);
    assert_int_equal(s.size, strlen("1⁄2 1⁄2 x \n"));
    assert_memory_equal(s.bytes, "1⁄2 1⁄2 x \n", s.size);
    free(s.bytes);
    tide_tokenizer_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_words_are_truncated_at_code_points),
        cmocka_unit_test(folding_matches_utf8proc_within_bounds),
        cmocka_unit_test(words_that_grow_stay_valid_until_the_next_feed),
        cmocka_unit_test(endless_run_needs_no_extra_memory),
        cmocka_unit_test(result_does_not_depend_on_feeds_or_batches),
        cmocka_unit_test(tokenizer_continues_after_save_and_load),
        cmocka_unit_test(incomplete_word_that_grows_survives_save_and_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
