/* eval.h - judging models: against people's scores, exact counts, other models, and change. The
 * public part is in wordtide.h. */
#ifndef TIDE_EVAL_H
#define TIDE_EVAL_H

#include "train/train.h"

#endif
