/* demo_calendar.c - the schedule of the events in the demo stream.
 *
 * The clock is the length of the stream: a tick is 2,000 tokens, and a minute is 60
 * ticks, which is real time for a reader of 2,000 words/s. At pace 2 a tick has half as
 * many tokens, and everything happens twice as fast.
 *
 * Events are unlimited in number. The n-th of a kind begins at tick
 *
 *     first + n * interval + (a random number below jitter, a hash of the seed and n).
 *
 * The events at any time are therefore a function of that time alone, and the schedule
 * has no state. An event of a kind ends before the next one of that kind begins.
 *
 *     birth    a new word appears with a high share, and then stays at a lower one
 *     fade     the share of that word, STAY ticks later, decreases linearly to zero
 *     change   the uses of a word shift linearly from its group to another group; the
 *              next change of the word leads back
 *     burst    the share of a word is 5 to 20 times as high for a while
 *     season   the share of a topic rises and falls linearly, while that of another
 *              topic changes by the same amount in the opposite direction
 *
 * Words take turns, group by group, so that events of the same word are far apart.
 * Words born before the start of the stream are present from its start.
 */
#include "demo/demo.h"

#include <assert.h>

#define PERCENT(n) ((uint32_t)((uint64_t)TIDE_DEMO_WHOLE * (n) / 100))

enum {
    MINUTE = 60,
    LIFETIME = 21 * MINUTE,
    BIRTH_SHARE = PERCENT(20), /* of a word just born */
    STAY_SHARE = PERCENT(8),
    CHANGER_SHARE = PERCENT(15),
    BURST_SHARE_MAX = PERCENT(35),
    BURST_MIN = 5,
    BURST_MAX = 20,
    TOPIC_SWING = 80, /* percent of a topic's usual share, at the peak of the season */
    BURST_STEP = 7,   /* from one bursting word to the next; coprime to their number */
};

typedef enum event_type { BIRTH, FADE, CHANGE, BURST, SEASON, KINDS } event_type;

typedef struct event_kind {
    const char *name;
    int64_t interval, first, jitter, length; /* in ticks */
    int64_t first_index; /* index of the first event after the start of the stream */
    event_type random_source; /* a fade uses the random numbers of its birth */
    void (*fill)(const tide_demo_calendar *c, int64_t n, tide_demo_scheduled_event *e);
} event_kind;

static void fill_birth(const tide_demo_calendar *c, int64_t n,
                       tide_demo_scheduled_event *e);
static void fill_fade(const tide_demo_calendar *c, int64_t n,
                      tide_demo_scheduled_event *e);
static void fill_change(const tide_demo_calendar *c, int64_t n,
                        tide_demo_scheduled_event *e);
static void fill_burst(const tide_demo_calendar *c, int64_t n,
                       tide_demo_scheduled_event *e);
static void fill_season(const tide_demo_calendar *c, int64_t n,
                        tide_demo_scheduled_event *e);

static const event_kind kinds[KINDS] = {
    [BIRTH] = {"birth", 3 * MINUTE, 0, MINUTE, 2 * MINUTE, 0, BIRTH, fill_birth},
    [FADE] = {"fade", 3 * MINUTE, LIFETIME, MINUTE, 2 * MINUTE, -7, BIRTH, fill_fade},
    [CHANGE] = {"change", 5 * MINUTE, 4 * MINUTE, MINUTE, 3 * MINUTE, 0, CHANGE,
                fill_change},
    [BURST] = {"burst", 5 * MINUTE / 2, MINUTE, MINUTE / 2, 3 * MINUTE / 2, 0, BURST,
               fill_burst},
    [SEASON] = {"season", 12 * MINUTE, 0, 1, 12 * MINUTE, 0, SEASON, fill_season},
};

_Static_assert(LIFETIME % (3 * MINUTE) == 0 && LIFETIME / (3 * MINUTE) == 7,
               "the first fade in the stream is that of the seventh word before it");

tide_demo_calendar tide_demo_calendar_make(const tide_demo_tables *t, uint64_t seed,
                                           float pace)
{
    tide_demo_calendar c = {t, seed, (uint32_t)(TIDE_DEMO_TICK / pace + 0.5f), {{{0}}}};
    for (int g = 0; g < TIDE_DEMO_COINED_GROUPS; g++) {
        const char *rest = tide_demo_coinages[g].words;
        for (int i = 0; i < TIDE_DEMO_COINED; i++) {
            bool present = tide_demo_next_part(&rest, ", ", &c.coined[g][i]);
            assert(present);
            (void)present;
        }
    }
    return c;
}

/* -- the n-th event of a kind ------------------------------------------------------ */

/* Division that rounds toward minus infinity, because n may be negative. */
static int64_t floor_divide(int64_t n, int64_t by)
{
    return n / by - (n % by < 0);
}

static uint32_t floor_modulo(int64_t n, int64_t by)
{
    return (uint32_t)(n - floor_divide(n, by) * by);
}

