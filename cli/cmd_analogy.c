/* cmd_analogy.c - wordtide analogy: a is to b as c is to which word? */
#include "asking.h"
#include "commands.h"
#include "output.h"

#include <stdlib.h>

typedef struct analogy {
    asking ask;
    tide_hit *hits;
    uint64_t count;
} analogy;

static int search(analogy *a, const char *const *words, size_t count,
                  asked_terms *terms, char why[FAILURE_TEXT])
{
    if (count != 3) {
        snprintf(why, FAILURE_TEXT, "an analogy is three words");
        return TIDE_ERROR_PARAMETER;
    }
    if (!asked_find(terms, &a->ask, words, count, why))
        return TIDE_ERROR_NOT_FOUND;
    tide_error err;
    int found = tide_view_analogy(a->ask.space, terms->words[0], terms->words[1],
                                  terms->words[2], a->hits, a->count, &err);
    if (found < 0)
        snprintf(why, FAILURE_TEXT, "%s", err.text);
    return found;
}

static void print_answer(const analogy *a, const char *line, const asked_terms *terms,
                         int found, const char *why)
{
    bool object = a->ask.json && line;
    if (object) {
        printf("{\"query\":");
        print_json(line);
        if (found >= 0)
            asked_print(terms);
        printf(found < 0 ? ",\"error\":" : ",\"hits\":");
    } else if (found >= 0) {
        asked_note(terms);
    }
    if (found >= 0)
        print_hits(&a->ask, a->hits, found);
    else if (object)
        print_json(why);
    else
        complain("%s", why);
    if (object)
        putchar('}');
    if (line || (a->ask.json && found >= 0))
        putchar('\n');
}

/* `line` is NULL for the question of the command line. */
static int answer(void *data, const char *line, const char *const *words, size_t count)
{
    analogy *a = data;
    asked_terms terms = {0};
    char why[FAILURE_TEXT];
    int found = search(a, words, count, &terms, why);
    print_answer(a, line, &terms, found, why);
    asked_free(&terms);
    return found < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_analogy(int argc, char **argv)
{
    analogy a = {.count = 10};
    int vectors = TIDE_VECTORS_INPUT;
    bool raw = false;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &a.count, "N", "so many words (default 10)"},
        ASKING_OPTIONS(vectors, raw),
        {"json", 0, OPTION_FLAG, &a.ask.json, NULL,
         "print a JSON array; for standard input an object a line"},
        {0},
    };
    const command_usage usage = {
        "analogy",
        "analogy [OPTION]... MODEL [A B C]",
        "A is to B as C is to which word? Prints the words nearest to B - A + C, as "
        "score "
        "and word. Without words it answers the lines of standard input, three words "
        "each, "
        "with an empty line after every answer. MODEL may be any file of vectors.",
        options,
        "wordtide analogy news.tide norvania tarsk elmoria\n"
        "wordtide analogy news.tide bridge bridges castle -n 1\n",
        .least = 1,
        .most = 4,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    if (count == 2 || count == 3)
        usage_error("analogy", "an analogy is three words");
    int code = asking_open(&a.ask, argv[0], vectors, !raw);
    if (code == EXIT_SUCCESS) {
        a.hits = asking_hits(&a.ask, &a.count);
        if (!a.hits)
            code = EXIT_FAILURE;
        else if (count == 4)
            code = answer(&a, NULL, (const char *const *)argv + 1, 3);
        else
            code = answer_input("a b c> ", answer, &a);
    }
    free(a.hits);
    asking_close(&a.ask);
    return finish_output(code);
}
