/* test_hostile.c - the guarantees of the vocabularies on adversarial streams.
 *
 * Ten thousand short streams of twelve kinds, each at a small capacity K, where every
 * token is an edge case. Each stream is also counted exactly, and the guarantees are
 * checked after N tokens:
 *
 *     count - error <= true count <= count,   error <= N / K,   minimum <= N / K,
 *     every word with a true count above N / K is held,
 *     the counts add up to N without the gate, and to at most N with it. */
#include "base/base.h"
#include "vocab/vocab.h"
#include "vocab/vocabulary.h"
#include "vocabulary_oracle.h"

enum { STREAMS = 10000, TYPES = 512, TOKENS_MOST = 400, CAPACITY_MOST = 16 };

/* Types of one stream; the texts do not move. */
typedef struct hostile {
    stream s;
    uint32_t capacity;
    tide_rng rng;
} hostile;

/* -- the kinds --------------------------------------------------------------------- */

static uint32_t below(hostile *h, uint32_t bound)
{
    return (uint32_t)tide_rng_below(&h->rng, bound);
}

static void every_word_is_new(hostile *h)
{
    for (uint32_t i = 0; i < h->s.token_count; i++)
        h->s.tokens[i] = i;
}

static void one_more_than_fits_cycles(hostile *h)
{
    for (uint32_t i = 0; i < h->s.token_count; i++)
        h->s.tokens[i] = i % (h->capacity + 1);
}

/* A word occurs many times in a row and then hardly ever again. */
static void bursts(hostile *h)
{
    uint32_t type = 0, left = 0;
    for (uint32_t i = 0; i < h->s.token_count; i++, left--) {
        if (left == 0) {
            type = below(h, TYPES);
            left = 1 + below(h, 40);
        }
        h->s.tokens[i] = type;
    }
}

static void sorted(hostile *h)
{
    uint32_t type = 0;
    for (uint32_t i = 0; i < h->s.token_count; i++) {
        h->s.tokens[i] = type;
        type += type + 1 < TYPES && below(h, 3) == 0;
    }
}

/* A few words have most tokens, and which words they are changes all the time. */
static void zipf_with_churn(hostile *h)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < h->s.token_count; i++) {
        double rank = exp(tide_rng_double(&h->rng) * log(60));
        first += below(h, 8) == 0;
        h->s.tokens[i] = (first + (uint32_t)rank) % TYPES;
    }
}

static void one_word_only(hostile *h)
{
    for (uint32_t i = 0; i < h->s.token_count; i++)
        h->s.tokens[i] = 0;
}

static void one_word_has_nine_tenths(hostile *h)
{
    for (uint32_t i = 0; i < h->s.token_count; i++)
        h->s.tokens[i] = below(h, 10) ? 0 : 1 + below(h, TYPES - 1);
}

/* Three groups, each of as many words as fit: evicted words return. */
static void words_are_evicted_and_return(hostile *h)
{
    uint32_t group = 0, left = 0;
    for (uint32_t i = 0; i < h->s.token_count; i++, left--) {
        if (left == 0) {
            group = (group + 1) % 3;
            left = 1 + below(h, 4 * h->capacity);
        }
        h->s.tokens[i] = group * h->capacity + below(h, h->capacity);
    }
}

static void every_other_word_of_zipf_is_spam(hostile *h)
{
    enum { KNOWN = 60 };
    for (uint32_t i = 0; i < h->s.token_count; i++) {
        double rank = exp(tide_rng_double(&h->rng) * log(KNOWN));
        h->s.tokens[i] = i % 2 ? (uint32_t)rank - 1 : KNOWN + i / 2;
    }
}

/* Words that have just reached the minimum when a flood of new words starts. */
static void frequent_words_then_a_flood(hostile *h)
{
    uint32_t heavy = h->capacity;
    for (uint32_t i = 0; i < h->s.token_count; i++)
        h->s.tokens[i] =
            2 * i < h->s.token_count ? i % heavy : heavy + i % (TYPES - heavy);
}

/* Only words of one cell of the gate; see craft. */
static void uniform(hostile *h)
{
    for (uint32_t i = 0; i < h->s.token_count; i++)
        h->s.tokens[i] = below(h, TYPES);
}

static const struct {
    void (*fill)(hostile *h);
    bool crafted;
} kinds_of_streams[] = {
    {every_word_is_new, false},
    {one_more_than_fits_cycles, false},
    {bursts, false},
    {sorted, false},
    {zipf_with_churn, false},
    {one_word_only, false},
    {one_word_has_nine_tenths, false},
    {words_are_evicted_and_return, false},
    {every_other_word_of_zipf_is_spam, false},
    {frequent_words_then_a_flood, false},
    {uniform, true},
    {zipf_with_churn, true},
};

