/* training.c - what the commands that train share.
 *
 * The handler of a signal that stops interrupts a blocked read because it is set without SA_RESTART. A signal
 * that comes just before the read would not, so the handler also starts an alarm clock that rings
 * every second until the run is over.
 *
 * The second signal that stops ends the process at once. One of the same kind within a blink is no second:
 * timeout(1) sends its signal to the command and to its group, which the command is in. Nor is any SIGHUP,
 * which a shell and the kernel both send when a terminal is closed.
 *
 * Without a terminal SIGHUP is a habit of those who rotate logs or reload a daemon. There is nothing here
 * to reload, so it is ignored.
 */
#include "training.h"
#include "content.h"
#include "output.h"

#include "../server/process.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLINK_SECONDS 0.25

/* -- signals ---------------------------------------------------------------------- */

static volatile sig_atomic_t stop_signal, save_asked;
static double stop_time; /* known to the handler alone */

static void on_alarm(int signal)
{
    (void)signal;
    alarm(1);
}

static void on_stop(int signal)
{
    if (!stop_signal) {
        stop_signal = signal;
        stop_time = now_seconds();
        alarm(1);
        return;
    }
    bool again = signal == stop_signal && now_seconds() - stop_time < BLINK_SECONDS;
    if (!again && signal != SIGHUP)
        _exit(EXIT_KILLED);
}

static void on_save(int signal)
{
    (void)signal;
    save_asked = 1;
}

