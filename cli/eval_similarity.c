/* eval_similarity.c - wordtide eval similarity: cosines against people's scores. */
#include "eval.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static const char *const policies[] = {"skip", "zero"};

const char *set_name(const char *path, char name[SET_NAME])
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    snprintf(name, SET_NAME, "%.*s", (int)length, base);
    return name;
}

static void print_result(table *t, const char *path, int oov,
                         const tide_similarity_result *r)
{
    char name[SET_NAME];
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

static int judge(const tide_view *space, const tide_eval_options *how,
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
        if (tide_eval_similarity(space, paths[i], how, &result, &err) < 0)
            code = report(&err);
        else
            print_result(t, paths[i], how->keep_unknown, &result);
    }
    table_end(t);
    return code;
}

int eval_similarity(int argc, char **argv)
{
    asking ask = {0};
    uint64_t among = 0;
    int vectors = TIDE_VECTORS_INPUT, oov = 0;
    bool centered = false, json = false, tsv = false;
    const option options[] = {
        {"top", 0, OPTION_NUMBER, &among, "N",
         "only the N most frequent words are known (default 0: all)"},
        {"oov", 0, OPTION_CHOICE, &oov, "skip|zero",
         "a pair with an unknown word is left out, or taken with a cosine of 0 "
         "(default skip)"},
        SPACE_OPTIONS(vectors, centered),
        TABLE_OPTIONS(json, tsv),
        {0},
    };
    const command_usage usage = {
        "eval similarity",
        "eval similarity [OPTION]... MODEL PAIRS...",
        "Prints Spearman's and Pearson's correlation of the cosines of word pairs with "
        "the scores that people gave them. PAIRS has two words and a number a line, "
        "separated by tabs, semicolons, commas or blanks; other columns are passed "
        "over, and so are a line of names at the top and lines that begin with '#'. A "
        "word is looked for as it is spelled and then folded to lower case. MODEL is a "
        "model, whose n-grams make vectors of unseen words if it has any, or any file "
        "of vectors. Scores of models that know different pairs do "
        "not compare: mind the coverage.",
        options,
        "wordtide eval similarity news.tide ws353.tsv simlex.csv\n"
        "wordtide eval similarity vectors.bin ws353.tsv --json\n",
        .least = 2,
        .most = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    table_style style = table_style_of(json, tsv, usage.command);
    tide_eval_options how = {.among = among > UINT32_MAX ? 0 : (uint32_t)among,
                             .keep_unknown = oov};
    int code = asking_open(&ask, argv[0], vectors, centered);
    if (code == EXIT_SUCCESS)
        code = judge(ask.space, &how, style, argv + 1, count - 1);
    asking_close(&ask);
    return finish_output(code);
}
