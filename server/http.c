/* http.c - the life of a request, on libmicrohttpd.
 *
 *     route ──► headers, auth ──► body ──► handler ──► response
 *
 * A few threads of the library read requests and call the handlers. A handler that
 * needs more than a moment leaves the answer to another thread; its connection is
 * suspended meanwhile and costs no processor time. Requests are refused before their
 * body is read where possible.
 */
#include "http.h"

#include "answer.h"
#include "body.h"
#include "headers.h"
#include "request.h"
#include "search_batcher.h"
#include "server_internal.h"

#include "base/base.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CONNECTION_BYTES =
        32 << 10, /* libmicrohttpd's memory per connection, for headers */
    HTTP_THREADS = 2,
    LISTEN_BACKLOG = 1024,
    IDLE_TIMEOUT_SECONDS = 15,
};

/* -- before the body --------------------------------------------------------------- */

static bool read_word(request *r, const char *segment, size_t size)
{
    if (!segment)
        return true;
    char *parameter = request_parameter(r, "word");
    r->word = parameter ? parameter : percent_decode(segment, size);
    if (!r->word)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "the word is not valid percent-encoding");
    return r->word != NULL;
}

/* Finds the route and checks the headers. Returns false after answering with a problem:
 * the body is not read then. */
static bool accept_request(request *r, const char *path, const char *method,
                           const char *version)
{
    const char *segment = NULL;
    size_t size = 0;
    char allowed[64];
    if (strlen(path) > PATH_MAX_BYTES) {
        answer_problem(r, 414, PROBLEM_PLAIN, NULL, "the path exceeds %d bytes",
                       PATH_MAX_BYTES);
        return false;
    }
    /* The route first, because the rules for headers depend on it: public routes need
     * no token. But headers are refused before 404 and 405 are answered, so that nobody
     * without a token learns which routes there are. */
    r->route = route_find(method, path, &segment, &size, allowed, sizeof allowed);
    if (!check_headers(r, version))
        return false;
    if (!r->route && *allowed) {
        answer_problem(r, 405, PROBLEM_PLAIN, NULL, "method not allowed; use %s",
                       allowed);
        set_header(r, "Allow", allowed);
        return false;
    }
    if (!r->route) {
        answer_problem(r, 404, PROBLEM_PLAIN, NULL, "not found");
        return false;
    }
    return check_body_headers(r) && check_parameters(r) && read_word(r, segment, size);
}

/* -- answering --------------------------------------------------------------------- */

static void dispatch(request *r)
{
    server *s = r->server;
    if (!body_finish(r))
        return;
    bool is_long = r->route->flags & ROUTE_LONG,
         may_wait = is_long || r->route->flags & ROUTE_DEFERRED;
    if (may_wait && !connections_try_wait(s->connections, r->connection, is_long)) {
        answer_problem(r, 429, PROBLEM_BUSY, NULL, "too many requests are waiting");
        return;
    }
    /* From here on it is up to us, not to the client, how long the request takes. */
    if (!may_wait)
        connections_set_phase(s->connections, r->connection, PHASE_UNBOUNDED);
    if (r->route->flags & ROUTE_INGEST)
        workers_submit(s->workers, r);
    else
        r->route->handler(r);
}

static enum MHD_Result send_response(request *r)
{
    static char empty[] = "";
    if (!r->response)
        answer_text(r, 503, "text/plain", NULL, 0);
    if (!r->response) /* out of memory for that too */
        r->response = MHD_create_response_from_buffer(0, empty, MHD_RESPMEM_PERSISTENT);
    if (!r->response)
        return MHD_NO;
    if (r->close_connection)
        set_header(r, "Connection", "close");
    body_discard(r); /* the client may take long to read the response */
    r->response_queued = true;
    connections_set_phase(r->server->connections, r->connection, r->response_phase);
    status_record_request(r->server->status, r);
    return MHD_queue_response(r->connection, (unsigned)r->status, r->response);
}

/* -- callbacks of libmicrohttpd ---------------------------------------------------- */

static request *request_new(server *s, struct MHD_Connection *connection,
                            const char *method)
{
    request *r = calloc(1, sizeof *r);
    if (r) {
        r->server = s;
        r->connection = connection;
        r->head_only = !strcmp(method, MHD_HTTP_METHOD_HEAD);
        r->response_phase = PHASE_SENDING;
        r->start_time = tide_now_seconds();
    }
    return r;
}

/* Called once after the headers, then for each part of the body, then once without a
 * part at its end, and again after a suspended connection has been resumed. */
static enum MHD_Result on_request(void *data, struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    request *r = *state;
    if (!r) {
        r = *state = request_new(data, connection, method);
        if (!r)
            return MHD_NO;
        connections_set_phase(r->server->connections, connection, PHASE_BODY);
        if (accept_request(r, path, method, version))
            return MHD_YES;
        /* The body will not be read. On a connection that stays open it would be taken
         * for the next request. */
        r->close_connection = true;
        return send_response(r);
    }
    if (*upload_size) {
        body_append(r, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (r->response_queued)
        return MHD_YES;
    /* `suspended` stays set after a request was resumed. It is answered then, or its
     * thread had no memory to answer it, and send_response says 503. */
    if (!r->response && !r->suspended) {
        dispatch(r);
        if (r->suspended)
            return MHD_YES;
    }
    return send_response(r);
}

static void on_completed(void *data, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)data;
    (void)code;
    request *r = *state;
    if (!r)
        return;
    connections_set_phase(r->server->connections, connection, PHASE_HEADERS);
    body_discard(r);
    if (r->response)
        MHD_destroy_response(r->response);
    search_request_free(r->search);
    free(r->word);
    free(r);
    *state = NULL;
}

/* Keeps the library from decoding the path: segments are decoded one by one after
 * splitting, so that a word may contain a slash. */
static size_t leave_encoded(void *data, struct MHD_Connection *connection, char *text)
{
    (void)data;
    (void)connection;
    return strlen(text);
}

/* -- listening --------------------------------------------------------------------- */

/* Made here because libmicrohttpd 1.0 does not report why it could not bind a
 * socket. */
static int listening_socket(const struct sockaddr *address)
{
    bool v6 = address->sa_family == AF_INET6;
    socklen_t size = v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    int on = 1;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
        (v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on)) ||
        bind(fd, address, size) || listen(fd, LISTEN_BACKLOG)) {
        int reason = errno;
        close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

static uint16_t socket_port(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {0};
    socklen_t size = sizeof address;
    getsockname(fd, &address.any, &size);
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port
                                                   : address.v4.sin_port);
}

struct MHD_Daemon *http_listen(server *s, const struct sockaddr *address,
                               uint16_t *port)
{
    unsigned flags =
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    int fd = listening_socket(address);
    if (fd < 0)
        return NULL;
    *port = socket_port(fd);
    return MHD_start_daemon(
        flags, *port, connections_accept, s->connections, on_request, s,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, connections_notify, s->connections,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded, NULL, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)HTTP_THREADS,
        /* The library divides its limit among its threads, but one of them may have all
         * connections. connections.c enforces the actual limit. */
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX * HTTP_THREADS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_TIMEOUT_SECONDS,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}
