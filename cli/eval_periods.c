/* eval_periods.c - wordtide eval periods: how a stream changes from month to month. */
#include "eval.h"
#include "output.h"
#include "train_run.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static const char command[] = "eval periods";

enum { LIST_TEXT = TIDE_PERIOD_WORDS * (TIDE_WORD_MAX + 3) };

typedef struct job {
    train_input input;
    tide_periods_options options;
    table_style style;
    table *periods;
    table *movers; /* TABLE_TEXT only */
    progress progress;
} job;

/* Joins words with commas; NULLs are skipped. */
static const char *join_words(const char *const *words, size_t count,
                              char text[LIST_TEXT])
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        if (words[i])
            used += (size_t)snprintf(text + used, LIST_TEXT - used, "%s%s",
                                     used ? ", " : "", words[i]);
    return text;
}

/* -- JSON -------------------------------------------------------------------------- */

static void json_words(tide_json_writer *j, const char *name, const char *const *words)
{
    tide_json_array(j, name);
    for (size_t i = 0; i < TIDE_PERIOD_WORDS && words[i]; i++)
        tide_json_text(j, NULL, words[i]);
    tide_json_end(j);
}

static void json_mover(tide_json_writer *j, const tide_moved_word *mover)
{
    tide_json_object(j, NULL);
    tide_json_text(j, "word", mover->word);
    tide_json_count(j, "count", mover->count);
    tide_json_real(j, "aligned", mover->aligned, MACHINE_DIGITS);
    json_words(j, "then", mover->then);
    json_words(j, "now", mover->now);
    tide_json_end(j);
}

static void print_object(const tide_period *p)
{
    tide_json_writer j = {0};
    tide_json_object(&j, NULL);
    tide_json_text(&j, "period", p->name);
    tide_json_count(&j, "tokens", p->tokens);
    tide_json_count(&j, "vocabulary", p->vocabulary);
    tide_json_count(&j, "admitted", p->admitted);
    tide_json_count(&j, "evicted", p->evicted);
    tide_json_count(&j, "words", p->frequent.words);
    tide_json_real(&j, "cosine", p->frequent.cosine, MACHINE_DIGITS);
    tide_json_real(&j, "aligned", p->frequent.aligned, MACHINE_DIGITS);
    tide_json_real(&j, "overlap", p->frequent.overlap, MACHINE_DIGITS);
    tide_json_array(&j, "moved");
    for (size_t i = 0; i < p->mover_count; i++)
        json_mover(&j, &p->movers[i]);
    tide_json_end(&j);
    tide_json_array(&j, "new");
    for (size_t i = 0; i < p->newcomer_count; i++) {
        tide_json_object(&j, NULL);
        tide_json_text(&j, "word", p->newcomers[i].word);
        tide_json_count(&j, "count", p->newcomers[i].count);
        tide_json_end(&j);
    }
    tide_json_end(&j);
    tide_json_end(&j);
}

/* -- tables ------------------------------------------------------------------------ */

static void print_row(table *t, const tide_period *p)
{
    const char *moved[TIDE_PERIOD_WORDS], *new[TIDE_PERIOD_WORDS];
    char text[LIST_TEXT];
    for (size_t i = 0; i < p->mover_count; i++)
        moved[i] = p->movers[i].word;
    for (size_t i = 0; i < p->newcomer_count; i++)
        new[i] = p->newcomers[i].word;
    table_text(t, p->name);
    table_count(t, p->tokens);
    table_count(t, p->vocabulary);
    table_count(t, p->admitted);
    table_count(t, p->evicted);
    table_count(t, p->frequent.words);
    table_real(t, p->frequent.cosine, 4);
    table_real(t, p->frequent.aligned, 4);
    table_real(t, p->frequent.overlap, 4);
    table_text(t, join_words(moved, p->mover_count, text));
    table_text(t, join_words(new, p->newcomer_count, text));
    table_end_row(t);
}

static void print_movers(table *t, const tide_period *p)
{
    char text[LIST_TEXT];
    for (size_t i = 0; i < p->mover_count; i++) {
        const tide_moved_word *mover = &p->movers[i];
        table_text(t, p->name);
        table_text(t, mover->word);
        table_count(t, mover->count);
        table_real(t, mover->aligned, 4);
        table_text(t, join_words(mover->then, TIDE_PERIOD_WORDS, text));
        table_text(t, join_words(mover->now, TIDE_PERIOD_WORDS, text));
        table_end_row(t);
    }
}

