/* test_available.c - available memory is the minimum over all limits. */
#include "../../server/memory.c"

#include <sys/stat.h>

#include "folder_fixture.h"

#define MIB (UINT64_C(1) << 20)

static void write_file(const char *path, const char *text)
{
    char name[256];
    snprintf(name, sizeof name, "root%s", path);
    for (char *slash = name; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void assert_available_mib(uint64_t mebibytes)
{
    assert_int_equal(available_under_root("root") / MIB, mebibytes);
}

static void available_memory_of_the_machine_is_a_limit(void **state)
{
    (void)state;
    assert_true(available_under_root("nowhere") > MIB << 32);
    write_file("/proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    2048000 kB\n");
    assert_available_mib(2000);
}

static void cgroups_v2_are_limits(void **state)
{
    (void)state;
    write_file("/proc/meminfo", "MemAvailable: 2048000 kB\n");
    write_file("/proc/self/cgroup", "0::/a/b\n");
    write_file("/sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_available_mib(2000);
    write_file("/sys/fs/cgroup/a/b/memory.max", "524288000\n");
    write_file("/sys/fs/cgroup/a/b/memory.current", "419430400\n");
    assert_available_mib(100);
    write_file("/sys/fs/cgroup/a/b/memory.stat", "anon 5\ninactive_file 209715200\n");
    assert_available_mib(300);
    write_file("/sys/fs/cgroup/a/memory.max", "104857600\n");
    write_file("/sys/fs/cgroup/a/memory.current", "94371840\n");
    assert_available_mib(10);
    write_file("/sys/fs/cgroup/memory.max", "1048576\n"); /* a container's own */
    assert_available_mib(1);
    write_file("/sys/fs/cgroup/memory.current", "9999999999\n");
    assert_available_mib(0);
}

static void cgroups_v1_are_limits(void **state)
{
    (void)state;
    write_file("/proc/self/cgroup",
               "5:cpu:/docker/x\n4:hugetlb,memory:/docker/x\n0::/\n");
    write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(available_under_root("root") > MIB << 32);
    write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "209715200\n");
    write_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "104857600\n");
    write_file("/sys/fs/cgroup/memory/memory.stat",
               "inactive_file 7\ntotal_inactive_file 52428800\n");
    assert_available_mib(150);
}

static void rlimits_of_the_process_are_limits(void **state)
{
    (void)state;
    const int kinds[] = {RLIMIT_AS, RLIMIT_DATA};
    const int used[] = {STATM_SIZE, STATM_DATA};
    for (int i = 0; i < 2; i++) {
        struct rlimit before, limit;
        uint64_t now[STATM_FIELDS];
        assert_int_equal(getrlimit((__rlimit_resource_t)kinds[i], &before), 0);
        read_statm(now);
        limit = (struct rlimit){now[used[i]] + 64 * MIB, before.rlim_max};
        assert_int_equal(setrlimit((__rlimit_resource_t)kinds[i], &limit), 0);
        uint64_t available = available_bytes();
        assert_int_equal(setrlimit((__rlimit_resource_t)kinds[i], &before), 0);
        assert_in_range(available, 32 * MIB, 64 * MIB);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(available_memory_of_the_machine_is_a_limit),
        IN_FOLDER(cgroups_v2_are_limits),
        IN_FOLDER(cgroups_v1_are_limits),
        IN_FOLDER(rlimits_of_the_process_are_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
