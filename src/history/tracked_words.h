/* tracked_words.h - words whose vectors are kept. Private. */
#ifndef TIDE_HISTORY_TRACKED_WORDS_H
#define TIDE_HISTORY_TRACKED_WORDS_H

#include "base/base.h"

typedef struct tide_tracked_word {
    char word[TIDE_WORD_MAX + 1]; /* "" for a free one */
    bool watched;
    bool drift_told;
    uint32_t slot; /* TIDE_NO_SLOT when it is not held */
    double since;  /* it is followed; snapshots before are another word's */
} tide_tracked_word;

/* Chooses the words to be followed, by the order of the last look. */
void tide_tracked_words_update(tide_history *h);

/* The word of a place is not held any more. */
void tide_tracked_word_evicted(tide_history *h, uint32_t place);

/* TIDE_NOT_TRACKED when it is not followed. */
uint32_t tide_tracked_word_find(const tide_history *h, const char *word);

/* A place for the word; TIDE_NOT_TRACKED when all are taken. */
uint32_t tide_tracked_word_add(tide_history *h, const char *word, bool watched);
void tide_tracked_word_set_slot(tide_history *h, uint32_t place, uint32_t slot);

/* Whether the rung has a snapshot of the word that is in the place now. */
bool tide_tracked_word_has_snapshot(const tide_history *h, uint32_t place,
                                    uint32_t rung);

#endif