/* A random number below `bound` that depends only on the seed, the source and n. */
static uint32_t random_below(const tide_demo_calendar *c, event_type random_source,
                             int64_t n, uint32_t bound)
{
    int64_t key[2] = {random_source, n};
    uint64_t random = tide_hash(key, sizeof key, c->seed);
    return (uint32_t)((random >> 32) * bound >> 32);
}

static int64_t event_start(const tide_demo_calendar *c, event_type type, int64_t n)
{
    const event_kind *k = &kinds[type];
    return k->first + n * k->interval +
           random_below(c, k->random_source, n, (uint32_t)k->jitter);
}

static tide_demo_scheduled_event make_event(const tide_demo_calendar *c,
                                            event_type type, int64_t n)
{
    const event_kind *k = &kinds[type];
    tide_demo_scheduled_event e = {.kind = k->name, .from = event_start(c, type, n)};
    e.to = e.from + k->length;
    k->fill(c, n, &e);
    return e;
}

/* The index of the latest event of a kind that has begun. Earlier ones have ended. */
static int64_t latest_started(const tide_demo_calendar *c, event_type type, int64_t now)
{
    int64_t n = floor_divide(now - kinds[type].first, kinds[type].interval);
    return event_start(c, type, n) <= now ? n : n - 1;
}

/* Sets *word to the n-th coined word in turn, and returns its group. */
static const char *coined_word(const tide_demo_calendar *c, int64_t n,
                               tide_demo_text *word)
{
    uint32_t group = floor_modulo(n, TIDE_DEMO_COINED_GROUPS);
    int64_t turn = floor_divide(n, TIDE_DEMO_COINED_GROUPS);
    turn += random_below(c, KINDS, group, TIDE_DEMO_COINED);
    *word = c->coined[group][floor_modulo(turn, TIDE_DEMO_COINED)];
    return tide_demo_coinages[group].group;
}

static void set_shares(tide_demo_scheduled_event *e, uint32_t before, uint32_t during,
                       uint32_t after)
{
    e->shares[0] = before;
    e->shares[1] = during;
    e->shares[2] = after;
}

static void fill_birth(const tide_demo_calendar *c, int64_t n,
                       tide_demo_scheduled_event *e)
{
    e->after = coined_word(c, n, &e->word);
    set_shares(e, 0, BIRTH_SHARE, STAY_SHARE);
}

static void fill_fade(const tide_demo_calendar *c, int64_t n,
                      tide_demo_scheduled_event *e)
{
    e->before = coined_word(c, n, &e->word);
    set_shares(e, STAY_SHARE, STAY_SHARE / 2, 0);
}

static void fill_change(const tide_demo_calendar *c, int64_t n,
                        tide_demo_scheduled_event *e)
{
    int64_t turn = n + random_below(c, KINDS, -1, TIDE_DEMO_CHANGING_WORDS);
    const tide_demo_changing_word *w =
        &tide_demo_changing_words[turn % TIDE_DEMO_CHANGING_WORDS];
    bool back = n / TIDE_DEMO_CHANGING_WORDS % 2 != 0;
    e->word = (tide_demo_text){w->word, (uint32_t)strlen(w->word)};
    e->before = back ? w->other : w->original;
    e->after = back ? w->original : w->other;
    set_shares(e, CHANGER_SHARE, CHANGER_SHARE, CHANGER_SHARE);
}

/* The words of the rarer half of a list take turns. */
static void fill_burst(const tide_demo_calendar *c, int64_t n,
                       tide_demo_scheduled_event *e)
{
    uint32_t group = (uint32_t)(n % TIDE_DEMO_BURST_GROUPS);
    e->before = e->after = tide_demo_burst_groups[group];
    uint8_t list = tide_demo_group_list(c->tables, e->before);
    const tide_demo_rows *l = &c->tables->lists[list];
    uint32_t half = l->count / 2u;
    assert(half % BURST_STEP != 0);
    int64_t turn = n / TIDE_DEMO_BURST_GROUPS * BURST_STEP +
                   random_below(c, KINDS, -2 - group, half);
    uint32_t row = l->count - half + floor_modulo(turn, half);
    e->word = c->tables->words[l->first + row];
    uint64_t weight = l->below[row] - l->below[row - 1];
    uint32_t usual = (uint32_t)(weight * TIDE_DEMO_WHOLE / l->below[l->count - 1]);
    uint32_t factor = BURST_MIN + random_below(c, BURST, ~n, BURST_MAX - BURST_MIN + 1);
    /* Leave enough for the other words. */
    while (factor > BURST_MIN && factor * usual > BURST_SHARE_MAX)
        factor--;
    set_shares(e, usual, factor * usual, usual);
}

