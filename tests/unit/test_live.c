/* test_live.c - a model is queried during training: results are right, training is not
 * affected, and memory use is what the budget says.
 *
 * The core is a model with learning rates so low that no vector moves. Every word then
 * keeps its initial vector, which depends on the word alone: so a vector of another
 * word is noticed. Words are evicted and admitted again all the time. WORDTIDE_READS is
 * the number of queries; 1e8 is a long test. */
#include "base/base.h"
#include "query/query.h"
#include "train_fixture.h"

#include "memory_fixture.h"

#include <pthread.h>

enum { WORDS = 150, DIM = 48, ASKERS = 2 };

/* Most slots are reused. */
static const char restless[] =
    "vocab=60 dim=48 admission=none rate=constant alpha=1e-9 "
    "replay=2 replay-ring=2000 sample=0";

static uint64_t reads_wanted(void)
{
    const char *wanted = getenv("WORDTIDE_READS");
    return wanted ? (uint64_t)strtod(wanted, NULL) : SANITIZED ? 40000 : 1000000;
}

static void name_word(uint32_t word, char name[16])
{
    snprintf(name, 16, "word%u", word);
}

static void feed_word(tide_trainer *trainer, uint32_t word, const char *after)
{
    char text[32];
    int length = snprintf(text, sizeof text, "word%u%s", word, after);
    feed(trainer, text, (size_t)length);
}

/* -- nobody is given another word's vector ----------------------------------------- */

typedef struct torture {
    tide_live *live;
    float vectors[WORDS][DIM];
    float composed[WORDS][DIM]; /* of n-grams only */
    bool composes;
    _Atomic uint64_t right, wrong, unknown, hits, crooked;
    _Atomic uint64_t copied, left; /* words in copies; of these, evicted ones */
    _Atomic bool asking;
} torture;

static void note_some(const tide_trainer *trainer, float vectors[WORDS][DIM])
{
    char name[16];
    tide_view *space =
        tide_view_new(tide_trainer_model(trainer), TIDE_VECTORS_INPUT, false, NULL);
    for (uint32_t word = 0; word < WORDS; word++) {
        name_word(word, name);
        assert_int_equal(tide_view_vector(space, name, vectors[word], NULL), TIDE_OK);
    }
    tide_view_free(space);
}

/* The initial vector of every word, from a model that has room for all; and the vector
 * of a word that is not in the vocabulary, if it has one. */
static void note_vectors(torture *t, const char *settings)
{
    char roomy[300];
    snprintf(roomy, sizeof roomy, "%s vocab=1000", settings);
    tide_trainer *trainer = trainer_of(roomy);
    t->composes = tide_model_subwords(tide_trainer_model(trainer)) > 0;
    if (t->composes)
        note_some(trainer, t->composed);
    for (uint32_t word = 0; word < WORDS; word++)
        feed_word(trainer, word, "\n");
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    note_some(trainer, t->vectors);
    tide_trainer_free(trainer);
}

static double cosine(const float *x, const float *y)
{
    double xy = 0, xx = 0, yy = 0;
    for (int d = 0; d < DIM; d++) {
        xy += (double)x[d] * (double)y[d];
        xx += (double)x[d] * (double)x[d];
        yy += (double)y[d] * (double)y[d];
    }
    return xy / sqrt(xx * yy);
}

static void ask_vector(torture *t, const tide_view *space, uint32_t word)
{
    char name[16];
    float vector[DIM];
    name_word(word, name);
    if (tide_view_vector(space, name, vector, NULL))
        t->unknown++;
    else if (!memcmp(vector, t->vectors[word], sizeof vector))
        t->right++;
    else if (t->composes && !memcmp(vector, t->composed[word], sizeof vector))
        t->unknown++;
    else
        t->wrong++;
}

/* Every neighbor has its true cosine. */
static void ask_nearest(torture *t, const tide_view *space, uint32_t word)
{
    tide_hit hits[10];
    tide_query query = {.vector = t->vectors[word]};
    int found = tide_view_nearest(space, &query, hits, COUNT(hits), NULL);
    for (int i = 0; i < found; i++) {
        long neighbor = strtol(hits[i].word + 4, NULL, 10);
        double true_cosine = cosine(t->vectors[word], t->vectors[neighbor]);
        t->crooked += fabs((double)hits[i].score - true_cosine) > 1e-5;
        t->hits++;
    }
}

