/* figures.c - how far it has come, how fast, and whether it is well. */
#include "figures.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STUCK_SECONDS = 30 };

const double figures_bounds[BUCKETS] = {0.001, 0.005, 0.01, 0.025,
                                        0.05,  0.1,   1,    (double)INFINITY};

/* -- memory ------------------------------------------------------------------------------------------------- */

enum { PARTS = 4, REQUESTS_BYTES = 64 << 20 /* that are being taken and answered */ };

static int list_needs(const tide_params *params, const server_needs *needs,
                      tide_part parts[PARTS])
{
    parts[0] = (tide_part){"questions", tide_live_bytes(params)};
    parts[1] = (tide_part){"history", tide_history_bytes(params, needs->history)};
    parts[2] = (tide_part){"requests", REQUESTS_BYTES};
    parts[3] = (tide_part){"queue", needs->queue};
    return needs->queue ? PARTS : PARTS - 1;
}

static uint64_t sum_parts(const tide_part *parts, int count)
{
    uint64_t total = 0;
    for (int i = 0; i < count; i++)
        total += parts[i].bytes;
    return total;
}

uint64_t server_bytes(const tide_params *params, const void *needs)
{
    tide_part parts[PARTS];
    int count = list_needs(params, needs, parts);
    return sum_parts(parts, count);
}

static uint64_t promised_bytes(const figures *f)
{
    return sum_parts(f->parts, f->part_count);
}

/* Where there is more than was thought the program is larger: all else is allocated before the server begins, but for
 * the memory of requests. */
static void list_parts(figures *f)
{
    const server_options *o = f->options;
    const tide_params *params = tide_trainer_params(o->trainer);
    f->part_count = tide_trainer_budget(o->trainer, f->parts);
    tide_part *program = &f->parts[f->part_count - 1];
    assert(f->part_count + PARTS <= TIDE_PARTS_MAX);
    f->part_count += list_needs(params, &o->needs, f->parts + f->part_count);
    uint64_t resident = resident_bytes(), promised = promised_bytes(f) - REQUESTS_BYTES;
    if (resident > promised)
        program->bytes += resident - promised;
}

int figures_budget(const figures *f, tide_part parts[TIDE_PARTS_MAX])
{
    memcpy(parts, f->parts, sizeof f->parts);
    return f->part_count;
}

/* -- rates ---------------------------------------------------------------------------------------------------- */

static void add_sample(figures *f, double time)
{
    const tide_stats *s = &f->stats;
    f->past[f->sampled++ % RATE_SAMPLES] = (rate_sample){.time = time,
                                                         .tokens = s->tokens,
                                                         .admitted = s->admitted,
                                                         .evicted = s->evicted};
}

static double rate_of(uint64_t now, uint64_t before, double seconds)
{
    return now > before ? (double)(now - before) / seconds : 0;
}

/* Means of the last seconds, all of equal weight: a few seconds after the text has ended they are 0. */
static void measure_rates(figures *f, double time)
{
    const rate_sample *oldest =
        &f->past[f->sampled < RATE_SAMPLES ? 0 : f->sampled % RATE_SAMPLES];
    double seconds = time - oldest->time;
    if (!(seconds > 0))
        return;
    f->words_rate = rate_of(f->stats.tokens, oldest->tokens, seconds);
    f->admitted_rate = rate_of(f->stats.admitted, oldest->admitted, seconds);
    f->evicted_rate = rate_of(f->stats.evicted, oldest->evicted, seconds);
}

/* -- making --------------------------------------------------------------------------------------------------- */

