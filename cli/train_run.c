/* train_run.c - runs training: signals, the trainer, and the result.
 *
 * A handler set without SA_RESTART makes a signal interrupt a blocked read. A signal
 * that comes just before the read would not, so the handler also starts an alarm that
 * repeats every second until the run is over.
 *
 * The second signal to stop ends the process at once, with two exceptions. The same
 * signal again within REPEAT_SECONDS is a duplicate: timeout(1) signals both the
 * command and its process group. A SIGHUP never counts as the second one, because the
 * shell and the kernel both send it when a terminal is closed.
 *
 * Without a terminal, SIGHUP comes from tools that rotate logs or ask a daemon to
 * reload. There is nothing to reload, so it is ignored.
 */
#include "train_run.h"
#include "content.h"
#include "lockfile.h"
#include "output.h"
#include "systemd_notify.h"

#include "../server/process.h"

#include "base/base.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPEAT_SECONDS 0.25

/* -- signals ----------------------------------------------------------------------- */

static volatile sig_atomic_t stop_signal, save_requested;
static double stop_time; /* used only by the handler */

static void on_alarm(int signal)
{
    (void)signal;
    alarm(1);
}

static void on_stop(int signal)
{
    if (!stop_signal) {
        stop_signal = signal;
        stop_time = tide_now_seconds();
        alarm(1);
        return;
    }
    /* All that handlers call is safe in them: clock_gettime, alarm and _exit. */
    bool duplicate =
        signal == stop_signal && tide_now_seconds() - stop_time < REPEAT_SECONDS;
    if (!duplicate && signal != SIGHUP)
        _exit(EXIT_KILLED);
}

static void on_save(int signal)
{
    (void)signal;
    save_requested = 1;
}

