/* label.h - streams whose posts carry labels: which labels there are, posts to learn them from, telling
 * them from the words, and judging what was told. */
#ifndef TIDE_LABEL_H
#define TIDE_LABEL_H

#include "file/file.h"
#include "model/model.h"
#include "params/params.h"
#include "vector/vector.h"

#include <wordtide/labels.h>

/* -- tracker (tracker.c over posts.c and sample.c; tracker_query.c, tracker_file.c) -- */

/* Counts the labels of a stream in one pass and keeps, of every label it holds, a uniform sample of
 * the posts that carried it since it came. All samples share one budget of memory as evenly as they
 * can, and everything is allocated at the start. */
typedef struct tide_tracker tide_tracker;

#define TIDE_POST_MAX 4096  /* bytes of a post, at most */
#define TIDE_POST_LABELS 32 /* of which a post may carry so many different ones */

typedef struct tide_tracker_options {
    uint32_t labels;     /* held at a time */
    uint32_t most;       /* posts kept of one label, at most */
    uint32_t post_bytes; /* a longer post is cut; above TIDE_WORD_MAX */
    uint64_t memory;     /* bytes for all posts and for who keeps which */
    uint64_t seed;
} tide_tracker_options;

tide_tracker *tide_tracker_new(const tide_tracker_options *options, tide_error *err);
void tide_tracker_free(tide_tracker *t);

/* What _new allocates with these options. Nothing more is allocated later. */
uint64_t tide_tracker_bytes(const tide_tracker_options *options);

/* The next post: its words, separated by blanks, and its labels, of 1 to TIDE_WORD_MAX bytes each
 * (longer ones are cut, empty ones passed over). A label that is given twice counts once. Labels
 * beyond TIDE_POST_LABELS are left out and counted. A post without words counts its labels and
 * enters no sample. */
void tide_tracker_add(tide_tracker *t, const tide_word *labels, size_t count,
                      const char *text, size_t length);

typedef struct tide_tracker_stats {
    uint64_t posts;        /* given to tide_tracker_add */
    uint64_t unlabeled;    /* of these, without a label */
    uint64_t empty;        /* with a label, but without words */
    uint64_t cut;          /* longer than post_bytes */
    uint64_t extra_labels; /* beyond TIDE_POST_LABELS */
    uint64_t given_up;     /* how often a label gave up a post so that all fit */
    uint64_t kept;         /* posts kept now; one that several labels keep is one */
    uint64_t used, room;   /* bytes of the memory for posts */
    uint32_t labels;       /* held now */
    uint32_t capacity;     /* slots of labels are below this */
    uint32_t ids;          /* and ids of posts below this */
} tide_tracker_stats;

tide_tracker_stats tide_tracker_state(const tide_tracker *t);

/* A label that is held. Its name is borrowed until the next post. */
typedef struct tide_held_label {
    const char *name; /* with a 0 after it */
    uint32_t length;
    uint32_t slot;
    uint64_t count; /* count - error <= posts that carried it <= count */
    uint64_t error;
    uint64_t
        seen; /* posts with words that carried it since it came: the sample is of these */
    uint64_t since; /* number of the post with which it came */
    uint32_t kept;  /* of those seen */
} tide_held_label;

/* Slots are below the number of labels; one that never had a label gives false. */
bool tide_tracker_label(const tide_tracker *t, uint32_t slot, tide_held_label *label);

/* The labels with the highest counts, at most `room` of them, the highest first; of equals, the one
 * whose name is first in the order of bytes. Returns how many there are. */
size_t tide_tracker_top(const tide_tracker *t, tide_held_label *labels, size_t room);

/* The posts kept of the label in a slot, at most `room` of them, in an order that is random and the
 * same every time, as ids: the first n are a uniform sample of n. The same id is the same post in all
 * samples, until the next post is added. Returns how many there are. */
size_t tide_tracker_sample(const tide_tracker *t, uint32_t slot, uint32_t *posts,
                           size_t room);

typedef struct tide_post {
    uint64_t number; /* in the stream, from 0 on */
    uint32_t length;
    uint32_t label_count;
    uint32_t labels[TIDE_POST_LABELS]; /* slots: all its labels that are held now */
    char text[TIDE_POST_MAX +
              16]; /* with a 0 after it; 16 bytes of every word can be read */
} tide_post;

/* One of the posts that tide_tracker_sample gave. */
void tide_tracker_post(const tide_tracker *t, uint32_t id, tide_post *post);

/* Sections label.*. What is saved depends on the stream and the options alone: loading and going on
 * equals never having stopped. Loading with other options than those of the file is refused. */
/* The facts alone, without loading what it keeps; those about memory stay 0. */
int tide_tracker_peek(tide_store *store, tide_tracker_stats *facts, tide_error *err);

void tide_tracker_save(const tide_tracker *t, tide_store_writer *writer);
tide_tracker *tide_tracker_load(const tide_tracker_options *options, tide_store *store,
                                tide_error *err);

