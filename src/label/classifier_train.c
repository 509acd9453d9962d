/* learn.c - training a classifier: mini-batches, held-out posts, and when to stop.
 *
 * A step has two parts, and the threads split each of them differently. Forward they split the posts of
 * the mini-batch; every post leaves a trace of what it takes to go back. Back they split the weights: a
 * thread that has a unit goes over the traces of all posts in their order, sums the unit's gradient and
 * moves its weights at once. So every number is computed by one thread in one order, the result is the
 * same to the byte with any number of threads, and there are neither locks nor gradients to add up.
 *
 * The loss is summed over the posts of a mini-batch. Random numbers come from the seed alone: one
 * generator for the order of the posts and the first weights, and for dropout one for each post in each epoch.
 */
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

#include <math.h>
#include <stdlib.h>

typedef struct lesson {
    tide_step step;
    tide_traces batch;
    const tide_example *examples;
    const tide_matrix *vectors;
    uint32_t *order; /* [posts] of the examples: first those held out */
    uint32_t posts, held;
    uint32_t first; /* place in `order` of the mini-batch */
    uint64_t steps; /* made so far */
    float *scratch; /* [threads][scratch_floats] */
    uint32_t scratch_floats;
    tide_thread_team *team;
    bool learning;
    tide_rng rng;
    tide_epoch epoch;
} lesson;

static const tide_classifier_options *options_of(const lesson *l)
{
    return &l->step.classifier->options;
}

/* -- one mini-batch ---------------------------------------------------------------------------------- */

static void open_post(const lesson *l, const tide_example *example, tide_trace *trace)
{
    uint32_t most = options_of(l)->words_most;
    trace->row_count = example->word_count < most ? example->word_count : most;
    for (uint32_t i = 0; i < trace->row_count; i++)
        trace->rows[i] = tide_matrix_row(l->vectors, example->words[i]);
    memset(trace->errors, 0, options_of(l)->labels * sizeof(float));
    for (uint32_t i = 0; i < example->label_count; i++)
        trace->errors[example->labels[i]] = 1;
}

static void drop_features(const lesson *l, uint32_t place, tide_trace *trace)
{
    const uint64_t key[] = {options_of(l)->seed, l->epoch.epoch, place};
    tide_rng rng = tide_rng_seeded(tide_hash(key, sizeof key, 0));
    tide_dropout(trace->features, l->step.classifier->features, options_of(l)->dropout,
                 &rng);
}

static void go_forward(void *task, uint32_t member)
{
    const lesson *l = task;
    const tide_classifier *c = l->step.classifier;
    float *scratch = l->scratch + (size_t)member * l->scratch_floats;
    for (uint32_t i = member; i < l->step.count; i += c->options.threads) {
        tide_trace *trace = &l->step.traces[i];
        open_post(l, &l->examples[l->order[l->first + i]], trace);
        c->encoder->read(c, trace, scratch);
        trace->features[c->features] = 1;
        if (l->learning && c->options.dropout > 0)
            drop_features(l, l->first + i, trace);
        tide_dense_loss(c, trace);
        if (l->learning && c->encoder->windows)
            tide_dense_backpropagate(c, trace);
    }
}

static void go_back(void *task, uint32_t member)
{
    const lesson *l = task;
    const tide_classifier *c = l->step.classifier;
    float *scratch = l->scratch + (size_t)member * l->scratch_floats;
    uint32_t units = c->encoder->windows ? c->features : 0;
    for (uint32_t i = member; i < units + c->options.labels; i += c->options.threads)
        if (i < units)
            tide_cnn_learn(&l->step, i, scratch);
        else
            tide_dense_learn(&l->step, i - units, scratch);
}

/* Goes through a part of the order; returns the mean loss of a label of a post. */
static double go_through(lesson *l, uint32_t from, uint32_t to, bool learning)
{
    double loss = 0;
    l->learning = learning;
    for (l->first = from; l->first < to; l->first += l->step.count) {
        uint32_t left = to - l->first;
        l->step.count = left < l->batch.count ? left : l->batch.count;
        tide_thread_team_run(l->team, go_forward, l);
        for (uint32_t i = 0; i < l->step.count; i++)
            loss += l->step.traces[i].loss;
        if (learning) {
            l->step.adam = tide_adam_at(options_of(l)->rate, ++l->steps);
            tide_thread_team_run(l->team, go_back, l);
        }
    }
    return loss / ((double)(to - from) * options_of(l)->labels);
}

