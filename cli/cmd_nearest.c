/* cmd_nearest.c - wordtide nearest: the words nearest to a sum of words. */
#include "asking.h"
#include "commands.h"
#include "output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct nearest {
    asking ask;
    uint64_t among;
    text_list negative;
    asked_terms positive, subtracted;
    float *vector; /* NULL without --vector */
    tide_hit *hits;
    uint64_t count;
} nearest;

/* Reads dim numbers; a word before them, as `wordtide vector` prints it, is passed
 * over. One that looks like a number is known by there being one number too many. */
static int read_numbers(FILE *in, const char *path, float *vector, uint32_t dim)
{
    char text[256];
    uint32_t count = 0;
    bool word = false;
    for (size_t field = 0; fscanf(in, "%255s", text) == 1; field++) {
        char *end;
        float value = strtof(text, &end);
        bool number = !*end && isfinite(value);
        if (field == 0 && !number) {
            word = true;
            continue;
        }
        if (number && count == dim && !word) {
            word = true;
            memmove(vector, vector + 1, (dim - 1) * sizeof *vector);
            count--;
        }
        if (!number || count == dim) {
            complain(number ? "%s: more than one vector of %u numbers"
                            : "%s: a number of the %u is none",
                     path, dim);
            return EXIT_FAILURE;
        }
        vector[count++] = value;
    }
    if (count == dim)
        return EXIT_SUCCESS;
    complain("%s: %u numbers where the model has %u dimensions", path, count, dim);
    return EXIT_FAILURE;
}

static int read_vector(nearest *n, const char *path)
{
    uint32_t dim = tide_model_dim(n->ask.model);
    n->vector = calloc(dim, sizeof *n->vector);
    FILE *in = !strcmp(path, "-") ? stdin : fopen(path, "r");
    if (!in || !n->vector) {
        complain("cannot read %s: %s", path, strerror(errno));
        return EXIT_FAILURE;
    }
    int code = read_numbers(in, path, n->vector, dim);
    if (in != stdin)
        fclose(in);
    return code;
}

/* Returns the number of hits, or a negative status with the reason in `why`. */
static int search(nearest *n, const char *const *words, size_t count,
                  char why[FAILURE_TEXT])
{
    bool known =
        asked_find(&n->positive, &n->ask, words, count, why) &&
        asked_find(&n->subtracted, &n->ask, n->negative.items, n->negative.count, why);
    if (!known)
        return TIDE_ERROR_NOT_FOUND;
    tide_query query = {n->positive.words,   n->positive.count, n->subtracted.words,
                        n->subtracted.count, n->vector,         (uint32_t)n->among};
    tide_error err;
    int found = tide_view_nearest(n->ask.space, &query, n->hits, n->count, &err);
    if (found < 0)
        snprintf(why, FAILURE_TEXT, "%s", err.text);
    return found;
}

static void forget(nearest *n)
{
    asked_free(&n->positive);
    asked_free(&n->subtracted);
}

static void note_terms(const nearest *n)
{
    asked_note(&n->positive);
    asked_note(&n->subtracted);
}

static int answer_once(nearest *n, const char *const *words, size_t count)
{
    char why[FAILURE_TEXT];
    int found = search(n, words, count, why);
    if (found < 0) {
        complain("%s", why);
    } else {
        note_terms(n);
        print_hits(&n->ask, n->hits, found);
        if (n->ask.json)
            putchar('\n');
    }
    forget(n);
    return found < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void print_object(const nearest *n, const char *line, int found, const char *why)
{
    printf("{\"query\":");
    print_json(line);
    if (found < 0) {
        printf(",\"error\":");
        print_json(why);
    } else {
        asked_print(&n->positive);
        printf(",\"hits\":");
        print_hits(&n->ask, n->hits, found);
    }
    puts("}");
}

/* Every question has its answer on standard output: one object a line, or lines up
 * to an empty one. */
static int answer(void *data, const char *line, const char *const *words, size_t count)
{
    nearest *n = data;
    char why[FAILURE_TEXT];
    int found = search(n, words, count, why);
    if (n->ask.json) {
        print_object(n, line, found, why);
    } else {
        if (found < 0) {
            complain("%s", why);
        } else {
            note_terms(n);
            print_hits(&n->ask, n->hits, found);
        }
        putchar('\n');
    }
    forget(n);
    return found < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run(nearest *n, const char *vector_path, char **operands, int count)
{
    if (vector_path && read_vector(n, vector_path) != EXIT_SUCCESS)
        return EXIT_FAILURE;
    n->hits = asking_hits(&n->ask, &n->count);
    if (!n->hits)
        return EXIT_FAILURE;
    if (count > 0 || vector_path || n->negative.count)
        return answer_once(n, (const char *const *)operands, (size_t)count);
    return answer_input("word> ", answer, n);
}

int cmd_nearest(int argc, char **argv)
{
    nearest n = {.count = 10};
    int vectors = TIDE_VECTORS_INPUT;
    bool raw = false;
    const char *vector_path = NULL;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &n.count, "N", "so many words (default 10)"},
        {"subtract", 0, OPTION_LIST, &n.negative, "WORD",
         "subtract this word; may be given several times"},
        {"vector", 0, OPTION_TEXT, &vector_path, "FILE",
         "add the numbers of this file, '-' for standard input; a word before them is "
         "passed over"},
        {"top", 0, OPTION_NUMBER, &n.among, "N",
         "look only at the N most frequent words (default: all)"},
        ASKING_OPTIONS(vectors, raw),
        {"json", 0, OPTION_FLAG, &n.ask.json, NULL,
         "print a JSON array; for standard input an object a line"},
        {0},
    };
    const command_usage usage = {
        "nearest",
        "nearest [OPTION]... MODEL [WORD]...",
        "Prints the words whose vectors have the largest cosine with the sum of the "
        "words "
        "given, as score and word. Without words it answers the lines of standard "
        "input, "
        "one question each, with an empty line after every answer. A word is looked "
        "for "
        "as it is written and then as text is learned; 'hot tea' is the mean of two "
        "words. MODEL may be any file of vectors.",
        options,
        "wordtide nearest news.tide coffee\n"
        "wordtide nearest news.tide tarsk elmoria --subtract norvania\n"
        "wordtide nearest news.tide --json < questions.txt\n"
        "wordtide vector a.tide tea | wordtide nearest b.tide --no-center --vector -\n",
        .least = 1,
        .most = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    if (n.among > UINT32_MAX)
        n.among = 0;
    int code = asking_open(&n.ask, argv[0], vectors, !raw);
    if (code == EXIT_SUCCESS)
        code = run(&n, vector_path, argv + 1, count - 1);
    free(n.hits);
    free(n.vector);
    text_list_free(&n.negative);
    asking_close(&n.ask);
    return finish_output(code);
}