/* -- classifier (classifier.c, learn.c, classifier_file.c) ------------------------- */

/* Tells the labels of a post from the vectors of its words, which it reads and never changes. */
typedef struct tide_classifier tide_classifier;

typedef enum tide_classifier_kind {
    TIDE_CLASSIFIER_CNN,      /* the paper's: windows of 1, 2 and 3 words (cnn.c) */
    TIDE_CLASSIFIER_LINEAR,   /* logistic regression on the mean vector (linear.c) */
    TIDE_CLASSIFIER_FREQUENT, /* how frequent the labels are, whatever the words */
    TIDE_CLASSIFIER_KINDS,
} tide_classifier_kind;

typedef struct tide_classifier_options {
    tide_classifier_kind kind;
    uint32_t dim;         /* of the vectors: 1 to TIDE_DIM_MAX */
    uint32_t labels;      /* 1 to 65,536 */
    uint32_t maps;        /* for each width of the windows: 1 to 1,024 */
    uint32_t words_most;  /* a post is cut to its first so many words: 1 to 4,096 */
    uint32_t batch;       /* posts in a step: 1 to 1,024 */
    uint32_t epochs_most; /* 1 to 10,000 */
    uint32_t patience;    /* epochs without a better one before it stops; from 1 on */
    uint32_t threads;     /* 1 to 256; the result does not depend on it */
    float dropout;        /* share of the features left out in training: 0 to 0.9 */
    float rate;           /* of Adam's steps: above 0, to 1 */
    float held_out;       /* share of the posts that stopping is decided on: 0 to 0.5 */
    uint64_t seed;
} tide_classifier_options;

/* What a classifier takes, and what training it on so many posts takes besides. */
uint64_t tide_classifier_bytes(const tide_classifier_options *options);
uint64_t tide_classifier_training_bytes(const tide_classifier_options *options,
                                        size_t posts);

/* It can be trained or asked. Until it is trained, no post has any label. It belongs to one thread at a
 * time. */
tide_classifier *tide_classifier_new(const tide_classifier_options *options,
                                     tide_error *err);
void tide_classifier_free(tide_classifier *classifier);
const tide_classifier_options *
tide_classifier_options_of(const tide_classifier *classifier);

/* A post whose labels are known. */
typedef struct tide_example {
    const uint32_t
        *words; /* rows of the matrix of vectors; words without one are left out */
    uint32_t word_count;
    const uint32_t *labels; /* rising */
    uint32_t label_count;
} tide_example;

/* Learns anew, from random weights. The examples and the vectors are read until it returns, and must
 * not change; nothing of them is copied. A part of the posts, drawn at random, is held out; training ends
 * when their loss has not become smaller for `patience` epochs, or at the last epoch, or when `watch` (NULL
 * for none) wants it, and takes the weights of the best epoch. With no post held out, the last epoch is
 * the best. Posts without words count for the frequencies of the labels and teach nothing else. After a
 * failure the classifier is as if it had never been trained. */
int tide_classifier_train(tide_classifier *classifier, const tide_example *examples,
                          size_t count, const tide_matrix *vectors,
                          tide_epoch_watch *watch, void *context, tide_error *err);

/* The probability of every label [labels] for a post whose words have these vectors: rows as a
 * tide_matrix of the dimension has them, on a cache line and padded with zeros, with finite values. They
 * may be rows that others train meanwhile. A post without a known word gets the frequencies of the labels
 * in training. */
void tide_classifier_predict(tide_classifier *classifier, const float *const *rows,
                             uint32_t count, float *probabilities);

/* Sections label.network, label.prior, label.dense, and for windows label.filters and label.bias. What is loaded predicts
 * the same; NULL when a section is missing, damaged or impossible. */
void tide_classifier_save(const tide_classifier *classifier, tide_store_writer *writer);
/* How many labels a saved one tells. */
int64_t tide_classifier_labels(const tide_store *store, tide_error *err);
tide_classifier *tide_classifier_load(tide_store *store, tide_error *err);

/* -- teller (predictor.c, fit.c, predictor_file.c) --------------------------------------- */

/* A classifier with the names of its labels and the model whose vectors it reads. It belongs to one
 * thread; others may train the vectors meanwhile. */
typedef struct tide_predictor tide_predictor;

/* `closed`, which may be NULL, has a bit for every slot whose vector is not to be read. Both must live
 * as long. */
tide_predictor *tide_predictor_new(const tide_model *model, const uint64_t *closed,
                                   tide_error *err);
void tide_predictor_free(tide_predictor *teller);

typedef struct tide_predictor_options {
    tide_classifier_options classifier; /* its labels: at most so many */
    uint32_t each;    /* posts of every label that it learns from, at most */
    uint32_t anchors; /* the so many most frequent words are read as they were then */
    const bool *abandoned; /* true once it has learned: that is not kept; or NULL */
} tide_predictor_options;

/* How often a teller in a file has learned, and how many labels it tells: 0 for one that has not. */
int tide_predictor_peek(tide_store *store, uint64_t *fits, uint32_t *labels,
                        tide_error *err);