/* -- epochs ------------------------------------------------------------------------------------------ */

static void shuffle(lesson *l, uint32_t from)
{
    for (uint32_t i = l->posts; i > from + 1; i--) {
        uint32_t j = from + (uint32_t)tide_rng_below(&l->rng, i - from);
        uint32_t other = l->order[j];
        l->order[j] = l->order[i - 1];
        l->order[i - 1] = other;
    }
}

static void copy_rows(float *to, const float *from, const tide_matrix *shape)
{
    if (shape->rows)
        memcpy(to, from, tide_matrix_bytes(shape->count, shape->dim));
}

static void keep_weights(lesson *l)
{
    const tide_classifier *c = l->step.classifier;
    copy_rows(l->step.dense.best, c->dense.rows, &c->dense);
    copy_rows(l->step.filters.best, c->filters.rows, &c->filters);
    copy_rows(l->step.bias.best, c->bias.rows, &c->bias);
}

static void take_weights_back(lesson *l)
{
    const tide_classifier *c = l->step.classifier;
    copy_rows(c->dense.rows, l->step.dense.best, &c->dense);
    copy_rows(c->filters.rows, l->step.filters.best, &c->filters);
    copy_rows(c->bias.rows, l->step.bias.best, &c->bias);
}

static int learn_epoch(lesson *l, tide_error *err)
{
    tide_epoch *e = &l->epoch;
    double start = tide_now_seconds();
    e->epoch++;
    shuffle(l, l->held);
    e->loss = go_through(l, l->held, l->posts, true);
    e->held_out_loss = l->held > 0 ? go_through(l, 0, l->held, false) : 0;
    if (!isfinite(e->loss) || !isfinite(e->held_out_loss))
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "the loss of epoch %u is not a number; a smaller rate than %g "
                         "may help",
                         e->epoch, (double)options_of(l)->rate);
    if (e->epoch == 1 || l->held == 0 || e->held_out_loss < e->best_loss) {
        e->best_epoch = e->epoch;
        e->best_loss = e->held_out_loss;
        keep_weights(l);
    }
    e->seconds = tide_now_seconds() - start;
    return TIDE_OK;
}

static int learn_epochs(lesson *l, tide_epoch_watch *watch, void *context,
                        tide_error *err)
{
    const tide_classifier_options *o = options_of(l);
    bool go_on = true;
    while (go_on && l->epoch.epoch < o->epochs_most) {
        int status = learn_epoch(l, err);
        if (status)
            return status;
        go_on = l->epoch.epoch - l->epoch.best_epoch < o->patience;
        if (watch && !watch(context, &l->epoch))
            go_on = false;
    }
    take_weights_back(l);
    return TIDE_OK;
}

/* -- before the first epoch -------------------------------------------------------------------------- */

/* Which posts to learn from, and which to hold out. */
static int split_posts(lesson *l, size_t count, tide_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        if (l->examples[i].word_count > 0)
            l->order[l->posts++] = i;
    shuffle(l, 0);
    float share = options_of(l)->held_out;
    l->held = (uint32_t)((double)share * l->posts);
    if (l->held == 0 && share > 0 && l->posts > 1)
        l->held = 1;
    l->epoch.epochs_most = options_of(l)->epochs_most;
    l->epoch.learned = l->posts - l->held;
    l->epoch.held_out = l->held;
    if (l->posts == 0)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "none of %zu examples has a word with a vector", count);
    return TIDE_OK;
}

static void count_labels(const lesson *l, size_t count)
{
    tide_examples_frequencies(l->examples, count, l->order, l->held,
                              options_of(l)->labels, l->step.classifier->prior);
}

