/* eval_drift.c - wordtide eval drift. */
#include "eval.h"

int eval_drift(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}