/* A copy contains some of the words, each with its own vector. */
static void ask_copy(torture *t, const tide_view *space)
{
    tide_model *copy = tide_view_copy(space, 0, NULL);
    tide_view *frozen = tide_view_new(copy, TIDE_VECTORS_INPUT, false, NULL);
    uint32_t present;
    tide_view_order(space, &present);
    for (uint32_t rank = 1; rank <= tide_model_size(copy); rank++) {
        tide_entry entry;
        float vector[DIM];
        tide_view_entry(frozen, rank, &entry);
        tide_view_vector(frozen, entry.word, vector, NULL);
        long word = strtol(entry.word + 4, NULL, 10);
        t->wrong += memcmp(vector, t->vectors[word], sizeof vector) != 0;
        t->copied++;
    }
    t->left += present - tide_model_size(copy);
    tide_view_free(frozen);
    tide_model_free(copy);
}

static void *ask(void *argument)
{
    torture *t = argument;
    tide_rng rng = tide_rng_seeded((uint64_t)(uintptr_t)&rng);
    while (t->asking) {
        const tide_view *space = tide_live_acquire(t->live);
        for (int i = 0; i < 100; i++)
            ask_vector(t, space, (uint32_t)tide_rng_below(&rng, WORDS));
        ask_nearest(t, space, (uint32_t)tide_rng_below(&rng, WORDS));
        ask_copy(t, space);
        tide_live_release(t->live, space);
    }
    return NULL;
}

/* Sentences of random words, a few of them frequent, until there have been enough
 * events of each kind. */
static void throw_words_out(torture *t, tide_trainer *trainer, uint64_t reads)
{
    tide_rng rng = tide_rng_seeded(5);
    for (uint64_t sentence = 0;
         t->right + t->wrong + t->unknown < reads || t->right < reads / 50 ||
         t->hits < reads / 500 || stats_of(trainer).evicted < 1000;
         sentence++) {
        for (int i = 0; i < 8; i++) {
            uint32_t frequent = (uint32_t)tide_rng_below(&rng, 20);
            uint32_t any = (uint32_t)tide_rng_below(&rng, WORDS);
            feed_word(trainer, i % 2 ? frequent : any, i == 7 ? "\n" : " ");
        }
        if (sentence % 3 == 0)
            tide_live_update(t->live);
    }
}

static void no_query_gets_another_words_vector(void **state)
{
    (void)state;
    static const char *const ways[] = {"", "threads=3", "subword=300", "half-life=500"};
    torture *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (size_t way = 0; way < COUNT(ways); way++) {
        char settings[256];
        snprintf(settings, sizeof settings, "%s %s", restless, ways[way]);
        note_vectors(t, settings);
        tide_trainer *trainer = trainer_of(settings);
        t->live = tide_live_new(trainer, TIDE_VECTORS_INPUT, false, NULL);
        assert_non_null(t->live);
        t->right = t->wrong = t->unknown = t->hits = t->crooked = 0;
        t->copied = t->left = 0;
        t->asking = true;
        pthread_t askers[ASKERS];
        for (int i = 0; i < ASKERS; i++)
            assert_int_equal(pthread_create(&askers[i], NULL, ask, t), 0);
        throw_words_out(t, trainer, reads_wanted() / COUNT(ways));
        t->asking = false;
        for (int i = 0; i < ASKERS; i++)
            pthread_join(askers[i], NULL);
        print_message("%llu reads, %llu of words that had left, %llu of other words\n",
                      (unsigned long long)(t->right + t->wrong + t->unknown),
                      (unsigned long long)t->unknown, (unsigned long long)t->wrong);
        print_message("%llu words copied, %llu that had left\n",
                      (unsigned long long)t->copied, (unsigned long long)t->left);
        assert_int_equal(t->wrong, 0);
        assert_int_equal(t->crooked, 0);
        assert_true(t->copied && t->left);
        tide_live_free(t->live);
        tide_trainer_free(trainer);
    }
    free(t);
}

/* -- asking changes nothing, and answers as the file does -------------------------- */

