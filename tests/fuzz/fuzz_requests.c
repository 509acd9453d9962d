/* fuzz_requests.c - arbitrary requests to the server, without a socket.
 *
 * The input is a request as it comes over a wire, with line feeds for line ends:
 *
 *     GET /v1/words/one/neighbors?topn=3
 *     Host: localhost
 *
 *     body
 *
 * The functions of libmicrohttpd that know of connections are here instead of there. They tell the server what is
 * in the input, and wait where it lets its own thread answer. Whatever comes is answered once, and never by an
 * error of the server's own.
 */
#include "fuzz_fixture.h"

#include "../../server/http.h"

#include <arpa/inet.h>
#include <strings.h>
#include <unistd.h>

enum { HEAD_MAX = 4096, FIELDS_MAX = 100, FEED_ROOM = 4096, LOOKS = 3 };

/* -- the request that is tried --------------------------------------------------------------------- */

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
} tried = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void add_field(enum MHD_ValueKind kind, char *text, const char *separator)
{
    char *name = strsep(&text, separator);
    if (tried.field_count == FIELDS_MAX)
        return;
    if (text && kind == MHD_HEADER_KIND)
        text += strspn(text, " ");
    tried.fields[tried.field_count++] = (field){kind, name, text};
}

/* Takes the head apart. Returns the method, and sets the path. */
static const char *read_head(char *head, char **path)
{
    char *line = strsep(&head, "\n"), *query;
    const char *method = strsep(&line, " ");
    tried.field_count = 0;
    *path = query = line;
    if (query && strsep(&query, "?"))
        for (char *one; (one = strsep(&query, "&"));)
            add_field(MHD_GET_ARGUMENT_KIND, one, "=");
    for (char *one; (one = strsep(&head, "\n"));)
        add_field(MHD_HEADER_KIND, one, ":");
    return method;
}

/* -- instead of the library's ---------------------------------------------------------------------- */

static MHD_AccessHandlerCallback on_request;
static MHD_RequestCompletedCallback on_end;

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
    on_end = va_arg(options, MHD_RequestCompletedCallback);
    va_end(options);
    on_request = handler;
    return NULL;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *connection,
                                        enum MHD_ValueKind kind, const char *key)
{
    (void)connection;
    for (size_t i = 0; i < tried.field_count; i++)
        if (tried.fields[i].kind == kind && !strcasecmp(tried.fields[i].name, key))
            return tried.fields[i].value;
    return NULL;
}

int MHD_get_connection_values(struct MHD_Connection *connection,
                              enum MHD_ValueKind kind, MHD_KeyValueIterator iterator,
                              void *data)
{
    int count = 0;
    (void)connection;
    for (size_t i = 0; i < tried.field_count; i++) {
        const field *f = &tried.fields[i];
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

static void suspend(bool suspended)
{
    pthread_mutex_lock(&tried.lock);
    tried.suspended = suspended;
    pthread_cond_signal(&tried.changed);
    pthread_mutex_unlock(&tried.lock);
}

void MHD_suspend_connection(struct MHD_Connection *connection)
{
    (void)connection;
    suspend(true);
}

void MHD_resume_connection(struct MHD_Connection *connection)
{
    (void)connection;
    suspend(false);
}

static void await_resumption(void)
{
    pthread_mutex_lock(&tried.lock);
    while (tried.suspended)
        pthread_cond_wait(&tried.changed, &tried.lock);
    pthread_mutex_unlock(&tried.lock);
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned status,
                                   struct MHD_Response *response)
{
    (void)connection;
    must(response && !tried.status && status >= 200);
    tried.status = status;
    return MHD_YES;
}

/* -- the server --------------------------------------------------------------------------------------- */

static void learn(server_options *o)
{
    static const char *const settings[][2] = {{"vocab", "6"},
                                              {"dim", "3"},
                                              {"replay", "1"},
                                              {"sample", "0"},
                                              {"subword", "7"}};
    static const char text[] =
        "one two three four\none two five\none z\xc3\xbcrich six\n";
    static const tide_history_options past = {
        .step = 1, .follow = 4, .watch = 2, .rungs = 3, .warm_up = 1, .count_alarm = 2};
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
    for (int i = 0; i < LOOKS; i++) {
        must(!tide_trainer_feed(o->trainer, text, sizeof text - 1, NULL));
        must(tide_live_update(o->live) && !tide_history_update(o->history, i, NULL));
    }
}

static server *shared_server(void)
{
    static server s;
    if (s.desk)
        return &s;
    const struct sockaddr_in nowhere = {.sin_family = AF_INET};
    uint16_t port = 0;
    s.options.host = s.guard.host = "localhost";
    s.options.needs.queue = FEED_ROOM;
    learn(&s.options);
    s.history = s.options.history;
    s.figures = figures_new(&s.options);
    s.events = events_new();
    s.connections = connections_new(FIELDS_MAX);
    s.exporter = exporter_open(&s);
    s.desk = desk_open(s.options.live);
    const tide_view *space = tide_live_acquire(s.options.live);
    s.resolver = tide_resolver_new(tide_view_model(space), NULL);
    tide_live_release(s.options.live, space);
    s.lines = line_store_open();
    must(s.lines && s.figures && s.events && s.connections && s.exporter && s.desk &&
         s.resolver);
    pthread_mutex_init(&s.lock, NULL);
    pthread_mutex_init(&s.resolver_lock, NULL);
    listen_on(&s, (const struct sockaddr *)&nowhere, &port);
    return &s;
}

static void ask(server *s, const char *method, const char *path, const char *body,
                size_t size)
{
    void *state = NULL;
    size_t none = 0;
    tried.status = 0;
    on_request(s, NULL, path, method, MHD_HTTP_VERSION_1_1, NULL, &none, &state);
    if (!tried.status && size)
        on_request(s, NULL, path, method, MHD_HTTP_VERSION_1_1, body, &size, &state);
    for (int turn = 0; turn < 2 && !tried.status; turn++) {
        on_request(s, NULL, path, method, MHD_HTTP_VERSION_1_1, NULL, &none, &state);
        await_resumption();
    }
    bool unready = !strcmp(path, "/ready") || !strcmp(path, "/health");
    must(tried.status && (tried.status < 500 || (tried.status == 503 && unready)));
    on_end(s, NULL, &state, MHD_REQUEST_TERMINATED_COMPLETED_OK);
    must(!state && !s->bodies.held && !s->bodies.coming);
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
    const char *method = read_head(head, &path);
    if (!path)
        return 0;
    s->options.feed = tide_feed_new(FEED_ROOM, NULL);
    s->workers = workers_open(s);
    must(s->options.feed && s->workers);
    const char *body = blank ? blank + 2 : NULL;
    ask(s, method, path, body, blank ? size - head_size - 2 : 0);
    workers_close(s->workers);
    workers_free(s->workers);
    tide_feed_free(s->options.feed);
    return 0;
}
