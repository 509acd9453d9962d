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

int tide_knowledge_init(tide_knowledge *k, const tide_model *model,
                        tide_classifier *classifier, tide_error *err)
{
    const tide_classifier_options *o = tide_classifier_options_of(classifier);
    *k = (tide_knowledge){.texts = tide_alloc(o->labels, sizeof *k->texts),
                          .names = tide_alloc(o->labels, sizeof *k->names),
                          .probabilities =
                              tide_alloc(o->labels, sizeof *k->probabilities),
                          .rows = tide_alloc(o->words_most, sizeof *k->rows)};
    bool composed = !model->shape.subwords.rows ||
                    !tide_matrix_init(&k->composed, o->words_most + 1, o->dim, NULL);
    if (!k->texts || !k->names || !k->probabilities || !k->rows || !composed) {
        tide_knowledge_release(k);
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to tell %u labels",
                         o->labels);
    }
    for (uint32_t i = 0; i < o->labels; i++)
        k->names[i] = k->texts[i];
    k->classifier = classifier;
    return TIDE_OK;
}

void tide_knowledge_release(tide_knowledge *k)
{
    tide_classifier_free(k->classifier);
    tide_anchors_release(&k->anchors);
    tide_matrix_release(&k->composed);
    free(k->rows);
    free(k->probabilities);
    free(k->names);
    free(k->texts);
    *k = (tide_knowledge){0};
}

/* -- the teller ------------------------------------------------------------------------------------------ */

tide_teller *tide_teller_new(const tide_model *model, const uint64_t *closed,
                             tide_error *err)
{
    tide_teller *t = tide_alloc(1, sizeof *t);
    if (!t) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to tell labels");
        return NULL;
    }
    t->model = model;
    t->closed = closed;
    t->kernels = tide_kernels_best();
    return t;
}

void tide_teller_free(tide_teller *t)
{
    if (!t)
        return;
    tide_knowledge_release(&t->knowledge);
    free(t);
}

uint32_t tide_teller_size(const tide_teller *t)
{
    const tide_classifier *c = t->knowledge.classifier;
    return c ? tide_classifier_options_of(c)->labels : 0;
}

const char *const *tide_teller_names(const tide_teller *t)
{
    return t->knowledge.names;
}

uint64_t tide_teller_fits(const tide_teller *t)
{
    return t->fits;
}

/* -- telling ------------------------------------------------------------------------------------------ */

static bool is_closed(const tide_teller *t, uint32_t slot)
{
    return t->closed &&
           __atomic_load_n(&t->closed[slot / 64], __ATOMIC_ACQUIRE) >> (slot % 64) & 1;
}

/* The vector of a word as number `at` of the post; NULL when it has none. */
static const float *vector_of(tide_teller *t, const tide_word *word, uint32_t at)
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

void tide_teller_word(tide_teller *t, const tide_word *word)
{
    tide_knowledge *k = &t->knowledge;
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

tide_telling tide_teller_end(tide_teller *t)
{
    tide_knowledge *k = &t->knowledge;
    tide_telling telling = {t->words, t->known, k->probabilities};
    if (k->classifier) {
        uint32_t most = tide_classifier_options_of(k->classifier)->words_most;
        tide_classifier_predict(k->classifier, k->rows,
                                t->known < most ? t->known : most, k->probabilities);
    }
    t->words = t->known = 0;
    return telling;
}