static void fill_season(const tide_demo_calendar *c, int64_t n,
                        tide_demo_scheduled_event *e)
{
    (void)c;
    const tide_demo_season *s = &tide_demo_seasons[n % TIDE_DEMO_SEASONS];
    uint32_t usual = TIDE_DEMO_WHOLE / (uint32_t)tide_demo_topic_count;
    uint32_t swing = usual / 100 * TOPIC_SWING / 2; /* the mean over a season */
    e->word = (tide_demo_text){s->topic, (uint32_t)strlen(s->topic)};
    e->before = e->after = s->group;
    set_shares(e, usual - swing, usual + swing, usual - swing);
}

/* -- shares at a given tick -------------------------------------------------------- */

/* The part of `whole` that a linear transition has reached in the middle of this
 * tick. */
static uint32_t progress(const tide_demo_scheduled_event *e, int64_t now,
                         uint32_t whole)
{
    int64_t done = 2 * (now - e->from) + 1, all = 2 * (e->to - e->from);
    done = done < 0 ? 0 : done > all ? all : done;
    return (uint32_t)((int64_t)whole * done / all);
}

/* The share of the n-th coined word, from its birth to the end of its fade. */
static uint32_t coined_share(const tide_demo_calendar *c, int64_t n, int64_t now)
{
    tide_demo_scheduled_event birth = make_event(c, BIRTH, n),
                              fade = make_event(c, FADE, n);
    if (now < birth.from || now >= fade.to)
        return 0;
    if (now < birth.to)
        return birth.shares[1];
    return fade.shares[0] - progress(&fade, now, fade.shares[0]);
}

typedef struct share_list {
    const char *group;
    tide_demo_word_share *shares;
    uint32_t count;
} share_list;

static void add_share(share_list *l, const char *group, tide_demo_text word,
                      uint32_t share)
{
    if (!group || strcmp(group, l->group) != 0)
        return;
    assert(l->count < TIDE_DEMO_SHARES_MAX);
    l->shares[l->count++] = (tide_demo_word_share){word, share};
}

/* The words present are those from the latest that has begun to fade to the latest that
 * was born. */
static void add_coined_words(const tide_demo_calendar *c, int64_t now, share_list *l)
{
    int64_t last = latest_started(c, BIRTH, now);
    for (int64_t n = latest_started(c, FADE, now); n <= last; n++) {
        tide_demo_text word;
        const char *group = coined_word(c, n, &word);
        add_share(l, group, word, coined_share(c, n, now));
    }
}

/* Each changing word is where its latest change has led; before its first change it is
 * in its original group. */
static void add_changing_words(const tide_demo_calendar *c, int64_t now, share_list *l)
{
    int64_t last = latest_started(c, CHANGE, now);
    for (int64_t k = 0; k < TIDE_DEMO_CHANGING_WORDS; k++) {
        int64_t n = last - k;
        if (n < 0)
            n += TIDE_DEMO_CHANGING_WORDS; /* its first change has not begun */
        tide_demo_scheduled_event e = make_event(c, CHANGE, n);
        uint32_t moved = progress(&e, now, CHANGER_SHARE);
        add_share(l, e.before, e.word, CHANGER_SHARE - moved);
        add_share(l, e.after, e.word, moved);
    }
}

static void add_burst(const tide_demo_calendar *c, int64_t now, share_list *l)
{
    int64_t n = latest_started(c, BURST, now);
    if (n < 0)
        return;
    tide_demo_scheduled_event e = make_event(c, BURST, n);
    if (now < e.to)
        add_share(l, e.after, e.word, e.shares[1]);
}

uint32_t tide_demo_calendar_shares(const tide_demo_calendar *c, const char *group,
                                   int64_t now,
                                   tide_demo_word_share shares[TIDE_DEMO_SHARES_MAX])
{
    share_list l = {group, shares, 0};
    add_coined_words(c, now, &l);
    add_changing_words(c, now, &l);
    add_burst(c, now, &l);
    return l.count;
}

uint32_t tide_demo_calendar_topic_share(const char *topic, int64_t now)
{
    const event_kind *k = &kinds[SEASON];
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

/* -- listing events ---------------------------------------------------------------- */

void tide_demo_calendar_list(const tide_demo_calendar *c, int64_t since, int64_t until,
                             void (*callback)(void *data,
                                              const tide_demo_scheduled_event *e),
                             void *data)
{
    int64_t next[KINDS];
    for (event_type k = 0; k < KINDS; k++) {
        next[k] = latest_started(c, k, since);
        if (event_start(c, k, next[k]) + kinds[k].length <= since)
            next[k]++;
        next[k] = next[k] < kinds[k].first_index ? kinds[k].first_index : next[k];
    }
    for (;;) {
        event_type first = 0;
        for (event_type k = 1; k < KINDS; k++)
            if (event_start(c, k, next[k]) < event_start(c, first, next[first]))
                first = k;
        if (event_start(c, first, next[first]) >= until)
            return;
        tide_demo_scheduled_event e = make_event(c, first, next[first]++);
        callback(data, &e);
    }
}
