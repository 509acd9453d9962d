/* dense.c - from the features of a post to its labels: a dense layer with a sigmoid for
 * every label.
 *
 * With z the logit of a label, y its truth (0 or 1) and p = 1 / (1 + exp(-z)), the
 * binary cross-entropy is
 *
 *     -y log p - (1 - y) log(1 - p)  =  max(z, 0) - z y + log(1 + exp(-|z|)),
 *
 * where the right-hand side neither overflows nor loses precision, and its derivative
 * by z is p - y. For speed, one logarithm is taken of the product for several labels.
 */
#include "label/label.h"
#include "label/network.h"

#include <math.h>

/* Each factor is at most 2, so a product of 64 stays far from the range limit of a
 * double. */
enum { FACTORS = 64 };

void tide_random_row(float *row, uint32_t dim, uint32_t inputs, uint32_t outputs,
                     tide_rng *rng)
{
    float width = sqrtf(6.0f / (float)(inputs + outputs));
    for (uint32_t i = 0; i < dim; i++)
        row[i] = width * (2 * tide_rng_float(rng) - 1);
}

#define SMOOTHING 1e-4f /* for labels that no post or every post had */

/* The initial biases give every label its frequency as probability. */
void tide_dense_init(tide_classifier *c, tide_rng *rng)
{
    for (uint32_t label = 0; label < c->options.labels; label++) {
        float *row = c->dense_rows[label];
        tide_random_row(row, c->features, c->features, c->options.labels, rng);
        float p = c->prior[label];
        row[c->features] = logf((p + SMOOTHING) / (1 - p + SMOOTHING));
    }
}

static void compute_logits(const tide_classifier *c, const tide_trace *trace,
                           float *logits)
{
    c->kernels->dots(trace->features, c->dense_rows, c->options.labels, c->dense.stride,
                     logits);
}

void tide_dense_predict(const tide_classifier *c, tide_trace *trace)
{
    compute_logits(c, trace, trace->errors);
    for (uint32_t label = 0; label < c->options.labels; label++) {
        float p = 1 / (1 + expf(-trace->errors[label]));
        trace->errors[label] = p >= 0 ? p : 0; /* NaN from extreme weights */
    }
}

/* Uses `gradients` as scratch for the logits: it has room for both features and
 * labels. */
void tide_dense_loss(const tide_classifier *c, tide_trace *trace)
{
    const float *logits = trace->gradients;
    float *errors = trace->errors;
    compute_logits(c, trace, trace->gradients);
    double loss = 0, product = 1;
    for (uint32_t label = 0; label < c->options.labels; label++) {
        float z = logits[label], decayed = expf(-fabsf(z));
        float p = (z >= 0 ? 1 : decayed) / (1 + decayed);
        loss += (double)((z > 0 ? z : 0) - z * errors[label]);
        product *= 1 + (double)decayed;
        if (label % FACTORS == FACTORS - 1) {
            loss += log(product);
            product = 1;
        }
        errors[label] = p - errors[label];
    }
    trace->loss = loss + log(product);
}

/* Features that dropout or the ReLU has set to zero have no gradient; the others are
 * scaled as dropout has scaled the feature. */
void tide_dense_backpropagate(const tide_classifier *c, tide_trace *trace)
{
    memset(trace->gradients, 0, c->dense.stride * sizeof(float));
    for (uint32_t label = 0; label < c->options.labels; label++)
        c->kernels->add(trace->gradients, trace->errors[label], c->dense_rows[label],
                        c->dense.stride);
    float factor = 1 / (1 - c->options.dropout);
    for (uint32_t i = 0; i < c->features; i++)
        trace->gradients[i] =
            trace->features[i] == 0 ? 0 : trace->gradients[i] * factor;
}

void tide_dense_gradient(const tide_step *step, uint32_t label, float *gradient)
{
    const tide_classifier *c = step->classifier;
    memset(gradient, 0, c->dense.stride * sizeof *gradient);
    for (uint32_t i = 0; i < step->count; i++)
        c->kernels->add(gradient, step->traces[i].errors[label],
                        step->traces[i].features, c->dense.stride);
}

void tide_dense_update(const tide_step *step, uint32_t label, float *scratch)
{
    const tide_classifier *c = step->classifier;
    size_t at = (size_t)label * c->dense.stride;
    tide_dense_gradient(step, label, scratch);
    tide_adam_apply(&step->adam, c->dense.rows + at, step->dense.mean + at,
                    step->dense.square + at, scratch, c->dense.stride);
}

void tide_dropout(float *features, uint32_t count, float share, tide_rng *rng)
{
    float factor = 1 / (1 - share);
    for (uint32_t i = 0; i < count; i++)
        features[i] = tide_rng_float(rng) < share ? 0 : features[i] * factor;
}
