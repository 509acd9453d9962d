/* rng.c - seeding, unbiased integers and normal deviates.
 *
 * The generator itself is inline in base.h: a counter that visits every 64-bit number
 * once, and one wide multiplication that mixes it. All seeds share the same cycle, so
 * seeding means choosing where on it to start.
 */
#include "base/base.h"

#include <math.h>

/* A bijection in which every bit of the seed affects every bit of the state: different
 * seeds start at different states, and neighboring seeds at unrelated ones. Each step
 * is invertible, since the multiplier is odd and x ^ (x >> 32) leaves the high half of
 * x unchanged. */
tide_rng tide_rng_seeded(uint64_t seed)
{
    uint64_t state = seed + 0x6a09e667f3bcc909u;
    for (int round = 0; round < 3; round++) {
        state ^= state >> 32;
        state *= 0xbb67ae8584caa73bu;
    }
    state ^= state >> 32;
    return (tide_rng){.state = state};
}

/* Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019.
 *
 * The high half of next * bound is in [0, bound). Each result is reached by either
 * floor(2^64 / bound) or one more values of next. Rejecting those whose low half is
 * below 2^64 mod bound leaves exactly floor(2^64 / bound) for each result. The division
 * is needed only if the low half is below bound, which is rare. */
uint64_t tide_rng_below(tide_rng *rng, uint64_t bound)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)tide_rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t surplus = -bound % bound; /* 2^64 mod bound */
        while ((uint64_t)product < surplus)
            product = (wide)tide_rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

/* Box and Muller, Annals of Mathematical Statistics 29(2), 1958. The sine of the pair
 * is discarded, so that the state remains one number. */
double tide_rng_normal(tide_rng *rng)
{
    double radius = sqrt(-2 * log(1 - tide_rng_double(rng))); /* 1 - u is never 0 */
    return radius * cos(2 * M_PI * tide_rng_double(rng));
}
