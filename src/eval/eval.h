/* eval.h - evaluation of models: human similarity scores, exact counts, other models,
 * and change over time. The public part is wordtide/eval.h. */
#ifndef TIDE_EVAL_H
#define TIDE_EVAL_H

#include "model/model.h"
#include "params/params.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <wordtide/eval.h>

/* -- statistics (statistics.c) ----------------------------------------------------- */

/* Correlations of two lists of finite numbers below 1e150; NAN if one of them is
 * constant. */
double tide_pearson(const double *x, const double *y, size_t count);
int tide_spearman(const double *x, const double *y, size_t count, double *rho,
                  tide_error *err);

/* -- neighbors (neighbors.c) ------------------------------------------------------- */

/* Searches the nearest words in a list for some words of the list. */
typedef struct tide_neighbor_query {
    const tide_view *view;
    const uint32_t *slots; /* [count] the list */
    uint32_t count;
    const uint32_t *targets; /* [target_count] positions in the list */
    uint32_t target_count;
    uint32_t near; /* neighbors per target; below `count` */
} tide_neighbor_query;

/* found[target_count][near] are positions in the list, the nearest first, and in the
 * order of the list for equal cosines. */
int tide_neighbors_find(const tide_neighbor_query *query, uint32_t *found,
                        tide_error *err);

/* The number of elements that two lists have in common. Neither has duplicates. Sorts
 * the lists. */
uint32_t tide_common_count(uint32_t *a, uint32_t *b, uint32_t count);

/* -- lists of words (snapshot.c) --------------------------------------------------- */

/* A vocabulary used as an index of a list of words. tide_index_add appends a word and
 * returns its position, or TIDE_NO_SLOT if it is already there. tide_index_find returns
 * the position, or TIDE_NO_SLOT if the word is not found. */
tide_vocabulary *tide_index_new(uint32_t capacity, tide_error *err);
uint32_t tide_index_add(tide_vocabulary *index, const char *word);
uint32_t tide_index_find(const tide_vocabulary *index, const char *word);

/* -- snapshots (snapshot.c) -------------------------------------------------------- */

enum { TIDE_NEAREST = 10 };

/* Some words and their unit vectors at one moment of training. */
typedef struct tide_snapshot {
    tide_vocabulary *index; /* its slots are the rows of the words */
    tide_matrix rows;       /* [count]; zero for a word that is not held */
    bool *held;             /* [count] */
    uint32_t count;
} tide_snapshot;

/* The words, all different, get the rows 0, 1, ... */
tide_snapshot *tide_snapshot_new(const tide_view *view, const char *const *words,
                                 uint32_t count, tide_error *err);
void tide_snapshot_free(tide_snapshot *snapshot);
const char *tide_snapshot_word(const tide_snapshot *snapshot, uint32_t row);

/* Finds the nearest of the first `word_count` rows to a row, the nearest first, without
 * the row itself and those that are not `allowed` (NULL: all are). Returns their
 * number. */
uint32_t tide_nearest_rows(const tide_matrix *rows, uint32_t row, uint32_t word_count,
                           const bool *allowed, uint32_t nearest[TIDE_NEAREST]);

typedef struct tide_comparison {
    const tide_snapshot *then, *now;
    uint32_t word_count; /* first words of `then`, which are aligned and searched */
    uint32_t frequent;   /* first words of these, which the result is about */
} tide_comparison;

/* `aligned` [word_count] gets the cosine of each word with itself after the rotation,
 * NAN if it is not held in both snapshots. It may be NULL. */
int tide_snapshot_compare(const tide_comparison *comparison, tide_stability *result,
                          float *aligned, tide_error *err);

/* -- word trainers (word_trainer.c) ------------------------------------------------ */

/* A trainer that is fed word by word. */
typedef struct tide_word_trainer tide_word_trainer;

tide_word_trainer *tide_word_trainer_new(const tide_params *params, tide_error *err);
void tide_word_trainer_free(tide_word_trainer *trainer);
void tide_word_trainer_add(tide_word_trainer *trainer, const tide_word *word);
void tide_word_trainer_end_sentence(tide_word_trainer *trainer);
void tide_word_trainer_stats(const tide_word_trainer *trainer, tide_stats *stats);

/* Ends the sentence, trains on everything added so far and returns the model. */
const tide_model *tide_word_trainer_drain(tide_word_trainer *trainer);

/* -- plans of change (drift_plan.c) ------------------------------------------------ */

/* How a word changes. */
typedef struct tide_word_change {
    tide_drift_event event;
    uint32_t other; /* number of the word that it turns into, or replaces */
    bool measured;  /* its vector is expected to follow */
} tide_word_change;

/* A text and the changes to be applied to it. */
typedef struct tide_drift_plan {
    uint64_t tokens;          /* of the text */
    uint64_t at, over, every; /* as in tide_drift_options, none of them 0 */
    const char **words; /* [unchanged + changing]; the unchanged by descending count */
    uint32_t unchanged;
    uint32_t changing;
    tide_word_change *changes; /* [changing] of words[unchanged + number] */
    tide_vocabulary *index;    /* its slots are the numbers of the changing words */
    char (*names)[TIDE_WORD_MAX + 1]; /* of new words */
    tide_counts *counts;              /* owns the other words */
    tide_rng rng;
} tide_drift_plan;

tide_drift_plan *tide_drift_plan_new(const tide_params *params,
                                     const tide_drift_options *options,
                                     tide_error *err);
void tide_drift_plan_free(tide_drift_plan *plan);

/* The word to use instead of `word`, which is token number `token` of the text. A word
 * of length 0 means that the token is deleted. */
tide_word tide_drift_plan_apply(tide_drift_plan *plan, const tide_word *word,
                                uint64_t token);

#endif
