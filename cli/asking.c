/* asking.c - what the commands that ask a model share. */
#include "asking.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int asking_open(asking *ask, const char *path, int vectors, bool centered)
{
    tide_error err;
    ask->model = tide_model_open(path, &err);
    if (!ask->model)
        return report_load(&err);
    ask->space = tide_view_new(ask->model, (tide_vectors)vectors, centered, &err);
    if (!ask->space)
        return report(&err);
    ask->resolver = tide_resolver_new(ask->model, &err);
    return ask->resolver ? EXIT_SUCCESS : report(&err);
}

void asking_close(asking *ask)
{
    tide_resolver_free(ask->resolver);
    tide_view_free(ask->space);
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

/* -- words that are asked for -------------------------------------------------------- */

static void describe_unknown(const asking *ask, const char *word, const tide_term *term,
                             char why[FAILURE_TEXT])
{
    enum { SUGGESTIONS = 3 };
    tide_entry entries[SUGGESTIONS];
    size_t count = tide_term_suggest(term, ask->model, word, entries, SUGGESTIONS);
    int length = snprintf(why, FAILURE_TEXT, "'%.200s' is not in the vocabulary", word);
    for (size_t i = 0; i < count && length < FAILURE_TEXT; i++)
        length += snprintf(why + length, FAILURE_TEXT - (size_t)length, "%s %s",
                           i ? "," : "; did you mean", entries[i].word);
    if (count && length < FAILURE_TEXT - 1)
        snprintf(why + length, FAILURE_TEXT - (size_t)length, "?");
}

bool asked_find(asked_terms *a, const asking *ask, const char *const *texts,
                size_t count, char why[FAILURE_TEXT])
{
    enum { MOST = 64 };
    *a = (asked_terms){.texts = texts};
    if (count > MOST) {
        snprintf(why, FAILURE_TEXT, "at most %d words can be asked at once", MOST);
        return false;
    }
    a->terms = calloc(count + 1, sizeof *a->terms);
    a->words = calloc(count + 1, sizeof *a->words);
    if (!a->terms || !a->words) {
        snprintf(why, FAILURE_TEXT, "out of memory");
        return false;
    }
    for (; a->count < count; a->count++) {
        tide_term *term = &a->terms[a->count];
        tide_resolver_find(ask->resolver, ask->space, texts[a->count], term);
        a->words[a->count] = term->words;
        if (!term->known) {
            describe_unknown(ask, texts[a->count], term, why);
            return false;
        }
    }
    return true;
}

void asked_free(asked_terms *a)
{
    free(a->terms);
    free(a->words);
    *a = (asked_terms){0};
}

/* The tokens that have a vector, or those that do not, in quotes. */
static void list_tokens(const tide_term *term, bool known, char *text, size_t room)
{
    size_t used = 0;
    *text = 0;
    for (uint32_t i = 0; i < term->count && used < room; i++)
        if (term->has_vector[i] == known)
            used += (size_t)snprintf(text + used, room - used, "%s'%s'",
                                     used ? ", " : "", term->tokens[i]);
}

void asked_note(const asked_terms *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const tide_term *term = &a->terms[i];
        char known[FAILURE_TEXT], unknown[FAILURE_TEXT];
        if (term->exact)
            continue;
        list_tokens(term, true, known, sizeof known);
        list_tokens(term, false, unknown, sizeof unknown);
        complain("'%.100s' is read as %s%s%s%s", a->texts[i],
                 term->known > 1 ? "the mean of " : "", known,
                 *unknown ? "; not in the vocabulary: " : "", unknown);
    }
}

static void print_tokens(const tide_term *term, bool known)
{
    bool begun = false;
    for (uint32_t i = 0; i < term->count; i++) {
        if (term->has_vector[i] != known)
            continue;
        if (begun)
            putchar(',');
        print_json(term->tokens[i]);
        begun = true;
    }
}

void asked_print(const asked_terms *a)
{
    bool begun = false;
    for (size_t i = 0; i < a->count; i++) {
        if (a->terms[i].exact)
            continue;
        fputs(begun ? "," : ",\"terms\":[", stdout);
        fputs("{\"text\":", stdout);
        print_json(a->texts[i]);
        fputs(",\"tokens\":[", stdout);
        print_tokens(&a->terms[i], true);
        fputs("],\"unknown\":[", stdout);
        print_tokens(&a->terms[i], false);
        fputs("]}", stdout);
        begun = true;
    }
    if (begun)
        putchar(']');
}

/* -- questions from standard input --------------------------------------------------- */

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
