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
    CONNECTIONS_MAX = 1024,
};

typedef struct request request;

/* -- routes (routes.c) ------------------------------------------------------------------------------ */

/* What a route asks for; bits. */
enum { OPEN = 1, INGESTS = 2 }; /* no token needed; takes text of any kind */

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

connections *connections_new(void);
void connections_free(connections *all);

/* Told by the library; `data` is the connections. */
void connections_notice(void *data, struct MHD_Connection *library, void **context,
                        enum MHD_ConnectionNotificationCode code);
void connections_enter(connections *all, struct MHD_Connection *library,
                       connection_phase phase);

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
    double begun;
    bool headers_only; /* HEAD */

    int status;
    struct MHD_Response *response;
    connection_phase phase; /* while the answer goes */
    bool close;             /* the connection, after the answer */
    bool queued;
    bool waiting; /* for another thread to answer */

    request *next; /* in the queue of whoever answers */
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

/* Listens on the address and the port, 0 being any; NULL with errno when that cannot be. */
struct MHD_Daemon *listen_on(server *s, const struct sockaddr *address, uint16_t *port);

/* -- before the body (headers.c) ------------------------------------------------------------------------ */

/* Each is false after a problem was answered. */
bool check_headers(request *r, const char *version);
bool check_parameters(request *r);
bool check_body(request *r);

/* -- bodies (body.c) --------------------------------------------------------------------------------------- */

void take_body(request *r, const char *bytes, size_t size);
void drop_body(request *r);

/* `flags` of jansson. NULL with a reason, which lasts until the thread's next call, when it is not JSON or nested too deeply. */
json_t *load_json(const char *json, size_t size, size_t flags, const char **why);

/* The body as JSON, an object. NULL after a problem was answered. */
json_t *body_object(request *r);

/* -- answers (answer.c) -------------------------------------------------------------------------------- */

/* Takes the response, as the answer instead of any before. */
void answer_with(request *r, int status, struct MHD_Response *response);

/* Takes the object. */
void answer_json(request *r, int status, json_t *object);
void answer_text(request *r, int status, const char *type, char *text, size_t size);
void answer_nothing(request *r); /* 204 */

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

/* Answers r->asked = {"positive": [...], "negative": [...], "answer": NAME, "with": {...}} by an object that has r->count
 * neighbours under that name, and the members of `with`. */
void desk_ask(desk *d, request *r);

/* -- unknown words (unknown.c) ------------------------------------------------------------------------- */

/* 404, with words that are spelt nearly the same, unless too many ask for such. */
void answer_unknown(request *r, const tide_space *space, const char *word);

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
void figures_tick(figures *f,
                  bool learning); /* once a second; whether learning has ticked too */
void figures_saving(figures *f, bool saving); /* whether a checkpoint is on its way */
void figures_checkpointed(figures *f, const tide_checkpoint *checkpoint);
void figures_refused(figures *f, uint64_t bytes);
void figures_alarm(figures *f, tide_alarm_kind kind);
void figures_exporting(figures *f, uint64_t bytes); /* that a copy takes; 0: none */
void figures_history_failed(figures *f, const char *why);

json_t *figures_json(figures *f);
char *figures_metrics(figures *f, size_t *size);
bool figures_stuck(figures *f);
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
    exporter *exporter;
    figures *figures;
    events *events;
    tide_history *history; /* the options' */
    double told_words;     /* until when who listens knows which came and went */
    uint64_t told_alarms;
    connections *connections;

    pthread_t ticker;
    bool ticking;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t changed;
    bool closing;
    _Atomic uint64_t learned; /* ticks of the thread that learns */
    _Atomic bool draining;
    _Atomic bool wants_checkpoint;
    _Atomic bool history_due; /* to be saved, since the model was */
    request *checkpoint_waiters;
    double account, account_seen; /* seconds for suggestions */
    _Atomic uint64_t bodies;      /* bytes of bodies that are being received */
};

/* -- handlers ----------------------------------------------------------------------------------------------- */

/* The past of a word, as members of an answer about it; and its neighbours of so long ago (past.c). */
void describe_past(server *s, const char *word, json_t *answer);
void answer_past_neighbors(request *r, double age);

/* Looks at what has become of words, and tells who listens. Once a second, by the ticker. */
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

#endif
