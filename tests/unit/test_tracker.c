/* test_tracker.c - the samples of labels are uniform, fair and within their memory. */
#include "base/base.h"
#include "label/label.h"
#include "vocab/vocab.h"
#include "tracker_fixture.h"

/* -- reference implementation ----------------------------------------------------- */

/* Keeps every post, sorts all that a label ever saw, and sums up all cells each
 * time. */
enum { POSTS = 700, SLOTS = 12 };

typedef struct oracle_post {
    uint64_t priority, number;
    int tags[PIECES];
    size_t tag_count, length, record;
    char text[128];
} oracle_post;

typedef struct oracle {
    tide_vocabulary *labels; /* counts one label at a time */
    tide_rng rng;
    uint64_t number;
    oracle_post posts[POSTS];
    size_t post_count;
    struct {
        int tag;
        uint32_t seen[POSTS]; /* since it came, the lowest priority first */
        uint32_t count, limit;
    } slots[SLOTS];
    size_t most, post_bytes, capacity;
} oracle;

static uint32_t oracle_kept(const oracle *o, int slot)
{
    uint32_t count = o->slots[slot].count, limit = o->slots[slot].limit;
    return count < limit ? count : limit;
}

static size_t oracle_cells(const oracle *o)
{
    bool kept[POSTS] = {0};
    size_t cells = 0;
    for (int slot = 0; slot < SLOTS; slot++)
        for (uint32_t i = 0; i < oracle_kept(o, slot); i++) {
            kept[o->slots[slot].seen[i]] = true;
            cells++;
        }
    for (size_t i = 0; i < o->post_count; i++)
        if (kept[i])
            cells += 1 + (o->posts[i].record + CELL_TEXT - 1) / CELL_TEXT;
    return cells;
}

static void oracle_shrink(oracle *o)
{
    while (oracle_cells(o) > o->capacity) {
        int largest = 0;
        for (int slot = 1; slot < SLOTS; slot++)
            if (oracle_kept(o, slot) > oracle_kept(o, largest))
                largest = slot;
        o->slots[largest].limit = oracle_kept(o, largest) - 1;
    }
}

/* The distinct labels in order. Returns the size of their part of a record. */
static size_t oracle_labels(oracle *o, const post *p, oracle_post *to)
{
    size_t size = 0;
    to->tag_count = 0;
    for (size_t i = 0; i < p->tag_count; i++) {
        bool known = false;
        for (size_t k = 0; k < to->tag_count; k++)
            known = known || to->tags[k] == p->tags[i];
        if (known)
            continue;
        to->tags[to->tag_count++] = p->tags[i];
        char name[PIECES + 16] = {0};
        uint32_t length = name_of(p->tags[i], name), slot;
        tide_admission admission;
        const tide_word word = {name, length < TIDE_WORD_MAX ? length : TIDE_WORD_MAX};
        size += 1 + word.length;
        if (tide_vocabulary_add(o->labels, &word, 1, &slot, &admission) == 0)
            continue;
        o->slots[slot].tag = p->tags[i];
        o->slots[slot].count = 0;
        o->slots[slot].limit = (uint32_t)o->most;
    }
    return size;
}

/* As many whole words as fit. */
static size_t oracle_cut(const post *p, size_t capacity)
{
    size_t length = 0;
    for (size_t i = 0; i <= p->length; i++)
        if ((i == p->length || p->text[i] == ' ') && i <= capacity)
            length = i;
    return length;
}

static void oracle_see(oracle *o, int slot, uint32_t number)
{
    uint32_t *seen = o->slots[slot].seen, at = o->slots[slot].count++;
    for (; at > 0 && o->posts[seen[at - 1]].priority > o->posts[number].priority; at--)
        seen[at] = seen[at - 1];
    seen[at] = number;
}

static void oracle_add(oracle *o, const post *p)
{
    oracle_post *to = &o->posts[o->post_count];
    to->number = o->number++;
    size_t labels = oracle_labels(o, p, to);
    to->length = oracle_cut(p, o->post_bytes);
    memcpy(to->text, p->text, to->length);
    to->record = labels + to->length;
    if (to->tag_count == 0 || to->length == 0)
        return;
    to->priority = tide_rng_next(&o->rng);
    uint32_t number = (uint32_t)o->post_count++;
    for (int slot = 0; slot < SLOTS; slot++)
        for (size_t i = 0; i < to->tag_count; i++)
            if ((uint32_t)slot < tide_vocabulary_used(o->labels) &&
                o->slots[slot].tag == to->tags[i])
                oracle_see(o, slot, number);
    oracle_shrink(o);
}

