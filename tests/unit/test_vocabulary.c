/* test_vocabulary.c - the guarantees of the vocabularies, checked against exact
 * counts. */
#include "base/base.h"
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"
#include "vocab/word_table.h"
#include "vocabulary_oracle.h"

/* -- bounds against the truth ------------------------------------------------------ */

/* Feeds the stream in batches of random size and checks every result. */
static void feed_and_check(tide_vocabulary *v, truth *t,
                           const tide_vocabulary_options *options)
{
    enum { BATCH = 70 };
    tide_word words[BATCH];
    uint32_t slots[BATCH];
    tide_admission admissions[BATCH];
    bool silent = options->kind == TIDE_VOCABULARY_MISRA_GRIES;
    tide_rng rng = tide_rng_seeded(99);
    const stream *s = t->s;
    for (size_t first = 0, count; first < s->token_count; first += count) {
        count = 1 + tide_rng_below(&rng, BATCH);
        if (count > s->token_count - first)
            count = s->token_count - first;
        for (size_t i = 0; i < count; i++)
            words[i] = s->types[s->tokens[first + i]];
        size_t admitted = tide_vocabulary_add(v, words, count, slots, admissions);
        size_t next = 0;
        for (size_t i = 0; i < count; i++) {
            uint32_t type = s->tokens[first + i];
            if (silent && (slots[i] == TIDE_NO_SLOT ||
                           (next < admitted && admissions[next].at == i)))
                truth_drop(t, type);
            if (next < admitted && admissions[next].at == i) {
                assert_int_equal(t->slots[type], TIDE_NO_SLOT);
                truth_admit(t, type, &admissions[next++]);
            }
            assert_int_equal(slots[i], t->slots[type]);
            truth_count(t, type, options->half_life);
        }
        assert_int_equal(next, admitted);
    }
}

static void check_slots(const tide_vocabulary *v, truth *t, bool silent)
{
    uint32_t held = 0;
    for (uint32_t slot = 0; slot < t->capacity; slot++) {
        uint32_t length;
        const char *text = tide_vocabulary_word(v, slot, &length);
        uint32_t type = t->owners[slot];
        if (!text && silent && type != TIDE_NO_SLOT) {
            truth_drop(t, type);
            type = TIDE_NO_SLOT;
        }
        if (slot >= tide_vocabulary_used(v))
            assert_int_equal(type, TIDE_NO_SLOT);
        uint64_t count = tide_vocabulary_count(v, slot);
        uint64_t error = tide_vocabulary_error(v, slot);
        uint64_t weight = tide_vocabulary_weight(v, slot);
        if (type == TIDE_NO_SLOT) {
            assert_null(text);
            assert_true(length == 0 && count == 0 && error == 0 && weight == 0);
            continue;
        }
        held++;
        assert_int_equal(length, t->s->types[type].length);
        assert_memory_equal(text, t->s->types[type].bytes, length);
        assert_true(error <= count);
        assert_true(count - error <= t->counts[type]);
        assert_true(t->counts[type] <= count);
        assert_true(weight <= count && (weight > 0 || !silent));
    }
    assert_int_equal(held, tide_vocabulary_size(v));
}

static void check_types(const tide_vocabulary *v, const truth *t)
{
    uint64_t minimum = tide_vocabulary_minimum(v);
    for (uint32_t type = 0; type < t->s->type_count; type++) {
        uint32_t slot = tide_vocabulary_find(v, &t->s->types[type]);
        assert_int_equal(slot, t->slots[type]);
        if (slot == TIDE_NO_SLOT)
            assert_true(t->counts[type] <= minimum);
    }
}

/* The bounds that hold without halving; K is the capacity, N the number of tokens. */
static void check_bounds(const tide_vocabulary *v, const truth *t, size_t which)
{
    uint64_t counts = 0, weights = 0, K = t->capacity, N = t->total;
    uint64_t minimum = tide_vocabulary_minimum(v);
    bool exact = setups[which].kind == TIDE_VOCABULARY_EXACT;
    for (uint32_t slot = 0; slot < t->capacity; slot++) {
        counts += tide_vocabulary_count(v, slot);
        weights += tide_vocabulary_weight(v, slot);
        assert_true(tide_vocabulary_error(v, slot) <= (exact ? 0 : N / K));
    }
    for (uint32_t type = 0; type < t->s->type_count; type++)
        if (!exact && t->counts[type] > N / K)
            assert_int_not_equal(t->slots[type], TIDE_NO_SLOT);
    if (which == 0)
        assert_int_equal(counts, N);
    if (which == 1)
        assert_true(counts <= N);
    if (which <= 1)
        assert_true(minimum <= N / K);
    if (which == 2)
        assert_int_equal(weights, N - (K + 1) * minimum);
    if (which == 3)
        assert_int_equal(counts, N - tide_vocabulary_rejected(v));
    assert_int_equal(tide_vocabulary_tokens(v), N);
}

