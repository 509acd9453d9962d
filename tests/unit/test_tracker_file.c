/* test_tracker_file.c - a loaded label tracker continues exactly like the saved one,
 * and corrupt files are rejected.
 */
#include "base/base.h"
#include "file/file.h"
#include "label/label.h"
#include "tracker_fixture.h"

static void save_tracker(const char *path, const tide_tracker *t)
{
    tide_error err;
    tide_store_writer *writer = tide_store_create(path, &err);
    assert_non_null(writer);
    tide_tracker_save(t, writer);
    assert_int_equal(tide_store_commit(writer, &err), TIDE_OK);
}

static tide_tracker *loaded(const char *path, const tide_tracker_options *options,
                            tide_error *err)
{
    tide_store *store = tide_store_open(path, err);
    assert_non_null(store);
    tide_tracker *t = tide_tracker_load(options, store, err);
    tide_store_close(store);
    return t;
}

static void feed(tide_tracker *t, tide_rng *rng, uint64_t first, uint64_t end)
{
    for (; first < end; first++) {
        post p = random_post(rng, 30, first);
        add(t, &p);
    }
}

static void a_stop_changes_nothing(void **state)
{
    (void)state;
    const uint64_t stops[] = {0, 1, 30, 400, 1500};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        tide_tracker_options options = small(9, 700, i);
        tide_tracker *whole = made(&options);
        tide_rng rng = tide_rng_seeded(i), same;
        feed(whole, &rng, 0, stops[i]);
        save_tracker("a", whole);
        same = rng;
        feed(whole, &rng, stops[i], 2000);
        save_tracker("b", whole);
        tide_tracker_free(whole);

        tide_error err;
        tide_store *store = tide_store_open("a", &err);
        assert_non_null(store);
        allocated_bytes = 0;
        tide_tracker *half = tide_tracker_load(&options, store, &err);
        assert_non_null(half);
        assert_int_equal(allocated_bytes, tide_tracker_bytes(&options));
        tide_store_close(store);
        save_tracker("c", half);
        assert_same_file("a", "c");
        feed(half, &same, stops[i], 2000);
        save_tracker("c", half);
        assert_same_file("b", "c");
        tide_tracker_free(half);
    }
}

/* Each allocation fails in turn, when a tracker is created and when it is loaded. */
static void failed_allocations_are_reported(void **state)
{
    (void)state;
    tide_tracker_options options = small(9, 700, 3);
    tide_rng rng = tide_rng_seeded(4);
    tide_tracker *t = made(&options);
    feed(t, &rng, 0, 300);
    save_tracker("a", t);
    tide_tracker_free(t);
    for (int load = 0; load < 2; load++) {
        int failures = 0;
        for (bool done = false; !done; failures += !done) {
            tide_error err = {0};
            tide_store *store = tide_store_open("a", &err);
            assert_non_null(store);
            allocations_left = failures;
            t = load ? tide_tracker_load(&options, store, &err)
                     : tide_tracker_new(&options, &err);
            allocations_left = -1;
            tide_store_close(store);
            done = t != NULL;
            if (!done)
                assert_int_equal(err.status, TIDE_ERROR_MEMORY);
            tide_tracker_free(t);
        }
        assert_int_equal(failures, 10);
    }
}

/* Copies file "a" to "b" with other bytes in one section. */
static void replace(const char *name, const unsigned char *bytes, size_t size)
{
    static const char *const names[] = {
        "label.state",   "label.counts",  "label.lengths", "label.text",
        "label.arrived", "label.tracker", "label.samples", "label.posts"};
    tide_error err;
    tide_store_writer *writer = tide_store_create("b", &err);
    assert_non_null(writer);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t same;
        unsigned char *copy = read_section("a", names[i], &same);
        bool other = strcmp(names[i], name) == 0;
        tide_store_put(writer, names[i], other ? bytes : copy, other ? size : same);
        free(copy);
    }
    assert_int_equal(tide_store_commit(writer, &err), TIDE_OK);
}

/* Rejected with the section's name, or usable like any other. */
static bool survives(const tide_tracker_options *options, const char *name)
{
    tide_error err = {0};
    tide_tracker *t = loaded("b", options, &err);
    if (!t) {
        assert_int_equal(err.status, TIDE_ERROR_FORMAT);
        assert_non_null(strstr(err.text, name));
        return false;
    }
    tide_rng rng = tide_rng_seeded(9);
    feed(t, &rng, 0, 100);
    assert_true(tide_tracker_state(t).used <= tide_tracker_state(t).limit);
    tide_tracker_free(t);
    return true;
}

