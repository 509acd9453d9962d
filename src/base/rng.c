/* rng.c - seeding, unbiased integers and normal deviates.
 *
 * The generator itself is inline in base.h: a counter that visits every 64-bit number
 * once, and one wide multiplication that mixes it. All seeds walk the same circle, so
 * seeding means choosing where on it to begin.
 */
#include "base/base.h"

#include <math.h>

/* A bijection in which every bit of the seed reaches every bit of the place: different
 * seeds begin at different places, and neighboring seeds at unrelated ones. Each step
 * can be undone, for the multipliers are odd and a number xor itself shifted right by
 * half its width or more gives its high half away. */
tide_rng tide_rng_seeded(uint64_t seed)
{
    uint64_t place = seed + 0x6a09e667f3bcc909u;
    for (int round = 0; round < 3; round++) {
        place ^= place >> 32;
        place *= 0xbb67ae8584caa73bu;
    }
    place ^= place >> 32;
    return (tide_rng){.state = place};
}

/* Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019.
 *
 * The high half of next * bound is in [0, bound). Each result is reached by either
 * floor(2^64 / bound) or one more values of next. The surplus is told by the low half:
 * it is below 2^64 mod bound exactly once for each result, and then we draw again. The
 * division happens only when the low half is below bound, which it hardly ever is. */
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
 * is thrown away, so that the state stays one number. */
double tide_rng_normal(tide_rng *rng)
{
    double radius = sqrt(-2 * log(1 - tide_rng_double(rng))); /* 1 - u is never 0 */
    return radius * cos(2 * M_PI * tide_rng_double(rng));
}
