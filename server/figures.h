/* figures.h - what is counted and measured about a running server. Private. */
#ifndef SERVER_FIGURES_H
#define SERVER_FIGURES_H

#include "http.h"

enum { MEMORY_PARTS_MAX = TIDE_PARTS_MAX + 1 }; /* an export's, while there is one */
enum { BUCKETS = 8, ROUTES_MAX = 64, CLASSES = 4 }; /* of status: 2xx to 5xx */

typedef struct latencies {
    uint64_t count, buckets[BUCKETS];
    double seconds;
} latencies;

/* Counts at a tick. Rates are over as many ticks as there are samples. */
typedef struct rate_sample {
    double time; /* monotonic */
    uint64_t tokens, admitted, evicted;
} rate_sample;

enum { RATE_SAMPLES = 5 };

struct figures {
    const server_options *options;
    double started; /* since 1970 */
    tide_part parts[TIDE_PARTS_MAX];
    int part_count;
    _Atomic double
        alive; /* monotonic: the last sign of life of the thread that learns */

    pthread_mutex_t lock; /* of the rest; never held over a wait for the disk */
    tide_stats stats;
    rate_sample past[RATE_SAMPLES];
    uint64_t
        sampled; /* so many in all; the latest is at (sampled - 1) % RATE_SAMPLES */
    double words_rate, admitted_rate, evicted_rate;
    uint64_t refused;
    uint64_t alarms[TIDE_ALARM_KINDS];
    uint64_t export_bytes;
    bool saving, has_checkpoint;
    double checkpoint_time;
    double pause, safe_after;
    uint64_t checkpoint_bytes, failures;
    char failure[256];         /* of the last; empty when it went well */
    char history_failure[256]; /* the same of the history's file */
    latencies requests[ROUTES_MAX][CLASSES];
};

extern const double figures_bounds[BUCKETS]; /* of the buckets; the last is infinite */

/* What memory is for, by part; returns how many parts. */
int figures_memory(const figures *f, tide_part parts[MEMORY_PARTS_MAX]);

#endif
