/* statistics.c */
#include "eval/eval.h"
