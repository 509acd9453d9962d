/* http.h - listening for HTTP requests. Private. */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "server.h"

#include <microhttpd.h>
#include <sys/socket.h>

/* Listens on an address and on *port; port 0 picks a free one and stores it. Returns
 * NULL with errno on failure. */
struct MHD_Daemon *http_listen(server *s, const struct sockaddr *address,
                               uint16_t *port);

#endif
