/* demo_calendar.c - what happens in the world of the demo, and when.
 *
 * The clock of the stream is its own length: a tick goes by with every 2,000 tokens, and
 * 60 of them are a minute, as they are for somebody who reads 2,000 words a second. At
 * pace 2 a tick has half as many tokens, and everything comes and goes twice as fast.
 *
 * Happenings come for ever, the n-th of a kind at
 *
 *     first + n * every + (a random number below spread, made of the seed and n).
 *
 * So what happens at a moment is found from the moment alone, wherever in the stream one
 * begins, and nothing has to be remembered. Of a kind, one has ended before the next
 * begins.
 *
 *     birth    a new word appears, is on everybody's lips, and stays at a lower share
 *     fade     the same word, STAY ticks later: its share falls evenly to nothing
 *     change   a word is used more and more like those of another group, evenly, until
 *              it is not used as before at all; its next change leads back
 *     burst    a word has 5 to 20 times its share, and then the old one again
 *     season   a topic is written about more than usual, rising and falling evenly,
 *              while another is written about less by as much
 *
 * Words take turns, group by group, so that each has a long rest before it is heard of
 * again. Words that would have been born before the stream began are there from its
 * beginning.
 */
#include "demo/demo.h"

#include <assert.h>

#define PERCENT(n) ((uint32_t)((uint64_t)TIDE_DEMO_WHOLE * (n) / 100))

enum {
    MINUTE = 60,
    STAY = 21 * MINUTE,
    NEWS_SHARE = PERCENT(20), /* of a word just born */
    STAY_SHARE = PERCENT(8),
    CHANGER_SHARE = PERCENT(15),
    BURST_SHARE_MAX = PERCENT(35),
    BURST_LEAST = 5,
    BURST_MOST = 20,
    TOPIC_SWING =
        80,   /* percent of a topic's usual share, at the height of the season */
    TURN = 7, /* from a bursting word to the next; no divisor of how many there are */
};

typedef enum kind_number { BIRTH, FADE, CHANGE, BURST, SEASON, KINDS } kind_number;

typedef struct kind {
    const char *name;
    int64_t every, first, spread, length;
    int64_t least;    /* the first that begins after the stream */
    kind_number dice; /* a word fades as it was born */
    void (*fill)(const tide_demo_calendar *c, int64_t n, tide_demo_event_script *h);
} kind;

static void fill_birth(const tide_demo_calendar *c, int64_t n,
                       tide_demo_event_script *h);
static void fill_fade(const tide_demo_calendar *c, int64_t n,
                      tide_demo_event_script *h);
static void fill_change(const tide_demo_calendar *c, int64_t n,
                        tide_demo_event_script *h);
static void fill_burst(const tide_demo_calendar *c, int64_t n,
                       tide_demo_event_script *h);
static void fill_season(const tide_demo_calendar *c, int64_t n,
                        tide_demo_event_script *h);

static const kind kinds[KINDS] = {
    [BIRTH] = {"birth", 3 * MINUTE, 0, MINUTE, 2 * MINUTE, 0, BIRTH, fill_birth},
    [FADE] = {"fade", 3 * MINUTE, STAY, MINUTE, 2 * MINUTE, -7, BIRTH, fill_fade},
    [CHANGE] = {"change", 5 * MINUTE, 4 * MINUTE, MINUTE, 3 * MINUTE, 0, CHANGE,
                fill_change},
    [BURST] = {"burst", 5 * MINUTE / 2, MINUTE, MINUTE / 2, 3 * MINUTE / 2, 0, BURST,
               fill_burst},
    [SEASON] = {"season", 12 * MINUTE, 0, 1, 12 * MINUTE, 0, SEASON, fill_season},
};

_Static_assert(STAY % (3 * MINUTE) == 0 && STAY / (3 * MINUTE) == 7,
               "the first fade in the stream is that of the seventh word before it");

tide_demo_calendar tide_demo_calendar_of(const tide_demo_tables *t, uint64_t seed,
                                         float pace)
{
    tide_demo_calendar c = {t, seed, (uint32_t)(TIDE_DEMO_TICK / pace + 0.5f), {{{0}}}};
    for (int g = 0; g < TIDE_DEMO_COINED_GROUPS; g++) {
        const char *rest = tide_demo_coinages[g].words;
        for (int i = 0; i < TIDE_DEMO_COINED; i++) {
            bool present = tide_demo_part(&rest, ", ", &c.coined[g][i]);
            assert(present);
            (void)present;
        }
    }
    return c;
}

/* -- the n-th of a kind ------------------------------------------------------------ */

static int64_t quotient(int64_t n, int64_t by)
{
    return n / by - (n % by < 0);
}

static uint32_t remainder_of(int64_t n, int64_t by)
{
    return (uint32_t)(n - quotient(n, by) * by);
}

