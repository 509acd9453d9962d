/* ema.h - moving averages of rates. Private. */
#ifndef TIDE_HISTORY_EMA_H
#define TIDE_HISTORY_EMA_H

#include "base/base.h"

/* What fades alike for all words. */
typedef struct tide_tempo {
    double span;    /* seconds */
    double seconds; /* faded sums */
    double tokens;
    double keep, fresh; /* what a sum keeps in this look, and an occurrence adds */
} tide_tempo;

void tide_tempo_advance(tide_tempo *tempo, double seconds, double tokens);
float tide_tempo_add(const tide_tempo *tempo, float sum, double occurrences);
double tide_tempo_rate(const tide_tempo *tempo, float sum);

#endif
