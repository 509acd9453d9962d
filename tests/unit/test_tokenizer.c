/* test_tokenizer.c - kind space: words, sentences, long words, division into feeds,
 * saving. */
#include "base/base.h"
#include "file/file.h"
#include "token/block.h"
#include "token/token.h"
#include "tokenizer_fixture.h"

#include "memory_fixture.h"

static const tide_tokenizer_options space = {.kind = TIDE_TOKENIZER_SPACE};

/* -- helpers ----------------------------------------------------------------------- */

/* Bytes that are likely to matter: blanks, line ends, letters, parts of code points. */
static unsigned char random_byte(tide_rng *rng)
{
    static const unsigned char odd[] =
        "\n\n\r\t\0\x7f\x1f\x20\x21\xc2\x80\x9f\xa0\xbf\xe0"
        "\xed\xef\xf0\xf4\x8f\x90\xc3\xa9\xff";
    uint64_t kind = tide_rng_below(rng, 16);
    if (kind < 9)
        return (unsigned char)('a' + tide_rng_below(rng, 26));
    if (kind < 12)
        return ' ';
    if (kind < 15)
        return odd[tide_rng_below(rng, sizeof odd - 1)];
    return (unsigned char)tide_rng_next(rng);
}

/* Random bytes, valid code points and occasionally a long run without whitespace. */
static size_t random_text(tide_rng *rng, unsigned char *text, size_t capacity)
{
    static const char *const runs[] = {
        "x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\x8a", "\x80", " ", "\n"};
    size_t size = 0, wanted = tide_rng_below(rng, capacity);
    while (size < wanted) {
        if (tide_rng_below(rng, 30) > 0) {
            text[size++] = random_byte(rng);
            continue;
        }
        const char *run = runs[tide_rng_below(rng, sizeof runs / sizeof *runs)];
        size_t repeats = tide_rng_below(rng, 150), length = strlen(run);
        for (; repeats > 0 && size + length <= wanted; repeats--, size += length)
            memcpy(text + size, run, length);
    }
    return size;
}

static transcript tokenized(const unsigned char *text, size_t size, size_t piece,
                            size_t batch, tide_rng *rng)
{
    return transcript_make(&space, text, size, piece, batch, rng);
}

static transcript tokenized_at_once(const char *text, size_t size)
{
    tide_rng rng = tide_rng_seeded(1);
    return tokenized((const unsigned char *)text, size, size + 1, BATCH, &rng);
}

static void assert_transcript(const transcript *s, const char *wanted)
{
    assert_int_equal(s->size, strlen(wanted));
    assert_memory_equal(s->bytes ? s->bytes : "", wanted, s->size);
}

static void check_text(const char *text, const char *wanted)
{
    transcript s = tokenized_at_once(text, strlen(text));
    assert_transcript(&s, wanted);
    free(s.bytes);
}

static bool word_is_kept(const char *bytes)
{
    transcript s = tokenized_at_once(bytes, strlen(bytes));
    bool kept = s.size > 0;
    assert_int_equal(s.invalid, !kept);
    free(s.bytes);
    return kept;
}

/* -- blocks ------------------------------------------------------------------------ */

static void block_masks_classify_each_byte(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(2);
    for (int run = 0; run < 5000; run++) {
        unsigned char bytes[TIDE_BLOCK_SIZE];
        tide_block wanted = {0, 0, 0, 0};
        for (int i = 0; i < TIDE_BLOCK_SIZE; i++) {
            bytes[i] =
                run < 256 && i == run % 64 ? (unsigned char)run : random_byte(&rng);
            wanted.space |= (uint64_t)(bytes[i] <= 0x20) << i;
            wanted.newline |= (uint64_t)(bytes[i] == '\n') << i;
            wanted.special |= (uint64_t)(bytes[i] >= 0x7f) << i;
            wanted.letter |= (uint64_t)(bytes[i] >= 'a' && bytes[i] <= 'z') << i;
        }
        tide_block portable = tide_block_portable(bytes),
                   chosen = tide_block_read(bytes);
        assert_memory_equal(&portable, &wanted, sizeof wanted);
        assert_memory_equal(&chosen, &wanted, sizeof wanted);
    }
}

/* -- words and sentences ----------------------------------------------------------- */

static void words_are_separated_by_any_byte_up_to_0x20(void **state)
{
    (void)state;
    for (int byte = 0; byte <= 0x20; byte++) {
        const char text[] = {'a', (char)byte, 'b'};
        transcript s = tokenized_at_once(text, sizeof text);
        assert_transcript(&s, byte == '\n' ? "a \nb \n" : "a b \n");
        free(s.bytes);
    }
}

