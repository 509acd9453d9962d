/* file.h - the file of a history: what its writer and its reader share. Private.
 *
 * A store of its own (doc/FORMAT.md), every number in 8 bytes unless it says otherwise:
 *
 *     history   version, dimension, rungs, step, clock, the caller's time, step number and whether there was one,
 *               faded seconds and tokens of the short and of the long span, number of alarms
 *     places    of each followed word: 64 bytes of text padded with zeros, since, watched
 *     rungs     of each rung: its time, NAN for an empty one; then of each place: count, rate, vector (16 bits a number)
 *     words     of each word held: 64 bytes of text, since, the two faded sums, alarms that have rung, occurrences
 *               (not in version 1)
 *     gone      of each word that left: 64 bytes of text, count, when
 *     alarms    of each alarm kept: 64 bytes of text, number, time, kind, score, threshold
 */
#ifndef TIDE_HISTORY_HISTORY_FILE_H
#define TIDE_HISTORY_HISTORY_FILE_H

#include "history/alarms.h"

enum {
    VERSION = 2,
    TEXT = TIDE_WORD_MAX + 1,
    PLACE_SIZE = TEXT + 2 * 8,
    WORD_SIZE = TEXT + 5 * 8,
    WORD_SIZE_1 = TEXT + 4 * 8, /* in version 1 */
    GONE_SIZE = TEXT + 2 * 8,
    ALARM_SIZE = TEXT + 5 * 8,
    ROW_SIZE_MOST = 2 * 8 + 2 * TIDE_DIM_MAX,
};

enum tide_history_number {
    NUMBER_VERSION,
    NUMBER_DIM,
    NUMBER_RUNGS,
    NUMBER_STEP,
    NUMBER_CLOCK,
    NUMBER_NOW,
    NUMBER_TICK,
    NUMBER_BEGUN,
    NUMBER_FAST_SECONDS,
    NUMBER_FAST_TOKENS,
    NUMBER_SLOW_SECONDS,
    NUMBER_SLOW_TOKENS,
    NUMBER_ALARMS,
    NUMBERS,
};

static inline int word_size(uint64_t version)
{
    return version > 1 ? WORD_SIZE : WORD_SIZE_1;
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t alarms_kept(uint64_t count)
{
    return count < TIDE_ALARMS_KEPT ? count : TIDE_ALARMS_KEPT;
}

#endif
