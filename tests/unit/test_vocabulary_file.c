/* test_vocabulary_file.c - vocabularies that are saved, loaded, continued and rejected;
 * counts so large that only a file can produce them. */
#include "file/file.h"
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"
#include "vocabulary_oracle.h"

/* -- files ------------------------------------------------------------------------- */

static tide_vocabulary *loaded(const char *path, const tide_vocabulary_options *options,
                               tide_error *err)
{
    tide_store *store = tide_store_open(path, err);
    assert_non_null(store);
    tide_vocabulary *v = tide_vocabulary_load(options, store, err);
    tide_store_close(store);
    return v;
}

static void a_loaded_vocabulary_continues_like_the_original(void **state)
{
    (void)state;
    stream s = stream_zipf(2000, 20000, 12);
    for (uint32_t i = 0; i < s.type_count; i += 5)
        stream_set_word(&s, i, 1 + i % 63 + (i % 63 < 3 ? 3 : 0));
    const size_t stops[] = {0, 1, 100, 3000, 9999, 20000};
    for (size_t i = 0; i < COUNT(setups); i++) {
        for (size_t k = 0; k < COUNT(stops); k++) {
            tide_vocabulary_options options = setup(i, 150, k % 2 == 0 ? 0 : 2000);
            tide_error err;
            tide_vocabulary *one = new_vocabulary(&options);
            stream_feed(&s, 0, stops[k], 64, one, NULL);
            save("a", one, NULL);
            tide_vocabulary *two = loaded("a", &options, &err);
            assert_non_null(two);
            stream_feed(&s, stops[k], s.token_count, 64, one, NULL);
            stream_feed(&s, stops[k], s.token_count, 17, two, NULL);
            save("a", one, NULL);
            save("b", two, NULL);
            assert_same_file("a", "b");
            tide_vocabulary_free(one);
            tide_vocabulary_free(two);
        }
    }
    stream_free(&s);
}

/* Inserted words are equivalent to counted ones: they are saved, loaded and counted
 * further, and the rarest of them are evicted. */
static void inserted_words_are_saved_loaded_and_evicted(void **state)
{
    (void)state;
    enum { INSERTED = 50, ROOM = 60 };
    stream s = stream_zipf(2000, 20000, 14);
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, ROOM, 0);
        tide_error err;
        tide_vocabulary *one = new_vocabulary(&options);
        for (uint32_t w = 0; w < INSERTED; w++)
            assert_int_equal(tide_vocabulary_insert(one, &s.types[1000 + w], 5 + w, w),
                             w);
        assert_int_equal(tide_vocabulary_error(one, 7), 7);
        save("a", one, NULL);
        tide_vocabulary *two = loaded("a", &options, &err);
        if (!two)
            fail_msg("%s", err.text);
        stream_feed(&s, 0, s.token_count, 64, one, NULL);
        stream_feed(&s, 0, s.token_count, 64, two, NULL);
        save("a", one, NULL);
        save("b", two, NULL);
        assert_same_file("a", "b");
        if (options.kind != TIDE_VOCABULARY_EXACT)
            assert_int_equal(tide_vocabulary_find(two, &s.types[1000]), TIDE_NO_SLOT);
        tide_vocabulary_free(one);
        tide_vocabulary_free(two);
    }
    stream_free(&s);
}

/* Indices in vocab.state. */
enum {
    TOKENS = 3,
    TOTAL,
    ADMITTED = 6,
    EVICTED,
    USED = 9,
    SIZE,
    MINIMUM,
    HAND,
    LOWEST
};

static void assert_rejected(const char *path, const tide_vocabulary_options *options)
{
    tide_error err = {0};
    assert_null(loaded(path, options, &err));
    assert_int_equal(err.status, TIDE_ERROR_FORMAT);
    assert_non_null(strstr(err.text, "vocab."));
}

/* Saves a full vocabulary of 40 words of the same length as "a". */
static void save_specimen(const tide_vocabulary_options *options)
{
    stream s = stream_zipf(100, 5000, 13);
    for (uint32_t i = 0; i < s.type_count; i++)
        stream_set_word(&s, i, 5);
    tide_vocabulary *v = new_vocabulary(options);
    stream_feed(&s, 0, s.token_count, 64, v, NULL);
    save("a", v, NULL);
    tide_vocabulary_free(v);
    stream_free(&s);
}