static void *query_until_done(void *argument)
{
    torture *t = argument;
    const char *const word = "the";
    while (t->asking) {
        tide_hit hits[5];
        tide_stats stats;
        tide_query query = {.positive = &word, .positive_count = 1};
        const tide_view *space = tide_live_acquire(t->live);
        int found = tide_view_nearest(space, &query, hits, COUNT(hits), NULL);
        for (int i = 0; i < found; i++)
            t->crooked += !(hits[i].score >= -1.001f && hits[i].score <= 1.001f);
        tide_live_release(t->live, space);
        tide_live_stats(t->live, &stats, sizeof stats);
        t->hits++;
    }
    return NULL;
}

/* Reads the demo to its end with checkpoints, during queries. */
static void run_demo(tide_trainer *trainer, const char *path)
{
    char source[64];
    snprintf(source, sizeof source, "demo:seed=3,tokens=%d",
             SANITIZED ? 30000 : 300000);
    const char *sources[] = {source};
    const tide_run run = {.size = sizeof(tide_run),
                          .sources = sources,
                          .source_count = 1,
                          .save_path = path,
                          .save_tokens = 10000};
    assert_int_equal(tide_trainer_run(trainer, &run, NULL), TIDE_OK);
}

static void queries_do_not_affect_training(void **state)
{
    (void)state;
    static const char settings[] = "vocab=500 dim=24 replay-ring=10000";
    torture t = {.asking = true};
    tide_trainer *asked = trainer_of(settings), *alone = trainer_of(settings);
    t.live = tide_live_new(asked, TIDE_VECTORS_SUM, true, NULL);
    pthread_t asker;
    assert_int_equal(pthread_create(&asker, NULL, query_until_done, &t), 0);
    run_demo(asked, "asked");
    t.asking = false;
    pthread_join(asker, NULL);
    run_demo(alone, "alone");
    assert_true(same_file("asked", "alone"));
    assert_true(t.hits > 10 && !t.crooked);
    tide_stats stats;
    tide_live_update(t.live);
    tide_live_stats(t.live, &stats, sizeof stats);
    assert_int_equal(stats.tokens, stats_of(alone).tokens);
    tide_live_free(t.live);
    tide_trainer_free(asked);
    tide_trainer_free(alone);
}

static void queries_work_with_several_threads_and_checkpoints(void **state)
{
    (void)state;
    torture t = {.asking = true};
    tide_trainer *trainer =
        trainer_of("vocab=500 dim=24 threads=3 subword=1000 replay-ring=10000");
    t.live = tide_live_new(trainer, TIDE_VECTORS_INPUT, true, NULL);
    pthread_t askers[ASKERS];
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&askers[i], NULL, query_until_done, &t), 0);
    run_demo(trainer, "model");
    t.asking = false;
    for (int i = 0; i < ASKERS; i++)
        pthread_join(askers[i], NULL);
    assert_true(t.hits > 10 && !t.crooked);
    tide_live_free(t.live);
    tide_trainer_free(trainer);
}

static void results_are_those_of_the_saved_model(void **state)
{
    (void)state;
    corpus text = demo_text(4, 50000);
    tide_trainer *trainer = trainer_of("vocab=1000 dim=24 replay-ring=10000");
    tide_live *live = tide_live_new(trainer, TIDE_VECTORS_INPUT, true, NULL);
    feed(trainer, text.bytes, text.size);
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    assert_true(tide_live_update(live));
    save_to(trainer, "model");
    tide_model *model = tide_model_load("model", NULL);
    tide_view *saved = tide_view_new(model, TIDE_VECTORS_INPUT, true, NULL);
    const tide_view *space = tide_live_acquire(live);
    tide_entry entries[50];
    size_t words = tide_model_words(model, entries, COUNT(entries));
    assert_int_equal(words, COUNT(entries));
    for (size_t i = 0; i < words; i++) {
        tide_hit hits[8], same[8];
        tide_entry entry;
        tide_query query = {.positive = &entries[i].word, .positive_count = 1};
        assert_int_equal(tide_view_nearest(saved, &query, hits, 8, NULL), 8);
        assert_int_equal(tide_view_nearest(space, &query, same, 8, NULL), 8);
        for (int h = 0; h < 8; h++) {
            assert_string_equal(hits[h].word, same[h].word);
            assert_float_equal(hits[h].score, same[h].score, 1e-6);
        }
        assert_int_equal(
            tide_model_find(tide_view_model(space), entries[i].word, &entry, NULL),
            TIDE_OK);
        assert_int_equal(entry.count, entries[i].count);
        assert_int_equal(entry.error, entries[i].error);
    }
    tide_live_release(live, space);
    tide_view_free(saved);
    tide_model_free(model);
    tide_live_free(live);
    tide_trainer_free(trainer);
    free(text.bytes);
}

