/* eval_counts.c - wordtide eval counts: counts of a model against the true ones. */
#include "eval.h"
#include "json.h"
#include "output.h"
#include "points.h"
#include "training.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One thing there is to say about the model as a whole. */
typedef struct figure {
    const char *name;
    uint64_t count;
    double share; /* where it is not a count */
    bool is_share;
} figure;

enum { FIGURES = 10 };

static void list_figures(const tide_counts_result *r, figure figures[FIGURES])
{
    const figure all[FIGURES] = {
        {"tokens", r->tokens, 0, false},
        {"types", r->types, 0, false},
        {"held", r->held, 0, false},
        {"capacity", r->capacity, 0, false},
        {"minimum", r->minimum, 0, false},
        {"dropped_top", 0, r->dropped_top, true},
        {"dropped_types", 0, r->dropped_types, true},
        {"dropped_tokens", 0, r->dropped_tokens, true},
        {"mean_error", 0, r->mean_error, true},
        {"mean_error_held", 0, r->mean_error_held, true},
    };
    memcpy(figures, all, sizeof all);
}

static void print_object(const tide_counts_result *r)
{
    json_writer j = {0};
    figure figures[FIGURES];
    list_figures(r, figures);
    out_object(&j, NULL);
    for (int i = 0; i < FIGURES; i++)
        if (figures[i].is_share)
            out_real(&j, figures[i].name, figures[i].share, MACHINE_DIGITS);
        else
            out_count(&j, figures[i].name, figures[i].count);
    out_array(&j, "bands");
    for (size_t i = 0; i < r->band_count; i++) {
        const tide_count_band *b = &r->bands[i];
        out_object(&j, NULL);
        out_count(&j, "rank", b->rank);
        out_count(&j, "from", b->from);
        out_count(&j, "to", b->to);
        out_count(&j, "words", b->words);
        out_real(&j, "dropped", b->dropped, MACHINE_DIGITS);
        out_real(&j, "median_error", b->median_error, MACHINE_DIGITS);
        out_real(&j, "median_error_held", b->median_error_held, MACHINE_DIGITS);
        out_end(&j);
    }
    out_end(&j);
    out_end(&j);
}

static int print_figures(const tide_counts_result *r, table_style style)
{
    static const char *const columns[] = {"what", "value", NULL};
    figure figures[FIGURES];
    list_figures(r, figures);
    table *t = table_new(style, columns);
    if (!t)
        return EXIT_FAILURE;
    for (int i = 0; i < FIGURES; i++) {
        table_text(t, figures[i].name);
        if (figures[i].is_share)
            table_real(t, figures[i].share, 4);
        else
            table_count(t, figures[i].count);
        table_end_row(t);
    }
    table_end(t);
    return EXIT_SUCCESS;
}

static int print_bands(const tide_counts_result *r, table_style style)
{
    static const char *const columns[] = {
        "rank", "from", "to", "words", "dropped", "median_error", "median_error_held",
        NULL};
    table *t = table_new(style, columns);
    if (!t)
        return EXIT_FAILURE;
    for (size_t i = 0; i < r->band_count; i++) {
        const tide_count_band *b = &r->bands[i];
        table_count(t, b->rank);
        table_count(t, b->from);
        table_count(t, b->to);
        table_count(t, b->words);
        table_real(t, b->dropped, 4);
        table_real(t, b->median_error, 4);
        table_real(t, b->median_error_held, 4);
        table_end_row(t);
    }
    table_end(t);
    return EXIT_SUCCESS;
}

static int print_result(const tide_counts_result *r, table_style style)
{
    if (style == TABLE_JSON) {
        print_object(r);
        return EXIT_SUCCESS;
    }
    int code = print_figures(r, style);
    putchar('\n');
    return code == EXIT_SUCCESS ? print_bands(r, style) : code;
}

static void write_point(void *data, const tide_count_point *p)
{
    points *out = data;
    fprintf(out->file, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\t%.6f\n", p->rank,
            p->truth, p->count, p->held, p->error);
}

