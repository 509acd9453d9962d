/* params.h - the parameters of training: one table for flags, files and documents. */
#ifndef TIDE_PARAMS_H
#define TIDE_PARAMS_H

#include "model/model.h"
#include "sampler/sampler.h"
#include "token/token.h"
#include "vector/vector.h"

enum {
    SENTENCE_MAX = 1000, /* tokens */
    RATE_HALF_LIFE_LEAST =
        50, /* tokens: the scale must not overflow within a sentence */
    WINDOW_MAX = 64,
    CONTEXTS_MIDDLE = WINDOW_MAX + TIDE_QUAD,
    NEGATIVE_MAX = 64,
    DELIMITER_MAX = 2, /* likewise */
    TEXT_MAX = 256, /* bytes of a parameter that is a text, the 0 at its end included */
    SHARED_DRAWS = 4, /* draws of a block, for each negative a pair should have */
};

typedef enum tide_profile {
    PROFILE_DEFAULT,
    PROFILE_FAST,
    PROFILE_PAPER,
    PROFILE_ATHENA,
    PROFILE_INCREMENTAL,
    PROFILE_WORD2VEC,
} tide_profile;

enum { TOKENS_WORDS, TOKENS_SPACE, TOKENS_SOCIAL, TOKENS_LOG };
enum { COUNT_ALL, COUNT_KEPT };
enum { KEEP_WORD2VEC, KEEP_ROOT };
enum { NEGATIVES_SHARED, NEGATIVES_PAIR };
enum { GRADIENT_BEFORE, GRADIENT_AFTER };
enum { CONTEXTS_WEIGHTED, CONTEXTS_DYNAMIC, CONTEXTS_FULL };
enum { INIT_SMALL, INIT_UNIFORM, INIT_NORMAL, INIT_BOTH };
enum {
    RATE_ADAGRAD,
    RATE_COORDINATE,
    RATE_LINEAR,
    RATE_POWER,
    RATE_CONSTANT,
    RATE_DECAY
};
enum { AGE_PAIR, AGE_CENTER };
enum { FROZEN_NOT, FROZEN_WORDS, FROZEN_ALL };
enum { LABELS_OFF, LABELS_HASHTAGS, LABELS_MARKED };

struct tide_params {
    uint64_t profile;
    /* sizes */
    uint64_t vocab, dim, memory, threads, seed;
    /* sources to words */
    uint64_t tokens, tokens_version, numbers, hashtags, mentions, urls, min_length,
        max_length;
    uint64_t phrases, phrase_count;
    double phrase_threshold;
    uint64_t records;
    char stop_words[TEXT_MAX], text[TEXT_MAX], time[TEXT_MAX], label[TEXT_MAX];
    char delimiter[DELIMITER_MAX];
    const char *stop_list; /* that of a model, borrowed; NULL: what the file has */
    /* text to pairs */
    uint64_t window, contexts, counting, keep;
    double sample;
    /* vocabulary */
    uint64_t vocabulary, admission, half_life, frozen;
    /* batch */
    uint64_t epochs, min_count;
    /* negatives */
    uint64_t negative, negatives, exclude, sampler, reservoir;
    double power;
    /* learning */
    uint64_t init, gradient, rate, age;
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
    uint64_t classifier, maps, post_words, batch, fit_epochs, patience;
    double dropout, fit_rate, held_out;
    bool vocab_given;
    bool loaded; /* from a model, whose size is what it is */
    /* what others in the process need beside such a trainer; NULL for nothing */
    uint64_t (*others)(const tide_params *params, const void *data);
    const void *others_data;
};

bool tide_params_on_resume(const char *name);

/* Whether this asks for no value of its own, so that the one of a model that is resumed will do. */
bool tide_params_is_default_request(const char *name, const char *value);

/* Whether no word comes or goes and nothing is counted: in batch training, whose vocabulary was made
 * beforehand, and when it is frozen. */
bool tide_params_fixed_vocabulary(const tide_params *params);

/* Whether a run reads its sources several times. */
bool tide_params_batch(const tide_params *params);

/* Sees that the parameters fit together. */
int tide_params_check(const tide_params *params, tide_error *err);

/* "name value" lines of all parameters that shape the result; free with free(). */
char *tide_params_print(const tide_params *params);

/* Reads them back; `path` is the file that they come from. */
int tide_params_scan(tide_params *params, const char *text, const char *path,
                     tide_error *err);

tide_sampler_options tide_params_sampler(const tide_params *params);

/* The texts in the options are the parameters' own, or `stop_words`, which may be NULL. */
tide_tokenizer_options tide_params_tokenizer(const tide_params *params,
                                             const char *stop_words);
tide_record_options tide_params_records(const tide_params *params);

/* Whether a word is a label; *label is then its name, within the word, which may be empty. */
bool tide_params_label(const tide_params *params, const tide_word *word,
                       tide_word *label);

/* The model that a trainer with these parameters makes. */
tide_shape tide_params_shape(const tide_params *params);

#endif
