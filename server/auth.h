/* auth.h - access control: Host, Origin and the bearer token. Private. */
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct auth_policy {
    const char *token;                /* NULL: none is needed */
    const char *const *allowed_hosts; /* in addition to loopback names and `host` */
    size_t allowed_host_count;
    const char *host; /* that the server listens on */
} auth_policy;

typedef struct credentials {
    const char *host, *origin, *authorization;
    const char *fetch_site, *fetch_mode; /* Sec-Fetch-*, which browsers send */
    unsigned host_count, origin_count;   /* headers of that name */
    bool is_public;                      /* the route needs no token */
} credentials;

/* Returns 0 if the request is allowed, otherwise the HTTP status to refuse it with and
 * the reason in *why. */
int auth_check(const auth_policy *policy, const credentials *c, const char **why);

/* Whether an address is reachable from this machine only. */
bool is_loopback(const char *host);

#endif
