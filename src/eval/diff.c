/* diff.c - the differences between two models.
 *
 * There are three kinds. Words held by one model only. Words that became more or less
 * frequent. And words that changed their meaning, measured in two ways: the angle by
 * which the vector moved beyond the rotation common to most words (query/align.c), and,
 * without any rotation, the overlap of the nearest words. Hamilton, Leskovec and
 * Jurafsky ("Cultural shift or linguistic drift?", EMNLP 2016) found that the first
 * detects the slow change of language and the second the change of topics; a word that
 * both measures agree on has moved.
 *
 * Vectors of rare words are mostly noise, so words below a minimum count are ignored.
 * Finding all neighbors takes time quadratic in the number of words, so only the most
 * frequent shared words are compared and searched.
 */
#include "eval/eval.h"
#include "history/history.h"
#include "model/model.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

enum { A, B, MODELS };
enum { COMPARED_DEFAULT = 10000, NEIGHBORS_DEFAULT = 10 };
#define DRIFT_MIN 0.05 /* degrees; rounding moves the vectors of a copy by less */
#define CHANGE_MIN 1e-6

typedef struct difference {
    tide_difference public;
    uint32_t slots[MODELS]; /* TIDE_NO_SLOT if not held */
    double key;             /* sort key, descending; NAN: not listed */
} difference;

struct tide_diff {
    const tide_view *views[MODELS];
    tide_diff_options options;
    difference *all; /* [count] shared words in the order of B, then those of A or B */
    uint64_t count;
    uint32_t compared;  /* the first of them, whose vectors are compared */
    uint64_t list_size; /* after sorting, the first of them are listed */
    tide_diff_summary summary;
};

static int no_memory(tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare two models");
}

static const tide_model *model_of(const tide_diff *d, int side)
{
    return tide_view_model(d->views[side]);
}

/* -- words ------------------------------------------------------------------------- */

static bool has_counts(const tide_diff *d, int side)
{
    return !tide_model_origin(model_of(d, side))->uncounted;
}

static bool is_frequent(const tide_diff *d, int side, const tide_entry *entry)
{
    return !has_counts(d, side) || entry->count >= d->options.min_count;
}

/* `a` and `b` are NULL if the model does not hold the word. */
static void add_word(tide_diff *d, const char *word, const tide_entry *a,
                     const tide_entry *b)
{
    difference *next = &d->all[d->count++];
    next->slots[A] = a ? a->slot : TIDE_NO_SLOT;
    next->slots[B] = b ? b->slot : TIDE_NO_SLOT;
    next->public = (tide_difference){.word = word,
                                     .in_a = a,
                                     .in_b = b,
                                     .count_a = a ? a->count : 0,
                                     .count_b = b ? b->count : 0,
                                     .change = (double)NAN,
                                     .drift = (double)NAN,
                                     .overlap = (double)NAN};
}

/* Adds words of one side in descending order of count: those that the other side holds
 * too, or those that it does not. A word that is too rare on one side is not reported
 * as missing there. */
static void add_words(tide_diff *d, int side, bool shared)
{
    uint32_t words;
    const uint32_t *order = tide_view_order(d->views[side], &words);
    for (uint32_t rank = 0; rank < words; rank++) {
        tide_entry own = tide_model_entry(model_of(d, side), order[rank]), other;
        if (!is_frequent(d, side, &own))
            continue;
        bool held = !tide_model_find(model_of(d, !side), own.word, &other, NULL);
        if (shared && held && is_frequent(d, !side, &other))
            add_word(d, own.word, &other, &own);
        if (!shared && !held)
            add_word(d, own.word, side == A ? &own : NULL, side == B ? &own : NULL);
    }
}

static int collect_words(tide_diff *d, tide_error *err)
{
    uint64_t capacity = 0;
    for (int side = A; side < MODELS; side++)
        capacity += tide_model_size(model_of(d, side));
    d->all = tide_alloc((size_t)capacity + 1, sizeof *d->all);
    if (!d->all)
        return no_memory(err);
    add_words(d, B, true);
    uint64_t shared = d->count;
    d->compared = (uint32_t)(shared < d->options.top ? shared : d->options.top);
    add_words(d, A, false);
    uint64_t with_a = d->count;
    add_words(d, B, false);
    d->summary = (tide_diff_summary){.words_a = with_a,
                                     .words_b = shared + d->count - with_a,
                                     .shared = shared,
                                     .compared = d->compared,
                                     .drift = (double)NAN,
                                     .overlap = (double)NAN};
    return TIDE_OK;
}

