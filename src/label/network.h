/* network.h - the parts of a classifier. Private to label/.
 *
 * A classifier consists of an encoder, which computes features from the words, and a
 * dense layer with a sigmoid per label, which all encoders share:
 *
 *     rows --encoder--> features, 1 --dropout--> dense --sigmoid--> probabilities
 *
 * The feature after the last is always 1, so the last column of the dense layer is its
 * bias.
 */
#ifndef TIDE_LABEL_NETWORK_H
#define TIDE_LABEL_NETWORK_H

#include "label/label.h"
#include "vector/vector.h"

enum { TIDE_WIDTHS = 3, TIDE_FILTER_PARTS = 6 };

/* The state of a post between its forward and its backward pass. */
typedef struct tide_trace {
    const float **rows; /* [max_words] */
    uint32_t row_count;
    float *features;  /* [features + 1] after dropout */
    uint32_t *argmax; /* [features] CNN: first word of the best window */
    float *errors;    /* [labels] see dense.c */
    float *gradients; /* [features] of the loss, before dropout */
    double loss;
} tide_trace;

typedef struct tide_traces {
    tide_trace *traces; /* [count] */
    void *block;        /* holds their arrays */
    uint32_t count;
} tide_traces;

/* Adam's moving averages for a matrix of weights, and a copy of the best weights; same
 * shape. */
typedef struct tide_moments {
    float *mean, *square;
    float *best; /* the weights of the best epoch */
} tide_moments;

typedef struct tide_adam {
    float rate;
    float mean_factor, square_factor; /* 1 / (1 - beta^step) */
} tide_adam;

typedef struct tide_encoder tide_encoder;

struct tide_classifier {
    tide_classifier_options options;
    const tide_encoder *encoder;
    const tide_kernels *kernels;
    uint32_t features;
    bool trained;
    float scale;                  /* factor that normalizes the vectors */
    float *prior;                 /* [labels] frequencies of the labels in training */
    tide_matrix dense;            /* [labels][features + 1] */
    float **dense_rows;           /* [labels] */
    tide_matrix filters;          /* CNN only, see cnn.c; otherwise empty */
    tide_matrix bias;             /* [1][features] CNN only */
    tide_traces prediction_trace; /* a single one */
    float *scratch;               /* for predictions */
};

/* The state of one training step. */
typedef struct tide_step {
    tide_classifier *classifier;
    tide_trace *traces; /* [count] the mini-batch */
    uint32_t count;
    tide_adam adam;
    tide_moments dense, filters, bias;
} tide_step;

/* One kind of encoder. A unit is a feature with all the weights that lead to it. */
struct tide_encoder {
    uint32_t (*features)(
        const tide_classifier_options *options); /* 0 for frequencies only */
    bool windows; /* has filters and bias that are trained */
    void (*encode)(const tide_classifier *c, tide_trace *trace, float *scratch);
};

extern const tide_encoder tide_encoder_cnn, tide_encoder_linear;

/* -- classifier.c ----------------------------------------------------------------- */

int tide_classifier_check(const tide_classifier_options *options, tide_error *err);
const tide_encoder *tide_encoder_of(const tide_classifier_options *options);
uint32_t tide_feature_count(const tide_classifier_options *options);
uint32_t tide_scratch_floats(const tide_classifier_options *options); /* per thread */
uint64_t tide_trace_bytes(const tide_classifier_options *options);
int tide_traces_init(tide_traces *traces, const tide_classifier_options *options,
                     uint32_t count, tide_error *err);
void tide_traces_release(tide_traces *traces);

/* -- cnn.c ------------------------------------------------------------------------ */

uint32_t tide_filter_rows(const tide_classifier_options *options);
void tide_cnn_init(tide_classifier *c, tide_rng *rng);

/* The gradient of one unit: its rows of filters one after the other, and of its bias as
 * the result. */
float tide_cnn_gradient(const tide_step *step, uint32_t unit, float *gradient);
void tide_cnn_update(const tide_step *step, uint32_t unit, float *scratch);

/* -- dense.c ---------------------------------------------------------------------- */

void tide_dense_init(tide_classifier *c, tide_rng *rng);

/* Stores the probabilities in `errors`. */
void tide_dense_predict(const tide_classifier *c, tide_trace *trace);

/* Expects the truth, 0 or 1, in `errors`. Computes the loss and replaces the truth by
 * the probability minus the truth. */
void tide_dense_loss(const tide_classifier *c, tide_trace *trace);

/* Computes `gradients` from `errors`. */
void tide_dense_backpropagate(const tide_classifier *c, tide_trace *trace);
void tide_dense_gradient(const tide_step *step, uint32_t label, float *gradient);
void tide_dense_update(const tide_step *step, uint32_t label, float *scratch);

/* Sets each feature to zero with probability `share` and scales the others such that
 * the expectation stays the same. */
void tide_dropout(float *features, uint32_t count, float share, tide_rng *rng);

/* Uniform initialization after Glorot and Bengio. */
void tide_random_row(float *row, uint32_t dim, uint32_t inputs, uint32_t outputs,
                     tide_rng *rng);

/* -- examples.c ------------------------------------------------------------------- */

/* Rejects examples with words or labels out of range. */
int tide_examples_check(const tide_classifier_options *options,
                        const tide_example *examples, size_t count,
                        const tide_matrix *vectors, tide_error *err);

/* The share of examples that have each label, except those with the indexes
 * `excluded`. */
void tide_examples_frequencies(const tide_example *examples, size_t count,
                               const uint32_t *excluded, uint32_t excluded_count,
                               uint32_t labels, float *frequencies);

/* The factor that gives the components of the vectors in the chosen posts a mean square
 * of 1. */
int tide_examples_scale(const tide_example *examples, const uint32_t *chosen,
                        uint32_t count, const tide_matrix *vectors, float *scale,
                        tide_error *err);

/* -- adam.c ----------------------------------------------------------------------- */

/* For the given step, counted from 1. */
tide_adam tide_adam_at(float rate, uint64_t step);
void tide_adam_apply(const tide_adam *adam, float *weights, float *mean, float *square,
                     const float *gradient, size_t count);

/* -- thread_team.c ---------------------------------------------------------------- */

typedef struct tide_thread_team tide_thread_team;
typedef void tide_team_function(void *task, uint32_t member);

/* Threads that repeatedly execute one function together. `members` includes the calling
 * thread. */
tide_thread_team *tide_thread_team_new(uint32_t members, tide_error *err);
void tide_thread_team_free(tide_thread_team *team);

uint64_t tide_thread_team_bytes(uint32_t members);

/* Calls the function once per member and returns when all calls have returned. */
void tide_thread_team_run(tide_thread_team *team, tide_team_function *work, void *task);

#endif
