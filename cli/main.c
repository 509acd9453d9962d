/* main.c - the wordtide program: finds a command by name and runs it. */
#include "commands.h"
#include "options.h"
#include "output.h"

#include "base/base.h"

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
    {"Learn", "train", NULL, "learn word vectors from files, a pipe or a stream",
     cmd_train},
    {"Learn", "serve", NULL, "learn and answer over HTTP, with a web page", cmd_serve},
    {"Learn", "labels", NULL, "learn and predict labels of posts, such as hashtags",
     cmd_labels},
    {"Learn", "demo", NULL, "print an endless synthetic news stream", cmd_demo},
    {"Query", "nearest", "nn", "find the nearest words to a word, or to several",
     cmd_nearest},
    {"Query", "similarity", NULL, "compare two words", cmd_similarity},
    {"Query", "analogy", NULL, "A is to B as C is to which word?", cmd_analogy},
    {"Query", "vector", NULL, "print the vectors of words, or of all words",
     cmd_vector},
    {"Query", "embed", NULL, "print a vector for each line of text", cmd_embed},
    {"Query", "words", NULL, "list the vocabulary with counts and error bounds",
     cmd_words},
    {"Query", "info", NULL, "describe a model, or the memory that training needs",
     cmd_info},
    {"Query", "check", NULL, "verify that files are intact and usable", cmd_check},
    {"Query", "diff", NULL, "compare two models word by word", cmd_diff},
    {"Exchange", "export", NULL, "write vectors in other formats", cmd_export},
    {"Exchange", "import", NULL, "create a model from vectors trained elsewhere",
     cmd_import},
    {"Measure", "eval", NULL, "evaluate vectors, counts, and how they follow change",
     cmd_eval},
    {"Measure", "bench", NULL, "time kernels, text processing and checkpoints",
     cmd_bench},
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
           "Learns word embeddings from endless text, in one pass and bounded "
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
    printf("\n'wordtide COMMAND --help' shows the common options of a command,\n"
           "'wordtide COMMAND --help-all' all of them.\n");
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

/* Translates the commands of fastText and the methods of gensim. */
static const char *own_command(const char *name)
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
    const char *own = own_command(name);
    if (found)
        return found;
    if (own)
        usage_error("", "unknown command '%s'; use 'wordtide %s'", name, own);
    const char *nearest = NULL;
    int distance = 3;
    for (size_t i = 0; i < COMMANDS; i++) {
        int d = tide_edit_distance(name, strlen(name), commands[i].name,
                                   strlen(commands[i].name), 2);
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

/* A file must not get the descriptor of a standard stream that is closed, or the log
 * would be written into the model. The descriptor is taken by /dev/null, opened for the
 * wrong direction so that using it fails as with a closed stream. */
static void reserve_standard_descriptors(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0)
            (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Ignoring these signals turns a closed pipe and a full quota into failed writes. */
int main(int argc, char **argv)
{
    reserve_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    const char *name = argc > 1 ? argv[1] : "--help";
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "--help-all"))
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
