/* view.c - a way of looking at a model: which vectors, in which order, around which mean.
 *
 * A space says which vectors are meant: input rows (what word2vec and its kin publish), output rows
 * or their sum, and whether the mean of the frequent words is taken out first. Vectors of one model
 * all lean the same way; without that common part cosines tell more (Mu and Viswanath,
 * "All-but-the-top", ICLR 2018; of their two steps only the mean pays here).
 *
 * Words are ranked by counting their counts, digit by digit from the lowest, which compares nothing: whoever
 * makes the space of a model that learns keeps it from learning meanwhile.
 *
 * In a model that learns, slots change hands. The space knows how often each had done so when it was made,
 * and a slot that has done so since is nobody's for it. A reader looks at the row first and at the
 * hands afterwards; the trainer counts the hand first and writes the newcomer's row afterwards. So
 * whoever finds the number unchanged has read nothing of a newcomer. Both look by an exchange,
 * which is what keeps processors and compilers from changing that order.
 */
#include "query/view.h"

#include "model/model.h"
#include "query/query.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <math.h>
#include <stdlib.h>

enum { CENTER_WORDS = 30000, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* -- order -------------------------------------------------------------------------------------- */

/* One pass, by falling digits; of equals the first stays first. */
static void sort_digit(const tide_rank *from, tide_rank *to, uint32_t count,
                       uint32_t shift)
{
    uint32_t places[DIGITS] = {0};
    for (uint32_t i = 0; i < count; i++)
        places[from[i].count >> shift & (DIGITS - 1)]++;
    for (uint32_t digit = DIGITS, place = 0; digit-- > 0;) {
        uint32_t size = places[digit];
        places[digit] = place;
        place += size;
    }
    for (uint32_t i = 0; i < count; i++)
        to[places[from[i].count >> shift & (DIGITS - 1)]++] = from[i];
}

uint32_t tide_rank_slots(const tide_vocabulary *v, tide_rank *ranks, uint32_t *order)
{
    uint32_t used = tide_vocabulary_used(v), words = 0, length;
    uint64_t highest = 0;
    for (uint32_t slot = 0; slot < used; slot++)
        if (tide_vocabulary_word(v, slot, &length)) {
            ranks[words] = (tide_rank){tide_vocabulary_count(v, slot), slot};
            highest |= ranks[words++].count;
        }
    tide_rank *from = ranks, *to = ranks + words;
    for (uint32_t shift = 0; shift < 64 && highest >> shift; shift += DIGIT_BITS) {
        sort_digit(from, to, words, shift);
        tide_rank *sorted = to;
        to = from;
        from = sorted;
    }
    for (uint32_t i = 0; i < words; i++)
        order[i] = from[i].slot;
    return words;
}

/* -- vectors -------------------------------------------------------------------------------------- */

void tide_view_raw(const tide_view *space, uint32_t slot, float *out)
{
    const tide_model *model = space->model;
    uint32_t stride = model->input.stride;
    if (space->vectors == TIDE_VECTORS_OUTPUT) {
        space->kernels->copy(out, tide_matrix_row(&model->output, slot), stride);
        return;
    }
    tide_model_input(model, space->kernels, slot, out);
    if (space->vectors == TIDE_VECTORS_SUM)
        space->kernels->add(out, 1.0f, tide_matrix_row(&model->output, slot), stride);
}

/* One vector with a number that is none must not make that of all others: it waits for the scrub alone. */
static void find_mean(tide_view *space)
{
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    double total[TIDE_DIM_MAX] = {0};
    uint32_t stride = space->model->input.stride;
    uint32_t most = space->words < CENTER_WORDS ? space->words : CENTER_WORDS,
             count = 0;
    for (uint32_t i = 0; i < most; i++) {
        tide_view_raw(space, space->order[i], row);
        if (!isfinite(space->kernels->dot(row, row, stride)))
            continue;
        count++;
        for (uint32_t d = 0; d < stride; d++)
            total[d] += (double)row[d];
    }
    for (uint32_t d = 0; d < stride && count; d++)
        space->mean[d] = (float)(total[d] / count);
}

/* -- making --------------------------------------------------------------------------------------- */

void tide_view_refresh(tide_view *space)
{
    space->words =
        tide_rank_slots(space->model->vocabulary, space->ranks, space->order);
    if (space->centered)
        find_mean(space);
    for (uint32_t slot = 0; space->hands && slot < space->room; slot++)
        space->seen[slot] =
            atomic_load_explicit(&space->hands[slot], memory_order_relaxed);
}

static tide_view *space_alloc(const tide_model *model, tide_vectors vectors,
                              bool centered, uint32_t room)
{
    tide_view *space = tide_alloc(1, sizeof *space);
    if (!space)
        return NULL;
    space->model = model;
    space->kernels = tide_kernels_best();
    space->vectors = vectors;
    space->centered = centered;
    space->room = room;
    space->mean = tide_alloc(model->input.stride, sizeof *space->mean);
    space->order = tide_alloc((size_t)room + 1, sizeof *space->order);
    space->ranks = tide_alloc(2 * (size_t)room + 1, sizeof *space->ranks);
    if (space->mean && space->order && space->ranks)
        return space;
    tide_view_free(space);
    return NULL;
}

static bool has_vectors(const tide_model *model, tide_vectors vectors, tide_error *err)
{
    if (vectors == TIDE_VECTORS_INPUT || model->output.rows)
        return true;
    tide_fail(err, TIDE_ERROR_PARAMETER,
              "a file of vectors has no output vectors, only a model has");
    return false;
}

tide_view *tide_view_new(const tide_model *model, tide_vectors vectors, bool centered,
                         tide_error *err)
{
    if (!has_vectors(model, vectors, err))
        return NULL;
    tide_view *space =
        space_alloc(model, vectors, centered, tide_vocabulary_used(model->vocabulary));
    if (!space) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to ask the model");
        return NULL;
    }
    tide_view_refresh(space);
    free(space->ranks);
    space->ranks = NULL;
    return space;
}

tide_view *tide_view_new_live(const tide_model *model, tide_vectors vectors,
                              bool centered, _Atomic uint32_t *hands, tide_error *err)
{
    uint32_t room = model->shape.vocabulary.capacity;
    tide_view *space = space_alloc(model, vectors, centered, room);
    if (space) {
        space->hands = hands;
        space->seen = tide_alloc(room, sizeof *space->seen);
    }
    if (space && space->seen)
        return space;
    tide_view_free(space);
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to ask the model while it learns");
    return NULL;
}

uint64_t tide_view_live_bytes(const tide_shape *shape)
{
    uint64_t slot = 2 * sizeof(uint32_t) + 2 * sizeof(tide_rank);
    return sizeof(tide_view) + slot * shape->vocabulary.capacity +
           tide_stride(shape->dim) * sizeof(float);
}

void tide_view_free(tide_view *space)
{
    if (!space)
        return;
    free(space->seen);
    free(space->ranks);
    free(space->mean);
    free(space->order);
    free(space);
}

/* -- asking --------------------------------------------------------------------------------------- */

bool tide_view_is_current(const tide_view *space, uint32_t slot)
{
    return !space->hands ||
           atomic_fetch_add_explicit(&space->hands[slot], 0, memory_order_acq_rel) ==
               space->seen[slot];
}

uint32_t tide_view_generation(const tide_view *space, uint32_t slot)
{
    return space->hands ? space->seen[slot] : 0;
}

const tide_model *tide_view_model(const tide_view *space)
{
    return space->model;
}

const uint32_t *tide_view_order(const tide_view *space, uint32_t *words)
{
    *words = space->words;
    return space->order;
}
