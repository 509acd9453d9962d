/* load.c - reads the file of a history, as file.h has it.
 *
 * Words stand for themselves and not for slots: the model may have been saved a moment before or after. The memory is
 * that of the history, so nothing that the file claims sizes an allocation; a history whose file turns out bad is as new.
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

typedef struct loading {
    tide_history *h;
    tide_store *store;
    uint64_t places;  /* of the file */
    uint32_t *seated; /* [places] where they are here */
    uint64_t numbers[NUMBERS];
} loading;

static int impossible(const loading *l, const char *section, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section %s is impossible",
                     tide_store_path(l->store), section);
}

/* A word of at least one character, and nothing behind it. */
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

/* A moment that is not in the future of the clock, or NAN. */
static bool is_past(const loading *l, double time)
{
    return isnan(time) || (time >= 0 && time <= l->h->clock);
}

/* How many records of a size a section has; negative when that is no whole number, or more than `most`. */
static int64_t records_of(const loading *l, const char *section, int64_t size,
                          int64_t most, tide_error *err)
{
    int64_t bytes = tide_store_size(l->store, section, err);
    if (bytes < 0)
        return bytes;
    return bytes % size || bytes / size > most ? impossible(l, section, err)
                                               : bytes / size;
}

static bool is_sum(uint64_t bits)
{
    double value = double_of(bits);
    return value >= 0 && value < 1e18;
}

static bool are_possible(const uint64_t n[NUMBERS])
{
    bool possible = is_sum(n[NUMBER_CLOCK]) &&
                    !(fabs(double_of(n[NUMBER_NOW])) > TIDE_TIME_MOST) &&
                    n[NUMBER_BEGUN] <= 1 && n[NUMBER_TICK] < UINT64_C(1) << 62 &&
                    n[NUMBER_ALARMS] < UINT64_C(1) << 62;
    for (int i = NUMBER_FAST_SECONDS; i <= NUMBER_SLOW_TOKENS; i++)
        possible = possible && is_sum(n[i]);
    for (int i = 0; i < 2; i++) /* what fades faster is less */
        possible = possible && double_of(n[NUMBER_FAST_SECONDS + i]) <=
                                   (1 + 1e-6) * double_of(n[NUMBER_SLOW_SECONDS + i]);
    return possible;
}

static int read_numbers(loading *l, tide_error *err)
{
    const tide_snapshots *ladder = &l->h->ladder;
    uint64_t *n = l->numbers;
    unsigned char bytes[8 * NUMBERS];
    int status = tide_store_read(l->store, "history", bytes, sizeof bytes, err);
    if (status)
        return status;
    for (int i = 0; i < NUMBERS; i++)
        n[i] = tide_get64(bytes + 8 * (size_t)i);
    if (!n[NUMBER_VERSION] || n[NUMBER_VERSION] > VERSION)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: a history of another version than this program's",
                         tide_store_path(l->store));
    if (n[NUMBER_DIM] != ladder->dim || n[NUMBER_RUNGS] != ladder->rungs ||
        n[NUMBER_STEP] != bits_of(ladder->step))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "%s: a history of another dimension, step or number of rungs",
                         tide_store_path(l->store));
    return are_possible(n) ? TIDE_OK : impossible(l, "history", err);
}

static int load_numbers(loading *l, tide_error *err)
{
    tide_history *h = l->h;
    const uint64_t *n = l->numbers;
    int status = read_numbers(l, err);
    if (status)
        return status;
    h->clock = h->arrived = double_of(n[NUMBER_CLOCK]);
    h->now = double_of(n[NUMBER_NOW]);
    h->ladder.tick = n[NUMBER_TICK];
    h->ladder.begun = n[NUMBER_BEGUN];
    h->fast.seconds = double_of(n[NUMBER_FAST_SECONDS]);
    h->fast.tokens = double_of(n[NUMBER_FAST_TOKENS]);
    h->slow.seconds = double_of(n[NUMBER_SLOW_SECONDS]);
    h->slow.tokens = double_of(n[NUMBER_SLOW_TOKENS]);
    return TIDE_OK;
}

