/* labels_predict.c - wordtide labels predict: the labels that lines of text might carry. */
#include "labels.h"
#include "json.h"
#include "lines.h"
#include "output.h"
#include "table.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char command[] = "labels predict";

typedef struct job {
    tide_labeler *labeler;
    tide_prediction *guesses; /* [most] */
    size_t most;
    float threshold;
    table_style style;
    table *table; /* of TSV */
    bool waiting; /* somebody may wait for the answer before the next line */
    uint64_t lines, unknown;
} job;

/* -- output ------------------------------------------------------------------------ */

static void print_text(const tide_prediction *guesses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_word(guesses[i].label);
        printf(i + 1 < count ? " %.4f  " : " %.4f", (double)guesses[i].probability);
    }
    putchar('\n');
}

static void print_rows(table *t, uint64_t line, const tide_prediction *guesses,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        table_count(t, line);
        table_count(t, i + 1);
        table_text(t, guesses[i].label);
        table_real(t, (double)guesses[i].probability, MACHINE_DIGITS);
        table_end_row(t);
    }
}

static void print_object(const tide_prediction *guesses, size_t count, uint64_t known)
{
    json_writer w = {0};
    out_object(&w, NULL);
    out_array(&w, "labels");
    for (size_t i = 0; i < count; i++) {
        out_object(&w, NULL);
        out_text(&w, "label", guesses[i].label);
        out_float(&w, "probability", guesses[i].probability);
        out_end(&w);
    }
    out_end(&w);
    out_count(&w, "known", known);
    out_end(&w);
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
    size_t count = tide_labeler_end(j->labeler, j->guesses, j->most, &known);
    while (count > 0 && j->guesses[count - 1].probability < j->threshold)
        count--;
    j->lines++;
    j->unknown += known == 0;
    if (j->style == TABLE_JSON)
        print_object(j->guesses, count, known);
    else if (j->style == TABLE_TSV)
        print_rows(j->table, j->lines, j->guesses, count);
    else
        print_text(j->guesses, count);
    if (j->waiting)
        fflush(stdout);
    return output_ok();
}

static bool is_file(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

static int run(job *j, uint64_t most, char **names, int count)
{
    static const char *const columns[] = {"line", "rank", "label", "probability", NULL};
    uint32_t told = tide_labeler_size(j->labeler);
    j->most = most < told ? (size_t)most : told;
    j->guesses = calloc(j->most + 1, sizeof *j->guesses);
    if (!j->guesses) {
        complain("out of memory");
        return EXIT_FAILURE;
    }
    if (j->style == TABLE_TSV && !(j->table = table_new(j->style, columns)))
        return EXIT_FAILURE;
    line_taker taker = {add_text, end_line, j};
    j->waiting = count == 0 && !is_file(STDIN_FILENO);
    int code = read_lines(names, count, &taker);
    note_unknown_lines(j->unknown, j->lines);
    return code;
}

int labels_predict(int argc, char **argv)
{
    job j = {0};
    uint64_t most = 5;
    const char *threshold = "0";
    bool json = false, tsv = false;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &most, "N",
         "at most so many labels of a line (default 5)"},
        {"threshold", 0, OPTION_TEXT, &threshold, "P",
         "only labels that are at least so probable (default 0)"},
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        command,
        "labels predict [OPTION]... MODEL [FILE]...",
        "Prints the most probable labels of each line of text with their "
        "probabilities, the most probable first; a line for each line, or with --tsv "
        "the number of the line, the rank, the label and its probability. Labels in "
        "the text are passed over. Files may be compressed; standard input is the "
        "default. A line without any known word gets the most frequent labels.",
        options,
        "echo 'goal in the last minute' | wordtide labels predict posts.tide\n"
        "wordtide labels predict posts.tide texts.txt --threshold 0.5 > labels.txt\n"
        "wordtide labels predict posts.tide texts.txt.gz -n 3 --json\n",
        .least = 1,
        .most = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    j.style = table_style_of(json, tsv, command);
    j.threshold = take_threshold(threshold, command);
    tide_error err;
    j.labeler = tide_labeler_load(argv[0], &err);
    if (!j.labeler)
        return report_load(&err);
    int code = run(&j, most, argv + 1, count - 1);
    table_end(j.table);
    free(j.guesses);
    tide_labeler_free(j.labeler);
    return finish_output(code);
}
