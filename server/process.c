/* process.c - the time, and the memory that this process has. */
#include "process.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double now_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double wall_seconds(void)
{
    return seconds_of(CLOCK_REALTIME);
}

double spent_seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

/* The second number of statm counts pages. */
uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*s %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
