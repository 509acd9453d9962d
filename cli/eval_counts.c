/* eval_counts.c - wordtide eval counts: counts of a model compared with exact
 * counts. */
#include "eval.h"
#include "formats.h"
#include "output.h"
#include "plot_data.h"
#include "train_run.h"

#include "base/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A number about the model as a whole. */
typedef struct statistic {
    const char *name;
    uint64_t count;
    double share; /* if is_share */
    bool is_share;
} statistic;

enum { STATISTICS = 10 };

static void list_statistics(const tide_counts_result *r,
                            statistic statistics[STATISTICS])
{
    const statistic all[STATISTICS] = {
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
    memcpy(statistics, all, sizeof all);
}

static void print_object(const tide_counts_result *r)
{
    tide_json_writer j = {0};
    statistic statistics[STATISTICS];
    list_statistics(r, statistics);
    tide_json_object(&j, NULL);
    for (int i = 0; i < STATISTICS; i++)
        if (statistics[i].is_share)
            tide_json_real(&j, statistics[i].name, statistics[i].share, MACHINE_DIGITS);
        else
            tide_json_count(&j, statistics[i].name, statistics[i].count);
    tide_json_array(&j, "bands");
    for (size_t i = 0; i < r->band_count; i++) {
        const tide_count_band *b = &r->bands[i];
        tide_json_object(&j, NULL);
        tide_json_count(&j, "rank", b->rank);
        tide_json_count(&j, "from", b->from);
        tide_json_count(&j, "to", b->to);
        tide_json_count(&j, "words", b->words);
        tide_json_real(&j, "dropped", b->dropped, MACHINE_DIGITS);
        tide_json_real(&j, "median_error", b->median_error, MACHINE_DIGITS);
        tide_json_real(&j, "median_error_held", b->median_error_held, MACHINE_DIGITS);
        tide_json_end(&j);
    }
    tide_json_end(&j);
    tide_json_end(&j);
}

static int print_statistics(const tide_counts_result *r, table_style style)
{
    static const char *const columns[] = {"what", "value", NULL};
    statistic statistics[STATISTICS];
    list_statistics(r, statistics);
    table *t = table_new(style, columns);
    if (!t)
        return EXIT_FAILURE;
    for (int i = 0; i < STATISTICS; i++) {
        table_text(t, statistics[i].name);
        if (statistics[i].is_share)
            table_real(t, statistics[i].share, 4);
        else
            table_count(t, statistics[i].count);
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
    int code = print_statistics(r, style);
    putchar('\n');
    return code == EXIT_SUCCESS ? print_bands(r, style) : code;
}

static void write_point(void *data, const tide_count_point *p)
{
    plot_data *out = data;
    fprintf(out->file, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\t%.6f\n", p->rank,
            p->truth, p->count, p->held, p->error);
}

/* The text is tokenized as it was for the model, unless typed parameters differ. */
static tide_params *choose_params(const tide_model *model, const settings *typed,
                                  const char *command)
{
    if (!*tide_model_params(model))
        return settings_params(typed, command);
    tide_error err;
    tide_params *params = tide_params_of_model(model, &err);
    if (!params)
        log_error(&err);
    for (size_t i = 0; params && i < typed->count; i++)
        if (tide_params_set(params, typed->pairs[i][0], typed->pairs[i][1], &err) < 0)
            usage_error(command, "%s", err.text);
    return params;
}

/* With these settings the model's counts differ from those of the text by design. */
static void warn_about_counts(const tide_params *params)
{
    char value[64];
    tide_params_text(params, "counting", value, sizeof value);
    if (!strcmp(value, "kept"))
        log_message(
            "this model counts only the words that subsampling keeps (--counting "
            "kept), but is compared with all words of the text");
    tide_params_text(params, "half-life", value, sizeof value);
    if (strcmp(value, "0") != 0)
        log_message(
            "the counts of this model decay (--half-life %s), but are compared with "
            "the counts of the whole text",
            value);
}

static tide_counts *count_text(const tide_model *model, const train_input *input,
                               int *code)
{
    tide_error err;
    tide_params *params = choose_params(model, &input->typed, input->command);
    *code = EXIT_FAILURE;
    if (!params)
        return NULL;
    if (*tide_model_params(model))
        warn_about_counts(params);
    progress p;
    progress_begin(&p, &(tide_stats){0}, true);
    const tide_run run = {.size = sizeof(tide_run),
                          .sources = (const char *const *)input->sources,
                          .source_count = (size_t)input->source_count,
                          .note = progress_note,
                          .note_data = &p};
    tide_counts *counts;
    int status = tide_counts_new(params, &run, &counts, &err);
    tide_params_free(params);
    *code = status ? log_training_error(&err) : EXIT_SUCCESS;
    return counts;
}

static int evaluate(const tide_model *model, const train_input *input, const char *path,
                    table_style style)
{
    plot_data out;
    tide_error err;
    tide_counts *counts = NULL;
    tide_counts_result result = {0};
    int code = plot_data_open(&out, path, "rank\ttrue\tcount\theld\terror");
    if (code == EXIT_SUCCESS)
        counts = count_text(model, input, &code);
    if (code == EXIT_SUCCESS &&
        tide_eval_counts(model, counts, &result, out.file ? write_point : NULL, &out,
                         &err) < 0)
        code = log_error(&err);
    code = plot_data_close(&out, code);
    tide_counts_free(counts);
    return code == EXIT_SUCCESS ? print_result(&result, style) : code;
}

int eval_counts(int argc, char **argv)
{
    const char *path = NULL;
    bool json = false, tsv = false;
    const option options[] = {
        {"points", 0, OPTION_TEXT, &path, "FILE",
         "write every word of the text to a TSV file: rank, true count, count in the "
         "model (its smallest count if the word was dropped), whether it is held, and "
         "relative error"},
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "eval counts",
        "eval counts [OPTION]... MODEL [SOURCE]...",
        "Counts the words of the text exactly, and prints which of the most frequent "
        "words the model has dropped and the relative error of its counts by true "
        "rank, as the median of the words within 5 % of each rank. A dropped word is "
        "taken to have the count of the least frequent word held, as in the paper; "
        "median_error_held leaves such words out. dropped_top is the share of the K "
        "most frequent words that was dropped, K being the capacity of the model. The "
        "text is tokenized as in training; for a file of vectors, which does not "
        "record that, use --tokenizer and the other text options of train. The record "
        "options apply to both. The paper's figures are those of plain Space-Saving "
        "over every word, that is, of a model with --admission none --counting all. "
        "With --profile paper the latter must be given, because that profile counts "
        "only the words that subsampling keeps.",
        options,
        "wordtide train text8 -o m.tide --vocab 7000 --tokenizer space --admission "
        "none\n"
        "wordtide eval counts m.tide text8\n"
        "wordtide eval counts m.tide text8 --json --points errors.tsv\n",
        .parameters = true,
        .min_operands = 1,
        .max_operands = -1,
    };
    train_input input = {.command = usage.command};
    input.source_count = parse_options(argc, argv, &usage, &input.typed) - 1;
    input.sources = argv + 1;
    table_style style = table_style_of(json, tsv, usage.command);
    train_input_complete(&input);
    train_input_check_output(&input, path);
    if (path)
        check_distinct(usage.command, argv[0], path);
    tide_error err;
    tide_model *model = tide_model_open(argv[0], &err);
    int code = model ? evaluate(model, &input, path, style) : log_load_error(&err);
    tide_model_free(model);
    settings_free(&input.typed);
    return finish_output(code);
}