static void a_file_of_another_vocabulary_is_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, 40, 0), other;
        save_specimen(&options);
        tide_error err;
        tide_vocabulary *v = loaded("a", &options, &err);
        assert_non_null(v);
        tide_vocabulary_free(v);
        other = options, other.capacity = 41;
        assert_rejected("a", &other);
        other = options, other.seed++;
        assert_rejected("a", &other);
        other = setup((i + 1) % COUNT(setups), 40, 0), other.seed = options.seed;
        assert_rejected("a", &other);
    }
}

static void inconsistent_numbers_in_a_file_are_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *section;
        size_t place;
        uint64_t number;
    } edits[] = {
        {"vocab.state", TOKENS, 4999},
        {"vocab.state", TOKENS, UINT64_MAX},
        {"vocab.state", TOTAL, 5001},
        {"vocab.state", TOTAL, 3},
        {"vocab.state", ADMITTED, 1000000},
        {"vocab.state", EVICTED, 1000000},
        {"vocab.state", USED, 39},
        {"vocab.state", USED, 41},
        {"vocab.state", USED, UINT64_MAX},
        {"vocab.state", SIZE, 1},
        {"vocab.state", HAND, 41},
        {"vocab.state", HAND, UINT64_MAX},
        {"vocab.counts", 0, 0},
        {"vocab.counts", 0, 5001},
        {"vocab.counts", 1, 5000},
        {"vocab.counts", 79, UINT64_MAX},
        {"vocab.lengths", 0, 0x0505050505050500}, /* an empty word */
        {"vocab.lengths", 0, 0x0505050505050540}, /* 64 bytes */
        {"vocab.lengths", 0, 0x0505050505050506},
        {"vocab.lengths", 4, 0x0405050505050505},
    };
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, 40, 0);
        save_specimen(&options);
        for (size_t k = 0; k < COUNT(edits); k++) {
            replace_number("a", "b", edits[k].section, edits[k].place, edits[k].number);
            tide_error err;
            tide_vocabulary *v = loaded("b", &options, &err);
            bool fine = setups[i].kind == TIDE_VOCABULARY_EXACT &&
                        strcmp(edits[k].section, "vocab.counts") == 0 &&
                        edits[k].number == 0; /* possible after a halving */
            if (v && !fine)
                fail_msg("setup %zu: %s[%zu] = %llu was accepted", i, edits[k].section,
                         edits[k].place, (unsigned long long)edits[k].number);
            if (!fine)
                assert_int_equal(err.status, TIDE_ERROR_FORMAT);
            tide_vocabulary_free(v);
        }
    }
    for (size_t i = 0; i < 3; i++) { /* all kinds but exact rely on the minimum */
        tide_vocabulary_options options = setup(i, 40, 0);
        save_specimen(&options);
        replace_number("a", "b", "vocab.state", MINIMUM, 4000);
        assert_rejected("b", &options);
    }
}

static void a_duplicate_word_is_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, 40, 0);
        save_specimen(&options);
        size_t size;
        unsigned char *text = read_section("a", "vocab.text", &size);
        memcpy(text + 5 * 2, text + 5 * 30, 5);
        replace_section("a", "b", "vocab.text", text, size);
        assert_rejected("b", &options);
        free(text);
    }
}

static void sections_of_the_wrong_size_are_rejected(void **state)
{
    (void)state;
    const char *const sections[] = {"vocab.state", "vocab.counts", "vocab.lengths",
                                    "vocab.text", "vocab.gate"};
    tide_vocabulary_options options = setup(1, 40, 0);
    save_specimen(&options);
    for (size_t i = 0; i < COUNT(sections); i++) {
        size_t size;
        unsigned char *bytes = read_section("a", sections[i], &size);
        const size_t sizes[] = {0, size - 1, size + 1};
        bytes[size] = 0;
        for (size_t k = 0; k < COUNT(sizes); k++) {
            replace_section("a", "b", sections[i], bytes, sizes[k]);
            assert_rejected("b", &options);
        }
        free(bytes);
    }
}

/* -- large numbers ----------------------------------------------------------------- */

