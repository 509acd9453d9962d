/* past.c - questions about time: what words were, which come and go, which rise, which have moved. */
#include "http.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_MAX = 10000, TICKER_WORDS = 20 };

/* -- lists ----------------------------------------------------------------------------------------------------- */

static json_t *word_json(const tide_history_word *w)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}",
        "word", json_word(w->word), "count", json_count(w->count), "error",
        json_count(w->error), "seen", json_count(w->seen), "rank", json_count(w->rank),
        "rate", json_number(w->rate), "baseline", json_number(w->baseline), "ratio",
        json_number(w->ratio), "trend", json_number(w->trend), "drift",
        json_number(w->drift), "since", json_number(w->since), "first_seen",
        json_number(w->first_seen), "followed", w->followed, "watched", w->watched);
}

static json_t *gone_json(const tide_evicted *gone)
{
    return json_pack("{s:o, s:o, s:o}", "word", json_word(gone->word), "count",
                     json_count(gone->count), "left", json_number(gone->left));
}

static void list_gone(request *r, uint32_t limit)
{
    tide_evicted *gone = calloc(limit, sizeof *gone);
    json_t *list = json_array();
    size_t found = gone ? tide_history_evicted(r->server->history, 0, gone, limit) : 0;
    for (size_t i = 0; i < found; i++)
        json_array_append_new(list, gone_json(&gone[i]));
    free(gone);
    answer_json(r, 200,
                json_pack("{s:o, s:o}", "total", json_count(found), "words", list));
}

/* How words begin that were learned from text that begins so. */
static void normalize_prefix(server *s, const char *text,
                             char prefix[TIDE_WORD_MAX + 1])
{
    tide_term term;
    size_t used = 0;
    const tide_view *space = tide_live_acquire(s->options.live);
    look_up(s, space, text, &term);
    tide_live_release(s->options.live, space);
    *prefix = 0;
    for (uint32_t i = 0; i < term.count && used < TIDE_WORD_MAX; i++)
        used += (size_t)snprintf(prefix + used, TIDE_WORD_MAX + 1 - used, "%s%s",
                                 i ? "_" : "", term.tokens[i]);
}

/* No word begins as was written: perhaps some do as text is learned. */
static int find_words(server *s, const tide_history_list *how, tide_history_word *words,
                      uint32_t limit, uint64_t *total)
{
    int found = tide_history_words(s->history, how, words, limit, total, NULL);
    if (found || *total || !how->prefix)
        return found;
    char prefix[TIDE_WORD_MAX + 1];
    tide_history_list again = *how;
    again.prefix = prefix;
    normalize_prefix(s, how->prefix, prefix);
    return *prefix ? tide_history_words(s->history, &again, words, limit, total, NULL)
                   : found;
}

static void list_words(request *r, const tide_history_list *how, uint32_t limit)
{
    uint64_t total = 0;
    tide_history_word *words = calloc(limit, sizeof *words);
    int found = words ? find_words(r->server, how, words, limit, &total) : -1;
    if (found >= 0) {
        json_t *list = json_array();
        for (int i = 0; i < found; i++)
            json_array_append_new(list, word_json(&words[i]));
        answer_json(r, 200,
                    json_pack("{s:o, s:o}", "total", json_count(total), "words", list));
    } else {
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "no memory for the list");
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
    if (!number_parameter(r, "limit", 1, LIST_MAX, &limit) ||
        !number_parameter(r, "offset", 0, UINT32_MAX, &offset))
        return;
    char *sort = parameter(r, "sort"), *prefix = parameter(r, "prefix");
    int which = 0;
    while (sort && which < SORTS && strcmp(sort, sorts[which]) != 0)
        which++;
    const tide_history_list how = {
        .sort = (tide_history_sort)which, .prefix = prefix, .offset = offset};
    if (which == SORTS)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "sort is count, new, gone, trend or drift");
    else if (which == SORTS - 1)
        list_gone(r, limit);
    else if (which != TIDE_HISTORY_COUNT && offset > TIDE_HISTORY_LIST_MAX - limit)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "such a list ends after %d words",
                       TIDE_HISTORY_LIST_MAX);
    else
        list_words(r, &how, limit);
    free(sort);
    free(prefix);
}

/* -- one word ---------------------------------------------------------------------------------------------------- */

void describe_past(server *s, const char *word, json_t *answer)
{
    tide_history_word found;
    const double none = (double)NAN;
    bool known = !tide_history_word_of(s->history, word, &found, NULL);
    json_t *past =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "seen",
                  known ? json_count(found.seen) : json_null(), "rate",
                  json_number(known ? found.rate : none), "baseline",
                  json_number(known ? found.baseline : none), "ratio",
                  json_number(known ? found.ratio : none), "trend",
                  json_number(known ? found.trend : none), "drift",
                  json_number(known ? found.drift : none), "since",
                  json_number(known ? found.since : none), "first_seen",
                  json_number(known ? found.first_seen : none), "followed",
                  known && found.followed, "watched", known && found.watched);
    json_object_update(answer, past);
    json_decref(past);
}

