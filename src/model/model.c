/* model.c - a vocabulary with an input and an output vector per slot, and its file.
 *
 * The native file format is a store (doc/FORMAT.md). A trainer adds its own sections to
 * those written here, so training can be resumed from any model file it saves.
 */
#include "model/model.h"

#include "file/file.h"
#include "vector/vector.h"
#include "vocab/vocab.h"

#include <stdlib.h>

enum { HEADER_WORDS = 10 };

uint64_t tide_shape_vector_bytes(const tide_shape *shape)
{
    return 2 * tide_matrix_bytes(shape->vocabulary.capacity, shape->dim);
}

uint64_t tide_shape_subword_bytes(const tide_shape *shape)
{
    if (!shape->subwords.rows)
        return 0;
    return tide_bfloats_bytes(shape->subwords.rows, shape->dim);
}

/* Allocates everything but the vocabulary, for `capacity` words. */
static tide_model *model_alloc(const tide_shape *shape, uint32_t capacity,
                               tide_error *err)
{
    tide_model *model = tide_alloc(1, sizeof *model);
    if (!model) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a model");
        return NULL;
    }
    model->shape = *shape;
    if (tide_matrix_init(&model->input, capacity, shape->dim, err) ||
        tide_matrix_init(&model->output, capacity, shape->dim, err))
        goto failed;
    if (shape->subwords.rows &&
        tide_bfloats_init(&model->subword, shape->subwords.rows, shape->dim, err))
        goto failed;
    return model;
failed:
    tide_model_free(model);
    return NULL;
}

tide_model *tide_model_new(const tide_shape *shape, tide_error *err)
{
    tide_model *model = model_alloc(shape, shape->vocabulary.capacity, err);
    if (!model)
        return NULL;
    model->vocabulary = tide_vocabulary_new(&shape->vocabulary, err);
    if (!model->vocabulary) {
        tide_model_free(model);
        return NULL;
    }
    return model;
}

void tide_model_free(tide_model *model)
{
    if (!model)
        return;
    tide_vocabulary_free(model->vocabulary);
    tide_matrix_release(&model->input);
    tide_matrix_release(&model->output);
    tide_bfloats_release(&model->subword);
    free(model->path);
    free(model->params);
    free(model->stop_words);
    free(model);
}

bool tide_model_compose(const tide_model *model, const tide_kernels *kernels,
                        const tide_word *word, float *out)
{
    uint32_t ids[TIDE_SUBWORDS_MAX];
    uint16_t *rows[TIDE_SUBWORDS_MAX];
    uint32_t count =
        !model->subword.rows || !word->length
            ? 0
            : tide_subwords_of(&model->shape.subwords, word->bytes, word->length, ids);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = tide_bfloats_row(&model->subword, ids[i]);
    if (count)
        kernels->sum_bfloats(rows, count, 1.0f / (float)count, model->input.stride,
                             out);
    return count > 0;
}

uint32_t tide_model_size(const tide_model *model)
{
    return tide_vocabulary_size(model->vocabulary);
}

uint32_t tide_model_capacity(const tide_model *model)
{
    return model->shape.vocabulary.capacity;
}

uint32_t tide_model_dim(const tide_model *model)
{
    return model->shape.dim;
}

uint32_t tide_model_subwords(const tide_model *model)
{
    return model->shape.subwords.rows;
}

uint64_t tide_model_tokens(const tide_model *model)
{
    return model->origin.uncounted ? 0 : tide_vocabulary_tokens(model->vocabulary);
}

const char *tide_model_params(const tide_model *model)
{
    return model->params ? model->params : "";
}

/* -- the file ---------------------------------------------------------------------- */

void tide_model_save(const tide_model *model, tide_store_writer *writer)
{
    const tide_shape *shape = &model->shape;
    const tide_vocabulary_options *v = &shape->vocabulary;
    uint32_t used = tide_vocabulary_used(model->vocabulary);
    uint64_t fields[HEADER_WORDS] = {
        v->capacity,
        shape->dim,
        v->kind,
        v->gate,
        v->half_life,
        v->seed,
        shape->subwords.rows,
        shape->subwords.shortest,
        shape->subwords.longest,
        used,
    };
    unsigned char header[HEADER_WORDS * 8];
    for (int i = 0; i < HEADER_WORDS; i++)
        tide_put64(header + 8 * i, fields[i]);
    tide_store_put(writer, "model", header, sizeof header);
    const char *params = tide_model_params(model);
    tide_store_put(writer, "params", params, strlen(params));
    tide_vocabulary_save(model->vocabulary, writer);
    tide_matrix_save(&model->input, used, shape->subwords.rows ? "composed" : "input",
                     writer);
    tide_matrix_save(&model->output, used, "output", writer);
    if (shape->subwords.rows)
        tide_bfloats_save(&model->subword, shape->subwords.rows, "subword.rows",
                          writer);
}

