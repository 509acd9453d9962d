/* lookup.c - what requests name, in the words of the model.
 *
 * "Coffee" is learned as "coffee", and so it is found. Texts that are not words themselves come back in the answer's
 * "terms", with the tokens that were used and those that are not known.
 */
#include "http.h"

#include <stdlib.h>
#include <string.h>

bool look_up(server *s, const tide_view *space, const char *text, tide_term *term)
{
    pthread_mutex_lock(&s->resolver_lock);
    tide_resolver_find(s->resolver, space, text, term);
    pthread_mutex_unlock(&s->resolver_lock);
    return term->known > 0;
}

static json_t *tokens(const tide_term *term, bool known)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < term->count; i++)
        if (term->has_vector[i] == known)
            json_array_append_new(list, json_word(term->tokens[i]));
    return list;
}

void note_term(json_t *answer, const char *text, const tide_term *term)
{
    if (term->exact)
        return;
    json_t *terms = json_object_get(answer, "terms");
    if (!terms) {
        terms = json_array();
        json_object_set_new(answer, "terms", terms);
    }
    json_array_append_new(terms, json_pack("{s:o, s:o, s:o}", "text", json_word(text),
                                           "tokens", tokens(term, true), "unknown",
                                           tokens(term, false)));
}

bool word_parameter(request *r, tide_term *term, json_t *answer)
{
    const tide_view *space = tide_live_acquire(r->server->options.live);
    bool known = look_up(r->server, space, r->word, term);
    if (known)
        note_term(answer, r->word, term);
    else
        answer_unknown(r, space, r->word);
    tide_live_release(r->server->options.live, space);
    return known;
}

bool use_token(request *r)
{
    tide_term term;
    const tide_view *space = tide_live_acquire(r->server->options.live);
    look_up(r->server, space, r->word, &term);
    tide_live_release(r->server->options.live, space);
    char *token = term.count == 1 ? strdup(term.tokens[0]) : NULL;
    if (!token)
        return false;
    free(r->word);
    r->word = token;
    return true;
}

/* -- lists ------------------------------------------------------------------------------------------------- */

static bool is_list(const json_t *list)
{
    size_t count = json_array_size(list);
    bool good = count <= ASKED_MAX;
    for (size_t i = 0; i < count; i++)
        good = good && json_is_string(json_array_get(list, i));
    return good && (!list || json_is_array(list));
}

/* Puts terms in the places of the texts. False after a problem was answered. */
static bool look_up_list(request *r, const tide_view *space, const char *name)
{
    const json_t *texts = json_object_get(r->asked, name);
    json_t *words = json_array(), *with = json_object_get(r->asked, "with");
    for (size_t i = 0; i < json_array_size(texts); i++) {
        tide_term term;
        const char *text = json_string_value(json_array_get(texts, i));
        if (!look_up(r->server, space, text, &term)) {
            answer_unknown(r, space, text);
            json_decref(words);
            return false;
        }
        note_term(with, text, &term);
        json_array_append_new(words, json_word(term.words));
    }
    json_object_set_new(r->asked, name, words);
    return true;
}

bool look_up_lists(request *r)
{
    if (!is_list(json_object_get(r->asked, "positive")) ||
        !is_list(json_object_get(r->asked, "negative"))) {
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "positive and negative are lists of at most %d words",
                       ASKED_MAX);
        return false;
    }
    const tide_view *space = tide_live_acquire(r->server->options.live);
    bool known =
        look_up_list(r, space, "positive") && look_up_list(r, space, "negative");
    tide_live_release(r->server->options.live, space);
    return known;
}
