/* model_words.c - tokenizes text for a finished model.
 *
 * Uses the tokenizer parameters of training, and removes labels if the model was
 * trained with labels. If it was trained with phrases, two words are joined if the
 * model has the joined word; which pairs were joined at which time of training is not
 * recorded.
 */
#include "model/model.h"
#include "params/params.h"
#include "reader/reader.h"
#include "token/token.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum { BATCH = 64, HELD_SIZE = 2 * TIDE_WORD_MAX + 17 };

struct tide_model_tokenizer {
    const tide_model *model;
    tide_params *params;
    tide_tokenizer *tokenizer;

    /* With phrases: the previous word, which may form a phrase with the next one, and
     * space for that phrase; 16 bytes past its end are readable. Length 0: none. */
    char held[HELD_SIZE];
    uint32_t held_length;
};

/* Takes ownership of the parameters, which are NULL after an error. With `for_query`,
 * the tokenizer is for queries. */
static tide_model_tokenizer *new_tokenizer(const tide_model *model, tide_params *params,
                                           bool for_query, tide_error *err)
{
    tide_model_tokenizer *w = tide_alloc(1, sizeof *w);
    if (params && w) {
        tide_tokenizer_options options =
            tide_params_tokenizer(params, for_query ? NULL : model->stop_words);
        if (for_query)
            options.shortest = options.longest = 0;
        *w = (tide_model_tokenizer){.model = model, .params = params};
        w->tokenizer = tide_tokenizer_new(&options, err);
        if (w->tokenizer)
            return w;
    } else if (params) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for words");
    }
    tide_params_free(params);
    free(w);
    return NULL;
}

tide_model_tokenizer *tide_model_tokenizer_new(const tide_model *model, tide_error *err)
{
    return new_tokenizer(model, tide_params_of_model(model, err), false, err);
}

tide_model_tokenizer *tide_model_tokenizer_new_query(const tide_model *model,
                                                     tide_error *err)
{
    tide_params *params = *tide_model_params(model) ? tide_params_of_model(model, err)
                                                    : tide_params_new(err);
    return new_tokenizer(model, params, true, err);
}

void tide_model_tokenizer_set_model(tide_model_tokenizer *w, const tide_model *model)
{
    w->model = model;
}

void tide_model_tokenizer_free(tide_model_tokenizer *w)
{
    if (!w)
        return;
    tide_tokenizer_free(w->tokenizer);
    tide_params_free(w->params);
    free(w);
}

/* Passes on the held word, which does not form a phrase with another. */
static void flush_held(tide_model_tokenizer *w, tide_word_callback *callback,
                       void *data)
{
    if (w->held_length)
        callback(data, &(tide_word){w->held, w->held_length});
    w->held_length = 0;
}

/* Passes on a word. With phrases it is held until the next word is known. */
static void add_word(tide_model_tokenizer *w, const tide_word *word,
                     tide_word_callback *callback, void *data)
{
    tide_word label;
    if (tide_params_label(w->params, word, &label))
        return;
    if (!w->params->phrases) {
        callback(data, word);
        return;
    }
    uint32_t length = w->held_length + 1 + word->length;
    if (w->held_length && length <= TIDE_WORD_MAX) {
        tide_word pair = {w->held, length};
        w->held[w->held_length] = '_';
        memcpy(w->held + w->held_length + 1, word->bytes, word->length);
        if (tide_vocabulary_find(w->model->vocabulary, &pair) != TIDE_NO_SLOT) {
            w->held_length = 0;
            callback(data, &pair);
            return;
        }
    }
    flush_held(w, callback, data);
    memcpy(w->held, word->bytes, word->length);
    w->held_length = word->length;
}

/* Processes all complete words of the tokenizer. */
static void drain(tide_model_tokenizer *w, tide_word_callback *callback, void *data)
{
    tide_word words[BATCH];
    size_t count;
    bool sentence_ended;
    while ((count = tide_tokenizer_next(w->tokenizer, words, BATCH, &sentence_ended)) ||
           sentence_ended) {
        for (size_t i = 0; i < count; i++)
            add_word(w, &words[i], callback, data);
        if (sentence_ended)
            flush_held(w, callback, data);
    }
}

void tide_model_tokenizer_add(tide_model_tokenizer *w, const char *text, size_t size,
                              tide_word_callback *callback, void *data)
{
    while (size) {
        size_t used = tide_tokenizer_feed(w->tokenizer, text, size);
        text += used;
        size -= used;
        drain(w, callback, data);
    }
}

void tide_model_tokenizer_end(tide_model_tokenizer *w, tide_word_callback *callback,
                              void *data)
{
    tide_tokenizer_end(w->tokenizer);
    drain(w, callback, data);
    flush_held(w, callback, data);
}
