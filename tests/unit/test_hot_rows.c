/* test_hot_rows.c - the cache of hot rows: which rows are cached, what a merge does,
 * and that no word ever gets training of its slot's previous word, in every order of
 * events and with threads. */

#include "base/base.h"
#include "sgns/hot_rows.h"
#include "sgns/sgns.h"
#include "train/train.h"
#include "vector/vector.h"
#include "vocab/vocab.h"
#include "train_fixture.h"

#include <pthread.h>

enum { SLOTS = 3 * TIDE_HOT_ROWS, DIM = 20, ENOUGH = 1 << 20 };

typedef struct setting {
    tide_trainer *trainer;
    tide_sgns sgns;
    uint64_t quarantined[SLOTS / 64];
    _Atomic uint32_t selected[TIDE_HOT_ROWS];
    tide_hot_rows *caches[2];
} setting;

static setting *begin(void)
{
    setting *s = tide_alloc(1, sizeof *s);
    assert_non_null(s);
    s->trainer = trainer_of("vocab=3072 dim=20");
    s->sgns = *sgns_of(s->trainer);
    s->sgns.quarantined = s->quarantined;
    tide_hot_rows_select_none(s->selected);
    for (int i = 0; i < 2; i++) {
        s->caches[i] = tide_hot_rows_new(DIM, s->selected, NULL);
        assert_non_null(s->caches[i]);
    }
    return s;
}

static void end(setting *s)
{
    for (int i = 0; i < 2; i++)
        tide_hot_rows_free(s->caches[i]);
    tide_trainer_free(s->trainer);
    free(s);
}

static float *row_of(const setting *s, uint32_t slot)
{
    return tide_matrix_row(&s->sgns.model->output, slot);
}

static float *seen_by(const setting *s, int who, uint32_t slot)
{
    return tide_hot_rows_row(s->caches[who], slot, row_of(s, slot));
}

static bool has_copy(const setting *s, int who, uint32_t slot)
{
    return seen_by(s, who, slot) != row_of(s, slot);
}

static void fill(float *row, float value)
{
    for (uint32_t i = 0; i < DIM; i++)
        row[i] = value;
}

/* cmocka's own function treats NaNs as equal. */
static void assert_near(float value, float wanted)
{
    assert_true(fabsf(value - wanted) < 1e-5f);
}

static void assert_all(const float *row, float value)
{
    for (uint32_t i = 0; i < DIM; i++)
        assert_near(row[i], value);
}

/* Prepares for a sentence of this many words. Which ones does not matter. */
static void learn(setting *s, int who, uint32_t words)
{
    tide_sentence sentence = {.count = words};
    tide_hot_rows_prepare(s->caches[who], &s->sgns, &sentence);
}

/* Enough words for a merge before the next sentence. */
static void merge(setting *s, int who)
{
    learn(s, who, ENOUGH);
    learn(s, who, 0);
}

static void choose(setting *s, uint32_t slot)
{
    atomic_store(&s->selected[slot % TIDE_HOT_ROWS], slot);
}

static void set_quarantined(setting *s, uint32_t slot, bool quarantined)
{
    uint64_t bit = UINT64_C(1) << slot % 64, word = s->quarantined[slot / 64];
    __atomic_store_n(&s->quarantined[slot / 64], quarantined ? word | bit : word & ~bit,
                     __ATOMIC_SEQ_CST);
}

/* -- who has one ------------------------------------------------------------------- */

/* Compares with all slots of an index, one by one. */
static void the_most_frequent_word_of_an_index_is_selected(void **state)
{
    (void)state;
    setting *s = begin();
    tide_ingest *ingest = tide_trainer_ingest(s->trainer);
    tide_rng rng = tide_rng_seeded(1);
    uint64_t counts[SLOTS], total = 0;
    for (uint32_t i = 0; i < SLOTS; i++) {
        char bytes[16];
        uint32_t length = (uint32_t)snprintf(bytes, sizeof bytes, "w%u", i);
        counts[i] = 1 + tide_rng_below(&rng, i % 3 ? 100 : 5000);
        total += counts[i];
        tide_word word = {bytes, length};
        assert_int_equal(tide_ingest_insert(ingest, &word, counts[i], 0), i);
    }
    tide_hot_rows_select(s->sgns.model->vocabulary, s->selected);
    uint32_t none = 0;
    for (uint32_t index = 0; index < TIDE_HOT_ROWS; index++) {
        uint32_t best = index;
        for (uint32_t slot = index; slot < SLOTS; slot += TIDE_HOT_ROWS)
            best = counts[slot] > counts[best] ? slot : best;
        uint32_t selected = atomic_load(&s->selected[index]);
        if (counts[best] <= total / 4096) {
            assert_int_equal(selected, TIDE_NO_SLOT);
            none++;
        } else {
            assert_int_equal(counts[selected], counts[best]);
            assert_int_equal(selected % TIDE_HOT_ROWS, index);
        }
    }
    assert_in_range(none, 1, TIDE_HOT_ROWS / 2);
    end(s);
}

