/* cmd_train.c - wordtide train: learn from sources until they end or a signal comes.
 *
 * After a signal the model is saved as at the end of the text.
 */
#include "commands.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    training training;
    const char *output;
    text_list every, properties;
    const char *max_errors; /* as typed; NULL for any number */
    uint64_t most_errors;
    bool from_start, follow, batch, quiet;
    uint64_t save_tokens;
    double save_seconds;
} job;

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

static tide_run run_of(const job *j, progress *p, bool *saved)
{
    tide_run run = training_run(&j->training);
    run.from_start = j->from_start;
    run.watch = progress_watch;
    run.watch_data = p;
    run.note = progress_note;
    run.note_data = p;
    run.save_path = j->output;
    run.save_tokens = j->save_tokens;
    run.save_seconds = j->save_seconds;
    run.saved = saved;
    run.follow = j->follow;
    run.properties = j->properties.items;
    run.property_count = j->properties.count;
    run.errors_limited = j->max_errors != NULL;
    run.max_errors = j->most_errors;
    return run;
}

/* The run saves what it has learnt, also before a source failed. */
static int learn(const job *j, tide_trainer *trainer, const tide_run *run, progress *p)
{
    tide_error err;
    tide_part parts[TIDE_PARTS_MAX];
    tide_stats before, after;
    tide_trainer_stats(trainer, &before);
    progress_break(p);
    progress_begin(p, &before, j->quiet);
    progress_budget(p, parts, tide_trainer_budget(trainer, parts));

    int status = training_learn(trainer, run, p, &err);
    tide_trainer_stats(trainer, &after);
    int code = EXIT_SUCCESS;
    if (*run->saved || status >= 0)
        training_note_skipped(p, &after, &before);
    if (status < 0) {
        progress_break(p);
        code = training_failure(&err);
    } else if (after.records > before.records && after.tokens == before.tokens) {
        code = EXIT_INPUT; /* every one of them was bad */
    }
    if (*run->saved)
        progress_end(p, &after, j->output, status != 0);
    return code;
}

static void check_job(job *j)
{
    if (j->max_errors && !parse_number(j->max_errors, &j->most_errors))
        usage_error("train", "--max-errors '%s' is no number", j->max_errors);
    for (size_t i = 0; i < j->every.count; i++)
        take_interval(j, j->every.items[i]);
    if (!j->output)
        j->output = j->training.resume;
    if (!j->output)
        usage_error("train", "no place for the model: -o MODEL is missing");
    if (!strcmp(j->output, "-"))
        usage_error("train", "a model is a file, it cannot go to standard output");
    training_batch(&j->training, j->batch);
    training_settle(&j->training);
}

static int run(job *j)
{
    tide_error err;
    if (tide_path_writable(j->output, &err) < 0) {
        report(&err);
        return EXIT_FAILURE;
    }
    progress p;
    bool saved = false;
    int code;
    progress_begin(&p, &(tide_stats){0}, j->quiet);
    tide_run r = run_of(j, &p, &saved);
    tide_trainer *trainer = training_begin(&j->training, &r, &code);
    if (trainer)
        code = learn(j, trainer, &r, &p);
    else if (code == EXIT_SUCCESS)
        progress_note(&p, true, "stopped while words were counted: there is no model");
    tide_trainer_free(trainer);
    return code;
}

int cmd_train(int argc, char **argv)
{
    job j = {.training = {.command = "train"}};
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &j.output, "MODEL",
         "the file to write (default with --resume: the same file)"},
        {"resume", 0, OPTION_TEXT, &j.training.resume, "MODEL",
         "go on from this model exactly where it stopped"},
        {"batch", 0, OPTION_FLAG, &j.batch, NULL,
         "count the words of stored text, then read it --epochs times (default 5); "
         "profile word2vec unless another is named"},
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
        "save the model and end well; a second one ends at once. With --batch the text "
        "is stored in files, and read several times as word2vec does; its words are "
        "counted before, which takes memory for every different one.",
        options,
        "wordtide demo --tokens 1e6 | wordtide train -o news.tide\n"
        "wordtide train day1.txt day2.txt -o news.tide --vocab 100000 --dim 200\n"
        "wordtide train --follow chat.log -o chat.tide --every 60s --tokens social\n"
        "wordtide train posts.jsonl.zst --text body,user.name -o posts.tide\n"
        "wordtide train kafka://localhost/posts?group=words --text body -o posts.tide\n"
        "wordtide train --resume news.tide day3.txt\n"
        "wordtide train --batch --epochs 3 corpus.txt -o corpus.tide\n"
        "wordtide train --resume corpus.tide --frozen yes new.txt -o static.tide\n",
        .parameters = true,
        .least = 0,
        .most = -1,
    };
    j.training.source_count = parse_options(argc, argv, &usage, &j.training.typed);
    j.training.sources = argv;
    check_job(&j);
    int code = run(&j);
    text_list_free(&j.properties);
    text_list_free(&j.every);
    settings_free(&j.training.typed);
    return code;
}
