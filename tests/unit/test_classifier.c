/* test_classifier.c - the classifier against its formula, finite differences and
 * itself. */
#include "base/base.h"
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"
#include "classifier_fixture.h"
#include "classifier_oracle.h"

/* -- the formula ------------------------------------------------------------------ */

/* With every set of kernels that this processor supports. */
static void check_predictions(tide_classifier *c, const world *w)
{
    plain_weights plain = plain_weights_of(c);
    bool usable;
    for (size_t set = 0; tide_kernels_at(set, &usable); set++) {
        if (!usable)
            continue;
        c->kernels = tide_kernels_at(set, &usable);
        for (uint32_t i = 0; i < POSTS; i++) {
            float found[4];
            double expected[4];
            uint32_t count = w->examples[i].word_count;
            tide_classifier_predict(c, w->rows[i], count, found);
            plain_probabilities(&plain, w->rows[i], count, NULL, expected);
            for (int label = 0; label < 4; label++)
                assert_true(fabs((double)found[label] - expected[label]) < 1e-5);
        }
    }
}

static void predictions_equal_the_formula(void **state)
{
    (void)state;
    for (uint32_t dim = 1; dim <= 16; dim += 3)
        for (int kind = 0; kind < TIDE_CLASSIFIER_FREQUENT; kind++) {
            world *w = world_new(dim, dim);
            label_by_words(w);
            tide_classifier_options o =
                small_options((tide_classifier_kind)kind, dim, 4);
            o.maps = dim;
            tide_classifier *c = trained(&o, w, NULL, NULL);
            check_predictions(c, w);
            tide_classifier_free(c);
            world_free(w);
        }
}

/* -- gradients -------------------------------------------------------------------- */

enum { BATCH = 12 };

/* A mini-batch in training, with the factors of dropout. */
typedef struct passage {
    const world *world;
    tide_classifier *classifier;
    tide_traces traces;
    tide_step step;
    float masks[BATCH][64];
} passage;

static void begin_passage(passage *p, const world *w, tide_classifier *c)
{
    *p = (passage){.world = w, .classifier = c};
    assert_int_equal(tide_traces_init(&p->traces, &c->options, BATCH, NULL), TIDE_OK);
    for (uint32_t i = 0; i < BATCH; i++) {
        tide_trace *trace = &p->traces.traces[i];
        trace->row_count = w->examples[i].word_count;
        memcpy(trace->rows, w->rows[i], sizeof w->rows[i]);
        for (uint32_t k = 0; k < w->examples[i].label_count; k++)
            trace->errors[w->labels[i][k]] = 1;
        c->encoder->encode(c, trace, c->scratch);
        trace->features[c->features] = 1;
        for (uint32_t f = 0; f < c->features; f++)
            p->masks[i][f] = 1;
        tide_rng rng = tide_rng_seeded(i), again = rng;
        tide_dropout(trace->features, c->features, c->options.dropout, &rng);
        tide_dropout(p->masks[i], c->features, c->options.dropout, &again);
        tide_dense_loss(c, trace);
        tide_dense_backpropagate(c, trace);
    }
    p->step = (tide_step){.classifier = c, .traces = p->traces.traces, .count = BATCH};
}

static double plain_loss(const passage *p, const plain_weights *plain)
{
    double loss = 0, probabilities[16];
    for (uint32_t i = 0; i < BATCH; i++) {
        const tide_example *example = &p->world->examples[i];
        plain_probabilities(plain, p->world->rows[i], example->word_count, p->masks[i],
                            probabilities);
        for (uint32_t l = 0, k = 0; l < plain->labels; l++) {
            bool true_label = k < example->label_count && example->labels[k] == l;
            k += true_label;
            loss -= log(true_label ? probabilities[l] : 1 - probabilities[l]);
        }
    }
    return loss;
}

static void check_derivative(const passage *p, plain_weights *plain, double *weight,
                             float found)
{
    const double h = 1e-6, before = *weight;
    *weight = before + h;
    double above = plain_loss(p, plain);
    *weight = before - h;
    double expected = (above - plain_loss(p, plain)) / (2 * h);
    *weight = before;
    if (!(fabs(expected - (double)found) < 2e-5 * (1 + fabs(expected))))
        fail_msg("derivative %g instead of %g", (double)found, expected);
}

static void check_filters(const passage *p, plain_weights *plain)
{
    const tide_classifier *c = p->classifier;
    for (uint32_t unit = 0; unit < c->features; unit++) {
        uint32_t w = unit / plain->maps, map = unit % plain->maps;
        float bias = tide_cnn_gradient(&p->step, unit, c->scratch);
        check_derivative(p, plain, &plain->bias[w][map], bias);
        for (uint32_t k = 0; k <= w; k++)
            for (uint32_t d = 0; d < plain->dim; d++)
                check_derivative(p, plain, &plain->filters[w][map][k][d],
                                 c->scratch[k * c->filters.stride + d]);
    }
}

