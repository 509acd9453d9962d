/* cmd_nearest.c - wordtide nearest: the words nearest to a sum of words. */
#include "commands.h"
#include "output.h"
#include "query_common.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct nearest {
    query_context query;
    uint64_t top;
    text_list negative;
    resolved_terms positive, subtracted;
    float *vector; /* NULL without --vector */
    tide_hit *hits;
    uint64_t count;
} nearest;

/* Reads dim numbers and skips a word before them, as `wordtide vector` prints it. If
 * that word looks like a number, there is one number too many, and the first is
 * dropped. */
static int read_numbers(FILE *in, const char *path, float *vector, uint32_t dim)
{
    char text[256];
    uint32_t count = 0;
    bool skipped_word = false;
    for (size_t field = 0; fscanf(in, "%255s", text) == 1; field++) {
        char *end;
        float value = strtof(text, &end);
        bool number = !*end && isfinite(value);
        if (field == 0 && !number) {
            skipped_word = true;
            continue;
        }
        if (number && count == dim && !skipped_word) {
            skipped_word = true;
            /* What was taken for the first number is a word like "2024". */
            memmove(vector, vector + 1, (dim - 1) * sizeof *vector);
            count--;
        }
        if (!number || count == dim) {
            log_message(number ? "%s: more than %u numbers"
                               : "%s: one of the %u values is not a number",
                        path, dim);
            return EXIT_FAILURE;
        }
        vector[count++] = value;
    }
    if (count == dim)
        return EXIT_SUCCESS;
    log_message("%s has %u numbers, but the model has %u dimensions", path, count, dim);
    return EXIT_FAILURE;
}

static int read_vector(nearest *n, const char *path)
{
    uint32_t dim = tide_model_dim(n->query.model);
    n->vector = calloc(dim, sizeof *n->vector);
    FILE *in = !strcmp(path, "-") ? stdin : fopen(path, "r");
    if (!in || !n->vector) {
        log_message("cannot read %s: %s", path, strerror(errno));
        return EXIT_FAILURE;
    }
    int code = read_numbers(in, path, n->vector, dim);
    if (in != stdin)
        fclose(in);
    return code;
}

/* Returns the number of hits, or a negative status and its reason. */
static int search(nearest *n, const char *const *words, size_t count,
                  char reason[REASON_SIZE])
{
    bool known = resolve_terms(&n->positive, &n->query, words, count, reason) &&
                 resolve_terms(&n->subtracted, &n->query, n->negative.items,
                               n->negative.count, reason);
    if (!known)
        return TIDE_ERROR_NOT_FOUND;
    tide_query query = {n->positive.words,   n->positive.count, n->subtracted.words,
                        n->subtracted.count, n->vector,         (uint32_t)n->top};
    tide_error err;
    int found = tide_view_nearest(n->query.view, &query, n->hits, n->count, &err);
    if (found < 0)
        snprintf(reason, REASON_SIZE, "%s", err.text);
    return found;
}

static void release_terms(nearest *n)
{
    free_terms(&n->positive);
    free_terms(&n->subtracted);
}

static void log_terms(const nearest *n)
{
    log_term_tokens(&n->positive);
    log_term_tokens(&n->subtracted);
}

static int answer_once(nearest *n, const char *const *words, size_t count)
{
    char reason[REASON_SIZE];
    int found = search(n, words, count, reason);
    if (found < 0) {
        log_message("%s", reason);
    } else {
        log_terms(n);
        if (n->query.json)
            write_hits(&(tide_json_writer){0}, NULL, n->hits, found);
        else
            print_hits(n->hits, found);
    }
    release_terms(n);
    return found < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void write_answer(const nearest *n, const char *line, int found)
{
    tide_json_writer w = {0};
    tide_json_object(&w, NULL);
    tide_json_text(&w, "query", line);
    write_term_tokens(&w, &n->positive);
    write_hits(&w, "hits", n->hits, found);
    tide_json_end(&w);
}

/* Every query is answered on standard output, even if it fails, so that a program can
 * match them: with an object on one line, or lines up to an empty one. */
static int answer(void *data, const char *line, const char *const *words, size_t count)
{
    nearest *n = data;
    char reason[REASON_SIZE];
    int found = search(n, words, count, reason);
    if (n->query.json && found < 0) {
        write_failed_query(line, reason);
    } else if (n->query.json) {
        write_answer(n, line, found);
    } else {
        if (found < 0) {
            log_message("%s", reason);
        } else {
            log_terms(n);
            print_hits(n->hits, found);
        }
        putchar('\n');
    }
    release_terms(n);
    return found < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run(nearest *n, const char *vector_path, char **operands, int count)
{
    if (vector_path && read_vector(n, vector_path) != EXIT_SUCCESS)
        return EXIT_FAILURE;
    n->hits = query_alloc_hits(&n->query, &n->count);
    if (!n->hits)
        return EXIT_FAILURE;
    if (count > 0 || vector_path || n->negative.count)
        return answer_once(n, (const char *const *)operands, (size_t)count);
    return answer_stdin("word> ", answer, n);
}

int cmd_nearest(int argc, char **argv)
{
    nearest n = {.count = 10};
    int vectors = TIDE_VECTORS_INPUT;
    bool raw = false;
    const char *vector_path = NULL;
    const option options[] = {
        {"count", 'n', OPTION_COUNT, &n.count, "N",
         "print the N nearest words (default 10)"},
        {"subtract", 0, OPTION_LIST, &n.negative, "WORD",
         "subtract this word; may be repeated"},
        {"vector", 0, OPTION_TEXT, &vector_path, "FILE",
         "add the vector in this file, '-' for standard input; a word before the "
         "numbers is skipped"},
        {"top", 0, OPTION_NUMBER, &n.top, "N",
         "search only the N most frequent words (default: all)"},
        QUERY_OPTIONS(vectors, raw),
        {"json", 0, OPTION_FLAG, &n.query.json, NULL,
         "print a JSON array; for standard input, one object per line"},
        {0},
    };
    const command_usage usage = {
        "nearest",
        "nearest [OPTION]... MODEL [WORD]...",
        "Prints the words whose vectors have the highest cosine with the sum of the "
        "given words, one per line: score and word. Without words it answers queries "
        "from standard input, one per line, each answer followed by an empty line. A "
        "word is looked up as written, then as the tokenizer splits it: 'hot tea' is "
        "the mean of two words. MODEL may be any file of vectors.",
        options,
        "wordtide nearest news.tide coffee\n"
        "wordtide nearest news.tide tarsk elmoria --subtract norvania\n"
        "wordtide nearest news.tide --json < questions.txt\n"
        "wordtide vector a.tide tea | wordtide nearest b.tide --no-center --vector -\n",
        .min_operands = 1,
        .max_operands = -1,
    };
    int count = parse_options(argc, argv, &usage, NULL);
    if (n.top > UINT32_MAX)
        n.top = 0;
    int code = query_open(&n.query, argv[0], vectors, !raw);
    if (code == EXIT_SUCCESS)
        code = run(&n, vector_path, argv + 1, count - 1);
    free(n.hits);
    free(n.vector);
    text_list_free(&n.negative);
    query_close(&n.query);
    return finish_output(code);
}
