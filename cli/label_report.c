/* label_report.c - the quality of predicted labels, as rows of a table or as JSON. */
#include "label_report.h"
#include "output.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>

enum { DIGITS = 4 };

bool label_report_open(label_report *report, table_style style, bool per_label)
{
    /* The keys of JSON and TSV are those of version 0.1. */
    static const char *const keys[] = {"period",    "posts",  "labelled", "scored",
                                       "precision", "recall", "f1",       "p@1",
                                       "p@5",       "r@5",    "unknown",  NULL};
    static const char *const headings[] = {"period",    "posts",  "labeled", "scored",
                                           "precision", "recall", "f1",      "p@1",
                                           "p@5",       "r@5",    "unknown", NULL};
    static const char *const label_columns[] = {"label",  "support", "precision",
                                                "recall", "f1",      NULL};
    report->style = style;
    if (style == TABLE_JSON && !per_label)
        return true;
    report->table = table_new(style, per_label             ? label_columns
                                     : style == TABLE_TEXT ? headings
                                                           : keys);
    return report->table != NULL;
}

void label_report_close(label_report *report)
{
    table_end(report->table);
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : (double)NAN;
}

static void print_row(table *t, const char *period, const tide_scores *s)
{
    const double scores[] = {s->weighted.precision, s->weighted.recall, s->weighted.f1,
                             s->precision_at_1,     s->precision_at_5,  s->recall_at_5};
    table_text(t, period);
    table_count(t, s->posts);
    table_count(t, s->labeled);
    table_count(t, s->scored);
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
        table_real(t, s->scored ? scores[i] : (double)NAN, DIGITS);
    table_real(t, ratio(s->unknown, s->words), DIGITS);
    table_end_row(t);
}

static void json_share(tide_json_writer *w, const char *name, const tide_scores *s,
                       double value)
{
    tide_json_real(w, name, s->scored ? value : (double)NAN, MACHINE_DIGITS);
}

static void json_score(tide_json_writer *w, const tide_scores *s,
                       const tide_score *score)
{
    json_share(w, "precision", s, score->precision);
    json_share(w, "recall", s, score->recall);
    json_share(w, "f1", s, score->f1);
}

static void print_object(const char *period, const tide_scores *s)
{
    tide_json_writer w = {0};
    tide_json_object(&w, NULL);
    tide_json_text(&w, "period", period);
    tide_json_count(&w, "posts", s->posts);
    tide_json_count(&w, "labelled", s->labeled);
    tide_json_count(&w, "scored", s->scored);
    json_score(&w, s, &s->weighted);
    json_share(&w, "p@1", s, s->precision_at_1);
    json_share(&w, "p@5", s, s->precision_at_5);
    json_share(&w, "r@5", s, s->recall_at_5);
    tide_json_count(&w, "words", s->words);
    tide_json_count(&w, "unknown", s->unknown);
    tide_json_object(&w, "macro");
    json_score(&w, s, &s->macro);
    tide_json_end(&w);
    tide_json_object(&w, "micro");
    json_score(&w, s, &s->micro);
    tide_json_end(&w);
    tide_json_end(&w);
}

void label_report_print(const label_report *report, const char *period,
                        const tide_scorer *scorer)
{
    tide_scores s = tide_scorer_scores(scorer);
    if (report->style == TABLE_JSON)
        print_object(period, &s);
    else
        print_row(report->table, period, &s);
    fflush(stdout);
}

int label_report_print_labels(const label_report *report, const tide_scorer *scorer)
{
    size_t capacity = 64, count;
    tide_label_score *scores = NULL;
    do {
        capacity *= 2;
        tide_label_score *more = realloc(scores, capacity * sizeof *scores);
        if (!more) {
            free(scores);
            log_message("out of memory");
            return EXIT_FAILURE;
        }
        scores = more;
        count = tide_scorer_labels(scorer, scores, capacity);
    } while (count == capacity);
    for (size_t i = 0; i < count; i++) {
        table_text(report->table, scores[i].name);
        table_count(report->table, scores[i].support);
        table_real(report->table, scores[i].score.precision, DIGITS);
        table_real(report->table, scores[i].score.recall, DIGITS);
        table_real(report->table, scores[i].score.f1, DIGITS);
        table_end_row(report->table);
    }
    free(scores);
    return EXIT_SUCCESS;
}
