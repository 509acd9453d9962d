/* cmd_vector.c - wordtide vector: vectors as text, in the format of word2vec. */
#include "commands.h"
#include "output.h"
#include "query_common.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

typedef struct vectors {
    query_context query;
    float *numbers; /* [dim] */
} vectors;

/* In text a space would end the word. */
static void print_name(const char *text)
{
    char *name = strdup(text);
    for (char *c = name; c && *c; c++)
        if (*c == ' ')
            *c = '_';
    print_word(name ? name : text);
    free(name);
}

static void print_vector(const vectors *v, const resolved_terms *term)
{
    uint32_t dim = tide_model_dim(v->query.model);
    if (v->query.json) {
        tide_json_writer w = {0};
        tide_json_object(&w, NULL);
        tide_json_text(&w, "word", *term->texts);
        write_term_tokens(&w, term);
        write_vector(&w, "vector", v->numbers, dim);
        tide_json_end(&w);
        return;
    }
    log_term_tokens(term);
    print_name(*term->texts);
    for (uint32_t i = 0; i < dim; i++) {
        putchar(' ');
        print_float(v->numbers[i]);
    }
    putchar('\n');
}

static int print_words(void *data, const char *line, const char *const *words,
                       size_t count)
{
    (void)line;
    vectors *v = data;
    int code = EXIT_SUCCESS;
    for (size_t i = 0; i < count && output_ok(); i++) {
        resolved_terms term;
        char reason[REASON_SIZE];
        if (resolve_terms(&term, &v->query, &words[i], 1, reason) &&
            !tide_view_mean(v->query.view, *term.words, v->numbers, NULL)) {
            print_vector(v, &term);
        } else {
            log_message("%s", reason);
            code = EXIT_FAILURE;
        }
        free_terms(&term);
    }
    return code;
}

/* Removes words with spaces, which the text format cannot represent. Returns how many
 * remain. */
static size_t remove_spaced(const vectors *v, tide_entry *entries, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (v->query.json || !strpbrk(entries[i].word, " \t\n\v\f\r"))
            entries[kept++] = entries[i];
    if (kept < count)
        log_message("%zu words with spaces left out", count - kept);
    return kept;
}

static int print_all(vectors *v)
{
    size_t count;
    tide_entry *entries = list_words(v->query.model, &count);
    if (!entries)
        return EXIT_FAILURE;
    count = remove_spaced(v, entries, count);
    if (!v->query.json)
        printf("%zu %u\n", count, tide_model_dim(v->query.model));
    int code = EXIT_SUCCESS;
    for (size_t i = 0; i < count && output_ok() && code == EXIT_SUCCESS; i++)
        code = print_words(v, NULL, &entries[i].word, 1);
    free(entries);
    return code;
}

static int run(vectors *v, bool all, char **words, int count)
{
    v->numbers = calloc(tide_model_dim(v->query.model), sizeof *v->numbers);
    if (!v->numbers) {
        log_message("out of memory");
        return EXIT_FAILURE;
    }
    if (all || count == 0)
        return print_all(v);
    if (count == 1 && !strcmp(words[0], "-"))
        return answer_stdin("word> ", print_words, v);
    return print_words(v, NULL, (const char *const *)words, (size_t)count);
}

int cmd_vector(int argc, char **argv)
{
    vectors v = {0};
    int which = TIDE_VECTORS_INPUT;
    bool centered = false, all = false;
    const option options[] = {
        {"all", 0, OPTION_FLAG, &all, NULL,
         "print all words by descending count, after a line with their number and the "
         "dimension (default without words)"},
        {"vectors", 0, OPTION_CHOICE, &which, VECTOR_CHOICES,
         "which vectors to print (default input)"},
        {"center", 0, OPTION_FLAG, &centered, NULL,
         "subtract the mean vector of the frequent words"},
        {"json", 0, OPTION_FLAG, &v.query.json, NULL, "print a JSON object per word"},
        {0},
    };
    const command_usage usage = {
        "vector",
        "vector [OPTION]... MODEL [WORD]...",
        "Prints vectors in word2vec's text format: a word and its numbers per line. "
        "The single word '-' reads words from standard input. MODEL may be any file of "
        "vectors.",
        options,
        "wordtide vector news.tide tea coffee\n"
        "wordtide vector news.tide > vectors.txt\n"
        "cut -f1 list.tsv | wordtide vector news.tide -\n",
        .min_operands = 1,
        .max_operands = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    if (all && count > 1)
        usage_error("vector", "--all takes no words");
    int code = query_open(&v.query, argv[0], which, centered);
    if (code == EXIT_SUCCESS)
        code = run(&v, all, argv + 1, count - 1);
    free(v.numbers);
    query_close(&v.query);
    return finish_output(code);
}