static void line_feed_ends_a_sentence_and_nothing_else_does(void **state)
{
    (void)state;
    check_text("one two\nthree\n", "one two \nthree \n");
    check_text("one two\r\nthree\r", "one two \nthree \n");
    check_text("one\ttwo\v\fthree", "one two three \n");
}

static void empty_lines_yield_no_sentence(void **state)
{
    (void)state;
    check_text("", "");
    check_text("\n\n \n", "");
    check_text("\n\na\n\n \n\nb\n\n", "a \nb \n");
    check_text("a\n\xff\nb", "a \nb \n");
}

static void utf8_is_validated_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool kept;
    } table[] = {
        {"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5", true},
        /* the first and the last code point of each length */
        {"!", true},
        {"~", true},
        {"\xc2\xa0", true},
        {"\xdf\xbf", true},
        {"\xe0\xa0\x80", true},
        {"\xef\xbf\xbf", true},
        {"\xf0\x90\x80\x80", true},
        {"\xf4\x8f\xbf\xbf", true},
        {"\xf4\x90\x80\x80", false},
        {"\xf7\xbf\xbf\xbf", false},
        {"\xf8\x88\x80\x80\x80", false},
        {"\xfb\xbf\xbf\xbf\xbf", false},
        {"\xfc\x84\x80\x80\x80\x80", false},
        {"\xfd\xbf\xbf\xbf\xbf\xbf", false},
        /* around the surrogates */
        {"\xed\x9f\xbf", true},
        {"\xee\x80\x80", true},
        {"\xef\xbf\xbd", true},
        {"\xed\xa0\x80", false},
        {"\xed\xad\xbf", false},
        {"\xed\xae\x80", false},
        {"\xed\xbf\xbf", false},
        {"\xed\xa0\x80\xed\xb0\x80", false},
        /* stray continuations, impossible bytes */
        {"\x80", false},
        {"\xbf", false},
        {"\x80\xbf\x80", false},
        {"a\x80", false},
        {"\xfe", false},
        {"\xff", false},
        {"\xfe\xfe\xff\xff", false},
        /* leads without their continuations */
        {"\xc3", false},
        {"\xc3z", false},
        {"\xe0\xa0", false},
        {"\xe2\x82z", false},
        {"\xf0\x90\x80", false},
        {"\xf0\x9f\x8cz", false},
        {"\xc3\xc3\xa9", false},
        {"\xdf", false},
        {"\xef\xbf", false},
        {"\xf4\x8f\xbf", false},
        /* overlong forms */
        {"\xc0\xaf", false},
        {"\xc1\xbf", false},
        {"\xe0\x80\xaf", false},
        {"\xe0\x9f\xbf", false},
        {"\xf0\x80\x80\xaf", false},
        {"\xf0\x8f\xbf\xbf", false},
        {"\xc0\x80", false},
        {"\xf8\x80\x80\x80\xaf", false},
        /* control characters */
        {"\x7f", false},
        {"a\x7fz", false},
        {"\xc2\x80", false},
        {"\xc2\x9f", false},
        {"a\xc2\x85z", false},
        {"\xe2\x80\xa8", true},
        {"\xef\xbb\xbfword", true},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (word_is_kept(table[i].bytes) != table[i].kept)
            fail_msg("case %zu must be %s", i, table[i].kept ? "kept" : "dropped");
}

static void invalid_word_does_not_affect_its_neighbors(void **state)
{
    (void)state;
    transcript s = tokenized_at_once("one tw\xffo three\n\x7f four", 22);
    assert_transcript(&s, "one three \nfour \n");
    assert_int_equal(s.invalid, 2);
    assert_int_equal(s.dropped, 5);
    assert_int_equal(s.cut, 0);
    free(s.bytes);
}

/* -- long words -------------------------------------------------------------------- */

/* The length and counters of one word of `prefix` letters followed by `tail`. */
static transcript long_word(size_t prefix, const char *tail)
{
    char text[256];
    memset(text, 'x', prefix);
    memcpy(text + prefix, tail, strlen(tail));
    return tokenized_at_once(text, prefix + strlen(tail));
}

