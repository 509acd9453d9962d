/* labels_eval.c - wordtide labels eval: tell the labels of a stream, post by post, and judge that.
 *
 * Every post is told before anything of it is learned, so the scores are those of somebody who asks
 * for labels at that moment. Windows cut the stream by the number of posts or by time; a post that
 * comes too late, or without a time, counts in the present window. */
#include "formats.h"
#include "labels.h"
#include "learning.h"
#include "output.h"
#include "predictions.h"
#include "verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "labels eval";

enum { PERIOD_TEXT = 64 };

typedef struct job {
    learning learning;
    bool learn, per_label;
    const char *predictions_path; /* NULL without */
    predictions *predictions;
    table_style style;
    verdicts verdicts;

    uint64_t window_posts; /* a window has so many; 0 for all or for windows of time */
    size_t time_length;    /* so much of the text of a time is its window; 0 without */
    char window_time[TIME_TEXT]; /* of the present window; "" before the first time */
    uint64_t posts;              /* told so far */
    uint64_t window_first;       /* the first of the present window */

    float threshold;
    tide_scorer *window, *all;
    uint64_t scored; /* by `all`, where predictions are written */
    int code;        /* of what went wrong on the way */
} job;

/* -- windows ----------------------------------------------------------------------- */

static void print_verdict(job *j, const char *period, const tide_scorer *judge)
{
    progress_break(&j->learning.progress);
    verdicts_print(&j->verdicts, period, judge);
}

static bool has_windows(const job *j)
{
    return j->window_posts || j->time_length;
}

static void end_window(job *j)
{
    char period[PERIOD_TEXT];
    snprintf(period, sizeof period, "posts %" PRIu64 "-%" PRIu64, j->window_first,
             j->posts - 1);
    print_verdict(j, j->time_length ? j->window_time : period, j->window);
    tide_scorer_reset(j->window);
    j->window_first = j->posts;
}

/* Before a post: whether another window begins with it. */
static void begin_post(job *j, double seconds)
{
    char name[TIME_TEXT];
    bool begun = j->posts > j->window_first;
    if (j->window_posts && j->posts - j->window_first == j->window_posts)
        end_window(j);
    if (!j->time_length || !time_text(name, seconds))
        return;
    name[j->time_length] = 0;
    if (strcmp(name, j->window_time) <= 0)
        return;
    if (begun && *j->window_time)
        end_window(j);
    memcpy(j->window_time, name, sizeof name);
}

/* -- the stream -------------------------------------------------------------------- */

static void fail(job *j, int code)
{
    j->code = code;
    training_stop();
}

static bool judge(job *j, const tide_predicted_post *told)
{
    tide_error err;
    if (tide_scorer_add(j->all, told, &err) >= 0 &&
        (!has_windows(j) || tide_scorer_add(j->window, told, &err) >= 0))
        return true;
    fail(j, training_failure(&err));
    return false;
}

/* Whether the last post was. */
static bool was_scored(job *j)
{
    uint64_t before = j->scored;
    j->scored = tide_scorer_scores(j->all).scored;
    return j->scored > before;
}

static void take_post(void *data, const tide_predicted_post *told)
{
    job *j = data;
    if (j->code != EXIT_SUCCESS)
        return;
    begin_post(j, told->time);
    j->posts++;
    if (!judge(j, told))
        return;
    if (j->predictions && !predictions_add(j->predictions, told, was_scored(j)))
        fail(j, EXIT_FAILURE);
    if (!output_ok())
        training_stop();
}

static bool take_epoch(void *data, const tide_epoch *epoch)
{
    job *j = data;
    return progress_epoch(&j->learning.progress, epoch);
}

/* What only a classifier that learns anew would follow. */
static void check_refit(const job *j, const tide_trainer *trainer)
{
    char refit[32] = "";
    size_t count;
    const tide_param_info *infos = tide_params_table(&count);
    tide_params_text(tide_trainer_params(trainer), "label-refit", refit, sizeof refit);
    for (size_t i = 0; i < count && !strcmp(refit, "0"); i++)
        if (!is_about_words(&infos[i]) && strcmp(infos[i].name, "label-refit") != 0 &&
            settings_value(&j->learning.training.typed, infos[i].name))
            usage_error(command,
                        "--%s changes nothing without --label-refit; 'wordtide labels "
                        "fit' makes another classifier",
                        infos[i].name);
}

