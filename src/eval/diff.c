/* diff.c - what differs between two models.
 *
 * Three things can. Words are held by one and not by the other. Words come more or less often. And words mean something
 * else, which is seen twice: by how far a word's vector has turned beyond the rotation that most words
 * share (query/align.c), and, without any rotation, by how few of its nearest words are still the same.
 * Hamilton, Leskovec and Jurafsky ("Cultural shift or linguistic drift?", EMNLP 2016) found the first
 * to see the slow change of language and the second the change of what a word is about; a word
 * that both agree on has moved.
 *
 * Vectors of rare words are mostly chance, so words below a count are left out. Comparing all neighbors takes the
 * square of the number of words, so the most frequent shared words are compared, and searched.
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
enum { AMONG = 10000, NEIGHBORS = 10 };
#define TURNED_LEAST 0.05 /* degrees: what rounding can do to a copy */
#define CHANGED_LEAST 1e-6

typedef struct difference {
    tide_difference shown;
    uint32_t slots[MODELS]; /* TIDE_NO_SLOT where it is not held */
    double key;             /* the list is by falling keys; NAN: not on it */
} difference;

struct tide_diff {
    const tide_view *spaces[MODELS];
    tide_diff_options how;
    difference *all; /* [count] shared words in the order of B, then those of one */
    uint64_t count;
    uint32_t compared; /* of them, those whose vectors are compared */
    uint64_t listed;   /* the first so many are on the list */
    tide_diff_summary summary;
};

static int no_memory(tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to compare two models");
}

static const tide_model *model_of(const tide_diff *d, int side)
{
    return tide_view_model(d->spaces[side]);
}

/* -- words ------------------------------------------------------------------------------------------- */

static bool is_counted(const tide_diff *d, int side)
{
    return !tide_model_origin(model_of(d, side)).uncounted;
}

static bool is_frequent(const tide_diff *d, int side, const tide_entry *entry)
{
    return !is_counted(d, side) || entry->count >= d->how.min_count;
}

/* NULL where it is not held. */
static void add(tide_diff *d, const char *word, const tide_entry *a,
                const tide_entry *b)
{
    difference *next = &d->all[d->count++];
    next->slots[A] = a ? a->slot : TIDE_NO_SLOT;
    next->slots[B] = b ? b->slot : TIDE_NO_SLOT;
    next->shown = (tide_difference){.word = word,
                                    .in_a = a,
                                    .in_b = b,
                                    .count_a = a ? a->count : 0,
                                    .count_b = b ? b->count : 0,
                                    .change = (double)NAN,
                                    .drift = (double)NAN,
                                    .overlap = (double)NAN};
}

/* Words of one side by falling count: those that the other holds too, or those that it does not. A word that is too
 * rare on one side is not told to be missing there. */
static void gather(tide_diff *d, int side, bool shared)
{
    uint32_t words;
    const uint32_t *order = tide_view_order(d->spaces[side], &words);
    for (uint32_t rank = 0; rank < words; rank++) {
        tide_entry own = tide_model_entry(model_of(d, side), order[rank]), other;
        if (!is_frequent(d, side, &own))
            continue;
        bool held = !tide_model_find(model_of(d, !side), own.word, &other, NULL);
        if (shared && held && is_frequent(d, !side, &other))
            add(d, own.word, &other, &own);
        if (!shared && !held)
            add(d, own.word, side == A ? &own : NULL, side == B ? &own : NULL);
    }
}

static int gather_all(tide_diff *d, tide_error *err)
{
    uint64_t room = 0;
    for (int side = A; side < MODELS; side++)
        room += tide_model_size(model_of(d, side));
    d->all = tide_alloc((size_t)room + 1, sizeof *d->all);
    if (!d->all)
        return no_memory(err);
    gather(d, B, true);
    uint64_t shared = d->count;
    d->compared = (uint32_t)(shared < d->how.among ? shared : d->how.among);
    gather(d, A, false);
    uint64_t with_a = d->count;
    gather(d, B, false);
    d->summary = (tide_diff_summary){.words_a = with_a,
                                     .words_b = shared + d->count - with_a,
                                     .shared = shared,
                                     .compared = d->compared,
                                     .drift = (double)NAN,
                                     .overlap = (double)NAN};
    return TIDE_OK;
}

/* As shares, so that a longer text is no change; the larger count is scaled down. */
static void find_changes(tide_diff *d)
{
    double total_a = (double)tide_model_tokens(model_of(d, A));
    double total_b = (double)tide_model_tokens(model_of(d, B));
    if (!is_counted(d, A) || !is_counted(d, B) || !(total_a > 0 && total_b > 0))
        return;
    double least = fmin(total_a, total_b);
    for (uint64_t i = 0; i < d->summary.shared; i++) {
        tide_difference *shown = &d->all[i].shown;
        shown->change = tide_trend((double)shown->count_b * least / total_b,
                                   (double)shown->count_a * least / total_a);
    }
}

/* -- vectors ----------------------------------------------------------------------------------------- */

static int load_rows(const tide_diff *d, tide_matrix rows[MODELS], tide_error *err)
{
    for (int side = A; side < MODELS; side++) {
        uint32_t dim = tide_model_dim(model_of(d, side));
        int status = tide_matrix_init(&rows[side], d->compared, dim, err);
        if (status)
            return status;
        for (uint32_t i = 0; i < d->compared; i++)
            tide_view_unit(d->spaces[side], d->all[i].slots[side],
                           tide_matrix_row(&rows[side], i));
    }
    return TIDE_OK;
}

/* A vector without a length is zero here. */
static bool has_direction(const tide_matrix *rows, uint32_t i)
{
    const float *row = tide_matrix_row(rows, i);
    return tide_kernels_best()->dot(row, row, rows->stride) > 0.5f;
}