static void check_stream(const stream *s, uint32_t capacity, uint64_t half_life)
{
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, capacity, half_life);
        tide_vocabulary *v = new_vocabulary(&options);
        truth t = truth_new(s, capacity);
        feed_and_check(v, &t, &options);
        check_slots(v, &t, options.kind == TIDE_VOCABULARY_MISRA_GRIES);
        check_types(v, &t);
        assert_int_equal(tide_vocabulary_total(v), t.total);
        assert_int_equal(tide_vocabulary_admitted(v) - tide_vocabulary_evicted(v),
                         tide_vocabulary_size(v));
        if (half_life == 0)
            check_bounds(v, &t, i);
        truth_free(&t);
        tide_vocabulary_free(v);
    }
}

static void check_capacities(stream *s)
{
    const uint32_t capacities[] = {1, 2, 7, 100, 1000};
    const uint64_t half_lives[] = {0, 1, 13, 1000, 7777};
    for (size_t i = 0; i < COUNT(capacities); i++)
        check_stream(s, capacities[i], 0);
    for (size_t i = 0; i < COUNT(half_lives); i++)
        check_stream(s, 50, half_lives[i]);
    stream_free(s);
}

/* -- streams ----------------------------------------------------------------------- */

static void bounds_hold_on_a_zipf_stream(void **state)
{
    (void)state;
    stream s = stream_zipf(3000, 30000, 5);
    check_capacities(&s);
}

static void bounds_hold_on_a_uniform_stream(void **state)
{
    (void)state;
    stream s = stream_new(400, 20000);
    tide_rng rng = tide_rng_seeded(6);
    for (size_t i = 0; i < s.token_count; i++)
        s.tokens[i] = (uint32_t)tide_rng_below(&rng, s.type_count);
    check_capacities(&s);
}

static void bounds_hold_when_every_word_is_new(void **state)
{
    (void)state;
    stream s = stream_new(8000, 8000);
    for (uint32_t i = 0; i < s.token_count; i++)
        s.tokens[i] = i;
    check_capacities(&s);
}

static void bounds_hold_when_one_word_more_than_fits_cycles(void **state)
{
    (void)state;
    const uint32_t capacities[] = {1, 2, 7, 100};
    for (size_t k = 0; k < COUNT(capacities); k++) {
        stream s = stream_new(capacities[k] + 1, 5000);
        for (uint32_t i = 0; i < s.token_count; i++)
            s.tokens[i] = i % s.type_count;
        check_stream(&s, capacities[k], 0);
        check_stream(&s, capacities[k], 101);
        stream_free(&s);
    }
}

static void bounds_hold_when_one_word_is_spammed(void **state)
{
    (void)state;
    stream s = stream_new(3000, 20000);
    for (uint32_t i = 0; i < s.token_count; i++)
        s.tokens[i] = i % 8 == 0 ? 1 + i / 8 % 2999 : 0;
    check_capacities(&s);
}

/* K frequent words, then a flood of new ones: successive minimums are far apart. */
static void bounds_hold_when_a_flood_follows_heavy_words(void **state)
{
    (void)state;
    stream s = stream_new(6000, 20000);
    for (uint32_t i = 0; i < s.token_count; i++)
        s.tokens[i] = i < 14000 ? i % 100 : i - 14000;
    check_capacities(&s);
}

static void words_that_share_their_first_15_bytes_are_distinct(void **state)
{
    (void)state;
    stream s = stream_zipf(300, 10000, 7);
    for (uint32_t i = 0; i < s.type_count; i++)
        s.types[i].length = (uint32_t)snprintf(
            s.texts[i], sizeof s.texts[i], "fifteen bytes..%.*s%u", (int)(i % 40),
            "----------------------------------------", i);
    check_capacities(&s);
}