/* Sets the counts of a vocabulary of three words close to overflow. */
static tide_vocabulary *vocabulary_of_giants(const tide_vocabulary_options *options,
                                             const stream *s, uint64_t count)
{
    tide_vocabulary *v = new_vocabulary(options);
    stream_feed(s, 0, 3, 1, v, NULL);
    save("a", v, NULL);
    tide_vocabulary_free(v);
    replace_number("a", "b", "vocab.state", TOKENS, INT64_MAX - 10000);
    replace_number("b", "a", "vocab.state", TOTAL, INT64_MAX - 10000);
    for (size_t slot = 0; slot < 3; slot++) {
        replace_number("a", "b", "vocab.counts", 2 * slot, count);
        replace_number("b", "a", "vocab.counts", 2 * slot, count);
    }
    if (options->kind == TIDE_VOCABULARY_SPACE_SAVING)
        replace_number("b", "a", "vocab.state", MINIMUM, count);
    tide_error err;
    v = loaded("a", options, &err);
    assert_non_null(v);
    return v;
}

static void totals_near_two_to_the_63_are_counted_and_halved(void **state)
{
    (void)state;
    const uint64_t count = UINT64_C(3) << 60;
    stream s = stream_new(3, 1003);
    for (uint32_t i = 0; i < s.token_count; i++)
        s.tokens[i] = i < 3 ? i : 0;
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, 3, 1003);
        tide_vocabulary *v = vocabulary_of_giants(&options, &s, count);
        stream_feed(&s, 3, 1002, 64, v, NULL);
        assert_int_equal(tide_vocabulary_count(v, 0), count + 999);
        assert_int_equal(tide_vocabulary_total(v), INT64_MAX - 9001);
        stream_feed(&s, 1002, 1003, 64, v, NULL);
        assert_int_equal(tide_vocabulary_count(v, 0), (count + 1000) / 2);
        assert_int_equal(tide_vocabulary_count(v, 1), count / 2);
        assert_int_equal(tide_vocabulary_total(v), (INT64_MAX - 9000) / 2);
        assert_int_equal(tide_vocabulary_tokens(v), INT64_MAX - 9000);
        tide_vocabulary_free(v);
    }
    stream_free(&s);
}

/* The gate counts in 32 bits. Once a cell is saturated, it must not reject a word that
 * may be above the minimum. */
static void words_of_a_saturated_gate_cell_are_admitted(void **state)
{
    (void)state;
    const uint64_t count = UINT64_C(1) << 33;
    stream s = stream_new(5, 5);
    for (uint32_t i = 0; i < 5; i++)
        s.tokens[i] = i < 3 ? i : 3;
    tide_vocabulary_options options = setup(1, 3, 0);
    tide_vocabulary_free(vocabulary_of_giants(&options, &s, count));
    size_t size;
    unsigned char *cells = read_section("a", "vocab.gate", &size);
    for (size_t i = 0; i < size; i += 4) /* the maximum minus 2 */
        memcpy(cells + i, "\xfd\xff\xff\xff", 4);
    replace_section("a", "b", "vocab.gate", cells, size);
    free(cells);
    tide_error err;
    tide_vocabulary *v = loaded("b", &options, &err);
    assert_non_null(v);
    stream_feed(&s, 3, 4, 1, v, NULL);
    assert_int_equal(tide_vocabulary_find(v, &s.types[3]), TIDE_NO_SLOT);
    stream_feed(&s, 4, 5, 1, v, NULL);
    uint32_t slot = tide_vocabulary_find(v, &s.types[3]);
    assert_int_not_equal(slot, TIDE_NO_SLOT);
    assert_int_equal(tide_vocabulary_count(v, slot), count + 1);
    assert_int_equal(tide_vocabulary_error(v, slot), count);
    tide_vocabulary_free(v);
    stream_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_vocabulary_continues_like_the_original),
        cmocka_unit_test(inserted_words_are_saved_loaded_and_evicted),
        cmocka_unit_test(a_file_of_another_vocabulary_is_rejected),
        cmocka_unit_test(inconsistent_numbers_in_a_file_are_rejected),
        cmocka_unit_test(a_duplicate_word_is_rejected),
        cmocka_unit_test(sections_of_the_wrong_size_are_rejected),
        cmocka_unit_test(totals_near_two_to_the_63_are_counted_and_halved),
        cmocka_unit_test(words_of_a_saturated_gate_cell_are_admitted),
    };
    return cmocka_run_group_tests_name("vocabulary files", tests, enter_folder,
                                       leave_folder);
}