static int check_model(const job *j, const tide_trainer *trainer)
{
    const char *path = j->learning.training.resume;
    char frozen[16] = "";
    tide_stats stats;
    tide_label_stats labels;
    tide_trainer_stats(trainer, &stats);
    tide_trainer_label_stats(trainer, &labels);
    tide_params_text(tide_trainer_params(trainer), "frozen", frozen, sizeof frozen);
    if (!tracks_labels(trainer, path))
        return EXIT_MODEL;
    if (!labels.told) {
        complain("%s has no classifier: 'wordtide labels fit' makes one", path);
        return EXIT_MODEL;
    }
    check_refit(j, trainer);
    if (j->learn && !strcmp(frozen, "all"))
        usage_error(command, "--learn: all of this model is frozen, unless with "
                             "--frozen no or --frozen yes");
    if (stats.epochs)
        usage_error(command, "--learn: this model was made in batches, and goes on "
                             "with --frozen yes");
    return EXIT_SUCCESS;
}

/* Names are written with the first post that is told by them: those of a classifier that learned after the last
 * post have not been. */
static predictions *open_predictions(const job *j, const tide_trainer *trainer)
{
    const training *t = &j->learning.training;
    bool go_on = false;
    for (int i = 0; i < t->source_count; i++)
        go_on = go_on || tide_trainer_can_resume(trainer, t->sources[i]);
    tide_label_stats stats;
    tide_trainer_label_stats(trainer, &stats);
    return predictions_open(j->predictions_path, j->threshold, go_on,
                            stats.posts_at_fit < stats.posts ? stats.fits : 0);
}

static int open_all(job *j, const tide_trainer *trainer)
{
    tide_error err;
    j->all = tide_scorer_new(j->threshold, &err);
    j->window = j->all ? tide_scorer_new(j->threshold, &err) : NULL;
    if (!j->window)
        return report(&err);
    if (!verdicts_open(&j->verdicts, j->style, j->per_label))
        return EXIT_FAILURE;
    if (j->predictions_path && !(j->predictions = open_predictions(j, trainer)))
        return EXIT_FAILURE;
    return EXIT_SUCCESS;
}

/* What is known is printed also after a failure, if that is anything. */
static int finish(job *j, int code)
{
    if (code == EXIT_SUCCESS)
        code = j->code;
    if (code != EXIT_SUCCESS && !j->posts)
        return code;
    bool named = j->window_posts || *j->window_time;
    if (named && j->posts > j->window_first)
        end_window(j);
    if (!j->per_label)
        print_verdict(j, "all", j->all);
    else if (verdicts_print_labels(&j->verdicts, j->all) != EXIT_SUCCESS)
        return EXIT_FAILURE;
    if (code != EXIT_SUCCESS)
        return code;
    if (!tide_scorer_scores(j->all).scored)
        complain("no post carries a label that the classifier tells");
    else if (j->time_length && !*j->window_time)
        complain("no post has a time: --time says where it is");
    else
        return EXIT_SUCCESS;
    return EXIT_INPUT;
}

static int run(job *j)
{
    int code;
    tide_trainer *trainer = learning_begin(&j->learning, &code);
    if (!trainer)
        return code;
    code = check_model(j, trainer);
    if (code == EXIT_SUCCESS)
        code = open_all(j, trainer);
    if (code == EXIT_SUCCESS) {
        tide_trainer_watch_labels(trainer, take_post, take_epoch, j);
        code = finish(j, learning_run(&j->learning, trainer));
    }
    verdicts_close(&j->verdicts);
    int closed = predictions_close(j->predictions);
    tide_scorer_free(j->window);
    tide_scorer_free(j->all);
    tide_trainer_free(trainer);
    return finish_output(code == EXIT_SUCCESS ? closed : code);
}

/* -- the command ------------------------------------------------------------------- */