static void words_of_every_length_and_byte_are_distinct(void **state)
{
    (void)state;
    const uint32_t lengths[] = {1, 3, 13, 14, 15, 16, 17, 31, 62, 63};
    stream s = stream_zipf(1000, 10000, 8);
    for (uint32_t i = 0; i < s.type_count; i++) {
        uint32_t length = lengths[i % COUNT(lengths)];
        stream_set_word(&s, i, length == 1 && i >= 255 ? 3 : length);
    }
    check_capacities(&s);
}

/* The bytes after a word in its buffer do not matter. */
static void a_word_ends_where_its_length_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, 100, 0);
        tide_vocabulary *v = new_vocabulary(&options);
        char one[96], two[96];
        memset(one, 'x', sizeof one);
        memset(two, 'x', sizeof two);
        for (uint32_t length = 1; length <= TIDE_WORD_MAX; length++) {
            memset(two + length, 'y', sizeof two - length);
            uint32_t slot;
            tide_admission admission;
            tide_word word = {one, length};
            assert_int_equal(tide_vocabulary_add(v, &word, 1, &slot, &admission), 1);
            assert_int_equal(slot, length - 1);
            word.bytes = two;
            assert_int_equal(tide_vocabulary_find(v, &word), slot);
            memset(two, 'x', sizeof two);
        }
        assert_int_equal(tide_vocabulary_size(v), TIDE_WORD_MAX);
        tide_vocabulary_free(v);
    }
}

/* Even if their hashes, which are their keys in the table, are equal. */
static void long_words_are_compared_completely(void **state)
{
    (void)state;
    tide_vocabulary_options options = setup(0, 10, 0);
    tide_vocabulary *v = new_vocabulary(&options);
    tide_word one = {"a word of twenty byte", 20}, two = {"a word of twenty-byte", 20};
    uint32_t slot;
    tide_admission admission;
    tide_vocabulary_add(v, &one, 1, &slot, &admission);
    tide_key key = tide_word_table_key(&v->words, &one);
    assert_int_equal(tide_word_table_find(&v->words, &key), slot);
    key.bytes = two.bytes;
    assert_int_equal(tide_word_table_find(&v->words, &key), TIDE_NO_SLOT);
    tide_vocabulary_free(v);
}

/* -- space-saving in particular ---------------------------------------------------- */

/* The clock hand in its simplest form: the minimum rises by one per cycle. */
static void the_hand_evicts_the_same_words_as_a_naive_scan(void **state)
{
    (void)state;
    enum { K = 50 };
    stream s = stream_zipf(1000, 20000, 9);
    tide_vocabulary_options options = setup(0, K, 0);
    tide_vocabulary *v = new_vocabulary(&options);
    uint64_t counts[K] = {0};
    uint32_t owners[K], used = 0, hand = 0;
    uint64_t minimum = 1;
    for (size_t i = 0; i < s.token_count; i++) {
        uint32_t slot = 0, found;
        while (slot < used && owners[slot] != s.tokens[i])
            slot++;
        if (slot == used && used < K)
            owners[used++] = s.tokens[i];
        while (slot == K) {
            if (hand == K)
                hand = 0, minimum++;
            if (counts[hand++] == minimum)
                slot = hand - 1;
        }
        owners[slot] = s.tokens[i];
        counts[slot]++;
        tide_admission admission;
        tide_vocabulary_add(v, &s.types[s.tokens[i]], 1, &found, &admission);
        assert_int_equal(found, slot);
        assert_int_equal(tide_vocabulary_count(v, slot), counts[slot]);
    }
    tide_vocabulary_free(v);
    stream_free(&s);
}

/* The number of the K most frequent words that are missing. Types are in descending
 * order of frequency. */
static uint32_t dropped_top(const stream *s, size_t which, uint32_t capacity,
                            uint64_t *evicted)
{
    tide_vocabulary_options options = setup(which, capacity, 0);
    tide_vocabulary *v = new_vocabulary(&options);
    stream_feed(s, 0, s->token_count, 100, v, NULL);
    uint32_t dropped = 0;
    for (uint32_t type = 0; type < capacity; type++)
        dropped += tide_vocabulary_find(v, &s->types[type]) == TIDE_NO_SLOT;
    *evicted = tide_vocabulary_evicted(v);
    tide_vocabulary_free(v);
    return dropped;
}