static void check_gradients(tide_classifier_kind kind, float dropout)
{
    world *w = world_new(7, 11);
    label_at_random(w, 4, 12);
    tide_classifier_options o = small_options(kind, 7, 4);
    o.dropout = dropout;
    tide_classifier *c = trained(&o, w, NULL, NULL);
    passage p;
    begin_passage(&p, w, c);
    plain_weights plain = plain_weights_of(c);
    double loss = 0;
    for (uint32_t i = 0; i < BATCH; i++)
        loss += p.traces.traces[i].loss;
    assert_true(fabs(loss - plain_loss(&p, &plain)) < 1e-4);
    if (plain.windows)
        check_filters(&p, &plain);
    for (uint32_t label = 0; label < plain.labels; label++) {
        tide_dense_gradient(&p.step, label, c->scratch);
        for (uint32_t f = 0; f <= c->features; f++)
            check_derivative(&p, &plain, &plain.dense[label][f], c->scratch[f]);
    }
    tide_traces_release(&p.traces);
    tide_classifier_free(c);
    world_free(w);
}

static void gradients_equal_finite_differences(void **state)
{
    (void)state;
    check_gradients(TIDE_CLASSIFIER_CNN, 0);
    check_gradients(TIDE_CLASSIFIER_CNN, 0.5f);
    check_gradients(TIDE_CLASSIFIER_LINEAR, 0);
    check_gradients(TIDE_CLASSIFIER_LINEAR, 0.3f);
}

/* Kept with 0.7 and then 1/0.7: variance 0.3/0.7, so 5 sigma of the mean of 20000 is
 * 0.024; of the share of zeros 0.017. */
static void dropout_keeps_the_expectation(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    tide_rng rng = tide_rng_seeded(1);
    double sum = 0, zeros = 0;
    for (int i = 0; i < DRAWS; i++) {
        float one = 1;
        tide_dropout(&one, 1, 0.3f, &rng);
        sum += (double)one;
        zeros += one == 0;
    }
    assert_true(fabs(sum / DRAWS - 1) < 0.024);
    assert_true(fabs(zeros / DRAWS - 0.3) < 0.017);
}

/* The first step of Adam is as long as the rate, whatever the gradient; the others
 * against the paper's formula in double precision. */
static void adam_steps_equal_the_paper(void **state)
{
    (void)state;
    tide_rng rng = tide_rng_seeded(4);
    float weight = 0.5f, mean = 0, square = 0;
    double w = 0.5, m = 0, v = 0;
    for (uint64_t t = 1; t <= 200; t++) {
        float g = (float)tide_rng_normal(&rng);
        tide_adam adam = tide_adam_at(0.01f, t);
        tide_adam_apply(&adam, &weight, &mean, &square, &g, 1);
        m = 0.9 * m + 0.1 * (double)g;
        v = 0.999 * v + 0.001 * (double)g * (double)g;
        double step = 0.01 * (m / (1 - pow(0.9, (double)t))) /
                      (sqrt(v / (1 - pow(0.999, (double)t))) + 1e-8);
        w -= step;
        assert_true(t > 1 || fabs(fabs(step) - 0.01) < 1e-6);
        assert_true(fabs((double)weight - w) < 1e-5);
    }
}

/* -- training --------------------------------------------------------------------- */

/* Trained until everything is learned; `last` is the last epoch. */
static tide_classifier *well_trained(tide_classifier_kind kind, const world *w,
                                     uint32_t labels, tide_epoch *last)
{
    tide_classifier_options o = small_options(kind, 16, labels);
    o.maps = 16;
    o.dropout = 0;
    o.held_out = 0;
    o.max_epochs = 150;
    tide_classifier *c = trained(&o, w, keep_last, last);
    assert_int_equal(last->epoch, 150);
    assert_int_equal(last->best_epoch, 150);
    assert_int_equal(last->learned, POSTS);
    return c;
}

static double loss_after_training(tide_classifier_kind kind, const world *w,
                                  uint32_t labels)
{
    tide_epoch last;
    tide_classifier_free(well_trained(kind, w, labels, &last));
    return last.loss;
}

