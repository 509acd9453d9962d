/* clock_fixture.h - measuring time, for tests of waits and timeouts. */
#ifndef TIDE_CLOCK_FIXTURE_H
#define TIDE_CLOCK_FIXTURE_H

#include <time.h>

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
