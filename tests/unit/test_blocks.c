/* test_blocks.c - the training steps of profiles default and fast against a plain
 * program.
 *
 * The oracle gets the same sentences and draws the same negatives. It has no kernels,
 * no padding, no prefetches and no layout of accumulators. Both start with the same
 * random rows and must end with the same.
 */

#include "base/base.h"
#include "sampler/sampler.h"
#include "sampler/sampler_internal.h"
#include "sgns/optimizer_internal.h"
#include "sgns/sgns.h"
#include "sgns/sgns_internal.h"
#include "train/train.h"
#include "vector/vector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "train_fixture.h"

enum { WORDS = 60, DIM_MOST = 40, LENGTH_MOST = 300 };

/* Draws low slots more often. */
static void draw_low(const tide_draws *draws, tide_rng *rng, uint32_t *slots,
                     size_t count)
{
    (void)draws;
    for (size_t i = 0; i < count; i++)
        slots[i] = (uint32_t)(WORDS * tide_rng_double(rng) * tide_rng_double(rng));
}

static const tide_draws low = {draw_low};

typedef struct plain {
    const tide_params *p;
    tide_contexts contexts;
    int dim;
    const uint64_t *quarantined; /* bit per slot below 64; NULL for none */
    double v[WORDS][DIM_MOST], u[WORDS][DIM_MOST], sum_v[WORDS], sum_u[WORDS];

    /* of a sentence */
    const tide_sentence *sentence;
    double known[LENGTH_MOST], added[LENGTH_MOST];
    uint32_t first[TIDE_BLOCK], last[TIDE_BLOCK];
    double weight[TIDE_BLOCK];
    double x[TIDE_BLOCK][DIM_MOST], gradient[TIDE_BLOCK][DIM_MOST];
} plain;

static double product(const plain *o, const double *a, const double *b)
{
    double sum = 0;
    for (int d = 0; d < o->dim; d++)
        sum += a[d] * b[d];
    return sum;
}

static void move(const plain *o, double *row, double step, const double *along)
{
    for (int d = 0; d < o->dim; d++)
        row[d] += step * along[d];
}

static double sigmoid_of(double x)
{
    return 1 / (1 + exp(-x));
}

static double rate_of(const plain *o, double sum, double factor)
{
    double eta = o->p->alpha * factor, root = eta / o->p->alpha_first;
    return fmax(eta / sqrt(root * root + sum / (double)o->sentence->scale),
                o->p->min_alpha);
}

static double weight_at(const plain *o, uint32_t center, uint32_t at)
{
    double away = fabs((double)at - (double)center);
    return o->p->contexts == TIDE_CONTEXTS_WEIGHTED ? 1 / away : 1;
}

/* The weight of a draw for center i of the block: contexts that are the same word do
 * not count. */
static double weight_of_draw(const plain *o, uint32_t at, int i, uint32_t slot,
                             uint32_t draws)
{
    double weight = o->weight[i];
    uint32_t center = at + (uint32_t)i;
    for (uint32_t j = o->first[i]; o->p->exclude && j <= o->last[i]; j++)
        if (j != center && o->sentence->slots[j] == slot)
            weight -= weight_at(o, center, j);
    return weight > 1e-6 ? weight * (double)o->p->negative / draws : 0;
}

/* A quarantined slot is treated as if it had not been drawn. */
static uint32_t plain_open(const plain *o, const uint32_t *drawn, uint32_t draws,
                           uint32_t *open)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < draws; j++)
        if (!o->quarantined || !(*o->quarantined >> drawn[j] & 1))
            open[count++] = drawn[j];
    return count;
}

static void plain_negatives(plain *o, uint32_t at, const uint32_t *all_drawn,
                            uint32_t draws)
{
    uint32_t drawn[DRAWS_MAX];
    draws = plain_open(o, all_drawn, draws, drawn);
    double error[DRAWS_MAX][TIDE_BLOCK], rate[DRAWS_MAX];
    for (uint32_t j = 0; j < draws; j++) {
        double square = 0;
        for (int i = 0; i < TIDE_BLOCK; i++) {
            double weight =
                o->weight[i] > 0 ? weight_of_draw(o, at, i, drawn[j], draws) : 0;
            error[j][i] = -weight * sigmoid_of(product(o, o->x[i], o->u[drawn[j]]));
            square += error[j][i] * error[j][i] * product(o, o->x[i], o->x[i]) / o->dim;
        }
        o->sum_u[drawn[j]] += square * (double)o->sentence->scale;
        rate[j] = rate_of(o, o->sum_u[drawn[j]], o->p->alpha_output);
    }
    for (uint32_t j = 0; j < draws; j++)
        for (int i = 0; i < TIDE_BLOCK; i++)
            move(o, o->gradient[i], error[j][i], o->u[drawn[j]]);
    for (uint32_t j = 0; j < draws; j++)
        for (int i = 0; i < TIDE_BLOCK; i++)
            move(o, o->u[drawn[j]], rate[j] * error[j][i], o->x[i]);
}

