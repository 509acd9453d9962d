/* hash.c - XXH3, and a secret to seed it with. */
#include "base/base.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

uint64_t tide_hash(const void *bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

/* If the system has no random bytes (an old kernel, a sandbox, a machine that has just
 * booted), fall back to the clocks and the addresses of stack and code. They are hard
 * to guess remotely, which is enough against hash flooding. */
uint64_t tide_secret(void)
{
    uint64_t secret;
    if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) == (ssize_t)sizeof secret)
        return secret;
    struct timespec wall = {0}, since_boot = {0};
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &since_boot);
    const uint64_t parts[] = {
        (uint64_t)wall.tv_sec,        (uint64_t)wall.tv_nsec,
        (uint64_t)since_boot.tv_sec,  (uint64_t)since_boot.tv_nsec,
        (uint64_t)(uintptr_t)&secret, (uint64_t)(uintptr_t)&tide_secret,
        (uint64_t)getpid(),
    };
    return tide_hash(parts, sizeof parts, 0);
}
