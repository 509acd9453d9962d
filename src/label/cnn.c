/* cnn.c - an encoder with windows over the words of a post: convolution and
 * max-over-time pooling.
 *
 * Kim, "Convolutional neural networks for sentence classification", EMNLP 2014, with
 * the windows of the paper: 1, 2 and 3 words. A feature belongs to one filter, which
 * has a vector v_k for every word of its window, and a bias. With x the vectors of the
 * post,
 *
 *     feature  =  max(0, max over t of  bias + scale * sum over k of <v_k, x_(t+k)>),
 *
 * where t runs over the positions at which the window lies within the post. A post
 * shorter than the window is treated as if zero vectors followed it, so every window
 * has at least one position.
 *
 * In the forward pass eight filters times all words of the post are one small matrix
 * product, which the kernel block_dots computes. The filters are laid out such that
 * eight of them, for the same word of the window, are adjacent:
 *
 *     row of map m and word k of the window of width w
 *         =  ((w (w - 1) / 2 + k) * maps rounded up to 8) + m.
 *
 * This takes words * dim * maps * 6 multiplications, nearly all of the time. The
 * backward pass is cheap: only the winning position, and only if its value is above
 * zero, has a gradient, and the word vectors are not trained. So the gradient of a
 * filter is a sum of at most one window per post.
 */
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

static uint32_t padded_maps(const tide_classifier_options *options)
{
    return (options->maps + TIDE_BLOCK - 1) / TIDE_BLOCK * TIDE_BLOCK;
}

uint32_t tide_filter_rows(const tide_classifier_options *options)
{
    return TIDE_FILTER_PARTS * padded_maps(options);
}

static size_t filter_row(const tide_classifier_options *options, uint32_t width,
                         uint32_t k, uint32_t map)
{
    return (width * (width - 1) / 2 + k) * (size_t)padded_maps(options) + map;
}

static float *filter_at(const tide_classifier *c, uint32_t width, uint32_t k,
                        uint32_t map)
{
    return c->filters.rows + filter_row(&c->options, width, k, map) * c->filters.stride;
}

void tide_cnn_init(tide_classifier *c, tide_rng *rng)
{
    for (uint32_t width = 1; width <= TIDE_WIDTHS; width++)
        for (uint32_t map = 0; map < c->options.maps; map++)
            for (uint32_t k = 0; k < width; k++)
                tide_random_row(filter_at(c, width, k, map), c->options.dim,
                                width * c->options.dim, c->options.maps, rng);
    memset(c->bias.rows, 0, c->bias.stride * sizeof(float));
}

/* -- forward ---------------------------------------------------------------------- */

/* Eight filters fill two SIMD vectors of the baseline instruction set. */
enum { LANES = 4, VECTORS = TIDE_BLOCK / LANES };

typedef float four __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t four_ints __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef four eight_sums[VECTORS];

/* products[k * words ...] holds the products for word k of the window. Adds them,
 * shifted by k, to get the sum for the window at each position. */
static void add_shifted(eight_sums *products, uint32_t width, uint32_t words)
{
    for (uint32_t k = 1; k < width && k < words; k++)
        for (uint32_t t = 0; t + k < words; t++)
            for (int v = 0; v < VECTORS; v++)
                products[t][v] += products[(size_t)k * words + k + t][v];
}

typedef struct maxima {
    float value[TIDE_BLOCK];
    int32_t position[TIDE_BLOCK];
} maxima;

/* Branch-free argmax. A vector comparison sets all bits where it is true; of equal
 * values the first wins. */
static void find_maxima(const eight_sums *sums, uint32_t positions, maxima *w)
{
    for (int v = 0; v < VECTORS; v++) {
        four value = sums[0][v];
        four_ints position = {0};
        for (uint32_t t = 1; t < positions; t++) {
            four_ints wins = sums[t][v] > value;
            position = (wins & (int32_t)t) | (~wins & position);
            value = (four)((wins & (four_ints)sums[t][v]) | (~wins & (four_ints)value));
        }
        memcpy(w->value + v * LANES, &value, sizeof value);
        memcpy(w->position + v * LANES, &position, sizeof position);
    }
}

static void encode_block(const tide_classifier *c, tide_trace *trace, uint32_t width,
                         uint32_t first, eight_sums *products)
{
    uint32_t words = trace->row_count, maps = c->options.maps;
    for (uint32_t k = 0; k < width; k++)
        c->kernels->block_dots(filter_at(c, width, k, first),
                               (float *const *)trace->rows, words, c->filters.stride,
                               (float(*)[TIDE_BLOCK])(products + (size_t)k * words));
    add_shifted(products, width, words);
    maxima w;
    find_maxima((const eight_sums *)products, words > width ? words - width + 1 : 1,
                &w);
    uint32_t count = maps - first < TIDE_BLOCK ? maps - first : TIDE_BLOCK;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t feature = (width - 1) * maps + first + i;
        float value = c->bias.rows[feature] + c->scale * w.value[i];
        trace->features[feature] = value > 0 ? value : 0;
        trace->argmax[feature] = (uint32_t)w.position[i];
    }
}

static void encode_windows(const tide_classifier *c, tide_trace *trace, float *scratch)
{
    eight_sums *products = (eight_sums *)(void *)scratch; /* [TIDE_WIDTHS][max_words] */
    for (uint32_t width = 1; width <= TIDE_WIDTHS; width++)
        for (uint32_t map = 0; map < c->options.maps; map += TIDE_BLOCK)
            encode_block(c, trace, width, map, products);
}

/* -- backward --------------------------------------------------------------------- */

float tide_cnn_gradient(const tide_step *step, uint32_t unit, float *gradient)
{
    const tide_classifier *c = step->classifier;
    uint32_t width = unit / c->options.maps + 1, stride = c->filters.stride;
    memset(gradient, 0, (size_t)width * stride * sizeof *gradient);
    float bias = 0;
    for (uint32_t i = 0; i < step->count; i++) {
        const tide_trace *trace = &step->traces[i];
        float gradient_sum = trace->gradients[unit];
        if (gradient_sum == 0)
            continue;
        bias += gradient_sum;
        uint32_t position = trace->argmax[unit];
        for (uint32_t k = 0; k < width && position + k < trace->row_count; k++)
            c->kernels->add(gradient + (size_t)k * stride, c->scale * gradient_sum,
                            trace->rows[position + k], stride);
    }
    return bias;
}

void tide_cnn_update(const tide_step *step, uint32_t unit, float *scratch)
{
    const tide_classifier *c = step->classifier;
    uint32_t width = unit / c->options.maps + 1, map = unit % c->options.maps;
    uint32_t stride = c->filters.stride;
    float bias = tide_cnn_gradient(step, unit, scratch);
    for (uint32_t k = 0; k < width; k++) {
        size_t at = filter_row(&c->options, width, k, map) * stride;
        tide_adam_apply(&step->adam, c->filters.rows + at, step->filters.mean + at,
                        step->filters.square + at, scratch + (size_t)k * stride,
                        stride);
    }
    tide_adam_apply(&step->adam, c->bias.rows + unit, step->bias.mean + unit,
                    step->bias.square + unit, &bias, 1);
}

static uint32_t count_features(const tide_classifier_options *options)
{
    return TIDE_WIDTHS * options->maps;
}

const tide_encoder tide_encoder_cnn = {
    .features = count_features,
    .windows = true,
    .encode = encode_windows,
};
