/* counts_error.c - the counts of a model compared with the true counts.
 *
 * A bounded vocabulary overestimates: a word inherits the count of the word it
 * replaces. The words of the text are ranked by true count, and each has the relative
 * error
 *
 *     |count - truth| / truth,
 *
 * where a dropped word counts as the smallest counter, which bounds its count. The
 * paper does the same in its figures, where the error is flat for frequent words and
 * then rises with the rank. The error at a rank is the median over a band of ranks
 * around it. The share of dropped words is reported separately, because a dropped word
 * has no vector, however accurate its imputed count may be.
 *
 * Every word of the text is looked up once, and those of the bands, at most a tenth of
 * all words, once more.
 */
#include "model/model.h"
#include "vocab/vocab.h"

#include <wordtide/eval.h>
#include <math.h>
#include <stdlib.h>

typedef struct comparison {
    const tide_model *model;
    const tide_counts *truth;
    uint64_t minimum;
} comparison;

/* Sums over some words. */
typedef struct tally {
    uint64_t words, dropped;
    uint64_t tokens, dropped_tokens;
    double error, error_held; /* sums */
} tally;

/* Whether words of the text may have been dropped. A file of vectors does not say, but
 * usually some were. */
static bool has_dropped_words(const tide_model *model)
{
    const tide_vocabulary *v = model->vocabulary;
    return model->origin.format || tide_vocabulary_rejected(v) > 0 ||
           tide_vocabulary_evicted(v) > 0;
}

static uint64_t smallest_count(const tide_vocabulary *v)
{
    uint64_t smallest = UINT64_MAX;
    uint32_t length;
    for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++) {
        uint64_t count = tide_vocabulary_count(v, slot);
        if (count < smallest && tide_vocabulary_word(v, slot, &length))
            smallest = count;
    }
    return smallest < UINT64_MAX ? smallest : 0;
}

/* `rank` starts at 1. */
static tide_count_point compare_word(const comparison *c, uint64_t rank)
{
    tide_entry truth = tide_counts_at(c->truth, (size_t)rank - 1), entry;
    bool held = tide_model_find(c->model, truth.word, &entry, NULL) == TIDE_OK;
    tide_count_point p = {.rank = rank,
                          .word = truth.word,
                          .truth = truth.count,
                          .count = held ? entry.count : c->minimum,
                          .held = held};
    p.error = c->model->origin.uncounted
                  ? (double)NAN
                  : fabs((double)p.count - (double)p.truth) / (double)p.truth;
    return p;
}

static void tally_add(tally *t, const tide_count_point *p)
{
    t->words++;
    t->tokens += p->truth;
    t->error += p->error;
    if (p->held) {
        t->error_held += p->error;
    } else {
        t->dropped++;
        t->dropped_tokens += p->truth;
    }
}

static double ratio(double part, uint64_t whole)
{
    return whole ? part / (double)whole : (double)NAN;
}

/* -- bands ------------------------------------------------------------------------- */

/* The next rank of 1, 10, 100, 1000 and from there on 1, 2, 5 and 7 times every power
 * of ten. */
static uint64_t rank_after(uint64_t rank)
{
    static const uint64_t steps[] = {1, 2, 5, 7, 10};
    uint64_t power = 1;
    while (rank / power >= 10)
        power *= 10;
    if (power < 1000)
        return power * 10;
    size_t i = 0;
    while (steps[i] * power <= rank)
        i++;
    return steps[i] * power;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t count)
{
    if (!count)
        return (double)NAN;
    qsort(values, count, sizeof *values, by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* `errors` is scratch space for all words of the band. */
static tide_count_band measure_band(const comparison *c, uint64_t rank, uint64_t types,
                                    double *errors)
{
    tide_count_band band = {
        .rank = rank, .from = rank - rank / 20, .to = rank + rank / 20};
    if (band.to > types)
        band.to = types;
    band.words = band.to - band.from + 1;
    size_t held = 0, dropped = 0;
    for (uint64_t r = band.from; r <= band.to; r++) {
        tide_count_point p = compare_word(c, r);
        if (p.held)
            errors[held++] = p.error;
        else
            errors[band.words - ++dropped] = p.error;
    }
    band.dropped = ratio((double)dropped, band.words);
    band.median_error_held = median(errors, held);
    band.median_error = median(errors, band.words);
    return band;
}

static int measure_bands(const comparison *c, tide_counts_result *result,
                         tide_error *err)
{
    double *errors = tide_alloc(result->types / 10 + 1, sizeof *errors);
    if (!errors)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare %llu words",
                         (unsigned long long)result->types);
    for (uint64_t rank = 1;
         rank <= result->types && result->band_count < TIDE_COUNT_BANDS_MAX;
         rank = rank_after(rank))
        result->bands[result->band_count++] =
            measure_band(c, rank, result->types, errors);
    free(errors);
    return TIDE_OK;
}

int tide_eval_counts(const tide_model *model, const tide_counts *truth,
                     tide_counts_result *result,
                     void (*point)(void *data, const tide_count_point *point),
                     void *data, tide_error *err)
{
    const tide_vocabulary *v = model->vocabulary;
    comparison c = {model, truth, has_dropped_words(model) ? smallest_count(v) : 0};
    *result = (tide_counts_result){.tokens = tide_counts_tokens(truth),
                                   .types = tide_counts_size(truth),
                                   .held = tide_model_size(model),
                                   .capacity = tide_model_capacity(model),
                                   .minimum = c.minimum};
    result->top = result->types < result->capacity ? result->types : result->capacity;
    tally all = {0}, top = {0};
    for (uint64_t rank = 1; rank <= result->types; rank++) {
        tide_count_point p = compare_word(&c, rank);
        tally_add(&all, &p);
        if (rank <= result->top)
            tally_add(&top, &p);
        if (point)
            point(data, &p);
    }
    result->dropped_top = ratio((double)top.dropped, top.words);
    result->dropped_types = ratio((double)all.dropped, all.words);
    result->dropped_tokens = ratio((double)all.dropped_tokens, all.tokens);
    result->mean_error = ratio(top.error, top.words);
    result->mean_error_held = ratio(top.error_held, top.words - top.dropped);
    return measure_bands(&c, result, err);
}
