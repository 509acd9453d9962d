/* bag.c - a bag-of-words classifier that is trained by a stream: one step per post.
 *
 * Words w and pairs of adjacent words have rows of their own, found by hashing, and
 * labels have another kind. With h the mean of the rows of a post,
 *
 *     h = 1/n sum of r_w,    P(label l | post) = softmax over l of <o_l, h> + b_l,
 *
 * as in fastText (Joulin et al., "Bag of tricks for efficient text classification",
 * 2017). A post with k labels has the target 1/k for each, and the loss is the cross
 * entropy. With e_l = target_l - P(l), the step is
 *
 *     o_l += rate(l) e_l h,    r_w += rate(w) 1/n sum over l of e_l o_l.
 *
 * The rates are those of AdaGrad per row, with a memory: the sum of squared gradients
 * forgets a share 1/MEMORY with every update. So a frequent row ends with a small
 * constant rate and follows the stream, and the first posts of a rare word count in
 * full, which a single pass needs.
 *
 * A row comes into use when its word or pair is first learned. That of a word starts as
 * the vector that the model has for it, plus random values, which is all that a pair
 * starts with. These must not be small: a new word hardly has a vector yet, and rows
 * that are alike take long to become different. Until its row is in use, a word is
 * represented by its vector alone, and a pair by nothing. Words without a vector are
 * left out.
 *
 * Words, or pairs, whose hashes lead to the same row are learned as one. So memory is
 * bounded, and a word that leaves the vocabulary and returns still has its row.
 */
#include "label/bag.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const float RATE = 0.3f;
static const float MEMORY = 50000;   /* updates of a row */
static const float START = 0.5f;     /* bound of the initial values */
static const float EPSILON = 1e-8f;  /* added to a sum of squares */
static const float BIAS_RATE = 0.1f; /* smaller: every post moves every bias */
static const float BIAS_EPSILON = 1e-3f;

enum { HIDDEN, GRADIENT };             /* rows of `hidden` */
enum { PROBABILITIES, ERRORS, RATES }; /* rows of `scores` */

/* -- constructor ------------------------------------------------------------------- */

uint64_t tide_bag_bytes(const tide_bag_options *o)
{
    uint64_t label = sizeof(tide_bag_label) + sizeof(float *),
             word = sizeof(uint32_t) + sizeof(bool) +
                    2 * (sizeof(float *) + sizeof(uint32_t)),
             post = sizeof(tide_bag_post) + o->words * sizeof(uint32_t);
    return sizeof(tide_bag) + tide_matrix_bytes(o->rows, o->dim) +
           o->rows * sizeof(float) + o->labels * label +
           tide_matrix_bytes(o->labels, o->dim) + o->slots * sizeof(uint32_t) +
           o->posts * post + o->words * word + tide_matrix_bytes(o->words, o->dim) +
           tide_matrix_bytes(2, o->dim) + tide_matrix_bytes(3, o->labels);
}

static bool allocate(tide_bag *b)
{
    const tide_bag_options *o = &b->options;
    b->sums = tide_alloc(o->rows, sizeof *b->sums);
    b->labels = tide_alloc(o->labels, sizeof *b->labels);
    b->output_rows = tide_alloc(o->labels, sizeof *b->output_rows);
    b->label_by_slot = tide_alloc(o->slots, sizeof *b->label_by_slot);
    b->posts = tide_alloc(o->posts, sizeof *b->posts);
    b->post_words = tide_alloc(o->posts, o->words * sizeof *b->post_words);
    b->words = tide_alloc(o->words, sizeof *b->words);
    b->has_vector = tide_alloc(o->words, sizeof *b->has_vector);
    b->features = tide_alloc(o->words, 2 * sizeof *b->features);
    b->feature_ids = tide_alloc(o->words, 2 * sizeof *b->feature_ids);
    return b->sums && b->labels && b->output_rows && b->label_by_slot && b->posts &&
           b->post_words && b->words && b->has_vector && b->features &&
           b->feature_ids && !tide_matrix_init(&b->rows, o->rows, o->dim, NULL) &&
           !tide_matrix_init(&b->output, o->labels, o->dim, NULL) &&
           !tide_matrix_init(&b->vectors, o->words, o->dim, NULL) &&
           !tide_matrix_init(&b->hidden, 2, o->dim, NULL) &&
           !tide_matrix_init(&b->scores, 3, o->labels, NULL);
}

