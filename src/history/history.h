/* history.h - what words were and what has become of them. The public part is in wordtide.h. */
#ifndef TIDE_HISTORY_H
#define TIDE_HISTORY_H

#include "base/base.h"

/* log2 of what was seen against what was expected, with as many occurrences added to both sides that chance alone
 * makes little of it (ema.c). */
double tide_trend(double seen, double expected);

#endif
