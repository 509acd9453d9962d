/* request.h - a request while it is received, handled and answered. Private. */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include "connections.h"
#include "routes.h"
#include "server.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    PATH_MAX_BYTES = 8 * 1024,
    HEADERS_MAX_BYTES = 16 * 1024,
    HEADERS_MAX = 64,
    BODY_MAX = 1 << 20,
    INGEST_MAX = 16 << 20, /* bytes in the body of a ROUTE_INGEST */
    LIST_MAX = 1000,       /* words in a response */
    QUERY_WORDS_MAX = 32,  /* words in a list of a query */
    CONNECTIONS_MAX = 2048,
};

typedef struct search_request search_request;

struct request {
    server *server;
    struct MHD_Connection *connection;
    const route *route; /* NULL if there is none */
    char *word;         /* ?word=, or the path segment of {}; NULL without */
    double start_time;  /* monotonic */
    bool head_only;     /* a HEAD request */

    /* The body; body.c. */
    char *body;
    size_t body_size, body_capacity;
    size_t body_limit; /* bytes */
    request *next_receiving;
    bool receiving;       /* listed in the body pool */
    bool body_evicted;    /* its memory went to a faster body */
    size_t progress_size; /* bytes of the body at progress_time */
    double progress_time;

    /* The response; answer.c. */
    int status;
    struct MHD_Response *response;
    connection_phase response_phase; /* of the connection while it is sent */
    bool close_connection;           /* after the response */
    bool response_queued;

    /* Waiting for another thread. */
    bool suspended;
    bool needs_sync; /* its text must be on the disk before it is answered */
    double wait_start;
    request *next; /* in the queue that it waits in */
    search_request *search;
};

/* Returns the value of a header; NULL if there is none. */
const char *request_header(const request *r, const char *name);

/* Returns a parameter of the query string, decoded; NULL if there is none. free()
 * it. */
char *request_parameter(const request *r, const char *name);

/* Reads an integer parameter from min to max; leaves *value as it is without one.
 * Returns false after answering with a problem. */
bool request_integer(request *r, const char *name, uint32_t min, uint32_t max,
                     uint32_t *value);

/* Decodes percent-encoding. Returns NULL if it is malformed or contains a NUL. free()
 * it. */
char *percent_decode(const char *text, size_t size);

/* Requests that wait for a thread, in their order. Protected by the lock of its owner.
 */
typedef struct request_queue {
    request *first, **last; /* the link that the next request is put into */
    size_t count;
} request_queue;

void request_queue_init(request_queue *q);
void request_queue_push(request_queue *q, request *r);

/* Removes up to `max` requests and returns how many. */
size_t request_queue_pop(request_queue *q, request **requests, size_t max);

/* Suspends the connection until another thread calls resume_request(). That thread owns
 * the request in between and has to answer it first. */
void suspend_request(request *r);
void resume_request(request *r);

/* Whether the client of a suspended request has closed its connection. */
bool client_disconnected(const request *r);

#endif
