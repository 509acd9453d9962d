/* test_ngrams.c - rows of bfloat16: rounding, sums and moves, against plain arithmetic,
 * for every kernel set; and how words and the rows of their n-grams exchange what they
 * learn. */
#include "sgns/optimizer_internal.h"
#include "sgns/sgns_internal.h"

#include "train_fixture.h"

enum { DIM = 20, STRIDE = 32 };

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float widen(uint16_t bfloat)
{
    return float_of((uint32_t)bfloat << 16);
}

/* Calls a check for each kernel set that this processor can run. */
static void for_all_sets(void (*check)(const tide_kernels *k))
{
    bool usable;
    const tide_kernels *k;
    for (size_t set = 0; (k = tide_kernels_at(set, &usable)); set++)
        if (usable)
            check(k);
}

/* -- kernels ----------------------------------------------------------------------- */

/* The nearest bfloat, by comparing the distances of the two around the value. */
static uint16_t nearest(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t below = (uint16_t)(bits >> 16), above = (uint16_t)(below + 1);
    double down = fabs((double)value - (double)widen(below)),
           up = fabs((double)widen(above) - (double)value);
    if (down == up)
        return below & 1 ? above : below;
    return down < up ? below : above;
}

static void check_rounding(const tide_kernels *k)
{
    float x[STRIDE] __attribute__((aligned(64))),
        back[STRIDE] __attribute__((aligned(64)));
    uint16_t rounded[STRIDE] __attribute__((aligned(64)));
    tide_rng rng = tide_rng_seeded(3);
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < STRIDE; i++) {
            uint32_t bits = (uint32_t)tide_rng_next(&rng) & 0xbfffffff;
            x[i] = float_of(round % 2 ? bits & 0xffff8000 : bits); /* ties, too */
        }
        k->write_bfloats(rounded, x, STRIDE);
        for (int i = 0; i < STRIDE; i++)
            assert_int_equal(rounded[i], nearest(x[i]));
        k->read_bfloats(back, rounded, STRIDE);
        for (int i = 0; i < STRIDE; i++)
            assert_true(back[i] == widen(rounded[i]));
        k->add_bfloats(rounded, x, STRIDE);
        for (int i = 0; i < STRIDE; i++)
            assert_int_equal(rounded[i], nearest(back[i] + x[i]));
    }
}

static void floats_are_rounded_to_the_nearest_bfloat(void **state)
{
    (void)state;
    for_all_sets(check_rounding);
}

static void check_spread(const tide_kernels *k)
{
    enum { ROWS = 9 };
    uint16_t rows[ROWS][STRIDE] __attribute__((aligned(64))), *row[ROWS];
    float x[STRIDE] __attribute__((aligned(64))),
        sum[STRIDE] __attribute__((aligned(64))) = {0},
                    total[STRIDE] __attribute__((aligned(64)));
    float rates[ROWS];
    double before[ROWS][STRIDE];
    tide_rng rng = tide_rng_seeded(4);
    for (int j = 0; j < ROWS; j++) {
        row[j] = rows[j];
        rates[j] = tide_rng_float(&rng);
        for (int i = 0; i < STRIDE; i++) {
            x[i] = tide_rng_float(&rng) - 0.5f;
            rows[j][i] = nearest(tide_rng_float(&rng) - 0.5f);
            before[j][i] = (double)widen(rows[j][i]);
        }
    }
    k->sum_bfloats(row, ROWS, 0.5f, STRIDE, total);
    k->spread_bfloats(x, row, rates, ROWS, STRIDE, 1, sum);
    for (int i = 0; i < STRIDE; i++) {
        double expected = 0;
        for (int j = 0; j < ROWS; j++) {
            expected += before[j][i];
            double moved = before[j][i] + (double)rates[j] * (double)x[i];
            /* Within one unit of the last of 8 bits. */
            assert_true(fabs((double)widen(rows[j][i]) - moved) <=
                        fabs(moved) * 0x1p-7 + 1e-30);
        }
        assert_true(fabs((double)sum[i] - expected) < 1e-5);
        assert_true(fabs((double)total[i] - expected / 2) < 1e-5);
    }
}

