/* deadline.c - until when to wait for something. */
#include "base/base.h"

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
