/* alarms.c - events to notify the user of, each once, in a ring buffer that is read by
 * sequence number. */
#include "history/alarms.h"

#include "history/history_internal.h"

const char *tide_alarm_name(tide_alarm_kind kind)
{
    static const char *const names[TIDE_ALARM_KINDS] = {"new", "gone", "trend",
                                                        "drift"};
    return names[kind];
}

void tide_alarm_raise(tide_history *h, tide_alarm_kind kind, const char *word,
                      double score, double threshold)
{
    if (!tide_history_has_baseline(h))
        return;
    tide_alarm *alarm = &h->alarms[h->alarm_count % TIDE_ALARMS_MAX];
    *alarm = (tide_alarm){.number = ++h->alarm_count,
                          .time = h->now,
                          .kind = kind,
                          .score = score,
                          .threshold = threshold};
    memcpy(alarm->word, word, strnlen(word, TIDE_WORD_MAX));
}

void tide_alarm_check(tide_history *h, tide_alarm_kind kind, const char *word,
                      double score, double threshold, bool *alarmed)
{
    if (!(threshold > 0))
        return;
    if (score >= threshold && !*alarmed)
        tide_alarm_raise(h, kind, word, score, threshold);
    *alarmed = score >= threshold || (*alarmed && !(score < threshold / 2));
}

size_t tide_history_alarms(tide_history *h, uint64_t after, tide_alarm *alarms,
                           size_t max)
{
    pthread_mutex_lock(&h->lock);
    uint64_t overwritten =
        h->alarm_count > TIDE_ALARMS_MAX ? h->alarm_count - TIDE_ALARMS_MAX : 0;
    uint64_t next = after > overwritten ? after : overwritten;
    size_t count = 0;
    for (; next < h->alarm_count && count < max; next++)
        alarms[count++] = h->alarms[next % TIDE_ALARMS_MAX];
    pthread_mutex_unlock(&h->lock);
    return count;
}

void tide_alarms_report(tide_history *h)
{
    tide_alarm alarm;
    while (tide_history_alarms(h, h->alarms_reported, &alarm, 1)) {
        h->alarms_reported = alarm.number;
        if (h->options.alarm)
            h->options.alarm(h->options.alarm_data, &alarm);
    }
}
