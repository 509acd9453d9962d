/* history_api.c - queries about time: which words are new, gone, rising or moving. */
#include "history_api.h"

#include "answer.h"
#include "handlers.h"
#include "server_internal.h"
#include "terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_MAX = 10000, EVENT_WORDS_MAX = 20 };

/* -- lists ------------------------------------------------------------------------- */

static json_t *word_json(const tide_history_word *w)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}",
        "word", json_word(w->word), "count", json_count(w->count), "error",
        json_count(w->error), "seen", json_count(w->seen), "rank", json_count(w->rank),
        "rate", json_number(w->rate), "baseline", json_number(w->baseline), "ratio",
        json_number(w->ratio), "trend", json_number(w->trend), "drift",
        json_number(w->drift), "since", json_number(w->since), "first_seen",
        json_number(w->first_seen), "followed", w->tracked, "watched", w->watched);
}

static json_t *evicted_json(const tide_evicted *w)
{
    return json_pack("{s:o, s:o, s:o}", "word", json_word(w->word), "count",
                     json_count(w->count), "left", json_number(w->left));
}

static void answer_evicted(request *r, uint32_t limit)
{
    tide_evicted *evicted = calloc(limit, sizeof *evicted);
    json_t *list = json_array();
    size_t found =
        evicted ? tide_history_evicted(r->server->history, 0, evicted, limit) : 0;
    for (size_t i = 0; i < found; i++)
        json_array_append_new(list, evicted_json(&evicted[i]));
    free(evicted);
    answer_json(r, 200,
                json_pack("{s:o, s:o}", "total", json_count(found), "words", list));
}

/* Tokenizes a prefix the way text is: "New Yo" becomes "new_yo". */
static void normalize_prefix(server *s, const char *text,
                             char prefix[TIDE_WORD_MAX + 1])
{
    tide_term term;
    size_t used = 0;
    const tide_view *view = tide_live_acquire(s->options.live);
    resolve_text(s, view, text, &term);
    tide_live_release(s->options.live, view);
    *prefix = 0;
    for (uint32_t i = 0; i < term.count && used < TIDE_WORD_MAX; i++)
        used += (size_t)snprintf(prefix + used, TIDE_WORD_MAX + 1 - used, "%s%s",
                                 i ? "_" : "", term.tokens[i]);
}

/* Lists the words with the prefix as given; if there are none, with the normalized
 * one. */
static int find_words(server *s, const tide_history_list *query,
                      tide_history_word *words, uint32_t limit, uint64_t *total)
{
    int found = tide_history_words(s->history, query, words, limit, total, NULL);
    if (found || *total || !query->prefix)
        return found;
    char prefix[TIDE_WORD_MAX + 1];
    tide_history_list normalized = *query;
    normalized.prefix = prefix;
    normalize_prefix(s, query->prefix, prefix);
    return *prefix
               ? tide_history_words(s->history, &normalized, words, limit, total, NULL)
               : found;
}

static void answer_words(request *r, const tide_history_list *query, uint32_t limit)
{
    uint64_t total = 0;
    tide_history_word *words = calloc(limit, sizeof *words);
    int found = words ? find_words(r->server, query, words, limit, &total) : -1;
    if (found >= 0) {
        json_t *list = json_array();
        for (int i = 0; i < found; i++)
            json_array_append_new(list, word_json(&words[i]));
        answer_json(r, 200,
                    json_pack("{s:o, s:o}", "total", json_count(total), "words", list));
    } else {
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "out of memory for the list");
    }
    free(words);
}

