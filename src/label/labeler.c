/* labeler.c - the labels of texts, from a model that does not learn.
 *
 * A text falls into words as that of a record did in training: line feeds are blanks, and the first
 * SENTENCE_MAX words count. What would have been a label there is passed over here, so nobody is told what
 * he wrote himself.
 */
#include "file/file.h"
#include "label/label.h"
#include "model/model.h"
#include "params/params.h"
#include "reader/reader.h"

#include <stdlib.h>

struct tide_labeler {
    tide_model *model;
    tide_predictor *teller;
    tide_model_tokenizer *wording;
    uint32_t words; /* of the present text */
};

static tide_labeler *read_labeler(tide_store *store, tide_error *err)
{
    tide_labeler *l = tide_alloc(1, sizeof *l);
    if (!l) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to tell labels");
        return NULL;
    }
    l->model = tide_model_read(store, false, err);
    l->teller = l->model ? tide_predictor_new(l->model, NULL, err) : NULL;
    if (!l->teller || tide_predictor_load(l->teller, store, err))
        goto failed;
    if (!tide_predictor_size(l->teller)) {
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "%s has no classifier: it has not learned to tell labels",
                  tide_store_path(store));
        goto failed;
    }
    l->wording = tide_model_tokenizer_new(l->model, err);
    if (l->wording)
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
    tide_model_tokenizer_free(l->wording);
    tide_predictor_free(l->teller);
    tide_model_free(l->model);
    free(l);
}

uint32_t tide_labeler_size(const tide_labeler *l)
{
    return tide_predictor_size(l->teller);
}

static void take_word(void *labeler, const tide_word *word)
{
    tide_labeler *l = labeler;
    if (l->words == SENTENCE_MAX)
        return;
    l->words++;
    tide_predictor_word(l->teller, word);
}

void tide_labeler_add(tide_labeler *l, const char *text, size_t size)
{
    while (size) {
        const char *feed = memchr(text, '\n', size);
        size_t line = feed ? (size_t)(feed - text) : size;
        tide_model_tokenizer_add(l->wording, text, line, take_word, l);
        if (feed)
            tide_model_tokenizer_add(l->wording, " ", 1, take_word, l);
        text += line + (feed != NULL);
        size -= line + (feed != NULL);
    }
}

size_t tide_labeler_end(tide_labeler *l, tide_prediction *guesses, size_t room,
                        uint64_t *known)
{
    tide_model_tokenizer_end(l->wording, take_word, l);
    tide_predictor_result telling = tide_predictor_end(l->teller);
    const char *const *names = tide_predictor_names(l->teller);
    size_t count = 0;
    for (uint32_t i = 0; i < tide_predictor_size(l->teller); i++) {
        tide_prediction guess = {names[i], telling.probabilities[i]};
        if (count == room &&
            (!room || guess.probability <= guesses[room - 1].probability))
            continue;
        size_t at = count < room ? count++ : room - 1;
        for (; at > 0 && guess.probability > guesses[at - 1].probability; at--)
            guesses[at] = guesses[at - 1];
        guesses[at] = guess;
    }
    *known = telling.known;
    l->words = 0;
    return count;
}
