/* view.c - a view of a model: which vectors, in which order, relative to which mean.
 *
 * A view selects the vectors: input rows (what word2vec and similar programs publish),
 * output rows or their sum, and whether the mean of the frequent words is subtracted.
 * The vectors of a model have a large common component; without it, cosines
 * discriminate better (Mu and Viswanath, "All-but-the-top", ICLR 2018; of their two
 * steps only subtracting the mean helps here).
 *
 * Words are sorted by count with a radix sort, which needs no comparisons, because
 * training pauses while the view of a model being trained is refreshed.
 *
 * While a model is trained, words are evicted and their slots reused. The view records
 * the generation of each slot when it is refreshed, and ignores slots whose generation
 * has changed since. A reader reads the row first and the generation afterwards; the
 * trainer increments the generation first and writes the row of the new word
 * afterwards. So if the generation is unchanged, nothing of the new word was read. Both
 * access the generation by an atomic read-modify-write, which keeps compilers and
 * processors from reordering the two steps.
 */
#include "query/view.h"

#include "model/model.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

enum { MEAN_WORDS = 30000, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* -- order ------------------------------------------------------------------------- */

/* One pass of the radix sort: a stable counting sort by descending digit. */
static void counting_sort_pass(const tide_rank *from, tide_rank *to, uint32_t count,
                               uint32_t shift)
{
    uint32_t offsets[DIGITS] = {0};
    for (uint32_t i = 0; i < count; i++)
        offsets[from[i].count >> shift & (DIGITS - 1)]++;
    /* Turns the size of each bucket into its offset, the highest digit first. */
    for (uint32_t digit = DIGITS, offset = 0; digit-- > 0;) {
        uint32_t size = offsets[digit];
        offsets[digit] = offset;
        offset += size;
    }
    for (uint32_t i = 0; i < count; i++)
        to[offsets[from[i].count >> shift & (DIGITS - 1)]++] = from[i];
}

uint32_t tide_rank_slots(const tide_vocabulary *v, tide_rank *ranks, uint32_t *order)
{
    uint32_t used = tide_vocabulary_used(v), words = 0, length;
    uint64_t highest = 0;
    for (uint32_t slot = 0; slot < used; slot++)
        if (tide_vocabulary_word(v, slot, &length)) {
            ranks[words] = (tide_rank){tide_vocabulary_count(v, slot), slot};
            /* The highest bit of the bitwise or is that of the largest count, which
             * bounds the number of passes. */
            highest |= ranks[words++].count;
        }
    tide_rank *from = ranks, *to = ranks + words;
    /* From the lowest digit to the highest. Every pass is stable, so equal counts stay
     * in the order of their slots. */
    for (uint32_t shift = 0; shift < 64 && highest >> shift; shift += DIGIT_BITS) {
        counting_sort_pass(from, to, words, shift);
        tide_rank *sorted = to;
        to = from;
        from = sorted;
    }
    for (uint32_t i = 0; i < words; i++)
        order[i] = from[i].slot;
    return words;
}

/* -- vectors ----------------------------------------------------------------------- */

void tide_view_raw(const tide_view *view, uint32_t slot, float *out)
{
    const tide_model *model = view->model;
    uint32_t stride = model->input.stride;
    if (view->vectors == TIDE_VECTORS_OUTPUT) {
        view->kernels->copy(out, tide_matrix_row(&model->output, slot), stride);
        return;
    }
    view->kernels->copy(out, tide_matrix_row(&model->input, slot), stride);
    if (view->vectors == TIDE_VECTORS_SUM)
        view->kernels->add(out, 1.0f, tide_matrix_row(&model->output, slot), stride);
}

/* Skips vectors that are not finite, so that one NaN does not spread to all vectors
 * through the mean. The NaN check of training repairs them. */
static void compute_mean(tide_view *view)
{
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    double total[TIDE_DIM_MAX] = {0};
    uint32_t stride = view->model->input.stride;
    /* Rare words have hardly moved from their random start and would only dilute the
     * mean. */
    uint32_t limit = view->words < MEAN_WORDS ? view->words : MEAN_WORDS, count = 0;
    for (uint32_t i = 0; i < limit; i++) {
        tide_view_raw(view, view->order[i], row);
        if (!isfinite(view->kernels->dot(row, row, stride)))
            continue;
        count++;
        for (uint32_t d = 0; d < stride; d++)
            total[d] += (double)row[d];
    }
    for (uint32_t d = 0; d < stride && count; d++)
        view->mean[d] = (float)(total[d] / count);
}

/* -- create and refresh ------------------------------------------------------------ */

void tide_view_refresh(tide_view *view)
{
    view->words = tide_rank_slots(view->model->vocabulary, view->ranks, view->order);
    if (view->centered)
        compute_mean(view);
    /* Called by the thread that also changes generations, so they cannot change
     * meanwhile. */
    for (uint32_t slot = 0; view->generations && slot < view->capacity; slot++)
        view->expected[slot] =
            atomic_load_explicit(&view->generations[slot], memory_order_relaxed);
}

static tide_view *view_alloc(const tide_model *model, tide_vectors vectors,
                             bool centered, uint32_t capacity)
{
    tide_view *view = tide_alloc(1, sizeof *view);
    if (!view)
        return NULL;
    view->model = model;
    view->kernels = tide_kernels_best();
    view->vectors = vectors;
    view->centered = centered;
    view->capacity = capacity;
    view->mean = tide_alloc(model->input.stride, sizeof *view->mean);
    view->order = tide_alloc((size_t)capacity + 1, sizeof *view->order);
    view->ranks = tide_alloc(2 * (size_t)capacity + 1, sizeof *view->ranks);
    if (view->mean && view->order && view->ranks)
        return view;
    tide_view_free(view);
    return NULL;
}

static bool has_vectors(const tide_model *model, tide_vectors vectors, tide_error *err)
{
    if (vectors == TIDE_VECTORS_INPUT || model->output.rows)
        return true;
    tide_fail(err, TIDE_ERROR_PARAMETER,
              "the file has no output vectors; only a native model has");
    return false;
}

tide_view *tide_view_new(const tide_model *model, tide_vectors vectors, bool centered,
                         tide_error *err)
{
    if (!has_vectors(model, vectors, err))
        return NULL;
    tide_view *view =
        view_alloc(model, vectors, centered, tide_vocabulary_used(model->vocabulary));
    if (!view) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a view of the model");
        return NULL;
    }
    tide_view_refresh(view);
    /* This view is never refreshed; a live one keeps the space for it. */
    free(view->ranks);
    view->ranks = NULL;
    return view;
}

