/* eval.h - the things that `wordtide eval` does, one file each. argv[0] is what is
 * asked for, as in "eval similarity"; the result is the exit code. */
#ifndef EVAL_H
#define EVAL_H

#include "asking.h"
#include "table.h"

int eval_similarity(int argc, char **argv);
int eval_analogy(int argc, char **argv);
int eval_counts(int argc, char **argv);
int eval_agreement(int argc, char **argv);
int eval_trace(int argc, char **argv);
int eval_drift(int argc, char **argv);
int eval_periods(int argc, char **argv);

enum { SET_NAME = 256 };

/* What a list of pairs is called: the last part of its path without its ending, cut to the room there
 * is. Returns the name. */
const char *set_name(const char *path, char name[SET_NAME]);

/* The answers to a list of questions. */
typedef struct analogies {
    const char *path;
    tide_eval_options how;
    tide_analogy_result *sections; /* [count] released with free */
    size_t count;
    uint64_t bad_lines;
} analogies;

/* Asks the questions of the path; those asked before are forgotten. */
int analogies_find(analogies *r, const tide_view *space, tide_error *err);

/* The share answered right; not a number when nothing was asked. */
double analogies_accuracy(const analogies *r);

/* Two lines of options for commands that compare vectors; asking_open takes what they say. */
#define SPACE_OPTIONS(vectors, centered)                                               \
    {"vectors",      0,                                                                \
     OPTION_CHOICE,  &(vectors),                                                       \
     VECTOR_CHOICES, "which vectors to compare (default input)"},                      \
    {                                                                                  \
        "center", 0, OPTION_FLAG, &(centered), NULL,                                   \
            "subtract the mean vector of the frequent words first"                     \
    }

#endif