static int corrupt_shape(tide_store *store, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT,
                     "%s: section \"model\" is corrupt (impossible shape)",
                     tide_store_path(store));
}

/* Reads the header and checks the range of every number. Together with check_sizes this
 * ensures that nothing larger than the file is allocated. */
static int read_shape(tide_store *store, tide_shape *shape, uint32_t *used,
                      tide_error *err)
{
    unsigned char header[HEADER_WORDS * 8];
    int status = tide_store_read(store, "model", header, sizeof header, err);
    if (status)
        return status;
    uint64_t w[HEADER_WORDS];
    for (int i = 0; i < HEADER_WORDS; i++)
        w[i] = tide_get64(header + 8 * i);
    if (!w[0] || w[0] > TIDE_CAPACITY_MAX || !w[1] || w[1] > TIDE_DIM_MAX ||
        w[2] > TIDE_VOCABULARY_EXACT || w[3] > 1 || w[6] > TIDE_CAPACITY_MAX ||
        (w[6] && (!w[7] || w[7] > w[8] || w[8] > TIDE_SUBWORD_LENGTH_MAX)) ||
        w[9] > w[0])
        return corrupt_shape(store, err);
    *shape = (tide_shape){
        .vocabulary = {.kind = (tide_vocabulary_kind)w[2],
                       .capacity = (uint32_t)w[0],
                       .gate = w[3],
                       .half_life = w[4],
                       .seed = w[5]},
        .dim = (uint32_t)w[1],
        .subwords = {(uint32_t)w[6], (uint32_t)w[7], (uint32_t)w[8]},
    };
    *used = (uint32_t)w[9];
    return TIDE_OK;
}

int tide_model_read_shape(tide_store *store, tide_shape *shape, tide_error *err)
{
    uint32_t used;
    return read_shape(store, shape, &used, err);
}

/* Version 0.1 saved the words' own rows and those of n-grams, all as floats. Since then
 * the means of both are saved, and the rows of n-grams as bfloats. */
static bool has_own_rows(const tide_store *store, const tide_shape *shape)
{
    return shape->subwords.rows && !tide_store_has(store, "composed");
}

static int check_sizes(tide_store *store, const tide_shape *shape, uint32_t used,
                       tide_error *err)
{
    uint64_t row = shape->dim * sizeof(float);
    bool own_rows = has_own_rows(store, shape);
    const struct {
        const char *section;
        uint64_t bytes;
    } matrices[] = {
        {shape->subwords.rows && !own_rows ? "composed" : "input", used * row},
        {"output", used * row},
        {own_rows ? "subword" : "subword.rows",
         shape->subwords.rows * (own_rows ? row : row / 2)}};
    for (int i = 0; i < (shape->subwords.rows ? 3 : 2); i++) {
        int64_t size = tide_store_size(store, matrices[i].section, err);
        if (size < 0)
            return (int)size;
        if ((uint64_t)size != matrices[i].bytes)
            return corrupt_shape(store, err);
    }
    return TIDE_OK;
}

/* Reads a section as text, terminated by a 0. */
static int read_text(tide_store *store, const char *section, int64_t size_max,
                     char **text, tide_error *err)
{
    int64_t size = tide_store_size(store, section, err);
    if (size < 0)
        return (int)size;
    if (size > size_max)
        return corrupt_shape(store, err);
    *text = tide_alloc((size_t)size + 1, 1);
    if (!*text)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a model");
    int status = tide_store_read(store, section, *text, (size_t)size, err);
    if (!status && strlen(*text) != (size_t)size)
        status = corrupt_shape(store, err);
    return status;
}

