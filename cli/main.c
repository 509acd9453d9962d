/* main.c - wordtide, the command: finds the command asked for and runs it. */
#include "commands.h"
#include "options.h"
#include "output.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
    const char *group;
    const char *name;
    const char *alias; /* NULL if none */
    const char *summary;
    int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
    {"Learn", "train", NULL, "learn from files, a pipe or the demo stream", cmd_train},
    {"Learn", "serve", NULL, "learn and answer over HTTP at once, with a page",
     cmd_serve},
    {"Learn", "demo", NULL, "print an endless invented news stream", cmd_demo},
    {"Learn", "labels", NULL, "learn and tell the labels of posts, like hashtags",
     cmd_labels},
    {"Ask", "nearest", "nn", "the words nearest to a word, or to several", cmd_nearest},
    {"Ask", "similarity", NULL, "how similar two words are", cmd_similarity},
    {"Ask", "analogy", NULL, "A is to B as C is to which word?", cmd_analogy},
    {"Ask", "vector", NULL, "the vectors of words, or of all words", cmd_vector},
    {"Ask", "embed", NULL, "a vector for each line of text", cmd_embed},
    {"Ask", "words", NULL, "the vocabulary with counts and error bounds", cmd_words},
    {"Ask", "info", NULL, "what a model is, and what training needs", cmd_info},
    {"Ask", "check", NULL, "whether files are whole and can be used", cmd_check},
    {"Ask", "diff", NULL, "what differs between two models", cmd_diff},
    {"Exchange", "export", NULL, "vectors for other programs", cmd_export},
    {"Exchange", "import", NULL, "begin a model with vectors from elsewhere",
     cmd_import},
    {"Measure", "eval", NULL, "judge vectors, counts and how they follow change",
     cmd_eval},
    {"Measure", "bench", NULL, "time the kernels or the way in", cmd_bench},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const char examples[] =
    "\nExamples:\n"
    "  wordtide demo --tokens 1e6 | wordtide train -o news.tide\n"
    "  wordtide nearest news.tide coffee\n"
    "  wordtide words news.tide -n 20\n";

static int print_overview(void)
{
    printf("usage: wordtide COMMAND [OPTION]... [ARGUMENT]...\n\n"
           "Learns word embeddings from text that never ends: one pass, bounded "
           "memory.\n");
    const char *group = "";
    for (size_t i = 0; i < COMMANDS; i++) {
        const command *c = &commands[i];
        if (strcmp(group, c->group) != 0)
            printf("\n%s:\n", c->group);
        group = c->group;
        char names[32];
        snprintf(names, sizeof names, "%s%s%s", c->name, c->alias ? ", " : "",
                 c->alias ? c->alias : "");
        printf("  %-14s%s\n", names, c->summary);
    }
    fputs(examples, stdout);
    printf("\n'wordtide COMMAND --help' tells all about a command.\n");
    return finish_output(EXIT_SUCCESS);
}

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name) ||
            (commands[i].alias && !strcmp(commands[i].alias, name)))
            return &commands[i];
    return NULL;
}

/* What fastText and gensim call it. */
static const char *our_command(const char *name)
{
    static const char *const names[][2] = {{"skipgram", "train"},
                                           {"cbow", "train"},
                                           {"supervised", "labels train"},
                                           {"predict", "labels predict"},
                                           {"predict-prob", "labels predict"},
                                           {"test", "labels eval"},
                                           {"test-label", "labels eval"},
                                           {"print-word-vectors", "vector"},
                                           {"print-sentence-vectors", "embed"},
                                           {"analogies", "analogy"},
                                           {"most-similar", "nearest"},
                                           {"most_similar", "nearest"},
                                           {"quantize", "export"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], name))
            return names[i][1];
    return NULL;
}

static const command *require_command(const char *name)
{
    const command *found = find_command(name);
    const char *ours = our_command(name);
    if (found)
        return found;
    if (ours)
        usage_error("", "unknown command '%s'; here it is 'wordtide %s'", name, ours);
    const char *nearest = NULL;
    int distance = 4;
    for (size_t i = 0; i < COMMANDS; i++) {
        int d = spelling_distance(name, commands[i].name);
        if (d < distance) {
            distance = d;
            nearest = commands[i].name;
        }
    }
    if (nearest)
        usage_error("", "unknown command '%s'; did you mean %s?", name, nearest);
    usage_error("", "unknown command '%s'", name);
}

static int run_help(int argc, char **argv)
{
    if (argc < 2)
        return print_overview();
    char flag[] = "--help";
    char *arguments[] = {argv[1], flag, NULL};
    return require_command(argv[1])->run(2, arguments);
}

/* A file must not get the number of a standard stream that is closed: the log would go into the model. What
 * takes that number instead fails in the same way as a closed one. */
static void keep_standard_numbers(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0)
            (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* A closed pipe and a file that may not grow are failures of a write like others. */
int main(int argc, char **argv)
{
    keep_standard_numbers();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    const char *name = argc > 1 ? argv[1] : "--help";
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        return print_overview();
    if (!strcmp(name, "help"))
        return run_help(argc - 1, argv + 1);
    if (!strcmp(name, "--version")) {
        printf("wordtide %s\n", tide_version());
        return finish_output(EXIT_SUCCESS);
    }
    if (name[0] == '-')
        usage_error("", "unknown option '%s'", name);
    return require_command(name)->run(argc - 1, argv + 1);
}