/* Plain space-saving drops about half of these 500 words, with the gate about 40 are
 * dropped, most of them near rank 500, where adjacent true counts differ by less than
 * the error. */
static void the_gate_keeps_top_words_that_plain_space_saving_drops(void **state)
{
    (void)state;
    stream s = stream_zipf(20000, 300000, 10);
    uint64_t plain_evicted, gate_evicted;
    uint32_t plain = dropped_top(&s, 0, 500, &plain_evicted);
    uint32_t gate = dropped_top(&s, 1, 500, &gate_evicted);
    assert_true(plain > 150);
    assert_true(gate * 3 < plain);
    assert_true(gate_evicted * 20 < plain_evicted);
    stream_free(&s);
}

/* The last token before the halving belongs to a held word, so it changes no cell. */
static void halving_halves_the_gate(void **state)
{
    (void)state;
    enum { TOKENS_BEFORE = 5000 };
    stream s = stream_zipf(1000, TOKENS_BEFORE + 1, 20);
    s.tokens[TOKENS_BEFORE] = 0;
    tide_vocabulary_options options = setup(1, 50, TOKENS_BEFORE + 1);
    tide_vocabulary *v = new_vocabulary(&options);
    stream_feed(&s, 0, TOKENS_BEFORE, 64, v, NULL);
    save("a", v, NULL);
    stream_feed(&s, TOKENS_BEFORE, TOKENS_BEFORE + 1, 64, v, NULL);
    save("b", v, NULL);
    size_t size;
    unsigned char *before = read_section("a", "vocab.gate", &size);
    unsigned char *after = read_section("b", "vocab.gate", &size);
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i += 4) {
        uint32_t one, two;
        memcpy(&one, before + i, 4);
        memcpy(&two, after + i, 4);
        assert_int_equal(two, one / 2);
        sum += one;
    }
    assert_true(sum > 100);
    free(before);
    free(after);
    tide_vocabulary_free(v);
    stream_free(&s);
}

/* -- independence ------------------------------------------------------------------ */

static void saved_state_depends_neither_on_the_secret_nor_on_batches(void **state)
{
    (void)state;
    stream s = stream_zipf(2000, 20000, 11);
    for (uint32_t i = 0; i < s.type_count; i += 3)
        stream_set_word(&s, i, 15 + i % 49);
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, 150, 3000);
        tide_vocabulary *one = tide_vocabulary_new_keyed(&options, 1, NULL);
        tide_vocabulary *two = tide_vocabulary_new_keyed(&options, 2, NULL);
        assert_true(one && two);
        stream_feed(&s, 0, s.token_count, 1, one, NULL);
        stream_feed(&s, 0, s.token_count, 256, two, NULL);
        save("a", one, NULL);
        save("b", two, NULL);
        assert_same_file("a", "b");
        tide_vocabulary_free(one);
        tide_vocabulary_free(two);
    }
    stream_free(&s);
}

/* -- construction ------------------------------------------------------------------ */

static void a_vocabulary_allocates_the_reported_bytes_and_nothing_later(void **state)
{
    (void)state;
    stream s = stream_zipf(5000, 20000, 14);
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, 1234, 5000);
        allocated_bytes = 0;
        tide_vocabulary *v = new_vocabulary(&options);
        stream_feed(&s, 0, s.token_count, 64, v, NULL);
        assert_int_equal(allocated_bytes, tide_vocabulary_bytes(&options));
        tide_vocabulary_free(v);
    }
    stream_free(&s);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    tide_vocabulary_options options = setup(1, 100, 0);
    for (int left = 0;; left++) {
        tide_error err = {0};
        allocations_left = left;
        tide_vocabulary *v = tide_vocabulary_new(&options, &err);
        allocations_left = -1;
        if (v) {
            assert_int_equal(left, 6);
            tide_vocabulary_free(v);
            return;
        }
        assert_int_equal(err.status, TIDE_ERROR_MEMORY);
    }
}

/* -- early evictions ----------------------------------------- */

/* Counts early evictions from the admissions: the previous word of a slot is evicted
 * when the slot is reused. */
