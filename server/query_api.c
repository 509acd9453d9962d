/* query_api.c - queries about words: one word, neighbors, analogies, similarity. */
#include "answer.h"
#include "body.h"
#include "handlers.h"
#include "history_api.h"
#include "search_batcher.h"
#include "server_internal.h"
#include "suggest.h"
#include "terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TOPN = 10 };

/* -- one word ---------------------------------------------------------------------- */

static double vector_norm(const float *vector, uint32_t dim)
{
    double square = 0;
    for (uint32_t d = 0; d < dim; d++)
        square += (double)vector[d] * (double)vector[d];
    return sqrt(square);
}

static void answer_word(request *r, const tide_view *view)
{
    const tide_model *model = tide_view_model(view);
    uint32_t dim = tide_model_dim(model);
    float vector[TIDE_DIM_MAX];
    tide_entry entry = {0};
    tide_term term;
    if (!resolve_text(r->server, view, r->word, &term) ||
        tide_view_mean(view, term.words, vector, NULL)) {
        answer_unknown_word(r, view, r->word);
        return;
    }
    bool held = !tide_model_find(model, term.words, &entry, NULL);
    json_t *answer = json_pack(
        "{s:o, s:b, s:I, s:I, s:o, s:f}", "word", json_word(term.words), "held", held,
        "count", (json_int_t)entry.count, "error", (json_int_t)entry.error, "rank",
        held ? json_integer(tide_view_rank(view, term.words)) : json_null(), "norm",
        vector_norm(vector, dim));
    add_term(answer, view, r->word, &term);
    char *with_vector = request_parameter(r, "vector");
    if (with_vector && !strcmp(with_vector, "1"))
        json_object_set_new(answer, "vector", json_vector(vector, dim));
    free(with_vector);
    add_word_history(r->server, term.words, answer);
    answer_json(r, 200, answer);
}

void get_word(request *r)
{
    const tide_view *view = tide_live_acquire(r->server->options.live);
    answer_word(r, view);
    tide_live_release(r->server->options.live, view);
}

/* -- searches ---------------------------------------------------------------------- */

/* Allocates r->search. Returns false after answering with a problem. */
static bool start_search(request *r, uint32_t topn, const char *result_name)
{
    r->search = search_request_new(topn, result_name);
    if (!r->search)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "out of memory");
    return r->search;
}

/* Reads the number of results; returns false after answering with a problem. */
static bool read_topn(request *r, uint32_t *topn)
{
    *topn = DEFAULT_TOPN;
    return request_integer(r, "topn", 1, LIST_MAX, topn);
}

static bool read_body_topn(request *r, const json_t *body, uint32_t *topn)
{
    const json_t *member = json_object_get(body, "topn");
    json_int_t value = member ? json_integer_value(member) : DEFAULT_TOPN;
    bool valid = value >= 1 && value <= LIST_MAX;
    if (valid)
        *topn = (uint32_t)value;
    else
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "topn must be an integer from 1 to %d", LIST_MAX);
    return valid;
}

void get_neighbors(request *r)
{
    uint32_t age = 0, topn;
    tide_term term;
    if (!read_topn(r, &topn) || !request_integer(r, "age", 0, UINT32_MAX, &age))
        return;
    if (age) {
        answer_past_neighbors(r, age, topn);
        return;
    }
    if (!start_search(r, topn, "neighbors"))
        return;
    search_request *search = r->search;
    if (!resolve_word(r, &term, search->members))
        return;
    json_object_set_new(search->members, "word", json_word(term.words));
    json_object_set_new(search->members, "age", json_integer(0));
    search->positive[0] = strdup(term.words);
    search->positive_count = search->positive[0] != NULL;
    if (search->positive_count)
        search_batcher_submit(r->server->batcher, r);
    else
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "out of memory");
}

/* Resolves the words of r->search and queues it, or answers with a problem. */
static void submit_search(request *r, const char *const *positive,
                          size_t positive_count, const char *const *negative,
                          size_t negative_count)
{
    search_request *search = r->search;
    if (resolve_texts(r, positive, positive_count, search->positive,
                      &search->positive_count, search->members) &&
        resolve_texts(r, negative, negative_count, search->negative,
                      &search->negative_count, search->members))
        search_batcher_submit(r->server->batcher, r);
}

