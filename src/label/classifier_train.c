/* classifier_train.c - training a classifier: mini-batches, held-out posts, early
 * stopping.
 *
 * A step has two phases, which are divided among the threads differently. In the
 * forward pass the threads share the posts of the mini-batch; every post leaves a trace
 * with what its backward pass needs. In the backward pass they share the weights: the
 * thread that owns a unit goes over the traces of all posts in order, sums the unit's
 * gradient, and updates its weights at once. So every number is computed by one thread
 * in one order, the result is the same to the byte for any number of threads, and
 * neither locks nor a reduction of gradients are needed.
 *
 * The loss is summed over the posts of a mini-batch. Random numbers depend on the seed
 * alone: one generator serves the order of the posts and the initial weights, and
 * dropout has one per post and epoch.
 */
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

#include <math.h>
#include <stdlib.h>

typedef struct training {
    tide_step step;
    tide_traces batch;
    const tide_example *examples;
    const tide_matrix *vectors;
    uint32_t *order; /* [posts] indexes of examples, held-out ones first */
    uint32_t posts, held_out_count;
    uint32_t first; /* index in `order` of the mini-batch */
    uint64_t steps; /* so far */
    float *scratch; /* [threads][scratch_floats] */
    uint32_t scratch_floats;
    tide_thread_team *team;
    bool updating;
    tide_rng rng;
    tide_epoch epoch;
} training;

static const tide_classifier_options *options_of(const training *t)
{
    return &t->step.classifier->options;
}

/* -- one mini-batch --------------------------------------------------------------- */

/* Points the trace at the vectors of the post's words, and stores the truth, 0 or 1 per
 * label, in `errors`, where tide_dense_loss replaces it. */
static void load_example(const training *t, const tide_example *example,
                         tide_trace *trace)
{
    uint32_t max = options_of(t)->max_words;
    trace->row_count = example->word_count < max ? example->word_count : max;
    for (uint32_t i = 0; i < trace->row_count; i++)
        trace->rows[i] = tide_matrix_row(t->vectors, example->words[i]);
    memset(trace->errors, 0, options_of(t)->labels * sizeof(float));
    for (uint32_t i = 0; i < example->label_count; i++)
        trace->errors[example->labels[i]] = 1;
}

/* The generator depends only on seed, epoch and position, not on which thread runs
 * this. */
static void apply_dropout(const training *t, uint32_t position, tide_trace *trace)
{
    const uint64_t key[] = {options_of(t)->seed, t->epoch.epoch, position};
    tide_rng rng = tide_rng_seeded(tide_hash(key, sizeof key, 0));
    tide_dropout(trace->features, t->step.classifier->features, options_of(t)->dropout,
                 &rng);
}

/* Phase 1: member m takes the posts m, m + threads, ... Posts are independent of each
 * other, since no weight changes before all threads are done. */
static void forward_pass(void *task, uint32_t member)
{
    const training *t = task;
    const tide_classifier *c = t->step.classifier;
    float *scratch = t->scratch + (size_t)member * t->scratch_floats;
    for (uint32_t i = member; i < t->step.count; i += c->options.threads) {
        tide_trace *trace = &t->step.traces[i];
        load_example(t, &t->examples[t->order[t->first + i]], trace);
        c->encoder->encode(c, trace, scratch);
        trace->features[c->features] = 1;
        if (t->updating && c->options.dropout > 0)
            apply_dropout(t, t->first + i, trace);
        tide_dense_loss(c, trace);
        if (t->updating && c->encoder->windows)
            tide_dense_backpropagate(c, trace);
    }
}

/* Phase 2: member m takes the units m, m + threads, ..., first those of the encoder and
 * then the labels of the dense layer. A unit's weights are written by its own thread
 * alone. They are not read by others either: the traces hold all that the gradients
 * need, also the gradients of the features, which depend on the dense weights before
 * this step. */
static void backward_pass(void *task, uint32_t member)
{
    const training *t = task;
    const tide_classifier *c = t->step.classifier;
    float *scratch = t->scratch + (size_t)member * t->scratch_floats;
    uint32_t units = c->encoder->windows ? c->features : 0;
    for (uint32_t i = member; i < units + c->options.labels; i += c->options.threads)
        if (i < units)
            tide_cnn_update(&t->step, i, scratch);
        else
            tide_dense_update(&t->step, i - units, scratch);
}

