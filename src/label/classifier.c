/* classifier.c - construction of a classifier, and prediction. */
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

#include <stdlib.h>

static uint32_t no_features(const tide_classifier_options *options)
{
    (void)options;
    return 0;
}

static const tide_encoder encoder_frequent = {
    .features = no_features,
};

static const tide_encoder *const kinds[TIDE_CLASSIFIER_KINDS] = {
    [TIDE_CLASSIFIER_CNN] = &tide_encoder_cnn,
    [TIDE_CLASSIFIER_LINEAR] = &tide_encoder_linear,
    [TIDE_CLASSIFIER_FREQUENT] = &encoder_frequent,
};

/* -- options ---------------------------------------------------------------------- */

typedef struct limit {
    const char *name;
    double value, min, max;
} limit;

int tide_classifier_check(const tide_classifier_options *o, tide_error *err)
{
    const limit limits[] = {
        {"kind", (double)o->kind, 0, TIDE_CLASSIFIER_KINDS - 1},
        {"dim", o->dim, 1, TIDE_DIM_MAX},
        {"labels", o->labels, 1, 65536},
        {"maps", o->maps, 1, 1024},
        {"words_most", o->max_words, 1, 4096},
        {"batch", o->batch, 1, 1024},
        {"epochs_most", o->max_epochs, 1, 10000},
        {"patience", o->patience, 1, UINT32_MAX},
        {"threads", o->threads, 1, 256},
        {"dropout", (double)o->dropout, 0, 0.9},
        {"rate", (double)o->rate, 1e-12, 1},
        {"held_out", (double)o->held_out, 0, 0.5},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const limit *l = &limits[i];
        if (!(l->value >= l->min && l->value <= l->max)) /* or NaN */
            return tide_fail(err, TIDE_ERROR_PARAMETER,
                             "classifier: %s is %g but must be between %g and %g",
                             l->name, l->value, l->min, l->max);
    }
    return TIDE_OK;
}

/* -- traces ----------------------------------------------------------------------- */

static uint32_t max_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

const tide_encoder *tide_encoder_of(const tide_classifier_options *options)
{
    return kinds[options->kind];
}

uint32_t tide_feature_count(const tide_classifier_options *options)
{
    return tide_encoder_of(options)->features(options);
}

static uint32_t dense_stride(const tide_classifier_options *options)
{
    return tide_stride(tide_feature_count(options) + 1);
}

static uint32_t gradients_stride(const tide_classifier_options *options)
{
    return max_of(dense_stride(options), tide_stride(options->labels));
}

static size_t rows_bytes(const tide_classifier_options *options)
{
    size_t line = 64;
    return (options->max_words * sizeof(float *) + line - 1) / line * line;
}

static size_t arrays_bytes(const tide_classifier_options *o)
{
    size_t floats = 2 * (size_t)dense_stride(o) /* features and places */
                    + tide_stride(o->labels) + gradients_stride(o);
    return rows_bytes(o) + floats * sizeof(float);
}

uint64_t tide_trace_bytes(const tide_classifier_options *options)
{
    return sizeof(tide_trace) + arrays_bytes(options);
}

/* Every array starts on a cache line, which the kernels require. */
static tide_trace split_block(const tide_classifier_options *o, char *block)
{
    tide_trace trace = {.rows = (const float **)(void *)block};
    trace.features = (float *)(void *)(block + rows_bytes(o));
    trace.argmax = (uint32_t *)(void *)(trace.features + dense_stride(o));
    trace.errors = (float *)(void *)(trace.argmax + dense_stride(o));
    trace.gradients = trace.errors + tide_stride(o->labels);
    return trace;
}

int tide_traces_init(tide_traces *traces, const tide_classifier_options *options,
                     uint32_t count, tide_error *err)
{
    *traces = (tide_traces){
        .traces = tide_alloc(count, sizeof(tide_trace)),
        .block = tide_alloc(count, arrays_bytes(options)),
        .count = count,
    };
    if (!traces->traces || !traces->block)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %u posts", count);
    for (uint32_t i = 0; i < count; i++) {
        char *block = (char *)traces->block + i * arrays_bytes(options);
        traces->traces[i] = split_block(options, block);
    }
    return TIDE_OK;
}

void tide_traces_release(tide_traces *traces)
{
    free(traces->block);
    free(traces->traces);
}