static void long_word_is_truncated_at_a_code_point(void **state)
{
    (void)state;
    static const struct {
        size_t prefix;
        const char *tail;
        size_t kept, cut;
    } table[] = {
        {63, "", 63, 0},
        {64, "", 63, 1},
        {200, "", 63, 1},
        {61, "\xc3\xa9", 63, 0},
        {62, "\xc3\xa9", 62, 1},
        {61, "\xe2\x82\xac", 61, 1},
        {60, "\xe2\x82\xac", 63, 0},
        {60, "\xf0\x9f\x8c\x8a", 60, 1},
        {59, "\xf0\x9f\x8c\x8a", 63, 0},
        {59, "\xf0\x9f\x8c\x8ax", 63, 1},
        {63, "\xff", 63, 1}, /* what is cut off is not judged */
        {64, "\xff", 63, 1},
        {56, "\xf0\x9f\x8c\x8a\x80\x80\x80\x80", 60,
         1}, /* nor these: three bytes back */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        transcript s = long_word(table[i].prefix, table[i].tail);
        assert_int_equal(s.size, table[i].kept + 2);
        assert_int_equal(s.cut, table[i].cut);
        assert_int_equal(s.invalid, 0);
        free(s.bytes);
    }
}

static void long_word_with_an_invalid_prefix_is_dropped(void **state)
{
    (void)state;
    transcript s = long_word(60, "\xff!!!!!!!!!");
    assert_int_equal(s.size, 0);
    assert_int_equal(s.invalid, 1);
    assert_int_equal(s.cut, 0);
    free(s.bytes);
}

/* A word of 300 MB, a thousand times the memory of the tokenizer. */
static void endless_word_needs_no_extra_memory_and_is_counted_once(void **state)
{
    (void)state;
    static unsigned char letters[1 << 20];
    memset(letters, 'x', sizeof letters);
    assert_true(tide_tokenizer_bytes(&space) < 400000);
    tide_tokenizer *t = tide_tokenizer_new(&space, NULL);
    transcript s = {0};
    feed_all(&s, t, "before ", 7, 1);
    for (int i = 0; i < 300; i++)
        feed_all(&s, t, letters, sizeof letters, 1);
    assert_int_equal(tide_tokenizer_pending(t), 300u * sizeof letters);
    feed_all(&s, t, " after\n", 7, 1);
    assert_int_equal(s.size, 7 + TIDE_WORD_MAX + 1 + 6 + 1);
    assert_int_equal(s.cut, 1);
    assert_int_equal(s.dropped, 300u * sizeof letters - TIDE_WORD_MAX);
    assert_int_equal(tide_tokenizer_pending(t), 0);
    free(s.bytes);
    tide_tokenizer_free(t);
}

/* -- division into feeds ----------------------------------------------------------- */

static void result_does_not_depend_on_feeds_or_batches(void **state)
{
    (void)state;
    enum { TEXT = 20000, RUNS = 60 };
    static const size_t pieces[] = {1, 7, 64, 4096, TEXT, 0};
    static const size_t rooms[] = {1, 2, 3, 64};
    unsigned char *text = malloc(TEXT);
    tide_rng rng = tide_rng_seeded(3);
    for (int run = 0; run < RUNS; run++) {
        size_t size = random_text(&rng, text, TEXT);
        transcript wanted = oracle_transcript(text, size, true);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            transcript s = tokenized(text, size, pieces[i], rooms[(i + run) % 4], &rng);
            assert_true(transcript_equal(&s, &wanted));
            free(s.bytes);
        }
        free(wanted.bytes);
    }
    free(text);
}

static void text_larger_than_the_buffer_is_fed_in_parts(void **state)
{
    (void)state;
    enum { TEXT = 3000000 };
    unsigned char *text = malloc(TEXT);
    tide_rng rng = tide_rng_seeded(4);
    size_t size = 0;
    while (size < TEXT / 2)
        size = random_text(&rng, text, TEXT);
    transcript wanted = oracle_transcript(text, size, true);
    transcript s = tokenized(text, size, size, BATCH, &rng);
    assert_true(transcript_equal(&s, &wanted));
    free(s.bytes);
    free(wanted.bytes);
    free(text);
}

