/* eval_counts.c - wordtide eval counts. */
#include "eval.h"

int eval_counts(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}