/* Scratch memory is used for the products of windows, for the gradient of a filter, and
 * for a row of the dense layer, whichever is largest. */
uint32_t tide_scratch_floats(const tide_classifier_options *o)
{
    uint32_t products = TIDE_WIDTHS * o->max_words * TIDE_BLOCK;
    uint32_t window = TIDE_WIDTHS * tide_stride(o->dim);
    return max_of(tide_stride(products), max_of(window, dense_stride(o)));
}

/* -- constructor ------------------------------------------------------------------ */

uint64_t tide_classifier_bytes(const tide_classifier_options *o)
{
    const tide_encoder *encoder = tide_encoder_of(o);
    uint32_t features = tide_feature_count(o);
    uint64_t bytes = sizeof(tide_classifier) + o->labels * sizeof(float) +
                     o->labels * sizeof(float *) + tide_trace_bytes(o) +
                     tide_scratch_floats(o) * sizeof(float);
    if (features > 0)
        bytes += tide_matrix_bytes(o->labels, features + 1);
    if (encoder->windows)
        bytes += tide_matrix_bytes(tide_filter_rows(o), o->dim) +
                 tide_matrix_bytes(1, features);
    return bytes;
}

static int allocate_weights(tide_classifier *c, tide_error *err)
{
    const tide_classifier_options *o = &c->options;
    int status = TIDE_OK;
    if (c->features > 0)
        status = tide_matrix_init(&c->dense, o->labels, c->features + 1, err);
    for (uint32_t label = 0; label < o->labels && c->features > 0 && !status; label++)
        c->dense_rows[label] = tide_matrix_row(&c->dense, label);
    if (!status && c->encoder->windows)
        status = tide_matrix_init(&c->filters, tide_filter_rows(o), o->dim, err);
    if (!status && c->encoder->windows)
        status = tide_matrix_init(&c->bias, 1, c->features, err);
    return status;
}

static int allocate_parts(tide_classifier *c, tide_error *err)
{
    const tide_classifier_options *o = &c->options;
    c->prior = tide_alloc(o->labels, sizeof *c->prior);
    c->dense_rows = tide_alloc(o->labels, sizeof *c->dense_rows);
    c->scratch = tide_alloc(tide_scratch_floats(o), sizeof *c->scratch);
    if (!c->prior || !c->dense_rows || !c->scratch)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for %u labels", o->labels);
    int status = tide_traces_init(&c->prediction_trace, o, 1, err);
    return status ? status : allocate_weights(c, err);
}

tide_classifier *tide_classifier_new(const tide_classifier_options *options,
                                     tide_error *err)
{
    if (tide_classifier_check(options, err))
        return NULL;
    tide_classifier *c = tide_alloc(1, sizeof *c);
    if (!c) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a classifier");
        return NULL;
    }
    c->options = *options;
    c->encoder = tide_encoder_of(options);
    c->features = tide_feature_count(options);
    c->kernels = tide_kernels_best();
    c->scale = 1;
    if (allocate_parts(c, err)) {
        tide_classifier_free(c);
        return NULL;
    }
    return c;
}

void tide_classifier_free(tide_classifier *c)
{
    if (!c)
        return;
    tide_matrix_release(&c->bias);
    tide_matrix_release(&c->filters);
    tide_matrix_release(&c->dense);
    tide_traces_release(&c->prediction_trace);
    free(c->scratch);
    free(c->dense_rows);
    free(c->prior);
    free(c);
}

const tide_classifier_options *tide_classifier_options_of(const tide_classifier *c)
{
    return &c->options;
}

/* -- prediction ------------------------------------------------------------------- */

void tide_classifier_predict(tide_classifier *c, const float *const *rows,
                             uint32_t count, float *probabilities)
{
    tide_trace *trace = c->prediction_trace.traces;
    const float *source = c->prior;
    if (count > c->options.max_words)
        count = c->options.max_words;
    if (count > 0 && c->trained && c->features > 0) {
        memcpy(trace->rows, rows, count * sizeof *rows);
        trace->row_count = count;
        c->encoder->encode(c, trace, c->scratch);
        trace->features[c->features] = 1;
        tide_dense_predict(c, trace);
        source = trace->errors;
    }
    memcpy(probabilities, source, c->options.labels * sizeof *probabilities);
}
