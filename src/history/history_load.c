/* history_load.c - reads a history file (history_file.h).
 *
 * Records name words rather than slots, since the model may have been saved a moment
 * before or after. The memory is that of the history, so no number in the file sizes an
 * allocation except the bounded list of rows. If the file turns out to be corrupt, the
 * history is reset.
 */
#include "file/file.h"
#include "history/history_file.h"
#include "history/history_internal.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

static double get_double(const unsigned char *bytes)
{
    return double_of(tide_get64(bytes));
}

typedef struct loader {
    tide_history *h;
    tide_store *store;
    uint64_t file_rows; /* number of rows in the file */
    uint32_t *rows;     /* [file_rows] their rows in this history */
    uint64_t numbers[NUMBERS];
} loader;

static int corrupt(const loader *l, const char *section, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt",
                     tide_store_path(l->store), section);
}

/* A non-empty UTF-8 word, padded with zeros. */
static bool is_word(const unsigned char text[TEXT])
{
    size_t length = strnlen((const char *)text, TEXT);
    if (!length || length > TIDE_WORD_MAX)
        return false;
    for (size_t i = length; i < TEXT; i++)
        if (text[i])
            return false;
    for (size_t i = 0, step; i < length; i += step)
        if (!(step = tide_utf8_length(text + i, length - i)))
            return false;
    return true;
}

/* A time that is not in the future of the clock, or NAN. */
static bool is_past(const loader *l, double time)
{
    return isnan(time) || (time >= 0 && time <= l->h->clock);
}

/* The number of records of a section. Fails if its size is not a multiple of `size` or
 * if there are more than `max`. */
static int64_t count_records(const loader *l, const char *section, int64_t size,
                             int64_t max, tide_error *err)
{
    int64_t bytes = tide_store_size(l->store, section, err);
    if (bytes < 0)
        return bytes;
    return bytes % size || bytes / size > max ? corrupt(l, section, err) : bytes / size;
}

static bool is_sum(uint64_t bits)
{
    double value = double_of(bits);
    return value >= 0 && value < 1e18;
}

static bool are_valid(const uint64_t n[NUMBERS])
{
    bool valid = is_sum(n[NUMBER_CLOCK]) &&
                 !(fabs(double_of(n[NUMBER_NOW])) > TIDE_TIME_MAX) &&
                 n[NUMBER_STARTED] <= 1 && n[NUMBER_LAST_STEP] < UINT64_C(1) << 62 &&
                 n[NUMBER_ALARMS] < UINT64_C(1) << 62;
    for (int i = NUMBER_FAST_SECONDS; i <= NUMBER_SLOW_TOKENS; i++)
        valid = valid && is_sum(n[i]);
    for (int i = 0; i < 2; i++) /* the sum over the short span is the smaller */
        valid = valid && double_of(n[NUMBER_FAST_SECONDS + i]) <=
                             (1 + 1e-6) * double_of(n[NUMBER_SLOW_SECONDS + i]);
    return valid;
}

static int read_numbers(loader *l, tide_error *err)
{
    const tide_snapshots *snapshots = &l->h->snapshots;
    uint64_t *n = l->numbers;
    unsigned char bytes[8 * NUMBERS];
    int status = tide_store_read(l->store, "history", bytes, sizeof bytes, err);
    if (status)
        return status;
    for (int i = 0; i < NUMBERS; i++)
        n[i] = tide_get64(bytes + 8 * (size_t)i);
    if (!n[NUMBER_VERSION] || n[NUMBER_VERSION] > VERSION)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: unsupported version of the history format",
                         tide_store_path(l->store));
    if (n[NUMBER_DIM] != snapshots->dim || n[NUMBER_SNAPSHOTS] != snapshots->count ||
        n[NUMBER_STEP] != bits_of(snapshots->step))
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "%s: the history has another dimension, step or number of snapshots",
            tide_store_path(l->store));
    return are_valid(n) ? TIDE_OK : corrupt(l, "history", err);
}

static int load_numbers(loader *l, tide_error *err)
{
    tide_history *h = l->h;
    const uint64_t *n = l->numbers;
    int status = read_numbers(l, err);
    if (status)
        return status;
    h->clock = h->last_text = double_of(n[NUMBER_CLOCK]);
    h->now = double_of(n[NUMBER_NOW]);
    h->snapshots.last_step = n[NUMBER_LAST_STEP];
    h->snapshots.started = n[NUMBER_STARTED];
    h->fast.seconds = double_of(n[NUMBER_FAST_SECONDS]);
    h->fast.tokens = double_of(n[NUMBER_FAST_TOKENS]);
    h->slow.seconds = double_of(n[NUMBER_SLOW_SECONDS]);
    h->slow.tokens = double_of(n[NUMBER_SLOW_TOKENS]);
    return TIDE_OK;
}

