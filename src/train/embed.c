/* embed.c - the vector of a text: a mean of its words, in which frequent ones weigh little.
 *
 * A word of frequency p weighs a / (a + p). The counts are the model's own, so nothing else has to be
 * known about the language. What the paper of Arora et al. does besides, taking the common
 * direction out of all the texts' vectors, needs all texts at once; a space that is centred takes
 * out most of it beforehand.
 */
#include "train/parts.h"

#include <stdlib.h>

enum { WORDS = 64 };

struct tide_embedder {
    const tide_model *model;
    const tide_space *space;
    tide_tokenizer *tokenizer;
    double a;
    bool phrases;  /* words may be joined by _ */
    float *vector; /* [dim] of a word */
    double *total; /* [dim] */
    double weight;
    uint64_t known;
    char waiting[TIDE_WORD_MAX + 1]; /* for the word after it, with phrases; or "" */
};

tide_embedder *tide_embedder_new(const tide_model *model, const tide_space *space,
                                 double a, tide_error *err)
{
    if (!(a > 0 && a <= 1e9)) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "a must be above 0");
        return NULL;
    }
    tide_params *params = tide_params_of_model(model, err);
    tide_embedder *e = params ? tide_alloc(1, sizeof *e) : NULL;
    if (e) {
        uint32_t dim = tide_model_dim(model);
        tide_tokenizer_options options =
            tide_params_tokenizer(params, model->stop_words);
        *e = (tide_embedder){.model = model,
                             .space = space,
                             .a = a,
                             .phrases = params->phrases > 0,
                             .tokenizer = tide_tokenizer_new(&options, err),
                             .vector = tide_alloc(dim, sizeof *e->vector),
                             .total = tide_alloc(dim, sizeof *e->total)};
    }
    tide_params_free(params);
    if (e && e->tokenizer && e->vector && e->total)
        return e;
    if (e && e->tokenizer)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for vectors of texts");
    tide_embedder_free(e);
    return NULL;
}

void tide_embedder_free(tide_embedder *e)
{
    if (!e)
        return;
    tide_tokenizer_free(e->tokenizer);
    free(e->vector);
    free(e->total);
    free(e);
}

/* Adds a word, if the model knows it. With subwords it knows them all, and those it has not seen
 * have a frequency of 0. */
static void add_known(tide_embedder *e, const char *word)
{
    if (tide_space_vector(e->space, word, e->vector, NULL))
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

/* The word that waits is followed by none. */
static void release(tide_embedder *e)
{
    if (*e->waiting)
        add_known(e, e->waiting);
    *e->waiting = 0;
}

/* With phrases a word waits for the next, since the model may have the two as one. */
static void add_word(tide_embedder *e, const char *word)
{
    char pair[2 * TIDE_WORD_MAX + 2];
    tide_entry entry;
    if (!e->phrases) {
        add_known(e, word);
        return;
    }
    snprintf(pair, sizeof pair, "%s_%s", e->waiting, word);
    if (*e->waiting && !tide_model_find(e->model, pair, &entry, NULL)) {
        add_known(e, pair);
        *e->waiting = 0;
        return;
    }
    release(e);
    memcpy(e->waiting, word, strlen(word) + 1);
}

/* Adds all words that are complete. */
static void take_words(tide_embedder *e)
{
    tide_word words[WORDS];
    size_t count;
    bool sentence_ended;
    while ((count = tide_tokenizer_take(e->tokenizer, words, WORDS, &sentence_ended)) ||
           sentence_ended) {
        for (size_t i = 0; i < count; i++) {
            char word[TIDE_WORD_MAX + 1];
            memcpy(word, words[i].bytes, words[i].length);
            word[words[i].length] = 0;
            add_word(e, word);
        }
        if (sentence_ended)
            release(e);
    }
}

void tide_embedder_add(tide_embedder *e, const char *text, size_t size)
{
    while (size) {
        size_t used = tide_tokenizer_feed(e->tokenizer, text, size);
        text += used;
        size -= used;
        take_words(e);
    }
}

uint64_t tide_embedder_end(tide_embedder *e, float *vector)
{
    tide_tokenizer_end(e->tokenizer);
    take_words(e);
    release(e);
    uint32_t dim = tide_model_dim(e->model);
    for (uint32_t d = 0; d < dim; d++)
        vector[d] = e->weight > 0 ? (float)(e->total[d] / e->weight) : 0;
    uint64_t known = e->known;
    memset(e->total, 0, dim * sizeof *e->total);
    e->weight = 0;
    e->known = 0;
    return known;
}