static void assert_same_post(const oracle *o, const oracle_post *expected,
                             const tide_post *found)
{
    assert_int_equal(found->number, expected->number);
    assert_int_equal(found->length, expected->length);
    assert_memory_equal(found->text, expected->text, expected->length);
    assert_int_equal(found->text[found->length], 0);
    size_t at = 0;
    for (size_t i = 0; i < expected->tag_count; i++)
        for (uint32_t slot = 0; slot < tide_vocabulary_used(o->labels); slot++)
            if (o->slots[slot].tag == expected->tags[i]) {
                assert_true(at < found->label_count);
                assert_int_equal(found->labels[at++], slot);
            }
    assert_int_equal(at, found->label_count);
}

static void assert_same(const oracle *o, const tide_tracker *t)
{
    uint32_t posts[POSTS];
    tide_post found;
    assert_int_equal(tide_tracker_state(t).used, CELL * oracle_cells(o));
    for (uint32_t slot = 0; slot < tide_vocabulary_used(o->labels); slot++) {
        tide_tracked_label label;
        assert_true(tide_tracker_label(t, slot, &label));
        assert_int_equal(label_of(t, o->slots[slot].tag).slot, slot);
        assert_int_equal(label.count, tide_vocabulary_count(o->labels, slot));
        assert_int_equal(label.error, tide_vocabulary_error(o->labels, slot));
        assert_int_equal(label.seen, o->slots[slot].count);
        assert_int_equal(label.kept, oracle_kept(o, (int)slot));
        assert_int_equal(tide_tracker_sample(t, slot, posts, POSTS), label.kept);
        for (uint32_t i = 0; i < label.kept; i++) {
            tide_tracker_post(t, posts[i], &found);
            assert_same_post(o, &o->posts[o->slots[slot].seen[i]], &found);
        }
    }
}

/* The generator of priorities has the tracker's seed. */
static void samples_equal_the_reference(void **state)
{
    (void)state;
    const uint64_t cells[] = {220, 400, 1500};
    for (uint64_t seed = 0; seed < 9; seed++) {
        tide_tracker_options options =
            small(seed % 2 ? SLOTS : 3, cells[seed % 3], seed);
        options.max_posts = seed % 4 == 3 ? 9 : 1000;
        tide_tracker *t = made(&options);
        oracle *o = calloc(1, sizeof *o);
        tide_vocabulary_options sketch = {.capacity = options.labels};
        assert_non_null(o);
        o->labels = tide_vocabulary_new(&sketch, NULL);
        o->rng = tide_rng_seeded(seed ^ 0x1abe15);
        o->most = options.max_posts;
        o->post_bytes = options.post_bytes;
        o->capacity = tide_tracker_state(t).limit / CELL;
        tide_rng rng = tide_rng_seeded(seed + 100);
        for (uint64_t i = 0; i < POSTS; i++) {
            post p = random_post(&rng, seed % 2 ? 20 : 6, i);
            add(t, &p);
            oracle_add(o, &p);
            assert_true(tide_tracker_state(t).used <= tide_tracker_state(t).limit);
            if (i % 16 == 0)
                assert_same(o, t);
        }
        assert_same(o, t);
        tide_vocabulary_free(o->labels);
        free(o);
        tide_tracker_free(t);
    }
}

/* -- uniformity ------------------------------------------------------------------- */

/* kept[i] is how often post i of a label was in its sample, over many runs. With
 * samples of fixed size, sum (kept - mean)^2 / (mean * (1 - p)) * (n - 1) / n is
 * chi-square with n - 1 degrees of freedom, of mean n - 1 and variance 2 (n - 1); 5
 * sigma are allowed. */
static void assert_uniform(const uint32_t *kept, int n, int runs)
{
    double mean = 0, chi = 0;
    for (int i = 0; i < n; i++)
        mean += (double)kept[i] / n;
    double p = mean / runs;
    assert_true(p > 0.05 && p < 0.9);
    for (int i = 0; i < n; i++)
        chi += (kept[i] - mean) * (kept[i] - mean) / (mean * (1 - p)) * (n - 1) / n;
    if (chi > n - 1 + 5 * sqrt(2.0 * (n - 1)))
        fail_msg("chi-square %g of %d posts, kept %g times of %d each", chi, n, mean,
                 runs);
}

