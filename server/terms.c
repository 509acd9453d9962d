/* terms.c - the words and texts that requests name, in the words of the model.
 *
 * A text goes through the tokenizer that training uses: "Coffee" is learned as "coffee"
 * and found as such, and a text of several words stands for the mean of their vectors.
 * If a text is not a word of the model itself, the member "terms" of the answer lists
 * the tokens that it was read as, known and unknown, and those of the known ones whose
 * vectors are composed of n-grams because the model does not hold them.
 */
#include "terms.h"

#include "answer.h"
#include "server_internal.h"
#include "suggest.h"

#include <stdlib.h>
#include <string.h>

bool resolve_text(server *s, const tide_view *view, const char *text, tide_term *term)
{
    /* The resolver has a tokenizer and its buffers, so one thread uses it at a time. */
    pthread_mutex_lock(&s->resolver_lock);
    tide_resolver_find(s->resolver, view, text, term);
    pthread_mutex_unlock(&s->resolver_lock);
    return term->known > 0;
}

static json_t *list_tokens(const tide_term *term, bool known)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < term->count; i++)
        if (term->has_vector[i] == known)
            json_array_append_new(list, json_word(term->tokens[i]));
    return list;
}

/* The known tokens that the model does not hold; NULL if there are none. */
static json_t *list_composed(const tide_view *view, const tide_term *term)
{
    json_t *list = NULL;
    tide_entry entry;
    for (uint32_t i = 0; i < term->count; i++) {
        if (!term->has_vector[i] ||
            !tide_model_find(tide_view_model(view), term->tokens[i], &entry, NULL))
            continue;
        list = list ? list : json_array();
        json_array_append_new(list, json_word(term->tokens[i]));
    }
    return list;
}

void add_term(json_t *answer, const tide_view *view, const char *text,
              const tide_term *term)
{
    json_t *composed = list_composed(view, term);
    if (term->exact && !composed)
        return;
    json_t *terms = json_object_get(answer, "terms");
    if (!terms) {
        terms = json_array();
        json_object_set_new(answer, "terms", terms);
    }
    json_array_append_new(terms,
                          json_pack("{s:o, s:o, s:o, s:o*}", "text", json_word(text),
                                    "tokens", list_tokens(term, true), "unknown",
                                    list_tokens(term, false), "composed", composed));
}

bool resolve_word(request *r, tide_term *term, json_t *answer)
{
    const tide_view *view = tide_live_acquire(r->server->options.live);
    bool known = resolve_text(r->server, view, r->word, term);
    if (known)
        add_term(answer, view, r->word, term);
    else
        answer_unknown_word(r, view, r->word);
    tide_live_release(r->server->options.live, view);
    return known;
}

static bool resolve_each(request *r, const tide_view *view, const char *const *texts,
                         size_t text_count, char **terms, size_t *count, json_t *answer)
{
    for (size_t i = 0; i < text_count; i++) {
        tide_term term;
        if (!resolve_text(r->server, view, texts[i], &term)) {
            answer_unknown_word(r, view, texts[i]);
            return false;
        }
        add_term(answer, view, texts[i], &term);
        /* Copied, since the search is made later, by another thread. */
        terms[i] = strdup(term.words);
        if (!terms[i]) {
            answer_problem(r, 503, PROBLEM_PLAIN, NULL, "out of memory");
            return false;
        }
        *count = i + 1;
    }
    return true;
}

bool resolve_texts(request *r, const char *const *texts, size_t text_count,
                   char **terms, size_t *count, json_t *answer)
{
    const tide_view *view = tide_live_acquire(r->server->options.live);
    bool known = resolve_each(r, view, texts, text_count, terms, count, answer);
    tide_live_release(r->server->options.live, view);
    return known;
}

bool normalize_word(request *r)
{
    tide_term term;
    const tide_view *view = tide_live_acquire(r->server->options.live);
    resolve_text(r->server, view, r->word, &term);
    tide_live_release(r->server->options.live, view);
    char *token = term.count == 1 ? strdup(term.tokens[0]) : NULL;
    if (!token)
        return false;
    free(r->word);
    r->word = token;
    return true;
}