enum { KINDS = COUNT(kinds_of_streams) };

/* -- words of one pair of cells ---------------------------------------------------- */

/* The hash that the gate uses: two words with the same value share both cells. It is
 * the only hash that does not depend on the secret of the process, and so the only one
 * that an attacker can compute. */
static uint64_t cells_of(const char *text, uint32_t length, uint64_t seed,
                         uint64_t lines)
{
    uint64_t hash = tide_hash(text, length, seed);
    uint64_t apart = (hash >> 32 & 0xffffff) * 15 >> 24;
    return (hash & (lines - 1)) << 8 | apart << 4 | hash >> 60;
}

static void craft(hostile *h, const tide_vocabulary_options *gated)
{
    uint64_t lines = tide_gate_lines(gated), wanted = 0;
    uint32_t found = 0;
    for (uint32_t number = 0; found < TYPES; number++) {
        char text[32];
        int length = snprintf(text, sizeof text, "x%u", number);
        uint64_t cells = cells_of(text, (uint32_t)length, gated->seed, lines);
        if (number == 0)
            wanted = cells;
        if (cells != wanted)
            continue;
        memcpy(h->s.texts[found], text, sizeof text);
        h->s.types[found].length = (uint32_t)length;
        found++;
    }
}

/* -- the guarantees ---------------------------------------------------------------- */

enum { PLAIN, GATED, CANCELING, GUARANTEED }; /* setups with guarantees */

static void check_held(const tide_vocabulary *v, const uint64_t *counts, hostile *h,
                       size_t which, uint64_t tokens)
{
    uint64_t sum = 0, most = tokens / h->capacity;
    uint32_t held = 0;
    for (uint32_t type = 0; type < TYPES; type++) {
        uint32_t slot = tide_vocabulary_find(v, &h->s.types[type]);
        if (slot == TIDE_NO_SLOT) {
            assert_true(counts[type] <= most);
            assert_true(counts[type] <= tide_vocabulary_minimum(v));
            continue;
        }
        uint64_t count = tide_vocabulary_count(v, slot);
        uint64_t error = tide_vocabulary_error(v, slot);
        assert_true(error <= count && error <= most);
        assert_true(count - error <= counts[type] && counts[type] <= count);
        sum += count;
        held++;
    }
    assert_int_equal(held, tide_vocabulary_size(v));
    assert_true(tide_vocabulary_minimum(v) <= most);
    if (which == PLAIN)
        assert_int_equal(sum, tokens);
    if (which == GATED)
        assert_true(sum <= tokens);
}

/* Counts the stream, and checks at a few points and at the end. */
static void check_guarantees(hostile *h, size_t which)
{
    tide_vocabulary_options options = setup(which, h->capacity, 0);
    tide_vocabulary *v = new_vocabulary(&options);
    uint64_t counts[TYPES] = {0};
    uint32_t slots[TOKENS_MOST];
    tide_admission admissions[TOKENS_MOST];
    tide_word words[TOKENS_MOST];
    for (size_t first = 0, count; first < h->s.token_count; first += count) {
        count = 1 + below(h, TOKENS_MOST / 2);
        if (count > h->s.token_count - first)
            count = h->s.token_count - first;
        for (size_t i = 0; i < count; i++) {
            words[i] = h->s.types[h->s.tokens[first + i]];
            counts[h->s.tokens[first + i]]++;
        }
        tide_vocabulary_add(v, words, count, slots, admissions);
        check_held(v, counts, h, which, first + count);
    }
    tide_vocabulary_free(v);
}

/* The words are created once for all streams of a kind and capacity. */
static hostile hostile_new(size_t kind, uint32_t capacity)
{
    hostile h = {.s = stream_new(TYPES, TOKENS_MOST), .capacity = capacity};
    tide_vocabulary_options gated = setup(GATED, capacity, 0);
    if (kinds_of_streams[kind].crafted)
        craft(&h, &gated);
    return h;
}

