/* eval_trace.c - wordtide eval trace: trains, and evaluates at regular steps.
 *
 * Evaluation only reads the model, so the result is byte-identical to that of `wordtide
 * train`. A stopwatch leaves the time of evaluation out of the reported time.
 */
#include "eval.h"
#include "output.h"
#include "train_run.h"

#include "base/base.h"

#include <wordtide/tools.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SETS_MAX = 32, OVERLAP_WORDS = 1000, OVERLAP_NEAR = 10 };

/* A list of word pairs. */
typedef struct pair_set {
    const char *path;
    char name[SET_NAME_SIZE];
} pair_set;

/* While stopped, the time it has run so far. While running, the moment at which it
 * would have started without pauses. stopwatch_toggle subtracts it from the present,
 * which turns one into the other. */
typedef struct stopwatch {
    double seconds, cpu_seconds;
} stopwatch;

typedef struct trace {
    train_input input;
    const char *output;
    pair_set sets[SETS_MAX];
    size_t set_count;
    analogies questions;     /* path is NULL if there are none */
    query_context reference; /* all 0 if there is none */
    int vectors;
    bool centered;
    table_style style;
    tide_trainer *trainer;
    progress p;
    stopwatch watch;
    bool header_printed;
    int code; /* of a failure in a callback */
} trace;

static void stopwatch_toggle(stopwatch *w)
{
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    w->seconds = tide_now_seconds() - w->seconds;
    w->cpu_seconds = (double)cpu.tv_sec + 1e-9 * (double)cpu.tv_nsec - w->cpu_seconds;
}

/* -- evaluation -------------------------------------------------------------------- */

/* NaN where a score is not defined. */
typedef struct scores {
    double similarity[SETS_MAX];
    double analogy, mean, overlap;
} scores;

static double evaluate_pairs(const tide_view *view, const char *path, tide_error *err)
{
    tide_similarity_result result = {.spearman = (double)NAN};
    const tide_eval_options all = {0};
    tide_eval_similarity(view, path, &all, &result, err);
    return result.spearman;
}

static double evaluate_overlap(const trace *t, const tide_view *view, tide_error *err)
{
    uint32_t words = tide_model_size(t->reference.model);
    const tide_band frequent = {1, words < OVERLAP_WORDS ? words : OVERLAP_WORDS};
    const tide_agreement_options how = {
        .bands = &frequent, .band_count = 1, .neighbors = OVERLAP_NEAR};
    tide_agreement_result result;
    int status = tide_eval_agreement(view, t->reference.view, &how, &result, err);
    return status < 0 ? (double)NAN : result.near[0].overlap;
}

/* The mean is NaN if any of the scores is. */
static double mean_score(const trace *t, const scores *s)
{
    double sum = t->questions.path ? s->analogy : 0;
    size_t count = t->set_count + (t->questions.path != NULL);
    for (size_t i = 0; i < t->set_count; i++)
        sum += s->similarity[i];
    return count ? sum / (double)count : (double)NAN;
}

static int evaluate(trace *t, scores *s)
{
    tide_error err = {0};
    *s = (scores){.analogy = (double)NAN, .overlap = (double)NAN};
    tide_view *view = tide_view_new(tide_trainer_model(t->trainer),
                                    (tide_vectors)t->vectors, t->centered, &err);
    for (size_t i = 0; i < t->set_count && err.status == TIDE_OK; i++)
        s->similarity[i] = evaluate_pairs(view, t->sets[i].path, &err);
    if (t->questions.path && err.status == TIDE_OK &&
        analogies_evaluate(&t->questions, view, &err) == TIDE_OK)
        s->analogy = analogies_accuracy(&t->questions);
    if (t->reference.view && err.status == TIDE_OK)
        s->overlap = evaluate_overlap(t, view, &err);
    s->mean = mean_score(t, s);
    tide_view_free(view);
    return err.status == TIDE_OK ? EXIT_SUCCESS : log_error(&err);
}

/* -- output ------------------------------------------------------------------------ */

/* A column of the output. */
typedef struct field {
    const char *name;
    uint64_t count;
    double real; /* if is_real */
    bool is_real;
} field;

enum { MEASURES = 9, FIELDS_MAX = MEASURES + SETS_MAX + 3 };

static size_t list_fields(const trace *t, const tide_stats *now, const scores *s,
                          field fields[FIELDS_MAX])
{
    const field measures[MEASURES] = {
        {"tokens", now->tokens, 0, false},
        {"seconds", 0, t->watch.seconds, true},
        {"cpu_seconds", 0, t->watch.cpu_seconds, true},
        {"vocabulary", now->vocabulary, 0, false},
        {"admitted", now->admitted, 0, false},
        {"evicted", now->evicted, 0, false},
        {"evicted_young", now->evicted_young, 0, false},
        {"rejected", now->rejected, 0, false},
        {"loss", 0, now->loss > 0 ? now->loss : (double)NAN, true},
    };
    memcpy(fields, measures, sizeof measures);
    size_t count = MEASURES;
    for (size_t i = 0; i < t->set_count; i++)
        fields[count++] = (field){t->sets[i].name, 0, s->similarity[i], true};
    fields[count++] = (field){"analogy", 0, s->analogy, true};
    fields[count++] = (field){"mean", 0, s->mean, true};
    fields[count++] = (field){"overlap", 0, s->overlap, true};
    return count;
}

