/* ema.h - moving averages of rates. Private. */
#ifndef TIDE_HISTORY_EMA_H
#define TIDE_HISTORY_EMA_H

#include "base/base.h"

/* What fades alike for all words. */
typedef struct tide_ema {
    double span;    /* seconds */
    double seconds; /* faded sums */
    double tokens;
    double keep, fresh; /* what a sum keeps in this look, and an occurrence adds */
} tide_ema;

void tide_ema_advance(tide_ema *tempo, double seconds, double tokens);
float tide_ema_add(const tide_ema *tempo, float sum, double occurrences);
double tide_ema_rate(const tide_ema *tempo, float sum);

#endif