static void guarantees_hold_on_ten_thousand_hostile_streams(void **state)
{
    (void)state;
    size_t each = STREAMS / (KINDS * CAPACITY_MOST) + 1, done = 0;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (uint32_t capacity = 1; capacity <= CAPACITY_MOST; capacity++) {
            hostile h = hostile_new(kind, capacity);
            for (size_t i = 0; i < each; i++, done++) {
                h.rng = tide_rng_seeded(done);
                h.s.token_count = 1 + below(&h, TOKENS_MOST);
                kinds_of_streams[kind].fill(&h);
                for (size_t which = 0; which < GUARANTEED; which++)
                    check_guarantees(&h, which);
            }
            stream_free(&h.s);
        }
    assert_true(done >= STREAMS);
}

/* Half of the tokens are words that never occurred before. */
static void frequent_words_are_held_when_half_of_a_stream_is_spam(void **state)
{
    (void)state;
    enum { TOKENS = 60000, K = 400, FREQUENT = 100 };
    stream s = stream_new(FREQUENT + TOKENS, TOKENS);
    tide_rng rng = tide_rng_seeded(7);
    for (uint32_t i = 0; i < TOKENS; i++)
        s.tokens[i] = i % 2 ? (uint32_t)tide_rng_below(&rng, FREQUENT) : FREQUENT + i;
    for (size_t which = 0; which < GUARANTEED; which++) {
        tide_vocabulary_options options = setup(which, K, 0);
        tide_vocabulary *v = new_vocabulary(&options);
        stream_feed(&s, 0, TOKENS, 64, v, NULL);
        for (uint32_t type = 0; type < FREQUENT; type++)
            assert_int_not_equal(tide_vocabulary_find(v, &s.types[type]), TIDE_NO_SLOT);
        tide_vocabulary_free(v);
    }
    stream_free(&s);
}

static uint32_t held_of_the_first(const tide_vocabulary *v, const stream *s,
                                  uint32_t count)
{
    uint32_t held = 0;
    for (uint32_t type = 0; type < count; type++)
        held += tide_vocabulary_find(v, &s->types[type]) != TIDE_NO_SLOT;
    return held;
}

/* The bounds do not imply this: the last of these words occur less often than N / K.
 * Without a gate, spam evicts many of them. */
static void the_gate_holds_the_top_thousand_when_half_is_spam(void **state)
{
    (void)state;
    enum { TOKENS = 600000, K = 5000, KNOWN = 20000, TOP = 1000 };
    stream zipf = stream_zipf(KNOWN, TOKENS / 2, 8);
    stream s = stream_new(KNOWN + TOKENS / 2, TOKENS);
    for (uint32_t i = 0; i < TOKENS; i++)
        s.tokens[i] = i % 2 ? zipf.tokens[i / 2] : KNOWN + i / 2;
    const size_t both[] = {PLAIN, GATED};
    uint32_t held[GUARANTEED];
    for (size_t i = 0; i < COUNT(both); i++) {
        tide_vocabulary_options options = setup(both[i], K, 0);
        tide_vocabulary *v = new_vocabulary(&options);
        stream_feed(&s, 0, TOKENS, 64, v, NULL);
        held[both[i]] = held_of_the_first(v, &s, TOP);
        tide_vocabulary_free(v);
    }
    assert_true(held[PLAIN] < TOP);
    assert_int_equal(held[GATED], TOP);
    stream_free(&zipf);
    stream_free(&s);
}

/* -- keys -------------------------------------------------------------------------- */

static void save_keyed(hostile *h, const tide_vocabulary_options *options,
                       uint64_t secret, const char *path)
{
    tide_vocabulary *v = tide_vocabulary_new_keyed(options, secret, NULL);
    assert_non_null(v);
    stream_feed(&h->s, 0, h->s.token_count, 64, v, NULL);
    save(path, v, NULL);
    tide_vocabulary_free(v);
}

/* The secret determines where words are in the table, and nothing else. */
static void the_secret_of_the_process_does_not_affect_results(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        hostile h = hostile_new(kind, 13);
        h.rng = tide_rng_seeded(kind);
        kinds_of_streams[kind].fill(&h);
        for (size_t which = 0; which < COUNT(setups); which++) {
            tide_vocabulary_options options = setup(which, h.capacity, 0);
            save_keyed(&h, &options, 1, "a");
            save_keyed(&h, &options, UINT64_C(0xfedcba9876543210), "b");
            assert_same_file("a", "b");
        }
        stream_free(&h.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guarantees_hold_on_ten_thousand_hostile_streams),
        cmocka_unit_test(frequent_words_are_held_when_half_of_a_stream_is_spam),
        cmocka_unit_test(the_gate_holds_the_top_thousand_when_half_is_spam),
        cmocka_unit_test_setup_teardown(
            the_secret_of_the_process_does_not_affect_results, enter_folder,
            leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
