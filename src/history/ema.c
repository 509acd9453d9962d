/* ema.c - exponential moving averages of word rates.
 *
 * A rate is a decayed sum of occurrences divided by a decayed sum of seconds: what
 * happened `span` seconds ago has the weight 1/e. Seconds and tokens decay alike for
 * all words, so a word needs only its own sum, and a rate is unbiased from the first
 * second on, when both sums are small.
 *
 * Occurrences are added once per update. They are treated as evenly spread over the
 * seconds since the previous update, so after a long gap the early ones have already
 * decayed, just as their seconds have.
 *
 * A trend is log2 of the occurrences in the short span over those expected from the
 * long one,
 *
 *     log2((seen + 8) / (expected + 8))
 *     expected = long sum * short tokens / long tokens
 *
 * as shares of all tokens, so that a busy hour is not a trend of every word. Without
 * the prior of 8 a word seen twice, where 0.1 was expected, would beat all others. With
 * it the noise of a steady word is largest where 8 are expected: the decayed sum then
 * has a standard deviation of 2, and the trend of 0.2, whatever the frequency.
 */
#include "history/ema.h"

#include "history/history.h"

#include <math.h>

#define PRIOR 8.0
#define SECONDS_MIN 1e-9 /* below this a rate is meaningless */

void tide_ema_advance(tide_ema *ema, double seconds, double tokens)
{
    double x = seconds / ema->span;
    ema->decay = exp(-x);
    ema->weight = x > 0 ? -expm1(-x) / x : 1;
    ema->seconds = ema->seconds * ema->decay + seconds * ema->weight;
    ema->tokens = ema->tokens * ema->decay + tokens * ema->weight;
}

float tide_ema_add(const tide_ema *ema, float sum, double occurrences)
{
    return (float)((double)sum * ema->decay + occurrences * ema->weight);
}

double tide_ema_rate(const tide_ema *ema, float sum)
{
    return ema->seconds > SECONDS_MIN ? (double)sum / ema->seconds : 0;
}

double tide_trend(double seen, double expected)
{
    return log2((seen + PRIOR) / (expected + PRIOR));
}
