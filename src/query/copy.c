/* copy.c - a model of its own, made of what a space shows.
 *
 * The words are granted one by one, the most frequent first, so that slots are ranks. In a model that learns a slot
 * may change hands at any moment. Its row is read first and believed afterwards (view.c): the copy has a word with
 * its own vector, or does not have it. Different rows are from different moments, a fraction of a second apart.
 */
#include "model/model.h"
#include "query/view.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

static uint32_t words_of(const tide_view *space, uint32_t top)
{
    return top && top < space->words ? top : space->words;
}

uint64_t tide_view_copy_bytes(const tide_view *space, uint32_t top)
{
    return tide_model_plain_bytes(words_of(space, top) + 1, space->model->shape.dim);
}

static void copy_word(tide_model *copy, const tide_view *space, uint32_t slot)
{
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    const tide_vocabulary *from = space->model->vocabulary;
    uint32_t length;
    const char *word = tide_vocabulary_word(from, slot, &length);
    tide_view_raw(space, slot, row);
    if (!tide_view_is_valid(space, slot, row))
        return;
    uint32_t place =
        tide_model_insert(copy, word, length, tide_vocabulary_count(from, slot),
                          tide_vocabulary_error(from, slot));
    if (place != TIDE_NO_SLOT)
        memcpy(tide_matrix_row(&copy->input, place), row,
               copy->shape.dim * sizeof *row);
}

tide_model *tide_view_copy(const tide_view *space, uint32_t top, tide_error *err)
{
    uint32_t words = words_of(space, top);
    tide_model *copy = tide_model_new_plain(words + 1, space->model->shape.dim, err);
    if (!copy)
        return NULL;
    copy->origin = space->model->origin;
    for (uint32_t i = 0; i < words; i++)
        copy_word(copy, space, space->order[i]);
    copy->shape.vocabulary.capacity = tide_model_size(copy);
    return copy;
}
