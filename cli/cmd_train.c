/* cmd_train.c - wordtide train: learn from sources until they end or a signal comes.
 *
 * The first SIGINT or SIGTERM asks the run to stop after its sentence; then the model
 * is saved as at the end of the text. The handler interrupts a blocked read because it
 * is set without SA_RESTART. A signal that comes just before the read would not, so the
 * handler also starts an alarm clock that rings every second until the run is over.
 */
#include "commands.h"
#include "options.h"
#include "output.h"
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stop_signal;

typedef struct job {
    const char *output, *resume;
    text_list every, properties;
    const char *max_errors; /* as typed; NULL for any number */
    uint64_t most_errors;
    bool from_start, follow, quiet;
    settings typed;
    char **sources;
    int source_count;
    uint64_t save_tokens;
    double save_seconds;
} job;

static void on_alarm(int signal)
{
    (void)signal;
    alarm(1);
}

static void on_stop(int signal)
{
    if (stop_signal)
        _exit(EXIT_KILLED);
    stop_signal = signal;
    alarm(1);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
}

/* Threads that are started while the signals are blocked never get them, so that it
 * is the reader who is interrupted. */
static void block_signals(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(how, &set, NULL);
}

/* "90s", "5m", "1h" are times; other numbers count words. */
static void take_interval(job *j, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    double unit = !strcmp(end, "s")   ? 1
                  : !strcmp(end, "m") ? 60
                  : !strcmp(end, "h") ? 3600
                                      : 0;
    bool time = unit > 0 && end > text && isfinite(value) && value > 0;
    if (time)
        j->save_seconds = value * unit;
    else if (!parse_number(text, &j->save_tokens) || !j->save_tokens)
        usage_error("train", "--every '%s' is neither words (1e6) nor time (60s)",
                    text);
}

static tide_trainer *make_trainer(const job *j, int *code)
{
    tide_error err;
    tide_trainer *trainer;
    if (j->resume) {
        const char *const(*changes)[2] = (const char *const(*)[2])j->typed.pairs;
        trainer = tide_trainer_load(j->resume, changes, j->typed.count, &err);
        if (!trainer && err.status == TIDE_ERROR_PARAMETER)
            usage_error("train", "%s", err.text);
        if (!trainer)
            *code = report_load(&err);
        return trainer;
    }
    tide_params *params = settings_params(&j->typed, "train");
    if (!params)
        return NULL;
    trainer = tide_trainer_new(params, &err);
    tide_params_free(params);
    if (!trainer)
        *code = report(&err);
    return trainer;
}

static void note_count(progress *p, bool warning, uint64_t count, const char *what)
{
    char text[128];
    if (!count)
        return;
    snprintf(text, sizeof text, "%s: %" PRIu64, what, count);
    progress_note(p, warning, text);
}

/* What was not taken as it came, by reason. */
static void note_skipped(progress *p, const tide_stats *now, const tide_stats *before)
{
    if (now->tokens == before->tokens)
        progress_note(p, true, "there was no text");
    note_count(p, true, now->skipped_invalid - before->skipped_invalid,
               "words skipped because they are not text");
    note_count(p, true, now->cut_words - before->cut_words, "long words cut");
    note_count(p, true, now->malformed_records - before->malformed_records,
               "records skipped because they are malformed");
    note_count(p, true, now->missing_records - before->missing_records,
               "records skipped because they have no text");
    note_count(p, true, now->long_records - before->long_records,
               "records skipped because they are longer than 1 MiB");
    note_count(p, false, now->omitted_words - before->omitted_words,
               "words left out as asked for");
    note_count(p, false, now->cut_sentences - before->cut_sentences,
               "long sentences cut");
}

/* Returns 1 when stopped, be it while a pipe was still being opened. */
static int run_sources(const job *j, tide_trainer *trainer, progress *p, bool *saved,
                       tide_error *err)
{
    const tide_run run = {
        .sources = (const char *const *)j->sources,
        .source_count = (size_t)j->source_count,
        .from_start = j->from_start,
        .stop = &stop_signal,
        .watch = progress_watch,
        .watch_data = p,
        .note = progress_note,
        .note_data = p,
        .save_path = j->output,
        .save_tokens = j->save_tokens,
        .save_seconds = j->save_seconds,
        .saved = saved,
        .follow = j->follow,
        .properties = j->properties.items,
        .property_count = j->properties.count,
        .errors_limited = j->max_errors != NULL,
        .max_errors = j->most_errors,
    };
    int status = tide_trainer_run(trainer, &run, err);
    signal(SIGALRM, SIG_IGN);
    bool interrupted = stop_signal && status < 0 && err->status == TIDE_ERROR_IO;
    if (interrupted)
        progress_note(p, true, err->text);
    return interrupted ? 1 : status;
}

static int failure_code(const tide_error *err)
{
    int code = report(err);
    bool bad_input =
        err->status == TIDE_ERROR_FORMAT || err->status == TIDE_ERROR_INPUT;
    return bad_input ? EXIT_INPUT : code;
}

/* The run saves what it has learnt, also before a source failed. */
static int learn(const job *j, tide_trainer *trainer)
{
    tide_error err;
    tide_part parts[TIDE_PARTS_MAX];
    tide_stats before, after;
    progress p;
    tide_trainer_stats(trainer, &before);
    progress_begin(&p, &before, j->quiet);
    progress_budget(&p, parts, tide_trainer_budget(trainer, parts));

    bool saved = false;
    int status = run_sources(j, trainer, &p, &saved, &err);
    tide_trainer_stats(trainer, &after);
    int code = EXIT_SUCCESS;
    if (saved || status >= 0)
        note_skipped(&p, &after, &before);
    if (status < 0) {
        progress_break(&p);
        code = failure_code(&err);
    } else if (after.records > before.records && after.tokens == before.tokens) {
        code = EXIT_INPUT; /* every one of them was bad */
    }
    if (saved)
        progress_end(&p, &after, j->output, status != 0);
    return code;
}

