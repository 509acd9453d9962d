/* periods.c - a stream from day to day, or from month to month: what is new, and which words have moved.
 *
 * At the end of each period the most frequent words are taken down with their vectors, and compared
 * with those taken down a period before (snapshot.c). The words that moved are those that are farthest
 * from where the common rotation would have brought them. Words that came lately move most, and mean
 * least by it, so only words that were frequent before are looked at.
 *
 * Times are written so that a later period has a name that sorts later. That is all that is needed to
 * tell when one begins; a record that comes too late does not call an old one back.
 */
#include "eval/eval.h"
#include "model/model.h"
#include "params/params.h"
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum {
    WORDS_AT_ONCE = 64,
    AMONG = 10000,    /* words of a snapshot */
    FREQUENT = 1000,  /* of them, those that stability is about */
    MOVERS_OF = 3000, /* of them, those that can be said to have moved */
    NAME = 32,
    WATCH_SENTENCES = 1 << 12,
};

/* What is known at the end of a period. */
typedef struct state {
    tide_snapshot *words; /* the most frequent */
    uint64_t *hashes;     /* [held] of all words, sorted */
    size_t held;
    tide_stats stats;
    uint64_t tokens;
} state;

typedef struct history {
    const tide_periods_options *options;
    tide_word_trainer *pupil;
    uint64_t tokens;
    char name[NAME]; /* of the present period; "" before the first */
    state before;    /* at the end of the one before, if there was one */
    float *aligned;  /* [AMONG] */
} history;

/* -- a state --------------------------------------------------------------------------------------- */

static void state_release(state *s)
{
    tide_snapshot_free(s->words);
    free(s->hashes);
    *s = (state){0};
}

static uint64_t hash_of(const char *word)
{
    return tide_hash(word, strlen(word), 0);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool was_held(const state *s, const char *word)
{
    uint64_t hash = hash_of(word);
    return bsearch(&hash, s->hashes, s->held, sizeof hash, by_value);
}

static tide_snapshot *snapshot_of(const history *h, const tide_model *model,
                                  const tide_entry *entries, size_t held,
                                  tide_error *err)
{
    const char *words[AMONG];
    uint32_t count = (uint32_t)(held < AMONG ? held : AMONG);
    for (uint32_t i = 0; i < count; i++)
        words[i] = entries[i].word;
    tide_view *space =
        tide_view_new(model, h->options->vectors, h->options->centered, err);
    tide_snapshot *s = space ? tide_snapshot_new(space, words, count, err) : NULL;
    tide_view_free(space);
    return s;
}

/* `entries` [size of the model] gets its words by falling count. */
static int state_take(state *s, history *h, const tide_model *model,
                      tide_entry *entries, tide_error *err)
{
    s->held = tide_model_words(model, entries, tide_model_size(model));
    bool listed = s->held == tide_model_size(model);
    s->hashes = listed ? tide_alloc(s->held + 1, sizeof *s->hashes) : NULL;
    s->words = s->hashes ? snapshot_of(h, model, entries, s->held, err) : NULL;
    if (!s->words) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare periods");
        return TIDE_ERROR_MEMORY;
    }
    for (size_t i = 0; i < s->held; i++)
        s->hashes[i] = hash_of(entries[i].word);
    qsort(s->hashes, s->held, sizeof *s->hashes, by_value);
    tide_word_trainer_stats(h->pupil, &s->stats);
    s->tokens = h->tokens;
    return TIDE_OK;
}

/* -- what a period has brought --------------------------------------------------------------------- */

static void name_nearest(const tide_snapshot *s, uint32_t place,
                         const char *names[TIDE_PERIOD_WORDS])
{
    uint32_t near[TIDE_NEAREST];
    uint32_t count = tide_nearest_rows(&s->rows, place, s->count, s->held, near);
    for (uint32_t i = 0; i < TIDE_PERIOD_WORDS; i++)
        names[i] = i < count ? tide_snapshot_word(s, near[i]) : NULL;
}

/* The places of the words that moved most, the farthest first; returns how many. */
static size_t find_movers(const float *aligned, uint32_t count,
                          uint32_t places[TIDE_PERIOD_WORDS])
{
    size_t found = 0;
    for (uint32_t place = 0; place < count; place++) {
        float moved = aligned[place];
        bool full = found == TIDE_PERIOD_WORDS;
        if (isnan(moved) || (full && moved >= aligned[places[found - 1]]))
            continue;
        size_t at = full ? found - 1 : found++;
        for (; at > 0 && aligned[places[at - 1]] > moved; at--)
            places[at] = places[at - 1];
        places[at] = place;
    }
    return found;
}

static void tell_movers(const history *h, const state *now, const tide_entry *entries,
                        tide_period *period)
{
    const tide_snapshot *then = h->before.words;
    uint32_t places[TIDE_PERIOD_WORDS];
    uint32_t count = then->count < MOVERS_OF ? then->count : MOVERS_OF;
    period->mover_count = find_movers(h->aligned, count, places);
    for (size_t i = 0; i < period->mover_count; i++) {
        tide_moved_word *mover = &period->movers[i];
        const char *word = tide_snapshot_word(then, places[i]);
        uint32_t place = tide_index_find(now->words->index, word);
        *mover = (tide_moved_word){.word = word,
                                   .count = entries[place].count,
                                   .aligned = (double)h->aligned[places[i]]};
        name_nearest(then, places[i], mover->then);
        name_nearest(now->words, place, mover->now);
    }
}

