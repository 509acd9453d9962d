/* http.h - a request and its answer: what the files of the server share. Private. */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "process.h"
#include "server.h"

#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

enum {
    PATH_MAX_BYTES = 8 * 1024,
    HEADERS_MAX_BYTES = 16 * 1024,
    HEADERS_MAX = 64,
    BODY_MAX = 1 << 20,
    INGEST_MAX = 16 << 20,
    LIST_MAX = 1000, /* words in an answer */
    ASKED_MAX = 32,  /* words in a list of a question */
    CONNECTIONS_MAX = 2048,
};

typedef struct request request;
typedef struct workers workers;
typedef struct line_store line_store;

/* The memory that bodies take, and answers that are made of them (body.c). */
typedef struct bodies {
    pthread_mutex_t lock;
    uint64_t held;   /* bytes */
    request *coming; /* whose bodies are being received */
} bodies;

/* -- routes (routes.c) ------------------------------------------------------------------------------ */

/* What a route asks for; bits. */
enum {
    OPEN = 1,    /* no token needed */
    INGESTS = 2, /* takes text of any kind; answered by a worker */
    WAITS = 4,   /* another thread may answer */
    LASTS =
        8, /* the same, and the text or the disk decide when; or the answer has no end */
    BODYLESS = 16, /* needs no body */
};

typedef struct route {
    const char *method;
    const char *path; /* {} stands for one part, and * for all that follows */
    int flags;
    void (*answer)(request *r);
} route;

extern const route routes[];
extern const size_t route_count;

/* The route of a path, and the part that stands for {}, still encoded; NULL when there is none, with the methods that the
 * path has in `allowed`. */
const route *find_route(const char *method, const char *path, const char **part,
                        size_t *part_size, char *allowed, size_t room);

/* -- connections (connections.c) ---------------------------------------------------------------------------- */

typedef struct connections connections;

typedef enum connection_phase {
    PHASE_HEADERS,  /* a request comes, or the next is waited for */
    PHASE_BODY,     /* so does its body */
    PHASE_SENDING,  /* an answer goes */
    PHASE_DOWNLOAD, /* a large one */
    PHASE_OPEN_END, /* another thread works, or the answer has no end */
} connection_phase;

connections *connections_new(size_t most);
void connections_free(connections *all);

/* Called by the library; `data` is the connections. */
enum MHD_Result connections_admit(void *data, const struct sockaddr *address,
                                  socklen_t size);
void connections_notice(void *data, struct MHD_Connection *library, void **context,
                        enum MHD_ConnectionNotificationCode code);
void connections_enter(connections *all, struct MHD_Connection *library,
                       connection_phase phase);

/* PHASE_OPEN_END for a request that may have to wait, long if it lasts; false when too many wait already. */
bool connections_wait(connections *all, struct MHD_Connection *library, bool lasts);

/* Ends those that take too long. Once a second. */
void connections_end_late(connections *all);

/* -- requests (http.c) -------------------------------------------------------------------------------- */

struct request {
    server *server;
    struct MHD_Connection *connection;
    const route *route;
    char *word; /* that ?word= names, or the part of the path for {}; NULL without */
    char *body;
    size_t size, room;
    size_t most; /* bytes that the body may have */
    request *next_body;
    bool coming;     /* its body is being received */
    bool ousted;     /* its body has lost its room to others */
    size_t grown_to; /* bytes of the body, some time ago */
    double grown_at; /* when it had them */
    double begun;
    bool headers_only; /* HEAD */

    int status;
    struct MHD_Response *response;
    connection_phase phase; /* while the answer goes */
    bool close;             /* the connection, after the answer */
    bool queued;
    bool waiting; /* for another thread to answer */
    bool unsafe;  /* its text has to be on the disk before the answer goes */

    request *next; /* in the queue of whoever answers */
    double waiting_since;
    json_t *asked; /* of the desk */
    uint32_t count;
};

/* A parameter of the query, decoded; NULL when it is not there. free() it. */
char *parameter(const request *r, const char *name);

/* A whole number within bounds, or what it is by default. False after a problem was answered. */
bool number_parameter(request *r, const char *name, uint32_t least, uint32_t most,
                      uint32_t *number);

const char *header(const request *r, const char *name);

/* Percent-encoding undone; NULL when it is wrong or hides a 0. free() it. */
char *decode(const char *text, size_t size);

/* Another thread will answer: from now on the request is its business, until it calls this. */
void wait_for_answer(request *r);
void go_on(request *r);

/* Whether the client of a request that waits has closed its connection. */
bool has_gone(const request *r);