/* Compares frequencies relative to the total, so that a longer text is not a change.
 * The counts of the longer text are scaled down. */
static void find_changes(tide_diff *d)
{
    double total_a = (double)tide_model_tokens(model_of(d, A));
    double total_b = (double)tide_model_tokens(model_of(d, B));
    if (!has_counts(d, A) || !has_counts(d, B) || !(total_a > 0 && total_b > 0))
        return;
    double smaller_total = fmin(total_a, total_b);
    for (uint64_t i = 0; i < d->summary.shared; i++) {
        tide_difference *public = &d->all[i].public;
        public->change = tide_trend((double)public->count_b * smaller_total / total_b,
                                    (double)public->count_a * smaller_total / total_a);
    }
}

/* -- vectors ----------------------------------------------------------------------- */

static int load_rows(const tide_diff *d, tide_matrix rows[MODELS], tide_error *err)
{
    for (int side = A; side < MODELS; side++) {
        uint32_t dim = tide_model_dim(model_of(d, side));
        int status = tide_matrix_init(&rows[side], d->compared, dim, err);
        if (status)
            return status;
        for (uint32_t i = 0; i < d->compared; i++)
            tide_view_unit(d->views[side], d->all[i].slots[side],
                           tide_matrix_row(&rows[side], i));
    }
    return TIDE_OK;
}

/* False for a zero vector. */
static bool has_direction(const tide_matrix *rows, uint32_t i)
{
    const float *row = tide_matrix_row(rows, i);
    return tide_kernels_best()->dot(row, row, rows->stride) > 0.5f;
}

static int measure_drift(tide_diff *d, const tide_matrix rows[MODELS], tide_error *err)
{
    tide_aligner *aligner = tide_aligner_new(rows[A].dim, d->compared, err);
    int status = aligner ? tide_aligner_fit_majority(aligner, &rows[A], &rows[B], err)
                         : TIDE_ERROR_MEMORY;
    for (uint32_t i = 0; i < d->compared && !status; i++)
        if (has_direction(&rows[A], i) && has_direction(&rows[B], i))
            d->all[i].public.drift = tide_aligner_angle(
                aligner, tide_matrix_row(&rows[A], i), tide_matrix_row(&rows[B], i));
    tide_aligner_free(aligner);
    return status;
}

static int find_drift(tide_diff *d, tide_error *err)
{
    tide_matrix rows[MODELS] = {0};
    uint32_t dim = tide_model_dim(model_of(d, A));
    if (dim != tide_model_dim(model_of(d, B)) || d->compared < dim)
        return TIDE_OK;
    int status = load_rows(d, rows, err);
    if (!status)
        status = measure_drift(d, rows, err);
    for (int side = A; side < MODELS; side++)
        tide_matrix_release(&rows[side]);
    return status;
}

/* -- neighbors --------------------------------------------------------------------- */

/* Finds the nearest words of all words compared, in one model. */
static int search(const tide_diff *d, int side, uint32_t near, uint32_t *slots,
                  const uint32_t *positions, uint32_t *found, tide_error *err)
{
    for (uint32_t i = 0; i < d->compared; i++)
        slots[i] = d->all[i].slots[side];
    const tide_neighbor_query question = {.view = d->views[side],
                                          .slots = slots,
                                          .count = d->compared,
                                          .targets = positions,
                                          .target_count = d->compared,
                                          .near = near};
    return tide_neighbors_find(&question, found, err);
}

static int find_overlap(tide_diff *d, tide_error *err)
{
    size_t count = d->compared;
    uint32_t near = d->options.neighbors;
    if (near >= count)
        near = count ? (uint32_t)count - 1 : 0;
    uint32_t *slots = tide_alloc(count + 1, (2 + 2 * (size_t)near) * sizeof *slots);
    if (!slots)
        return no_memory(err);
    uint32_t *positions = slots + count;
    uint32_t *found[MODELS] = {positions + count, positions + count + count * near};
    for (uint32_t i = 0; i < count; i++)
        positions[i] = i;
    int status = TIDE_OK;
    for (int side = A; side < MODELS && near && !status; side++)
        status = search(d, side, near, slots, positions, found[side], err);
    for (size_t i = 0; i < count && near && !status; i++) {
        size_t at = i * near;
        uint32_t common = tide_common_count(found[A] + at, found[B] + at, near);
        d->all[i].public.overlap = (double)common / (2 * near - common);
    }
    free(slots);
    return status;
}

