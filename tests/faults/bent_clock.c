/* bent_clock.c - clocks that a test decides on, for LD_PRELOAD.
 *
 * The clock that nobody sets counts the questions of the thread that asks: $TICK_MS milliseconds for each.
 * What a program does by that clock is then the same on every machine, however busy.
 *
 * The wall clock goes along with it, and from the tenth question on as $WALL_CLOCK says: `forth` or `back` by
 * ten years, `still`, or `wild`, which is forth and back with every question.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { JUMP = 10 }; /* questions */
static const long long year_ms = 365 * 86400000LL, start_ms = 50 * 365 * 86400000LL;

static _Thread_local long long questions, wall_questions;

static long long tick_ms(void)
{
    const char *tick = getenv("TICK_MS");
    return tick ? atoll(tick) : 1;
}

static long long wall_ms(void)
{
    const char *how = getenv("WALL_CLOCK");
    long long number = wall_questions++, time = start_ms + questions * tick_ms();
    if (!how || number < JUMP)
        return time;
    if (!strcmp(how, "still"))
        return start_ms;
    if (!strcmp(how, "forth") || (!strcmp(how, "wild") && number % 2))
        return time + 10 * year_ms;
    if (!strcmp(how, "back") || !strcmp(how, "wild"))
        return time - 10 * year_ms;
    return time;
}

static int give(long long ms, struct timespec *time)
{
    time->tv_sec = ms / 1000;
    time->tv_nsec = ms % 1000 * 1000000;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        return give(wall_ms(), time);
    if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
        return (int)syscall(SYS_clock_gettime, clock, time);
    return give(++questions * tick_ms(), time);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    (void)zone;
    long long ms = wall_ms();
    time->tv_sec = ms / 1000;
    time->tv_usec = ms % 1000 * 1000;
    return 0;
}

time_t time(time_t *place)
{
    time_t now = wall_ms() / 1000;
    if (place)
        *place = now;
    return now;
}
