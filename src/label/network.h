/* network.h - the parts of a classifier. Private to label/.
 *
 * A classifier is an encoder, which makes features of the words, and a dense layer with a sigmoid for every
 * label, which all encoders share:
 *
 *     rows --encoder--> features, 1 --dropout--> dense --sigmoid--> probabilities
 *
 * The feature after the last is always 1, so that the last column of the dense layer is its bias.
 */
#ifndef TIDE_LABEL_NETWORK_H
#define TIDE_LABEL_NETWORK_H

#include "label/label.h"
#include "vector/vector.h"

enum { TIDE_WIDTHS = 3, TIDE_FILTER_PARTS = 6 };

/* What is known of a post between the way forward and the way back. */
typedef struct tide_trace {
    const float **rows; /* [words_most] */
    uint32_t row_count;
    float *features; /* [features + 1] after dropout */
    uint32_t *
        places; /* [features] the encoder's: the word where the winning window begins */
    float *errors; /* [labels] see dense.c */
    float *blame;  /* [features] derivative of the loss by each, before dropout */
    double loss;
} tide_trace;

typedef struct tide_traces {
    tide_trace *traces; /* [count] */
    void *block;        /* of their arrays */
    uint32_t count;
} tide_traces;

/* Weights, and what Adam remembers of them; all shaped alike. */
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
    float scale;  /* vectors are multiplied by it, so that theirs does not matter */
    float *prior; /* [labels] frequencies of the labels in training */
    tide_matrix dense;   /* [labels][features + 1] */
    float **dense_rows;  /* [labels] */
    tide_matrix filters; /* of windows, see cnn.c; no rows otherwise */
    tide_matrix bias;    /* [1][features] of windows */
    tide_traces asked;   /* one, for predictions */
    float *scratch;      /* of the thread that asks */
};

/* All that one step of training needs. */
typedef struct tide_step {
    tide_classifier *classifier;
    tide_trace *traces; /* [count] the mini-batch */
    uint32_t count;
    tide_adam adam;
    tide_moments dense, filters, bias;
} tide_step;

/* One kind of classifier. A unit is a feature with all weights that lead to it. */
struct tide_encoder {
    uint32_t (*features)(
        const tide_classifier_options *options); /* 0: only frequencies */
    bool windows; /* has filters and bias, and its units learn */
    void (*read)(const tide_classifier *c, tide_trace *trace, float *scratch);
};

extern const tide_encoder tide_encoder_cnn, tide_encoder_linear;

/* -- classifier.c ------------------------------------------------------------------------------------ */

int tide_classifier_check(const tide_classifier_options *options, tide_error *err);
const tide_encoder *tide_encoder_of(const tide_classifier_options *options);
uint32_t tide_feature_count(const tide_classifier_options *options);
uint32_t tide_scratch_floats(const tide_classifier_options *options); /* of a thread */
uint64_t tide_trace_bytes(const tide_classifier_options *options);
int tide_traces_init(tide_traces *traces, const tide_classifier_options *options,
                     uint32_t count, tide_error *err);
void tide_traces_release(tide_traces *traces);

/* -- cnn.c ------------------------------------------------------------------------------------------- */

uint32_t tide_filter_rows(const tide_classifier_options *options);
void tide_cnn_begin(tide_classifier *c, tide_rng *rng);

/* Of one unit: its rows of filters one after the other, and its bias, which is returned. */
float tide_cnn_gradient(const tide_step *step, uint32_t unit, float *gradient);
void tide_cnn_learn(const tide_step *step, uint32_t unit, float *scratch);

/* -- dense.c ----------------------------------------------------------------------------------------- */

void tide_dense_begin(tide_classifier *c, tide_rng *rng);

/* Fills `errors` with the probabilities. */
void tide_dense_predict(const tide_classifier *c, tide_trace *trace);

/* With the truth, 0 or 1, in `errors`: computes the loss and leaves the probabilities less the truth. */
void tide_dense_loss(const tide_classifier *c, tide_trace *trace);

/* From `errors` to `blame`. */
void tide_dense_backpropagate(const tide_classifier *c, tide_trace *trace);
void tide_dense_gradient(const tide_step *step, uint32_t label, float *gradient);
void tide_dense_learn(const tide_step *step, uint32_t label, float *scratch);

/* Each feature is zero with probability `share`, and otherwise larger by as much as keeps its
 * expectation. */
void tide_dropout(float *features, uint32_t count, float share, tide_rng *rng);

/* Uniform, of Glorot and Bengio's width. */
void tide_random_row(float *row, uint32_t dim, uint32_t inputs, uint32_t outputs,
                     tide_rng *rng);

/* -- examples.c -------------------------------------------------------------------------------------- */

/* Refuses a post whose words or labels there are not. */
int tide_examples_check(const tide_classifier_options *options,
                        const tide_example *examples, size_t count,
                        const tide_matrix *vectors, tide_error *err);

/* The share of examples that have each label, without those whose numbers are `left_out`. */
void tide_examples_frequencies(const tide_example *examples, size_t count,
                               const uint32_t *left_out, uint32_t left_out_count,
                               uint32_t labels, float *frequencies);

/* By what to multiply the vectors so that the mean square of the numbers in the chosen posts is 1. */
int tide_examples_scale(const tide_example *examples, const uint32_t *chosen,
                        uint32_t count, const tide_matrix *vectors, float *scale,
                        tide_error *err);

/* -- adam.c ------------------------------------------------------------------------------------------ */

/* The `number`-th step; the first is 1. */
tide_adam tide_adam_at(float rate, uint64_t number);
void tide_adam_apply(const tide_adam *adam, float *weights, float *mean, float *square,
                     const float *gradient, size_t count);

/* -- thread_team.c: threads that do one thing together, again and again -------------------------------------- */

typedef struct tide_thread_team tide_thread_team;
typedef void tide_team_work(void *task, uint32_t member);

/* `members` includes the thread that calls. */
tide_thread_team *tide_thread_team_new(uint32_t members, tide_error *err);
void tide_thread_team_free(tide_thread_team *team);

uint64_t tide_thread_team_bytes(uint32_t members);

/* Every member does the work once; returns when all have. */
void tide_thread_team_run(tide_thread_team *team, tide_team_work *work, void *task);

#endif