figures *figures_new(const server_options *options)
{
    figures *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->options = options;
    f->started = wall_seconds();
    f->alive = now_seconds();
    list_parts(f);
    tide_live_stats(options->live, &f->stats);
    add_sample(f, now_seconds());
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

void figures_free(figures *f)
{
    if (f)
        pthread_mutex_destroy(&f->lock);
    free(f);
}

/* -- what happens -------------------------------------------------------------------------------------------- */

void figures_tick(figures *f)
{
    tide_stats now;
    tide_live_stats(f->options->live, &now);
    double time = now_seconds();
    pthread_mutex_lock(&f->lock);
    f->stats = now;
    measure_rates(f, time);
    add_sample(f, time);
    pthread_mutex_unlock(&f->lock);
}

void figures_checkpointed(figures *f, const tide_checkpoint *c)
{
    pthread_mutex_lock(&f->lock);
    f->saving = false;
    if (c->error) {
        f->failures++;
        snprintf(f->failure, sizeof f->failure, "%s", c->error);
    } else {
        f->has_checkpoint = true;
        f->checkpoint_time = wall_seconds();
        f->checkpoint_bytes = c->bytes;
        f->pause = c->pause_seconds;
        f->safe_after = c->seconds;
        *f->failure = 0;
    }
    pthread_mutex_unlock(&f->lock);
}

void figures_alive(figures *f, bool saving)
{
    f->alive = now_seconds();
    pthread_mutex_lock(&f->lock);
    f->saving = saving;
    pthread_mutex_unlock(&f->lock);
}

void figures_refused(figures *f, uint64_t bytes)
{
    pthread_mutex_lock(&f->lock);
    f->refused += bytes;
    pthread_mutex_unlock(&f->lock);
}

void figures_alarm(figures *f, tide_alarm_kind kind)
{
    pthread_mutex_lock(&f->lock);
    f->alarms[kind]++;
    pthread_mutex_unlock(&f->lock);
}

void figures_exporting(figures *f, uint64_t bytes)
{
    pthread_mutex_lock(&f->lock);
    f->export_bytes = bytes;
    pthread_mutex_unlock(&f->lock);
}

void figures_history_saved(figures *f, const char *why)
{
    pthread_mutex_lock(&f->lock);
    f->failures += why != NULL;
    snprintf(f->history_failure, sizeof f->history_failure, "%s", why ? why : "");
    pthread_mutex_unlock(&f->lock);
}

void figures_note_request(figures *f, const request *r)
{
    size_t number = r->route ? (size_t)(r->route - routes) : route_count;
    int class = r->status / 100 - 2;
    double seconds = now_seconds() - r->begun;
    if (number >= ROUTES_MAX || class < 0 || class >= CLASSES)
        return;
    pthread_mutex_lock(&f->lock);
    latencies *l = &f->requests[number][class];
    l->count++;
    l->seconds += seconds;
    for (int i = 0; i < BUCKETS; i++)
        l->buckets[i] += seconds <= figures_bounds[i];
    pthread_mutex_unlock(&f->lock);
}

/* -- how it is ------------------------------------------------------------------------------------------------- */

bool figures_stuck(const figures *f)
{
    return now_seconds() - f->alive >= STUCK_SECONDS;
}

/* Why what should be on the disk is not; "" when it is. Under the lock. */
static const char *failure_of(const figures *f)
{
    return *f->failure ? f->failure : f->history_failure;
}

bool figures_degraded(figures *f, char *why, size_t room)
{
    pthread_mutex_lock(&f->lock);
    snprintf(why, room, "%s", failure_of(f));
    pthread_mutex_unlock(&f->lock);
    return *why;
}

void get_health(request *r)
{
    bool stuck = figures_stuck(r->server->figures);
    answer_json(r, stuck ? 503 : 200,
                json_pack("{s:s}", "status", stuck ? "stuck" : "ok"));
}

void get_ready(request *r)
{
    char why[256];
    if (r->server->draining)
        answer_json(r, 503, json_pack("{s:s}", "status", "stopping"));
    else if (figures_degraded(r->server->figures, why, sizeof why))
        answer_json(
            r, 503,
            json_pack("{s:s, s:o}", "status", "degraded", "detail", json_word(why)));
    else
        answer_json(r, 200, json_pack("{s:s}", "status", "ready"));
}

/* -- as JSON ----------------------------------------------------------------------------------------------------- */

int figures_memory(const figures *f, tide_part parts[MEMORY_PARTS_MAX])
{
    memcpy(parts, f->parts, (size_t)f->part_count * sizeof *parts);
    parts[f->part_count] = (tide_part){"export", f->export_bytes};
    return f->part_count + 1;
}

static json_t *memory_json(const figures *f)
{
    tide_part parts[MEMORY_PARTS_MAX];
    int part_count = figures_memory(f, parts);
    json_t *list = json_array();
    for (int i = 0; i < part_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:o}", "name", parts[i].name,
                                              "bytes", json_count(parts[i].bytes)));
    return json_pack("{s:o, s:o, s:o}", "budget_bytes",
                     json_count(promised_bytes(f) + f->export_bytes), "resident_bytes",
                     json_count(resident_bytes()), "parts", list);
}

static json_t *vocabulary_json(const figures *f)
{
    const tide_stats *s = &f->stats;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f}", "size",
                     json_count(s->vocabulary), "capacity", json_count(s->capacity),
                     "minimum_count", json_count(s->minimum_count), "admitted",
                     json_count(s->admitted), "evicted", json_count(s->evicted),
                     "rejected", json_count(s->rejected), "admitted_per_second",
                     f->admitted_rate, "evicted_per_second", f->evicted_rate);
}

