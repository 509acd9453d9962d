/* cmd_vector.c - wordtide vector: vectors as text, in the manner of word2vec. */
#include "asking.h"
#include "commands.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

typedef struct vectors {
    asking ask;
    float *numbers; /* [dim] */
} vectors;

/* A blank would end the word in the text. */
static void print_name(const char *text)
{
    char *name = strdup(text);
    for (char *c = name; c && *c; c++)
        if (*c == ' ')
            *c = '_';
    print_word(name ? name : text);
    free(name);
}

static void print_vector(const vectors *v, const asked_terms *term)
{
    bool json = v->ask.json;
    if (json) {
        printf("{\"word\":");
        print_json(*term->texts);
        asked_print(term);
        printf(",\"vector\":[");
    } else {
        asked_note(term);
        print_name(*term->texts);
    }
    for (uint32_t i = 0; i < tide_model_dim(v->ask.model); i++) {
        fputs(!json ? " " : i ? "," : "", stdout);
        print_float(v->numbers[i]);
    }
    puts(json ? "]}" : "");
}

static int print_words(void *data, const char *line, const char *const *words,
                       size_t count)
{
    (void)line;
    vectors *v = data;
    int code = EXIT_SUCCESS;
    for (size_t i = 0; i < count && output_ok(); i++) {
        asked_terms term;
        char why[FAILURE_TEXT];
        if (asked_find(&term, &v->ask, &words[i], 1, why) &&
            !tide_view_mean(v->ask.space, *term.words, v->numbers, NULL)) {
            print_vector(v, &term);
        } else {
            complain("%s", why);
            code = EXIT_FAILURE;
        }
        asked_free(&term);
    }
    return code;
}

/* Words with blanks cannot be told from their numbers, in text. Returns how many are
 * left. */
static size_t leave_out(const vectors *v, tide_entry *entries, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (v->ask.json || !strpbrk(entries[i].word, " \t\n\v\f\r"))
            entries[left++] = entries[i];
    if (left < count)
        complain("%zu words with blanks left out", count - left);
    return left;
}

static int print_all(vectors *v)
{
    size_t count;
    tide_entry *entries = asking_words(v->ask.model, &count);
    if (!entries)
        return EXIT_FAILURE;
    count = leave_out(v, entries, count);
    if (!v->ask.json)
        printf("%zu %u\n", count, tide_model_dim(v->ask.model));
    int code = EXIT_SUCCESS;
    for (size_t i = 0; i < count && output_ok() && code == EXIT_SUCCESS; i++)
        code = print_words(v, NULL, &entries[i].word, 1);
    free(entries);
    return code;
}

static int run(vectors *v, bool all, char **words, int count)
{
    v->numbers = calloc(tide_model_dim(v->ask.model), sizeof *v->numbers);
    if (!v->numbers) {
        complain("out of memory");
        return EXIT_FAILURE;
    }
    if (all || count == 0)
        return print_all(v);
    if (count == 1 && !strcmp(words[0], "-"))
        return answer_input("word> ", print_words, v);
    return print_words(v, NULL, (const char *const *)words, (size_t)count);
}

int cmd_vector(int argc, char **argv)
{
    vectors v = {0};
    int which = TIDE_VECTORS_INPUT;
    bool centered = false, all = false;
    const option options[] = {
        {"all", 0, OPTION_FLAG, &all, NULL,
         "all words by falling count, after a line with their number and the "
         "dimension; "
         "so it is without words too"},
        {"vectors", 0, OPTION_CHOICE, &which, VECTOR_CHOICES,
         "which vectors to print (default input)"},
        {"center", 0, OPTION_FLAG, &centered, NULL,
         "subtract the mean vector of the frequent words"},
        {"json", 0, OPTION_FLAG, &v.ask.json, NULL, "print a JSON object a word"},
        {0},
    };
    const command_usage usage = {
        "vector",
        "vector [OPTION]... MODEL [WORD]...",
        "Prints vectors as word2vec does in text: the word and its numbers, a line "
        "each. "
        "The word '-' alone stands for words from standard input. MODEL may be any "
        "file "
        "of vectors.",
        options,
        "wordtide vector news.tide tea coffee\n"
        "wordtide vector news.tide > vectors.txt\n"
        "cut -f1 list.tsv | wordtide vector news.tide -\n",
        .least = 1,
        .most = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    if (all && count > 1)
        usage_error("vector", "--all takes no words");
    int code = asking_open(&v.ask, argv[0], which, centered);
    if (code == EXIT_SUCCESS)
        code = run(&v, all, argv + 1, count - 1);
    free(v.numbers);
    asking_close(&v.ask);
    return finish_output(code);
}
