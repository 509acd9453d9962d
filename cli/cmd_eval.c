/* cmd_eval.c - wordtide eval: finds what is to be judged and hands over. */
#include "commands.h"
#include "eval.h"
#include "family.h"

static const family_member evaluations[] = {
    {"similarity", "cosines against people's scores of word pairs", eval_similarity},
    {"analogy", "A is to B as C is to which word: how many are found", eval_analogy},
    {"counts", "counts of a model against the true ones of a text", eval_counts},
    {"agreement", "the cosines of two models, and whom they call near", eval_agreement},
    {"trace", "train, and judge along the way", eval_trace},
    {"drift", "train on words that change, and see how fast the vectors follow",
     eval_drift},
    {"periods", "train, and compare every month with the one before", eval_periods},
    {0},
};

int cmd_eval(int argc, char **argv)
{
    return family_run("Judges vectors and counts.", evaluations, argc, argv);
}
