/* learning.c - the job of `train` and of the commands that are like it. */
#include "learning.h"
#include "claim.h"
#include "content.h"
#include "notify.h"
#include "output.h"

#include "../server/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHECKPOINT_SECONDS = 60 };

/* -- what was typed ---------------------------------------------------------------- */

double learning_seconds(const learning *job, const char *name, const char *text)
{
    double seconds = parse_seconds(text);
    if (seconds <= 0)
        usage_error(job->training.command, "--%s '%s' is not a time (10s, 1m, 1h)",
                    name, text);
    return seconds;
}

/* A time, or a number of words. */
static void take_interval(learning *job, const char *text)
{
    double seconds = parse_seconds(text);
    if (seconds > 0)
        job->save_seconds = seconds;
    else if (!parse_number(text, &job->save_tokens) || !job->save_tokens)
        usage_error(job->training.command,
                    "--every '%s' is neither words (1e6) nor time (60s)", text);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Weeks of learning must not be written over by somebody who types a command again. */
static void settle_checkpoint(learning *job)
{
    const char *command = job->training.command, *path = job->checkpoint_path;
    struct stat status;
    size_t length = strlen(job->checkpoint);
    bool folder = (stat(job->checkpoint, &status) == 0 && S_ISDIR(status.st_mode)) ||
                  (length && job->checkpoint[length - 1] == '/');
    int size = snprintf(job->checkpoint_path, sizeof job->checkpoint_path, "%s%s",
                        job->checkpoint, folder ? "/model.tide" : "");
    char before[sizeof job->checkpoint_path + 2];
    snprintf(before, sizeof before, "%s.1", path);
    if (!length)
        usage_error(command, "--checkpoint '' is not the name of a file");
    if (size >= (int)sizeof job->checkpoint_path)
        usage_error(command, "--checkpoint is longer than a path may be");
    if (job->go_on && job->training.resume)
        usage_error(command, "--continue and --resume exclude each other");
    bool there = is_there(path) || is_there(before);
    if (job->go_on && there)
        job->training.resume = path;
    if (there && !(job->training.resume && !strcmp(job->training.resume, path)))
        usage_error(command,
                    "%s is there already: --continue goes on from it, or remove it",
                    path);
    if (!job->every.count)
        job->save_seconds = CHECKPOINT_SECONDS;
}

/* Things happen in the demo within minutes, so the past has to fade as fast. */
static void follow_change(training *t)
{
    static const char *const names[] = {"half-life", "rate-half-life"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!t->resume && !settings_value(&t->typed, names[i]))
            settings_add(&t->typed, names[i], "300000");
}

/* A model among the sources of a server is the one to be served. It stays as it is, since nobody has
 * asked to write to it. */
static void take_model(learning *job)
{
    tide_error what;
    training *t = &job->training;
    for (int i = 0; i < t->source_count; i++) {
        char *name = t->sources[i];
        if (content_of(name, &what) != TIDE_CONTENT_MODEL)
            continue;
        if (t->resume || job->go_on)
            usage_error(t->command,
                        "%s is a model, and %s names another: leave one out", name,
                        job->go_on ? "--continue" : t->resume);
        t->resume = job->served_model = name;
        t->source_count--;
        memmove(t->sources + i, t->sources + i + 1,
                (size_t)(t->source_count - i) * sizeof *t->sources);
        i--;
    }
}

/* A server has what is sent to it as a source besides. */
static void add_feed(learning *job)
{
    training *t = &job->training;
    static char feed[] = "feed:", demo[] = "demo:events=on,rate=2000";
    size_t count = (size_t)t->source_count;
    char **sources = calloc(count + 3, sizeof *sources);
    if (!sources)
        usage_error(t->command, "no memory for %zu sources", count);
    memcpy(sources, t->sources, count * sizeof *sources);
    if (job->demo) {
        sources[count++] = demo;
        follow_change(t);
    }
    sources[count++] = feed;
    t->sources = job->served = sources;
    t->source_count = (int)count;
    job->follow = true;
}

static void settle(learning *job)
{
    const char *command = job->training.command;
    if (job->serves) {
        take_model(job);
        add_feed(job);
    }
    if (job->max_errors && !parse_number(job->max_errors, &job->most_errors))
        usage_error(command, "--max-errors '%s' is no number", job->max_errors);
    for (size_t i = 0; i < job->every.count; i++)
        take_interval(job, job->every.items[i]);
    if (job->checkpoint)
        settle_checkpoint(job);
    else if (job->go_on)
        usage_error(command, "--continue needs --checkpoint");
    if (job->serves && job->spool && !job->checkpoint)
        usage_error(command, "--spool needs --checkpoint, which says what of it is "
                             "learned");
    if (!job->output && !job->checkpoint && !job->served_model)
        job->output = job->training.resume;
    if (!job->output && !job->checkpoint && !job->serves)
        usage_error(command, "no place for the model: -o MODEL is missing");
    if (job->output && !*job->output)
        usage_error(command, "-o '' is not the name of a file");
    if (job->output && !strcmp(job->output, "-"))
        usage_error(command, "a model is a file, it cannot go to standard output");
    training_batch(&job->training, job->batch);
    training_settle(&job->training);
}

void learning_take(learning *job, int argc, char **argv, command_usage usage)
{
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &job->output, "MODEL",
         "the file to write (default with --resume: the same file)"},
        {"resume", 0, OPTION_TEXT, &job->training.resume, "MODEL",
         "go on from this model exactly where it stopped"},
        {"batch", 0, OPTION_FLAG, &job->batch, NULL,
         "count the words of stored text, then read it --epochs times (default 5); "
         "profile word2vec unless another is named"},
        {"every", 0, OPTION_LIST, &job->every, "N",
         "save every N words (1e6) or so often (60s, 5m, 1h); may be given twice, once "
         "for each"},
        {"checkpoint", 0, OPTION_TEXT, &job->checkpoint, "FILE|DIR",
         "save to this file on the way, every minute unless --every says otherwise, "
         "and keep earlier ones beside it; then -o may be left out"},
        {"keep-checkpoints", 0, OPTION_NUMBER, &job->older, "N",
         "how many earlier files to keep beside a new one, as FILE.1, FILE.2: what "
         "was at -o before this run, and checkpoints (default 2)"},
        {"continue", 0, OPTION_FLAG, &job->go_on, NULL,
         "go on from the checkpoint if there is one, otherwise begin"},
        {"follow", 'f', OPTION_FLAG, &job->follow, NULL,
         "go on reading files as they grow, also when they are rotated; ends with "
         "SIGTERM"},
        {"spool", 0, OPTION_TEXT, &job->spool, "DIR",
         "write what comes from a pipe, or is sent to a server, to this folder first, "
         "so that nothing of it is lost or learned twice when the process is killed"},
        {"spool-limit", 0, OPTION_SIZE, &job->spool_limit, "SIZE",
         "save when the spool has become so large (default 1G)"},
        {"spool-sync", 0, OPTION_CHOICE, &job->spool_sync, "1s|always|none",
         "how often the spool is brought to the disk: a power failure takes up to one "
         "second of text, nothing, or what the system had not written yet (default "
         "1s)"},
        {"max-errors", 0, OPTION_TEXT, &job->max_errors, "N",
         "end with exit code 3 after more than N bad records (default: never)"},
        {"property", 'X', OPTION_LIST, &job->properties, "KEY=VALUE",
         "a setting for librdkafka; may be given again"},
        {"from-start", 0, OPTION_FLAG, &job->from_start, NULL,
         "with --resume: read sources again that had been read already"},
        {"quiet", 'q', OPTION_FLAG, &job->quiet, NULL, "say only what went wrong"},
    };
    enum { SHARED = sizeof options / sizeof *options };
    option all[SHARED + OPTIONS_MORE + 1] = {0};
    size_t more = 0;
    for (; usage.options && usage.options[more].name; more++)
        all[more] = usage.options[more];
    memcpy(all + more, options, sizeof options);
    usage.options = all;
    job->older = OLDER;
    job->training.command = usage.command;
    job->training.source_count =
        parse_options(argc, argv, &usage, &job->training.typed);
    job->training.sources = argv;
    settle(job);
}