static void rows_move_and_their_sum_is_that_before(void **state)
{
    (void)state;
    for_all_sets(check_spread);
}

/* 10,000 moves of a twentieth of the distance between two bfloats: rounding to the
 * nearest would lose all of them. */
static void check_small_moves(const tide_kernels *k)
{
    enum { MOVES = 10000 };
    uint16_t row[STRIDE] __attribute__((aligned(64))), *rows[] = {row};
    float x[STRIDE] __attribute__((aligned(64))),
        sum[STRIDE] __attribute__((aligned(64)));
    const float unit = 0x1p-7f, rate = 1; /* between 1 and 2 */
    double moved = 0;
    for (int i = 0; i < STRIDE; i++)
        x[i] = unit / 20;
    for (uint32_t n = 0; n < MOVES; n++) {
        for (int i = 0; i < STRIDE; i++)
            row[i] = nearest(1.5f);
        k->spread_bfloats(x, rows, &rate, 1, STRIDE, n * 0x9e3779b9u, sum);
        for (int i = 0; i < STRIDE; i++)
            moved += (double)(widen(row[i]) - 1.5f) / (double)unit;
    }
    /* Of n = 320,000 with p = 1/20: 16,000 +- 123; five standard deviations. */
    assert_true(fabs(moved - MOVES * STRIDE / 20.0) < 620);
}

static void small_moves_count_in_the_mean(void **state)
{
    (void)state;
    for_all_sets(check_small_moves);
}

/* What the first set makes of it, bit by bit, as long as the floats are the same. */
static void all_sets_round_alike(void **state)
{
    (void)state;
    enum { SETS_MAX = 8 };
    uint16_t rows[SETS_MAX][STRIDE] __attribute__((aligned(64)));
    float x[STRIDE] __attribute__((aligned(64))),
        sum[STRIDE] __attribute__((aligned(64))) = {0};
    const float rate = 1;
    bool usable;
    const tide_kernels *k;
    for (size_t set = 0; (k = tide_kernels_at(set, &usable)); set++) {
        uint16_t *row = rows[set];
        for (int i = 0; i < STRIDE; i++) {
            row[i] = nearest(1.0f + (float)i / 64);
            x[i] = 0x1p-11f * (float)i; /* the sum is exact */
        }
        if (usable)
            k->spread_bfloats(x, &row, &rate, 1, STRIDE, 12345, sum);
        if (usable)
            assert_memory_equal(row, rows[0], sizeof rows[0]);
    }
}

static void check_rest(const tide_kernels *k)
{
    uint16_t row[STRIDE] __attribute__((aligned(64))), same[STRIDE], *rows[] = {row};
    float x[STRIDE] __attribute__((aligned(64))) = {0},
                    sum[STRIDE] __attribute__((aligned(64)));
    const float rate = 1;
    for (int i = 0; i < STRIDE; i++)
        same[i] = row[i] = nearest((float)i / 7 - 2);
    for (uint32_t n = 0; n < 1000; n++)
        k->spread_bfloats(x, rows, &rate, 1, STRIDE, n, sum);
    assert_memory_equal(row, same, sizeof row);
}

static void a_row_that_does_not_move_is_not_rounded(void **state)
{
    (void)state;
    for_all_sets(check_rest);
}

/* -- words and their n-grams ------------------------------------------------------- */

static tide_trainer *words_trainer(const char *words)
{
    tide_trainer *trainer =
        trainer_of("vocab=50 dim=20 subword=5000 admission=none sample=0 replay=1");
    feed_text(trainer, words);
    assert_int_equal(tide_trainer_end(trainer, NULL), TIDE_OK);
    return trainer;
}

static uint32_t slot_for(tide_trainer *trainer, const char *word)
{
    tide_entry entry;
    assert_int_equal(tide_model_find(tide_trainer_model(trainer), word, &entry, NULL),
                     TIDE_OK);
    return entry.slot;
}

