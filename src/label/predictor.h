/* predictor.h - what the files of the predictor share. Private. */
#ifndef TIDE_LABEL_PREDICTOR_H
#define TIDE_LABEL_PREDICTOR_H

#include "file/file.h"
#include "label/label.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

/* -- anchors (anchors.c) ---------------------------------------------------------- */

/* Frequent words with the vectors they had when the classifier was trained. */
typedef struct tide_anchors {
    /* slots are rows of the vectors; NULL if there are no anchors */
    tide_vocabulary *words;
    tide_matrix vectors;
} tide_anchors;

/* Copies the `max` most frequent words of the model with their current vectors. */
int tide_anchors_snapshot(tide_anchors *a, const tide_model *model,
                          const tide_kernels *kernels, uint32_t max, tide_error *err);
void tide_anchors_release(tide_anchors *a);
uint64_t tide_anchors_bytes(uint64_t max, uint32_t dim);

/* The vector of a word; NULL if it is not an anchor. */
const float *tide_anchors_find(const tide_anchors *a, const tide_word *word);

/* Sections anchor.*, if there are anchors. `err` must not be NULL. */
uint32_t tide_anchors_size(const tide_anchors *a);
void tide_anchors_save(const tide_anchors *a, tide_store_writer *writer);
int tide_anchors_load(tide_anchors *a, uint32_t size, uint32_t dim, tide_store *store,
                      tide_error *err);

/* -- fitted classifier (predictor.c) ---------------------------------------------- */

/* All that a training produces. It is replaced as a whole. */
typedef struct tide_fitted {
    tide_classifier *classifier;      /* NULL before the first training */
    char (*texts)[TIDE_WORD_MAX + 1]; /* [labels] */
    const char **names;               /* [labels] pointers to the texts */
    float *probabilities;             /* [labels] */
    const float **rows;               /* [max_words] of the current post */
    tide_anchors anchors;
    tide_matrix composed; /* [max_words + 1] vectors of several parts; the last row is
                             for words beyond max_words */
} tide_fitted;

struct tide_predictor {
    const tide_model *model;
    const uint64_t *quarantined; /* NULL if none are */
    const tide_kernels *kernels;
    tide_fitted fitted;
    uint64_t fits;
    uint32_t words, known; /* of the current post */
};

/* Allocates what the classifier needs for predictions, and takes it over unless this
 * fails. */
int tide_fitted_init(tide_fitted *f, const tide_model *model,
                     tide_classifier *classifier, tide_error *err);
void tide_fitted_release(tide_fitted *f);

#endif