/* Runs the posts from..to of the order in mini-batches, and updates the weights if
 * `updating`. Returns the mean loss per post and label. */
static double run_batches(training *t, uint32_t from, uint32_t to, bool updating)
{
    double loss = 0;
    t->updating = updating;
    for (t->first = from; t->first < to; t->first += t->step.count) {
        uint32_t left = to - t->first;
        t->step.count = left < t->batch.count ? left : t->batch.count;
        tide_thread_team_run(t->team, forward_pass, t);
        for (uint32_t i = 0; i < t->step.count; i++)
            loss += t->step.traces[i].loss;
        if (updating) {
            t->step.adam = tide_adam_at(options_of(t)->rate, ++t->steps);
            tide_thread_team_run(t->team, backward_pass, t);
        }
    }
    return loss / ((double)(to - from) * options_of(t)->labels);
}

/* -- epochs ----------------------------------------------------------------------- */

static void shuffle(training *t, uint32_t from)
{
    for (uint32_t i = t->posts; i > from + 1; i--) {
        uint32_t j = from + (uint32_t)tide_rng_below(&t->rng, i - from);
        uint32_t swapped = t->order[j];
        t->order[j] = t->order[i - 1];
        t->order[i - 1] = swapped;
    }
}

static void copy_rows(float *to, const float *from, const tide_matrix *shape)
{
    if (shape->rows)
        memcpy(to, from, tide_matrix_bytes(shape->count, shape->dim));
}

static void save_best_weights(training *t)
{
    const tide_classifier *c = t->step.classifier;
    copy_rows(t->step.dense.best, c->dense.rows, &c->dense);
    copy_rows(t->step.filters.best, c->filters.rows, &c->filters);
    copy_rows(t->step.bias.best, c->bias.rows, &c->bias);
}

static void restore_best_weights(training *t)
{
    const tide_classifier *c = t->step.classifier;
    copy_rows(c->dense.rows, t->step.dense.best, &c->dense);
    copy_rows(c->filters.rows, t->step.filters.best, &c->filters);
    copy_rows(c->bias.rows, t->step.bias.best, &c->bias);
}

static int train_epoch(training *t, tide_error *err)
{
    tide_epoch *e = &t->epoch;
    double start = tide_now_seconds();
    e->epoch++;
    shuffle(t, t->held_out_count);
    e->loss = run_batches(t, t->held_out_count, t->posts, true);
    e->held_out_loss =
        t->held_out_count > 0 ? run_batches(t, 0, t->held_out_count, false) : 0;
    if (!isfinite(e->loss) || !isfinite(e->held_out_loss))
        return tide_fail(
            err, TIDE_ERROR_INPUT,
            "the loss of epoch %u is NaN or infinite; try a classifier-rate below %g",
            e->epoch, (double)options_of(t)->rate);
    /* Without held-out posts there is nothing to compare, so the last epoch counts as
     * the best. */
    if (e->epoch == 1 || t->held_out_count == 0 || e->held_out_loss < e->best_loss) {
        e->best_epoch = e->epoch;
        e->best_loss = e->held_out_loss;
        save_best_weights(t);
    }
    e->seconds = tide_now_seconds() - start;
    return TIDE_OK;
}

static int train_epochs(training *t, tide_epoch_callback *on_epoch, void *context,
                        tide_error *err)
{
    const tide_classifier_options *o = options_of(t);
    bool improving = true;
    while (improving && t->epoch.epoch < o->max_epochs) {
        int status = train_epoch(t, err);
        if (status)
            return status;
        improving = t->epoch.epoch - t->epoch.best_epoch < o->patience;
        if (on_epoch && !on_epoch(context, &t->epoch))
            improving = false;
    }
    restore_best_weights(t);
    return TIDE_OK;
}

/* -- initialization --------------------------------------------------------------- */

/* Chooses the posts to train on and to hold out, at random. Posts without words are in
 * neither part. */
