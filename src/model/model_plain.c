/* model_plain.c - a model as read from a file of vectors: words and input vectors
 * only. */
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

tide_model *tide_model_new_plain(uint32_t capacity, uint32_t dim, tide_error *err)
{
    tide_model *model = tide_alloc(1, sizeof *model);
    if (!model) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a model");
        return NULL;
    }
    model->shape.vocabulary =
        (tide_vocabulary_options){.kind = TIDE_VOCABULARY_EXACT, .capacity = capacity};
    model->shape.dim = dim;
    model->vocabulary = tide_vocabulary_new(&model->shape.vocabulary, err);
    if (!model->vocabulary || tide_matrix_init(&model->input, capacity, dim, err)) {
        tide_model_free(model);
        return NULL;
    }
    return model;
}

uint64_t tide_model_plain_bytes(uint32_t capacity, uint32_t dim)
{
    const tide_vocabulary_options options = {.kind = TIDE_VOCABULARY_EXACT,
                                             .capacity = capacity};
    return sizeof(tide_model) + tide_vocabulary_bytes(&options) +
           tide_matrix_bytes(capacity, dim);
}

uint32_t tide_model_insert(tide_model *model, const char *word, uint32_t length,
                           uint64_t count, uint64_t error)
{
    char padded[TIDE_WORD_MAX + 16] = {0};
    memcpy(padded, word, length);
    return tide_vocabulary_insert(model->vocabulary, &(tide_word){padded, length},
                                  count, error);
}