void learning_release(learning *job)
{
    free(job->served);
    text_list_free(&job->properties);
    text_list_free(&job->every);
    settings_free(&job->training.typed);
}

/* -- the run ----------------------------------------------------------------------- */

static const char *checkpoint_file(const learning *job)
{
    return job->checkpoint ? job->checkpoint_path : NULL;
}

static tide_run run_of(learning *job)
{
    tide_run run = training_run(&job->training);
    run.from_start = job->from_start;
    run.watch = progress_watch;
    run.watch_data = &job->progress;
    run.note = progress_note;
    run.note_data = &job->progress;
    run.save_path = job->output;
    run.save_tokens = job->save_tokens;
    run.save_seconds = job->save_seconds;
    run.checkpoint_path = checkpoint_file(job);
    run.older = (uint32_t)job->older;
    run.saved = &job->saved;
    run.follow = job->follow;
    run.properties = job->properties.items;
    run.property_count = job->properties.count;
    run.spool = job->serves ? NULL : job->spool; /* a server's is behind its feed */
    run.spool_limit = job->spool_limit;
    run.spool_sync = (tide_spool_sync)job->spool_sync;
    run.errors_limited = job->max_errors != NULL;
    run.max_errors = job->most_errors;
    return run;
}

static bool claim_files(const learning *job)
{
    const char *checkpoint = checkpoint_file(job);
    bool one = checkpoint && job->output && !strcmp(checkpoint, job->output);
    return (!checkpoint || claim(checkpoint)) &&
           (!job->output || one || claim(job->output));
}

