/* query.c - words, vectors and cosines of a model; nearest.c finds neighbors.
 *
 * While a model is trained, the word of a slot may be replaced while its row is read.
 * So a row is used only if the generation of its slot has not changed since the
 * refresh; if it has, the word counts as not held any more.
 */
#include "query/query.h"

#include "model/model.h"
#include "query/view.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* -- words ------------------------------------------------------------------------- */

tide_entry tide_model_entry(const tide_model *model, uint32_t slot)
{
    const tide_vocabulary *v = model->vocabulary;
    bool counted = !model->origin.uncounted;
    uint32_t length;
    return (tide_entry){.word = tide_vocabulary_word(v, slot, &length),
                        .count = counted ? tide_vocabulary_count(v, slot) : 0,
                        .error = counted ? tide_vocabulary_error(v, slot) : 0,
                        .slot = slot};
}

size_t tide_model_words(const tide_model *model, tide_entry *entries, size_t capacity)
{
    const tide_vocabulary *v = model->vocabulary;
    size_t used = tide_vocabulary_used(v), count = 0;
    tide_rank *ranks = tide_alloc(2 * used + 1, sizeof *ranks);
    uint32_t *order = tide_alloc(used + 1, sizeof *order);
    if (ranks && order) {
        uint32_t words = tide_rank_slots(v, ranks, order);
        for (; count < words && count < capacity; count++)
            entries[count] = tide_model_entry(model, order[count]);
    }
    free(order);
    free(ranks);
    return count;
}

/* At least 6 bytes and only letters, so that it needs no quoting in a shell. */
static bool is_easy_to_type(const char *word, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (!((word[i] >= 'a' && word[i] <= 'z') || (unsigned char)word[i] >= 0x80))
            return false;
    return length >= 6;
}

/* Share of all tokens. More frequent words are mostly function words. */
#define FREQUENCY_MAX 0.0004

const char *tide_model_example(const tide_model *model)
{
    const tide_vocabulary *v = model->vocabulary;
    uint64_t highest = 0,
             limit = (uint64_t)(FREQUENCY_MAX * (double)tide_vocabulary_total(v));
    const char *example = NULL;
    for (uint32_t slot = 0; slot < tide_vocabulary_used(v); slot++) {
        uint32_t length;
        const char *word = tide_vocabulary_word(v, slot, &length);
        uint64_t count = word ? tide_vocabulary_count(v, slot) : 0;
        if (count <= highest || count > limit || !is_easy_to_type(word, length))
            continue;
        highest = count;
        example = word;
    }
    return example;
}

static uint32_t find_slot(const tide_model *model, const char *word)
{
    size_t length = strlen(word);
    if (!length || length > TIDE_WORD_MAX)
        return TIDE_NO_SLOT;
    char padded[TIDE_WORD_MAX + 16] = {0};
    memcpy(padded, word, length);
    return tide_vocabulary_find(model->vocabulary,
                                &(tide_word){padded, (uint32_t)length});
}

static int word_not_found(const char *word, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_NOT_FOUND, "'%s' is not in the vocabulary", word);
}

int tide_model_find(const tide_model *model, const char *word, tide_entry *entry,
                    tide_error *err)
{
    uint32_t slot = find_slot(model, word);
    if (slot == TIDE_NO_SLOT)
        return word_not_found(word, err);
    *entry = tide_model_entry(model, slot);
    return TIDE_OK;
}

bool tide_view_entry(const tide_view *view, uint32_t rank, tide_entry *entry)
{
    if (!rank || rank > view->words)
        return false;
    *entry = tide_model_entry(view->model, view->order[rank - 1]);
    return true;
}

uint32_t tide_view_rank(const tide_view *view, const char *word)
{
    uint32_t slot = find_slot(view->model, word);
    for (uint32_t i = 0; i < view->words; i++)
        if (view->order[i] == slot)
            return i + 1;
    return 0;
}

/* -- vectors ----------------------------------------------------------------------- */

void tide_view_centered(const tide_view *view, uint32_t slot, float *out)
{
    tide_view_raw(view, slot, out);
    view->kernels->add(out, -1.0f, view->mean, view->model->input.stride);
}

/* Composes the vector of a word that is not held from its n-grams. Output vectors have
 * no n-grams. */
static bool compose(const tide_view *view, const char *word, float *out)
{
    const tide_model *model = view->model;
    size_t length = strlen(word);
    const tide_word unseen = {word, (uint32_t)length};
    if (length > TIDE_WORD_MAX || view->vectors == TIDE_VECTORS_OUTPUT ||
        !tide_model_compose(model, view->kernels, &unseen, out))
        return false;
    view->kernels->add(out, -1.0f, view->mean, model->input.stride);
    return true;
}

