/* word_stats.c - which words are in the vocabulary, since when, and how often they
 * occur.
 *
 * Every update visits all slots. If a slot is empty or its generation has changed, the
 * word that was in it has been evicted; the copy of the vocabulary from the previous
 * update says which one it was. A word that was evicted and readmitted between two
 * updates starts over.
 *
 * Occurrences are the difference of two counts. With a half-life, counts decay by
 * themselves: if earlier occurrences are now worth `old_weight` and those since the
 * previous update `new_weight` on average, the number of new occurrences is
 *
 *     (count now - old_weight * count then) / new_weight
 *
 * A new word has been seen as often as its count exceeds its error.
 *
 * In a full vocabulary words come and go all the time, most of them seen once. So only
 * frequent ones are reported and remembered: log2 of the count plus the time, in units
 * of 60 steps, gives a ranking score that need not be updated as time passes, as in
 * Cormode et al., "Forward decay", ICDE 2009.
 */
#include "history/word_stats.h"

#include "history/alarms.h"
#include "history/history.h"
#include "history/history_internal.h"
#include "query/query.h"
#include "vocab/vocab.h"

#include <math.h>

enum { SCORE_STEPS = 60 };

#define GAP_MIN 1.0 /* seconds */

double tide_word_stats_rank_score(const tide_history *h, double seen, double time)
{
    return log2(1 + seen) + time / (SCORE_STEPS * h->options.step);
}

double tide_word_stats_trend(const tide_history *h, const tide_word_stats *t)
{
    double share = h->slow.tokens > 0 ? h->fast.tokens / h->slow.tokens : 0;
    return h->slow.tokens > 0 ? tide_trend((double)t->fast, (double)t->slow * share)
                              : 0;
}

/* -- rates ------------------------------------------------------------------------ */

/* The moving average of a rate stays above 0 for minutes after the text has ended. So
 * the gaps between updates that find new text are averaged, and the stream counts as
 * ended after ten times as long without any. With random arrivals at that rate a gap
 * this long has a chance of 1 in 22,000. */
static void update_text_gap(tide_history *h, bool has_text)
{
    if (!has_text)
        return;
    double gap = h->clock - h->last_text;
    h->mean_gap = h->mean_gap > 0 ? 0.9 * h->mean_gap + 0.1 * gap : gap;
    h->last_text = h->clock;
}

static bool stream_has_ended(const tide_history *h)
{
    double max_gap =
        h->mean_gap > 0 ? 10 * fmax(h->mean_gap, GAP_MIN) : h->options.step;
    return h->clock - h->last_text > max_gap;
}

double tide_word_stats_rate(const tide_history *h, const tide_word_stats *t)
{
    return stream_has_ended(h) ? 0 : tide_ema_rate(&h->fast, t->fast);
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

/* -- evicted words: a min-heap by score ------------------------------------------- */

static void swap(tide_evicted_word *a, tide_evicted_word *b)
{
    tide_evicted_word kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_down(tide_evicted_word *heap, uint32_t count)
{
    for (uint32_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].score < heap[child].score)
            child++;
        if (heap[at].score <= heap[child].score)
            return;
        swap(&heap[at], &heap[child]);
    }
}

