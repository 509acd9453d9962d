/* query_common.c - what the commands that query a model share. */
#include "query_common.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int query_open(query_context *query, const char *path, int vectors, bool centered)
{
    tide_error err;
    query->model = tide_model_open(path, &err);
    if (!query->model)
        return log_load_error(&err);
    query->view = tide_view_new(query->model, (tide_vectors)vectors, centered, &err);
    if (!query->view)
        return log_error(&err);
    query->resolver = tide_resolver_new(query->model, &err);
    return query->resolver ? EXIT_SUCCESS : log_error(&err);
}

void query_close(query_context *query)
{
    tide_resolver_free(query->resolver);
    tide_view_free(query->view);
    tide_model_free(query->model);
}

tide_hit *query_alloc_hits(const query_context *query, uint64_t *count)
{
    uint64_t size = tide_model_size(query->model);
    if (*count > size)
        *count = size;
    tide_hit *hits = calloc(*count ? *count : 1, sizeof *hits);
    if (!hits)
        log_message("out of memory");
    return hits;
}

tide_entry *list_words(const tide_model *model, size_t *count)
{
    size_t size = tide_model_size(model);
    tide_entry *entries = calloc(size ? size : 1, sizeof *entries);
    *count = entries ? tide_model_words(model, entries, size) : 0;
    if (entries && *count == size)
        return entries;
    log_message("out of memory");
    free(entries);
    return NULL;
}

void print_hits(const tide_hit *hits, int count)
{
    for (int i = 0; i < count; i++) {
        printf("%.4f\t", (double)hits[i].score);
        print_word(hits[i].word);
        putchar('\n');
    }
}

void write_hits(tide_json_writer *w, const char *name, const tide_hit *hits, int count)
{
    tide_json_array(w, name);
    for (int i = 0; i < count; i++) {
        tide_json_object(w, NULL);
        tide_json_text(w, "word", hits[i].word);
        tide_json_real(w, "score", (double)hits[i].score, 6);
        tide_json_end(w);
    }
    tide_json_end(w);
}

void write_vector(tide_json_writer *w, const char *name, const float *vector,
                  uint32_t dim)
{
    tide_json_array(w, name);
    for (uint32_t i = 0; i < dim; i++)
        tide_json_float(w, NULL, vector[i]);
    tide_json_end(w);
}

/* -- resolving words --------------------------------------------------------------- */

/* Appends the words that are spelled like a text to a sentence about it. */
static void add_suggestions(const tide_model *model, const char *word,
                            const tide_term *term, char sentence[REASON_SIZE])
{
    enum { SUGGESTIONS = 3 };
    tide_entry entries[SUGGESTIONS];
    size_t count = tide_term_suggest(term, model, word, entries, SUGGESTIONS);
    size_t length = strlen(sentence);
    for (size_t i = 0; i < count && length < REASON_SIZE; i++)
        length += (size_t)snprintf(sentence + length, REASON_SIZE - length, "%s %s",
                                   i ? "," : "; did you mean", entries[i].word);
    if (count && length < REASON_SIZE - 1)
        snprintf(sentence + length, REASON_SIZE - length, "?");
}

/* Whether a token's vector is composed of its n-grams, because the model does not hold
 * the word. */
static bool is_composed(const resolved_terms *terms, const tide_term *term, uint32_t i)
{
    tide_entry entry;
    return term->has_vector[i] &&
           tide_model_find(terms->model, term->tokens[i], &entry, NULL) != TIDE_OK;
}

static bool has_composed(const resolved_terms *terms, const tide_term *term)
{
    for (uint32_t i = 0; i < term->count; i++)
        if (is_composed(terms, term, i))
            return true;
    return false;
}

bool resolve_terms(resolved_terms *terms, const query_context *query,
                   const char *const *texts, size_t count, char reason[REASON_SIZE])
{
    enum { TERMS_MAX = 64 };
    /* Set first, so that free_terms is safe whatever happens below. */
    *terms = (resolved_terms){.texts = texts, .model = query->model};
    if (count > TERMS_MAX) {
        snprintf(reason, REASON_SIZE, "a query has at most %d words", TERMS_MAX);
        return false;
    }
    terms->terms = calloc(count + 1, sizeof *terms->terms);
    terms->words = calloc(count + 1, sizeof *terms->words);
    if (!terms->terms || !terms->words) {
        snprintf(reason, REASON_SIZE, "out of memory");
        return false;
    }
    for (; terms->count < count; terms->count++) {
        tide_term *term = &terms->terms[terms->count];
        tide_resolver_find(query->resolver, query->view, texts[terms->count], term);
        terms->words[terms->count] = term->words;
        if (!term->known) {
            snprintf(reason, REASON_SIZE, "'%.200s' is not in the vocabulary",
                     texts[terms->count]);
            add_suggestions(query->model, texts[terms->count], term, reason);
            return false;
        }
    }
    return true;
}

void free_terms(resolved_terms *terms)
{
    free(terms->terms);
    free(terms->words);
    *terms = (resolved_terms){0};
}

