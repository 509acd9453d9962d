/* demo_names.c - the words of a group, and how often each is drawn while things happen.
 *
 * The calendar gives some words a share of their own. Those are drawn with exactly that
 * share; the ordinary words of the group divide up what is left, in their usual
 * proportions. A roster is made when it is first asked for at a tick and is good for all
 * of it, so the stream can be entered anywhere.
 */
#include "demo/demo.h"

#include <assert.h>

static void add_roster(tide_demo_names *r, const tide_demo_tables *t, const char *group)
{
    uint8_t list = tide_demo_group_list(t, group);
    if (r->number[list])
        return;
    assert(r->count < TIDE_DEMO_ROSTERS_MAX);
    r->rosters[r->count++] = (tide_demo_name_list){.group = group, .now = -1};
    r->number[list] = (uint8_t)r->count;
}

void tide_demo_names_load(tide_demo_names *r, const tide_demo_tables *t)
{
    for (int i = 0; i < TIDE_DEMO_COINED_GROUPS; i++)
        add_roster(r, t, tide_demo_coinages[i].group);
    for (int i = 0; i < TIDE_DEMO_CHANGERS; i++) {
        add_roster(r, t, tide_demo_changers[i].home);
        add_roster(r, t, tide_demo_changers[i].abroad);
    }
    for (int i = 0; i < TIDE_DEMO_BURSTING; i++)
        add_roster(r, t, tide_demo_bursting[i]);
}

static const tide_demo_drawn_name *find_guest(const tide_demo_drawn_name *guests,
                                              uint32_t count, tide_demo_text word)
{
    for (uint32_t i = 0; i < count; i++)
        if (tide_demo_text_equal(guests[i].word, word))
            return &guests[i];
    return NULL;
}

/* The ordinary words with their usual weights, whose sum it returns. */
static uint64_t add_ordinary(tide_demo_name_list *roster, const tide_demo_tables *t,
                             const tide_demo_rows *l,
                             const tide_demo_drawn_name *guests, uint32_t guest_count,
                             uint32_t *weights)
{
    uint64_t sum = 0;
    for (uint32_t row = 0; row < l->count; row++) {
        tide_demo_text word = t->words[l->first + row];
        if (find_guest(guests, guest_count, word))
            continue;
        weights[roster->rows.count] = l->below[row] - (row ? l->below[row - 1] : 0);
        sum += weights[roster->rows.count];
        roster->words[roster->rows.count++] = word;
    }
    return sum;
}

static void fill(tide_demo_name_list *roster, const tide_demo_calendar *c,
                 const tide_demo_rows *l, int64_t now)
{
    tide_demo_drawn_name guests[TIDE_DEMO_GUESTS_MAX];
    uint32_t weights[TIDE_DEMO_ROWS_MAX], left = TIDE_DEMO_WHOLE, below = 0;
    uint32_t count = tide_demo_calendar_names(c, roster->group, now, guests);
    roster->rows.count = 0;
    uint64_t sum = add_ordinary(roster, c->tables, l, guests, count, weights);
    uint32_t ordinary = roster->rows.count;
    assert(ordinary + count <= TIDE_DEMO_ROWS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        assert(guests[i].share < left);
        left -= guests[i].share;
        weights[roster->rows.count] = guests[i].share;
        roster->words[roster->rows.count++] = guests[i].word;
    }
    for (uint32_t i = 0; i < roster->rows.count; i++) {
        below +=
            i < ordinary ? (uint32_t)((uint64_t)weights[i] * left / sum) : weights[i];
        roster->rows.below[i] = below;
    }
    tide_demo_rows_guide(&roster->rows);
    roster->now = now;
}

const tide_demo_name_list *tide_demo_names_find(tide_demo_names *r,
                                                const tide_demo_calendar *c,
                                                uint8_t list, int64_t now)
{
    if (!r->number[list])
        return NULL;
    tide_demo_name_list *roster = &r->rosters[r->number[list] - 1];
    if (roster->now != now)
        fill(roster, c, &c->tables->lists[list], now);
    return roster;
}
