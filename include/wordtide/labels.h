/* wordtide/labels.h - streams of labeled posts: counting labels, training a classifier
 * in the same pass, and predicting the labels of texts. The conventions are those of
 * wordtide.h. */
#ifndef WORDTIDE_LABELS_H
#define WORDTIDE_LABELS_H

#include <wordtide.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A post is a line or a record; its first 1,000 words count. Labels are hashtags, or
 * words marked "__label__NAME" (parameter `labels`). They are removed from the text, so
 * nothing is trained on or predicted from them. A trainer counts the labels, keeps a
 * sample of the posts of each (`label-memory`), and trains a classifier that predicts
 * the most frequent ones from the words of a post. */

typedef struct tide_label_stats {
    uint64_t posts;        /* read */
    uint64_t unlabeled;    /* of these, without a label */
    uint64_t empty;        /* with a label, but without words */
    uint64_t cut;          /* too long to be kept whole */
    uint64_t extra_labels; /* beyond the 32 that are kept per post */
    uint64_t kept;         /* posts in the samples now */
    uint64_t used, limit;  /* bytes of memory for posts, and its limit */
    uint32_t labels;       /* held now */
    uint32_t capacity;     /* that can be held */
    uint32_t predicted; /* that the classifier predicts; 0 before it has been trained */
    uint64_t fits;      /* how often it has been trained */
    uint64_t posts_at_fit; /* read when it last was */
} tide_label_stats;

/* All 0 for a trainer without labels. */
TIDE_API void tide_trainer_label_stats(const tide_trainer *trainer,
                                       tide_label_stats *stats);

/* The statistics in a model file, without loading it; `used` and `limit` stay 0. */
TIDE_API int tide_label_stats_read(const char *path, tide_label_stats *stats,
                                   tide_error *err);

typedef struct tide_label {
    const char *name;
    uint64_t count; /* count - error <= posts that carried it <= count */
    uint64_t error;
    uint64_t since; /* number of the post it entered with, from 0 */
    uint32_t kept;  /* posts in its sample */
    bool predicted; /* predicted by the classifier */
} tide_label;

/* The labels with the highest counts, highest first; returns how many were written, 0
 * if out of memory. Names are borrowed until the trainer is fed. */
TIDE_API size_t tide_trainer_labels(const tide_trainer *trainer, tide_label *labels,
                                    size_t capacity);

/* -- training the classifier ------------------------------------------------------- */

/* The state after an epoch. Losses are mean binary cross-entropies per label and post.
 */
typedef struct tide_epoch {
    uint32_t epoch;       /* from 1 */
    uint32_t max_epochs;  /* maximum; training may stop earlier */
    uint32_t best_epoch;  /* the one whose weights would be kept */
    double loss;          /* in training, with dropout */
    double held_out_loss; /* 0 if no post is held out */
    double best_loss;     /* held-out loss of the best epoch */
    size_t learned;       /* posts trained on */
    size_t held_out;      /* posts held out */
    double seconds;       /* that the epoch took */
} tide_epoch;

/* Returns false to stop here and keep the best epoch so far. */
typedef bool tide_epoch_callback(void *data, const tide_epoch *epoch);

/* Chooses the `label-top` most frequent labels, which are predicted from now on, and
 * trains the classifier from scratch on `label-each` posts of each. One of kind `bag`
 * has already learned from every post and is not trained here. TIDE_ERROR_INPUT if no
 * labeled post has been read; the classifier is then unchanged. `on_epoch` may be
 * NULL. */
TIDE_API int tide_trainer_fit(tide_trainer *trainer, tide_epoch_callback *on_epoch,
                              void *data, tide_error *err);

/* -- predictions for a stream ------------------------------------------------------ */

/* A post of the stream and what the classifier predicts for it before anything of it is
 * trained on. Borrowed for the call. */