void tide_evicted_word_keep(tide_history *h, const tide_evicted_word *evicted)
{
    tide_evicted_word *heap = h->evicted;
    if (h->evicted_count == TIDE_EVICTED_WORDS_MAX) {
        if (evicted->score <= heap[0].score)
            return;
        heap[0] = *evicted;
        sift_down(heap, h->evicted_count);
        return;
    }
    uint32_t at = h->evicted_count++;
    heap[at] = *evicted;
    for (; at && heap[(at - 1) / 2].score > heap[at].score; at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

/* -- changes since the last update ------------------------------------------------ */

static void evict(tide_history *h, uint32_t slot)
{
    tide_word_stats *t = &h->stats[slot];
    tide_entry entry = tide_model_entry(&h->model, slot);
    tide_evicted_word evicted = {.count = (uint64_t)t->seen,
                                 .left = h->clock,
                                 .score =
                                     tide_word_stats_rank_score(h, t->seen, h->clock)};
    memcpy(evicted.word, entry.word, strnlen(entry.word, TIDE_WORD_MAX));
    tide_evicted_word_keep(h, &evicted);
    if (h->options.count_alarm && evicted.count >= h->options.count_alarm)
        tide_alarm_raise(h, TIDE_ALARM_GONE, entry.word, (double)evicted.count,
                         (double)h->options.count_alarm);
    if (t->row != TIDE_NOT_TRACKED)
        tide_tracked_word_evicted(h, t->row);
    *t = (tide_word_stats){.row = TIDE_NOT_TRACKED};
}

static void admit(const tide_history *h, tide_word_stats *t, uint32_t generation)
{
    bool warm = h->updated && h->clock >= h->options.warm_up;
    *t = (tide_word_stats){.since = warm ? h->clock : (double)NAN,
                           .generation = generation,
                           .row = TIDE_NOT_TRACKED,
                           .present = true};
}

typedef struct counts_decay {
    const tide_vocabulary *now;
    double old_weight, new_weight; /* effect of the half-life on counts */
} counts_decay;

static double occurrences(const tide_word_stats *t, const counts_decay *decay,
                          uint64_t count)
{
    double fresh = (double)count - (double)t->count * decay->old_weight;
    return fresh > 0 ? fresh / decay->new_weight : 0;
}

static void update_slot(tide_history *h, const counts_decay *decay, uint32_t slot,
                        uint32_t generation)
{
    tide_word_stats *t = &h->stats[slot];
    uint32_t length;
    bool present = tide_vocabulary_word(decay->now, slot, &length);
    bool same_word = present && t->present && t->generation == generation;
    uint64_t count = tide_vocabulary_count(decay->now, slot);
    uint64_t seen = count - tide_vocabulary_error(decay->now, slot);
    if (t->present && !same_word)
        evict(h, slot);
    if (!present)
        return;
    if (!same_word)
        admit(h, t, generation);
    double occurred = same_word ? occurrences(t, decay, count) : (double)seen;
    t->fast = tide_ema_add(&h->fast, t->fast, occurred);
    t->slow = tide_ema_add(&h->slow, t->slow, occurred);
    t->seen += occurred;
    t->count = count;
}

static void check_alarms(tide_history *h, uint32_t slot)
{
    tide_word_stats *t = &h->stats[slot];
    const char *word = tide_model_entry(&h->model, slot).word;
    if (!t->new_alarmed && !isnan(t->since))
        tide_alarm_check(h, TIDE_ALARM_NEW, word, floor(t->seen),
                         (double)h->options.count_alarm, &t->new_alarmed);
    if (h->options.trend_alarm > 0)
        tide_alarm_check(h, TIDE_ALARM_TREND, word, tide_word_stats_trend(h, t),
                         h->options.trend_alarm, &t->trend_alarmed);
}

/* Copies the words and their order from the view. */
static void copy_words(tide_history *h, const tide_view *view)
{
    const tide_vocabulary *v = tide_view_model(view)->vocabulary;
    tide_vocabulary_copy(h->model.vocabulary, v);
    h->tokens = tide_vocabulary_tokens(v);
    const uint32_t *order = tide_view_order(view, &h->word_count);
    memcpy(h->order, order, h->word_count * sizeof *order);
    for (uint32_t rank = 0; rank < h->word_count; rank++)
        h->stats[order[rank]].rank = rank;
}

void tide_word_stats_update(tide_history *h, const tide_view *view, double seconds)
{
    counts_decay decay = {.now = tide_view_model(view)->vocabulary};
    uint64_t tokens = tide_vocabulary_tokens(decay.now) - h->tokens;
    update_text_gap(h, tokens > 0);
    tide_vocabulary_decay(decay.now, tokens, &decay.old_weight, &decay.new_weight);
    tide_ema_advance(&h->fast, seconds, (double)tokens);
    tide_ema_advance(&h->slow, seconds, (double)tokens);
    for (uint32_t slot = 0; slot < tide_vocabulary_used(decay.now); slot++)
        update_slot(h, &decay, slot, tide_view_generation(view, slot));
    copy_words(h, view);
    for (uint32_t rank = 0; rank < h->word_count; rank++)
        check_alarms(h, h->order[rank]);
}

void tide_word_stats_reset(tide_history *h, const tide_view *view)
{
    copy_words(h, view);
    for (uint32_t slot = 0; slot < h->model.shape.vocabulary.capacity; slot++)
        h->stats[slot] = (tide_word_stats){.row = TIDE_NOT_TRACKED};
    for (uint32_t rank = 0; rank < h->word_count; rank++) {
        uint32_t slot = h->order[rank];
        tide_word_stats *t = &h->stats[slot];
        admit(h, t, tide_view_generation(view, slot));
        t->count = tide_vocabulary_count(h->model.vocabulary, slot);
        t->seen = (double)(t->count - tide_vocabulary_error(h->model.vocabulary, slot));
        t->rank = rank;
    }
}
