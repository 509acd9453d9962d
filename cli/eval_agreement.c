/* eval_agreement.c - wordtide eval agreement. */
#include "eval.h"

int eval_agreement(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}
