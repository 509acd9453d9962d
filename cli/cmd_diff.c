/* cmd_diff.c - wordtide diff: compares two models word by word. */
#include "commands.h"
#include "eval.h"
#include "output.h"
#include "query_common.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct job {
    query_context models[2]; /* A and B */
    tide_diff_options how;
    uint64_t max_rows;
} job;

/* -- output ------------------------------------------------------------------------ */

static void print_summary(const tide_diff *diff)
{
    tide_diff_summary s = tide_diff_summary_of(diff);
    fprintf(stderr,
            "%" PRIu64 " words in both, %" PRIu64 " only in A, %" PRIu64
            " only in B; %" PRIu64 " compared",
            s.shared, s.words_a - s.shared, s.words_b - s.shared, s.compared);
    if (!isnan(s.drift))
        fprintf(stderr, ": drift %.1f degrees (median)", s.drift);
    if (!isnan(s.overlap))
        fprintf(stderr, "%s overlap %.2f (mean)", isnan(s.drift) ? ":" : ",",
                s.overlap);
    fputc('\n', stderr);
}

/* The count of a held word is NaN if the file has no counts. */
static void count_cell(table *t, const query_context *model, bool held, uint64_t count)
{
    if (held && tide_model_origin(model->model)->uncounted)
        table_real(t, (double)NAN, 0);
    else
        table_count(t, count);
}

static int print_differences(const job *j, const tide_diff *diff, table_style style)
{
    static const char *const columns[] = {"word",    "drift",  "overlap", "count_a",
                                          "count_b", "change", NULL};
    table *t = table_new(style, columns);
    if (!t)
        return EXIT_FAILURE;
    for (size_t i = 0; i < tide_diff_size(diff) && i < j->max_rows && output_ok();
         i++) {
        tide_difference d = tide_diff_at(diff, i);
        table_text(t, d.word);
        table_real(t, d.drift, 1);
        table_real(t, d.overlap, 2);
        count_cell(t, &j->models[0], d.in_a, d.count_a);
        count_cell(t, &j->models[1], d.in_b, d.count_b);
        table_real(t, d.change, 2);
        table_end_row(t);
    }
    table_end(t);
    return EXIT_SUCCESS;
}

/* -- the command ------------------------------------------------------------------- */

static int compare(const job *j, table_style style)
{
    tide_error err;
    tide_diff *diff =
        tide_diff_new(j->models[0].view, j->models[1].view, &j->how, &err);
    if (!diff)
        return log_error(&err);
    print_summary(diff);
    int code = print_differences(j, diff, style);
    tide_diff_free(diff);
    return code;
}

int cmd_diff(int argc, char **argv)
{
    job j = {.how = {.min_count = 20}, .max_rows = 20};
    uint64_t top = 10000;
    int sort = TIDE_DIFF_DRIFT, vectors = TIDE_VECTORS_INPUT;
    bool centered = false, json = false, tsv = false;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &j.max_rows, "N",
         "print at most N words (default 20)"},
        {"sort", 0, OPTION_CHOICE, &sort, "drift|overlap|new|gone|count",
         "what to sort by (default drift)"},
        {"min-count", 0, OPTION_NUMBER, &j.how.min_count, "N",
         "leave out words that a model has seen fewer than N times (default 20)"},
        {"top", 0, OPTION_COUNT, &top, "N",
         "compare the vectors of the N most frequent common words (default 10000)"},
        VIEW_OPTIONS(vectors, centered),
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "diff",
        "diff [OPTION]... A B",
        "Lists how words differ between two models. drift is the angle in degrees "
        "between the vectors of a word, after removing the rotation that most words "
        "have in common; overlap is the share of its 10 nearest words that is the same "
        "in A and B, which no rotation changes; change is log2 of its share of all "
        "words in B over that in A, with 8 occurrences added to both. Words that moved "
        "most come first, or with --sort those with the least overlap, those new in B "
        "or gone from A, or those whose frequency changed most. Words without any "
        "difference are left out. The output is a table on a terminal and "
        "tab-separated otherwise. A and B are models or files of vectors.",
        options,
        "wordtide diff monday.tide friday.tide\n"
        "wordtide diff monday.tide friday.tide --sort new -n 50\n"
        "wordtide diff old.tide vectors.txt --sort overlap --json\n",
        .min_operands = 2,
        .max_operands = 2,
    };
    parse_options(argc, argv, &usage, NULL);
    table_style style = table_style_of(json, tsv, usage.command);
    if (style == TABLE_TEXT && !isatty(STDOUT_FILENO))
        style = TABLE_TSV;
    j.how.sort = (tide_diff_sort)sort;
    j.how.top = top < UINT32_MAX ? (uint32_t)top : UINT32_MAX;
    int code = EXIT_SUCCESS;
    for (int i = 0; i < 2 && code == EXIT_SUCCESS; i++)
        code = query_open(&j.models[i], argv[i], vectors, centered);
    if (code == EXIT_SUCCESS)
        code = compare(&j, style);
    for (int i = 0; i < 2; i++)
        query_close(&j.models[i]);
    return finish_output(code);
}
