/* labels_eval.c - wordtide labels eval: predicts the labels of a stream post by post,
 * and scores the predictions.
 *
 * Every post is predicted before anything is learned from it, so the scores are those
 * of a live system at that moment. Windows divide the stream by the number of posts or
 * by time. A post that is late or has no time counts in the current window.
 */
#include "formats.h"
#include "label_report.h"
#include "labels.h"
#include "output.h"
#include "predictions.h"
#include "train_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "labels eval";

enum { PERIOD_TEXT = 64 };

typedef struct job {
    train_job train;
    bool learn, per_label;
    const char *predictions_path; /* NULL if they are not written */
    predictions *predictions;
    table_style style;
    label_report report;

    /* Windows have a fixed number of posts, or are a prefix of the time: "2020-03" of
     * "2020-03-01T..." is a month. With both 0, the whole stream is one window. */
    uint64_t window_posts;
    size_t time_length;
    char window_time[TIME_TEXT]; /* of the current window; "" before the first time */
    uint64_t posts;              /* predicted so far */
    uint64_t window_start;       /* first post of the current window */

    float threshold;
    tide_scorer *window, *all;
    uint64_t scored; /* posts in `all`, if predictions are written */
    int code;        /* of a failure in a callback */
} job;

/* -- windows ----------------------------------------------------------------------- */

static void print_scores(job *j, const char *period, const tide_scorer *scorer)
{
    progress_break(&j->train.progress);
    label_report_print(&j->report, period, scorer);
}

static bool has_windows(const job *j)
{
    return j->window_posts || j->time_length;
}

static void end_window(job *j)
{
    char period[PERIOD_TEXT];
    snprintf(period, sizeof period, "posts %" PRIu64 "-%" PRIu64, j->window_start,
             j->posts - 1);
    print_scores(j, j->time_length ? j->window_time : period, j->window);
    tide_scorer_reset(j->window);
    j->window_start = j->posts;
}

/* Ends the current window if this post starts another one. Times that go backward do
 * not. */
static void start_post(job *j, double seconds)
{
    char name[TIME_TEXT];
    bool has_posts = j->posts > j->window_start;
    if (j->window_posts && j->posts - j->window_start == j->window_posts)
        end_window(j);
    if (!j->time_length || !time_text(name, seconds))
        return;
    /* The start of an ISO time names the window, and sorts like it. */
    name[j->time_length] = 0;
    if (strcmp(name, j->window_time) <= 0)
        return;
    if (has_posts && *j->window_time)
        end_window(j);
    memcpy(j->window_time, name, sizeof name);
}

/* -- the stream -------------------------------------------------------------------- */

static void stop_with(job *j, int code)
{
    j->code = code;
    request_stop();
}

static bool score(job *j, const tide_predicted_post *post)
{
    tide_error err;
    if (tide_scorer_add(j->all, post, &err) >= 0 &&
        (!has_windows(j) || tide_scorer_add(j->window, post, &err) >= 0))
        return true;
    stop_with(j, log_training_error(&err));
    return false;
}

/* Whether the post just added to `all` was scored. */
static bool last_post_scored(job *j)
{
    uint64_t before = j->scored;
    j->scored = tide_scorer_scores(j->all).scored;
    return j->scored > before;
}

static void on_post(void *data, const tide_predicted_post *post)
{
    job *j = data;
    if (j->code != EXIT_SUCCESS)
        return;
    start_post(j, post->time);
    j->posts++;
    if (!score(j, post))
        return;
    if (j->predictions && !predictions_add(j->predictions, post, last_post_scored(j)))
        stop_with(j, EXIT_FAILURE);
    if (!output_ok())
        request_stop();
}

static bool on_epoch(void *data, const tide_epoch *epoch)
{
    job *j = data;
    return progress_epoch(&j->train.progress, epoch);
}

/* Parameters of the classifier have no effect unless it is fitted again. */
static void check_typed_parameters(const job *j, const tide_trainer *trainer)
{
    char refit[32] = "";
    size_t count;
    const tide_param_info *infos = tide_params_table(&count);
    tide_params_text(tide_trainer_params(trainer), "label-refit", refit, sizeof refit);
    for (size_t i = 0; i < count && !strcmp(refit, "0"); i++)
        if (!is_word_parameter(&infos[i]) &&
            strcmp(infos[i].name, "label-refit") != 0 &&
            settings_value(&j->train.options.input.typed, infos[i].name))
            usage_error(command,
                        "--%s has no effect without --label-refit; to change the "
                        "classifier, run 'wordtide labels fit'",
                        infos[i].name);
}

