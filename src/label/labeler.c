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

struct tide_labeller {
    tide_model *model;
    tide_teller *teller;
    tide_wording *wording;
    uint32_t words; /* of the present text */
};

static tide_labeller *read_labeller(tide_store *store, tide_error *err)
{
    tide_labeller *l = tide_alloc(1, sizeof *l);
    if (!l) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to tell labels");
        return NULL;
    }
    l->model = tide_model_read(store, false, err);
    l->teller = l->model ? tide_teller_new(l->model, NULL, err) : NULL;
    if (!l->teller || tide_teller_load(l->teller, store, err))
        goto failed;
    if (!tide_teller_size(l->teller)) {
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "%s has no classifier: it has not learned to tell labels",
                  tide_store_path(store));
        goto failed;
    }
    l->wording = tide_wording_new(l->model, err);
    if (l->wording)
        return l;
failed:
    tide_labeller_free(l);
    return NULL;
}

tide_labeller *tide_labeller_load(const char *path, tide_error *err)
{
    tide_store *store = tide_store_open(path, err);
    tide_labeller *l = store ? read_labeller(store, err) : NULL;
    tide_store_close(store);
    return l;
}

void tide_labeller_free(tide_labeller *l)
{
    if (!l)
        return;
    tide_wording_free(l->wording);
    tide_teller_free(l->teller);
    tide_model_free(l->model);
    free(l);
}

uint32_t tide_labeller_size(const tide_labeller *l)
{
    return tide_teller_size(l->teller);
}

static void take_word(void *labeller, const tide_word *word)
{
    tide_labeller *l = labeller;
    if (l->words == SENTENCE_MAX)
        return;
    l->words++;
    tide_teller_word(l->teller, word);
}

void tide_labeller_add(tide_labeller *l, const char *text, size_t size)
{
    while (size) {
        const char *feed = memchr(text, '\n', size);
        size_t line = feed ? (size_t)(feed - text) : size;
        tide_wording_add(l->wording, text, line, take_word, l);
        if (feed)
            tide_wording_add(l->wording, " ", 1, take_word, l);
        text += line + (feed != NULL);
        size -= line + (feed != NULL);
    }
}

size_t tide_labeller_end(tide_labeller *l, tide_guess *guesses, size_t room,
                         uint64_t *known)
{
    tide_wording_end(l->wording, take_word, l);
    tide_telling telling = tide_teller_end(l->teller);
    const char *const *names = tide_teller_names(l->teller);
    size_t count = 0;
    for (uint32_t i = 0; i < tide_teller_size(l->teller); i++) {
        tide_guess guess = {names[i], telling.probabilities[i]};
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