/* -- who asks for long, and memory ------------------------------------------------- */

static bool knows(tide_live *live, const char *word)
{
    float vector[DIM];
    const tide_view *space = tide_live_acquire(live);
    int status = tide_view_vector(space, word, vector, NULL);
    tide_live_release(live, space);
    return status == TIDE_OK;
}

/* A query that still holds the view before the current one blocks the next update, and
 * nothing else. */
static void a_long_query_blocks_nothing(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of("vocab=60 dim=48 replay=1");
    tide_live *live = tide_live_new(trainer, TIDE_VECTORS_INPUT, false, NULL);
    const tide_view *slow = tide_live_acquire(live);
    feed_text(trainer, "one two\n");
    assert_true(tide_live_update(live));
    assert_true(knows(live, "one"));
    feed_text(trainer, "three four\n");
    assert_false(tide_live_update(live));
    assert_false(knows(live, "three"));
    assert_true(knows(live, "two"));
    assert_int_equal(tide_model_size(tide_view_model(slow)), 0);
    tide_live_release(live, slow);
    assert_true(tide_live_update(live));
    assert_true(knows(live, "three"));
    tide_live_free(live);
    tide_trainer_free(trainer);
}

static void a_trainer_has_one_live_model_at_a_time(void **state)
{
    (void)state;
    tide_error err;
    tide_trainer *trainer = trainer_of("vocab=60 dim=48");
    tide_live *live = tide_live_new(trainer, TIDE_VECTORS_INPUT, false, NULL);
    assert_null(tide_live_new(trainer, TIDE_VECTORS_INPUT, false, &err));
    assert_int_equal(err.status, TIDE_ERROR_PARAMETER);
    tide_live_free(live);
    live = tide_live_new(trainer, TIDE_VECTORS_INPUT, false, NULL);
    assert_non_null(live);
    tide_live_free(live);
    tide_trainer_free(trainer);
}

/* As much as the budget says, rounded up by less than a cache line per allocation, and
 * nothing later. */
static void all_memory_is_allocated_by_the_constructor(void **state)
{
    (void)state;
    static const char settings[] = "vocab=3000 dim=48 replay=1";
    tide_params *params = params_of(settings);
    tide_trainer *trainer = trainer_of(settings);
    uint64_t promised = tide_live_bytes(params);
    allocated_bytes = 0;
    tide_live *live = tide_live_new(trainer, TIDE_VECTORS_INPUT, true, NULL);
    assert_in_range(allocated_bytes, promised - 16 * 64, promised + 32 * 64);
    allocations_left = 0;
    for (uint32_t word = 0; word < WORDS; word++)
        feed_word(trainer, word, word % 7 ? " " : "\n");
    assert_true(tide_live_update(live) && tide_live_update(live));
    allocations_left = -1;
    assert_true(knows(live, "word1"));
    tide_live_free(live);
    tide_trainer_free(trainer);
    tide_params_free(params);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    tide_trainer *trainer = trainer_of("vocab=60 dim=48");
    int failed = 0;
    for (tide_live *live = NULL; !live; failed++) {
        tide_error err = {0};
        allocations_left = failed;
        live = tide_live_new(trainer, TIDE_VECTORS_INPUT, true, &err);
        allocations_left = -1;
        assert_int_equal(err.status, live ? TIDE_OK : TIDE_ERROR_MEMORY);
        tide_live_free(live);
    }
    assert_true(failed > 10);
    tide_trainer_free(trainer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_query_gets_another_words_vector),
        IN_FOLDER(queries_do_not_affect_training),
        IN_FOLDER(queries_work_with_several_threads_and_checkpoints),
        IN_FOLDER(results_are_those_of_the_saved_model),
        cmocka_unit_test(a_long_query_blocks_nothing),
        cmocka_unit_test(a_trainer_has_one_live_model_at_a_time),
        cmocka_unit_test(all_memory_is_allocated_by_the_constructor),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
