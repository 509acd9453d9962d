/* label.h - streams whose posts carry labels: tracking labels and sampling their posts,
 * predicting labels from words, and scoring the predictions. */
#ifndef TIDE_LABEL_H
#define TIDE_LABEL_H

#include "file/file.h"
#include "model/model.h"
#include "params/params.h"
#include "vector/vector.h"

#include <wordtide/labels.h>

#include <stdatomic.h>

/* -- tracker (tracker*.c over posts.c and sample.c) -------------------------------- */

/* Counts the labels of a stream in one pass and keeps, for every label it tracks, a
 * uniform sample of the posts that carried it since it was admitted. All samples share
 * one memory budget as evenly as possible. Everything is allocated at the start. */
typedef struct tide_tracker tide_tracker;

#define TIDE_POST_MAX 4096  /* max. bytes of a post */
#define TIDE_POST_LABELS 32 /* max. distinct labels of a post */

typedef struct tide_tracker_options {
    uint32_t labels;     /* tracked at a time */
    uint32_t max_posts;  /* kept per label */
    uint32_t post_bytes; /* longer posts are cut; must exceed TIDE_WORD_MAX */
    uint64_t memory;     /* bytes for all posts and samples */
    uint64_t seed;
} tide_tracker_options;

tide_tracker *tide_tracker_new(const tide_tracker_options *options, tide_error *err);
void tide_tracker_free(tide_tracker *t);

/* What _new allocates with these options. Nothing more is allocated later. */
uint64_t tide_tracker_bytes(const tide_tracker_options *options);

/* Adds a post: its words, separated by blanks, and its labels of 1 to TIDE_WORD_MAX
 * bytes each. Longer labels are cut, empty ones ignored, and duplicates count once.
 * Labels beyond TIDE_POST_LABELS are dropped and counted. A post without words counts
 * its labels but enters no sample. */
void tide_tracker_add(tide_tracker *t, const tide_word *labels, size_t count,
                      const char *text, size_t length);

typedef struct tide_tracker_stats {
    uint64_t posts;        /* added */
    uint64_t unlabeled;    /* of these, without a label */
    uint64_t empty;        /* with a label but without words */
    uint64_t cut;          /* longer than post_bytes */
    uint64_t extra_labels; /* beyond TIDE_POST_LABELS */
    uint64_t evicted;      /* how often a sample lost a post for lack of memory */
    uint64_t kept;         /* posts kept now, each counted once */
    uint64_t used, limit;  /* bytes of the memory for posts: in use, and available */
    uint32_t labels;       /* tracked now */
    uint32_t capacity;     /* slots of labels are below this */
    uint32_t ids;          /* ids of posts are below this */
} tide_tracker_stats;

tide_tracker_stats tide_tracker_state(const tide_tracker *t);

/* A tracked label. Its name is borrowed until the next post is added. */
typedef struct tide_tracked_label {
    const char *name; /* NUL-terminated */
    uint32_t length;
    uint32_t slot;
    uint64_t count; /* count - error <= posts that carried it <= count */
    uint64_t error;
    uint64_t seen;  /* posts with words that carried it since it was admitted */
    uint64_t since; /* number of the post that admitted it */
    uint32_t kept;  /* size of its sample of those seen */
} tide_tracked_label;

/* The label in a slot. Returns false if there is none. */
bool tide_tracker_label(const tide_tracker *t, uint32_t slot,
                        tide_tracked_label *label);

/* The slot of a label; TIDE_NO_SLOT if it is not tracked. 16 bytes must be readable. */
uint32_t tide_tracker_find(const tide_tracker *t, const tide_word *label);

/* Lists up to `max` labels by descending count, ties in byte order of their names.
 * Returns their number. */
size_t tide_tracker_top(const tide_tracker *t, tide_tracked_label *labels, size_t max);

/* Lists up to `max` posts of a label's sample as ids, in a random but reproducible
 * order: the first n are a uniform sample of size n. An id means the same post in all
 * samples until the next post is added. Returns the number of posts. */
size_t tide_tracker_sample(const tide_tracker *t, uint32_t slot, uint32_t *posts,
                           size_t max);