static uint32_t roll(const tide_demo_calendar *c, kind_number dice, int64_t n,
                     uint32_t bound)
{
    int64_t key[2] = {dice, n};
    uint64_t random = tide_hash(key, sizeof key, c->seed);
    return (uint32_t)((random >> 32) * bound >> 32);
}

static int64_t begins(const tide_demo_calendar *c, kind_number number, int64_t n)
{
    const kind *k = &kinds[number];
    return k->first + n * k->every + roll(c, k->dice, n, (uint32_t)k->spread);
}

static tide_demo_event_script happening(const tide_demo_calendar *c, kind_number number,
                                        int64_t n)
{
    const kind *k = &kinds[number];
    tide_demo_event_script h = {.kind = k->name, .from = begins(c, number, n)};
    h.to = h.from + k->length;
    k->fill(c, n, &h);
    return h;
}

/* The latest of a kind that has begun; no other can be under way. */
static int64_t latest(const tide_demo_calendar *c, kind_number number, int64_t now)
{
    int64_t n = quotient(now - kinds[number].first, kinds[number].every);
    return begins(c, number, n) <= now ? n : n - 1;
}

static const char *coin(const tide_demo_calendar *c, int64_t n, tide_demo_text *word)
{
    uint32_t group = remainder_of(n, TIDE_DEMO_COINED_GROUPS);
    int64_t turn = quotient(n, TIDE_DEMO_COINED_GROUPS);
    turn += roll(c, KINDS, group, TIDE_DEMO_COINED);
    *word = c->coined[group][remainder_of(turn, TIDE_DEMO_COINED)];
    return tide_demo_coinages[group].group;
}

static void set_shares(tide_demo_event_script *h, uint32_t before, uint32_t during,
                       uint32_t after)
{
    h->shares[0] = before;
    h->shares[1] = during;
    h->shares[2] = after;
}

static void fill_birth(const tide_demo_calendar *c, int64_t n,
                       tide_demo_event_script *h)
{
    h->after = coin(c, n, &h->word);
    set_shares(h, 0, NEWS_SHARE, STAY_SHARE);
}

static void fill_fade(const tide_demo_calendar *c, int64_t n, tide_demo_event_script *h)
{
    h->before = coin(c, n, &h->word);
    set_shares(h, STAY_SHARE, STAY_SHARE / 2, 0);
}

static void fill_change(const tide_demo_calendar *c, int64_t n,
                        tide_demo_event_script *h)
{
    int64_t turn = n + roll(c, KINDS, -1, TIDE_DEMO_CHANGERS);
    const tide_demo_changer *w = &tide_demo_changers[turn % TIDE_DEMO_CHANGERS];
    bool back = n / TIDE_DEMO_CHANGERS % 2 != 0;
    h->word = (tide_demo_text){w->word, (uint32_t)strlen(w->word)};
    h->before = back ? w->abroad : w->home;
    h->after = back ? w->home : w->abroad;
    set_shares(h, CHANGER_SHARE, CHANGER_SHARE, CHANGER_SHARE);
}

/* The rarer half of a list takes turns. */
static void fill_burst(const tide_demo_calendar *c, int64_t n,
                       tide_demo_event_script *h)
{
    uint32_t group = (uint32_t)(n % TIDE_DEMO_BURSTING);
    h->before = h->after = tide_demo_bursting[group];
    uint8_t list = tide_demo_group_list(c->tables, h->before);
    const tide_demo_rows *l = &c->tables->lists[list];
    uint32_t half = l->count / 2u;
    assert(half % TURN != 0);
    int64_t turn = n / TIDE_DEMO_BURSTING * TURN + roll(c, KINDS, -2 - group, half);
    uint32_t row = l->count - half + remainder_of(turn, half);
    h->word = c->tables->words[l->first + row];
    uint64_t weight = l->below[row] - l->below[row - 1];
    uint32_t usual = (uint32_t)(weight * TIDE_DEMO_WHOLE / l->below[l->count - 1]);
    uint32_t times = BURST_LEAST + roll(c, BURST, ~n, BURST_MOST - BURST_LEAST + 1);
    while (times > BURST_LEAST && times * usual > BURST_SHARE_MAX)
        times--;
    set_shares(h, usual, times * usual, usual);
}

static void fill_season(const tide_demo_calendar *c, int64_t n,
                        tide_demo_event_script *h)
{
    (void)c;
    const tide_demo_season *s = &tide_demo_seasons[n % TIDE_DEMO_SEASONS];
    uint32_t usual = TIDE_DEMO_WHOLE / (uint32_t)tide_demo_topic_count;
    uint32_t swing = usual / 100 * TOPIC_SWING / 2; /* on the average of a season */
    h->word = (tide_demo_text){s->topic, (uint32_t)strlen(s->topic)};
    h->before = h->after = s->group;
    set_shares(h, usual - swing, usual + swing, usual - swing);
}