tide_bag *tide_bag_new(const tide_bag_options *options, tide_error *err)
{
    tide_bag *b = tide_alloc(1, sizeof *b);
    if (b)
        b->options = *options;
    if (!b || !allocate(b)) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a classifier of %u labels",
                  options->labels);
        tide_bag_free(b);
        return NULL;
    }
    b->kernels = tide_kernels_best();
    b->rng = tide_rng_seeded(options->seed ^ 0xba6);
    for (uint32_t slot = 0; slot < options->slots; slot++)
        b->label_by_slot[slot] = TIDE_NO_LABEL;
    for (uint32_t label = 0; label < options->labels; label++)
        b->output_rows[label] = tide_matrix_row(&b->output, label);
    return b;
}

void tide_bag_free(tide_bag *b)
{
    if (!b)
        return;
    tide_matrix_release(&b->scores);
    tide_matrix_release(&b->hidden);
    tide_matrix_release(&b->vectors);
    tide_matrix_release(&b->output);
    tide_matrix_release(&b->rows);
    free(b->feature_ids);
    free(b->features);
    free(b->has_vector);
    free(b->words);
    free(b->post_words);
    free(b->posts);
    free(b->label_by_slot);
    free(b->output_rows);
    free(b->labels);
    free(b->sums);
    free(b);
}

void tide_bag_reset_label(tide_bag *b, uint32_t label)
{
    float bias = 0;
    for (uint32_t i = 0; i < b->label_count; i++)
        if (i != label && b->labels[i].bias < bias)
            bias = b->labels[i].bias;
    b->labels[label] = (tide_bag_label){.slot = TIDE_NO_LABEL, .bias = bias};
    memset(b->output_rows[label], 0, b->output.stride * sizeof(float));
}

/* -- the current post -------------------------------------------------------------- */

/* The first half of the rows is for words. */
static uint32_t row_of_word(const tide_bag *b, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash * (b->options.rows / 2) >> 32);
}

static uint32_t row_of_pair(const tide_bag *b, uint32_t first, uint32_t second)
{
    uint64_t mixed = ((uint64_t)first << 32 | second) * 0x9e3779b97f4a7c15u;
    uint64_t hash = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u >> 32;
    uint32_t words = b->options.rows / 2;
    return words + (uint32_t)(hash * (b->options.rows - words) >> 32);
}

void tide_bag_clear(tide_bag *b)
{
    b->word_count = 0;
}

/* Copies the vector of a word, shortened to what the initial values allow. Returns false
 * if it is not finite. */
static bool copy_vector(tide_bag *b, float *to, const float *vector)
{
    uint32_t stride = b->rows.stride;
    b->kernels->copy(to, vector, stride);
    float square = b->kernels->dot(to, to, stride) / (float)b->options.dim;
    if (!tide_finite(square))
        return false;
    float factor = square > START * START ? START / sqrtf(square) : 1;
    for (uint32_t i = 0; i < stride; i++)
        to[i] *= factor;
    return true;
}

void tide_bag_add(tide_bag *b, const tide_word *word, const float *vector)
{
    if (b->word_count == b->options.words)
        return;
    uint32_t at = b->word_count++,
             hash = (uint32_t)tide_hash(word->bytes, word->length, b->options.seed);
    b->words[at] = hash;
    bool has_row = b->sums[row_of_word(b, hash)] > 0;
    b->has_vector[at] =
        !has_row && copy_vector(b, tide_matrix_row(&b->vectors, at), vector);
}

/* Values depend on seed and row only, not on when the row comes into use. */
static void start_row(tide_bag *b, uint32_t row, const float *vector)
{
    const uint64_t key[] = {b->options.seed, row};
    tide_rng rng = tide_rng_seeded(tide_hash(key, sizeof key, 0));
    float *values = tide_matrix_row(&b->rows, row);
    for (uint32_t i = 0; i < b->options.dim; i++)
        values[i] = (2 * tide_rng_float(&rng) - 1) * START;
    if (vector)
        b->kernels->add(values, 1, vector, b->rows.stride);
    b->sums[row] = FLT_MIN;
}

/* `vector` stands for a row that is not in use, or (learning) becomes its start. */
static void add_feature(tide_bag *b, uint32_t row, float *vector, bool learning)
{
    if (b->sums[row] == 0 && learning)
        start_row(b, row, vector);
    if (b->sums[row] == 0 && !vector)
        return;
    b->feature_ids[b->feature_count] = row;
    b->features[b->feature_count++] =
        b->sums[row] > 0 ? tide_matrix_row(&b->rows, row) : vector;
}

