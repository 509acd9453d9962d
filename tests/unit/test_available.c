/* test_available.c - how much memory may be taken is bounded by whatever bounds it most. */
#include "../../server/memory.c"

#include <sys/stat.h>

#include "folder_fixture.h"

#define MIB (UINT64_C(1) << 20)

static void put(const char *path, const char *text)
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

static void expect_mebibytes(uint64_t mebibytes)
{
    assert_int_equal(available_under_root("root") / MIB, mebibytes);
}

static void the_machine_bounds_it(void **state)
{
    (void)state;
    assert_true(available_under_root("nowhere") > MIB << 32);
    put("/proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    2048000 kB\n");
    expect_mebibytes(2000);
}

static void control_groups_of_version_2_bound_it(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemAvailable: 2048000 kB\n");
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    expect_mebibytes(2000);
    put("/sys/fs/cgroup/a/b/memory.max", "524288000\n");
    put("/sys/fs/cgroup/a/b/memory.current", "419430400\n");
    expect_mebibytes(100);
    put("/sys/fs/cgroup/a/b/memory.stat", "anon 5\ninactive_file 209715200\n");
    expect_mebibytes(300);
    put("/sys/fs/cgroup/a/memory.max", "104857600\n");
    put("/sys/fs/cgroup/a/memory.current", "94371840\n");
    expect_mebibytes(10);
    put("/sys/fs/cgroup/memory.max", "1048576\n"); /* a container's own */
    expect_mebibytes(1);
    put("/sys/fs/cgroup/memory.current", "9999999999\n");
    expect_mebibytes(0);
}

static void control_groups_of_version_1_bound_it(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "5:cpu:/docker/x\n4:hugetlb,memory:/docker/x\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(available_under_root("root") > MIB << 32);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "209715200\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "104857600\n");
    put("/sys/fs/cgroup/memory/memory.stat",
        "inactive_file 7\ntotal_inactive_file 52428800\n");
    expect_mebibytes(150);
}

static void limits_of_the_process_bound_it(void **state)
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
        IN_FOLDER(the_machine_bounds_it),
        IN_FOLDER(control_groups_of_version_2_bound_it),
        IN_FOLDER(control_groups_of_version_1_bound_it),
        IN_FOLDER(limits_of_the_process_bound_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