void get_history(request *r)
{
    tide_history_point points[TIDE_HISTORY_SNAPSHOTS_MAX];
    tide_error err;
    use_token(r);
    int found = tide_history_points(r->server->history, r->word, points, &err);
    if (found < 0) {
        answer_problem(r, 404, PROBLEM_NO_PAST, NULL, "%s", err.text);
        return;
    }
    json_t *list = json_array();
    for (int i = 0; i < found; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "age",
                                              json_number(points[i].age), "time",
                                              json_number(points[i].time), "count",
                                              json_count(points[i].count), "rate",
                                              json_number(points[i].rate), "turned",
                                              json_number(points[i].turned)));
    answer_json(r, 200,
                json_pack("{s:o, s:o}", "word", json_word(r->word), "points", list));
}

void answer_past_neighbors(request *r, double age)
{
    tide_error err;
    double taken;
    use_token(r);
    tide_history_hit *hits = calloc(r->count, sizeof *hits);
    int found = hits ? tide_history_nearest(r->server->history, r->word, age, hits,
                                            r->count, &taken, &err)
                     : -1;
    if (found >= 0) {
        json_t *list = json_array();
        for (int i = 0; i < found; i++)
            json_array_append_new(list, json_pack("{s:o, s:f}", "word",
                                                  json_word(hits[i].word), "score",
                                                  (double)hits[i].score));
        answer_json(r, 200,
                    json_pack("{s:o, s:o, s:o}", "word", json_word(r->word), "age",
                              json_number(taken), "neighbors", list));
    } else {
        answer_problem(r, 404, PROBLEM_NO_PAST, NULL, "%s",
                       hits ? err.text : "no memory");
    }
    free(hits);
}

static void watch(request *r, bool on)
{
    tide_error err;
    tide_history *history = r->server->history;
    int status = on ? tide_history_watch(history, r->word, &err)
                    : tide_history_unwatch(history, r->word, &err);
    if (!status)
        answer_nothing(r);
    else
        answer_problem(r, status == TIDE_ERROR_NOT_FOUND ? 404 : 409, PROBLEM_PLAIN,
                       NULL, "%s", err.text);
}

void put_watch(request *r)
{
    if (use_token(r))
        watch(r, true);
    else
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "'%s' is not one word of this model: watch its words one by one",
                       r->word);
}

void delete_watch(request *r)
{
    use_token(r);
    watch(r, false);
}

/* -- the map -------------------------------------------------------------------------------------------------------- */

void get_map(request *r)
{
    uint32_t limit = 2000;
    uint64_t frame = 0;
    if (!number_parameter(r, "limit", 1, MAP_MAX, &limit))
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

/* -- events ------------------------------------------------------------------------------------------------------------- */

static void tell_words(server *s)
{
    tide_history_word entered[TICKER_WORDS];
    tide_evicted left[TICKER_WORDS];
    const tide_history_list how = {.sort = TIDE_HISTORY_NEW, .after = s->told_words};
    int came = tide_history_words(s->history, &how, entered, TICKER_WORDS, NULL, NULL);
    size_t went = tide_history_evicted(s->history, s->told_words, left, TICKER_WORDS);
    if (came <= 0 && !went)
        return;
    json_t *in = json_array(), *out = json_array();
    for (int i = 0; i < came; i++)
        json_array_append_new(in, json_pack("{s:o, s:o, s:o}", "word",
                                            json_word(entered[i].word), "count",
                                            json_count(entered[i].count), "error",
                                            json_count(entered[i].error)));
    for (size_t i = 0; i < went; i++)
        json_array_append_new(out, gone_json(&left[i]));
    events_send(s->events, "words",
                json_pack("{s:o, s:o}", "entered", in, "left", out));
}

static void tell_alarms(server *s)
{
    tide_alarm alarms[TICKER_WORDS];
    size_t found =
        tide_history_alarms(s->history, s->told_alarms, alarms, TICKER_WORDS);
    for (size_t i = 0; i < found; i++) {
        const tide_alarm *a = &alarms[i];
        s->told_alarms = a->number;
        figures_alarm(s->figures, a->kind);
        events_send(s->events, "alarm",
                    json_pack("{s:f, s:s, s:o, s:f, s:f}", "time", a->time, "kind",
                              tide_alarm_name(a->kind), "word", json_word(a->word),
                              "score", a->score, "threshold", a->threshold));
    }
}

void past_tick(server *s, double now)
{
    if (tide_history_update(s->history, now, NULL))
        return;
    tell_words(s);
    s->told_words = now;
    tell_alarms(s);
}
