/* predictor.c - from the words of a post to the probabilities of its labels.
 *
 * The classifier reads vectors, not words: a word that the model has come to know since the classifier
 * learned is read like any other, by where its vector lies. So the labels are fixed, but the words are
 * not. Only the most frequent are read as they were when it learned (anchors.c).
 */
#include "label/predictor.h"

#include "label/label.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>

/* -- knowledge ------------------------------------------------------------------------------------------ */

int tide_fitted_init(tide_fitted *k, const tide_model *model,
                     tide_classifier *classifier, tide_error *err)
{
    const tide_classifier_options *o = tide_classifier_options_of(classifier);
    *k = (tide_fitted){.texts = tide_alloc(o->labels, sizeof *k->texts),
                       .names = tide_alloc(o->labels, sizeof *k->names),
                       .probabilities = tide_alloc(o->labels, sizeof *k->probabilities),
                       .rows = tide_alloc(o->words_most, sizeof *k->rows)};
    bool composed = !model->shape.subwords.rows ||
                    !tide_matrix_init(&k->composed, o->words_most + 1, o->dim, NULL);
    if (!k->texts || !k->names || !k->probabilities || !k->rows || !composed) {
        tide_fitted_release(k);
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to tell %u labels",
                         o->labels);
    }
    for (uint32_t i = 0; i < o->labels; i++)
        k->names[i] = k->texts[i];
    k->classifier = classifier;
    return TIDE_OK;
}

void tide_fitted_release(tide_fitted *k)
{
    tide_classifier_free(k->classifier);
    tide_anchors_release(&k->anchors);
    tide_matrix_release(&k->composed);
    free(k->rows);
    free(k->probabilities);
    free(k->names);
    free(k->texts);
    *k = (tide_fitted){0};
}

/* -- the teller ------------------------------------------------------------------------------------------ */

tide_predictor *tide_predictor_new(const tide_model *model, const uint64_t *closed,
                                   tide_error *err)
{
    tide_predictor *t = tide_alloc(1, sizeof *t);
    if (!t) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to tell labels");
        return NULL;
    }
    t->model = model;
    t->closed = closed;
    t->kernels = tide_kernels_best();
    return t;
}

void tide_predictor_free(tide_predictor *t)
{
    if (!t)
        return;
    tide_fitted_release(&t->knowledge);
    free(t);
}

uint32_t tide_predictor_size(const tide_predictor *t)
{
    const tide_classifier *c = t->knowledge.classifier;
    return c ? tide_classifier_options_of(c)->labels : 0;
}

const char *const *tide_predictor_names(const tide_predictor *t)
{
    return t->knowledge.names;
}

uint64_t tide_predictor_fits(const tide_predictor *t)
{
    return t->fits;
}

/* -- telling ------------------------------------------------------------------------------------------ */

static bool is_closed(const tide_predictor *t, uint32_t slot)
{
    return t->closed &&
           __atomic_load_n(&t->closed[slot / 64], __ATOMIC_ACQUIRE) >> (slot % 64) & 1;
}

/* The vector of a word as number `at` of the post; NULL when it has none. */
static const float *vector_of(tide_predictor *t, const tide_word *word, uint32_t at)
{
    const tide_model *m = t->model;
    const float *anchored = tide_anchors_find(&t->knowledge.anchors, word);
    if (anchored)
        return anchored;
    uint32_t slot = tide_vocabulary_find(m->vocabulary, word);
    if (slot != TIDE_NO_SLOT && is_closed(t, slot))
        return NULL;
    if (!m->shape.subwords.rows)
        return slot == TIDE_NO_SLOT ? NULL : tide_matrix_row(&m->input, slot);
    float *row = tide_matrix_row(&t->knowledge.composed, at);
    if (slot != TIDE_NO_SLOT)
        tide_model_input(m, t->kernels, slot, row);
    else if (!tide_model_compose(m, t->kernels, word, row))
        return NULL;
    return row;
}

void tide_predictor_word(tide_predictor *t, const tide_word *word)
{
    tide_fitted *k = &t->knowledge;
    t->words++;
    if (!k->classifier)
        return;
    uint32_t most = tide_classifier_options_of(k->classifier)->words_most;
    uint32_t at = t->known < most ? t->known : most;
    const float *row = vector_of(t, word, at);
    if (row && at < most)
        k->rows[at] = row;
    t->known += row != NULL;
}

tide_predictor_result tide_predictor_end(tide_predictor *t)
{
    tide_fitted *k = &t->knowledge;
    tide_predictor_result telling = {t->words, t->known, k->probabilities};
    if (k->classifier) {
        uint32_t most = tide_classifier_options_of(k->classifier)->words_most;
        tide_classifier_predict(k->classifier, k->rows,
                                t->known < most ? t->known : most, k->probabilities);
    }
    t->words = t->known = 0;
    return telling;
}
