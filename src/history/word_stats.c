/* word_stats.c - who is in the vocabulary, since when, and how often.
 *
 * Slots are looked through once a look. One that has changed hands since, or is empty, had a word that has left; what
 * that was is in the copy of the vocabulary from the look before. A word that left and came back between two looks has
 * done both, and begins anew.
 *
 * Occurrences are the difference of two counts. Counts that are halved on the way (half-life) fall by
 * themselves: if what was counted before is worth `before` by now, and what came since `among` on average, then
 * so many came:
 *
 *     (count now - before * count then) / among
 *
 * A newcomer has been seen as often as its count is above its error.
 *
 * In a full vocabulary words come and go all the time, most of them seen once. So those are told, and remembered, that
 * were seen often: log2 of how often, and the time, make a worth that never changes while time goes by, as in
 * Cormode et al., "Forward decay", ICDE 2009.
 */
#include "history/word_stats.h"

#include "history/alarms.h"
#include "history/history.h"
#include "history/history_internal.h"
#include "query/query.h"
#include "vocab/vocab.h"

#include <math.h>

enum { WORTH_STEPS = 60 };

#define PAUSE_LEAST 1.0 /* seconds */

double tide_word_stats_rank_score(const tide_history *h, double seen, double time)
{
    return log2(1 + seen) + time / (WORTH_STEPS * h->options.step);
}

double tide_word_stats_trend(const tide_history *h, const tide_word_stats *t)
{
    double share = h->slow.tokens > 0 ? h->fast.tokens / h->slow.tokens : 0;
    return h->slow.tokens > 0 ? tide_trend((double)t->fast, (double)t->slow * share)
                              : 0;
}

/* -- rates -------------------------------------------------------------------------------------------- */

/* A mean over minutes goes on for minutes after the text has ended. So the pauses between looks that find new text
 * are averaged, and after ten times as long without any the stream is taken to have ended. Were text to come at random
 * at that pace, a pause would be as long by chance once in 22,000. */
static void note_arrival(tide_history *h, bool text)
{
    if (!text)
        return;
    double pause = h->clock - h->arrived;
    h->pause = h->pause > 0 ? 0.9 * h->pause + 0.1 * pause : pause;
    h->arrived = h->clock;
}

static bool has_ended(const tide_history *h)
{
    double patience = h->pause > 0 ? 10 * fmax(h->pause, PAUSE_LEAST) : h->options.step;
    return h->clock - h->arrived > patience;
}

double tide_word_stats_rate(const tide_history *h, const tide_word_stats *t)
{
    return has_ended(h) ? 0 : tide_ema_rate(&h->fast, t->fast);
}

double tide_word_stats_baseline(const tide_history *h, const tide_word_stats *t)
{
    return tide_ema_rate(&h->slow, t->slow);
}

double tide_word_stats_ratio(const tide_history *h, const tide_word_stats *t)
{
    double baseline = tide_word_stats_baseline(h, t);
    return baseline > 0 ? tide_word_stats_rate(h, t) / baseline : (double)NAN;
}

/* -- those who left ----------------------------------------------------------------------------------- */

static void swap(tide_evicted_word *a, tide_evicted_word *b)
{
    tide_evicted_word kept = *a;
    *a = *b;
    *b = kept;
}

static void sink(tide_evicted_word *heap, uint32_t count)
{
    for (uint32_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].worth < heap[child].worth)
            child++;
        if (heap[at].worth <= heap[child].worth)
            return;
        swap(&heap[at], &heap[child]);
    }
}

