/* labeler.c - predicts labels of texts, from a model that is not being trained.
 *
 * A text is split into words as that of a record was in training: line feeds are
 * blanks, and the first SENTENCE_MAX words count. Labels in the input are ignored, so a
 * prediction never just repeats one.
 */
#include "file/file.h"
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"
#include "reader/reader.h"

#include <stdlib.h>

struct tide_labeler {
    tide_model *model;
    tide_predictor *predictor;
    tide_model_tokenizer *tokenizer;
    uint32_t words; /* of the current text */
};

static tide_labeler *read_labeler(tide_store *store, tide_error *err)
{
    tide_labeler *l = tide_alloc(1, sizeof *l);
    if (!l) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to predict labels");
        return NULL;
    }
    l->model = tide_model_read(store, false, err);
    l->predictor = l->model ? tide_predictor_new(l->model, NULL, err) : NULL;
    if (!l->predictor || tide_predictor_load(l->predictor, store, err))
        goto failed;
    if (!tide_predictor_size(l->predictor)) {
        tide_fail(err, TIDE_ERROR_PARAMETER, "%s has no label classifier",
                  tide_store_path(store));
        goto failed;
    }
    l->tokenizer = tide_model_tokenizer_new(l->model, err);
    if (l->tokenizer)
        return l;
failed:
    tide_labeler_free(l);
    return NULL;
}

tide_labeler *tide_labeler_load(const char *path, tide_error *err)
{
    tide_store *store = tide_store_open(path, err);
    tide_labeler *l = store ? read_labeler(store, err) : NULL;
    tide_store_close(store);
    return l;
}

void tide_labeler_free(tide_labeler *l)
{
    if (!l)
        return;
    tide_model_tokenizer_free(l->tokenizer);
    tide_predictor_free(l->predictor);
    tide_model_free(l->model);
    free(l);
}

uint32_t tide_labeler_size(const tide_labeler *l)
{
    return tide_predictor_size(l->predictor);
}

static void add_word(void *labeler, const tide_word *word)
{
    tide_labeler *l = labeler;
    if (l->words == SENTENCE_MAX)
        return;
    l->words++;
    tide_predictor_add(l->predictor, word);
}

void tide_labeler_add(tide_labeler *l, const char *text, size_t size)
{
    while (size) {
        const char *newline = memchr(text, '\n', size);
        size_t line = newline ? (size_t)(newline - text) : size;
        tide_model_tokenizer_add(l->tokenizer, text, line, add_word, l);
        if (newline)
            tide_model_tokenizer_add(l->tokenizer, " ", 1, add_word, l);
        text += line + (newline != NULL);
        size -= line + (newline != NULL);
    }
}

size_t tide_labeler_end(tide_labeler *l, tide_prediction *predictions, size_t max,
                        uint64_t *known)
{
    tide_model_tokenizer_end(l->tokenizer, add_word, l);
    tide_predictor_result result = tide_predictor_end(l->predictor);
    const char *const *names = tide_predictor_names(l->predictor);
    size_t count = 0;
    for (uint32_t i = 0; i < tide_predictor_size(l->predictor); i++) {
        tide_prediction prediction = {names[i], result.probabilities[i]};
        if (count == max &&
            (!max || prediction.probability <= predictions[max - 1].probability))
            continue;
        size_t at = count < max ? count++ : max - 1;
        for (; at > 0 && prediction.probability > predictions[at - 1].probability; at--)
            predictions[at] = predictions[at - 1];
        predictions[at] = prediction;
    }
    *known = result.known;
    l->words = 0;
    return count;
}
