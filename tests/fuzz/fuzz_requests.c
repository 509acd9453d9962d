/* fuzz_requests.c - arbitrary requests to the server, without a socket.
 *
 * The input is a request as it is sent over a connection, with line feeds as line ends:
 *
 *     GET /v1/words/one/neighbors?topn=3
 *     Host: localhost
 *
 *     body
 *
 * The functions of libmicrohttpd that involve connections are replaced: they return
 * what is in the input, and wait while a request is suspended. Every request must be
 * answered exactly once, and never with an internal error.
 */
#include "fuzz_fixture.h"

#include "../../server/http.h"
#include "../../server/process.h"
#include "../../server/server_internal.h"

#include <arpa/inet.h>
#include <strings.h>
#include <unistd.h>

enum { HEAD_MAX = 4096, FIELDS_MAX = 100, FEED_BYTES = 4096, SNAPSHOTS = 3 };

/* -- the request ------------------------------------------------------------------- */

typedef struct field {
    enum MHD_ValueKind kind;
    const char *name, *value;
} field;

static struct {
    field fields[FIELDS_MAX];
    size_t field_count;
    unsigned status; /* of the answer; 0 before it */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool suspended;
} input = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void add_field(enum MHD_ValueKind kind, char *text, const char *separator)
{
    char *name = strsep(&text, separator);
    if (input.field_count == FIELDS_MAX)
        return;
    if (text && kind == MHD_HEADER_KIND)
        text += strspn(text, " ");
    input.fields[input.field_count++] = (field){kind, name, text};
}

/* Parses the request line and headers. Returns the method, and sets the path. */
static const char *parse_head(char *head, char **path)
{
    char *line = strsep(&head, "\n"), *query;
    const char *method = strsep(&line, " ");
    input.field_count = 0;
    *path = query = line;
    if (query && strsep(&query, "?"))
        for (char *one; (one = strsep(&query, "&"));)
            add_field(MHD_GET_ARGUMENT_KIND, one, "=");
    for (char *one; (one = strsep(&head, "\n"));)
        add_field(MHD_HEADER_KIND, one, ":");
    return method;
}

/* -- replacements of libmicrohttpd ------------------------------------------------- */

static MHD_AccessHandlerCallback on_request;
static MHD_RequestCompletedCallback on_completed;

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port,
                                    MHD_AcceptPolicyCallback accept, void *accept_data,
                                    MHD_AccessHandlerCallback handler,
                                    void *handler_data, ...)
{
    (void)flags, (void)port, (void)accept, (void)accept_data;
    va_list options;
    va_start(options, handler_data);
    must(va_arg(options, enum MHD_OPTION) == MHD_OPTION_LISTEN_SOCKET);
    close(va_arg(options, int));
    must(va_arg(options, enum MHD_OPTION) == MHD_OPTION_NOTIFY_COMPLETED);
    on_completed = va_arg(options, MHD_RequestCompletedCallback);
    va_end(options);
    on_request = handler;
    return NULL;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *connection,
                                        enum MHD_ValueKind kind, const char *key)
{
    (void)connection;
    for (size_t i = 0; i < input.field_count; i++)
        if (input.fields[i].kind == kind && !strcasecmp(input.fields[i].name, key))
            return input.fields[i].value;
    return NULL;
}

int MHD_get_connection_values(struct MHD_Connection *connection,
                              enum MHD_ValueKind kind, MHD_KeyValueIterator iterator,
                              void *data)
{
    int count = 0;
    (void)connection;
    for (size_t i = 0; i < input.field_count; i++) {
        const field *f = &input.fields[i];
        if (f->kind == kind && ++count &&
            iterator(data, kind, f->name, f->value) != MHD_YES)
            break;
    }
    return count;
}

const union MHD_ConnectionInfo *
MHD_get_connection_info(struct MHD_Connection *connection,
                        enum MHD_ConnectionInfoType type, ...)
{
    (void)connection, (void)type;
    return NULL;
}

static void set_suspended(bool suspended)
{
    pthread_mutex_lock(&input.lock);
    input.suspended = suspended;
    pthread_cond_signal(&input.changed);
    pthread_mutex_unlock(&input.lock);
}

void MHD_suspend_connection(struct MHD_Connection *connection)
{
    (void)connection;
    set_suspended(true);
}

void MHD_resume_connection(struct MHD_Connection *connection)
{
    (void)connection;
    set_suspended(false);
}