tide_trainer *learning_begin(learning *job, int *code)
{
    *code = EXIT_FAILURE;
    raise_descriptors();
    notify_open();
    if (!claim_files(job))
        return NULL;
    progress_begin(&job->progress, &(tide_stats){0}, job->quiet);
    job->run = run_of(job);
    tide_trainer *trainer = training_begin(&job->training, &job->run, code);
    if (!trainer && *code == EXIT_SUCCESS) {
        progress_note(&job->progress, true,
                      "stopped while words were counted: there is no model");
        *code = EXIT_KILLED;
    }
    return trainer;
}

/* A run without words has left the files as they were. That is no failure where there is a model to go on with, and
 * for one that reads what may come and was stopped. */
static int code_without_words(const learning *job)
{
    if (job->training.resume || !learning_path(job) || (job->stopped && job->follow))
        return EXIT_SUCCESS;
    return job->stopped ? EXIT_KILLED : EXIT_INPUT;
}

static void tell_no_words(learning *job)
{
    const char *path = learning_path(job);
    char text[PATH_MAX + 64];
    snprintf(text, sizeof text,
             !path || job->saved ? "no words were read"
             : is_there(path)    ? "no words were read: %s is unchanged"
                                 : "no words were read: %s was not written",
             path);
    progress_note(&job->progress, true, text);
}

/* A thread more than there are processors makes the others wait. */
static void note_threads(learning *job, const tide_trainer *trainer)
{
    char threads[32] = "", text[128];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    tide_params_text(tide_trainer_params(trainer), "threads", threads, sizeof threads);
    if (processors < 1 || strtoul(threads, NULL, 10) <= (unsigned long)processors)
        return;
    snprintf(
        text, sizeof text,
        "%s threads on %ld processors: no faster than %ld, and the vectors are worse",
        threads, processors, processors);
    progress_note(&job->progress, false, text);
}

/* The run saves what it has learned, also before a source failed. */
int learning_run(learning *job, tide_trainer *trainer)
{
    tide_error err;
    tide_stats before, after;
    progress *p = &job->progress;
    tide_trainer_stats(trainer, &before);
    progress_break(p);
    progress_begin(p, &before, job->quiet);
    if (!job->part_count)
        job->part_count = tide_trainer_budget(trainer, job->parts);
    progress_budget(p, job->parts, job->part_count);
    note_threads(job, trainer);

    int status = training_learn(trainer, &job->run, &err);
    job->stopped = status != 0;
    tide_trainer_stats(trainer, &after);
    bool no_words = after.tokens == before.tokens;
    int code = EXIT_SUCCESS;
    if (status >= 0 && no_words) {
        tell_no_words(job);
        code = after.records > before.records ? EXIT_INPUT : code_without_words(job);
    }
    if (job->saved || status >= 0)
        training_note_skipped(p, &after, &before);
    if (status < 0) {
        progress_break(p);
        code = training_failure(&err);
    }
    const char *path = learning_path(job);
    if (job->saved || (status >= 0 && !path))
        progress_end(p, &after, path, job->saved ? claim_kept(path) : NULL,
                     job->stopped);
    return code;
}

const char *learning_path(const learning *job)
{
    return job->output ? job->output : checkpoint_file(job);
}