static void count_kept(const tide_tracker *t, int tag, const int *rank, uint32_t *kept)
{
    uint32_t posts[1000];
    tide_post found;
    size_t count = tide_tracker_sample(t, label_of(t, tag).slot, posts, 1000);
    for (size_t i = 0; i < count; i++) {
        tide_tracker_post(t, posts[i], &found);
        kept[rank[found.number]]++;
    }
}

/* A label sees half of its posts, others are admitted and take memory, are evicted and
 * free it, and then it sees the other half. */
static void samples_are_uniform_when_memory_varies(void **state)
{
    (void)state;
    enum { RUNS = 10000, HALF = 40, BURST = 30 };
    uint32_t kept[2 * HALF] = {0};
    for (int run = 0; run < RUNS; run++) {
        tide_tracker_options options = small(3, 110 + 200, (uint64_t)run);
        tide_tracker *t = made(&options);
        int rank[2 * HALF + 2 * BURST + 2], at = 0, own = 0;
        for (int i = 0; i < HALF; i++, rank[at++] = own++)
            add_one(t, 0, "the same words");
        for (int i = 0; i < BURST; i++, at += 2) {
            add_one(t, 1, "the same words");
            add_one(t, 2, "the same words");
        }
        assert_int_equal(label_of(t, 0).kept, 22);
        for (int i = 0; i < 2; i++, at++)
            add_one(t, 3 + i, "the same words");
        assert_int_equal(tide_tracker_state(t).kept, 22 + 2);
        for (int i = 0; i < HALF; i++, rank[at++] = own++)
            add_one(t, 0, "the same words");
        count_kept(t, 0, rank, kept);
        tide_tracker_free(t);
    }
    assert_uniform(kept, 2 * HALF, RUNS);
}

/* Posts of label 0 that are long or short, in its sample alone or in several. */
static void samples_are_uniform_for_posts_of_any_size(void **state)
{
    (void)state;
    enum { RUNS = 6000, MINE = 240, STREAM = 3 * MINE };
    uint32_t kept[MINE] = {0};
    for (int run = 0; run < RUNS; run++) {
        tide_tracker_options options = small(6, 110 + 1500, (uint64_t)run);
        tide_tracker *t = made(&options);
        int rank[STREAM];
        for (int i = 0; i < STREAM; i++) {
            post p = {.tag_count = 1, .tags = {i % 3 ? 1 + i % 5 : 0}};
            if (i % 6 == 0)
                p.tags[p.tag_count++] = 1 + i / 6 % 5;
            if (i % 12 == 0)
                p.tags[p.tag_count++] = 1 + (i / 6 + 2) % 5;
            p.length = (size_t)sprintf(
                p.text, "%s", i / 3 % 3 ? "short" : "some more words than that");
            rank[i] = i / 3;
            add(t, &p);
        }
        count_kept(t, 0, rank, kept);
        tide_tracker_free(t);
    }
    assert_uniform(kept, MINE, RUNS);
}

/* -- fairness and memory ---------------------------------------------------------- */

static void no_label_loses_a_post_while_another_has_two_more(void **state)
{
    (void)state;
    enum { TAGS = 10 };
    tide_tracker_options options = small(TAGS, 600, 5);
    tide_tracker *t = made(&options);
    tide_rng rng = tide_rng_seeded(6);
    uint64_t losses = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        uint32_t before[TAGS];
        for (uint32_t slot = 0; slot < TAGS; slot++) {
            tide_tracked_label label = {0};
            tide_tracker_label(t, slot, &label);
            before[slot] = label.kept;
        }
        post p = random_post(&rng, TAGS, i);
        add(t, &p);
        uint32_t largest = 0, after[TAGS];
        for (uint32_t slot = 0; slot < TAGS; slot++) {
            tide_tracked_label label = {0};
            tide_tracker_label(t, slot, &label);
            after[slot] = label.kept;
            largest = label.kept > largest ? label.kept : largest;
        }
        for (uint32_t slot = 0; slot < TAGS; slot++)
            if (after[slot] < before[slot]) {
                losses++;
                assert_true(largest <= after[slot] + 1);
            }
    }
    assert_true(losses > 20);
    assert_true(tide_tracker_state(t).evicted >= losses);
    tide_tracker_free(t);
}