/* How the text falls into words: as it did for the model, with what was typed. */
static tide_params *choose_params(const tide_model *model, const settings *typed,
                                  const char *command)
{
    if (!*tide_model_params(model))
        return settings_params(typed, command);
    tide_error err;
    tide_params *params = tide_params_of_model(model, &err);
    if (!params)
        report(&err);
    for (size_t i = 0; params && i < typed->count; i++)
        if (tide_params_set(params, typed->pairs[i][0], typed->pairs[i][1], &err) < 0)
            usage_error(command, "%s", err.text);
    return params;
}

/* Counts that cannot be those of the text, whatever the sketch does. */
static void warn_of(const tide_params *params)
{
    char value[64];
    tide_params_text(params, "counting", value, sizeof value);
    if (!strcmp(value, "kept"))
        complain("this model counts only the words that sub-sampling keeps (--counting "
                 "kept), and is compared with all of the text");
    tide_params_text(params, "half-life", value, sizeof value);
    if (strcmp(value, "0") != 0)
        complain("the counts of this model fade (--half-life %s), and are compared "
                 "with those of all of the text",
                 value);
}

static tide_counts *count_text(const tide_model *model, const training *text, int *code)
{
    tide_error err;
    tide_params *params = choose_params(model, &text->typed, text->command);
    *code = EXIT_FAILURE;
    if (!params)
        return NULL;
    if (*tide_model_params(model))
        warn_of(params);
    progress p;
    progress_begin(&p, &(tide_stats){0}, true);
    const tide_run run = {.sources = (const char *const *)text->sources,
                          .source_count = (size_t)text->source_count,
                          .note = progress_note,
                          .note_data = &p};
    tide_counts *counts = tide_counts_new(params, &run, &err);
    tide_params_free(params);
    *code = counts ? EXIT_SUCCESS : training_failure(&err);
    return counts;
}

static int judge(const tide_model *model, const training *text, const char *path,
                 table_style style)
{
    points out;
    tide_error err;
    tide_counts *counts = NULL;
    tide_counts_result result = {0};
    int code = points_open(&out, path, "rank\ttrue\tcount\theld\terror");
    if (code == EXIT_SUCCESS)
        counts = count_text(model, text, &code);
    if (code == EXIT_SUCCESS &&
        tide_eval_counts(model, counts, &result, out.file ? write_point : NULL, &out,
                         &err) < 0)
        code = report(&err);
    code = points_close(&out, code);
    tide_counts_free(counts);
    return code == EXIT_SUCCESS ? print_result(&result, style) : code;
}

int eval_counts(int argc, char **argv)
{
    const char *path = NULL;
    bool json = false, tsv = false;
    const option options[] = {
        {"points", 0, OPTION_TEXT, &path, "FILE",
         "write a TSV file with a line for every word of the text: rank, true count, "
         "count of the model (the smallest there is for a dropped word), whether it is "
         "held, relative error"},
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "eval counts",
        "eval counts [OPTION]... MODEL [SOURCE]...",
        "Counts the words of the text exactly and compares: which of the most frequent "
        "words the model has dropped, and the relative error of its counts by true "
        "rank, the median of the words within 5 % of each rank. A dropped word counts "
        "as often as the least frequent word held, as in the paper; "
        "median_error_held leaves such words out. dropped_top is the share dropped of "
        "the K most frequent words, K being the capacity of the model. The text falls "
        "into words as in the training of the model; for a file of vectors alone, "
        "--tokenizer and the other options of 'train' about text tell how, and those "
        "about records hold for both. The paper's figures are those of plain "
        "Space-Saving over every word: a model of --admission none --counting all, "
        "which for --profile paper has to be said, since there only the words count "
        "that sub-sampling keeps.",
        options,
        "wordtide train text8 -o m.tide --vocab 7000 --tokenizer space --admission "
        "none\n"
        "wordtide eval counts m.tide text8\n"
        "wordtide eval counts m.tide text8 --json --points errors.tsv\n",
        .least = 1,
        .most = -1,
    };
    training text = {.command = usage.command};
    text.source_count = parse_options(argc, argv, &usage, &text.typed) - 1;
    text.sources = argv + 1;
    table_style style = table_style_of(json, tsv, usage.command);
    training_settle(&text);
    tide_error err;
    tide_model *model = tide_model_open(argv[0], &err);
    int code = model ? judge(model, &text, path, style) : report_load(&err);
    tide_model_free(model);
    settings_free(&text.typed);
    return finish_output(code);
}