static void tell_newcomers(const history *h, const tide_entry *entries, size_t held,
                           tide_period *period)
{
    size_t count = 0;
    for (size_t i = 0; i < held && count < TIDE_PERIOD_WORDS; i++)
        if (!was_held(&h->before, entries[i].word))
            period->newcomers[count++] = entries[i];
    period->newcomer_count = count;
}

static int compare(history *h, const state *now, const tide_entry *entries,
                   tide_period *period, tide_error *err)
{
    uint32_t count = h->before.words->count;
    const tide_comparison comparison = {h->before.words, now->words, count,
                                        count < FREQUENT ? count : FREQUENT};
    int status = tide_snapshot_compare(&comparison, &period->frequent, h->aligned, err);
    if (status)
        return status;
    tell_movers(h, now, entries, period);
    tell_newcomers(h, entries, now->held, period);
    return TIDE_OK;
}

static int end_period(history *h, tide_error *err)
{
    const tide_model *model = tide_word_trainer_drain(h->pupil);
    tide_entry *entries = tide_alloc(tide_model_size(model) + 1, sizeof *entries);
    if (!entries)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to list the words");
    state now = {0};
    tide_period period = {.name = h->name,
                          .frequent = {0, (double)NAN, (double)NAN, (double)NAN}};
    int status = state_take(&now, h, model, entries, err);
    if (!status && h->before.words)
        status = compare(h, &now, entries, &period, err);
    if (!status) {
        period.tokens = now.tokens - h->before.tokens;
        period.vocabulary = now.stats.vocabulary;
        period.admitted = now.stats.admitted - h->before.stats.admitted;
        period.evicted = now.stats.evicted - h->before.stats.evicted;
        h->options->period(h->options->period_data, &period);
    }
    free(entries);
    state_release(status ? &now : &h->before);
    if (!status)
        h->before = now;
    return status;
}

/* -- along the stream ------------------------------------------------------------------------------ */

/* "" for what is no time, or has no year of four digits. */
static void name_time(tide_period_unit unit, double seconds, char name[NAME])
{
    struct tm parts;
    name[0] = 0;
    if (!(seconds > -30e9 && seconds < 253e9))
        return;
    time_t whole = (time_t)floor(seconds);
    if (!gmtime_r(&whole, &parts))
        return;
    if (unit == TIDE_PERIOD_WEEK) {
        strftime(name, NAME, "%G-W%V", &parts);
        return;
    }
    strftime(name, NAME, "%Y-%m-%d", &parts);
    name[unit == TIDE_PERIOD_YEAR ? 4 : unit == TIDE_PERIOD_MONTH ? 7 : 10] = 0;
}

/* Before a sentence: whether another period begins with it. */
static int begin_sentence(history *h, double seconds, tide_error *err)
{
    char name[NAME] = "";
    int status = TIDE_OK;
    if (h->options->unit != TIDE_PERIOD_TOKENS) {
        name_time(h->options->unit, seconds, name);
        if (strcmp(name, h->name) <= 0)
            return TIDE_OK;
        if (*h->name)
            status = end_period(h, err);
    } else if (h->tokens - h->before.tokens >= h->options->tokens) {
        snprintf(h->name, NAME, "%" PRIu64, h->tokens);
        status = end_period(h, err);
    }
    memcpy(h->name, name, sizeof name);
    return status;
}

static void watch(const history *h)
{
    tide_stats stats;
    tide_word_trainer_stats(h->pupil, &stats);
    if (h->options->watch)
        h->options->watch(h->options->watch_data, &stats);
}

static int read_stream(history *h, tide_sentence_reader *sentences, tide_error *err)
{
    tide_word words[WORDS_AT_ONCE];
    bool ended = false, begun = false;
    uint64_t sentence = 0;
    int count, status;
    while ((count = tide_sentence_reader_take(sentences, words, WORDS_AT_ONCE, &ended,
                                              err)) > 0 ||
           ended) {
        status = begun ? TIDE_OK
                       : begin_sentence(h, tide_sentence_reader_time(sentences), err);
        if (status)
            return status;
        for (int i = 0; i < count; i++)
            tide_word_trainer_add(h->pupil, &words[i]);
        h->tokens += (uint64_t)count;
        begun = !ended && h->options->unit != TIDE_PERIOD_TOKENS;
        if (ended)
            tide_word_trainer_end_sentence(h->pupil);
        if (ended && ++sentence % WATCH_SENTENCES == 0)
            watch(h);
    }
    return count;
}

static int end_stream(history *h, tide_error *err)
{
    if (h->tokens == h->before.tokens)
        return TIDE_OK;
    if (!*h->name && h->options->unit != TIDE_PERIOD_TOKENS)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "no record has a time: --time says where it is");
    if (!*h->name)
        snprintf(h->name, NAME, "%" PRIu64, h->tokens);
    return end_period(h, err);
}

int tide_eval_periods(const tide_params *params, const tide_periods_options *options,
                      tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    history h = {.options = options};
    h.aligned = tide_alloc(AMONG, sizeof *h.aligned);
    if (!h.aligned)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare periods");
    h.pupil = tide_word_trainer_new(params, err);
    tide_sentence_reader *sentences =
        h.pupil ? tide_sentence_reader_open(params, options->sources,
                                            options->source_count, err)
                : NULL;
    int status = sentences ? read_stream(&h, sentences, err) : (int)err->status;
    if (!status)
        status = end_stream(&h, err);
    tide_sentence_reader_close(sentences);
    state_release(&h.before);
    tide_word_trainer_free(h.pupil);
    free(h.aligned);
    return status;
}