static void separable_labels_are_learned(void **state)
{
    (void)state;
    world *w = world_new(16, 1);
    label_by_words(w);
    tide_epoch last;
    tide_classifier *c = well_trained(TIDE_CLASSIFIER_CNN, w, 4, &last);
    assert_true(last.loss < 1e-3);
    for (uint32_t i = 0; i < POSTS; i++) {
        float found[4];
        tide_classifier_predict(c, w->rows[i], w->examples[i].word_count, found);
        for (uint32_t label = 0; label < 4; label++)
            assert_int_equal(found[label] > 0.5f,
                             has_word(w, i, 10 * label, 10 * label + 10));
    }
    tide_classifier_free(c);
    world_free(w);
}

static void every_unit_is_trained(void **state)
{
    (void)state;
    world *w = world_new(16, 9);
    label_by_words(w);
    tide_classifier_options o = small_options(TIDE_CLASSIFIER_CNN, 16, 4);
    o.max_epochs = 1;
    tide_classifier *c = trained(&o, w, NULL, NULL);
    o.max_epochs = 2;
    tide_classifier *later = trained(&o, w, NULL, NULL);
    for (uint32_t unit = 0; unit < c->features; unit++)
        assert_true(c->bias.rows[unit] != 0);
    for (uint32_t label = 0; label < 4; label++)
        assert_true(c->dense_rows[label][0] != later->dense_rows[label][0]);
    tide_classifier_free(later);
    tide_classifier_free(c);
    world_free(w);
}

static void windows_see_the_order_of_words_and_the_mean_does_not(void **state)
{
    (void)state;
    world *w = world_new(16, 2);
    label_by_order(w);
    assert_true(loss_after_training(TIDE_CLASSIFIER_CNN, w, 1) < 1e-3);
    assert_true(loss_after_training(TIDE_CLASSIFIER_LINEAR, w, 1) > 0.4);
    world_free(w);
}

/* Stopping at the best epoch gives the same weights. */
static void the_best_epoch_is_restored(void **state)
{
    (void)state;
    world *w = world_new(8, 3);
    label_at_random(w, 4, 3);
    tide_classifier_options o = small_options(TIDE_CLASSIFIER_CNN, 8, 4);
    o.held_out = 0.3f;
    o.patience = 4;
    o.max_epochs = 100;
    tide_epoch last, shorter;
    tide_classifier *c = trained(&o, w, keep_last, &last);
    assert_int_equal(last.held_out, POSTS * 3 / 10);
    assert_int_equal(last.learned + last.held_out, POSTS);
    assert_true(last.epoch < 100);
    assert_int_equal(last.epoch, last.best_epoch + 4);
    assert_true(last.held_out_loss >= last.best_loss);
    o.max_epochs = last.best_epoch;
    tide_classifier *best = trained(&o, w, keep_last, &shorter);
    assert_int_equal(shorter.best_epoch, last.best_epoch);
    assert_true(shorter.held_out_loss == last.best_loss);
    assert_true(same(c, best));
    tide_classifier_free(best);
    tide_classifier_free(c);
    world_free(w);
}

static bool stop_at_2(void *context, const tide_epoch *epoch)
{
    keep_last(context, epoch);
    return epoch->epoch < 2;
}

static void the_callback_can_stop_training(void **state)
{
    (void)state;
    world *w = world_new(8, 4);
    label_by_words(w);
    tide_classifier_options o = small_options(TIDE_CLASSIFIER_LINEAR, 8, 4);
    tide_epoch last;
    tide_classifier *stopped = trained(&o, w, stop_at_2, &last);
    assert_int_equal(last.epoch, 2);
    o.max_epochs = 2;
    tide_classifier *other = trained(&o, w, NULL, NULL);
    assert_true(same(stopped, other));
    tide_classifier_free(other);
    tide_classifier_free(stopped);
    world_free(w);
}

static void the_seed_changes_the_result_but_threads_do_not(void **state)
{
    (void)state;
    world *w = world_new(64, 5);
    label_by_words(w);
    for (int kind = 0; kind < TIDE_CLASSIFIER_FREQUENT; kind++) {
        tide_classifier_options o = small_options((tide_classifier_kind)kind, 64, 4);
        o.maps = 40; /* enough work for all threads */
        tide_classifier *one = trained(&o, w, NULL, NULL);
        const uint32_t threads[] = {1, 2, 4, 37};
        for (size_t i = 0; i < COUNT(threads); i++) {
            o.threads = threads[i];
            tide_classifier *many = trained(&o, w, NULL, NULL);
            assert_true(same(one, many));
            tide_classifier_free(many);
        }
        o.seed++;
        tide_classifier *other = trained(&o, w, NULL, NULL);
        assert_false(same(one, other));
        tide_classifier_free(other);
        tide_classifier_free(one);
    }
    world_free(w);
}

