/* eval_analogy.c - wordtide eval analogy. */
#include "eval.h"

int eval_analogy(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}
