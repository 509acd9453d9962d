/* server.h - the HTTP server beside a trainer: training and answering at the same time.
 *
 * The calling thread continues with training; everything here runs in threads of its
 * own. They query the live model and append text to the feed.
 */
#ifndef SERVER_H
#define SERVER_H

#include <wordtide.h>
#include <wordtide/history.h>

typedef struct server server;

/* What the memory of a server depends on, besides the training parameters. */
typedef struct server_needs {
    const tide_history_options *history;
    size_t queue; /* bytes of the feed; 0 with a spool */
} server_needs;

/* Returns the memory that a server needs in addition to a trainer with these
 * parameters. `needs` is a server_needs; a callback for tide_params_reserve. */
uint64_t server_bytes(const tide_params *params, const void *needs);

typedef struct server_options {
    const char *host; /* an address or a name; "localhost" is both loopback addresses */
    uint16_t port;    /* 0: any free one */
    const char *token; /* required of requests; NULL: none */
    /* Host names allowed in requests, in addition to loopback names and `host`. */
    const char *const *names;
    size_t name_count;

    tide_trainer *trainer; /* its parameters and budget are read at the start only */
    tide_live *live;
    tide_history *history;
    const char *history_path; /* saved to with each checkpoint; NULL: nowhere */
    tide_feed *feed;
    server_needs needs;
    bool feed_syncs; /* acknowledge text only after tide_feed_sync */
    const char *const *sources;
    size_t source_count;
    const char *checkpoint; /* NULL: none */
} server_options;

/* Starts answering. Returns NULL with an error if it cannot: for instance, the port is
 * in use, or the address is reachable by other machines and there is no token. */
server *server_start(const server_options *options, tide_error *err);

/* Returns the port that it listens on. */
uint16_t server_port(const server *s);

/* The memory budget of the whole process by part. Returns the number of parts. */
int server_budget(const server *s, tide_part parts[TIDE_PARTS_MAX]);

/* Reports from the training thread: about ten times per second, and after
 * checkpoints. */
void server_tick(server *s, const tide_stats *stats);
void server_checkpointed(server *s, const tide_checkpoint *checkpoint);

/* Returns whether a checkpoint has been requested since the last call. */
bool server_wants_checkpoint(server *s);

/* Announces that the process is about to stop: from now on requests with text are
 * refused, and /ready says so. */
void server_drain(server *s);

/* Answers what is waiting, stops and frees the server. NULL is allowed. */
void server_stop(server *s);

#endif
