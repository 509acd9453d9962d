/* word_stats.h - statistics of the words in the vocabulary, and of evicted ones.
 * Private. */
#ifndef TIDE_HISTORY_WORD_STATS_H
#define TIDE_HISTORY_WORD_STATS_H

#include "base/base.h"

#include <wordtide/history.h>

/* The word in a slot. */
typedef struct tide_word_stats {
    uint64_t count;
    double seen;      /* occurrences since it was admitted, without decay */
    double since;     /* when it was admitted; NAN before the end of the warm-up */
    float fast, slow; /* decayed occurrences */
    uint32_t generation;
    uint32_t rank; /* from 0 */
    uint32_t row;  /* TIDE_NOT_TRACKED if it is not tracked */
    bool present;
    bool new_alarmed, trend_alarmed; /* an alarm was raised */
} tide_word_stats;

typedef struct tide_evicted_word {
    char word[TIDE_WORD_MAX + 1];
    uint64_t count;
    double left;
    double score; /* tide_word_stats_rank_score */
} tide_evicted_word;

enum { TIDE_EVICTED_WORDS_MAX = 1024 };

/* Counts occurrences, admissions and evictions since the previous update. */
void tide_word_stats_update(tide_history *h, const tide_view *view, double seconds);

/* Starts over with the words of the view. */
void tide_word_stats_reset(tide_history *h, const tide_view *view);

/* Ranking score of an arrival or departure. Doubling the count is worth 60 steps of
 * recency. */
double tide_word_stats_rank_score(const tide_history *h, double seen, double time);
double tide_word_stats_trend(const tide_history *h, const tide_word_stats *t);

/* Occurrences per second, short-term and long-term, and their ratio. */
double tide_word_stats_rate(const tide_history *h, const tide_word_stats *t);
double tide_word_stats_baseline(const tide_history *h, const tide_word_stats *t);
double tide_word_stats_ratio(const tide_history *h, const tide_word_stats *t);

/* Remembers an evicted word if its score is high enough. */
void tide_evicted_word_keep(tide_history *h, const tide_evicted_word *evicted);

#endif
