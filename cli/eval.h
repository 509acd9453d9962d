/* eval.h - the subcommands of `wordtide eval`, one file each, and what they share.
 * argv[0] is the full name, as in "eval similarity"; the result is the exit code. */
#ifndef EVAL_H
#define EVAL_H

#include "query_common.h"
#include "table.h"

#include <wordtide/eval.h>

int eval_similarity(int argc, char **argv);
int eval_analogy(int argc, char **argv);
int eval_counts(int argc, char **argv);
int eval_agreement(int argc, char **argv);
int eval_trace(int argc, char **argv);
int eval_drift(int argc, char **argv);
int eval_periods(int argc, char **argv);

enum { SET_NAME_SIZE = 256 };

/* The name of a list of word pairs: its file name without the suffix, truncated to the
 * size of `name`. Returns `name`. */
const char *set_name(const char *path, char name[SET_NAME_SIZE]);

/* A list of analogy questions and its results. */
typedef struct analogies {
    const char *path;
    tide_eval_options options;
    tide_analogy_result *sections; /* [count] released with free */
    size_t count;
    uint64_t bad_lines;
} analogies;

/* Answers the questions; earlier results are released. */
int analogies_evaluate(analogies *r, const tide_view *view, tide_error *err);

/* The share of correct answers; NaN if no question was asked. */
double analogies_accuracy(const analogies *r);

/* Two options of commands that do not center vectors by default. */
#define VIEW_OPTIONS(vectors, centered)                                                \
    {"vectors",      0,                                                                \
     OPTION_CHOICE,  &(vectors),                                                       \
     VECTOR_CHOICES, "which vectors to compare (default input)"},                      \
    {                                                                                  \
        "center", 0, OPTION_FLAG, &(centered), NULL,                                   \
            "first subtract the mean vector of the frequent words"                     \
    }

#endif