/* -- the list ---------------------------------------------------------------------- */

static double key_of(const tide_difference *public, tide_diff_sort sort)
{
    bool both = public->in_a && public->in_b;
    double change = fabs(public->change);
    switch (sort) {
    case TIDE_DIFF_OVERLAP:
        return public->overlap < 1 ? -public->overlap : (double)NAN;
    case TIDE_DIFF_NEW:
        return both || !public->in_b ? (double)NAN : (double)public->count_b;
    case TIDE_DIFF_GONE:
        return both || !public->in_a ? (double)NAN : (double)public->count_a;
    case TIDE_DIFF_COUNT:
        return change >= CHANGE_MIN ? change : (double)NAN;
    default:
        return public->drift >= DRIFT_MIN ? public->drift : (double)NAN;
    }
}

/* Sorts by descending key, and words that are not listed last. Ties go to the larger
 * drift, then to the order of bytes. */
static int by_key(const void *x, const void *y)
{
    const difference *a = x, *b = y;
    if (isnan(a->key) || isnan(b->key))
        return isnan(a->key) - isnan(b->key);
    if (a->key < b->key || a->key > b->key)
        return a->key < b->key ? 1 : -1;
    if (a->public.drift < b->public.drift || a->public.drift > b->public.drift)
        return a->public.drift < b->public.drift ? 1 : -1;
    return strcmp(a->public.word, b->public.word);
}

static int by_number(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static int summarize(tide_diff *d, tide_error *err)
{
    double *drifts = tide_alloc((size_t)d->compared + 1, sizeof *drifts), overlap = 0;
    uint32_t drift_count = 0, overlap_count = 0;
    if (!drifts)
        return no_memory(err);
    for (uint32_t i = 0; i < d->compared; i++) {
        const tide_difference *public = &d->all[i].public;
        if (!isnan(public->drift))
            drifts[drift_count++] = public->drift;
        overlap += isnan(public->overlap) ? 0 : public->overlap;
        overlap_count += !isnan(public->overlap);
    }
    qsort(drifts, drift_count, sizeof *drifts, by_number);
    d->summary.drift = drift_count ? drifts[drift_count / 2] : (double)NAN;
    d->summary.overlap = overlap_count ? overlap / overlap_count : (double)NAN;
    free(drifts);
    return TIDE_OK;
}

static void sort(tide_diff *d)
{
    for (uint64_t i = 0; i < d->count; i++) {
        d->all[i].key = key_of(&d->all[i].public, d->options.sort);
        d->list_size += !isnan(d->all[i].key);
    }
    qsort(d->all, d->count, sizeof *d->all, by_key);
}

static int compare(tide_diff *d, tide_error *err)
{
    int status = collect_words(d, err);
    if (status)
        return status;
    find_changes(d);
    status = find_drift(d, err);
    if (!status)
        status = find_overlap(d, err);
    if (!status)
        status = summarize(d, err);
    if (!status)
        sort(d);
    return status;
}

tide_diff *tide_diff_new(const tide_view *a, const tide_view *b,
                         const tide_diff_options *options, tide_error *err)
{
    tide_diff *d = tide_alloc(1, sizeof *d);
    if (!d) {
        no_memory(err);
        return NULL;
    }
    d->views[A] = a;
    d->views[B] = b;
    d->options = *options;
    d->options.top = d->options.top ? d->options.top : COMPARED_DEFAULT;
    d->options.neighbors =
        d->options.neighbors ? d->options.neighbors : NEIGHBORS_DEFAULT;
    if (!compare(d, err))
        return d;
    tide_diff_free(d);
    return NULL;
}

void tide_diff_free(tide_diff *d)
{
    if (!d)
        return;
    free(d->all);
    free(d);
}

size_t tide_diff_size(const tide_diff *d)
{
    return (size_t)d->list_size;
}

tide_difference tide_diff_at(const tide_diff *d, size_t number)
{
    return d->all[number].public;
}

tide_diff_summary tide_diff_summary_of(const tide_diff *d)
{
    return d->summary;
}