void get_words(request *r)
{
    static const char *const sorts[] = {[TIDE_HISTORY_COUNT] = "count",
                                        [TIDE_HISTORY_NEW] = "new",
                                        [TIDE_HISTORY_TREND] = "trend",
                                        [TIDE_HISTORY_DRIFT] = "drift",
                                        "gone"};
    enum { SORTS = sizeof sorts / sizeof *sorts };
    uint32_t limit = 50, offset = 0;
    if (!request_integer(r, "limit", 1, LIST_MAX, &limit) ||
        !request_integer(r, "offset", 0, UINT32_MAX, &offset))
        return;
    char *sort = request_parameter(r, "sort"), *prefix = request_parameter(r, "prefix");
    int index = 0;
    while (sort && index < SORTS && strcmp(sort, sorts[index]) != 0)
        index++;
    const tide_history_list query = {
        .sort = (tide_history_sort)index, .prefix = prefix, .offset = offset};
    if (index == SORTS)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "sort must be one of: count, new, gone, trend, drift");
    else if (index == SORTS - 1)
        answer_evicted(r, limit);
    else if (index != TIDE_HISTORY_COUNT && offset > TIDE_HISTORY_LIST_MAX - limit)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "offset + limit must not exceed %d for this sort",
                       TIDE_HISTORY_LIST_MAX);
    else
        answer_words(r, &query, limit);
    free(sort);
    free(prefix);
}

/* -- one word ---------------------------------------------------------------------- */

void add_word_history(server *s, const char *word, json_t *answer)
{
    tide_history_word found;
    const double unknown = (double)NAN;
    bool known = !tide_history_word_of(s->history, word, &found, NULL);
    json_t *members =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "seen",
                  known ? json_count(found.seen) : json_null(), "rate",
                  json_number(known ? found.rate : unknown), "baseline",
                  json_number(known ? found.baseline : unknown), "ratio",
                  json_number(known ? found.ratio : unknown), "trend",
                  json_number(known ? found.trend : unknown), "drift",
                  json_number(known ? found.drift : unknown), "since",
                  json_number(known ? found.since : unknown), "first_seen",
                  json_number(known ? found.first_seen : unknown), "followed",
                  known && found.tracked, "watched", known && found.watched);
    json_object_update(answer, members);
    json_decref(members);
}

void get_history(request *r)
{
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    tide_error err;
    normalize_word(r);
    int found = tide_history_points(r->server->history, r->word, points, &err);
    if (found < 0) {
        answer_problem(r, 404, PROBLEM_NO_HISTORY, NULL, "%s", err.text);
        return;
    }
    json_t *list = json_array();
    for (int i = 0; i < found; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "age",
                                              json_number(points[i].age), "time",
                                              json_number(points[i].time), "count",
                                              json_count(points[i].count), "rate",
                                              json_number(points[i].rate), "turned",
                                              json_number(points[i].drift)));
    answer_json(r, 200,
                json_pack("{s:o, s:o}", "word", json_word(r->word), "points", list));
}

void answer_past_neighbors(request *r, double age, uint32_t topn)
{
    tide_error err;
    double nearest_age;
    normalize_word(r);
    tide_history_hit *hits = calloc(topn, sizeof *hits);
    int found = hits ? tide_history_nearest(r->server->history, r->word, age, hits,
                                            topn, &nearest_age, &err)
                     : -1;
    if (found >= 0) {
        json_t *list = json_array();
        for (int i = 0; i < found; i++)
            json_array_append_new(list, json_pack("{s:o, s:f}", "word",
                                                  json_word(hits[i].word), "score",
                                                  (double)hits[i].score));
        answer_json(r, 200,
                    json_pack("{s:o, s:o, s:o}", "word", json_word(r->word), "age",
                              json_number(nearest_age), "neighbors", list));
    } else {
        answer_problem(r, 404, PROBLEM_NO_HISTORY, NULL, "%s",
                       hits ? err.text : "out of memory");
    }
    free(hits);
}

static void set_watched(request *r, bool watched)
{
    tide_error err;
    tide_history *history = r->server->history;
    int status = watched ? tide_history_watch(history, r->word, &err)
                         : tide_history_unwatch(history, r->word, &err);
    if (!status)
        answer_no_content(r);
    else
        answer_problem(r, status == TIDE_ERROR_NOT_FOUND ? 404 : 409, PROBLEM_PLAIN,
                       NULL, "%s", err.text);
}

