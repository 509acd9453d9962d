/* status.c - counters, rates, memory and health, and their JSON. */
#include "status.h"

#include "answer.h"
#include "handlers.h"
#include "process.h"
#include "server_internal.h"

#include "base/base.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STUCK_SECONDS = 30 };

const double latency_bounds[LATENCY_BUCKETS] = {0.001, 0.005, 0.01, 0.025,
                                                0.05,  0.1,   1,    (double)INFINITY};

/* -- memory ------------------------------------------------------------------------ */

enum {
    SERVER_PARTS = 4,
    REQUESTS_BYTES = 64 << 20, /* of requests and responses in progress */
};

static int list_server_parts(const tide_params *params, const server_needs *needs,
                             tide_part parts[SERVER_PARTS])
{
    parts[0] = (tide_part){"questions", tide_live_bytes(params)};
    parts[1] = (tide_part){"history", tide_history_bytes(params, needs->history)};
    parts[2] = (tide_part){"requests", REQUESTS_BYTES};
    parts[3] = (tide_part){"queue", needs->queue};
    return needs->queue ? SERVER_PARTS : SERVER_PARTS - 1;
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
    tide_part parts[SERVER_PARTS];
    int count = list_server_parts(params, needs, parts);
    return sum_parts(parts, count);
}

static uint64_t budget_bytes(const server_status *st)
{
    return sum_parts(st->parts, st->part_count);
}

/* If more is resident than the parts explain, the difference is counted as part of the
 * program: everything else is allocated before the server starts, except for the memory
 * of requests. */
static void list_parts(server_status *st)
{
    const server_options *o = st->options;
    const tide_params *params = tide_trainer_params(o->trainer);
    st->part_count = tide_trainer_budget(o->trainer, st->parts);
    tide_part *program = &st->parts[st->part_count - 1];
    assert(st->part_count + SERVER_PARTS <= TIDE_PARTS_MAX);
    st->part_count += list_server_parts(params, &o->needs, st->parts + st->part_count);
    uint64_t resident = resident_bytes(), expected = budget_bytes(st) - REQUESTS_BYTES;
    if (resident > expected)
        program->bytes += resident - expected;
}

int status_budget(const server_status *st, tide_part parts[TIDE_PARTS_MAX])
{
    memcpy(parts, st->parts, sizeof st->parts);
    return st->part_count;
}

/* -- rates ------------------------------------------------------------------------- */

static void add_sample(server_status *st, double time)
{
    const tide_stats *s = &st->stats;
    st->samples[st->sample_count++ % RATE_SAMPLES] =
        (rate_sample){.time = time,
                      .tokens = s->tokens,
                      .admitted = s->admitted,
                      .evicted = s->evicted};
}

static double rate_per_second(uint64_t now, uint64_t before, double seconds)
{
    return now > before ? (double)(now - before) / seconds : 0;
}

/* Means over the last seconds with equal weights, so that they are 0 a few seconds
 * after the text has ended. */
static void measure_rates(server_status *st, double time)
{
    const rate_sample *oldest =
        &st->samples[st->sample_count < RATE_SAMPLES ? 0
                                                     : st->sample_count % RATE_SAMPLES];
    /* `oldest` is the next slot to be overwritten, once the ring is full. */
    double seconds = time - oldest->time;
    if (!(seconds > 0))
        return;
    st->tokens_rate = rate_per_second(st->stats.tokens, oldest->tokens, seconds);
    st->admitted_rate = rate_per_second(st->stats.admitted, oldest->admitted, seconds);
    st->evicted_rate = rate_per_second(st->stats.evicted, oldest->evicted, seconds);
}

/* -- creation ---------------------------------------------------------------------- */

server_status *status_new(const server_options *options)
{
    server_status *st = calloc(1, sizeof *st);
    if (!st)
        return NULL;
    st->options = options;
    st->start_time = tide_wall_seconds();
    st->heartbeat = tide_now_seconds();
    list_parts(st);
    tide_live_stats(options->live, &st->stats, sizeof st->stats);
    add_sample(st, tide_now_seconds());
    pthread_mutex_init(&st->lock, NULL);
    return st;
}

void status_free(server_status *st)
{
    if (st)
        pthread_mutex_destroy(&st->lock);
    free(st);
}

/* -- events ------------------------------------------------------------------------ */

void status_sample(server_status *st)
{
    tide_stats now;
    tide_live_stats(st->options->live, &now, sizeof now);
    double time = tide_now_seconds();
    pthread_mutex_lock(&st->lock);
    st->stats = now;
    measure_rates(st, time);
    add_sample(st, time);
    pthread_mutex_unlock(&st->lock);
}

