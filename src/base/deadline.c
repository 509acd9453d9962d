/* deadline.c - deadlines for timed waits. */
#include "base/base.h"

struct timespec tide_deadline(int wait_ms)
{
    enum { SECOND = 1000000000 };
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += wait_ms / 1000;
    deadline.tv_nsec += wait_ms % 1000 * 1000000L;
    deadline.tv_sec += deadline.tv_nsec / SECOND;
    deadline.tv_nsec %= SECOND;
    return deadline;
}