/* Learns anew: the most frequent labels that have posts. TIDE_ERROR_INPUT when there are none. After a
 * failure it is as it was before, and also when it was abandoned: 1 then. */
int tide_predictor_fit(tide_predictor *teller, const tide_tracker *tracker,
                       const tide_predictor_options *options, tide_epoch_watch *watch,
                       void *data, tide_error *err);

/* What it takes at most, while it learns, with a tracker and a vocabulary of these sizes. */
uint64_t tide_predictor_bytes(const tide_predictor_options *options,
                              const tide_tracker_options *tracker, uint64_t vocabulary);

/* The labels that it tells; 0 before it has learned. How often it has. */
uint32_t tide_predictor_size(const tide_predictor *teller);
const char *const *tide_predictor_names(const tide_predictor *teller);
uint64_t tide_predictor_fits(const tide_predictor *teller);

/* The next word of a post. */
void tide_predictor_word(tide_predictor *teller, const tide_word *word);

typedef struct tide_predictor_result {
    uint32_t words;             /* of the post */
    uint32_t known;             /* of these, with a vector */
    const float *probabilities; /* [tide_predictor_size], until the next */
} tide_predictor_result;

/* The post ends, and the next begins. */
tide_predictor_result tide_predictor_end(tide_predictor *teller);

/* Sections label.names, anchor.* and those of the classifier; nothing before it has learned. Loading into a new
 * one: it is as the one that was saved, which may have had none of them. */
void tide_predictor_save(const tide_predictor *teller, tide_store_writer *writer);
int tide_predictor_load(tide_predictor *teller, tide_store *store, tide_error *err);

/* -- metrics (metrics.c) ----------------------------------------------------------- */

/* How good predictions are, post by post; memory for the labels only. */
typedef struct tide_metrics tide_metrics;

/* A label is predicted when its probability is at least the threshold. */
tide_metrics *tide_metrics_new(uint32_t labels, float threshold, tide_error *err);
void tide_metrics_free(tide_metrics *metrics);

/* There are more labels from now on. */
int tide_metrics_grow(tide_metrics *metrics, uint32_t labels, tide_error *err);

/* As new, with the same labels. */
void tide_metrics_reset(tide_metrics *metrics);

/* One post: the probability of every label, negative for one that is not told, and its labels, rising. */
void tide_metrics_add(tide_metrics *metrics, const float *probabilities,
                      const uint32_t *truth, uint32_t truth_count);

/* Of one label; *support is the number of posts that had it. */
tide_score tide_metrics_label(const tide_metrics *metrics, uint32_t label,
                              uint64_t *support);

/* What a verdict says of the posts that were added: their number as `scored`, their labels and all scores.
 * Of labels that are equally probable, the one with the smaller number comes first. */
tide_scores tide_metrics_total(const tide_metrics *metrics);

/* -- labels of a trainer (labels.c) ------------------------------------------------ */

/* What a trainer has to do with the labels of its posts. */
typedef struct tide_labels tide_labels;

/* `closed`: slots whose vectors are not to be read. Comes out of the store, if there is one. */
tide_labels *tide_labels_new(const tide_params *params, const tide_model *model,
                             const uint64_t *closed, tide_store *store,
                             tide_error *err);
void tide_labels_free(tide_labels *labels);

/* What is there all the time, and what comes with learning to tell them. */
uint64_t tide_labels_bytes(const tide_params *params);
uint64_t tide_labels_fit_bytes(const tide_params *params);
void tide_labels_save(const tide_labels *labels, tide_store_writer *writer);

typedef struct tide_post_read {
    const tide_word *words; /* at most SENTENCE_MAX */
    size_t word_count;
    const tide_word *labels; /* as they came */
    size_t label_count;
    double time; /* NAN without */
} tide_post_read;

/* A post, before its words are counted or learned; `again` when its text has been read before. Whether it
 * is time for tide_labels_refit, once all before it is learned. */
bool tide_labels_post(tide_labels *labels, const tide_post_read *post, bool again);

/* Whether that is done: false when it was `stoppable` and the run has been asked to stop. The classifier is then
 * as it was before. */
bool tide_labels_refit(tide_labels *labels, bool stoppable);
void tide_labels_stop(tide_labels *labels, const volatile sig_atomic_t *stop);

/* What went wrong with that, once; NULL for nothing. */
const char *tide_labels_problem(tide_labels *labels);

/* As tide_trainer_fit and so on. */
int tide_labels_fit(tide_labels *labels, tide_epoch_watch *watch, void *data,
                    tide_error *err);
void tide_labels_watch(tide_labels *labels,
                       void (*post)(void *data, const tide_predicted_post *told),
                       tide_epoch_watch *epoch, void *data);
void tide_labels_stats(const tide_labels *labels, tide_label_stats *stats);
size_t tide_labels_list(const tide_labels *labels, tide_label *list, size_t room);

#endif