static void list_features(tide_bag *b, bool learning)
{
    b->feature_count = 0;
    for (uint32_t i = 0; i < b->word_count; i++)
        add_feature(b, row_of_word(b, b->words[i]),
                    b->has_vector[i] ? tide_matrix_row(&b->vectors, i) : NULL,
                    learning);
    for (uint32_t i = 1; i < b->word_count; i++)
        add_feature(b, row_of_pair(b, b->words[i - 1], b->words[i]), NULL, learning);
}

/* -- prediction -------------------------------------------------------------------- */

static void softmax(float *scores, uint32_t count)
{
    float highest = -FLT_MAX;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        highest = scores[i] > highest ? scores[i] : highest;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)(scores[i] = expf(scores[i] - highest));
    for (uint32_t i = 0; i < count; i++)
        scores[i] /= (float)sum;
}

/* Returns false if the post has no features. */
static bool forward(tide_bag *b, bool learning)
{
    float *hidden = tide_matrix_row(&b->hidden, HIDDEN),
          *scores = tide_matrix_row(&b->scores, PROBABILITIES);
    list_features(b, learning);
    if (!b->feature_count)
        return false;
    b->kernels->sum(b->features, b->feature_count, 1.0f / (float)b->feature_count,
                    b->rows.stride, hidden);
    b->kernels->dots(hidden, b->output_rows, b->label_count, b->rows.stride, scores);
    for (uint32_t i = 0; i < b->label_count; i++)
        scores[i] += b->labels[i].bias;
    softmax(scores, b->label_count);
    return true;
}

const float *tide_bag_predict(tide_bag *b)
{
    float *scores = tide_matrix_row(&b->scores, PROBABILITIES);
    if (!forward(b, false))
        for (uint32_t i = 0; i < b->label_count; i++)
            scores[i] = b->learned
                            ? (float)((double)b->labels[i].posts / (double)b->learned)
                            : 0;
    return scores;
}

/* -- learning ---------------------------------------------------------------------- */

static float rate_of(float *sum, float square, float rate, float epsilon)
{
    *sum = *sum * (1 - 1 / MEMORY) + square + FLT_MIN;
    return rate / sqrtf(*sum + epsilon);
}

/* Turns the probabilities into errors, and updates the biases. */
static void compute_errors(tide_bag *b, const uint32_t *labels, uint32_t count)
{
    const float *probabilities = tide_matrix_row(&b->scores, PROBABILITIES);
    float *errors = tide_matrix_row(&b->scores, ERRORS);
    for (uint32_t i = 0; i < b->label_count; i++)
        errors[i] = -probabilities[i];
    for (uint32_t i = 0; i < count; i++)
        errors[labels[i]] += 1.0f / (float)count;
    for (uint32_t i = 0; i < b->label_count; i++) {
        tide_bag_label *label = &b->labels[i];
        float square = errors[i] * errors[i];
        label->bias +=
            errors[i] * rate_of(&label->bias_sum, square, BIAS_RATE, BIAS_EPSILON);
    }
}

void tide_bag_step(tide_bag *b, const uint32_t *labels, uint32_t count)
{
    uint32_t stride = b->rows.stride;
    float *hidden = tide_matrix_row(&b->hidden, HIDDEN),
          *gradient = tide_matrix_row(&b->hidden, GRADIENT),
          *errors = tide_matrix_row(&b->scores, ERRORS),
          *rates = tide_matrix_row(&b->scores, RATES), dim = (float)b->options.dim;
    if (!forward(b, true))
        return;
    compute_errors(b, labels, count);
    float square = b->kernels->dot(hidden, hidden, stride) / dim;
    for (uint32_t i = 0; i < b->label_count; i++)
        rates[i] =
            rate_of(&b->labels[i].sum, square * errors[i] * errors[i], RATE, EPSILON);
    memset(gradient, 0, stride * sizeof *gradient);
    b->kernels->spread(hidden, b->output_rows, errors, rates, b->label_count, stride,
                       gradient);
    float share = 1.0f / (float)b->feature_count;
    square = b->kernels->dot(gradient, gradient, stride) / dim * share * share;
    for (uint32_t i = 0; i < b->feature_count; i++) {
        float rate = rate_of(&b->sums[b->feature_ids[i]], square, RATE, EPSILON);
        b->kernels->add(b->features[i], rate * share, gradient, stride);
    }
}
