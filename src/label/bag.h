/* bag.h - the bag-of-words classifier, which learns from every post of a stream as it
 * arrives. Private to label/. */
#ifndef TIDE_LABEL_BAG_H
#define TIDE_LABEL_BAG_H

#include "file/file.h"
#include "label/label.h"
#include "vector/vector.h"

#define TIDE_NO_LABEL UINT32_MAX

enum { TIDE_BAG_LABELS = 8 }; /* max. labels of a post that is kept */

typedef struct tide_bag_options {
    uint32_t dim;    /* of the rows and the vectors: 1 to TIDE_DIM_MAX */
    uint32_t rows;   /* one half for words, the other for pairs: at least 2 */
    uint32_t labels; /* learned at a time: at least 1 */
    uint32_t slots;  /* of the tracker */
    uint32_t words;  /* a post is cut to its first words: 1 to 4,096 */
    uint32_t posts;  /* kept for replay; 0 if it does not learn */
    uint64_t seed;
} tide_bag_options;

/* A label that is learned: the occupant of a slot of the tracker since a certain
 * post. */
typedef struct tide_bag_label {
    uint64_t since;
    uint64_t posts; /* learned that carry it */
    uint32_t slot;
    uint32_t name; /* 1 + its index among the names that are predicted; or 0 */
    float bias;
    float bias_sum; /* of squared gradients, as is `sum` */
    float sum;
} tide_bag_label;

typedef struct tide_bag_post {
    uint64_t number; /* in the stream */
    uint32_t word_count;
    uint32_t label_count;
    uint32_t slots[TIDE_BAG_LABELS]; /* of the tracker when the post arrived */
} tide_bag_post;

typedef struct tide_bag {
    tide_bag_options options;
    const tide_kernels *kernels;
    tide_rng rng;
    uint64_t learned; /* posts, without repetitions */

    tide_matrix rows; /* [rows] of words and pairs, by their hash */
    float *sums;      /* [rows] of squared gradients; 0 for a row that is not in use */

    tide_bag_label *labels;   /* [labels] */
    tide_matrix output;       /* [labels] */
    float **output_rows;      /* [labels] */
    uint32_t label_count;     /* in use */
    uint32_t *label_by_slot;  /* [slots] */
    uint64_t minimum;         /* no label in use has a smaller count */
    const char *const *names; /* of the labels that are predicted; borrowed */
    uint32_t name_count;

    tide_bag_post *posts; /* [posts] */
    uint32_t *post_words; /* [posts][words] hashes */
    uint32_t post_count;

    uint32_t *words;       /* [words] hashes of the current post */
    bool *has_vector;      /* [words] */
    tide_matrix vectors;   /* [words] of the model, for words without a row */
    uint32_t word_count;   /* of the current post */
    float **features;      /* [2 * words] rows that are averaged */
    uint32_t *feature_ids; /* [2 * words] */
    uint32_t feature_count;
    tide_matrix hidden; /* [2] the average, and its gradient */
    tide_matrix scores; /* [3][labels] probabilities, errors, rates */
} tide_bag;

/* -- bag.c ------------------------------------------------------------------------- */

tide_bag *tide_bag_new(const tide_bag_options *options, tide_error *err);
void tide_bag_free(tide_bag *bag);
uint64_t tide_bag_bytes(const tide_bag_options *options);

/* Starts a post. */
void tide_bag_clear(tide_bag *bag);

/* Adds a word and its vector in the model to the post. Other threads may train the
 * vector meanwhile; it is copied. */
void tide_bag_add(tide_bag *bag, const tide_word *word, const float *vector);

/* Computes the probabilities of all labels in use for the post, which is not changed. A
 * post without words gets the frequencies. Valid until the next call. */
const float *tide_bag_predict(tide_bag *bag);

/* One step on the post, towards these labels in use. */
void tide_bag_step(tide_bag *bag, const uint32_t *labels, uint32_t count);

/* Frees the label for another one: nothing of the old one remains. */
void tide_bag_reset_label(tide_bag *bag, uint32_t label);

/* -- bag_learn.c ------------------------------------------------------------------- */

/* Learns the current post, which the tracker has counted as its post `number`, with the
 * labels in these slots; and repeats an earlier one. */
void tide_bag_learn(tide_bag *bag, const tide_tracker *tracker, const uint32_t *slots,
                    uint32_t count, uint64_t number);

/* The label in a slot of the tracker; TIDE_NO_LABEL if it is not in use. */
uint32_t tide_bag_find(const tide_bag *bag, const tide_tracked_label *label);

/* The names that are predicted from now on, borrowed until they are replaced. Labels in
 * use are matched with them by tide_bag_name. */
void tide_bag_set_names(tide_bag *bag, const char *const *names, uint32_t count);
void tide_bag_name(tide_bag *bag, uint32_t label, const char *name);

/* -- bag_file.c -------------------------------------------------------------------- */

/* Sections bag.*. With options, there is room for as many labels, words and posts as
 * these ask, and at least for those in the file; without, the bag is for predictions
 * only. The rows are those of the file. The caller must set `names`, of which there are
 * name_count. */
void tide_bag_save(const tide_bag *bag, tide_store_writer *writer);
tide_bag *tide_bag_load(const tide_bag_options *options, tide_store *store,
                        tide_error *err);
bool tide_bag_saved(const tide_store *store);

/* The number of names that a saved bag predicts. */
int64_t tide_bag_saved_names(tide_store *store, tide_error *err);

#endif
