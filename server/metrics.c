/* metrics.c - the status in the text format of Prometheus.
 *
 * No label contains a word of the stream, so the number of time series is fixed.
 */
#include "answer.h"
#include "handlers.h"
#include "process.h"
#include "server_internal.h"
#include "status.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_header(FILE *out, const char *name, const char *type,
                         const char *help)
{
    fprintf(out, "# HELP wordtide_%s %s\n# TYPE wordtide_%s %s\n", name, help, name,
            type);
}

static void write_counter(FILE *out, const char *name, const char *help, uint64_t value)
{
    write_header(out, name, "counter", help);
    fprintf(out, "wordtide_%s %" PRIu64 "\n", name, value);
}

static void write_gauge(FILE *out, const char *name, const char *help, double value)
{
    write_header(out, name, "gauge", help);
    fprintf(out, "wordtide_%s %.17g\n", name, value);
}

static void write_text(FILE *out, const tide_stats *s)
{
    write_counter(out, "tokens_total", "Words read.", s->tokens);
    write_counter(out, "sentences_total", "Sentences read.", s->sentences);
    write_counter(out, "bytes_total", "Bytes of text read.", s->bytes);
    write_counter(out, "updates_total", "Center words trained, repeats included.",
                  s->trained);
    write_counter(out, "oov_contexts_total",
                  "Words read that were not in the vocabulary.", s->rejected);
    write_header(out, "skipped_total", "counter", "Input left out, by reason.");
    const struct {
        const char *reason;
        uint64_t count;
    } skipped[] = {{"invalid", s->skipped_invalid},
                   {"cut", s->cut_words},
                   {"omitted", s->omitted_words},
                   {"malformed_record", s->malformed_records},
                   {"missing_record", s->missing_records},
                   {"long_record", s->long_records}};
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        fprintf(out, "wordtide_skipped_total{reason=\"%s\"} %" PRIu64 "\n",
                skipped[i].reason, skipped[i].count);
    if (s->loss > 0)
        write_gauge(out, "loss", "Recent mean loss per pair of new text.", s->loss);
    if (!isnan(s->time))
        write_gauge(out, "stream_timestamp_seconds", "Time of the last record.",
                    s->time);
}

static void write_vocabulary(FILE *out, const tide_stats *s)
{
    write_gauge(out, "vocab_size", "Words in the vocabulary.", (double)s->vocabulary);
    write_gauge(out, "vocab_capacity", "Capacity of the vocabulary.",
                (double)s->capacity);
    write_gauge(out, "vocab_min_occurrences",
                "Bound on the count of any word not in the vocabulary.",
                (double)s->minimum_count);
    write_counter(out, "vocab_admissions_total", "Words admitted to the vocabulary.",
                  s->admitted);
    write_counter(out, "vocab_evictions_total", "Words evicted from the vocabulary.",
                  s->evicted);
    write_counter(out, "healed_total",
                  "Vectors with NaN or infinity that were reinitialized.", s->repaired);
}

static void write_memory(FILE *out, const server_status *st)
{
    tide_part parts[MEMORY_PARTS_MAX];
    int part_count = status_memory_parts(st, parts);
    write_header(out, "memory_bytes", "gauge", "Memory budget, by part.");
    for (int i = 0; i < part_count; i++)
        fprintf(out, "wordtide_memory_bytes{part=\"%s\"} %" PRIu64 "\n", parts[i].name,
                parts[i].bytes);
}

/* Under the standard names of Prometheus clients. */
static void write_process(FILE *out, const server_status *st)
{
    fprintf(out,
            "# HELP process_resident_memory_bytes Resident memory.\n"
            "# TYPE process_resident_memory_bytes gauge\n"
            "process_resident_memory_bytes %" PRIu64 "\n"
            "# HELP process_start_time_seconds Start time of the process.\n"
            "# TYPE process_start_time_seconds gauge\n"
            "process_start_time_seconds %.17g\n",
            resident_bytes(), st->start_time);
}

static void write_checkpoints(FILE *out, const server_status *st)
{
    write_counter(out, "checkpoint_failures_total",
                  "Checkpoints that could not be written.", st->save_failures);
    if (!st->has_checkpoint)
        return;
    write_gauge(out, "checkpoint_timestamp_seconds",
                "Time of the last successful checkpoint.", st->checkpoint_time);
    write_gauge(out, "checkpoint_pause_seconds",
                "How long the last checkpoint paused training.", st->checkpoint_pause);
    write_gauge(out, "checkpoint_duration_seconds",
                "How long the last checkpoint took.",
                st->checkpoint_pause + st->checkpoint_seconds);
}

static void write_queue(FILE *out, const server_status *st)
{
    write_gauge(out, "queue_bytes", "Text received that waits to be read.",
                (double)tide_feed_waiting(st->options->feed));
    write_counter(out, "queue_refused_bytes_total",
                  "Text rejected because the queue was full.", st->rejected_bytes);
}

static void write_alarms(FILE *out, const server_status *st)
{
    write_header(out, "alarms_total", "counter", "Alarms about words, by kind.");
    for (int kind = 0; kind < TIDE_ALARM_KINDS; kind++)
        fprintf(out, "wordtide_alarms_total{kind=\"%s\"} %" PRIu64 "\n",
                tide_alarm_name((tide_alarm_kind)kind), st->alarms[kind]);
}

static void write_latencies(FILE *out, const latencies *l, const char *name,
                            int status_class)
{
    static const char form[] =
        "wordtide_http_request_duration_seconds_%s{route=\"%s\",code=\"%dxx\"";
    for (int i = 0; i < LATENCY_BUCKETS; i++) {
        fprintf(out, form, "bucket", name, status_class + 2);
        if (isfinite(latency_bounds[i]))
            fprintf(out, ",le=\"%g\"} %" PRIu64 "\n", latency_bounds[i], l->buckets[i]);
        else
            fprintf(out, ",le=\"+Inf\"} %" PRIu64 "\n", l->buckets[i]);
    }
    fprintf(out, form, "sum", name, status_class + 2);
    fprintf(out, "} %.9g\n", l->seconds);
    fprintf(out, form, "count", name, status_class + 2);
    fprintf(out, "} %" PRIu64 "\n", l->count);
}

static void write_requests(FILE *out, const server_status *st)
{
    write_header(out, "http_request_duration_seconds", "histogram",
                 "Time to answer, by route and status class.");
    for (size_t i = 0; i <= route_count; i++)
        for (int status_class = 0; status_class < STATUS_CLASSES; status_class++)
            if (st->requests[i][status_class].count) {
                char name[64];
                snprintf(name, sizeof name, "%s%s%s",
                         i < route_count ? routes[i].method : "none",
                         i < route_count ? " " : "",
                         i < route_count ? routes[i].path : "");
                write_latencies(out, &st->requests[i][status_class], name,
                                status_class);
            }
}

char *status_metrics(server_status *st, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out)
        return NULL;
    pthread_mutex_lock(&st->lock);
    write_header(out, "build_info", "gauge", "The running version.");
    fprintf(out, "wordtide_build_info{version=\"%s\"} 1\n", tide_version());
    write_text(out, &st->stats);
    write_vocabulary(out, &st->stats);
    write_memory(out, st);
    write_process(out, st);
    write_checkpoints(out, st);
    write_queue(out, st);
    write_alarms(out, st);
    write_requests(out, st);
    pthread_mutex_unlock(&st->lock);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void get_metrics(request *r)
{
    size_t size;
    char *text = status_metrics(r->server->status, &size);
    answer_text(r, 200, "text/plain; version=0.0.4; charset=utf-8", text,
                text ? size : 0);
}
