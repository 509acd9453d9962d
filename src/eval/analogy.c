/* analogy.c */
#include "eval/eval.h"