static void only_selected_rows_are_cached_and_only_at_a_merge(void **state)
{
    (void)state;
    setting *s = begin();
    choose(s, 7);
    choose(s, 8 + TIDE_HOT_ROWS);
    fill(row_of(s, 7), 3);
    learn(s, 0, 1);
    assert_false(has_copy(s, 0, 7));
    merge(s, 0);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        assert_int_equal(has_copy(s, 0, slot), slot == 7 || slot == 8 + TIDE_HOT_ROWS);
    assert_false(has_copy(s, 1, 7));
    assert_all(seen_by(s, 0, 7), 3);
    choose(s, 7 + TIDE_HOT_ROWS);
    fill(seen_by(s, 0, 7), 5);
    merge(s, 0);
    assert_false(has_copy(s, 0, 7));
    assert_true(has_copy(s, 0, 7 + TIDE_HOT_ROWS));
    assert_all(row_of(s, 7), 5); /* training before that is not lost */
    end(s);
}

/* -- meeting ----------------------------------------------------------------------- */

/* Two threads move a row: what the row is after both have merged. */
static void meet_from(setting *s, float moves[2][DIM], float out[DIM])
{
    choose(s, 5);
    for (int i = 0; i < 2; i++) {
        merge(s, i);
        for (uint32_t k = 0; k < DIM; k++)
            seen_by(s, i, 5)[k] += moves[i][k];
    }
    for (int i = 0; i < 2; i++)
        merge(s, i);
    for (uint32_t k = 0; k < DIM; k++)
        out[k] = seen_by(s, 1, 5)[k];
}

static void different_changes_add_up_and_equal_ones_are_applied_once(void **state)
{
    (void)state;
    static const struct {
        float first[2], second[2], both[2];
    } cases[] = {{{3, 0}, {0, 4}, {3, 4}},  {{3, 0}, {3, 0}, {3, 0}},
                 {{3, 0}, {-3, 0}, {0, 0}}, {{1, 0}, {5, 0}, {5, 0}},
                 {{5, 0}, {1, 0}, {5, 0}},  {{0, 0}, {2, 1}, {2, 1}},
                 {{2, 1}, {0, 0}, {2, 1}},  {{2, 0}, {2, 3}, {2, 3}}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        setting *s = begin();
        float moves[2][DIM] = {{0}}, after[DIM];
        fill(row_of(s, 5), 1);
        memcpy(moves[0], cases[i].first, sizeof cases[i].first);
        memcpy(moves[1], cases[i].second, sizeof cases[i].second);
        meet_from(s, moves, after);
        for (uint32_t k = 0; k < DIM; k++)
            assert_near(after[k], 1 + (k < 2 ? cases[i].both[k] : 0));
        end(s);
    }
}

/* Compares with the formula in double precision. */
static void a_merge_leaves_out_what_others_have_done(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(2);
    for (int trial = 0; trial < (SANITIZED ? 5 : 50); trial++) {
        setting *s = begin();
        float moves[2][DIM], after[DIM];
        double both = 0, square = 0;
        for (uint32_t k = 0; k < DIM; k++) {
            float common = tide_rng_float(&rng) - 0.3f;
            for (int i = 0; i < 2; i++)
                moves[i][k] = common + 2 * tide_rng_float(&rng) - 1;
            both += (double)moves[0][k] * (double)moves[1][k];
            square += (double)moves[0][k] * (double)moves[0][k];
        }
        double part = fmin(1, fmax(0, both / square));
        meet_from(s, moves, after);
        for (uint32_t k = 0; k < DIM; k++)
            assert_near(after[k],
                        moves[1][k] + (float)((1 - part) * (double)moves[0][k]));
        assert_memory_equal(after, row_of(s, 5), sizeof after);
        end(s);
    }
}

/* After a flush, other threads may write the row before the next sentence: it is loaded
 * again. */
static void rows_are_loaded_again_after_a_flush(void **state)
{
    (void)state;
    setting *s = begin();
    choose(s, 5);
    merge(s, 0);
    fill(seen_by(s, 0, 5), 6);
    tide_hot_rows_flush(s->caches[0], &s->sgns);
    assert_all(row_of(s, 5), 6);
    tide_hot_rows_flush(s->caches[0], &s->sgns); /* nothing is merged twice */
    assert_all(row_of(s, 5), 6);
    fill(row_of(s, 5), -1);
    learn(s, 0, 1);
    assert_all(seen_by(s, 0, 5), -1);
    end(s);
}