static uint64_t young_by_admissions(const stream *s, tide_vocabulary *v,
                                    uint32_t capacity)
{
    uint64_t *arrived = calloc(capacity, sizeof *arrived), young = 0;
    assert_non_null(arrived);
    for (size_t now = 0; now < s->token_count; now++) {
        uint32_t slot;
        tide_admission a;
        if (!tide_vocabulary_add(v, &s->types[s->tokens[now]], 1, &slot, &a))
            continue;
        young += a.reused && now - arrived[a.slot] <= 1000;
        arrived[a.slot] = now;
    }
    free(arrived);
    return young;
}

/* The algorithm as Misra and Gries wrote it: all counts are decremented. */
static uint64_t young_by_canceling(const stream *s, uint32_t capacity)
{
    uint64_t *counts = calloc(s->type_count, sizeof *counts),
             *arrived = calloc(s->type_count, sizeof *arrived), young = 0;
    uint32_t held = 0;
    assert_true(counts && arrived);
    for (size_t now = 0; now < s->token_count; now++) {
        uint32_t type = s->tokens[now];
        if (counts[type] || held < capacity) {
            if (!counts[type]++) {
                arrived[type] = now;
                held++;
            }
            continue;
        }
        for (uint32_t i = 0; i < s->type_count; i++)
            if (counts[i] && !--counts[i]) {
                young += now - arrived[i] <= 1000;
                held--;
            }
    }
    free(arrived);
    free(counts);
    return young;
}

static void early_evictions_are_counted(void **state)
{
    (void)state;
    stream s = stream_zipf(3000, 20000, 8);
    for (size_t i = 0; i < COUNT(setups); i++) {
        tide_vocabulary_options options = setup(i, 150, 0);
        tide_vocabulary *one = new_vocabulary(&options),
                        *many = new_vocabulary(&options);
        uint64_t young = young_by_admissions(&s, one, 150);
        if (options.kind == TIDE_VOCABULARY_MISRA_GRIES)
            young = young_by_canceling(&s, 150);
        stream_feed(&s, 0, s.token_count, 67, many, NULL);
        assert_int_equal(tide_vocabulary_evicted_early(one), young);
        assert_int_equal(tide_vocabulary_evicted_early(many), young);
        assert_true(young <= tide_vocabulary_evicted(one));
        assert_int_equal(young > 0, options.kind != TIDE_VOCABULARY_EXACT);
        tide_vocabulary_free(one);
        tide_vocabulary_free(many);
    }
    stream_free(&s);
}

static void invalid_options_are_rejected(void **state)
{
    (void)state;
    const tide_vocabulary_options impossible[] = {
        {.kind = TIDE_VOCABULARY_EXACT, .capacity = 0},
        {.kind = TIDE_VOCABULARY_EXACT, .capacity = TIDE_CAPACITY_MAX + 1},
        {.kind = (tide_vocabulary_kind)3, .capacity = 10},
        {.kind = (tide_vocabulary_kind)-1, .capacity = 10},
    };
    for (size_t i = 0; i < COUNT(impossible); i++) {
        tide_error err = {0};
        assert_null(tide_vocabulary_new(&impossible[i], &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_on_a_zipf_stream),
        cmocka_unit_test(bounds_hold_on_a_uniform_stream),
        cmocka_unit_test(bounds_hold_when_every_word_is_new),
        cmocka_unit_test(bounds_hold_when_one_word_more_than_fits_cycles),
        cmocka_unit_test(bounds_hold_when_one_word_is_spammed),
        cmocka_unit_test(bounds_hold_when_a_flood_follows_heavy_words),
        cmocka_unit_test(words_that_share_their_first_15_bytes_are_distinct),
        cmocka_unit_test(words_of_every_length_and_byte_are_distinct),
        cmocka_unit_test(a_word_ends_where_its_length_says),
        cmocka_unit_test(long_words_are_compared_completely),
        cmocka_unit_test(the_hand_evicts_the_same_words_as_a_naive_scan),
        cmocka_unit_test(the_gate_keeps_top_words_that_plain_space_saving_drops),
        cmocka_unit_test(halving_halves_the_gate),
        cmocka_unit_test(saved_state_depends_neither_on_the_secret_nor_on_batches),
        cmocka_unit_test(a_vocabulary_allocates_the_reported_bytes_and_nothing_later),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(early_evictions_are_counted),
        cmocka_unit_test(invalid_options_are_rejected),
    };
    return cmocka_run_group_tests_name("vocabulary", tests, enter_folder, leave_folder);
}
