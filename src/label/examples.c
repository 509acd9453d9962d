/* examples.c - training examples: validation, label frequencies, scale of the
 * vectors. */
#include "label/label.h"
#include "label/network.h"
#include "vector/vector.h"

#include <math.h>

static int check_example(const tide_classifier_options *o, const tide_example *example,
                         size_t index, const tide_matrix *vectors, tide_error *err)
{
    for (uint32_t i = 0; i < example->word_count; i++)
        if (example->words[i] >= vectors->count)
            return tide_fail(err, TIDE_ERROR_INPUT,
                             "example %zu: word %u is not among the %u vectors", index,
                             example->words[i], vectors->count);
    for (uint32_t i = 0; i < example->label_count; i++) {
        uint32_t label = example->labels[i];
        if (label >= o->labels)
            return tide_fail(err, TIDE_ERROR_INPUT,
                             "example %zu: label %u is not among the %u labels", index,
                             label, o->labels);
        if (i > 0 && label <= example->labels[i - 1])
            return tide_fail(err, TIDE_ERROR_INPUT,
                             "example %zu: labels are not in ascending order", index);
    }
    return TIDE_OK;
}

int tide_examples_check(const tide_classifier_options *o, const tide_example *examples,
                        size_t count, const tide_matrix *vectors, tide_error *err)
{
    if (vectors->dim != o->dim)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "the vectors have dimension %u but the classifier %u",
                         vectors->dim, o->dim);
    if (count == 0 || count >= UINT32_MAX)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "cannot train a classifier on %zu examples", count);
    int status = TIDE_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = check_example(o, &examples[i], i, vectors, err);
    return status;
}

static void count_labels(const tide_example *example, float increment, float *counts)
{
    for (uint32_t i = 0; i < example->label_count; i++)
        counts[example->labels[i]] += increment;
}

/* Counts up to 2^24 are exact in a float. */
void tide_examples_frequencies(const tide_example *examples, size_t count,
                               const uint32_t *excluded, uint32_t excluded_count,
                               uint32_t labels, float *frequencies)
{
    memset(frequencies, 0, labels * sizeof *frequencies);
    for (size_t i = 0; i < count; i++)
        count_labels(&examples[i], 1, frequencies);
    for (uint32_t i = 0; i < excluded_count; i++)
        count_labels(&examples[excluded[i]], -1, frequencies);
    for (uint32_t label = 0; label < labels; label++)
        frequencies[label] /= (float)(count - excluded_count);
}

static double sum_of_squares(const tide_example *example, const tide_matrix *vectors)
{
    double squares = 0;
    for (uint32_t i = 0; i < example->word_count; i++) {
        const float *row = tide_matrix_row(vectors, example->words[i]);
        for (uint32_t d = 0; d < vectors->dim; d++)
            squares += (double)row[d] * (double)row[d];
    }
    return squares;
}

int tide_examples_scale(const tide_example *examples, const uint32_t *chosen,
                        uint32_t count, const tide_matrix *vectors, float *scale,
                        tide_error *err)
{
    double squares = 0, components = 0;
    for (uint32_t i = 0; i < count; i++) {
        const tide_example *example = &examples[chosen[i]];
        squares += sum_of_squares(example, vectors);
        components += (double)example->word_count * vectors->dim;
    }
    *scale = squares == 0 ? 1 : (float)sqrt(components / squares);
    if (!(*scale > 0 && tide_finite(*scale)))
        return tide_fail(
            err, TIDE_ERROR_INPUT,
            "the vectors contain NaN, infinite or extremely large or small values");
    return TIDE_OK;
}
