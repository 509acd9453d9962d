/* periods.c - how a model changes from period to period of a stream: new words and
 * moved words.
 *
 * At the end of each period, a snapshot of the most frequent words and their vectors is
 * compared with that of the previous period (snapshot.c). The words that moved most are
 * those farthest from where the common rotation would have put them. Recently admitted
 * words move most, but with the least significance, so only words that were frequent
 * before are considered.
 *
 * Periods have names that sort in the order of time, so comparing names suffices to
 * detect the start of a new one. A late record does not reopen an earlier period.
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
    WORDS_PER_READ = 64,
    SNAPSHOT_WORDS = 10000,
    STABILITY_WORDS = 1000,  /* first words of a snapshot, used for stability */
    MOVER_CANDIDATES = 3000, /* first words of a snapshot, which may be movers */
    NAME_SIZE = 32,
    PROGRESS_SENTENCES = 1 << 12,
};

/* The state of the model at the end of a period. */
typedef struct state {
    tide_snapshot *words; /* the most frequent */
    uint64_t *hashes;     /* [held] hashes of all words, sorted */
    size_t held;
    tide_stats stats;
    uint64_t tokens;
} state;

typedef struct history {
    const tide_periods_options *options;
    tide_word_trainer *trainer;
    uint64_t tokens;
    char name[NAME_SIZE]; /* of the current period; "" before the first */
    state before;         /* at the end of the previous period, if any */
    float *aligned;       /* [AMONG] */
} history;

/* -- a state ----------------------------------------------------------------------- */

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
    const char *words[SNAPSHOT_WORDS];
    uint32_t count = (uint32_t)(held < SNAPSHOT_WORDS ? held : SNAPSHOT_WORDS);
    for (uint32_t i = 0; i < count; i++)
        words[i] = entries[i].word;
    tide_view *view =
        tide_view_new(model, h->options->vectors, h->options->centered, err);
    tide_snapshot *s = view ? tide_snapshot_new(view, words, count, err) : NULL;
    tide_view_free(view);
    return s;
}

/* Fills `entries`, which has an element per word of the model, with its words in
 * descending order of count. */
static int state_capture(state *s, history *h, const tide_model *model,
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
    tide_word_trainer_stats(h->trainer, &s->stats);
    s->tokens = h->tokens;
    return TIDE_OK;
}

/* -- comparing periods ------------------------------------------------------------- */

static void name_nearest(const tide_snapshot *s, uint32_t row,
                         const char *names[TIDE_PERIOD_WORDS])
{
    uint32_t near[TIDE_NEAREST];
    uint32_t count = tide_nearest_rows(&s->rows, row, s->count, s->held, near);
    for (uint32_t i = 0; i < TIDE_PERIOD_WORDS; i++)
        names[i] = i < count ? tide_snapshot_word(s, near[i]) : NULL;
}