static uint32_t ngrams_of(tide_trainer *trainer, const char *word, uint32_t *ids)
{
    char padded[80] = {0};
    memcpy(padded, word, strlen(word));
    return tide_subwords_of(&tide_trainer_model(trainer)->shape.subwords, padded,
                            (uint32_t)strlen(word), ids);
}

/* The sum of the rows of a word's n-grams. */
static void sum_of(tide_trainer *trainer, const char *word, double *sum)
{
    uint32_t ids[TIDE_SUBWORDS_MAX], count = ngrams_of(trainer, word, ids);
    for (uint32_t d = 0; d < DIM; d++) {
        sum[d] = 0;
        for (uint32_t i = 0; i < count; i++)
            sum[d] += bfloat_at(&tide_trainer_model(trainer)->subword, ids[i], d);
    }
}

static const float *vector_of(tide_trainer *trainer, const char *word)
{
    return tide_matrix_row(&tide_trainer_model(trainer)->input,
                           slot_for(trainer, word));
}

/* Trains a word by a gradient, as sgns.c does. Returns the learning rate. */
static float step(tide_trainer *trainer, const char *word, const float *gradient)
{
    const tide_sgns *sgns = sgns_of(trainer);
    uint32_t slot = slot_for(trainer, word), stride = sgns->model->input.stride;
    float square = 0;
    for (int d = 0; d < DIM; d++)
        square += gradient[d] * gradient[d] / DIM;
    tide_ngrams_update(sgns, slot, 1);
    float rate = tide_ngrams_step(sgns, slot, gradient, square, 0.1f);
    sgns->kernels->add(tide_matrix_row(&sgns->model->input, slot), rate, gradient,
                       stride);
    return rate;
}

static void random_gradient(tide_rng *rng, float gradient[STRIDE])
{
    memset(gradient, 0, STRIDE * sizeof *gradient);
    for (int d = 0; d < DIM; d++)
        gradient[d] = tide_rng_float(rng) - 0.5f;
}

/* Whatever its n-grams receive, a word moves by its own steps alone as long as no other
 * word moves them; 2^-9 is half a unit of a bfloat. */
static void visits_alone_do_not_move_a_word(void **state)
{
    (void)state;
    tide_trainer *trainer = words_trainer("winterwald sommer\n");
    tide_rng rng = tide_rng_seeded(5);
    float gradient[STRIDE] __attribute__((aligned(64)));
    double expected[DIM], sum[DIM];
    for (int d = 0; d < DIM; d++)
        expected[d] = (double)vector_of(trainer, "winterwald")[d];
    for (int n = 0; n < 2000; n++) {
        random_gradient(&rng, gradient);
        double rate = (double)step(trainer, "winterwald", gradient);
        sum_of(trainer, "winterwald", sum);
        for (int d = 0; d < DIM; d++) {
            expected[d] += rate * (double)gradient[d];
            double x = (double)vector_of(trainer, "winterwald")[d];
            assert_true(fabs(x - expected[d]) < 0.02 + 0x1p-7 * fabs(sum[d]));
        }
    }
    tide_trainer_free(trainer);
}

/* Two words that share n-grams: what one does to them reaches the other at its next
 * visit, and no later than 16 steps after. */
static void what_others_do_to_ngrams_moves_a_word(void **state)
{
    (void)state;
    tide_trainer *trainer = words_trainer("winterwald winterwelt\n");
    tide_rng rng = tide_rng_seeded(6);
    float gradient[STRIDE] __attribute__((aligned(64))),
        none[STRIDE] __attribute__((aligned(64))) = {0};
    double before[DIM], after[DIM], largest = 0;
    uint32_t ids[TIDE_SUBWORDS_MAX], count = ngrams_of(trainer, "winterwelt", ids);
    for (int n = 0; n < 300; n++) /* seldom visited from now on */
        step(trainer, "winterwelt", none);
    for (int n = 0; n <= 16; n++)
        step(trainer, "winterwelt", none);
    sum_of(trainer, "winterwelt", before);
    float old[DIM];
    memcpy(old, vector_of(trainer, "winterwelt"), sizeof old);
    for (int n = 0; n < 40; n++) {
        random_gradient(&rng, gradient);
        step(trainer, "winterwald", gradient);
    }
    sum_of(trainer, "winterwelt", after);
    for (int n = 0; n <= 16; n++)
        step(trainer, "winterwelt", none);
    for (int d = 0; d < DIM; d++) {
        double moved = (double)vector_of(trainer, "winterwelt")[d] - (double)old[d],
               due = (after[d] - before[d]) / (count + 1);
        assert_true(fabs(moved - due) < 1e-3 + 0x1p-6 * fabs(after[d]));
        largest = fmax(largest, fabs(due));
    }
    assert_true(largest > 0.02); /* the test would notice if nothing arrived */
    tide_trainer_free(trainer);
}

