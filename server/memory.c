/* memory.c - how much memory is available: of the machine, and under the limits of the
 * process and its control groups. In a container the latter are what counts.
 */
#include "process.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The fields of statm: virtual size, resident size, ..., data and stack; in pages. */
enum { STATM_SIZE, STATM_DATA = 5, STATM_FIELDS };

enum { PATH_BYTES = 4096 };

static void read_statm(uint64_t bytes[STATM_FIELDS])
{
    FILE *file = fopen("/proc/self/statm", "r");
    for (int i = 0; i < STATM_FIELDS; i++) {
        unsigned long long pages = 0;
        if (file && fscanf(file, "%llu", &pages) != 1)
            pages = 0;
        bytes[i] = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    if (file)
        fclose(file);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t remaining(uint64_t limit, uint64_t used)
{
    return limit > used ? limit - used : 0;
}

/* Returns the number after the first line that begins with `name`, or the first number
 * of the file if that is ""; `fallback` if there is none. */
static uint64_t read_number(const char *path, const char *name, uint64_t fallback)
{
    char line[256];
    unsigned long long number;
    size_t size = strlen(name);
    uint64_t found = fallback;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, size) && sscanf(line + size, "%llu", &number) == 1) {
            found = number;
            break;
        }
    if (file)
        fclose(file);
    return found;
}

/* Limit, usage, and the file and line with the inactive page cache, which the kernel
 * drops when memory is needed; for cgroup v2 and v1. */
static const char *const group_files[2][4] = {
    {"memory.max", "memory.current", "memory.stat", "inactive_file "},
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat",
     "total_inactive_file "},
};

static uint64_t available_in_group(const char *directory, const char *const files[4])
{
    char path[PATH_BYTES + 64];
    uint64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        numbers[i] = read_number(path, i == 2 ? files[3] : "", i ? 0 : UINT64_MAX);
    }
    return numbers[0] == UINT64_MAX
               ? UINT64_MAX
               : remaining(numbers[0], remaining(numbers[1], numbers[2]));
}

/* Returns the minimum over a group and its ancestors, which have a limit each. In a
 * container the path may be that of the host and not exist; the group at the top is
 * then the container's. */
static uint64_t available_in_hierarchy(const char *top, const char *path,
                                       const char *const files[4])
{
    char directory[PATH_BYTES];
    size_t length = strlen(top);
    uint64_t available = UINT64_MAX;
    snprintf(directory, sizeof directory, "%s%s", top, path);
    for (;;) {
        available = min_u64(available, available_in_group(directory, files));
        char *slash = strrchr(directory, '/');
        if (strlen(directory) <= length || !slash)
            return available;
        *slash = 0;
    }
}

/* Lines of /proc/self/cgroup are NUMBER:CONTROLLERS:PATH; cgroup v2 has no
 * controllers. */
static uint64_t available_in_cgroups(const char *root)
{
    static const char *const tops[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
                                       "/sys/fs/cgroup/memory"};
    char line[PATH_BYTES], name[PATH_BYTES], top[PATH_BYTES];
    uint64_t available = UINT64_MAX;
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        bool v1 = strstr(controllers, "memory"), v2 = !controllers[1];
        for (size_t i = v1 ? 2 : 0; i < (v1 ? 3 : v2 ? 2 : 0); i++) {
            snprintf(top, sizeof top, "%s%s", root, tops[i]);
            available =
                min_u64(available, available_in_hierarchy(top, path, group_files[v1]));
        }
    }
    if (file)
        fclose(file);
    return available;
}

static uint64_t available_under_rlimit(int resource, uint64_t used)
{
    struct rlimit limit;
    bool bounded = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return bounded ? remaining(limit.rlim_cur, used) : UINT64_MAX;
}

static uint64_t available_under_root(const char *root)
{
    char name[PATH_BYTES];
    uint64_t used[STATM_FIELDS];
    read_statm(used);
    snprintf(name, sizeof name, "%s/proc/meminfo", root);
    uint64_t kilobytes = read_number(name, "MemAvailable:", UINT64_MAX >> 10);
    uint64_t available = min_u64(kilobytes << 10, available_in_cgroups(root));
    available = min_u64(available, available_under_rlimit(RLIMIT_AS, used[STATM_SIZE]));
    return min_u64(available, available_under_rlimit(RLIMIT_DATA, used[STATM_DATA]));
}

uint64_t available_bytes(void)
{
    return available_under_root("");
}