static int turn(tide_diff *d, const tide_matrix rows[MODELS], tide_error *err)
{
    tide_aligner *aligner = tide_aligner_new(rows[A].dim, d->compared, err);
    int status = aligner ? tide_aligner_fit_most(aligner, &rows[A], &rows[B], err)
                         : TIDE_ERROR_MEMORY;
    for (uint32_t i = 0; i < d->compared && !status; i++)
        if (has_direction(&rows[A], i) && has_direction(&rows[B], i))
            d->all[i].shown.drift = tide_aligner_angle(
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
        status = turn(d, rows, err);
    for (int side = A; side < MODELS; side++)
        tide_matrix_release(&rows[side]);
    return status;
}

/* -- neighbors --------------------------------------------------------------------------------------- */

/* The nearest of all words compared, in one model. */
static int search(const tide_diff *d, int side, uint32_t near, uint32_t *slots,
                  const uint32_t *places, uint32_t *found, tide_error *err)
{
    for (uint32_t i = 0; i < d->compared; i++)
        slots[i] = d->all[i].slots[side];
    const tide_near_question question = {.space = d->spaces[side],
                                         .slots = slots,
                                         .count = d->compared,
                                         .asked = places,
                                         .asked_count = d->compared,
                                         .near = near};
    return tide_near_find(&question, found, err);
}

static int find_overlap(tide_diff *d, tide_error *err)
{
    size_t count = d->compared;
    uint32_t near = d->how.neighbors;
    if (near >= count)
        near = count ? (uint32_t)count - 1 : 0;
    uint32_t *slots = tide_alloc(count + 1, (2 + 2 * (size_t)near) * sizeof *slots);
    if (!slots)
        return no_memory(err);
    uint32_t *places = slots + count;
    uint32_t *found[MODELS] = {places + count, places + count + count * near};
    for (uint32_t i = 0; i < count; i++)
        places[i] = i;
    int status = TIDE_OK;
    for (int side = A; side < MODELS && near && !status; side++)
        status = search(d, side, near, slots, places, found[side], err);
    for (size_t i = 0; i < count && near && !status; i++) {
        size_t at = i * near;
        uint32_t common = tide_common_count(found[A] + at, found[B] + at, near);
        d->all[i].shown.overlap = (double)common / (2 * near - common);
    }
    free(slots);
    return status;
}

/* -- the list ----------------------------------------------------------------------------------------- */

static double key_of(const tide_difference *shown, tide_diff_sort sort)
{
    bool both = shown->in_a && shown->in_b;
    double change = fabs(shown->change);
    switch (sort) {
    case TIDE_DIFF_OVERLAP:
        return shown->overlap < 1 ? -shown->overlap : (double)NAN;
    case TIDE_DIFF_NEW:
        return both || !shown->in_b ? (double)NAN : (double)shown->count_b;
    case TIDE_DIFF_GONE:
        return both || !shown->in_a ? (double)NAN : (double)shown->count_a;
    case TIDE_DIFF_COUNT:
        return change >= CHANGED_LEAST ? change : (double)NAN;
    default:
        return shown->drift >= TURNED_LEAST ? shown->drift : (double)NAN;
    }
}

/* What is not on the list goes to its end; of equals, what moved more comes first, then by the bytes of the word. */
static int by_key(const void *x, const void *y)
{
    const difference *a = x, *b = y;
    if (isnan(a->key) || isnan(b->key))
        return isnan(a->key) - isnan(b->key);
    if (a->key < b->key || a->key > b->key)
        return a->key < b->key ? 1 : -1;
    if (a->shown.drift < b->shown.drift || a->shown.drift > b->shown.drift)
        return a->shown.drift < b->shown.drift ? 1 : -1;
    return strcmp(a->shown.word, b->shown.word);
}

static int by_number(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static int summarize(tide_diff *d, tide_error *err)
{
    double *drifts = tide_alloc((size_t)d->compared + 1, sizeof *drifts), overlap = 0;
    uint32_t turned = 0, searched = 0;
    if (!drifts)
        return no_memory(err);
    for (uint32_t i = 0; i < d->compared; i++) {
        const tide_difference *shown = &d->all[i].shown;
        if (!isnan(shown->drift))
            drifts[turned++] = shown->drift;
        overlap += isnan(shown->overlap) ? 0 : shown->overlap;
        searched += !isnan(shown->overlap);
    }
    qsort(drifts, turned, sizeof *drifts, by_number);
    d->summary.drift = turned ? drifts[turned / 2] : (double)NAN;
    d->summary.overlap = searched ? overlap / searched : (double)NAN;
    free(drifts);
    return TIDE_OK;
}

static void sort(tide_diff *d)
{
    for (uint64_t i = 0; i < d->count; i++) {
        d->all[i].key = key_of(&d->all[i].shown, d->how.sort);
        d->listed += !isnan(d->all[i].key);
    }
    qsort(d->all, d->count, sizeof *d->all, by_key);
}

static int compare(tide_diff *d, tide_error *err)
{
    int status = gather_all(d, err);
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
    d->spaces[A] = a;
    d->spaces[B] = b;
    d->how = *options;
    d->how.among = d->how.among ? d->how.among : AMONG;
    d->how.neighbors = d->how.neighbors ? d->how.neighbors : NEIGHBORS;
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
    return (size_t)d->listed;
}

tide_difference tide_diff_at(const tide_diff *d, size_t number)
{
    return d->all[number].shown;
}

tide_diff_summary tide_diff_summary_of(const tide_diff *d)
{
    return d->summary;
}
