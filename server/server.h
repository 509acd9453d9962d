/* server.h - learning and answering at once: the HTTP server beside a trainer.
 *
 * The thread that calls goes on to learn; everything here happens in threads of its own. What they ask is the live
 * model, what they bring goes into the feed.
 */
#ifndef SERVER_H
#define SERVER_H

#include <wordtide.h>

typedef struct server server;

/* What the size of a server depends on, besides the parameters of training. */
typedef struct server_needs {
    const tide_history_options *history;
    size_t queue; /* bytes of the feed; 0 over a spool */
} server_needs;

/* The memory that a server needs beside a trainer with these parameters; for tide_params_reserve. */
uint64_t server_bytes(const tide_params *params, const void *needs);

typedef struct server_options {
    const char *host; /* an address or a name; "localhost" is both loopback addresses */
    uint16_t port;    /* 0: any that is free */
    const char *token; /* what requests have to carry; NULL: none */
    const char *const *
        names; /* of hosts that requests may be meant for, besides loopback's and `host` */
    size_t name_count;

    tide_trainer *trainer; /* asked for its parameters and budget, once */
    tide_live *live;
    tide_history *history;
    const char
        *history_path; /* where it is saved, beside the checkpoint; NULL without */
    tide_feed *feed;
    server_needs needs;
    bool feed_syncs; /* text is acknowledged when tide_feed_sync has returned */
    const char *const *sources;
    size_t source_count;
    const char *checkpoint; /* NULL without */
} server_options;

/* Answers from now on. NULL with an error when that cannot be: the port is taken, or the address is one that others
 * can reach and there is no token. */
server *server_start(const server_options *options, tide_error *err);

/* The port that was found. */
uint16_t server_port(const server *s);

/* The memory of the whole process, by part; returns the number of parts. */
int server_budget(const server *s, tide_part parts[TIDE_PARTS_MAX]);

/* What the run tells: figures, some ten times a second; and what became of a checkpoint. By the thread that
 * learns. */
void server_tick(server *s, const tide_stats *stats);
void server_checkpointed(server *s, const tide_checkpoint *checkpoint);

/* Whether somebody wants a checkpoint now; said once. */
bool server_wants_checkpoint(server *s);

/* The process is about to stop: requests with text are refused from now on, and /ready says so. */
void server_drain(server *s);

/* Answers nobody any more. */
void server_stop(server *s); /* NULL is fine */

#endif