/* Scaling by a power of two is exact. */
static void the_scale_of_the_vectors_does_not_matter(void **state)
{
    (void)state;
    world *w = world_new(8, 6), *large = world_new(8, 6);
    label_by_words(w);
    label_by_words(large);
    for (uint32_t i = 0; i < WORDS * large->vectors.stride; i++)
        large->vectors.rows[i] *= 1024;
    for (int kind = 0; kind < TIDE_CLASSIFIER_FREQUENT; kind++) {
        tide_classifier_options o = small_options((tide_classifier_kind)kind, 8, 4);
        tide_classifier *a = trained(&o, w, NULL, NULL);
        tide_classifier *b = trained(&o, large, NULL, NULL);
        assert_true(a->scale == b->scale * 1024);
        assert_true(same_rows(&a->dense, &b->dense));
        assert_true(same_rows(&a->filters, &b->filters));
        tide_classifier_free(b);
        tide_classifier_free(a);
    }
    world_free(large);
    world_free(w);
}

/* -- prediction ------------------------------------------------------------------- */

static void posts_without_words_get_the_frequencies(void **state)
{
    (void)state;
    world *w = world_new(8, 7);
    label_at_random(w, 3, 8);
    for (uint32_t i = 0; i < POSTS; i += 5)
        w->examples[i].word_count = 0; /* they count for the frequencies */
    double counts[4] = {0};
    for (uint32_t i = 0; i < POSTS; i++)
        for (uint32_t k = 0; k < w->examples[i].label_count; k++)
            counts[w->labels[i][k]]++;
    for (int kind = 0; kind < TIDE_CLASSIFIER_KINDS; kind++) {
        tide_classifier_options o = small_options((tide_classifier_kind)kind, 8, 4);
        o.held_out = 0;
        tide_classifier *c = trained(&o, w, NULL, NULL);
        float none[4], some[4];
        tide_classifier_predict(c, NULL, 0, none);
        tide_classifier_predict(c, w->rows[1], 1, some);
        for (int label = 0; label < 4; label++)
            assert_true(fabs((double)none[label] - counts[label] / POSTS) < 1e-6);
        bool frequent = kind == TIDE_CLASSIFIER_FREQUENT;
        assert_int_equal(memcmp(none, some, sizeof none) == 0, frequent);
        tide_classifier_free(c);
    }
    world_free(w);
}

static void held_out_posts_do_not_count_for_the_frequencies(void **state)
{
    (void)state;
    world *w = world_new(8, 10);
    for (uint32_t i = 0; i < POSTS; i++)
        add_label(w, i, 1);
    tide_classifier_options o = small_options(TIDE_CLASSIFIER_LINEAR, 8, 2);
    o.held_out = 0.4f;
    tide_classifier *c = trained(&o, w, NULL, NULL);
    float found[2];
    tide_classifier_predict(c, NULL, 0, found);
    assert_true(found[0] == 0 && found[1] == 1);
    tide_classifier_free(c);
    world_free(w);
}

static void a_long_post_is_cut(void **state)
{
    (void)state;
    world *w = world_new(8, 8);
    label_by_words(w);
    const float *rows[40];
    for (uint32_t i = 0; i < COUNT(rows); i++)
        rows[i] = tide_matrix_row(&w->vectors, i);
    for (int kind = 0; kind < TIDE_CLASSIFIER_FREQUENT; kind++) {
        tide_classifier_options o = small_options((tide_classifier_kind)kind, 8, 4);
        o.max_words = 5;
        tide_classifier *c = trained(&o, w, NULL, NULL);
        float whole[4], beginning[4];
        tide_classifier_predict(c, rows, COUNT(rows), whole);
        tide_classifier_predict(c, rows, 5, beginning);
        assert_memory_equal(whole, beginning, sizeof whole);
        tide_classifier_free(c);
    }
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_equal_the_formula),
        cmocka_unit_test(gradients_equal_finite_differences),
        cmocka_unit_test(dropout_keeps_the_expectation),
        cmocka_unit_test(adam_steps_equal_the_paper),
        cmocka_unit_test(separable_labels_are_learned),
        cmocka_unit_test(every_unit_is_trained),
        cmocka_unit_test(windows_see_the_order_of_words_and_the_mean_does_not),
        cmocka_unit_test(the_best_epoch_is_restored),
        cmocka_unit_test(the_callback_can_stop_training),
        cmocka_unit_test(the_seed_changes_the_result_but_threads_do_not),
        cmocka_unit_test(the_scale_of_the_vectors_does_not_matter),
        cmocka_unit_test(posts_without_words_get_the_frequencies),
        cmocka_unit_test(held_out_posts_do_not_count_for_the_frequencies),
        cmocka_unit_test(a_long_post_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
