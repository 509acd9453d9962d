/* drift.c */
#include "eval/eval.h"
