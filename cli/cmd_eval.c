/* cmd_eval.c - wordtide eval: runs its subcommands. */
#include "commands.h"
#include "eval.h"
#include "subcommands.h"

static const subcommand subcommands[] = {
    {"similarity", "correlation of cosines with human scores of word pairs",
     eval_similarity},
    {"analogy", "accuracy on questions: A is to B as C is to which word?",
     eval_analogy},
    {"counts", "counts of a model compared with exact counts of a text", eval_counts},
    {"agreement", "cosines and neighbors of two models compared", eval_agreement},
    {"trace", "train, and evaluate at regular steps", eval_trace},
    {"drift", "train on words that change, and measure how fast vectors follow",
     eval_drift},
    {"periods", "train, and compare every month with the one before", eval_periods},
    {0},
};

int cmd_eval(int argc, char **argv)
{
    return run_subcommand("Evaluates vectors and counts.", subcommands, argc, argv);
}