typedef struct tide_post {
    uint64_t number; /* in the stream, from 0 */
    uint32_t length;
    uint32_t label_count;
    uint32_t labels[TIDE_POST_LABELS]; /* slots of those that are tracked now */
    char text[TIDE_POST_MAX + 16];     /* NUL-terminated; 16 readable bytes per word */
} tide_post;

/* Reads a post listed by tide_tracker_sample. */
void tide_tracker_post(const tide_tracker *t, uint32_t id, tide_post *post);

/* Sections label.*. The bytes depend only on the stream and the options, and a loaded
 * tracker continues exactly like the saved one. Loading with other options fails. */
void tide_tracker_save(const tide_tracker *t, tide_store_writer *writer);
tide_tracker *tide_tracker_load(const tide_tracker_options *options, tide_store *store,
                                tide_error *err);

/* Reads the statistics without loading the posts; those about memory stay 0. */
int tide_tracker_peek(tide_store *store, tide_tracker_stats *stats, tide_error *err);

/* -- classifier (classifier.c, classifier_train.c, classifier_file.c) ------------- */

/* Predicts the labels of a post from the vectors of its words, which it never
 * changes. */
typedef struct tide_classifier tide_classifier;

typedef enum tide_classifier_kind {
    TIDE_CLASSIFIER_CNN,      /* the paper's: windows of 1, 2 and 3 words (cnn.c) */
    TIDE_CLASSIFIER_LINEAR,   /* logistic regression on the mean vector (linear.c) */
    TIDE_CLASSIFIER_FREQUENT, /* label frequencies, whatever the words */
    TIDE_CLASSIFIER_KINDS,
    /* not a network: a bag of words that learns from every post (bag.c) */
    TIDE_CLASSIFIER_BAG = TIDE_CLASSIFIER_KINDS,
} tide_classifier_kind;

typedef struct tide_classifier_options {
    tide_classifier_kind kind;
    uint32_t dim;        /* of the vectors: 1 to TIDE_DIM_MAX */
    uint32_t labels;     /* 1 to 65,536 */
    uint32_t maps;       /* filters per width of window: 1 to 1,024 */
    uint32_t max_words;  /* a post is cut to its first words: 1 to 4,096 */
    uint32_t batch;      /* posts per step: 1 to 1,024 */
    uint32_t max_epochs; /* 1 to 10,000 */
    uint32_t patience;   /* epochs without improvement before it stops; at least 1 */
    uint32_t threads;    /* 1 to 256; does not change the result */
    float dropout;       /* share of the features dropped in training: 0 to 0.9 */
    float rate;          /* learning rate of Adam: above 0, up to 1 */
    float held_out;      /* share of the posts for early stopping: 0 to 0.5 */
    uint64_t seed;
} tide_classifier_options;

/* Memory of a classifier, and the additional memory of training it on this many
 * posts. */
uint64_t tide_classifier_bytes(const tide_classifier_options *options);
uint64_t tide_classifier_training_bytes(const tide_classifier_options *options,
                                        size_t posts);

/* Until it is trained, the probability of every label is 0. It belongs to one thread at
 * a time. */
tide_classifier *tide_classifier_new(const tide_classifier_options *options,
                                     tide_error *err);
void tide_classifier_free(tide_classifier *classifier);
const tide_classifier_options *
tide_classifier_options_of(const tide_classifier *classifier);

/* A post with known labels. */
typedef struct tide_example {
    /* rows of the matrix of vectors; unknown words are omitted */
    const uint32_t *words;
    uint32_t word_count;
    const uint32_t *labels; /* ascending */
    uint32_t label_count;
} tide_example;

/* Trains from random weights. The examples and vectors are read until it returns, must
 * not change, and are not copied. A random part of the posts is held out. Training ends
 * when their loss has not improved for `patience` epochs, at the last epoch, or when
 * `on_epoch` (may be NULL) returns false; the weights are those of the best epoch.
 * Without held-out posts the last epoch counts as the best. Posts without words
 * contribute only to the label frequencies. After a failure the classifier is
 * untrained. */
int tide_classifier_train(tide_classifier *classifier, const tide_example *examples,
                          size_t count, const tide_matrix *vectors,
                          tide_epoch_callback *on_epoch, void *context,
                          tide_error *err);

