/* cmd_serve.c - wordtide serve: learn and answer queries over HTTP at the same time. */
#include "commands.h"
#include "labels.h"
#include "output.h"
#include "train_run.h"

#include "../server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN_MIN = 16, TOKEN_MAX = 256, QUEUE_BYTES = 32 << 20 };

/* Thresholds of alarms: log2 of the change in frequency, degrees of drift,
 * occurrences. */
enum { TREND_ALARM = 2, DRIFT_ALARM = 45, COUNT_ALARM = 50 };
enum { DEMO_STEP = 5, DRIFT_STEPS = 90 }; /* drift is measured over DRIFT_STEPS steps */

typedef struct serving {
    train_job job;
    const char *host, *token_file;
    uint64_t port, queue;
    text_list names;
    char token[TOKEN_MAX + 3]; /* while it is read, with the end of its line */
    tide_live *live;
    tide_feed *feed;
    tide_history *history;
    tide_history_options history_options;
    server_needs needs;
    const char *history_step; /* as typed; NULL for the default */
    uint64_t tracked_words;
    char history_path[PATH_MAX + 16];
    server *server;
} serving;

/* -- the token --------------------------------------------------------------------- */

static bool is_visible(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return true;
}

/* The token is the only line of a file that other users must not be able to read. */
static void read_token(serving *s)
{
    struct stat status;
    int file = open(s->token_file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        usage_error("serve", "--token-file %s: %s", s->token_file, strerror(errno));
    if (!S_ISREG(status.st_mode))
        usage_error("serve", "--token-file %s is not a file", s->token_file);
    if (status.st_mode & 077)
        usage_error("serve", "--token-file %s is readable by others; chmod 600 it",
                    s->token_file);
    ptrdiff_t size = read(file, s->token, sizeof s->token);
    close(file);
    while (size > 0 && strchr("\r\n", s->token[size - 1]))
        size--;
    if (size < TOKEN_MIN || size > TOKEN_MAX || !is_visible(s->token, (size_t)size))
        usage_error("serve",
                    "--token-file %s: the token must have %d to %d characters and no "
                    "spaces",
                    s->token_file, TOKEN_MIN, TOKEN_MAX);
    s->token[size] = 0;
}

/* -- callbacks of the run ---------------------------------------------------------- */

static void on_progress(void *data, const tide_stats *stats)
{
    serving *s = data;
    progress_update(&s->job.progress, stats);
    server_tick(s->server, stats);
    /* Refuse text at once: the queue has to be empty before the last save. */
    if (*s->job.run.stop || stats->ending)
        server_drain(s->server);
    if (server_wants_checkpoint(s->server))
        *s->job.run.save_now = 1;
}

static void on_checkpoint(void *data, const tide_checkpoint *checkpoint)
{
    serving *s = data;
    server_checkpointed(s->server, checkpoint);
}

/* -- the server -------------------------------------------------------------------- */

/* --memory is the limit of trainer and server together, so the trainer must know what
 * the server needs. */
static void plan_memory(serving *s)
{
    s->history_options.tracked = (uint32_t)s->tracked_words;
    s->history_options.drift_age =
        DRIFT_STEPS * (s->history_options.step > 0 ? s->history_options.step : 60);
    s->history_options.trend_alarm = TREND_ALARM;
    s->history_options.drift_alarm = DRIFT_ALARM;
    s->history_options.count_alarm = COUNT_ALARM;
    s->needs = (server_needs){&s->history_options, s->job.options.spool ? 0 : s->queue};
    s->job.options.input.reserve = server_bytes;
    s->job.options.input.reserve_data = &s->needs;
}

/* Restores the history saved beside the checkpoint. One that cannot be read is logged,
 * and a new one starts. */
static bool open_history(serving *s, const char *checkpoint, tide_error *err)
{
    s->history = tide_history_new(s->live, &s->history_options, err);
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
    const train_options *options = &s->job.options;
    return options->spool
               ? tide_feed_new_spooled(options->spool, options->spool_limit,
                                       (tide_spool_sync)options->spool_sync, err)
               : tide_feed_new(s->queue, err);
}

static bool start(serving *s, tide_trainer *trainer)
{
    tide_error err;
    const char *checkpoint = train_options_model_path(&s->job.options);
    s->live = tide_live_new(trainer, TIDE_VECTORS_INPUT, true, &err);
    s->feed = s->live ? new_feed(s, &err) : NULL;
    if (!s->feed || !open_history(s, checkpoint, &err)) {
        log_error(&err);
        return false;
    }
    const server_options options = {.host = s->host,
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
                                    .feed_syncs = s->job.options.spool &&
                                                  s->job.options.spool_sync ==
                                                      TIDE_SPOOL_SYNC_ALWAYS,
                                    .sources = s->job.run.sources,
                                    .source_count = s->job.run.source_count,
                                    .checkpoint = checkpoint};
    s->server = server_start(&options, &err);
    if (!s->server)
        log_error(&err);
    return s->server != NULL;
}

static void note_address(serving *s)
{
    char text[256];
    bool v6 = strchr(s->host, ':') != NULL;
    snprintf(text, sizeof text, "listening on http://%s%s%s:%u/", v6 ? "[" : "",
             s->host, v6 ? "]" : "", (unsigned)server_port(s->server));
    progress_note(&s->job.progress, false, text);
    if (!train_options_model_path(&s->job.options) && s->job.options.served_model)
        progress_note(
            &s->job.progress, false,
            "the model file will not be changed; add --checkpoint FILE to save what is "
            "learned");
    else if (!train_options_model_path(&s->job.options))
        progress_note(
            &s->job.progress, false,
            "nothing will be saved; add --checkpoint FILE to save what is learned");
}

static int serve(serving *s, tide_trainer *trainer)
{
    if (!start(s, trainer))
        return EXIT_FAILURE;
    note_address(s);
    s->job.run.progress = on_progress;
    s->job.run.progress_data = s;
    s->job.run.checkpointed = on_checkpoint;
    s->job.run.checkpointed_data = s;
    s->job.run.feed = s->feed;
    s->job.part_count = server_budget(s->server, s->job.parts);
    return train_job_run(&s->job, trainer);
}

/* -- the command ------------------------------------------------------------------- */

int cmd_serve(int argc, char **argv)
{
    serving s = {.host = "localhost", .port = 8080, .queue = QUEUE_BYTES};
    const option options[] = {
        {"host", 0, OPTION_TEXT, &s.host, "ADDRESS",
         "listen on this address (default localhost); one that other machines can "
         "reach needs --token-file"},
        {"port", 'p', OPTION_NUMBER, &s.port, "N",
         "listen on this port (default 8080); 0 for any free port"},
        {"token-file", 0, OPTION_TEXT, &s.token_file, "FILE",
         "require the token in this file: Authorization: Bearer TOKEN"},
        {"allow-host", 0, OPTION_LIST, &s.names, "NAME",
         "another host name that clients use for this server, besides localhost; may "
         "be repeated"},
        {"demo", 0, OPTION_FLAG, &s.job.options.demo, NULL,
         "learn from the built-in news stream with events"},
        {"queue", 0, OPTION_COUNT, &s.queue, "BYTES",
         "memory for text that was sent and has not been read (default 32M); not used "
         "with --spool"},
        {"history", 0, OPTION_COUNT, &s.tracked_words, "N",
         "keep the history of the N most frequent words (default 5000)"},
        {"history-step", 0, OPTION_TEXT, &s.history_step, "TIME",
         "interval between snapshots of the history, such as 10s (default 1m; 5s with "
         "--demo)"},
        {0},
    };
    const command_usage usage = {
        "serve",
        "serve [OPTION]... [SOURCE]...",
        "Learns as 'wordtide train --follow' does, from sources and from text sent to "
        "it, and answers queries over HTTP at the same time: a web page at /, JSON "
        "under /v1, metrics for Prometheus at /metrics, and the routes that log "
        "shippers use under /insert. A SOURCE that is a model is served, and its file "
        "is not changed. The server listens on this machine only, unless --host says "
        "otherwise. SIGINT and SIGTERM finish the text that was sent, save the model "
        "if it has a file, and exit. With --spool, text is stored in that directory "
        "before its request is answered, and it is learned exactly once, even if the "
        "process is killed and restarted.",
        .options = options,
        .examples =
            "wordtide serve --demo\n"
            "wordtide serve news.tide\n"
            "wordtide serve chat.log --checkpoint chat.tide --continue\n"
            "wordtide serve --checkpoint chat.tide --continue --spool chat.spool\n"
            "curl -H 'Content-Type: text/plain' --data-binary @posts.txt \\\n"
            "    localhost:8080/v1/ingest\n",
        .parameters = true,
        .min_operands = 0,
        .max_operands = -1,
        .common = common_parameters,
        .accepts = is_word_parameter,
        .other_command = "labels train",
    };
    int code;
    s.job.options.serve = true;
    train_options_parse(&s.job.options, argc, argv, usage);
    if (s.port > UINT16_MAX)
        usage_error("serve", "--port must be at most %d", UINT16_MAX);
    s.history_options.step =
        s.history_step
            ? train_options_seconds(&s.job.options, "history-step", s.history_step)
        : s.job.options.demo ? DEMO_STEP
                             : 0;
    if (s.token_file)
        read_token(&s);
    plan_memory(&s);
    tide_trainer *trainer = train_job_open(&s.job, &code);
    if (trainer)
        code = serve(&s, trainer);
    server_stop(s.server);
    tide_history_free(s.history);
    tide_live_free(s.live);
    tide_feed_free(s.feed);
    tide_trainer_free(trainer);
    text_list_free(&s.names);
    train_options_release(&s.job.options);
    return code;
}
