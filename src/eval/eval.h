/* eval.h - judging models: against people's scores, exact counts, other models, and change. The
 * public part is in wordtide.h. */
#ifndef TIDE_EVAL_H
#define TIDE_EVAL_H

#include "model/model.h"
#include "params/params.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <wordtide/eval.h>

/* -- statistics (statistics.c) --------------------------------------------------------------------- */

/* Correlations of two lists of numbers, all finite and below 1e150; NAN when one of them does not vary. */
double tide_pearson(const double *x, const double *y, size_t count);
int tide_spearman(const double *x, const double *y, size_t count, double *rho,
                  tide_error *err);

/* -- neighbors (neighbors.c) ---------------------------------------------------------------------- */

/* For some of the words of a list: which others are the nearest? */
typedef struct tide_near_question {
    const tide_view *space;
    const uint32_t *slots; /* [count] the list */
    uint32_t count;
    const uint32_t *asked; /* [asked_count] their places in the list */
    uint32_t asked_count;
    uint32_t near; /* how many; below `count` */
} tide_near_question;

/* found[asked_count][near] are places in the list, the nearest first; of equals, the one that stands
 * first. */
int tide_near_find(const tide_near_question *question, uint32_t *found,
                   tide_error *err);

/* How many numbers two lists share, each of which has no number twice. Sorts them. */
uint32_t tide_common_count(uint32_t *a, uint32_t *b, uint32_t count);

/* -- lists of words (snapshot.c) -------------------------------------------------------------------- */

/* A vocabulary as the index of a list: a word is added at its end, and found by its place. TIDE_NO_SLOT
 * when it was there before, or is not there. */
tide_vocabulary *tide_index_new(uint32_t room, tide_error *err);
uint32_t tide_index_add(tide_vocabulary *index, const char *word);
uint32_t tide_index_find(const tide_vocabulary *index, const char *word);

/* -- snapshots (snapshot.c) ------------------------------------------------------------------------- */

enum { TIDE_NEAREST = 10 };

/* Some words and their unit vectors at one moment of training. */
typedef struct tide_snapshot {
    tide_vocabulary *index; /* its slots are the places of the words */
    tide_matrix rows;       /* [count] by place; zero for a word that is not held */
    bool *held;             /* [count] */
    uint32_t count;
} tide_snapshot;

/* The words, all different, have the places 0, 1, ... */
tide_snapshot *tide_snapshot_new(const tide_view *space, const char *const *words,
                                 uint32_t count, tide_error *err);
void tide_snapshot_free(tide_snapshot *snapshot);
const char *tide_snapshot_word(const tide_snapshot *snapshot, uint32_t place);

/* Of the rows before `among`, those nearest to a row, itself and those that are not `allowed` (NULL
 * for all) left out; the nearest first. Returns how many. */
uint32_t tide_nearest_rows(const tide_matrix *rows, uint32_t row, uint32_t among,
                           const bool *allowed, uint32_t nearest[TIDE_NEAREST]);

typedef struct tide_comparison {
    const tide_snapshot *then, *now;
    uint32_t among;    /* the so many first words of `then` are aligned and searched */
    uint32_t frequent; /* and the so many first are what the result is about */
} tide_comparison;

/* `aligned` [among] gets the cosine of each word with itself after the rotation, NAN where one of the
 * snapshots lacks it; it may be NULL. */
int tide_snapshot_compare(const tide_comparison *comparison, tide_stability *result,
                          float *aligned, tide_error *err);

/* -- pupils (word_trainer.c) -------------------------------------------------------------------------------- */

/* A trainer that is told one word after the other. */
typedef struct tide_word_trainer tide_word_trainer;

tide_word_trainer *tide_word_trainer_new(const tide_params *params, tide_error *err);
void tide_word_trainer_free(tide_word_trainer *pupil);
void tide_word_trainer_add(tide_word_trainer *pupil, const tide_word *word);
void tide_word_trainer_end_sentence(tide_word_trainer *pupil);
void tide_word_trainer_stats(const tide_word_trainer *pupil, tide_stats *stats);

/* Learns all it has heard, the sentence ending here, and shows what it knows. */
const tide_model *tide_word_trainer_drain(tide_word_trainer *pupil);

/* -- plans of change (drift_plan.c) ------------------------------------------------------------------ */

/* What becomes of a word. */
typedef struct tide_change {
    tide_drift_event event;
    uint32_t other; /* number of the word that it becomes, or whose place it takes */
    bool judged;    /* it must follow, and not only make room for another */
} tide_change;

/* A text, and what is going to happen in it. */
typedef struct tide_drift_plan {
    uint64_t tokens;          /* of the text */
    uint64_t at, over, every; /* as in tide_drift_options, none of them 0 */
    const char **words; /* [unchanged + changing] the unchanged by falling count */
    uint32_t unchanged;
    uint32_t changing;
    tide_change *changes;   /* [changing] of words[unchanged + number] */
    tide_vocabulary *index; /* its slots are the numbers of the changing words */
    char (*names)[TIDE_WORD_MAX + 1]; /* of new words */
    tide_counts *counts;              /* what the other words are borrowed from */
    tide_rng rng;
} tide_drift_plan;

tide_drift_plan *tide_drift_plan_new(const tide_params *params,
                                     const tide_drift_options *options,
                                     tide_error *err);
void tide_drift_plan_free(tide_drift_plan *plan);

/* What comes in place of the word that is token number `token` of the text. A word of length 0 stands
 * for none. */
tide_word tide_drift_plan_apply(tide_drift_plan *plan, const tide_word *word,
                                uint64_t token);

#endif
