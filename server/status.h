/* status.h - counters, rates and health of a running server. Private. */
#ifndef SERVER_STATUS_H
#define SERVER_STATUS_H

#include "request.h"

#include <jansson.h>
#include <pthread.h>

enum {
    MEMORY_PARTS_MAX = TIDE_PARTS_MAX + 1, /* and the memory of an export */
    LATENCY_BUCKETS = 8,
    ROUTES_MAX = 64,
    STATUS_CLASSES = 4, /* 2xx to 5xx */
    RATE_SAMPLES = 5,
};

/* The histogram of the time to answer. */
typedef struct latencies {
    uint64_t count, buckets[LATENCY_BUCKETS];
    double seconds;
} latencies;

extern const double latency_bounds[LATENCY_BUCKETS]; /* seconds; the last is infinite */

/* Counters at one tick. Rates are over the last RATE_SAMPLES ticks. */
typedef struct rate_sample {
    double time; /* monotonic */
    uint64_t tokens, admitted, evicted;
} rate_sample;

typedef struct server_status {
    const server_options *options;
    double start_time; /* wall clock */
    tide_part parts[TIDE_PARTS_MAX];
    int part_count;
    _Atomic double heartbeat; /* of the training thread; monotonic */

    pthread_mutex_t lock; /* protects what follows; never held during disk I/O */
    tide_stats stats;
    rate_sample samples[RATE_SAMPLES]; /* a ring; sample n is at n % RATE_SAMPLES */
    uint64_t sample_count;             /* ever taken */
    double tokens_rate, admitted_rate, evicted_rate; /* per second */
    uint64_t rejected_bytes;
    uint64_t alarms[TIDE_ALARM_KINDS];
    uint64_t export_bytes;
    bool saving, has_checkpoint;
    double checkpoint_time; /* wall clock */
    double checkpoint_pause, checkpoint_seconds;
    uint64_t checkpoint_bytes, save_failures;
    char checkpoint_error[256]; /* of the last checkpoint; "" if it succeeded */
    char history_error[256];    /* of the last save of the history */
    latencies requests[ROUTES_MAX][STATUS_CLASSES];
} server_status;

server_status *status_new(const server_options *options);
void status_free(server_status *st);

/* The memory budget of the process by part. Returns the number of parts. */
int status_budget(const server_status *st, tide_part parts[TIDE_PARTS_MAX]);

/* The same including an export that is in progress. The lock is held. */
int status_memory_parts(const server_status *st, tide_part parts[MEMORY_PARTS_MAX]);

void status_sample(server_status *st); /* updates the rates; every second */

/* Called by the training thread about ten times per second. */
void status_heartbeat(server_status *st, bool saving);

/* What happened. */
void status_record_checkpoint(server_status *st, const tide_checkpoint *checkpoint);
void status_record_history_save(server_status *st, const char *error); /* or NULL */
void status_record_request(server_status *st, const request *r);
void status_count_rejected(server_status *st, uint64_t bytes);
void status_count_alarm(server_status *st, tide_alarm_kind kind);
void status_set_export(server_status *st, uint64_t bytes); /* of its copy; 0: none */

json_t *status_json(server_status *st);
char *status_metrics(server_status *st, size_t *size); /* Prometheus text; free() it */

/* Whether the training thread has not reported for a while. */
bool status_is_stuck(const server_status *st);

/* Whether the last save failed, with the error in `why`. */
bool status_is_degraded(server_status *st, char *why, size_t why_size);

#endif