typedef struct tide_predicted_post {
    uint64_t post; /* its number, from 0 */
    /* of its record, or the latest before it, in seconds since 1970; or NaN */
    double time;
    const char *const *labels; /* that it carries, each once */
    uint32_t label_count;
    uint32_t words;           /* of its text */
    uint32_t unknown;         /* of these, without a vector */
    uint64_t fit;             /* `names` and `name_count` change only when this does */
    const char *const *names; /* of the labels that the classifier predicts */
    uint32_t name_count;      /* 0 before it has been trained */
    const float *probabilities; /* [name_count] */
} tide_predicted_post;

/* `post` is called for every post of the following runs, by the running thread; NULL
 * for none. `on_epoch`, which may be NULL, is called when the classifier is retrained
 * during a run (`label-refit`). Neither may feed, save or run the trainer. */
TIDE_API void tide_trainer_watch_labels(tide_trainer *trainer,
                                        void (*post)(void *data,
                                                     const tide_predicted_post *post),
                                        tide_epoch_callback *on_epoch, void *data);

/* -- scoring predictions ----------------------------------------------------------- */

typedef struct tide_scorer tide_scorer;

/* A label counts as predicted if its probability reaches the threshold. */
TIDE_API tide_scorer *tide_scorer_new(float threshold, tide_error *err);
TIDE_API void tide_scorer_free(tide_scorer *scorer);

/* Adds a post. It is scored if it carries a label that the classifier predicts now. */
TIDE_API int tide_scorer_add(tide_scorer *scorer, const tide_predicted_post *post,
                             tide_error *err);

/* Forgets all posts. */
TIDE_API void tide_scorer_reset(tide_scorer *scorer);

typedef struct tide_score {
    double precision;
    double recall;
    double f1;
} tide_score;

/* Scores treat 0 / 0 as 0. */
typedef struct tide_scores {
    uint64_t posts;
    uint64_t labeled; /* posts that carry a label */
    uint64_t scored;  /* posts that carry a predicted label: scores are about these */
    uint64_t truths;  /* such labels in total */
    uint64_t words, unknown; /* of the scored posts; those without a vector */
    tide_score weighted;     /* mean over labels, weighted by their posts */
    tide_score macro;        /* mean over all labels, including those of no post */
    tide_score micro;        /* over all decisions together */
    /* mean share of correct labels among the most probable one */
    double precision_at_1;
    double precision_at_5; /* and among the five most probable */
    double recall_at_5;    /* mean share of a post's labels among these five */
} tide_scores;

TIDE_API tide_scores tide_scorer_scores(const tide_scorer *scorer);

typedef struct tide_label_score {
    const char *name; /* borrowed from the scorer */
    uint64_t support; /* posts that carry it */
    tide_score score;
} tide_label_score;

/* By descending support, then by name; returns how many were written. */
TIDE_API size_t tide_scorer_labels(const tide_scorer *scorer, tide_label_score *scores,
                                   size_t capacity);

/* -- labeling texts ---------------------------------------------------------------- */

/* A loaded model that predicts the labels of texts and is not trained further. */
typedef struct tide_labeler tide_labeler;

/* TIDE_ERROR_PARAMETER if the model has no trained classifier. */
TIDE_API tide_labeler *tide_labeler_load(const char *path, tide_error *err);
TIDE_API void tide_labeler_free(tide_labeler *labeler);

/* Number of labels it predicts. */
TIDE_API uint32_t tide_labeler_size(const tide_labeler *labeler);

typedef struct tide_prediction {
    const char *label; /* lives as long as the labeler */
    float probability;
} tide_prediction;

/* Adds text of a post, which may be cut anywhere; line feeds count as spaces. Labels in
 * it are ignored. */
TIDE_API void tide_labeler_add(tide_labeler *labeler, const char *text, size_t size);

/* Ends the post: the most probable labels, most probable first; returns how many were
 * written. *known becomes the number of words with a vector; if it is 0, the
 * probabilities are the labels' frequencies. */
TIDE_API size_t tide_labeler_end(tide_labeler *labeler, tide_prediction *predictions,
                                 size_t capacity, uint64_t *known);

#ifdef __cplusplus
}
#endif

#endif
