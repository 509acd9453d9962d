/* counts_error.c */
#include "eval/eval.h"
