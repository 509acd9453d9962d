/* tracked_words.h - words whose vectors are recorded. Private. */
#ifndef TIDE_HISTORY_TRACKED_WORDS_H
#define TIDE_HISTORY_TRACKED_WORDS_H

#include "base/base.h"

#include <wordtide/history.h>

/* The word of a row. */
typedef struct tide_tracked_word {
    char word[TIDE_WORD_MAX + 1]; /* "" for a free row */
    bool watched;
    bool drift_alarmed;
    uint32_t slot; /* TIDE_NO_SLOT if it is not in the vocabulary */
    double since;  /* tracked since; earlier snapshots belong to another word */
} tide_tracked_word;

/* Chooses the words to track, by their current rank. */
void tide_tracked_words_update(tide_history *h);

/* The word of a row was evicted from the vocabulary. */
void tide_tracked_word_evicted(tide_history *h, uint32_t row);

/* The row of a word; TIDE_NOT_TRACKED if it has none. */
uint32_t tide_tracked_word_find(const tide_history *h, const char *word);

/* Assigns a free row to the word; TIDE_NOT_TRACKED if there is none. */
uint32_t tide_tracked_word_add(tide_history *h, const char *word, bool watched);
void tide_tracked_word_set_slot(tide_history *h, uint32_t row, uint32_t slot);

/* Whether the snapshot has a vector of the word that is in the row now. */
bool tide_tracked_word_has_snapshot(const tide_history *h, uint32_t row,
                                    uint32_t snapshot);

#endif
