/* connections.h - the open connections, their time limits and their number. Private. */
#ifndef SERVER_CONNECTIONS_H
#define SERVER_CONNECTIONS_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

typedef struct connections connections;

typedef enum connection_phase {
    PHASE_HEADERS,   /* idle, or receiving the headers of a request */
    PHASE_BODY,      /* receiving a request body */
    PHASE_SENDING,   /* sending a response */
    PHASE_DOWNLOAD,  /* sending a large one */
    PHASE_UNBOUNDED, /* waiting for another thread, or sending a response without end */
} connection_phase;

connections *connections_new(size_t max);
void connections_free(connections *all);

/* Callbacks of libmicrohttpd; `data` is the connections. */
enum MHD_Result connections_accept(void *data, const struct sockaddr *address,
                                   socklen_t size);
void connections_notify(void *data, struct MHD_Connection *mhd, void **context,
                        enum MHD_ConnectionNotificationCode code);

void connections_set_phase(connections *all, struct MHD_Connection *mhd,
                           connection_phase phase);

/* Puts the connection in PHASE_UNBOUNDED because its request may have to wait;
 * `is_long` applies the lower bound of ROUTE_LONG. Returns false if too many wait
 * already. */
bool connections_try_wait(connections *all, struct MHD_Connection *mhd, bool is_long);

/* Closes the connections that exceed the time limit of their phase. Called every
 * second. */
void connections_close_expired(connections *all);

#endif
