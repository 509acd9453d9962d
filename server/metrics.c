/* metrics.c - the same figures for Prometheus. No label has a word of the stream in it: their number is fixed. */
#include "figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void begin(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP wordtide_%s %s\n# TYPE wordtide_%s %s\n", name, help, name,
            type);
}

static void counter(FILE *out, const char *name, const char *help, uint64_t value)
{
    begin(out, name, "counter", help);
    fprintf(out, "wordtide_%s %" PRIu64 "\n", name, value);
}

static void gauge(FILE *out, const char *name, const char *help, double value)
{
    begin(out, name, "gauge", help);
    fprintf(out, "wordtide_%s %.17g\n", name, value);
}

static void write_text(FILE *out, const tide_stats *s)
{
    counter(out, "tokens_total", "Words read.", s->tokens);
    counter(out, "sentences_total", "Sentences read.", s->sentences);
    counter(out, "bytes_total", "Bytes of text read.", s->bytes);
    counter(out, "updates_total", "Center words trained, repeats included.",
            s->trained);
    counter(out, "oov_contexts_total", "Words read that the vocabulary did not hold.",
            s->rejected);
    begin(out, "skipped_total", "counter", "What was left out, by reason.");
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
        gauge(out, "loss", "Mean loss of a pair of new text, lately.", s->loss);
    if (!isnan(s->time))
        gauge(out, "stream_timestamp_seconds", "Time of the last record.", s->time);
}

static void write_vocabulary(FILE *out, const tide_stats *s)
{
    gauge(out, "vocab_size", "Words held.", (double)s->vocabulary);
    gauge(out, "vocab_capacity", "Words that can be held.", (double)s->capacity);
    gauge(out, "vocab_min_occurrences",
          "Bound on the count of any word that is not held.", (double)s->minimum_count);
    counter(out, "vocab_admissions_total", "Words that entered.", s->admitted);
    counter(out, "vocab_evictions_total", "Words that had to leave.", s->evicted);
    counter(out, "healed_total", "Vectors that were not numbers and were begun again.",
            s->healed);
}

static void write_memory(FILE *out, const figures *f)
{
    tide_part parts[MEMORY_PARTS_MAX];
    int part_count = figures_memory(f, parts);
    begin(out, "memory_bytes", "gauge", "Memory promised, by part.");
    for (int i = 0; i < part_count; i++)
        fprintf(out, "wordtide_memory_bytes{part=\"%s\"} %" PRIu64 "\n", parts[i].name,
                parts[i].bytes);
}

/* Under the names that all programs use. */
static void write_process(FILE *out, const figures *f)
{
    fprintf(out,
            "# HELP process_resident_memory_bytes Memory in use.\n"
            "# TYPE process_resident_memory_bytes gauge\n"
            "process_resident_memory_bytes %" PRIu64 "\n"
            "# HELP process_start_time_seconds When the process began.\n"
            "# TYPE process_start_time_seconds gauge\n"
            "process_start_time_seconds %.17g\n",
            resident_bytes(), f->started);
}

static void write_checkpoints(FILE *out, const figures *f)
{
    counter(out, "checkpoint_failures_total", "Checkpoints that could not be written.",
            f->failures);
    if (!f->has_checkpoint)
        return;
    gauge(out, "checkpoint_timestamp_seconds", "When the last one was safe.",
          f->checkpoint_time);
    gauge(out, "checkpoint_pause_seconds", "How long learning stood still for it.",
          f->pause);
    gauge(out, "checkpoint_duration_seconds", "How long it took to be safe.",
          f->pause + f->safe_after);
}

static void write_queue(FILE *out, const figures *f)
{
    gauge(out, "queue_bytes", "Text that was sent and waits to be read.",
          (double)tide_feed_waiting(f->options->feed));
    counter(out, "queue_refused_bytes_total", "Text sent that there was no room for.",
            f->refused);
}

static void write_alarms(FILE *out, const figures *f)
{
    begin(out, "alarms_total", "counter", "Words that came, went, rose or moved.");
    for (int kind = 0; kind < TIDE_ALARM_KINDS; kind++)
        fprintf(out, "wordtide_alarms_total{kind=\"%s\"} %" PRIu64 "\n",
                tide_alarm_name((tide_alarm_kind)kind), f->alarms[kind]);
}

static void write_requests_of(FILE *out, const latencies *l, const char *name,
                              int class)
{
    static const char form[] =
        "wordtide_http_request_duration_seconds_%s{route=\"%s\",code=\"%dxx\"";
    for (int i = 0; i < BUCKETS; i++) {
        fprintf(out, form, "bucket", name, class + 2);
        if (isfinite(figures_bounds[i]))
            fprintf(out, ",le=\"%g\"} %" PRIu64 "\n", figures_bounds[i], l->buckets[i]);
        else
            fprintf(out, ",le=\"+Inf\"} %" PRIu64 "\n", l->buckets[i]);
    }
    fprintf(out, form, "sum", name, class + 2);
    fprintf(out, "} %.9g\n", l->seconds);
    fprintf(out, form, "count", name, class + 2);
    fprintf(out, "} %" PRIu64 "\n", l->count);
}

static void write_requests(FILE *out, const figures *f)
{
    begin(out, "http_request_duration_seconds", "histogram",
          "Time to answer, by route and kind of status.");
    for (size_t i = 0; i <= route_count; i++)
        for (int class = 0; class < CLASSES; class ++)
            if (f->requests[i][class].count) {
                char name[64];
                snprintf(name, sizeof name, "%s%s%s",
                         i < route_count ? routes[i].method : "none",
                         i < route_count ? " " : "",
                         i < route_count ? routes[i].path : "");
                write_requests_of(out, &f->requests[i][class], name, class);
            }
}

char *figures_metrics(figures *f, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out)
        return NULL;
    pthread_mutex_lock(&f->lock);
    begin(out, "build_info", "gauge", "The version that runs.");
    fprintf(out, "wordtide_build_info{version=\"%s\"} 1\n", tide_version());
    write_text(out, &f->stats);
    write_vocabulary(out, &f->stats);
    write_memory(out, f);
    write_process(out, f);
    write_checkpoints(out, f);
    write_queue(out, f);
    write_alarms(out, f);
    write_requests(out, f);
    pthread_mutex_unlock(&f->lock);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void get_metrics(request *r)
{
    size_t size;
    char *text = figures_metrics(r->server->figures, &size);
    answer_text(r, 200, "text/plain; version=0.0.4; charset=utf-8", text,
                text ? size : 0);
}
