/* unknown.c - words that are not held, and those that may have been meant.
 *
 * To find these, all words are compared with the one asked for, some 30 ns for each of them: that is as long as a
 * search, others wait for the thread meanwhile, and nobody shares it. So there is an account. It is filled by a tenth of
 * the time that goes by, up to a twentieth of a second, and each such answer is paid from it. When it is empty the
 * answer comes without suggestions, and who asks for unknown words all day keeps a thread for a tenth of the day.
 */
#include "http.h"

#define SHARE 0.1
#define MOST_SECONDS 0.05

enum { SUGGESTIONS = 5 };

static bool can_pay(server *s)
{
    double now = now_seconds();
    pthread_mutex_lock(&s->lock);
    s->account += SHARE * (now - s->account_seen);
    s->account = s->account < MOST_SECONDS ? s->account : MOST_SECONDS;
    s->account_seen = now;
    bool full = s->account > 0;
    pthread_mutex_unlock(&s->lock);
    return full;
}

static void pay(server *s, double seconds)
{
    pthread_mutex_lock(&s->lock);
    s->account -= seconds;
    pthread_mutex_unlock(&s->lock);
}

static json_t *suggestions(server *s, const tide_view *space, const char *word)
{
    tide_term term;
    tide_entry entries[SUGGESTIONS];
    json_t *list = json_array();
    if (!can_pay(s))
        return list;
    double begun = now_seconds();
    look_up(s, space, word, &term);
    size_t count =
        tide_term_suggest(&term, tide_view_model(space), word, entries, SUGGESTIONS);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_word(entries[i].word));
    pay(s, now_seconds() - begun);
    return list;
}

void answer_unknown(request *r, const tide_view *space, const char *word)
{
    answer_problem(r, 404, PROBLEM_UNKNOWN_WORD,
                   json_pack("{s:o, s:o}", "word", json_word(word), "suggestions",
                             suggestions(r->server, space, word)),
                   "'%s' is not in the vocabulary", word);
}