/* For all inputs the memory is as announced, and nothing is allocated later. */
static void memory_is_as_announced(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        tide_tracker_options options = usual_options();
        options.labels = 1000;
        options.memory = 1 << 20;
        allocated_bytes = 0;
        tide_tracker *t = made(&options);
        assert_int_equal(allocated_bytes, tide_tracker_bytes(&options));
        int posts = kind == 1 ? 1000000 : 100000;
        uint64_t highest = 0;
        tide_rng rng = tide_rng_seeded(1);
        for (int i = 0; i < posts; i++) {
            int some = (int)tide_rng_below(&rng, 1 + tide_rng_below(&rng, 1700));
            int tag = kind == 0 ? 0 : kind == 1 ? i : some;
            add_one(t, tag, i % 3 ? "a few words" : "rather many words, as it happens");
            tide_tracker_stats facts = tide_tracker_state(t);
            assert_true(facts.used <= facts.limit && facts.limit < options.memory);
            highest = facts.used > highest ? facts.used : highest;
        }
        tide_tracker_stats facts = tide_tracker_state(t);
        assert_int_equal(allocated_bytes, tide_tracker_bytes(&options));
        assert_int_equal(facts.labels, kind == 0 ? 1 : 1000);
        assert_int_equal(facts.posts, posts);
        if (kind != 1) /* of a million labels, none has more than one post */
            assert_true(highest > facts.limit - 200);
        assert_true(facts.kept >= 1000);
        tide_tracker_free(t);
    }
}

static void a_new_label_has_nothing_of_its_predecessor(void **state)
{
    (void)state;
    tide_tracker_options options = small(4, 2000, 1);
    tide_tracker *t = made(&options);
    tide_rng rng = tide_rng_seeded(2);
    uint64_t evictions = 0;
    for (int i = 0; i < 4000; i++) {
        post p = {.tags = {(int)tide_rng_below(&rng, 9)}, .tag_count = 1};
        p.length = (size_t)sprintf(p.text, "of %d", p.tags[0]);
        evictions += label_of(t, p.tags[0]).slot == TIDE_NO_SLOT;
        add(t, &p);
        uint32_t posts[1000];
        tide_tracked_label label = label_of(t, p.tags[0]);
        size_t count = tide_tracker_sample(t, label.slot, posts, 1000);
        for (size_t k = 0; k < count; k++) {
            tide_post found;
            tide_tracker_post(t, posts[k], &found);
            assert_string_equal(found.text, p.text);
            assert_int_equal(found.label_count, 1);
            assert_int_equal(found.labels[0], label.slot);
        }
    }
    assert_true(evictions > 500);
    tide_tracker_free(t);
}

/* -- odd posts -------------------------------------------------------------------- */

static void odd_posts_are_counted(void **state)
{
    (void)state;
    tide_tracker_options options = small(50, 2000, 1);
    tide_tracker *t = made(&options);
    post p = {.tags = {1, 2, 1, 1}, .tag_count = 4};
    tide_tracker_add(t, NULL, 0, "no label", 8);
    add_one(t, 1, "");
    add_one(t, 1, " \t \n");
    tide_tracker_add(t, &(tide_word){"", 0}, 1, "an empty label", 14);
    assert_int_equal(label_of(t, 1).count, 2);
    assert_int_equal(label_of(t, 1).seen, 0);
    assert_int_equal(tide_tracker_state(t).kept, 0);
    p.length = (size_t)sprintf(p.text, "  twice the same  ");
    add(t, &p);
    assert_int_equal(label_of(t, 1).count, 3);
    assert_int_equal(label_of(t, 1).kept, 1);
    assert_int_equal(tide_tracker_state(t).kept, 1);
    for (p.tag_count = 0; p.tag_count < 40; p.tag_count++)
        p.tags[p.tag_count] = 100 + (int)p.tag_count;
    add(t, &p);
    memset(p.text, 'x', sizeof p.text);
    p.length = sizeof p.text;
    add(t, &p); /* a single word, too long for a post */
    p.text[64] = ' ';
    p.tags[0] = 1;
    p.tag_count = 1;
    add(t, &p); /* one that fits just so */
    tide_tracker_stats facts = tide_tracker_state(t);
    assert_int_equal(facts.posts, 8);
    assert_int_equal(facts.unlabeled, 2);
    assert_int_equal(facts.empty, 3);
    assert_int_equal(facts.cut, 2);
    assert_int_equal(facts.extra_labels, 16);
    assert_int_equal(facts.kept, 3);
    uint32_t posts[4];
    tide_post found;
    assert_int_equal(tide_tracker_sample(t, label_of(t, 1).slot, posts, 4), 2);
    for (int i = 0; i < 2; i++) {
        tide_tracker_post(t, posts[i], &found);
        assert_int_equal(found.length, found.number == 7 ? 64 : 14);
        assert_int_equal(found.label_count, found.number == 7 ? 1 : 2);
    }
    assert_int_equal(tide_tracker_sample(t, label_of(t, 1).slot, posts, 1), 1);
    assert_int_equal(tide_tracker_sample(t, 49, posts, 4), 0);
    assert_int_equal(tide_tracker_sample(t, TIDE_NO_SLOT, posts, 4), 0);
    tide_tracker_free(t);
}

