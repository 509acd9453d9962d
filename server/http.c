/* http.c - the life of a request, on libmicrohttpd.
 *
 *     headers ──► guard ──► route ──► body ──► handler ──► answer
 *
 * A few threads of the library read requests and call the handlers. A handler that needs more than a moment
 * leaves the answer to another thread; its connection sleeps meanwhile and costs nothing. What is refused is
 * refused before its body is read.
 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CONNECTION_BYTES = 32 << 10, /* for its headers */
    HTTP_THREADS = 2,
    LISTEN_BACKLOG = 1024,
    TIMEOUT_SECONDS = 15, /* without a byte in either direction */
};

/* -- reading a request -------------------------------------------------------------------------------- */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

char *decode(const char *text, size_t size)
{
    char *decoded = malloc(size + 1);
    size_t used = 0;
    for (size_t i = 0; decoded && i < size; i++) {
        int byte = (unsigned char)text[i];
        if (byte == '%') {
            int high = size - i > 2 ? hex(text[i + 1]) : -1;
            int low = size - i > 2 ? hex(text[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : high * 16 + low;
            i += 2;
        }
        if (!byte) {
            free(decoded);
            return NULL;
        }
        decoded[used++] = (char)byte;
    }
    if (decoded)
        decoded[used] = 0;
    return decoded;
}

const char *header(const request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

char *parameter(const request *r, const char *name)
{
    const char *value =
        MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
    return value ? decode(value, strlen(value)) : NULL;
}

bool number_parameter(request *r, const char *name, uint32_t least, uint32_t most,
                      uint32_t *number)
{
    char *text = parameter(r, name), *end;
    if (!text)
        return true;
    unsigned long value = strtoul(text, &end, 10);
    bool good =
        *text >= '0' && *text <= '9' && !*end && value >= least && value <= most;
    if (good)
        *number = (uint32_t)value;
    else
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "%s is a number from %u to %u",
                       name, least, most);
    free(text);
    return good;
}

/* -- before the body -------------------------------------------------------------------------------------- */

static bool find_word(request *r, const char *part, size_t size)
{
    if (!part)
        return true;
    char *named = parameter(r, "word");
    r->word = named ? named : decode(part, size);
    if (!r->word)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "the word is not encoded rightly");
    return r->word != NULL;
}

/* Whether the body may come. */
static bool begin(request *r, const char *path, const char *method, const char *version)
{
    const char *part = NULL;
    size_t size = 0;
    char allowed[64];
    if (strlen(path) > PATH_MAX_BYTES) {
        answer_problem(r, 414, PROBLEM_PLAIN, NULL, "at most %d bytes", PATH_MAX_BYTES);
        return false;
    }
    r->route = find_route(method, path, &part, &size, allowed, sizeof allowed);
    if (!check_headers(r, version))
        return false;
    if (!r->route && *allowed) {
        answer_problem(r, 405, PROBLEM_PLAIN, NULL, "this takes %s", allowed);
        set_header(r, "Allow", allowed);
        return false;
    }
    if (!r->route) {
        answer_problem(r, 404, PROBLEM_PLAIN, NULL, "there is nothing here");
        return false;
    }
    return check_body(r) && check_parameters(r) && find_word(r, part, size);
}

/* -- waiting for another thread ------------------------------------------------------------------------------ */

void wait_for_answer(request *r)
{
    r->waiting = true;
    MHD_suspend_connection(r->connection);
}

void go_on(request *r)
{
    MHD_resume_connection(r->connection);
}

/* The library does not look at connections that are suspended. */
bool has_gone(const request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd socket = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};
    return poll(&socket, 1, 0) > 0;
}

/* -- answering --------------------------------------------------------------------------------------------- */

static void call_handler(request *r)
{
    server *s = r->server;
    if (!end_body(r))
        return;
    int lasts = r->route->flags & LASTS, waits = lasts | (r->route->flags & WAITS);
    if (waits && !connections_wait(s->connections, r->connection, lasts)) {
        answer_problem(r, 429, PROBLEM_BUSY, NULL,
                       "too many requests wait for their answers");
        return;
    }
    if (!waits)
        connections_enter(s->connections, r->connection, PHASE_OPEN_END);
    if (r->route->flags & INGESTS)
        workers_give(s->workers, r);
    else
        r->route->answer(r);
}

/* -- libmicrohttpd's calls --------------------------------------------------------------------------------- */

static enum MHD_Result send_answer(request *r)
{
    static char empty[] = "";
    if (!r->response)
        answer_text(r, 503, "text/plain", NULL, 0);
    if (!r->response) /* not even that could be made */
        r->response = MHD_create_response_from_buffer(0, empty, MHD_RESPMEM_PERSISTENT);
    if (!r->response)
        return MHD_NO;
    if (r->close)
        set_header(r, "Connection", "close");
    drop_body(r); /* whoever reads the answer slowly needs none of it */
    r->queued = true;
    connections_enter(r->server->connections, r->connection, r->phase);
    figures_note_request(r->server->figures, r);
    return MHD_queue_response(r->connection, (unsigned)r->status, r->response);
}

static request *request_new(server *s, struct MHD_Connection *connection,
                            const char *method)
{
    request *r = calloc(1, sizeof *r);
    if (r) {
        r->server = s;
        r->connection = connection;
        r->headers_only = !strcmp(method, MHD_HTTP_METHOD_HEAD);
        r->phase = PHASE_SENDING;
        r->begun = now_seconds();
    }
    return r;
}

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
        connections_enter(r->server->connections, connection, PHASE_BODY);
        if (begin(r, path, method, version))
            return MHD_YES;
        r->close = true;
        return send_answer(r);
    }
    if (*upload_size) {
        take_body(r, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (r->queued)
        return MHD_YES;
    if (!r->response && !r->waiting) {
        call_handler(r);
        if (r->waiting)
            return MHD_YES;
    }
    return send_answer(r);
}

static void on_end(void *data, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode code)
{
    (void)data;
    (void)code;
    request *r = *state;
    if (!r)
        return;
    connections_enter(r->server->connections, connection, PHASE_HEADERS);
    drop_body(r);
    if (r->response)
        MHD_destroy_response(r->response);
    json_decref(r->asked);
    free(r->word);
    free(r);
    *state = NULL;
}

/* Encoding is undone part by part, so that a word may have a slash. */
static size_t leave_encoded(void *data, struct MHD_Connection *connection, char *text)
{
    (void)data;
    (void)connection;
    return strlen(text);
}

/* -- listening ------------------------------------------------------------------------------------------------- */

/* The socket is made here because libmicrohttpd 1.0 loses the reason when it cannot bind one. */
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

static uint16_t port_of(int fd)
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

struct MHD_Daemon *listen_on(server *s, const struct sockaddr *address, uint16_t *port)
{
    unsigned flags =
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    int fd = listening_socket(address);
    if (fd < 0)
        return NULL;
    *port = port_of(fd);
    return MHD_start_daemon(
        flags, *port, connections_admit, s->connections, on_request, s,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, connections_notice, s->connections,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded, NULL, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)HTTP_THREADS,
        /* One thread may have all of them: connections.c has the bound. */
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX * HTTP_THREADS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_SECONDS,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}