static int check_model(const job *j, const tide_trainer *trainer)
{
    const char *path = j->train.options.input.resume;
    char frozen[16] = "";
    tide_stats stats;
    tide_label_stats labels;
    tide_trainer_stats(trainer, &stats, sizeof stats);
    tide_trainer_label_stats(trainer, &labels);
    tide_params_text(tide_trainer_params(trainer), "frozen", frozen, sizeof frozen);
    if (!tracks_labels(trainer, path))
        return EXIT_MODEL;
    if (!labels.predicted) {
        log_message("%s has no classifier; 'wordtide labels fit' creates one", path);
        return EXIT_MODEL;
    }
    check_typed_parameters(j, trainer);
    if (j->learn && !strcmp(frozen, "all"))
        usage_error(command,
                    "--learn: this model is frozen completely; add --frozen no or "
                    "--frozen yes");
    if (stats.epochs)
        usage_error(command, "--learn: this model was trained in batches and needs "
                             "--frozen yes");
    return EXIT_SUCCESS;
}

/* The label names of a fit are written with the first post it predicts. When appending,
 * those of the last fit are in the file unless that fit came after the last post. */
static predictions *open_predictions(const job *j, const tide_trainer *trainer)
{
    const train_input *input = &j->train.options.input;
    bool append = false;
    for (int i = 0; i < input->source_count; i++)
        append = append || tide_trainer_can_resume(trainer, input->sources[i]);
    tide_label_stats stats;
    tide_trainer_label_stats(trainer, &stats);
    return predictions_open(j->predictions_path, j->threshold, append,
                            stats.posts_at_fit < stats.posts ? stats.fits : 0);
}

static int open_all(job *j, const tide_trainer *trainer)
{
    tide_error err;
    j->all = tide_scorer_new(j->threshold, &err);
    j->window = j->all ? tide_scorer_new(j->threshold, &err) : NULL;
    if (!j->window)
        return log_error(&err);
    if (!label_report_open(&j->report, j->style, j->per_label))
        return EXIT_FAILURE;
    if (j->predictions_path && !(j->predictions = open_predictions(j, trainer)))
        return EXIT_FAILURE;
    return EXIT_SUCCESS;
}

/* Prints the scores so far even after a failure, if there are any. */
static int finish(job *j, int code)
{
    if (code == EXIT_SUCCESS)
        code = j->code;
    if (code != EXIT_SUCCESS && !j->posts)
        return code;
    bool named = j->window_posts || *j->window_time;
    if (named && j->posts > j->window_start)
        end_window(j);
    if (!j->per_label)
        print_scores(j, "all", j->all);
    else if (label_report_print_labels(&j->report, j->all) != EXIT_SUCCESS)
        return EXIT_FAILURE;
    if (code != EXIT_SUCCESS)
        return code;
    if (!tide_scorer_scores(j->all).scored)
        log_message("no post has a label that the classifier predicts");
    else if (j->time_length && !*j->window_time)
        log_message("no post has a time; give its field with --time");
    else
        return EXIT_SUCCESS;
    return EXIT_INPUT;
}

static int run(job *j)
{
    int code;
    tide_trainer *trainer = train_job_open(&j->train, &code);
    if (!trainer)
        return code;
    code = check_model(j, trainer);
    if (code == EXIT_SUCCESS)
        code = open_all(j, trainer);
    if (code == EXIT_SUCCESS) {
        tide_trainer_watch_labels(trainer, on_post, on_epoch, j);
        code = finish(j, train_job_run(&j->train, trainer));
    }
    label_report_close(&j->report);
    int closed = predictions_close(j->predictions);
    tide_scorer_free(j->window);
    tide_scorer_free(j->all);
    tide_trainer_free(trainer);
    return finish_output(code == EXIT_SUCCESS ? closed : code);
}

/* -- the command ------------------------------------------------------------------- */

static void parse_window(job *j, const char *text)
{
    static const struct {
        const char *name;
        size_t length; /* of "2020", "2020-03", "2020-03-01" */
    } units[] = {{"year", 4}, {"month", 7}, {"day", 10}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(text, units[i].name))
            j->time_length = units[i].length;
    if (j->time_length)
        return;
    if (!parse_number(text, &j->window_posts) || !j->window_posts)
        usage_error(command,
                    "--by '%s' is neither day, month, year nor a number of posts",
                    text);
}

