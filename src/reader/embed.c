/* embed.c - the vector of a text: a weighted mean of the vectors of its words.
 *
 * Arora, Liang, Ma, "A simple but tough-to-beat baseline for sentence embeddings", ICLR
 * 2017: a word of relative frequency p has the weight a / (a + p). Frequencies come
 * from the counts of the model, so no other knowledge about the language is needed. The
 * paper then removes the common component of the vectors of all texts, which requires
 * all texts at once; a centered view of the model removes most of it beforehand.
 */
#include "model/model.h"
#include "reader/reader.h"
#include "vocab/vocab.h"

#include <stdlib.h>

struct tide_embedder {
    const tide_model *model;
    const tide_view *view;
    tide_model_tokenizer *tokenizer;
    double a;
    float *vector;  /* [dim] of the current word */
    double *total;  /* [dim] weighted sum of the vectors so far */
    double weight;  /* sum of the weights */
    uint64_t known; /* words that have a vector */
};

tide_embedder *tide_embedder_new(const tide_view *view, double a, tide_error *err)
{
    const tide_model *model = tide_view_model(view);
    if (!(a > 0 && a <= 1e9)) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "a must be above 0 and at most 1e9");
        return NULL;
    }
    tide_embedder *e = tide_alloc(1, sizeof *e);
    if (e) {
        uint32_t dim = tide_model_dim(model);
        *e = (tide_embedder){.model = model,
                             .view = view,
                             .a = a,
                             .tokenizer = tide_model_tokenizer_new(model, err),
                             .vector = tide_alloc(dim, sizeof *e->vector),
                             .total = tide_alloc(dim, sizeof *e->total)};
    }
    if (e && e->tokenizer && e->vector && e->total)
        return e;
    if (!e || e->tokenizer)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for embedding texts");
    tide_embedder_free(e);
    return NULL;
}

void tide_embedder_free(tide_embedder *e)
{
    if (!e)
        return;
    tide_model_tokenizer_free(e->tokenizer);
    free(e->vector);
    free(e->total);
    free(e);
}

/* Adds a word if it has a vector. With subwords every word has one, and the frequency
 * of unknown words is 0. */
static void add_word(void *embedder, const tide_word *token)
{
    tide_embedder *e = embedder;
    char word[TIDE_WORD_MAX + 1];
    memcpy(word, token->bytes, token->length);
    word[token->length] = 0;
    if (tide_view_vector(e->view, word, e->vector, NULL))
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
    tide_model_tokenizer_add(e->tokenizer, text, size, add_word, e);
}

uint64_t tide_embedder_end(tide_embedder *e, float *vector)
{
    tide_model_tokenizer_end(e->tokenizer, add_word, e);
    uint32_t dim = tide_model_dim(e->model);
    for (uint32_t d = 0; d < dim; d++)
        vector[d] = e->weight > 0 ? (float)(e->total[d] / e->weight) : 0;
    uint64_t known = e->known;
    memset(e->total, 0, dim * sizeof *e->total);
    e->weight = 0;
    e->known = 0;
    return known;
}
