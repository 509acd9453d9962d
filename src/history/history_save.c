/* save.c - writes the file of a history, as file.h has it.
 *
 * Writing waits for the disk, and those who ask must not wait with it. All that is written is changed by the thread that
 * looks alone, which is the one that saves, so it can be read without the lock. Only places are taken and given up by
 * others, when a word is watched or not any more; of them there is a copy.
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
        [NUMBER_DIM] = h->ladder.dim,
        [NUMBER_RUNGS] = h->ladder.rungs,
        [NUMBER_STEP] = bits_of(h->options.step),
        [NUMBER_CLOCK] = bits_of(h->clock),
        [NUMBER_NOW] = bits_of(h->now),
        [NUMBER_TICK] = h->ladder.tick,
        [NUMBER_BEGUN] = h->ladder.begun,
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

static void save_places(const tide_history *h, tide_store_writer *writer)
{
    tide_store_begin(writer, "places");
    for (uint32_t at = 0; at < h->ladder.places; at++) {
        unsigned char bytes[PLACE_SIZE];
        if (!*h->saved[at].word)
            continue;
        put_text(bytes, h->saved[at].word);
        put_double(bytes + TEXT, h->saved[at].since);
        tide_put64(bytes + TEXT + 8, h->saved[at].watched);
        tide_store_append(writer, bytes, sizeof bytes);
    }
}

static void save_rungs(const tide_history *h, tide_store_writer *writer)
{
    const tide_snapshots *l = &h->ladder;
    tide_store_begin(writer, "rungs");
    for (uint32_t rung = 0; rung < l->rungs; rung++) {
        unsigned char bytes[2 * 8];
        put_double(bytes, l->times[rung]);
        tide_store_append(writer, bytes, 8);
        for (uint32_t at = 0; at < l->places; at++) {
            if (!*h->saved[at].word)
                continue;
            tide_put64(bytes, tide_snapshots_count(l, rung, at));
            put_double(bytes + 8, (double)tide_snapshots_rate(l, rung, at));
            tide_store_append(writer, bytes, sizeof bytes);
            tide_store_append(writer, tide_snapshots_vector(l, rung, at),
                              l->dim * sizeof(int16_t));
        }
    }
}

static void save_words(const tide_history *h, tide_store_writer *writer)
{
    tide_store_begin(writer, "words");
    for (uint32_t rank = 0; rank < h->words; rank++) {
        const tide_word_stats *t = &h->tenants[h->order[rank]];
        unsigned char bytes[WORD_SIZE];
        put_text(bytes, tide_model_entry(&h->model, h->order[rank]).word);
        put_double(bytes + TEXT, t->since);
        put_double(bytes + TEXT + 8, (double)t->fast);
        put_double(bytes + TEXT + 16, (double)t->slow);
        tide_put64(bytes + TEXT + 24,
                   (uint64_t)t->new_told + 2 * (uint64_t)t->trend_told);
        put_double(bytes + TEXT + 32, t->seen);
        tide_store_append(writer, bytes, sizeof bytes);
    }
}

static void save_gone(const tide_history *h, tide_store_writer *writer)
{
    tide_store_begin(writer, "gone");
    for (uint32_t i = 0; i < h->departed_count; i++) {
        unsigned char bytes[GONE_SIZE];
        put_text(bytes, h->departed[i].word);
        tide_put64(bytes + TEXT, h->departed[i].count);
        put_double(bytes + TEXT + 8, h->departed[i].left);
        tide_store_append(writer, bytes, sizeof bytes);
    }
}

static void save_alarms(const tide_history *h, tide_store_writer *writer)
{
    uint64_t first = h->alarm_count - alarms_kept(h->alarm_count);
    tide_store_begin(writer, "alarms");
    for (uint64_t i = first; i < h->alarm_count; i++) {
        const tide_alarm *alarm = &h->alarms[i % TIDE_ALARMS_KEPT];
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
    memcpy(h->saved, h->places, h->ladder.places * sizeof *h->saved);
    pthread_mutex_unlock(&h->lock);
    save_numbers(h, writer);
    save_places(h, writer);
    save_rungs(h, writer);
    save_words(h, writer);
    save_gone(h, writer);
    save_alarms(h, writer);
    return tide_store_commit(writer, err);
}