/* Words are taken a few at a time, and more text is fed before all have been taken. */
static void feeding_before_all_words_are_taken_loses_nothing(void **state)
{
    (void)state;
    enum { TEXT = 20000 };
    unsigned char text[TEXT];
    tide_rng rng = tide_rng_seeded(5);
    for (int run = 0; run < 50; run++) {
        size_t size = random_text(&rng, text, TEXT), done = 0;
        transcript wanted = oracle_transcript(text, size, true), s = {0};
        tide_tokenizer *t = tide_tokenizer_new(&space, NULL);
        while (done < size) {
            size_t step = tide_rng_below(&rng, 100);
            step = step < size - done ? step : size - done;
            done += tide_tokenizer_feed(t, text + done, step);
            tide_word word;
            bool ended;
            if (tide_tokenizer_next(t, &word, 1, &ended))
                transcript_add(&s, word.bytes, word.length, ' ');
            if (ended)
                transcript_add(&s, NULL, 0, '\n');
        }
        tide_tokenizer_end(t);
        transcript_take(&s, t, 3);
        assert_true(transcript_equal(&s, &wanted));
        free(s.bytes);
        free(wanted.bytes);
        tide_tokenizer_free(t);
    }
}

static void tokenizer_can_be_reused_for_another_text(void **state)
{
    (void)state;
    transcript s = {0};
    tide_tokenizer *t = tide_tokenizer_new(&space, NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tide_tokenizer_feed(t, "one two", 7), 7);
        tide_tokenizer_end(t);
        tide_tokenizer_end(t);
        assert_int_equal(tide_tokenizer_feed(t, "x", 1),
                         0); /* what is there comes first */
        transcript_take(&s, t, BATCH);
        tide_tokenizer_end(t);
        transcript_take(&s, t, BATCH);
    }
    assert_transcript(&s, "one two \none two \none two \n");
    free(s.bytes);
    tide_tokenizer_free(t);
}

static void sixteen_bytes_of_every_word_are_readable(void **state)
{
    (void)state;
    tide_tokenizer *t = tide_tokenizer_new(&space, NULL);
    size_t capacity = 1 << 20, fed = 0;
    char *text = calloc(1, capacity);
    memset(text, ' ', capacity);
    memset(text, 'y', 1);
    fed = tide_tokenizer_feed(t, text, capacity);
    tide_word words[2];
    bool ended;
    tide_tokenizer_next(t, words, 1, &ended);
    transcript s = {0};
    transcript_take(&s, t, 1);
    text[fed - 1] = 'z'; /* the very last byte that fits */
    assert_int_equal(tide_tokenizer_feed(t, text, capacity), fed);
    tide_tokenizer_end(t);
    assert_int_equal(tide_tokenizer_next(t, words, 2, &ended), 2);
    unsigned sum = 0;
    for (int i = 0; i < 16; i++)
        sum += (unsigned char)words[1].bytes[i];
    assert_true(sum >= 'z');
    assert_int_equal(words[1].bytes[0], 'z');
    free(s.bytes);
    free(text);
    tide_tokenizer_free(t);
}

/* -- stopping and saving ----------------------------------------------------------- */

static void only_what_follows_a_taken_sentence_is_pending(void **state)
{
    (void)state;
    tide_tokenizer *t = tide_tokenizer_new(&space, NULL);
    tide_word words[BATCH];
    bool ended;
    tide_tokenizer_feed(t, "one two\nthree fo", 16);
    assert_int_equal(tide_tokenizer_next(t, words, BATCH, &ended), 2);
    assert_true(ended);
    assert_int_equal(tide_tokenizer_pending(t), 8);
    assert_int_equal(tide_tokenizer_next(t, words, BATCH, &ended), 1);
    assert_false(ended);
    assert_int_equal(tide_tokenizer_pending(t), 2);
    tide_tokenizer_end(t);
    assert_int_equal(tide_tokenizer_pending(t), 2);
    assert_int_equal(tide_tokenizer_next(t, words, BATCH, &ended), 1);
    assert_true(ended);
    assert_memory_equal(words[0].bytes, "fo", 2);
    assert_int_equal(tide_tokenizer_pending(t), 0);
    tide_tokenizer_free(t);
}

static void tokenizer_continues_after_save_and_load(void **state)
{
    (void)state;
    enum { TEXT = 2000 };
    unsigned char text[TEXT];
    tide_rng rng = tide_rng_seeded(7);
    for (int run = 0; run < 30; run++) {
        size_t size = random_text(&rng, text, TEXT);
        size_t stop = tide_rng_below(&rng, size + 1);
        transcript wanted = oracle_transcript(text, size, true);
        check_stop(&space, text, size, stop, &wanted);
        free(wanted.bytes);
    }
}

enum { SECTION = 64 + 1024 };