/* One handler at a time. */
static void set_handler(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

/* As nohup(1) leaves it. */
static bool is_ignored(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void catch_signals(void)
{
    bool hangs_up = isatty(STDERR_FILENO) && !is_ignored(SIGHUP);
    set_handler(SIGINT, on_stop, 0);
    set_handler(SIGTERM, on_stop, 0);
    set_handler(SIGHUP, hangs_up ? on_stop : SIG_IGN, 0);
    set_handler(SIGUSR1, on_save, SA_RESTART);
    set_handler(SIGALRM, on_alarm, 0);
}

/* Threads that are started while the signals are blocked never get them, so that it
 * is the reader who is interrupted. */
static void block_signals(int how)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaddset(&set, caught[i]);
    pthread_sigmask(how, &set, NULL);
}

void training_stop(void)
{
    if (!stop_signal)
        stop_signal = SIGTERM;
}

bool training_goes_on(void *data, const tide_epoch *epoch)
{
    progress_epoch(data, epoch);
    return !stop_signal;
}

/* -- the text --------------------------------------------------------------------- */

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
static void guess_records(training *t)
{
    bool fields = false;
    for (size_t i = 0; i < t->typed.count; i++) {
        const char *name = t->typed.pairs[i][0];
        if (!strcmp(name, "records"))
            return;
        fields = fields || !strcmp(name, "text") || !strcmp(name, "time") ||
                 !strcmp(name, "label-field");
    }
    const char *kind = t->source_count && !t->resume ? records_of(t->sources[0]) : NULL;
    if (!kind && fields && !t->resume)
        kind = "json";
    if (kind)
        settings_add(&t->typed, "records", kind);
}

/* The profile goes before the rest, which may change parts of it. */
static void add_profile(settings *typed, const char *profile)
{
    settings_add(typed, "profile", profile);
    memmove(typed->pairs + 1, typed->pairs, (typed->count - 1) * sizeof *typed->pairs);
    typed->pairs[0][0] = "profile";
    typed->pairs[0][1] = profile;
}

void training_batch(training *t, bool asked)
{
    const char *epochs = settings_value(&t->typed, "epochs");
    t->batch = asked || (epochs && strcmp(epochs, "0") != 0);
    if (t->resume)
        return;
    if (!t->batch && settings_value(&t->typed, "min-count"))
        usage_error(t->command, "--min-count is for --batch: a stream holds --vocab "
                                "words, and nobody knows which will stay rare");
    if (t->batch && !epochs)
        settings_add(&t->typed, "epochs", "5");
    if (t->batch && !settings_value(&t->typed, "profile"))
        add_profile(&t->typed, "word2vec");
}

void training_settle(training *t)
{
    static char standard_input[] = "-";
    static char *only_input[] = {standard_input, NULL};
    guess_records(t);
    if (t->source_count == 0 && isatty(STDIN_FILENO))
        usage_error(t->command, "no text: name a file, or pipe text into the command");
    if (t->source_count == 0) {
        t->sources = only_input;
        t->source_count = 1;
    }
}

/* -- the run ---------------------------------------------------------------------- */

/* Whoever types --records lines means it, whatever the text looks like. */
static bool is_typed_lines(const training *t)
{
    const char *records = settings_value(&t->typed, "records");
    return records && !strcmp(records, "lines");
}

tide_run training_run(const training *t)
{
    return (tide_run){.sources = (const char *const *)t->sources,
                      .source_count = (size_t)t->source_count,
                      .as_text = is_typed_lines(t),
                      .stop = &stop_signal,
                      .save_now = &save_asked};
}

static tide_trainer *load(const training *t, const tide_run *run, int *code)
{
    tide_error err;
    const char *const(*changes)[2] = (const char *const(*)[2])t->typed.pairs;
    tide_trainer *trainer = tide_trainer_recover(t->resume, changes, t->typed.count,
                                                 run->note, run->note_data, &err);
    if (!trainer && err.status == TIDE_ERROR_PARAMETER)
        usage_error(t->command, "%s", err.text);
    if (!trainer) {
        tide_error what;
        *code = report_load(&err);
        if (content_of(t->resume, &what) == TIDE_CONTENT_VECTORS)
            complain("it is %s: wordtide import %s -o NEW.tide makes a model of it",
                     what.text, t->resume);
        return NULL;
    }
    tide_stats stats;
    tide_trainer_stats(trainer, &stats);
    if (t->batch && !stats.epochs)
        usage_error(t->command, "--batch: this model goes on in one pass, since it was "
                                "begun as a stream or is frozen");
    return trainer;
}

static tide_trainer *make(const training *t, const tide_run *run, int *code)
{
    tide_error err;
    tide_params *params = settings_params(&t->typed, t->command);
    if (!params)
        return NULL;
    tide_params_reserve(params, t->others, t->others_data);
    tide_trainer *trainer = t->batch ? tide_trainer_new_batch(params, run, &err)
                                     : tide_trainer_new(params, &err);
    tide_params_free(params);
    if (!trainer)
        *code = err.status == TIDE_OK ? EXIT_SUCCESS : training_failure(&err);
    return trainer;
}

tide_trainer *training_begin(const training *t, const tide_run *run, int *code)
{
    *code = EXIT_FAILURE;
    catch_signals();
    if (t->resume || !t->batch) /* counting the text first wants to be interrupted */
        block_signals(SIG_BLOCK);
    tide_trainer *trainer = t->resume ? load(t, run, code) : make(t, run, code);
    block_signals(SIG_UNBLOCK);
    return trainer;
}

int training_learn(tide_trainer *trainer, const tide_run *run, tide_error *err)
{
    int status = tide_trainer_run(trainer, run, err);
    signal(SIGALRM, SIG_IGN);
    return status;
}

static void note_count(progress *p, bool warning, uint64_t count, const char *what)
{
    char text[128];
    if (!count)
        return;
    snprintf(text, sizeof text, "%s: %" PRIu64, what, count);
    progress_note(p, warning, text);
}

void training_note_skipped(progress *p, const tide_stats *now, const tide_stats *before)
{
    enum { MANY = 20, SHARE = 50 }; /* one word in so many */
    uint64_t skipped = now->skipped_invalid - before->skipped_invalid;
    note_count(p, true, skipped, "words skipped because they are not text");
    if (skipped >= MANY && skipped * SHARE > now->tokens - before->tokens)
        progress_note(p, true,
                      "is this UTF-8? text in Latin-1, for example, becomes it with "
                      "iconv -f WINDOWS-1252 -t UTF-8");
    note_count(p, true, now->cut_words - before->cut_words, "long words cut");
    note_count(p, true, now->malformed_records - before->malformed_records,
               "records skipped because they are malformed");
    note_count(p, true, now->missing_records - before->missing_records,
               "records skipped because they have no text");
    note_count(p, true, now->long_records - before->long_records,
               "records skipped because they are longer than 1 MiB");
    note_count(p, true, now->healed - before->healed,
               "vectors that were not numbers and were begun again");
    note_count(p, false, now->omitted_words - before->omitted_words,
               "words left out as asked for");
    note_count(p, false, now->cut_sentences - before->cut_sentences,
               "long sentences cut");
}

int training_failure(const tide_error *err)
{
    int code = report(err);
    bool bad_input =
        err->status == TIDE_ERROR_FORMAT || err->status == TIDE_ERROR_INPUT;
    return bad_input ? EXIT_INPUT : code;
}
