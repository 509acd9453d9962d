/* demo_groups.c - the words of a group and their weights while events take place.
 *
 * The calendar sets the shares of some words. These are drawn with exactly that share,
 * and the other words of the group divide the rest in their usual proportions. The
 * weights are computed on first use in a tick and are valid for all of it. They depend
 * on the tick only, so generation can resume at any position.
 */
#include "demo/demo.h"

#include <assert.h>

static void add_group(tide_demo_groups *r, const tide_demo_tables *t, const char *group)
{
    uint8_t list = tide_demo_group_list(t, group);
    if (r->group_index[list])
        return;
    assert(r->count < TIDE_DEMO_GROUPS_MAX);
    r->groups[r->count++] = (tide_demo_group_words){.group = group, .now = -1};
    r->group_index[list] = (uint8_t)r->count;
}

void tide_demo_groups_load(tide_demo_groups *r, const tide_demo_tables *t)
{
    for (int i = 0; i < TIDE_DEMO_COINED_GROUPS; i++)
        add_group(r, t, tide_demo_coinages[i].group);
    for (int i = 0; i < TIDE_DEMO_CHANGING_WORDS; i++) {
        add_group(r, t, tide_demo_changing_words[i].original);
        add_group(r, t, tide_demo_changing_words[i].other);
    }
    for (int i = 0; i < TIDE_DEMO_BURST_GROUPS; i++)
        add_group(r, t, tide_demo_burst_groups[i]);
}

static const tide_demo_word_share *find_share(const tide_demo_word_share *shares,
                                              uint32_t count, tide_demo_text word)
{
    for (uint32_t i = 0; i < count; i++)
        if (tide_demo_text_equal(shares[i].word, word))
            return &shares[i];
    return NULL;
}

/* Adds the ordinary words with their usual weights. Returns the sum of the weights. */
static uint64_t add_ordinary(tide_demo_group_words *g, const tide_demo_tables *t,
                             const tide_demo_rows *l,
                             const tide_demo_word_share *shares, uint32_t share_count,
                             uint32_t *weights)
{
    uint64_t sum = 0;
    for (uint32_t row = 0; row < l->count; row++) {
        tide_demo_text word = t->words[l->first + row];
        if (find_share(shares, share_count, word))
            continue;
        weights[g->rows.count] = l->below[row] - (row ? l->below[row - 1] : 0);
        sum += weights[g->rows.count];
        g->words[g->rows.count++] = word;
    }
    return sum;
}

static void compute_weights(tide_demo_group_words *g, const tide_demo_calendar *c,
                            const tide_demo_rows *l, int64_t now)
{
    tide_demo_word_share shares[TIDE_DEMO_SHARES_MAX];
    uint32_t weights[TIDE_DEMO_ROWS_MAX], remaining = TIDE_DEMO_WHOLE, below = 0;
    uint32_t count = tide_demo_calendar_shares(c, g->group, now, shares);
    g->rows.count = 0;
    uint64_t sum = add_ordinary(g, c->tables, l, shares, count, weights);
    uint32_t ordinary = g->rows.count;
    assert(ordinary + count <= TIDE_DEMO_ROWS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        assert(shares[i].share < remaining);
        remaining -= shares[i].share;
        weights[g->rows.count] = shares[i].share;
        g->words[g->rows.count++] = shares[i].word;
    }
    for (uint32_t i = 0; i < g->rows.count; i++) {
        below += i < ordinary ? (uint32_t)((uint64_t)weights[i] * remaining / sum)
                              : weights[i];
        g->rows.below[i] = below;
    }
    tide_demo_rows_build_guide(&g->rows);
    g->now = now;
}

const tide_demo_group_words *tide_demo_groups_find(tide_demo_groups *r,
                                                   const tide_demo_calendar *c,
                                                   uint8_t list, int64_t now)
{
    if (!r->group_index[list])
        return NULL;
    tide_demo_group_words *g = &r->groups[r->group_index[list] - 1];
    if (g->now != now)
        compute_weights(g, c, &c->tables->lists[list], now);
    return g;
}
