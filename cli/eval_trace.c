/* eval_trace.c - wordtide eval trace. */
#include "eval.h"

int eval_trace(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}