static bool ends_with(const char *name, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length > size && !strncmp(name + length - size, ending, size);
}

/* What the name of a source says about its records, whether it is compressed or not;
 * NULL if nothing. */
static const char *records_of(const char *name)
{
    static const char *const packed[] = {".gz", ".zst", ".xz"};
    static const char *const kinds[][2] = {
        {".jsonl", "json"}, {".ndjson", "json"}, {".csv", "csv"}, {".tsv", "tsv"}};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ends_with(name, length, packed[i]))
            length -= strlen(packed[i]);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_with(name, length, kinds[i][0]))
            return kinds[i][1];
    return NULL;
}

/* What the records are is told by the name of the first source; where that says nothing
 * and fields were given, they are those of JSON. */
static void guess_records(job *j)
{
    bool fields = false;
    for (size_t i = 0; i < j->typed.count; i++) {
        const char *name = j->typed.pairs[i][0];
        if (!strcmp(name, "records"))
            return;
        fields = fields || !strcmp(name, "text") || !strcmp(name, "time") ||
                 !strcmp(name, "label");
    }
    const char *kind = j->source_count && !j->resume ? records_of(j->sources[0]) : NULL;
    if (!kind && fields && !j->resume)
        kind = "json";
    if (kind)
        settings_add(&j->typed, "records", kind);
}

static void check_job(job *j)
{
    if (j->max_errors && !parse_number(j->max_errors, &j->most_errors))
        usage_error("train", "--max-errors '%s' is no number", j->max_errors);
    guess_records(j);
    for (size_t i = 0; i < j->every.count; i++)
        take_interval(j, j->every.items[i]);
    if (!j->output)
        j->output = j->resume;
    if (!j->output)
        usage_error("train", "no place for the model: -o MODEL is missing");
    if (!strcmp(j->output, "-"))
        usage_error("train", "a model is a file, it cannot go to standard output");
    if (j->source_count == 0 && isatty(STDIN_FILENO))
        usage_error("train", "no text: name a file, or pipe text into the command");
}

static int run(job *j)
{
    tide_error err;
    if (tide_path_writable(j->output, &err) < 0) {
        report(&err);
        return EXIT_FAILURE;
    }
    int code = EXIT_FAILURE;
    block_signals(SIG_BLOCK);
    tide_trainer *trainer = make_trainer(j, &code);
    catch_signals();
    block_signals(SIG_UNBLOCK);
    if (trainer)
        code = learn(j, trainer);
    tide_trainer_free(trainer);
    return code;
}

int cmd_train(int argc, char **argv)
{
    job j = {0};
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &j.output, "MODEL",
         "the file to write (default with --resume: the same file)"},
        {"resume", 0, OPTION_TEXT, &j.resume, "MODEL",
         "go on from this model exactly where it stopped"},
        {"every", 0, OPTION_LIST, &j.every, "N",
         "save every N words (1e6) or so often (60s, 5m, 1h); may be given twice, once "
         "for "
         "each"},
        {"follow", 'f', OPTION_FLAG, &j.follow, NULL,
         "go on reading files as they grow, also when they are rotated; ends with "
         "SIGTERM"},
        {"max-errors", 0, OPTION_TEXT, &j.max_errors, "N",
         "end with exit code 3 after more than N bad records (default: never)"},
        {"property", 'X', OPTION_LIST, &j.properties, "KEY=VALUE",
         "a setting for librdkafka; may be given again"},
        {"from-start", 0, OPTION_FLAG, &j.from_start, NULL,
         "with --resume: read sources again that had been read already"},
        {"quiet", 'q', OPTION_FLAG, &j.quiet, NULL, "say only what went wrong"},
        {0},
    };
    const command_usage usage = {
        "train",
        "train [OPTION]... [SOURCE]... -o MODEL",
        "Learns in one pass from text, a sentence a line. A SOURCE is a file or a "
        "pipe, "
        "plain or compressed with gzip, zstd or xz; '-' for standard input (the "
        "default); 'kafka://BROKER/TOPIC', with '?group=NAME' for a consumer group; "
        "or 'demo:'. Lines may be text, JSON objects, CSV or TSV (--records, --text). "
        "Memory is fixed by the parameters and shown at the start. SIGINT and SIGTERM "
        "save the model and end well; a second one ends at once.",
        options,
        "wordtide demo --tokens 1e6 | wordtide train -o news.tide\n"
        "wordtide train day1.txt day2.txt -o news.tide --vocab 100000 --dim 200\n"
        "wordtide train --follow chat.log -o chat.tide --every 60s --tokens social\n"
        "wordtide train posts.jsonl.zst --text body,user.name -o posts.tide\n"
        "wordtide train kafka://localhost/posts?group=words --text body -o posts.tide\n"
        "wordtide train --resume news.tide day3.txt\n",
        .parameters = true,
        .least = 0,
        .most = -1,
    };
    char standard_input[] = "-";
    char *only_input[] = {standard_input, NULL};
    j.source_count = parse_options(argc, argv, &usage, &j.typed);
    j.sources = argv;
    check_job(&j);
    if (j.source_count == 0) {
        j.sources = only_input;
        j.source_count = 1;
    }
    int code = run(&j);
    text_list_free(&j.properties);
    text_list_free(&j.every);
    settings_free(&j.typed);
    return code;
}