/* Loads a section of eight numbers and a word, and expects loading to fail. */
static void refused(const uint64_t numbers[8], const char *word, size_t size)
{
    tide_error err = {0};
    unsigned char section[SECTION + 1] = {0};
    for (int i = 0; i < 8; i++)
        tide_put64(section + 8 * i, numbers[i]);
    memcpy(section + 64, word, strlen(word));
    tide_store_writer *writer = tide_store_create(store_path(), &err);
    tide_store_put(writer, "tokenizer", section, size);
    assert_int_equal(tide_store_commit(writer, &err), TIDE_OK);
    tide_store *store = tide_store_open(store_path(), &err);
    assert_non_null(store);
    tide_tokenizer *t = tide_tokenizer_new(&space, NULL);
    assert_int_equal(tide_tokenizer_load(t, store, &err), TIDE_ERROR_FORMAT);
    assert_int_equal(tide_tokenizer_counted(t).bytes, 0);
    tide_tokenizer_free(t);
    tide_store_close(store);
    unlink(store_path());
}

static void corrupt_section_is_rejected(void **state)
{
    (void)state;
    /* bytes, invalid, cut, dropped, omitted, in a sentence, skipped, length */
    refused((uint64_t[]){9, 0, 0, 0, 0, 2, 0, 3}, "abc", SECTION);
    refused((uint64_t[]){9, 0, 0, 0, 0, 1, 1, 3}, "abc", SECTION);
    refused((uint64_t[]){2, 0, 0, 0, 0, 1, 0, 3}, "abc", SECTION);
    refused((uint64_t[]){9, 0, 0, 0, 0, 1, 0, 3}, "a b", SECTION);
    refused((uint64_t[]){9, 0, 0, 0, 0, 1, 0, 4}, "abc", SECTION);
    refused((uint64_t[]){900, 0, 0, 0, 0, 1, 0, 66}, "abc", SECTION);
    refused((uint64_t[]){900, 0, 0, 0, 0, 1, 0, UINT64_MAX}, "abc", SECTION);
    refused((uint64_t[]){9, 2, 0, 1, 0, 1, 0, 3}, "abc", SECTION);
    refused((uint64_t[]){9, 0, 2, 1, 0, 1, 0, 3}, "abc", SECTION);
    refused((uint64_t[]){9, 0, 0, 10, 0, 1, 0, 3}, "abc", SECTION);
    refused((uint64_t[]){9, 0, 0, 0, 10, 1, 0, 3}, "abc", SECTION);
    refused((uint64_t[]){9, 0, 0, 0, 0, 1, 0, 3}, "abc", SECTION - 1);
    refused((uint64_t[]){9, 0, 0, 0, 0, 1, 0, 3}, "abc", SECTION + 1);
}

static void allocation_failure_is_reported(void **state)
{
    (void)state;
    tide_error err = {0};
    allocations_left = 0;
    assert_null(tide_tokenizer_new(&space, &err));
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    allocations_left = 1;
    tide_tokenizer_options options = {.kind = TIDE_TOKENIZER_SPACE,
                                      .stop_words = "the"};
    assert_null(tide_tokenizer_new(&options, &err));
    assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    allocations_left = -1;
    tide_tokenizer_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_masks_classify_each_byte),
        cmocka_unit_test(words_are_separated_by_any_byte_up_to_0x20),
        cmocka_unit_test(line_feed_ends_a_sentence_and_nothing_else_does),
        cmocka_unit_test(empty_lines_yield_no_sentence),
        cmocka_unit_test(utf8_is_validated_strictly),
        cmocka_unit_test(invalid_word_does_not_affect_its_neighbors),
        cmocka_unit_test(long_word_is_truncated_at_a_code_point),
        cmocka_unit_test(long_word_with_an_invalid_prefix_is_dropped),
        cmocka_unit_test(endless_word_needs_no_extra_memory_and_is_counted_once),
        cmocka_unit_test(result_does_not_depend_on_feeds_or_batches),
        cmocka_unit_test(text_larger_than_the_buffer_is_fed_in_parts),
        cmocka_unit_test(feeding_before_all_words_are_taken_loses_nothing),
        cmocka_unit_test(tokenizer_can_be_reused_for_another_text),
        cmocka_unit_test(sixteen_bytes_of_every_word_are_readable),
        cmocka_unit_test(only_what_follows_a_taken_sentence_is_pending),
        cmocka_unit_test(tokenizer_continues_after_save_and_load),
        cmocka_unit_test(corrupt_section_is_rejected),
        cmocka_unit_test(allocation_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