/* Listens on the address and the port, 0 being any; NULL with errno when that cannot be. */
struct MHD_Daemon *listen_on(server *s, const struct sockaddr *address, uint16_t *port);

/* -- before the body (headers.c) ------------------------------------------------------------------------ */

/* Each is false after a problem was answered. */
bool check_headers(request *r, const char *version);
bool check_parameters(request *r);
bool check_body(request *r);

/* -- bodies (body.c) --------------------------------------------------------------------------------------- */

void take_body(request *r, const char *bytes, size_t size);
bool end_body(request *r); /* all has come; false after a problem was answered */
void drop_body(request *r);

/* Memory that lasts until an answer is sent, within the bound of all bodies. NULL after a problem was answered. */
void *take_memory(request *r, size_t size);
void return_memory(server *s, void *memory, size_t size);

/* `flags` of jansson. NULL with a reason, which lasts until the thread's next call, when it is not JSON, nested too deeply
 * or has too many values; without a reason when there was no memory. */
json_t *load_json(const char *json, size_t size, size_t flags, const char **why);

/* The body as JSON, an object. NULL after a problem was answered. */
json_t *body_object(request *r);

/* -- text on its way to the feed (lines.c) ------------------------------------------------------------- */

line_store *line_store_open(void);
void line_store_close(line_store *s);

/* -- answers (answer.c) -------------------------------------------------------------------------------- */

/* Takes the response, as the answer instead of any before. */
void answer_with(request *r, int status, struct MHD_Response *response);

/* Takes the object. */
void answer_json(request *r, int status, json_t *object);
void answer_text(request *r, int status, const char *type, char *text, size_t size);
void answer_nothing(request *r); /* 204 */

/* An answer that is made while it is sent. What `next` writes is sent, until it is nothing; it is called with the stream,
 * which begins a larger object. */
typedef struct stream {
    size_t (*next)(void *stream, char *to, size_t room);
    void (*free)(void *stream);
    size_t at, size; /* what of the piece has been sent */
    char piece[256];
} stream;

/* Takes the stream. */
void answer_stream(request *r, int status, const char *type, stream *s);

typedef enum problem_kind {
    PROBLEM_PLAIN,
    PROBLEM_UNKNOWN_WORD,
    PROBLEM_BUSY,
    PROBLEM_NO_PAST,
} problem_kind;

