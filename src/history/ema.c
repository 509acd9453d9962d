/* ema.c - how often words come now, and how often they used to.
 *
 * A rate is a sum of occurrences over a sum of seconds, both of which fade: what happened `span` seconds ago
 * counts 1/e. Seconds and tokens fade the same for all words, so a word needs its own sum only, and a rate is
 * right from the first second on, when there is little in either sum.
 *
 * Occurrences are told in lumps, once a look. A lump is taken as spread evenly over the seconds since the look before;
 * over a long pause it fades on the way, just as its seconds do.
 *
 * A trend is log2 of the occurrences in the short span against those that the long one lets expect,
 *
 *     log2((seen + 8) / (expected + 8)),   expected = long sum * short tokens / long tokens
 *
 * as shares of all tokens, so that a busy hour is no trend of every word. Without the 8 a word seen twice, where 0.1
 * was expected, would beat all others. With it the noise of a steady word is largest where 8 are expected: the
 * fading sum then varies by 2, and the trend by 0.2, whatever the frequency.
 */
#include "history/ema.h"

#include "history/history.h"

#include <math.h>

#define PRIOR 8.0
#define SECONDS_LEAST 1e-9 /* that a rate can be told of */

void tide_ema_advance(tide_ema *tempo, double seconds, double tokens)
{
    double x = seconds / tempo->span;
    tempo->keep = exp(-x);
    tempo->fresh = x > 0 ? -expm1(-x) / x : 1;
    tempo->seconds = tempo->seconds * tempo->keep + seconds * tempo->fresh;
    tempo->tokens = tempo->tokens * tempo->keep + tokens * tempo->fresh;
}

float tide_ema_add(const tide_ema *tempo, float sum, double occurrences)
{
    return (float)((double)sum * tempo->keep + occurrences * tempo->fresh);
}

double tide_ema_rate(const tide_ema *tempo, float sum)
{
    return tempo->seconds > SECONDS_LEAST ? (double)sum / tempo->seconds : 0;
}

double tide_trend(double seen, double expected)
{
    return log2((seen + PRIOR) / (expected + PRIOR));
}
