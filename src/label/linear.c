/* linear.c - an encoder whose features are the mean vector of a post, which makes the
 * classifier a logistic regression. It has no weights of its own.
 */
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

static void encode_mean(const tide_classifier *c, tide_trace *trace, float *scratch)
{
    uint32_t stride = tide_stride(c->options.dim); /* a whole row fits the scratch */
    c->kernels->sum((float *const *)trace->rows, trace->row_count,
                    c->scale / (float)trace->row_count, stride, scratch);
    memcpy(trace->features, scratch, c->options.dim * sizeof(float));
}

static uint32_t count_features(const tide_classifier_options *options)
{
    return options->dim;
}

const tide_encoder tide_encoder_linear = {
    .features = count_features,
    .encode = encode_mean,
};
