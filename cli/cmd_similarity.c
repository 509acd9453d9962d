/* cmd_similarity.c - wordtide similarity: the cosine of two words. */
#include "asking.h"
#include "commands.h"
#include "output.h"

#include <stdlib.h>

static int fail(const asking *ask, const char *line, const char *text)
{
    if (ask->json && line) {
        printf("{\"query\":");
        print_json(line);
        printf(",\"error\":");
        print_json(text);
        puts("}");
    } else {
        complain("%s", text);
    }
    return EXIT_FAILURE;
}

static void print_pair(const asking *ask, const asked_terms *terms, float cosine,
                       bool alone)
{
    const char *const *words = terms->texts;
    if (ask->json) {
        printf("{\"a\":");
        print_json(words[0]);
        printf(",\"b\":");
        print_json(words[1]);
        printf(",\"score\":%.6f", (double)cosine);
        asked_print(terms);
        puts("}");
        return;
    }
    asked_note(terms);
    printf("%.4f", (double)cosine);
    if (!alone) {
        putchar('\t');
        print_word(words[0]);
        putchar('\t');
        print_word(words[1]);
    }
    putchar('\n');
}

/* `line` is NULL for the pair of the command line. */
static int answer(void *data, const char *line, const char *const *words, size_t count)
{
    const asking *ask = data;
    if (count != 2)
        return fail(ask, line, "a pair is two words");
    tide_error err;
    float cosine;
    asked_terms terms;
    char why[FAILURE_TEXT];
    bool known = asked_find(&terms, ask, words, 2, why);
    if (known && tide_view_similarity(ask->space, terms.words[0], terms.words[1],
                                      &cosine, &err) < 0) {
        snprintf(why, sizeof why, "%s", err.text);
        known = false;
    }
    if (known)
        print_pair(ask, &terms, cosine, !line);
    asked_free(&terms);
    return known ? EXIT_SUCCESS : fail(ask, line, why);
}

int cmd_similarity(int argc, char **argv)
{
    asking ask = {0};
    int vectors = TIDE_VECTORS_INPUT;
    bool raw = false;
    const option options[] = {
        ASKING_OPTIONS(vectors, raw),
        {"json", 0, OPTION_FLAG, &ask.json, NULL, "print a JSON object a pair"},
        {0},
    };
    const command_usage usage = {
        "similarity",
        "similarity [OPTION]... MODEL [A B]",
        "Prints the cosine of two words, between -1 and 1. Without words it reads a "
        "pair a "
        "line from standard input and prints score and pair. MODEL may be any file of "
        "vectors.",
        options,
        "wordtide similarity news.tide tea coffee\n"
        "printf 'tea coffee\\ntea bridge\\n' | wordtide similarity news.tide\n",
        .least = 1,
        .most = 3,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    if (count == 2)
        usage_error("similarity", "a pair is two words");
    int code = asking_open(&ask, argv[0], vectors, !raw);
    if (code == EXIT_SUCCESS)
        code = count == 3 ? answer(&ask, NULL, (const char *const *)argv + 1, 2)
                          : answer_input("pair> ", answer, &ask);
    asking_close(&ask);
    return finish_output(code);
}