void tide_evicted_word_keep(tide_history *h, const tide_evicted_word *departed)
{
    tide_evicted_word *heap = h->departed;
    if (h->departed_count == TIDE_EVICTED_WORDS_MAX) {
        if (departed->worth <= heap[0].worth)
            return;
        heap[0] = *departed;
        sink(heap, h->departed_count);
        return;
    }
    uint32_t at = h->departed_count++;
    heap[at] = *departed;
    for (; at && heap[(at - 1) / 2].worth > heap[at].worth; at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

/* -- those who come and go ---------------------------------------------------------------------------- */

static void leave(tide_history *h, uint32_t slot)
{
    tide_word_stats *t = &h->tenants[slot];
    tide_entry entry = tide_model_entry(&h->model, slot);
    tide_evicted_word departed = {.count = (uint64_t)t->seen,
                                  .left = h->clock,
                                  .worth =
                                      tide_word_stats_rank_score(h, t->seen, h->clock)};
    memcpy(departed.word, entry.word, strnlen(entry.word, TIDE_WORD_MAX));
    tide_evicted_word_keep(h, &departed);
    if (h->options.count_alarm && departed.count >= h->options.count_alarm)
        tide_alarm_ring(h, TIDE_ALARM_GONE, entry.word, (double)departed.count,
                        (double)h->options.count_alarm);
    if (t->place != TIDE_NOT_TRACKED)
        tide_tracked_word_evicted(h, t->place);
    *t = (tide_word_stats){.place = TIDE_NOT_TRACKED};
}

static void enter(const tide_history *h, tide_word_stats *t, uint32_t hands)
{
    bool warm = h->looked && h->clock >= h->options.warm_up;
    *t = (tide_word_stats){.since = warm ? h->clock : (double)NAN,
                           .hands = hands,
                           .place = TIDE_NOT_TRACKED,
                           .held = true};
}

typedef struct look {
    const tide_vocabulary *now;
    double before, among; /* what halving has made of counts */
} look;

static double occurrences(const tide_word_stats *t, const look *l, uint64_t count)
{
    double more = (double)count - (double)t->count * l->before;
    return more > 0 ? more / l->among : 0;
}

static void see(tide_history *h, const look *l, uint32_t slot, uint32_t hands)
{
    tide_word_stats *t = &h->tenants[slot];
    uint32_t length;
    bool held = tide_vocabulary_word(l->now, slot, &length);
    bool stayed = held && t->held && t->hands == hands;
    uint64_t count = tide_vocabulary_count(l->now, slot);
    uint64_t seen = count - tide_vocabulary_error(l->now, slot);
    if (t->held && !stayed)
        leave(h, slot);
    if (!held)
        return;
    if (!stayed)
        enter(h, t, hands);
    double came = stayed ? occurrences(t, l, count) : (double)seen;
    t->fast = tide_ema_add(&h->fast, t->fast, came);
    t->slow = tide_ema_add(&h->slow, t->slow, came);
    t->seen += came;
    t->count = count;
}

static void ring(tide_history *h, uint32_t slot)
{
    tide_word_stats *t = &h->tenants[slot];
    const char *word = tide_model_entry(&h->model, slot).word;
    if (!t->new_told && !isnan(t->since))
        tide_alarm_check(h, TIDE_ALARM_NEW, word, floor(t->seen),
                         (double)h->options.count_alarm, &t->new_told);
    if (h->options.trend_alarm > 0)
        tide_alarm_check(h, TIDE_ALARM_TREND, word, tide_word_stats_trend(h, t),
                         h->options.trend_alarm, &t->trend_told);
}

/* Words and their order are those of the space from now on. */
static void copy_words(tide_history *h, const tide_view *space)
{
    const tide_vocabulary *v = tide_view_model(space)->vocabulary;
    tide_vocabulary_copy(h->model.vocabulary, v);
    h->tokens = tide_vocabulary_tokens(v);
    const uint32_t *order = tide_view_order(space, &h->words);
    memcpy(h->order, order, h->words * sizeof *order);
    for (uint32_t rank = 0; rank < h->words; rank++)
        h->tenants[order[rank]].rank = rank;
}

void tide_word_stats_update(tide_history *h, const tide_view *space, double seconds)
{
    look l = {.now = tide_view_model(space)->vocabulary};
    uint64_t tokens = tide_vocabulary_tokens(l.now) - h->tokens;
    note_arrival(h, tokens > 0);
    tide_vocabulary_decay(l.now, tokens, &l.before, &l.among);
    tide_ema_advance(&h->fast, seconds, (double)tokens);
    tide_ema_advance(&h->slow, seconds, (double)tokens);
    for (uint32_t slot = 0; slot < tide_vocabulary_used(l.now); slot++)
        see(h, &l, slot, tide_view_generation(space, slot));
    copy_words(h, space);
    for (uint32_t rank = 0; rank < h->words; rank++)
        ring(h, h->order[rank]);
}

void tide_word_stats_begin(tide_history *h, const tide_view *space)
{
    copy_words(h, space);
    for (uint32_t slot = 0; slot < h->model.shape.vocabulary.capacity; slot++)
        h->tenants[slot] = (tide_word_stats){.place = TIDE_NOT_TRACKED};
    for (uint32_t rank = 0; rank < h->words; rank++) {
        uint32_t slot = h->order[rank];
        tide_word_stats *t = &h->tenants[slot];
        enter(h, t, tide_view_generation(space, slot));
        t->count = tide_vocabulary_count(h->model.vocabulary, slot);
        t->seen = (double)(t->count - tide_vocabulary_error(h->model.vocabulary, slot));
        t->rank = rank;
    }
}
