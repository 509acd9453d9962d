/* alarms.h - events to notify the user of. Private. */
#ifndef TIDE_HISTORY_ALARMS_H
#define TIDE_HISTORY_ALARMS_H

#include "base/base.h"

#include <wordtide/history.h>

enum { TIDE_ALARMS_MAX = 256 };

/* Raises an alarm once when the score reaches the threshold; *alarmed is reset when the
 * score falls below half of it. Before there is a baseline no alarm is raised, and a
 * score that is above its threshold by then does not raise one later either. */
void tide_alarm_check(tide_history *h, tide_alarm_kind kind, const char *word,
                      double score, double threshold, bool *alarmed);
void tide_alarm_raise(tide_history *h, tide_alarm_kind kind, const char *word,
                      double score, double threshold);

/* Calls the user's callback for new alarms, without the lock. */
void tide_alarms_report(tide_history *h);

#endif
