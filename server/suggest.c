/* suggest.c - the answer to an unknown word, with suggestions of similar spelling.
 *
 * Finding suggestions compares the word with the whole vocabulary, at about 30 ns per
 * word. That takes as long as a search, keeps an HTTP thread busy, and cannot be
 * batched. So it is limited by a token bucket of time: it refills at a tenth of the
 * time that passes, up to 50 ms, and each lookup is charged to it. While it is empty,
 * answers come without suggestions. A client that asks for unknown words all day thus
 * occupies a tenth of one thread.
 */
#include "suggest.h"

#include "answer.h"
#include "server_internal.h"
#include "terms.h"

#include "base/base.h"

#define REFILL_RATE 0.1
#define BUDGET_MAX_SECONDS 0.05

enum { SUGGESTIONS = 5 };

static bool refill_budget(server *s)
{
    double now = tide_now_seconds();
    pthread_mutex_lock(&s->lock);
    s->suggest_budget += REFILL_RATE * (now - s->suggest_budget_time);
    s->suggest_budget =
        s->suggest_budget < BUDGET_MAX_SECONDS ? s->suggest_budget : BUDGET_MAX_SECONDS;
    s->suggest_budget_time = now;
    /* A lookup starts with any budget at all and may overdraw it; the debt is paid off
     * before the next one. */
    bool available = s->suggest_budget > 0;
    pthread_mutex_unlock(&s->lock);
    return available;
}

static void charge_budget(server *s, double seconds)
{
    pthread_mutex_lock(&s->lock);
    s->suggest_budget -= seconds;
    pthread_mutex_unlock(&s->lock);
}

static json_t *suggest_words(server *s, const tide_view *view, const char *word)
{
    tide_term term;
    tide_entry entries[SUGGESTIONS];
    json_t *list = json_array();
    if (!refill_budget(s))
        return list;
    double start = tide_now_seconds();
    resolve_text(s, view, word, &term);
    size_t count =
        tide_term_suggest(&term, tide_view_model(view), word, entries, SUGGESTIONS);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_word(entries[i].word));
    charge_budget(s, tide_now_seconds() - start);
    return list;
}

void answer_unknown_word(request *r, const tide_view *view, const char *word)
{
    answer_problem(r, 404, PROBLEM_UNKNOWN_WORD,
                   json_pack("{s:o, s:o}", "word", json_word(word), "suggestions",
                             suggest_words(r->server, view, word)),
                   "'%s' is not in the vocabulary", word);
}
