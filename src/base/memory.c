/* memory.c - memory that is there when it is given out.
 *
 * The system hands out addresses first and pages later, when they are touched; a
 * program that counts on memory it never touched can be killed in the middle of its
 * work. So everything is written to once, here, where a failure can still be reported.
 * Large blocks begin on a huge page and ask for such pages: rows are visited at random,
 * and with 2 MiB pages the address translations of a whole matrix fit the processor's
 * table.
 */
#include "base/base.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    CACHE_LINE = 64,
    HUGE_PAGE = 2 << 20,
    LARGE = 4 << 20, /* from this size on the rounding costs little */
};

/* A wish: all works without it. The last page would be larger than what is left for it, and so the end gets small
 * ones: memory is no more than was asked for. */
static void ask_for_huge_pages(char *block, size_t bytes)
{
    size_t end = bytes % HUGE_PAGE;
    (void)madvise(block, bytes - end, MADV_HUGEPAGE);
    if (end)
        (void)madvise(block + bytes - end, end, MADV_NOHUGEPAGE);
}

void *tide_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    if (bytes == 0)
        bytes = 1;
    void *block;
    if (posix_memalign(&block, bytes >= LARGE ? HUGE_PAGE : CACHE_LINE, bytes) != 0)
        return NULL;
    if (bytes >= LARGE)
        ask_for_huge_pages(block, bytes);
    return memset(block, 0, bytes);
}