/* Lists the quoted tokens that have a vector, or with `known` false those without. */
static void list_tokens(const tide_term *term, bool known, char *text, size_t size)
{
    size_t length = 0;
    *text = 0;
    for (uint32_t i = 0; i < term->count && length < size; i++)
        if (term->has_vector[i] == known)
            length += (size_t)snprintf(text + length, size - length, "%s'%s'",
                                       length ? ", " : "", term->tokens[i]);
}

/* The model has words of the same meaning in most cases, so they are suggested. */
static void log_composed(const resolved_terms *terms, const tide_term *term)
{
    for (uint32_t i = 0; i < term->count; i++) {
        char sentence[REASON_SIZE];
        tide_term token = {.count = 1};
        if (!is_composed(terms, term, i))
            continue;
        memcpy(token.tokens[0], term->tokens[i], sizeof token.tokens[0]);
        snprintf(sentence, REASON_SIZE,
                 "'%s' is not in the vocabulary, so its vector is composed of n-grams",
                 term->tokens[i]);
        add_suggestions(terms->model, term->tokens[i], &token, sentence);
        log_message("%s", sentence);
    }
}

void log_term_tokens(const resolved_terms *terms)
{
    for (size_t i = 0; i < terms->count; i++) {
        const tide_term *term = &terms->terms[i];
        char known[REASON_SIZE], unknown[REASON_SIZE];
        log_composed(terms, term);
        if (term->exact)
            continue;
        list_tokens(term, true, known, sizeof known);
        list_tokens(term, false, unknown, sizeof unknown);
        log_message("'%.100s' is read as %s%s%s%s", terms->texts[i],
                    term->known > 1 ? "the mean of " : "", known,
                    *unknown ? "; not in the vocabulary: " : "", unknown);
    }
}

static void write_tokens(tide_json_writer *w, const char *name, const tide_term *term,
                         bool known)
{
    tide_json_array(w, name);
    for (uint32_t i = 0; i < term->count; i++)
        if (term->has_vector[i] == known)
            tide_json_text(w, NULL, term->tokens[i]);
    tide_json_end(w);
}

static void write_composed(tide_json_writer *w, const resolved_terms *terms,
                           const tide_term *term)
{
    tide_json_array(w, "composed");
    for (uint32_t i = 0; i < term->count; i++)
        if (is_composed(terms, term, i))
            tide_json_text(w, NULL, term->tokens[i]);
    tide_json_end(w);
}

void write_term_tokens(tide_json_writer *w, const resolved_terms *terms)
{
    bool begun = false;
    for (size_t i = 0; i < terms->count; i++) {
        bool composed = has_composed(terms, &terms->terms[i]);
        if (terms->terms[i].exact && !composed)
            continue;
        if (!begun)
            tide_json_array(w, "terms");
        begun = true;
        tide_json_object(w, NULL);
        tide_json_text(w, "text", terms->texts[i]);
        write_tokens(w, "tokens", &terms->terms[i], true);
        write_tokens(w, "unknown", &terms->terms[i], false);
        if (composed)
            write_composed(w, terms, &terms->terms[i]);
        tide_json_end(w);
    }
    if (begun)
        tide_json_end(w);
}

void write_failed_query(const char *line, const char *reason)
{
    tide_json_writer w = {0};
    tide_json_object(&w, NULL);
    tide_json_text(&w, "query", line);
    tide_json_text(&w, "error", reason);
    tide_json_end(&w);
}

/* -- queries from standard input --------------------------------------------------- */

enum { LINE_SIZE = 16384, WORDS_MAX = LINE_SIZE / 2 };

/* Reads a line without its newline. A line that does not fit is skipped and logged. */
static bool read_line(char line[LINE_SIZE])
{
    while (fgets(line, LINE_SIZE, stdin)) {
        size_t length = strcspn(line, "\r\n");
        if (line[length] || length + 1 < LINE_SIZE) {
            line[length] = 0;
            return true;
        }
        for (int c = 0; c != '\n' && c != EOF;)
            c = getchar();
        log_message("skipped a query of more than %d bytes", LINE_SIZE - 2);
    }
    return false;
}

/* Splits a line at white space, in place. */
static size_t split_line(char *line, const char *words[WORDS_MAX])
{
    size_t count = 0;
    char *rest;
    for (char *word = strtok_r(line, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest))
        words[count++] = word;
    return count;
}

int answer_stdin(const char *prompt, line_handler *handler, void *data)
{
    char line[LINE_SIZE], copy[LINE_SIZE];
    const char *words[WORDS_MAX];
    bool terminal = isatty(STDIN_FILENO);
    int code = EXIT_SUCCESS;
    for (;;) {
        if (terminal) {
            log_printf("%s", prompt);
            log_flush();
        }
        if (!read_line(line))
            break;
        /* Words are split in place; the answer quotes the line as it was. */
        memcpy(copy, line, sizeof copy);
        size_t count = split_line(copy, words);
        if (count && handler(data, line, words, count) != EXIT_SUCCESS)
            code = EXIT_FAILURE;
        /* After each answer, for a program that waits for it on a pipe. */
        fflush(stdout);
        if (!output_ok())
            break;
    }
    if (terminal)
        log_printf("\n");
    return terminal ? EXIT_SUCCESS : code;
}