static void corrupt_sections_are_rejected_by_name(void **state)
{
    (void)state;
    tide_tracker_options options = small(9, 700, 3);
    tide_rng rng = tide_rng_seeded(4);
    tide_tracker *t = made(&options);
    feed(t, &rng, 0, 900);
    save_tracker("a", t);
    tide_tracker_free(t);
    const char *const names[] = {"label.tracker", "label.samples", "label.posts"};
    for (int section = 0; section < 3; section++) {
        size_t size;
        unsigned char *bytes = read_section("a", names[section], &size);
        int tried = 0, refused = 0;
        replace(names[section], bytes, size - 8);
        assert_false(survives(&options, names[section]));
        replace(names[section], bytes, 0);
        assert_false(survives(&options, "label."));
        for (; tried < 100; tried++) {
            size_t at = tide_rng_below(&rng, size);
            unsigned char was = bytes[at];
            bytes[at] = (unsigned char)tide_rng_next(&rng);
            replace(names[section], bytes, size);
            refused += bytes[at] != was && !survives(&options, "label.");
            bytes[at] = was;
        }
        assert_true(refused > 10);
        free(bytes);
    }
    options.max_posts++;
    tide_error err = {0};
    assert_null(loaded("a", &options, &err));
    assert_non_null(strstr(err.text, "label.tracker"));
}

/* -- invalid files ---------------------------------------------------------------- */

typedef struct bytes {
    unsigned char at[8192];
    size_t size;
} bytes;

/* A post in the file, whose labels are "\4tag0\4tag1" and so on. */
static void put_post(bytes *b, uint64_t number, const char *labels, size_t text,
                     uint32_t sample_bits)
{
    uint64_t labels_size = strlen(labels), size = labels_size + text;
    tide_put64(b->at + b->size, 1000 + b->size);
    tide_put64(b->at + b->size + 8, number);
    tide_put64(b->at + b->size + 16,
               labels_size | size << 16 | (uint64_t)sample_bits << 32);
    memcpy(b->at + b->size + 24, labels, labels_size);
    memset(b->at + b->size + 24 + labels_size, 'x', text);
    b->size += 24 + size;
}

static void assert_refused(const tide_tracker_options *options, const bytes *posts,
                           const char *why)
{
    tide_error err = {0};
    replace("label.posts", posts->at, posts->size);
    assert_null(loaded("b", options, &err));
    assert_int_equal(err.status, TIDE_ERROR_FORMAT);
    assert_non_null(strstr(err.text, "label.posts"));
    if (!strstr(err.text, why))
        fail_msg("%s, not %s", err.text, why);
}

static void invalid_posts_are_rejected(void **state)
{
    (void)state;
    const struct {
        const char *labels, *why;
        size_t text, count;
        uint64_t number;
        uint32_t sample_bits;
    } cases[] = {
        {"", "invalid post size", 5, 1, 0, 1},
        {"\4tag0", "invalid post size", 0, 1, 0, 1},
        {"\4tag0", "invalid post size", 65, 1, 0, 1},
        {"\4tag", "invalid post labels", 5, 1, 0, 1},
        {"\100tag", "invalid post labels", 5, 1, 0, 1},
        {"\4tag0\4tag0", "invalid post labels", 5, 1, 0, 1},
        {"\4tag0\4tag0", "invalid post labels", 5, 1, 0, 3},
        {"\4tag0", "in no sample", 5, 1, 0, 0},
        {"\4tag0", "does not have", 5, 1, 0, 3},
        {"\4tag2", "unknown label", 5, 1, 0, 1},
        {"\4tag0", "number out of range", 5, 1, 2, 1},
        {"\4tag1", "number out of range", 5, 1, 0, 1},
        {"\4tag0", "too many posts", 5, 2, 0, 1},
        {"\4tag0", "lacks posts", 5, 1, 0, 1},
        {"\4tag0\4tag1", "too many posts", 5, 2, 1, 3},
    };
    tide_tracker_options options = small(2, 300, 1);
    tide_tracker *t = made(&options);
    add_one(t, 0, "words");
    add_one(t, 1, "words");
    save_tracker("a", t);
    tide_tracker_free(t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes posts = {.size = 0};
        for (size_t k = 0; k < cases[i].count; k++)
            put_post(&posts, cases[i].number, cases[i].labels, cases[i].text,
                     cases[i].sample_bits);
        assert_refused(&options, &posts, cases[i].why);
    }
    bytes one_missing_bit = {.size = 0}, none = {.size = 0}, cut = {.size = 0};
    put_post(&one_missing_bit, 1, "\4tag0\4tag1", 5, 1);
    put_post(&one_missing_bit, 1, "\4tag1", 5, 1);
    assert_refused(&options, &one_missing_bit, "lacks posts");
    assert_refused(&options, &none, "lacks posts");
    put_post(&cut, 0, "\4tag0", 5, 1);
    cut.size -= 1;
    assert_refused(&options, &cut, "invalid post size");
    cut.size = 10;
    assert_refused(&options, &cut, "ends before");
}

