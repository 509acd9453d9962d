/* history.h - how words were used and how that has changed. The public part is in
 * wordtide.h. */
#ifndef TIDE_HISTORY_H
#define TIDE_HISTORY_H

#include "base/base.h"

/* log2 of the observed against the expected count, with a prior added to both so that
 * chance alone has little effect (ema.c). */
double tide_trend(double seen, double expected);

#endif
