/* history_save.c - writes a history file (history_file.h).
 *
 * Writing waits for the disk, and queries must not wait with it. Only the updating
 * thread saves, and only it changes what is saved, so no lock is needed to read it. The
 * exception are the tracked words, which other threads change by watching and
 * unwatching; they are copied first.
 */
#include "file/file.h"
#include "history/history_file.h"
#include "history/history_internal.h"
#include "query/query.h"

static void put_double(unsigned char *bytes, double value)
{
    tide_put64(bytes, bits_of(value));
}

static void put_text(unsigned char bytes[TEXT], const char *word)
{
    memset(bytes, 0, TEXT);
    memcpy(bytes, word, strnlen(word, TIDE_WORD_MAX));
}

static void save_numbers(const tide_history *h, tide_store_writer *writer)
{
    unsigned char bytes[8 * NUMBERS];
    const uint64_t numbers[NUMBERS] = {
        [NUMBER_VERSION] = VERSION,
        [NUMBER_DIM] = h->snapshots.dim,
        [NUMBER_SNAPSHOTS] = h->snapshots.count,
        [NUMBER_STEP] = bits_of(h->options.step),
        [NUMBER_CLOCK] = bits_of(h->clock),
        [NUMBER_NOW] = bits_of(h->now),
        [NUMBER_LAST_STEP] = h->snapshots.last_step,
        [NUMBER_STARTED] = h->snapshots.started,
        [NUMBER_FAST_SECONDS] = bits_of(h->fast.seconds),
        [NUMBER_FAST_TOKENS] = bits_of(h->fast.tokens),
        [NUMBER_SLOW_SECONDS] = bits_of(h->slow.seconds),
        [NUMBER_SLOW_TOKENS] = bits_of(h->slow.tokens),
        [NUMBER_ALARMS] = h->alarm_count,
    };
    for (int i = 0; i < NUMBERS; i++)
        tide_put64(bytes + 8 * (size_t)i, numbers[i]);
    tide_store_put(writer, "history", bytes, sizeof bytes);
}

static void save_tracked(const tide_history *h, tide_store_writer *writer)
{
    tide_store_begin(writer, "places");
    for (uint32_t row = 0; row < h->snapshots.rows; row++) {
        unsigned char bytes[TRACKED_SIZE];
        if (!*h->tracked_copy[row].word)
            continue;
        put_text(bytes, h->tracked_copy[row].word);
        put_double(bytes + TEXT, h->tracked_copy[row].since);
        tide_put64(bytes + TEXT + 8, h->tracked_copy[row].watched);
        tide_store_append(writer, bytes, sizeof bytes);
    }
}

static void save_snapshots(const tide_history *h, tide_store_writer *writer)
{
    const tide_snapshots *s = &h->snapshots;
    tide_store_begin(writer, "rungs");
    for (uint32_t snapshot = 0; snapshot < s->count; snapshot++) {
        unsigned char bytes[2 * 8];
        put_double(bytes, s->times[snapshot]);
        tide_store_append(writer, bytes, 8);
        for (uint32_t row = 0; row < s->rows; row++) {
            if (!*h->tracked_copy[row].word)
                continue;
            tide_put64(bytes, tide_snapshots_count(s, snapshot, row));
            put_double(bytes + 8, (double)tide_snapshots_rate(s, snapshot, row));
            tide_store_append(writer, bytes, sizeof bytes);
            tide_store_append(writer, tide_snapshots_vector(s, snapshot, row),
                              s->dim * sizeof(int16_t));
        }
    }
}

static void save_words(const tide_history *h, tide_store_writer *writer)
{
    tide_store_begin(writer, "words");
    for (uint32_t rank = 0; rank < h->word_count; rank++) {
        const tide_word_stats *t = &h->stats[h->order[rank]];
        unsigned char bytes[WORD_SIZE];
        put_text(bytes, tide_model_entry(&h->model, h->order[rank]).word);
        put_double(bytes + TEXT, t->since);
        put_double(bytes + TEXT + 8, (double)t->fast);
        put_double(bytes + TEXT + 16, (double)t->slow);
        tide_put64(bytes + TEXT + 24,
                   (uint64_t)t->new_alarmed + 2 * (uint64_t)t->trend_alarmed);
        put_double(bytes + TEXT + 32, t->seen);
        tide_store_append(writer, bytes, sizeof bytes);
    }
}

static void save_evicted(const tide_history *h, tide_store_writer *writer)
{
    tide_store_begin(writer, "gone");
    for (uint32_t i = 0; i < h->evicted_count; i++) {
        unsigned char bytes[EVICTED_SIZE];
        put_text(bytes, h->evicted[i].word);
        tide_put64(bytes + TEXT, h->evicted[i].count);
        put_double(bytes + TEXT + 8, h->evicted[i].left);
        tide_store_append(writer, bytes, sizeof bytes);
    }
}

static void save_alarms(const tide_history *h, tide_store_writer *writer)
{
    uint64_t first = h->alarm_count - alarms_in_file(h->alarm_count);
    tide_store_begin(writer, "alarms");
    for (uint64_t i = first; i < h->alarm_count; i++) {
        const tide_alarm *alarm = &h->alarms[i % TIDE_ALARMS_MAX];
        unsigned char bytes[ALARM_SIZE];
        put_text(bytes, alarm->word);
        tide_put64(bytes + TEXT, alarm->number);
        put_double(bytes + TEXT + 8, alarm->time);
        tide_put64(bytes + TEXT + 16, alarm->kind);
        put_double(bytes + TEXT + 24, alarm->score);
        put_double(bytes + TEXT + 32, alarm->threshold);
        tide_store_append(writer, bytes, sizeof bytes);
    }
}

int tide_history_save(tide_history *h, const char *path, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    tide_store_writer *writer = tide_store_create(path, err);
    if (!writer)
        return (int)err->status;
    pthread_mutex_lock(&h->lock);
    memcpy(h->tracked_copy, h->tracked, h->snapshots.rows * sizeof *h->tracked_copy);
    pthread_mutex_unlock(&h->lock);
    save_numbers(h, writer);
    save_tracked(h, writer);
    save_snapshots(h, writer);
    save_words(h, writer);
    save_evicted(h, writer);
    save_alarms(h, writer);
    return tide_store_commit(writer, err);
}