/* The mask lets only one handler run at a time. */
static void set_handler(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

/* nohup(1) leaves SIGHUP ignored. */
static bool is_ignored(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void catch_signals(void)
{
    bool stop_on_hangup = isatty(STDERR_FILENO) && !is_ignored(SIGHUP);
    set_handler(SIGINT, on_stop, 0);
    set_handler(SIGTERM, on_stop, 0);
    set_handler(SIGHUP, stop_on_hangup ? on_stop : SIG_IGN, 0);
    /* A save can wait for the read in progress; only a stop has to interrupt it. */
    set_handler(SIGUSR1, on_save, SA_RESTART);
    set_handler(SIGALRM, on_alarm, 0);
}

/* Threads inherit the mask. Those started while the signals are blocked never receive
 * them, which leaves the reading thread to be interrupted. */
static void mask_signals(int how)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaddset(&set, caught[i]);
    pthread_sigmask(how, &set, NULL);
}

void request_stop(void)
{
    if (!stop_signal)
        stop_signal = SIGTERM;
}

bool show_epoch_until_stopped(void *data, const tide_epoch *epoch)
{
    progress_epoch(data, epoch);
    return !stop_signal;
}

/* -- the trainer ------------------------------------------------------------------- */

/* An explicit --records lines turns off the check for what the text looks like. */
static bool is_typed_lines(const train_input *input)
{
    const char *records = settings_value(&input->typed, "records");
    return records && !strcmp(records, "lines");
}

tide_run new_run(const train_input *input)
{
    return (tide_run){.size = sizeof(tide_run),
                      .sources = (const char *const *)input->sources,
                      .source_count = (size_t)input->source_count,
                      .as_text = is_typed_lines(input),
                      .stop = &stop_signal,
                      .save_now = &save_requested};
}

static tide_trainer *load_trainer(const train_input *input, const tide_run *run,
                                  int *code)
{
    tide_error err;
    const char *const(*changes)[2] = (const char *const(*)[2])input->typed.pairs;
    tide_trainer *trainer = tide_trainer_recover(
        input->resume, changes, input->typed.count, run->note, run->note_data, &err);
    if (!trainer && err.status == TIDE_ERROR_PARAMETER)
        usage_error(input->command, "%s", err.text);
    if (!trainer) {
        tide_error content;
        *code = log_load_error(&err);
        if (content_of(input->resume, &content) == TIDE_CONTENT_VECTORS)
            log_message("it is %s; to make a model of it: wordtide import %s -o "
                        "NEW.tide",
                        content.text, input->resume);
        return NULL;
    }
    tide_stats stats;
    tide_trainer_stats(trainer, &stats, sizeof stats);
    if (input->batch && !stats.epochs)
        usage_error(input->command, "--batch: this model can only be trained in one "
                                    "pass, since it was started as a stream or is "
                                    "frozen");
    return trainer;
}

static tide_trainer *create_trainer(const train_input *input, const tide_run *run,
                                    int *code)
{
    tide_error err;
    tide_params *params = settings_params(&input->typed, input->command);
    if (!params)
        return NULL;
    tide_params_reserve(params, input->reserve, input->reserve_data);
    tide_trainer *trainer = NULL;
    int status = 0; /* 1: stopped while it counted */
    if (input->batch)
        status = tide_trainer_new_batch(params, run, &trainer, &err);
    else
        trainer = tide_trainer_new(params, &err);
    tide_params_free(params);
    if (!trainer)
        *code = status > 0 ? EXIT_SUCCESS : log_training_error(&err);
    return trainer;
}

tide_trainer *open_trainer(const train_input *input, const tide_run *run, int *code)
{
    *code = EXIT_FAILURE;
    catch_signals();
    /* A new batch model counts its text here, which signals must be able to stop. */
    if (input->resume || !input->batch)
        mask_signals(SIG_BLOCK);
    tide_trainer *trainer = input->resume ? load_trainer(input, run, code)
                                          : create_trainer(input, run, code);
    mask_signals(SIG_UNBLOCK);
    return trainer;
}

int run_trainer(tide_trainer *trainer, const tide_run *run, tide_error *err)
{
    int status = tide_trainer_run(trainer, run, err);
    /* The alarm that on_stop started would interrupt what the command prints now. */
    signal(SIGALRM, SIG_IGN);
    return status;
}

/* -- the result -------------------------------------------------------------------- */

static void log_count(progress *p, bool warning, uint64_t count, const char *what)
{
    char text[128];
    if (!count)
        return;
    snprintf(text, sizeof text, "%s: %" PRIu64, what, count);
    progress_note(p, warning, text);
}

void log_skipped_input(progress *p, const tide_stats *now, const tide_stats *before)
{
    /* From 20 invalid words and 2 % of all, the whole input probably is not UTF-8. */
    enum { MANY = 20, SHARE = 50 };
    uint64_t skipped = now->skipped_invalid - before->skipped_invalid;
    log_count(p, true, skipped, "words skipped because they are not valid text");
    if (skipped >= MANY && skipped * SHARE > now->tokens - before->tokens)
        progress_note(p, true,
                      "is the input UTF-8? Latin-1, for example, can be converted with "
                      "iconv -f WINDOWS-1252 -t UTF-8");
    log_count(p, true, now->cut_words - before->cut_words, "long words truncated");
    log_count(p, true, now->malformed_records - before->malformed_records,
              "records skipped because they are malformed");
    log_count(p, true, now->missing_records - before->missing_records,
              "records skipped because they have no text");
    log_count(p, true, now->long_records - before->long_records,
              "records skipped because they are longer than 1 MiB");
    log_count(p, true, now->repaired - before->repaired,
              "vectors reinitialized because they contained NaN");
    log_count(p, false, now->omitted_words - before->omitted_words,
              "words left out by the options");
    log_count(p, false, now->cut_sentences - before->cut_sentences,
              "long sentences split");
}

int log_training_error(const tide_error *err)
{
    int code = log_error(err);
    bool is_input = err->status == TIDE_ERROR_FORMAT || err->status == TIDE_ERROR_INPUT;
    return is_input ? EXIT_INPUT : code;
}

/* -- the job ----------------------------------------------------------------------- */

static tide_run job_run(train_job *job)
{
    const train_options *options = &job->options;
    tide_run run = new_run(&options->input);
    run.from_start = options->from_start;
    run.progress = progress_update;
    run.progress_data = &job->progress;
    run.note = progress_note;
    run.note_data = &job->progress;
    run.save_path = options->output;
    run.save_tokens = options->save_tokens;
    run.save_seconds = options->save_seconds;
    run.checkpoint_path = train_options_checkpoint(options);
    run.keep_checkpoints = (uint32_t)options->backups;
    run.saved = &job->saved;
    run.follow = options->follow;
    run.properties = options->properties.items;
    run.property_count = options->properties.count;
    run.spool = options->serve ? NULL : options->spool; /* a server spools its feed */
    run.spool_limit = options->spool_limit;
    run.spool_sync = (tide_spool_sync)options->spool_sync;
    run.errors_limited = options->max_errors_text != NULL;
    run.max_errors = options->max_errors;
    return run;
}

static int lock_files(const train_options *options)
{
    const char *checkpoint = train_options_checkpoint(options);
    const char *output = options->output, *resumed = options->input.resume;
    uint32_t keep = (uint32_t)options->backups;
    /* A second lock on the same path would find the first one and refuse. */
    bool same = checkpoint && output && !strcmp(checkpoint, output);
    int code = EXIT_SUCCESS;
    if (checkpoint)
        code = lockfile_acquire(checkpoint, keep, resumed);
    if (output && !same && code == EXIT_SUCCESS)
        code = lockfile_acquire(output, keep, resumed);
    return code;
}

tide_trainer *train_job_open(train_job *job, int *code)
{
    raise_descriptors();
    systemd_open();
    *code = lock_files(&job->options);
    if (*code != EXIT_SUCCESS)
        return NULL;
    progress_begin(&job->progress, &(tide_stats){0}, job->options.quiet);
    job->run = job_run(job);
    tide_trainer *trainer = open_trainer(&job->options.input, &job->run, code);
    if (!trainer && *code == EXIT_SUCCESS) {
        progress_note(&job->progress, true,
                      "stopped while counting words; there is no model yet");
        *code = EXIT_KILLED;
    }
    return trainer;
}

/* A run without words leaves the files unchanged. That is no failure if there was a
 * model before, or if the command waited for text and was stopped. */
static int exit_code_without_words(const train_job *job)
{
    const train_options *options = &job->options;
    if (options->input.resume || !train_options_model_path(options) ||
        (job->stopped && options->follow))
        return EXIT_SUCCESS;
    return job->stopped ? EXIT_KILLED : EXIT_INPUT;
}

static void note_no_words(train_job *job)
{
    const char *path = train_options_model_path(&job->options);
    char text[PATH_MAX + 64];
    snprintf(text, sizeof text,
             !path || job->saved       ? "no words were read"
             : access(path, F_OK) == 0 ? "no words were read: %s is unchanged"
                                       : "no words were read: %s was not written",
             path);
    progress_note(&job->progress, true, text);
}

/* More threads than processors wait for each other, and their updates collide. */
static void note_threads(train_job *job, const tide_trainer *trainer)
{
    char threads[32] = "", text[160];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    tide_params_text(tide_trainer_params(trainer), "threads", threads, sizeof threads);
    if (processors < 1 || strtoul(threads, NULL, 10) <= (unsigned long)processors)
        return;
    snprintf(text, sizeof text,
             "%s threads on %ld processors: no faster than %ld, and the vectors are "
             "worse",
             threads, processors, processors);
    progress_note(&job->progress, false, text);
}

/* The run saves the model even if a source fails, so a failed run may end with a saved
 * model to log. */
int train_job_run(train_job *job, tide_trainer *trainer)
{
    tide_error err;
    tide_stats before, after;
    progress *p = &job->progress;
    tide_trainer_stats(trainer, &before, sizeof before);
    progress_break(p);
    progress_begin(p, &before, job->options.quiet);
    if (!job->part_count)
        job->part_count = tide_trainer_budget(trainer, job->parts);
    progress_budget(p, job->parts, job->part_count);
    note_threads(job, trainer);

    int status = run_trainer(trainer, &job->run, &err);
    job->stopped = status != 0;
    tide_trainer_stats(trainer, &after, sizeof after);
    /* Words that were read, not those in the vocabulary: a resumed run has some of
     * these from before. */
    bool no_words = after.tokens == before.tokens;
    int code = EXIT_SUCCESS;
    if (status >= 0 && no_words) {
        note_no_words(job);
        code =
            after.records > before.records ? EXIT_INPUT : exit_code_without_words(job);
    }
    if (job->saved || status >= 0)
        log_skipped_input(p, &after, &before);
    if (status < 0) {
        progress_break(p);
        code = log_training_error(&err);
    }
    const char *path = train_options_model_path(&job->options);
    if (job->saved || (status >= 0 && !path))
        progress_end(p, &after, path, job->saved ? lockfile_backup(path) : NULL,
                     job->stopped);
    return code;
}