static int load_row(loading *l, uint32_t rung, uint64_t i, uint64_t offset,
                    tide_error *err)
{
    tide_snapshots *ladder = &l->h->ladder;
    unsigned char bytes[ROW_SIZE_MOST];
    size_t size = 2 * 8 + 2 * (size_t)ladder->dim;
    int status = tide_store_read_at(l->store, "rungs", offset, bytes, size, err);
    if (status)
        return status;
    double rate = get_double(bytes + 8);
    if (!(rate >= 0 && rate < 1e18))
        return impossible(l, "rungs", err);
    if (l->seated[i] == TIDE_NOT_TRACKED)
        return TIDE_OK;
    tide_snapshots_put(ladder, rung, l->seated[i], NULL, tide_get64(bytes),
                       (float)rate);
    memcpy(tide_snapshots_vector(ladder, rung, l->seated[i]), bytes + 2 * 8,
           2 * (size_t)ladder->dim);
    return TIDE_OK;
}

static int load_rungs(loading *l, tide_error *err)
{
    tide_snapshots *ladder = &l->h->ladder;
    uint64_t row = 2 * 8 + 2 * (uint64_t)ladder->dim, size = 8 + l->places * row;
    int status = TIDE_OK;
    int64_t there = tide_store_size(l->store, "rungs", err);
    if (there < 0)
        return (int)there;
    if ((uint64_t)there != ladder->rungs * size)
        return impossible(l, "rungs", err);
    for (uint32_t rung = 0; rung < ladder->rungs && !status; rung++) {
        unsigned char bytes[8];
        status = tide_store_read_at(l->store, "rungs", rung * size, bytes, 8, err);
        double time = status ? (double)NAN : get_double(bytes);
        if (!is_past(l, time))
            return impossible(l, "rungs", err);
        ladder->times[rung] = time;
        for (uint64_t i = 0; i < l->places && !status && !isnan(time); i++)
            status = load_row(l, rung, i, rung * size + 8 + i * row, err);
    }
    return status;
}

/* -- records that begin with a word ------------------------------------------------------------------- */

/* Takes the i-th of a section; false when it is impossible. */
typedef bool load_record(loading *l, const unsigned char *bytes, uint64_t i);

/* Words that are neither held nor watched are not followed any more, and some may find no place here. Of a word that is
 * there twice the first place counts. */
static bool load_place(loading *l, const unsigned char *bytes, uint64_t i)
{
    tide_history *h = l->h;
    const char *word = (const char *)bytes;
    double since = get_double(bytes + TEXT);
    uint64_t watched = tide_get64(bytes + TEXT + 8);
    if (watched > 1 || isnan(since) || !(since >= 0) ||
        (!isinf(since) && since > h->clock))
        return false;
    l->seated[i] = TIDE_NOT_TRACKED;
    if (tide_tracked_word_find(h, word) != TIDE_NOT_TRACKED)
        return true;
    tide_entry entry;
    bool held = !tide_model_find(&h->model, word, &entry, NULL);
    bool wanted = watched && h->watched < h->options.watch;
    l->seated[i] =
        held || wanted ? tide_tracked_word_add(h, word, wanted) : TIDE_NOT_TRACKED;
    if (l->seated[i] == TIDE_NOT_TRACKED)
        return true;
    h->watched += wanted;
    if (held) {
        tide_tracked_word_set_slot(h, l->seated[i], entry.slot);
        h->places[l->seated[i]].since = since;
    }
    return true;
}

static bool load_word(loading *l, const unsigned char *bytes, uint64_t i)
{
    (void)i;
    tide_history *h = l->h;
    double since = get_double(bytes + TEXT);
    uint64_t fast = tide_get64(bytes + TEXT + 8), slow = tide_get64(bytes + TEXT + 16);
    uint64_t told = tide_get64(bytes + TEXT + 24);
    uint64_t seen = l->numbers[NUMBER_VERSION] > 1 ? tide_get64(bytes + TEXT + 32) : 0;
    if (!is_past(l, since) || !is_sum(fast) || !is_sum(slow) || told > 3 ||
        !is_sum(seen))
        return false;
    tide_entry entry;
    if (tide_model_find(&h->model, (const char *)bytes, &entry, NULL))
        return true;
    tide_word_stats *t = &h->tenants[entry.slot];
    t->since = since;
    t->fast = (float)double_of(fast);
    t->slow = (float)double_of(slow);
    t->new_told = told & 1;
    t->trend_told = told & 2;
    t->seen = fmax(t->seen, double_of(seen));
    return true;
}

