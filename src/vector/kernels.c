/* kernels.c - the table of kernel sets, and the choice of one for this processor. */
#include "vector/vector.h"

extern const tide_kernels tide_kernels_baseline, tide_kernels_avx2, tide_kernels_avx512;

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

/* In increasing order of preference. */
static const struct {
    const tide_kernels *kernels;
    bool (*usable)(void);
} sets[] = {
    {&tide_kernels_baseline, always},
#if defined(__x86_64__)
    {&tide_kernels_avx2, has_avx2},
    {&tide_kernels_avx512, has_avx512},
#endif
};

enum { SETS = sizeof sets / sizeof sets[0] };

const tide_kernels *tide_kernels_at(size_t index, bool *usable)
{
    if (index >= SETS)
        return NULL;
    *usable = sets[index].usable();
    return sets[index].kernels;
}

const tide_kernels *tide_kernels_best(void)
{
    size_t best = SETS - 1;
    while (!sets[best].usable())
        best--;
    return sets[best].kernels;
}
