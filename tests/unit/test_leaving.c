/* test_leaving.c - words are evicted during a search: no word that stays is missing
 * from the results.
 *
 * The oracle is the ranking of all words without evictions. During the search, a thread
 * evicts some of the best words. The results must be as many as requested, and no word
 * that has stayed may be missing between them. */
#include "base/base.h"
#include "query/query.h"
#include "query/view.h"
#include "vector/vector.h"
#include "train_fixture.h"

#include <pthread.h>

enum { WORDS = 20000, ROOM = 10, BEST = 24 };

typedef struct stage {
    tide_trainer *trainer;
    tide_view *space;
    _Atomic uint32_t *generations;
    tide_hit ranking[WORDS];
    size_t ranked;
} stage;

static const char *const asked = "word7";

static void set_stage(stage *s)
{
    char word[32];
    tide_query query = {.positive = &asked, .positive_count = 1};
    s->trainer = trainer_of("vocab=20000 dim=64 admission=none replay=1 sample=0");
    for (int i = 0; i < WORDS; i++)
        feed(s->trainer, word, (size_t)snprintf(word, sizeof word, "word%d\n", i));
    const tide_model *model = tide_trainer_model(s->trainer);
    tide_view *still = tide_view_new(model, TIDE_VECTORS_INPUT, true, NULL);
    int ranked = tide_view_nearest(still, &query, s->ranking, WORDS, NULL);
    tide_view_free(still);
    assert_int_equal(ranked, WORDS - 1);
    s->ranked = (size_t)ranked;
    s->generations = tide_alloc(WORDS, sizeof *s->generations);
    s->space =
        tide_view_new_live(model, TIDE_VECTORS_INPUT, true, s->generations, NULL);
    assert_true(s->generations && s->space);
}

static void leave_stage(stage *s)
{
    tide_view_free(s->space);
    free((void *)s->generations);
    tide_trainer_free(s->trainer);
}

typedef struct departure {
    stage *stage;
    uint64_t seed;
} departure;

static void *depart(void *argument)
{
    const departure *d = argument;
    tide_rng rng = tide_rng_seeded(d->seed);
    for (uint64_t left = 1 + tide_rng_below(&rng, 16); left > 0; left--) {
        for (_Atomic uint64_t wait = tide_rng_below(&rng, 20000); wait > 0; wait--)
            ;
        atomic_fetch_add(
            &d->stage->generations[d->stage->ranking[tide_rng_below(&rng, BEST)].slot],
            1);
    }
    return NULL;
}

static bool is_hit(const tide_hit *hits, uint32_t slot)
{
    for (int i = 0; i < ROOM; i++)
        if (hits[i].slot == slot)
            return true;
    return false;
}

static void words_that_stay_are_not_missed(void **state)
{
    (void)state;
    static stage s;
    set_stage(&s);
    tide_query query = {.positive = &asked, .positive_count = 1};
    for (uint64_t turn = 0; turn < 200; turn++) {
        tide_hit hits[ROOM];
        pthread_t thread;
        departure d = {&s, turn};
        tide_view_refresh(s.space);
        assert_int_equal(pthread_create(&thread, NULL, depart, &d), 0);
        int found = tide_view_nearest(s.space, &query, hits, ROOM, NULL);
        pthread_join(thread, NULL);
        assert_int_equal(found, ROOM);
        size_t at = 0;
        for (int i = 0; i < ROOM; at++) {
            assert_true(at < s.ranked);
            uint32_t slot = s.ranking[at].slot;
            if (is_hit(hits, slot))
                assert_int_equal(hits[i++].slot, slot);
            else
                assert_false(tide_view_is_current(s.space, slot));
        }
    }
    leave_stage(&s);
}

/* -- words that leave at a certain moment ------------------------------------------ */

static stage at_stage;
static const tide_kernels *real;
static int scans_left; /* until the words are evicted */

static void scan_and_evict(const tide_query_batch *q, float *const *rows, size_t count,
                           uint32_t stride, float (*scores)[TIDE_QUERY_BATCH],
                           bool *near)
{
    real->cosines(q, rows, count, stride, scores, near);
    if (scans_left-- == 0)
        for (size_t i = 0; i < BEST; i += 3)
            atomic_fetch_add(&at_stage.generations[at_stage.ranking[i].slot], 1);
}

/* They may have been found already, or be evicted later. */
static void evicted_words_are_not_found(void **state)
{
    (void)state;
    set_stage(&at_stage);
    real = at_stage.space->kernels;
    tide_kernels leaving = *real;
    leaving.cosines = scan_and_evict;
    at_stage.space->kernels = &leaving;
    tide_query query = {.positive = &asked, .positive_count = 1};
    for (int looks = 0; looks < 2000; looks += 50) {
        tide_hit hits[ROOM];
        scans_left = looks;
        tide_view_refresh(at_stage.space);
        int found = tide_view_nearest(at_stage.space, &query, hits, ROOM, NULL);
        assert_int_equal(found, ROOM);
        for (size_t i = 0, at = 0; scans_left < 0 && i < ROOM; at++)
            if (at >= BEST || at % 3)
                assert_int_equal(hits[i++].slot, at_stage.ranking[at].slot);
    }
    at_stage.space->kernels = real;
    leave_stage(&at_stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_stay_are_not_missed),
        cmocka_unit_test(evicted_words_are_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
