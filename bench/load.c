/* load.c - sends queries at a constant rate, whether or not earlier ones have been answered.
 *
 *     load PORT RATE SECONDS < PATHS
 *
 * The n-th query is due n / RATE seconds after the first, and its latency counts from then: a server that
 * pauses for a second is charged for all the queries that came due meanwhile. They are sent round robin over
 * twenty persistent connections, each of which has one query at a time; a query that finds none free waits. A
 * single thread does everything, to take little from a machine that it shares with the server.
 *
 * Prints the numbers of answers and of failures, the median, 99th percentile and maximum of the latencies in
 * milliseconds, and the CPU seconds of this process.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 20, PATHS_MAX = 100000, BUFFER = 1 << 16 };
#define PATIENCE_SECONDS 10.0

typedef struct client {
    int fd;
    int waiting;  /* whether a query has been sent */
    size_t query; /* its number */
    size_t size;  /* of the answer so far */
    char buffer[BUFFER];
} client;

static struct {
    int port;
    double rate, begun;
    size_t queries, sent, done, path_count;
    char *paths[PATHS_MAX];
    double *latencies; /* seconds; negative: failed */
    client clients[CONNECTIONS];
    size_t next; /* connection to try first */
} load;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double due(size_t query)
{
    return load.begun + (double)query / load.rate;
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

static void finish(client *c, int good)
{
    if (!good)
        fprintf(stderr, "load: %s failed: %.*s\n",
                load.paths[c->query * 7919 % load.path_count],
                (int)strcspn(c->buffer, "\r\n"), c->buffer);
    load.latencies[c->query] = good ? now() - due(c->query) : -1;
    load.done++;
    c->waiting = 0;
    if (!good) {
        close(c->fd);
        c->fd = dial();
    }
}

static void send_query(client *c)
{
    const char *path = load.paths[load.sent * 7919 % load.path_count];
    int size =
        snprintf(c->buffer, BUFFER, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    load.next = (size_t)(c - load.clients) + 1;
    c->waiting = 1;
    c->query = load.sent++;
    c->size = 0;
    if (c->fd < 0 || write(c->fd, c->buffer, (size_t)size) != size)
        finish(c, 0);
}

/* Reads what has arrived of an answer. */
static void receive(client *c)
{
    ssize_t more = read(c->fd, c->buffer + c->size, BUFFER - 1 - c->size);
    if (more <= 0) {
        finish(c, 0);
        return;
    }
    c->size += (size_t)more;
    c->buffer[c->size] = 0;
    char *end = strstr(c->buffer, "\r\n\r\n");
    char *length = strcasestr(c->buffer, "content-length:");
    if (!end || !length)
        return;
    size_t whole = (size_t)(end - c->buffer) + 4 + strtoul(length + 15, NULL, 10);
    if (c->size >= whole)
        finish(c, !strncmp(c->buffer, "HTTP/1.1 200", 12));
}

/* Waits for an answer, or until the next query is due if one can be sent. */
static void wait_for_event(int can_send)
{
    struct pollfd fds[CONNECTIONS];
    client *waiting[CONNECTIONS];
    nfds_t count = 0;
    for (client *c = load.clients; c < load.clients + CONNECTIONS; c++)
        if (c->waiting) {
            waiting[count] = c;
            fds[count++] = (struct pollfd){.fd = c->fd, .events = POLLIN};
        }
    double left = can_send && load.sent < load.queries ? due(load.sent) - now() : 1;
    left = left > 0 ? left : 0;
    struct timespec most = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
    if (ppoll(fds, count, &most, NULL) <= 0)
        return;
    for (nfds_t i = 0; i < count; i++)
        if (fds[i].revents)
            receive(waiting[i]);
}

static void fail_late(void)
{
    for (client *c = load.clients; c < load.clients + CONNECTIONS; c++)
        if (c->waiting && now() - due(c->query) > PATIENCE_SECONDS)
            finish(c, 0);
}

static client *free_client(void)
{
    for (size_t i = 0; i < CONNECTIONS; i++) {
        client *c = &load.clients[(load.next + i) % CONNECTIONS];
        if (!c->waiting)
            return c;
    }
    return NULL;
}

static void send_all(void)
{
    while (load.done < load.queries) {
        client *c = free_client();
        while (c && load.sent < load.queries && due(load.sent) <= now()) {
            send_query(c);
            c = free_client();
        }
        wait_for_event(c != NULL);
        if (!c || load.sent == load.queries)
            fail_late();
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_all(void)
{
    size_t failed = 0;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    qsort(load.latencies, load.queries, sizeof *load.latencies, by_size);
    while (failed < load.queries && load.latencies[failed] < 0)
        failed++;
    size_t good = load.queries - failed;
    const double *sorted = load.latencies + failed;
    printf("%zu %zu", good, failed);
    if (good)
        printf(" %.2f %.2f %.2f", 1e3 * sorted[good / 2], 1e3 * sorted[good * 99 / 100],
               1e3 * sorted[good - 1]);
    else
        printf(" nan nan nan");
    printf(" %.3f\n",
           (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec));
}

int main(int argc, char **argv)
{
    char line[8192];
    if (argc != 4)
        return 2;
    load.port = atoi(argv[1]);
    load.rate = atof(argv[2]);
    load.queries = (size_t)(load.rate * atof(argv[3]));
    while (load.path_count < PATHS_MAX && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        load.paths[load.path_count++] = strdup(line);
    }
    load.latencies = calloc(load.queries, sizeof *load.latencies);
    if (!load.path_count || !load.latencies)
        return 1;
    for (int i = 0; i < CONNECTIONS; i++)
        load.clients[i].fd = dial();
    load.begun = now();
    send_all();
    print_all();
    return 0;
}
