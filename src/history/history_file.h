/* history_file.h - the format of a history file, shared by its writer and reader.
 * Private.
 *
 * It is a store of its own (doc/FORMAT.md). Numbers have 8 bytes unless noted
 * otherwise:
 *
 *     history   version, dimension, number of snapshots, step, clock, the caller's
 *               time, last step and whether there was one, decayed seconds and tokens
 *               of the short and of the long span, number of alarms
 *     places    per tracked word: 64 bytes of text padded with zeros, since, watched
 *     rungs     per snapshot: its time, NAN for an empty one; then for each tracked
 *               word: count, rate, vector (16 bits per component)
 *     words     per word: 64 bytes of text, since, the two decayed sums, alarms raised
 *               (bits), occurrences (not in version 1)
 *     gone      per evicted word: 64 bytes of text, count, when
 *     alarms    per alarm: 64 bytes of text, number, time, kind, score, threshold
 */
#ifndef TIDE_HISTORY_HISTORY_FILE_H
#define TIDE_HISTORY_HISTORY_FILE_H

#include "history/alarms.h"

enum {
    VERSION = 2,
    TEXT = TIDE_WORD_MAX + 1,
    TRACKED_SIZE = TEXT + 2 * 8,
    WORD_SIZE = TEXT + 5 * 8,
    WORD_SIZE_1 = TEXT + 4 * 8, /* in version 1 */
    EVICTED_SIZE = TEXT + 2 * 8,
    ALARM_SIZE = TEXT + 5 * 8,
    ROW_SIZE_MAX = 2 * 8 + 2 * TIDE_DIM_MAX,
};

enum tide_history_number {
    NUMBER_VERSION,
    NUMBER_DIM,
    NUMBER_SNAPSHOTS,
    NUMBER_STEP,
    NUMBER_CLOCK,
    NUMBER_NOW,
    NUMBER_LAST_STEP,
    NUMBER_STARTED,
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

static inline uint64_t alarms_in_file(uint64_t count)
{
    return count < TIDE_ALARMS_MAX ? count : TIDE_ALARMS_MAX;
}

#endif
