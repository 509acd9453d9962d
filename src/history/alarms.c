/* alarms.c - what a person should be told: each event once, in a ring that can be read by number. */
#include "history/alarms.h"

#include "history/history_internal.h"

const char *tide_alarm_name(tide_alarm_kind kind)
{
    static const char *const names[TIDE_ALARM_KINDS] = {"new", "gone", "trend",
                                                        "drift"};
    return names[kind];
}

void tide_alarm_ring(tide_history *h, tide_alarm_kind kind, const char *word,
                     double score, double threshold)
{
    if (!tide_history_has_baseline(h))
        return;
    tide_alarm *alarm = &h->alarms[h->alarm_count % TIDE_ALARMS_KEPT];
    *alarm = (tide_alarm){.number = ++h->alarm_count,
                          .time = h->now,
                          .kind = kind,
                          .score = score,
                          .threshold = threshold};
    memcpy(alarm->word, word, strnlen(word, TIDE_WORD_MAX));
}

void tide_alarm_check(tide_history *h, tide_alarm_kind kind, const char *word,
                      double score, double threshold, bool *told)
{
    if (!(threshold > 0))
        return;
    if (score >= threshold && !*told)
        tide_alarm_ring(h, kind, word, score, threshold);
    *told = score >= threshold || (*told && !(score < threshold / 2));
}

size_t tide_history_alarms(tide_history *h, uint64_t after, tide_alarm *alarms,
                           size_t room)
{
    pthread_mutex_lock(&h->lock);
    uint64_t lost =
        h->alarm_count > TIDE_ALARMS_KEPT ? h->alarm_count - TIDE_ALARMS_KEPT : 0;
    uint64_t next = after > lost ? after : lost;
    size_t count = 0;
    for (; next < h->alarm_count && count < room; next++)
        alarms[count++] = h->alarms[next % TIDE_ALARMS_KEPT];
    pthread_mutex_unlock(&h->lock);
    return count;
}

void tide_alarms_report(tide_history *h)
{
    tide_alarm alarm;
    while (tide_history_alarms(h, h->alarms_told, &alarm, 1)) {
        h->alarms_told = alarm.number;
        if (h->options.alarm)
            h->options.alarm(h->options.alarm_data, &alarm);
    }
}
