/* similarity.c */
#include "eval/eval.h"
