/* words.c - questions about words: what is held, what is near, what is like what. */
#include "http.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- one word --------------------------------------------------------------------------------------------- */

static double norm_of(const float *vector, uint32_t dim)
{
    double square = 0;
    for (uint32_t d = 0; d < dim; d++)
        square += (double)vector[d] * (double)vector[d];
    return sqrt(square);
}

static void describe(request *r, const tide_view *space)
{
    const tide_model *model = tide_view_model(space);
    uint32_t dim = tide_model_dim(model);
    float vector[TIDE_DIM_MAX];
    tide_entry entry = {0};
    tide_term term;
    if (!look_up(r->server, space, r->word, &term) ||
        tide_view_mean(space, term.words, vector, NULL)) {
        answer_unknown(r, space, r->word);
        return;
    }
    bool held = !tide_model_find(model, term.words, &entry, NULL);
    json_t *answer = json_pack(
        "{s:o, s:b, s:I, s:I, s:o, s:f}", "word", json_word(term.words), "held", held,
        "count", (json_int_t)entry.count, "error", (json_int_t)entry.error, "rank",
        held ? json_integer(tide_view_rank(space, term.words)) : json_null(), "norm",
        norm_of(vector, dim));
    note_term(answer, r->word, &term);
    char *wanted = parameter(r, "vector");
    if (wanted && !strcmp(wanted, "1"))
        json_object_set_new(answer, "vector", json_vector(vector, dim));
    free(wanted);
    describe_past(r->server, term.words, answer);
    answer_json(r, 200, answer);
}

void get_word(request *r)
{
    const tide_view *space = tide_live_acquire(r->server->options.live);
    describe(r, space);
    tide_live_release(r->server->options.live, space);
}

/* -- neighbors --------------------------------------------------------------------------------------------------- */

static bool take_count(request *r)
{
    r->count = 10;
    return number_parameter(r, "topn", 1, LIST_MAX, &r->count);
}

void get_neighbors(request *r)
{
    uint32_t age = 0;
    if (!take_count(r) || !number_parameter(r, "age", 0, UINT32_MAX, &age))
        return;
    if (age) {
        answer_past_neighbors(r, age);
        return;
    }
    tide_term term;
    json_t *with = json_object();
    if (!word_parameter(r, &term, with)) {
        json_decref(with);
        return;
    }
    json_object_set_new(with, "word", json_word(term.words));
    json_object_set_new(with, "age", json_integer(0));
    r->asked = json_pack("{s:[o], s:s, s:o}", "positive", json_word(term.words),
                         "answer", "neighbors", "with", with);
    desk_ask(r->server->desk, r);
}

static void ask_analogy(request *r, const char *a, const char *b, const char *c)
{
    if (!a || !b || !c) {
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "a is to b as c is to what? All three are needed");
        return;
    }
    r->asked =
        json_pack("{s:[o, o], s:[o], s:s, s:{}}", "positive", json_word(b),
                  json_word(c), "negative", json_word(a), "answer", "answers", "with");
    if (look_up_lists(r))
        desk_ask(r->server->desk, r);
}

void get_analogy(request *r)
{
    if (!take_count(r))
        return;
    char *a = parameter(r, "a"), *b = parameter(r, "b"), *c = parameter(r, "c");
    ask_analogy(r, a, b, c);
    free(a);
    free(b);
    free(c);
}

/* "topn" of the body; false after a problem was answered. */
static bool take_body_count(request *r, const json_t *body)
{
    const json_t *topn = json_object_get(body, "topn");
    json_int_t count = topn ? json_integer_value(topn) : 10;
    if (count < 1 || count > LIST_MAX)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "topn is a number from 1 to %d",
                       LIST_MAX);
    else
        r->count = (uint32_t)count;
    return count >= 1 && count <= LIST_MAX;
}

void post_analogy(request *r)
{
    json_t *body = body_object(r);
    if (body && take_body_count(r, body))
        ask_analogy(r, json_string_value(json_object_get(body, "a")),
                    json_string_value(json_object_get(body, "b")),
                    json_string_value(json_object_get(body, "c")));
    json_decref(body);
}

void post_most_similar(request *r)
{
    json_t *body = body_object(r);
    if (body && take_body_count(r, body)) {
        r->asked = json_object();
        json_object_set(r->asked, "positive", json_object_get(body, "positive"));
        json_object_set(r->asked, "negative", json_object_get(body, "negative"));
        json_object_set_new(r->asked, "answer", json_string("neighbors"));
        json_object_set_new(r->asked, "with", json_object());
        if (!json_array_size(json_object_get(r->asked, "positive")) &&
            !json_array_size(json_object_get(r->asked, "negative")))
            answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                           "positive or negative needs a word");
        else if (look_up_lists(r))
            desk_ask(r->server->desk, r);
    }
    json_decref(body);
}

/* -- similarity --------------------------------------------------------------------------------------------------- */

static void compare(request *r, const tide_view *space, const char *a, const char *b)
{
    float cosine;
    tide_term x, y;
    if (!look_up(r->server, space, a, &x)) {
        answer_unknown(r, space, a);
    } else if (!look_up(r->server, space, b, &y) ||
               tide_view_similarity(space, x.words, y.words, &cosine, NULL)) {
        answer_unknown(r, space, b);
    } else {
        json_t *answer = json_pack("{s:o, s:o, s:f}", "a", json_word(x.words), "b",
                                   json_word(y.words), "similarity", (double)cosine);
        note_term(answer, a, &x);
        note_term(answer, b, &y);
        answer_json(r, 200, answer);
    }
}

void get_similarity(request *r)
{
    char *a = parameter(r, "a"), *b = parameter(r, "b");
    if (a && b) {
        const tide_view *space = tide_live_acquire(r->server->options.live);
        compare(r, space, a, b);
        tide_live_release(r->server->options.live, space);
    } else {
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "two words are needed: ?a=ONE&b=OTHER");
    }
    free(a);
    free(b);
}