static void posts_that_exceed_the_memory_are_rejected(void **state)
{
    (void)state;
    enum { SEEN = 40, FIT = 22 };
    char text[65] = {0};
    memset(text, 'x', 64);
    tide_tracker_options options = small(2, 220, 1);
    tide_tracker *t = made(&options);
    for (int i = 0; i < SEEN; i++)
        add_one(t, 0, text);
    assert_int_equal(label_of(t, 0).kept, FIT);
    save_tracker("a", t);
    tide_tracker_free(t);
    size_t size;
    unsigned char *samples = read_section("a", "label.samples", &size);
    assert_int_equal(tide_get64(samples + 16), FIT);
    tide_put64(samples + 16, SEEN);
    replace("label.samples", samples, size);
    free(samples);
    assert_int_equal(rename("b", "a"), 0);
    bytes posts = {.size = 0};
    for (uint64_t i = 0; i < SEEN; i++)
        put_post(&posts, i, "\4tag0", 64, 1);
    assert_refused(&options, &posts, "exceed the memory");
}

/* Slots in ascending order of sample size, so that the heap has to be rebuilt; then all
 * of the memory is needed. */
static void the_largest_sample_loses_posts_after_loading(void **state)
{
    (void)state;
    tide_tracker_options options = small(12, 110 + 3 * 81, 1);
    tide_tracker *t = made(&options);
    for (int tag = 0; tag < 12; tag++)
        for (int i = 0; i <= tag; i++)
            add_one(t, 7 * tag, "a few words");
    assert_int_equal(tide_tracker_state(t).evicted, 0);
    save_tracker("a", t);
    tide_tracker_free(t);
    tide_error err = {0};
    t = loaded("a", &options, &err);
    assert_non_null(t);
    for (int i = 0; i < 5; i++)
        add_one(t, 0, "a few words");
    assert_int_equal(tide_tracker_state(t).evicted, 2);
    assert_int_equal(label_of(t, 77).kept, 11);
    assert_int_equal(label_of(t, 70).kept, 10);
    assert_int_equal(label_of(t, 63).kept, 10);
    assert_int_equal(label_of(t, 0).kept, 6);
    tide_tracker_free(t);
}

/* The number of posts so far does not matter: an old tracker keeps what a young one
 * does. */
static void a_tracker_resumes_at_any_age(void **state)
{
    (void)state;
    enum { POSTS = 6, FIRST = 400, MORE = 2000 };
    const int bits[] = {24, 32, 53, 63};
    tide_tracker_options options = small(9, 700, 3);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        tide_error err;
        tide_rng rng = tide_rng_seeded(4), same;
        tide_tracker *young = made(&options);
        feed(young, &rng, 0, FIRST);
        save_tracker("a", young);
        uint64_t older = (UINT64_C(1) << bits[i]) - 1000 - FIRST;
        size_t size;
        unsigned char *numbers = read_section("a", "label.tracker", &size);
        tide_put64(numbers + 8 * POSTS, FIRST + older);
        replace("label.tracker", numbers, size);
        free(numbers);
        tide_tracker *old = loaded("b", &options, &err);
        assert_non_null(old);
        same = rng;
        feed(young, &rng, FIRST, FIRST + MORE);
        feed(old, &same, FIRST, FIRST + MORE);
        assert_int_equal(tide_tracker_state(old).posts, FIRST + MORE + older);
        assert_int_equal(tide_tracker_state(old).used, tide_tracker_state(young).used);
        for (int tag = 0; tag < 30; tag++) {
            assert_int_equal(label_of(old, tag).kept, label_of(young, tag).kept);
            assert_int_equal(label_of(old, tag).seen, label_of(young, tag).seen);
        }
        save_tracker("c", old);
        tide_tracker_free(old);
        tide_tracker_free(young);
        old = loaded("c", &options, &err);
        assert_non_null(old);
        tide_tracker_free(old);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_changes_nothing),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(corrupt_sections_are_rejected_by_name),
        cmocka_unit_test(invalid_posts_are_rejected),
        cmocka_unit_test(posts_that_exceed_the_memory_are_rejected),
        cmocka_unit_test(the_largest_sample_loses_posts_after_loading),
        cmocka_unit_test(a_tracker_resumes_at_any_age),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
