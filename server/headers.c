/* headers.c - what is refused before the body is read.
 *
 * A proxy in front of the server and the library under it must agree where each request
 * ends (request smuggling). So whatever could be read in two ways is refused and its
 * connection closed: two lengths, a transfer coding other than chunked, invalid header
 * names, control characters. The library joins a line that begins with a blank to the
 * name of the header before it, so names that merely begin like those of the length are
 * refused too, and so is a POST without any length, unless its route needs no body; its
 * connection is then closed. tests/server/raw_cases.py has the list.
 */
#include "headers.h"

#include "answer.h"
#include "server_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct headers {
    size_t count, bytes;
    credentials credentials;
    unsigned lengths, codings; /* headers that say where the body ends */
    bool malformed;            /* one of the headers is */
} headers;

static bool is_token(const char *name)
{
    static const char letters[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return *name && !name[strspn(name, letters)];
}

static bool is_printable(const char *value)
{
    for (; *value; value++)
        if (((unsigned char)*value < ' ' && *value != '\t') || *value == 0x7f)
            return false;
    return true;
}

static bool has_prefix(const char *name, const char *prefix)
{
    return !strncasecmp(name, prefix, strlen(prefix));
}

/* Checks headers that determine where the body ends, and those that look like them. */
static void check_framing(headers *h, const char *name, const char *value)
{
    if (!strcasecmp(name, "Content-Length")) {
        h->lengths++;
    } else if (!strcasecmp(name, "Transfer-Encoding")) {
        h->codings++;
        h->malformed = h->malformed || strcasecmp(value, "chunked") != 0;
        /* A proxy may take one that only looks like the real header for it, and see
         * another end of the body (request smuggling). */
    } else if (has_prefix(name, "Content-Length") ||
               has_prefix(name, "Transfer-Encoding")) {
        h->malformed = true;
    }
}

static enum MHD_Result check_header(void *data, enum MHD_ValueKind kind,
                                    const char *name, const char *value)
{
    (void)kind;
    headers *h = data;
    value = value ? value : "";
    h->count++;
    h->bytes += strlen(name) + strlen(value) + 4;
    h->malformed = h->malformed || !is_token(name) || !is_printable(value);
    check_framing(h, name, value);
    if (!strcasecmp(name, "Host")) {
        /* Counted, since with two of them the one checked may not be the one used. */
        h->credentials.host = value;
        h->credentials.host_count++;
    } else if (!strcasecmp(name, "Origin")) {
        h->credentials.origin = value;
        h->credentials.origin_count++;
    } else if (!strcasecmp(name, "Authorization")) {
        h->credentials.authorization = value;
    } else if (!strcasecmp(name, "Sec-Fetch-Site")) {
        h->credentials.fetch_site = value;
    } else if (!strcasecmp(name, "Sec-Fetch-Mode")) {
        h->credentials.fetch_mode = value;
    }
    return MHD_YES;
}

/* Whether it is unambiguous where the body ends. */
static bool has_one_length(const request *r, const headers *h, const char *version)
{
    bool needs_length = r->route && !strcmp(r->route->method, "POST") &&
                        !(r->route->flags & ROUTE_NO_BODY);
    return !h->malformed && h->lengths + h->codings <= 1 &&
           (!needs_length || h->lengths || h->codings) &&
           (!h->codings || strcmp(version, MHD_HTTP_VERSION_1_0) != 0);
}

bool check_headers(request *r, const char *version)
{
    const char *why;
    /* Without a route it is not public: 404 and 405 are only for those with a token. */
    headers h = {.credentials.is_public = r->route && r->route->flags & ROUTE_PUBLIC};
    MHD_get_connection_values(r->connection, MHD_HEADER_KIND, check_header, &h);
    int status = auth_check(&r->server->auth, &h.credentials, &why);
    if (h.count > HEADERS_MAX || h.bytes > HEADERS_MAX_BYTES)
        answer_problem(r, 431, PROBLEM_PLAIN, NULL,
                       "too many headers; at most %d, of %d bytes in all", HEADERS_MAX,
                       HEADERS_MAX_BYTES);
    else if (!has_one_length(r, &h, version))
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "a header is malformed, or the length of the body is ambiguous");
    else if (status)
        answer_problem(r, status, PROBLEM_PLAIN, NULL, "%s", why);
    else
        return true;
    return false;
}

/* -- parameters -------------------------------------------------------------------- */

static enum MHD_Result check_parameter(void *data, enum MHD_ValueKind kind,
                                       const char *name, const char *value)
{
    (void)kind;
    const char **invalid = data;
    char *decoded = percent_decode(value ? value : "", value ? strlen(value) : 0);
    if (!decoded)
        *invalid = name;
    free(decoded);
    return MHD_YES;
}

bool check_parameters(request *r)
{
    const char *invalid = NULL;
    MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, check_parameter,
                              &invalid);
    if (invalid)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "parameter %s is not valid percent-encoding", invalid);
    return !invalid;
}

/* -- headers of the body ----------------------------------------------------------- */

static bool is_media_type(const char *value, const char *type)
{
    size_t size = strlen(type);
    return value && !strncasecmp(value, type, size) &&
           (!value[size] || value[size] == ';' || value[size] == ' ');
}

static uint64_t content_length(const request *r)
{
    const char *text = request_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return text ? strtoull(text, NULL, 10) : 0;
}

static bool lacks_body(const request *r)
{
    return r->route->flags & ROUTE_NO_BODY && !content_length(r) &&
           !request_header(r, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/* Foreign pages can submit forms, but browsers send JSON for them only after a CORS
 * preflight. So routes that change something accept nothing but JSON, except for
 * text. */
static bool has_json_type(const request *r)
{
    bool is_post = !strcmp(r->route->method, "POST");
    return !is_post || r->route->flags & ROUTE_INGEST || lacks_body(r) ||
           is_media_type(request_header(r, MHD_HTTP_HEADER_CONTENT_TYPE),
                         "application/json");
}

bool check_body_headers(request *r)
{
    r->body_limit = r->route->flags & ROUTE_INGEST ? INGEST_MAX : BODY_MAX;
    r->close_connection =
        lacks_body(r) && !request_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (content_length(r) > r->body_limit)
        answer_problem(r, 413, PROBLEM_PLAIN, NULL, "the body exceeds %zu bytes",
                       r->body_limit);
    else if (!has_json_type(r))
        answer_problem(r, 415, PROBLEM_PLAIN, NULL,
                       "Content-Type must be application/json");
    else if (r->route->flags & ROUTE_INGEST && r->server->draining)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server is shutting down");
    else
        return true;
    return false;
}
