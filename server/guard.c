/* guard.c - who may ask at all.
 *
 * A server on the loopback address is reached by every page in the browser of the same machine. Two things keep
 * strangers' pages out. The name that a request is meant for must be one of ours, or a name of the stranger's
 * that leads to 127.0.0.1 would do (DNS rebinding). And a request that a page sends must come from our own page: the
 * browser says from which, in Origin or in Sec-Fetch-Site. Requests of programs have neither.
 *
 * A token is compared in a time that does not depend on where it differs.
 */
#include "http.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

/* The name in NAME, NAME:PORT, [ADDRESS] or [ADDRESS]:PORT; 0 when it is none of these. */
static size_t name_size(const char *host)
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

static bool is_name(const char *host, size_t size, const char *name)
{
    if (strlen(name) == size && !strncasecmp(host, name, size))
        return true;
    return size == strlen(name) + 2 && *host == '[' &&
           !strncasecmp(host + 1, name, size - 2);
}

static bool is_ours(const guard *g, const char *host)
{
    static const char *const loopback[] = {"localhost", "127.0.0.1", "::1"};
    size_t size = name_size(host);
    if (!size)
        return false;
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
        if (is_name(host, size, loopback[i]))
            return true;
    for (size_t i = 0; i < g->name_count; i++)
        if (is_name(host, size, g->names[i]))
            return true;
    return g->host && is_name(host, size, g->host);
}

/* http://HOST or https://HOST, where HOST is the one that the request is meant for. */
static bool is_own_page(const char *origin, const char *host)
{
    const char *rest = !strncasecmp(origin, "http://", 7)    ? origin + 7
                       : !strncasecmp(origin, "https://", 8) ? origin + 8
                                                             : NULL;
    return rest && !strcasecmp(rest, host);
}

/* Whether a browser asks for the page of another site. It says so also where it sends no Origin, as for an image. A link
 * from elsewhere may lead to what is open. */
static bool is_for_other_site(const credentials *c)
{
    bool linked = c->open && c->mode && !strcasecmp(c->mode, "navigate");
    return c->site && strcasecmp(c->site, "same-origin") != 0 &&
           strcasecmp(c->site, "none") != 0 && !linked;
}

static bool has_token(const guard *g, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *given = authorization + sizeof scheme - 1;
    size_t size = strlen(g->token), given_size = strlen(given);
    unsigned char different = size != given_size;
    for (size_t i = 0; i < given_size; i++)
        different |= (unsigned char)(given[i] ^ g->token[i % size]);
    return !different;
}

int guard_refuses(const guard *g, const credentials *c, const char **why)
{
    if (c->hosts != 1 || c->origins > 1) {
        *why = "a request has one Host header, and one Origin at most";
        return 400;
    }
    if (!is_ours(g, c->host)) {
        *why = "this server does not answer to that name; --allow-host adds one";
        return 403;
    }
    if ((c->origin && !is_own_page(c->origin, c->host)) || is_for_other_site(c)) {
        *why = "only the server's own page may ask";
        return 403;
    }
    if (g->token && !c->open && !has_token(g, c->authorization)) {
        *why = "a token is needed: Authorization: Bearer TOKEN";
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