void status_record_checkpoint(server_status *st, const tide_checkpoint *c)
{
    pthread_mutex_lock(&st->lock);
    st->saving = false;
    if (c->error) {
        st->save_failures++;
        snprintf(st->checkpoint_error, sizeof st->checkpoint_error, "%s", c->error);
    } else {
        st->has_checkpoint = true;
        st->checkpoint_time = tide_wall_seconds();
        st->checkpoint_bytes = c->bytes;
        st->checkpoint_pause = c->pause_seconds;
        st->checkpoint_seconds = c->seconds;
        *st->checkpoint_error = 0;
    }
    pthread_mutex_unlock(&st->lock);
}

void status_heartbeat(server_status *st, bool saving)
{
    /* Atomic and set without the lock, so that the health check needs none either. */
    st->heartbeat = tide_now_seconds();
    pthread_mutex_lock(&st->lock);
    st->saving = saving;
    pthread_mutex_unlock(&st->lock);
}

void status_count_rejected(server_status *st, uint64_t bytes)
{
    pthread_mutex_lock(&st->lock);
    st->rejected_bytes += bytes;
    pthread_mutex_unlock(&st->lock);
}

void status_count_alarm(server_status *st, tide_alarm_kind kind)
{
    pthread_mutex_lock(&st->lock);
    st->alarms[kind]++;
    pthread_mutex_unlock(&st->lock);
}

void status_set_export(server_status *st, uint64_t bytes)
{
    pthread_mutex_lock(&st->lock);
    st->export_bytes = bytes;
    pthread_mutex_unlock(&st->lock);
}

void status_record_history_save(server_status *st, const char *error)
{
    pthread_mutex_lock(&st->lock);
    st->save_failures += error != NULL;
    snprintf(st->history_error, sizeof st->history_error, "%s", error ? error : "");
    pthread_mutex_unlock(&st->lock);
}

void status_record_request(server_status *st, const request *r)
{
    size_t number = r->route ? (size_t)(r->route - routes) : route_count;
    int status_class = r->status / 100 - 2;
    double seconds = tide_now_seconds() - r->start_time;
    if (number >= ROUTES_MAX || status_class < 0 || status_class >= STATUS_CLASSES)
        return;
    pthread_mutex_lock(&st->lock);
    latencies *l = &st->requests[number][status_class];
    l->count++;
    l->seconds += seconds;
    /* Cumulative, as Prometheus defines histograms. */
    for (int i = 0; i < LATENCY_BUCKETS; i++)
        l->buckets[i] += seconds <= latency_bounds[i];
    pthread_mutex_unlock(&st->lock);
}

/* -- health ------------------------------------------------------------------------ */

bool status_is_stuck(const server_status *st)
{
    return tide_now_seconds() - st->heartbeat >= STUCK_SECONDS;
}

/* Returns the error of the last save; "" if it succeeded. The lock is held. */
static const char *save_error(const server_status *st)
{
    return *st->checkpoint_error ? st->checkpoint_error : st->history_error;
}

bool status_is_degraded(server_status *st, char *why, size_t why_size)
{
    pthread_mutex_lock(&st->lock);
    snprintf(why, why_size, "%s", save_error(st));
    pthread_mutex_unlock(&st->lock);
    return *why;
}

void get_health(request *r)
{
    bool stuck = status_is_stuck(r->server->status);
    answer_json(r, stuck ? 503 : 200,
                json_pack("{s:s}", "status", stuck ? "stuck" : "ok"));
}

void get_ready(request *r)
{
    char why[256];
    if (r->server->draining)
        answer_json(r, 503, json_pack("{s:s}", "status", "stopping"));
    else if (status_is_degraded(r->server->status, why, sizeof why))
        answer_json(
            r, 503,
            json_pack("{s:s, s:o}", "status", "degraded", "detail", json_word(why)));
    else
        answer_json(r, 200, json_pack("{s:s}", "status", "ready"));
}

/* -- JSON -------------------------------------------------------------------------- */

int status_memory_parts(const server_status *st, tide_part parts[MEMORY_PARTS_MAX])
{
    memcpy(parts, st->parts, (size_t)st->part_count * sizeof *parts);
    parts[st->part_count] = (tide_part){"export", st->export_bytes};
    return st->part_count + 1;
}

static json_t *memory_json(const server_status *st)
{
    tide_part parts[MEMORY_PARTS_MAX];
    int part_count = status_memory_parts(st, parts);
    json_t *list = json_array();
    for (int i = 0; i < part_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:o}", "name", parts[i].name,
                                              "bytes", json_count(parts[i].bytes)));
    return json_pack("{s:o, s:o, s:o}", "budget_bytes",
                     json_count(budget_bytes(st) + st->export_bytes), "resident_bytes",
                     json_count(resident_bytes()), "parts", list);
}

