/* predictor.h - what the files of the predictor share. Private. */
#ifndef TIDE_LABEL_PREDICTOR_H
#define TIDE_LABEL_PREDICTOR_H

#include "file/file.h"
#include "label/bag.h"
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
    tide_classifier *classifier;      /* NULL before the first training, or for a bag */
    uint32_t labels;                  /* 0 before the first training */
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
    tide_bag *bag; /* or NULL; predicts if `fitted` has no classifier */
    bool learns;   /* the bag is trained */
    tide_matrix
        composed_of; /* [1] the vector of several parts of a word, for the bag */
    uint64_t fits;
    uint32_t words, known; /* of the current post */
};

/* Allocates names and probabilities. */
int tide_fitted_init_names(tide_fitted *f, uint32_t labels, tide_error *err);

/* Allocates what the classifier needs for predictions, and takes it over unless this
 * fails. */
int tide_fitted_init(tide_fitted *f, const tide_model *model,
                     tide_classifier *classifier, tide_error *err);
void tide_fitted_release(tide_fitted *f);

/* -- bag (predictor_bag.c) -------------------------------------------------------- */

/* The implementations of tide_predictor_fit, _add and _end for a bag. _add_to_bag
 * returns whether the word is known. */
int tide_predictor_fit_bag(tide_predictor *p, const tide_tracker *tracker,
                           const tide_predictor_options *options, tide_error *err);
bool tide_predictor_uses_bag(const tide_predictor *p);
bool tide_predictor_add_to_bag(tide_predictor *p, const tide_word *word);
void tide_predictor_ask_bag(tide_predictor *p);
uint64_t tide_predictor_bag_bytes(const tide_predictor_options *options,
                                  const tide_tracker_options *tracker,
                                  uint64_t vocabulary);

/* Loads the bag if it predicts and was not added before. */
int tide_predictor_load_bag(tide_predictor *p, tide_store *store, tide_error *err);

/* The live vector of a word; NULL if it has none. `composed` receives it if it has
 * several parts. */
const float *tide_predictor_vector(const tide_predictor *p, const tide_word *word,
                                   float *composed);

#endif
