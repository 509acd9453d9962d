/* labels_list.c - wordtide labels list: the labels of a model with their counts. */
#include "labels.h"
#include "output.h"
#include "table.h"

#include <stdlib.h>

static const char command[] = "labels list";

static void print_label(table *t, const tide_label *label)
{
    table_text(t, label->name);
    table_count(t, label->count);
    table_count(t, label->error);
    table_count(t, label->since);
    table_count(t, label->kept);
    table_text(t, label->predicted ? "yes" : "no");
    table_end_row(t);
}

static int print_labels(const tide_trainer *trainer, uint64_t max_count,
                        table_style style)
{
    /* The keys of JSON and TSV are those of version 0.1. */
    static const char *const keys[] = {"label", "count", "error", "since",
                                       "posts", "told",  NULL};
    static const char *const headings[] = {"label", "count",     "error", "since",
                                           "posts", "predicted", NULL};
    tide_label_stats stats;
    tide_trainer_label_stats(trainer, &stats);
    size_t capacity = max_count < stats.labels ? (size_t)max_count : stats.labels;
    tide_label *labels = calloc(capacity + 1, sizeof *labels);
    size_t count = labels ? tide_trainer_labels(trainer, labels, capacity) : 0;
    bool complete = labels && count == capacity;
    if (!complete)
        log_message("out of memory");
    table *t =
        complete ? table_new(style, style == TABLE_TEXT ? headings : keys) : NULL;
    int code = t ? EXIT_SUCCESS : EXIT_FAILURE;
    for (size_t i = 0; t && i < count && output_ok(); i++)
        print_label(t, &labels[i]);
    table_end(t);
    free(labels);
    return code;
}

int labels_list(int argc, char **argv)
{
    uint64_t max_count = UINT64_MAX;
    bool json = false, tsv = false;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &max_count, "N",
         "print at most N labels (default: all)"},
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        command,
        "labels list [OPTION]... MODEL",
        "Prints the labels of a model by descending count. At most count posts had the "
        "label, and at least count - error. Since is the number of the post with which "
        "it was admitted, posts is how many of its posts are kept, and predicted "
        "(told in JSON and TSV) says whether the classifier predicts it.",
        options,
        "wordtide labels list posts.tide -n 20\n"
        "wordtide labels list posts.tide --json\n",
        .min_operands = 1,
        .max_operands = 1,
    };
    parse_options(argc, argv, &usage, NULL);
    table_style style = table_style_of(json, tsv, command);
    tide_error err;
    tide_trainer *trainer = tide_trainer_load(argv[0], NULL, 0, &err);
    if (!trainer)
        return log_load_error(&err);
    int code = tracks_labels(trainer, argv[0]) ? print_labels(trainer, max_count, style)
                                               : EXIT_MODEL;
    tide_trainer_free(trainer);
    return finish_output(code);
}
