/* memory.c - memory that is backed by pages from the start.
 *
 * The system reserves addresses first and provides pages later, when they are touched;
 * a program that relies on memory it has never touched can be killed in the middle of
 * its work. So every byte is written once, here, where a failure can still be reported.
 * Large blocks are aligned to huge pages and request them: rows are accessed at random,
 * and with 2 MiB pages the address translations of a whole matrix fit the TLB.
 */
#include "base/base.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    CACHE_LINE = 64,
    HUGE_PAGE = 2 << 20,
    LARGE = 4 << 20, /* from this size on the alignment costs little */
};

/* Best effort. The tail that does not fill a huge page gets small pages, so that no
 * memory beyond the requested size is used. */
static void request_huge_pages(char *block, size_t bytes)
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
        request_huge_pages(block, bytes);
    return memset(block, 0, bytes);
}
