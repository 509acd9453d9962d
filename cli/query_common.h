/* query_common.h - what the commands that query a model share: opening it, resolving
 * words, printing hits, and queries from standard input. */
#ifndef QUERY_COMMON_H
#define QUERY_COMMON_H

#include "options.h"

#include "base/base.h"

typedef struct query_context {
    tide_model *model;
    tide_view *view;
    tide_resolver *resolver;
    bool json;
} query_context;

/* Loads the model and creates the view. Returns EXIT_SUCCESS, or the exit code after an
 * error message; call query_close in either case. */
int query_open(query_context *query, const char *path, int vectors, bool centered);
void query_close(query_context *query);

/* The names of tide_vectors in their order, for OPTION_CHOICE. */
#define VECTOR_CHOICES "input|output|sum"

/* Two options of commands that center vectors by default. */
#define QUERY_OPTIONS(vectors, raw)                                                    \
    {"vectors",      0,                                                                \
     OPTION_CHOICE,  &(vectors),                                                       \
     VECTOR_CHOICES, "which vectors to compare (default input)"},                      \
    {                                                                                  \
        "no-center", 0, OPTION_FLAG, &(raw), NULL, "do not subtract the mean vector"   \
    }

/* Allocates *count hits, after reducing *count to the size of the vocabulary. NULL
 * after an error message. */
tide_hit *query_alloc_hits(const query_context *query, uint64_t *count);

/* All words of a model by descending count, released with free. NULL after an error
 * message. */
tide_entry *list_words(const tide_model *model, size_t *count);

/* Prints a line per hit, or writes an array of objects. */
void print_hits(const tide_hit *hits, int count);
void write_hits(tide_json_writer *w, const char *name, const tide_hit *hits, int count);

void write_vector(tide_json_writer *w, const char *name, const float *vector,
                  uint32_t dim);

/* The texts of a query, resolved to words of the model. */
typedef struct resolved_terms {
    const char *const *texts; /* [count] as given; borrowed */
    size_t count;
    tide_term *terms; /* [count] */
    /* [count] the words of each term, as view functions take them */
    const char **words;
} resolved_terms;

/* Resolves all texts. Returns false if a text has no known word; `reason` then says so
 * and suggests similar words. Call free_terms in either case. */
enum { REASON_SIZE = 512 };
bool resolve_terms(resolved_terms *terms, const query_context *query,
                   const char *const *texts, size_t count, char reason[REASON_SIZE]);
void free_terms(resolved_terms *terms);

/* Logs which words stand for the texts that are not words themselves. */
void log_term_tokens(const resolved_terms *terms);

/* Writes the same as member "terms" of an object, if there are any such texts. */
void write_term_tokens(tide_json_writer *w, const resolved_terms *terms);

/* Writes the answer to a query that failed: an object with the query and the reason. */
void write_failed_query(const char *line, const char *reason);

/* Calls `handler` for every line of standard input, split into words, until it ends or
 * standard output is closed. Empty lines are skipped. Prompts on a terminal. Returns
 * EXIT_FAILURE if any call did and standard input is not a terminal. */
typedef int line_handler(void *data, const char *line, const char *const *words,
                         size_t count);
int answer_stdin(const char *prompt, line_handler *handler, void *data);

#endif