static void search_analogy(request *r, const char *a, const char *b, const char *c,
                           uint32_t topn)
{
    if (!a || !b || !c) {
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "an analogy needs the words a, b and c: a is to b as c is to ?");
        return;
    }
    if (!start_search(r, topn, "answers"))
        return;
    /* Invalid UTF-8 in a query string is replaced, as JSON requires in the answer. */
    json_t *texts = json_pack("[o, o, o]", json_word(b), json_word(c), json_word(a));
    const char *positive[] = {json_string_value(json_array_get(texts, 0)),
                              json_string_value(json_array_get(texts, 1))};
    const char *negative = json_string_value(json_array_get(texts, 2));
    if (positive[0] && positive[1] && negative)
        submit_search(r, positive, 2, &negative, 1);
    else
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "out of memory");
    json_decref(texts);
}

void get_analogy(request *r)
{
    uint32_t topn;
    if (!read_topn(r, &topn))
        return;
    char *a = request_parameter(r, "a"), *b = request_parameter(r, "b"),
         *c = request_parameter(r, "c");
    search_analogy(r, a, b, c, topn);
    free(a);
    free(b);
    free(c);
}

void post_analogy(request *r)
{
    uint32_t topn;
    json_t *body = parse_body_object(r);
    if (body && read_body_topn(r, body, &topn))
        search_analogy(r, json_string_value(json_object_get(body, "a")),
                       json_string_value(json_object_get(body, "b")),
                       json_string_value(json_object_get(body, "c")), topn);
    json_decref(body);
}

/* Reads a list of strings, or none. Returns false if the value is anything else. */
static bool read_strings(const json_t *list, const char *texts[QUERY_WORDS_MAX],
                         size_t *count)
{
    *count = json_array_size(list);
    if ((list && !json_is_array(list)) || *count > QUERY_WORDS_MAX)
        return false;
    for (size_t i = 0; i < *count; i++) {
        texts[i] = json_string_value(json_array_get(list, i));
        if (!texts[i])
            return false;
    }
    return true;
}

static void search_most_similar(request *r, const json_t *body, uint32_t topn)
{
    const char *positive[QUERY_WORDS_MAX], *negative[QUERY_WORDS_MAX];
    size_t positive_count, negative_count;
    const json_t *plus = json_object_get(body, "positive"),
                 *minus = json_object_get(body, "negative");
    if (!json_array_size(plus) && !json_array_size(minus))
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "positive or negative must have at least one word");
    else if (!read_strings(plus, positive, &positive_count) ||
             !read_strings(minus, negative, &negative_count))
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "positive and negative must be lists of at most %d words",
                       QUERY_WORDS_MAX);
    else if (start_search(r, topn, "neighbors"))
        submit_search(r, positive, positive_count, negative, negative_count);
}

void post_most_similar(request *r)
{
    uint32_t topn;
    json_t *body = parse_body_object(r);
    if (body && read_body_topn(r, body, &topn))
        search_most_similar(r, body, topn);
    json_decref(body);
}

/* -- similarity -------------------------------------------------------------------- */

static void answer_similarity(request *r, const tide_view *view, const char *a,
                              const char *b)
{
    float cosine;
    tide_term x, y;
    if (!resolve_text(r->server, view, a, &x)) {
        answer_unknown_word(r, view, a);
    } else if (!resolve_text(r->server, view, b, &y) ||
               tide_view_similarity(view, x.words, y.words, &cosine, NULL)) {
        answer_unknown_word(r, view, b);
    } else {
        json_t *answer = json_pack("{s:o, s:o, s:f}", "a", json_word(x.words), "b",
                                   json_word(y.words), "similarity", (double)cosine);
        add_term(answer, view, a, &x);
        add_term(answer, view, b, &y);
        answer_json(r, 200, answer);
    }
}

void get_similarity(request *r)
{
    char *a = request_parameter(r, "a"), *b = request_parameter(r, "b");
    if (a && b) {
        const tide_view *view = tide_live_acquire(r->server->options.live);
        answer_similarity(r, view, a, b);
        tide_live_release(r->server->options.live, view);
    } else {
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "similarity needs two words: ?a=WORD&b=WORD");
    }
    free(a);
    free(b);
}
