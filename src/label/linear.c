/* linear.c - the mean vector of a post as its features, and so logistic regression on it. Nothing of its
 * own to learn. */
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

static void read_mean(const tide_classifier *c, tide_trace *trace, float *scratch)
{
    uint32_t stride = tide_stride(c->options.dim); /* the scratch holds a whole row */
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
    .read = read_mean,
};
