/* word_stats.h - statistics of the words that are held, and those evicted. Private. */
#ifndef TIDE_HISTORY_WORD_STATS_H
#define TIDE_HISTORY_WORD_STATS_H

#include "base/base.h"

/* The word in a slot. */
typedef struct tide_word_stats {
    uint64_t count;
    double seen;      /* occurrences since it came, which halving leaves alone */
    double since;     /* it came; NAN before the end of the warm-up */
    float fast, slow; /* faded occurrences */
    uint32_t hands;
    uint32_t rank;  /* from 0 */
    uint32_t place; /* TIDE_NOT_TRACKED when it is not followed */
    bool held;
    bool new_told, trend_told; /* there was an alarm */
} tide_word_stats;

typedef struct tide_evicted_word {
    char word[TIDE_WORD_MAX + 1];
    uint64_t count;
    double left;
    double worth; /* of being remembered */
} tide_evicted_word;

enum { TIDE_EVICTED_WORDS_MAX = 1024 };

/* Counts what has been seen since the last look, and who came and left. */
void tide_word_stats_update(tide_history *h, const tide_view *space, double seconds);

/* Begins with the words as they are. */
void tide_word_stats_begin(tide_history *h, const tide_view *space);

/* How much a word is worth being told that came or left at a time and was seen so often: as much as one that was seen
 * half as often and came 60 steps later. */
double tide_word_stats_rank_score(const tide_history *h, double seen, double time);
double tide_word_stats_trend(const tide_history *h, const tide_word_stats *t);

/* Occurrences per second, short-term and long-term. */
double tide_word_stats_rate(const tide_history *h, const tide_word_stats *t);
double tide_word_stats_baseline(const tide_history *h, const tide_word_stats *t);
double tide_word_stats_ratio(const tide_history *h, const tide_word_stats *t);

/* Remembers it, if it is worth it. */
void tide_evicted_word_keep(tide_history *h, const tide_evicted_word *departed);

#endif
