/* predictor.c - from the words of a post to the probabilities of its labels.
 *
 * The classifier reads vectors, not words. A word that the model has learned since the
 * classifier was trained is read like any other, by where its vector lies. So the
 * labels are fixed, but the vocabulary is not. Only the most frequent words are read
 * with the vectors they had when it was trained (anchors.c).
 */
#include "label/predictor.h"

#include "label/label.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>

/* -- fitted classifier ------------------------------------------------------------ */

int tide_fitted_init(tide_fitted *k, const tide_model *model,
                     tide_classifier *classifier, tide_error *err)
{
    const tide_classifier_options *o = tide_classifier_options_of(classifier);
    *k = (tide_fitted){.texts = tide_alloc(o->labels, sizeof *k->texts),
                       .names = tide_alloc(o->labels, sizeof *k->names),
                       .probabilities = tide_alloc(o->labels, sizeof *k->probabilities),
                       .rows = tide_alloc(o->max_words, sizeof *k->rows)};
    bool ok = !model->shape.subwords.rows ||
              !tide_matrix_init(&k->composed, o->max_words + 1, o->dim, NULL);
    if (!k->texts || !k->names || !k->probabilities || !k->rows || !ok) {
        tide_fitted_release(k);
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to predict %u labels",
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

/* -- predictor -------------------------------------------------------------------- */

tide_predictor *tide_predictor_new(const tide_model *model, const uint64_t *quarantined,
                                   tide_error *err)
{
    tide_predictor *t = tide_alloc(1, sizeof *t);
    if (!t) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to predict labels");
        return NULL;
    }
    t->model = model;
    t->quarantined = quarantined;
    t->kernels = tide_kernels_best();
    return t;
}

void tide_predictor_free(tide_predictor *t)
{
    if (!t)
        return;
    tide_fitted_release(&t->fitted);
    free(t);
}

uint32_t tide_predictor_size(const tide_predictor *t)
{
    const tide_classifier *c = t->fitted.classifier;
    return c ? tide_classifier_options_of(c)->labels : 0;
}

const char *const *tide_predictor_names(const tide_predictor *t)
{
    return t->fitted.names;
}

uint64_t tide_predictor_fits(const tide_predictor *t)
{
    return t->fits;
}

/* -- prediction ------------------------------------------------------------------- */

static bool is_quarantined(const tide_predictor *t, uint32_t slot)
{
    return t->quarantined &&
           __atomic_load_n(&t->quarantined[slot / 64], __ATOMIC_ACQUIRE) >>
                   (slot % 64) &
               1;
}

/* The vector of a word, the `at`-th known one of the post; NULL if it has none. It may
 * be composed of several parts, into a row of `composed`. */
static const float *find_vector(tide_predictor *t, const tide_word *word, uint32_t at)
{
    const tide_model *m = t->model;
    const float *anchored = tide_anchors_find(&t->fitted.anchors, word);
    if (anchored)
        return anchored;
    uint32_t slot = tide_vocabulary_find(m->vocabulary, word);
    if (slot != TIDE_NO_SLOT && is_quarantined(t, slot))
        return NULL;
    if (!m->shape.subwords.rows)
        return slot == TIDE_NO_SLOT ? NULL : tide_matrix_row(&m->input, slot);
    float *row = tide_matrix_row(&t->fitted.composed, at);
    if (slot != TIDE_NO_SLOT)
        tide_model_input(m, t->kernels, slot, row);
    else if (!tide_model_compose(m, t->kernels, word, row))
        return NULL;
    return row;
}

void tide_predictor_add(tide_predictor *t, const tide_word *word)
{
    tide_fitted *k = &t->fitted;
    t->words++;
    if (!k->classifier)
        return;
    uint32_t max = tide_classifier_options_of(k->classifier)->max_words;
    uint32_t at = t->known < max ? t->known : max;
    const float *row = find_vector(t, word, at);
    if (row && at < max)
        k->rows[at] = row;
    t->known += row != NULL;
}

tide_predictor_result tide_predictor_end(tide_predictor *t)
{
    tide_fitted *k = &t->fitted;
    tide_predictor_result result = {t->words, t->known, k->probabilities};
    if (k->classifier) {
        uint32_t max = tide_classifier_options_of(k->classifier)->max_words;
        tide_classifier_predict(k->classifier, k->rows, t->known < max ? t->known : max,
                                k->probabilities);
    }
    t->words = t->known = 0;
    return result;
}