/* The weight of the word at j for center i of the block; 0 if it is not a context. */
static double weight_near(const plain *o, uint32_t at, int i, uint32_t j)
{
    uint32_t center = at + (uint32_t)i;
    bool is_context =
        o->weight[i] > 0 && j != center && j >= o->first[i] && j <= o->last[i];
    return is_context ? weight_at(o, center, j) : 0;
}

/* First the errors of four centers are computed, then the rows move one by one, then
 * the centers. */
static void plain_quad(plain *o, uint32_t at, int quad)
{
    const uint32_t *slots = o->sentence->slots;
    double error[LENGTH_MOST][TIDE_BLOCK], rate[LENGTH_MOST];
    for (uint32_t j = 0; j < o->sentence->count; j++) {
        double square = 0;
        for (int i = quad; i < quad + TIDE_QUAD; i++) {
            double weight = weight_near(o, at, i, j);
            error[j][i] =
                weight * (1 - sigmoid_of(product(o, o->x[i], o->u[slots[j]])));
            square += error[j][i] * error[j][i] * product(o, o->x[i], o->x[i]) / o->dim;
        }
        o->added[j] += square * (double)o->sentence->scale;
        rate[j] = rate_of(o, o->known[j] + o->added[j], o->p->alpha_output);
    }
    for (uint32_t j = 0; j < o->sentence->count; j++) {
        double step[DIM_MOST] = {0};
        for (int i = quad; i < quad + TIDE_QUAD; i++) {
            move(o, o->gradient[i], error[j][i], o->u[slots[j]]);
            move(o, step, error[j][i], o->x[i]);
        }
        move(o, o->u[slots[j]], rate[j], step);
    }
    for (int i = quad; i < quad + TIDE_QUAD; i++) {
        if (!(o->weight[i] > 0))
            continue;
        uint32_t slot = slots[at + (uint32_t)i];
        o->sum_v[slot] += product(o, o->gradient[i], o->gradient[i]) / o->dim *
                          (double)o->sentence->scale;
        move(o, o->v[slot], rate_of(o, o->sum_v[slot], 1), o->gradient[i]);
    }
}

/* Uses the library's choice of contexts, which this test does not check. */
static void plain_plan(plain *o, uint32_t at, tide_rng *rng)
{
    for (uint32_t i = 0; i < TIDE_BLOCK; i++) {
        o->weight[i] = 0;
        if (at + i >= o->sentence->count ||
            !tide_contexts_around(&o->contexts, o->sentence, rng, at + i, &o->first[i],
                                  &o->last[i]))
            continue;
        for (uint32_t j = o->first[i]; j <= o->last[i]; j++)
            o->weight[i] += j == at + i ? 0 : weight_at(o, at + i, j);
    }
}

static void plain_block(plain *o, uint32_t at, const uint32_t *drawn, uint32_t draws)
{
    uint32_t count = o->sentence->count, width = (uint32_t)o->p->window;
    for (uint32_t i = 0; i < TIDE_BLOCK; i++) {
        memset(o->gradient[i], 0, sizeof o->gradient[i]);
        memset(o->x[i], 0, sizeof o->x[i]);
        if (o->weight[i] > 0)
            memcpy(o->x[i], o->v[o->sentence->slots[at + i]], sizeof o->x[i]);
    }
    plain_negatives(o, at, drawn, draws);
    for (uint32_t j = 0; j < count; j++) {
        if (j + width < at && j + width + TIDE_BLOCK >= at)
            o->sum_u[o->sentence->slots[j]] += o->added[j];
        if (j < at + TIDE_BLOCK + width && (!at || j >= at + width)) {
            o->known[j] = o->sum_u[o->sentence->slots[j]];
            o->added[j] = 0;
        }
    }
    for (int i = 0; i < TIDE_BLOCK; i += TIDE_QUAD)
        plain_quad(o, at, i);
}

