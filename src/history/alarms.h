/* alarms.h - telling the user. Private. */
#ifndef TIDE_HISTORY_ALARMS_H
#define TIDE_HISTORY_ALARMS_H

#include "base/base.h"

enum { TIDE_ALARMS_KEPT = 256 };

/* Rings once, when the score reaches the threshold; *told becomes false when it is below half of it. Until there is
 * a baseline nothing rings, and what is above its threshold by then does not ring later either. */
void tide_alarm_check(tide_history *h, tide_alarm_kind kind, const char *word,
                      double score, double threshold, bool *told);
void tide_alarm_ring(tide_history *h, tide_alarm_kind kind, const char *word,
                     double score, double threshold);

/* Calls the user for those that have not been told; without the lock. */
void tide_alarms_report(tide_history *h);

#endif
