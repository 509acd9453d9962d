/* verdicts.c - how good what was told is, as rows of a table or as JSON. */
#include "verdicts.h"
#include "json.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>

enum { DIGITS = 4 };

bool verdicts_open(verdicts *all, table_style style, bool per_label)
{
    static const char *const columns[] = {"period",    "posts",  "labelled", "scored",
                                          "precision", "recall", "f1",       "p@1",
                                          "p@5",       "r@5",    "unknown",  NULL};
    static const char *const label_columns[] = {"label",  "support", "precision",
                                                "recall", "f1",      NULL};
    all->style = style;
    if (style == TABLE_JSON && !per_label)
        return true;
    all->table = table_new(style, per_label ? label_columns : columns);
    return all->table != NULL;
}

void verdicts_close(verdicts *all)
{
    table_end(all->table);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : (double)NAN;
}

static void print_row(table *t, const char *period, const tide_scores *v)
{
    const double scores[] = {v->weighted.precision, v->weighted.recall, v->weighted.f1,
                             v->precision_at_1,     v->precision_at_5,  v->recall_at_5};
    table_text(t, period);
    table_count(t, v->posts);
    table_count(t, v->labeled);
    table_count(t, v->scored);
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
        table_real(t, v->scored ? scores[i] : (double)NAN, DIGITS);
    table_real(t, share(v->unknown, v->words), DIGITS);
    table_end_row(t);
}

static void json_share(json_writer *w, const char *name, const tide_scores *v,
                       double value)
{
    out_real(w, name, v->scored ? value : (double)NAN, MACHINE_DIGITS);
}

static void json_score(json_writer *w, const tide_scores *v, const tide_score *score)
{
    json_share(w, "precision", v, score->precision);
    json_share(w, "recall", v, score->recall);
    json_share(w, "f1", v, score->f1);
}

static void print_object(const char *period, const tide_scores *v)
{
    json_writer w = {0};
    out_object(&w, NULL);
    out_text(&w, "period", period);
    out_count(&w, "posts", v->posts);
    out_count(&w, "labelled", v->labeled);
    out_count(&w, "scored", v->scored);
    json_score(&w, v, &v->weighted);
    json_share(&w, "p@1", v, v->precision_at_1);
    json_share(&w, "p@5", v, v->precision_at_5);
    json_share(&w, "r@5", v, v->recall_at_5);
    out_count(&w, "words", v->words);
    out_count(&w, "unknown", v->unknown);
    out_object(&w, "macro");
    json_score(&w, v, &v->macro);
    out_end(&w);
    out_object(&w, "micro");
    json_score(&w, v, &v->micro);
    out_end(&w);
    out_end(&w);
}

void verdicts_print(const verdicts *all, const char *period, const tide_scorer *judge)
{
    tide_scores v = tide_scorer_scores(judge);
    if (all->style == TABLE_JSON)
        print_object(period, &v);
    else
        print_row(all->table, period, &v);
    fflush(stdout);
}

int verdicts_print_labels(const verdicts *all, const tide_scorer *judge)
{
    size_t room = 64, count;
    tide_label_score *scores = NULL;
    do {
        room *= 2;
        tide_label_score *more = realloc(scores, room * sizeof *scores);
        if (!more) {
            free(scores);
            complain("out of memory");
            return EXIT_FAILURE;
        }
        scores = more;
        count = tide_scorer_labels(judge, scores, room);
    } while (count == room);
    for (size_t i = 0; i < count; i++) {
        table_text(all->table, scores[i].name);
        table_count(all->table, scores[i].support);
        table_real(all->table, scores[i].score.precision, DIGITS);
        table_real(all->table, scores[i].score.recall, DIGITS);
        table_real(all->table, scores[i].score.f1, DIGITS);
        table_end_row(all->table);
    }
    free(scores);
    return EXIT_SUCCESS;
}