static void check_paths(const job *j, int count, char **names)
{
    const char *output = j->train.options.output, *path = j->predictions_path;
    if (output && !strcmp(output, "-"))
        usage_error(command, "a model cannot be written to standard output; give -o a "
                             "file name");
    if (path && output && !strcmp(path, output))
        usage_error(command, "the model and the predictions need different files");
    for (int i = 0; i < count && path; i++)
        check_distinct(command, names[i], path);
    for (int i = 1; i < count && output; i++) /* the model may be replaced */
        check_distinct(command, names[i], output);
}

/* Without --learn nothing may change. */
static void set_frozen(job *j)
{
    settings *typed = &j->train.options.input.typed;
    const char *frozen = settings_value(typed, "frozen");
    if (j->learn)
        return;
    if (frozen && strcmp(frozen, "all") != 0)
        usage_error(command, "--frozen %s needs --learn; without it nothing is learned",
                    frozen);
    /* Words and vectors stay as they are, and so does what the classifier reads. */
    settings_add(typed, "frozen", "all");
}

static bool can_change_on_resume(const tide_param_info *parameter)
{
    return parameter->on_resume;
}

int labels_eval(int argc, char **argv)
{
    job j = {.train.options = {.input.command = command, .backups = BACKUPS_DEFAULT}};
    train_input *input = &j.train.options.input;
    const char *by = NULL, *threshold = "0.5";
    bool json = false, tsv = false;
    const option options[] = {
        {"learn", 0, OPTION_FLAG, &j.learn, NULL,
         "learn from every post after predicting it (default: learn nothing)"},
        {"output", 'o', OPTION_TEXT, &j.train.options.output, "OUT",
         "save the model to this file afterward, even after a signal"},
        {"by", 0, OPTION_TEXT, &by, "WINDOW",
         "print a row per day, month or year, or per N posts"},
        {"per-label", 0, OPTION_FLAG, &j.per_label, NULL, "print a row per label"},
        {"predictions", 0, OPTION_TEXT, &j.predictions_path, "FILE",
         "write the predictions of every scored post and the names of the labels as "
         "JSON, one object per line"},
        {"threshold", 0, OPTION_TEXT, &threshold, "P",
         "predict labels of at least this probability (default 0.5)"},
        TABLE_OPTIONS(json, tsv),
        {"quiet", 'q', OPTION_FLAG, &j.train.options.quiet, NULL,
         "print only warnings and errors"},
        {0},
    };
    const command_usage usage = {
        command,
        "labels eval [OPTION]... MODEL [SOURCE]...",
        "Reads labeled posts in order, predicts the labels of each before learning "
        "anything from it, and scores the predictions against the labels it has. Only "
        "posts with a label that the classifier can predict are scored: precision, "
        "recall and F1 of the labels at or above the threshold, averaged over labels "
        "and weighted by their posts; precision of the most probable label and of the "
        "five most probable, and recall of these; and the share of words without a "
        "vector. With --learn, the words and labels of a post are learned next, and "
        "with --label-refit the classifier is fitted again along the way. After a "
        "signal, the same command with OUT as MODEL continues: it scores the remaining "
        "posts and appends to the predictions. Otherwise that file is overwritten.",
        options,
        "wordtide labels eval posts.tide later.jsonl --by month\n"
        "wordtide labels eval posts.tide later.jsonl --learn -o later.tide\n"
        "wordtide labels eval posts.tide later.jsonl --per-label --tsv\n"
        "wordtide labels eval posts.tide later.jsonl --learn --label-refit 100000\n",
        .parameters = true,
        .min_operands = 1,
        .max_operands = -1,
        .common = common_label_parameters,
        .accepts = can_change_on_resume,
        .other_command = "labels train",
    };
    int count = parse_options(argc, argv, &usage, &input->typed);
    j.style = table_style_of(json, tsv, command);
    j.threshold = parse_threshold(threshold, command);
    if (by && j.per_label)
        usage_error(command, "--by and --per-label cannot be combined");
    if (by)
        parse_window(&j, by);
    check_paths(&j, count, argv);
    input->resume = argv[0];
    input->sources = argv + 1;
    input->source_count = count - 1;
    train_input_complete(input);
    set_frozen(&j);
    int code = run(&j);
    train_options_release(&j.train.options);
    return code;
}
