/* eval_drift.c - wordtide eval drift: how fast vectors follow words that change. */
#include "eval.h"
#include "output.h"
#include "plot_data.h"
#include "train_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "eval drift";

enum { PROFILES_MAX = 16, PROFILE_NAME = 32 };

typedef struct job {
    train_input input;
    tide_drift_options options;
    char profiles[PROFILES_MAX][PROFILE_NAME];
    size_t profile_count;
    bool control, quiet;
    table *rows;
    plot_data points;
    /* of the current run */
    const char *profile;
    progress progress;
} job;

/* -- profiles ---------------------------------------------------------------------- */

static void parse_profiles(job *j, const char *list)
{
    const char *at = list;
    do {
        size_t length = strcspn(at, ",");
        if (!length || length >= PROFILE_NAME || j->profile_count == PROFILES_MAX)
            usage_error(command, "--profiles '%s' is not a list such as default,fast",
                        list);
        memcpy(j->profiles[j->profile_count++], at, length);
        at += length + (at[length] == ',');
    } while (*at);
}

/* --profile NAME is short for --profiles with one name. */
static void choose_profiles(job *j, const char *list)
{
    const char *single = NULL;
    for (size_t i = 0; i < j->input.typed.count; i++)
        if (!strcmp(j->input.typed.pairs[i][0], "profile"))
            single = j->input.typed.pairs[i][1];
    if (single && list)
        usage_error(command, "--profile and --profiles cannot be combined");
    parse_profiles(j, single ? single : list ? list : "default");
}

static tide_params *params_of(const job *j, const char *profile)
{
    tide_error err;
    tide_params *params = tide_params_new(&err);
    if (!params) {
        log_error(&err);
        return NULL;
    }
    if (tide_params_set(params, "profile", profile, &err) < 0)
        usage_error(command, "%s", err.text);
    const settings *typed = &j->input.typed;
    for (size_t i = 0; i < typed->count; i++)
        if (strcmp(typed->pairs[i][0], "profile") != 0 &&
            tide_params_set(params, typed->pairs[i][0], typed->pairs[i][1], &err) < 0)
            usage_error(command, "%s", err.text);
    return params;
}

/* -- output ------------------------------------------------------------------------ */

static void write_number(plot_data *p, double value, char after)
{
    if (isfinite(value))
        fprintf(p->file, "%.*f%c", MACHINE_DIGITS, value, after);
    else
        fprintf(p->file, "-%c", after);
}

static void write_points(void *data, const tide_drift_evaluation *evaluation)
{
    job *j = data;
    for (int event = 0; event < TIDE_DRIFT_EVENTS && j->points.file; event++) {
        fprintf(j->points.file, "%s\t%s\t%s\t%" PRIu64 "\t", j->profile,
                j->options.control ? "yes" : "no",
                tide_drift_event_name((tide_drift_event)event), evaluation->tokens);
        write_number(&j->points, evaluation->followed[event], '\t');
        write_number(&j->points, evaluation->score[event], '\n');
    }
}

static void start_row(const job *j, const char *event, uint64_t words)
{
    table_text(j->rows, j->profile);
    table_text(j->rows, j->options.control ? "yes" : "no");
    table_text(j->rows, event);
    table_count(j->rows, words);
}

static void tokens_cell(table *t, uint64_t tokens)
{
    if (tokens == TIDE_DRIFT_NEVER)
        table_real(t, (double)NAN, 0);
    else
        table_count(t, tokens);
}

static void real_cells(table *t, double a, double b, double c)
{
    table_real(t, a, 4);
    table_real(t, b, 4);
    table_real(t, c, 4);
}

static void print_result(const job *j, const tide_drift_result *r)
{
    for (int event = 0; event < TIDE_DRIFT_EVENTS; event++) {
        start_row(j, tide_drift_event_name((tide_drift_event)event),
                  r->last.words[event]);
        tokens_cell(j->rows, r->half[event]);
        tokens_cell(j->rows, r->nine_tenths[event]);
        table_real(j->rows, r->last.followed[event], 4);
        table_real(j->rows, r->last.score[event], 4);
        real_cells(j->rows, (double)NAN, (double)NAN, (double)NAN);
        table_end_row(j->rows);
    }
    start_row(j, "unchanged", r->unchanged.words);
    tokens_cell(j->rows, TIDE_DRIFT_NEVER);
    tokens_cell(j->rows, TIDE_DRIFT_NEVER);
    table_real(j->rows, (double)NAN, 4);
    table_real(j->rows, (double)NAN, 4);
    real_cells(j->rows, r->unchanged.cosine, r->unchanged.aligned,
               r->unchanged.overlap);
    table_end_row(j->rows);
}

/* -- runs -------------------------------------------------------------------------- */

static void note_run(job *j, const tide_drift_result *r)
{
    char text[256];
    snprintf(text, sizeof text,
             "profile %s: %" PRIu64 " tokens, %s after %" PRIu64
             ", gradual ones over %" PRIu64 ", measured every %" PRIu64,
             j->profile, r->tokens, j->options.control ? "no change" : "changes", r->at,
             r->over, r->every);
    progress_note(&j->progress, false, text);
}

