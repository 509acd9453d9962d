/* load.c - questions at a fixed rate, whether or not earlier ones have been answered.
 *
 *     load PORT RATE SECONDS < PATHS
 *
 * The n-th question is due n / RATE seconds after the first, and its latency counts from then on: a server that
 * stops for a second is charged with all the questions that came due meanwhile. Some tens of threads take the
 * questions in turn, each with a connection of its own that it keeps. Prints the numbers of answers and of failures,
 * and the latencies at the median, at 99 % and at the most, in milliseconds.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 48, PATHS_MAX = 100000, BUFFER = 1 << 16 };

static struct {
    int port;
    double rate, begun;
    size_t questions, path_count;
    char *paths[PATHS_MAX];
    double *latencies; /* seconds; negative: failed */
    _Atomic size_t next;
} load;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int dial(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)load.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Reads one answer to its end. */
static int answered(int fd, char *buffer)
{
    size_t size = 0, whole = 0;
    do {
        ssize_t more = read(fd, buffer + size, BUFFER - 1 - size);
        if (more <= 0)
            return 0;
        size += (size_t)more;
        buffer[size] = 0;
        char *end = strstr(buffer, "\r\n\r\n");
        char *length = strcasestr(buffer, "content-length:");
        if (end && length)
            whole = (size_t)(end - buffer) + 4 + strtoul(length + 15, NULL, 10);
    } while (!whole || size < whole);
    return !strncmp(buffer, "HTTP/1.1 200", 12);
}

static int ask(int fd, size_t number, char *buffer)
{
    const char *path = load.paths[number * 7919 % load.path_count];
    int size =
        snprintf(buffer, BUFFER, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    return write(fd, buffer, (size_t)size) == size && answered(fd, buffer);
}

static void wait_until(double due)
{
    double left = due - now();
    struct timespec time = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
    if (left > 0)
        nanosleep(&time, NULL);
}

static void *work(void *unused)
{
    (void)unused;
    char *buffer = malloc(BUFFER);
    int fd = dial();
    for (size_t n; (n = load.next++) < load.questions;) {
        double due = load.begun + (double)n / load.rate;
        wait_until(due);
        int good = fd >= 0 && ask(fd, n, buffer);
        load.latencies[n] = good ? now() - due : -1;
        if (!good) {
            close(fd);
            fd = dial();
        }
    }
    close(fd);
    free(buffer);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_all(void)
{
    size_t failed = 0;
    qsort(load.latencies, load.questions, sizeof *load.latencies, by_size);
    while (failed < load.questions && load.latencies[failed] < 0)
        failed++;
    size_t good = load.questions - failed;
    const double *sorted = load.latencies + failed;
    printf("%zu %zu", good, failed);
    if (good)
        printf(" %.2f %.2f %.2f", 1e3 * sorted[good / 2], 1e3 * sorted[good * 99 / 100],
               1e3 * sorted[good - 1]);
    printf("\n");
}

int main(int argc, char **argv)
{
    char line[8192];
    if (argc != 4)
        return 2;
    load.port = atoi(argv[1]);
    load.rate = atof(argv[2]);
    load.questions = (size_t)(load.rate * atof(argv[3]));
    while (load.path_count < PATHS_MAX && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        load.paths[load.path_count++] = strdup(line);
    }
    load.latencies = calloc(load.questions, sizeof *load.latencies);
    if (!load.path_count || !load.latencies)
        return 1;
    pthread_t threads[THREADS];
    load.begun = now() + 0.1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    print_all();
    return 0;
}
