/* clock.c - monotonic time. */
#include "base/base.h"

double tide_now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int64_t tide_now_ms(void)
{
    return (int64_t)(1e3 * tide_now_seconds());
}