static int load_row(loader *l, uint32_t snapshot, uint64_t i, uint64_t offset,
                    tide_error *err)
{
    tide_snapshots *snapshots = &l->h->snapshots;
    unsigned char bytes[ROW_SIZE_MAX];
    size_t size = 2 * 8 + 2 * (size_t)snapshots->dim;
    int status = tide_store_read_at(l->store, "rungs", offset, bytes, size, err);
    if (status)
        return status;
    double rate = get_double(bytes + 8);
    if (!(rate >= 0 && rate < 1e18))
        return corrupt(l, "rungs", err);
    if (l->rows[i] == TIDE_NOT_TRACKED)
        return TIDE_OK;
    tide_snapshots_put(snapshots, snapshot, l->rows[i], NULL, tide_get64(bytes),
                       (float)rate);
    memcpy(tide_snapshots_vector(snapshots, snapshot, l->rows[i]), bytes + 2 * 8,
           2 * (size_t)snapshots->dim);
    return TIDE_OK;
}

static int load_snapshots(loader *l, tide_error *err)
{
    tide_snapshots *snapshots = &l->h->snapshots;
    uint64_t row_size = 2 * 8 + 2 * (uint64_t)snapshots->dim,
             size = 8 + l->file_rows * row_size;
    int status = TIDE_OK;
    int64_t there = tide_store_size(l->store, "rungs", err);
    if (there < 0)
        return (int)there;
    if ((uint64_t)there != snapshots->count * size)
        return corrupt(l, "rungs", err);
    for (uint32_t snapshot = 0; snapshot < snapshots->count && !status; snapshot++) {
        unsigned char bytes[8];
        status = tide_store_read_at(l->store, "rungs", snapshot * size, bytes, 8, err);
        double time = status ? (double)NAN : get_double(bytes);
        if (!is_past(l, time))
            return corrupt(l, "rungs", err);
        snapshots->times[snapshot] = time;
        for (uint64_t i = 0; i < l->file_rows && !status && !isnan(time); i++)
            status = load_row(l, snapshot, i, snapshot * size + 8 + i * row_size, err);
    }
    return status;
}

/* -- records that start with a word ----------------------------------------------- */

/* Loads the i-th record of a section. Returns false if it is corrupt. */
typedef bool load_record(loader *l, const unsigned char *bytes, uint64_t i);

/* A word that is neither in the vocabulary nor watched is no longer tracked, and there
 * may be fewer free rows than in the file. If a word occurs twice its first row
 * counts. */
static bool load_tracked_word(loader *l, const unsigned char *bytes, uint64_t i)
{
    tide_history *h = l->h;
    const char *word = (const char *)bytes;
    double since = get_double(bytes + TEXT);
    uint64_t watched = tide_get64(bytes + TEXT + 8);
    if (watched > 1 || isnan(since) || !(since >= 0) ||
        (!isinf(since) && since > h->clock))
        return false;
    l->rows[i] = TIDE_NOT_TRACKED;
    if (tide_tracked_word_find(h, word) != TIDE_NOT_TRACKED)
        return true;
    tide_entry entry;
    bool present = !tide_model_find(&h->model, word, &entry, NULL);
    bool wanted = watched && h->watched_count < h->options.watched;
    l->rows[i] =
        present || wanted ? tide_tracked_word_add(h, word, wanted) : TIDE_NOT_TRACKED;
    if (l->rows[i] == TIDE_NOT_TRACKED)
        return true;
    h->watched_count += wanted;
    if (present) {
        tide_tracked_word_set_slot(h, l->rows[i], entry.slot);
        h->tracked[l->rows[i]].since = since;
    }
    return true;
}

static bool load_word(loader *l, const unsigned char *bytes, uint64_t i)
{
    (void)i;
    tide_history *h = l->h;
    double since = get_double(bytes + TEXT);
    uint64_t fast = tide_get64(bytes + TEXT + 8), slow = tide_get64(bytes + TEXT + 16);
    uint64_t alarmed = tide_get64(bytes + TEXT + 24);
    uint64_t seen = l->numbers[NUMBER_VERSION] > 1 ? tide_get64(bytes + TEXT + 32) : 0;
    if (!is_past(l, since) || !is_sum(fast) || !is_sum(slow) || alarmed > 3 ||
        !is_sum(seen))
        return false;
    tide_entry entry;
    if (tide_model_find(&h->model, (const char *)bytes, &entry, NULL))
        return true;
    tide_word_stats *t = &h->stats[entry.slot];
    t->since = since;
    t->fast = (float)double_of(fast);
    t->slow = (float)double_of(slow);
    t->new_alarmed = alarmed & 1;
    t->trend_alarmed = alarmed & 2;
    t->seen = fmax(t->seen, double_of(seen));
    return true;
}