static void nans_are_not_merged(void **state)
{
    (void)state;
    setting *s = begin();
    choose(s, 5);
    fill(row_of(s, 5), 2);
    merge(s, 0);
    seen_by(s, 0, 5)[DIM - 1] = NAN;
    merge(s, 0);
    assert_all(row_of(s, 5), 2);
    assert_all(seen_by(s, 0, 5), 2);
    end(s);
}

static void rows_are_merged_every_65536_words(void **state)
{
    (void)state;
    setting *s = begin();
    choose(s, 5);
    for (int i = 0; i < 3; i++) {
        float *row = row_of(s, 5), before = row[0] + 1;
        fill(row, before);
        for (int words = 0; words < 65536; words += 64) {
            learn(s, 0, 64);
            assert_true(seen_by(s, 0, 5) == row || seen_by(s, 0, 5)[0] == before - 1);
        }
        learn(s, 0, 0);
        assert_true(has_copy(s, 0, 5));
        assert_all(seen_by(s, 0, 5), before);
    }
    end(s);
}

/* -- slots that change hands ------------------------------------------------------- */

static void an_invalidated_row_is_dropped(void **state)
{
    (void)state;
    setting *s = begin();
    choose(s, 5);
    merge(s, 0);
    fill(seen_by(s, 0, 5), 9);
    tide_hot_rows_invalidate(s->caches[0],
                             5 + TIDE_HOT_ROWS); /* another slot's index */
    assert_true(has_copy(s, 0, 5));
    set_quarantined(s, 5, true);
    tide_hot_rows_invalidate(s->caches[0], 5);
    assert_false(has_copy(s, 0, 5));
    fill(row_of(s, 5), 1);
    merge(s, 0);
    assert_all(row_of(s, 5), 1);
    assert_false(has_copy(s, 0, 5)); /* closed */
    set_quarantined(s, 5, false);
    merge(s, 0);
    assert_true(has_copy(s, 0, 5));
    assert_all(seen_by(s, 0, 5), 1);
    end(s);
}

/* When a word is admitted, its row is filled with its number. While it stays, the row
 * moves by less than a half: a larger difference means that words were mixed up. */
static void add_a_little(float *row)
{
    row[0] += row[0] < floorf(row[0]) + 0.4f ? 0.001f : 0;
}

static void assert_is_of(const float *row, float number)
{
    assert_true(row[0] > number - 0.01f && row[0] < number + 0.5f);
}

static void no_order_of_events_mixes_two_words(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (SANITIZED ? 30 : 300); seed++) {
        setting *s = begin();
        tide_rng rng = tide_rng_seeded(seed);
        float number = 1;
        bool quarantined = false;
        choose(s, 5);
        fill(row_of(s, 5), number);
        for (int step = 0; step < 200; step++) {
            int who = (int)tide_rng_below(&rng, 2);
            switch (tide_rng_below(&rng, 6)) {
            case 0:
                merge(s, who);
                break;
            case 1:
                tide_hot_rows_flush(s->caches[who], &s->sgns);
                break;
            case 2:
                if (quarantined)
                    break;
                set_quarantined(s, 5, quarantined = true);
                for (int i = 0; i < 2; i++)
                    tide_hot_rows_invalidate(s->caches[i], 5);
                break;
            case 3:
                if (!quarantined)
                    break;
                fill(row_of(s, 5), ++number);
                set_quarantined(s, 5, quarantined = false);
                break;
            default:
                learn(s, who, 1);
                if (!quarantined)
                    add_a_little(seen_by(s, who, 5));
            }
            assert_is_of(row_of(s, 5), number);
            for (int i = 0; i < 2; i++)
                assert_is_of(seen_by(s, i, 5), number);
        }
        end(s);
    }
}

/* The same with a thread that trains and one that reuses the slot for one word after
 * the other, like workers.c and ingest_words.c: the quarantine ends when all sentences
 * started before it have been trained. */
typedef struct learning {
    setting *s;
    pthread_mutex_t lock; /* of over */
    pthread_cond_t one_over;
    uint64_t over;
    _Atomic uint64_t begun;
    _Atomic float number;
    _Atomic bool stop;
    uint64_t wrong, copied;
} learning;

static bool is_closed(const setting *s)
{
    return __atomic_load_n(&s->quarantined[0], __ATOMIC_SEQ_CST) >> 5 & 1;
}

/* Waits until this many sentences have been trained. It sleeps instead of spinning,
 * which on a busy machine would take time slices from the training thread. */
