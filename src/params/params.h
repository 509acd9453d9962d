/* params.h - the parameters of training. One table defines options, files and
 * documents. */
#ifndef TIDE_PARAMS_H
#define TIDE_PARAMS_H

#include "model/model.h"
#include "sampler/sampler.h"
#include "token/token.h"
#include "vector/vector.h"

enum {
    SENTENCE_MAX = 1000,     /* tokens */
    RATE_HALF_LIFE_MIN = 50, /* tokens; the scale must not overflow within a sentence */
    WINDOW_MAX = 64,
    CONTEXTS_MIDDLE = WINDOW_MAX + TIDE_QUAD,
    NEGATIVE_MAX = 64,
    DELIMITER_MAX = 2, /* bytes with the terminating 0 */
    TEXT_MAX = 256,    /* the same for all other texts */
    SHARED_DRAWS = 4,  /* draws of a block per negative of a pair */
};

typedef enum tide_profile {
    TIDE_PROFILE_DEFAULT,
    TIDE_PROFILE_FAST,
    TIDE_PROFILE_BEST,
    TIDE_PROFILE_PAPER,
    TIDE_PROFILE_ATHENA,
    TIDE_PROFILE_INCREMENTAL,
    TIDE_PROFILE_WORD2VEC,
} tide_profile;

/* TIDE_<PARAMETER>_<CHOICE>, in the order of params_table.c. The choices of tokenizer,
 * sketch, sampler and records are enumerated by their modules. */
enum { TIDE_COUNTING_ALL, TIDE_COUNTING_KEPT };
enum { TIDE_SUBSAMPLE_WORD2VEC, TIDE_SUBSAMPLE_ROOT };
enum { TIDE_NEGATIVE_SHARING_SHARED, TIDE_NEGATIVE_SHARING_PAIR };
enum { TIDE_GRADIENT_BEFORE, TIDE_GRADIENT_AFTER };
enum { TIDE_CONTEXTS_WEIGHTED, TIDE_CONTEXTS_DYNAMIC, TIDE_CONTEXTS_FULL };
enum { TIDE_INIT_SMALL, TIDE_INIT_UNIFORM, TIDE_INIT_NORMAL, TIDE_INIT_BOTH };
enum {
    TIDE_OPTIMIZER_ADAGRAD,
    TIDE_OPTIMIZER_COORDINATE,
    TIDE_OPTIMIZER_LINEAR,
    TIDE_OPTIMIZER_POWER,
    TIDE_OPTIMIZER_CONSTANT,
    TIDE_OPTIMIZER_DECAY
};
enum { TIDE_AGE_PAIR, TIDE_AGE_CENTER };
enum { TIDE_FROZEN_NOT, TIDE_FROZEN_WORDS, TIDE_FROZEN_ALL };
enum { TIDE_LABELS_OFF, TIDE_LABELS_HASHTAGS, TIDE_LABELS_MARKED };

struct tide_params {
    uint64_t profile;
    /* sizes */
    uint64_t vocab, dim, memory, threads, seed;
    /* tokenizer and records */
    uint64_t tokenizer, tokenizer_version, numbers, hashtags, mentions, urls,
        min_length, max_length;
    uint64_t phrases, phrase_count;
    double phrase_threshold;
    uint64_t records;
    char stop_words[TEXT_MAX], text[TEXT_MAX], time[TEXT_MAX], label_field[TEXT_MAX];
    char delimiter[DELIMITER_MAX];
    const char *stop_list; /* of a loaded model, borrowed; NULL: read the file */
    /* contexts */
    uint64_t window, contexts, counting, subsample;
    double sample;
    /* vocabulary */
    uint64_t sketch, admission, half_life, frozen;
    /* batch */
    uint64_t epochs, min_count;
    /* negatives */
    uint64_t negative, negative_sharing, exclude, sampler, reservoir;
    double power;
    /* learning rates and initial vectors */
    uint64_t init, gradient, optimizer, age;
    double alpha, alpha_output, alpha_first, min_alpha, tau;
    uint64_t rate_half_life;
    /* replay */
    uint64_t replay, replay_ring, replay_fade;
    /* subwords */
    uint64_t subword, minn, maxn;
    /* labels */
    uint64_t labels, label_slots, label_posts, label_memory, label_bytes;
    uint64_t label_top, label_each, label_refit, label_anchors;
    /* classifier */
    uint64_t classifier, classifier_maps, classifier_words, classifier_batch;
    uint64_t classifier_epochs, classifier_patience;
    double classifier_dropout, classifier_rate, classifier_held_out;
    bool vocab_given, subword_given;
    bool loaded; /* from a model, whose size cannot change */
    /* what the process needs beside such a trainer; NULL for nothing */
    uint64_t (*others)(const tide_params *params, const void *data);
    const void *others_data;
};

/* Whether the parameter may be changed when a model is resumed. */
bool tide_params_on_resume(const char *name);

/* Whether any value satisfies this request (seed 'random'), so that a resumed model
 * keeps its own. */
bool tide_params_is_default_request(const char *name, const char *value);

/* Whether no word is admitted or evicted and nothing is counted: in batch training,
 * whose vocabulary is built in a pass before, and when it is frozen. */
bool tide_params_fixed_vocabulary(const tide_params *params);

/* Whether a run reads its sources in epochs. */
bool tide_params_batch(const tide_params *params);

/* Fails if the parameters contradict each other. */
int tide_params_check(const tide_params *params, tide_error *err);

/* Returns "name value" lines of all parameters that affect the result; free with
 * free(). */
char *tide_params_print(const tide_params *params);

/* Parses such lines; `path` is the file they come from. */
int tide_params_scan(tide_params *params, const char *text, const char *path,
                     tide_error *err);

tide_sampler_options tide_params_sampler(const tide_params *params);

/* The options borrow the texts of the parameters, and `stop_words`, which may be
 * NULL. */
tide_tokenizer_options tide_params_tokenizer(const tide_params *params,
                                             const char *stop_words);
tide_record_options tide_params_records(const tide_params *params);

/* Whether a word is a label. *label is then its name, a part of the word, which may be
 * empty. */
bool tide_params_label(const tide_params *params, const tide_word *word,
                       tide_word *label);

/* The shape of a model with these parameters. */
tide_shape tide_params_shape(const tide_params *params);

#endif