static int read_texts(tide_store *store, tide_model *model, tide_error *err)
{
    const char *path = tide_store_path(store);
    model->path = tide_alloc(strlen(path) + 1, 1);
    if (!model->path)
        return tide_fail(err, TIDE_ERROR_MEMORY, "no memory for a model");
    memcpy(model->path, path, strlen(path) + 1);
    int status = read_text(store, "params", TIDE_PARAMS_MAX - 1, &model->params, err);
    if (!status && tide_store_has(store, "stop-words"))
        status = read_text(store, "stop-words", TIDE_STOP_WORDS_MAX, &model->stop_words,
                           err);
    return status;
}

/* Replaces the words' own rows by the means with the rows of their n-grams. */
static void compose_inputs(tide_model *model, const tide_matrix *ngrams, uint32_t used)
{
    const tide_kernels *kernels = tide_kernels_best();
    for (uint32_t slot = 0; slot < used; slot++) {
        uint32_t length, ids[TIDE_SUBWORDS_MAX];
        float *row = tide_matrix_row(&model->input, slot);
        float *rows[TIDE_SUBWORDS_MAX + 1] = {row};
        const char *word = tide_vocabulary_word(model->vocabulary, slot, &length);
        uint32_t count =
            word ? tide_subwords_of(&model->shape.subwords, word, length, ids) : 0;
        for (uint32_t i = 0; i < count; i++)
            rows[i + 1] = tide_matrix_row(ngrams, ids[i]);
        kernels->sum(rows, count + 1, 1.0f / (float)(count + 1), model->input.stride,
                     row);
    }
}

/* Reads the rows of n-grams of version 0.1. The vectors of the words are computed before
 * the rows are rounded, so they stay what they were. */
static int read_float_subwords(tide_store *store, tide_model *model, uint32_t used,
                               tide_error *err)
{
    tide_matrix ngrams;
    uint32_t count = model->subword.count;
    int status = tide_matrix_init(&ngrams, count, model->shape.dim, err);
    if (!status)
        status = tide_matrix_load(&ngrams, count, "subword", store, err);
    if (!status)
        compose_inputs(model, &ngrams, used);
    for (uint32_t i = 0; i < count && !status; i++)
        tide_kernels_best()->write_bfloats(tide_bfloats_row(&model->subword, i),
                                           tide_matrix_row(&ngrams, i), ngrams.stride);
    tide_matrix_release(&ngrams);
    return status;
}

static int read_matrices(tide_store *store, tide_model *model, uint32_t used,
                         tide_error *err)
{
    const tide_shape *shape = &model->shape;
    bool own_rows = has_own_rows(store, shape);
    const char *vectors = shape->subwords.rows && !own_rows ? "composed" : "input";
    int status = tide_matrix_load(&model->input, used, vectors, store, err);
    if (!status)
        status = tide_matrix_load(&model->output, used, "output", store, err);
    if (status || !shape->subwords.rows)
        return status;
    return own_rows ? read_float_subwords(store, model, used, err)
                    : tide_bfloats_load(&model->subword, shape->subwords.rows,
                                        "subword.rows", store, err);
}

tide_model *tide_model_read(tide_store *store, bool for_training, tide_error *err)
{
    tide_shape shape = {0};
    uint32_t used = 0;
    if (read_shape(store, &shape, &used, err) || check_sizes(store, &shape, used, err))
        return NULL;
    uint32_t rows = for_training ? shape.vocabulary.capacity : used ? used : 1;
    tide_vocabulary_options options = shape.vocabulary;
    /* With a gate the capacity must be kept, since the gate's size depends on it. That
     * is safe: the section of the gate is in proportion to the capacity. */
    if (!options.gate)
        options.capacity = rows;
    tide_vocabulary *vocabulary = tide_vocabulary_load(&options, store, err);
    if (!vocabulary)
        return NULL;
    tide_model *model = model_alloc(&shape, rows, err);
    if (!model) {
        tide_vocabulary_free(vocabulary);
        return NULL;
    }
    model->vocabulary = vocabulary;
    if (tide_vocabulary_used(vocabulary) != used) {
        corrupt_shape(store, err);
        goto failed;
    }
    if (read_texts(store, model, err) || read_matrices(store, model, used, err))
        goto failed;
    return model;
failed:
    tide_model_free(model);
    return NULL;
}

tide_model *tide_model_load(const char *path, tide_error *err)
{
    tide_store *store = tide_store_open(path, err);
    if (!store)
        return NULL;
    tide_model *model = tide_model_read(store, false, err);
    tide_store_close(store);
    return model;
}