static void plain_train(plain *o, const tide_sentence *sentence)
{
    uint32_t drawn[2][DRAWS_MAX], draws = SHARED_DRAWS * (uint32_t)o->p->negative;
    tide_rng rng =
        tide_rng_seeded(o->p->seed + sentence->sequence * 0xc2b2ae3d27d4eb4fu);
    uint32_t at = 0, width = (uint32_t)o->p->window;
    o->sentence = sentence;
    tide_draws_next(sentence->negatives, &rng, drawn[0], draws);
    for (; at < sentence->count; at += TIDE_BLOCK) {
        plain_plan(o, at, &rng);
        if (at + TIDE_BLOCK < sentence->count)
            tide_draws_next(sentence->negatives, &rng, drawn[1], draws);
        plain_block(o, at, drawn[0], draws);
        memcpy(drawn[0], drawn[1], sizeof drawn[0]);
    }
    at -= TIDE_BLOCK;
    for (uint32_t j = at > width ? at - width : 0; j < sentence->count; j++)
        o->sum_u[sentence->slots[j]] += o->added[j];
}

/* -- the engine beside it ---------------------------------------------------------- */

typedef struct pair {
    tide_model model;
    tide_sgns sgns;
    tide_scratch *scratch;
    plain *oracle;
} pair;

static pair begin(tide_params *params)
{
    tide_error err;
    pair t = {.model.shape.dim = (uint32_t)params->dim,
              .oracle = calloc(1, sizeof(plain))};
    assert_false(tide_matrix_init(&t.model.input, WORDS, (uint32_t)params->dim, &err));
    assert_false(tide_matrix_init(&t.model.output, WORDS, (uint32_t)params->dim, &err));
    t.sgns = (tide_sgns){.params = params,
                         .optimizer = tide_optimizer_new(params, &err),
                         .kernels = tide_kernels_best()};
    tide_contexts_init(&t.sgns.contexts, params);
    t.scratch = tide_scratch_new((uint32_t)params->dim, NULL, &err);
    assert_true(t.scratch && t.sgns.optimizer && t.oracle);
    t.oracle->p = params;
    t.oracle->contexts = t.sgns.contexts;
    t.oracle->dim = (int)params->dim;
    tide_rng rng = tide_rng_seeded(5);
    for (uint32_t k = 0; k < WORDS; k++)
        for (uint32_t d = 0; d < params->dim; d++) {
            t.oracle->v[k][d] = (double)(tide_matrix_row(&t.model.input, k)[d] =
                                             tide_rng_float(&rng) - 0.5f);
            t.oracle->u[k][d] = (double)(tide_matrix_row(&t.model.output, k)[d] =
                                             tide_rng_float(&rng) - 0.5f);
        }
    return t;
}

static void end(pair *t)
{
    tide_scratch_free(t->scratch);
    tide_optimizer_free(t->sgns.optimizer);
    tide_matrix_release(&t->model.input);
    tide_matrix_release(&t->model.output);
    free(t->oracle);
}

static void close_to(double value, double expected, const char *what)
{
    if (!(fabs(value - expected) <= 2e-4 * (1 + fabs(expected))))
        fail_msg("%s %.9g is not %.9g", what, value, expected);
}

static void same(const pair *t)
{
    const tide_optimizer *r = t->sgns.optimizer;
    for (uint32_t k = 0; k < WORDS; k++) {
        for (int d = 0; d < t->oracle->dim; d++) {
            close_to((double)tide_matrix_row(&t->model.input, k)[d], t->oracle->v[k][d],
                     "input");
            close_to((double)tide_matrix_row(&t->model.output, k)[d],
                     t->oracle->u[k][d], "output");
        }
        close_to((double)r->input_accumulators
                     .values[tide_sum_at(k, r->input_accumulators.shift)],
                 t->oracle->sum_v[k], "sum of inputs");
        close_to((double)r->output_accumulators
                     .values[tide_sum_at(k, r->output_accumulators.shift)],
                 t->oracle->sum_u[k], "sum of outputs");
    }
}

/* Sentences of all lengths, some with few distinct words. Quarantined slots occur in
 * none. */
static void compare_closed(const char *settings, uint64_t quarantined)
{
    tide_params *params = params_of(settings);
    pair t = begin(params);
    t.sgns.model = &t.model;
    t.sgns.quarantined = t.oracle->quarantined = quarantined ? &quarantined : NULL;
    tide_rng rng = tide_rng_seeded(11);
    for (uint32_t number = 0; number < 60; number++) {
        uint32_t slots[LENGTH_MOST], count = number % 37 ? 2 + number : LENGTH_MOST;
        draw_low(NULL, &rng, slots, count);
        for (uint32_t j = 0; number % 5 == 0 && j < count; j++)
            slots[j] %= 3;
        for (uint32_t j = 0; j < count; j++)
            while (quarantined >> slots[j] & 1)
                slots[j]++;
        tide_sentence sentence = {.slots = slots,
                                  .count = count,
                                  .sequence = number,
                                  .negatives = &low,
                                  .scale = 1 + (float)number / 16};
        tide_sgns_progress progress = {0};
        tide_sgns_train(&t.sgns, t.scratch, &sentence, &progress);
        plain_train(t.oracle, &sentence);
        assert_int_equal(progress.centers, count);
        same(&t);
    }
    end(&t);
    tide_params_free(params);
}