static void print_object(const trace *t, const field *fields, size_t count)
{
    tide_json_writer j = {0};
    tide_json_object(&j, NULL);
    for (size_t i = 0; i < count; i++) {
        /* The fields of the pair sets become an object of their own, even if there are
         * none. */
        if (i == MEASURES)
            tide_json_object(&j, "similarity");
        if (i == MEASURES + t->set_count)
            tide_json_end(&j);
        if (fields[i].is_real)
            tide_json_real(&j, fields[i].name, fields[i].real, MACHINE_DIGITS);
        else
            tide_json_count(&j, fields[i].name, fields[i].count);
    }
    tide_json_end(&j);
}

/* Rows are printed at once, before the widest cell of a column is known. */
static void print_cell(const trace *t, bool first, const char *name, const char *text)
{
    enum { USUAL_WIDTH = 10 };
    int width = (int)strlen(name);
    if (width < USUAL_WIDTH)
        width = USUAL_WIDTH;
    if (t->style == TABLE_TSV)
        printf("%s%s", first ? "" : "\t", text);
    else
        printf("%s%*s", first ? "" : "  ", width, text);
}

static void print_row(trace *t, const field *fields, size_t count)
{
    for (size_t i = 0; i < count && !t->header_printed; i++)
        print_cell(t, i == 0, fields[i].name, fields[i].name);
    if (!t->header_printed)
        putchar('\n');
    t->header_printed = true;
    for (size_t i = 0; i < count; i++) {
        char text[64] = "-";
        int digits = t->style == TABLE_TSV ? MACHINE_DIGITS : 4;
        if (!fields[i].is_real)
            snprintf(text, sizeof text, "%" PRIu64, fields[i].count);
        else if (isfinite(fields[i].real))
            snprintf(text, sizeof text, "%.*f", digits, fields[i].real);
        print_cell(t, i == 0, fields[i].name, text);
    }
    putchar('\n');
}

static void on_step(void *data, const tide_stats *now)
{
    trace *t = data;
    scores s;
    field fields[FIELDS_MAX];
    if (t->code != EXIT_SUCCESS)
        return;
    /* Stopped while the model is evaluated: the time is that of training alone. */
    stopwatch_toggle(&t->watch);
    progress_break(&t->p);
    t->code = evaluate(t, &s);
    if (t->code == EXIT_SUCCESS) {
        size_t count = list_fields(t, now, &s, fields);
        if (t->style == TABLE_JSON)
            print_object(t, fields, count);
        else
            print_row(t, fields, count);
        fflush(stdout);
    }
    if (t->code != EXIT_SUCCESS || !output_ok())
        request_stop();
    stopwatch_toggle(&t->watch);
}

/* -- the command ------------------------------------------------------------------- */

static void add_sets(trace *t, const text_list *paths)
{
    if (paths->count > SETS_MAX)
        usage_error(t->input.command, "--pairs may be given at most %d times",
                    SETS_MAX);
    for (; t->set_count < paths->count; t->set_count++) {
        pair_set *s = &t->sets[t->set_count];
        s->path = paths->items[t->set_count];
        set_name(s->path, s->name);
        /* The name becomes a column; JSON escapes it instead. Cleaning may make two
         * names equal, so duplicates are looked for afterwards. */
        if (t->style != TABLE_JSON)
            tide_utf8_clean(s->name);
        for (size_t i = 0; i < t->set_count; i++)
            if (!strcmp(t->sets[i].name, s->name))
                usage_error(t->input.command, "two lists of pairs are named '%s'",
                            s->name);
    }
}

static tide_run trace_run(trace *t, uint64_t every, bool *saved)
{
    tide_run run = new_run(&t->input);
    run.progress = progress_update;
    run.progress_data = &t->p;
    run.note = progress_note;
    run.note_data = &t->p;
    run.pause = on_step;
    run.pause_tokens = every;
    run.pause_data = t;
    run.save_path = t->output;
    run.saved = saved;
    run.keep_checkpoints = BACKUPS_DEFAULT;
    return run;
}