tide_view *tide_view_new_live(const tide_model *model, tide_vectors vectors,
                              bool centered, _Atomic uint32_t *generations,
                              tide_error *err)
{
    uint32_t capacity = model->shape.vocabulary.capacity;
    tide_view *view = view_alloc(model, vectors, centered, capacity);
    if (view) {
        view->generations = generations;
        view->expected = tide_alloc(capacity, sizeof *view->expected);
    }
    if (view && view->expected)
        return view;
    tide_view_free(view);
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a live view of the model");
    return NULL;
}

uint64_t tide_view_live_bytes(const tide_shape *shape)
{
    uint64_t slot = 2 * sizeof(uint32_t) + 2 * sizeof(tide_rank);
    return sizeof(tide_view) + slot * shape->vocabulary.capacity +
           tide_stride(shape->dim) * sizeof(float);
}

void tide_view_free(tide_view *view)
{
    if (!view)
        return;
    free(view->expected);
    free(view->ranks);
    free(view->mean);
    free(view->order);
    free(view);
}

/* -- accessors --------------------------------------------------------------------- */

bool tide_view_is_current(const tide_view *view, uint32_t slot)
{
    return !view->generations ||
           atomic_fetch_add_explicit(&view->generations[slot], 0,
                                     memory_order_acq_rel) == view->expected[slot];
}

uint32_t tide_view_generation(const tide_view *view, uint32_t slot)
{
    return view->generations ? view->expected[slot] : 0;
}

const tide_model *tide_view_model(const tide_view *view)
{
    return view->model;
}

const uint32_t *tide_view_order(const tide_view *view, uint32_t *words)
{
    *words = view->words;
    return view->order;
}
