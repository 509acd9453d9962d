/* eval_similarity.c - wordtide eval similarity: cosines compared with human scores. */
#include "eval.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static const char *const policies[] = {"skip", "zero"};

const char *set_name(const char *path, char name[SET_NAME_SIZE])
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    snprintf(name, SET_NAME_SIZE, "%.*s", (int)length, base);
    return name;
}

static void print_result(table *t, const char *path, int oov,
                         const tide_similarity_result *r)
{
    char name[SET_NAME_SIZE];
    table_text(t, set_name(path, name));
    table_real(t, r->spearman, 4);
    table_real(t, r->pearson, 4);
    table_count(t, r->pairs);
    table_count(t, r->known);
    table_real(t, (double)r->known / (double)r->pairs, 4);
    table_count(t, r->bad_lines);
    table_text(t, policies[oov]);
    table_text(t, path);
    table_end_row(t);
}

static int evaluate(const tide_view *view, const tide_eval_options *how,
                    table_style style, char **paths, int count)
{
    static const char *const columns[] = {"name",  "spearman", "pearson",   "pairs",
                                          "known", "coverage", "bad_lines", "oov",
                                          "file",  NULL};
    table *t = table_new(style, columns);
    int code = t ? EXIT_SUCCESS : EXIT_FAILURE;
    for (int i = 0; t && i < count; i++) {
        tide_error err;
        tide_similarity_result result;
        if (tide_eval_similarity(view, paths[i], how, &result, &err) < 0)
            code = log_error(&err);
        else
            print_result(t, paths[i], how->keep_unknown, &result);
    }
    table_end(t);
    return code;
}

int eval_similarity(int argc, char **argv)
{
    query_context query = {0};
    uint64_t top = 0;
    int vectors = TIDE_VECTORS_INPUT, oov = 0;
    bool centered = false, json = false, tsv = false;
    const option options[] = {
        {"top", 0, OPTION_NUMBER, &top, "N",
         "use only the N most frequent words; 0 for all (default 0)"},
        {"oov", 0, OPTION_CHOICE, &oov, "skip|zero",
         "skip pairs with unknown words, or score them with a cosine of 0 (default "
         "skip)"},
        VIEW_OPTIONS(vectors, centered),
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "eval similarity",
        "eval similarity [OPTION]... MODEL PAIRS...",
        "Prints Spearman's and Pearson's correlation of the cosines of word pairs with "
        "human scores. Each line of PAIRS has two words and a number, separated by "
        "tabs, semicolons, commas or spaces; further columns are ignored, as are a "
        "header line and lines starting with '#'. A word is looked up as spelled, then "
        "in lower case. MODEL is a model, which builds vectors of unseen words from "
        "their n-grams if it has any, or a file of vectors. Scores of models that know "
        "different pairs are not comparable; check the coverage.",
        options,
        "wordtide eval similarity news.tide ws353.tsv simlex.csv\n"
        "wordtide eval similarity vectors.bin ws353.tsv --json\n",
        .min_operands = 2,
        .max_operands = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    table_style style = table_style_of(json, tsv, usage.command);
    tide_eval_options how = {.top = top > UINT32_MAX ? 0 : (uint32_t)top,
                             .keep_unknown = oov};
    int code = query_open(&query, argv[0], vectors, centered);
    if (code == EXIT_SUCCESS)
        code = evaluate(query.view, &how, style, argv + 1, count - 1);
    query_close(&query);
    return finish_output(code);
}
