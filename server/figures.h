/* figures.h - what is counted and measured about a running server. Private. */
#ifndef SERVER_FIGURES_H
#define SERVER_FIGURES_H

#include "http.h"

enum { BUCKETS = 8, ROUTES_MAX = 64, CLASSES = 4 }; /* of status: 2xx to 5xx */

typedef struct latencies {
    uint64_t count, buckets[BUCKETS];
    double seconds;
} latencies;

struct figures {
    const server_options *options;
    double started; /* since 1970 */
    tide_part parts[TIDE_PARTS_MAX];
    int part_count;

    pthread_mutex_t lock; /* of the rest */
    tide_stats stats;
    double ticked; /* monotonic */
    double words_rate, admitted_rate, evicted_rate;
    unsigned idle; /* seconds without a sign of life from who learns */
    uint64_t refused;
    uint64_t alarms[TIDE_ALARM_KINDS];
    bool has_checkpoint;
    double checkpoint_time;
    double pause, safe_after;
    uint64_t checkpoint_bytes, failures;
    char failure[256]; /* of the last; empty when it went well */
    latencies requests[ROUTES_MAX][CLASSES];
};

extern const double figures_bounds[BUCKETS]; /* of the buckets; the last is infinite */

#endif