static json_t *vocabulary_json(const server_status *st)
{
    const tide_stats *s = &st->stats;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f}", "size",
                     json_count(s->vocabulary), "capacity", json_count(s->capacity),
                     "minimum_count", json_count(s->minimum_count), "admitted",
                     json_count(s->admitted), "evicted", json_count(s->evicted),
                     "rejected", json_count(s->rejected), "admitted_per_second",
                     st->admitted_rate, "evicted_per_second", st->evicted_rate);
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

static json_t *checkpoint_json(const server_status *st)
{
    if (!st->options->checkpoint)
        return json_null();
    double time = st->has_checkpoint ? st->checkpoint_time : (double)NAN;
    return json_pack("{s:o, s:b, s:o, s:o, s:o, s:f, s:f, s:o, s:o}", "path",
                     json_word(st->options->checkpoint), "running", st->saving, "time",
                     json_number(time), "age_seconds",
                     json_number(tide_wall_seconds() - time), "bytes",
                     json_count(st->checkpoint_bytes), "pause_seconds",
                     st->checkpoint_pause, "seconds", st->checkpoint_seconds,
                     "failures", json_count(st->save_failures), "failure",
                     *save_error(st) ? json_word(save_error(st)) : json_null());
}

static json_t *parameter_json(const tide_params *params, const char *name)
{
    char text[256];
    if (tide_params_text(params, name, text, sizeof text) < 0)
        return json_null();
    char *end;
    json_int_t exact =
        strtoll(text, &end, 10); /* a seed may exceed the 53 bits of a double */
    if (*text && *end)
        exact = (json_int_t)strtod(text, &end);
    return *text && !*end ? json_integer(exact) : json_word(text);
}

static json_t *model_json(const server_status *st)
{
    static const char *const names[] = {"dim", "profile", "threads", "seed", "window"};
    const tide_params *params = tide_trainer_params(st->options->trainer);
    json_t *model = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set_new(model, names[i], parameter_json(params, names[i]));
    json_object_set_new(model, "subwords", parameter_json(params, "subword"));
    json_object_set_new(model, "half_life", parameter_json(params, "half-life"));
    json_object_set_new(model, "vectors", json_string("input"));
    json_object_set_new(model, "centred", json_true());
    return model;
}

static const char *source_kind(const char *source)
{
    static const char *const kinds[][2] = {
        {"demo:", "demo"}, {"feed:", "http"}, {"kafka:", "kafka"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(source, kinds[i][0], strlen(kinds[i][0])))
            return kinds[i][1];
    return !strcmp(source, "-") ? "pipe" : "file";
}

static json_t *sources_json(const server_status *st)
{
    json_t *list = json_array();
    for (size_t i = 0; i < st->options->source_count; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:s}", "name", json_word(st->options->sources[i]),
                            "kind", source_kind(st->options->sources[i])));
    return list;
}

static json_t *history_json(const server_status *st)
{
    double ages[TIDE_HISTORY_SNAPSHOTS_MAX];
    uint32_t count = tide_history_ages(st->options->history, ages);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, json_number(ages[i]));
    return json_pack("{s:o, s:o, s:f}", "followed",
                     json_count(tide_history_tracked(st->options->history)), "ages",
                     list, "baseline_in", tide_history_baseline(st->options->history));
}

json_t *status_json(server_status *st)
{
    json_t *history = history_json(st); /* takes a lock of its own, so before ours */
    pthread_mutex_lock(&st->lock);
    const tide_stats *s = &st->stats;
    json_t *status = json_pack(
        "{s:s, s:f, s:f, s:o, s:o, s:f, s:o, s:o, s:o, s:o}", "version", tide_version(),
        "started", st->start_time, "now", tide_wall_seconds(), "stream_time",
        json_number(s->time), "tokens", json_count(s->tokens), "words_per_second",
        st->tokens_rate, "sentences", json_count(s->sentences), "bytes",
        json_count(s->bytes), "trained", json_count(s->trained), "loss",
        s->loss > 0 ? json_number(s->loss) : json_null());
    json_object_set_new(status, "vocabulary", vocabulary_json(st));
    json_object_set_new(status, "skipped", skipped_json(s));
    json_object_set_new(status, "memory", memory_json(st));
    json_object_set_new(status, "queue",
                        json_pack("{s:o, s:o, s:o}", "bytes",
                                  json_count(tide_feed_waiting(st->options->feed)),
                                  "capacity_bytes",
                                  json_count(tide_feed_capacity(st->options->feed)),
                                  "refused", json_count(st->rejected_bytes)));
    json_object_set_new(status, "checkpoint", checkpoint_json(st));
    json_object_set_new(status, "sources", sources_json(st));
    json_object_set_new(status, "model", model_json(st));
    json_object_set_new(status, "history", history);
    pthread_mutex_unlock(&st->lock);
    return status;
}

void get_stats(request *r)
{
    answer_json(r, 200, status_json(r->server->status));
}
