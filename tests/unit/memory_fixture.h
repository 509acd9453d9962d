/* memory_fixture.h - allocations that fail on demand. Include it in one file only. */
#ifndef MEMORY_FIXTURE_H
#define MEMORY_FIXTURE_H

#include <errno.h>
#include <stdlib.h>

static size_t allocated_bytes;

/* How many allocations succeed before one fails; negative for no limit. */
static int allocations_left = -1;

/* tide_alloc calls this one instead of the system's. */
int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = NULL;
    if (allocations_left > 0)
        allocations_left--;
    else if (allocations_left == 0)
        return ENOMEM;
    __atomic_add_fetch(&allocated_bytes, size, __ATOMIC_RELAXED);
    *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    return *block ? 0 : ENOMEM;
}

#endif
