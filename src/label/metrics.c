/* metrics.c - precision, recall and F1 of labels, and precision of the top predictions.
 *
 * Three counts per label suffice: the posts that had it, the posts for which it was
 * predicted, and those of both. Then
 *
 *     precision = both / predicted
 *     recall    = both / had
 *     F1        = 2 both / (predicted + had)
 *
 * each 0 where it would be 0 / 0. The precision at k of a post is the share of correct
 * labels among its k most probable ones, or among all if there are fewer than k.
 */
#include "label/label.h"

#include <assert.h>
#include <stdlib.h>

enum { TOP = 5 };

typedef struct tally {
    uint64_t had, predicted, both;
    bool rated; /* had a probability at least once */
} tally;

struct tide_metrics {
    uint32_t labels;
    float threshold;
    uint64_t posts;
    uint64_t correct_at_1;
    uint64_t correct_at_top, rated_at_top; /* among the TOP: correct ones, and all */
    double found_at_top; /* sum over posts of the share of labels in the TOP */
    tally *tallies;      /* [labels] */
};

tide_metrics *tide_metrics_new(uint32_t labels, float threshold, tide_error *err)
{
    tide_metrics *m = tide_alloc(1, sizeof *m);
    if (m)
        m->threshold = threshold;
    if (m && !tide_metrics_grow(m, labels, err))
        return m;
    if (!m)
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to score %u labels", labels);
    tide_metrics_free(m);
    return NULL;
}

void tide_metrics_free(tide_metrics *m)
{
    if (m)
        free(m->tallies);
    free(m);
}

int tide_metrics_grow(tide_metrics *m, uint32_t labels, tide_error *err)
{
    tally *larger = tide_alloc(labels, sizeof *larger);
    if (!larger)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to score %u labels",
                         labels);
    if (m->labels)
        memcpy(larger, m->tallies, m->labels * sizeof *larger);
    free(m->tallies);
    m->tallies = larger;
    m->labels = labels;
    return TIDE_OK;
}

void tide_metrics_reset(tide_metrics *m)
{
    tally *tallies = m->tallies;
    memset(tallies, 0, m->labels * sizeof *tallies);
    *m = (tide_metrics){
        .labels = m->labels, .threshold = m->threshold, .tallies = tallies};
}

/* -- adding ----------------------------------------------------------------------- */

static bool contains(const uint32_t *ascending, uint32_t count, uint32_t wanted)
{
    uint32_t low = 0;
    while (low < count) {
        uint32_t middle = low + (count - low) / 2;
        if (ascending[middle] == wanted)
            return true;
        if (ascending[middle] < wanted)
            low = middle + 1;
        else
            count = middle;
    }
    return false;
}

/* Lists the most probable labels in descending order and returns their number. */
static uint32_t find_top(const float *probabilities, uint32_t labels, uint32_t top[TOP])
{
    uint32_t count = 0;
    for (uint32_t label = 0; label < labels; label++) {
        float p = probabilities[label];
        if (p < 0)
            continue;
        if (count == TOP && !(p > probabilities[top[TOP - 1]]))
            continue;
        uint32_t position = count < TOP ? count++ : TOP - 1;
        for (; position > 0 && p > probabilities[top[position - 1]]; position--)
            top[position] = top[position - 1];
        top[position] = label;
    }
    return count;
}

void tide_metrics_add(tide_metrics *m, const float *probabilities,
                      const uint32_t *truth, uint32_t truth_count)
{
    m->posts++;
    for (uint32_t label = 0; label < m->labels; label++) {
        m->tallies[label].predicted +=
            probabilities[label] >= 0 && probabilities[label] >= m->threshold;
        m->tallies[label].rated |= probabilities[label] >= 0;
    }
    for (uint32_t i = 0; i < truth_count; i++) {
        assert(truth[i] < m->labels && (i == 0 || truth[i] > truth[i - 1]));
        m->tallies[truth[i]].had++;
        m->tallies[truth[i]].both += probabilities[truth[i]] >= m->threshold;
    }
    uint32_t top[TOP] = {0}, count = find_top(probabilities, m->labels, top);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool correct = contains(truth, truth_count, top[i]);
        found += correct;
        m->correct_at_1 += correct && i == 0;
    }
    m->correct_at_top += found;
    m->rated_at_top += count;
    m->found_at_top += truth_count ? (double)found / truth_count : 0;
}

/* -- results ---------------------------------------------------------------------- */

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

static tide_score score_of(const tally *t)
{
    return (tide_score){
        .precision = share(t->both, t->predicted),
        .recall = share(t->both, t->had),
        .f1 = share(2 * t->both, t->predicted + t->had),
    };
}

tide_score tide_metrics_label(const tide_metrics *m, uint32_t label, uint64_t *support)
{
    *support = m->tallies[label].had;
    return score_of(&m->tallies[label]);
}

static void add_score(tide_score *sum, const tide_score *score, double weight)
{
    sum->precision += weight * score->precision;
    sum->recall += weight * score->recall;
    sum->f1 += weight * score->f1;
}

tide_scores tide_metrics_total(const tide_metrics *m)
{
    tide_scores total = {.scored = m->posts};
    tally all = {0};
    uint32_t rated = 0;
    for (uint32_t label = 0; label < m->labels; label++) {
        rated += m->tallies[label].rated;
        all.had += m->tallies[label].had;
        all.predicted += m->tallies[label].predicted;
        all.both += m->tallies[label].both;
    }
    for (uint32_t label = 0; label < m->labels; label++) {
        tide_score score = score_of(&m->tallies[label]);
        add_score(&total.weighted, &score, share(m->tallies[label].had, all.had));
        if (m->tallies[label].rated)
            add_score(&total.macro, &score, 1.0 / rated);
    }
    total.truths = all.had;
    total.micro = score_of(&all);
    total.precision_at_1 = share(m->correct_at_1, m->posts);
    total.precision_at_5 = share(m->correct_at_top, m->rated_at_top);
    total.recall_at_5 = m->posts ? m->found_at_top / (double)m->posts : 0;
    return total;
}