static json_t *skipped_json(const tide_stats *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "invalid",
                     json_count(s->skipped_invalid), "cut", json_count(s->cut_words),
                     "omitted", json_count(s->omitted_words), "malformed_records",
                     json_count(s->malformed_records), "missing_records",
                     json_count(s->missing_records), "long_records",
                     json_count(s->long_records), "bytes",
                     json_count(s->dropped_bytes));
}

static json_t *checkpoint_json(const figures *f)
{
    if (!f->options->checkpoint)
        return json_null();
    double time = f->has_checkpoint ? f->checkpoint_time : (double)NAN;
    return json_pack(
        "{s:o, s:b, s:o, s:o, s:o, s:f, s:f, s:o, s:o}", "path",
        json_word(f->options->checkpoint), "running", f->saving, "time",
        json_number(time), "age_seconds", json_number(wall_seconds() - time), "bytes",
        json_count(f->checkpoint_bytes), "pause_seconds", f->pause, "seconds",
        f->safe_after, "failures", json_count(f->failures), "failure",
        *failure_of(f) ? json_word(failure_of(f)) : json_null());
}

static json_t *parameter_json(const tide_params *params, const char *name)
{
    char text[256];
    if (tide_params_text(params, name, text, sizeof text) < 0)
        return json_null();
    char *end;
    json_int_t exact =
        strtoll(text, &end, 10); /* a seed has more digits than a double */
    if (*text && *end)
        exact = (json_int_t)strtod(text, &end);
    return *text && !*end ? json_integer(exact) : json_word(text);
}

static json_t *model_json(const figures *f)
{
    static const char *const names[] = {"dim", "profile", "threads", "seed", "window"};
    const tide_params *params = tide_trainer_params(f->options->trainer);
    json_t *model = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set_new(model, names[i], parameter_json(params, names[i]));
    json_object_set_new(model, "subwords", parameter_json(params, "subword"));
    json_object_set_new(model, "half_life", parameter_json(params, "half-life"));
    json_object_set_new(model, "vectors", json_string("input"));
    json_object_set_new(model, "centred", json_true());
    return model;
}

static const char *kind_of(const char *source)
{
    static const char *const kinds[][2] = {
        {"demo:", "demo"}, {"feed:", "http"}, {"kafka:", "kafka"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(source, kinds[i][0], strlen(kinds[i][0])))
            return kinds[i][1];
    return !strcmp(source, "-") ? "pipe" : "file";
}

static json_t *sources_json(const figures *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->options->source_count; i++)
        json_array_append_new(list, json_pack("{s:o, s:s}", "name",
                                              json_word(f->options->sources[i]), "kind",
                                              kind_of(f->options->sources[i])));
    return list;
}

static json_t *history_json(const figures *f)
{
    double ages[TIDE_HISTORY_SNAPSHOTS_MAX];
    uint32_t rungs = tide_history_ages(f->options->history, ages);
    json_t *list = json_array();
    for (uint32_t i = 0; i < rungs; i++)
        json_array_append_new(list, json_number(ages[i]));
    return json_pack("{s:o, s:o, s:f}", "followed",
                     json_count(tide_history_followed(f->options->history)), "ages",
                     list, "baseline_in", tide_history_baseline(f->options->history));
}

json_t *figures_json(figures *f)
{
    json_t *history = history_json(f); /* has a lock of its own */
    pthread_mutex_lock(&f->lock);
    const tide_stats *s = &f->stats;
    json_t *all = json_pack(
        "{s:s, s:f, s:f, s:o, s:o, s:f, s:o, s:o, s:o, s:o}", "version", tide_version(),
        "started", f->started, "now", wall_seconds(), "stream_time",
        json_number(s->time), "tokens", json_count(s->tokens), "words_per_second",
        f->words_rate, "sentences", json_count(s->sentences), "bytes",
        json_count(s->bytes), "trained", json_count(s->trained), "loss",
        s->loss > 0 ? json_number(s->loss) : json_null());
    json_object_set_new(all, "vocabulary", vocabulary_json(f));
    json_object_set_new(all, "skipped", skipped_json(s));
    json_object_set_new(all, "memory", memory_json(f));
    json_object_set_new(all, "queue",
                        json_pack("{s:o, s:o, s:o}", "bytes",
                                  json_count(tide_feed_waiting(f->options->feed)),
                                  "capacity_bytes",
                                  json_count(tide_feed_room(f->options->feed)),
                                  "refused", json_count(f->refused)));
    json_object_set_new(all, "checkpoint", checkpoint_json(f));
    json_object_set_new(all, "sources", sources_json(f));
    json_object_set_new(all, "model", model_json(f));
    json_object_set_new(all, "history", history);
    pthread_mutex_unlock(&f->lock);
    return all;
}

void get_stats(request *r)
{
    answer_json(r, 200, figures_json(r->server->figures));
}