static void take_unit(job *j, const char *text)
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
        usage_error(command, "--by '%s' is neither day, month, year nor posts", text);
}

static void check_paths(const job *j, int count, char **names)
{
    const char *output = j->learning.output, *path = j->predictions_path;
    if (output && !strcmp(output, "-"))
        usage_error(command, "a model is a file, it cannot go to standard output");
    if (path && output && !strcmp(path, output))
        usage_error(command, "the model and its predictions cannot be the same file");
    for (int i = 0; i < count && path; i++)
        check_distinct(command, names[i], path);
}

/* Without --learn everything stays as it is. */
static void settle_frozen(job *j)
{
    settings *typed = &j->learning.training.typed;
    const char *frozen = settings_value(typed, "frozen");
    if (j->learn)
        return;
    if (frozen && strcmp(frozen, "all") != 0)
        usage_error(command,
                    "--frozen %s is for --learn: without it nothing is learned",
                    frozen);
    settings_add(typed, "frozen", "all");
}

static bool may_change(const tide_param_info *parameter)
{
    return parameter->on_resume;
}

int labels_eval(int argc, char **argv)
{
    job j = {.learning = {.training = {.command = command}}};
    training *t = &j.learning.training;
    const char *by = NULL, *threshold = "0.5";
    bool json = false, tsv = false;
    const option options[] = {
        {"learn", 0, OPTION_FLAG, &j.learn, NULL,
         "learn from every post once it is told (default: nothing is learned)"},
        {"output", 'o', OPTION_TEXT, &j.learning.output, "OUT",
         "the file to write the model to afterwards, also after a signal"},
        {"by", 0, OPTION_TEXT, &by, "WINDOW",
         "a row for every day, month or year, or for so many posts"},
        {"per-label", 0, OPTION_FLAG, &j.per_label, NULL, "a row for every label"},
        {"predictions", 0, OPTION_TEXT, &j.predictions_path, "FILE",
         "write which labels are told, and what is told of every scored post, a JSON "
         "object a line"},
        {"threshold", 0, OPTION_TEXT, &threshold, "P",
         "a label is predicted when it is at least so probable (default 0.5)"},
        TABLE_OPTIONS(json, tsv),
        {"quiet", 'q', OPTION_FLAG, &j.learning.quiet, NULL,
         "say only what went wrong"},
        {0},
    };
    const command_usage usage = {
        command,
        "labels eval [OPTION]... MODEL [SOURCE]...",
        "Reads posts with labels in their order, tells the labels of each before "
        "anything of it is learned, and judges that by the labels it carries. Posts "
        "that carry a label which the classifier tells are scored: precision, recall "
        "and F1 of the labels at least as probable as the threshold, their mean "
        "weighted by how many posts have the label; precision of the most probable "
        "one and of the five most probable, and recall of these; and the share of "
        "words without a vector. With --learn, the words and labels of a post are "
        "learned next, and with --label-refit the classifier is made anew on the way. "
        "When a signal has ended it, the same command with OUT as MODEL goes on: its "
        "scores are of the posts that are left, and the predictions are added to "
        "their file. Otherwise that file is written anew.",
        options,
        "wordtide labels eval posts.tide later.jsonl --by month\n"
        "wordtide labels eval posts.tide later.jsonl --learn -o later.tide\n"
        "wordtide labels eval posts.tide later.jsonl --per-label --tsv\n"
        "wordtide labels eval posts.tide later.jsonl --learn --label-refit 100000\n",
        .parameters = true,
        .least = 1,
        .most = -1,
        .takes = may_change,
        .instead = "labels train",
    };
    int count = parse_options(argc, argv, &usage, &t->typed);
    j.style = table_style_of(json, tsv, command);
    j.threshold = take_threshold(threshold, command);
    if (by && j.per_label)
        usage_error(command, "--by and --per-label exclude each other");
    if (by)
        take_unit(&j, by);
    check_paths(&j, count, argv);
    t->resume = argv[0];
    t->sources = argv + 1;
    t->source_count = count - 1;
    training_settle(t);
    settle_frozen(&j);
    int code = run(&j);
    learning_release(&j.learning);
    return code;
}