/* The n-grams receive every gradient once, at about the rate of one step. */
static void ngrams_receive_every_gradient_once(void **state)
{
    (void)state;
    tide_trainer *trainer = words_trainer("winterwald sommer\n");
    float gradient[STRIDE] __attribute__((aligned(64))) = {0};
    double before[DIM], after[DIM], moves = 0;
    uint32_t ids[TIDE_SUBWORDS_MAX], count = ngrams_of(trainer, "winterwald", ids);
    for (int d = 0; d < DIM; d++)
        gradient[d] = 0.05f;
    sum_of(trainer, "winterwald", before);
    for (int n = 0; n < 1000; n++) {
        double rate = (double)step(trainer, "winterwald", gradient);
        /* rate = (0.1 + count * rate of the n-grams) / (count + 1) */
        moves += rate * (count + 1) - 0.1;
    }
    for (int n = 0; n <= 16; n++) {
        memset(gradient, 0, sizeof gradient);
        step(trainer, "winterwald", gradient);
    }
    sum_of(trainer, "winterwald", after);
    for (int d = 0; d < DIM; d++)
        assert_true(fabs((after[d] - before[d]) / (moves * 0.05) - 1) < 0.05);
    tide_trainer_free(trainer);
}

/* Nothing of a word stays in its slot for the next one. */
static void a_reused_slot_starts_without_a_past(void **state)
{
    (void)state;
    tide_trainer *used = words_trainer("winterwald\n"),
                 *fresh = words_trainer("winterwald\n");
    tide_rng rng = tide_rng_seeded(7);
    float gradient[STRIDE] __attribute__((aligned(64)));
    for (int n = 0; n < 5; n++) {
        random_gradient(&rng, gradient);
        step(used, "winterwald", gradient);
    }
    /* The n-grams as if the word had never been. */
    tide_accumulators *sums = &sgns_of(used)->optimizer->subword_accumulators;
    memset(sums->values, 0, ((size_t)16 << sums->shift) * sizeof *sums->values);
    const tide_bfloats *rows = &tide_trainer_model(used)->subword;
    memcpy(rows->rows, tide_trainer_model(fresh)->subword.rows,
           tide_bfloats_bytes(rows->count, rows->dim));
    tide_init_slot(sgns_of(used), slot_for(used, "winterwald"));
    tide_init_slot(sgns_of(fresh), slot_for(fresh, "winterwald"));
    for (int n = 0; n < 40; n++) {
        random_gradient(&rng, gradient);
        step(fresh, "winterwald", gradient);
        step(used, "winterwald", gradient);
        assert_memory_equal(vector_of(used, "winterwald"),
                            vector_of(fresh, "winterwald"), DIM * sizeof(float));
    }
    tide_trainer_free(used);
    tide_trainer_free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_rounded_to_the_nearest_bfloat),
        cmocka_unit_test(rows_move_and_their_sum_is_that_before),
        cmocka_unit_test(small_moves_count_in_the_mean),
        cmocka_unit_test(all_sets_round_alike),
        cmocka_unit_test(a_row_that_does_not_move_is_not_rounded),
        cmocka_unit_test(visits_alone_do_not_move_a_word),
        cmocka_unit_test(what_others_do_to_ngrams_moves_a_word),
        cmocka_unit_test(ngrams_receive_every_gradient_once),
        cmocka_unit_test(a_reused_slot_starts_without_a_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
