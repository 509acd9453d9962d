/* metrics.c - precision, recall and F1 of labels, and how good the first suggestions are.
 *
 * Three counts a label are all that is needed: the posts that had it, the posts for which it was
 * predicted, and those of both. Then
 *
 *     precision = both / predicted,  recall = both / had,  F1 = 2 both / (predicted + had),
 *
 * each 0 where it would be 0 / 0. The precision at k of a post is the share of right labels among its k
 * most probable ones, or among all when there are fewer than k.
 */
#include "label/label.h"

#include <assert.h>
#include <stdlib.h>

enum { TOP = 5 };

typedef struct tally {
    uint64_t had, predicted, both;
    bool told; /* has had a probability */
} tally;

struct tide_metrics {
    uint32_t labels;
    float threshold;
    uint64_t posts;
    uint64_t right_at_1;
    uint64_t right_at_top, told_at_top; /* among the most probable: right, and all */
    double found_at_top; /* sum over posts of the share of their labels that is there */
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
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to judge %u labels", labels);
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
    tally *more = tide_alloc(labels, sizeof *more);
    if (!more)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to judge %u labels",
                         labels);
    if (m->labels)
        memcpy(more, m->tallies, m->labels * sizeof *more);
    free(m->tallies);
    m->tallies = more;
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

/* -- adding ------------------------------------------------------------------------------------------ */

static bool contains(const uint32_t *rising, uint32_t count, uint32_t wanted)
{
    uint32_t low = 0;
    while (low < count) {
        uint32_t middle = low + (count - low) / 2;
        if (rising[middle] == wanted)
            return true;
        if (rising[middle] < wanted)
            low = middle + 1;
        else
            count = middle;
    }
    return false;
}

/* The most probable labels in their order; returns how many there are. */
static uint32_t find_top(const float *probabilities, uint32_t labels, uint32_t top[TOP])
{
    uint32_t count = 0;
    for (uint32_t label = 0; label < labels; label++) {
        float p = probabilities[label];
        if (p < 0)
            continue;
        if (count == TOP && !(p > probabilities[top[TOP - 1]]))
            continue;
        uint32_t place = count < TOP ? count++ : TOP - 1;
        for (; place > 0 && p > probabilities[top[place - 1]]; place--)
            top[place] = top[place - 1];
        top[place] = label;
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
        m->tallies[label].told |= probabilities[label] >= 0;
    }
    for (uint32_t i = 0; i < truth_count; i++) {
        assert(truth[i] < m->labels && (i == 0 || truth[i] > truth[i - 1]));
        m->tallies[truth[i]].had++;
        m->tallies[truth[i]].both += probabilities[truth[i]] >= m->threshold;
    }
    uint32_t top[TOP] = {0}, count = find_top(probabilities, m->labels, top);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool right = contains(truth, truth_count, top[i]);
        found += right;
        m->right_at_1 += right && i == 0;
    }
    m->right_at_top += found;
    m->told_at_top += count;
    m->found_at_top += truth_count ? (double)found / truth_count : 0;
}

/* -- telling ----------------------------------------------------------------------------------------- */

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
    uint32_t told = 0;
    for (uint32_t label = 0; label < m->labels; label++) {
        told += m->tallies[label].told;
        all.had += m->tallies[label].had;
        all.predicted += m->tallies[label].predicted;
        all.both += m->tallies[label].both;
    }
    for (uint32_t label = 0; label < m->labels; label++) {
        tide_score score = score_of(&m->tallies[label]);
        add_score(&total.weighted, &score, share(m->tallies[label].had, all.had));
        if (m->tallies[label].told)
            add_score(&total.macro, &score, 1.0 / told);
    }
    total.truths = all.had;
    total.micro = score_of(&all);
    total.precision_at_1 = share(m->right_at_1, m->posts);
    total.precision_at_5 = share(m->right_at_top, m->told_at_top);
    total.recall_at_5 = m->posts ? m->found_at_top / (double)m->posts : 0;
    return total;
}