static void begin_weights(lesson *l)
{
    tide_classifier *c = l->step.classifier;
    if (c->encoder->windows)
        tide_cnn_begin(c, &l->rng);
    tide_dense_begin(c, &l->rng);
}

/* -- the whole --------------------------------------------------------------------------------------- */

static uint64_t moments_bytes(uint64_t rows, uint32_t dim)
{
    return 3 * tide_matrix_bytes(rows, dim);
}

/* All three in one block, which begins with the means. */
static bool make_moments(tide_moments *m, const tide_matrix *weights)
{
    size_t floats = (size_t)weights->count * weights->stride;
    m->mean = tide_alloc(1, moments_bytes(weights->count, weights->dim));
    m->square = m->mean + (m->mean ? floats : 0);
    m->best = m->square + (m->mean ? floats : 0);
    return m->mean;
}

static int make_room(lesson *l, size_t count, tide_error *err)
{
    const tide_classifier *c = l->step.classifier;
    l->scratch_floats = tide_scratch_floats(&c->options);
    l->order = tide_alloc(count, sizeof *l->order);
    l->scratch = tide_alloc(c->options.threads, l->scratch_floats * sizeof(float));
    bool made = l->order && l->scratch && make_moments(&l->step.dense, &c->dense);
    if (made && c->encoder->windows)
        made = make_moments(&l->step.filters, &c->filters) &&
               make_moments(&l->step.bias, &c->bias);
    if (!made)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to learn from %zu examples",
                         count);
    int status = tide_traces_init(&l->batch, &c->options, c->options.batch, err);
    if (status)
        return status;
    l->step.traces = l->batch.traces;
    l->team = tide_thread_team_new(c->options.threads, err);
    return l->team ? TIDE_OK : TIDE_ERROR_MEMORY;
}

static void release_room(lesson *l)
{
    tide_thread_team_free(l->team);
    tide_traces_release(&l->batch);
    free(l->step.bias.mean);
    free(l->step.filters.mean);
    free(l->step.dense.mean);
    free(l->scratch);
    free(l->order);
}

uint64_t tide_classifier_training_bytes(const tide_classifier_options *o, size_t posts)
{
    uint32_t features = tide_feature_count(o);
    if (features == 0)
        return 0;
    uint64_t bytes = posts * sizeof(uint32_t) +
                     o->threads * (uint64_t)tide_scratch_floats(o) * sizeof(float) +
                     o->batch * tide_trace_bytes(o) +
                     tide_thread_team_bytes(o->threads) +
                     moments_bytes(o->labels, features + 1);
    if (tide_encoder_of(o)->windows)
        bytes +=
            moments_bytes(tide_filter_rows(o), o->dim) + moments_bytes(1, features);
    return bytes;
}

static int learn_weights(lesson *l, size_t count, tide_epoch_watch *watch,
                         void *context, tide_error *err)
{
    int status = make_room(l, count, err);
    if (!status)
        status = split_posts(l, count, err);
    if (!status)
        status =
            tide_examples_scale(l->examples, l->order + l->held, l->posts - l->held,
                                l->vectors, &l->step.classifier->scale, err);
    if (!status) {
        count_labels(l, count);
        begin_weights(l);
        status = learn_epochs(l, watch, context, err);
    }
    release_room(l);
    return status;
}

int tide_classifier_train(tide_classifier *c, const tide_example *examples,
                          size_t count, const tide_matrix *vectors,
                          tide_epoch_watch *watch, void *context, tide_error *err)
{
    lesson l = {
        .step = {.classifier = c},
        .examples = examples,
        .vectors = vectors,
        .rng = tide_rng_seeded(c->options.seed),
    };
    c->trained = false;
    memset(c->prior, 0, c->options.labels * sizeof *c->prior);
    int status = tide_examples_check(&c->options, examples, count, vectors, err);
    if (!status && c->features == 0)
        count_labels(&l, count);
    else if (!status)
        status = learn_weights(&l, count, watch, context, err);
    c->trained = status == TIDE_OK;
    if (status)
        memset(c->prior, 0, c->options.labels * sizeof *c->prior);
    return status;
}