static void a_long_label_is_cut_between_characters(void **state)
{
    (void)state;
    tide_tracker_options options = small(4, 300, 1);
    tide_tracker *t = made(&options);
    char name[80];
    for (int i = 0; i < 40; i++)
        memcpy(name + 2 * i, "\xc3\xa9", 2);
    tide_tracker_add(t, &(tide_word){name, 80}, 1, "text", 4);
    tide_tracked_label label;
    assert_true(tide_tracker_label(t, 0, &label));
    assert_int_equal(label.length, 62);
    memset(name, '\xa9', sizeof name);
    tide_tracker_add(t, &(tide_word){name, 80}, 1, "text", 4);
    assert_true(tide_tracker_label(t, 1, &label));
    assert_int_equal(label.length, TIDE_WORD_MAX);
    assert_false(tide_tracker_label(t, 2, &label));
    tide_tracker_free(t);
}

static void the_top_labels_are_sorted(void **state)
{
    (void)state;
    tide_tracker_options options = small(30, 2000, 1);
    tide_tracker *t = made(&options);
    tide_rng rng = tide_rng_seeded(8);
    uint64_t truth[60] = {0};
    for (int i = 0; i < 3000; i++) {
        int tag = (int)tide_rng_below(&rng, 1 + tide_rng_below(&rng, 60));
        truth[tag]++;
        add_one(t, tag, "words");
    }
    tide_tracked_label top[40];
    assert_int_equal(tide_tracker_top(t, top, 5), 5);
    assert_int_equal(tide_tracker_top(t, top, 40), 30);
    for (int i = 0; i < 30; i++) {
        uint64_t count = truth[atoi(top[i].name + 3)];
        assert_true(top[i].count - top[i].error <= count && count <= top[i].count);
        assert_true(i == 0 || top[i - 1].count > top[i].count ||
                    (top[i - 1].count == top[i].count &&
                     strcmp(top[i - 1].name, top[i].name) < 0));
    }
    tide_tracker_free(t);
}

/* -- options and memory ----------------------------------------------------------- */

static void invalid_options_are_rejected(void **state)
{
    (void)state;
    tide_tracker_options bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = usual_options();
    bad[0].labels = 0;
    bad[1].labels = UINT32_MAX;
    bad[2].max_posts = 0;
    bad[3].post_bytes = TIDE_WORD_MAX;
    bad[4].post_bytes = TIDE_POST_MAX + 1;
    bad[5].memory = 1000;
    for (int i = 0; i < 6; i++) {
        tide_error err = {0};
        assert_null(tide_tracker_new(&bad[i], &err));
        assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
        assert_true(strlen(err.text) > 10);
    }
    tide_tracker_options huge = usual_options();
    huge.memory = UINT64_MAX;
    assert_null(tide_tracker_new(&huge, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_equal_the_reference),
        cmocka_unit_test(samples_are_uniform_when_memory_varies),
        cmocka_unit_test(samples_are_uniform_for_posts_of_any_size),
        cmocka_unit_test(no_label_loses_a_post_while_another_has_two_more),
        cmocka_unit_test(memory_is_as_announced),
        cmocka_unit_test(a_new_label_has_nothing_of_its_predecessor),
        cmocka_unit_test(odd_posts_are_counted),
        cmocka_unit_test(a_long_label_is_cut_between_characters),
        cmocka_unit_test(the_top_labels_are_sorted),
        cmocka_unit_test(invalid_options_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
