/* server_internal.h - the state that the components of the server share. Private. */
#ifndef SERVER_INTERNAL_H
#define SERVER_INTERNAL_H

#include "auth.h"
#include "body.h"
#include "connections.h"
#include "events.h"
#include "export.h"
#include "line_store.h"
#include "search_batcher.h"
#include "server.h"
#include "status.h"
#include "workers.h"

#include <pthread.h>
#include <stdatomic.h>

struct server {
    server_options options;
    auth_policy auth;
    struct MHD_Daemon *daemons[2]; /* one per address family */
    uint16_t port;

    connections *connections;
    body_pool bodies;
    line_store *line_store;
    search_batcher *batcher;
    workers *workers;
    exporter *exporter;
    server_status *status;
    events *events;

    tide_resolver *resolver;
    pthread_mutex_t resolver_lock;

    tide_history *history; /* the same as in `options` */
    /* Published so far; only the history thread uses them. */
    double words_published; /* wall-clock time */
    uint64_t alarms_published;

    pthread_t ticker, history_thread;
    bool ticker_started, history_started;
    _Atomic bool draining;
    _Atomic bool checkpoint_wanted;
    _Atomic bool history_unsaved; /* the model was saved since, so it has to be too */

    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    bool closing;
    request *checkpoint_waiters;
    size_t checkpoint_waiter_count;
    double suggest_budget, suggest_budget_time; /* seconds; suggest.c */
};

#endif
