/* copy.c - copies the words and vectors of a view into an independent model.
 *
 * Words are inserted one by one, the most frequent first, so that slots are ranks.
 * While the model is trained, the word of a slot may be replaced at any moment, so each
 * row is read first and validated afterwards (view.c): the copy contains a word with
 * its own vector or not at all. The rows are not a consistent snapshot: they are read
 * within a fraction of a second.
 */
#include "model/model.h"
#include "query/view.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

static uint32_t words_to_copy(const tide_view *view, uint32_t top)
{
    return top && top < view->words ? top : view->words;
}

uint64_t tide_view_copy_bytes(const tide_view *view, uint32_t top)
{
    return tide_model_plain_bytes(words_to_copy(view, top) + 1, view->model->shape.dim);
}

static void copy_slot(tide_model *copy, const tide_view *view, uint32_t slot)
{
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    const tide_vocabulary *from = view->model->vocabulary;
    uint32_t length;
    const char *word = tide_vocabulary_word(from, slot, &length);
    tide_view_raw(view, slot, row);
    if (!tide_view_is_valid(view, slot, row))
        return;
    uint32_t target =
        tide_model_insert(copy, word, length, tide_vocabulary_count(from, slot),
                          tide_vocabulary_error(from, slot));
    if (target != TIDE_NO_SLOT)
        memcpy(tide_matrix_row(&copy->input, target), row,
               copy->shape.dim * sizeof *row);
}

tide_model *tide_view_copy(const tide_view *view, uint32_t top, tide_error *err)
{
    uint32_t words = words_to_copy(view, top);
    tide_model *copy = tide_model_new_plain(words + 1, view->model->shape.dim, err);
    if (!copy)
        return NULL;
    copy->origin = view->model->origin;
    for (uint32_t i = 0; i < words; i++)
        copy_slot(copy, view, view->order[i]);
    copy->shape.vocabulary.capacity = tide_model_size(copy);
    return copy;
}
