/* asking.c - what the commands that ask a model share. */
#include "asking.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int asking_open(asking *ask, const char *path, int vectors, bool centred)
{
    tide_error err;
    ask->model = tide_model_open(path, &err);
    if (!ask->model)
        return report_load(&err);
    ask->space = tide_space_new(ask->model, (tide_vectors)vectors, centred, &err);
    return ask->space ? EXIT_SUCCESS : report(&err);
}

void asking_close(asking *ask)
{
    tide_space_free(ask->space);
    tide_model_free(ask->model);
}

tide_hit *asking_hits(const asking *ask, uint64_t *count)
{
    uint64_t size = tide_model_size(ask->model);
    if (*count > size)
        *count = size;
    tide_hit *hits = calloc(*count ? *count : 1, sizeof *hits);
    if (!hits)
        complain("out of memory");
    return hits;
}

tide_entry *asking_words(const tide_model *model, size_t *count)
{
    size_t size = tide_model_size(model);
    tide_entry *entries = calloc(size ? size : 1, sizeof *entries);
    *count = entries ? tide_model_words(model, entries, size) : 0;
    if (entries && *count == size)
        return entries;
    complain("out of memory");
    free(entries);
    return NULL;
}

void print_hits(const asking *ask, const tide_hit *hits, int count)
{
    if (ask->json)
        putchar('[');
    for (int i = 0; i < count; i++) {
        if (ask->json) {
            printf("%s{\"word\":", i ? "," : "");
            print_json(hits[i].word);
            printf(",\"score\":%.6f}", (double)hits[i].score);
        } else {
            printf("%.4f\t", (double)hits[i].score);
            print_word(hits[i].word);
            putchar('\n');
        }
    }
    if (ask->json)
        putchar(']');
}

static bool is_unknown(const asking *ask, const char *word)
{
    float *vector = calloc(tide_model_dim(ask->model), sizeof *vector);
    if (!vector)
        return false;
    int status = tide_space_vector(ask->space, word, vector, NULL);
    free(vector);
    return status == TIDE_ERROR_UNKNOWN;
}

static void describe_unknown(const asking *ask, const char *word,
                             char text[FAILURE_TEXT])
{
    enum { SUGGESTIONS = 3 };
    tide_entry entries[SUGGESTIONS];
    size_t count = tide_model_suggest(ask->model, word, entries, SUGGESTIONS);
    int length =
        snprintf(text, FAILURE_TEXT, "'%.200s' is not in the vocabulary", word);
    for (size_t i = 0; i < count && length < FAILURE_TEXT; i++)
        length += snprintf(text + length, FAILURE_TEXT - (size_t)length, "%s %s",
                           i ? "," : "; did you mean", entries[i].word);
    if (count && length < FAILURE_TEXT - 1)
        snprintf(text + length, FAILURE_TEXT - (size_t)length, "?");
}

void describe_failure(const asking *ask, const tide_error *err,
                      const char *const *words, size_t count, char text[FAILURE_TEXT])
{
    snprintf(text, FAILURE_TEXT, "%s", err->text);
    for (size_t i = 0; i < count && err->status == TIDE_ERROR_UNKNOWN; i++)
        if (is_unknown(ask, words[i])) {
            describe_unknown(ask, words[i], text);
            return;
        }
}

enum { LINE = 16384, WORDS = LINE / 2 };

/* Reads a line without its end. A longer one than fits is left out, and said so. */
static bool read_line(char line[LINE])
{
    while (fgets(line, LINE, stdin)) {
        size_t length = strcspn(line, "\r\n");
        if (line[length] || length + 1 < LINE) {
            line[length] = 0;
            return true;
        }
        for (int c = 0; c != '\n' && c != EOF;)
            c = getchar();
        complain("a question of more than %d bytes is left out", LINE - 2);
    }
    return false;
}

/* Cuts a line at white space, in place. */
static size_t cut_line(char *line, const char *words[WORDS])
{
    size_t count = 0;
    char *rest;
    for (char *word = strtok_r(line, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest))
        words[count++] = word;
    return count;
}

int answer_input(const char *prompt, answer_line *answer, void *data)
{
    char line[LINE], copy[LINE];
    const char *words[WORDS];
    bool terminal = isatty(STDIN_FILENO);
    int code = EXIT_SUCCESS;
    for (;;) {
        if (terminal) {
            say("%s", prompt);
            say_so_far();
        }
        if (!read_line(line))
            break;
        memcpy(copy, line, sizeof copy);
        size_t count = cut_line(copy, words);
        if (count && answer(data, line, words, count) != EXIT_SUCCESS)
            code = EXIT_FAILURE;
        fflush(stdout);
        if (!output_ok())
            break;
    }
    if (terminal)
        say("\n");
    return terminal ? EXIT_SUCCESS : code;
}
