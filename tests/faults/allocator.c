/* allocator.c - preloaded into a program: memory that runs out at one call.
 *
 *     $WORDTIDE_ALLOCATION   the number of the call that fails, from 1; 0 or none: no call fails
 *     $WORDTIDE_ALLOCATIONS  a file, written at the end: how many calls there were, and how many blocks were
 *                            not given back
 *
 * With a "+" behind the number all later calls fail too. The calls of all threads and libraries count;
 * those that come before this file is set up, which are those of the dynamic loader, do not.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#pragma GCC visibility push(default)

/* glibc's own names for its allocator: asking dlsym for it would allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static atomic_ullong calls;
static atomic_llong blocks;        /* that were not given back yet */
static unsigned long long failing; /* 0: none */
static bool for_ever;
static bool ready;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("WORDTIDE_ALLOCATION");
    char *rest = NULL;
    failing = text ? strtoull(text, &rest, 10) : 0;
    for_ever = rest && *rest == '+';
    ready = true;
}

__attribute__((destructor)) static void end(void)
{
    char text[64];
    const char *path = getenv("WORDTIDE_ALLOCATIONS");
    int size = snprintf(text, sizeof text, "%llu %lld\n", (unsigned long long)calls,
                        (long long)blocks);
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return;
    if (write(file, text, (size_t)size) != size)
        abort();
    close(file);
}

static bool fails(void)
{
    if (!ready)
        return false;
    unsigned long long call = atomic_fetch_add(&calls, 1) + 1;
    return failing && (call == failing || (for_ever && call > failing));
}

static void *given(void *block)
{
    if (block)
        atomic_fetch_add(&blocks, 1);
    else
        errno = ENOMEM;
    return block;
}

void *malloc(size_t size)
{
    return given(fails() ? NULL : __libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return given(fails() ? NULL : __libc_calloc(count, size));
}

void *memalign(size_t alignment, size_t size)
{
    return given(fails() ? NULL : __libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *found = memalign(alignment, size);
    if (!found)
        return ENOMEM;
    *block = found;
    return 0;
}

void free(void *block)
{
    if (block)
        atomic_fetch_sub(&blocks, 1);
    __libc_free(block);
}

void *realloc(void *block, size_t size)
{
    if (!block)
        return malloc(size);
    if (size)
        return fails() ? (errno = ENOMEM, NULL) : __libc_realloc(block, size);
    free(block);
    return NULL;
}