static void wait_until_resumed(void)
{
    pthread_mutex_lock(&input.lock);
    while (input.suspended)
        pthread_cond_wait(&input.changed, &input.lock);
    pthread_mutex_unlock(&input.lock);
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned status,
                                   struct MHD_Response *response)
{
    (void)connection;
    must(response && !input.status && status >= 200);
    input.status = status;
    return MHD_YES;
}

/* -- the server -------------------------------------------------------------------- */

static void train(server_options *o)
{
    static const char *const settings[][2] = {{"vocab", "6"},
                                              {"dim", "3"},
                                              {"replay", "1"},
                                              {"sample", "0"},
                                              {"subword", "7"}};
    static const char text[] =
        "one two three four\none two five\none z\xc3\xbcrich six\n";
    static const tide_history_options past = {.step = 1,
                                              .tracked = 4,
                                              .watched = 2,
                                              .snapshots = 3,
                                              .warm_up = 1,
                                              .count_alarm = 2};
    tide_params *params = tide_params_new(NULL);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        must(!tide_params_set(params, settings[i][0], settings[i][1], NULL));
    o->trainer = tide_trainer_new(params, NULL);
    tide_params_free(params);
    must(o->trainer != NULL);
    o->live = tide_live_new(o->trainer, TIDE_VECTORS_INPUT, false, NULL);
    must(o->live != NULL);
    o->needs.history = &past;
    o->history = tide_history_new(o->live, &past, NULL);
    for (int i = 0; i < SNAPSHOTS; i++) {
        must(!tide_trainer_feed(o->trainer, text, sizeof text - 1, NULL));
        must(tide_live_update(o->live) && !tide_history_update(o->history, i, NULL));
    }
}

static server *shared_server(void)
{
    static server s;
    if (s.batcher)
        return &s;
    const struct sockaddr_in nowhere = {.sin_family = AF_INET};
    uint16_t port = 0;
    s.options.host = s.auth.host = "localhost";
    s.options.needs.queue = FEED_BYTES;
    train(&s.options);
    s.history = s.options.history;
    s.status = status_new(&s.options);
    s.events = events_new();
    s.connections = connections_new(FIELDS_MAX);
    s.exporter = exporter_open(&s);
    s.batcher = search_batcher_open(s.options.live);
    const tide_view *view = tide_live_acquire(s.options.live);
    s.resolver = tide_resolver_new(tide_view_model(view), NULL);
    tide_live_release(s.options.live, view);
    s.line_store = line_store_open();
    must(s.line_store && s.status && s.events && s.connections && s.exporter &&
         s.batcher && s.resolver);
    pthread_mutex_init(&s.lock, NULL);
    pthread_mutex_init(&s.resolver_lock, NULL);
    http_listen(&s, (const struct sockaddr *)&nowhere, &port);
    return &s;
}

static void send_request(server *s, const char *method, const char *path,
                         const char *body, size_t size)
{
    void *state = NULL;
    size_t no_upload = 0;
    input.status = 0;
    on_request(s, NULL, path, method, MHD_HTTP_VERSION_1_1, NULL, &no_upload, &state);
    if (!input.status && size)
        on_request(s, NULL, path, method, MHD_HTTP_VERSION_1_1, body, &size, &state);
    for (int turn = 0; turn < 2 && !input.status; turn++) {
        on_request(s, NULL, path, method, MHD_HTTP_VERSION_1_1, NULL, &no_upload,
                   &state);
        wait_until_resumed();
    }
    bool may_be_unready = !strcmp(path, "/ready") || !strcmp(path, "/health");
    must(input.status &&
         (input.status < 500 || (input.status == 503 && may_be_unready)));
    on_completed(s, NULL, &state, MHD_REQUEST_TERMINATED_COMPLETED_OK);
    must(!state && !s->bodies.bytes_used && !s->bodies.receiving);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char head[HEAD_MAX + 1];
    server *s = shared_server();
    const char *blank = size ? memmem(data, size, "\n\n", 2) : NULL;
    size_t head_size = blank ? (size_t)(blank - (const char *)data) : size;
    if (head_size > HEAD_MAX)
        return 0;
    if (head_size)
        memcpy(head, data, head_size);
    head[head_size] = '\0';
    char *path;
    const char *method = parse_head(head, &path);
    if (!path)
        return 0;
    s->options.feed = tide_feed_new(FEED_BYTES, NULL);
    s->workers = workers_open(s);
    must(s->options.feed && s->workers);
    const char *body = blank ? blank + 2 : NULL;
    send_request(s, method, path, body, blank ? size - head_size - 2 : 0);
    workers_close(s->workers);
    workers_free(s->workers);
    tide_feed_free(s->options.feed);
    return 0;
}
