/* memory.c - how much memory may be taken: of the machine, and under the limits of the process and of the control
 * groups that it is in. In a container the machine's is not what counts.
 */
#include "process.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of statm, in pages: the whole size, what is resident, ... and data with the stack. */
enum { STATM_SIZE, STATM_DATA = 5, STATM_NUMBERS };

enum { PATH_ROOM = 4096 };

static void read_statm(uint64_t bytes[STATM_NUMBERS])
{
    FILE *file = fopen("/proc/self/statm", "r");
    for (int i = 0; i < STATM_NUMBERS; i++) {
        unsigned long long pages = 0;
        if (file && fscanf(file, "%llu", &pages) != 1)
            pages = 0;
        bytes[i] = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    if (file)
        fclose(file);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t room(uint64_t limit, uint64_t used)
{
    return limit > used ? limit - used : 0;
}

/* The number behind a name at the beginning of a line, or of the whole file with the name ""; `otherwise` without. */
static uint64_t number_in(const char *path, const char *name, uint64_t otherwise)
{
    char line[256];
    unsigned long long number;
    size_t size = strlen(name);
    uint64_t found = otherwise;
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

/* Of version 2 and version 1. Pages of files that nobody has used lately go when memory is wanted. */
static const char *const group_files[2][4] = {
    {"memory.max", "memory.current", "memory.stat", "inactive_file "},
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat",
     "total_inactive_file "},
};

static uint64_t room_in_group(const char *folder, const char *const files[4])
{
    char path[PATH_ROOM + 64];
    uint64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        numbers[i] = number_in(path, i == 2 ? files[3] : "", i ? 0 : UINT64_MAX);
    }
    return numbers[0] == UINT64_MAX ? UINT64_MAX
                                    : room(numbers[0], room(numbers[1], numbers[2]));
}

/* A group and all that it is in have a limit each. In a container the path may be one of outside; then what is at the
 * top is the container's. */
static uint64_t room_in_groups(const char *top, const char *path,
                               const char *const files[4])
{
    char folder[PATH_ROOM];
    size_t length = strlen(top);
    uint64_t most = UINT64_MAX;
    snprintf(folder, sizeof folder, "%s%s", top, path);
    for (;;) {
        most = least(most, room_in_group(folder, files));
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= length || !slash)
            return most;
        *slash = 0;
    }
}

/* Lines of cgroup are NUMBER:CONTROLLERS:PATH; version 2 has no controllers. */
static uint64_t room_in_cgroups(const char *root)
{
    static const char *const tops[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
                                       "/sys/fs/cgroup/memory"};
    char line[PATH_ROOM], name[PATH_ROOM], top[PATH_ROOM];
    uint64_t most = UINT64_MAX;
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        bool first = strstr(controllers, "memory"), second = !controllers[1];
        for (size_t i = first ? 2 : 0; i < (first ? 3 : second ? 2 : 0); i++) {
            snprintf(top, sizeof top, "%s%s", root, tops[i]);
            most = least(most, room_in_groups(top, path, group_files[first]));
        }
    }
    if (file)
        fclose(file);
    return most;
}

static uint64_t room_under(int resource, uint64_t used)
{
    struct rlimit limit;
    bool bounded = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return bounded ? room(limit.rlim_cur, used) : UINT64_MAX;
}

static uint64_t available_under(const char *root)
{
    char name[PATH_ROOM];
    uint64_t used[STATM_NUMBERS];
    read_statm(used);
    snprintf(name, sizeof name, "%s/proc/meminfo", root);
    uint64_t kilobytes = number_in(name, "MemAvailable:", UINT64_MAX >> 10);
    uint64_t most = least(kilobytes << 10, room_in_cgroups(root));
    most = least(most, room_under(RLIMIT_AS, used[STATM_SIZE]));
    return least(most, room_under(RLIMIT_DATA, used[STATM_DATA]));
}

uint64_t available_bytes(void)
{
    return available_under("");
}
