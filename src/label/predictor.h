/* predictor.h - what the files of the teller share. */
#ifndef TIDE_LABEL_PREDICTOR_H
#define TIDE_LABEL_PREDICTOR_H

#include "file/file.h"
#include "label/label.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

/* -- anchors (anchors.c) ------------------------------------------------------------------------ */

/* Frequent words, with the vectors that they had. */
typedef struct tide_anchors {
    tide_vocabulary *words; /* slots are rows of the vectors; NULL for none */
    tide_matrix vectors;
} tide_anchors;

/* The most frequent words of the model, as they are now. */
int tide_anchors_snapshot(tide_anchors *a, const tide_model *model,
                          const tide_kernels *kernels, uint32_t most, tide_error *err);
void tide_anchors_release(tide_anchors *a);
uint64_t tide_anchors_bytes(uint64_t most, uint32_t dim);

/* The vector of a word; NULL when it is not one of them. */
const float *tide_anchors_find(const tide_anchors *a, const tide_word *word);

/* Sections anchor.*, if there are any. `err` is not NULL. */
uint32_t tide_anchors_size(const tide_anchors *a);
void tide_anchors_save(const tide_anchors *a, tide_store_writer *writer);
int tide_anchors_load(tide_anchors *a, uint32_t size, uint32_t dim, tide_store *store,
                      tide_error *err);

/* -- knowledge (predictor.c) ------------------------------------------------------------------------ */

/* What is learned together and changes together. */
typedef struct tide_fitted {
    tide_classifier *classifier;      /* NULL before it has learned */
    char (*texts)[TIDE_WORD_MAX + 1]; /* [labels] */
    const char **names;               /* [labels] the same, for callers */
    float *probabilities;             /* [labels] */
    const float **rows;               /* [words_most] of the present post */
    tide_anchors anchors;
    tide_matrix composed; /* [words_most + 1] where vectors have several parts; the last
                             is for words that are only counted */
} tide_fitted;

struct tide_predictor {
    const tide_model *model;
    const uint64_t *closed; /* NULL for none */
    const tide_kernels *kernels;
    tide_fitted knowledge;
    uint64_t fits;
    uint32_t words, known; /* of the present post */
};

/* Room for what a classifier says, which it takes over. On failure the classifier is the caller's. */
int tide_fitted_init(tide_fitted *k, const tide_model *model,
                     tide_classifier *classifier, tide_error *err);
void tide_fitted_release(tide_fitted *k);

#endif
