/* cmd_diff.c - wordtide diff: what differs between two models. */
#include "asking.h"
#include "commands.h"
#include "eval.h"
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct job {
    asking models[2]; /* A and B */
    tide_diff_options how;
    uint64_t most; /* rows */
} job;

/* -- output --------------------------------------------------------------------------- */

static void tell_summary(const tide_diff *diff)
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

/* A count that is not known, of a word that is held, is no number. */
static void count_cell(table *t, const asking *model, bool held, uint64_t count)
{
    if (held && tide_model_origin(model->model).uncounted)
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
    for (size_t i = 0; i < tide_diff_size(diff) && i < j->most && output_ok(); i++) {
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

/* -- the command ---------------------------------------------------------------------- */

static int compare(const job *j, table_style style)
{
    tide_error err;
    tide_diff *diff =
        tide_diff_new(j->models[0].space, j->models[1].space, &j->how, &err);
    if (!diff)
        return report(&err);
    tell_summary(diff);
    int code = print_differences(j, diff, style);
    tide_diff_free(diff);
    return code;
}

int cmd_diff(int argc, char **argv)
{
    job j = {.how = {.min_count = 20}, .most = 20};
    uint64_t among = 10000;
    int sort = TIDE_DIFF_DRIFT, vectors = TIDE_VECTORS_INPUT;
    bool centered = false, json = false, tsv = false;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &j.most, "N", "at most so many (default 20)"},
        {"sort", 0, OPTION_CHOICE, &sort, "drift|overlap|new|gone|count",
         "which words come first (default drift)"},
        {"min-count", 0, OPTION_NUMBER, &j.how.min_count, "N",
         "leave out words that a model has seen less often (default 20)"},
        {"top", 0, OPTION_COUNT, &among, "N",
         "compare the vectors of the so many most frequent shared words (default "
         "10000)"},
        SPACE_OPTIONS(vectors, centered),
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "diff",
        "diff [OPTION]... A B",
        "What differs between two models? Words that both hold are listed with drift, "
        "the degrees between their vectors once the rotation is taken out that most "
        "words have in common; overlap, the share of their 10 nearest words in A and B "
        "that is the same, which no rotation changes; their counts; and the change, "
        "log2 of their share of all words in B against A, with 8 occurrences added to "
        "both sides. The words that moved most come first, or with --sort those with "
        "the least overlap, those that are new in B or gone from A, or those whose "
        "frequency changed most. Words in which nothing differs are left out. A table "
        "on a terminal, tab-separated otherwise. A and B are models or any files of "
        "vectors.",
        options,
        "wordtide diff monday.tide friday.tide\n"
        "wordtide diff monday.tide friday.tide --sort new -n 50\n"
        "wordtide diff old.tide vectors.txt --sort overlap --json\n",
        .least = 2,
        .most = 2,
    };
    parse_options(argc, argv, &usage, NULL);
    table_style style = table_style_of(json, tsv, usage.command);
    if (style == TABLE_TEXT && !isatty(STDOUT_FILENO))
        style = TABLE_TSV;
    j.how.sort = (tide_diff_sort)sort;
    j.how.among = among < UINT32_MAX ? (uint32_t)among : UINT32_MAX;
    int code = EXIT_SUCCESS;
    for (int i = 0; i < 2 && code == EXIT_SUCCESS; i++)
        code = asking_open(&j.models[i], argv[i], vectors, centered);
    if (code == EXIT_SUCCESS)
        code = compare(&j, style);
    for (int i = 0; i < 2; i++)
        asking_close(&j.models[i]);
    return finish_output(code);
}
