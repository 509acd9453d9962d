/* cnn.c - features of the windows of a post: convolution and maximum over time.
 *
 * Kim, "Convolutional neural networks for sentence classification", EMNLP 2014, with the windows of the
 * paper: 1, 2 and 3 words. A feature belongs to one filter, which has a vector v_k for every word of its
 * window and a bias. With x the vectors of the post,
 *
 *     feature  =  max(0, max over t of  bias + scale * sum over k of <v_k, x_(t+k)>),
 *
 * where t runs over the places at which the window lies wholly within the post. A post shorter than the
 * window is read as if zero vectors followed it, so that every window has at least one place.
 *
 * Forward, eight filters and all words of the post are one product of small matrices, which is what the
 * kernel block_dots computes; the filters lie in memory so that eight of them, for the same word of the
 * window, are neighbors:
 *
 *     row of map m, word k of the window of width w  =  ((w (w - 1) / 2 + k) * maps rounded up to 8) + m.
 *
 * That costs words * dim * maps * 6 multiplications, nearly all of the time. The way back is cheap: only
 * the window that won, and only if it won with more than zero, passes anything on, and the vectors of the
 * words do not learn. So for one filter the gradient is a sum of at most one window a post.
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

void tide_cnn_begin(tide_classifier *c, tide_rng *rng)
{
    for (uint32_t width = 1; width <= TIDE_WIDTHS; width++)
        for (uint32_t map = 0; map < c->options.maps; map++)
            for (uint32_t k = 0; k < width; k++)
                tide_random_row(filter_at(c, width, k, map), c->options.dim,
                                width * c->options.dim, c->options.maps, rng);
    memset(c->bias.rows, 0, c->bias.stride * sizeof(float));
}

/* -- forward ----------------------------------------------------------------------------------------- */

/* Eight filters are two of the vectors that every processor of the family has. */
enum { LANES = 4, VECTORS = TIDE_BLOCK / LANES };

typedef float four __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t four_places __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef four eight[VECTORS];

/* The products of word k of the window lie at products[k * words ...]; they are added up for the window
 * that begins at each place. */
static void add_up(eight *products, uint32_t width, uint32_t words)
{
    for (uint32_t k = 1; k < width && k < words; k++)
        for (uint32_t t = 0; t + k < words; t++)
            for (int v = 0; v < VECTORS; v++)
                products[t][v] += products[(size_t)k * words + k + t][v];
}

typedef struct winners {
    float value[TIDE_BLOCK];
    int32_t place[TIDE_BLOCK];
} winners;

/* The first of equals wins. A comparison gives all bits where it holds, and none where not. */
static void find_winners(const eight *sums, uint32_t places, winners *w)
{
    for (int v = 0; v < VECTORS; v++) {
        four value = sums[0][v];
        four_places place = {0};
        for (uint32_t t = 1; t < places; t++) {
            four_places wins = sums[t][v] > value;
            place = (wins & (int32_t)t) | (~wins & place);
            value =
                (four)((wins & (four_places)sums[t][v]) | (~wins & (four_places)value));
        }
        memcpy(w->value + v * LANES, &value, sizeof value);
        memcpy(w->place + v * LANES, &place, sizeof place);
    }
}

static void read_block(const tide_classifier *c, tide_trace *trace, uint32_t width,
                       uint32_t first, eight *products)
{
    uint32_t words = trace->row_count, maps = c->options.maps;
    for (uint32_t k = 0; k < width; k++)
        c->kernels->block_dots(filter_at(c, width, k, first),
                               (float *const *)trace->rows, words, c->filters.stride,
                               (float(*)[TIDE_BLOCK])(products + (size_t)k * words));
    add_up(products, width, words);
    winners w;
    find_winners((const eight *)products, words > width ? words - width + 1 : 1, &w);
    uint32_t count = maps - first < TIDE_BLOCK ? maps - first : TIDE_BLOCK;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t feature = (width - 1) * maps + first + i;
        float value = c->bias.rows[feature] + c->scale * w.value[i];
        trace->features[feature] = value > 0 ? value : 0;
        trace->places[feature] = (uint32_t)w.place[i];
    }
}

static void read_windows(const tide_classifier *c, tide_trace *trace, float *scratch)
{
    eight *products = (eight *)(void *)scratch; /* [TIDE_WIDTHS][words_most] */
    for (uint32_t width = 1; width <= TIDE_WIDTHS; width++)
        for (uint32_t map = 0; map < c->options.maps; map += TIDE_BLOCK)
            read_block(c, trace, width, map, products);
}

/* -- back -------------------------------------------------------------------------------------------- */

float tide_cnn_gradient(const tide_step *step, uint32_t unit, float *gradient)
{
    const tide_classifier *c = step->classifier;
    uint32_t width = unit / c->options.maps + 1, stride = c->filters.stride;
    memset(gradient, 0, (size_t)width * stride * sizeof *gradient);
    float bias = 0;
    for (uint32_t i = 0; i < step->count; i++) {
        const tide_trace *trace = &step->traces[i];
        float blame = trace->blame[unit];
        if (blame == 0)
            continue;
        bias += blame;
        uint32_t place = trace->places[unit];
        for (uint32_t k = 0; k < width && place + k < trace->row_count; k++)
            c->kernels->add(gradient + (size_t)k * stride, c->scale * blame,
                            trace->rows[place + k], stride);
    }
    return bias;
}

void tide_cnn_learn(const tide_step *step, uint32_t unit, float *scratch)
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
    .read = read_windows,
};