static void print_period(void *data, const tide_period *p)
{
    job *j = data;
    progress_break(&j->progress);
    if (j->style == TABLE_JSON)
        print_object(p);
    else
        print_row(j->periods, p);
    if (j->movers)
        print_movers(j->movers, p);
}

/* -- the run ----------------------------------------------------------------------- */

static bool open_tables(job *j)
{
    static const char *const columns[] = {"period",  "tokens", "vocabulary", "admitted",
                                          "evicted", "words",  "cosine",     "aligned",
                                          "overlap", "moved",  "new",        NULL};
    static const char *const mover_columns[] = {"period", "moved", "count", "aligned",
                                                "then",   "now",   NULL};
    if (j->style != TABLE_JSON && !(j->periods = table_new(j->style, columns)))
        return false;
    return j->style != TABLE_TEXT || (j->movers = table_new(j->style, mover_columns));
}

static int run(job *j)
{
    tide_error err;
    tide_params *params = settings_params(&j->input.typed, command);
    int code = EXIT_FAILURE;
    if (params && open_tables(j)) {
        int status = tide_eval_periods(params, &j->options, &err);
        progress_break(&j->progress);
        code = status < 0 ? log_training_error(&err) : EXIT_SUCCESS;
    }
    table_end(j->periods);
    /* Tables are printed when they end: the periods, then the words that moved. */
    if (j->movers)
        putchar('\n');
    table_end(j->movers);
    tide_params_free(params);
    return finish_output(code);
}

static void parse_period(tide_periods_options *options, const char *text)
{
    static const char *const units[] = {"day", "week", "month", "year"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(text, units[i])) {
            options->unit = (tide_period_unit)i;
            return;
        }
    options->unit = TIDE_PERIOD_TOKENS;
    if (!parse_number(text, &options->tokens) || !options->tokens)
        usage_error(
            command,
            "--by '%s' is neither day, week, month, year nor a number of tokens", text);
}

int eval_periods(int argc, char **argv)
{
    job j = {.input = {.command = command}};
    const char *by = "month";
    int vectors = TIDE_VECTORS_INPUT;
    bool json = false, tsv = false, quiet = false;
    const option options[] = {
        {"by", 0, OPTION_TEXT, &by, "PERIOD",
         "day, week, month, year, or a number of tokens (default month)"},
        VIEW_OPTIONS(vectors, j.options.centered),
        TABLE_OPTIONS(json, tsv),
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "print only warnings and errors"},
        {0},
    };
    const command_usage usage = {
        command,
        "eval periods [OPTION]... [SOURCE]...",
        "Trains on a stream in order of time, and compares the end of every period "
        "with the end of the one before: words admitted and evicted; the mean cosine "
        "of the 1,000 most frequent words with their earlier selves, before and after "
        "the best common rotation, and the overlap of their 10 nearest; of the 3,000 "
        "most frequent words, those that moved most beyond that rotation, with their "
        "neighbors then and now; and the most frequent new words. Records need a time "
        "(--time), unless periods are numbers of tokens.",
        options,
        "wordtide eval periods posts.tsv.zst --time 1 --text 2 --tokenizer social\n"
        "wordtide eval periods posts.jsonl --by week --time date --text body --json\n"
        "wordtide eval periods corpus.txt --by 1e6\n",
        .parameters = true,
        .common = common_parameters,
        .min_operands = 0,
        .max_operands = -1,
    };
    j.input.source_count = parse_options(argc, argv, &usage, &j.input.typed);
    j.input.sources = argv;
    train_input_complete(&j.input);
    parse_period(&j.options, by);
    j.style = table_style_of(json, tsv, command);
    j.options.sources = (const char *const *)j.input.sources;
    j.options.source_count = (size_t)j.input.source_count;
    j.options.vectors = (tide_vectors)vectors;
    j.options.period = print_period;
    j.options.period_data = &j;
    j.options.progress = progress_update;
    j.options.progress_data = &j.progress;
    progress_begin(&j.progress, &(tide_stats){0}, quiet);
    int code = run(&j);
    settings_free(&j.input.typed);
    return code;
}
