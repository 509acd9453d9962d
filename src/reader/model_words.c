/* model_words.c - the words of a text as a model that does not learn knows them.
 *
 * The tokenizer is that of training. Labels are left out, if the model has any. Where phrases were joined, two
 * words become one when the model holds that: which pairs were joined when is not known any more.
 */
#include "model/model.h"
#include "params/params.h"
#include "reader/reader.h"
#include "token/token.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum { WORDS = 64, ROOM = 2 * TIDE_WORD_MAX + 17 };

struct tide_model_tokenizer {
    const tide_model *model;
    tide_params *params;
    tide_tokenizer *tokenizer;
    char waiting[ROOM]; /* for the word after it, with phrases; 16 bytes can be read */
    uint32_t length;    /* of it; 0 for none */
};

/* Takes the parameters, which may be NULL after an error. */
static tide_model_tokenizer *make(const tide_model *model, tide_params *params,
                                  bool asked, tide_error *err)
{
    tide_model_tokenizer *w = tide_alloc(1, sizeof *w);
    if (params && w) {
        tide_tokenizer_options options =
            tide_params_tokenizer(params, asked ? NULL : model->stop_words);
        if (asked)
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
    return make(model, tide_params_of_model(model, err), false, err);
}

tide_model_tokenizer *tide_model_tokenizer_new_query(const tide_model *model,
                                                     tide_error *err)
{
    tide_params *params = *tide_model_params(model) ? tide_params_of_model(model, err)
                                                    : tide_params_new(err);
    return make(model, params, true, err);
}

void tide_model_tokenizer_use(tide_model_tokenizer *w, const tide_model *model)
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

/* The word that waits is followed by none. */
static void release(tide_model_tokenizer *w, tide_word_callback *take, void *to)
{
    if (w->length)
        take(to, &(tide_word){w->waiting, w->length});
    w->length = 0;
}

/* With phrases a word waits for the next, since the model may have the two as one. */
static void give(tide_model_tokenizer *w, const tide_word *word,
                 tide_word_callback *take, void *to)
{
    tide_word label;
    if (tide_params_label(w->params, word, &label))
        return;
    if (!w->params->phrases) {
        take(to, word);
        return;
    }
    uint32_t length = w->length + 1 + word->length;
    if (w->length && length <= TIDE_WORD_MAX) {
        tide_word pair = {w->waiting, length};
        w->waiting[w->length] = '_';
        memcpy(w->waiting + w->length + 1, word->bytes, word->length);
        if (tide_vocabulary_find(w->model->vocabulary, &pair) != TIDE_NO_SLOT) {
            w->length = 0;
            take(to, &pair);
            return;
        }
    }
    release(w, take, to);
    memcpy(w->waiting, word->bytes, word->length);
    w->length = word->length;
}

/* All words that are complete. */
static void take_words(tide_model_tokenizer *w, tide_word_callback *take, void *to)
{
    tide_word words[WORDS];
    size_t count;
    bool sentence_ended;
    while ((count = tide_tokenizer_take(w->tokenizer, words, WORDS, &sentence_ended)) ||
           sentence_ended) {
        for (size_t i = 0; i < count; i++)
            give(w, &words[i], take, to);
        if (sentence_ended)
            release(w, take, to);
    }
}

void tide_model_tokenizer_add(tide_model_tokenizer *w, const char *text, size_t size,
                              tide_word_callback *take, void *to)
{
    while (size) {
        size_t used = tide_tokenizer_feed(w->tokenizer, text, size);
        text += used;
        size -= used;
        take_words(w, take, to);
    }
}

void tide_model_tokenizer_end(tide_model_tokenizer *w, tide_word_callback *take,
                              void *to)
{
    tide_tokenizer_end(w->tokenizer);
    take_words(w, take, to);
    release(w, take, to);
}
