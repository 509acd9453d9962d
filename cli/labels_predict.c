/* labels_predict.c - wordtide labels predict: predicts the labels of lines of text. */
#include "labels.h"
#include "lines.h"
#include "output.h"
#include "table.h"

#include "base/base.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char command[] = "labels predict";

typedef struct job {
    tide_labeler *labeler;
    tide_prediction *predictions; /* [max_count] */
    size_t max_count;
    float threshold;
    table_style style;
    table *table;     /* TABLE_TSV only */
    bool interactive; /* the writer may wait for an answer before its next line */
    uint64_t lines, unknown;
} job;

/* -- output ------------------------------------------------------------------------ */

static void print_text(const tide_prediction *predictions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_word(predictions[i].label);
        printf(i + 1 < count ? " %.4f  " : " %.4f", (double)predictions[i].probability);
    }
    putchar('\n');
}

static void print_rows(table *t, uint64_t line, const tide_prediction *predictions,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        table_count(t, line);
        table_count(t, i + 1);
        table_text(t, predictions[i].label);
        table_real(t, (double)predictions[i].probability, MACHINE_DIGITS);
        table_end_row(t);
    }
}

static void print_object(const tide_prediction *predictions, size_t count,
                         uint64_t known)
{
    tide_json_writer w = {0};
    tide_json_object(&w, NULL);
    tide_json_array(&w, "labels");
    for (size_t i = 0; i < count; i++) {
        tide_json_object(&w, NULL);
        tide_json_text(&w, "label", predictions[i].label);
        tide_json_float(&w, "probability", predictions[i].probability);
        tide_json_end(&w);
    }
    tide_json_end(&w);
    tide_json_count(&w, "known", known);
    tide_json_end(&w);
}

/* -- input ------------------------------------------------------------------------- */

static void add_text(void *data, const char *text, size_t size)
{
    job *j = data;
    tide_labeler_add(j->labeler, text, size);
}

static bool end_line(void *data)
{
    job *j = data;
    uint64_t known;
    size_t count = tide_labeler_end(j->labeler, j->predictions, j->max_count, &known);
    while (count > 0 && j->predictions[count - 1].probability < j->threshold)
        count--;
    j->lines++;
    j->unknown += known == 0;
    if (j->style == TABLE_JSON)
        print_object(j->predictions, count, known);
    else if (j->style == TABLE_TSV)
        print_rows(j->table, j->lines, j->predictions, count);
    else
        print_text(j->predictions, count);
    if (j->interactive)
        fflush(stdout);
    return output_ok();
}

static bool is_file(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

static int run(job *j, uint64_t max_count, char **names, int count)
{
    static const char *const columns[] = {"line", "rank", "label", "probability", NULL};
    uint32_t size = tide_labeler_size(j->labeler);
    j->max_count = max_count < size ? (size_t)max_count : size;
    j->predictions = calloc(j->max_count + 1, sizeof *j->predictions);
    if (!j->predictions) {
        log_message("out of memory");
        return EXIT_FAILURE;
    }
    if (j->style == TABLE_TSV && !(j->table = table_new(j->style, columns)))
        return EXIT_FAILURE;
    line_reader reader = {add_text, end_line, j};
    j->interactive = count == 0 && !is_file(STDIN_FILENO);
    int code = read_lines(names, count, &reader);
    log_unknown_lines(j->unknown, j->lines);
    return code;
}

int labels_predict(int argc, char **argv)
{
    job j = {0};
    uint64_t max_count = 5;
    const char *threshold = "0";
    bool json = false, tsv = false;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &max_count, "N",
         "print at most N labels per line (default 5)"},
        {"threshold", 0, OPTION_TEXT, &threshold, "P",
         "print only labels of at least this probability (default 0)"},
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        command,
        "labels predict [OPTION]... MODEL [FILE]...",
        "Prints the most probable labels of each line of text with their "
        "probabilities, one output line per input line; with --tsv, one row per label: "
        "line number, rank, label and probability. Labels in the text are ignored. "
        "Files may be compressed; the default is standard input. A line without any "
        "known word gets the most frequent labels.",
        options,
        "echo 'goal in the last minute' | wordtide labels predict posts.tide\n"
        "wordtide labels predict posts.tide texts.txt --threshold 0.5 > labels.txt\n"
        "wordtide labels predict posts.tide texts.txt.gz -n 3 --json\n",
        .min_operands = 1,
        .max_operands = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    j.style = table_style_of(json, tsv, command);
    j.threshold = parse_threshold(threshold, command);
    tide_error err;
    j.labeler = tide_labeler_load(argv[0], &err);
    if (!j.labeler)
        return log_load_error(&err);
    int code = run(&j, max_count, argv + 1, count - 1);
    table_end(j.table);
    free(j.predictions);
    tide_labeler_free(j.labeler);
    return finish_output(code);
}
