/* desk.c - the desk where searches are done, several in one go.
 *
 * A search goes through all vectors, and takes as long for one question as for sixteen (query/nearest.c). So
 * requests queue here, and one thread takes whatever has come meanwhile. Who comes to an idle desk is answered at once.
 * After a search the desk rests five times as long as that took, or until sixteen wait: so questions gather,
 * and searching takes a sixth of one processor where that is enough for all who ask, and never more than one. The rest
 * is short even where vectors are many, since who waits is somebody.
 */
#include "http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 16 }; /* as many as one scan has room for */

#define REST_SHARE 5.0 /* of the time that the search before took */
#define REST_MOST 0.02 /* seconds */

struct desk {
    tide_live *live;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    request *first, **last;
    size_t waiting;
    struct timespec rested; /* when the desk will have; only its thread knows */
    bool closing;
};

typedef struct question {
    const char *positive[ASKED_MAX], *negative[ASKED_MAX];
    tide_hit hits[LIST_MAX];
} question;

/* -- one of them ---------------------------------------------------------------------------------------- */

static size_t list_words(const json_t *list, const char **words)
{
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count; i++)
        words[i] = json_string_value(json_array_get(list, i));
    return count;
}

static tide_search search_of(const request *r, question *q)
{
    size_t positive = list_words(json_object_get(r->asked, "positive"), q->positive);
    size_t negative = list_words(json_object_get(r->asked, "negative"), q->negative);
    return (tide_search){.query = {.positive = q->positive,
                                   .positive_count = positive,
                                   .negative = q->negative,
                                   .negative_count = negative},
                         .hits = q->hits,
                         .room = r->count};
}

/* The first word of the question that is not held. */
static const char *unknown_word(const tide_view *space, const tide_query *query)
{
    float vector[TIDE_DIM_MAX];
    for (size_t i = 0; i < query->positive_count; i++)
        if (tide_view_mean(space, query->positive[i], vector, NULL))
            return query->positive[i];
    for (size_t i = 0; i < query->negative_count; i++)
        if (tide_view_mean(space, query->negative[i], vector, NULL))
            return query->negative[i];
    return query->positive_count ? query->positive[0] : "";
}

static void answer_search(request *r, const tide_view *space, const tide_search *search)
{
    if (search->found == TIDE_ERROR_NOT_FOUND) {
        answer_unknown(r, space, unknown_word(space, &search->query));
        return;
    }
    if (search->found < 0) {
        answer_problem(r, search->found == TIDE_ERROR_PARAMETER ? 400 : 503,
                       PROBLEM_PLAIN, NULL, "%s", search->error.text);
        return;
    }
    json_t *list = json_array();
    for (int i = 0; i < search->found; i++)
        json_array_append_new(list, json_pack("{s:o, s:f}", "word",
                                              json_word(search->hits[i].word), "score",
                                              (double)search->hits[i].score));
    const char *name = json_string_value(json_object_get(r->asked, "answer"));
    json_t *answer = json_object();
    json_object_update(answer, json_object_get(r->asked, "with"));
    json_object_set_new(answer, name, list);
    answer_json(r, 200, answer);
}

/* -- all that have come ------------------------------------------------------------------------------------ */

static void answer_all(desk *d, question *questions, request **requests, size_t count)
{
    tide_search searches[TOGETHER];
    const tide_view *space = tide_live_acquire(d->live);
    for (size_t i = 0; i < count; i++)
        searches[i] = search_of(requests[i], &questions[i]);
    tide_view_search(space, searches, count);
    for (size_t i = 0; i < count; i++)
        answer_search(requests[i], space, &searches[i]);
    tide_live_release(d->live, space);
}

/* Until somebody has come and the desk is rested, or all places are taken. */
static void await_some(desk *d)
{
    while (!d->first && !d->closing)
        pthread_cond_wait(&d->changed, &d->lock);
    while (d->waiting < TOGETHER && !d->closing &&
           pthread_cond_clockwait(&d->changed, &d->lock, CLOCK_MONOTONIC, &d->rested) !=
               ETIMEDOUT)
        ;
}

static size_t take_some(desk *d, request **requests)
{
    size_t count = 0;
    pthread_mutex_lock(&d->lock);
    await_some(d);
    while (d->first && count < TOGETHER) {
        requests[count++] = d->first;
        d->first = d->first->next;
    }
    if (!d->first)
        d->last = &d->first;
    d->waiting -= count;
    pthread_mutex_unlock(&d->lock);
    return count;
}

static void rest(desk *d, double worked)
{
    double seconds = REST_SHARE * worked < REST_MOST ? REST_SHARE * worked : REST_MOST;
    clock_gettime(CLOCK_MONOTONIC, &d->rested);
    d->rested.tv_nsec += (long)(1e9 * seconds);
    d->rested.tv_sec += d->rested.tv_nsec / 1000000000;
    d->rested.tv_nsec %= 1000000000;
}

static void *work(void *argument)
{
    desk *d = argument;
    request *requests[TOGETHER];
    question *questions = calloc(TOGETHER, sizeof *questions);
    size_t count;
    while ((count = take_some(d, requests)) > 0) {
        double begun = spent_seconds();
        if (questions)
            answer_all(d, questions, requests, count);
        for (size_t i = 0; i < count; i++)
            go_on(requests[i]);
        rest(d, spent_seconds() - begun);
    }
    free(questions);
    return NULL;
}

/* -- life ----------------------------------------------------------------------------------------------------- */

desk *desk_open(tide_live *live)
{
    desk *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->live = live;
    d->last = &d->first;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    if (pthread_create(&d->thread, NULL, work, d) == 0) {
        pthread_setname_np(d->thread, "desk");
        return d;
    }
    free(d);
    return NULL;
}

void desk_close(desk *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->closing = true;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
}

void desk_free(desk *d)
{
    if (!d)
        return;
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

void desk_ask(desk *d, request *r)
{
    wait_for_answer(r);
    pthread_mutex_lock(&d->lock);
    bool closed = d->closing;
    if (!closed) {
        r->next = NULL;
        *d->last = r;
        d->last = &r->next;
        d->waiting++;
        if (d->waiting == 1 || d->waiting == TOGETHER)
            pthread_cond_signal(&d->changed);
    }
    pthread_mutex_unlock(&d->lock);
    if (closed)
        go_on(r);
}