static int split_posts(training *t, size_t count, tide_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        if (t->examples[i].word_count > 0)
            t->order[t->posts++] = i;
    shuffle(t, 0);
    float share = options_of(t)->held_out;
    t->held_out_count = (uint32_t)((double)share * t->posts);
    if (t->held_out_count == 0 && share > 0 && t->posts > 1)
        t->held_out_count = 1;
    t->epoch.max_epochs = options_of(t)->max_epochs;
    t->epoch.learned = t->posts - t->held_out_count;
    t->epoch.held_out = t->held_out_count;
    if (t->posts == 0)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "none of %zu examples has a word with a vector", count);
    return TIDE_OK;
}

static void count_labels(const training *t, size_t count)
{
    tide_examples_frequencies(t->examples, count, t->order, t->held_out_count,
                              options_of(t)->labels, t->step.classifier->prior);
}

static void init_weights(training *t)
{
    tide_classifier *c = t->step.classifier;
    if (c->encoder->windows)
        tide_cnn_init(c, &t->rng);
    tide_dense_init(c, &t->rng);
}

/* -- memory and entry point ------------------------------------------------------- */

static uint64_t moments_bytes(uint64_t rows, uint32_t dim)
{
    return 3 * tide_matrix_bytes(rows, dim);
}

/* Allocates all three arrays as one block that starts with the means. */
static bool allocate_moments(tide_moments *m, const tide_matrix *weights)
{
    size_t floats = (size_t)weights->count * weights->stride;
    m->mean = tide_alloc(1, moments_bytes(weights->count, weights->dim));
    if (!m->mean)
        return false;
    m->square = m->mean + floats;
    m->best = m->square + floats;
    return true;
}

static int allocate(training *t, size_t count, tide_error *err)
{
    const tide_classifier *c = t->step.classifier;
    t->scratch_floats = tide_scratch_floats(&c->options);
    t->order = tide_alloc(count, sizeof *t->order);
    t->scratch = tide_alloc(c->options.threads, t->scratch_floats * sizeof(float));
    bool ok = t->order && t->scratch && allocate_moments(&t->step.dense, &c->dense);
    if (ok && c->encoder->windows)
        ok = allocate_moments(&t->step.filters, &c->filters) &&
             allocate_moments(&t->step.bias, &c->bias);
    if (!ok)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to train on %zu examples",
                         count);
    int status = tide_traces_init(&t->batch, &c->options, c->options.batch, err);
    if (status)
        return status;
    t->step.traces = t->batch.traces;
    t->team = tide_thread_team_new(c->options.threads, err);
    return t->team ? TIDE_OK : TIDE_ERROR_MEMORY;
}

static void release(training *t)
{
    tide_thread_team_free(t->team);
    tide_traces_release(&t->batch);
    free(t->step.bias.mean);
    free(t->step.filters.mean);
    free(t->step.dense.mean);
    free(t->scratch);
    free(t->order);
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

static int train_weights(training *t, size_t count, tide_epoch_callback *on_epoch,
                         void *context, tide_error *err)
{
    int status = allocate(t, count, err);
    if (!status)
        status = split_posts(t, count, err);
    if (!status)
        status = tide_examples_scale(t->examples, t->order + t->held_out_count,
                                     t->posts - t->held_out_count, t->vectors,
                                     &t->step.classifier->scale, err);
    if (!status) {
        count_labels(t, count);
        init_weights(t);
        status = train_epochs(t, on_epoch, context, err);
    }
    release(t);
    return status;
}

int tide_classifier_train(tide_classifier *c, const tide_example *examples,
                          size_t count, const tide_matrix *vectors,
                          tide_epoch_callback *on_epoch, void *context, tide_error *err)
{
    training t = {
        .step = {.classifier = c},
        .examples = examples,
        .vectors = vectors,
        .rng = tide_rng_seeded(c->options.seed),
    };
    c->trained = false;
    memset(c->prior, 0, c->options.labels * sizeof *c->prior);
    int status = tide_examples_check(&c->options, examples, count, vectors, err);
    if (!status && c->features == 0)
        count_labels(&t, count);
    else if (!status)
        status = train_weights(&t, count, on_epoch, context, err);
    c->trained = status == TIDE_OK;
    if (status)
        memset(c->prior, 0, c->options.labels * sizeof *c->prior);
    return status;
}
