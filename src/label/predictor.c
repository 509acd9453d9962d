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

int tide_fitted_init_names(tide_fitted *f, uint32_t labels, tide_error *err)
{
    *f = (tide_fitted){.texts = tide_alloc(labels, sizeof *f->texts),
                       .names = tide_alloc(labels, sizeof *f->names),
                       .probabilities = tide_alloc(labels, sizeof *f->probabilities),
                       .labels = labels};
    if (!f->texts || !f->names || !f->probabilities) {
        tide_fitted_release(f);
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to predict %u labels",
                         labels);
    }
    for (uint32_t i = 0; i < labels; i++)
        f->names[i] = f->texts[i];
    return TIDE_OK;
}

int tide_fitted_init(tide_fitted *f, const tide_model *model,
                     tide_classifier *classifier, tide_error *err)
{
    const tide_classifier_options *o = tide_classifier_options_of(classifier);
    int status = tide_fitted_init_names(f, o->labels, err);
    if (status)
        return status;
    f->rows = tide_alloc(o->max_words, sizeof *f->rows);
    if (!f->rows || (model->shape.subwords.rows &&
                     tide_matrix_init(&f->composed, o->max_words + 1, o->dim, NULL))) {
        tide_fitted_release(f);
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to predict %u labels",
                         o->labels);
    }
    f->classifier = classifier;
    return TIDE_OK;
}

void tide_fitted_release(tide_fitted *f)
{
    tide_classifier_free(f->classifier);
    tide_anchors_release(&f->anchors);
    tide_matrix_release(&f->composed);
    free(f->rows);
    free(f->probabilities);
    free(f->names);
    free(f->texts);
    *f = (tide_fitted){0};
}

/* -- predictor -------------------------------------------------------------------- */

tide_predictor *tide_predictor_new(const tide_model *model, const uint64_t *quarantined,
                                   tide_error *err)
{
    tide_predictor *p = tide_alloc(1, sizeof *p);
    if (!p) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to predict labels");
        return NULL;
    }
    p->model = model;
    p->quarantined = quarantined;
    p->kernels = tide_kernels_best();
    return p;
}

void tide_predictor_free(tide_predictor *p)
{
    if (!p)
        return;
    tide_fitted_release(&p->fitted);
    tide_matrix_release(&p->composed_of);
    tide_bag_free(p->bag);
    free(p);
}

uint32_t tide_predictor_size(const tide_predictor *p)
{
    return p->fitted.labels;
}

const char *const *tide_predictor_names(const tide_predictor *p)
{
    return p->fitted.names;
}

uint64_t tide_predictor_fits(const tide_predictor *p)
{
    return p->fits;
}

/* -- prediction ------------------------------------------------------------------- */

static bool is_quarantined(const tide_predictor *p, uint32_t slot)
{
    return p->quarantined &&
           __atomic_load_n(&p->quarantined[slot / 64], __ATOMIC_ACQUIRE) >>
                   (slot % 64) &
               1;
}

const float *tide_predictor_vector(const tide_predictor *p, const tide_word *word,
                                   float *composed)
{
    const tide_model *m = p->model;
    uint32_t slot = tide_vocabulary_find(m->vocabulary, word);
    if (slot != TIDE_NO_SLOT && is_quarantined(p, slot))
        return NULL;
    if (!m->shape.subwords.rows)
        return slot == TIDE_NO_SLOT ? NULL : tide_matrix_row(&m->input, slot);
    if (slot != TIDE_NO_SLOT)
        tide_model_input(m, p->kernels, slot, composed);
    else if (!tide_model_compose(m, p->kernels, word, composed))
        return NULL;
    return composed;
}

void tide_predictor_add(tide_predictor *p, const tide_word *word)
{
    tide_fitted *f = &p->fitted;
    p->words++;
    if (tide_predictor_uses_bag(p))
        p->known += tide_predictor_add_to_bag(p, word);
    if (!f->classifier)
        return;
    uint32_t max = tide_classifier_options_of(f->classifier)->max_words;
    uint32_t at = p->known < max ? p->known : max;
    const float *row = tide_anchors_find(&f->anchors, word);
    if (!row)
        row = tide_predictor_vector(
            p, word, f->composed.rows ? tide_matrix_row(&f->composed, at) : NULL);
    if (row && at < max)
        f->rows[at] = row;
    p->known += row != NULL;
}

tide_predictor_result tide_predictor_end(tide_predictor *p)
{
    tide_fitted *f = &p->fitted;
    tide_predictor_result result = {p->words, p->known, f->probabilities};
    if (f->classifier) {
        uint32_t max = tide_classifier_options_of(f->classifier)->max_words;
        tide_classifier_predict(f->classifier, f->rows, p->known < max ? p->known : max,
                                f->probabilities);
    }
    if (tide_predictor_uses_bag(p))
        tide_predictor_ask_bag(p);
    p->words = p->known = 0;
    return result;
}