static void compare(const char *settings)
{
    compare_closed(settings, 0);
}

static void blocks_match_the_plain_program(void **state)
{
    (void)state;
    compare("vocab=60 dim=20 window=8");
    compare("vocab=60 dim=7 window=3 negative=2");
    compare("vocab=60 dim=33 window=1 negative=15");
    compare("vocab=60 dim=16 window=21 negative=1");
}

static void blocks_match_it_with_windows_of_any_width(void **state)
{
    (void)state;
    compare("vocab=60 dim=20 window=9 contexts=dynamic");
}

static void blocks_match_it_where_contexts_may_be_drawn(void **state)
{
    (void)state;
    compare("vocab=60 dim=20 window=8 exclude=no");
}

/* Some of the most frequent slots; in the end all but two, so that often no draw is
 * left. */
static void blocks_match_it_with_quarantined_slots(void **state)
{
    (void)state;
    compare_closed("vocab=60 dim=20 window=8", 0x5);
    compare_closed("vocab=60 dim=20 window=3 negative=2", 0x123456789abcdef);
    compare_closed("vocab=60 dim=20 window=3 negative=1",
                   (UINT64_C(1) << WORDS) - 1 - (UINT64_C(1) << 58) - 2);
}

/* With shared and with separate negatives, a quarantined row does not change by a bit:
 * another thread may be writing it. */
static void quarantined_rows_are_not_touched(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "vocab=60 dim=20", "vocab=60 dim=20 negatives=pair",
        "vocab=60 dim=20 negatives=pair rate=coordinate",
        "vocab=60 dim=20 negatives=pair gradient=after exclude=no"};
    const uint64_t quarantined = 0x0f0f0f0f0f0f0f0;
    for (size_t k = 0; k < COUNT(settings); k++) {
        tide_params *params = params_of(settings[k]);
        pair t = begin(params);
        t.sgns.model = &t.model;
        t.sgns.quarantined = &quarantined;
        float before[WORDS][DIM_MOST];
        for (uint32_t i = 0; i < WORDS; i++)
            memcpy(before[i], tide_matrix_row(&t.model.output, i), 20 * sizeof(float));
        for (uint32_t number = 0; number < 20; number++) {
            uint32_t slots[] = {0, 1, 2, 3, 1, 0, 3, 3, 2, 1};
            tide_sentence sentence = {.slots = slots,
                                      .count = COUNT(slots),
                                      .sequence = number,
                                      .negatives = &low,
                                      .scale = 1};
            tide_sgns_progress progress = {0};
            tide_sgns_train(&t.sgns, t.scratch, &sentence, &progress);
        }
        for (uint32_t i = 0; i < WORDS; i++) {
            bool same_bits = !memcmp(before[i], tide_matrix_row(&t.model.output, i),
                                     20 * sizeof(float));
            if (quarantined >> i & 1)
                assert_true(same_bits);
            else if (i < 30) /* drawn often enough */
                assert_false(same_bits);
        }
        end(&t);
        tide_params_free(params);
    }
}

/* With several threads, the trainer must pass the quarantine on to the training
 * threads. */
static void threads_see_the_quarantine(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        char settings[64];
        snprintf(settings, sizeof settings, "vocab=60 dim=8 threads=%d", threads);
        tide_trainer *trainer = trainer_of(settings);
        const uint64_t *shown = sgns_of(trainer)->quarantined;
        assert_ptr_equal(
            shown,
            threads > 1
                ? tide_ingest_selection(tide_trainer_ingest(trainer))->quarantined
                : NULL);
        tide_trainer_free(trainer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_match_the_plain_program),
        cmocka_unit_test(blocks_match_it_with_windows_of_any_width),
        cmocka_unit_test(blocks_match_it_where_contexts_may_be_drawn),
        cmocka_unit_test(blocks_match_it_with_quarantined_slots),
        cmocka_unit_test(quarantined_rows_are_not_touched),
        cmocka_unit_test(threads_see_the_quarantine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