static int run_once(job *j, const char *profile, bool control)
{
    tide_error err;
    tide_drift_result result;
    tide_params *params = params_of(j, profile);
    if (!params)
        return EXIT_FAILURE;
    j->profile = profile;
    j->options.control = control;
    progress_begin(&j->progress, &(tide_stats){0}, j->quiet);
    int status = tide_eval_drift(params, &j->options, &result, &err);
    tide_params_free(params);
    progress_break(&j->progress);
    if (status < 0)
        return log_training_error(&err);
    note_run(j, &result);
    print_result(j, &result);
    return output_ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(job *j, const char *points_path, table_style style)
{
    static const char *const columns[] = {"profile", "control",     "event",    "words",
                                          "half",    "nine_tenths", "followed", "score",
                                          "cosine",  "aligned",     "overlap",  NULL};
    int code = plot_data_open(&j->points, points_path,
                              "profile\tcontrol\tevent\ttokens\tfollowed\tscore");
    j->rows = code == EXIT_SUCCESS ? table_new(style, columns) : NULL;
    if (code == EXIT_SUCCESS && !j->rows)
        code = EXIT_FAILURE;
    for (size_t i = 0; i < j->profile_count && code == EXIT_SUCCESS; i++) {
        code = run_once(j, j->profiles[i], false);
        if (code == EXIT_SUCCESS && j->control)
            code = run_once(j, j->profiles[i], true);
    }
    table_end(j->rows);
    return finish_output(plot_data_close(&j->points, code));
}

int eval_drift(int argc, char **argv)
{
    job j = {.input = {.command = command}};
    const char *profiles = NULL, *points_path = NULL;
    uint64_t words = 200;
    int vectors = TIDE_VECTORS_INPUT;
    bool json = false, tsv = false;
    const option options[] = {
        {"profiles", 0, OPTION_TEXT, &profiles, "LIST",
         "train with each of these profiles, such as default,fast,paper"},
        {"at", 0, OPTION_COUNT, &j.options.at, "TOKENS",
         "when words change (default: after half of the text)"},
        {"over", 0, OPTION_COUNT, &j.options.over, "TOKENS",
         "how long a gradual change takes (default: half of the rest)"},
        {"every", 0, OPTION_COUNT, &j.options.every, "TOKENS",
         "how often to measure (default: 40 times in the rest)"},
        {"words", 0, OPTION_COUNT, &words, "N",
         "words per event, an even number; fewer if the text has too few (default "
         "200)"},
        {"control", 0, OPTION_FLAG, &j.control, NULL,
         "also train on the unchanged text and measure the same words, which shows the "
         "effect of chance"},
        {"points", 0, OPTION_TEXT, &points_path, "FILE",
         "write all measurements to a TSV file"},
        VIEW_OPTIONS(vectors, j.options.centered),
        TABLE_OPTIONS(json, tsv),
        {"quiet", 'q', OPTION_FLAG, &j.quiet, NULL, "print only warnings and errors"},
        {0},
    };
    const command_usage usage = {
        command,
        "eval drift [OPTION]... [CORPUS]...",
        "Trains on a text in which words of medium frequency change at a known moment, "
        "and prints after how many tokens half of them, and 90 %, have been followed. "
        "swap: two words exchange their roles; followed when a word is nearer to the "
        "old neighbors of the other than to its own. gradual: the same, with "
        "increasing probability. born: a new word replaces half of the occurrences of "
        "another; followed when that word is among its 10 nearest. dead: a word does "
        "not occur again; followed when it has left the vocabulary. The score of "
        "exchanged words is 0 before the change and 1 when their neighbors are "
        "exchanged completely; that of new words is their cosine with the other word. "
        "unchanged: frequent words without an event are compared with themselves at "
        "the moment of the change, before and after the best common rotation, and by "
        "the overlap of their 10 nearest. CORPUS is any source that can be read twice "
        "(default 'demo:tokens=2e6').",
        options,
        "wordtide eval drift --profiles default,fast --vocab 5000 --control\n"
        "wordtide eval drift demo:tokens=5e6 --at 3e6 --over 1e6 --json\n"
        "wordtide eval drift corpus.txt.gz --half-life 1e6 --points curves.tsv\n",
        .parameters = true,
        .common = common_parameters,
        .min_operands = 0,
        .max_operands = -1,
    };
    char demo[] = "demo:tokens=2e6";
    char *only_demo[] = {demo, NULL};
    int count = parse_options(argc, argv, &usage, &j.input.typed);
    j.input.sources = count ? argv : only_demo;
    j.input.source_count = count ? count : 1;
    train_input_complete(&j.input);
    train_input_check_output(&j.input, points_path);
    choose_profiles(&j, profiles);
    j.options.sources = (const char *const *)j.input.sources;
    j.options.source_count = (size_t)j.input.source_count;
    j.options.words = words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
    j.options.vectors = (tide_vectors)vectors;
    j.options.evaluation = write_points;
    j.options.evaluation_data = &j;
    j.options.progress = progress_update;
    j.options.progress_data = &j.progress;
    int code = run(&j, points_path, table_style_of(json, tsv, command));
    settings_free(&j.input.typed);
    return code;
}
