/* cmd_similarity.c - wordtide similarity: the cosine of two words. */
#include "commands.h"
#include "output.h"
#include "query_common.h"

#include "base/base.h"

#include <stdlib.h>

static int print_failure(const query_context *query, const char *line, const char *text)
{
    if (query->json && line)
        write_failed_query(line, text);
    else
        log_message("%s", text);
    return EXIT_FAILURE;
}

static void print_pair(const query_context *query, const resolved_terms *terms,
                       float cosine, bool alone)
{
    const char *const *words = terms->texts;
    if (query->json) {
        tide_json_writer w = {0};
        tide_json_object(&w, NULL);
        tide_json_text(&w, "a", words[0]);
        tide_json_text(&w, "b", words[1]);
        tide_json_real(&w, "score", (double)cosine, 6);
        write_term_tokens(&w, terms);
        tide_json_end(&w);
        return;
    }
    log_term_tokens(terms);
    printf("%.4f", (double)cosine);
    if (!alone) {
        putchar('\t');
        print_word(words[0]);
        putchar('\t');
        print_word(words[1]);
    }
    putchar('\n');
}

/* `line` is NULL for the pair on the command line. */
static int answer(void *data, const char *line, const char *const *words, size_t count)
{
    const query_context *query = data;
    if (count != 2)
        return print_failure(query, line, "a pair needs two words");
    tide_error err;
    float cosine;
    resolved_terms terms;
    char reason[REASON_SIZE];
    bool known = resolve_terms(&terms, query, words, 2, reason);
    if (known && tide_view_similarity(query->view, terms.words[0], terms.words[1],
                                      &cosine, &err) < 0) {
        snprintf(reason, sizeof reason, "%s", err.text);
        known = false;
    }
    if (known)
        print_pair(query, &terms, cosine, !line);
    free_terms(&terms);
    return known ? EXIT_SUCCESS : print_failure(query, line, reason);
}

int cmd_similarity(int argc, char **argv)
{
    query_context query = {0};
    int vectors = TIDE_VECTORS_INPUT;
    bool raw = false;
    const option options[] = {
        QUERY_OPTIONS(vectors, raw),
        {"json", 0, OPTION_FLAG, &query.json, NULL, "print a JSON object per pair"},
        {0},
    };
    const command_usage usage = {
        "similarity",
        "similarity [OPTION]... MODEL [A B]",
        "Prints the cosine of two words, between -1 and 1. Without words it reads "
        "pairs from standard input, one per line, and prints score and pair. MODEL may "
        "be any file of vectors.",
        options,
        "wordtide similarity news.tide tea coffee\n"
        "printf 'tea coffee\\ntea bridge\\n' | wordtide similarity news.tide\n",
        .min_operands = 1,
        .max_operands = 3,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    if (count == 2)
        usage_error("similarity", "a pair needs two words");
    int code = query_open(&query, argv[0], vectors, !raw);
    if (code == EXIT_SUCCESS)
        code = count == 3 ? answer(&query, NULL, (const char *const *)argv + 1, 2)
                          : answer_stdin("pair> ", answer, &query);
    query_close(&query);
    return finish_output(code);
}
