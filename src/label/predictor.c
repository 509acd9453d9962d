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

int tide_fitted_init(tide_fitted *f, const tide_model *model,
                     tide_classifier *classifier, tide_error *err)
{
    const tide_classifier_options *o = tide_classifier_options_of(classifier);
    *f = (tide_fitted){.texts = tide_alloc(o->labels, sizeof *f->texts),
                       .names = tide_alloc(o->labels, sizeof *f->names),
                       .probabilities = tide_alloc(o->labels, sizeof *f->probabilities),
                       .rows = tide_alloc(o->max_words, sizeof *f->rows)};
    bool ok = !model->shape.subwords.rows ||
              !tide_matrix_init(&f->composed, o->max_words + 1, o->dim, NULL);
    if (!f->texts || !f->names || !f->probabilities || !f->rows || !ok) {
        tide_fitted_release(f);
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to predict %u labels",
                         o->labels);
    }
    for (uint32_t i = 0; i < o->labels; i++)
        f->names[i] = f->texts[i];
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
    free(p);
}

uint32_t tide_predictor_size(const tide_predictor *p)
{
    const tide_classifier *c = p->fitted.classifier;
    return c ? tide_classifier_options_of(c)->labels : 0;
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

/* The vector of a word, the `at`-th known one of the post; NULL if it has none. It may
 * be composed of several parts, into a row of `composed`. */
static const float *find_vector(tide_predictor *p, const tide_word *word, uint32_t at)
{
    const tide_model *m = p->model;
    const float *anchored = tide_anchors_find(&p->fitted.anchors, word);
    if (anchored)
        return anchored;
    uint32_t slot = tide_vocabulary_find(m->vocabulary, word);
    if (slot != TIDE_NO_SLOT && is_quarantined(p, slot))
        return NULL;
    if (!m->shape.subwords.rows)
        return slot == TIDE_NO_SLOT ? NULL : tide_matrix_row(&m->input, slot);
    float *row = tide_matrix_row(&p->fitted.composed, at);
    if (slot != TIDE_NO_SLOT)
        p->kernels->copy(row, tide_matrix_row(&m->input, slot), m->input.stride);
    else if (!tide_model_compose(m, p->kernels, word, row))
        return NULL;
    return row;
}

void tide_predictor_add(tide_predictor *p, const tide_word *word)
{
    tide_fitted *f = &p->fitted;
    p->words++;
    if (!f->classifier)
        return;
    uint32_t max = tide_classifier_options_of(f->classifier)->max_words;
    uint32_t at = p->known < max ? p->known : max;
    const float *row = find_vector(p, word, at);
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
    p->words = p->known = 0;
    return result;
}
