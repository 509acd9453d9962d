/* cmd_eval.c - wordtide eval: finds what is to be judged and hands over. */
#include "commands.h"
#include "eval.h"
#include "options.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

typedef struct evaluation {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} evaluation;

static const evaluation evaluations[] = {
    {"similarity", "cosines against people's scores of word pairs", eval_similarity},
    {"analogy", "A is to B as C is to which word: how many are found", eval_analogy},
    {"counts", "counts of a model against the true ones of a text", eval_counts},
    {"agreement", "the cosines of two models, and whom they call near", eval_agreement},
    {"trace", "train, and judge along the way", eval_trace},
    {"drift", "train on words that change, and see how fast the vectors follow",
     eval_drift},
    {"periods", "train, and compare every month with the one before", eval_periods},
};
enum { EVALUATIONS = sizeof evaluations / sizeof *evaluations };

static int print_overview(void)
{
    printf("usage: wordtide eval WHAT [OPTION]... [ARGUMENT]...\n\n"
           "Judges vectors and counts.\n\n");
    for (size_t i = 0; i < EVALUATIONS; i++)
        printf("  %-14s%s\n", evaluations[i].name, evaluations[i].summary);
    printf("\n'wordtide eval WHAT --help' tells all about one of them.\n");
    return finish_output(EXIT_SUCCESS);
}

int cmd_eval(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return argc < 2 ? (print_overview(), EXIT_USAGE) : print_overview();
    for (size_t i = 0; i < EVALUATIONS; i++)
        if (!strcmp(argv[1], evaluations[i].name))
            return evaluations[i].run(argc - 1, argv + 1);
    usage_error("eval", "nothing is called '%s' here", argv[1]);
}