static int train(trace *t, const tide_run *run)
{
    tide_error err;
    tide_stats before, after;
    tide_trainer_stats(t->trainer, &before, sizeof before);
    progress_break(&t->p);
    progress_begin(&t->p, &before, t->p.quiet);
    int status = run_trainer(t->trainer, run, &err);
    tide_trainer_stats(t->trainer, &after, sizeof after);
    if (*run->saved || status >= 0)
        log_skipped_input(&t->p, &after, &before);
    if (status >= 0 && after.tokens == before.tokens)
        progress_note(&t->p, true, "no words were read");
    progress_break(&t->p);
    if (status < 0)
        return log_training_error(&err);
    bool all_bad = after.records > before.records && after.tokens == before.tokens;
    return all_bad ? EXIT_INPUT : t->code;
}

/* Evaluating once before training finds unusable files early. */
static int run(trace *t, uint64_t every, bool quiet)
{
    int code;
    bool saved = false;
    scores ignored;
    progress_begin(&t->p, &(tide_stats){0}, quiet);
    tide_run how = trace_run(t, every, &saved);
    stopwatch_toggle(&t->watch);
    t->trainer = open_trainer(&t->input, &how, &code);
    stopwatch_toggle(&t->watch);
    if (!t->trainer)
        return code;
    code = evaluate(t, &ignored);
    stopwatch_toggle(&t->watch);
    if (code == EXIT_SUCCESS)
        code = train(t, &how);
    tide_trainer_free(t->trainer);
    return code;
}

static int open_all(trace *t, const char *reference)
{
    tide_error err;
    if (t->output && (tide_path_writable(t->output, &err) < 0 ||
                      tide_path_replaceable(t->output, BACKUPS_DEFAULT, &err) < 0))
        return log_error(&err);
    return reference ? query_open(&t->reference, reference, t->vectors, t->centered)
                     : EXIT_SUCCESS;
}

int eval_trace(int argc, char **argv)
{
    trace t = {.input.command = "eval trace"};
    text_list pairs = {0};
    const char *reference = NULL;
    uint64_t every = 1000000, among = 30000;
    bool batch = false, json = false, tsv = false, quiet = false;
    const option options[] = {
        {"every", 0, OPTION_COUNT, &every, "N",
         "evaluate every N words, and at the end (default 1e6)"},
        {"pairs", 0, OPTION_LIST, &pairs, "FILE",
         "word pairs with human scores, as for 'eval similarity'; may be repeated"},
        {"questions", 0, OPTION_TEXT, &t.questions.path, "FILE",
         "analogies, as for 'eval analogy'"},
        {"top", 0, OPTION_NUMBER, &among, "N",
         "analogies: use only the N most frequent words; 0 for all (default 30000)"},
        {"reference", 0, OPTION_TEXT, &reference, "MODEL",
         "compare with this model the 10 nearest neighbors of its 1000 most frequent "
         "words, as 'eval agreement' does"},
        {"output", 'o', OPTION_TEXT, &t.output, "MODEL",
         "save the model at the end; it is the same as that of 'train'"},
        {"resume", 0, OPTION_TEXT, &t.input.resume, "MODEL",
         "continue training this model exactly where it stopped"},
        {"batch", 0, OPTION_FLAG, &batch, NULL,
         "count the words first, then read the text --epochs times, as 'train' does"},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "print only warnings and errors"},
        VIEW_OPTIONS(t.vectors, t.centered),
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "eval trace",
        "eval trace [OPTION]... [SOURCE]...",
        "Trains as 'wordtide train' does with the same options, and prints at every "
        "step: words read; seconds of training and its processor time, without "
        "evaluation; words held, admitted and evicted; words evicted within 1,000 "
        "words of their admission; words read that were not held; loss; Spearman's "
        "correlation for each list of pairs; the share of analogies solved; the mean "
        "of these scores if all are defined; and the overlap with the neighbors of a "
        "reference. SIGINT and SIGTERM end it after one more step.",
        options,
        "wordtide eval trace text8 --every 1e6 --pairs ws353.tsv --json\n"
        "wordtide eval trace text8 --profile paper --reference batch.tide --tsv\n"
        "wordtide eval trace text8 --batch --epochs 5 --pairs ws353.tsv\n",
        .parameters = true,
        .common = common_parameters,
        .min_operands = 0,
        .max_operands = -1,
    };
    t.input.source_count = parse_options(argc, argv, &usage, &t.input.typed);
    t.input.sources = argv;
    t.style = table_style_of(json, tsv, usage.command);
    t.questions.options.top = among > UINT32_MAX ? 0 : (uint32_t)among;
    add_sets(&t, &pairs);
    train_input_set_batch(&t.input, batch);
    train_input_complete(&t.input);
    train_input_check_output(&t.input, t.output);
    int code = open_all(&t, reference);
    if (code == EXIT_SUCCESS)
        code = run(&t, every, quiet);
    query_close(&t.reference);
    free(t.questions.sections);
    text_list_free(&pairs);
    settings_free(&t.input.typed);
    return finish_output(code);
}
