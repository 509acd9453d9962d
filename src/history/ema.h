/* ema.h - exponential moving averages of rates. Private. */
#ifndef TIDE_HISTORY_EMA_H
#define TIDE_HISTORY_EMA_H

#include "base/base.h"

/* What decays alike for all words. */
typedef struct tide_ema {
    double span;    /* seconds */
    double seconds; /* decayed sums */
    double tokens;
    double decay;  /* of old sums in this update */
    double weight; /* of a new occurrence in this update */
} tide_ema;

/* Starts an update after `seconds` with this many new tokens. */
void tide_ema_advance(tide_ema *ema, double seconds, double tokens);

/* The sum of one word after the update. */
float tide_ema_add(const tide_ema *ema, float sum, double occurrences);

/* Occurrences per second. */
double tide_ema_rate(const tide_ema *ema, float sum);

#endif
