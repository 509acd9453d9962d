/* headers.c - what is refused before the body is read.
 *
 * A proxy before us and the library under us must agree where each request ends. What could be read in two ways is
 * therefore refused and its connection closed: two lengths, a coding other than chunked, names of headers
 * that are no names, control characters. The library joins a line that begins with a blank to the name of the
 * header before it, so names that only begin like those of the length are refused as well, and so is a POST
 * without any length, unless it needs no body; then its connection is closed. tests/server/raw_cases.py has the list.
 */
#include "http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct headers {
    size_t count, bytes;
    credentials credentials;
    unsigned lengths, codings;
    bool odd; /* one of them is not as it should be */
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

static bool begins(const char *name, const char *beginning)
{
    return !strncasecmp(name, beginning, strlen(beginning));
}

static void note_framing(headers *h, const char *name, const char *value)
{
    if (!strcasecmp(name, "Content-Length")) {
        h->lengths++;
    } else if (!strcasecmp(name, "Transfer-Encoding")) {
        h->codings++;
        h->odd = h->odd || strcasecmp(value, "chunked") != 0;
    } else if (begins(name, "Content-Length") || begins(name, "Transfer-Encoding")) {
        h->odd = true;
    }
}

static enum MHD_Result note_header(void *data, enum MHD_ValueKind kind,
                                   const char *name, const char *value)
{
    (void)kind;
    headers *h = data;
    value = value ? value : "";
    h->count++;
    h->bytes += strlen(name) + strlen(value) + 4;
    h->odd = h->odd || !is_token(name) || !is_printable(value);
    note_framing(h, name, value);
    if (!strcasecmp(name, "Host")) {
        h->credentials.host = value;
        h->credentials.hosts++;
    } else if (!strcasecmp(name, "Origin")) {
        h->credentials.origin = value;
        h->credentials.origins++;
    } else if (!strcasecmp(name, "Authorization")) {
        h->credentials.authorization = value;
    } else if (!strcasecmp(name, "Sec-Fetch-Site")) {
        h->credentials.site = value;
    } else if (!strcasecmp(name, "Sec-Fetch-Mode")) {
        h->credentials.mode = value;
    }
    return MHD_YES;
}

static bool is_framed(const request *r, const headers *h, const char *version)
{
    bool sends =
        r->route && !strcmp(r->route->method, "POST") && !(r->route->flags & BODYLESS);
    return !h->odd && h->lengths + h->codings <= 1 &&
           (!sends || h->lengths || h->codings) &&
           (!h->codings || strcmp(version, MHD_HTTP_VERSION_1_0) != 0);
}

bool check_headers(request *r, const char *version)
{
    const char *why;
    headers h = {.credentials.open = r->route && r->route->flags & OPEN};
    MHD_get_connection_values(r->connection, MHD_HEADER_KIND, note_header, &h);
    int status = guard_refuses(&r->server->guard, &h.credentials, &why);
    if (h.count > HEADERS_MAX || h.bytes > HEADERS_MAX_BYTES)
        answer_problem(r, 431, PROBLEM_PLAIN, NULL, "at most %d headers of %d bytes",
                       HEADERS_MAX, HEADERS_MAX_BYTES);
    else if (!is_framed(r, &h, version))
        answer_problem(
            r, 400, PROBLEM_PLAIN, NULL,
            "a header is malformed, or it is not plain how long the body is");
    else if (status)
        answer_problem(r, status, PROBLEM_PLAIN, NULL, "%s", why);
    else
        return true;
    return false;
}

/* -- parameters ------------------------------------------------------------------------------------------ */

static enum MHD_Result check_parameter(void *data, enum MHD_ValueKind kind,
                                       const char *name, const char *value)
{
    (void)kind;
    const char **wrong = data;
    char *decoded = decode(value ? value : "", value ? strlen(value) : 0);
    if (!decoded)
        *wrong = name;
    free(decoded);
    return MHD_YES;
}

bool check_parameters(request *r)
{
    const char *wrong = NULL;
    MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, check_parameter,
                              &wrong);
    if (wrong)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "%s is not encoded rightly", wrong);
    return !wrong;
}

/* -- the body that is announced ---------------------------------------------------------------------------- */

static bool is_media(const char *given, const char *type)
{
    size_t size = strlen(type);
    return given && !strncasecmp(given, type, size) &&
           (!given[size] || given[size] == ';' || given[size] == ' ');
}

static uint64_t declared_size(const request *r)
{
    const char *text = header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return text ? strtoull(text, NULL, 10) : 0;
}

static bool has_no_body(const request *r)
{
    return r->route->flags & BODYLESS && !declared_size(r) &&
           !header(r, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/* A page of somebody else's can send a form, but not JSON, without asking first. */
static bool has_right_type(const request *r)
{
    bool changes = !strcmp(r->route->method, "POST");
    return !changes || r->route->flags & INGESTS || has_no_body(r) ||
           is_media(header(r, MHD_HTTP_HEADER_CONTENT_TYPE), "application/json");
}

bool check_body(request *r)
{
    r->most = r->route->flags & INGESTS ? INGEST_MAX : BODY_MAX;
    r->close = has_no_body(r) && !header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (declared_size(r) > r->most)
        answer_problem(r, 413, PROBLEM_PLAIN, NULL, "a body here has at most %zu bytes",
                       r->most);
    else if (!has_right_type(r))
        answer_problem(r, 415, PROBLEM_PLAIN, NULL,
                       "this takes a body of Content-Type: application/json");
    else if (r->route->flags & INGESTS && r->server->draining)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server is about to stop");
    else
        return true;
    return false;
}
