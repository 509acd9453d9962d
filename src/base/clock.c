/* clock.c - time since some moment, on a clock that nobody sets. */
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

struct timespec tide_deadline(int wait_ms)
{
    enum { SECOND = 1000000000 };
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    moment.tv_sec += wait_ms / 1000;
    moment.tv_nsec += wait_ms % 1000 * 1000000L;
    moment.tv_sec += moment.tv_nsec / SECOND;
    moment.tv_nsec %= SECOND;
    return moment;
}
