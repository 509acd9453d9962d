/* deadline.c - deadlines for timed waits. */
#include "base/base.h"

struct timespec tide_deadline(int64_t wait_ns)
{
    enum { SECOND = 1000000000 };
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += wait_ns / SECOND;
    deadline.tv_nsec += wait_ns % SECOND;
    deadline.tv_sec += deadline.tv_nsec / SECOND;
    deadline.tv_nsec %= SECOND;
    return deadline;
}
