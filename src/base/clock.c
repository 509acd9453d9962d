/* clock.c - clocks. Unit tests that control the time replace this file. */
#include "base/base.h"

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double tide_now_seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t tide_now_ms(void)
{
    return (int64_t)(1e3 * tide_now_seconds());
}

double tide_wall_seconds(void)
{
    return read_clock(CLOCK_REALTIME);
}

double tide_cpu_seconds(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