bool tide_view_is_valid(const tide_view *view, uint32_t slot, const float *vector)
{
    bool finite = true;
    for (uint32_t d = 0; view->generations && d < view->model->shape.dim; d++)
        finite = finite && tide_finite(vector[d]);
    return finite && tide_view_is_current(view, slot);
}

static bool read_vector(const tide_view *view, uint32_t slot, float *out)
{
    tide_view_centered(view, slot, out);
    return tide_view_is_valid(view, slot, out);
}

int tide_view_word(const tide_view *view, const char *word, float *out, uint32_t *slot,
                   tide_error *err)
{
    *slot = find_slot(view->model, word);
    if (*slot != TIDE_NO_SLOT && read_vector(view, *slot, out))
        return TIDE_OK;
    *slot = TIDE_NO_SLOT;
    return compose(view, word, out) ? TIDE_OK : word_not_found(word, err);
}

int tide_view_vector(const tide_view *view, const char *word, float *vector,
                     tide_error *err)
{
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    uint32_t slot;
    int status = tide_view_word(view, word, row, &slot, err);
    if (!status)
        memcpy(vector, row, view->model->shape.dim * sizeof *vector);
    return status;
}

int tide_view_term(const tide_view *view, const char *words, float *out,
                   uint32_t *slots, size_t *count, tide_error *err)
{
    if (!strchr(words, ' ') || find_slot(view->model, words) != TIDE_NO_SLOT)
        return tide_view_word(view, words, out, &slots[(*count)++], err);
    uint32_t stride = view->model->input.stride, found = 0;
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    memset(out, 0, stride * sizeof *out);
    for (size_t length; *words; words += length + (words[length] == ' ')) {
        char word[TIDE_WORD_MAX + 1];
        length = strcspn(words, " ");
        if (length > TIDE_WORD_MAX || found == TIDE_TERM_MAX)
            return word_not_found(words, err);
        if (!length)
            continue;
        memcpy(word, words, length);
        word[length] = 0;
        int status = tide_view_word(view, word, row, &slots[(*count)++], err);
        if (status)
            return status;
        view->kernels->add(out, 1.0f, row, stride);
        found++;
    }
    if (!found)
        return word_not_found(words, err);
    for (uint32_t d = 0; d < stride; d++)
        out[d] /= (float)found;
    return TIDE_OK;
}

int tide_view_mean(const tide_view *view, const char *words, float *vector,
                   tide_error *err)
{
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    uint32_t slots[TIDE_TERM_MAX];
    size_t count = 0;
    int status = tide_view_term(view, words, row, slots, &count, err);
    if (!status)
        memcpy(vector, row, view->model->shape.dim * sizeof *vector);
    return status;
}

float tide_view_square(const tide_view *view, float *x)
{
    uint32_t stride = view->model->input.stride;
    float square = view->kernels->dot(x, x, stride), largest = 0;
    if (square >= FLT_MIN && square <= FLT_MAX)
        return square;
    for (uint32_t d = 0; d < stride; d++)
        largest = fmaxf(largest, fabsf(x[d]));
    int exponent;
    frexpf(largest, &exponent);
    for (uint32_t d = 0; d < stride; d++)
        x[d] = ldexpf(x[d], -exponent);
    return view->kernels->dot(x, x, stride);
}

void tide_view_normalize(const tide_view *view, float *x)
{
    uint32_t stride = view->model->input.stride;
    float square = tide_view_square(view, x);
    float factor = square > 0 ? 1.0f / sqrtf(square) : 0.0f;
    for (uint32_t d = 0; d < stride; d++)
        x[d] *= factor;
}

void tide_view_unit(const tide_view *view, uint32_t slot, float *out)
{
    tide_view_centered(view, slot, out);
    tide_view_normalize(view, out);
}

bool tide_view_unit_current(const tide_view *view, uint32_t slot, float *out)
{
    bool held = read_vector(view, slot, out);
    tide_view_normalize(view, out);
    return held;
}

int tide_view_similarity(const tide_view *view, const char *a, const char *b,
                         float *cosine, tide_error *err)
{
    float x[TIDE_DIM_MAX] __attribute__((aligned(64)));
    float y[TIDE_DIM_MAX] __attribute__((aligned(64)));
    uint32_t slots[2 * TIDE_TERM_MAX];
    size_t count = 0;
    int status = tide_view_term(view, a, x, slots, &count, err);
    if (!status)
        status = tide_view_term(view, b, y, slots, &count, err);
    if (status)
        return status;
    tide_view_normalize(view, x);
    tide_view_normalize(view, y);
    *cosine = view->kernels->dot(x, y, view->model->input.stride);
    return TIDE_OK;
}