void put_watch(request *r)
{
    if (normalize_word(r))
        set_watched(r, true);
    else
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "'%s' is not one word of this model; watch its words one by one",
                       r->word);
}

void delete_watch(request *r)
{
    normalize_word(r);
    set_watched(r, false);
}

/* -- the map ----------------------------------------------------------------------- */

void get_map(request *r)
{
    uint32_t limit = 2000;
    uint64_t frame = 0;
    if (!request_integer(r, "limit", 1, MAP_MAX, &limit))
        return;
    tide_map_point *points = calloc(limit, sizeof *points);
    size_t found =
        points ? tide_history_map(r->server->history, points, limit, &frame) : 0;
    static const char *const names[] = {"words", "x",     "y",     "count", "seen",
                                        "age",   "drift", "trend", "ratio"};
    enum { COLUMNS = sizeof names / sizeof *names };
    json_t *columns[COLUMNS], *answer = json_pack("{s:o}", "frame", json_count(frame));
    for (int c = 0; c < COLUMNS; c++)
        columns[c] = json_array();
    for (size_t i = 0; i < found; i++) {
        const tide_map_point *p = &points[i];
        json_t *row[COLUMNS] = {
            json_word(p->word),    json_number((double)p->x), json_number((double)p->y),
            json_count(p->count),  json_count(p->seen),       json_number(p->age),
            json_number(p->drift), json_number(p->trend),     json_number(p->ratio)};
        for (int c = 0; c < COLUMNS; c++)
            json_array_append_new(columns[c], row[c]);
    }
    for (int c = 0; c < COLUMNS; c++)
        json_object_set_new(answer, names[c], columns[c]);
    free(points);
    answer_json(r, 200, answer);
}

/* -- events ------------------------------------------------------------------------ */

/* Publishes up to EVENT_WORDS_MAX words that entered, and as many that left. */
static void publish_words(server *s)
{
    tide_history_word entered[EVENT_WORDS_MAX];
    tide_evicted left[EVENT_WORDS_MAX];
    const tide_history_list query = {.sort = TIDE_HISTORY_NEW,
                                     .after = s->words_published};
    int admitted =
        tide_history_words(s->history, &query, entered, EVENT_WORDS_MAX, NULL, NULL);
    size_t evicted =
        tide_history_evicted(s->history, s->words_published, left, EVENT_WORDS_MAX);
    if (admitted <= 0 && !evicted)
        return;
    json_t *in = json_array(), *out = json_array();
    for (int i = 0; i < admitted; i++)
        json_array_append_new(in, json_pack("{s:o, s:o, s:o}", "word",
                                            json_word(entered[i].word), "count",
                                            json_count(entered[i].count), "error",
                                            json_count(entered[i].error)));
    for (size_t i = 0; i < evicted; i++)
        json_array_append_new(out, evicted_json(&left[i]));
    events_publish(s->events, "words",
                   json_pack("{s:o, s:o}", "entered", in, "left", out));
}

static void publish_alarms(server *s)
{
    tide_alarm alarms[EVENT_WORDS_MAX];
    size_t found =
        tide_history_alarms(s->history, s->alarms_published, alarms, EVENT_WORDS_MAX);
    for (size_t i = 0; i < found; i++) {
        const tide_alarm *a = &alarms[i];
        s->alarms_published = a->number;
        status_count_alarm(s->status, a->kind);
        events_publish(s->events, "alarm",
                       json_pack("{s:f, s:s, s:o, s:f, s:f}", "time", a->time, "kind",
                                 tide_alarm_name(a->kind), "word", json_word(a->word),
                                 "score", a->score, "threshold", a->threshold));
    }
}

void history_tick(server *s, double now)
{
    if (tide_history_update(s->history, now, NULL))
        return;
    publish_words(s);
    s->words_published = now;
    publish_alarms(s);
}
