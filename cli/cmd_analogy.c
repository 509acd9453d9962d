/* cmd_analogy.c - wordtide analogy: a is to b as c is to which word? */
#include "commands.h"
#include "output.h"
#include "query_common.h"

#include "base/base.h"

#include <stdlib.h>

typedef struct analogy {
    query_context query;
    tide_hit *hits;
    uint64_t count;
} analogy;

static int search(analogy *a, const char *const *words, size_t count,
                  resolved_terms *terms, char reason[REASON_SIZE])
{
    if (count != 3) {
        snprintf(reason, REASON_SIZE, "an analogy needs three words");
        return TIDE_ERROR_PARAMETER;
    }
    if (!resolve_terms(terms, &a->query, words, count, reason))
        return TIDE_ERROR_NOT_FOUND;
    tide_error err;
    int found = tide_view_analogy(a->query.view, terms->words[0], terms->words[1],
                                  terms->words[2], a->hits, a->count, &err);
    if (found < 0)
        snprintf(reason, REASON_SIZE, "%s", err.text);
    return found;
}

static void print_answer(const analogy *a, const char *line,
                         const resolved_terms *terms, int found)
{
    if (a->query.json) {
        tide_json_writer w = {0};
        if (line) {
            tide_json_object(&w, NULL);
            tide_json_text(&w, "query", line);
            write_term_tokens(&w, terms);
        }
        write_hits(&w, line ? "hits" : NULL, a->hits, found);
        if (line)
            tide_json_end(&w);
        return;
    }
    log_term_tokens(terms);
    print_hits(a->hits, found);
    if (line)
        putchar('\n');
}

static void print_failure(const analogy *a, const char *line, const char *reason)
{
    if (a->query.json && line) {
        write_failed_query(line, reason);
        return;
    }
    log_message("%s", reason);
    if (line)
        putchar('\n');
}

/* `line` is NULL for the question on the command line. */
static int answer(void *data, const char *line, const char *const *words, size_t count)
{
    analogy *a = data;
    resolved_terms terms = {0};
    char reason[REASON_SIZE];
    int found = search(a, words, count, &terms, reason);
    if (found < 0)
        print_failure(a, line, reason);
    else
        print_answer(a, line, &terms, found);
    free_terms(&terms);
    return found < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_analogy(int argc, char **argv)
{
    analogy a = {.count = 10};
    int vectors = TIDE_VECTORS_INPUT;
    bool raw = false;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &a.count, "N",
         "print the N nearest words (default 10)"},
        QUERY_OPTIONS(vectors, raw),
        {"json", 0, OPTION_FLAG, &a.query.json, NULL,
         "print a JSON array; for standard input, one object per line"},
        {0},
    };
    const command_usage usage = {
        "analogy",
        "analogy [OPTION]... MODEL [A B C]",
        "A is to B as C is to which word? Prints the words nearest to B - A + C, one "
        "per line: score and word. Without words it answers questions from standard "
        "input, three words per line, each answer followed by an empty line. MODEL may "
        "be any file of vectors.",
        options,
        "wordtide analogy news.tide norvania tarsk elmoria\n"
        "wordtide analogy news.tide bridge bridges castle -n 1\n",
        .min_operands = 1,
        .max_operands = 4,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    if (count == 2 || count == 3)
        usage_error("analogy", "an analogy needs three words");
    int code = query_open(&a.query, argv[0], vectors, !raw);
    if (code == EXIT_SUCCESS) {
        a.hits = query_alloc_hits(&a.query, &a.count);
        if (!a.hits)
            code = EXIT_FAILURE;
        else if (count == 4)
            code = answer(&a, NULL, (const char *const *)argv + 1, 3);
        else
            code = answer_stdin("a b c> ", answer, &a);
    }
    free(a.hits);
    query_close(&a.query);
    return finish_output(code);
}