static bool load_gone(loading *l, const unsigned char *bytes, uint64_t i)
{
    (void)i;
    tide_evicted_word departed = {.count = tide_get64(bytes + TEXT),
                                  .left = get_double(bytes + TEXT + 8)};
    if (isnan(departed.left) || !is_past(l, departed.left))
        return false;
    memcpy(departed.word, bytes, TEXT);
    departed.worth =
        tide_word_stats_rank_score(l->h, (double)departed.count, departed.left);
    tide_evicted_word_keep(l->h, &departed);
    return true;
}

static bool load_alarm(loading *l, const unsigned char *bytes, uint64_t i)
{
    tide_history *h = l->h;
    uint64_t last = l->numbers[NUMBER_ALARMS];
    uint64_t number = last - alarms_kept(last) + i + 1;
    uint64_t kind = tide_get64(bytes + TEXT + 16);
    if (kind >= TIDE_ALARM_KINDS || tide_get64(bytes + TEXT) != number)
        return false;
    tide_alarm *alarm = &h->alarms[(number - 1) % TIDE_ALARMS_KEPT];
    *alarm = (tide_alarm){.number = number,
                          .time = get_double(bytes + TEXT + 8),
                          .kind = (tide_alarm_kind)kind,
                          .score = get_double(bytes + TEXT + 24),
                          .threshold = get_double(bytes + TEXT + 32)};
    memcpy(alarm->word, bytes, TEXT);
    h->alarm_count = h->alarms_told = number;
    return true;
}

static int load_each(loading *l, const char *section, int64_t size, int64_t most,
                     load_record *load, tide_error *err)
{
    unsigned char bytes[ALARM_SIZE]; /* the largest */
    int64_t count = records_of(l, section, size, most, err);
    int status = count < 0 ? (int)count : TIDE_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        status = tide_store_read_at(l->store, section, (uint64_t)(i * size), bytes,
                                    (size_t)size, err);
        if (!status && !(is_word(bytes) && load(l, bytes, (uint64_t)i)))
            status = impossible(l, section, err);
    }
    return status;
}

/* -- all of it ----------------------------------------------------------------------------------------- */

static int load_places(loading *l, tide_error *err)
{
    const int64_t most = INT64_C(2) * TIDE_CAPACITY_MAX;
    int64_t count = records_of(l, "places", PLACE_SIZE, most, err);
    if (count < 0)
        return (int)count;
    l->places = (uint64_t)count;
    l->seated = tide_alloc((size_t)count + 1, sizeof *l->seated);
    return l->seated ? load_each(l, "places", PLACE_SIZE, most, load_place, err)
                     : tide_fail(err, TIDE_ERROR_MEMORY,
                                 "no memory to load the history of words");
}

static int load_all(loading *l, tide_error *err)
{
    int status = load_numbers(l, err);
    if (!status)
        status = load_places(l, err);
    if (!status)
        status = load_rungs(l, err);
    if (!status)
        status = load_each(l, "words", word_size(l->numbers[NUMBER_VERSION]),
                           TIDE_CAPACITY_MAX, load_word, err);
    if (!status)
        status =
            load_each(l, "gone", GONE_SIZE, TIDE_EVICTED_WORDS_MAX, load_gone, err);
    uint64_t kept = alarms_kept(l->numbers[NUMBER_ALARMS]);
    if (!status)
        status = load_each(l, "alarms", ALARM_SIZE, (int64_t)kept, load_alarm, err);
    if (!status && l->h->alarm_count != l->numbers[NUMBER_ALARMS])
        status = impossible(l, "alarms", err);
    return status;
}

int tide_history_load(tide_history *h, const char *path, tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    if (h->looked)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "%s: the history has begun already",
                         path);
    loading l = {.h = h, .store = tide_store_open(path, err)};
    if (!l.store)
        return (int)err->status;
    pthread_mutex_lock(&h->lock);
    tide_history_reset(h);
    int status = load_all(&l, err);
    if (status)
        tide_history_reset(h);
    pthread_mutex_unlock(&h->lock);
    free(l.seated);
    tide_store_close(l.store);
    return status;
}
