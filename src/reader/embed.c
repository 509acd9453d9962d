/* embed.c - the vector of a text: a mean of its words, in which frequent ones weigh little.
 *
 * A word of frequency p weighs a / (a + p). The counts are the model's own, so nothing else has to be
 * known about the language. What the paper of Arora et al. does besides, taking the common
 * direction out of all the texts' vectors, needs all texts at once; a space that is centered takes
 * out most of it beforehand.
 */
#include "model/model.h"
#include "reader/reader.h"
#include "vocab/vocab.h"

#include <stdlib.h>

struct tide_embedder {
    const tide_model *model;
    const tide_view *space;
    tide_model_tokenizer *wording;
    double a;
    float *vector; /* [dim] of a word */
    double *total; /* [dim] */
    double weight;
    uint64_t known;
};

tide_embedder *tide_embedder_new(const tide_view *space, double a, tide_error *err)
{
    const tide_model *model = tide_view_model(space);
    if (!(a > 0 && a <= 1e9)) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "a must be above 0");
        return NULL;
    }
    tide_embedder *e = tide_alloc(1, sizeof *e);
    if (e) {
        uint32_t dim = tide_model_dim(model);
        *e = (tide_embedder){.model = model,
                             .space = space,
                             .a = a,
                             .wording = tide_model_tokenizer_new(model, err),
                             .vector = tide_alloc(dim, sizeof *e->vector),
                             .total = tide_alloc(dim, sizeof *e->total)};
    }
    if (e && e->wording && e->vector && e->total)
        return e;
    if (!e || e->wording)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for vectors of texts");
    tide_embedder_free(e);
    return NULL;
}

void tide_embedder_free(tide_embedder *e)
{
    if (!e)
        return;
    tide_model_tokenizer_free(e->wording);
    free(e->vector);
    free(e->total);
    free(e);
}

/* Adds a word, if the model knows it. With subwords it knows them all, and those it has not seen
 * have a frequency of 0. */
static void add_word(void *embedder, const tide_word *found)
{
    tide_embedder *e = embedder;
    char word[TIDE_WORD_MAX + 1];
    memcpy(word, found->bytes, found->length);
    word[found->length] = 0;
    if (tide_view_vector(e->space, word, e->vector, NULL))
        return;
    tide_entry entry = {0};
    tide_model_find(e->model, word, &entry, NULL);
    double total = (double)tide_vocabulary_total(e->model->vocabulary);
    double weight = e->a / (e->a + (double)entry.count / (total > 0 ? total : 1));
    for (uint32_t d = 0; d < tide_model_dim(e->model); d++)
        e->total[d] += weight * (double)e->vector[d];
    e->weight += weight;
    e->known++;
}

void tide_embedder_add(tide_embedder *e, const char *text, size_t size)
{
    tide_model_tokenizer_add(e->wording, text, size, add_word, e);
}

uint64_t tide_embedder_end(tide_embedder *e, float *vector)
{
    tide_model_tokenizer_end(e->wording, add_word, e);
    uint32_t dim = tide_model_dim(e->model);
    for (uint32_t d = 0; d < dim; d++)
        vector[d] = e->weight > 0 ? (float)(e->total[d] / e->weight) : 0;
    uint64_t known = e->known;
    memset(e->total, 0, dim * sizeof *e->total);
    e->weight = 0;
    e->known = 0;
    return known;
}
