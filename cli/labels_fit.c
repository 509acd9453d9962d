/* labels_fit.c - wordtide labels fit: the classifier learns anew from the posts that were kept. */
#include "labels.h"
#include "claim.h"
#include "output.h"
#include "training.h"

#include <stdlib.h>
#include <string.h>

static const char command[] = "labels fit";

typedef struct fitting {
    progress *progress;
    tide_epoch last;
} fitting;

static bool watch(void *data, const tide_epoch *epoch)
{
    fitting *f = data;
    f->last = *epoch;
    return training_goes_on(f->progress, epoch);
}

/* That there are no labels may be because others were looked for. */
static int fail(const tide_trainer *trainer, const tide_error *err)
{
    char labels[16] = "";
    if (err->status != TIDE_ERROR_INPUT)
        return training_failure(err);
    tide_params_text(tide_trainer_params(trainer), "labels", labels, sizeof labels);
    complain("%s (--labels %s)", err->text, labels);
    return EXIT_INPUT;
}

int fit_and_save(tide_trainer *trainer, progress *p, const char *path, uint32_t older)
{
    tide_error err;
    tide_label_stats stats;
    fitting f = {.progress = p};
    int status = tide_trainer_fit(trainer, watch, &f, &err);
    if (status >= 0)
        status = tide_trainer_save_keeping(trainer, path, older, &err);
    progress_break(p);
    if (status < 0)
        return fail(trainer, &err);
    tide_trainer_label_stats(trainer, &stats);
    progress_fitted(p, &stats, &f.last, path, older ? claim_kept(path) : NULL);
    return EXIT_SUCCESS;
}

static bool is_about_fitting(const tide_param_info *parameter)
{
    return parameter->on_resume &&
           (!is_about_words(parameter) || !strcmp(parameter->name, "threads"));
}

static int fit(const training *model, const char *output, bool quiet)
{
    int code;
    if (!claim(output))
        return EXIT_FAILURE;
    tide_run run = training_run(model);
    tide_trainer *trainer = training_begin(model, &run, &code);
    if (!trainer)
        return code;
    progress p;
    progress_begin(&p, &(tide_stats){0}, quiet);
    code = tracks_labels(trainer, model->resume)
               ? fit_and_save(trainer, &p, output, OLDER)
               : EXIT_MODEL;
    tide_trainer_free(trainer);
    return code;
}

int labels_fit(int argc, char **argv)
{
    training model = {.command = command};
    const char *output = NULL;
    bool quiet = false;
    const option options[] = {
        {"output", 'o', OPTION_TEXT, &output, "OUT",
         "the file to write (default: the same file)"},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "say only what went wrong"},
        {0},
    };
    const command_usage usage = {
        command,
        "labels fit [OPTION]... MODEL [-o OUT]",
        "Makes the classifier of a model anew, from the posts that the model has kept: "
        "after a stream that was stopped, or with other parameters. Words and their "
        "vectors stay as they are. SIGINT and SIGTERM end it with what is best so far.",
        options,
        "wordtide labels fit posts.tide\n"
        "wordtide labels fit posts.tide --classifier linear -o linear.tide\n"
        "wordtide labels fit posts.tide --label-top 500 --threads 8\n",
        .parameters = true,
        .least = 1,
        .most = 1,
        .takes = is_about_fitting,
        .instead = "labels train",
    };
    parse_options(argc, argv, &usage, &model.typed);
    model.resume = argv[0];
    if (output && !strcmp(output, "-"))
        usage_error(command, "a model is a file, it cannot go to standard output");
    int code = fit(&model, output ? output : argv[0], quiet);
    settings_free(&model.typed);
    return code;
}
