/* agreement.c */
#include "eval/eval.h"