/* -- at a moment ------------------------------------------------------------------- */

/* How much of `whole` an even course has covered at the middle of this tick. */
static uint32_t covered(const tide_demo_event_script *h, int64_t now, uint32_t whole)
{
    int64_t done = 2 * (now - h->from) + 1, all = 2 * (h->to - h->from);
    done = done < 0 ? 0 : done > all ? all : done;
    return (uint32_t)((int64_t)whole * done / all);
}

static uint32_t living_share(const tide_demo_calendar *c, int64_t n, int64_t now)
{
    tide_demo_event_script birth = happening(c, BIRTH, n), fade = happening(c, FADE, n);
    if (now < birth.from || now >= fade.to)
        return 0;
    if (now < birth.to)
        return birth.shares[1];
    return fade.shares[0] - covered(&fade, now, fade.shares[0]);
}

typedef struct guest_list {
    const char *group;
    tide_demo_drawn_name *guests;
    uint32_t count;
} guest_list;

static void add_guest(guest_list *l, const char *group, tide_demo_text word,
                      uint32_t share)
{
    if (!group || strcmp(group, l->group) != 0)
        return;
    assert(l->count < TIDE_DEMO_GUESTS_MAX);
    l->guests[l->count++] = (tide_demo_drawn_name){word, share};
}

static void add_living(const tide_demo_calendar *c, int64_t now, guest_list *l)
{
    int64_t last = latest(c, BIRTH, now);
    for (int64_t n = latest(c, FADE, now); n <= last; n++) {
        tide_demo_text word;
        const char *group = coin(c, n, &word);
        add_guest(l, group, word, living_share(c, n, now));
    }
}

/* Each changer is where its latest change has led, or at home before the first. */
static void add_changers(const tide_demo_calendar *c, int64_t now, guest_list *l)
{
    int64_t last = latest(c, CHANGE, now);
    for (int64_t k = 0; k < TIDE_DEMO_CHANGERS; k++) {
        int64_t n = last - k;
        if (n < 0)
            n += TIDE_DEMO_CHANGERS; /* its first is still to come */
        tide_demo_event_script h = happening(c, CHANGE, n);
        uint32_t gone = covered(&h, now, CHANGER_SHARE);
        add_guest(l, h.before, h.word, CHANGER_SHARE - gone);
        add_guest(l, h.after, h.word, gone);
    }
}

static void add_bursting(const tide_demo_calendar *c, int64_t now, guest_list *l)
{
    int64_t n = latest(c, BURST, now);
    if (n < 0)
        return;
    tide_demo_event_script h = happening(c, BURST, n);
    if (now < h.to)
        add_guest(l, h.after, h.word, h.shares[1]);
}

uint32_t tide_demo_calendar_names(const tide_demo_calendar *c, const char *group,
                                  int64_t now,
                                  tide_demo_drawn_name guests[TIDE_DEMO_GUESTS_MAX])
{
    guest_list l = {group, guests, 0};
    add_living(c, now, &l);
    add_changers(c, now, &l);
    add_bursting(c, now, &l);
    return l.count;
}

uint32_t tide_demo_calendar_topic(const char *topic, int64_t now)
{
    const kind *k = &kinds[SEASON];
    uint32_t usual = TIDE_DEMO_WHOLE / (uint32_t)tide_demo_topic_count;
    int64_t half = k->length / 2, in_season = now % k->length;
    int64_t height = in_season < half ? in_season : k->length - in_season;
    uint32_t swing = (uint32_t)(usual / 100 * TOPIC_SWING * height / half);
    for (int i = 0; i < TIDE_DEMO_SEASONS; i++)
        if (strcmp(topic, tide_demo_seasons[i].topic) == 0)
            return now / k->length % TIDE_DEMO_SEASONS == i ? usual + swing
                                                            : usual - swing;
    return usual;
}

/* -- in order ---------------------------------------------------------------------- */

void tide_demo_calendar_describe(
    const tide_demo_calendar *c, int64_t since, int64_t until,
    void (*tell)(void *data, const tide_demo_event_script *h), void *data)
{
    int64_t next[KINDS];
    for (kind_number k = 0; k < KINDS; k++) {
        next[k] = latest(c, k, since);
        if (begins(c, k, next[k]) + kinds[k].length <= since)
            next[k]++;
        next[k] = next[k] < kinds[k].least ? kinds[k].least : next[k];
    }
    for (;;) {
        kind_number first = 0;
        for (kind_number k = 1; k < KINDS; k++)
            if (begins(c, k, next[k]) < begins(c, first, next[first]))
                first = k;
        if (begins(c, first, next[first]) >= until)
            return;
        tide_demo_event_script h = happening(c, first, next[first]++);
        tell(data, &h);
    }
}