/* RFC 9457. `more` has further members, and is taken; NULL for none. */
void answer_problem(request *r, int status, problem_kind kind, json_t *more,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

void set_header(request *r, const char *name, const char *value);

/* Words are whatever somebody wrote: NULL never comes back. */
json_t *json_word(const char *word);
json_t *json_number(double value); /* null when it is not finite */
json_t *json_count(uint64_t value);
json_t *json_vector(const float *vector, uint32_t dim);

/* -- guard (guard.c) ------------------------------------------------------------------------------------ */

typedef struct guard {
    const char *token;
    const char *const *names;
    size_t name_count;
    const char *host;
} guard;

/* What a request may not be: the status to refuse it with, and why; 0 when it is fine. `hosts`
 * and `origins`: how many such headers it has. */
typedef struct credentials {
    const char *host, *origin, *authorization;
    const char *site, *mode; /* Sec-Fetch-Site and -Mode, which browsers send */
    unsigned hosts, origins;
    bool open; /* the route needs no token */
} credentials;

int guard_refuses(const guard *g, const credentials *c, const char **why);

/* Whether an address can be reached from this machine only. */
bool is_loopback(const char *host);

/* -- the search desk (desk.c) ------------------------------------------------------------------------- */

typedef struct desk desk;

desk *desk_open(tide_live *live);
void desk_close(desk *d); /* answers who waits; nobody comes any more */

void desk_free(desk *d);

/* Answers r->asked = {"positive": [...], "negative": [...], "answer": NAME, "with": {...}}, where the lists have
 * terms, by an object that has r->count neighbors under that name, and the members of `with`. */
void desk_ask(desk *d, request *r);

/* -- what requests name (lookup.c) ------------------------------------------------------------------------ */

/* What a text is in the words of the model. False when none of them is known. */
bool look_up(server *s, const tide_view *space, const char *text, tide_term *term);

/* Adds to the "terms" of an answer what a text was read as that is not a word itself. */
void note_term(json_t *answer, const char *text, const tide_term *term);

/* The same for r->word. False after a problem was answered. */
bool word_parameter(request *r, tide_term *term, json_t *answer);

/* r->word becomes the token that it is, known or not. False when it is none or several. */
bool use_token(request *r);

/* The lists of r->asked (desk_ask), so far of texts, become lists of terms. False after a problem was answered. */
bool look_up_lists(request *r);

/* -- workers (workers.c) --------------------------------------------------------------------------------- */

workers *workers_open(server *s);
void workers_close(workers *w); /* answers what waits; nothing comes any more */
void workers_free(workers *w);

/* A worker calls the handler of its route. */
void workers_give(workers *w, request *r);

/* -- checkpoints (checkpoints.c) -------------------------------------------------------------------------- */

/* Answers those that have waited too long, and lets go of those that have gone. Once a second. */
void checkpoints_end_late(server *s);
void checkpoints_close(server *s); /* answers those that wait */

/* -- unknown words (unknown.c) ------------------------------------------------------------------------- */

/* 404, with words that are spelled nearly the same, unless too many ask for such. */
void answer_unknown(request *r, const tide_view *space, const char *word);

/* -- exports (export.c) --------------------------------------------------------------------------------- */

typedef struct exporter exporter;

exporter *exporter_open(server *s);
void exporter_close(exporter *x); /* answers who waits; nobody is served any more */
void exporter_free(exporter *x);  /* when what was being sent has ended too */

/* -- figures (figures.c) -------------------------------------------------------------------------------- */

typedef struct figures figures;

figures *figures_new(const server_options *options);
void figures_free(figures *f);
int figures_budget(const figures *f, tide_part parts[TIDE_PARTS_MAX]);
void figures_tick(figures *f); /* once a second */

/* A sign of life from the thread that learns, and whether a checkpoint is on its way. */
void figures_alive(figures *f, bool saving);
void figures_checkpointed(figures *f, const tide_checkpoint *checkpoint);
void figures_refused(figures *f, uint64_t bytes);
void figures_alarm(figures *f, tide_alarm_kind kind);
void figures_exporting(figures *f, uint64_t bytes); /* that a copy takes; 0: none */
void figures_history_saved(figures *f, const char *why); /* or why not; NULL */

json_t *figures_json(figures *f);
char *figures_metrics(figures *f, size_t *size);
bool figures_stuck(const figures *f);
bool figures_degraded(figures *f, char *why, size_t room);
void figures_note_request(figures *f, const request *r);

/* -- events (events.c) ----------------------------------------------------------------------------------- */

typedef struct events events;

events *events_new(void);
void events_free(events *e);

/* To everybody who listens. Takes the object. */
void events_send(events *e, const char *kind, json_t *data);
void events_end(events *e); /* nobody listens any more */
struct MHD_Response *events_listen(events *e, struct MHD_Connection *connection);

/* -- the server ------------------------------------------------------------------------------------------- */

struct server {
    server_options options;
    guard guard;
    struct MHD_Daemon *daemons[2];
    uint16_t port;
    desk *desk;
    workers *workers;
    exporter *exporter;
    figures *figures;
    events *events;
    tide_history *history; /* the options' */
    tide_resolver *resolver;
    pthread_mutex_t resolver_lock;
    double told_words; /* until when who listens knows which came and went */
    uint64_t told_alarms;
    connections *connections;

    pthread_t ticker, historian;
    bool ticking, looking;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t changed;
    bool closing;
    _Atomic bool draining;
    _Atomic bool wants_checkpoint;
    _Atomic bool history_due; /* to be saved, since the model was */
    request *checkpoint_waiters;
    size_t checkpoint_waiter_count;
    double account, account_seen; /* seconds for suggestions */
    bodies bodies;
    line_store *lines;
};

/* -- handlers ----------------------------------------------------------------------------------------------- */

/* The past of a word, as members of an answer about it; and its neighbors of so long ago (past.c). */
void describe_past(server *s, const char *word, json_t *answer);
void answer_past_neighbors(request *r, double age);

/* Looks at what has become of words, and tells who listens. Once a second, by one thread. */
void past_tick(server *s, double now);

void get_history(request *r);
void get_map(request *r);
void put_watch(request *r);
void delete_watch(request *r);
void get_health(request *r);
void get_ready(request *r);
void get_metrics(request *r);
void get_stats(request *r);
void get_events(request *r);
void get_words(request *r);
void get_word(request *r);
void get_neighbors(request *r);
void get_similarity(request *r);
void get_analogy(request *r);
void post_analogy(request *r);
void post_most_similar(request *r);
void post_embeddings(request *r);
void get_models(request *r);
void post_ingest(request *r);
void post_jsonline(request *r);
void post_bulk(request *r);
void get_elastic(request *r);
void post_checkpoint(request *r);
void get_export(request *r);
void get_page(request *r);
void get_description(request *r);

#endif
