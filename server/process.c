/* process.c - resident memory and file descriptors of this process. */
#include "process.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* The second number in statm is the resident size in pages. */
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

/* -- file descriptors -------------------------------------------------------------- */

void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

size_t open_descriptors(size_t *allowed)
{
    struct rlimit limit;
    size_t count = 0;
    *allowed = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (size_t)limit.rlim_cur : 1024;
    DIR *open = opendir("/proc/self/fd");
    for (; open && readdir(open); count++)
        ;
    if (open)
        closedir(open);
    return count;
}