/* Computes the probability of every label, [labels], for a post whose words have these
 * vectors: rows in the layout of a tide_matrix (aligned to a cache line, padded with
 * zeros) with finite values. Other threads may train them meanwhile. A post without a
 * known word gets the label frequencies in training. */
void tide_classifier_predict(tide_classifier *classifier, const float *const *rows,
                             uint32_t count, float *probabilities);

/* Sections label.network, label.prior and label.dense; for the CNN also label.filters
 * and label.bias. A loaded classifier makes the same predictions. Returns NULL if a
 * section is missing or corrupt. */
void tide_classifier_save(const tide_classifier *classifier, tide_store_writer *writer);
tide_classifier *tide_classifier_load(tide_store *store, tide_error *err);

/* The number of labels of a saved classifier. */
int64_t tide_classifier_labels(const tide_store *store, tide_error *err);

/* -- predictor (predictor.c, predictor_fit.c, predictor_file.c) ------------------- */

/* A classifier with the names of its labels and the model whose vectors it reads. It
 * belongs to one thread; others may train the vectors meanwhile. */
typedef struct tide_predictor tide_predictor;

/* `quarantined` (may be NULL) has a bit for every slot whose vector must not be read.
 * Both must outlive the predictor. */
tide_predictor *tide_predictor_new(const tide_model *model, const uint64_t *quarantined,
                                   tide_error *err);
void tide_predictor_free(tide_predictor *predictor);

/* Adds a classifier of kind TIDE_CLASSIFIER_BAG that learns from every post;
 * `vocabulary` is the capacity of the model, `store` as in tide_labels_new. To be called
 * before tide_predictor_load. */
typedef struct tide_predictor_options tide_predictor_options;
int tide_predictor_add_bag(tide_predictor *predictor,
                           const tide_predictor_options *options,
                           const tide_tracker_options *tracker, uint64_t vocabulary,
                           tide_store *store, tide_error *err);

/* Lets such a classifier, when it is new, learn the posts that the tracker has kept, at
 * most posts_per_label of each label. */
int tide_predictor_catch_up(tide_predictor *predictor, const tide_tracker *tracker,
                            const tide_predictor_options *options, tide_error *err);

/* Learns a post, the last one that the tracker has counted. Does nothing without such a
 * classifier. */
void tide_predictor_learn(tide_predictor *predictor, const tide_tracker *tracker,
                          const tide_word *words, size_t word_count,
                          const tide_word *labels, size_t label_count);

struct tide_predictor_options {
    tide_classifier_options classifier; /* `labels` is a maximum */
    uint32_t posts_per_label;           /* training posts per label, at most */
    uint32_t anchors;                   /* frequent words whose vectors are frozen */
    /* if true after training, its result is dropped; may be NULL */
    const bool *aborted;
};

/* Reads how often the predictor in a file was trained, and its number of labels; 0 if
 * it was not. */
int tide_predictor_peek(tide_store *store, uint64_t *fits, uint32_t *labels,
                        tide_error *err);

/* Trains on the most frequent labels that have posts. A classifier of kind
 * TIDE_CLASSIFIER_BAG has learned them already and only chooses those that it predicts.
 * Returns TIDE_ERROR_INPUT if there
 * are none, and 1 if it was aborted. In both cases, as after any failure, the predictor
 * is unchanged. */
int tide_predictor_fit(tide_predictor *predictor, const tide_tracker *tracker,
                       const tide_predictor_options *options,
                       tide_epoch_callback *on_epoch, void *data, tide_error *err);

/* Its peak memory during training, with a tracker and a vocabulary of these sizes. */
uint64_t tide_predictor_bytes(const tide_predictor_options *options,
                              const tide_tracker_options *tracker, uint64_t vocabulary);

/* The labels that it predicts, 0 before the first training, and the number of
 * trainings. */
uint32_t tide_predictor_size(const tide_predictor *predictor);
const char *const *tide_predictor_names(const tide_predictor *predictor);
uint64_t tide_predictor_fits(const tide_predictor *predictor);

/* Adds a word to the current post. */
void tide_predictor_add(tide_predictor *predictor, const tide_word *word);

