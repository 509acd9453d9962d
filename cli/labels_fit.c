/* labels_fit.c - wordtide labels fit: fits the classifier to the posts that a model has
 * kept. */
#include "labels.h"
#include "lockfile.h"
#include "output.h"
#include "train_run.h"

#include <stdlib.h>
#include <string.h>

static const char command[] = "labels fit";

typedef struct fitting {
    progress *progress;
    tide_epoch last;
} fitting;

static bool on_epoch(void *data, const tide_epoch *epoch)
{
    fitting *f = data;
    f->last = *epoch;
    return show_epoch_until_stopped(f->progress, epoch);
}

/* The message names the kind of labels: if there are none, it may be the wrong kind. */
static int log_fit_error(const tide_trainer *trainer, const tide_error *err)
{
    char labels[16] = "";
    if (err->status != TIDE_ERROR_INPUT)
        return log_training_error(err);
    tide_params_text(tide_trainer_params(trainer), "labels", labels, sizeof labels);
    log_message("%s (--labels %s)", err->text, labels);
    return EXIT_INPUT;
}

int fit_and_save(tide_trainer *trainer, progress *p, const char *path, uint32_t backups)
{
    tide_error err;
    tide_label_stats stats;
    fitting f = {.progress = p};
    int status = tide_trainer_fit(trainer, on_epoch, &f, &err);
    if (status >= 0)
        status = tide_trainer_save_keeping(trainer, path, backups, &err);
    progress_break(p);
    if (status < 0)
        return log_fit_error(trainer, &err);
    tide_trainer_label_stats(trainer, &stats);
    progress_fitted(p, &stats, &f.last, path, backups ? lockfile_backup(path) : NULL);
    return EXIT_SUCCESS;
}

static bool is_fit_parameter(const tide_param_info *parameter)
{
    return parameter->on_resume &&
           (!is_word_parameter(parameter) || !strcmp(parameter->name, "threads"));
}

static int fit(const train_input *input, const char *output, bool quiet)
{
    int code;
    code = lockfile_acquire(output, BACKUPS_DEFAULT, input->resume);
    if (code != EXIT_SUCCESS)
        return code;
    tide_run run = new_run(input);
    tide_trainer *trainer = open_trainer(input, &run, &code);
    if (!trainer)
        return code;
    progress p;
    progress_begin(&p, &(tide_stats){0}, quiet);
    code = tracks_labels(trainer, input->resume)
               ? fit_and_save(trainer, &p, output, BACKUPS_DEFAULT)
               : EXIT_MODEL;
    tide_trainer_free(trainer);
    return code;
}

int labels_fit(int argc, char **argv)
{
    train_input input = {.command = command};
    const char *output = NULL;
    bool quiet = false;
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &output, "OUT",
         "the model file to write (default: the same file)"},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "print only warnings and errors"},
        {0},
    };
    const command_usage usage = {
        command,
        "labels fit [OPTION]... MODEL [-o OUT]",
        "Fits the classifier again to the posts that a model has kept: after a stream "
        "that was stopped, or with other parameters. The default one has learned from "
        "all posts, so only the labels that it predicts are chosen again. Words and "
        "their vectors do not change. SIGINT and SIGTERM stop it and keep the best "
        "result so far.",
        options,
        "wordtide labels fit posts.tide\n"
        "wordtide labels fit posts.tide --classifier linear -o linear.tide\n"
        "wordtide labels fit posts.tide --label-top 500 --threads 8\n",
        .parameters = true,
        .min_operands = 1,
        .max_operands = 1,
        .common = common_label_parameters,
        .accepts = is_fit_parameter,
        .other_command = "labels train",
    };
    parse_options(argc, argv, &usage, &input.typed);
    input.resume = argv[0];
    if (output && !strcmp(output, "-"))
        usage_error(command, "a model cannot be written to standard output; give -o a "
                             "file name");
    int code = fit(&input, output ? output : argv[0], quiet);
    settings_free(&input.typed);
    return code;
}