static void wait_for_sentences(learning *l, uint64_t count)
{
    pthread_mutex_lock(&l->lock);
    while (l->over < count)
        pthread_cond_wait(&l->one_over, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

static void *learn_on(void *argument)
{
    learning *l = argument;
    const tide_kernels *k = l->s->sgns.kernels;
    float little[64] __attribute__((aligned(64))) = {1},
                     got[64] __attribute__((aligned(64)));
    while (!atomic_load(&l->stop)) {
        atomic_fetch_add(&l->begun, 1);
        bool wanted = !is_closed(l->s);
        float number = atomic_load(&l->number);
        learn(l->s, 0, ENOUGH); /* a merge before every sentence */
        if (wanted) {
            float *row = seen_by(l->s, 0, 5);
            k->copy(got, row, 32);
            l->wrong += got[0] < number - 0.01f || got[0] > number + 0.5f;
            l->copied += has_copy(l->s, 0, 5);
            if (got[0] < number + 0.4f)
                k->add(row, 0.001f, little, 32);
        }
        pthread_mutex_lock(&l->lock);
        l->over++;
        pthread_cond_signal(&l->one_over);
        pthread_mutex_unlock(&l->lock);
    }
    return NULL;
}

static void threads_do_not_mix_two_words(void **state)
{
    (void)state;
    enum { WORDS = SANITIZED ? 500 : 5000 };
    learning l = {.s = begin(),
                  .lock = PTHREAD_MUTEX_INITIALIZER,
                  .one_over = PTHREAD_COND_INITIALIZER};
    const tide_kernels *k = l.s->sgns.kernels;
    float row[64] __attribute__((aligned(64))) = {0};
    choose(l.s, 5);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, learn_on, &l), 0);
    for (int word = 1; word <= WORDS; word++) {
        set_quarantined(l.s, 5, true);
        tide_hot_rows_invalidate(l.s->caches[0], 5);
        uint64_t before = atomic_load(&l.begun);
        wait_for_sentences(&l, before);
        k->copy(row, row_of(l.s, 5), 32);
        l.wrong +=
            word > 1 && (row[0] < (float)word - 1.01f || row[0] > (float)word - 0.5f);
        fill(row, (float)word);
        k->copy(row_of(l.s, 5), row, 32);
        atomic_store(&l.number, (float)word);
        set_quarantined(l.s, 5, false);
        before = atomic_load(&l.begun);
        wait_for_sentences(&l, before + tide_rng_below(&(tide_rng){word}, 3));
    }
    atomic_store(&l.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(l.wrong, 0);
    assert_true(l.copied > 0);
    end(l.s);
}

/* -- training ---------------------------------------------------------------------- */

/* Long enough for all threads to merge, with few enough words for most of them to be
 * cached. Where words are evicted, reused slots are quarantined for a while
 * (test_threads.c). With a thread sanitizer, rows are cached, merged and invalidated
 * here while other threads train. */
static void threads_with_cached_rows_learn_as_well_as_one(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "vocab=4000 dim=16 replay=1",
        "vocab=1500 dim=16 replay=1 admission=none",
    };
    enum { MANY = SANITIZED ? 2 : 4 };
    corpus t = demo_text(21, MANY * 200000);
    truth facts = truth_load();
    for (size_t i = 0; i < COUNT(settings); i++) {
        double scores[2] = {0};
        for (int many = SANITIZED; many < 2; many++) {
            char all[100];
            snprintf(all, sizeof all, "%s threads=%d", settings[i], many ? MANY : 1);
            tide_trainer *trainer = trained(all, &t);
            const tide_model *model = tide_trainer_model(trainer);
            assert_true(is_finite(model));
            scores[many] = group_score(model, &facts, 8, 5);
            tide_trainer_free(trainer);
        }
        print_message("%s: %.3f, with threads %.3f\n", settings[i], scores[0],
                      scores[1]);
        assert_true(scores[1] > scores[0] - (i ? 0.25 : 0.1));
        assert_true(scores[1] > (i ? 0.2 : 0.6)); /* also without one of the threads */
    }
    truth_free(&facts);
    free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_frequent_word_of_an_index_is_selected),
        cmocka_unit_test(only_selected_rows_are_cached_and_only_at_a_merge),
        cmocka_unit_test(different_changes_add_up_and_equal_ones_are_applied_once),
        cmocka_unit_test(a_merge_leaves_out_what_others_have_done),
        cmocka_unit_test(rows_are_loaded_again_after_a_flush),
        cmocka_unit_test(nans_are_not_merged),
        cmocka_unit_test(rows_are_merged_every_65536_words),
        cmocka_unit_test(an_invalidated_row_is_dropped),
        cmocka_unit_test(no_order_of_events_mixes_two_words),
        cmocka_unit_test(threads_do_not_mix_two_words),
        cmocka_unit_test(threads_with_cached_rows_learn_as_well_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
