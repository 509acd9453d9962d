/* auth.c - access control: Host, Origin and the bearer token.
 *
 * Any page in a browser on the same machine can reach a server on the loopback address.
 * Two checks keep foreign pages out. The Host header must name this server; otherwise a
 * foreign name that resolves to 127.0.0.1 would do (DNS rebinding). And a request that
 * a page sends must come from the server's own page: browsers name the origin in Origin
 * or Sec-Fetch-Site. Requests from programs have neither.
 *
 * Comparing the token takes a time that does not depend on where it differs.
 */
#include "auth.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

/* Returns the length of the name in NAME, NAME:PORT, [ADDRESS] or [ADDRESS]:PORT; 0 if
 * the header is malformed. */
static size_t host_name_size(const char *host)
{
    size_t size;
    if (*host == '[') {
        const char *end = strchr(host, ']');
        size = end ? (size_t)(end - host) + 1 : 0;
    } else {
        size = strcspn(host, ":");
    }
    const char *port = host + size;
    if (!size || !*port)
        return size;
    if (*port++ != ':')
        return 0;
    size_t digits = strspn(port, "0123456789");
    return digits && digits <= 5 && !port[digits] ? size : 0;
}

/* Whether host, of `size` bytes, is the name or the name in brackets. */
static bool host_equals(const char *host, size_t size, const char *name)
{
    if (strlen(name) == size && !strncasecmp(host, name, size))
        return true;
    return size == strlen(name) + 2 && *host == '[' &&
           !strncasecmp(host + 1, name, size - 2);
}

static bool is_allowed_host(const auth_policy *policy, const char *host)
{
    static const char *const loopback[] = {"localhost", "127.0.0.1", "::1"};
    size_t size = host_name_size(host);
    if (!size)
        return false;
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
        if (host_equals(host, size, loopback[i]))
            return true;
    for (size_t i = 0; i < policy->allowed_host_count; i++)
        if (host_equals(host, size, policy->allowed_hosts[i]))
            return true;
    return policy->host && host_equals(host, size, policy->host);
}

/* Whether the origin is http://HOST or https://HOST with the HOST of the request. */
static bool is_same_origin(const char *origin, const char *host)
{
    const char *rest = !strncasecmp(origin, "http://", 7)    ? origin + 7
                       : !strncasecmp(origin, "https://", 8) ? origin + 8
                                                             : NULL;
    return rest && !strcasecmp(rest, host);
}

/* Whether a browser sends the request for a page of another site. Sec-Fetch-Site says
 * so even where browsers send no Origin, as for images. Links from elsewhere may lead
 * to public routes. */
static bool is_cross_site(const credentials *c)
{
    bool linked =
        c->is_public && c->fetch_mode && !strcasecmp(c->fetch_mode, "navigate");
    return c->fetch_site && strcasecmp(c->fetch_site, "same-origin") != 0 &&
           strcasecmp(c->fetch_site, "none") != 0 && !linked;
}

static bool has_token(const auth_policy *policy, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *given = authorization + sizeof scheme - 1;
    size_t size = strlen(policy->token), given_size = strlen(given);
    /* The loop runs over what the client sent, so its time depends on nothing else. A
     * token is never empty. */
    unsigned char different = size != given_size;
    for (size_t i = 0; i < given_size; i++)
        different |= (unsigned char)(given[i] ^ policy->token[i % size]);
    return !different;
}

int auth_check(const auth_policy *policy, const credentials *c, const char **why)
{
    if (c->host_count != 1 || c->origin_count > 1) {
        *why = "a request must have exactly one Host header and at most one Origin";
        return 400;
    }
    if (!is_allowed_host(policy, c->host)) {
        *why = "host name not allowed; --allow-host adds one";
        return 403;
    }
    /* The host is known to be ours now, so a page of that host is ours too. */
    if ((c->origin && !is_same_origin(c->origin, c->host)) || is_cross_site(c)) {
        *why = "cross-origin requests are not allowed";
        return 403;
    }
    if (policy->token && !c->is_public && !has_token(policy, c->authorization)) {
        *why = "authentication required; send Authorization: Bearer TOKEN";
        return 401;
    }
    *why = NULL;
    return 0;
}

bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (!strcmp(host, "localhost"))
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}