/* The rows of the words that moved most, the farthest first. Returns their number. */
static size_t find_movers(const float *aligned, uint32_t count,
                          uint32_t rows[TIDE_PERIOD_WORDS])
{
    size_t found = 0;
    for (uint32_t row = 0; row < count; row++) {
        float moved = aligned[row];
        bool full = found == TIDE_PERIOD_WORDS;
        if (isnan(moved) || (full && moved >= aligned[rows[found - 1]]))
            continue;
        size_t at = full ? found - 1 : found++;
        for (; at > 0 && aligned[rows[at - 1]] > moved; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
    return found;
}

static void report_movers(const history *h, const state *now, const tide_entry *entries,
                          tide_period *period)
{
    const tide_snapshot *then = h->before.words;
    uint32_t rows[TIDE_PERIOD_WORDS];
    uint32_t count = then->count < MOVER_CANDIDATES ? then->count : MOVER_CANDIDATES;
    size_t movers = find_movers(h->aligned, count, rows);
    period->mover_count = movers;
    for (size_t i = 0; i < movers; i++) {
        tide_moved_word *mover = &period->movers[i];
        const char *word = tide_snapshot_word(then, rows[i]);
        uint32_t row = tide_index_find(now->words->index, word);
        *mover = (tide_moved_word){.word = word,
                                   .count = entries[row].count,
                                   .aligned = (double)h->aligned[rows[i]]};
        name_nearest(then, rows[i], mover->then);
        name_nearest(now->words, row, mover->now);
    }
}

static void report_newcomers(const history *h, const tide_entry *entries, size_t held,
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
                                        count < STABILITY_WORDS ? count
                                                                : STABILITY_WORDS};
    int status = tide_snapshot_compare(&comparison, &period->frequent, h->aligned, err);
    if (status)
        return status;
    report_movers(h, now, entries, period);
    report_newcomers(h, entries, now->held, period);
    return TIDE_OK;
}

static int end_period(history *h, tide_error *err)
{
    const tide_model *model = tide_word_trainer_drain(h->trainer);
    tide_entry *entries = tide_alloc(tide_model_size(model) + 1, sizeof *entries);
    if (!entries)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to list the words");
    state now = {0};
    tide_period period = {.name = h->name,
                          .frequent = {0, (double)NAN, (double)NAN, (double)NAN}};
    int status = state_capture(&now, h, model, entries, err);
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

/* -- along the stream -------------------------------------------------------------- */

/* Formats the name of the period that contains a time; "" if the time is invalid or its
 * year does not have four digits. */
static void format_period(tide_period_unit unit, double seconds, char name[NAME_SIZE])
{
    struct tm calendar;
    name[0] = 0;
    if (!(seconds > -30e9 && seconds < 253e9))
        return;
    time_t whole_seconds = (time_t)floor(seconds);
    if (!gmtime_r(&whole_seconds, &calendar))
        return;
    if (unit == TIDE_PERIOD_WEEK) {
        strftime(name, NAME_SIZE, "%G-W%V", &calendar);
        return;
    }
    strftime(name, NAME_SIZE, "%Y-%m-%d", &calendar);
    name[unit == TIDE_PERIOD_YEAR ? 4 : unit == TIDE_PERIOD_MONTH ? 7 : 10] = 0;
}

/* Called before each sentence: ends the current period if the sentence starts
 * another. */
static int start_sentence(history *h, double seconds, tide_error *err)
{
    char name[NAME_SIZE] = "";
    int status = TIDE_OK;
    if (h->options->unit != TIDE_PERIOD_TOKENS) {
        format_period(h->options->unit, seconds, name);
        if (strcmp(name, h->name) <= 0)
            return TIDE_OK;
        if (*h->name)
            status = end_period(h, err);
    } else if (h->tokens - h->before.tokens >= h->options->tokens) {
        snprintf(h->name, NAME_SIZE, "%" PRIu64, h->tokens);
        status = end_period(h, err);
    }
    memcpy(h->name, name, sizeof name);
    return status;
}

static void report_progress(const history *h)
{
    tide_stats stats;
    tide_word_trainer_stats(h->trainer, &stats);
    if (h->options->progress)
        h->options->progress(h->options->progress_data, &stats);
}

static int read_stream(history *h, tide_sentence_reader *sentences, tide_error *err)
{
    tide_word words[WORDS_PER_READ];
    bool ended = false, in_sentence = false;
    uint64_t sentence = 0;
    int count, status;
    while ((count = tide_sentence_reader_next(sentences, words, WORDS_PER_READ, &ended,
                                              err)) > 0 ||
           ended) {
        status = in_sentence
                     ? TIDE_OK
                     : start_sentence(h, tide_sentence_reader_time(sentences), err);
        if (status)
            return status;
        for (int i = 0; i < count; i++)
            tide_word_trainer_add(h->trainer, &words[i]);
        h->tokens += (uint64_t)count;
        in_sentence = !ended && h->options->unit != TIDE_PERIOD_TOKENS;
        if (ended)
            tide_word_trainer_end_sentence(h->trainer);
        if (ended && ++sentence % PROGRESS_SENTENCES == 0)
            report_progress(h);
    }
    return count;
}

static int end_stream(history *h, tide_error *err)
{
    if (h->tokens == h->before.tokens)
        return TIDE_OK;
    if (!*h->name && h->options->unit != TIDE_PERIOD_TOKENS)
        return tide_fail(err, TIDE_ERROR_INPUT,
                         "no record has a time; set parameter time to the field that "
                         "holds it");
    if (!*h->name)
        snprintf(h->name, NAME_SIZE, "%" PRIu64, h->tokens);
    return end_period(h, err);
}

int tide_eval_periods(const tide_params *params, const tide_periods_options *options,
                      tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    history h = {.options = options};
    h.aligned = tide_alloc(SNAPSHOT_WORDS, sizeof *h.aligned);
    if (!h.aligned)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare periods");
    h.trainer = tide_word_trainer_new(params, err);
    tide_sentence_reader *sentences =
        h.trainer ? tide_sentence_reader_open(params, options->sources,
                                              options->source_count, err)
                  : NULL;
    int status = sentences ? read_stream(&h, sentences, err) : (int)err->status;
    if (!status)
        status = end_stream(&h, err);
    tide_sentence_reader_close(sentences);
    state_release(&h.before);
    tide_word_trainer_free(h.trainer);
    free(h.aligned);
    return status;
}