static bool load_evicted(loader *l, const unsigned char *bytes, uint64_t i)
{
    (void)i;
    tide_evicted_word evicted = {.count = tide_get64(bytes + TEXT),
                                 .left = get_double(bytes + TEXT + 8)};
    if (isnan(evicted.left) || !is_past(l, evicted.left))
        return false;
    memcpy(evicted.word, bytes, TEXT);
    evicted.score =
        tide_word_stats_rank_score(l->h, (double)evicted.count, evicted.left);
    tide_evicted_word_keep(l->h, &evicted);
    return true;
}

static bool load_alarm(loader *l, const unsigned char *bytes, uint64_t i)
{
    tide_history *h = l->h;
    uint64_t last = l->numbers[NUMBER_ALARMS];
    uint64_t number = last - alarms_in_file(last) + i + 1;
    uint64_t kind = tide_get64(bytes + TEXT + 16);
    if (kind >= TIDE_ALARM_KINDS || tide_get64(bytes + TEXT) != number)
        return false;
    tide_alarm *alarm = &h->alarms[(number - 1) % TIDE_ALARMS_MAX];
    *alarm = (tide_alarm){.number = number,
                          .time = get_double(bytes + TEXT + 8),
                          .kind = (tide_alarm_kind)kind,
                          .score = get_double(bytes + TEXT + 24),
                          .threshold = get_double(bytes + TEXT + 32)};
    memcpy(alarm->word, bytes, TEXT);
    h->alarm_count = h->alarms_reported = number;
    return true;
}

static int load_records(loader *l, const char *section, int64_t size, int64_t max,
                        load_record *load, tide_error *err)
{
    unsigned char bytes[ALARM_SIZE]; /* the largest */
    int64_t count = count_records(l, section, size, max, err);
    int status = count < 0 ? (int)count : TIDE_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        status = tide_store_read_at(l->store, section, (uint64_t)(i * size), bytes,
                                    (size_t)size, err);
        if (!status && !(is_word(bytes) && load(l, bytes, (uint64_t)i)))
            status = corrupt(l, section, err);
    }
    return status;
}

/* -- the whole file --------------------------------------------------------------- */

static int load_tracked(loader *l, tide_error *err)
{
    const int64_t max = INT64_C(2) * TIDE_CAPACITY_MAX;
    int64_t count = count_records(l, "places", TRACKED_SIZE, max, err);
    if (count < 0)
        return (int)count;
    l->file_rows = (uint64_t)count;
    l->rows = tide_alloc((size_t)count + 1, sizeof *l->rows);
    return l->rows
               ? load_records(l, "places", TRACKED_SIZE, max, load_tracked_word, err)
               : tide_fail(err, TIDE_ERROR_MEMORY,
                           "no memory to load the history of words");
}

static int load_all(loader *l, tide_error *err)
{
    int status = load_numbers(l, err);
    if (!status)
        status = load_tracked(l, err);
    if (!status)
        status = load_snapshots(l, err);
    if (!status)
        status = load_records(l, "words", word_size(l->numbers[NUMBER_VERSION]),
                              TIDE_CAPACITY_MAX, load_word, err);
    if (!status)
        status = load_records(l, "gone", EVICTED_SIZE, TIDE_EVICTED_WORDS_MAX,
                              load_evicted, err);
    uint64_t alarms = alarms_in_file(l->numbers[NUMBER_ALARMS]);
    if (!status)
        status =
            load_records(l, "alarms", ALARM_SIZE, (int64_t)alarms, load_alarm, err);
    if (!status && l->h->alarm_count != l->numbers[NUMBER_ALARMS])
        status = corrupt(l, "alarms", err);
    return status;
}

int tide_history_load(tide_history *h, const char *path, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    if (h->updated)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s: a history can be loaded only before its first update",
                         path);
    loader l = {.h = h, .store = tide_store_open(path, err)};
    if (!l.store)
        return (int)err->status;
    pthread_mutex_lock(&h->lock);
    tide_history_reset(h);
    int status = load_all(&l, err);
    if (status)
        tide_history_reset(h);
    pthread_mutex_unlock(&h->lock);
    free(l.rows);
    tide_store_close(l.store);
    return status;
}
