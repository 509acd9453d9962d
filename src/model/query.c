/* query.c - asking a model: vectors, cosines, neighbours and analogies.
 *
 * The answer to "what is near" is an exact scan over the live rows with the training kernels; norms
 * are computed on the way, so there is no index that could be out of date; only the order of
 * the words and their mean are as they were when the space was made. A space
 * says which vectors are meant: input rows (what word2vec and its kin publish), output rows or
 * their sum, and whether the mean of the frequent words is taken out first. Vectors of one model
 * all lean the same way; without that common part cosines tell more (Mu and Viswanath,
 * "All-but-the-top", ICLR 2018; of their two steps only the mean pays here).
 */
#include "model/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { CENTRE_WORDS = 30000, QUERY_WORDS_MAX = 64 };

struct tide_space {
    const tide_model *model;
    const tide_kernels *kernels;
    tide_vectors vectors;
    float *mean;     /* [stride]; all zero when not centred */
    uint32_t *order; /* [used] slots by falling count */
    uint32_t words;
};

/* -- words -------------------------------------------------------------------------------------- */

typedef struct ranked {
    uint64_t count;
    uint32_t slot;
} ranked;

static int by_falling_count(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Slots in use by falling count; NULL without memory. *words is their number. */
static uint32_t *rank_slots(const tide_vocabulary *v, uint32_t *words)
{
    uint32_t used = tide_vocabulary_used(v), length;
    ranked *ranks = tide_alloc(used + 1, sizeof *ranks);
    uint32_t *order = tide_alloc(used + 1, sizeof *order);
    *words = 0;
    if (ranks && order) {
        for (uint32_t slot = 0; slot < used; slot++)
            if (tide_vocabulary_word(v, slot, &length))
                ranks[(*words)++] = (ranked){tide_vocabulary_count(v, slot), slot};
        qsort(ranks, *words, sizeof *ranks, by_falling_count);
        for (uint32_t i = 0; i < *words; i++)
            order[i] = ranks[i].slot;
    } else {
        free(order);
        order = NULL;
    }
    free(ranks);
    return order;
}

tide_entry tide_model_entry(const tide_model *model, uint32_t slot)
{
    const tide_vocabulary *v = model->vocabulary;
    bool told = !model->origin.uncounted;
    uint32_t length;
    return (tide_entry){.word = tide_vocabulary_word(v, slot, &length),
                        .count = told ? tide_vocabulary_count(v, slot) : 0,
                        .error = told ? tide_vocabulary_error(v, slot) : 0,
                        .slot = slot};
}

size_t tide_model_words(const tide_model *model, tide_entry *entries, size_t room)
{
    uint32_t words;
    uint32_t *order = rank_slots(model->vocabulary, &words);
    if (!order)
        return 0;
    size_t count = words < room ? words : room;
    for (size_t i = 0; i < count; i++)
        entries[i] = tide_model_entry(model, order[i]);
    free(order);
    return count;
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

static int unknown(const char *word, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_UNKNOWN, "'%s' is not in the vocabulary", word);
}

int tide_model_find(const tide_model *model, const char *word, tide_entry *entry,
                    tide_error *err)
{
    uint32_t slot = find_slot(model, word);
    if (slot == TIDE_NO_SLOT)
        return unknown(word, err);
    *entry = tide_model_entry(model, slot);
    return TIDE_OK;
}

/* -- vectors -------------------------------------------------------------------------------------- */

/* The vector of a slot as the space sees it, mean not yet taken out. */
static void raw_vector(const tide_space *space, uint32_t slot, float *out)
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

static void centred_vector(const tide_space *space, uint32_t slot, float *out)
{
    raw_vector(space, slot, out);
    space->kernels->add(out, -1.0f, space->mean, space->model->input.stride);
}

static bool find_mean(tide_space *space)
{
    uint32_t stride = space->model->input.stride;
    uint32_t count = space->words < CENTRE_WORDS ? space->words : CENTRE_WORDS;
    double *total = tide_alloc(stride, sizeof *total);
    float *row = tide_alloc(stride, sizeof *row);
    if (total && row) {
        for (uint32_t i = 0; i < count; i++) {
            raw_vector(space, space->order[i], row);
            for (uint32_t d = 0; d < stride; d++)
                total[d] += (double)row[d];
        }
        for (uint32_t d = 0; d < stride && count; d++)
            space->mean[d] = (float)(total[d] / count);
    }
    bool found = total && row;
    free(total);
    free(row);
    return found;
}

tide_space *tide_space_new(const tide_model *model, tide_vectors vectors, bool centred,
                           tide_error *err)
{
    if (vectors != TIDE_VECTORS_INPUT && !model->output.rows) {
        tide_fail(err, TIDE_ERROR_PARAMETER,
                  "a file of vectors has no output vectors, only a model has");
        return NULL;
    }
    tide_space *space = tide_alloc(1, sizeof *space);
    if (!space)
        goto failed;
    space->model = model;
    space->kernels = tide_kernels_best();
    space->vectors = vectors;
    space->mean = tide_alloc(model->input.stride, sizeof *space->mean);
    space->order = rank_slots(model->vocabulary, &space->words);
    if (!space->mean || !space->order || (centred && !find_mean(space)))
        goto failed;
    return space;
failed:
    tide_fail(err, TIDE_ERROR_MEMORY, "no memory to ask the model");
    tide_space_free(space);
    return NULL;
}

void tide_space_free(tide_space *space)
{
    if (!space)
        return;
    free(space->mean);
    free(space->order);
    free(space);
}

const tide_model *tide_space_model(const tide_space *space)
{
    return space->model;
}

const uint32_t *tide_space_order(const tide_space *space, uint32_t *words)
{
    *words = space->words;
    return space->order;
}

/* An unseen word is the mean of its n-grams. Output vectors have none. */
static bool compose(const tide_space *space, const char *word, float *out)
{
    const tide_model *model = space->model;
    size_t length = strlen(word);
    if (!model->ngrams || !length || length > TIDE_WORD_MAX ||
        space->vectors == TIDE_VECTORS_OUTPUT)
        return false;
    uint32_t ids[TIDE_SUBWORDS_MAX];
    uint32_t count =
        tide_subwords_of(&model->shape.subwords, word, (uint32_t)length, ids);
    if (!count)
        return false;
    float *rows[TIDE_SUBWORDS_MAX];
    for (uint32_t i = 0; i < count; i++)
        rows[i] = tide_matrix_row(&model->subword, ids[i]);
    uint32_t stride = model->input.stride;
    space->kernels->sum(rows, count, 1.0f / (float)count, stride, out);
    space->kernels->add(out, -1.0f, space->mean, stride);
    return true;
}

/* `out` has the stride; *slot is TIDE_NO_SLOT for a composed vector. */
static int word_vector(const tide_space *space, const char *word, float *out,
                       uint32_t *slot, tide_error *err)
{
    *slot = find_slot(space->model, word);
    if (*slot != TIDE_NO_SLOT)
        centred_vector(space, *slot, out);
    else if (!compose(space, word, out))
        return unknown(word, err);
    return TIDE_OK;
}

int tide_space_vector(const tide_space *space, const char *word, float *vector,
                      tide_error *err)
{
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    uint32_t slot;
    int status = word_vector(space, word, row, &slot, err);
    if (!status)
        memcpy(vector, row, space->model->shape.dim * sizeof *vector);
    return status;
}

/* |x|^2. A vector whose square no float can hold is scaled first, which does not turn it. */
static float square_of(const tide_space *space, float *x)
{
    uint32_t stride = space->model->input.stride;
    float square = space->kernels->dot(x, x, stride), largest = 0;
    if (square >= FLT_MIN && square <= FLT_MAX)
        return square;
    for (uint32_t d = 0; d < stride; d++)
        largest = fmaxf(largest, fabsf(x[d]));
    int exponent;
    frexpf(largest, &exponent);
    for (uint32_t d = 0; d < stride; d++)
        x[d] = ldexpf(x[d], -exponent);
    return space->kernels->dot(x, x, stride);
}

/* x / |x|; a vector of no length stays zero. */
static void normalise(const tide_space *space, float *x)
{
    uint32_t stride = space->model->input.stride;
    float square = square_of(space, x);
    float factor = square > 0 ? 1.0f / sqrtf(square) : 0.0f;
    for (uint32_t d = 0; d < stride; d++)
        x[d] *= factor;
}

void tide_space_unit(const tide_space *space, uint32_t slot, float *out)
{
    centred_vector(space, slot, out);
    normalise(space, out);
}

int tide_space_similarity(const tide_space *space, const char *a, const char *b,
                          float *cosine, tide_error *err)
{
    float x[TIDE_DIM_MAX] __attribute__((aligned(64)));
    float y[TIDE_DIM_MAX] __attribute__((aligned(64)));
    uint32_t slot;
    int status = word_vector(space, a, x, &slot, err);
    if (!status)
        status = word_vector(space, b, y, &slot, err);
    if (status)
        return status;
    normalise(space, x);
    normalise(space, y);
    *cosine = space->kernels->dot(x, y, space->model->input.stride);
    return TIDE_OK;
}

/* -- neighbours ------------------------------------------------------------------------------------ */

typedef struct search {
    float query[TIDE_DIM_MAX] __attribute__((aligned(64)));
    float row[TIDE_DIM_MAX] __attribute__((aligned(64)));
    uint32_t asked[QUERY_WORDS_MAX]; /* slots of the query's words */
    size_t asked_count;
} search;

static bool was_asked(const search *s, uint32_t slot)
{
    for (size_t i = 0; i < s->asked_count; i++)
        if (s->asked[i] == slot)
            return true;
    return false;
}

size_t tide_hits_keep(tide_hit *hits, size_t count, size_t room, tide_hit hit)
{
    if (count == room && hit.score <= hits[room - 1].score)
        return count;
    size_t at = count < room ? count : room - 1;
    for (; at > 0 && hits[at - 1].score < hit.score; at--)
        hits[at] = hits[at - 1];
    hits[at] = hit;
    return count < room ? count + 1 : count;
}

static size_t scan(const tide_space *space, search *s, uint32_t among, tide_hit *hits,
                   size_t room)
{
    const tide_kernels *k = space->kernels;
    uint32_t stride = space->model->input.stride, length;
    uint32_t words = among && among < space->words ? among : space->words;
    size_t count = 0;
    for (uint32_t i = 0; i < words; i++) {
        uint32_t slot = space->order[i];
        if (was_asked(s, slot))
            continue;
        centred_vector(space, slot, s->row);
        float square = square_of(space, s->row);
        float score =
            square > 0 ? k->dot(s->query, s->row, stride) / sqrtf(square) : 0.0f;
        if (count < room || score > hits[count - 1].score) {
            const char *word =
                tide_vocabulary_word(space->model->vocabulary, slot, &length);
            if (word)
                count =
                    tide_hits_keep(hits, count, room, (tide_hit){word, score, slot});
        }
    }
    return count;
}

static int add_words(const tide_space *space, search *s, const char *const *words,
                     size_t count, float sign, tide_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (s->asked_count == QUERY_WORDS_MAX)
            return tide_fail(err, TIDE_ERROR_PARAMETER,
                             "at most %d words can be asked at once", QUERY_WORDS_MAX);
        int status =
            word_vector(space, words[i], s->row, &s->asked[s->asked_count++], err);
        if (status)
            return status;
        normalise(space, s->row);
        space->kernels->add(s->query, sign, s->row, space->model->input.stride);
    }
    return TIDE_OK;
}

int tide_space_nearest(const tide_space *space, const tide_query *query, tide_hit *hits,
                       size_t room, tide_error *err)
{
    search *s = tide_alloc(1, sizeof *s);
    if (!s)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory to search");
    if (query->vector)
        for (uint32_t d = 0; d < space->model->shape.dim; d++)
            s->query[d] = query->vector[d];
    int status = add_words(space, s, query->positive, query->positive_count, 1.0f, err);
    if (!status)
        status =
            add_words(space, s, query->negative, query->negative_count, -1.0f, err);
    if (!status) {
        normalise(space, s->query);
        status = room ? (int)scan(space, s, query->among, hits, room) : 0;
    }
    free(s);
    return status;
}

int tide_space_analogy(const tide_space *space, const char *a, const char *b,
                       const char *c, tide_hit *hits, size_t room, tide_error *err)
{
    const char *positive[] = {b, c}, *negative[] = {a};
    tide_query query = {.positive = positive,
                        .positive_count = 2,
                        .negative = negative,
                        .negative_count = 1};
    return tide_space_nearest(space, &query, hits, room, err);
}
