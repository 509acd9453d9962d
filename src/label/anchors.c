/* anchors.c - frequent words with the vectors they had when the classifier was trained.
 *
 * The vectors keep moving under a classifier that does not. What it learned about the
 * most frequent words, which make up most of every post, then fits less every day. The
 * cause is hardly a common rotation: removing it does not help. So these words are read
 * with their old vectors. All others are read with their current ones: rare words are
 * better known by now, and new ones were unknown. paper/RESULTS.md compares the three
 * ways.
 */
#include "file/file.h"
#include "label/predictor.h"
#include "model/model.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>

static tide_vocabulary_options options_of(uint32_t words)
{
    return (tide_vocabulary_options){
        .kind = TIDE_VOCABULARY_EXACT, .capacity = words, .name = "anchor"};
}

uint64_t tide_anchors_bytes(uint64_t max, uint32_t dim)
{
    tide_vocabulary_options options = options_of((uint32_t)max);
    return max ? tide_vocabulary_bytes(&options) + tide_matrix_bytes(max, dim) : 0;
}

void tide_anchors_release(tide_anchors *a)
{
    tide_vocabulary_free(a->words);
    tide_matrix_release(&a->vectors);
    *a = (tide_anchors){0};
}

/* -- snapshot --------------------------------------------------------------------- */

typedef struct ranked_word {
    uint64_t count;
    uint32_t slot;
} ranked_word;

static int by_count(const void *a, const void *b)
{
    const ranked_word *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* The words of the vocabulary by descending count; *count is their number. */
static ranked_word *rank_words(const tide_vocabulary *v, uint32_t *count)
{
    uint32_t used = tide_vocabulary_used(v), length;
    ranked_word *words = tide_alloc(used, sizeof *words);
    *count = 0;
    for (uint32_t slot = 0; words && slot < used; slot++)
        if (tide_vocabulary_word(v, slot, &length))
            words[(*count)++] = (ranked_word){tide_vocabulary_count(v, slot), slot};
    if (words)
        qsort(words, *count, sizeof *words, by_count);
    return words;
}

static void add_anchor(tide_anchors *a, const tide_model *model,
                       const tide_kernels *kernels, const ranked_word *word)
{
    uint32_t length;
    const char *text = tide_vocabulary_word(model->vocabulary, word->slot, &length);
    char padded[TIDE_WORD_MAX + 17] = {0};
    memcpy(padded, text, length);
    uint32_t row =
        tide_vocabulary_insert(a->words, &(tide_word){padded, length}, word->count, 0);
    if (row != TIDE_NO_SLOT)
        kernels->copy(tide_matrix_row(&a->vectors, row),
                      tide_matrix_row(&model->input, word->slot), model->input.stride);
}

int tide_anchors_snapshot(tide_anchors *a, const tide_model *model,
                          const tide_kernels *kernels, uint32_t max, tide_error *err)
{
    *a = (tide_anchors){0};
    uint32_t count;
    ranked_word *words = rank_words(model->vocabulary, &count);
    if (!words)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for anchors");
    count = count < max ? count : max;
    tide_vocabulary_options options = options_of(count);
    int status = TIDE_OK;
    if (count) {
        a->words = tide_vocabulary_new(&options, err);
        status = a->words ? tide_matrix_init(&a->vectors, count, model->shape.dim, err)
                          : TIDE_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < count && !status; i++)
        add_anchor(a, model, kernels, &words[i]);
    free(words);
    if (status)
        tide_anchors_release(a);
    return status;
}

const float *tide_anchors_find(const tide_anchors *a, const tide_word *word)
{
    uint32_t row =
        a->words ? tide_vocabulary_find(a->words, word) : (uint32_t)TIDE_NO_SLOT;
    return row == TIDE_NO_SLOT ? NULL : tide_matrix_row(&a->vectors, row);
}

/* -- sections anchor.* ------------------------------------------------------------ */

uint32_t tide_anchors_size(const tide_anchors *a)
{
    return a->words ? tide_vocabulary_size(a->words) : 0;
}

void tide_anchors_save(const tide_anchors *a, tide_store_writer *writer)
{
    if (!a->words)
        return;
    tide_vocabulary_save(a->words, writer);
    tide_matrix_save(&a->vectors, tide_anchors_size(a), "anchor.vectors", writer);
}

int tide_anchors_load(tide_anchors *a, uint32_t size, uint32_t dim, tide_store *store,
                      tide_error *err)
{
    static const char section[] = "anchor.vectors";
    *a = (tide_anchors){0};
    if (!size)
        return TIDE_OK;
    int64_t bytes = tide_store_size(store, section, err);
    if (bytes < 0)
        return (int)bytes;
    if ((uint64_t)bytes != (uint64_t)size * dim * sizeof(float))
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s: section \"%s\" has the wrong size",
                         tide_store_path(store), section);
    tide_vocabulary_options options = options_of(size);
    a->words = tide_vocabulary_load(&options, store, err);
    int status =
        a->words ? tide_matrix_init(&a->vectors, size, dim, err) : (int)err->status;
    if (!status)
        status = tide_matrix_load(&a->vectors, size, section, store, err);
    if (status)
        tide_anchors_release(a);
    return status;
}