typedef struct tide_predictor_result {
    uint32_t words; /* of the post */
    uint32_t known; /* of these, with a vector */
    /* [tide_predictor_size], valid until the next post ends */
    const float *probabilities;
} tide_predictor_result;

/* Ends the current post and starts the next. */
tide_predictor_result tide_predictor_end(tide_predictor *predictor);

/* Sections label.names, anchor.*, bag.* and those of the classifier; none before the
 * first training, except bag.*. Load into a new predictor; a file without the sections leaves it
 * untrained. */
void tide_predictor_save(const tide_predictor *predictor, tide_store_writer *writer);
int tide_predictor_load(tide_predictor *predictor, tide_store *store, tide_error *err);

/* -- metrics (metrics.c) ---------------------------------------------------------- */

/* Accumulates the quality of predictions post by post. Memory is proportional to the
 * labels. */
typedef struct tide_metrics tide_metrics;

/* A label counts as predicted if its probability is at least the threshold. */
tide_metrics *tide_metrics_new(uint32_t labels, float threshold, tide_error *err);
void tide_metrics_free(tide_metrics *metrics);

/* Increases the number of labels. */
int tide_metrics_grow(tide_metrics *metrics, uint32_t labels, tide_error *err);

/* Clears all counts but keeps the labels. */
void tide_metrics_reset(tide_metrics *metrics);

/* Adds a post: the probability of every label, negative if it cannot be predicted, and
 * the true labels in ascending order. */
void tide_metrics_add(tide_metrics *metrics, const float *probabilities,
                      const uint32_t *truth, uint32_t truth_count);

/* The scores of one label; *support is the number of posts that had it. */
tide_score tide_metrics_label(const tide_metrics *metrics, uint32_t label,
                              uint64_t *support);

/* The total scores, with the number of posts as `scored` and that of their labels as
 * `truths`. Of equally probable labels the one with the smaller index comes first. */
tide_scores tide_metrics_total(const tide_metrics *metrics);

/* -- labels of a trainer (labels.c) ----------------------------------------------- */

/* The tracker and predictor of a trainer. */
typedef struct tide_labels tide_labels;

/* `quarantined` as in tide_predictor_new. Loaded from the store unless that is NULL. */
tide_labels *tide_labels_new(const tide_params *params, const tide_model *model,
                             const uint64_t *quarantined, tide_store *store,
                             tide_error *err);
void tide_labels_free(tide_labels *labels);

/* Permanent memory, and the peak memory of training the predictor. */
uint64_t tide_labels_bytes(const tide_params *params);
uint64_t tide_labels_fit_bytes(const tide_params *params);
void tide_labels_save(const tide_labels *labels, tide_store_writer *writer);

typedef struct tide_post_read {
    const tide_word *words; /* at most SENTENCE_MAX */
    size_t word_count;
    const tide_word *labels; /* as read */
    size_t label_count;
    double time; /* NAN if the record has none */
} tide_post_read;

/* Processes a post before its words are counted or learned; `repeated` if its text was
 * read before. Returns true if tide_labels_refit is due, after all earlier text is
 * trained. */
bool tide_labels_post(tide_labels *labels, const tide_post_read *post, bool repeated);

/* Retrains the predictor. Returns false if it was `stoppable` and the run was stopped;
 * then it is unchanged and the refit is still due. */
bool tide_labels_refit(tide_labels *labels, bool stoppable);
void tide_labels_stop(tide_labels *labels, const volatile sig_atomic_t *stop,
                      const atomic_int *trainer_stop);

/* The problem of the last refit, reported once; NULL if there was none. */
const char *tide_labels_problem(tide_labels *labels);

/* The implementations of tide_trainer_fit etc. */
int tide_labels_fit(tide_labels *labels, tide_epoch_callback *on_epoch, void *data,
                    tide_error *err);
void tide_labels_watch(tide_labels *labels,
                       void (*post)(void *data, const tide_predicted_post *prediction),
                       tide_epoch_callback *on_epoch, void *data);
void tide_labels_stats(const tide_labels *labels, tide_label_stats *stats);
size_t tide_labels_list(const tide_labels *labels, tide_label *list, size_t max);

#endif
