/* cmd_serve.c - wordtide serve: learn, and answer over HTTP at the same time. */
#include "commands.h"
#include "labels.h"
#include "learning.h"
#include "output.h"

#include "../server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN_LEAST = 16, TOKEN_MOST = 256, QUEUE_BYTES = 32 << 20 };

/* Alarms: four times as often, turned by so many degrees, seen so often. */
enum { TREND_ALARM = 2, DRIFT_ALARM = 45, COUNT_ALARM = 50 };
enum { DEMO_STEP = 5, DRIFT_STEPS = 90 }; /* drift is since so many steps */

typedef struct serving {
    learning job;
    const char *host, *token_file;
    uint64_t port, queue;
    text_list names;
    char token[TOKEN_MOST + 3]; /* with the end of its line */
    tide_live *live;
    tide_feed *feed;
    tide_history *history;
    tide_history_options past;
    server_needs needs;
    const char *step;
    uint64_t followed;
    char history_path[PATH_MAX + 16];
    server *server;
} serving;

/* -- the token -------------------------------------------------------------------- */

static bool is_visible(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return true;
}

/* The one line of a file that nobody else may read. */
static void read_token(serving *s)
{
    struct stat status;
    int file = open(s->token_file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        usage_error("serve", "--token-file %s: %s", s->token_file, strerror(errno));
    if (!S_ISREG(status.st_mode))
        usage_error("serve", "--token-file %s is not a file", s->token_file);
    if (status.st_mode & 077)
        usage_error("serve", "--token-file %s can be read by others: chmod 600 it",
                    s->token_file);
    ptrdiff_t size = read(file, s->token, sizeof s->token);
    close(file);
    while (size > 0 && strchr("\r\n", s->token[size - 1]))
        size--;
    if (size < TOKEN_LEAST || size > TOKEN_MOST || !is_visible(s->token, (size_t)size))
        usage_error("serve",
                    "--token-file %s: a token has %d to %d characters, and no "
                    "blanks",
                    s->token_file, TOKEN_LEAST, TOKEN_MOST);
    s->token[size] = 0;
}

/* -- while it learns --------------------------------------------------------------- */

static void watch(void *data, const tide_stats *stats)
{
    serving *s = data;
    progress_watch(&s->job.progress, stats);
    server_tick(s->server, stats);
    if (*s->job.run.stop || stats->ending)
        server_drain(s->server);
    if (server_wants_checkpoint(s->server))
        *s->job.run.save_now = 1;
}

static void checkpointed(void *data, const tide_checkpoint *checkpoint)
{
    serving *s = data;
    server_checkpointed(s->server, checkpoint);
}

/* The memory that is given with --memory is that of trainer and server. */
static void plan(serving *s)
{
    s->past.follow = (uint32_t)s->followed;
    s->past.drift_age = DRIFT_STEPS * (s->past.step > 0 ? s->past.step : 60);
    s->past.trend_alarm = TREND_ALARM;
    s->past.drift_alarm = DRIFT_ALARM;
    s->past.count_alarm = COUNT_ALARM;
    s->needs = (server_needs){&s->past, s->job.spool ? 0 : s->queue};
    s->job.training.others = server_bytes;
    s->job.training.others_data = &s->needs;
}

/* What words were, as far as it was kept when the model was. */
static bool remember(serving *s, const char *checkpoint, tide_error *err)
{
    s->history = tide_history_new(s->live, &s->past, err);
    if (!s->history || !checkpoint)
        return s->history != NULL;
    snprintf(s->history_path, sizeof s->history_path, "%s.history", checkpoint);
    if (access(s->history_path, F_OK) == 0 &&
        tide_history_load(s->history, s->history_path, err))
        progress_note(&s->job.progress, true, err->text);
    return true;
}

static tide_feed *new_feed(const serving *s, tide_error *err)
{
    const learning *job = &s->job;
    return job->spool ? tide_feed_new_spooled(job->spool, job->spool_limit,
                                              (tide_spool_sync)job->spool_sync, err)
                      : tide_feed_new(s->queue, err);
}

static bool start(serving *s, tide_trainer *trainer)
{
    tide_error err;
    const char *checkpoint = learning_path(&s->job);
    s->live = tide_live_new(trainer, TIDE_VECTORS_INPUT, true, &err);
    s->feed = s->live ? new_feed(s, &err) : NULL;
    if (!s->feed || !remember(s, checkpoint, &err)) {
        report(&err);
        return false;
    }
    const server_options options = {
        .host = s->host,
        .port = (uint16_t)s->port,
        .token = s->token_file ? s->token : NULL,
        .names = s->names.items,
        .name_count = s->names.count,
        .trainer = trainer,
        .live = s->live,
        .history = s->history,
        .history_path = checkpoint ? s->history_path : NULL,
        .feed = s->feed,
        .needs = s->needs,
        .feed_syncs = s->job.spool && s->job.spool_sync == TIDE_SPOOL_SYNC_ALWAYS,
        .sources = s->job.run.sources,
        .source_count = s->job.run.source_count,
        .checkpoint = checkpoint};
    s->server = server_start(&options, &err);
    if (!s->server)
        report(&err);
    return s->server != NULL;
}

static void say_where(serving *s)
{
    char text[256];
    bool v6 = strchr(s->host, ':') != NULL;
    snprintf(text, sizeof text, "the page is at http://%s%s%s:%u/", v6 ? "[" : "",
             s->host, v6 ? "]" : "", (unsigned)server_port(s->server));
    progress_note(&s->job.progress, false, text);
    if (!learning_path(&s->job) && s->job.served_model)
        progress_note(&s->job.progress, false,
                      "the model's file stays as it is: --checkpoint FILE would keep "
                      "what is learned");
    else if (!learning_path(&s->job))
        progress_note(&s->job.progress, false,
                      "nothing is saved: --checkpoint FILE would keep what is learned");
}

static int serve(serving *s, tide_trainer *trainer)
{
    if (!start(s, trainer))
        return EXIT_FAILURE;
    say_where(s);
    s->job.run.watch = watch;
    s->job.run.watch_data = s;
    s->job.run.checkpointed = checkpointed;
    s->job.run.checkpointed_data = s;
    s->job.run.feed = s->feed;
    s->job.part_count = server_budget(s->server, s->job.parts);
    return learning_run(&s->job, trainer);
}

/* -- the command -------------------------------------------------------------------- */

int cmd_serve(int argc, char **argv)
{
    serving s = {.host = "localhost", .port = 8080, .queue = QUEUE_BYTES};
    const option options[] = {
        {"host", 0, OPTION_TEXT, &s.host, "ADDRESS",
         "where to listen (default localhost); any that others can reach needs "
         "--token-file"},
        {"port", 'p', OPTION_NUMBER, &s.port, "N",
         "the port (default 8080); 0 for any that is free"},
        {"token-file", 0, OPTION_TEXT, &s.token_file, "FILE",
         "requests must carry the token in this file: Authorization: Bearer TOKEN"},
        {"allow-host", 0, OPTION_LIST, &s.names, "NAME",
         "a name under which the server is reached, besides localhost; may be given "
         "again"},
        {"demo", 0, OPTION_FLAG, &s.job.demo, NULL,
         "learn from the built-in news stream, in which things happen"},
        {"queue", 0, OPTION_COUNT, &s.queue, "BYTES",
         "room for text that was sent and waits to be read (default 32M; --spool has "
         "its own)"},
        {"history", 0, OPTION_COUNT, &s.followed, "N",
         "follow the past of so many of the most frequent words (default 5000)"},
        {"history-step", 0, OPTION_TEXT, &s.step, "TIME",
         "the youngest age at which it is kept: 10s, 1m (default 1m; 5s with --demo)"},
        {0},
    };
    const command_usage usage = {
        "serve",
        "serve [OPTION]... [SOURCE]...",
        "Learns as 'wordtide train --follow' does, from sources and from text that is "
        "sent to it, and answers over HTTP at the same time: a page at /, JSON under "
        "/v1, metrics for Prometheus at /metrics, and the routes that log shippers "
        "speak "
        "under /insert. A SOURCE that is a model is served, and its file stays as it "
        "is. "
        "It listens on this machine only, unless --host says otherwise. "
        "SIGINT and SIGTERM learn what was sent, save the model if there is a place "
        "for it, and end. With --spool, text is in that folder before the answer says "
        "that it was taken, and is learned once, also when the process is killed and "
        "started again; what a stop has left there is learned after the next start.",
        .options = options,
        .examples =
            "wordtide serve --demo\n"
            "wordtide serve news.tide\n"
            "wordtide serve chat.log --checkpoint chat.tide --continue\n"
            "wordtide serve --checkpoint chat.tide --continue --spool chat.spool\n"
            "curl -H 'Content-Type: text/plain' --data-binary @posts.txt "
            "localhost:8080/v1/ingest\n",
        .parameters = true,
        .least = 0,
        .most = -1,
        .takes = is_about_words,
        .instead = "labels train",
    };
    int code;
    s.job.serves = true;
    learning_take(&s.job, argc, argv, usage);
    if (s.port > UINT16_MAX)
        usage_error("serve", "--port is a number up to %d", UINT16_MAX);
    s.past.step = s.step       ? learning_seconds(&s.job, "history-step", s.step)
                  : s.job.demo ? DEMO_STEP
                               : 0;
    if (s.token_file)
        read_token(&s);
    plan(&s);
    tide_trainer *trainer = learning_begin(&s.job, &code);
    if (trainer)
        code = serve(&s, trainer);
    server_stop(s.server);
    tide_history_free(s.history);
    tide_live_free(s.live);
    tide_feed_free(s.feed);
    tide_trainer_free(trainer);
    text_list_free(&s.names);
    learning_release(&s.job);
    return code;
}
